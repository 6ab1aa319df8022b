package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model/unit"
	"slotop/tui/panes"
)

// show leads to a screen, closing whatever lies over it.
func show(s screen) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.screen, m.open, m.help, m.view.Scroll, m.over = s, false, false, 0, overNothing
		return nil
	}
}

func shows(s screen) func(*Model) bool {
	return func(m *Model) bool { return m.shown() == s && !m.help }
}

// shown is the screen that is looked at: where nothing but GPUs is watched, theirs is
// the overview.
func (m *Model) shown() screen {
	if m.screen == overview && panes.OnlyGPUs(m.frame()) {
		return utilization
	}
	return m.screen
}

func (m *Model) toggleHelp() tea.Cmd {
	m.help, m.scroll = !m.help || m.over == overExplain, 0
	m.over = overNothing
	return nil
}

// move moves the cursor over numbers where it is on, else the rows' one.
func move(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.point.on && m.holdsNumbers() && (by == 1 || by == -1) {
			m.aim(0, by)
			return nil
		}
		return moveRows(by)(m)
	}
}

// moveRows moves the rows' cursor, or the text where there is none.
func moveRows(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		switch {
		case m.over != overNothing:
			m.scrollOver(by, m.frame())
		case m.help:
			m.scroll = within(m.scroll+by, panes.HelpScroll(m.keys, m.bodySize(), m.look())+1)
		case m.open:
			m.view.Scroll = min(max(m.view.Scroll+by, 0), m.page().Scroll(m.frame(), m.bodySize(), m.look()))
		case m.screen == alerts:
			m.moveAlert(by)
		case m.shown() == utilization:
			m.moveUse(by)
		case m.screen == capacity:
			m.view.Scroll = min(max(m.view.Scroll+by, 0), panes.Capacity{}.Scroll(m.frame(), m.bodySize(), m.look()))
		case m.screen == fleet:
			m.view.Target = moved(panes.TargetOrder(m.frame(), m.view), m.view.Target, by)
		default:
			m.view.Workflow = moved(panes.WorkflowOrder(m.frame()), m.view.Workflow, by)
		}
		return nil
	}
}

// moveUse moves the cursor over the engines and then the GPUs.
func (m *Model) moveUse(by int) {
	row := moved(panes.UseOrder(m.frame(), m.view), panes.UseUnder(m.frame(), m.view), by)
	if m.view.Device = row.Device; row.Engine != "" {
		m.view.Engine = row.Engine
	}
}

func page(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return move(by * max(m.bodyHeight()-4, 1))(m) }
}

// within keeps a position between 0 and the last of n.
func within(at, n int) int { return min(max(at, 0), max(n-1, 0)) }

// moved is the entry that lies that far from the present one. Without a present
// one the first is meant.
func moved[T comparable](order []T, at T, by int) T {
	if len(order) == 0 {
		return at
	}
	i := slices.Index(order, at)
	if i < 0 {
		i = 0
	}
	return order[within(i+by, len(order))]
}

// enter opens what is under the cursor: a workflow, a GPU, a target, a finding or an alert. What
// is opened stays the same when rows change their places.
func (m *Model) enter() tea.Cmd {
	if m.over != overNothing {
		m.enterOver()
		return nil
	}
	if m.help || m.open {
		return nil
	}
	if m.point.on {
		m.takeRow()
	}
	f := m.frame()
	switch m.shown() {
	case utilization:
		row := panes.UseUnder(f, m.view)
		if row == (panes.UseRow{}) {
			return nil
		}
		if m.view.Device = row.Device; row.Engine != "" {
			m.view.Engine = row.Engine
		}
	case capacity:
		return nil
	case fleet:
		ids := panes.TargetOrder(f, m.view)
		if len(ids) == 0 {
			return nil
		}
		if !slices.Contains(ids, m.view.Target) {
			m.view.Target = ids[0]
		}
	case alerts:
		i := panes.EntryAt(f, m.view)
		if i < 0 {
			return nil
		}
		e := panes.Entries(f)[i]
		m.view.Finding, m.view.Alert = e.Finding, e.Alert
	default:
		w := panes.WorkflowUnder(f, m.view)
		if w == nil {
			return nil
		}
		m.view.Workflow = w.Name
	}
	m.open, m.view.Scroll = true, 0
	return nil
}

// page is the pane of what is opened.
func (m *Model) page() panes.Page {
	switch m.shown() {
	case utilization:
		if m.view.Device == "" {
			return panes.Utilization{}
		}
		return panes.Device{}
	case fleet:
		return panes.Detail{}
	case alerts:
		if m.view.Finding != "" {
			return panes.Finding{}
		}
		return panes.Alert{}
	default:
		return panes.Workflow{}
	}
}

// back closes what lies on top, one thing a press.
func (m *Model) back() tea.Cmd {
	switch {
	case m.point.on && m.holdsNumbers():
		m.point = pointer{}
	case m.over != overNothing:
		m.closeOver()
	case m.help:
		m.help = false
	case m.open:
		m.open, m.view.Scroll = false, 0
	case m.screen == fleet && m.view.Filter != "":
		m.view.Filter = ""
	case m.screen == overview:
		m.view.Workflow = ""
	default:
		m.screen = overview
	}
	return nil
}

// windows are those that a key steps through.
var windows = []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

func (m *Model) nextWindow() tea.Cmd {
	if m.frozen != nil {
		m.say("frozen: space first")
		return nil
	}
	asked := m.window
	if asked == 0 {
		asked = time.Duration(m.frame().WindowS * float64(time.Second))
	}
	next := windows[0]
	for _, w := range windows {
		if w > asked {
			next = w
			break
		}
	}
	m.window = next
	m.opt.Window(next)
	m.say("window " + windowText(next))
	return nil
}

func windowText(d time.Duration) string {
	if d%time.Minute == 0 && d > time.Minute {
		return unit.Integer(d.Minutes()) + " min"
	}
	return unit.Integer(d.Seconds()) + " s"
}

func (m *Model) startFilter() tea.Cmd {
	if m.help || m.over == overGlossary {
		m.over, m.typing, m.input = overGlossary, panes.FilterPrompt, m.glossary.Filter
		return nil
	}
	m.screen, m.open, m.help, m.over = fleet, false, false, overNothing
	m.typing, m.input = panes.FilterPrompt, m.view.Filter
	return nil
}

func (m *Model) nextSort() tea.Cmd {
	switch {
	case m.screen == fleet:
		m.view.Sort = m.view.Sort.Next()
		m.say("sorted " + m.view.Sort.Words())
	case m.shown() == utilization && len(m.frame().Utilization) > 1:
		m.view.UseSort = m.view.UseSort.Next()
		m.say("sorted " + m.view.UseSort.Words())
	default:
		m.say("5 shows rows to sort")
	}
	return nil
}

func (m *Model) nextTheme() tea.Cmd {
	if m.opt.NoColour {
		m.say("without colours")
		return nil
	}
	m.auto = false
	m.wear(m.opt.Themes.After(m.theme.Name))
	m.say("theme " + m.theme.Name)
	return nil
}

// togglePause stops and goes on; at the end it goes on from the beginning.
func (m *Model) togglePause() tea.Cmd {
	if m.opt.Replay.Position().Ended {
		m.opt.Replay.Seek(0)
		m.opt.Replay.Pause(false)
		return nil
	}
	m.opt.Replay.Pause(!m.opt.Replay.Position().Paused)
	return nil
}

func (m *Model) toStart() tea.Cmd {
	m.opt.Replay.Seek(0)
	return nil
}

func (m *Model) toEnd() tea.Cmd {
	m.opt.Replay.Seek(m.opt.Replay.Position().Length)
	return nil
}

// The speeds a replay may have.
const slowest, fastest = 1.0 / 8, 512.0

func faster(by float64) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		now := m.opt.Replay.Position().Speed
		if now <= 0 {
			now = 1
		}
		m.opt.Replay.Speed(min(max(now*by, slowest), fastest))
		return nil
	}
}

package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/model/unit"
	"slotop/tui/panes"
)

// moveAlert moves the cursor from finding to finding, on to the alerts, and beyond
// the last one the page, so that what stands below them is reached by the same keys.
func (m *Model) moveAlert(by int) {
	f := m.frame()
	order := panes.Entries(f)
	last := max(len(order)-1, 0)
	at := max(panes.EntryAt(f, m.view), 0)
	to := max(at+m.view.Scroll+by, 0)
	at = min(to, last)
	if len(order) > 0 {
		m.view.Finding, m.view.Alert = order[at].Finding, order[at].Alert
	}
	m.view.Scroll = 0
	m.view.Scroll = min(to-at, panes.Alerts{}.Scroll(f, m.bodySize(), m.look()))
}

// acknowledge takes the alert under the cursor, or gives it back.
func (m *Model) acknowledge() tea.Cmd {
	if m.screen != alerts || m.help {
		m.say("6 shows the alerts: a acknowledges the one under the cursor")
		return nil
	}
	a := panes.AlertUnder(m.frame(), m.view)
	switch {
	case a == nil && panes.FindingUnder(m.frame(), m.view) != nil:
		m.say("a finding is not acknowledged: it goes with what it is about")
		return nil
	case a == nil:
		m.say("no alert to acknowledge")
		return nil
	case a.State == model.AlertResolved:
		m.say("resolved: nothing to acknowledge")
		return nil
	}
	m.view.Alert, m.view.Finding = a.ID, ""
	m.opt.Ack(a.ID)
	if a.Acknowledged {
		m.say("no longer acknowledged")
	} else {
		m.say("acknowledged: it no longer calls")
	}
	return nil
}

// startStage asks for the name of a stage.
func (m *Model) startStage() tea.Cmd {
	m.typing, m.input = panes.StagePrompt, ""
	return nil
}

// stageName is the name of a stage that nobody names: one more than there are, so
// that no two are the same.
func stageName(f *model.Frame) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(f.Stages, func(s model.StageView) bool { return s.Name == name })
	}
	n := len(f.Stages) + 1
	for taken("stage " + unit.Integer(float64(n))) {
		n++
	}
	return "stage " + unit.Integer(float64(n))
}

// mark begins a stage under the name that was typed.
func (m *Model) mark() {
	name := strings.TrimSpace(m.input)
	if name == "" {
		name = stageName(m.newest) // not of the frozen picture
	}
	m.opt.Mark(name)
	if m.frozen != nil { // the picture does not show it
		name += " now, not then"
	}
	m.say("marked " + name)
}

// maxTyped bounds what can be typed: no name is longer that anyone types.
const maxTyped = 80

// lastSign is where the last sign of a text begins, as people see it: a flag, or a letter
// with its accents, is one.
func lastSign(s string) int {
	at := 0
	for at < len(s) {
		sign, _ := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
		if sign == "" || at+len(sign) >= len(s) {
			break
		}
		at += len(sign)
	}
	return at
}

// onTyped edits the line at the foot of the screen. A filter takes effect at once,
// the name of a stage when it is done.
func (m *Model) onTyped(msg tea.KeyPressMsg) {
	prompt := m.typing
	switch msg.String() {
	case "enter":
		m.typing = panes.NoPrompt
		if prompt == panes.StagePrompt {
			m.mark()
		}
		return
	case "esc":
		m.typing, m.input = panes.NoPrompt, ""
	case "ctrl+u":
		m.input = ""
	case "backspace":
		m.input = m.input[:lastSign(m.input)]
	default:
		m.typeIn(msg.Key().Text)
	}
	m.filterBy(prompt)
}

// onPasted types what is pasted, up to its first end of a line: a paste confirms nothing,
// and where nothing is typed it presses no keys.
func (m *Model) onPasted(text string) {
	if m.typing == panes.NoPrompt {
		return
	}
	m.touched()
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	m.typeIn(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, line))
	m.filterBy(m.typing)
}

// typeIn adds as much of a text as there is room for.
func (m *Model) typeIn(text string) {
	for text != "" {
		sign, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if sign == "" || len(m.input)+len(sign) > maxTyped {
			return
		}
		m.input, text = m.input+sign, text[len(sign):]
	}
}

// filterBy lets what is typed into a filter take effect.
func (m *Model) filterBy(prompt panes.Prompt) {
	switch {
	case prompt != panes.FilterPrompt:
	case m.over == overGlossary:
		m.glossary = panes.Glossary{Filter: m.input}
	default:
		m.view.Filter = m.input
	}
}

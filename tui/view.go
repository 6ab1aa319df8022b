package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/panes"
)

// The sizes that a screen is made for. Below the least there is one sentence;
// beyond the widest it does not stretch: eyes do not follow a line that far.
const (
	leastW, leastH = 40, 10
	widest         = 200
)

// View declares the screen. Nothing changed means the identical string, for
// which the renderer writes no byte.
func (m *Model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = m.title
	v.ProgressBar = m.progress()
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// drawing is all that the screen depends on, and the screen.
type drawing struct {
	frame  *model.Frame
	size   layout.Size
	look   panes.Look
	header panes.Header
	footer panes.Footer
	body   body
	screen screen
	scroll int
	point  pointer
	over   panes.Pane // what lies over the screen; nil: nothing
	text   string
}

// body is what lies between header and footer.
type body uint8

const (
	bodyOverview body = iota
	bodyLatency
	bodyInflight
	bodyUtilization
	bodyFleet
	bodyAlerts
	bodyCapacity
	bodyPage
	bodyHelp
	bodyWaiting
	bodyOver
	bodyKiosk
)

// draw returns the screen, the kept one where nothing changed.
func (m *Model) draw() string {
	m.followExplained(m.frame())
	d := m.scene()
	d.text = m.drawn.text
	if d == m.drawn {
		return d.text
	}
	if d.text = m.compose(d); d.look.Spots {
		d.text = m.pointed(d.text, d)
	}
	m.drawn = d
	return d.text
}

// scene is all that the screen depends on, not drawn yet.
func (m *Model) scene() drawing {
	f := m.frame()
	d := drawing{
		frame: f, size: m.size, look: m.look(), body: m.body(f), screen: m.screen, scroll: m.scroll,
		header: panes.Header{Status: m.status(f)},
		footer: panes.Footer{Keys: m.keys, Prompt: m.typing, Still: m.frozen != nil, Input: m.input, Toast: m.toast},
		point:  m.point, over: m.overPane(),
	}
	if m.opt.Kiosk != nil {
		d.footer.Keys = &noKeys
	}
	if m.typing == panes.StagePrompt {
		d.footer.Default = stageName(m.newest)
	}
	return d
}

func (m *Model) look() panes.Look {
	view := m.view
	if m.inPast() {
		view.Outbox = nil // nobody knows what was delivered by then
	}
	return panes.Look{Inks: m.inks, ASCII: m.opt.ASCII, Still: m.opt.Still, View: view, Spots: m.point.on}
}

func (m *Model) body(f *model.Frame) body {
	switch {
	case m.over != overNothing:
		return bodyOver
	case m.help:
		return bodyHelp
	case m.open:
		return bodyPage
	case m.big(f):
		return bodyKiosk
	case m.shown() == utilization:
		return bodyUtilization
	case !panes.Known(f) && (m.screen == latency || m.screen == inflight || m.screen == capacity):
		return bodyWaiting
	case m.screen == latency:
		return bodyLatency
	case m.screen == inflight:
		return bodyInflight
	case m.screen == fleet:
		return bodyFleet
	case m.screen == alerts:
		return bodyAlerts
	case m.screen == capacity:
		return bodyCapacity
	case !panes.Known(f):
		return bodyWaiting
	default:
		return bodyOverview
	}
}

func (m *Model) width() int { return min(m.size.W, widest) }

// asks is the first line of a numbered screen, where it has room for one. What is opened
// or laid over it has a title of its own.
func (m *Model) asks() (panes.Title, bool) {
	i := int(m.shown())
	if m.over != overNothing || m.help || m.open || i >= len(panes.Screens) {
		return panes.Title{}, false
	}
	return panes.Title{Of: panes.Screens[i]}, panes.Screens[i].Titled(m.size)
}

// bodyHeight is what header, title and footer leave.
func (m *Model) bodyHeight() int {
	h := m.size.H - 2
	if _, ok := m.asks(); ok {
		h--
	}
	return max(h, 0)
}

// bodySize is the room of a page between title and footer.
func (m *Model) bodySize() layout.Size { return layout.Size{W: m.width(), H: m.bodyHeight()} }

// compose draws every pane of the screen into its rectangle, from top to bottom.
func (m *Model) compose(d drawing) string {
	if d.size.W < leastW || d.size.H < leastH {
		return tooSmall(d.size)
	}
	list, rects := m.arranged(d)
	rows := make([]string, d.size.H)
	for i, p := range list {
		if rects[i].Empty() {
			continue
		}
		for y, l := range strings.Split(m.render(i, p, rects[i].Size(), d), "\n") {
			rows[rects[i].Y+y] = l
		}
	}
	return strings.Join(rows, "\n")
}

// arranged is every pane of the screen with its rectangle.
func (m *Model) arranged(d drawing) ([]panes.Pane, []layout.Rect) {
	list := m.panes(d)
	area := layout.Rect{W: m.width(), H: d.size.H}
	if d.body == bodyKiosk {
		area.W = d.size.W
	}
	wants := make([]layout.Want, len(list))
	for i, p := range list {
		wants[i] = p.Want(d.frame, area.W, d.look)
	}
	rects := layout.Rows(area, wants)
	rects[len(rects)-1].Y = d.size.H - 1 // the footer stands at the bottom
	return list, rects
}

// panes is what stands on the screen, from top to bottom.
func (m *Model) panes(d drawing) []panes.Pane {
	out := []panes.Pane{d.header}
	if t, ok := m.asks(); ok && d.body != bodyKiosk {
		out = append(out, t)
	}
	switch d.body {
	case bodyOver:
		out = append(out, d.over)
	case bodyHelp:
		out = append(out, panes.Help{Keys: m.keys, Scroll: d.scroll})
	case bodyPage:
		out = append(out, m.page())
	case bodyUtilization:
		out = append(out, panes.Utilizations{}, panes.Roofline{}, panes.Devices{})
	case bodyLatency:
		out = append(out, panes.Latency{})
	case bodyInflight:
		out = append(out, panes.Inflight{})
	case bodyFleet:
		out = append(out, panes.Fleet{})
	case bodyAlerts:
		out = append(out, panes.Alerts{})
	case bodyCapacity:
		out = append(out, panes.Capacity{})
	case bodyKiosk:
		out = append(out, panes.Kiosk{Silent: d.header.Status.Silent})
	case bodyWaiting:
		out = append(out, panes.Rule{}, panes.Waiting{})
	default:
		out = append(out, panes.Headline{}, panes.Strip{}, panes.Rule{Kind: panes.AboveWorkflows}, panes.Workflows{}, panes.Stage{}, panes.Charts{},
			panes.Rule{Kind: panes.AboveLoad}, panes.Queue{}, panes.GPUs{}, panes.Rule{Kind: panes.BelowLoad}, panes.Engines{})
	}
	return append(out, d.footer)
}

// kept is a pane's last drawing and what it was made from.
type kept struct {
	pane  panes.Pane
	frame *model.Frame
	size  layout.Size
	look  panes.Look
	text  string
}

// render draws pane number i, or takes its last drawing.
func (m *Model) render(i int, p panes.Pane, size layout.Size, d drawing) string {
	for len(m.kept) <= i {
		m.kept = append(m.kept, kept{})
	}
	k := &m.kept[i]
	if k.pane != p || k.frame != d.frame || k.size != size || k.look != d.look {
		*k = kept{p, d.frame, size, d.look, p.Render(d.frame, size, d.look)}
	}
	return k.text
}

// tooSmall is one sentence, cut to what there is.
func tooSmall(s layout.Size) string {
	words := strings.Fields(fmt.Sprintf("slotop needs %d columns and %d lines, here are %d and %d", leastW, leastH, s.W, s.H))
	var rows []string
	line := ""
	for _, w := range words {
		switch {
		case line == "":
			line = w
		case len(line)+1+len(w) <= s.W:
			line += " " + w
		default:
			rows, line = append(rows, line), w
		}
	}
	rows = append(rows, line)
	for i := range rows {
		rows[i] = rows[i][:min(len(rows[i]), max(s.W, 0))]
	}
	return strings.Join(rows[:min(len(rows), max(s.H, 0))], "\n")
}

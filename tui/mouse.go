package tui

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/tui/panes"
)

// onClick does what stands under a click: a key of the footer, a number, a point of a
// chart, a row. Clicks with shift never come: they are the terminal's, which selects
// text with them.
func (m *Model) onClick(msg tea.MouseClickMsg) tea.Cmd {
	at := msg.Mouse()
	if at.Button != tea.MouseLeft || !m.mouse || m.typing != panes.NoPrompt {
		return nil
	}
	before := m.here()
	all := m.spots()
	i := hit(all, at.X, at.Y)
	switch {
	case i < 0:
		m.clickRow(rowAt(all, at.X, at.Y))
	case strings.HasPrefix(all[i].Topic, panes.MarkKey):
		return m.pressKey(strings.TrimPrefix(all[i].Topic, panes.MarkKey))
	case all[i].Topic == panes.MarkChart:
		m.clickChart(all[i], at.X)
	case all[i].Number():
		m.clickNumber(all, i)
	default:
		m.clickRow(all[i].About)
	}
	m.settle(before)
	m.keys = m.keyHelp()
	return nil
}

// hit is the spot at a cell, -1 where there is none. What stands on a chart comes before it.
func hit(all []panes.Spot, x, y int) int {
	best := -1
	for i, s := range all {
		if s.Y == y && x >= s.X && x < s.X+s.W && (best < 0 || all[best].Topic == panes.MarkChart) {
			best = i
		}
	}
	return best
}

// rowAt is the row of a cell that holds nothing itself: the one whose name stands last
// before it, else first behind it.
func rowAt(all []panes.Spot, x, y int) panes.About {
	var found panes.About
	for _, s := range all {
		if s.Y != y || !strings.HasPrefix(s.Topic, panes.MarkRow) {
			continue
		}
		if s.X > x && found != (panes.About{}) {
			break
		}
		found = s.About
	}
	return found
}

// clickNumber sets the cursor on a number and selects its row; a second click explains
// it.
func (m *Model) clickNumber(all []panes.Spot, i int) {
	again := m.point.on && m.clicked == all[i].About
	m.selectRow(rowAt(all, all[i].X, all[i].Y))
	m.clicked = all[i].About
	var numbers []panes.Spot
	at := 0
	for j, s := range all {
		if j == i {
			at = len(numbers)
		}
		if s.Number() {
			numbers = append(numbers, s)
		}
	}
	m.pointTo(numbers, at)
	if again {
		m.explainNumber()
	}
}

// clickRow selects a row; a second click opens it.
func (m *Model) clickRow(a panes.About) {
	if a.Topic == "" {
		m.clicked = panes.About{}
		return
	}
	again := m.clicked == a
	m.clicked = a
	if !m.selectRow(a) || !again {
		return
	}
	m.point = pointer{}
	if s, ok := rowScreens[a.Topic]; ok && !m.has(a.Topic) {
		m.screen, m.open = s, false
	}
	m.enter()
}

// rowScreens is which screen opens a row.
var rowScreens = map[string]screen{
	"row.workflow": overview, "row.target": fleet, "row.engine": utilization, "row.device": utilization, "row.alert": alerts, "row.finding": alerts,
}

// has reports whether the screen that is shown opens such rows itself.
func (m *Model) has(topic string) bool {
	switch m.shown() {
	case overview, latency, inflight:
		return topic == "row.workflow"
	default:
		return rowScreens[topic] == m.shown()
	}
}

// selectRow sets the rows' cursor on a row, and reports whether it can be opened.
func (m *Model) selectRow(a panes.About) bool {
	f := m.frame()
	switch a.Topic {
	case "row.workflow":
		m.view.Workflow = a.Of
	case "row.target":
		for i := range f.Targets {
			if t := &f.Targets[i]; t.Name == a.Of || string(t.ID) == a.Of {
				m.view.Target = t.ID
			}
		}
	case "row.engine":
		m.view.Engine, m.view.Device = a.Of, ""
	case "row.device":
		m.view.Device = a.Of
	case "row.alert":
		m.view.Alert, m.view.Finding = model.AlertID(a.Of), ""
	case "row.finding":
		m.view.Finding = a.Of
	case "row.stage":
		for i := range f.Stages {
			if key := panes.KeyOf(&f.Stages[i]); key.String() == a.Of {
				m.stages.At = key
			}
		}
	case "row.topic":
		m.glossary = m.glossary.On(a.Of)
	default:
		return false
	}
	return true
}

// takeRow selects the row that the number under the cursor stands in.
func (m *Model) takeRow() {
	m.selectRow(rowAt(m.spots(), m.pointAt.x, m.pointAt.y))
}

// pressKey does what a key of the footer or of a title does, by how it is printed.
func (m *Model) pressKey(print string) tea.Cmd {
	return m.does(func(b *binding) bool { return b.print == print || b.ascii == print })
}

// clickChart goes to the instant that a column of a chart shows. Of holds where its time
// axis begins, how long it is in cells, and how long before the frame its first and its
// last cell are, in milliseconds.
func (m *Model) clickChart(s panes.Spot, x int) {
	var n [4]int
	for i, text := range strings.SplitN(s.Of, ",", len(n)) {
		n[i], _ = strconv.Atoi(text)
	}
	cell := x - s.X - n[0]
	if cell < 0 || cell >= n[1] || n[1] < 2 || !timed(m) {
		return
	}
	ago := n[2] + (n[3]-n[2])*cell/(n[1]-1)
	m.goTo(m.frame().At.Add(-time.Duration(ago) * time.Millisecond))
}

// onWheel scrolls what is under the wheel: the rows of its pane, or a text.
func (m *Model) onWheel(msg tea.MouseWheelMsg) tea.Cmd {
	at := msg.Mouse()
	by := 0
	switch at.Button {
	case tea.MouseWheelUp:
		by = -1
	case tea.MouseWheelDown:
		by = 1
	default:
		return nil
	}
	if m.over != overNothing || m.help || m.open {
		return moveRows(textStep * by)(m)
	}
	switch m.paneAt(at.X, at.Y).(type) {
	case panes.Utilizations, panes.Roofline:
		m.wheelUse(by, func(r panes.UseRow) bool { return r.Device == "" })
	case panes.Devices:
		m.wheelUse(by, func(r panes.UseRow) bool { return r.Device != "" })
	case panes.Capacity:
		return moveRows(textStep * by)(m)
	default:
		return moveRows(by)(m)
	}
	return nil
}

// textStep is how many lines a text moves at a notch of the wheel.
const textStep = 3

// wheelUse moves over the rows of one of the two tables of the utilization.
func (m *Model) wheelUse(by int, of func(panes.UseRow) bool) {
	var rows []panes.UseRow
	for _, r := range panes.UseOrder(m.frame(), m.view) {
		if of(r) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	row := moved(rows, panes.UseUnder(m.frame(), m.view), by)
	if m.view.Device = row.Device; row.Engine != "" {
		m.view.Engine = row.Engine
	}
}

// paneAt is the pane at a cell, nil where there is none.
func (m *Model) paneAt(x, y int) panes.Pane {
	if m.size.W < leastW || m.size.H < leastH {
		return nil
	}
	list, rects := m.arranged(m.scene())
	for i, r := range rects {
		if !r.Empty() && y >= r.Y && y < r.Y+r.H && x >= r.X && x < r.X+r.W {
			return list[i]
		}
	}
	return nil
}

func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.say("mouse on: shift selects text")
	} else {
		m.say("mouse off")
	}
	return nil
}

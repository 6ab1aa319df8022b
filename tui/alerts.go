package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

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
	m.say("marked " + name)
}

// maxTyped bounds what can be typed: no name is longer that anyone types.
const maxTyped = 80

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
		_, n := utf8.DecodeLastRuneInString(m.input)
		m.input = m.input[:len(m.input)-n]
	default:
		if text := msg.Key().Text; len(m.input)+len(text) <= maxTyped {
			m.input += text
		}
	}
	switch {
	case prompt != panes.FilterPrompt:
	case m.over == overGlossary:
		m.glossary = panes.Glossary{Filter: m.input}
	default:
		m.view.Filter = m.input
	}
}

package tui

import (
	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/tui/panes"
)

// over is what lies over a screen.
type over uint8

const (
	overNothing  over = iota
	overExplain       // the explanation of a number
	overGlossary      // the list of all topics
	overTopic         // one of them, opened from the list
	overStages        // the stages of a load test
	overCompared      // two of them, compared
)

// holdsNumbers reports whether what is on top has numbers of its own for the cursor: a
// screen, a page, the stages of a load test.
func (m *Model) holdsNumbers() bool {
	return !m.help && (m.over == overNothing || m.over == overStages || m.over == overCompared)
}

// lay puts something on top of what was there.
func (m *Model) lay(o over) {
	if m.over == overNothing || m.over == overStages || m.over == overCompared {
		m.below = m.over
	}
	m.over = o
}

// openExplain explains the number under the cursor, without one the first of the screen;
// in the help it leads to all that can be explained.
func (m *Model) openExplain() tea.Cmd {
	switch {
	case m.over == overExplain:
		m.closeOver()
	case m.help && m.over == overNothing:
		m.lay(overGlossary)
		m.glossary = panes.Glossary{}
	case m.holdsNumbers():
		m.explainNumber()
	}
	return nil
}

func (m *Model) explainNumber() {
	all := m.numbers()
	if m.point.on && m.under(all) < 0 { // it is not on this screen any more
		m.lay(overExplain)
		m.explain = panes.Explain{About: m.point.at}
		return
	}
	if len(all) == 0 {
		m.say("no number here")
		return
	}
	i := m.under(all)
	if i < 0 {
		i = first(all)
	}
	m.lay(overExplain)
	m.explain = panes.Explain{About: all[i].About, Shown: all[i].Text}
}

// followExplained keeps what is explained as it stands below the explanation: numbers go on
// while they are explained.
func (m *Model) followExplained(f *model.Frame) {
	if m.over != overExplain || m.explainedAt == f {
		return
	}
	m.explainedAt = f
	p := pointer{at: m.explain.About}
	if m.point.on && m.point.at == m.explain.About {
		p = m.point
	}
	s, _ := p.found(m.numbers())
	m.explain.Shown = s.Text
}

// overPane is the pane of what lies over the screen.
func (m *Model) overPane() panes.Pane {
	switch m.over {
	case overNothing:
		return nil
	case overGlossary:
		return m.glossary
	case overStages:
		return m.stages
	case overCompared:
		return m.compared
	default:
		return m.explain
	}
}

// scrollOver moves what lies over the screen.
func (m *Model) scrollOver(by int, f *model.Frame) {
	switch m.over {
	case overGlossary:
		m.glossary = m.glossary.Moved(by)
		return
	case overStages:
		m.stages = m.stages.Moved(f, by)
		return
	case overCompared:
		m.compared.Scroll = min(max(m.compared.Scroll+by, 0), m.compared.Most(f, m.bodySize(), m.look()))
		return
	}
	m.explain.Scroll = min(max(m.explain.Scroll+by, 0), m.explain.Most(f, m.bodySize(), m.look()))
}

// enterOver opens the topic under the cursor of the glossary.
func (m *Model) enterOver() {
	if m.staging() {
		m.enterStage()
		return
	}
	if m.over != overGlossary {
		return
	}
	if topic := m.glossary.Under(); topic != "" {
		m.over, m.explain = overTopic, panes.Explain{About: panes.About{Topic: topic}, Bare: true}
	}
}

// closeOver closes the uppermost thing.
func (m *Model) closeOver() {
	switch {
	case m.over == overExplain:
		m.over, m.below = m.below, overNothing
	case m.over == overTopic:
		m.over = overGlossary
	case m.over == overCompared:
		m.over = overStages
	case m.over == overGlossary && m.glossary.Filter != "":
		m.glossary = panes.Glossary{}
	default:
		m.over = overNothing
	}
}

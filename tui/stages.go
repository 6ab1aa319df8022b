package tui

import (
	tea "charm.land/bubbletea/v2"

	"slotop/tui/panes"
)

// onStages reports whether stages are what one would look for here.
func onStages(m *Model) bool { return onOverview(m) || m.staging() }

// staging reports whether the list of stages is on top.
func (m *Model) staging() bool { return m.over == overStages }

// openStages lists the stages; on the list it compares the one under the cursor with the
// one before it.
func (m *Model) openStages() tea.Cmd {
	f := m.frame()
	switch m.over {
	case overStages:
		i := m.stages.Under(f)
		if i < 1 {
			m.say("there is none before it to compare with")
			return nil
		}
		m.compareStages(i-1, i)
	case overCompared:
		m.over = overStages
	default:
		m.help = false
		m.over, m.stages = overStages, panes.Stages{Replayed: m.opt.Mark == nil}
	}
	return nil
}

// compareStages lays the comparison of two stages over the list. The later one is said to
// have changed.
func (m *Model) compareStages(a, b int) {
	f := m.frame()
	if a > b {
		a, b = b, a
	}
	m.over, m.compared = overCompared, panes.Comparison{A: panes.KeyOf(&f.Stages[a]), B: panes.KeyOf(&f.Stages[b])}
}

// enterStage chooses the stage under the cursor as the first of two, or compares it with
// the one that was chosen.
func (m *Model) enterStage() {
	f := m.frame()
	i := m.stages.Under(f)
	if i < 0 {
		return
	}
	key := panes.KeyOf(&f.Stages[i])
	first := panes.StageIndex(f, m.stages.First)
	switch {
	case key == m.stages.First:
		m.stages.First = 0
	case first < 0:
		m.stages.First = key
	default:
		m.compareStages(first, i)
	}
}

// turnStages shows another workflow's figures.
func (m *Model) turnStages(by int) { m.stages = m.stages.Turned(m.frame(), by, m.view) }

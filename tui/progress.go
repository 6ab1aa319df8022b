package tui

import (
	tea "charm.land/bubbletea/v2"

	"slotop/tui/panes"
)

// progress is what the terminal shows on its tab or in the task bar: how far a replay
// or the recalled past has come, and, before that, that something which was promised
// is not kept. Nil shows nothing, and takes back what was shown.
func (m *Model) progress() *tea.ProgressBar {
	if !m.opt.Signals.Progress {
		return nil
	}
	switch r := m.opt.Replay; {
	case r != nil:
		p := r.Position()
		if m.opt.Still || p.Ended || p.Length <= 0 || p.Paused && !p.Going {
			return nil
		}
		return tea.NewProgressBar(tea.ProgressBarDefault, int(100*p.At/p.Length))
	case m.newest != nil && panes.Promises(m.newest):
		return tea.NewProgressBar(tea.ProgressBarError, 100)
	case m.opt.Recalled != nil && !m.opt.Still:
		if share, going := m.opt.Recalled(); going {
			return tea.NewProgressBar(tea.ProgressBarDefault, int(100*share))
		}
	}
	return nil
}

package tui

import tea "charm.land/bubbletea/v2"

// toggleInside shows or hides the engines inside the fleet's targets. From another screen
// it leads to them.
func (m *Model) toggleInside() tea.Cmd {
	m.view.Inside = !m.view.Inside || !onFleet(m)
	m.screen, m.open, m.help = fleet, false, false
	if m.view.Inside && !m.hasInside() {
		m.say("no target tells its engines apart")
	}
	return nil
}

// hasInside reports whether any target tells its engines apart.
func (m *Model) hasInside() bool {
	for _, t := range m.frame().Targets {
		if len(t.Engines) > 1 {
			return true
		}
	}
	return false
}

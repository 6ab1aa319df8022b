package tui

import (
	tea "charm.land/bubbletea/v2"

	"slotop/tui/panes"
)

// nextMetric charts the next latency, on the screen that charts them.
func (m *Model) nextMetric() tea.Cmd {
	if !onLatency(m) {
		m.say("2 shows what it charts")
		return nil
	}
	metric, word := panes.NextMetric(m.view)
	m.view.Metric = metric
	m.say("charting " + word)
	return nil
}

// onLatency says that the screen of latencies is shown, with something to chart.
func onLatency(m *Model) bool {
	return m.shown() == latency && !m.open && !m.help && len(m.frame().Workflows) > 0
}

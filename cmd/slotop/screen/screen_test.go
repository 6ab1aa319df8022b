package screen

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// brittle is a screen that breaks where it is told to.
type brittle struct{ at string }

func (b brittle) Init() tea.Cmd {
	b.trip("init")
	return tea.Batch(func() tea.Msg { b.trip("command"); return nil })
}

func (b brittle) Update(tea.Msg) (tea.Model, tea.Cmd) {
	b.trip("update")
	return b, func() tea.Msg {
		return tea.BatchMsg{func() tea.Msg { b.trip("batch"); return "done" }}
	}
}

func (b brittle) View() tea.View {
	b.trip("view")
	return tea.NewView("drawn")
}

func (b brittle) trip(at string) {
	if b.at == at {
		panic(at)
	}
}

// TestGuardRecovers: wherever a screen breaks, its owner is told and nothing else ends.
func TestGuardRecovers(t *testing.T) {
	for _, at := range []string{"", "init", "command", "update", "batch", "view"} {
		t.Run(at, func(t *testing.T) {
			var broke any
			up := false
			guard := Guard{
				Up: func() { up = true }, Clear: func() bool { return true },
				Recovered: func() {
					if r := recover(); r != nil {
						broke = r
					}
				},
			}
			var m tea.Model = guard.around(brittle{at})
			if cmd := m.Init(); cmd != nil {
				cmd()
			}
			m, cmd := m.Update(nil)
			if cmd != nil {
				for _, c := range cmd().(tea.BatchMsg) {
					c()
				}
			}
			m.View()
			if got, _ := broke.(string); got != at {
				t.Errorf("broke at %q, told of %q", at, got)
			}
			if !up {
				t.Error("nobody was told that the screen runs")
			}
		})
	}
}

// TestGuardSkipsDrawings: what the terminal cannot take is not drawn, and the last
// drawing stands.
func TestGuardSkipsDrawings(t *testing.T) {
	clear := false
	guard := Guard{Up: func() {}, Clear: func() bool { return clear }, Recovered: func() {}}
	var m tea.Model = guard.around(brittle{})
	if got := m.View().Content; got != "" {
		t.Errorf("drew %q for a terminal that takes nothing", got)
	}
	clear = true
	if got := m.View().Content; got != "drawn" {
		t.Errorf("drew %q", got)
	}
	clear = false
	m, _ = m.Update(nil)
	if got := m.View().Content; got != "drawn" {
		t.Errorf("the last drawing became %q", got)
	}
}

func TestColourless(t *testing.T) {
	if !Colourless("vt220") || Colourless("xterm-256color") || Colourless("") {
		t.Error("terminals are taken for others")
	}
}

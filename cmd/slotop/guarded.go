package main

import tea "charm.land/bubbletea/v2"

// guarded is the screen's model with every panic turned into an orderly end, and
// with no drawing while the terminal has not taken the last one: the newest
// picture is drawn when it can be shown, those between are skipped.
type guarded struct {
	tea.Model
	t *terminal
}

var _ tea.Model = guarded{}

// Init implements tea.Model.
func (g guarded) Init() tea.Cmd {
	defer g.t.recovered()
	defer close(g.t.up)
	return g.t.safe(g.Model.Init())
}

// Update implements tea.Model.
func (g guarded) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = g
	defer g.t.recovered()
	m, cmd := g.Model.Update(msg)
	return guarded{m, g.t}, g.t.safe(cmd)
}

// View implements tea.Model. After a panic it is the last view.
func (g guarded) View() (v tea.View) {
	v = g.t.view
	defer g.t.recovered()
	if g.t.outlet.Clear() {
		v = g.Model.View()
		g.t.view = v
	}
	return v
}

// safe is cmd, and the commands it hands out, with panics recovered.
func (t *terminal) safe(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer t.recovered()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = t.safe(c)
			}
		}
		return msg
	}
}

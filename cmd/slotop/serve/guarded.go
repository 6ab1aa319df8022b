package serve

import tea "charm.land/bubbletea/v2"

// guarded is a viewer's screen with every panic turned into the end of that screen,
// and with no drawing while the terminal has not taken the last one: the newest
// picture is drawn when it can be shown, those between are skipped.
type guarded struct {
	tea.Model
	v *viewer
}

var _ tea.Model = guarded{}

// Init implements tea.Model.
func (g guarded) Init() tea.Cmd {
	defer g.v.recovered()
	return g.v.safe(g.Model.Init())
}

// Update implements tea.Model.
func (g guarded) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = g
	defer g.v.recovered()
	m, cmd := g.Model.Update(msg)
	return guarded{m, g.v}, g.v.safe(cmd)
}

// View implements tea.Model. After a panic it is the last view.
func (g guarded) View() (view tea.View) {
	view = g.v.view
	defer g.v.recovered()
	if g.v.out.Clear() {
		view = g.Model.View()
		g.v.view = view
	}
	return view
}

// safe is cmd, and the commands it hands out, with panics recovered.
func (v *viewer) safe(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer v.recovered()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = v.safe(c)
			}
		}
		return msg
	}
}

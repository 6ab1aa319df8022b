package panes

import (
	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// Inflight is the screen of the requests that are under way: what waits, what runs, and
// how long will a request wait that arrives now?
type Inflight struct{ wholeScreen }

// Name names the pane.
func (Inflight) Name() string { return "inflight" }

// Render draws the load of the chosen workflow.
func (Inflight) Render(f *model.Frame, size layout.Size, look Look) string {
	if chosenOne(f, look) == nil {
		return look.line(size.W).pad(1).put(themes.Muted, "no workflow is known yet").String()
	}
	return Queue{}.Render(f, size, look)
}

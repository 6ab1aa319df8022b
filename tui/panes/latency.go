package panes

import (
	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// Latency is the screen of one workflow's latencies: how long do its users wait, for
// which phase, and how is that spread?
type Latency struct{ wholeScreen }

// Name names the pane.
func (Latency) Name() string { return "latency" }

// Render draws the charts of the chosen workflow.
func (Latency) Render(f *model.Frame, size layout.Size, look Look) string {
	w := chosenOne(f, look)
	if w == nil {
		return look.line(size.W).pad(1).put(themes.Muted, "no workflow is known yet").String()
	}
	return lines(size.H, stacked(f, w, size, look)...)
}

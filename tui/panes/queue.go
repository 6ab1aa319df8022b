package panes

import (
	"time"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Queue is the load of the chosen workflow: what waits and runs and how full the
// KV cache is; where the time of a request goes; what comes in and goes out. Every
// field has its place, whatever its value.
type Queue struct{}

// Name names the pane.
func (Queue) Name() string { return "queue" }

// Want is three lines on a usual screen, one on a small one.
func (Queue) Want(_ *model.Frame, w int, _ Look) layout.Want {
	if w < narrow {
		return layout.Want{Min: 1, Ideal: 1, Max: 1, Drop: 3}
	}
	return layout.Want{Min: 3, Ideal: 3, Max: 3, Drop: 2}
}

// narrow is the width below which a screen gives up second lines and labels.
const narrow = 60

// meterCells is the length of the KV meter.
const meterCells = 12

// Render draws the lines.
func (Queue) Render(f *model.Frame, size layout.Size, look Look) string {
	w := chosenOne(f, look)
	if w == nil || size.H <= 0 {
		return ""
	}
	load := []part{
		look.field(0, "waiting", look.count(w.Requests.Waiting, 12), 4).of("waiting", w.Name), look.field(0, "running", look.count(w.Requests.Running, 12), 4).of("running", w.Name),
		look.meter(w.KVCacheUsage).of("kv_cache_usage", w.Name),
		look.field(2, "preempted", look.settled(w, look.rate(w.PreemptionsPerSec, 5)), 4, "/s").of("preemptions", w.Name),
		look.field(3, "prefix hit", look.settled(w, look.ratio(w.PrefixCacheHit, 5)), 5).of("prefix_cache_hit", w.Name),
	}
	flow := append([]part{
		look.field(1, "requests", look.settled(w, look.rate(w.Requests.PerSecond, 5)), 4, "/s").of("requests_per_second", w.Name),
		look.field(5, "prompt", look.settled(w, look.rate(w.Tokens.PromptPerSecond, 5)), 4, "/s").of("prompt_per_second", w.Name),
		look.field(1, "output", look.settled(w, look.rate(w.Tokens.OutputPerSecond, 5)), 4, " tok/s").of("output_per_second", w.Name),
	}, look.ended(f, w)...)
	return lines(size.H,
		look.line(size.W-1).pad(1).parts(3, load...).String(),
		splitOf(w).line(w, size.W-1, look),
		look.line(size.W-1).pad(1).parts(2, flow...).String())
}

// field is "label value unit" with room for any value, so that what follows stands
// still. A value that does not exist keeps the room of its unit.
func (k Look) field(drop int, label string, c cell, n int, unit ...string) part {
	name := ""
	for _, u := range unit {
		name += u
	}
	if c.role == themes.Muted || c.role == themes.Gone {
		name = spaces(cells(name))
	}
	value := seg{c.role, c.text + spaces(n-cells(c.text))}
	if len(unit) > 0 { // digits stand beside their unit
		value.text = spaces(n-cells(c.text)) + c.text
	}
	return part{segs: []seg{{themes.Muted, label + " "}, value, {themes.Muted, name}}, drop: drop}
}

// measure is "label value unit"; a value that does not exist has no unit.
func (k Look) measure(drop int, label string, c cell, unit string) part {
	if c.role == themes.Muted || c.role == themes.Gone {
		unit = ""
	}
	return part{segs: []seg{{themes.Muted, label + " "}, seg(c), {themes.Muted, unit}}, drop: drop}
}

// meter is the KV cache as a bar and a number: the fullest engine, the first to
// queue.
func (k Look) meter(r model.Reading) part {
	c := k.ratio(r, 5)
	role := themes.Meter
	if r.OK() && r.Value >= kvNearlyFull {
		role, c.role = themes.Warn, themes.Warn
	}
	full, empty := chart.Meter(r.Value, meterCells, k.ASCII)
	if !r.OK() { // the field keeps its room, a bar of nothing would claim 0
		full, empty = "", spaces(meterCells)
	}
	c.text = spaces(5-cells(c.text)) + c.text
	return part{segs: []seg{{themes.Muted, "KV "}, {role, full}, {themes.Rule, empty}, {themes.Muted, " "}, seg(c)}, drop: 1}
}

// kvNearlyFull is where engines start to preempt: the next request has no room.
const kvNearlyFull = 0.95

// ended is what became of the requests of the window. Errors never stand alone:
// what vanished, cancelled or lost, stands beside them.
func (k Look) ended(f *model.Frame, w *model.WorkflowView) []part {
	r := w.Requests
	window := "in " + k.span(time.Duration(f.WindowS*float64(time.Second)))
	var out []part
	for _, x := range []struct {
		drop  int
		topic string
		label string
		n     model.Reading
		alarm bool
	}{
		{2, "requests.unaccounted", window + " unaccounted", r.Unaccounted, true},
		{3, "requests.cancelled", "cancelled", r.Cancelled, false},
		{4, "requests.failed", "failed", r.Failed, true},
		{6, "requests.started", "started", r.Started, false},
		{7, "requests.finished", "finished", r.Finished, false},
	} {
		c := k.settled(w, k.reading(x.n, 5, samples))
		switch v, ok := x.n.Get(); {
		case ok && v >= 1 && x.alarm:
			c.role = themes.Warn
		case ok:
			c.role = themes.Text
		}
		out = append(out, k.field(x.drop, x.label, c, 4).of(x.topic, w.Name))
	}
	return out
}

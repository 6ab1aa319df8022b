package panes

import (
	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Queue is the load of the chosen workflow in a line or two: what waits and
// runs, how full the KV cache is, what comes in and goes out.
type Queue struct{}

// Name names the pane.
func (Queue) Name() string { return "queue" }

// Want is a title and two lines on a usual screen, one line on a small one.
func (Queue) Want(_ *model.Frame, w int, _ Look) layout.Want {
	if w < narrow {
		return layout.Want{Min: 1, Ideal: 1, Max: 1, Drop: 3}
	}
	return layout.Want{Min: 1, Ideal: 2, Max: 2, Drop: 2}
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
		say(0, themes.Muted, "waiting"), look.queueCount(w.Requests.Waiting),
		say(0, themes.Muted, "running"), look.queueCount(w.Requests.Running),
	}
	load = []part{join(load[0], load[1]), join(load[2], load[3])}
	kv := look.meter(w.KVCacheUsage)
	rest := []part{
		look.measure(2, "preempted", look.rate(w.PreemptionsPerSec, 12), "/s"),
		look.measure(3, "prefix hit", look.ratio(w.PrefixCacheHit, 12), ""),
	}
	flow := []part{
		look.measure(1, "requests", look.rate(w.Requests.PerSecond, 12), "/s"),
		look.measure(2, "prompt", look.rate(w.Tokens.PromptPerSecond, 12), " tok/s"),
		look.measure(1, "output", look.rate(w.Tokens.OutputPerSecond, 12), " tok/s"),
		look.unaccounted(w),
	}
	first := look.line(size.W).pad(1).parts(3, append(append(load, kv), rest...)...).String()
	if size.H == 1 {
		return first
	}
	return lines(size.H, first, look.line(size.W).pad(1).parts(3, flow...).String())
}

func join(a, b part) part {
	segs := append(append([]seg{}, a.segs...), seg{themes.Muted, " "})
	return part{append(segs, b.segs...), max(a.drop, b.drop)}
}

// queueCount is a count in a field of its own, so that what follows stands still.
func (k Look) queueCount(r model.Reading) part {
	c := k.count(r, 12)
	return say(0, c.role, c.text+spaces(4-cells(c.text)))
}

// measure is "label value unit"; a value that does not exist has no unit.
func (k Look) measure(drop int, label string, c cell, unit string) part {
	if c.role == themes.Muted || c.role == themes.Gone {
		unit = ""
	}
	return part{[]seg{{themes.Muted, label + " "}, {c.role, c.text}, {themes.Muted, unit}}, drop}
}

// meter is the KV cache as a bar and a number: the fullest engine, the first to
// queue.
func (k Look) meter(r model.Reading) part {
	c := k.ratio(r, 12)
	p := part{segs: []seg{{themes.Muted, "KV "}}, drop: 1}
	if v, ok := r.Get(); ok {
		role := themes.Meter
		if v >= kvNearlyFull {
			role = themes.Warn
			c.role = themes.Warn
		}
		full, empty := chart.Meter(v, meterCells, k.ASCII)
		p.segs = append(p.segs, seg{role, full}, seg{themes.Rule, empty}, seg{themes.Muted, " "})
		c.text = spaces(5-cells(c.text)) + c.text
	}
	p.segs = append(p.segs, seg{c.role, c.text})
	return p
}

// kvNearlyFull is where engines start to preempt: the next request has no room.
const kvNearlyFull = 0.95

// unaccounted says how many requests vanished: without it a count of errors
// would look like all of them.
func (k Look) unaccounted(w *model.WorkflowView) part {
	n, ok := w.Requests.Unaccounted.Get()
	if !ok || n < 1 {
		return part{}
	}
	return part{[]seg{{themes.Warn, unit.Count(n)}, {themes.Muted, " unaccounted (cancelled or lost)"}}, 3}
}

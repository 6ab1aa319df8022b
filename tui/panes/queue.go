package panes

import (
	"slotop/model"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Queue is the load of the chosen workflow in a line or two: what waits and
// runs, how full the KV cache is, what comes in and goes out; and below it what a
// reader of its numbers must know.
type Queue struct{}

// Name names the pane.
func (Queue) Name() string { return "queue" }

// Want is a title and two lines on a usual screen, one line on a small one.
func (Queue) Want(f *model.Frame, w int, look Look) layout.Want {
	if w < narrow {
		return layout.Want{Min: 1, Ideal: 1, Max: 1, Drop: 3}
	}
	n := 2
	if c := chosenOne(f, look); c != nil {
		n += min(len(c.Notes), maxNotes)
	}
	return layout.Want{Min: 1, Ideal: min(n, 3), Max: n, Drop: 2}
}

// narrow is the width below which a screen gives up second lines and labels.
const narrow = 60

// maxNotes bounds how many remarks on a workflow stand under its load.
const maxNotes = 3

// meterCells is the length of the KV meter.
const meterCells = 12

// Render draws the lines.
func (Queue) Render(f *model.Frame, size layout.Size, look Look) string {
	w := chosenOne(f, look)
	if w == nil || size.H <= 0 {
		return ""
	}
	load := []part{
		look.queueCount("waiting", w.Requests.Waiting), look.queueCount("running", w.Requests.Running),
		look.meter(w.KVCacheUsage),
		look.measure(2, "preempted", look.rate(w.PreemptionsPerSec, 12), "/s"),
		look.measure(3, "prefix hit", look.ratio(w.PrefixCacheHit, 12), ""),
	}
	flow := []part{
		look.measure(1, "requests", look.rate(w.Requests.PerSecond, 12), "/s"),
		look.measure(2, "prompt", look.rate(w.Tokens.PromptPerSecond, 12), " tok/s"),
		look.measure(1, "output", look.rate(w.Tokens.OutputPerSecond, 12), " tok/s"),
	}
	out := []string{
		look.line(size.W-1).pad(1).parts(3, load...).String(),
		look.line(size.W-1).pad(1).parts(3, append(flow, look.ended(w)...)...).String(),
	}
	for _, n := range w.Notes[:min(len(w.Notes), maxNotes)] {
		out = append(out, look.line(size.W-1).pad(1).put(themes.Muted, "note ").put(themes.Text, look.sentence(n, size.W)).String())
	}
	return lines(size.H, out...)
}

// queueCount is a count in a field of its own, so that what follows stands still.
func (k Look) queueCount(label string, r model.Reading) part {
	c := k.count(r, 12)
	return labelled(0, label, c.role, c.text+spaces(4-cells(c.text)))
}

// measure is "label value unit"; a value that does not exist has no unit.
func (k Look) measure(drop int, label string, c cell, unit string) part {
	if c.role == themes.Muted || c.role == themes.Gone {
		unit = ""
	}
	return part{[]seg{{themes.Muted, label + " "}, seg(c), {themes.Muted, unit}}, drop}
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
	p.segs = append(p.segs, seg(c))
	return p
}

// kvNearlyFull is where engines start to preempt: the next request has no room.
const kvNearlyFull = 0.95

// ended is what became of the requests of the window. Errors never stand alone:
// what vanished stands beside them.
func (k Look) ended(w *model.WorkflowView) []part {
	r := w.Requests
	var out []part
	for _, x := range []struct {
		drop  int
		n     model.Reading
		role  themes.Role
		label string
	}{
		{3, r.Unaccounted, themes.Warn, "unaccounted (cancelled or lost)"},
		{3, r.Failed, themes.Warn, "failed"},
		{4, r.Cancelled, themes.Muted, "cancelled"},
	} {
		if n, ok := x.n.Get(); ok && n >= 1 {
			out = append(out, part{[]seg{{x.role, samples(n)}, {themes.Muted, " " + x.label}}, x.drop})
		}
	}
	if started, ok := r.Started.Get(); ok {
		out = append(out, labelled(5, "started", themes.Muted, samples(started)))
	}
	if finished, ok := r.Finished.Get(); ok {
		out = append(out, labelled(5, "finished", themes.Muted, samples(finished)))
	}
	return out
}

package panes

import (
	"fmt"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// calm is the lines of a screen on which no workflow hurts: that all is met and
// how well, and which objective and which budget are nearest to their end.
func calm(f *model.Frame, look Look) [][]part {
	n := 0
	for i := range f.Workflows {
		if of(&f.Workflows[i]) == met {
			n++
		}
	}
	if n == 0 {
		return [][]part{{{segs: []seg{{themes.Text, look.mark(quiet) + " no traffic"}}}, lost(f)}}
	}
	head := fmt.Sprintf("all %d workflows met", n)
	switch all := len(f.Workflows); {
	case all == 1:
		head = look.foreign(f.Workflows[0].Name, 40) + " met"
	case n < all:
		head = fmt.Sprintf("%d of %d workflows met, the others without traffic", n, all)
	}
	dot := look.pick(" · ", " - ")
	segs := []seg{{themes.OK, look.mark(met) + " "}, {themes.Strong, head}}
	if g := f.Goodput; g != nil && g.Share.Lo.OK() {
		segs = append(segs, seg{themes.Text, dot + "goodput " + look.share(g.Share)})
	}
	if nothingToDo(f) {
		segs = append(segs, seg{themes.Muted, dot + "nothing to do"})
	}
	return [][]part{{{segs: segs}}, {nearest(f, look), leastLeft(f, look)}}
}

// lost is how many requests began and were not heard of again: that nothing runs
// is not known of them.
func lost(f *model.Frame) part {
	n := 0.0
	for i := range f.Workflows {
		if p := f.Workflows[i].Phases; p != nil {
			v, _ := p.Unknown.Get()
			n += v
		}
	}
	if n == 0 {
		return part{}
	}
	return say(0, themes.Warn, samples(n)+" requests in flight were not heard of again")
}

// nothingToDo: every target answers, no alert wants anything and nothing was found.
func nothingToDo(f *model.Frame) bool {
	if len(f.Findings) > 0 {
		return false
	}
	for i := range f.Targets {
		if c := conditionOf(&f.Targets[i]); c != up && c != quiet {
			return false
		}
	}
	for i := range f.Alerts {
		if active(&f.Alerts[i]) {
			return false
		}
	}
	return true
}

// nearest names the objective that is closest to being missed.
func nearest(f *model.Frame, look Look) part {
	var w *model.WorkflowView
	var at model.ObjectiveView
	var most float64
	for i := range f.Workflows {
		r := &f.Workflows[i]
		for _, o := range r.Objectives {
			d := distOf(r, o.Metric)
			if d == nil || o.Verdict != model.Met || o.MaxS <= 0 {
				continue
			}
			if v := d.P95.Value.Value / o.MaxS; d.P95.Value.OK() && v > most {
				w, at, most = r, o, v
			}
		}
	}
	if w == nil {
		return part{}
	}
	text := at.Metric.Title() + " p95 " + look.estimate(distOf(w, at.Metric).P95) + " of " + unit.Limit(at.MaxS)
	if len(f.Workflows) > 1 {
		text = "nearest: " + look.foreign(w.Name, 24) + " " + text
	}
	return say(0, themes.Muted, text)
}

// leastLeft names the error budget of which the least is left.
func leastLeft(f *model.Frame, look Look) part {
	var w *model.WorkflowView
	for i := range f.Workflows {
		r := &f.Workflows[i]
		if r.Budget == nil || !r.Budget.Remaining.OK() {
			continue
		}
		if w == nil || r.Budget.Remaining.Value < w.Budget.Remaining.Value {
			w = r
		}
	}
	if w == nil {
		return part{}
	}
	text := "budget left " + unit.Percent(w.Budget.Remaining.Value)
	if len(f.Workflows) > 1 {
		text = "least budget: " + look.foreign(w.Name, 24) + " " + unit.Percent(w.Budget.Remaining.Value) + " left"
	}
	return say(1, themes.Muted, text)
}

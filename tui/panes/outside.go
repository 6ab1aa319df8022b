package panes

import (
	"math"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// outside is the part of TTFT that passes before a request reaches its engine, with
// the two means that it is the difference of. They are never merged.
func (s *sheet) outside(w *model.WorkflowView) {
	o := w.Outside
	if o == nil {
		return
	}
	var ps []part
	if v, ok := o.Mean.Get(); ok {
		role := themes.Text
		if o.Note != "" {
			role = themes.Muted
		}
		ps = append(ps, say(0, role, "mean "+signed(v)).of("outside", w.Name))
	}
	ps = append(ps, meanTTFT("gateway", o.Gateway).of("outside", w.Name), meanTTFT("engine", o.Engine).of("outside", w.Name))
	if o.Note != "" {
		ps = append(ps, say(0, themes.Warn, string(o.Note)))
	}
	s.facts("outside", ps...)
}

// signed is a difference of two durations.
func signed(v float64) string {
	if v < 0 {
		return "-" + unit.Precise(math.Abs(v))
	}
	return unit.Precise(v)
}

func meanTTFT(where string, d *model.Dist) part {
	mean := unit.Reading(meanOf(d), unit.Precise)
	return part{segs: []seg{{themes.Muted, where + " TTFT "}, {themes.Text, mean}, {themes.Muted, " n " + samples(d.N)}}}
}

package report

import (
	"math"

	"slotop/model"
	"slotop/model/unit"
)

// outside is the part of TTFT that passes before a request reaches its engine.
func (p *page) outside(o *model.OutsideView) {
	mean := ""
	if v, ok := o.Mean.Get(); ok {
		sign := ""
		if v < 0 {
			sign = "-"
		}
		mean = "mean " + sign + unit.Precise(math.Abs(v)) + " of TTFT passes outside the engine"
	}
	side := func(where string, d *model.Dist) string {
		if d.N == 0 {
			return where + " no samples"
		}
		return where + " " + unit.Reading(d.Mean, unit.Precise) + " of " + plural(d.N, "request")
	}
	p.flow("  outside   ", ", ", mean, side("gateway", o.Gateway), side("engine", o.Engine), p.safe(string(o.Note)))
}

package report

import (
	"fmt"

	"slotop/model"
	"slotop/model/unit"
)

// probe is what became of a probe's own requests, which no other line counts. Those
// that reached nobody are told once somebody answers: until then the fault tells.
func (p *page) probe(indent string, target *model.TargetView) {
	v := target.Probe
	if v == nil || v.Ended == 0 && target.Fault != nil {
		return
	}
	ended := []string{plural(v.Ended, "request") + " within " + unit.Duration(v.WindowS), fmt.Sprintf("%s failed", unit.Integer(v.Failed))}
	for _, c := range v.FailedBy {
		ended = append(ended, unit.Integer(c.N)+" × "+p.safe(c.Reason))
	}
	if v.Output != nil && v.Output.N > 0 {
		ended = append(ended, unit.Integer(v.Output.Sum)+" tokens")
	}
	if v.Output != nil && v.Output.Unknown > 0 {
		ended = append(ended, unit.Integer(v.Output.Unknown)+" without a count of tokens")
	}
	p.flow(indent+"probe         ", ", ", ended...)
	if v.Ended == 0 {
		return
	}
	for _, d := range []struct {
		label string
		dist  *model.Dist
	}{{"TTFT          ", v.TTFT}, {"first answer  ", v.FirstAnswer}, {"TPOT          ", v.TPOT}, {"E2E           ", v.E2E}} {
		if d.dist != nil && d.dist.N > 0 {
			p.flow(indent+d.label, ", ", p.dist(d.dist, true)...)
		}
	}
	p.gaps(indent, v.Gaps)
}

// gaps are those between the events of the last answer, which are not tokens.
func (p *page) gaps(indent string, v *model.ReportedView) {
	if v == nil {
		return
	}
	out := []string{unit.Reading(v.Count, unit.Integer) + " of the last answer"}
	for _, q := range v.Quantiles {
		name := fmt.Sprintf("p%.0f", 100*q.Q)
		if q.Q == 1 {
			name = "longest"
		}
		out = append(out, name+" "+unit.Duration(q.S))
	}
	p.flow(indent+"event gaps    ", ", ", out...)
}

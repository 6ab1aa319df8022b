package panes

import (
	"fmt"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// probed is what became of a probe's own requests, over a window of their own. Those
// that reached nobody are told once somebody answers: until then the fault tells.
func (s *sheet) probed(t *model.TargetView) {
	v, k, id := t.Probe, s.look, string(t.ID)
	s.rule("PROBE", say(0, themes.Muted, "over "+unit.Duration(v.WindowS)), say(1, themes.Muted, "in no workflow's figures"))
	if v.Ended == 0 && t.Fault != nil {
		s.fact("requests", say(0, themes.Muted, "none that was answered"))
		return
	}
	role := themes.Text
	if v.Failed > 0 {
		role = themes.Warn
	}
	ps := []part{say(0, themes.Text, unit.Integer(v.Ended)+" ended").of("probe.ended", id), say(0, role, unit.Integer(v.Failed)+" failed").of("probe.failed", id)}
	for _, c := range v.FailedBy {
		ps = append(ps, say(1, themes.Muted, unit.Integer(c.N)+" "+k.pick("×", "x")+" "+k.foreign(c.Reason, 40)))
	}
	s.facts("requests", ps...)
	for _, d := range []struct {
		title string
		dist  *model.Dist
	}{{"TTFT", v.TTFT}, {"first answer", v.FirstAnswer}, {"TPOT", v.TPOT}, {"E2E latency", v.E2E}} {
		s.latency(d.title, id, d.dist, false)
	}
	s.eventGaps(id, v.Gaps)
}

// eventGaps are those between the events of the last answer, which are not tokens.
func (s *sheet) eventGaps(id string, v *model.ReportedView) {
	if v == nil {
		return
	}
	ps := []part{say(0, themes.Text, unit.Reading(v.Count, unit.Integer)+" of the last answer")}
	for _, q := range v.Quantiles {
		name := fmt.Sprintf("p%.0f ", 100*q.Q)
		if q.Q == 1 {
			name = "longest "
		}
		ps = append(ps, part{segs: []seg{{themes.Muted, name}, {themes.Text, unit.Duration(q.S)}}}.of("event_gaps", id))
	}
	s.facts("event gaps", ps...)
}

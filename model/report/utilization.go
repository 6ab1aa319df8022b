package report

import (
	"fmt"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// maxEngines bounds how many engines have lines of their own here; the JSON has all.
const maxEngines = 32

// utilization is how much of its accelerators each engine uses, by whose word, and
// what a step is made of.
func (p *page) utilization(list []model.UtilizationView) {
	if len(list) == 0 {
		return
	}
	p.line("")
	for i := range list[:min(len(list), maxEngines)] {
		p.use(&list[i])
	}
	if n := len(list) - maxEngines; n > 0 {
		p.line(fmt.Sprintf("UTILIZATION  %d engines more", n))
	}
}

func (p *page) use(u *model.UtilizationView) {
	const label = "UTILIZATION  "
	name := p.safe(u.Target)
	if !u.MFU.OK() && !u.MBU.OK() && (u.Step == nil || !u.Step.Seconds.OK()) {
		why := u.Sentence
		if why == "" {
			why = "unknown"
		}
		p.sentence(label, name+": "+p.safe(why))
		return
	}
	p.flow(label, ", ", append([]string{name}, p.shares(u)...)...)
	p.step(u.Step)
	if u.Sentence != "" {
		p.sentence("  ", p.safe(u.Sentence))
	}
	if u.Gap != "" {
		p.sentence("  ", p.safe(string(u.Gap)))
	}
}

// shares is MFU and MBU by each basis that tells them, and which ceiling is near.
func (p *page) shares(u *model.UtilizationView) []string {
	var out []string
	for _, m := range u.Measures {
		if !m.Compute.OK() && !m.Bandwidth.OK() {
			continue
		}
		compute, bandwidth, by := "MFU", "MBU", "by the engine's own estimate"
		switch m.Basis {
		case model.ByGPM, model.ByDCGM, model.ByExporter:
			compute, bandwidth, by = "tensor active", "DRAM active", "by "+strings.ToUpper(string(m.Basis))
			if m.Basis == model.ByExporter {
				by = "by its exporter"
			}
		case model.ByShape:
			by = "by the model's shape"
		}
		out = append(out, compute+" "+unit.Reading(m.Compute, unit.Percent)+" and "+bandwidth+" "+unit.Reading(m.Bandwidth, unit.Percent)+" "+by)
	}
	if len(out) == 0 && (u.MFU.OK() || u.MBU.OK()) {
		out = append(out, "MFU "+unit.Reading(u.MFU, unit.Percent)+" and MBU "+unit.Reading(u.MBU, unit.Percent))
	}
	if u.Bound != model.BoundUnknown {
		bound := string(u.Bound)
		if u.Likely {
			bound = "likely " + bound
		}
		out = append(out, bound)
	}
	return out
}

// step is what a step is made of, or why that is not known.
func (p *page) step(s *model.StepView) {
	switch {
	case s == nil:
		return
	case !s.Fixed.OK():
		if s.Why != "" {
			p.sentence("  step    ", p.safe(string(s.Why)))
		}
		return
	}
	pieces := []string{unit.Reading(s.Seconds, unit.Milliseconds)}
	for _, x := range []struct {
		name string
		r    model.Reading
	}{{"fixed", s.Fixed}, {"KV reads", s.KV}, {"prefill", s.Prefill}, {"sequences", s.Sequences}, {"unexplained", s.Unexplained}} {
		if v, ok := x.r.Get(); ok && (v != 0 || x.name != "sequences") {
			pieces = append(pieces, x.name+" "+unit.Milliseconds(v))
		}
	}
	if r, ok := s.Residual.Get(); ok {
		pieces = append(pieces, unit.Multiple(r, p.ascii)+" of what load explains")
	}
	p.flow("  step    ", ", ", pieces...)
}

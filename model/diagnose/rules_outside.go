package diagnose

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/unit"
)

const (
	mostOf = 0.6   // of a change
	felt20 = 0.020 // s: less of TTFT is nothing anyone feels
)

func slowFrontEnd(p *probe) []saying {
	if p.hosted() || len(p.engines.before) < LeastBaseline {
		return nil
	}
	now, before := Total(p.engines.now), Total(p.engines.before)
	parts, ok := SplitTTFT(&before, &now, queueGrew(p.engines.now))
	if !ok {
		p.blind = true
		return nil
	}
	ttft := moved(p.engines.now, p.engines.before, TTFT)
	if !ttft.up || !p.over(parts.Rest, felt20) || !p.over(parts.Rest/parts.TTFT, mostOf) || p.queuedLonger()-parts.Queue > parts.Rest/2 {
		return nil
	}
	engine := parts.Queue + parts.Prefill
	return []saying{{
		factor: p.outside(before.Measures[TTFT].Value(), now.Measures[TTFT].Value()),
		weight: math.Log(ttft.ratio), n: ttft.n,
		cause: "the front end adds " + unit.Duration(parts.Rest) + " before the engine",
		evidence: []string{"TTFT " + unit.Duration(ttft.before) + " → " + unit.Duration(ttft.now),
			fmt.Sprintf("queue and prefill make %+.3g s of the change", engine)},
		not: listed(asBefore(engine)),
	}}
}

func asBefore(engine float64) string {
	if math.Abs(engine) > felt20 {
		return ""
	}
	return "the engine: its queue and prefill times are as they were"
}

// queuedLonger is by how much longer than in the baseline requests wait at the engines by
// Little's law, s: those that wait now tell of it before any of them has ended.
func (s *scene) queuedLonger() float64 {
	before, now := 0.0, 0.0
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		before, now = before+e.WaitingBefore.Mean.Value, now+e.Waiting.Mean.Value
	}
	n0, seconds0 := observed(s.engines.before, TTFT)
	n1, seconds1 := observed(s.engines.now, TTFT)
	return now*seconds1/n1 - before*seconds0/n0
}

// outside is time between the user and the engine as a factor.
func (s *scene) outside(before, now float64) *factor {
	return &factor{FactorView: model.FactorView{
		Factor: model.FactorOutside, Before: model.Of(before), Now: model.Of(now), Ratio: model.Of(now / before), Moved: true,
	}}
}

// worstFirst is the workflows, those that are hurt most first.
func (s *scene) worstFirst() []*Flow {
	var out []*Flow
	for i := range s.hurts {
		out = append(out, s.hurts[i].flow)
	}
	for i := range s.f.Flows {
		if w := &s.f.Flows[i]; !s.hurting(w) {
			out = append(out, w)
		}
	}
	return out
}

func outsideEngine(p *probe) []saying {
	engine := moved(p.engines.now, p.engines.before, TTFT)
	for _, w := range p.worstFirst() {
		before, now := value(w.OutsideBefore), value(w.Outside)
		if math.IsNaN(engine.ratio) {
			return nil
		}
		whole0, whole1 := before+engine.before, now+engine.now
		if !p.over(now-before, felt20) || !p.over((now-before)/(whole1-whole0), mostOf) || !p.grewBy(whole1/whole0, 1.3) {
			continue
		}
		if engine.up && engine.now-engine.before > (now-before)/2 {
			continue // the engine is slower too
		}
		return []saying{{
			flow: w.Name, factor: p.outside(whole0, whole1), weight: math.Log(whole1 / whole0), n: engine.n,
			cause: "outside the engine " + unit.Duration(max(0, before)) + " → " + unit.Duration(now),
			evidence: []string{"TTFT at the engine " + unit.Duration(engine.before) + " → " + unit.Duration(engine.now),
				"TTFT at the gateway " + unit.Duration(whole0) + " → " + unit.Duration(whole1)},
			not: []string{"the engine: its TTFT is as it was"},
		}}
	}
	return nil
}

package diagnose

import (
	"math"
	"slices"

	"slotop/model"
)

// mainPart is the part of a change from which one workflow is named for it.
const mainPart = 0.5

// attribute names the workflow that carries most of each change, and says where
// none changed by itself: then their shares of the traffic did.
func (s *scene) attribute(all []factor) {
	for i := range all {
		f := &all[i]
		switch {
		case f.Factor == model.FactorResidual:
			s.blameEngine(f)
		case f.Moved:
			if f.Mix = f.Factor != model.FactorArrivals && s.flat(f); f.Mix {
				s.blameMix(f)
				continue
			}
			s.blame(f)
		}
	}
}

// work is what of a factor's work one workflow brings in a second.
func (f *Flow) work(of model.Factor, blocks []Sums) float64 {
	lambda := rate(blocks, Arrived)
	switch of {
	case model.FactorArrivals:
		return lambda
	case model.FactorOutput:
		return lambda * mean(blocks, OutputLength).Value()
	default:
		return lambda * mean(blocks, PromptLength).Value() * missShare(blocks)
	}
}

// missShare is the share of prompt tokens that are computed; all of them where
// nobody tells of a cache.
func missShare(blocks []Sums) float64 {
	if hit, _ := hits(blocks); !math.IsNaN(hit) {
		return 1 - hit
	}
	return 1
}

// blame names who brought most of a change, if that is at least half of what
// changed in its direction.
func (s *scene) blame(f *factor) {
	direction := math.Copysign(1, f.own)
	who, largest, all := "", 0.0, 0.0
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		d := direction * (w.work(f.Factor, w.Now) - w.was(f.Factor))
		if !(d > 0) {
			continue
		}
		if all += d; d > largest {
			who, largest = w.Name, d
		}
	}
	if part := largest / all; part >= mainPart {
		f.Who, f.WhoShare = model.Text(who), model.Of(part)
	}
}

// blameMix names the workflow whose part of the traffic moved a mean most, if that is at
// least half of what moved it so: by how much its part grew, times how far its own value
// is from the mean of before.
func (s *scene) blameMix(f *factor) {
	var before, now []float64
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		before, now = append(before, w.mass(f.Factor, w.Before)), append(now, w.mass(f.Factor, w.Now))
	}
	direction := math.Copysign(1, f.own)
	largest, all, masses0, masses1 := 0.0, 0.0, sum(before), sum(now)
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		d := direction * (now[i]/masses1 - before[i]/masses0) * (w.level(f.Factor) - f.Before.Value)
		if !(d > 0) {
			continue
		}
		if all += d; d > largest {
			largest, f.Who, f.less = d, model.Text(w.Name), now[i] < before[i]
		}
	}
	if f.WhoShare = model.Of(largest / all); !(largest >= mainPart*all) {
		f.Who, f.WhoShare = "", model.Reading{}
	}
}

// mass is what a workflow weighs in the pool's mean, a second: its requests whose length is
// known, or its prompt tokens where a share of them is meant. None where it is not there.
func (f *Flow) mass(of model.Factor, blocks []Sums) float64 {
	var n, seconds float64
	switch of {
	case model.FactorMiss:
		n, seconds = counted(blocks, PromptTokens)
	case model.FactorPrompt:
		n, seconds = observed(blocks, PromptLength)
	default:
		n, seconds = observed(blocks, OutputLength)
	}
	if seconds == 0 {
		return 0
	}
	return n / seconds
}

// level is the workflow's own value of a factor now.
func (f *Flow) level(of model.Factor) float64 {
	switch of {
	case model.FactorPrompt:
		return mean(f.Now, PromptLength).Value()
	case model.FactorMiss:
		return missShare(f.Now)
	default:
		return mean(f.Now, OutputLength).Value()
	}
}

// was is a workflow's work in the baseline: none where it is new.
func (f *Flow) was(of model.Factor) float64 {
	before := f.work(of, f.Before)
	if math.IsNaN(before) && f.New {
		return 0
	}
	return before
}

// flat reports whether no workflow's own value changed as the pool's did. Where no
// workflow can be compared nothing is said.
func (s *scene) flat(f *factor) bool {
	compared := false
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		own, n0, n1 := w.own(f.Factor)
		if !(n0 >= leastCompared) || !(n1 >= leastCompared) {
			continue
		}
		compared = true
		bound := max(leastLog, errorsBeyond*lengthSpread*math.Sqrt(1/n0+1/n1))
		if own*math.Copysign(1, f.own) > bound {
			return false
		}
	}
	return compared && len(s.f.Flows) > 1
}

// own is the logarithm of a workflow's own ratio of a factor.
func (f *Flow) own(of model.Factor) (log, n0, n1 float64) {
	x := side{f.Now, f.Before}
	var before, now float64
	switch of {
	case model.FactorPrompt:
		before, now, n0, n1 = x.means(PromptLength)
	case model.FactorMiss:
		before, now, n0, n1 = x.missShares()
	default:
		before, now, n0, n1 = x.means(OutputLength)
	}
	return math.Log(now / before), n0, n1
}

// blameEngine names the one engine that is slow where others are not, and lets it
// count as moved: a mean would hide it.
func (s *scene) blameEngine(f *factor) {
	var slow []*Engine
	for i := range s.f.Engines {
		if s.slow(&s.f.Engines[i]) {
			slow = append(slow, &s.f.Engines[i])
		}
	}
	f.Moved = len(slow) > 0
	if len(slow) == 1 && len(s.f.Engines) > 1 {
		f.Who = model.Text(slow[0].Name)
		if !slices.ContainsFunc(s.f.Engines, func(e Engine) bool { return !e.Step.Residual.OK() }) {
			f.WhoShare = model.Of(1) // of the others it is known that they are not
		}
	}
}

// slow reports whether an engine's steps take longer than their load explains.
func (s *scene) slow(e *Engine) bool {
	r := value(e.Step.Residual)
	return !s.young(e) && math.Log(r) > s.ease("slow "+e.Name)*math.Log(slowMachine)
}

// warmUp is how long an engine that started is left alone: its first minute is
// loading, compiling and filling its caches.
const warmUp = 60

func (s *scene) young(e *Engine) bool {
	age, known := e.Age.Get()
	return known && age < warmUp
}

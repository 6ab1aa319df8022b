package diagnose

import (
	"cmp"
	"math"
	"slices"

	"slotop/model"
)

// When a factor counts as moved: by more than chance and by enough to matter.
const (
	leastLog     = 0.18 // of the logarithm of its ratio, or
	errorsBeyond = 3    // standard errors of it, whichever is more
	leastWork    = 0.08 // of the logarithm of the work
	slowMachine  = model.ResidualSlower
	explains     = model.ResidualExplained

	leastCompared = 30 // requests on either side

	// Arrivals are burstier than Poisson's: this times 1/√n is the least error of
	// the logarithm of their rate. A baseline that says more is believed up to a bound.
	arrivalSpread, mostSpread = 1.3, 4.0
	lengthSpread              = 1.0 // the least spread of a length or a share over its mean
)

// factor is how one factor moved, and what of the work's growth it carries: the
// work of a second is arrivals × (uncached prompt tokens × their cost + output
// tokens × theirs) × machine, and logarithmic means split its logarithm exactly.
type factor struct {
	model.FactorView
	log  float64 // its part of the logarithm of the work; NaN unknown
	own  float64 // logarithm of its own ratio
	se   float64 // standard error of own
	n    float64 // requests of the present that it rests on
	side float64 // what counts as flat for one workflow, see flat
	less bool    // of a mix: it is moved by a workflow that comes less
}

// up reports whether it grew the work.
func (f *factor) up() bool { return f != nil && f.Moved && f.log > 0 }

// price is the seconds of machine that a token costs.
type price struct {
	prefill, decode float64
	learned         bool // from steps; else both phases weigh the same
}

// views is how each factor of the pool's work moved, the largest first. What is not
// known has no ratio.
func views(factors []factor) []model.FactorView {
	out := make([]model.FactorView, len(factors))
	for i := range factors {
		out[i] = factors[i].FactorView
	}
	return out
}

// side is a stretch with the baseline it is compared with.
type side struct{ now, before []Sums }

func (s side) rates(c Count) (before, now, n0, n1 float64) {
	n0, seconds0 := counted(s.before, c)
	n1, seconds1 := counted(s.now, c)
	return n0 / seconds0, n1 / seconds1, n0, n1
}

func (s side) means(m Measure) (before, now, n0, n1 float64) {
	a, b := mean(s.before, m), mean(s.now, m)
	return a.Value(), b.Value(), a.N, b.N
}

// missShares is the share of prompt tokens that were not in the prefix cache.
func (s side) missShares() (before, now, n0, n1 float64) {
	hit0, _ := hits(s.before)
	hit1, _ := hits(s.now)
	return 1 - hit0, 1 - hit1, s.requests(s.before), s.requests(s.now)
}

// requests is how many a share of tokens rests on.
func (s side) requests(blocks []Sums) float64 {
	if n := mean(blocks, PromptLength).N; n > 0 {
		return n
	}
	if n := mean(blocks, TTFT).N; n > 0 {
		return n
	}
	n, _ := counted(blocks, Ended)
	return n
}

// spread is the standard deviation of single requests over their mean, as the
// scatter of blocks tells it: what neighbours share is in it.
func spread(blocks []Sums, of func(*Sums) (value, n float64), least float64) float64 {
	var v []float64
	n := 0.0
	for i := range blocks {
		if x, m := of(&blocks[i]); x > 0 && m > 0 {
			v, n = append(v, math.Log(x)), n+m
		}
	}
	if len(v) < LeastBaseline {
		return least
	}
	m, squares := sum(v)/float64(len(v)), 0.0
	for _, x := range v {
		squares += (x - m) * (x - m)
	}
	sd := math.Sqrt(squares / float64(len(v)-1))
	return min(max(least, sd*math.Sqrt(n/float64(len(v)))), mostSpread)
}

func (s *scene) accounts() []factor {
	rates, prompts, misses, outputs := s.side(s.tellsRates), s.side(s.tellsPrompts), s.side(s.tellsMisses), s.side(s.tellsOutputs)
	all := []factor{
		s.factorOf(model.FactorArrivals, rates, func(x side) (a, b, c, d float64) { return x.rates(Arrived) }, arrivalSpread, arrived),
		s.factorOf(model.FactorPrompt, prompts, func(x side) (a, b, c, d float64) { return x.means(PromptLength) }, lengthSpread, length(PromptLength)),
		s.factorOf(model.FactorMiss, misses, side.missShares, lengthSpread, missing),
		s.factorOf(model.FactorOutput, outputs, func(x side) (a, b, c, d float64) { return x.means(OutputLength) }, lengthSpread, length(OutputLength)),
		s.residualFactor(),
	}
	s.weigh(all)
	for i := range all {
		s.judge(&all[i])
	}
	s.attribute(all)
	slices.SortStableFunc(all, func(a, b factor) int { return cmp.Compare(weight(&b), weight(&a)) })
	return all
}

func weight(f *factor) float64 {
	if math.IsNaN(f.log) {
		return -1
	}
	return math.Abs(f.log)
}

func arrived(s *Sums) (v, n float64) { return s.Rate(Arrived), s.Counts[Arrived] }

func length(m Measure) func(*Sums) (v, n float64) {
	return func(s *Sums) (v, n float64) { return s.Measures[m].Value(), s.Measures[m].N }
}

func missing(s *Sums) (v, n float64) {
	return max(0, 1-s.Counts[CachedTokens]/s.Counts[PromptTokens]), s.Measures[PromptLength].N
}

func (s *scene) factorOf(name model.Factor, x side, of func(side) (b, n, n0, n1 float64), least float64, block func(*Sums) (v, n float64)) factor {
	before, now, n0, n1 := of(x)
	f := factor{FactorView: model.FactorView{Factor: name, Before: model.Of(before), Now: model.Of(now)}, own: math.NaN(), log: math.NaN(), n: n1}
	if len(x.before) < LeastBaseline || !(n0 >= leastCompared) || !(n1 >= leastCompared) {
		return f
	}
	f.se = spread(x.before, block, least) * math.Sqrt(1/n0+1/n1)
	f.own = math.Log(now / before)
	if math.IsInf(f.own, 0) || s.survivors(name, f.own) || s.patchy && name == model.FactorArrivals {
		f.own = math.NaN()
	}
	f.Ratio = model.Of(math.Exp(f.own))
	return f
}

// survivors reports whether lengths only seem to shrink: after a slowdown the first
// to end are the short ones, as long as more and more are in flight.
func (s *scene) survivors(name model.Factor, own float64) bool {
	return name == model.FactorOutput && own < 0 && s.growing()
}

// growing reports whether more run or wait than did.
func (s *scene) growing() bool {
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		if e.Running.Mean.Value > 1.2*value(e.RunningBefore.Mean) || e.Waiting.Mean.Value > value(e.WaitingBefore.Mean)+1 {
			return true
		}
	}
	return false
}

// value is a reading's number, NaN without one.
func value(r model.Reading) float64 {
	if v, ok := r.Get(); ok {
		return v
	}
	return math.NaN()
}

// weigh gives each factor its part of the logarithm of the work.
func (s *scene) weigh(all []factor) {
	at := func(i int) (float64, float64) { return value(all[i].Before), value(all[i].Now) }
	p0, p1 := at(1)
	m0, m1 := at(2)
	n0, n1 := at(3)
	if math.IsNaN(all[3].own) { // told by survivors, or not at all
		n1 = n0
	}
	told := !math.IsNaN(p0+p1) && !math.IsNaN(n0+n1)
	p0, p1 = assumed(p0, p1)
	m0, m1 = assumed(m0, m1)
	n0, n1 = assumed(n0, n1)
	c := s.price(p0*m0, n0, told)
	w := Weights([]float64{p0 * m0 * c.prefill, n0 * c.decode}, []float64{p1 * m1 * c.prefill, n1 * c.decode})
	all[0].log = all[0].own
	all[1].log, all[2].log, all[3].log = w[0]*all[1].own, w[0]*all[2].own, w[1]*all[3].own
	all[4].log = all[4].own
	for i := range all {
		all[i].Work = model.Of(math.Exp(all[i].log) - 1)
	}
}

// leastShare stands for a share of nothing: logarithms know no zero.
const leastShare = 1e-3

// assumed is two values of a factor, unchanged where they are not known.
func assumed(before, now float64) (float64, float64) {
	if math.IsNaN(before + now) {
		return 1, 1
	}
	return max(before, leastShare), max(now, leastShare)
}

// price is what a token costs on the pool's engines, by the work they do; neutral
// where no engine's steps were learned or a length is not told: then both phases
// are equal in the baseline.
func (s *scene) price(uncached, output float64, told bool) price {
	var sum price
	weights := 0.0
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		if e.Step.Fit == nil {
			continue
		}
		b := e.Step.Fit
		context := e.Step.Base.KVTokens / e.Step.Base.Sequences
		prefill := b.PerPrefill
		if b.PerAttention > 0 {
			prefill += b.PerAttention * e.Step.Base.Prompt
		}
		decode := prefill + b.PerKVToken*context + b.PerSequence
		if w := rate(e.Before, OutputTokens); w > 0 && prefill+decode > 0 {
			sum.prefill, sum.decode, weights = sum.prefill+w*prefill, sum.decode+w*decode, weights+w
		}
	}
	if told && weights > 0 {
		return price{sum.prefill / weights, sum.decode / weights, true}
	}
	return price{prefill: 1 / uncached, decode: 1 / output}
}

// residualFactor is how much slower the pool's machines are than their load
// explains, weighted by what they put out.
func (s *scene) residualFactor() factor {
	f := factor{FactorView: model.FactorView{Factor: model.FactorResidual, Before: model.Of(1)}, log: math.NaN(), own: math.NaN(), n: math.NaN()}
	r, weights := 0.0, 0.0
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		v, known := e.Step.Residual.Get()
		if !known {
			continue
		}
		w := rate(e.Now, OutputTokens)
		if !(w > leastShare) {
			w = leastShare // it counts, where no other does
		}
		r, weights = r+w*v, weights+w
	}
	f.own = math.Log(r / weights)
	f.Now, f.Ratio = model.Of(r/weights), model.Of(r/weights)
	return f
}

// judge says whether a factor moved. What moved already is let go at a lower bound.
func (s *scene) judge(f *factor) {
	if f.Factor == model.FactorResidual {
		return // by its engines
	}
	ease := s.ease("factor " + string(f.Factor))
	f.side = max(leastLog, errorsBeyond*f.se)
	f.Moved = math.Abs(f.own) > ease*f.side && math.Abs(f.log) > ease*leastWork
}

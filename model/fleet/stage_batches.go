package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/hist"
	"slotop/model/slo"
)

// Requests of one moment share their fate, so that many of them say less than as many
// would that know nothing of one another. How much less is seen by cutting a stage into
// equal stretches and looking at how far they differ: the method of batch means
// (Schmeiser, Batch size effects in the analysis of simulation output, Oper. Res. 30,
// 1982, which finds that 10 to 30 stretches are enough, and more gain little).

const (
	// mostBatches is the number at which two neighbours become one stretch. Longer
	// ones know less of one another.
	mostBatches = 32
	// leastBatch is how long a stretch is at least: about as long as an answer takes.
	leastBatch = 5 * time.Second
	// leastBatches tell nothing of how far stretches differ, if they are fewer.
	leastBatches = 3
	// refinement is how many edges of the grid for single latencies make one of the
	// grid for stretches.
	refinement = 5
)

// soFar is what was counted since the mark, cumulative.
type soFar struct {
	at             time.Duration
	requests       float64
	judged, good   float64
	output, prompt model.Reading
	looked, hits   float64
	latency        [len(latencies)]hist.Hist
	byOne          bool // latencies are those of single requests
}

// latencies are those that stages are compared by.
var latencies = [...]struct {
	signal model.Signal
	metric model.Metric
}{{model.TTFT, model.MetricTTFT}, {model.TPOT, model.MetricTPOT}, {model.E2E, model.MetricE2E}}

// countedIn is what the pages of targets counted.
func countedIn(ty *tally, likely slo.Bad) soFar {
	c := soFar{
		requests: known(requestCount(ty).Value), judged: likely.N, good: likely.N - likely.Bad,
		output: ty.countOf(model.OutputTokens), prompt: ty.countOf(model.PromptTokens),
	}
	for _, of := range [][2]model.Signal{{model.PromptTokens, model.CachedTokens}, {model.PrefixQueries, model.PrefixHits}} {
		looked, hits := ty.countOf(of[0]), ty.countOf(of[1])
		if looked.OK() && hits.OK() && c.looked == 0 {
			c.looked, c.hits = looked.Value, hits.Value
		}
	}
	for i, l := range latencies {
		if h, ok := ty.of(signalIndex[l.signal]); ok && !h.Incomplete {
			c.latency[i] = *h
		}
	}
	return c
}

// soFar is what was counted of requests that were reported one by one; what they do
// not tell is taken from pages.
func (s *reported) soFar(pages soFar) soFar {
	c := soFar{
		requests: s.counts.Finished, judged: s.counts.Good + s.counts.Bad, good: s.counts.Good,
		output: pages.output, prompt: pages.prompt, looked: pages.looked, hits: pages.hits, byOne: true,
	}
	if !c.output.OK() && s.output.N > 0 {
		c.output = model.Of(s.output.Sum)
	}
	if !c.prompt.OK() && s.prompts.n > 0 {
		c.prompt = model.Of(s.prompts.tokens)
	}
	if c.looked == 0 {
		c.looked, c.hits = s.prompts.ofCached, s.prompts.cached
	}
	for i, l := range latencies {
		sk := &s.times[slices.Index(model.Metrics, l.metric)]
		c.latency[i] = hist.Hist{Bounds: fineGrid, Cum: sk.AtMost(fineGrid)}
	}
	return c
}

// fineGrid is the edges that single latencies are counted by where stages are compared:
// 2 % apart from 0.1 ms to an hour, as fine as the sketch is.
var fineGrid = ladder(1e-4, 3600, 1.02)

func ladder(first, last, ratio float64) []float64 {
	var out []float64
	for v := first; v < last; v *= ratio {
		out = append(out, v)
	}
	return out
}

// cuts are the times at which the open stage was cut.
type cuts struct {
	at     []time.Duration // ascending, the mark being the first
	length time.Duration   // of a stretch
}

func newCuts(from time.Duration) cuts { return cuts{at: []time.Duration{from}, length: leastBatch} }

// batches are what a workflow had counted at the cuts.
type batches struct {
	now    soFar
	cuts   []soFar // oldest first
	spread spread
}

// spread is how far the stretches differ: it changes with the cuts only.
type spread struct {
	requests, good, output, prompt float64                   // indices of dispersion
	goodput, hits                  float64                   // design effects
	latency                        [len(latencies)][]float64 // by the edges of the cuts
}

// cut ends a stretch where it is time to. Targets that tell in steps need stretches
// that hold several.
func (s *stages) cut(f *Fleet) {
	c := &s.cuts
	c.length = max(c.length, steps*f.longestStep(), f.every)
	if f.now-c.at[len(c.at)-1] < c.length {
		return
	}
	c.at = append(c.at, f.now)
	for _, b := range s.batches {
		b.cut(f.now, c.at[0])
	}
	if len(c.at) <= mostBatches {
		return
	}
	c.length *= 2
	for i := range (len(c.at) + 1) / 2 {
		c.at[i] = c.at[2*i]
	}
	c.at = c.at[:(len(c.at)+1)/2]
	for _, b := range s.batches {
		b.keep(c.at)
	}
}

// cut keeps what is counted now, less finely: stretches are compared with one another,
// and not read. Of counts that fell, because they are told by others now, nothing that
// was before is comparable.
func (b *batches) cut(at, from time.Duration) {
	c := b.now
	c.at = at
	if c.byOne {
		for i := range c.latency {
			c.latency[i] = coarse(c.latency[i])
		}
	}
	if n := len(b.cuts); n > 0 && (c.requests < b.cuts[n-1].requests || c.byOne != b.cuts[n-1].byOne) {
		b.cuts = nil
	}
	if len(b.cuts) == 0 && at > from && c.requests >= 0 {
		b.cuts = append(b.cuts, soFar{at: from, byOne: c.byOne})
	}
	b.cuts = append(b.cuts, c)
	b.measure()
}

func coarse(h hist.Hist) hist.Hist {
	out := hist.Hist{}
	for i := refinement - 1; i < len(h.Bounds); i += refinement {
		out.Bounds, out.Cum = append(out.Bounds, h.Bounds[i]), append(out.Cum, h.Cum[i])
	}
	out.Cum = append(out.Cum, h.N())
	return out
}

// keep drops the cuts that were made at other times.
func (b *batches) keep(at []time.Duration) {
	b.cuts = slices.DeleteFunc(b.cuts, func(c soFar) bool {
		_, found := slices.BinarySearch(at, c.at)
		return !found
	})
	b.measure()
}

// measure says how far the stretches differ.
func (b *batches) measure() {
	length := func(c *soFar) float64 { return c.at.Seconds() }
	good := func(c *soFar) float64 { return c.good }
	b.spread = spread{
		requests: b.dispersion(func(c *soFar) float64 { return c.requests }, length),
		good:     b.dispersion(good, length),
		output:   b.dispersion(func(c *soFar) float64 { return known(c.output.Value) }, length),
		prompt:   b.dispersion(func(c *soFar) float64 { return known(c.prompt.Value) }, length),
		goodput:  b.effect(good, func(c *soFar) float64 { return c.judged }),
		hits:     b.effect(func(c *soFar) float64 { return c.hits }, func(c *soFar) float64 { return c.looked }),
	}
	for i := range latencies {
		edges := b.edges(i)
		b.spread.latency[i] = make([]float64, len(edges))
		for k, x := range edges {
			under := func(c *soFar) float64 { return upTo(c.latency[i], x) }
			b.spread.latency[i][k] = b.effect(under, func(c *soFar) float64 { return c.latency[i].N() })
		}
	}
}

// edges are those that the cuts counted a latency by.
func (b *batches) edges(i int) []float64 {
	if len(b.cuts) == 0 {
		return nil
	}
	return b.cuts[len(b.cuts)-1].latency[i].Bounds
}

// sampled is what the stage was counted on, with how far its stretches differ.
func (b *batches) sampled(now *soFar) *model.Sampled {
	s := &model.Sampled{Batches: max(0, len(b.cuts)-1), Looked: now.looked}
	if s.Batches > 0 {
		s.BatchS = (b.cuts[s.Batches].at - b.cuts[0].at).Seconds() / float64(s.Batches)
	}
	s.Requests = model.Tally{N: now.requests, Effect: b.spread.requests}
	s.Good = model.Tally{N: now.good, Effect: b.spread.good}
	s.Output = model.Tally{N: known(now.output.Value), Effect: b.spread.output}
	s.Prompt = model.Tally{N: known(now.prompt.Value), Effect: b.spread.prompt}
	s.GoodEffect, s.HitEffect = b.spread.goodput, b.spread.hits
	for i, into := range []*model.Counted{&s.TTFT, &s.TPOT, &s.E2E} {
		*into = b.latency(i, now)
	}
	return s
}

// latency is one latency as it was counted, without the edges that nothing lies at.
func (b *batches) latency(i int, now *soFar) model.Counted {
	h := now.latency[i]
	if h.N() == 0 || len(h.Bounds) == 0 {
		return model.Counted{}
	}
	var out model.Counted
	if !now.byOne {
		out.Bounds, out.Counts = slices.Clone(h.Bounds), slices.Clone(h.Cum)
	} else {
		from, _ := slices.BinarySearch(h.Cum, math.SmallestNonzeroFloat64)
		to, _ := slices.BinarySearch(h.Cum, h.N())
		from, to = max(0, from-1), min(to+1, len(h.Bounds))
		out.Bounds, out.Counts = h.Bounds[from:to], append(slices.Clone(h.Cum[from:to]), h.N())
	}
	out.Effects = make([]float64, len(out.Bounds))
	edges := b.edges(i)
	for k, x := range out.Bounds {
		if at, _ := slices.BinarySearch(edges, x); at < len(edges) {
			out.Effects[k] = b.spread.latency[i][at]
		}
	}
	return out
}

// upTo is how many observations lie at or below an edge, NaN where it is none.
func upTo(h hist.Hist, x float64) float64 {
	if h.N() == 0 {
		return 0
	}
	if i, found := slices.BinarySearch(h.Bounds, x); found {
		return h.Cum[i]
	}
	return math.NaN()
}

// dispersion is how many times more a count varies from stretch to stretch, for its
// length, than one of independent events would: Σ (x_b − r·l_b)²/l_b over (k−1)·r. At
// least 1: how evenly a generator sends says nothing about the service. 0 where it is
// not known.
func (b *batches) dispersion(of, length func(*soFar) float64) float64 {
	return b.between(of, length, func(r float64) float64 { return r })
}

// effect is the same of a share, for how many it is of (Kish, Survey Sampling, 1965).
func (b *batches) effect(of, n func(*soFar) float64) float64 {
	return b.between(of, n, func(p float64) float64 { return p * (1 - p) })
}

func (b *batches) between(of, per func(*soFar) float64, variance func(float64) float64) float64 {
	var sum, whole float64
	var parts [mostBatches + 1][2]float64
	k := 0
	for i := 1; i < len(b.cuts); i++ {
		x, n := of(&b.cuts[i])-of(&b.cuts[i-1]), per(&b.cuts[i])-per(&b.cuts[i-1])
		if math.IsNaN(x) || !(n > 0) || x < 0 {
			continue
		}
		parts[k] = [2]float64{x, n}
		sum, whole, k = sum+x, whole+n, k+1
	}
	r := sum / whole
	if k < leastBatches || !(variance(r) > 0) {
		return 0
	}
	squares := 0.0
	for _, p := range parts[:k] {
		d := p[0] - r*p[1]
		squares += d * d / p[1]
	}
	return max(1, squares/(float64(k-1)*variance(r)))
}

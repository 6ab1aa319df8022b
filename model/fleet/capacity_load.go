package fleet

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/capacity"
	"slotop/model/diagnose"
	"slotop/model/steptime"
	"slotop/model/unit"
)

// load works out how much machine a request needs, and how many arrive: in overload
// what arrives counts, and not what is served.
func (r *poolRoom) load() {
	r.rate = r.counted(diagnose.Arrived)
	r.replicas = r.total(func(e *engineRoom) float64 { return e.servers })
	if !r.learned() {
		return
	}
	r.machine.Mix = r.mix()
	r.machine.Mix = r.arriving()
	r.machine.KV, r.machine.Cap = r.total(r.kv)/r.replicas, r.total(r.cap)/r.replicas
	switch {
	case math.IsNaN(r.rate):
		r.why = "nobody tells how many requests arrive"
	case r.rate == 0:
		r.why = "no request arrived in the last minute"
	case !r.machine.Known():
		r.why = r.unknown()
	}
	if gone := r.counted(diagnose.Cancelled) / r.rate; gone > manyGone && r.lacks == "" {
		r.lacks = unit.Percent(gone) + " of the requests are given up: those that are tried again count again"
	}
}

// manyGone is the share of requests that are given up from which on it is said.
const manyGone = 0.1

// unknown says what it is that is not known.
func (r *poolRoom) unknown() string {
	m, fit := &r.machine.Mix, &r.machine.Fit
	switch {
	case fit.Fixed == 0 || fit.PerPrefill+fit.PerAttention+fit.PerSequence+fit.PerKVToken == 0:
		return "what was learned of its steps does not say what a request costs"
	case math.IsNaN(m.Output):
		return "nobody tells how many tokens an answer has"
	case math.IsNaN(m.Prompt) || math.IsNaN(m.Uncached):
		return "nobody tells how many tokens of a prompt are computed"
	default:
		return "nobody tells how full the KV cache is"
	}
}

// kv is what the KV caches of an engine hold, in what its fit counts them in: tokens,
// or the whole where their size is not known.
func (r *poolRoom) kv(e *engineRoom) float64 {
	switch {
	case r.machine.Fit.ByShare:
		return e.servers
	case e.t.steps == nil:
		return math.NaN()
	default:
		return e.t.steps.capacity
	}
}

// cap is how many sequences an engine runs at most: as configured, or as it says, or,
// where that was found to bind, as many as run.
func (r *poolRoom) cap(e *engineRoom) float64 {
	if n := r.f.hardwareOf(e.t).Sequences; n > 0 {
		return float64(n) * e.servers
	}
	if e.t.steps != nil && e.t.steps.sequences > 0 {
		return e.t.steps.sequences
	}
	run := math.NaN()
	if q := r.pool.flows[0].story.asked; q != nil && q.view.Binds == model.BindsCap {
		for i := range e.now {
			run = most(run, e.now[i].RunMost)
		}
	}
	return run
}

// learned takes the mean of what was learned of the engines' steps, each weighing as
// much as the requests that it gets, and makes it longer by as much as steps are now:
// a slower machine carries less than it was learned to.
func (r *poolRoom) learned() bool {
	var sum steptime.Fit
	weight, slower, counts := 0.0, 0.0, false
	for i := range r.engines {
		e := &r.engines[i]
		fit, why := e.t.stepFit()
		if fit == nil || counts && fit.ByShare != sum.ByShare {
			r.lacks = why
			continue
		}
		w := math.Max(known(e.now.rate(diagnose.Arrived)), leastWeight)
		weight, slower, counts, sum.ByShare, r.lacks = weight+w, slower+w*e.slower(), true, fit.ByShare, why
		sum.Fixed += w * fit.Fixed
		sum.PerSequence += w * fit.PerSequence
		sum.PerKVToken += w * fit.PerKVToken
		sum.PerPrefill += w * fit.PerPrefill
		sum.PerAttention += w * fit.PerAttention
	}
	if !counts {
		r.why, r.lacks = r.lacks, ""
		return false
	}
	r.slower = slower / weight
	by := r.slower / weight
	r.machine.Fit = steptime.Fit{
		Fixed: by * sum.Fixed, PerSequence: by * sum.PerSequence, PerKVToken: by * sum.PerKVToken,
		PerPrefill: by * sum.PerPrefill, PerAttention: by * sum.PerAttention, ByShare: sum.ByShare,
	}
	if r.slower > 1 {
		r.lacks = fmt.Sprintf("steps take %s of what was learned: the load is of machines as slow as now", unit.Times(r.slower))
	}
	return true
}

// leastWeight is that of an engine to which nothing comes, in requests a second.
const leastWeight = 1e-6

// slower is by how much steps are longer than their load explains, where that is too
// much for chance; else 1.
func (e *engineRoom) slower() float64 {
	if r, ok := e.t.steps.residual.Get(); ok && steptime.Judge(r) == steptime.Slower {
		return r
	}
	return 1
}

// mix is the mean request of the present minute.
func (r *poolRoom) mix() capacity.Mix {
	m := capacity.Mix{
		Prompt: r.total((*engineRoom).prompted) / r.total((*engineRoom).firsts),
		Output: r.measured(diagnose.OutputLength),
	}
	if !(m.Output > 0) {
		m.Output = r.counted(diagnose.OutputTokens) / r.counted(diagnose.Ended)
	}
	m.Uncached = r.total((*engineRoom).computed) / r.total((*engineRoom).firsts)
	m.Context = r.context()
	if math.IsNaN(m.Context) && !r.machine.Fit.ByShare {
		m.Context = m.Prompt + m.Output/2
	}
	return m
}

// arriving is the mean request of those that arrive, where each workflow tells how many
// do: in overload those whose users give up are fewer among the served.
func (r *poolRoom) arriving() capacity.Mix {
	m := r.machine.Mix
	var all blend
	for _, w := range r.pool.flows {
		rate, one := r.asks(w)
		if math.IsNaN(rate) {
			return m
		}
		all.add(rate, one)
	}
	if all.rate > 0 {
		m.Prompt, m.Uncached, m.Output = all.prompt/all.rate, all.uncached/all.rate, all.output/all.rate
	}
	return m
}

// firsts is how many prompts were computed a second: as many first tokens came, or
// else as many requests ended.
func (e *engineRoom) firsts() float64 {
	for _, m := range []diagnose.Measure{diagnose.TTFT, diagnose.PromptLength} {
		if n, _ := e.now.measured(m); n > 0 {
			return n
		}
	}
	return e.now.rate(diagnose.Ended)
}

func (e *engineRoom) prompted() float64 { return e.now.rate(diagnose.PromptTokens) }

// computed is how many tokens of prompts were computed a second: those that did not
// come from a cache, or as many as steps had.
func (e *engineRoom) computed() float64 {
	if cached := e.now.rate(diagnose.CachedTokens); !math.IsNaN(cached) {
		return math.Max(0, e.prompted()-cached)
	}
	now := e.t.stepNow()
	return e.servers * now.Prefill / now.Step
}

// context is how much the KV cache holds for a running sequence.
func (r *poolRoom) context() float64 {
	held := r.total(func(e *engineRoom) float64 { return e.servers * e.t.stepNow().KVTokens })
	running := r.total(func(e *engineRoom) float64 { return e.servers * e.t.stepNow().Sequences })
	if !(running > 0) {
		return math.NaN()
	}
	return held / running
}

// total is the sum of what the engines tell of themselves; NaN where none does.
func (r *poolRoom) total(of func(e *engineRoom) float64) float64 {
	sum := math.NaN()
	for i := range r.engines {
		sum = plusKnown(sum, of(&r.engines[i]))
	}
	return sum
}

// counted is a count a second over all engines.
func (r *poolRoom) counted(c diagnose.Count) float64 {
	return r.total(func(e *engineRoom) float64 { return e.now.rate(c) })
}

// measured is the mean of a measure over all engines.
func (r *poolRoom) measured(x diagnose.Measure) float64 {
	n := r.total(func(e *engineRoom) float64 { n, _ := e.now.measured(x); return n })
	return r.total(func(e *engineRoom) float64 { _, sum := e.now.measured(x); return sum }) / n
}

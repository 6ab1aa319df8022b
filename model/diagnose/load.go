package diagnose

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/unit"
)

// Cost is the seconds of machine that one request takes: its uncached prompt
// tokens, and for each token of its answer the cache that is read for it and what a
// sequence takes of a step.
func Cost(perPrefill, perKVToken, perSequence, uncached, context, output float64) float64 {
	return perPrefill*uncached + (perKVToken*context+perSequence)*output
}

// uncached is how many tokens of a prompt are computed: of those whose first token came,
// or else of those that ended.
func (f *Flow) uncached() float64 {
	prompts, _ := counted(f.Now, PromptTokens)
	if n := mean(f.Now, TTFT).N; n > 0 && prompts > 0 {
		return prompts * missShare(f.Now) / n
	}
	return mean(f.Now, PromptLength).Value() * missShare(f.Now)
}

// costOf is what a request of one workflow costs on the pool's engines as slow as they
// are now, s; NaN where steps or lengths are not known.
func (s *scene) costOf(f *Flow) float64 {
	uncached := f.uncached()
	output := mean(f.Now, OutputLength).Value()
	total, n := 0.0, 0.0
	for i := range s.f.Engines {
		e := &s.f.Engines[i]
		if e.Step.Fit == nil {
			continue
		}
		b := e.Step.Fit
		prefill := b.PerPrefill
		if b.PerAttention > 0 {
			prefill += b.PerAttention * e.Step.Now.Prompt
		}
		cost := Cost(prefill, b.PerKVToken, b.PerSequence, uncached, e.Step.Now.KVTokens/e.Step.Now.Sequences, output)
		if s.slow(e) {
			cost *= value(e.Step.Residual)
		}
		total += cost
		n++
	}
	return total / n
}

// load is the load factor of one replica of the pool: arrivals × cost over engines.
// NaN unknown.
func (s *scene) load() float64 {
	work := 0.0
	for i := range s.f.Flows {
		f := &s.f.Flows[i]
		if lambda := rate(f.Now, Arrived); lambda > 0 {
			work += lambda * s.costOf(f)
		}
	}
	return work / float64(len(s.f.Engines))
}

// addReplica is the experiment with what it would do to the load: as many as bring
// the pool to its planning limit, because one that leaves it overloaded mends nothing.
func (s *scene) addReplica() string {
	load, n := s.load(), float64(len(s.f.Engines))
	if math.IsNaN(load) || math.IsInf(load, 0) || n == 0 {
		return "add a replica"
	}
	more, text := max(math.Ceil(load*n/model.PlanningLimit)-n, 1), "add a replica"
	if more > 1 {
		text = "add " + unit.Integer(more) + " replicas"
	}
	return fmt.Sprintf("%s: load factor %.2f → %.2f", text, load, load*n/(n+more))
}

// limitTo is the experiment of admitting less of a workflow: the rate at which the
// pool is at its planning limit, with all others as they are. "" where there is no
// such rate.
func (s *scene) limitTo(name string) string {
	var at *Flow
	others := 0.0
	for i := range s.f.Flows {
		f := &s.f.Flows[i]
		if f.Name == name {
			at = f
			continue
		}
		if lambda := rate(f.Now, Arrived); lambda > 0 {
			others += lambda * s.costOf(f)
		}
	}
	if at == nil {
		return ""
	}
	limit := (model.PlanningLimit*float64(len(s.f.Engines)) - others) / s.costOf(at)
	if !(limit > 0) || limit >= rate(at.Now, Arrived) {
		return ""
	}
	return "cap " + name + " at " + unit.Rate(limit) + " req/s"
}

// listed is the texts that say something.
func listed(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

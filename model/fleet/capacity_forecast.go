package fleet

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/capacity"
	"slotop/model/diagnose"
	"slotop/model/unit"
)

// plan says how many replicas the present rate needs, and the forecast one.
func (r *poolRoom) plan(v *model.CapacityView) {
	p := &v.Replicas
	need, why := r.needed(&r.machine, r.rate)
	p.Needed, p.Why = model.Of(need), model.Text(why)
	then, rate, unseen := r.forecast()
	if rate > 0 {
		need, why = r.needed(&then, rate)
		p.Forecast, p.Then, p.Why = model.Of(rate), model.Of(need), model.Text(why)
	}
	if unseen != "" {
		p.Why += model.Text("; not counted: " + unseen)
	}
}

// needed is how many machines carry a rate, by their load and by their KV cache, and
// which of the two decides. What no number of them helps is said too.
func (r *poolRoom) needed(m *capacity.Machine, rate float64) (n float64, why string) {
	n, why = m.Replicas(rate), "decided by the load"
	if kv := m.KVReplicas(rate); kv > n {
		n, why = kv, "decided by the KV cache"
	}
	alone := m.FirstToken(rate / n)
	for _, w := range r.pool.flows {
		for _, o := range w.spec.Objectives {
			if o.Metric == model.MetricTTFT && alone > o.MaxS {
				return n, fmt.Sprintf("%s; without a queue a first token takes %s, and %s was promised %s: replicas do not help that",
					why, unit.Duration(alone), w.name, unit.Limit(o.MaxS))
			}
		}
	}
	return n, why
}

// blend is the mean request of several workflows, each by its rate.
type blend struct{ rate, prompt, uncached, output, held float64 }

func (b *blend) add(rate float64, m capacity.Mix) {
	if !(rate > 0) {
		return
	}
	b.rate += rate
	b.prompt += rate * m.Prompt
	b.uncached += rate * m.Uncached
	b.output += rate * m.Output
	b.held += rate * m.Output * (m.Prompt + m.Output/2)
}

// context is the mean length of what runs, by mean lengths of prompts and answers.
func (b *blend) context() float64 { return b.held / b.output }

// forecast is a machine under the forecast mix, and the rate of it: a workflow of which
// a rate is forecast has that, the others have what they have now. It names the
// workflows of which nothing is known yet but their forecast.
func (r *poolRoom) forecast() (m capacity.Machine, rate float64, unseen string) {
	var now, then blend
	any := false
	for _, w := range r.pool.flows {
		one, mix := r.asks(w)
		now.add(one, mix)
		if f, ok := r.f.policy.Forecast[w.name]; ok {
			one, any = f, true
		}
		then.add(one, mix)
	}
	if unseen = r.f.unseen(); !any {
		return m, 0, unseen
	}
	m = r.machine
	m.Mix.Prompt, m.Mix.Uncached, m.Mix.Output = then.prompt/then.rate, then.uncached/then.rate, then.output/then.rate
	if longer := then.context() / now.context(); longer > 0 {
		m.Mix.Context *= longer
	}
	return m, then.rate, unseen
}

// asks is what a workflow asks for now: its rate and its mean request, as far as they
// are told apart from those of the pool.
func (r *poolRoom) asks(w *workflow) (rate float64, m capacity.Mix) {
	m = r.machine.Mix
	of := r.flows[w]
	if rate = of.rate(diagnose.Arrived); math.IsNaN(rate) && len(r.pool.flows) == 1 {
		rate = r.rate
	}
	firsts, _ := of.measured(diagnose.TTFT)
	if prompt := of.rate(diagnose.PromptTokens) / firsts; prompt > 0 && !math.IsInf(prompt, 0) {
		m.Uncached *= prompt / m.Prompt
		if cached := of.rate(diagnose.CachedTokens) / firsts; cached >= 0 {
			m.Uncached = math.Max(0, prompt-cached)
		}
		m.Prompt = prompt
	}
	if n, sum := of.measured(diagnose.OutputLength); n > 0 {
		m.Output = sum / n
	}
	return rate, m
}

// unseen names the workflows of which a rate is forecast and nothing was seen.
func (f *Fleet) unseen() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.policy.Forecast)) {
		if f.flows[name] == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := strings.Join(names[:min(len(names), namedFlows)], ", ")
	if more := len(names) - namedFlows; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "the forecast of " + text + ", of which no request was seen"
}

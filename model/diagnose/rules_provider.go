package diagnose

import (
	"math"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// providerRules are for a hosted service, of which only clients tell: they never
// speak of engines or GPUs.
var providerRules = []rule{
	{
		id: "P1", title: "the provider queues", layer: model.LayerCause,
		when:    "the intercept of TTFT over prompt length grew and its slope did not",
		against: "the slope grew too; or engines are seen: then they are looked at",
		try:     []string{"compare another region or model", "look at the provider's status", "hedge or fail over"},
		says:    providerQueues,
	},
	{
		id: "P2", title: "the provider's prefill got slower, or prompt caching was lost", layer: model.LayerCause,
		when:    "the slope of TTFT over prompt length grew",
		against: "the slope is flat, or explains nothing; or engines are seen",
		try:     []string{"compare the cached tokens in its usage fields", "check that the prefix of the prompt is stable", "compare another region or model"},
		says:    providerPrefill,
	},
	{
		id: "P3", title: "the provider is loaded", layer: model.LayerCause,
		when:    "TPOT grew, and no more requests are sent than before or it does not go with the number in flight",
		against: "more requests are sent, and TPOT goes with the number in flight; or engines are seen",
		try:     []string{"compare another region or model", "fail over for the time being"},
		says:    providerLoaded,
	},
	{
		id: "P4", title: "own concurrency reaches the rate tier", layer: model.LayerCause,
		when:    "TPOT grew with the number of own requests in flight, and more are sent than before",
		against: "no more are sent: then more are in flight because each takes longer; or engines are seen",
		try:     []string{"fewer requests at once", "ask for a higher tier"},
		says:    ownTier,
	},
	{
		id: "P5", title: "quota", layer: model.LayerCause,
		when:    "more requests are refused for their rate (429, 529) than before",
		against: "refusals are as before; or engines are seen",
		try:     []string{"slow down as the answers ask", "spread the requests", "ask for more quota"},
		says:    quota,
	},
}

const (
	slowerBy     = 1.3  // ratio of an intercept, a slope or TPOT
	flatBy       = 1.2  // ratio up to which it is flat
	uncorrelated = 0.1  // R²
	correlated   = 0.3  // R²
	someRefused  = 0.01 // of the requests
	leastWait    = 0.02 // s: an intercept that grew by less is not felt
)

// lines is TTFT over prompt length, before and now, of a workflow.
func (f *Flow) lines() (before, now Line, ok bool) {
	before, a := promptLine(f.CallsBefore, byPrompt)
	now, b := promptLine(f.Calls, byPrompt)
	return before, now, a && b
}

// eachHosted asks of every workflow of a pool without engines. It is one service: the
// workflow with the most requests speaks for all that say the same.
func (p *probe) eachHosted(of func(*Flow) (saying, bool)) []saying {
	if !p.hosted() {
		return nil
	}
	var most *saying
	var names []string
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		said, says := of(w)
		if !says {
			continue
		}
		said.flow, said.n = w.Name, w.requests()
		names = append(names, w.Name)
		if most == nil || said.n > most.n {
			most = &said
		}
	}
	if most != nil && len(p.f.Flows) > 1 { // how many say the same comes and goes, the finding does not
		most.flow = ""
		most.evidence = append(most.evidence, "of "+strings.Join(names, ", "))
	}
	return some(most)
}

// provider is a hosted service as a factor.
func provider(before, now float64, who string) *factor {
	ratio := now / before
	return &factor{FactorView: model.FactorView{
		Factor: model.FactorProvider, Before: model.Of(before), Now: model.Of(now), Ratio: model.Of(ratio), Moved: true, Who: model.Text(who),
	}}
}

func providerQueues(p *probe) []saying {
	return p.eachHosted(func(w *Flow) (saying, bool) {
		before, now, ok := w.lines()
		if !ok {
			p.blind = true
			return saying{}, false
		}
		a := now.Intercept / before.Intercept
		if now.Explains() && now.steeper(before) || !(now.Intercept-before.Intercept > leastWait) || !p.grewBy(a, slowerBy) || !p.hurting(w) {
			return saying{}, false
		}
		f := provider(before.Intercept, now.Intercept, w.Name)
		return saying{
			factor: f, weight: math.Log(a),
			cause: "the provider adds " + unit.Duration(now.Intercept-before.Intercept) + " to every first token",
			evidence: []string{
				"TTFT of an empty prompt " + unit.Duration(before.Intercept) + " → " + unit.Duration(now.Intercept),
				"a prompt token " + microseconds(before.Slope) + " → " + microseconds(now.Slope),
			},
			not: w.ownLoad(),
		}, true
	})
}

// sentMore is how many times as many requests are sent as before, NaN unknown.
func (f *Flow) sentMore() float64 { return rate(f.Now, Arrived) / rate(f.Before, Arrived) }

// ownLoad says that one's own rate is as it was, where it is.
func (f *Flow) ownLoad() []string {
	before, now := rate(f.Before, Arrived), rate(f.Now, Arrived)
	if r := f.sentMore(); r < flatBy && r > 1/flatBy {
		return []string{"own load: " + unit.Rate(before) + " → " + unit.Rate(now) + " req/s"}
	}
	return nil
}

func providerPrefill(p *probe) []saying {
	return p.eachHosted(func(w *Flow) (saying, bool) {
		before, now, ok := w.lines()
		if !ok {
			p.blind = true
			return saying{}, false
		}
		b := now.Slope / before.Slope
		if !now.Explains() || !before.Explains() || !now.steeper(before) || !p.grewBy(b, slowerBy) || !p.hurting(w) {
			return saying{}, false
		}
		said := saying{
			factor: provider(before.Slope, now.Slope, w.Name), weight: math.Log(b),
			cause:    "a prompt token costs " + unit.Times(b) + " of TTFT",
			evidence: []string{"a prompt token " + microseconds(before.Slope) + " → " + microseconds(now.Slope)},
		}
		hit0, _ := hits(w.Before)
		hit1, n := hits(w.Now)
		if n > 0 && !math.IsNaN(hit0) {
			said.evidence = append(said.evidence, "cached prompt tokens "+unit.Percent(hit0)+" → "+unit.Percent(hit1))
		}
		return said, true
	})
}

// pace is TPOT of a workflow and how well own concurrency explains it.
func (p *probe) pace(w *Flow) (m shift, r2 float64, ok bool) {
	m = moved(w.Now, w.Before, TPOT)
	line, ok := lineOf(w.Calls, func(c *Call) float64 { return c.Others }, func(c *Call) float64 { return c.TPOT })
	if !ok && line.N >= minPoints { // as many at once all the time: nothing goes with it
		return m, 0, m.up
	}
	if !ok {
		p.blind = true
	}
	return m, line.R2, ok && (m.up || p.ease < 1 && m.ratio > flatBy)
}

func providerLoaded(p *probe) []saying {
	return p.eachHosted(func(w *Flow) (saying, bool) {
		m, r2, ok := p.pace(w)
		own := "own concurrency explains " + unit.Percent(r2) + " of it"
		switch {
		case !ok:
			return saying{}, false
		case r2 < uncorrelated:
		case w.sentMore() < flatBy: // by Little's law: they stay longer, so more are there
			own = "as many are sent: what more are in flight stays longer"
		default:
			return saying{}, false
		}
		return saying{
			factor: provider(m.before, m.now, w.Name), weight: math.Log(m.ratio),
			cause: "the provider's tokens come " + unit.Times(m.ratio) + " slower",
			evidence: []string{
				"TPOT " + unit.Duration(m.before) + " → " + unit.Duration(m.now), own,
			},
			not: w.ownLoad(),
		}, true
	})
}

func ownTier(p *probe) []saying {
	return p.eachHosted(func(w *Flow) (saying, bool) {
		m, r2, ok := p.pace(w)
		if !ok || w.sentMore() < flatBy || !p.over(r2, correlated) {
			return saying{}, false
		}
		return saying{
			factor: provider(m.before, m.now, w.Name), weight: math.Log(m.ratio),
			cause: "tokens come slower with own concurrency",
			evidence: []string{
				"TPOT " + unit.Duration(m.before) + " → " + unit.Duration(m.now),
				"own concurrency explains " + unit.Percent(r2) + " of it",
			},
		}, true
	})
}

// refused is the share of requests that were refused for their rate.
func refused(blocks []Sums) (part, n float64) { return share(blocks, Throttled, Ended) }

func quota(p *probe) []saying {
	return p.eachHosted(func(w *Flow) (saying, bool) {
		before, n0 := refused(w.Before)
		now, n := refused(w.Now)
		if !(n0 >= leastCompared && n >= leastCompared) || !p.over(now, someRefused) || !p.over(now, twice*before) ||
			!(now-before > errorsBeyond*math.Sqrt(now*(1-now)/n)) {
			return saying{}, false
		}
		f := provider(before, now, w.Name)
		return saying{
			factor: f, weight: -math.Log(1 - min(now, 0.99)),
			symptom:  w.Name + ": " + unit.Percent(now) + " of requests are refused",
			cause:    "the provider refuses " + unit.Percent(now) + " for their rate",
			evidence: []string{"refused " + unit.Percent(before) + " → " + unit.Percent(now) + " of " + unit.Integer(n)},
		}, true
	})
}

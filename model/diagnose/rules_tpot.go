package diagnose

import (
	"fmt"
	"math"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// tpotRules are the ways in which tokens come slowly or in fits.
var tpotRules = []rule{
	{
		id: "D1", title: "decode shares bandwidth with more sequences", layer: model.LayerSymptom,
		when:    "TPOT grew, more sequences run, cache reads make most of what a step grew by, and load explains the step",
		against: "steps take longer than their load explains",
		try:     []string{"cap concurrency per replica", "add replicas", "quantize KV cache or weights"},
		says:    sharedBandwidth,
	},
	{
		id: "D2", title: "long contexts", layer: model.LayerSymptom,
		when:    "TPOT grew and the context of a running sequence did, with as many running",
		against: "the context is flat; or more sequences run",
		try:     []string{"trim contexts", "FP8 KV cache", "a pool of its own for long contexts"},
		says:    longContexts,
	},
	{
		id: "D3", title: "prefill interferes with decode", layer: model.LayerSymptom,
		when:    "more prompt tokens a step, and the long gaps between tokens grew by more than 2.5 times and more than TPOT, or p99 is over 8 times p50",
		against: "gaps are flat",
		try:     []string{"a token budget of 2048 for steady tokens (8192 and more favours throughput)", "a threshold for long prefills", "split prefill and decode"},
		says:    prefillInterference,
	},
	{
		id: "D4", title: "throttled GPU", layer: model.LayerCause,
		when:    "steps take at least 1.3 times what their load explains, and a GPU says that it is slowed, or its clock is below 0.9 of the baseline's",
		against: "clocks are normal",
		try:     []string{"look at cooling and the power cap", "compare with a sibling GPU", "drain the node"},
		says:    throttledGPU,
	},
	{
		id: "D5", title: "slow host", layer: model.LayerCause,
		when:    "steps take at least 1.3 times what their load explains, clocks are normal, and the GPU has less to do",
		against: "GPU activity is up, or its clock is down",
		try:     []string{"pin CPUs, check NUMA and logging", "asynchronous scheduling", "fewer Python hops", "a bigger batch per step"},
		says:    slowHost,
	},
	{
		id: "D6", title: "speculative acceptance fell", layer: model.LayerCause,
		when:    "fewer tokens an event, TPOT grew, the gap between events is flat, and fewer drafted tokens are accepted",
		against: "acceptance is flat; or the gaps grew",
		try:     []string{"another draft length", "switch it off for this workflow"},
		says:    acceptanceFell,
	},
	{
		id: "D7", title: "streams freeze when requests are preempted", layer: model.LayerSymptom,
		when:    "gaps of more than a second between tokens, and preemptions",
		against: "no preemptions",
		try:     []string{"fewer sequences at once", "more KV memory", "shorter maximum output", "FP8 KV cache"},
		says:    frozenStreams,
	},
	{
		id: "D8", title: "slower since a change of software or configuration", layer: model.LayerCause,
		when:    "TPOT grew at flat load after a restart or another version",
		against: "nothing was changed; the load grew, or explains how long steps take; the GPU is slowed, or engines that were not changed are as slow; its KV pool is too small (C1); or a backlog drains (B2)",
		try:     []string{"bisect the configuration", "go back to the version before"},
		says:    slowerSinceChange,
	},
	{
		id: "D9", title: "something else uses the GPU", layer: model.LayerCause,
		when:    "steps take at least 1.3 times what their load explains, clocks are normal, and the GPU has more to do",
		against: "GPU activity is flat or down, or its clock is down",
		try:     []string{"look for another process on the GPU", "check ECC errors and remapped rows", "check offload traffic on the bus"},
		says:    neighbour,
	},
	{
		id: "D10", title: "slower than its own baseline: GPU or host", layer: model.LayerCause,
		when:    "steps take at least 1.3 times what their load explains, and nothing tells the GPU from the host",
		against: "the GPU's clock and activity decide it: then it is D4, D5 or D9",
		try:     []string{"read the GPU: its clock, throttle reasons and activity", "compare with a sibling"},
		says:    slowMachineSomewhere,
	},
}

// tokensSlower reports whether anyone's tokens come more slowly, or as slowly while
// streams of events tell so. What stands already needs no certainty anew.
func (p *probe) tokensSlower() (worst shift, yes bool) {
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		for _, m := range []Measure{TPOT, ITL} {
			x := moved(w.Now, w.Before, m)
			if up := x.up || p.ease < 1 && p.grewBy(x.ratio, grown); up && x.ratio > worst.ratio {
				worst, yes = x, true
			}
		}
	}
	return worst, yes
}

// stepGrowth is what an engine's explained step and its load grew by.
type stepGrowth struct {
	total, kv, sequences, context float64 // s, s, and ratios
}

func (e *Engine) growth() stepGrowth {
	if e.Step.Fit == nil {
		nan := math.NaN()
		return stepGrowth{nan, nan, nan, nan}
	}
	b, n := e.Step.Base, e.Step.Now
	x, y := e.Step.Fit.Explain(b), e.Step.Fit.Explain(n)
	return stepGrowth{
		total: y.Total() - x.Total(), kv: y.KV - x.KV,
		sequences: n.Sequences / b.Sequences,
		context:   (n.KVTokens / n.Sequences) / (b.KVTokens / b.Sequences),
	}
}

const (
	grown     = 1.3 // of a level that is said to have grown
	longer    = 1.2 // of a length
	mostOfKV  = 0.5 // of what a step grew by
	worseGaps = 2.5 // of the long gaps
	ragged    = 8.0 // p99 of gaps over p50
)

func sharedBandwidth(p *probe) []saying {
	slow, yes := p.tokensSlower()
	if p.hosted() || !yes {
		return nil
	}
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		g := e.growth()
		if !p.grewBy(g.sequences, grown) || !p.over(g.kv/g.total, mostOfKV) || !(value(e.Step.Residual) < explains) {
			continue
		}
		return []saying{{
			engine: p.only(p.bound), n: slow.n, cause: "more sequences share the memory bandwidth",
			evidence: []string{
				"TPOT " + unit.Duration(slow.before) + " → " + unit.Duration(slow.now),
				"running " + unit.Count(e.Step.Base.Sequences) + " → " + unit.Count(e.Step.Now.Sequences),
				"KV reads make " + unit.Duration(g.kv) + " of the " + unit.Duration(g.total) + " that a step grew by",
			},
		}}
	}
	return nil
}

func longContexts(p *probe) []saying {
	slow, yes := p.tokensSlower()
	if p.hosted() || !yes {
		return nil
	}
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		g := e.growth()
		if !p.grewBy(g.context, longer) || !(g.sequences < longer) {
			continue
		}
		b, n := e.Step.Base, e.Step.Now
		return []saying{{
			engine: p.among(e), n: slow.n, cause: "contexts ×" + unit.Number(g.context) + " at as many sequences",
			evidence: []string{
				"context " + unit.Count(b.KVTokens/b.Sequences) + " → " + unit.Count(n.KVTokens/n.Sequences) + " tokens a sequence",
				"TPOT " + unit.Duration(slow.before) + " → " + unit.Duration(slow.now),
			},
		}}
	}
	return nil
}

func prefillInterference(p *probe) []saying {
	if p.hosted() {
		return nil
	}
	prefill := 0.0
	for i := range p.f.Engines {
		x := &p.f.Engines[i].Step
		prefill = max(prefill, x.Now.Prefill/x.Base.Prefill)
	}
	if !p.grewBy(prefill, grown) {
		return nil
	}
	for i := range p.hurts {
		w := p.hurts[i].flow
		long := value(w.Gap.P95) / value(w.GapBefore.P95)
		tpot := moved(w.Now, w.Before, TPOT)
		uneven := value(w.Gap.P99) / value(w.Gap.P50)
		stalls := long > p.ease*worseGaps && long > tpot.ratio
		stalls = stalls || uneven > p.ease*ragged && uneven > grown*value(w.GapBefore.P99)/value(w.GapBefore.P50)
		if math.IsNaN(long) && math.IsNaN(uneven) {
			p.blind = true
		}
		if !stalls {
			continue
		}
		return []saying{{
			flow: w.Name, n: tpot.n, cause: "long prefills hold up the tokens of others",
			evidence: []string{
				"prompt tokens a step ×" + unit.Number(prefill),
				fmt.Sprintf("gap p95 %s → %s, p99 %s", unit.Duration(value(w.GapBefore.P95)), unit.Duration(value(w.Gap.P95)), unit.Duration(value(w.Gap.P99))),
				"TPOT " + unit.Duration(tpot.before) + " → " + unit.Duration(tpot.now),
			},
		}}
	}
	return nil
}

// hurting reports whether users of the workflow feel something.
func (s *scene) hurting(w *Flow) bool {
	for i := range s.hurts {
		if s.hurts[i].flow == w {
			return true
		}
	}
	return false
}

// slowEngines is the engines whose steps take longer than their load explains, for
// none of the reasons of software.
func (p *probe) slowEngines() []*Engine {
	var out []*Engine
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		if math.IsNaN(value(e.Step.Residual)) {
			p.blind = true
		}
		if p.slow(e) && p.changed(e) == "" {
			out = append(out, e)
		}
	}
	return out
}

// machine is what is said of slow engines for one reason. A pool of one or all slow
// engines is one subject.
func (p *probe) machine(of []*Engine, cause string, shape form, more func(*Engine) []string) []saying {
	if len(of) == 0 {
		return nil
	}
	e := of[0]
	for _, x := range of {
		if value(x.Step.Residual) > value(e.Step.Residual) {
			e = x
		}
	}
	f := *p.factor(model.FactorResidual)
	if f.Who == "" && len(of) < len(p.f.Engines) {
		f.Who = model.Text(plural(len(of), "engine", "engines"))
		if len(of) == 1 {
			f.Who = model.Text(e.Name)
		}
	}
	r := value(e.Step.Residual)
	f.Ratio, f.Now, f.Work, f.log, f.Moved = model.Of(r), model.Of(r), model.Of(r-1), math.Log(r), true
	said := saying{factor: &f, weight: f.log, cause: cause + ": steps " + unit.Multiple(r, false) + " as long" + f.on()}
	if len(of) == 1 {
		said.engine = p.among(e)
	}
	said.evidence = listed(append([]string{f.figures(), e.shape(shape)}, more(e)...)...)
	said.evidence = append(said.evidence, p.state()...)
	said.against = e.narrow()
	return []saying{said}
}

// wideEnough is the range of load, highest over lowest, that a model of steps must
// have been learned over to be believed far beyond it.
const wideEnough = 2

// narrow says that the engine's steps were learned at loads that were much alike.
func (e *Engine) narrow() []string {
	if fit := e.Step.Fit; fit != nil && fit.Span < wideEnough {
		return []string{"its steps were learned at loads that differ by " + unit.Times(fit.Span) + " only"}
	}
	return nil
}

func throttledGPU(p *probe) []saying {
	var of []*Engine
	for _, e := range p.slowEngines() {
		if yes, _ := e.throttled(p.ease); yes {
			of = append(of, e)
		}
	}
	return p.machine(of, "throttled GPU", multiplies, func(e *Engine) []string { return e.gpuWords() })
}

func slowHost(p *probe) []saying {
	var of []*Engine
	for _, e := range p.slowEngines() {
		if p.hostSlow(e) {
			of = append(of, e)
		}
	}
	return p.machine(of, "slow host", adds, func(e *Engine) []string { return e.gpuWords() })
}

func neighbour(p *probe) []saying {
	var of []*Engine
	for _, e := range p.slowEngines() {
		if yes, known := e.throttled(1); known && !yes && e.workRatio() > moreWork {
			of = append(of, e)
		}
	}
	return p.machine(of, "something else on the GPU", anyForm, func(e *Engine) []string { return e.gpuWords() })
}

func slowMachineSomewhere(p *probe) []saying {
	var of []*Engine
	for _, e := range p.slowEngines() {
		yes, known := e.throttled(1)
		if yes || known && (e.workRatio() < lessWork || e.workRatio() > moreWork) {
			continue
		}
		of = append(of, e)
	}
	said := p.machine(of, "GPU or host", anyForm, func(e *Engine) []string {
		if len(e.GPUs) == 0 {
			return []string{"missing: the GPU's clock, throttle reasons and activity would tell them apart"}
		}
		return e.gpuWords()
	})
	for i := range said {
		if p.preemptions() > someKV {
			said[i].doubt = "preempted requests are computed twice, and not every engine counts that"
		}
	}
	return said
}

// gpuWords is what the engine's GPUs tell, before and now.
func (e *Engine) gpuWords() []string {
	var out []string
	for i := range e.GPUs {
		g := &e.GPUs[i]
		if held := value(g.Throttled.Now); held >= throttledTime {
			text := g.named(e) + "slowed " + unit.Percent(held) + " of the time"
			if len(g.Reasons) > 0 {
				text += ": " + strings.Join(g.Reasons, ", ")
			}
			out = append(out, text)
		}
		if b, n := value(g.Clock.Before), value(g.Clock.Now); b > 0 && n > 0 {
			out = append(out, g.named(e)+"SM clock "+unit.Hertz(b)+" → "+unit.Hertz(n))
		}
	}
	if before, now := e.activity(); before > 0 {
		out = append(out, "GPU activity "+unit.Percent(before)+" → "+unit.Percent(now))
	}
	if before, now := e.over(func(g *GPU) Shift { return g.Power }); before > 0 {
		out = append(out, "power "+unit.Watts(before)+" → "+unit.Watts(now))
	}
	return out
}

// named is the GPU's name where the engine has several.
func (g *GPU) named(e *Engine) string {
	if len(e.GPUs) > 1 {
		return g.Name + " "
	}
	return ""
}

const (
	fewerTokens = 0.85 // of the tokens of an event
	flatGap     = 1.15
)

// tokensAnEvent is how many tokens an event of a stream brings: with speculative
// decoding more than one.
func tokensAnEvent(blocks []Sums) float64 {
	if d, _ := counted(blocks, Drafts); d > 0 {
		accepted, _ := counted(blocks, Accepted)
		return 1 + accepted/d
	}
	n, _ := counted(blocks, OutputTokens)
	return n / mean(blocks, ITL).N
}

func acceptanceFell(p *probe) []saying {
	if p.hosted() {
		return nil
	}
	x := p.engines
	before, now := tokensAnEvent(x.before), tokensAnEvent(x.now)
	if !p.grewBy(before/now, 1/fewerTokens) {
		return nil
	}
	gap := mean(x.now, ITL).Value() / mean(x.before, ITL).Value()
	slow, yes := p.tokensSlower()
	if !yes || p.ease*math.Log(gap) > math.Log(flatGap) {
		return nil
	}
	hit0, _ := share(x.before, Accepted, DraftTokens)
	hit1, _ := share(x.now, Accepted, DraftTokens)
	if hit1 >= hit0 {
		return nil // as many are accepted: it is something else
	}
	f := &factor{FactorView: model.FactorView{
		Factor: model.FactorAcceptance, Before: model.Of(before), Now: model.Of(now),
		Ratio: model.Of(now / before), Work: model.Of(before/now - 1), Moved: true,
	}}
	said := saying{
		factor: f, weight: math.Log(before / now), n: slow.n,
		cause:    "tokens a step " + unit.Number(before) + " → " + unit.Number(now) + ": fewer drafts accepted",
		evidence: []string{"TPOT " + unit.Duration(slow.before) + " → " + unit.Duration(slow.now)},
		not:      []string{"bandwidth: events come " + unit.Multiple(gap, false) + " as far apart"},
	}
	if !math.IsNaN(hit0 + hit1) {
		said.evidence = append(said.evidence, "accepted of the drafted "+unit.Percent(hit0)+" → "+unit.Percent(hit1))
		k, _ := share(x.now, DraftTokens, Drafts)
		said.evidence = append(said.evidence, fmt.Sprintf("each with a chance of %s → %s, %s at a time",
			unit.Percent(acceptance(before, k)), unit.Percent(acceptance(now, k)), unit.Number(k)))
	}
	return []saying{said}
}

// frozen is the gap between tokens, s, that people see as a freeze.
const frozen = 1.0

func frozenStreams(p *probe) []saying {
	if p.hosted() || !p.over(p.preemptions(), someKV) {
		return nil
	}
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		longest := most(value(w.Gap.Longest), value(w.Gap.P99))
		if !p.over(longest, frozen) || !p.hurting(w) {
			continue
		}
		return []saying{{
			flow: w.Name, cause: "streams freeze while their requests are computed again",
			evidence: []string{"gaps of " + unit.Duration(longest) + " and more", unit.Rate(p.preemptions()) + " preemptions/s"},
		}}
	}
	return nil
}

// changed is what was done to an engine since the baseline, "" nothing.
func (s *scene) changed(e *Engine) string {
	if len(e.Changes) == 0 || s.f.BaselineTo.IsZero() || e.Changes[0].At.Mono <= s.f.BaselineTo.Mono {
		return ""
	}
	return e.Changes[0].What + " at " + unit.Clock(e.Changes[0].At, false)
}

func slowerSinceChange(p *probe) []saying {
	slow, yes := p.tokensSlower()
	if p.hosted() || p.loadGrew() || p.drains() || len(p.slowEngines()) > 0 {
		return nil
	}
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		what := p.changed(e)
		explained := value(e.Step.Residual) < explains || p.bound.binds == model.BindsKV && e.shrank()
		if throttled, _ := e.throttled(1); what == "" || p.young(e) || explained || throttled || !yes && !p.slow(e) {
			continue
		}
		f := setting(1, slow.ratio)
		if !yes {
			f = setting(1, value(e.Step.Residual))
		}
		return []saying{{
			engine: p.among(e), factor: f, weight: math.Log(f.Ratio.Value), n: slow.n,
			cause:    e.Changes[0].What + ": tokens " + unit.Times(f.Ratio.Value) + " slower since",
			evidence: listed(append([]string{what}, e.coefficients()...)...),
			not:      []string{"load: no factor of it grew"},
		}}
	}
	return nil
}

// loadGrew reports whether a factor of the load grew the work.
func (s *scene) loadGrew() bool {
	for i := range s.factors {
		if f := &s.factors[i]; f.Factor != model.FactorResidual && f.up() {
			return true
		}
	}
	return false
}

// coefficients compares what was learned of steps before a change and since.
func (e *Engine) coefficients() []string {
	a, b := e.Step.Before, e.Step.Fit
	if a == nil || b == nil {
		return nil
	}
	return []string{
		"fixed " + unit.Precise(a.Fixed) + " → " + unit.Precise(b.Fixed),
		"a 1000 KV tokens " + unit.Precise(1000*a.PerKVToken) + " → " + unit.Precise(1000*b.PerKVToken),
		"a 1000 prompt tokens " + unit.Precise(1000*a.PerPrefill) + " → " + unit.Precise(1000*b.PerPrefill),
		"a sequence " + unit.Precise(a.PerSequence) + " → " + unit.Precise(b.PerSequence),
	}
}

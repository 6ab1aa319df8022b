package diagnose

import (
	"fmt"
	"math"
	"slices"

	"slotop/model"
	"slotop/model/unit"
)

// ttftRules are the ways in which first tokens come late.
var ttftRules = []rule{
	{
		id: "T1", title: "more arrivals than service", layer: model.LayerCause,
		when:    "arrivals grew beyond chance, and users feel it or something is full",
		against: "flat arrivals; or running below the cap with KV free and nothing waiting",
		try:     []string{"check the share of retries first", "shed or queue by priority"},
		says:    moreArrivals,
	},
	{
		id: "T2", title: "prompts grew", layer: model.LayerCause,
		when:    "mean prompt length grew within a workflow, and users feel it or something is full",
		against: "prompts are flat within each workflow: then the mix changed (T3)",
		try:     []string{"cap or trim the context", "a pool of its own for long prompts", "a smaller prefill chunk, to protect decodes"},
		says:    longerPrompts,
	},
	{
		id: "T3", title: "a new or changed client", layer: model.LayerCause,
		when:    "lengths or cache misses grew through the mix alone: no workflow's own did; or a new workflow brings the arrivals",
		against: "the rates of all workflows are flat; or a workflow's own values moved",
		try:     []string{"rate-limit that client or move it to engines of its own", "run it as a batch"},
		says:    otherMix,
	},
	{
		id: "T4", title: "prefix cache collapse", layer: model.LayerCause,
		when:    "the share of prompt tokens that must be computed grew by more than 20 % within a workflow",
		against: "hits counted at every look-up while requests wait; KV cache nearly full, which evicts: then misses are a consequence",
		try:     []string{"restore the order of the prompt's prefix", "sticky routing", "leave KV headroom", "replay 100 prompts twice"},
		says:    cacheCollapse,
	},
	{
		id: "T5", title: "prefill batching", layer: model.LayerSymptom,
		when:    "prefill time grew with the same uncached tokens, prompt tokens a step near the budget, several prompts a step",
		against: "queueing makes most of the change",
		try:     []string{"a smaller token budget", "fewer concurrent partial prefills"},
		says:    prefillBatching,
	},
	{
		id: "T6", title: "preempted requests are prefilled twice", layer: model.LayerBinding,
		when:    "more than 0.05 preemptions a second and KV cache usage above 97 %",
		against: "no preemptions",
		try:     []string{"fewer sequences at once", "more KV memory", "shorter maximum output", "FP8 KV cache"},
		says:    recomputing,
	},
	{
		id: "T7", title: "capacity is missing", layer: model.LayerCause,
		when:    "engines do not answer, or TTFT is long only on engines younger than 10 minutes, while users feel it",
		against: "all engines answer and none is young",
		try:     []string{"wait for it: the load is unchanged once it is ready", "keep a warm floor", "trigger earlier", "load weights faster, warm the prefix cache"},
		says:    coldStart,
	},
	{
		id: "T8", title: "the API front end is slow", layer: model.LayerCause,
		when:    "TTFT less queue and prefill time makes most of the change, with a steady queue",
		against: "the rest of TTFT is flat; or the queue is growing, which mixes requests",
		try:     []string{"look at the CPU of the API server", "more API workers", "move tokenization out", "check what is logged"},
		says:    slowFrontEnd,
	},
	{
		id: "T9", title: "admission cap too low", layer: model.LayerBinding,
		when:    "requests wait, the KV cache is below 90 %, and as many run as may, all the time",
		against: "the KV cache is full; or the number that runs comes and goes",
		try:     []string{"raise the maximum of sequences in steps and watch TPOT"},
		says:    lowCap,
	},
	{
		id: "T10", title: "time is lost outside the engine", layer: model.LayerCause,
		when:    "TTFT grew at the gateway and not at the engine",
		against: "TTFT at the engine grew too",
		try:     []string{"compare hop by hop: gateway, TLS, network, client"},
		says:    outsideEngine,
	},
}

func moreArrivals(p *probe) []saying {
	f, up := p.up(model.FactorArrivals)
	if p.hosted() || !up || !p.matters() || p.isNew(f.Who) {
		return nil
	}
	said := saying{
		flow: string(f.Who), factor: f, weight: f.log - p.retried(), n: f.n,
		evidence: append(p.evidence(f), p.queueShare()...),
		try:      listed(p.addReplica(), p.limitTo(string(f.Who))),
	}
	if p.bulk(said.flow) {
		said.try = listed("serve "+said.flow+" after the others: a lower priority", "replicas of its own for "+said.flow, p.limitTo(said.flow), p.addReplica())
	}
	if _, now, _ := p.retries(); now > someRetries {
		said.evidence = append(said.evidence, "retries are "+unit.Percent(now)+" of them")
	}
	return []saying{said}
}

// bulk reports whether nobody waits for the named workflow's answers, and it hurts those
// who wait for others'.
func (s *scene) bulk(name string) bool {
	i := slices.IndexFunc(s.f.Flows, func(w Flow) bool { return w.Name == name })
	return i >= 0 && s.f.Flows[i].offline() && s.interactiveHurt()
}

// isNew reports whether the named workflow came after the baseline.
func (s *scene) isNew(name model.Text) bool {
	for i := range s.f.Flows {
		if s.f.Flows[i].Name == string(name) {
			return s.f.Flows[i].New
		}
	}
	return false
}

// queueShare is how much of the growth of TTFT waiting makes, where phases may be
// told apart.
func (s *scene) queueShare() []string {
	x := s.side(func(x side) bool { return mean(x.now, QueueTime).N > 0 })
	now, before := Total(x.now), Total(x.before)
	parts, ok := SplitTTFT(&before, &now, queueGrew(x.now))
	if !ok || !(parts.TTFT > 0) {
		return nil
	}
	return []string{fmt.Sprintf("mean TTFT %+.3g s: %s of it queue", parts.TTFT, unit.Percent(parts.Queue/parts.TTFT))}
}

func longerPrompts(p *probe) []saying {
	f, up := p.up(model.FactorPrompt)
	if p.hosted() || !up || f.Mix || !p.matters() {
		return nil
	}
	return []saying{{
		flow: string(f.Who), factor: f, weight: f.log, n: f.n,
		evidence: p.evidence(f), try: listed(p.limitTo(string(f.Who))),
	}}
}

func otherMix(p *probe) []saying {
	if p.hosted() || !p.matters() {
		return nil
	}
	arrivals, more := p.up(model.FactorArrivals)
	if more && p.isNew(arrivals.Who) {
		return []saying{p.client(arrivals)}
	}
	for _, name := range p.byWeight() {
		f, up := p.up(name)
		if !up || !f.Mix || !p.comesMore(f.Who) {
			continue
		}
		if more && arrivals.Who == f.Who && arrivals.log >= f.log {
			return nil // its rate is the cause: T1 says so
		}
		if prompt, longer := p.up(model.FactorPrompt); longer && f.Factor == model.FactorMiss && prompt.Mix && prompt.Who == f.Who {
			f = prompt // its prompts, cached or not, are what comes more
		}
		return []saying{p.client(f)}
	}
	return nil
}

// moreOften is by how much the rate of a workflow grew that changed the mix.
const moreOften = 1.2

// comesMore reports whether the named workflow is new, or its rate grew beyond chance: a
// few long requests more make no new mix.
func (p *probe) comesMore(name model.Text) bool {
	for i := range p.f.Flows {
		w := &p.f.Flows[i]
		if w.Name == string(name) {
			before, now, n0, n1 := side{w.Now, w.Before}.rates(Arrived)
			chance := errorsBeyond * arrivalSpread * math.Sqrt(1/n0+1/n1)
			return w.New || p.grewBy(now/before, max(moreOften, math.Exp(chance)))
		}
	}
	return false
}

// byWeight is the factors that a mix can move, the largest first.
func (s *scene) byWeight() []model.Factor {
	var out []model.Factor
	for i := range s.factors {
		switch f := s.factors[i].Factor; f {
		case model.FactorPrompt, model.FactorMiss, model.FactorOutput:
			out = append(out, f)
		}
	}
	return out
}

// client is what is said of the client that changed the mix.
func (s *scene) client(f *factor) saying {
	said := saying{flow: string(f.Who), factor: f, weight: f.log, n: f.n, evidence: s.evidence(f)}
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		if w.Name != said.flow {
			continue
		}
		before, now := rate(w.Before, Arrived), rate(w.Now, Arrived)
		switch {
		case w.gone():
			said.evidence = append(said.evidence, w.Name+" sends nothing any more: what it left is worked off")
			return said
		case w.New:
			said.evidence = append(said.evidence, w.Name+" is new: "+unit.Rate(now)+" /s")
		case !math.IsNaN(before):
			said.evidence = append(said.evidence, w.Name+" "+unit.Rate(before)+" → "+unit.Rate(now)+" /s")
		}
	}
	said.try = listed(s.limitTo(said.flow))
	return said
}

// gone reports whether a workflow that sent something in the present minute has stopped.
func (f *Flow) gone() bool {
	return rate(last(f.Now, littleBlocks), Arrived) == 0
}

// grownMisses is by how much misses must grow to be a collapse.
const grownMisses = 1.2

func cacheCollapse(p *probe) []saying {
	f, up := p.up(model.FactorMiss)
	if p.hosted() || !up || f.Mix || !p.matters() || !p.grewBy(f.Ratio.Value, grownMisses) {
		return nil
	}
	doubt := ""
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		if value(e.KV.Most) > fullKV {
			return nil // a full pool evicts
		}
		if e.Prefix {
			continue
		}
		if p.queued() {
			return nil // each look-up of a waiting request counts again
		}
		doubt = "hits are counted by look-ups: they may be repeated while requests wait"
	}
	return []saying{{
		flow: string(f.Who), factor: f, weight: f.log, n: f.n, doubt: doubt,
		evidence: append(p.evidence(f), p.slopes(string(f.Who))...),
	}}
}

// slopes is how TTFT grows with prompt tokens and with uncached ones, before and now,
// where single requests are reported.
func (s *scene) slopes(name string) []string {
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		if w.Name != name {
			continue
		}
		prompt0, a := promptLine(w.CallsBefore, byPrompt)
		prompt1, b := promptLine(w.Calls, byPrompt)
		fresh0, c := promptLine(w.CallsBefore, byUncached)
		fresh1, d := promptLine(w.Calls, byUncached)
		if !a || !b || !c || !d || !prompt1.Explains() {
			return nil
		}
		return []string{fmt.Sprintf("TTFT a prompt token %s → %s, an uncached one %s → %s",
			microseconds(prompt0.Slope), microseconds(prompt1.Slope), microseconds(fresh0.Slope), microseconds(fresh1.Slope))}
	}
	return nil
}

func microseconds(s float64) string { return unit.Number(1e6*s) + " µs" }

func byPrompt(c *Call) float64 { return c.Prompt }

func byUncached(c *Call) float64 { return c.Uncached }

// promptLine is TTFT over a length of the prompt.
func promptLine(calls []Call, of func(*Call) float64) (Line, bool) {
	return lineOf(calls, of, func(c *Call) float64 { return c.TTFT })
}

func lineOf(calls []Call, xOf, yOf func(*Call) float64) (Line, bool) {
	var x, y []float64
	for i := range calls {
		a, b := xOf(&calls[i]), yOf(&calls[i])
		if !math.IsNaN(a+b) && !calls[i].Failed {
			x, y = append(x, a), append(y, b)
		}
	}
	return TheilSen(x, y)
}

// nearBudget is how full steps are when first tokens wait for the whole chunk.
const nearBudget = 0.7

func prefillBatching(p *probe) []saying {
	if p.hosted() {
		return nil
	}
	prefill := moved(p.engines.now, p.engines.before, PrefillTime)
	prompt, miss := p.factor(model.FactorPrompt), p.factor(model.FactorMiss)
	if !prefill.up || prompt.Moved || miss.Moved || p.queueing() {
		return nil
	}
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		perPrompt := mean(e.Now, PromptLength).Value() * missShare(e.Now)
		if p.over(e.Step.Now.Prefill, nearBudget*e.budget()) && e.Step.Now.Prefill > perPrompt {
			return []saying{{
				engine: p.among(e), n: prefill.n,
				cause: "prefills of several prompts in one step",
				evidence: []string{
					"prefill time " + unit.Duration(prefill.before) + " → " + unit.Duration(prefill.now),
					unit.Count(e.Step.Now.Prefill) + " of " + unit.Count(e.budget()) + " tokens a step are prompts",
				},
			}}
		}
	}
	return nil
}

// queueing reports whether waiting makes most of the growth of TTFT, or makes the
// phases impossible to tell apart.
func (s *scene) queueing() bool {
	now, before := Total(s.engines.now), Total(s.engines.before)
	parts, ok := SplitTTFT(&before, &now, queueGrew(s.engines.now))
	return !ok || parts.Queue > parts.TTFT/2
}

// among is the engine's name where there are several.
func (s *scene) among(e *Engine) string {
	if len(s.f.Engines)+s.f.Silent > 1 {
		return e.Name
	}
	return ""
}

func recomputing(p *probe) []saying {
	full, rates := []*Engine{}, 0.0
	for i := range p.f.Engines {
		e := &p.f.Engines[i]
		r := rate(e.Now, Preemptions)
		if p.over(r, someKV) && p.over(value(e.KV.Most), fullKV) {
			full, rates = append(full, e), rates+r
		}
	}
	if len(full) == 0 {
		return nil
	}
	said := saying{evidence: append([]string{unit.Rate(rates) + " preemptions/s"}, p.state()...)}
	if len(full) == 1 {
		said.engine = p.among(full[0])
	}
	return []saying{said}
}

const (
	coldFor  = 600 // s for which an engine counts as young
	coldTTFT = 1.3 // times that of the others
)

func coldStart(p *probe) []saying {
	answering := len(p.f.Engines)
	if p.f.Silent > 0 && answering > 0 {
		// What never answered was missing before as well: it explains no small change.
		small := p.bound.binds == model.BindsNothing && (len(p.hurts) == 0 || p.hurts[0].degree == slower)
		if !p.matters() || p.f.Silent == p.f.Awaited && small {
			return nil
		}
		return []saying{p.missing(answering, p.f.Silent)}
	}
	for i := range p.f.Engines {
		young := &p.f.Engines[i]
		if !(value(young.Age) < coldFor) || !p.matters() {
			continue
		}
		others := Mean{}
		for j := range p.f.Engines {
			if old := &p.f.Engines[j]; !(value(old.Age) < coldFor) {
				m := mean(old.Now, TTFT)
				others.N, others.Sum = others.N+m.N, others.Sum+m.Sum
			}
		}
		own := mean(young.Now, TTFT)
		if others.N < leastCompared || own.N == 0 || !p.grewBy(own.Value()/others.Value(), coldTTFT) {
			continue
		}
		return []saying{{
			engine: young.Name, n: own.N, weight: math.Log(own.Value() / others.Value()),
			factor: p.replicas(float64(answering), float64(answering)),
			cause:  "cold start of " + young.Name + ", up for " + unit.Duration(young.Age.Value),
			evidence: []string{"TTFT there " + unit.Duration(own.Value()) + ", elsewhere " + unit.Duration(others.Value()),
				"prefix cache misses there " + unit.Percent(missShare(young.Now))},
		}}
	}
	return nil
}

// missing is what is said of engines that do not answer while others are in need.
func (s *scene) missing(answering, silent int) saying {
	all := answering + silent
	said := saying{
		weight:   math.Log(float64(all) / float64(answering)),
		factor:   s.replicas(float64(all), float64(answering)),
		evidence: append([]string{fmt.Sprintf("%d of %d engines answer", answering, all)}, s.state()...),
	}
	if s.f.Awaited > 0 {
		said.cause = fmt.Sprintf("cold start: %d of %d engines not ready yet", s.f.Awaited, all)
		return said
	}
	said.cause = fmt.Sprintf("%d of %d engines stopped answering", silent, all)
	said.try = []string{"look at the engine that is silent: it may still hold requests"}
	return said
}

// replicas is the number of engines as a factor of the work of each.
func (s *scene) replicas(wanted, ready float64) *factor {
	return &factor{FactorView: model.FactorView{
		Factor: model.FactorReplicas, Before: model.Of(wanted), Now: model.Of(ready),
		Ratio: model.Of(ready / wanted), Work: model.Of(wanted/ready - 1), Moved: true,
	}}
}

func lowCap(p *probe) []saying {
	b := p.bound
	if b.binds != model.BindsCap {
		return nil
	}
	e := b.engine
	said := saying{engine: p.only(b), evidence: p.state()}
	before, now := value(e.RunningBefore.Most), value(e.Running.Most)
	lowered := now < (1-atCap)*before
	switch {
	case lowered:
		said.evidence = append(said.evidence, "up to "+unit.Integer(before)+" ran at once before, "+unit.Integer(now)+" now")
		said.weight = math.Log(before / now)
	case p.grew():
		return []saying{said} // what binds; something else is the cause
	case !p.compares():
		return []saying{said}
	}
	said.layer = model.LayerCause
	said.factor = setting(before, now)
	said.cause = "at most " + unit.Integer(now) + " sequences run at once"
	if p.changed(e) != "" {
		said.evidence = append(said.evidence, p.changed(e))
	}
	return []saying{said}
}

// only is the name of the engine that alone binds, of several.
func (s *scene) only(b bound) string {
	if b.alone {
		return b.engine.Name
	}
	return ""
}

// setting is a configuration as a factor.
func setting(before, now float64) *factor {
	return &factor{FactorView: model.FactorView{
		Factor: model.FactorSetting, Before: model.Of(before), Now: model.Of(now), Ratio: model.Of(now / before), Moved: true,
	}}
}

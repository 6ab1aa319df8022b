package fleet

import (
	"math"

	"slotop/model"
	"slotop/model/roofline"
)

// tempo is what an engine does over the window, per second, and what its steps are
// like. NaN is not known.
type tempo struct {
	output   float64 // tokens
	prompts  float64 // requests whose prompt was computed
	computed float64 // prompt tokens, cached ones left out
	cached   float64 // prompt tokens that were not computed

	steps     float64 // of all its engines together
	sequences float64 // that decode in one of them
	context   float64 // tokens that a decoded token attends to

	notes []string
}

// tallied is the target's sum over what it serves, as measured last.
func (t *target) tallied() *tally {
	if t.sum != nil {
		return t.sum
	}
	for _, only := range t.flows {
		return only
	}
	return &tally{}
}

// tempoOf is the target's tempo over the window.
func (t *target) tempoOf(engines float64) tempo {
	ty := t.tallied()
	p := tempo{output: orNaN(ty.rateOf(model.OutputTokens)), prompts: firstOf(ty, model.TTFT, model.PromptLength, model.Finished)}
	p.split(ty)
	p.stepping(t, ty, engines)
	p.context = t.contextOf(ty, &p)
	return p
}

// firstOf is the rate of the first of some signals of which there is one.
func firstOf(ty *tally, signals ...model.Signal) float64 {
	for _, s := range signals {
		if v := orNaN(ty.rateOf(s)); !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// split tells computed prompt tokens from cached ones.
func (p *tempo) split(ty *tally) {
	prompt := orNaN(ty.rateOf(model.PromptTokens))
	p.cached = orNaN(ty.rateOf(model.CachedTokens))
	if queries, hits := orNaN(ty.rateOf(model.PrefixQueries)), orNaN(ty.rateOf(model.PrefixHits)); math.IsNaN(p.cached) && queries > 0 {
		p.cached = prompt * math.Min(1, hits/queries)
		p.note("cached prompt tokens by the share of look-ups that hit")
	}
	if math.IsNaN(p.cached) {
		p.cached = 0
		if prompt > 0 {
			p.note("whole prompts, as cached tokens are not told: an upper bound of prefill")
		}
	}
	p.cached = math.Min(p.cached, prompt)
	p.computed = prompt - p.cached
}

func (p *tempo) note(text string) { p.notes = append(p.notes, text) }

// stepping is how many steps the engines made and how many sequences decoded in one.
// Where no counter tells steps, sequences come of the time that gaps between tokens
// add up to (Little's law), and steps of their number.
func (p *tempo) stepping(t *target, ty *tally, engines float64) {
	p.steps, p.sequences = orNaN(ty.rateOf(model.StepTokens)), math.NaN()
	events, waited := t.perSecond(ty, model.ITL)
	drafting := orNaN(ty.rateOf(model.SpecDrafts)) > 0 || orNaN(ty.levelOf(model.SpecAcceptLength)) > 1
	if drafting {
		p.note("the draft model's own work is not counted")
	}
	switch {
	case p.steps >= 0 && events >= 0:
		p.sequences = events / p.steps
	case p.steps >= 0 && !drafting:
		p.sequences = math.Max(0, p.output-p.prompts) / p.steps
	case p.steps >= 0:
		p.sequences = orNaN(ty.levelOf(model.Running)) / engines
	case drafting: // a step yields several tokens
	case events >= 0:
		p.guess(events, waited, engines, "steps by the gaps between tokens, as no counter tells them")
	default:
		if n, sum := t.perSecond(ty, model.TPOT); n > 0 {
			p.guess(p.output, p.output*sum/n, engines, "steps by TPOT, as no counter tells them")
			return
		}
		p.guess(p.output, orNaN(ty.levelOf(model.Running)), engines, "steps by the requests that run at the moment, as no counter tells them")
	}
	if p.steps == 0 {
		p.sequences = 0
	}
}

// guess works steps out of decoded tokens and of how many sequences decode at once,
// in all engines. An engine that is idle part of the time makes no step without one.
func (p *tempo) guess(events, at, engines float64, note string) {
	if !(events > 0) {
		p.steps, p.sequences = events, 0
		return
	}
	p.sequences = math.Max(1, at/engines)
	p.steps = events / p.sequences
	p.note(note)
}

// perSecond is how many events a histogram saw in a second, and their sum.
func (t *target) perSecond(ty *tally, s model.Signal) (n, sum float64) {
	h, known := ty.of(signalIndex[s])
	if !known || t.elapsed <= 0 || ty.basis != model.OverWindow {
		return math.NaN(), math.NaN()
	}
	return h.N() / t.elapsed.Seconds(), orNaN(h.Sum) / t.elapsed.Seconds()
}

// contextOf is the mean context of the sequences that run: the KV cache in use over
// their number, or half an answer behind a prompt.
func (t *target) contextOf(ty *tally, p *tempo) float64 {
	if now := t.stepNow(); now.KVTokens > 0 && now.Sequences > 0 && !t.steps.byShare {
		return now.KVTokens / now.Sequences
	}
	running := orNaN(ty.levelOf(model.Running))
	if used := t.kvTokens(ty); used > 0 && running > 0 {
		return used / running
	}
	length := (p.computed+p.cached)/p.prompts + p.output/p.prompts/2
	if p.prompts > 0 && length > 0 {
		p.note("context by mean lengths of prompts and answers, as the KV cache in use is not known in tokens")
		return length
	}
	return math.NaN()
}

// kvTokens is how many tokens the KV cache holds now, of all engines.
func (t *target) kvTokens(ty *tally) float64 {
	if used := orNaN(ty.levelOf(model.KVUsedTokens)); used >= 0 {
		return used
	}
	usage := orNaN(ty.levelOf(model.KVUsage))
	if list := t.view.Engines; len(list) > 1 { // the level is that of the fullest
		usage = 0
		for i := range list {
			usage += orNaN(list[i].KVCacheUsage) / float64(len(list))
		}
	}
	return usage * orNaN(ty.levelOf(model.KVCapacity))
}

// effort is the work of a second, by phase and together. The weights of a step are
// read once for both phases: alone, a prompt is taken to be computed in one step.
type effort struct{ prefill, decode, all roofline.Work }

// work is what the tempo comes to for a shape on so many GPUs of an engine.
func (p *tempo) work(s *roofline.Shape, gpus float64) *effort {
	w := &effort{}
	kv := s.KVPerToken()
	if p.output != 0 {
		w.decode.FLOPs = p.output * s.DecodeFLOPs(p.context)
		w.decode.Bytes = p.steps*s.StepBytes(p.sequences, p.computed/p.steps, p.context, gpus) + p.output*kv
	}
	if p.computed != 0 || p.prompts != 0 {
		each := p.computed / p.prompts
		w.prefill.FLOPs = p.prompts * s.PromptFLOPs(each, p.cached/p.prompts)
		if p.prompts == 0 { // a prompt is not done yet, and its length not known
			w.prefill.FLOPs = p.computed * s.LayerFLOPs()
		}
		w.prefill.Bytes = math.Min(p.prompts, p.steps)*s.WeightsRead(each) + p.computed*kv
	}
	w.all.FLOPs = w.decode.FLOPs + w.prefill.FLOPs
	w.all.Bytes = w.decode.Bytes + p.computed*kv
	if p.output == 0 { // nothing but prompts
		w.all.Bytes = w.prefill.Bytes
	}
	return w
}

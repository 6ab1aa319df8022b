package fleet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/model/steptime"
	"slotop/model/unit"
)

const (
	// leastSample is how long a sample of an engine's steps is at least, and a little
	// less, so that polls five seconds apart give one each.
	leastSample = 4500 * time.Millisecond
	// mostSamples bounds what a fit is made of: half an hour.
	mostSamples = 360
	// refitBlocks is how often, in blocks, a fit is made again.
	refitBlocks = 6
	// mostChanges bounds what is remembered of what was done to an engine.
	mostChanges = 8
)

// stepper learns what a step of one engine costs: samples of it, of which those of
// quiet blocks are fitted.
type stepper struct {
	open   openSample
	recent []steptime.Sample // oldest first, of the blocks that are not settled yet
	base   []steptime.Sample // of quiet blocks

	fit    *steptime.Fit // of the baseline, or, when early, of the first minute
	early  bool
	why    string // why there is none, or what it lacks
	before *steptime.Fit
	due    int64 // the block from which on it is made again

	ranks               float64 // engines that step side by side behind the page
	byShare             bool    // the size of the KV cache is not known
	capacity, capWas    float64 // tokens, NaN unknown: of the page, and of the newest quiet block
	capFormer           float64 // what it was before it changed last
	capSince            time.Duration
	sequences           float64 // configured cap, NaN unknown
	version             string
	changes             []diagnose.Change
	baseMean, nowMean   steptime.Sample
	residual            model.Reading
	shortHalf, longHalf model.Reading
}

// openSample is the stretch that becomes the next sample.
type openSample struct {
	from    stepCounts
	at      model.Instant // its beginning; zero before the first page
	last    time.Duration // the newest page in it
	running diagnose.Mean
	kv      diagnose.Mean // tokens, or the share in use
	broken  bool          // nothing ran at some time in it
}

// stepCounts is what an engine counted since its start, NaN what it does not.
type stepCounts struct {
	steps, tokens          float64 // of the histogram of tokens in a step
	prompt, cached, output float64
	queries, hits          float64
	gaps, gapTime          float64 // of the gap between two events
	prompts                float64 // whose first token came
	preempted              float64
	lengths, lengthSum     float64 // of prompts of requests that ended
	ranks                  float64
}

// stepFit is what was learned of the target's steps, nil with the reason, as a
// sentence, where nothing was yet. With a fit the sentence says what it lacks, if
// anything. Nobody writes to it.
func (t *target) stepFit() (*steptime.Fit, string) {
	if t.steps == nil {
		return nil, "it counts neither steps nor the gaps between tokens"
	}
	return t.steps.fit, t.steps.why
}

// stepNow is the mean step of the present minute; NaN where nobody says it.
func (t *target) stepNow() steptime.Sample {
	if t.steps == nil {
		return steptime.Mean(nil)
	}
	return t.steps.nowMean
}

// noSteps is why nothing is learned of an engine that has just come, or begun anew.
const noSteps = "no step was counted yet"

func newStepper() *stepper {
	nan := math.NaN()
	return &stepper{
		why: noSteps, capacity: nan, capWas: nan, capFormer: nan, sequences: nan,
		baseMean: steptime.Mean(nil), nowMean: steptime.Mean(nil),
	}
}

// noteStep takes in a page on which something is new. A stretch in which nothing ran
// for a moment tells nothing of how long steps are.
func (t *target) noteStep(at model.Instant, now page, restarted bool, every time.Duration) {
	if t.steps == nil {
		if !t.computes() || !t.exports(model.StepTokens) && !t.exports(model.ITL) {
			return
		}
		t.steps = newStepper()
	}
	s := t.steps
	s.noteChanges(t, at, now, restarted)
	o := &s.open
	gap := at.Mono-o.last > t.unbroken(every)
	if o.at.IsZero() || restarted || t.turns.doubt || gap || !(now.running > 0) {
		s.begin(t, at, now)
		return
	}
	o.last = at.Mono
	o.read(s, now)
	if at.Sub(o.at) < leastSample {
		return
	}
	if sample, ok := s.sample(t, at); ok {
		if s.recent = append(s.recent, sample); len(s.recent) > mostSamples {
			s.recent = slices.Delete(s.recent, 0, 1)
		}
	}
	s.begin(t, at, now)
}

// unbroken is the longest time between two pages of a sample. Of a server's past each
// point holds what was counted since the last, however far apart they are asked for.
func (t *target) unbroken(every time.Duration) time.Duration {
	gap := 3 * max(every, t.step(), leastSample)
	if t.step() > 0 {
		gap = max(gap, pastPoint)
	}
	return gap
}

// pastPoint is a little more than the time between two points of an hour that a server
// tells at the start.
const pastPoint = 65 * time.Second

// begin begins a sample with this page.
func (s *stepper) begin(t *target, at model.Instant, now page) {
	s.open = openSample{from: t.stepCounts(), at: at, last: at.Mono, broken: !(now.running > 0)}
	s.open.read(s, now)
}

func (o *openSample) read(s *stepper, now page) {
	readMean(&o.running, now.running)
	kv := now.used
	if math.IsNaN(kv) && now.usages > 0 {
		kv = now.usage / now.usages
		if !s.byShare {
			kv *= s.capacity
		}
	}
	readMean(&o.kv, kv)
}

// noteChanges looks whether anything was done to the engine since its last page.
func (s *stepper) noteChanges(t *target, at model.Instant, now page, restarted bool) {
	anew := restarted
	if restarted {
		s.changed(at, "restarted")
	}
	if t.about != nil && t.about.Version != s.version && t.about.Version != "" {
		if s.version != "" {
			s.changed(at, "version "+s.version+" → "+t.about.Version)
			anew = true
		}
		s.version = t.about.Version
	}
	if c := now.capacity; c > 0 && c != s.capacity {
		if s.capacity > 0 {
			s.changed(at, fmt.Sprintf("KV pool %s → %s tokens", unit.Count(s.capacity), unit.Count(c)))
			anew = true
		}
		s.capFormer, s.capacity, s.capSince = s.capacity, c, at.Mono
	}
	if c := now.most; c > 0 && c != s.sequences {
		if s.sequences > 0 {
			s.changed(at, fmt.Sprintf("sequence cap %s → %s", unit.Count(s.sequences), unit.Count(c)))
		}
		s.sequences = c
	}
	byShare := !(s.capacity > 0) && math.IsNaN(now.used)
	if anew || byShare != s.byShare {
		s.anew()
	}
	s.byShare = byShare
}

// quiet makes the size of the KV pool at the end of a block that of the baseline.
func (s *stepper) quiet(end time.Duration) {
	if s.capWas = s.capacity; end < s.capSince && s.capFormer > 0 {
		s.capWas = s.capFormer
	}
}

func (s *stepper) changed(at model.Instant, what string) {
	s.changes = append([]diagnose.Change{{At: at, What: what}}, s.changes[:min(len(s.changes), mostChanges-1)]...)
}

// anew forgets what was learned of a process, or of a machine, that is another now.
func (s *stepper) anew() {
	if s.fit != nil {
		s.before = s.fit
	}
	s.fit, s.recent, s.base, s.open = nil, nil, nil, openSample{}
	s.why, s.residual, s.shortHalf, s.longHalf = noSteps, model.Reading{}, model.Reading{}, model.Reading{}
	s.nowMean = steptime.Mean(nil)
}

// stepCounts sums what the page counts of steps.
func (t *target) stepCounts() stepCounts {
	nan := math.NaN()
	c := stepCounts{
		steps: nan, tokens: nan, prompt: nan, cached: nan, output: nan, queries: nan, hits: nan,
		gaps: nan, gapTime: nan, prompts: nan, preempted: nan, lengths: nan, lengthSum: nan,
	}
	total := t.counters.Total()
	var engines []string
	for _, sl := range t.cols.slots {
		if sl.pool != nil || sl.kind == model.Gauge {
			continue
		}
		n, sum, ok := sl.counts(total)
		if !ok {
			continue
		}
		switch sl.key.signal {
		case model.StepTokens:
			c.steps, c.tokens = plusKnown(c.steps, n), plusKnown(c.tokens, sum)
			if !slices.Contains(engines, sl.engine) {
				engines = append(engines, sl.engine)
			}
		case model.PromptTokens:
			c.prompt = plusKnown(c.prompt, n)
		case model.CachedTokens:
			c.cached = plusKnown(c.cached, n)
		case model.OutputTokens:
			c.output = plusKnown(c.output, n)
		case model.PrefixQueries:
			c.queries = plusKnown(c.queries, n)
		case model.PrefixHits:
			c.hits = plusKnown(c.hits, n)
		case model.ITL:
			c.gaps, c.gapTime = plusKnown(c.gaps, n), plusKnown(c.gapTime, sum)
		case model.TTFT:
			c.prompts = plusKnown(c.prompts, n)
		case model.Preemptions:
			c.preempted = plusKnown(c.preempted, n)
		case model.PromptLength:
			c.lengths, c.lengthSum = plusKnown(c.lengths, n), plusKnown(c.lengthSum, sum)
		}
	}
	c.ranks = max(1, float64(len(engines)))
	if t.about != nil && t.about.Replicas.Fresh > 1 {
		c.ranks = float64(t.about.Replicas.Fresh)
	}
	return c
}

// counts is what a sample has counted so far, over all bounds it was ever shown with.
func (sl *slot) counts(total []float64) (n, sum float64, ok bool) {
	sum = math.NaN()
	if sl.kind == model.Counter {
		if sl.col < 0 || sl.col >= len(total) {
			return 0, sum, false
		}
		return total[sl.col], sum, !math.IsNaN(total[sl.col])
	}
	for _, sp := range sl.spans {
		v := total[sp.col+len(sp.bounds)]
		if math.IsNaN(v) {
			continue
		}
		n, ok = n+v, true
		sum = plusKnown(sum, total[sp.col+len(sp.bounds)+1])
	}
	return n, sum, ok
}

// sample is the stretch since its beginning, if steps were made throughout.
func (s *stepper) sample(t *target, at model.Instant) (steptime.Sample, bool) {
	o, c := &s.open, t.stepCounts()
	was := o.from
	s.ranks = c.ranks
	if o.broken || c.ranks != was.ranks {
		return steptime.Sample{}, false
	}
	out := steptime.Sample{
		At: at, Seconds: at.Sub(o.at).Seconds(),
		Sequences: o.running.Value() / c.ranks, KVTokens: o.kv.Value(),
	}
	if !s.byShare {
		out.KVTokens /= c.ranks
	}
	steps := c.steps - was.steps
	switch gaps := c.gaps - was.gaps; {
	case steps > 0:
		out.Steps, out.Step = steps/c.ranks, out.Seconds*c.ranks/steps
	case math.IsNaN(steps) && gaps > 0:
		out.Step = (c.gapTime - was.gapTime) / gaps
		steps = out.Seconds * c.ranks / out.Step
	default:
		return steptime.Sample{}, false
	}
	if !(out.Step > 0) {
		return steptime.Sample{}, false
	}
	out.Prefill = (computed(&was, &c) + s.recomputed(&was, &c)) / steps
	out.Prompt = promptLength(&was, &c)
	return out, true
}

// computed is how many prompt tokens were computed: those that came from a cache were
// not. Tokens of a step count whole prompts, cached ones too, on some engines, so that
// they tell only where nothing else does.
func computed(was, now *stepCounts) float64 {
	prompt := now.prompt - was.prompt
	if cached := now.cached - was.cached; !math.IsNaN(prompt - cached) {
		return max(0, prompt-cached)
	}
	if queries := now.queries - was.queries; queries > 0 && !math.IsNaN(prompt) {
		return prompt * (1 - min(1, max(0, now.hits-was.hits)/queries))
	}
	if left := now.tokens - was.tokens - (now.output - was.output); !math.IsNaN(left) {
		return max(0, left)
	}
	return prompt
}

// recomputed is how many tokens were computed again, because their requests had been
// preempted: nobody counts them, so that each is taken to have had as many as the
// mean of those that run.
func (s *stepper) recomputed(was, now *stepCounts) float64 {
	context := s.open.kv.Value() / s.open.running.Value()
	if n := (now.preempted - was.preempted) * context; n > 0 && !s.byShare {
		return n
	}
	return 0
}

// promptLength is the mean length of the prompts whose first token came, or of those
// that ended; NaN where none did.
func promptLength(was, now *stepCounts) float64 {
	if n := now.prompts - was.prompts; n > 0 {
		if v := (now.prompt - was.prompt) / n; !math.IsNaN(v) {
			return v
		}
	}
	if n := now.lengths - was.lengths; n > 0 {
		return (now.lengthSum - was.lengthSum) / n
	}
	return math.NaN()
}

// leave moves the samples of blocks that are over to the baseline, or drops them.
func (s *stepper) leave(through int64, quiet func(at int64) bool, keep int) {
	n, before := 0, len(s.base)
	for n < len(s.recent) && blockOf(s.recent[n].At.Mono) <= through {
		if quiet(blockOf(s.recent[n].At.Mono)) {
			s.base = append(s.base, s.recent[n])
		}
		n++
	}
	s.recent = slices.Delete(s.recent, 0, n)
	if len(s.base) == before {
		return
	}
	s.base = slices.Delete(s.base, 0, max(0, len(s.base)-keep))
	s.baseMean = steptime.Mean(s.base[max(0, len(s.base)-baseSamples):])
}

// baseSamples is how many of the newest quiet samples the load of the baseline is
// taken from: as many as its blocks hold.
const baseSamples = diagnose.BaselineBlocks * 2

// look fits anew where it is time to, and compares the present minute with the fit.
func (s *stepper) look(at int64, now time.Duration) {
	s.learn(at)
	present := s.recent
	for len(present) > 0 && now-present[0].At.Mono >= diagnose.NowBlocks*diagnose.Block {
		present = present[1:]
	}
	s.nowMean = steptime.Mean(present)
	s.residual, s.shortHalf, s.longHalf = model.Reading{}, model.Reading{}, model.Reading{}
	fit := s.fit
	if s.fit == nil || s.early {
		// Of the samples that it was fitted to a fit knows nothing new. What was learned
		// before a restart does.
		fit = s.before
	}
	if fit == nil || fit.ByShare != s.byShare {
		return
	}
	s.residual = residualOf(fit, present)
	byLoad := slices.Clone(present)
	slices.SortStableFunc(byLoad, func(a, b steptime.Sample) int {
		x, y := fit.Explain(a).Total(), fit.Explain(b).Total()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	half := len(byLoad) / 2
	s.shortHalf, s.longHalf = residualOf(fit, byLoad[:half]), residualOf(fit, byLoad[len(byLoad)-half:])
}

func residualOf(f *steptime.Fit, samples []steptime.Sample) model.Reading {
	if r, ok := f.Residual(samples); ok {
		return model.Of(r)
	}
	return model.Reading{}
}

// learn fits the baseline, once in a while, or, as long as it is too short, what there
// is, once.
func (s *stepper) learn(at int64) {
	samples := s.base
	early := len(s.base) < steptime.Least
	switch {
	case early && s.fit != nil:
		return
	case early:
		samples = slices.Concat(s.base, s.recent)
	case s.fit != nil && !s.early && at < s.due:
		return
	}
	fit, err := steptime.Learn(samples)
	if err == nil && early && fit.Error > tooUneven {
		err = errUneven
	}
	if err != nil {
		if s.fit == nil {
			s.why = err.Error()
		}
		return
	}
	fit.ByShare = s.byShare
	s.fit, s.early, s.why = &fit, early, ""
	s.due = at + refitBlocks
	switch {
	case early:
		s.why = "learned from its first minute: there is no baseline yet"
	case s.byShare:
		s.why = "its KV cache is of unknown size: the share in use stands for tokens"
	}
}

// tooUneven is the relative error above which a first minute teaches nothing: quiet
// engines stay below half of it.
const tooUneven = 0.1

var errUneven = errors.New("steps of the same load were too unlike so far to learn from")

// facts is what the diagnosis is told of the engine's steps.
func (s *stepper) facts() diagnose.Step {
	return diagnose.Step{
		Fit: s.fit, Why: s.why, Before: s.before, Now: s.nowMean, Base: s.baseMean,
		Residual: s.residual, Short: s.shortHalf, Long: s.longHalf,
	}
}

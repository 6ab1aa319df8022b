package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slotop/model"
	"slotop/model/steptime"
	"slotop/model/unit"
)

// What a full resource looks like. Ratios 0–1, rates per second, times in seconds.
const (
	fullKV, fullKVMean  = 0.97, 0.90
	freeKV              = 0.90 // below it memory is not what holds requests back
	someKV              = 0.05 // preemptions a second: fewer are harmless
	leastWaiting        = 1
	atCap               = 0.04 // running within it of a cap
	fullBudget          = 0.9  // of the tokens of a step
	computeShare        = 0.5  // of a step: prompts
	memoryShare         = 0.7  // of a step: weights and cache reads
	littlePrefill       = 0.2
	manySequences       = 16
	idleGPU             = 0.6
	longWait, timesWait = 0.25, 3.0
)

// bound is what limits a pool or one of its engines.
type bound struct {
	binds   model.Binding
	text    string
	engine  *Engine // that binds most
	waiting float64
	alone   bool // of several engines only this one binds
}

// binds looks at each engine; the one on which most wait decides for the pool. Nothing
// binds where nothing waits and nothing is preempted: a slow step limits nobody.
func (s *scene) binds() bound {
	if s.hosted() {
		return s.providerBinds()
	}
	var all []bound
	for i := range s.f.Engines {
		if b := s.engineBinds(&s.f.Engines[i]); b.binds != model.BindsNothing {
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		return s.upstreamBinds()
	}
	slices.SortStableFunc(all, func(a, b bound) int { return cmp.Compare(b.waiting, a.waiting) })
	worst := all[0]
	worst.alone = len(all) == 1 && len(s.f.Engines) > 1
	worst.text = s.inWords(&worst)
	return worst
}

// engineBinds goes through the resources in the order in which one hides the next.
func (s *scene) engineBinds(e *Engine) bound {
	b := bound{engine: e, waiting: value(e.Waiting.Mean)}
	if s.young(e) {
		return b
	}
	ease := s.ease("binds " + e.Name)
	split := shares(e)
	waiting := b.waiting > ease*leastWaiting
	roomy := !(value(e.KV.Most) >= freeKV)
	switch {
	case e.full(ease) && (!e.atCap() || rate(e.Now, Preemptions) > ease*someKV):
		b.binds = model.BindsKV
	case waiting && roomy && (e.atCap() || e.flat()):
		b.binds = model.BindsCap
	case waiting && roomy && e.Step.Now.Prefill >= ease*fullBudget*e.budget():
		b.binds = model.BindsBudget
	case waiting && split.prefill > computeShare:
		b.binds = model.BindsCompute
	case waiting && split.fixed+split.kv > memoryShare && split.prefill < littlePrefill:
		b.binds = model.BindsMemory
	case waiting && (s.hostSlow(e) || split.fixed > memoryShare && value(e.Running.Mean) > manySequences && e.active() < idleGPU):
		b.binds = model.BindsHost
	case waiting && e.wait() > ease*longWait && e.wait() > ease*timesWait*e.waitBefore():
		b.binds = model.BindsQueue
	}
	return b
}

// full reports whether the KV cache holds requests back: it preempts some, or some
// wait and it was full nearly all the time. What was held back and is not any more,
// over the newest half minute, is over.
func (e *Engine) full(ease float64) bool {
	if !(value(e.KV.Most) > ease*fullKV) {
		return false
	}
	if newest := Total(last(e.Now, littleBlocks)); ease < 1 && newest.Counts[Preemptions] == 0 && newest.KVMost < freeKV {
		return false
	}
	return rate(e.Now, Preemptions) > ease*someKV || value(e.KV.Mean) > ease*fullKVMean && value(e.Waiting.Mean) > 0
}

// atCap reports whether as many run as may, by what somebody told.
func (e *Engine) atCap() bool {
	limit, told := e.Cap.Get()
	return told && value(e.Running.Mean) >= (1-atCap)*limit
}

// flat reports whether never fewer run than the most that were seen. Traffic comes and
// goes; a cap, or a full KV cache, holds a plateau.
func (e *Engine) flat() bool {
	return len(e.Now) >= LeastBaseline/2 && value(e.Running.Mean) >= (1-atCap)*value(e.Running.Most)
}

// budget is the tokens that a step may hold, NaN unknown.
func (e *Engine) budget() float64 {
	if b, told := e.Budget.Get(); told {
		return b
	}
	return value(e.BudgetSeen)
}

// wait is how long a request waits by what ended, s.
func (e *Engine) wait() float64 { return value(e.Waiting.Mean) / rate(e.Now, Ended) }

func (e *Engine) waitBefore() float64 { return value(e.WaitingBefore.Mean) / rate(e.Before, Ended) }

// active is how busy the engine's GPUs really are: the best sign of it that they
// tell. NaN where only the time in which some kernel ran is known, or nothing.
func (e *Engine) active() float64 {
	_, now := e.activity()
	return now
}

// activity is the mean of the best sign of work over its GPUs, in the baseline and
// now: SM, tensor, or memory activity.
func (e *Engine) activity() (before, now float64) {
	for _, sign := range []func(*GPU) Shift{
		func(g *GPU) Shift { return g.SM }, func(g *GPU) Shift { return g.Tensor }, func(g *GPU) Shift { return g.DRAM },
	} {
		if b, n := e.over(sign); !math.IsNaN(n) {
			return b, n
		}
	}
	return math.NaN(), math.NaN()
}

// over is the mean of a shift over the engine's GPUs, NaN where one does not tell.
func (e *Engine) over(of func(*GPU) Shift) (before, now float64) {
	n := float64(len(e.GPUs))
	for i := range e.GPUs {
		v := of(&e.GPUs[i])
		before, now = before+value(v.Before)/n, now+value(v.Now)/n
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	return before, now
}

// parts are the shares of an explained step.
type parts struct{ fixed, kv, prefill float64 }

// shares is where the time of the engine's present step goes, as far as its load
// explains it; NaN without a step-time model.
func shares(e *Engine) parts {
	if e.Step.Fit == nil {
		return parts{math.NaN(), math.NaN(), math.NaN()}
	}
	x := e.Step.Fit.Explain(e.Step.Now)
	t := x.Total()
	return parts{x.Fixed / t, x.KV / t, x.Prefill / t}
}

// upstreamBinds: requests wait at gateways while engines have none waiting. How many
// are held is a reading of one moment: the time that passes outside the engines
// must agree with it, where it is known.
func (s *scene) upstreamBinds() bound {
	held, inside, outside := 0.0, 0.0, math.NaN()
	for i := range s.f.Flows {
		held += s.f.Flows[i].Held.Value
		outside = most(outside, value(s.f.Flows[i].Outside))
	}
	for i := range s.f.Engines {
		inside += value(s.f.Engines[i].Waiting.Mean)
	}
	ease := s.ease("binds upstream")
	if outside < felt20 || !(held/rate(s.flows.now, Arrived) > ease*longWait) && !(outside > ease*longWait) {
		return bound{}
	}
	if held > ease*leastWaiting && inside < leastWaiting/2.0 {
		return bound{binds: model.BindsUpstream, text: "queue at the gateway: " + unit.Count(held) + " held, none waits at the engines"}
	}
	return bound{}
}

// providerBinds: what is felt of a service that nobody here can look into is the
// service's.
func (s *scene) providerBinds() bound {
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		if _, breached := s.breached(w); breached {
			return bound{binds: model.BindsProvider, text: "the provider, seen by clients only"}
		}
		if _, slowed := s.slowed(w); slowed {
			return bound{binds: model.BindsProvider, text: "the provider, seen by clients only"}
		}
	}
	return bound{}
}

// inWords says what binds, with the figures of all engines that do.
func (s *scene) inWords(b *bound) string {
	text := s.figures(b)
	if b.alone {
		text += ", on " + b.engine.Name + " only"
	}
	return text
}

func (s *scene) figures(b *bound) string {
	e := b.engine
	waiting := unit.Count(s.waiting()) + " waiting"
	switch b.binds {
	case model.BindsKV:
		if p := s.preemptions(); p > someKV {
			return "KV cache full, " + unit.Rate(p) + " preemptions/s"
		}
		return "KV cache full, " + waiting
	case model.BindsCap:
		return fmt.Sprintf("sequence cap: %s running, %s", unit.Integer(value(e.Running.Mean)), waiting)
	case model.BindsBudget:
		return fmt.Sprintf("token budget full: %s of %s prompt tokens a step, %s", unit.Count(e.Step.Now.Prefill), unit.Count(e.budget()), waiting)
	case model.BindsCompute:
		return "compute: prompts are " + unit.Percent(shares(e).prefill) + " of a step, " + waiting
	case model.BindsMemory:
		x := shares(e)
		return "bandwidth: weights and KV reads are " + unit.Percent(x.fixed+x.kv) + " of a step, " + waiting
	case model.BindsHost:
		return "the host: " + waiting + " for a step that its GPU does not fill"
	default:
		if w := e.wait(); !math.IsInf(w, 0) {
			waiting += ", ≈ " + unit.Duration(w)
		}
		return "queue: " + waiting
	}
}

// waiting is how many wait at all engines, preemptions how many are preempted a
// second.
func (s *scene) waiting() float64 {
	n := 0.0
	for i := range s.f.Engines {
		n += s.f.Engines[i].Waiting.Mean.Value
	}
	return n
}

func (s *scene) preemptions() float64 {
	n := 0.0
	for i := range s.f.Engines {
		if p := rate(s.f.Engines[i].Now, Preemptions); p > 0 {
			n += p
		}
	}
	return n
}

// The causes of a slow machine.
const (
	slowClock     = 0.9 // of its clock in the baseline
	throttledTime = 0.2 // of the time
	lessWork      = 0.9 // of its activity or power in the baseline
	moreWork      = 1.1
)

// throttled reports whether a GPU of the engine runs slower by its own word: a
// reason that slows it, or a clock well below the baseline's.
func (e *Engine) throttled(ease float64) (yes, known bool) {
	for i := range e.GPUs {
		g := &e.GPUs[i]
		held, before := value(g.Throttled.Now), value(g.Throttled.Before)
		clock := value(g.Clock.Now) / value(g.Clock.Before)
		known = known || !math.IsNaN(held) || !math.IsNaN(clock)
		// What was there in the baseline too explains no change.
		if held >= ease*throttledTime && !(before >= throttledTime) || clock < slowClock+(1-ease)*0.05 {
			return true, true
		}
	}
	return false, known
}

// workRatio is by how much the GPUs' activity, or for want of it their power, changed;
// NaN unknown.
func (e *Engine) workRatio() float64 {
	if before, now := e.activity(); !math.IsNaN(now / before) {
		return now / before
	}
	before, now := e.over(func(g *GPU) Shift { return g.Power })
	return now / before
}

// hostSlow: steps are slow, the GPU's clock is not, and it has less to do.
func (s *scene) hostSlow(e *Engine) bool {
	throttled, known := e.throttled(1)
	return s.slow(e) && known && !throttled && e.workRatio() < lessWork
}

// form is how a slow machine lengthens steps.
type form int

const (
	anyForm form = iota
	multiplies
	adds
)

// shape is what the residual of short and of long steps says: equal, the machine
// multiplies; less for long ones, something adds. What does not agree with the form
// that is taken for the cause is told without an interpretation.
func (e *Engine) shape(of form) string {
	short, long := value(e.Step.Short), value(e.Step.Long)
	added := short > explains*long
	switch {
	case math.IsNaN(short / long):
		return ""
	case of == adds && !added, of == multiplies && added:
		return fmt.Sprintf("short steps %s, long ones %s", unit.Times(short), unit.Times(long))
	case added:
		return fmt.Sprintf("short steps suffer more (%s) than long ones (%s): time is added, as by a host", unit.Times(short), unit.Times(long))
	case steptime.Judge(long) == steptime.Slower:
		return fmt.Sprintf("short and long steps suffer alike (%s, %s): as by a clock", unit.Times(short), unit.Times(long))
	}
	return ""
}

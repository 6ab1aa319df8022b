package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/model/hist"
	"slotop/model/slo"
)

// facts is what is known of a pool at the end of a block.
func (q *inquiry) facts(f *Fleet, fr *model.Frame, p *pool, gpus map[*target][]*device) *diagnose.Facts {
	first, last := q.present()
	out := &diagnose.Facts{
		Pool: p.name, At: f.endOf(last),
		Settled: last-q.first >= diagnose.NowBlocks-1, Behind: p.behind,
	}
	if n := len(q.baseline); n > 0 {
		out.BaselineTo = f.endOf(q.baseline[n-1])
	}
	for _, t := range p.targets {
		switch {
		case !t.computes():
		case t.fresh():
			out.Engines = append(out.Engines, t.facts(f, fr.At, gpus[t], first, last))
		case t.state != "":
			out.Silent++
		}
	}
	awaited := f.awaited(p)
	out.Silent, out.Awaited = out.Silent+awaited, awaited
	gaps := p.gaps()
	for _, w := range p.flows {
		if shown(fr, w.name) {
			out.Flows = append(out.Flows, q.flow(w, gaps[w], first, last))
		}
	}
	return out
}

// shown reports whether the workflow has a row of its own in the frame.
func shown(fr *model.Frame, name string) bool {
	return slices.ContainsFunc(fr.Workflows, func(w model.WorkflowView) bool { return w.Name == name })
}

// endOf is when a block ends.
func (f *Fleet) endOf(at int64) model.Instant {
	return f.started.Add(time.Duration(at+1)*diagnose.Block - f.started.Mono)
}

// awaited is how many engines never answered and can only belong to this pool: the
// one that has engines.
func (f *Fleet) awaited(p *pool) (n int) {
	if !f.lonely || !p.hasEngines() {
		return 0
	}
	for _, t := range f.targets {
		if t.good == 0 && t.state == model.Down && t.kind() == model.EngineTarget {
			n++
		}
	}
	return n
}

func (p *pool) hasEngines() bool { return slices.ContainsFunc(p.targets, (*target).computes) }

// facts is what is known of one engine.
func (t *target) facts(f *Fleet, at model.Instant, gpus []*device, first, last int64) diagnose.Engine {
	p := &t.past.whole
	from, to := p.between(first, last)
	e := diagnose.Engine{
		Name: t.spec.Name, Now: p.sums[from:to], Before: t.past.base,
		BudgetSeen: t.budgetSeen(),
		Prefix:     t.exports(model.CachedTokens), Age: t.age(at), GPUs: t.gpuFacts(gpus, first, last),
	}
	e.Running, e.Waiting, e.KV = levelsOf(e.Now)
	e.RunningBefore, e.WaitingBefore, e.KVBefore = levelsOf(e.Before)
	for _, v := range p.waited[from:to] {
		if !math.IsNaN(v) && (!e.Waiting.Most.OK() || v > e.Waiting.Most.Value) {
			e.Waiting.Most = model.Of(v)
		}
	}
	h := f.hardwareOf(t)
	if h.TokenBudget > 0 {
		e.Budget = model.Of(float64(h.TokenBudget))
	}
	e.Step.Why = "it counts neither steps nor the gaps between tokens"
	if s := t.steps; s != nil {
		e.KVCapacity, e.KVCapacityBefore = model.Of(s.capacity), model.Of(s.capWas)
		e.Cap = model.Of(s.sequences)
		e.Changes, e.Step = s.changes, s.facts()
	}
	if h.Sequences > 0 {
		e.Cap = model.Of(float64(h.Sequences))
	}
	return e
}

// hardwareOf is what the operator says of the machine behind a target.
func (f *Fleet) hardwareOf(t *target) model.HardwareSpec {
	for _, h := range f.policy.Hardware {
		if matches(h.Target, t.spec.Name) {
			return h
		}
	}
	return model.HardwareSpec{}
}

// levelsOf are the levels over blocks.
func levelsOf(blocks []diagnose.Sums) (running, waiting, kv diagnose.Level) {
	var sums [diagnose.NumMeasures]diagnose.Mean
	for i := range blocks {
		b := &blocks[i]
		for m := diagnose.RunningLevel; m <= diagnose.KVLevel; m++ {
			if b.Measures[m].N > 0 {
				sums[m].N += b.Measures[m].N
				sums[m].Sum += b.Measures[m].Sum
			}
		}
		running.Most = mostOf(running.Most, b.RunMost)
		kv.Most = mostOf(kv.Most, b.KVMost)
	}
	running.Mean = model.Of(sums[diagnose.RunningLevel].Value())
	waiting.Mean = model.Of(sums[diagnose.WaitingLevel].Value())
	kv.Mean = model.Of(sums[diagnose.KVLevel].Value())
	return running, waiting, kv
}

func mostOf(a model.Reading, v float64) model.Reading {
	if math.IsNaN(v) || a.OK() && a.Value >= v {
		return a
	}
	return model.Of(v)
}

// budgetSeen is the most tokens that a step is known to have had: the upper edge of
// the highest bucket in use, where it has one.
func (t *target) budgetSeen() model.Reading {
	total := t.counters.Total()
	out := model.Reading{}
	for _, sl := range t.cols.slots {
		if sl.signal != atSteps || sl.pool != nil {
			continue
		}
		for _, sp := range sl.spans {
			n := total[sp.col+len(sp.bounds)]
			if !(n > 0) {
				continue
			}
			for i, edge := range sp.bounds {
				if total[sp.col+i] >= n {
					out = mostOf(out, edge)
					break
				}
			}
		}
	}
	return out
}

// age is how long the engine's process runs: since it was seen to restart, or as it
// says itself, or since it was first read, where it had done nothing yet.
func (t *target) age(at model.Instant) model.Reading {
	if !t.restartedAt.IsZero() {
		return model.Of(at.Sub(t.restartedAt).Seconds())
	}
	if !math.IsNaN(t.start) {
		if age := float64(at.Wall.UnixNano())/1e9 - t.start; age >= 0 {
			return model.Of(age)
		}
	}
	if t.freshAt.IsZero() {
		return model.Reading{}
	}
	return model.Of(at.Sub(t.freshAt).Seconds())
}

// flow is what is known of one workflow of the pool.
func (q *inquiry) flow(w *workflow, gap diagnose.Gap, first, last int64) diagnose.Flow {
	s := &w.story
	out := diagnose.Flow{
		Name: w.name, Spec: w.spec, Terms: w.terms(),
		Before: s.base, Gap: gap, GapBefore: medianGap(s.gaps), Held: w.held(),
		New:   len(s.base) == 0 && len(q.baseline) >= diagnose.LeastBaseline,
		Calls: s.calls.between(first, last), CallsBefore: s.calls.base,
	}
	for at := first; at <= last; at++ {
		if sums, ok := w.sumsAt(at, (*target).fresh); ok {
			out.Now = append(out.Now, sums)
		}
	}
	if len(out.Calls) > mostCalls {
		out.Calls = out.Calls[len(out.Calls)-mostCalls:]
	}
	out.Outside = w.outsideIn(first, last)
	out.OutsideBefore = outsideMean(s.edge, s.base)
	return out
}

// terms are the workflow's objectives over the present minute, whatever the viewer's
// window is.
func (w *workflow) terms() []model.ObjectiveView {
	exact := w.judged.Exact
	c, _ := w.ledgerOf(exact).all(diagnose.NowBlocks * diagnose.Block)
	span := slo.Span{Counts: c, Exact: exact, Ends: true, Exported: w.judged.Exported}
	return slo.Objectives(w.spec, span)
}

// held is how many requests wait at gateways now.
func (w *workflow) held() model.Reading {
	if w.edge.fresh > 0 {
		if r := w.edge.tally().levelOf(model.AtGateway); r.OK() {
			return r
		}
	}
	if w.tellsFlight && w.reporting > 0 {
		return model.Of(w.events.flight.Queued.Value)
	}
	return model.Reading{}
}

// edgeAt is one block as the workflow's gateways tell of it, or its reports.
func (w *workflow) edgeAt(at int64) (diagnose.Sums, bool) {
	if told, ok := w.reportedAt(at, w.story.find(at)); ok {
		return told, true
	}
	return w.sideAt(at, func(t *target) bool { return t.atEdge })
}

// outsideIn is how much longer TTFT is at the gateways than at the engines.
func (w *workflow) outsideIn(first, last int64) model.Reading {
	var edge, engines []diagnose.Sums
	for at := first; at <= last; at++ {
		e, there := w.edgeAt(at)
		s, ok := w.sideAt(at, func(t *target) bool { return t.computes() && t.fresh() })
		if there && ok {
			edge, engines = append(edge, e), append(engines, s)
		}
	}
	return outsideMean(edge, engines)
}

// outsideMean is the mean TTFT of the one less that of the others, where both tell.
func outsideMean(edge, engines []diagnose.Sums) model.Reading {
	return model.Of(meanIn(edge, diagnose.TTFT) - meanIn(engines, diagnose.TTFT))
}

// meanIn is the mean of a measure over blocks, NaN where none tells.
func meanIn(blocks []diagnose.Sums, m diagnose.Measure) float64 {
	var sum diagnose.Mean
	for i := range blocks {
		if b := blocks[i].Measures[m]; b.N > 0 && !math.IsNaN(b.Sum) {
			sum.N, sum.Sum = sum.N+b.N, sum.Sum+b.Sum
		}
	}
	return sum.Value()
}

// gaps are the percentiles of the gap between two events over the present minute, by
// workflow.
func (p *pool) gaps() map[*workflow]diagnose.Gap {
	sums := map[*workflow]*hist.Hist{}
	for _, t := range p.targets {
		if t.computes() && t.fresh() {
			t.addGaps(sums)
		}
	}
	out := make(map[*workflow]diagnose.Gap, len(sums))
	for w, h := range sums {
		out[w] = gapOf(h)
	}
	return out
}

// addGaps adds the increases of the target's ITL over the present minute, which is not
// the viewer's window.
func (t *target) addGaps(sums map[*workflow]*hist.Hist) {
	if !t.exports(model.ITL) {
		return
	}
	gained := make([]float64, t.cols.width)
	if _, ok := t.ring.Delta(diagnose.NowBlocks*diagnose.Block, gained); !ok {
		return
	}
	for _, sl := range t.cols.slots {
		if sl.flow == nil || sl.key.signal != model.ITL || sl.pool != nil {
			continue
		}
		for _, sp := range sl.spans {
			h, ok := sp.increase(gained)
			if !ok || h.N() == 0 {
				continue
			}
			h.Incomplete = sl.incomplete
			if sums[sl.flow] == nil {
				sums[sl.flow] = &hist.Hist{}
			}
			merged, _ := hist.Merge(*sums[sl.flow], h)
			*sums[sl.flow] = merged
		}
	}
}

func gapOf(h *hist.Hist) diagnose.Gap {
	g := diagnose.Gap{P50: quantileOf(h, 0.5), P95: quantileOf(h, 0.95), P99: quantileOf(h, 0.99)}
	for i := len(h.Cum) - 1; i > 0; i-- {
		if h.Cum[i] > h.Cum[i-1] {
			g.Longest = model.Of(h.Bounds[i-1])
			break
		}
	}
	return g
}

// quantileOf is a quantile, or what it is at least.
func quantileOf(h *hist.Hist, q float64) model.Reading {
	e := h.Quantile(q)
	if e.Value.OK() {
		return e.Value
	}
	return e.Lo
}

// medianGap is the median over minutes of each percentile.
func medianGap(gaps []diagnose.Gap) diagnose.Gap {
	median := func(of func(*diagnose.Gap) model.Reading) model.Reading {
		var known []float64
		for i := range gaps {
			if v, ok := of(&gaps[i]).Get(); ok {
				known = append(known, v)
			}
		}
		if len(known) == 0 {
			return model.Reading{}
		}
		slices.Sort(known)
		return model.Of(known[len(known)/2])
	}
	return diagnose.Gap{
		P50:     median(func(g *diagnose.Gap) model.Reading { return g.P50 }),
		P95:     median(func(g *diagnose.Gap) model.Reading { return g.P95 }),
		P99:     median(func(g *diagnose.Gap) model.Reading { return g.P99 }),
		Longest: median(func(g *diagnose.Gap) model.Reading { return g.Longest }),
	}
}

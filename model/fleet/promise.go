package fleet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/hist"
	"slotop/model/slo"
	"slotop/model/unit"
)

// byRequests reports whether the workflow is judged by requests that were
// reported one by one: what clients felt, and exact. Once the reports stop,
// histograms take over where there are any.
func (w *workflow) byRequests(now time.Duration) bool {
	return w.events.recent(now) && (w.reporting > 0 || w.engines.read+w.edge.read == 0)
}

// ledgerOf is the past that the workflow is judged by.
func (w *workflow) ledgerOf(exact bool) *ledger {
	if exact {
		return &w.events.ledger
	}
	return &w.front().ledger
}

// promised is what the workflow is judged by: nobody misses an objective that was
// only assumed and that its servers do not measure.
func (w *workflow) promised(exported [len(slo.Counts{}.Terms)]bool) *model.WorkflowSpec {
	if !w.spec.Assumed {
		return w.spec
	}
	var can []model.Objective
	for _, o := range w.spec.Objectives {
		if exported[slices.Index(model.Metrics, o.Metric)] {
			can = append(can, o)
		}
	}
	if len(can) == len(w.spec.Objectives) || len(can) == 0 {
		return w.spec
	}
	spec := *w.spec
	spec.Objectives = can
	return &spec
}

// span is what the window's counters and histograms say of the workflow.
func (w *workflow) span(ty *tally, window, every time.Duration) slo.Span {
	s := slo.Span{}
	s.Counts, s.Ends = ends(ty)
	if rate := requestRate(ty); rate.OK() && rate.Value > 0 {
		s.ElapsedS = known(requestCount(ty).Value) / rate.Value
	}
	s.Began = w.began(ty, window, every)
	s.LateClock = ttftLeavesOut(ty, s.Began) != ""
	for i, m := range model.Metrics {
		s.Terms[i], s.Exported[i] = w.term(ty, m, s.LateClock)
	}
	s.InFlight = known(w.inFlightNow(ty))
	if p := ty.countOf(model.Preemptions); p.OK() && p.Value > 0 {
		s.InFlight += known(ty.levelOf(model.Waiting).Value) // they wait again, with tokens out
	}
	s.Preempted, s.Grown = known(ty.countOf(model.Preemptions).Value), known(ty.countOf(model.Running).Value)
	s.Flows = ty.has(model.Finished) && ty.has(model.Running) && ty.has(model.TTFT)
	s.Unaccounted = asked(ty).Unaccounted
	if h, ok := ty.of(signalIndex[model.OutputLength]); ok {
		s.Lengths = h
	}
	s.Guess = goodOf(w.front().ledger.likelyIn(window))
	return s
}

// goodOf is the share of good requests, unknown of none.
func goodOf(b slo.Bad) model.Reading {
	if b.N == 0 {
		return model.Reading{}
	}
	return model.Of(1 - b.Share())
}

// inFlightNow is how many requests the side has that may have had a first token.
func (w *workflow) inFlightNow(ty *tally) float64 {
	r := model.Requests{Running: ty.levelOf(model.Running), Waiting: ty.levelOf(model.Waiting)}
	inFlight(&r, phases(ty))
	return r.Running.Value
}

// ends counts how requests ended. Where no counter does, the histograms that are
// observed at the end of a request do.
func ends(ty *tally) (c slo.Counts, counted bool) {
	c.Started = known(ty.countOf(model.Started).Value)
	c.Failed = known(ty.countOf(model.Failed).Value)
	c.Cancelled = known(ty.countOf(model.Cancelled).Value)
	c.Truncated = known(ty.truncated.Value)
	c.Output = known(ty.countOf(model.OutputTokens).Value)
	n, ok := finished(ty)
	c.Finished = n
	return c, ok
}

func finished(ty *tally) (float64, bool) {
	if ty.has(model.Finished) {
		n := ty.countOf(model.Finished)
		return n.Value, n.OK()
	}
	for _, s := range []model.Signal{model.E2E, model.TPOT} {
		if n := ty.countIn(s); n.OK() {
			return n.Value, true
		}
	}
	return 0, false
}

func requestCount(ty *tally) model.Reading {
	for _, s := range []model.Signal{model.Finished, model.Started} {
		if ty.has(s) {
			return ty.countOf(s)
		}
	}
	return ty.countIn(model.TTFT)
}

// term is how many requests were measured against the bound on a metric, and
// whether the servers measure it so that a share can be told.
func (w *workflow) term(ty *tally, m model.Metric, lateClock bool) (slo.Term, bool) {
	s := m.Signal()
	if s == "" {
		return slo.Term{}, false
	}
	h, ok := ty.of(signalIndex[s])
	if !ok {
		return slo.Term{}, false
	}
	t := slo.Term{N: h.N(), Hi: h.N(), Sum: h.Sum.Value}
	limit := w.limitOf(s)
	if math.IsInf(limit, 1) || t.N == 0 {
		return t, true
	}
	share := w.shareAtMost(s, h, limit)
	if s == model.TTFT && lateClock {
		e2e, _ := ty.of(signalIndex[model.E2E])
		share = sureOf(share, e2e.ShareAtMost(limit))
	}
	if !share.Hi.OK() {
		return t, false
	}
	t.Lo, t.Hi = known(share.Lo.Value)*t.N, share.Hi.Value*t.N
	if share.Point.OK() {
		t.Point = model.Of(share.Point.Value * t.N)
	}
	return t, true
}

// began is the TTFT of a stretch that holds the first token of every request
// that ended within the window: it begins earlier by the longest answer. Nil
// where nobody was there to see that.
func (w *workflow) began(ty *tally, window, every time.Duration) *slo.Term {
	longest, ok := longestAnswer(ty)
	if !ok {
		return nil
	}
	s := w.front()
	whole := s.ledger.ring.Len() > 0 && !s.midway
	reach := window + longest + 2*every
	c, elapsed := s.ledger.all(reach)
	if elapsed < reach-every && !whole {
		return nil
	}
	t := *c.Term(model.MetricTTFT)
	return &t
}

// longestAnswer bounds the time from first token to end of the requests that
// ended within the window, by the last bucket that holds any.
func longestAnswer(ty *tally) (time.Duration, bool) {
	for _, s := range []model.Signal{model.Decode, model.E2E} {
		h, ok := ty.of(signalIndex[s])
		if !ok || h.N() == 0 {
			continue
		}
		i, _ := slices.BinarySearch(h.Cum, h.N())
		if i >= len(h.Bounds) {
			return 0, false
		}
		return time.Duration(h.Bounds[i] * float64(time.Second)), true
	}
	return 0, false
}

// nearestEdges are the bucket bounds on both sides of x that every replica has, both
// unknown where x is one itself.
func nearestEdges(h *hist.Hist, x float64) model.Range {
	i, exact := slices.BinarySearch(h.Bounds, x)
	if exact || len(h.Bounds) == 0 {
		return model.Range{}
	}
	var r model.Range
	if i > 0 {
		r.Lo = model.Of(h.Bounds[i-1])
	}
	if i < len(h.Bounds) {
		r.Hi = model.Of(h.Bounds[i])
	}
	return r
}

// promise fills in what was promised and what came of it.
func (w *workflow) promise(v *model.WorkflowView, s slo.Span, now time.Duration, every time.Duration) {
	spec := w.promised(s.Exported)
	v.AssumedObjectives = spec.Assumed
	v.Promised = model.Promise{Share: spec.Share, PeriodS: spec.PeriodS, Reader: spec.Reader, TruncatedBad: spec.TruncatedBad}
	v.Objectives = slo.Objectives(w.spec, s)
	g := slo.Goodput(spec, s)
	if alone := missedAlone(v.Objectives); alone != "" && g.Verdict == model.Undecided {
		g.Verdict, g.Why = model.Missed, alone
	}
	if why := w.tooSoon(v); why != "" {
		g = model.GoodputView{Basis: g.Basis, Target: g.Target, Verdict: model.Undecided, Why: model.Text(why)}
		w.undecide(v)
	}
	l := w.ledgerOf(s.Exact)
	if g.Share.Hi.OK() && !s.LateClock {
		g.Evidence = slo.Evidence(g.Share, g.N, l.recent(keptBlocks, 0), spec)
	}
	v.Goodput = &g
	v.Budget = w.budget(l, spec, s, now, every)
	v.Deadline = w.deadline(v, l, spec)
}

// missedAlone says that one bound for itself was kept by too few: of those that
// it was measured on, which need not be those that ended in the window.
func missedAlone(objectives []model.ObjectiveView) model.Text {
	for _, o := range objectives {
		if o.Verdict == model.Missed {
			return model.Text(fmt.Sprintf("%s %s was kept by %s", o.Metric.Title(), unit.Limit(o.MaxS), unit.Share(o.Share, false)))
		}
	}
	return ""
}

// tooSoon says why nothing can be told of the window, "" where it can.
func (w *workflow) tooSoon(v *model.WorkflowView) string {
	switch {
	case w.fresh == 0:
		return "nothing fresh is known"
	case v.Requests.Basis == model.SinceStart:
		return "rates need a second poll"
	default:
		return ""
	}
}

// undecide takes back the verdicts on what its servers do measure.
func (w *workflow) undecide(v *model.WorkflowView) {
	for i := range v.Objectives {
		o := &v.Objectives[i]
		if s := o.Metric.Signal(); s != "" && w.front().tally().has(s) && o.Verdict != model.NoData {
			o.Share, o.N, o.Verdict = model.Share{}, 0, model.Undecided
		}
	}
}

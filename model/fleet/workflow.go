package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/hist"
	"slotop/model/slo"
)

// workflow is a named class of requests, summed over the targets that serve it.
type workflow struct {
	name    string
	spec    *model.WorkflowSpec
	engines side
	edge    side    // gateways in front of them
	events  reports // of requests reported one by one
	targets []*target
	fresh   int

	models      map[string]bool // that its requests asked for
	carried     int             // targets that report requests of it
	reporting   int             // fresh ones of them
	tellsFlight bool            // one of them reports requests before they end
	reported    []model.ReportedView
	job         model.Instant // when the deadline's job began; zero without one
	now         model.Instant
	steady      steady
	judged      slo.Span // what the last view was judged by

	is, was began   // the condition now, and the last one that was no silence
	weight  float64 // how much it hurts within its condition

	breached bool         // by the events that were told
	turned   *model.Event // what the last view told

	history *history
	story   story
	lived   lived // what it was seen to do at which rate
}

func newWorkflow(name string, spec *model.WorkflowSpec, rank int, now, keep time.Duration) *workflow {
	return &workflow{
		name: name, spec: spec, history: newHistory(rank),
		engines: newSide(rank, now), edge: newSide(rank, now),
		events: reports{ledger: newLedger(now), heats: newHeats(rank), keep: keep},
	}
}

func (w *workflow) begin() {
	w.engines.begin()
	w.edge.begin()
	w.targets, w.fresh, w.carried, w.reporting, w.tellsFlight = w.targets[:0], 0, 0, 0, false
	w.reported = nil
}

// join adds a target's share.
func (w *workflow) join(t *target, ty *tally) {
	w.targets = append(w.targets, t)
	if t.fresh() {
		w.fresh++
	}
	w.sideOf(t).join(t, ty)
}

// carry adds a target that reports requests of the workflow.
func (w *workflow) carry(t *target) {
	w.carried++
	w.tellsFlight = w.tellsFlight || t.tellsFlight
	if t.fresh() {
		w.reporting++
	}
	if slices.Contains(w.targets, t) {
		return
	}
	w.targets = append(w.targets, t)
	if t.fresh() {
		w.fresh++
	}
}

func (w *workflow) see(at model.Instant, f *Fleet) model.WorkflowView {
	w.now = at
	for _, side := range []*side{&w.engines, &w.edge} {
		side.ledger.note(at.Mono, func(c *slo.Counts) slo.Bad { return w.guessed(side, c) })
	}
	w.events.ledger.note(at.Mono, judgedSingly)
	ty, back := w.front().tally(), w.back().tally()
	v := model.WorkflowView{
		Name:     w.name,
		Requests: asked(ty),
		Tokens: model.Tokens{
			PromptPerSecond:   ty.rateOf(model.PromptTokens),
			OutputPerSecond:   ty.rateOf(model.OutputTokens),
			CachedPromptShare: windowRatio(ty, model.CachedTokens, model.PromptTokens),
		},
		TTFT: ty.distOf(model.TTFT), TPOT: ty.distOf(model.TPOT), ITL: back.distOf(model.ITL),
		E2E: ty.distOf(model.E2E), Queue: ty.distOf(model.Queue),
		Prefill: back.distOf(model.Prefill), Decode: back.distOf(model.Decode),
		KVCacheUsage:      back.levelOf(model.KVUsage),
		PrefixCacheHit:    prefixHit(back),
		PreemptionsPerSec: back.rateOf(model.Preemptions),
		Phases:            phases(ty),
		Targets:           make([]string, 0, len(w.targets)),
		Replicas:          model.Replicas{Fresh: w.fresh, Total: len(w.targets)},
		Missing:           []model.Signal{},
		State:             w.state(),
	}
	v.Requests.Running, v.Requests.Waiting = back.levelOf(model.Running), back.levelOf(model.Waiting)
	inFlight(&v.Requests, v.Phases)
	for _, t := range w.targets {
		v.Targets = append(v.Targets, t.spec.Name)
		if w.name == model.OtherName && t.crowd.named != nil {
			v.Members += t.crowd.names - len(t.crowd.named)
		}
	}
	v.Worst = w.worst()
	v.Outside = w.outside(f)
	v.WaitNow, v.BreachIn = w.waitNow(&v), w.breachIn(&v)
	v.Missing = missing(ty, back)
	span := w.span(ty, f.span, f.every)
	v.Notes = w.notes(ty, span.Began)
	v.Reported = append([]model.ReportedView{}, w.reported...)
	w.front().counted = span
	if w.byRequests(at.Mono) {
		span = w.seeReports(&v, f)
	}
	w.judged = span
	w.promise(&v, span, at.Mono, f.every)
	w.addBounds(&v, ty)
	v.Condition = w.condition(&v)
	w.enter(v.Condition, at)
	w.turn(&v, at)
	v.Since = w.is.since
	w.weigh(&v)
	return v
}

// asked counts what was asked for, what came of it, and what nobody can
// account for. First tokens stand for starts where the server counts no starts.
func asked(ty *tally) model.Requests {
	r := model.Requests{
		Started:   ty.countOf(model.Started),
		Finished:  ty.countOf(model.Finished),
		PerSecond: requestRate(ty),
		Running:   ty.levelOf(model.Running),
		Waiting:   ty.levelOf(model.Waiting),
		Failed:    ty.outcome(model.Failed),
		Cancelled: ty.outcome(model.Cancelled),
		Throttled: model.Missing(model.Unsupported), // no counter tells it from other failures
		Retries:   ty.countOf(model.Retried),
		Basis:     ty.basis,

		OutputLimit: ty.truncated,
		FailedBy:    causes(ty.failedBy), CancelledBy: causes(ty.cancelledBy),
	}
	if !ty.has(model.Started) {
		r.Started = ty.countIn(model.TTFT)
	}
	r.Unaccounted = unaccounted(ty, r)
	return r
}

// unaccounted is started − finished − the growth of what runs: requests that
// were cancelled or lost and appear in no counter.
func unaccounted(ty *tally, r model.Requests) model.Reading {
	running := ty.countOf(model.Running)
	if !r.Started.OK() || !r.Finished.OK() || !running.OK() {
		return model.Reading{}
	}
	gone := known(r.Failed.Value) + known(r.Cancelled.Value)
	return model.Of(max(0, r.Started.Value-r.Finished.Value-gone-running.Value))
}

// windowRatio is a/b over the window. Since a server's start such a share says
// nothing about now and hides that a cache has just stopped working.
func windowRatio(ty *tally, a, b model.Signal) model.Reading {
	if ty.basis == model.SinceStart && ty.has(a) {
		return model.Reading{}
	}
	return ratio(ty.countOf(a), ty.countOf(b))
}

// prefixHit prefers cached prompt tokens over look-ups: some releases repeat a
// waiting request's look-up at every scheduling attempt.
func prefixHit(ty *tally) model.Reading {
	if ty.has(model.CachedTokens) && ty.has(model.PromptTokens) {
		return windowRatio(ty, model.CachedTokens, model.PromptTokens)
	}
	return windowRatio(ty, model.PrefixHits, model.PrefixQueries)
}

// worst is the replica that is slowest by its own p99, however few requests it
// saw: its n stands beside it. Nil for a workflow of one target.
func (w *workflow) worst() *model.WorstReplica {
	if w.back().fresh < 2 {
		return nil
	}
	for _, m := range []model.Metric{model.MetricTTFT, model.MetricE2E} {
		if r := w.worstBy(m); r != nil {
			return r
		}
	}
	return nil
}

func (w *workflow) worstBy(m model.Metric) *model.WorstReplica {
	var worst *model.WorstReplica
	most := -1.0
	for _, t := range w.targets {
		d := t.latencyOf(w, m)
		if d == nil || d.N == 0 || !d.P99.Lo.OK() {
			continue
		}
		if at := cmp.Or(d.P99.Value, d.P99.Lo).Value; at > most {
			worst, most = &model.WorstReplica{Target: t.spec.Name, Metric: m, Latency: d}, at
		}
	}
	return worst
}

// latencyOf is the target's own latency of a workflow, nil where it is not fresh.
func (t *target) latencyOf(w *workflow, m model.Metric) *model.Dist {
	ty := t.flows[w]
	switch {
	case ty == nil || w.sideOf(t) != w.back() || !t.fresh():
		return nil
	case len(t.flows) == 1 && m == model.MetricTTFT:
		return t.view.TTFT // summed up already
	default:
		return ty.distOf(m.Signal())
	}
}

// addBounds names the bucket edges on both sides of bounds that are none.
func (w *workflow) addBounds(v *model.WorkflowView, ty *tally) {
	for i := range v.Objectives {
		o := &v.Objectives[i]
		s := o.Metric.Signal()
		if s == "" || v.Goodput.Basis == model.ByRequests {
			continue
		}
		if h, ok := ty.of(signalIndex[s]); ok {
			o.Bounds = nearestEdges(h, o.MaxS)
		}
	}
}

// shareAtMost is the share of observations at or below x. Replicas whose buckets
// differ keep only the common ones when they are merged; over the window each is
// asked with all of its own.
func (w *workflow) shareAtMost(s model.Signal, merged *hist.Hist, x float64) model.Share {
	if h, _ := w.front().tally().of(signalIndex[s]); merged.Fidelity != model.Coarse || merged != h {
		return merged.ShareAtMost(x)
	}
	var each []hist.Hist
	n := 0.0
	for _, t := range w.targets {
		ty := t.flows[w]
		if ty == nil || w.sideOf(t) != w.front() || !t.fresh() || ty.basis != model.OverWindow {
			continue // it only reports requests, or has nothing to say of the window
		}
		if h, known := ty.of(signalIndex[s]); known {
			each, n = append(each, *h), n+h.N()
		}
	}
	lo, hi := hist.MergeBounds(each, x)
	return model.Share{Lo: model.Of(lo / n), Hi: model.Of(hi / n)}
}

// sureOf is the share of first tokens in time where the TTFT clock starts late:
// what it gives is the most there can be, and whoever had the whole answer in
// time is the least.
func sureOf(ttft, e2e model.Share) model.Share {
	ttft.Point = model.Reading{}
	ttft.Lo = e2e.Lo
	if lo, ok := e2e.Lo.Get(); ok {
		ttft.Lo = model.Of(min(lo, ttft.Hi.Value))
	}
	return ttft
}

// notes say what a reader of the workflow's numbers must know.
func (w *workflow) notes(ty *tally, began *slo.Term) []string {
	out := []string{}
	if w.fresh < len(w.targets) {
		out = append(out, fmt.Sprintf("totals cover %d of %d targets", w.fresh, len(w.targets)))
	}
	if ty.coarse() {
		out = append(out, "replicas or releases differ in buckets: percentiles use the common ones")
	}
	if ty.partial {
		out = append(out, "a histogram lost a bucket line: no percentile from it")
	}
	if ty.repaired {
		out = append(out, "bucket counts were not monotone and were repaired")
	}
	if ty.exported[signalIndex[model.PrefixHits]] && ty.hits == 0 && ty.looked > 0 {
		out = append(out, "prefix cache hits: the counter never moved")
	}
	if p := ty.countOf(model.Preemptions); p.OK() && p.Value > 0 && prefixHit(ty).OK() {
		out = append(out, "preemptions in the window: recomputed prompts may count as prefix hits")
	}
	if n := ttftLeavesOut(ty, began); n != "" {
		out = append(out, n)
	}
	for i := range w.reported {
		out = append(out, saysItself(&w.reported[i]))
	}
	return out
}

// ttftLeavesOut compares TTFT with what the other clocks of the same requests
// say. Some servers start the TTFT clock only when a request leaves the queue.
// After a queue has emptied those who end have waited longer than those who get
// their first token; began holds the first tokens of both.
func ttftLeavesOut(ty *tally, began *slo.Term) string {
	ttft, e2e, decode := ty.meanOf(model.TTFT), ty.meanOf(model.E2E), ty.meanOf(model.Decode)
	finished, _ := ty.of(signalIndex[model.E2E])
	if math.IsNaN(ttft+e2e+decode) || finished.N() < slo.Few {
		return ""
	}
	rest := e2e - decode
	if rest < 2*ttft || rest-ttft < 0.1 || began != nil && rest*finished.N() < 1.2*began.Sum {
		return ""
	}
	return fmt.Sprintf("TTFT here leaves out waiting: mean %.2f s, but E2E − decode is %.2f s", ttft, rest)
}

func (t *tally) meanOf(s model.Signal) float64 {
	h, known := t.of(signalIndex[s])
	if !known {
		return math.NaN()
	}
	v, ok := h.Mean().Get()
	if !ok {
		return math.NaN()
	}
	return v
}

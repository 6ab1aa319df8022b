package fleet

import (
	"slices"
	"time"

	"slotop/model"
	"slotop/model/slo"
)

// seeReports fills a view with what requests reported one by one say: they are
// what clients felt. What only an engine knows stays as it is.
func (w *workflow) seeReports(v *model.WorkflowView, f *Fleet) slo.Span {
	v.Missing = slices.DeleteFunc(v.Missing, func(s model.Signal) bool { return fromReports[s] })
	if w.reporting == 0 {
		return w.seeSilence(v)
	}
	sum, from := w.events.over(f.span, w.now.Mono)
	elapsed := w.now.Mono - max(from, f.started.Mono)
	w.countReports(v, sum, elapsed)
	v.TTFT = sum.dist(model.MetricTTFT)
	if sum.answers > 0 || w.bounds(model.MetricFirstAnswer) {
		v.FirstAnswer = sum.dist(model.MetricFirstAnswer) // who says nothing has no reasoning before it
	}
	v.TPOT, v.E2E = sum.dist(model.MetricTPOT), sum.dist(model.MetricE2E)
	v.Queue = sum.dist(model.MetricQueue)
	v.Load = sum.load.see()
	if v.Load != nil {
		v.Response = sum.response.Dist(model.FromEvents)
	}
	if w.tellsFlight {
		phases := w.events.flight.Complete()
		v.Phases = &phases
	}
	span := exactly(sum.counts)
	span.Untold = sum.untold > 0
	span.ElapsedS = elapsed.Seconds()
	return span
}

// exactly is a span of requests that were judged one by one.
func exactly(c slo.Counts) slo.Span {
	span := slo.Span{Counts: c, Exact: true, Ends: true}
	for i := range span.Exported {
		span.Exported[i] = true
	}
	return span
}

// seeSilence is for when nobody who reported answers any more: what was in flight
// may have ended since, and what ended since was told to nobody.
func (w *workflow) seeSilence(v *model.WorkflowView) slo.Span {
	old := model.Missing(model.Stale)
	v.Requests = model.Requests{
		Started: old, Finished: old, Failed: old, Cancelled: old, OutputLimit: old, Retries: old, Unaccounted: old,
		PerSecond: old, Running: old, Waiting: old, Basis: model.FromEvents,
	}
	v.Tokens.OutputPerSecond = old
	v.Phases = &model.Phases{Unknown: w.events.flight.Unknown}
	return exactly(slo.Counts{})
}

// bounds reports whether a metric was promised anything.
func (w *workflow) bounds(m model.Metric) bool {
	return slices.ContainsFunc(w.spec.Objectives, func(o model.Objective) bool { return o.Metric == m })
}

// fromReports are the signals that reports of requests stand in for.
var fromReports = map[model.Signal]bool{
	model.TTFT: true, model.TPOT: true, model.E2E: true, model.Queue: true, model.Finished: true, model.Failed: true,
	model.Cancelled: true, model.Started: true, model.OutputTokens: true, model.Retried: true,
}

func (w *workflow) countReports(v *model.WorkflowView, sum *reported, elapsed time.Duration) {
	c, flight := &sum.counts, w.events.flight
	v.Requests = model.Requests{
		Started: model.Of(c.Started + w.events.came), Finished: model.Of(c.Finished), Failed: model.Of(c.Failed),
		Cancelled: model.Of(c.Cancelled), OutputLimit: model.Of(c.Truncated), Throttled: model.Of(c.Throttled), Retries: model.Of(sum.retries),
		PerSecond: perSecond(c.Finished, elapsed), Basis: model.FromEvents,
		FailedBy: causes(sum.failedBy), CancelledBy: causes(sum.cancelledBy),
		Running: v.Requests.Running, Waiting: v.Requests.Waiting,
	}
	if w.tellsFlight {
		v.Requests.Running = orZero(v.Requests.Running, flight.Running())
		v.Requests.Waiting = orZero(v.Requests.Waiting, model.Of(flight.Queued.Value))
	}
	if !v.Tokens.OutputPerSecond.OK() && sum.output.N > 0 {
		v.Tokens.OutputPerSecond = perSecond(sum.output.Sum, elapsed)
	}
	if !v.Tokens.PromptPerSecond.OK() && sum.prompts.n > 0 {
		v.Tokens.PromptPerSecond = perSecond(sum.prompts.tokens, elapsed)
	}
	if !v.Tokens.CachedPromptShare.OK() && sum.prompts.ofCached > 0 {
		v.Tokens.CachedPromptShare = model.Of(sum.prompts.cached / sum.prompts.ofCached)
	}
	known := sum.output
	v.Tokens.Output = &known
}

func perSecond(n float64, elapsed time.Duration) model.Reading {
	if elapsed <= 0 {
		return model.Reading{}
	}
	return model.Of(n / elapsed.Seconds())
}

// orZero is the engine's own figure, or what the reports count.
func orZero(engine, reports model.Reading) model.Reading {
	if engine.OK() {
		return engine
	}
	return reports
}

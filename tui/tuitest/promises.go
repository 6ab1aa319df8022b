package tuitest

import (
	"time"

	"slotop/model"
)

// exactly is a share known exactly.
func exactly(v float64) model.Share { return between(v, v) }

// between is a share known to lie between two others.
func between(lo, hi float64) model.Share {
	return model.Share{Lo: model.Of(lo), Hi: model.Of(hi), Point: model.Of((lo + hi) / 2)}
}

// promise gives a workflow what its objectives imply: a goodput in an interval
// over the requests that finished, and a budget.
func promise(w *model.WorkflowView, share model.Share, v model.Verdict, burn, left float64) {
	n := w.Requests.Finished.Value
	perSecond := w.Requests.PerSecond.Value
	w.Promised = model.Promise{Share: 0.95, PeriodS: 24 * 3600}
	w.Goodput = &model.GoodputView{
		Share: share, Basis: model.ByHistograms, N: n, Target: model.Of(0.95), Verdict: v,
		PerSecond:       model.Range{Lo: model.Of(perSecond * share.Lo.Value), Hi: model.Of(perSecond * share.Hi.Value)},
		OutputPerSecond: model.Range{Lo: model.Of(perSecond * 210 * share.Lo.Value), Hi: model.Of(perSecond * 210 * share.Hi.Value)},
		Of:              model.Denominator{Judged: n, Finished: model.Of(n), Unaccounted: w.Requests.Unaccounted},
	}
	w.Budget = budget(burn, left)
	for i := range w.Objectives {
		o := &w.Objectives[i]
		if d := map[model.Metric]*model.Dist{model.MetricTTFT: w.TTFT, model.MetricTPOT: w.TPOT, model.MetricE2E: w.E2E}[o.Metric]; d != nil {
			o.N = d.N
		}
	}
}

// budget is a day's, seen for six hours.
func budget(burn, left float64) *model.BudgetView {
	b := &model.BudgetView{
		Burn:      model.Burn{M2: model.Of(burn), M5: model.Of(burn), M30: model.Of(burn * 0.4)},
		Remaining: model.Of(left), PeriodS: 24 * 3600, ObservedS: 6 * 3600,
		Allowed: model.Of(8740), Bad: model.Of(8740 * (1 - left)),
	}
	if burn > 0 && left > 0 {
		b.ExhaustedIn = model.Of(left * 24 * 3600 / burn)
	}
	return b
}

// unjudged takes away what cannot be known of a workflow's promise.
func unjudged(w *model.WorkflowView, v model.Verdict, why string) {
	w.Goodput = &model.GoodputView{Basis: model.ByHistograms, Target: model.Of(0.95), Verdict: v, Why: model.Text(why)}
	w.Budget = &model.BudgetView{PeriodS: 24 * 3600, ObservedS: 6 * 3600}
}

// total is the goodput of all workflows.
func total(f *model.Frame, share model.Share, v model.Verdict) {
	n := 0.0
	for i := range f.Workflows {
		if g := f.Workflows[i].Goodput; g != nil {
			n += g.N
		}
	}
	f.Goodput = &model.GoodputView{Share: share, Basis: model.ByHistograms, N: n, Verdict: v}
}

// alert is one that began and fired so long ago.
func alert(id, rule, workflow string, s model.Severity, state model.AlertState, since, fired time.Duration, text string) model.AlertView {
	a := model.AlertView{
		ID: model.AlertID(id), Rule: rule, Workflow: model.Text(workflow), Severity: s, State: state,
		Since: ago(since), LastAt: ago(0), Text: text,
	}
	if fired > 0 {
		a.FiredAt, a.Times = ago(fired), 1
	}
	return a
}

// valued adds the rule's number.
func valued(a model.AlertView, now, peak, limit float64) model.AlertView {
	a.Value, a.Peak, a.Limit = model.Of(now), model.Of(peak), model.Of(limit)
	return a
}

// entered is a line of the log.
func entered(a model.AlertView, state model.AlertState, before time.Duration) model.AlertEvent {
	return model.AlertEvent{
		At: ago(before), ID: a.ID, Rule: a.Rule, Severity: a.Severity, Workflow: a.Workflow, Target: a.Target,
		State: state, Text: a.Text, Times: 1,
	}
}

package fleet

import (
	"slices"

	"slotop/model"
	"slotop/model/slo"
)

// began is a condition with its beginning.
type began struct {
	model.Condition
	since model.Instant
}

// enter notes the condition. Silence resolves nothing: what was so before it, and
// is so after it, has been so all along.
func (w *workflow) enter(c model.Condition, at model.Instant) {
	if c == w.is.Condition {
		return
	}
	if !silent(w.is.Condition) {
		w.was = w.is
	}
	w.is = began{c, at}
	if c == w.was.Condition {
		w.is = w.was
	}
}

func silent(c model.Condition) bool {
	return c == model.IsDown || c == model.IsStale || c == model.IsStarting
}

// state is the worst a user of the workflow meets: with one replica of several
// down it is still served.
func (w *workflow) state() model.State {
	var worstFresh, worst model.State
	worstFresh, worst = model.Idle, ""
	for i, t := range w.targets {
		if i == 0 || t.state.Rank() > worst.Rank() {
			worst = t.state
		}
		if t.fresh() && t.state.Rank() > worstFresh.Rank() {
			worstFresh = t.state
		}
	}
	if w.fresh == 0 {
		return worst
	}
	return worstFresh
}

// condition folds what is known of a workflow into one word.
func (w *workflow) condition(v *model.WorkflowView) model.Condition {
	if w.fresh == 0 {
		return silence[v.State]
	}
	worst := w.verdict(v)
	switch {
	case v.State == model.Stalled:
		return model.IsStalled
	case v.Requests.Basis == model.SinceStart && worst != model.IsBlind:
		return model.IsStarting
	case worst == model.IsMissed:
		return worst
	case w.fresh < len(w.targets):
		return model.IsPartial
	case worst == model.IsQuiet && busy(v):
		return model.IsUndecided // requests run, none came to its end yet
	case worst == model.IsMet && w.atRisk(v):
		return model.IsAtRisk
	default:
		return worst
	}
}

// settled is how far a weight must move before the row may change its place:
// rows that jump cannot be read.
const settled = 1.5

// weigh says how much a workflow hurts beside others in the same condition: by
// the requests a second that miss an objective, or, where all is well, by how
// near it is to missing one.
func (w *workflow) weigh(v *model.WorkflowView) {
	now := 0.0
	if v.Condition != model.IsMet && v.Goodput.Share.Hi.OK() {
		now = v.Requests.PerSecond.Value * (1 - v.Goodput.Share.Hi.Value)
	}
	for _, o := range v.Objectives {
		if v.Condition == model.IsMet {
			now = max(now, nearness(v, o))
		} else if o.Share.Hi.OK() {
			now = max(now, v.Requests.PerSecond.Value*(1-o.Share.Hi.Value))
		}
	}
	if now > w.weight*settled || now < w.weight/settled {
		w.weight = now
	}
}

// nearness is p95 over the bound.
func nearness(v *model.WorkflowView, o model.ObjectiveView) float64 {
	d := v.Latency(o.Metric)
	if d == nil {
		return 0
	}
	if d.P95.Open {
		return d.P95.Lo.Value / o.MaxS
	}
	return d.P95.Value.Value / o.MaxS
}

// atRisk: the promise is kept, and either its budget has been going too fast for
// minutes and still does, or those who arrive now will wait for too long.
func (w *workflow) atRisk(v *model.WorkflowView) bool {
	if b := v.Budget; b != nil && b.Burn.M2.Value > 1 && b.Burn.M5.Value > 1 && b.Burn.M30.Value > 1 && v.Goodput.N >= slo.Few {
		return true
	}
	return v.WaitNow.OK() && v.WaitNow.Value > w.limitOf(model.TTFT)
}

// verdict is the goodput's word. Where that cannot be computed a missed objective
// speaks for itself, and assumed ones for as much as can be told.
func (w *workflow) verdict(v *model.WorkflowView) model.Condition {
	if v.Goodput.Verdict != model.CannotCompute {
		return verdictCondition[v.Goodput.Verdict]
	}
	worst := verdicts(v.Objectives)
	if worst == model.IsMissed || v.AssumedObjectives {
		return worst
	}
	return model.IsBlind
}

var verdictCondition = map[model.Verdict]model.Condition{
	model.Met: model.IsMet, model.Missed: model.IsMissed, model.Undecided: model.IsUndecided, model.NoData: model.IsQuiet,
}

// silence is the condition of a workflow none of whose targets is fresh.
var silence = map[model.State]model.Condition{
	model.Down: model.IsDown, model.StaleAt: model.IsStale, "": model.IsStarting,
}

// verdicts is the objectives' common word: a missed one decides, then an
// undecided one, then a met one. What cannot be computed speaks last.
func verdicts(objectives []model.ObjectiveView) model.Condition {
	for _, v := range []model.Verdict{model.Missed, model.Undecided, model.Met, model.NoData} {
		if slices.ContainsFunc(objectives, func(o model.ObjectiveView) bool { return o.Verdict == v }) {
			return verdictCondition[v]
		}
	}
	return model.IsBlind
}

// busy reports whether the workflow is serving anybody.
func busy(v *model.WorkflowView) bool {
	return v.Requests.Running.Value > 0 || v.Requests.Waiting.Value > 0 || v.Tokens.OutputPerSecond.Value > 0
}

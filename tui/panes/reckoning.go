package panes

import (
	"fmt"
	"math"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// This file writes a number's formula with its own figures, as far as the frame holds
// them: "" where it does not.

func reckoning(o owner, v value, topic string) string {
	head, suffix, _ := strings.Cut(topic, ".")
	switch {
	case v.e.Exists() && v.dist != nil:
		return rankText(v, suffix)
	case suffix == "share" && v.bound != nil:
		return metFigures(*v.bound)
	case head == "goodput" && v.good != nil && suffix == "":
		return goodputFigures(o, v.good)
	case suffix == "rate" && v.good != nil:
		return fmt.Sprintf("%s to %s of %s requests over %s", unit.Exact(v.good.Least.Good), unit.Exact(v.good.Most.Good), samples(v.good.N), spanText(o.f))
	case o.c != nil:
		return poolFigures(o.c, topic)
	case o.u != nil:
		return useFigures(o.u, basisOf(o), topic)
	case o.w != nil && o.sw == nil:
		return workflowFigures(o, topic)
	default:
		return ""
	}
}

func spanText(f *model.Frame) string { return unit.Limit(f.CoveredS.Value) }

// rankText is which observation of how many a percentile is.
func rankText(v value, suffix string) string {
	q := map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99}[suffix]
	if q == 0 {
		q = 0.95
	}
	n := v.dist.N
	text := fmt.Sprintf("rank %s · %s = %s of the observations in order", unit.Number(q), unit.Exact(n), unit.Exact(q*n))
	if m, ok := meanOf(v.dist).Get(); ok {
		text += "; their mean is " + unit.Precise(m)
	}
	return text
}

func metFigures(b model.ObjectiveView) string {
	if !b.Share.Lo.OK() || b.N <= 0 {
		return ""
	}
	lo, hi := unit.Exact(b.Share.Lo.Value*b.N), unit.Exact(b.Share.Hi.Value*b.N)
	if lo == hi {
		return lo + " of " + samples(b.N) + " within " + unit.Limit(b.MaxS)
	}
	return "between " + lo + " and " + hi + " of " + samples(b.N) + " within " + unit.Limit(b.MaxS)
}

// goodputFigures is the bounds with the shares that were put into them.
func goodputFigures(o owner, g *model.GoodputView) string {
	if g.Basis == model.ByRequests || o.w == nil {
		if g.Least.Of <= 0 {
			return ""
		}
		return unit.Exact(g.Least.Good) + " good of " + unit.Exact(g.Least.Of)
	}
	var lows, highs []string
	lo, hi := 1.0, 1.0
	for _, b := range o.w.Objectives {
		if !b.Share.Lo.OK() || !b.Share.Hi.OK() {
			return ""
		}
		lows, highs = append(lows, unit.Ratio(b.Share.Lo.Value)), append(highs, unit.Ratio(b.Share.Hi.Value))
		lo, hi = lo+b.Share.Lo.Value-1, min(hi, b.Share.Hi.Value)
	}
	if len(lows) == 0 {
		return ""
	}
	well := (g.N - g.Of.Failed) / g.N
	if !near(g.Share.Lo, max(0, lo)*well) || !near(g.Share.Hi, hi*well) {
		return ofOthers(o.w, g)
	}
	text := fmt.Sprintf("of those that ended well: max(0, %s − %d %%) to min(%s)", strings.Join(lows, " + "), 100*(len(lows)-1), strings.Join(highs, ", "))
	if g.Of.Failed > 0 {
		text += "; " + samples(g.Of.Failed) + " failed ones are bad"
	}
	return text
}

// near reports whether a share is what a formula gives, as far as it is shown.
func near(r model.Reading, v float64) bool { return r.OK() && math.Abs(r.Value-v) < 0.005 }

// ofOthers is the goodput where the bounds were not measured of the requests that are
// judged: TTFT is told at a request's first token, TPOT at its end, and of those that were
// cancelled nobody says whether they had either.
func ofOthers(w *model.WorkflowView, g *model.GoodputView) string {
	if g.Least.Of <= 0 || g.Most.Of <= 0 {
		return ""
	}
	text := fmt.Sprintf("at least %s good of %s, at most %s of %s", unit.Count(g.Least.Good), samples(g.Least.Of), unit.Count(g.Most.Good), samples(g.Most.Of))
	var of []string
	for _, b := range w.Objectives {
		of = append(of, b.Metric.Title()+" "+samples(b.N))
	}
	text += ": the bounds were measured of other requests than those that ended, " + strings.Join(of, ", ")
	if n, ok := g.Of.Cancelled.Get(); ok && n > 0 {
		text += "; of " + samples(n) + " cancelled ones not all is known"
	}
	return text
}

// workflowFigures are those of rates, burn, budget and the wait.
func workflowFigures(o owner, topic string) string {
	w, f := o.w, o.f
	switch topic {
	case "requests_per_second":
		if n, ok := w.Requests.Finished.Get(); ok && f.CoveredS.OK() {
			return samples(n) + " finished over " + spanText(f)
		}
	case "wait_now":
		if n, ok := w.Requests.Waiting.Get(); ok && w.WaitNow.OK() && w.WaitNow.Value > 0 {
			return samples(n) + " waiting / " + unit.Rate(n/w.WaitNow.Value) + " first tokens a second"
		}
	case "outside":
		if v := w.Outside; v != nil && v.Mean.OK() {
			return unit.Precise(meanOf(v.Gateway).Value) + " at the gateway − " + unit.Precise(meanOf(v.Engine).Value) + " at the engine"
		}
	case "requests.unaccounted":
		r := w.Requests
		if r.Started.OK() && r.Finished.OK() {
			return fmt.Sprintf("%s started, %s finished, %s failed, %s cancelled", samples(r.Started.Value), samples(r.Finished.Value), samples(r.Failed.Value), samples(r.Cancelled.Value))
		}
	default:
		return budgetFigures(w, topic)
	}
	return ""
}

func budgetFigures(w *model.WorkflowView, topic string) string {
	b := w.Budget
	if b == nil || w.Goodput == nil || !w.Goodput.Target.OK() {
		return ""
	}
	allowed := 1 - w.Goodput.Target.Value
	burns := map[string]model.Reading{"burn": b.Burn.M5, "burn.2m": b.Burn.M2, "burn.5m": b.Burn.M5, "burn.30m": b.Burn.M30}
	if r, ok := burns[topic]; ok && r.OK() {
		return fmt.Sprintf("%s bad / %s allowed; the most possible is %s", unit.Ratio(r.Value*allowed), unit.Ratio(allowed), unit.Number(1/allowed))
	}
	if topic == "budget" && b.Bad.OK() && b.Allowed.OK() {
		return fmt.Sprintf("1 − %s bad / %s allowed, seen over %s of %s", unit.Exact(b.Bad.Value), unit.Exact(b.Allowed.Value), unit.Period(b.ObservedS), unit.Period(b.PeriodS))
	}
	if topic == "budget.exhausted_in" && outlasts(b) {
		return fmt.Sprintf("at a burn of %s over 5 min it outlasts %s, and what is older than that leaves the period", unit.Number(b.Burn.M5.Value), unit.Period(b.PeriodS))
	}
	return ""
}

// poolFigures are those of the load and what follows from it.
func poolFigures(c *model.CapacityView, topic string) string {
	load, loaded := c.Load.Get()
	switch topic {
	case "load":
		if loaded && c.Rate.OK() && c.PerCall.OK() {
			return fmt.Sprintf("%s /s · %s / %d ready", unit.Rate(c.Rate.Value), unit.Precise(c.PerCall.Value), c.Replicas.Ready)
		}
	case "headroom":
		if loaded {
			return unit.Number(model.PlanningLimit) + " / " + unit.Load(load) + " − 1"
		}
	case "max_requests_per_second":
		if c.PerCall.OK() {
			return fmt.Sprintf("%d ready / %s", c.Replicas.Ready, unit.Precise(c.PerCall.Value))
		}
	case "replicas.needed":
		if c.Rate.OK() && c.PerCall.OK() {
			return fmt.Sprintf("%s /s · %s / %s", unit.Rate(c.Rate.Value), unit.Precise(c.PerCall.Value), unit.Number(model.PlanningLimit))
		}
	case "energy.wh_per_million":
		if c.Energy != nil && c.Energy.TokensPerJoule.OK() {
			return "1,000,000 / (3600 · " + unit.Exact(c.Energy.TokensPerJoule.Value) + ")"
		}
	}
	return ""
}

// useFigures are those of the roofline and of a step.
func useFigures(u *model.UtilizationView, by model.UtilizationBasis, topic string) string {
	m := measureBy(u, by)
	switch {
	case topic == "ridge" && u.PeakFLOPs.OK() && u.PeakBytes.OK():
		return unit.FLOPs(u.PeakFLOPs.Value) + " / " + unit.Bandwidth(u.PeakBytes.Value)
	case (topic == "mfu" || topic == "compute") && m.FLOPs.OK() && u.PeakFLOPs.OK() && u.GPUs.OK():
		return unit.FLOPs(m.FLOPs.Value) + " / (" + unit.Number(u.GPUs.Value) + " · " + unit.FLOPs(u.PeakFLOPs.Value) + ")"
	case (topic == "mbu" || topic == "bandwidth") && m.Bytes.OK() && u.PeakBytes.OK() && u.GPUs.OK():
		return unit.Bandwidth(m.Bytes.Value) + " / (" + unit.Number(u.GPUs.Value) + " · " + unit.Bandwidth(u.PeakBytes.Value) + ")"
	case u.Step == nil || !u.Step.Seconds.OK():
		return ""
	case topic == "step.residual" && u.Step.Residual.OK() && u.Step.Residual.Value > 0:
		return unit.Precise(u.Step.Seconds.Value) + " / " + unit.Precise(u.Step.Seconds.Value/u.Step.Residual.Value) + " explained"
	case topic == "step":
		var parts []string
		for _, p := range stepParts {
			if v, ok := p.of(u.Step).Get(); ok {
				parts = append(parts, p.name+" "+unit.Precise(v))
			}
		}
		return strings.Join(parts, " + ")
	}
	return ""
}

// measureBy is what was measured by a basis, nothing where it gives none.
func measureBy(u *model.UtilizationView, by model.UtilizationBasis) model.MeasureView {
	for _, m := range u.Measures {
		if m.Basis == by {
			return m
		}
	}
	return model.MeasureView{}
}

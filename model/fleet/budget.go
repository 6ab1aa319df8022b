package fleet

import (
	"slices"
	"time"

	"slotop/model"
	"slotop/model/slo"
)

// The windows whose burn is shown.
const (
	burnFast = 2 * time.Minute
	burnMain = 5 * time.Minute
	burnSlow = 30 * time.Minute
)

// budgetParts is how many parts a budget's period is remembered in: what is
// older than a period leaves it a part at a time.
const budgetParts = 96

// account is what a workflow's error budget was spent on, in parts of its
// period.
type account struct {
	began time.Duration // of the first part
	ends  time.Duration // of the present part
	from  slo.Bad       // what the ledger had counted when that began
	parts []slo.Bad     // complete ones, oldest first
}

// spent is the requests and the bad ones of the period so far.
func (a *account) spent(l *ledger, periodS float64, now time.Duration) slo.Bad {
	part := seconds(periodS) / budgetParts
	if a.ends == 0 {
		a.ends = a.began + part
	}
	present := l.likely.Less(a.from)
	if now-a.ends > budgetParts*part { // time jumped: nothing before is of this period
		a.parts, a.from, a.began, a.ends = nil, l.likely, now, now+part
		present = slo.Bad{}
	}
	for ; now >= a.ends; a.ends += part {
		a.parts = append(a.parts, present)
		a.from, present = l.likely, slo.Bad{}
		if len(a.parts) > budgetParts {
			a.parts = a.parts[1:]
			a.began += part
		}
	}
	for _, p := range a.parts {
		present = present.Plus(p)
	}
	return present
}

// stretch is a span of other counts, of servers that measure the same.
func stretch(c slo.Counts, elapsed time.Duration, like slo.Span) slo.Span {
	return slo.Span{Counts: c, ElapsedS: elapsed.Seconds(), Exact: like.Exact, Exported: like.Exported, Ends: like.Ends, Flows: like.Flows, InFlight: like.InFlight}
}

// budget is the workflow's error budget, nil where its goodput cannot be computed,
// or where a TTFT clock that starts late leaves open how much of it there is.
func (w *workflow) budget(l *ledger, spec *model.WorkflowSpec, s slo.Span, now, every time.Duration) *model.BudgetView {
	if !s.Ends || spec.DeadlineS > 0 || s.LateClock && boundsTTFT(spec) {
		return nil
	}
	spent := l.account.spent(l, spec.PeriodS, now)
	rate := func(window time.Duration) model.Reading {
		likely := likelyNow(l, s.Exact, max(window, 2*every))
		if likely.N == 0 {
			return model.Missing(model.NoTraffic)
		}
		return model.Of(slo.Burn(likely.Share(), spec.Share))
	}
	b := slo.Budget{Target: spec.Share, PeriodS: spec.PeriodS, N: spent.N, Bad: spent.Bad}
	v := &model.BudgetView{
		Burn:      model.Burn{M2: rate(burnFast), M5: rate(burnMain), M30: rate(burnSlow)},
		Remaining: b.Remaining(), PeriodS: spec.PeriodS, ObservedS: (now - l.account.began).Seconds(),
		Allowed: model.Of(b.Allowed()), Bad: model.Of(spent.Bad),
	}
	v.ExhaustedIn = b.ExhaustedIn(v.Burn.M5)
	if likely := likelyNow(l, s.Exact, burnMain); likely.N < slo.Few {
		v.Text = model.Text(likely.In(burnMain))
	}
	return v
}

// likelyNow is what was likely bad over the newest stretch of about w. Reports that
// came late are of another time.
func likelyNow(l *ledger, exact bool, w time.Duration) slo.Bad {
	if !exact {
		return l.likelyIn(w)
	}
	c, _ := l.since(w)
	return judgedSingly(&c)
}

func boundsTTFT(spec *model.WorkflowSpec) bool {
	return slices.ContainsFunc(spec.Objectives, func(o model.Objective) bool { return o.Metric == model.MetricTTFT })
}

// guessed judges a stretch of a side's ledger by what its servers measured when
// they were judged last. Of requests that nobody can judge nothing is guessed.
func (w *workflow) guessed(by *side, c *slo.Counts) slo.Bad {
	like := by.counted
	spec := w.promised(like.Exported)
	if like.LateClock && boundsTTFT(spec) {
		return slo.Bad{}
	}
	_, likely := slo.BadOf(spec, stretch(*c, 0, like))
	return likely
}

// judgedSingly counts the bad of requests that were reported one by one.
func judgedSingly(c *slo.Counts) slo.Bad { return slo.Bad{N: c.Good + c.Bad, Bad: c.Bad} }

// surelyBad is what was bad over the newest stretch whatever the histograms leave
// open, and how long that stretch was.
func (w *workflow) surelyBad(l *ledger, spec *model.WorkflowSpec, s slo.Span, window time.Duration) (slo.Bad, time.Duration) {
	c, elapsed := l.since(window)
	surely, _ := slo.BadOf(spec, stretch(c, elapsed, s))
	return surely, elapsed
}

// deadline is the job of a workflow that must be done by a time: it begins with
// the first request after there was none, and ends when there is none again.
func (w *workflow) deadline(v *model.WorkflowView, l *ledger, spec *model.WorkflowSpec) *model.DeadlineView {
	if spec.DeadlineS == 0 {
		return nil
	}
	left := v.Requests.Running.Plus(v.Requests.Waiting)
	if left.Value == 0 && v.Phases != nil && v.Phases.Unknown.Value > 0 {
		left = model.Reading{} // they may be running or done: silence ends no job
	}
	switch {
	case left.OK() && left.Value == 0:
		w.job = model.Instant{}
	case left.OK() && w.job.IsZero():
		w.job = w.now
	}
	d := &model.DeadlineView{Began: w.job, DeadlineS: spec.DeadlineS, Remaining: left, PerSecond: v.Requests.PerSecond, Verdict: model.NoData}
	if w.job.IsZero() {
		return d
	}
	gone := w.now.Sub(w.job)
	d.LeftS = model.Of(spec.DeadlineS - gone.Seconds())
	d.PerSecond = pace(l, gone, d.LeftS.Value <= 0)
	d.NeedsS, d.Verdict = slo.Deadline(left, d.PerSecond, d.LeftS)
	return d
}

// pace is how many requests of a job end a second: of all of it so far, or of its
// last half hour. A job of long requests has none to show at its beginning, which
// tells nothing until it is over.
func pace(l *ledger, gone time.Duration, over bool) model.Reading {
	c, elapsed := l.all(min(gone, burnSlow))
	n := max(c.Finished, endsIn(&c))
	if elapsed <= 0 || n == 0 && gone < burnSlow && !over {
		return model.Reading{}
	}
	return model.Of(n / elapsed.Seconds())
}

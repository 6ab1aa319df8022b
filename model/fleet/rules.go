package fleet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/alert"
	"slotop/model/slo"
	"slotop/model/unit"
)

// The rules that always watch, beside those on GPUs (devices_rules). Only broken
// promises and what has stopped serving page; what explains them is a note.
var (
	burnRule      = alert.Rule{Name: "slo-burn", Severity: model.Page, Hold: keepFiring}
	slowBurnRule  = alert.Rule{Name: "slo-burn-slow", Severity: model.Warn, Hold: keepFiring}
	stalledRule   = alert.Rule{Name: "stalled", Severity: model.Page}
	downRule      = alert.Rule{Name: "down", Severity: model.Warn}
	restartRule   = alert.Rule{Name: "restart", Severity: model.Note}
	fullRule      = alert.Rule{Name: "kv-full", Severity: model.Note, For: 10 * time.Second, Hold: 30 * time.Second}
	waitRule      = alert.Rule{Name: "predicted-breach", Severity: model.Warn, For: 30 * time.Second, Hold: 30 * time.Second}
	throttledRule = alert.Rule{Name: "throttled", Severity: model.Warn, Hold: keepFiring}
	lateRule      = alert.Rule{Name: "deadline", Severity: model.Page, For: time.Minute, Hold: time.Minute}
	changedRule   = alert.Rule{Name: "latency-changed", Severity: model.Warn, For: blockSpan, Hold: keepFiring}
)

// The rules' thresholds that are not promises.
const (
	keepFiring    = time.Minute // the windows are the debounce, this keeps it from flapping
	restartShown  = 2 * time.Minute
	fullCache     = 0.97 // of the KV cache, with preemptions
	fullPreempts  = 0.05 // a second
	throttledFrom = 0.05 // of the requests in five minutes
	fewThrottled  = 5
	waitWindow    = 30 * time.Second
	idleAfter     = 30 * time.Second
	fewWaiting    = 5 // below it a queue that grows is chance
)

// builtIn are the rules on each workflow and on each target.
var builtIn = []alert.Rule{
	burnRule, slowBurnRule, stalledRule, downRule, restartRule, fullRule, waitRule, throttledRule, lateRule, changedRule,
	gpuLostRule, gpuSilentRule,
}

// judge evaluates every rule and hangs the alerts on the frame.
func (f *Fleet) judge(fr *model.Frame) {
	fr.Unjudged = []model.Unjudged{}
	f.judgeTargets(fr)
	f.judgeDevices(fr)
	for i := range fr.Workflows {
		v := &fr.Workflows[i]
		f.judgeWorkflow(fr, f.flows[v.Name], v)
	}
	f.judgeRules(fr)
	f.book.Settle(fr.At)
	fr.Alerts, fr.AlertLog, fr.LogDropped = f.book.Alerts(fr.At), f.book.Log(), f.book.Forgotten()
	if n := f.book.Dropped(); n > 0 {
		fr.Unjudged = append(fr.Unjudged, model.Unjudged{Rule: "alerts", Why: fmt.Sprintf("there was no room for %d more", n)})
	}
	f.units(fr.Alerts)
	fr.Rules = len(builtIn) + len(f.policy.Rules)
}

// observe passes on what can be told. What a rule never had a number for is no
// alert; one that fires already goes on, because nobody said that it was over.
func (f *Fleet) observe(o alert.Observation, at model.Instant) {
	if o.Truth == alert.CannotTell && !o.Compare && o.Text == "" && o.Cause == "" {
		return
	}
	f.book.Observe(o, at)
}

// judgeTargets looks at what is polled. That all targets of the fleet are gone is
// an outage; that one of several is, a loss of sight.
func (f *Fleet) judgeTargets(fr *model.Frame) {
	var down []alert.Observation
	for i, t := range f.targets {
		if t.kind() != model.GPUTarget {
			down = append(down, f.downOf(t, &fr.Targets[i], fr.At))
		}
	}
	for _, o := range f.book.Group(down, outage, fr.At) {
		f.observe(o, fr.At)
	}
	for i, t := range f.targets {
		v := &fr.Targets[i]
		if !t.works() {
			continue
		}
		if !t.fresh() {
			f.observe(alert.Observation{Rule: stalledRule, Target: v.Name, Cause: t.silencedBy()}, fr.At)
			continue
		}
		for _, o := range []alert.Observation{f.stalledOf(t, v, fr.At), f.restartOf(v, fr.At), f.fullOf(v)} {
			o.Target = v.Name
			f.observe(o, fr.At)
		}
	}
}

// works reports whether a target may have work: what was never asked may turn out to
// be anything, and neither GPUs nor what finds other targets serve requests.
func (t *target) works() bool {
	return t.state != "" && t.kind() != model.GPUTarget && t.kind() != model.FinderTarget
}

// outage says what a group of silent targets has in common.
func outage(c alert.Crowd) string {
	if c.Back {
		return fmt.Sprintf("%d back after %s", c.Most, unit.Duration(c.Lasted.Seconds()))
	}
	return fmt.Sprintf("%d of %d targets down", c.Now, c.Of)
}

func (f *Fleet) downOf(t *target, v *model.TargetView, at model.Instant) alert.Observation {
	o := alert.Observation{Rule: downRule, Target: v.Name, Truth: alert.No}
	o.Rule.For = f.every // targets that fail together are polled within one interval
	switch t.state {
	case model.Down:
		o.Truth, o.Text = alert.Yes, "down"
		if v.Fault != nil {
			o.Text = v.Fault.Kind.Word() + ": " + v.Fault.Detail
		}
	case model.StaleAt:
		o.Truth, o.Text = alert.Yes, "no answer for "+unit.Duration(at.Sub(v.LastGoodAt).Seconds())
		if t.tellsOfNobody() {
			o.Text = fmt.Sprintf("none of the %d servers that it scrapes answers", v.Replicas.Total)
		}
	case "":
		o.Truth = alert.CannotTell
	}
	return o
}

// stalledOf: an engine that has work and does none.
func (f *Fleet) stalledOf(t *target, v *model.TargetView, at model.Instant) alert.Observation {
	o := alert.Observation{Rule: stalledRule, Truth: alert.No}
	if t.state == model.Stalled {
		o.Truth = alert.Yes
		o.Text = fmt.Sprintf("no progress: %s running, %s waiting%s for %d s",
			whole(v.Running), whole(v.Waiting), t.tokens(), int(at.Sub(t.since).Seconds()))
	}
	return o
}

func (f *Fleet) restartOf(v *model.TargetView, at model.Instant) alert.Observation {
	o := alert.Observation{Rule: restartRule, Truth: alert.No}
	if !v.RestartedAt.IsZero() && at.Sub(v.RestartedAt) < restartShown {
		o.Truth, o.Text = alert.Yes, "restarted "+unit.Duration(at.Sub(v.RestartedAt).Seconds())+" ago"
	}
	return o
}

func (f *Fleet) fullOf(v *model.TargetView) alert.Observation {
	o := alert.Observation{Rule: fullRule, Value: v.KVCacheUsage, Truth: alert.No}
	switch {
	case !v.KVCacheUsage.OK() || !v.PreemptionsPerSec.OK():
		o.Truth = alert.CannotTell
	case v.KVCacheUsage.Value > fullCache && v.PreemptionsPerSec.Value > fullPreempts:
		o.Truth = alert.Yes
		o.Text = fmt.Sprintf("KV cache %s full, %s preemptions/s", unit.Percent(v.KVCacheUsage.Value), unit.Rate(v.PreemptionsPerSec.Value))
	}
	return o
}

// judgeWorkflow looks at a workflow's promises.
func (f *Fleet) judgeWorkflow(fr *model.Frame, w *workflow, v *model.WorkflowView) {
	exact := w.byRequests(fr.At.Mono)
	if cause := w.silencedBy(); cause != "" {
		rule := ranked(burnRule, w.spec)
		f.observe(alert.Observation{Rule: rule, Workflow: w.name, Cause: cause}, fr.At)
		return
	}
	seen := []alert.Observation{f.throttling(w, exact), overdue(v)}
	if wait := w.grace(exact, fr.At); wait != "" {
		seen = append(seen, alert.Observation{Rule: ranked(burnRule, w.spec), Text: wait})
	} else {
		seen = append(seen, f.burning(w, v, exact, burnRule), f.burning(w, v, exact, slowBurnRule), f.predicted(w, v), f.changed(w, exact))
	}
	for _, o := range seen {
		o.Workflow = w.name
		f.observe(o, fr.At)
	}
	if v.Goodput.Verdict == model.CannotCompute && v.Condition.Rank() > model.IsStale.Rank() {
		fr.Unjudged = append(fr.Unjudged, model.Unjudged{Rule: burnRule.Name, Workflow: model.Text(w.name), Why: string(v.Goodput.Why)})
	}
}

// silencedBy is the alert that explains why nothing is known of a target, "" for
// one that answers.
func (t *target) silencedBy() model.AlertID {
	if t.fresh() {
		return ""
	}
	if t.kind() == model.GPUTarget {
		return alert.ID(gpuSilentRule.Name, "", t.spec.Name)
	}
	return alert.ID(downRule.Name, "", t.spec.Name)
}

// silencedBy is the alert that explains why nothing is known of a workflow: that
// none of its targets answers.
func (w *workflow) silencedBy() model.AlertID {
	if w.fresh > 0 || len(w.targets) == 0 {
		return ""
	}
	return w.targets[0].silencedBy()
}

// burning is the three-tier rule: the budget goes too fast over a long and a
// short window. An objective that was only assumed is worth a note.
func (f *Fleet) burning(w *workflow, v *model.WorkflowView, exact bool, rule alert.Rule) alert.Observation {
	severity := rule.Severity
	o := alert.Observation{Rule: ranked(rule, w.spec)}
	if v.Goodput.Verdict == model.CannotCompute || w.spec.DeadlineS > 0 {
		return o
	}
	o.Truth = alert.No
	l := w.ledgerOf(exact)
	s := w.judged
	spec := w.promised(s.Exported)
	for _, tier := range slo.Tiers {
		if tier.Severity != severity {
			continue
		}
		window := max(tier.Long, 2*f.every)
		long, covered := w.surelyBad(l, spec, s, window)
		if covered.Seconds() < tier.Limit(spec.Share)*window.Seconds() {
			continue // as if all had been well before: a bad second is no two minutes
		}
		short, _ := w.surelyBad(l, spec, s, max(tier.Short, 2*f.every))
		if !tier.Applies(long.N*tier.Short.Seconds()/max(tier.Short, covered).Seconds()) || tier.Sparse && short.N == 0 {
			continue
		}
		if fires, _ := tier.Fires(spec.Share, long, short); fires {
			o.Truth = alert.Yes
			o.Value = model.Of(slo.Burn(long.Share(), spec.Share))
			o.Text = w.burned(l, spec, s, window)
			return o
		}
	}
	o.Value = burnOf(v).M5
	if w.idle(l, exact, f.policy.IdleClearS, f.every) || w.frontLost(exact) {
		o.Truth = alert.CannotTell
	}
	return o
}

// frontLost reports whether who stands nearest to the users has fallen silent, so
// that others speak in its place: what they see may be bad, and is no recovery.
func (w *workflow) frontLost(exact bool) bool {
	if exact {
		return false
	}
	return w.carried > w.reporting || w.edge.read > 0 && w.edge.fresh == 0 && w.front() == &w.engines
}

// burned says by what a burn is measured: how many were bad, over the window or what of
// it was watched, and whether histograms leave open that there were more. First tokens
// are counted when they come and everything else when a request ends: whose are whose
// in the window they do not tell either.
func (w *workflow) burned(l *ledger, spec *model.WorkflowSpec, s slo.Span, window time.Duration) string {
	c, elapsed := l.since(window)
	surely, likely := slo.BadOf(spec, stretch(c, elapsed, s))
	least := ""
	switch {
	case likely.Bad-surely.Bad >= 1:
		least = "at least "
	case !s.Exact && boundsTTFT(spec):
		least = "about "
	}
	if elapsed < window*9/10 {
		window = elapsed.Truncate(time.Second)
	}
	return fmt.Sprintf("%s%s, %s allowed: burn %s×", least, surely.In(window), unit.Promised(1-spec.Share), unit.Rate(slo.Burn(surely.Share(), spec.Share)))
}

// ranked is a rule as loud as the promise it watches: an assumed one never pages.
func ranked(rule alert.Rule, spec *model.WorkflowSpec) alert.Rule {
	if spec.Assumed {
		rule.Severity = model.Note
	}
	return rule
}

// grace says why latency alerts wait, "" where they do not: a server that has just
// started is slow. While others serve as well, they are judged without it; reports
// do not tell whose requests were slow, so there the others must be most.
func (w *workflow) grace(exact bool, at model.Instant) string {
	var last *target
	cold, fresh := 0, 0
	for _, t := range w.targets {
		if !t.fresh() {
			continue
		}
		fresh++
		if !t.cold(at) {
			continue
		}
		if cold++; last == nil || t.coldUntil > last.coldUntil {
			last = t
		}
	}
	if cold == 0 || cold < fresh && !(exact && 2*cold >= fresh) {
		return ""
	}
	return fmt.Sprintf("waits for another %s: %s has restarted", unit.Duration((last.coldUntil - at.Mono).Seconds()), last.spec.Name)
}

// predicted: a request that arrives now will wait for longer than its objective,
// while the histogram, which knows only of first tokens, still looks fine.
func (f *Fleet) predicted(w *workflow, v *model.WorkflowView) alert.Observation {
	o := alert.Observation{Rule: waitRule}
	limit := w.limitOf(model.TTFT)
	wait := v.WaitNow
	if !wait.OK() {
		return o
	}
	o.Truth, o.Value = alert.No, wait
	if wait.Value > limit && !missedTTFT(v) {
		o.Truth = alert.Yes
		o.Text = fmt.Sprintf("a request arriving now waits about %s for its first token, promised %s",
			unit.Duration(wait.Value), unit.Limit(limit))
	}
	return o
}

func missedTTFT(v *model.WorkflowView) bool {
	return slices.ContainsFunc(v.Objectives, func(o model.ObjectiveView) bool {
		return o.Metric == model.MetricTTFT && o.Verdict == model.Missed
	})
}

// waitNow is Little's estimate of the wait of a request that arrives now:
// waiting requests over first tokens a second.
func (w *workflow) waitNow(v *model.WorkflowView) model.Reading {
	c, elapsed := w.back().ledger.all(waitWindow)
	if elapsed <= 0 || !v.Requests.Waiting.OK() || w.back().read == 0 {
		return model.Reading{}
	}
	return slo.LittleWait(v.Requests.Waiting, model.Of(c.Term(model.MetricTTFT).N/elapsed.Seconds()))
}

// breachIn is when those who arrive will wait for longer than was promised, if the
// queue goes on growing as it does: unknown where it does not.
func (w *workflow) breachIn(v *model.WorkflowView) model.Reading {
	limit := w.limitOf(model.TTFT)
	c, elapsed := w.back().ledger.all(waitWindow)
	if s := elapsed.Seconds(); s > 0 && w.back().read > 0 && v.Requests.Waiting.Value >= fewWaiting && !math.IsInf(limit, 1) {
		arrivals := (c.Finished + c.Failed + c.Cancelled + c.Grown + c.Queued) / s
		return slo.TimeToBreach(v.Requests.Waiting.Value, arrivals, c.Term(model.MetricTTFT).N/s, limit)
	}
	return model.Reading{}
}

// throttling: requests are refused for their rate. They are quick, and make
// latencies look better than they are.
func (f *Fleet) throttling(w *workflow, exact bool) alert.Observation {
	o := alert.Observation{Rule: throttledRule}
	if !exact {
		return o
	}
	c, _ := w.events.ledger.since(burnMain)
	ended := c.Ended()
	if ended == 0 || w.idle(&w.events.ledger, exact, f.policy.IdleClearS, f.every) {
		return o // silence is not recovery
	}
	o.Truth = alert.No
	o.Value = model.Of(c.Throttled / ended)
	if c.Throttled >= fewThrottled && o.Value.Value >= throttledFrom {
		o.Truth = alert.Yes
		o.Text = fmt.Sprintf("429 or 529: %s of %s, %s, in %s", unit.Integer(c.Throttled), unit.Integer(ended),
			unit.Ratio(o.Value.Value), unit.Period(burnMain.Seconds()))
	}
	return o
}

// overdue: a job will not be done by its deadline.
func overdue(v *model.WorkflowView) alert.Observation {
	o := alert.Observation{Rule: lateRule}
	d := v.Deadline
	if d == nil || d.Verdict == model.CannotCompute {
		return o
	}
	o.Truth, o.Value = alert.No, d.NeedsS
	if d.Verdict == model.Missed {
		o.Truth, o.Text = alert.Yes, lateText(d)
	}
	return o
}

func lateText(d *model.DeadlineView) string {
	left := whole(d.Remaining)
	switch {
	case d.LeftS.Value <= 0:
		return fmt.Sprintf("%s requests are left, the deadline was %s ago", left, unit.Duration(-d.LeftS.Value))
	case !d.NeedsS.OK():
		return fmt.Sprintf("%s requests are left and none ends, the deadline is in %s", left, unit.Duration(d.LeftS.Value))
	default:
		return fmt.Sprintf("%s requests are left and need %s, the deadline is in %s", left, unit.Duration(d.NeedsS.Value), unit.Duration(d.LeftS.Value))
	}
}

// idle reports whether no request of late could be judged: then nothing can be
// said, and what fires goes on. Clients that left are no sign that all is well. A
// chosen time without any request is an end too.
func (w *workflow) idle(l *ledger, exact bool, clearS float64, every time.Duration) bool {
	if clearS > 0 {
		if c, _ := l.since(seconds(clearS)); c.Ended()+endsIn(&c) == 0 {
			return false
		}
	}
	c, _ := l.since(max(idleAfter, 2*every))
	if exact {
		return c.Good+c.Bad == 0
	}
	return c.Finished+c.Failed == 0 && (c.Cancelled > 0 || endsIn(&c) == 0)
}

// endsIn is how many requests ended by what is measured at their end: some servers
// count nothing else.
func endsIn(c *slo.Counts) float64 {
	return max(c.Term(model.MetricE2E).N, c.Term(model.MetricTPOT).N)
}

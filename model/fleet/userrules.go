package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/alert"
	"slotop/model/slo"
	"slotop/model/unit"
)

// watched is a number that a rule of the user's own may bound: of a workflow, or
// of a target.
type watched struct {
	name string
	unit model.Unit
	flow func(*model.WorkflowView) model.Reading
	of   func(*model.TargetView) model.Reading
}

// signals is what user rules may watch.
var signals = []watched{
	{name: "ttft_p95", unit: model.Seconds, flow: func(v *model.WorkflowView) model.Reading { return p95(v.TTFT) }},
	{name: "ttft_mean", unit: model.Seconds, flow: func(v *model.WorkflowView) model.Reading { return mean(v.TTFT) }},
	{name: "tpot_p95", unit: model.Seconds, flow: func(v *model.WorkflowView) model.Reading { return p95(v.TPOT) }},
	{name: "itl_p95", unit: model.Seconds, flow: func(v *model.WorkflowView) model.Reading { return p95(v.ITL) }},
	{name: "e2e_p95", unit: model.Seconds, flow: func(v *model.WorkflowView) model.Reading { return p95(v.E2E) }},
	{name: "queue_p95", unit: model.Seconds, flow: func(v *model.WorkflowView) model.Reading { return p95(v.Queue) }},
	{name: "goodput", unit: model.Ratio, flow: func(v *model.WorkflowView) model.Reading { return v.Goodput.Share.Hi }},
	{name: "burn_5m", unit: model.Times, flow: func(v *model.WorkflowView) model.Reading { return burnOf(v).M5 }},
	{name: "burn_30m", unit: model.Times, flow: func(v *model.WorkflowView) model.Reading { return burnOf(v).M30 }},
	{name: "failed_share", unit: model.Ratio, flow: failedShare},
	{name: "throttled_share", unit: model.Ratio, flow: throttledShare},
	{name: "wait_estimate", unit: model.Seconds, flow: func(v *model.WorkflowView) model.Reading { return v.WaitNow }},
	{name: "requests_per_second", unit: model.PerSecond, flow: func(v *model.WorkflowView) model.Reading { return v.Requests.PerSecond }},
	{name: "requests_running", unit: model.Number, flow: func(v *model.WorkflowView) model.Reading { return v.Requests.Running }},
	{name: "requests_waiting", unit: model.Number, flow: func(v *model.WorkflowView) model.Reading { return v.Requests.Waiting }},
	{name: "output_per_second", unit: model.PerSecond, flow: func(v *model.WorkflowView) model.Reading { return v.Tokens.OutputPerSecond }},
	{name: "preemptions_per_second", unit: model.PerSecond, flow: func(v *model.WorkflowView) model.Reading { return v.PreemptionsPerSec }},
	{name: "prefix_cache_hit", unit: model.Ratio, flow: func(v *model.WorkflowView) model.Reading { return v.PrefixCacheHit }},
	{name: "kv_cache_usage", unit: model.Ratio, of: func(v *model.TargetView) model.Reading { return v.KVCacheUsage }},
	{name: "target_running", unit: model.Number, of: func(v *model.TargetView) model.Reading { return v.Running }},
	{name: "target_waiting", unit: model.Number, of: func(v *model.TargetView) model.Reading { return v.Waiting }},
	{name: "poll_seconds", unit: model.Seconds, of: func(v *model.TargetView) model.Reading { return v.TookS }},
}

// RuleSignals lists what user rules may watch.
func RuleSignals() []string {
	out := make([]string, len(signals))
	for i, s := range signals {
		out[i] = s.name
	}
	return out
}

// ofTarget reports whether a signal is of targets; the others are of workflows.
func ofTarget(signal string) bool {
	s, known := watchedAs(signal)
	return known && s.of != nil
}

// SignalUnit is what a signal is measured in, "" for one that is not known.
func SignalUnit(signal string) model.Unit {
	s, _ := watchedAs(signal)
	return s.unit
}

// units are what the numbers of the rules are measured in.
func (f *Fleet) units(alerts []model.AlertView) {
	for i := range alerts {
		a := &alerts[i]
		if u, known := builtInUnits[a.Rule]; known {
			a.Unit = u
			continue
		}
		for _, r := range f.policy.Rules {
			if s, _ := watchedAs(r.Signal); r.Name == a.Rule {
				a.Unit = s.unit
			}
		}
	}
}

var builtInUnits = map[string]model.Unit{
	burnRule.Name: model.Times, slowBurnRule.Name: model.Times, fullRule.Name: model.Ratio, waitRule.Name: model.Seconds,
	throttledRule.Name: model.Ratio, lateRule.Name: model.Seconds, changedRule.Name: model.Times,
}

// p95 is the percentile, or, beyond the last bucket, the least it can be.
func p95(d *model.Dist) model.Reading {
	switch {
	case d == nil:
		return model.Missing(model.Unsupported)
	case d.N == 0:
		return model.Missing(model.NoTraffic)
	case d.P95.Open:
		return d.P95.Lo
	default:
		return d.P95.Value
	}
}

func mean(d *model.Dist) model.Reading {
	if d == nil {
		return model.Missing(model.Unsupported)
	}
	return d.Mean
}

func burnOf(v *model.WorkflowView) model.Burn {
	if v.Budget == nil {
		return model.Burn{}
	}
	return v.Budget.Burn
}

func failedShare(v *model.WorkflowView) model.Reading {
	all := v.Requests.Finished.Plus(v.Requests.Failed)
	return ratio(v.Requests.Failed, all)
}

// throttledShare is the part of the requests that was refused for their rate.
func throttledShare(v *model.WorkflowView) model.Reading {
	r := v.Requests
	return ratio(r.Throttled, r.Finished.Plus(r.Failed).Plus(r.Cancelled))
}

func watchedAs(name string) (watched, bool) {
	i := slices.IndexFunc(signals, func(s watched) bool { return s.name == name })
	if i < 0 {
		return watched{}, false
	}
	return signals[i], true
}

// checkRules refuses rules that cannot mean anything.
func checkRules(rules []model.RuleSpec) error {
	seen := map[string]bool{}
	for _, r := range builtIn {
		seen[r.Name] = true
	}
	for _, r := range rules {
		_, known := watchedAs(r.Signal)
		switch {
		case r.Name == "":
			return fmt.Errorf("a rule on %s has no name", r.Signal)
		case seen[r.Name]:
			return fmt.Errorf("rule %s: the name is taken", r.Name)
		case !known:
			return fmt.Errorf("rule %s: no signal %q; there are %s", r.Name, r.Signal, strings.Join(RuleSignals(), ", "))
		case (r.Over == nil) == (r.Under == nil):
			return fmt.Errorf("rule %s: say either over or under", r.Name)
		case SignalUnit(r.Signal) == model.Ratio && !isShare(cmp.Or(r.Over, r.Under)):
			return fmt.Errorf("rule %s: %s is a share: bound it between 0 and 1", r.Name, r.Signal)
		}
		if err := checkNature(r); err != nil {
			return err
		}
		if r.Workflow != "" && ofTarget(r.Signal) {
			return fmt.Errorf("rule %s: %s is a figure of targets: give target instead of workflow", r.Name, r.Signal)
		}
		if r.Target != "" && !ofTarget(r.Signal) {
			return fmt.Errorf("rule %s: %s is a figure of workflows: give workflow instead of target", r.Name, r.Signal)
		}
		seen[r.Name] = true
	}
	return nil
}

func isShare(bound *float64) bool { return *bound >= 0 && *bound <= 1 }

// checkNature refuses a severity that is none, and times that no duration holds.
func checkNature(r model.RuleSpec) error {
	switch r.Severity {
	case "", model.Page, model.Warn, model.Note:
	default:
		return fmt.Errorf("rule %s: no severity %q; there are page, warn and note", r.Name, r.Severity)
	}
	if !isSpan(r.ForS) || !isSpan(r.HoldS) {
		return fmt.Errorf("rule %s: for %v s, hold %v s: neither below 0 nor beyond a century", r.Name, r.ForS, r.HoldS)
	}
	return nil
}

// isSpan reports whether a time in seconds is one that can be waited for.
func isSpan(s float64) bool { return s >= 0 && s <= 100*366*24*3600 }

// judgeRules evaluates the user's own rules.
func (f *Fleet) judgeRules(fr *model.Frame) {
	for _, r := range f.policy.Rules {
		s, _ := watchedAs(r.Signal)
		if s.flow != nil {
			for i := range fr.Workflows {
				v := &fr.Workflows[i]
				if matches(r.Workflow, v.Name) {
					f.userRule(fr, r, s, alert.Observation{Workflow: v.Name, Value: s.flow(v), Cause: f.flows[v.Name].silencedBy()})
				}
			}
			continue
		}
		for i := range fr.Targets {
			v := &fr.Targets[i]
			if matches(r.Target, v.Name) {
				f.userRule(fr, r, s, alert.Observation{Target: v.Name, Value: s.of(v), Cause: f.targets[i].silencedBy()})
			}
		}
	}
}

func matches(glob, name string) bool { return glob == "" || slo.Glob(glob, name) }

func (f *Fleet) userRule(fr *model.Frame, r model.RuleSpec, s watched, o alert.Observation) {
	if o.Value.State == model.Unsupported {
		fr.Unjudged = append(fr.Unjudged, model.Unjudged{
			Rule: r.Name, Workflow: model.Text(o.Workflow), Target: model.Text(o.Target), Why: r.Signal + ": " + model.Unsupported.String(),
		})
		return
	}
	o.Rule, o.Compare = ruleOf(r), true
	if o.Value.OK() {
		o.Text = fmt.Sprintf("%s %s, %s %s", r.Signal, unit.Measured(o.Value.Value, s.unit), sideOf(o.Rule, o.Value.Value), unit.Measured(o.Rule.Limit, s.unit))
	}
	f.observe(o, fr.At)
}

// sideOf is on which side of a rule's limit a number is. One on its way back is
// not said to be where it no longer is.
func sideOf(r alert.Rule, v float64) string {
	switch {
	case r.Below && v < r.Limit:
		return "below"
	case r.Below:
		return "no longer below"
	case v > r.Limit:
		return "above"
	default:
		return "no longer above"
	}
}

func ruleOf(r model.RuleSpec) alert.Rule {
	a := alert.Rule{Name: r.Name, Severity: cmp.Or(r.Severity, model.Warn), For: seconds(r.ForS), Hold: seconds(r.HoldS)}
	if a.Below = r.Under != nil; a.Below {
		a.Limit = *r.Under
	} else {
		a.Limit = *r.Over
	}
	if a.Clear = a.Limit; r.Clear != nil {
		a.Clear = *r.Clear
	}
	return a
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

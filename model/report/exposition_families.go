package report

import "slotop/model"

// families are the metrics of the page, in its order. Names carry their units, and what
// only grows is a counter. Bounds are labels: bound is lo, hi or point.
var families = []family{
	{name: "slotop_build_info", kind: "gauge", help: "Version of slotop; always 1.", labels: []string{"version"}, write: func(x *exposed) {
		x.add(model.Of(1), x.about.Version)
	}},
	{name: "slotop_frame_age_seconds", kind: "gauge", help: "How old the figures of this page are.", write: func(x *exposed) {
		x.add(x.about.AgeS)
	}},
	{name: "slotop_simulated", kind: "gauge", help: "1 where what is watched is simulated.", write: func(x *exposed) {
		if !x.f.At.IsZero() {
			x.add(yes(x.f.Simulated))
		}
	}},
	{name: "slotop_window_seconds", kind: "gauge", help: "Span of every rate, share and percentile here.", write: func(x *exposed) {
		if x.f.WindowS > 0 {
			x.add(model.Of(x.f.WindowS))
		}
	}},
	{name: "slotop_window_covered_seconds", kind: "gauge", help: "How much of the window the data spans.", write: func(x *exposed) {
		x.add(x.f.CoveredS)
	}},
	{name: "slotop_goodput_ratio", kind: "gauge", help: "Share of all requests that met every objective of their workflows: the interval and the best guess.", labels: []string{"bound"}, write: func(x *exposed) {
		if g := x.f.Goodput; g != nil {
			x.share(g.Share)
		}
	}},

	ofFlow("goodput_ratio", "Share of requests that met every objective: the interval that histograms leave, and the best guess.", []string{"bound"}, func(x *exposed, w *model.WorkflowView) {
		if g := w.Goodput; g != nil {
			x.share(g.Share, w.Name)
		}
	}),
	ofFlow("goodput_target_ratio", "Share of requests that was promised.", nil, func(x *exposed, w *model.WorkflowView) {
		if g := w.Goodput; g != nil {
			x.add(g.Target, w.Name)
		}
	}),
	ofFlow("goodput_requests_per_second", "Requests that met every objective.", []string{"bound"}, func(x *exposed, w *model.WorkflowView) {
		if g := w.Goodput; g != nil {
			x.ends(g.PerSecond, w.Name)
		}
	}),
	ofFlow("judged_requests", "Requests of the window that goodput was judged on.", nil, func(x *exposed, w *model.WorkflowView) {
		if g := w.Goodput; g != nil {
			x.add(model.Of(g.N), w.Name)
		}
	}),
	ofFlow("verdict", "Whether the promise was kept over the window; 1 for the verdict that is so.", []string{"verdict"}, func(x *exposed, w *model.WorkflowView) {
		if g := w.Goodput; g != nil {
			states(x, g.Verdict, []model.Verdict{model.Met, model.Missed, model.Undecided, model.NoData, model.CannotCompute}, w.Name)
		}
	}),
	ofFlow("condition", "What the workflow is in; 1 for the condition that is so.", []string{"condition"}, func(x *exposed, w *model.WorkflowView) {
		states(x, w.Condition, model.Conditions, w.Name)
	}),
	ofFlow("objectives_assumed", "1 where nobody set objectives and common ones are assumed.", nil, func(x *exposed, w *model.WorkflowView) {
		x.add(yes(w.AssumedObjectives), w.Name)
	}),
	ofFlow("objective_ratio", "Share of requests within one bound.", []string{"metric", "bound"}, func(x *exposed, w *model.WorkflowView) {
		for _, o := range w.Objectives {
			x.share(o.Share, w.Name, string(o.Metric))
		}
	}),
	ofFlow("objective_limit_seconds", "The bound.", []string{"metric"}, func(x *exposed, w *model.WorkflowView) {
		for _, o := range w.Objectives {
			x.add(model.Of(o.MaxS), w.Name, string(o.Metric))
		}
	}),
	ofFlow("objective_requests", "Requests of the window that the bound was measured on.", []string{"metric"}, func(x *exposed, w *model.WorkflowView) {
		for _, o := range w.Objectives {
			x.add(model.Of(o.N), w.Name, string(o.Metric))
		}
	}),
	ofFlow("burn_rate", "How fast the error budget goes, over a window; 1 spends exactly what is allowed.", []string{"window"}, func(x *exposed, w *model.WorkflowView) {
		if b := w.Budget; b != nil {
			x.add(b.Burn.M2, w.Name, "2m")
			x.add(b.Burn.M5, w.Name, "5m")
			x.add(b.Burn.M30, w.Name, "30m")
		}
	}),
	ofFlow("error_budget_remaining_ratio", "Share of the error budget that is left of its period; below 0 it is overspent.", nil, func(x *exposed, w *model.WorkflowView) {
		if w.Budget != nil {
			x.add(w.Budget.Remaining, w.Name)
		}
	}),
	ofFlow("error_budget_observed_seconds", "For how much of its period the budget was watched.", nil, func(x *exposed, w *model.WorkflowView) {
		if w.Budget != nil {
			x.add(model.Of(w.Budget.ObservedS), w.Name)
		}
	}),
	ofFlow("latency_seconds", "Percentiles over the window: the bracket of the bucket, and the value that PromQL would give.", []string{"metric", "percentile", "bound"}, func(x *exposed, w *model.WorkflowView) {
		for _, l := range latenciesOf(w) {
			x.quantiles(l.dist, w.Name, l.name)
		}
	}),
	ofFlow("latency_requests", "What the percentiles were counted on.", []string{"metric"}, func(x *exposed, w *model.WorkflowView) {
		for _, l := range latenciesOf(w) {
			if l.dist != nil && l.dist.Basis != model.SinceStart {
				x.add(model.Of(l.dist.N), w.Name, l.name)
			}
		}
	}),
	ofFlow("requests_per_second", "Requests that finished.", nil, func(x *exposed, w *model.WorkflowView) {
		x.add(w.Requests.PerSecond, w.Name)
	}),
	ofFlow("output_tokens_per_second", "Tokens that were generated.", nil, func(x *exposed, w *model.WorkflowView) {
		x.add(w.Tokens.OutputPerSecond, w.Name)
	}),
	ofFlow("prompt_tokens_per_second", "Tokens of prompts.", nil, func(x *exposed, w *model.WorkflowView) {
		x.add(w.Tokens.PromptPerSecond, w.Name)
	}),
	ofFlow("running_requests", "Requests that run.", nil, func(x *exposed, w *model.WorkflowView) { x.add(w.Requests.Running, w.Name) }),
	ofFlow("waiting_requests", "Requests that wait in an engine.", nil, func(x *exposed, w *model.WorkflowView) { x.add(w.Requests.Waiting, w.Name) }),
	ofFlow("wait_now_seconds", "How long a request that arrives now waits for its first token, by Little's law.", nil, func(x *exposed, w *model.WorkflowView) {
		x.add(w.WaitNow, w.Name)
	}),
	ofFlow("breach_in_seconds", "When that will be longer than promised, at the present rates.", nil, func(x *exposed, w *model.WorkflowView) {
		x.add(w.BreachIn, w.Name)
	}),
	ofFlow("kv_cache_usage_ratio", "KV cache in use, of the fullest engine.", nil, func(x *exposed, w *model.WorkflowView) { x.add(w.KVCacheUsage, w.Name) }),
	ofFlow("prefix_cache_hit_ratio", "Prompt tokens found in the prefix cache.", nil, func(x *exposed, w *model.WorkflowView) { x.add(w.PrefixCacheHit, w.Name) }),
	ofFlow("preemptions_per_second", "Requests that lost their KV cache to others.", nil, func(x *exposed, w *model.WorkflowView) {
		x.add(w.PreemptionsPerSec, w.Name)
	}),

	{name: "slotop_alert_firing", kind: "gauge", help: "1 while an alert of slotop's own fires, 0 while it is known and does not.", labels: []string{"rule", "severity", "workflow", "target", "id"}, write: func(x *exposed) {
		for _, a := range x.f.Alerts {
			x.add(yes(a.State == model.AlertFiring), a.Rule, string(a.Severity), string(a.Workflow), string(a.Target), string(a.ID))
		}
	}},
	{name: "slotop_alerts", kind: "gauge", help: "Alerts of slotop's own that fire.", labels: []string{"severity"}, write: func(x *exposed) {
		if x.f.At.IsZero() {
			return
		}
		for _, s := range []model.Severity{model.Page, model.Warn, model.Note} {
			n := 0.0
			for _, a := range x.f.Alerts {
				if a.Severity == s && a.State == model.AlertFiring {
					n++
				}
			}
			x.add(model.Of(n), string(s))
		}
	}},
	{name: "slotop_finding", kind: "gauge", help: "1 while a finding of the diagnosis holds, 0 once it did and does not.", labels: []string{"id", "title", "layer", "confidence", "workflow", "target", "pool"}, write: func(x *exposed) {
		for _, t := range x.told {
			x.add(yes(t.now), t.labels...)
		}
	}},
	{name: "slotop_diagnosis", kind: "gauge", help: "What came of the diagnosis of a pool; 1 for the state that is so.", labels: []string{"pool", "state"}, write: func(x *exposed) {
		for i := range x.f.Diagnoses {
			d := &x.f.Diagnoses[i]
			states(x, d.State, []model.DiagnosisState{model.Diagnosed, model.NoFinding, model.CannotTell}, d.Pool)
		}
	}},

	ofPool("load_ratio", "Load factor: seconds of machine that a second's requests need, over the ready replicas.", nil, func(x *exposed, c *model.CapacityView) { x.add(c.Load, c.Pool) }),
	ofPool("headroom_ratio", "Room up to the planning limit, as a share of the present rate.", nil, func(x *exposed, c *model.CapacityView) { x.add(c.Headroom, c.Pool) }),
	ofPool("headroom_requests_per_second", "Requests a second of this mix that may come on top: up to the planning limit, or what binds before; below 0 so many are too many.", nil, func(x *exposed, c *model.CapacityView) { x.add(c.More, c.Pool) }),
	ofPool("requests_per_second", "Requests that arrive at the pool, of the last minute.", nil, func(x *exposed, c *model.CapacityView) { x.add(c.Rate, c.Pool) }),
	ofPool("objective_limit_requests_per_second", "The least rate at which an objective still holds, by the model.", nil, func(x *exposed, c *model.CapacityView) { x.add(c.SLORate, c.Pool) }),
	ofPool("replicas", "Replicas that are ready.", nil, func(x *exposed, c *model.CapacityView) { x.add(model.Of(float64(c.Replicas.Ready)), c.Pool) }),
	ofPool("replicas_needed", "Replicas that the present rate needs.", nil, func(x *exposed, c *model.CapacityView) { x.add(c.Replicas.Needed, c.Pool) }),
	ofPool("binds_first", "What binds first as the rate grows; 1 for that.", []string{"what"}, func(x *exposed, c *model.CapacityView) {
		if c.First != model.BindsNothing {
			x.add(model.Of(1), c.Pool, string(c.First))
		}
	}),
	ofPool("cost_per_million_output_tokens", "Price of a million generated tokens.", []string{"currency"}, func(x *exposed, c *model.CapacityView) {
		if c.Cost != nil {
			x.add(c.Cost.PerMillion, c.Pool, c.Cost.Currency)
		}
	}),
	ofPool("cost_per_million_good_output_tokens", "Price of a million tokens of requests that met every objective.", []string{"currency", "bound"}, func(x *exposed, c *model.CapacityView) {
		if c.Cost != nil {
			x.ends(c.Cost.PerMillionGood, c.Pool, c.Cost.Currency)
		}
	}),

	ofTarget("state", "gauge", "What the target does; 1 for the state that is so.", []string{"kind", "state"}, func(x *exposed, t *model.TargetView) {
		states(x, t.State, []model.State{model.Up, model.Idle, model.Stalled, model.StaleAt, model.Down}, t.Name, t.Kind)
	}),
	ofTarget("polls_total", "counter", "Polls of the target that ended.", nil, func(x *exposed, t *model.TargetView) { x.add(model.Of(float64(t.Polls)), t.Name) }),
	ofTarget("polls_failed_total", "counter", "Of them, those that failed.", nil, func(x *exposed, t *model.TargetView) { x.add(model.Of(float64(t.FailedPolls)), t.Name) }),
	ofTarget("restarts_total", "counter", "Restarts of the target that were seen.", nil, func(x *exposed, t *model.TargetView) { x.add(model.Of(float64(t.Restarts)), t.Name) }),
	ofTarget("running_requests", "gauge", "Requests that run.", nil, func(x *exposed, t *model.TargetView) { x.add(t.Running, t.Name) }),
	ofTarget("waiting_requests", "gauge", "Requests that wait.", nil, func(x *exposed, t *model.TargetView) { x.add(t.Waiting, t.Name) }),
	ofTarget("kv_cache_usage_ratio", "gauge", "KV cache in use.", nil, func(x *exposed, t *model.TargetView) { x.add(t.KVCacheUsage, t.Name) }),

	{name: "slotop_target_mfu_ratio", kind: "gauge", help: "FLOPs used, of the peak.", labels: []string{"target", "basis"}, write: func(x *exposed) {
		for i := range x.f.Utilization {
			u := &x.f.Utilization[i]
			x.add(u.MFU, u.Target, string(u.Basis))
		}
	}},
	{name: "slotop_target_mbu_ratio", kind: "gauge", help: "Memory bandwidth used, of the peak.", labels: []string{"target", "basis"}, write: func(x *exposed) {
		for i := range x.f.Utilization {
			u := &x.f.Utilization[i]
			x.add(u.MBU, u.Target, string(u.Basis))
		}
	}},
	{name: "slotop_target_step_seconds", kind: "gauge", help: "Mean time of an engine step.", labels: []string{"target"}, write: func(x *exposed) {
		for i := range x.f.Utilization {
			if u := &x.f.Utilization[i]; u.Step != nil {
				x.add(u.Step.Seconds, u.Target)
			}
		}
	}},
	{name: "slotop_target_step_residual_ratio", kind: "gauge", help: "Observed over explained time of a step: from 1.3 on the machine is slower than its own baseline.", labels: []string{"target"}, write: func(x *exposed) {
		for i := range x.f.Utilization {
			if u := &x.f.Utilization[i]; u.Step != nil {
				x.add(u.Step.Residual, u.Target)
			}
		}
	}},
}

// namedDist is a latency with its name.
type namedDist struct {
	name string
	dist *model.Dist
}

func latenciesOf(w *model.WorkflowView) []namedDist {
	return []namedDist{
		{"ttft", w.TTFT}, {"tpot", w.TPOT}, {"itl", w.ITL}, {"e2e", w.E2E},
		{"queue", w.Queue}, {"prefill", w.Prefill}, {"decode", w.Decode},
	}
}

// ofFlow is a gauge of each workflow, in the order of the frame's names: the frame has the
// worst first, and a page does not jump.
func ofFlow(name, help string, labels []string, write func(*exposed, *model.WorkflowView)) family {
	return family{name: "slotop_workflow_" + name, kind: "gauge", help: help, labels: append([]string{"workflow"}, labels...), write: func(x *exposed) {
		for _, i := range byName(len(x.f.Workflows), func(i int) string { return x.f.Workflows[i].Name }) {
			write(x, &x.f.Workflows[i])
		}
	}}
}

func ofPool(name, help string, labels []string, write func(*exposed, *model.CapacityView)) family {
	return family{name: "slotop_pool_" + name, kind: "gauge", help: help, labels: append([]string{"pool"}, labels...), write: func(x *exposed) {
		for _, i := range byName(len(x.f.Capacity), func(i int) string { return x.f.Capacity[i].Pool }) {
			write(x, &x.f.Capacity[i])
		}
	}}
}

func ofTarget(name, kind, help string, labels []string, write func(*exposed, *model.TargetView)) family {
	return family{name: "slotop_target_" + name, kind: kind, help: help, labels: append([]string{"target"}, labels...), write: func(x *exposed) {
		for i := range x.f.Targets {
			write(x, &x.f.Targets[i])
		}
	}}
}

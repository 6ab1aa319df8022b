package report

import (
	"time"

	"slotop/model"
)

var start = time.Date(2026, 8, 17, 3, 0, 0, 0, time.UTC)

func at(d time.Duration) model.Instant { return model.Instant{Wall: start.Add(d), Mono: time.Hour + d} }

func estimate(v, lo, hi float64) model.Estimate {
	return model.Estimate{Value: model.Of(v), Lo: model.Of(lo), Hi: model.Of(hi), Enough: true}
}

func beyond(lo float64) model.Estimate { return model.Estimate{Lo: model.Of(lo), Open: true} }

func tooFew(e model.Estimate) model.Estimate {
	e.Enough = false
	return e
}

func exact(v float64) model.Share {
	return model.Share{Lo: model.Of(v), Hi: model.Of(v), Point: model.Of(v)}
}

// calm is a healthy service.
func calm() *model.Frame {
	return &model.Frame{
		Schema: model.Schema, At: at(14 * time.Minute), WindowS: 60, CoveredS: model.Of(58), Events: []model.Event{},
		Targets: []model.TargetView{
			healthy("vllm-0:8000"),
			healthy("vllm-1:8000"),
		},
		Workflows: []model.WorkflowView{{
			Name: "acme/chat-70b", AssumedObjectives: true, State: model.Up, Condition: model.IsUndecided, Since: at(0),
			Requests: model.Requests{
				Started: model.Of(1034), Finished: model.Of(1032), PerSecond: model.Of(17.2), Running: model.Of(8),
				Waiting: model.Of(0), Failed: model.Of(0), Cancelled: model.Of(0), Unaccounted: model.Of(0), Basis: model.OverWindow,
			},
			Tokens: model.Tokens{PromptPerSecond: model.Of(12345), OutputPerSecond: model.Of(1830), CachedPromptShare: model.Of(.05)},
			TTFT:   dist(240, .21, estimate(.182, .17, .2), estimate(.64, .5, .75), tooFew(estimate(1.63, 1, 2.5))),
			ITL:    dist(18000, .021, estimate(.02, .01, .025), estimate(.04, .025, .05), estimate(.07, .05, .075)),
			TPOT:   dist(1032, .022, estimate(.2, 0, .3), estimate(.04, .025, .05), beyond(160)),
			E2E:    dist(1032, 4.2, estimate(4, 2.5, 5), estimate(9, 7.5, 10), estimate(14, 10, 15)),
			Queue:  dist(1032, .01, estimate(.15, 0, .3), estimate(.29, 0, .3), estimate(.297, 0, .3)),

			KVCacheUsage: model.Of(.712), PrefixCacheHit: model.Of(.05), PreemptionsPerSec: model.Of(0),
			Objectives: []model.ObjectiveView{
				{Metric: "ttft", MaxS: 1, Share: exact(.979), Target: .95, Verdict: model.Met},
				{Metric: "tpot", MaxS: .05, Share: model.Share{Lo: model.Of(.9), Hi: model.Of(.97), Point: model.Of(.93)}, Target: .95, Verdict: model.Undecided},
			},
			Promised: model.Promise{Share: .95, PeriodS: 86400},
			Goodput: &model.GoodputView{
				Share: model.Share{Lo: model.Of(.879), Hi: model.Of(.97)}, PerSecond: between(15.6, 17.2), OutputPerSecond: between(1610, 1830),
				Basis: model.ByHistograms, N: 1032, Target: model.Of(.95), Verdict: model.Undecided,
				Why: "the bounds of the share lie on both sides of what was promised",
				Of:  model.Denominator{Judged: 1032, Finished: model.Of(1032), Cancelled: model.Of(0), Excluded: model.Of(0), Unaccounted: model.Of(0)},
			},
			Budget: &model.BudgetView{
				Burn:      model.Burn{M2: model.Of(.6), M5: model.Of(.5)},
				Remaining: model.Of(.97), PeriodS: 86400, ObservedS: 840, Allowed: model.Of(722), Bad: model.Of(21), ExhaustedIn: model.Of(168000),
			},
			Targets: []string{"vllm-0:8000", "vllm-1:8000"}, Replicas: model.Replicas{Fresh: 2, Total: 2},
			Missing: []model.Signal{model.Prefill}, Notes: []string{},
			Outside: &model.OutsideView{
				Mean: model.Of(.17), Gateway: dist(500, .38, estimate(.35, .3, .4), estimate(.8, .5, 1), estimate(1.9, 1, 2.5)),
				Engine: dist(510, .21, estimate(.182, .17, .2), estimate(.64, .5, .75), estimate(1.63, 1, 2.5)),
			},
		}},
		Alerts: []model.AlertView{},
	}
}

func between(lo, hi float64) model.Range { return model.Range{Lo: model.Of(lo), Hi: model.Of(hi)} }

// loadTest is what single requests tell: phases, outcomes, a generator's
// schedule, stages, and alerts in all states.
func loadTest() *model.Frame {
	f := calm()
	f.Targets = f.Targets[:1]
	w := &f.Workflows[0]
	w.Name, w.AssumedObjectives, w.Condition, w.Replicas = "checkout", false, model.IsMissed, model.Replicas{Fresh: 1, Total: 1}
	w.Requests = model.Requests{
		Started: model.Of(47), Finished: model.Of(36), PerSecond: model.Of(.6), Running: model.Of(2), Waiting: model.Of(1),
		Failed: model.Of(9), Cancelled: model.Of(1), Unaccounted: model.Of(0), OutputLimit: model.Of(2), Retries: model.Of(3), Basis: model.FromEvents,
		FailedBy: []model.Cause{{Reason: "429 rate_limited", N: 9}}, CancelledBy: []model.Cause{{Reason: "client_disconnect", N: 1}},
	}
	w.Tokens.Output = &model.Known{Sum: 915, N: 3, Unknown: 2}
	w.Phases = &model.Phases{Queued: model.Of(1), PreparingContext: model.Of(0), WaitingForModel: model.Of(1), Streaming: model.Of(1), Unknown: model.Of(1)}
	w.E2E.Basis, w.ITL, w.Queue = model.FromEvents, nil, nil
	w.FirstAnswer = dist(36, 1.3, estimate(1.24, 1.23, 1.25), estimate(1.58, 1.57, 1.6), tooFew(estimate(1.6, 1.59, 1.61)))
	w.Response = dist(10, .65, estimate(.6, .59, .61), tooFew(estimate(1.1, 1.09, 1.11)), tooFew(estimate(1.1, 1.09, 1.11)))
	w.Load = &model.LoadView{OfferedPerSecond: model.Of(10), SentPerSecond: model.Of(5), BehindS: model.Of(.9)}
	w.Objectives = []model.ObjectiveView{
		{Metric: model.MetricTTFT, MaxS: .5, Share: exact(.75), N: 36, Target: .999, Verdict: model.Missed},
		{Metric: model.MetricFirstAnswer, MaxS: 2, Share: exact(1), N: 36, Target: .999, Verdict: model.Met},
		{Metric: model.MetricTPOT, MaxS: .02, Share: model.Share{Lo: model.Of(.6), Hi: model.Of(.9), Point: model.Of(.8)}, N: 36, Target: .999, Verdict: model.Missed, Bounds: between(.01, .025)},
	}
	w.Promised = model.Promise{Share: .999, PeriodS: 30 * 86400, Reader: model.ReaderHuman, TruncatedBad: true}
	w.Goodput = &model.GoodputView{
		Share: exact(.6), PerSecond: between(.45, .45), OutputPerSecond: between(100, 100), Basis: model.ByRequests, N: 45, Target: model.Of(.999), Verdict: model.Missed,
		Of:     model.Denominator{Judged: 45, Finished: model.Of(36), Failed: 9, Cancelled: model.Of(1), Excluded: model.Of(1), Unaccounted: model.Of(0)},
		Sample: between(.451, .73), Evidence: &model.EvidenceView{Lo: model.Of(.4), Hi: model.Of(.78), DesignEffect: 4}, UserShare: exact(.72),
	}
	w.Budget = &model.BudgetView{
		Burn: model.Burn{M2: model.Of(400), M5: model.Missing(model.NoTraffic)}, Remaining: model.Of(-3.5), PeriodS: 30 * 86400, ObservedS: 840,
		Allowed: model.Of(4), Bad: model.Of(18), Text: "18 of 45 bad in 5 min",
	}
	w.Deadline = &model.DeadlineView{
		Began: at(time.Minute), DeadlineS: 3600, LeftS: model.Of(2820), Remaining: model.Of(1200), PerSecond: model.Of(.3), NeedsS: model.Of(4000), Verdict: model.Missed,
	}
	w.WaitNow, w.BreachIn = model.Of(.3), model.Of(40)
	w.Worst = &model.WorstReplica{Target: "vllm-1:8000", Metric: model.MetricTTFT, Latency: dist(10, 7.4, tooFew(estimate(7.5, 5, 10)), tooFew(estimate(9.95, 5, 10)), tooFew(beyond(10)))}
	f.Goodput = w.Goodput
	f.Alerts, f.AlertLog = alertsOf()
	f.LogDropped = 12
	f.Unjudged = []model.Unjudged{
		{Rule: "wait too long", Workflow: "checkout", Why: "no target exports requests waiting"},
		{Rule: "burn", Target: "vllm-0:8000", Why: "no finish counts"},
	}
	stage := func(name string, goodput *model.GoodputView) model.StageWorkflow {
		return model.StageWorkflow{Name: name, Finished: model.Of(36), PerSecond: model.Of(.6), OutputPerSecond: model.Of(120), TTFT: w.TTFT, TPOT: w.TPOT, Goodput: goodput}
	}
	f.Stages = []model.StageView{
		{Name: "A", From: at(0), To: at(10 * time.Minute), Workflows: []model.StageWorkflow{stage("checkout", w.Goodput), stage("other", nil)}},
		{Name: "B 20 users", From: at(10 * time.Minute)},
	}
	return f
}

func alertsOf() ([]model.AlertView, []model.AlertEvent) {
	alerts := []model.AlertView{
		{
			ID: "a", Rule: "burn main", Severity: model.Page, Workflow: "checkout", State: model.AlertFiring, Text: "burn 400 over 5 min, allowed 6",
			Since: at(9 * time.Minute), FiredAt: at(9 * time.Minute), LastAt: at(14 * time.Minute), Times: 2, Acknowledged: true,
		},
		{
			ID: "b", Rule: "target down", Severity: model.Warn, State: model.AlertFiring, Text: "30 of 30 targets down", Since: at(12 * time.Minute),
			Stale: true, Members: []string{"a", "b", "c"},
		},
		{ID: "c", Rule: "stalled", Severity: model.Page, Target: "vllm-0:8000", State: model.AlertUnknown, Text: "unknown because down", Cause: "b"},
		{
			ID: "d", Rule: "queue", Severity: model.Note, Workflow: "checkout", State: model.AlertResolved, Text: "waiting 3, limit 50",
			Since: at(time.Minute), ResolvedAt: at(5 * time.Minute),
		},
	}
	log := []model.AlertEvent{
		{At: at(9 * time.Minute), ID: "a", Rule: "burn main", Severity: model.Page, Workflow: "checkout", State: model.AlertFiring, Text: "burn 400 over 5 min, allowed 6", Times: 3},
	}
	for i := range maxLog + 5 {
		log = append(log, model.AlertEvent{At: at(5*time.Minute - time.Duration(i)*time.Second), ID: "d", Rule: "queue", Severity: model.Note, State: model.AlertResolved, Text: "waiting 3"})
	}
	return alerts, log
}

func dist(n, mean float64, p50, p95, p99 model.Estimate) *model.Dist {
	return &model.Dist{N: n, Mean: model.Of(mean), P50: p50, P90: p95, P95: p95, P99: p99, Basis: model.OverWindow}
}

func healthy(name string) model.TargetView {
	return model.TargetView{
		Name: name, ID: model.TargetID("http://" + name + "/metrics"), Kind: "engine", Engine: "vllm", Version: "0.12.0",
		State: model.Up, Since: at(0), LastGoodAt: at(14 * time.Minute), TookS: model.Of(.004), Polls: 840,
		Models: []string{"acme/chat-70b"}, Missing: []model.Signal{}, Notes: []string{}, Meanings: []model.Meaning{},
		Running: model.Of(4), Waiting: model.Of(0), KVCacheUsage: model.Of(.7), RequestsPerSecond: model.Of(8.6),
		OutputPerSecond: model.Of(915),
		TTFT:            dist(120, .21, estimate(.182, .17, .2), estimate(.64, .5, .75), estimate(1.63, 1, 2.5)),
		Engines:         []model.EngineView{},
	}
}

// incident is a bad night: every kind of trouble and of missing number at once,
// the names hostile.
func incident() *model.Frame {
	f := calm()
	f.Simulated = true
	f.CoveredS = model.Of(20)
	now := at(14 * time.Minute)
	f.Events, f.EventsDropped = []model.Event{
		{At: at(9 * time.Minute), Kind: model.EventDeploy, Target: "chat \x1b[31mv42"},
		{At: at(10 * time.Minute), Kind: model.EventBreach, Workflow: "acme/chat-70b"},
	}, 1
	down := model.TargetView{
		Name: "10.1.2.3:8000", Kind: "engine", State: model.Down, Since: at(12 * time.Minute), Polls: 60, FailedPolls: 12,
		LastGoodAt: at(11 * time.Minute),
		Fault: &model.FaultView{
			Fault:      model.Fault{Kind: model.NotMetrics, Detail: "an HTML page of 1,234 bytes: <title>\x1b[2J\x1b]0;owned\x07</title>; is /metrics the right path?"},
			LastGoodAt: at(11 * time.Minute),
		},
		Running: model.Missing(model.Stale), Waiting: model.Missing(model.Stale), KVCacheUsage: model.Missing(model.Unsupported),
		Missing: []model.Signal{model.KVUsage, model.E2E, model.Decode}, Restarts: 1, RestartedAt: at(9*time.Minute + 3*time.Second),
	}
	stalled := healthy("/srv/models/with/a/very/long/path/that/no/column/holds/chat 70b/")
	stalled.State, stalled.Since = model.Stalled, at(13*time.Minute+12*time.Second)
	stalled.BadLines, stalled.FirstBad = 2, "2 lines skipped (5, 8): line 5: stray quote: foo{a=\"b\"c\"} 1"
	stalled.Dropped = 17
	stalled.TTFT = &model.Dist{Basis: model.OverWindow}
	stalled.OutputPerSecond, stalled.ReportedOutput = model.Of(0), model.Of(412.5)
	stalled.Notes = []string{"8 process copies of kv_cache_usage_perc"}
	stalled.Meanings = []model.Meaning{
		{Signal: model.ITL, Metric: "vllm:time_per_output_token_seconds", Measures: "gap between two chunks"},
		{Signal: model.TTFT, Metric: "vllm:time_to_first_token_seconds"},
	}
	stalled.Engines = []model.EngineView{
		{ID: "0", Running: model.Of(4), Waiting: model.Of(0), KVCacheUsage: model.Of(1)},
		{ID: "1", Running: model.Of(0), Waiting: model.Of(7), KVCacheUsage: model.Of(0)},
	}
	never := model.TargetView{Name: "gateway", Kind: "engine"}
	fresh := model.TargetView{
		Name: "new", Kind: "engine", State: model.Down, Polls: 1, FailedPolls: 1,
		Fault: &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nothing listens on 127.0.0.1:8000"}},
	}
	f.Targets = []model.TargetView{down, stalled, never, fresh, f.Targets[0]}
	hostile := model.WorkflowView{
		Name: "acme\x1b]0;owned\x07\x1b[2J\u202egnp.70b\r0 OK\u009b5m模型", State: model.Stalled, Condition: model.IsStalled, Since: at(13*time.Minute + 12*time.Second),
		Requests: model.Requests{
			Started: model.Of(7200), Finished: model.Of(3500), Running: model.Of(4), Waiting: model.Of(7), PerSecond: model.Of(0),
			Failed: model.Missing(model.Unsupported), Unaccounted: model.Of(3696), Basis: model.SinceStart,
		},
		TTFT: &model.Dist{N: 10, Mean: model.Of(1.2), P50: tooFew(estimate(1.5, 1, 2.5)), P95: tooFew(beyond(7.5)), P99: tooFew(beyond(7.5)), Basis: model.SinceStart, Fidelity: model.Coarse},
		ITL:  &model.Dist{N: 0, Basis: model.OverWindow},
		E2E:  &model.Dist{N: 100, Mean: model.Of(2), Partial: true, Basis: model.OverWindow},
		Queue: &model.Dist{
			N: 100, Mean: model.Of(.0003), Basis: model.FromEvents,
		},
		KVCacheUsage: model.Missing(model.Unsupported), PrefixCacheHit: model.Missing(model.NoTraffic),
		Tokens:   model.Tokens{OutputPerSecond: model.Of(0), PromptPerSecond: model.Missing(model.Stale)},
		Missing:  []model.Signal{model.TPOT, model.KVUsage, model.Cancelled, model.PrefixHits},
		Notes:    []string{"replicas differ in buckets: percentiles use the common ones", "TTFT here leaves out waiting: mean 0.15 s, but E2E − decode is 5.80 s"},
		Replicas: model.Replicas{Fresh: 1, Total: 2},
		Objectives: []model.ObjectiveView{
			{Metric: "ttft", MaxS: 1, Target: .95, Verdict: model.NoData},
			{Metric: "tpot", MaxS: .05, Target: .95, Verdict: model.CannotCompute},
		},
	}
	f.Workflows = append([]model.WorkflowView{hostile}, f.Workflows...)
	f.Alerts = []model.AlertView{{
		ID: "stalled/x", Rule: "stalled", Target: model.Text(stalled.Name), State: "firing", Since: stalled.Since,
		Text: "no progress: 4 running, 7 waiting, 0 tok/s for 48 s",
	}}
	f.At = now
	return f
}

// empty is the first tick: nothing is known yet.
func empty() *model.Frame {
	return &model.Frame{
		Schema: model.Schema, At: at(0), WindowS: 60, Events: []model.Event{},
		Targets:   []model.TargetView{{Name: "localhost:8000", Kind: "engine", ID: "localhost:8000"}},
		Workflows: []model.WorkflowView{}, Alerts: []model.AlertView{},
	}
}

// onlyGPUs is a host whose GPUs alone are watched.
func onlyGPUs() *model.Frame {
	f := empty()
	f.Targets[0].Kind = model.GPUTarget
	return f
}

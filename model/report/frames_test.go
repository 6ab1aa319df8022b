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
		Schema: model.Schema, At: at(14 * time.Minute), WindowS: 60, CoveredS: model.Of(58),
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
			Targets: []string{"vllm-0:8000", "vllm-1:8000"}, Replicas: model.Replicas{Fresh: 2, Total: 2},
			Missing: []model.Signal{model.Prefill}, Notes: []string{},
		}},
		Alerts: []model.AlertView{},
	}
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
		Schema: model.Schema, At: at(0), WindowS: 60,
		Targets:   []model.TargetView{{Name: "localhost:8000", Kind: "engine", ID: "localhost:8000"}},
		Workflows: []model.WorkflowView{}, Alerts: []model.AlertView{},
	}
}

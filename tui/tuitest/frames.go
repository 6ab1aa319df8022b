// Package tuitest holds frames to draw, compares drawings with goldens and
// checks their size. It draws nothing itself.
package tuitest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"slotop/model"
)

// Named is a frame with the name of its goldens.
type Named struct {
	Name  string
	Frame *model.Frame
}

// start is the first instant of every frame here; At is the last.
var (
	start = model.Instant{Wall: time.Date(2026, 3, 1, 2, 50, 0, 0, time.UTC), Mono: time.Second}
	// At is the instant of the frames.
	At = start.Add(24*time.Minute + 7*time.Second)
)

// ago is an instant before At.
func ago(d time.Duration) model.Instant { return At.Add(-d) }

// All is every frame that panes are drawn with.
func All() []Named {
	return []Named{
		{"calm", Calm()}, {"breach", Breach()}, {"stale", Stale()}, {"empty", Empty()},
		{"first", First()}, {"mixed", Mixed()}, {"huge", Huge()}, {"hostile", Hostile()},
	}
}

// base is a frame with its instant and nothing in it.
func base() *model.Frame {
	return &model.Frame{
		Schema: model.Schema, At: At, WindowS: 60, CoveredS: model.Of(60),
		Every: time.Second, Started: start, Alerts: []model.AlertView{},
	}
}

// estimate is a quantile inside a bracket.
func estimate(v, lo, hi float64) model.Estimate {
	return model.Estimate{Value: model.Of(v), Lo: model.Of(lo), Hi: model.Of(hi), Enough: true}
}

// beyond is a quantile past the last bucket.
func beyond(lo float64) model.Estimate {
	return model.Estimate{Lo: model.Of(lo), Open: true, Enough: true}
}

// dist is a distribution with p95 between lo and hi.
func dist(n, p50, p95, lo, hi float64) *model.Dist {
	return &model.Dist{
		N: n, Mean: model.Of(p50 * 1.2), Basis: model.OverWindow,
		P50: estimate(p50, p50*0.9, p50*1.08), P90: estimate(p95*0.9, lo, hi),
		P95: estimate(p95, lo, hi), P99: estimate(hi*0.99, lo, hi),
	}
}

// phases gives a workflow the exact means that add up to its E2E.
func phases(w *model.WorkflowView, queue, prefill, decode float64) {
	n := w.Requests.Finished.Value
	mean := func(v float64) *model.Dist { return &model.Dist{N: n, Mean: model.Of(v), Basis: model.OverWindow} }
	w.Queue, w.Prefill, w.Decode = mean(queue), mean(prefill), mean(decode)
	w.E2E.N, w.E2E.Mean = n, model.Of(queue+prefill+decode)
}

// none is a distribution without a sample.
func none() *model.Dist { return &model.Dist{Basis: model.OverWindow} }

// objective is a bound with the share that met it.
func objective(metric model.Metric, most, lo, hi float64, v model.Verdict) model.ObjectiveView {
	o := model.ObjectiveView{Metric: metric, MaxS: most, Target: 0.95, Verdict: v}
	if v == model.Met || v == model.Missed || v == model.Undecided {
		o.Share = model.Share{Lo: model.Of(lo), Hi: model.Of(hi), Point: model.Of((lo + hi) / 2)}
	}
	return o
}

// workflow is a healthy one with moderate traffic.
func workflow(name string, perSecond, ttft, tpot float64, targets ...string) model.WorkflowView {
	n := math.Round(perSecond * 60)
	w := model.WorkflowView{
		Name: name, AssumedObjectives: true,
		Requests: model.Requests{
			Started: model.Of(n + 3), Finished: model.Of(n), PerSecond: model.Of(perSecond),
			Running: model.Of(math.Round(perSecond * 3)), Waiting: model.Of(0), Unaccounted: model.Of(0), Basis: model.OverWindow,
		},
		Tokens: model.Tokens{
			PromptPerSecond: model.Of(perSecond * 700), OutputPerSecond: model.Of(perSecond * 210),
			CachedPromptShare: model.Of(0.62),
		},
		TTFT: dist(n, ttft*0.4, ttft, ttft*0.8, ttft*1.6), TPOT: dist(n, tpot*0.7, tpot, tpot*0.9, tpot*1.05),
		ITL: dist(n*200, tpot*0.6, tpot*1.2, tpot, tpot*2), E2E: dist(n, ttft+tpot*150, ttft+tpot*300, ttft+tpot*250, ttft+tpot*400),
		KVCacheUsage: model.Of(0.14), PrefixCacheHit: model.Of(0.712), PreemptionsPerSec: model.Of(0),
		Objectives: []model.ObjectiveView{
			objective("ttft", 1, 0.996, 0.996, model.Met), objective("tpot", 0.05, 0.989, 0.989, model.Met),
		},
		Targets: targets, Replicas: model.Replicas{Fresh: len(targets), Total: len(targets)},
		State: model.Up, Condition: model.IsMet, Since: ago(24 * time.Minute), History: past(ttft, tpot, perSecond, shapeCalm),
	}
	phases(&w, 0.004, ttft*0.4, tpot*120)
	return w
}

// target is a healthy engine.
func target(name string, running, waiting, kv float64) model.TargetView {
	return model.TargetView{
		Name: name, ID: model.TargetID("http://" + name + "/metrics"), Kind: "engine",
		Engine: "vllm", Version: "0.11.0", State: model.Up, Since: ago(23 * time.Minute), LastGoodAt: ago(200 * time.Millisecond),
		TookS: model.Of(0.0031), Polls: 1447, Models: []string{"acme/chat-70b"},
		Running: model.Of(running), Waiting: model.Of(waiting), KVCacheUsage: model.Of(kv),
		RequestsPerSecond: model.Of(4.1), OutputPerSecond: model.Of(912), PreemptionsPerSec: model.Of(0),
		TTFT: dist(246, 0.021, 0.18, 0.1, 0.25), TPOT: dist(240, 0.012, 0.0213, 0.02, 0.022),
		Meanings: []model.Meaning{
			{Signal: model.Running, Metric: "vllm:num_requests_running"},
			{Signal: model.Waiting, Metric: "vllm:num_requests_waiting"},
			{Signal: model.KVUsage, Metric: "vllm:kv_cache_usage_perc"},
			{Signal: model.TTFT, Metric: "vllm:time_to_first_token_seconds"},
			{Signal: model.TPOT, Metric: "vllm:request_time_per_output_token_seconds", AtFinish: true},
			{Signal: model.ITL, Metric: "vllm:inter_token_latency_seconds", Measures: "the gap between two streamed events, not tokens: several tokens may come in one"},
		},
		Missing: []model.Signal{model.Swapped, model.SpecAcceptLength},
		Notes:   []string{"8 process copies of kv_cache_usage_perc, the largest counts"},
	}
}

// Calm is three workflows that all meet their objectives on two engines.
func Calm() *model.Frame {
	f := base()
	f.Workflows = []model.WorkflowView{
		workflow("chat", 8.1, 0.18, 0.0213, "vllm-0:8000", "vllm-1:8000"),
		workflow("summarize", 0.6, 0.41, 0.0225, "vllm-0:8000", "vllm-1:8000"),
		workflow("batch-eval", 0.8, 0.22, 0.0219, "vllm-0:8000", "vllm-1:8000"),
	}
	f.Targets = []model.TargetView{target("vllm-0:8000", 14, 0, 0.14), target("vllm-1:8000", 13, 0, 0.13)}
	return f
}

// Breach is incident S1: chat gets four times its traffic.
func Breach() *model.Frame {
	f := Calm()
	f.Simulated = true
	chat := &f.Workflows[0]
	*chat = workflow("chat", 17.2, 7, 0.069, "vllm-0:8000", "vllm-1:8000")
	chat.Requests.Running, chat.Requests.Waiting = model.Of(228), model.Of(208)
	chat.Requests.Unaccounted = model.Of(412)
	chat.TTFT.N, chat.TTFT.P95, chat.TTFT.P99 = 1892, beyond(7.5), beyond(7.5)
	chat.TTFT.P50 = estimate(6.9, 5, 7.5)
	chat.TPOT = dist(1032, 0.061, 0.0694, 0.065, 0.075)
	chat.KVCacheUsage, chat.PreemptionsPerSec = model.Of(0.99), model.Of(1.04)
	chat.Tokens.OutputPerSecond, chat.Tokens.PromptPerSecond = model.Of(3625), model.Of(12100)
	chat.Objectives = []model.ObjectiveView{
		objective("ttft", 1, 0, 0.03, model.Missed), objective("tpot", 0.05, 0.02, 0.11, model.Missed),
	}
	phases(chat, 9.4, 0.21, 3.2)
	chat.Condition = model.IsMissed
	chat.Since, chat.History = ago(4*time.Minute+12*time.Second), past(7, 0.069, 17.2, shapeBreach)
	sum := &f.Workflows[1]
	sum.TTFT = dist(36, 2.1, 3.2, 2.5, 5)
	sum.TPOT = dist(36, 0.058, 0.066, 0.05, 0.075)
	sum.Objectives = []model.ObjectiveView{
		objective("ttft", 3, 0.62, 0.96, model.Undecided), objective("tpot", 0.075, 0.97, 0.97, model.Met),
	}
	sum.Condition = model.IsUndecided
	sum.Since, sum.History = ago(2*time.Minute+40*time.Second), past(3.2, 0.066, 0.6, shapeBreach)
	for i := range f.Targets {
		t := &f.Targets[i]
		*t = target(t.Name, 116-float64(4*i), 104, 0.99-0.01*float64(i))
		t.Simulated = true
		t.OutputPerSecond, t.PreemptionsPerSec = model.Of(1812), model.Of(0.52)
		t.TTFT.P95, t.TTFT.P50 = beyond(7.5), estimate(6.9, 5, 7.5)
		t.TPOT = dist(516, 0.061, 0.0694, 0.065, 0.075)
	}
	return f
}

// Stale is one of two engines gone for a minute, the other silent.
func Stale() *model.Frame {
	f := Calm()
	gone := &f.Targets[0]
	gone.State, gone.Since, gone.LastGoodAt = model.Down, ago(64*time.Second), ago(65*time.Second)
	gone.FailedPolls = 64
	gone.Fault = &model.FaultView{
		Fault:      model.Fault{Kind: model.Refused, Detail: "nothing listens at vllm-0:8000: is the server running, and is this its port?"},
		LastGoodAt: gone.LastGoodAt,
	}
	silent := &f.Targets[1]
	silent.State, silent.Since, silent.LastGoodAt = model.StaleAt, ago(19*time.Second), ago(19*time.Second)
	silent.FailedPolls = 2
	silent.Fault = &model.FaultView{
		Fault:      model.Fault{Kind: model.Timeout, Detail: "vllm-1:8000 did not answer in time"},
		LastGoodAt: silent.LastGoodAt,
	}
	for i := range f.Workflows {
		w := &f.Workflows[i]
		w.State, w.Condition, w.Since, w.Replicas.Fresh = model.Down, model.IsDown, ago(19*time.Second), 0
		w.Requests = model.Requests{}
		w.Tokens = model.Tokens{}
		w.TTFT, w.TPOT, w.ITL, w.E2E = nil, nil, nil, nil
		w.Queue, w.Prefill, w.Decode = nil, nil, nil
		w.KVCacheUsage, w.PrefixCacheHit, w.PreemptionsPerSec = model.Reading{}, model.Reading{}, model.Reading{}
		for j := range w.Objectives {
			w.Objectives[j] = objective(w.Objectives[j].Metric, w.Objectives[j].MaxS, 0, 0, model.CannotCompute)
		}
		w.History = past(0.2, 0.02, 4, shapeLost)
	}
	return f
}

// Empty is a frame before any answer: one target refused, one not asked yet.
func Empty() *model.Frame {
	f := base()
	f.At = start.Add(3 * time.Second)
	f.CoveredS = model.Reading{}
	f.Targets = []model.TargetView{
		{Name: "gpu-7:8000", ID: "http://gpu-7:8000/metrics", Kind: "engine"},
		{
			Name: "localhost:8000", ID: "http://localhost:8000/metrics", Kind: "engine", State: model.Down,
			Polls: 3, FailedPolls: 3, Since: start,
			Fault: &model.FaultView{Fault: model.Fault{
				Kind:   model.NotFound,
				Detail: "404 at http://localhost:8000/metrics: metrics are not enabled or lie at another path; vLLM: start without --disable-log-stats; SGLang: --enable-metrics; llama.cpp: --metrics",
			}},
		},
	}
	return f
}

// First is the frame after a single poll: levels are known, rates are not.
func First() *model.Frame {
	f := base()
	f.At, f.CoveredS = start.Add(time.Second), model.Reading{}
	w := model.WorkflowView{
		Name: "acme/chat-70b", AssumedObjectives: true, State: model.Up, Condition: model.IsStarting, Since: start,
		Requests:     model.Requests{Running: model.Of(4), Waiting: model.Of(0)},
		KVCacheUsage: model.Of(0.31), Targets: []string{"vllm-0:8000"}, Replicas: model.Replicas{Fresh: 1, Total: 1},
		Objectives: []model.ObjectiveView{
			objective("ttft", 1, 0, 0, model.CannotCompute), objective("tpot", 0.05, 0, 0, model.CannotCompute),
		},
	}
	w.TTFT, w.TPOT = dist(410, 0.2, 0.9, 0.5, 1), dist(400, 0.015, 0.021, 0.02, 0.022)
	w.TTFT.Basis, w.TPOT.Basis = model.SinceStart, model.SinceStart
	f.Workflows = []model.WorkflowView{w}
	t := target("vllm-0:8000", 4, 0, 0.31)
	t.RequestsPerSecond, t.OutputPerSecond, t.PreemptionsPerSec = model.Reading{}, model.Reading{}, model.Reading{}
	t.TTFT, t.TPOT = nil, nil
	t.Polls, t.Since = 1, start
	f.Targets = []model.TargetView{t}
	return f
}

// Mixed is a workflow in each condition, and a target in each state.
func Mixed() *model.Frame {
	f := base()
	calm := workflow("calm", 2, 0.2, 0.02, "a:8000", "b:8000")
	breached := workflow("slow", 3, 2.2, 0.02, "a:8000")
	breached.Objectives[0] = objective("ttft", 1, 0.81, 0.81, model.Missed)
	breached.Condition = model.IsMissed
	breached.Since, breached.History = ago(95*time.Second), past(2.2, 0.02, 3, shapeBreach)
	wedged := workflow("wedged", 0, 0.2, 0.02, "w:8000")
	wedged.State, wedged.Condition, wedged.Since = model.Stalled, model.IsStalled, ago(25*time.Second)
	wedged.Requests.Waiting, wedged.Requests.Running = model.Of(7), model.Of(0)
	wedged.TTFT, wedged.TPOT = none(), none()
	wedged.Objectives = []model.ObjectiveView{objective("ttft", 1, 0, 0, model.NoData), objective("tpot", 0.05, 0, 0, model.NoData)}
	partial := workflow("half", 1, 0.2, 0.02, "a:8000", "d:8000")
	partial.Replicas.Fresh, partial.Condition = 1, model.IsPartial
	few := workflow("few", 0.05, 0.9, 0.02, "a:8000")
	few.Objectives[0] = objective("ttft", 1, 0.67, 0.67, model.Undecided)
	few.TTFT.P95.Enough = false
	few.Notes = []string{"TTFT here leaves out waiting: mean 0.15 s, but E2E − decode is 3.10 s"}
	few.TTFT.N, few.Condition = 3, model.IsUndecided
	still := workflow("still", 0, 0.2, 0.02, "i:8000")
	still.Condition = model.IsQuiet
	still.State, still.TTFT, still.TPOT, still.ITL, still.E2E = model.Idle, none(), none(), none(), none()
	still.PrefixCacheHit = model.Missing(model.NoTraffic)
	still.Objectives = wedged.Objectives
	bare := workflow("bare", 1, 0.2, 0.02, "t:8000")
	bare.TTFT, bare.TPOT, bare.ITL, bare.E2E = nil, nil, nil, nil
	bare.Queue, bare.Prefill, bare.Decode = nil, nil, nil
	bare.Condition = model.IsBlind
	bare.Missing = []model.Signal{model.TTFT, model.TPOT, model.ITL, model.E2E, model.Queue, model.Prefill, model.Decode}
	bare.KVCacheUsage, bare.PrefixCacheHit = model.Missing(model.Unsupported), model.Missing(model.Unsupported)
	bare.Objectives = []model.ObjectiveView{objective("ttft", 1, 0, 0, model.CannotCompute), objective("tpot", 0.05, 0, 0, model.CannotCompute)}
	gaps := workflow("gaps", 1, 0.3, 0.031, "l:8000")
	gaps.TPOT, gaps.Objectives[1] = nil, objective("tpot", 0.05, 0, 0, model.CannotCompute)
	gaps.Missing = []model.Signal{model.TPOT}
	f.Workflows = []model.WorkflowView{wedged, breached, partial, few, bare, calm, gaps, still} // worst first
	f.Targets = mixedTargets()
	f.Alerts = []model.AlertView{{
		ID: "stalled/w", Rule: "stalled", Target: "w:8000", State: "firing", Since: ago(25 * time.Second),
		Text: "no progress: 0 running, 7 waiting, 0 tok/s for 25 s",
	}}
	return f
}

func mixedTargets() []model.TargetView {
	a, b := target("a:8000", 9, 0, 0.31), target("b:8000", 3, 0, 0.2)
	b.Restarts, b.RestartedAt = 1, ago(3*time.Minute)
	w := target("w:8000", 0, 7, 0)
	w.State, w.Since, w.OutputPerSecond, w.RequestsPerSecond = model.Stalled, ago(25*time.Second), model.Of(0), model.Of(0)
	w.TTFT, w.TPOT = none(), none()
	d := target("d:8000", 5, 1, 0.4)
	d.State, d.Since, d.FailedPolls = model.Down, ago(2*time.Minute), 120
	d.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Certificate, Detail: "certificate not trusted, issued by CN=inference-ca: name its CA in tls_config.ca_file"}, LastGoodAt: ago(2 * time.Minute)}
	s := target("s:8000", 2, 0, 0.1)
	s.State, s.Since, s.LastGoodAt = model.StaleAt, ago(18*time.Second), ago(18*time.Second)
	i := target("i:8000", 0, 0, 0)
	i.State, i.TTFT, i.TPOT, i.OutputPerSecond = model.Idle, none(), none(), model.Of(0)
	i.ReportedOutput = model.Of(412.5)
	n := model.TargetView{Name: "new:8000", ID: "http://new:8000/metrics", Kind: "engine"}
	dp := target("dp:8000", 17, 2, 0.55)
	dp.Engines = []model.EngineView{
		{ID: "0", Running: model.Of(10), Waiting: model.Of(2), KVCacheUsage: model.Of(0.55)},
		{ID: "1", Running: model.Of(7), Waiting: model.Of(0), KVCacheUsage: model.Missing(model.Unsupported)},
	}
	dp.BadLines, dp.FirstBad = 2, `line 5: stray quote: foo{bar="x"y"} 1`
	dp.TPOT, dp.Missing = nil, append(dp.Missing, model.TPOT)
	dp.ITL = dist(9000, 0.012, 0.031, 0.03, 0.033)
	return []model.TargetView{a, b, w, d, s, i, n, dp}
}

// Huge is more workflows and targets than a screen has lines.
func Huge() *model.Frame {
	return Fleet(60, 200)
}

// Fleet is a frame of that many workflows and targets, one in twenty in trouble.
func Fleet(workflows, targets int) *model.Frame {
	f := base()
	shared := workflow("w", 1.5, 0.2, 0.02, "vllm-0:8000")
	for i := range workflows {
		w := shared
		w.Name = fmt.Sprintf("user-%05d", i)
		if i%20 == 7 {
			w.Objectives = []model.ObjectiveView{objective("ttft", 1, 0.5, 0.5, model.Missed), shared.Objectives[1]}
			w.Condition, w.Since = model.IsMissed, ago(5*time.Minute)
		}
		f.Workflows = append(f.Workflows, w)
	}
	slices.SortStableFunc(f.Workflows, func(a, b model.WorkflowView) int { return a.Condition.Rank() - b.Condition.Rank() })
	for i := range targets {
		t := target(fmt.Sprintf("vllm-%d.pool.example:8000", i), float64(i%40), float64(i%7), float64(i%100)/100)
		if i%20 == 3 {
			t.State, t.Since = model.Down, ago(time.Duration(i)*time.Second)
			t.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Timeout, Detail: "did not answer in time"}}
		}
		f.Targets = append(f.Targets, t)
	}
	return f
}

// Hostile is a frame whose strings try to take over the terminal, are wide, or
// are long. The first three are those of a field case.
func Hostile() *model.Frame {
	f := base()
	names := []string{
		"acme\x1b]0;owned\a\x1b[2J\x1b[31mCRIT\x1b[0m", "acme\u202egnp.70b\r0 OK", "acme\x1b]52;c;aGk=\a\u009b5m",
		"模型/通义千问-七十二亿-指令微调版本", "emoji 👩‍👩‍👧‍👦 model 🚀🚀🚀", "/data/models/acme/chat 70b/", `D:\models\"Chat" 72B, {q4} #1` + "\n",
		"x", string([]byte{'b', 0xff, 0xfe, 'd'}), "a very long name that goes on and on without a single slash in it until it ends",
	}
	for i, n := range names {
		w := workflow(n, 1, 0.2, 0.02, n)
		if i < 3 {
			w.Requests.Running = model.Of(float64(3 - i))
		}
		t := target(n, float64(3-i%3), 0, 0.2)
		t.ID = model.TargetID("http://h/" + n)
		t.Models, t.Notes, t.FirstBad, t.BadLines = []string{n}, []string{n}, model.Text(n), 1
		t.Version, t.Engine = model.Text(n), model.Text(n)
		t.Meanings = []model.Meaning{{Signal: model.TTFT, Metric: n, Measures: n}}
		t.Engines = []model.EngineView{{ID: n, Running: model.Of(1)}}
		if i%2 == 1 {
			t.State, t.Since = model.Down, ago(time.Minute)
			t.Fault = &model.FaultView{Fault: model.Fault{Kind: model.NotMetrics, Detail: "HTTP 500: " + n}}
		}
		f.Workflows, f.Targets = append(f.Workflows, w), append(f.Targets, t)
	}
	f.Alerts = []model.AlertView{{Rule: "stalled", Target: model.Text(names[0]), Text: names[0]}}
	return f
}

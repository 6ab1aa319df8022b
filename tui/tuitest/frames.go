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

// States are what a service can be in, as every screen and every pane has to show it.
func States() []Named {
	return []Named{{"calm", Calm()}, {"breach", Breach()}, {"stale", Stale()}, {"empty", Empty()}, {"huge", Crowd()}}
}

// All is every frame that panes are drawn with.
func All() []Named {
	return []Named{
		{"calm", Calm()}, {"breach", Breach()}, {"stale", Stale()}, {"empty", Empty()},
		{"first", First()}, {"mixed", Mixed()}, {"huge", Crowd()}, {"hostile", Hostile()},
		{"loadtest", LoadTest()}, {"switch", Switch()}, {"gpus", GPUs()}, {"onlygpus", OnlyGPUs()},
	}
}

// base is a frame with its instant and nothing in it.
func base() *model.Frame {
	return &model.Frame{
		Schema: model.Schema, At: At, WindowS: 60, CoveredS: model.Of(60),
		Every: time.Second, Started: start, Alerts: []model.AlertView{}, Rules: 12,
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
	of := func(v float64) *model.Dist { return &model.Dist{N: n, Mean: model.Of(v), Basis: model.OverWindow} }
	w.Queue, w.Prefill, w.Decode = of(queue), of(prefill), of(decode)
	w.History.Queue, w.History.Prefill, w.History.Decode = nil, nil, nil
	mean(w.History, queue, prefill, decode)
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
		State: model.Up, Condition: model.IsMet, Since: ago(24 * time.Minute), History: past(ttft, tpot, perSecond, 0.99, shapeCalm),
		WaitNow: model.Of(0),
	}
	phases(&w, 0.004, ttft*0.4, tpot*120)
	promise(&w, between(0.985, 0.991), model.Met, 0.2, 0.94)
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
	total(f, exactly(0.991), model.Met)
	return f
}

// Breach is incident S1: chat gets four times its traffic.
func Breach() *model.Frame {
	f := Calm()
	f.Simulated = true
	breachChat(&f.Workflows[0])
	breachOthers(f)
	f.Alerts = breachAlerts()
	for i := range f.Alerts {
		a := f.Alerts[len(f.Alerts)-1-i]
		f.AlertLog = append(f.AlertLog, entered(a, model.AlertPending, f.At.Sub(a.Since)))
		if !a.FiredAt.IsZero() {
			f.AlertLog = slices.Insert(f.AlertLog, len(f.AlertLog)-1, entered(a, a.State, f.At.Sub(a.FiredAt)))
		}
	}
	total(f, between(0.12, 0.19), model.Missed)
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

func breachChat(chat *model.WorkflowView) {
	*chat = workflow("chat", 17.2, 7, 0.069, "vllm-0:8000", "vllm-1:8000")
	chat.AssumedObjectives = false
	chat.Requests.Running, chat.Requests.Waiting = model.Of(228), model.Of(208)
	chat.Requests.Unaccounted = model.Of(412)
	chat.WaitNow, chat.BreachIn = model.Of(12.1), model.Of(0)
	chat.TTFT.N, chat.TTFT.P95, chat.TTFT.P99 = 1892, beyond(7.5), beyond(7.5)
	chat.TTFT.P50, chat.TTFT.P90, chat.TTFT.Mean = estimate(6.9, 5, 7.5), beyond(7.5), model.Of(9.61)
	chat.TPOT = dist(1032, 0.061, 0.0694, 0.065, 0.075)
	chat.KVCacheUsage, chat.PreemptionsPerSec = model.Of(0.99), model.Of(1.04)
	chat.Tokens.OutputPerSecond, chat.Tokens.PromptPerSecond = model.Of(3625), model.Of(12100)
	chat.Objectives = []model.ObjectiveView{
		objective("ttft", 0.5, 1.0/1892, 1.0/1892, model.Missed), objective("tpot", 0.05, 0.02, 0.11, model.Missed),
	}
	chat.Condition = model.IsMissed
	chat.Since, chat.History = ago(4*time.Minute+12*time.Second), past(7, 0.069, 17.2, 0.02, shapeBreach)
	phases(chat, 9.4, 0.21, 3.2)
	promise(chat, between(0, 0.03), model.Missed, 19.6, 0.62)
	chat.Promised.Reader = model.ReaderHuman
	chat.Budget.Burn.M30 = model.Of(3.1)
	chat.Goodput.Evidence = &model.EvidenceView{Lo: model.Of(0), Hi: model.Of(0.09), DesignEffect: 41}
}

// breachOthers: summarize is met and burns, batch-eval is a job with a deadline.
func breachOthers(f *model.Frame) {
	sum := &f.Workflows[1]
	sum.AssumedObjectives = false
	sum.TTFT = dist(36, 2.1, 3.2, 2.5, 5)
	sum.TPOT = dist(36, 0.058, 0.066, 0.05, 0.075)
	sum.Objectives = []model.ObjectiveView{
		objective("ttft", 3, 0.62, 0.98, model.Undecided), objective("tpot", 0.075, 0.97, 0.97, model.Met),
	}
	sum.Objectives[0].Bounds = model.Range{Lo: model.Of(2.5), Hi: model.Of(5)}
	promise(sum, between(0.951, 0.97), model.Met, 2.1, 0.88)
	sum.Condition = model.IsAtRisk
	sum.Since, sum.History = ago(2*time.Minute+40*time.Second), past(3.2, 0.066, 0.6, 0.95, shapeBreach)
	mean(sum.History, 1.6, 0.31, 8.4)
	batch := &f.Workflows[2]
	batch.Objectives = nil
	unjudged(batch, model.NoData, "")
	batch.Goodput, batch.Budget = nil, nil
	batch.Promised.Reader = model.ReaderProgram
	batch.AssumedObjectives = false
	batch.Deadline = &model.DeadlineView{
		Began: ago(20 * time.Minute), DeadlineS: 3600, LeftS: model.Of(2400), Remaining: model.Of(1440),
		PerSecond: model.Of(0.8), NeedsS: model.Of(1800), Verdict: model.Met,
	}
}

func breachAlerts() []model.AlertView {
	chat := valued(alert("burn/chat", "burn", "chat", model.Page, model.AlertFiring, 4*time.Minute+12*time.Second, 3*time.Minute+2*time.Second,
		"98 % of requests miss an objective: 19.6 times the budget over 5 min"), 19.6, 19.8, 6)
	sum := valued(alert("burn/summarize", "burn", "summarize", model.Warn, model.AlertFiring, 2*time.Minute+40*time.Second, 40*time.Second,
		"10 % of requests miss an objective: 2.1 times the budget over 30 min"), 2.1, 2.4, 2)
	kv := valued(alert("kv/chat", "kv_full", "", model.Note, model.AlertPending, 9*time.Second, 0,
		"KV cache at 99 % and 1.0 preemptions/s on 2 of 2 engines"), 0.99, 0.99, 0.95)
	kv.Members = []string{"vllm-0:8000", "vllm-1:8000"}
	return []model.AlertView{chat, sum, kv}
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
		lost(w, ago(19*time.Second))
		w.History = past(0.2, 0.02, 4, 0.99, shapeLost)
		mean(w.History, 0.004, 0.08, 2.4)
	}
	total(f, model.Share{}, model.NoData)
	return f
}

// lost takes away what is not known of a workflow whose targets are all down.
func lost(w *model.WorkflowView, since model.Instant) {
	w.State, w.Condition, w.Since, w.Replicas.Fresh = model.Down, model.IsDown, since, 0
	w.Requests = model.Requests{}
	w.Tokens = model.Tokens{}
	w.TTFT, w.TPOT, w.ITL, w.E2E = nil, nil, nil, nil
	w.Queue, w.Prefill, w.Decode = nil, nil, nil
	w.KVCacheUsage, w.PrefixCacheHit, w.PreemptionsPerSec = model.Reading{}, model.Reading{}, model.Reading{}
	w.WaitNow = model.Reading{}
	objectives := make([]model.ObjectiveView, len(w.Objectives))
	for j, o := range w.Objectives {
		objectives[j] = objective(o.Metric, o.MaxS, 0, 0, model.CannotCompute)
	}
	w.Objectives = objectives
	unjudged(w, model.NoData, "no target of it answers")
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
			promise(&w, between(0.5, 0.501), model.Missed, 10, -2.4)
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
	hostileAlerts(f, names)
	hostileGPUs(f, names)
	return f
}

// hostileAlerts puts the names wherever an alert or a stage has a text.
func hostileAlerts(f *model.Frame, names []string) {
	for i, state := range []model.AlertState{model.AlertFiring, model.AlertPending, model.AlertUnknown, model.AlertResolved} {
		n := names[i]
		a := alert(n, n, n, model.Page, state, time.Minute, time.Minute, n)
		a.Target, a.Members, a.Cause = model.Text(n), names, model.Text(names[0])
		f.Alerts, f.AlertLog = append(f.Alerts, a), append(f.AlertLog, entered(a, state, time.Minute))
		f.Unjudged = append(f.Unjudged, model.Unjudged{Rule: n, Workflow: model.Text(n), Target: model.Text(n), Why: n})
		f.Stages = append(f.Stages, model.StageView{Name: n, From: ago(time.Duration(4-i) * time.Minute), Workflows: []model.StageWorkflow{{Name: n}}})
	}
}

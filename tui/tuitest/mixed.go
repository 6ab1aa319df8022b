package tuitest

import (
	"time"

	"slotop/model"
)

// Mixed is a workflow in each condition, and a target in each state.
func Mixed() *model.Frame {
	f := base()
	calm := workflow("calm", 2, 0.2, 0.02, "a:8000", "b:8000")
	breached := workflow("slow", 3, 2.2, 0.02, "a:8000")
	breached.Objectives[0] = objective("ttft", 1, 0.81, 0.81, model.Missed)
	breached.Condition = model.IsMissed
	breached.Since, breached.History = ago(95*time.Second), past(2.2, 0.02, 3, 0.81, shapeBreach)
	mean(breached.History, 0.9, 0.2, 2.4)
	partial := workflow("half", 1, 0.2, 0.02, "a:8000", "d:8000")
	partial.Replicas.Fresh, partial.Condition = 1, model.IsPartial
	promise(&breached, between(0.8, 0.81), model.Missed, 3.9, -0.35)
	breached.Outside = &model.OutsideView{Mean: model.Of(2.05), Gateway: dist(190, 2, 2.2, 1, 2.5), Engine: dist(188, 0.3, 0.5, 0.25, 0.75)}
	partial.Outside = &model.OutsideView{
		Gateway: none(), Engine: none(), Note: "no first token on both sides in the window",
	}
	wedged := workflow("wedged", 0, 0.2, 0.02, "w:8000")
	wedged.State, wedged.Condition, wedged.Since = model.Stalled, model.IsStalled, ago(25*time.Second)
	wedged.Requests.Waiting, wedged.Requests.Running, wedged.WaitNow = model.Of(7), model.Of(0), model.Reading{}
	wedged.TTFT, wedged.TPOT = none(), none()
	wedged.Objectives = []model.ObjectiveView{objective("ttft", 1, 0, 0, model.NoData), objective("tpot", 0.05, 0, 0, model.NoData)}
	unjudged(&wedged, model.NoData, "no request ended in the window")
	few := workflow("few", 0.05, 0.9, 0.02, "a:8000")
	few.Objectives[0] = objective("ttft", 1, 0.67, 0.67, model.Undecided)
	few.TTFT.P95.Enough = false
	few.Notes = []string{"TTFT here leaves out waiting: mean 0.15 s, but E2E − decode is 3.10 s"}
	few.TTFT.N, few.Condition = 3, model.IsUndecided
	promise(&few, between(0.66, 0.67), model.Undecided, 0, 0.97)
	few.Goodput.N, few.Goodput.Sample = 3, model.Range{Lo: model.Of(0.21), Hi: model.Of(0.94)}
	few.Goodput.Why = "3 requests are too few to judge: 2 of 3 within all objectives"
	few.Budget.Burn, few.Budget.Text = model.Burn{}, "1 of 3 bad in 5 min"
	still := workflow("still", 0, 0.2, 0.02, "i:8000")
	still.Condition = model.IsQuiet
	still.State, still.TTFT, still.TPOT, still.ITL, still.E2E = model.Idle, none(), none(), none(), none()
	still.PrefixCacheHit = model.Missing(model.NoTraffic)
	still.Objectives = wedged.Objectives
	unjudged(&still, model.NoData, "")
	bare := workflow("bare", 1, 0.2, 0.02, "t:8000")
	bare.TTFT, bare.TPOT, bare.ITL, bare.E2E = nil, nil, nil, nil
	bare.Queue, bare.Prefill, bare.Decode = nil, nil, nil
	bare.Condition = model.IsBlind
	bare.Missing = []model.Signal{model.TTFT, model.TPOT, model.ITL, model.E2E, model.Queue, model.Prefill, model.Decode}
	bare.KVCacheUsage, bare.PrefixCacheHit = model.Missing(model.Unsupported), model.Missing(model.Unsupported)
	bare.Objectives = []model.ObjectiveView{objective("ttft", 1, 0, 0, model.CannotCompute), objective("tpot", 0.05, 0, 0, model.CannotCompute)}
	unjudged(&bare, model.CannotCompute, "")
	gaps := workflow("gaps", 1, 0.3, 0.031, "l:8000")
	gaps.TPOT, gaps.Objectives[1] = nil, objective("tpot", 0.05, 0, 0, model.CannotCompute)
	gaps.Missing = []model.Signal{model.TPOT}
	risky := workflow("risky", 4, 0.9, 0.04, "b:8000")
	promise(&risky, between(0.955, 0.96), model.Met, 1.6, 0.41)
	risky.Condition, risky.Since = model.IsAtRisk, ago(6*time.Minute)
	rest := workflow(model.OtherName, 0.4, 0.3, 0.03, "a:8000", "b:8000")
	rest.Objectives, rest.Goodput, rest.Budget = nil, nil, nil
	f.Workflows = []model.WorkflowView{wedged, breached, partial, risky, few, bare, calm, gaps, rest, still} // worst first
	f.Targets = mixedTargets()
	f.Alerts, f.AlertLog, f.Unjudged = mixedAlerts()
	f.LogDropped = 31
	return f
}

// mixedAlerts is an alert in each state.
func mixedAlerts() ([]model.AlertView, []model.AlertEvent, []model.Unjudged) {
	stalled := alert("stalled/w", "stalled", "", model.Page, model.AlertFiring, 25*time.Second, 20*time.Second,
		"no progress: 0 running, 7 waiting, 0 tok/s for 25 s")
	stalled.Target = "w:8000"
	slow := valued(alert("burn/slow", "burn", "slow", model.Page, model.AlertFiring, 95*time.Second, 50*time.Second,
		"20 % of requests miss an objective: 3.9 times the budget over 5 min"), 3.9, 5.2, 6)
	slow.Acknowledged, slow.Times = true, 3
	old := valued(alert("burn/half", "burn", "half", model.Page, model.AlertFiring, 8*time.Minute, 7*time.Minute,
		"42 % of requests miss an objective: 8.4 times the budget over 5 min"), 8.4, 9.1, 6)
	old.Stale, old.LastAt = true, ago(2*time.Minute)
	down := alert("down", "target_down", "", model.Warn, model.AlertFiring, 2*time.Minute, 2*time.Minute, "1 of 8 targets down: certificate")
	down.Target, down.Members = "d:8000", []string{"d:8000"}
	predicted := valued(alert("predicted/risky", "predicted_breach", "risky", model.Warn, model.AlertPending, 12*time.Second, 0,
		"a new request waits 1.2 s: TTFT will miss 1 s"), 1.2, 1.2, 1)
	blind := alert("kv/d", "kv_full", "", model.Note, model.AlertUnknown, 2*time.Minute, 0, "KV cache usage")
	blind.Target, blind.Cause = "d:8000", "down"
	over := valued(alert("burn/calm", "burn", "calm", model.Page, model.AlertResolved, 22*time.Minute, 21*time.Minute,
		"31 % of requests missed an objective: 6.2 times the budget over 5 min"), 0.1, 6.4, 6)
	over.ResolvedAt, over.LastAt = ago(14*time.Minute), ago(15*time.Minute)
	log := []model.AlertEvent{
		entered(predicted, model.AlertPending, 12*time.Second), entered(stalled, model.AlertFiring, 20*time.Second),
		entered(slow, model.AlertFiring, 50*time.Second), entered(down, model.AlertFiring, 2*time.Minute),
		entered(over, model.AlertResolved, 14*time.Minute), entered(over, model.AlertFiring, 21*time.Minute),
	}
	log[2].Times = 3
	return []model.AlertView{stalled, old, slow, down, predicted, blind, over}, log, []model.Unjudged{
		{Rule: "burn", Workflow: "bare", Why: "its servers export neither TTFT nor TPOT"},
		{Rule: "tpot", Workflow: "gaps", Target: "l:8000", Why: "this server exports no time per output token: put the objective on ITL instead"},
	}
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

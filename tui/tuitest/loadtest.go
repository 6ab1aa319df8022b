package tuitest

import (
	"fmt"
	"time"

	"slotop/model"
)

// LoadTest is a developer's screen: requests are reported one by one, a
// generator falls behind its schedule, and the second of two stages is open.
func LoadTest() *model.Frame {
	f := base()
	w := workflow("bench", 5, 1.36, 0.031, "gateway:9000")
	w.AssumedObjectives = false
	for _, d := range []**model.Dist{&w.TTFT, &w.TPOT, &w.E2E, &w.ITL} {
		(*d).Basis = model.FromEvents
	}
	w.FirstAnswer, w.Response = dist(300, 1.9, 3.4, 3.38, 3.42), dist(300, 0.6, 1.1, 1.09, 1.11)
	w.FirstAnswer.Basis, w.Response.Basis = model.FromEvents, model.FromEvents
	w.Requests.Failed, w.Requests.FailedBy = model.Of(11), []model.Cause{{Reason: "429", N: 9}, {Reason: "upstream\x1b[31m reset", N: 2}}
	w.Requests.Cancelled, w.Requests.CancelledBy = model.Of(4), []model.Cause{{Reason: "client closed", N: 4}}
	w.Requests.OutputLimit, w.Requests.Retries = model.Of(17), model.Of(6)
	w.Tokens.Output = &model.Known{Sum: 915, N: 3, Unknown: 2}
	w.Phases = &model.Phases{
		Queued: model.Of(3), PreparingContext: model.Of(2), WaitingForModel: model.Of(1), Streaming: model.Of(12),
		ToolCall: model.Of(1), Retrying: model.Of(0), Unknown: model.Of(2),
	}
	w.Load = &model.LoadView{OfferedPerSecond: model.Of(10), SentPerSecond: model.Of(5), BehindS: model.Of(0.9)}
	w.Objectives = []model.ObjectiveView{
		objective("ttft", 1, 0.93, 0.93, model.Missed), objective("first_answer", 4, 0.99, 0.99, model.Met),
		objective("tpot", 0.05, 0.998, 0.998, model.Met),
	}
	promise(&w, exactly(0.918), model.Missed, 1.6, 0.21)
	w.Objectives[1].N = 300
	w.Condition, w.Since = model.IsMissed, ago(75*time.Second)
	w.Goodput.Basis, w.Goodput.UserShare = model.ByRequests, exactly(0.941)
	w.Goodput.Of = model.Denominator{Judged: 313, Finished: model.Of(300), Failed: 11, Cancelled: model.Of(4), Excluded: model.Of(2)}
	w.Goodput.N, w.Goodput.Sample = 313, model.Range{Lo: model.Of(0.882), Hi: model.Of(0.943)}
	w.Promised.TruncatedBad = true
	w.History.Events = nil
	f.Workflows = []model.WorkflowView{w}
	f.Stages = stages(&f.Workflows[0])
	t := target("gateway:9000", 12, 3, 0.2)
	t.Kind, t.Engine, t.Version = "gateway", "", ""
	f.Targets = []model.TargetView{t}
	total(f, exactly(0.918), model.Missed)
	return f
}

// stages gives a workflow three stretches of load, the last one open.
func stages(w *model.WorkflowView) []model.StageView {
	out := []model.StageView{{Name: "warm-up"}, {Name: "10 users"}, {Name: "stage 3"}}
	from := []time.Duration{9 * time.Minute, 6 * time.Minute, 150 * time.Second}
	for i := range out {
		s := &out[i]
		s.From = ago(from[i])
		if i+1 < len(out) {
			s.To = ago(from[i+1])
		}
		k := 1 + float64(i)
		g := *w.Goodput
		g.Share, g.Verdict = exactly(1-0.03*k*k/4), model.Met
		if i == 2 {
			g.Share, g.Verdict = exactly(0.918), model.Missed
		}
		s.Workflows = []model.StageWorkflow{{
			Name: w.Name, Finished: model.Of(300 * k), PerSecond: model.Of(1.7 * k), OutputPerSecond: model.Of(350 * k),
			TTFT: dist(300*k, 0.2*k*k, 0.44*k, 0.44*k, 0.44*k), TPOT: dist(300*k, 0.01*k, 0.0107*k, 0.0107*k, 0.0107*k),
			E2E: w.E2E, Goodput: &g, PrefixCacheHit: model.Missing(model.Unsupported),
		}}
		s.Workflows[0].Sampled = sampled(300*k, &s.Workflows[0])
		w.History.Events = append(w.History.Events, model.Event{At: s.From, Kind: "stage", Target: model.Text(s.Name)})
	}
	return out
}

// Switch is the moment after one switch died: thirty targets refused at once, and
// six alerts that were there before and cannot be judged now.
func Switch() *model.Frame {
	f := Fleet(6, 30)
	group := alert("down", "target_down", "", model.Page, model.AlertFiring, time.Minute, 55*time.Second, "30 of 30 targets down: refused")
	for i := range f.Targets {
		t := &f.Targets[i]
		t.State, t.Since, t.LastGoodAt = model.Down, ago(time.Minute), ago(61*time.Second)
		t.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nothing listens there"}, LastGoodAt: t.LastGoodAt}
		group.Members = append(group.Members, t.Name)
	}
	f.Alerts = []model.AlertView{group}
	for i := range f.Workflows {
		w := &f.Workflows[i]
		lost(w, ago(time.Minute))
		a := valued(alert(fmt.Sprintf("burn/%d", i), "burn", w.Name, model.Page, model.AlertUnknown, 4*time.Minute, 0,
			"32 % of requests missed an objective: 6.4 times the budget over 5 min"), 6.4, 7, 6)
		a.Cause, a.LastAt = "down", ago(61*time.Second)
		f.Alerts = append(f.Alerts, a)
	}
	f.AlertLog = []model.AlertEvent{entered(group, model.AlertFiring, 55*time.Second)}
	return f
}

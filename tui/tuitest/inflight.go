package tuitest

import (
	"time"

	"slotop/model"
)

// Loads is the frames that tell of requests under way: a surge as engines tell it and as
// a gateway's events do, a queue that grows, one that stands, and nobody who tells.
func Loads() []Named {
	return []Named{{"surge", Surge()}, {"phased", Phased()}, {"growing", Growing()}, {"standing", Standing()}, {"untoldqueue", UntoldQueue()}}
}

// Surge is incident S1 with what the engines know of their caches.
func Surge() *model.Frame {
	f := Breach()
	c := pool("batch-eval, chat, summarize", 1.46)
	c.Targets = []string{"vllm-0:8000", "vllm-1:8000"}
	c.Expected = &model.ExpectedView{Fit: model.Of(228), Context: model.Of(1922)}
	f.Capacity = []model.CapacityView{c}
	f.Workflows[1].WaitNow, f.Workflows[1].BreachIn = model.Of(2.1), model.Of(74)
	return f
}

// Phased is the same as a gateway reports it, one request after the other.
func Phased() *model.Frame {
	f := Surge()
	chat := &f.Workflows[0]
	chat.Targets = append(chat.Targets, "gateway:9000")
	gate := target("gateway:9000", 228, 208, 0)
	gate.Kind, gate.Engine, gate.Version = model.GatewayTarget, "", ""
	gate.KVCacheUsage, gate.PreemptionsPerSec = model.Missing(model.Unsupported), model.Missing(model.Unsupported)
	f.Targets = append(f.Targets, gate)
	chat.Phases = &model.Phases{
		Queued: model.Of(197), PreparingContext: model.Of(11), WaitingForModel: model.Of(9), Streaming: model.Of(214), ToolCall: model.Of(5),
		Retrying: model.Of(3), Other: model.Of(0), Unknown: model.Of(2),
	}
	r := &chat.Requests
	r.Basis, r.Finished, r.OutputLimit, r.Retries = model.FromEvents, model.Of(1032), model.Of(13), model.Of(57)
	r.Cancelled, r.CancelledBy = model.Of(841), []model.Cause{{Reason: "client_disconnect", N: 833}, {Reason: "deadline", N: 8}}
	r.Failed, r.Throttled, r.FailedBy = model.Of(31), model.Of(22), []model.Cause{{Reason: "rate_limited", N: 22}, {Reason: "upstream_5xx", N: 9}}
	r.Unaccounted = model.Reading{}
	return f
}

// Growing is a queue that will break an objective of 5 s: 20 wait, 9 arrive and 7 are
// served each second.
func Growing() *model.Frame {
	f := Calm()
	w := &f.Workflows[0]
	w.Objectives[0] = objective("ttft", 5, 0.99, 0.99, model.Met)
	w.Requests.Waiting, w.WaitNow, w.BreachIn = model.Of(20), model.Of(20.0/7), model.Of(7.5)
	w.Condition, w.Since = model.IsAtRisk, ago(9*time.Second)
	return f
}

// Standing is a queue of which nobody got a token for half a minute.
func Standing() *model.Frame {
	f := Calm()
	w := &f.Workflows[0]
	w.Requests.Waiting, w.Requests.Running, w.WaitNow = model.Of(7), model.Of(0), model.Reading{}
	w.Condition, w.Since, w.State = model.IsStalled, ago(25*time.Second), model.Stalled
	f.Targets[0].State, f.Targets[0].Since = model.Stalled, ago(25*time.Second)
	return f
}

// UntoldQueue is a server that says neither what waits nor how full its cache is.
func UntoldQueue() *model.Frame {
	f := Calm()
	f.Targets = f.Targets[:1]
	f.Workflows = f.Workflows[:1]
	w := &f.Workflows[0]
	w.Targets, w.Replicas = w.Targets[:1], model.Replicas{Fresh: 1, Total: 1}
	w.Missing = []model.Signal{model.Waiting, model.KVUsage, model.Preemptions, model.PrefixHits}
	none := model.Missing(model.Unsupported)
	w.Requests.Waiting, w.KVCacheUsage, w.PreemptionsPerSec, w.PrefixCacheHit = none, none, none, none
	w.Tokens.CachedPromptShare, w.WaitNow = none, model.Reading{}
	t := &f.Targets[0]
	t.Waiting, t.KVCacheUsage, t.PreemptionsPerSec = none, none, none
	h := *w.History
	h.Waiting, h.KV, h.Preemptions, h.PrefixHit = nil, nil, nil, nil
	w.History = &h
	return f
}

package fleet

import (
	"testing"
	"time"

	"slotop/model"
)

// gatewayBench watches an engine "a" and a gateway "gw" in front of it.
func gatewayBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, 10*time.Second, "a")
	f, err := New(Config{
		Targets: []model.Target{{ID: "a", Name: "a", Kind: "engine"}, {ID: "gw", Name: "gw", Kind: "gateway"}},
		Every:   b.every, Policy: chatPolicy(0.9, ttftHalf),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.f = f
	return b
}

func ofReason(s model.Signal, reason string, v float64) model.Sample {
	return model.Sample{Signal: s, Kind: model.Counter, Value: v, Labels: model.Labels(model.LabelWorkflow, "chat", model.LabelReason, reason)}
}

// The same requests pass the gateway and the engine: they are counted once, as
// users felt them, and what only an engine knows comes from there.
func TestGatewayAndEngineAreNotAdded(t *testing.T) {
	b := gatewayBench(t)
	engine := func(n float64) []model.Sample {
		return []model.Sample{
			histogram(model.TTFT, []float64{0.5}, []float64{n, n}, n*0.1), ended("stop", n), gauge(model.Running, 4),
			gauge(model.Waiting, 1), gauge(model.KVUsage, 0.5), counter(model.OutputTokens, 100*n),
		}
	}
	edge := func(n float64) []model.Sample {
		return []model.Sample{
			histogram(model.TTFT, []float64{0.5}, []float64{n * 0.8, n}, n*0.4), ended("stop", n*0.9), ended("length", n*0.1),
			ofReason(model.Failed, "429", n*0.05), ofReason(model.Failed, "timeout", n*0.15),
			gauge(model.AtGateway, 7), gauge(model.Preparing, 1), gauge(model.AtModel, 2), gauge(model.IsStreaming, 3),
			counter(model.Retried, n*0.02), counter(model.OutputTokens, 100*n),
		}
	}
	var w model.WorkflowView
	for i := range 3 {
		b.poll("gw", edge(float64(100*i))...)
		w = workflowNamed(t, b.round(engine(float64(100*i))...), "chat")
	}
	near(t, "finished", w.Requests.Finished, 200)
	near(t, "cut at the limit", w.Requests.OutputLimit, 20)
	near(t, "failed", w.Requests.Failed, 40)
	near(t, "retries", w.Requests.Retries, 4)
	near(t, "tokens a second", w.Tokens.OutputPerSecond, 1000)
	near(t, "KV", w.KVCacheUsage, 0.5)
	near(t, "running", w.Requests.Running, 4)
	near(t, "queued at the gateway", w.Phases.Queued, 7)
	near(t, "streaming", w.Phases.Streaming, 3)
	near(t, "TTFT in time", w.Objectives[0].Share.Lo, 0.8)
	if w.TTFT.N != 200 || w.Replicas.Total != 2 {
		t.Errorf("n %v, %+v", w.TTFT.N, w.Replicas)
	}
	if by := w.Requests.FailedBy; len(by) != 2 || by[0] != (model.Cause{Reason: "timeout", N: 30}) || by[1] != (model.Cause{Reason: "429", N: 10}) {
		t.Errorf("failed by %+v", by)
	}
	// Without the gateway the engine tells what it knows.
	for range 3 {
		b.fail("gw", model.Refused)
		w = workflowNamed(t, b.round(engine(300)...), "chat")
	}
	near(t, "TTFT in time at the engine", w.Objectives[0].Share.Lo, 1)
	if w.Condition != model.IsPartial || w.Phases != nil {
		t.Errorf("%s, %+v", w.Condition, w.Phases)
	}
}

// A stats document behind a plain address is a gateway all the same.
func TestGatewayByItsPhases(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	for i := range 3 {
		n := float64(100 * i)
		b.poll("b", gauge(model.AtGateway, 1), ended("stop", n))
		w := workflowNamed(t, b.round(ended("stop", n), gauge(model.Running, 2)), "chat")
		if i == 2 {
			near(t, "finished", w.Requests.Finished, 200)
			near(t, "running", w.Requests.Running, 2)
		}
	}
}

// A gateway alone says how many run and wait by its phases.
func TestGatewayAlone(t *testing.T) {
	b := gatewayBench(t)
	b.poll("gw", gauge(model.AtGateway, 7), gauge(model.Preparing, 1), gauge(model.AtModel, 2), gauge(model.IsStreaming, 3), ended("stop", 10))
	w := workflowNamed(t, b.tick(), "chat")
	near(t, "waiting", w.Requests.Waiting, 7)
	near(t, "running", w.Requests.Running, 6)
}

// What runs on a replica that has just joined is counted once.
func TestLevelsOfANewReplica(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	b.round(gauge(model.Running, 3), counter(model.OutputTokens, 1))
	b.poll("b", gauge(model.Running, 5), counter(model.OutputTokens, 1))
	f := b.round(gauge(model.Running, 3), counter(model.OutputTokens, 2))
	near(t, "running", workflowNamed(t, f, "chat").Requests.Running, 8)
}

// A gateway that holds requests back is at work, whether or not one of them runs.
func TestQueueAtTheGatewayIsWork(t *testing.T) {
	for _, s := range []model.Signal{model.AtGateway, model.Preparing, model.AtModel, model.IsStreaming} {
		b := newBench(t, 5*time.Second, "a")
		var f *model.Frame
		for range 5 {
			f = b.round(gauge(s, 63), counter(model.Finished, 10))
		}
		if got := f.Targets[0].State; got == model.Idle {
			t.Errorf("%s 63: the gateway is %s", s, got)
		}
	}
	b := newBench(t, 5*time.Second, "a")
	var f *model.Frame
	for range 5 {
		f = b.round(gauge(model.AtGateway, 0), counter(model.Finished, 10))
	}
	if got := f.Targets[0].State; got != model.Idle {
		t.Errorf("nothing queued, nothing done: %s, want idle", got)
	}
}

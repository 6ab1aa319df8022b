package fleet

import (
	"testing"
	"time"

	"slotop/model"
)

func (b *bench) join(name string) {
	b.f.Step(model.Input{At: b.at, Join: &model.Target{ID: model.TargetID(name), Name: name, Kind: model.EngineTarget}})
}

func (b *bench) leaves(name string) {
	b.f.Step(model.Input{At: b.at, Leave: model.TargetID(name)})
}

func TestTargetsComeAndGo(t *testing.T) {
	b := newBench(t, time.Second, "a")
	both := func(n float64) *model.Frame {
		b.poll("a", counter(model.OutputTokens, 10*n), gauge(model.Running, 1))
		b.poll("b", counter(model.OutputTokens, 20*n), gauge(model.Running, 2))
		f := b.tick()
		b.pass(b.every)
		return f
	}
	both(1) // nobody has joined as b yet
	if f := b.tick(); len(f.Targets) != 1 {
		t.Fatalf("%d targets before anybody joined", len(f.Targets))
	}
	b.join("b")
	b.join("b") // found again
	for n := range 5 {
		both(float64(n + 2))
	}
	f := b.tick()
	if len(f.Targets) != 2 || f.Targets[1].Name != "b" {
		t.Fatalf("targets %v", f.Targets)
	}
	near(t, "running of both", workflowNamed(t, f, "chat").Requests.Running, 3)
	near(t, "rate of both", workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 30)

	b.leaves("b")
	b.leaves("nobody")
	f = b.tick()
	if len(f.Targets) != 1 {
		t.Fatalf("%d targets after b went", len(f.Targets))
	}
	near(t, "running of the one left", workflowNamed(t, f, "chat").Requests.Running, 1)
	if w := workflowNamed(t, f, "chat"); w.Replicas.Total != 1 {
		t.Errorf("%d replicas, want 1", w.Replicas.Total)
	}
	both(9) // what b still says is nobody's
	if f := b.tick(); len(f.Targets) != 1 {
		t.Error("a target that went is back by itself")
	}
}

// Whoever goes takes its alerts along: a target that was down and is not watched
// any more cannot come back.
func TestAlertsOfOneThatGoesAreOver(t *testing.T) {
	b := newBench(t, time.Second, "a", "b")
	for range 5 {
		b.poll("a", counter(model.OutputTokens, 1))
		b.fail("b", model.Refused)
		b.tick()
		b.pass(b.every)
	}
	if f := b.tick(); !firing(f, "down") {
		t.Fatal("b is down and nobody says so")
	}
	b.leaves("b")
	f := b.tick()
	a, found := alertNamed(f, "down")
	if !found || a.State != model.AlertResolved {
		t.Errorf("the alert of the target that went is %+v, want resolved", a)
	}
}

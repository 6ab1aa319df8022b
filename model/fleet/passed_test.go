package fleet

import (
	"math"
	"testing"
	"time"

	"slotop/model"
)

// tell polls "a" as a server that passes on what it scrapes every step.
func (b *bench) tell(step time.Duration, samples ...model.Sample) *model.Frame {
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", Samples: samples, About: &model.About{
		Kind: model.PrometheusTarget, Engine: "test", StepS: step.Seconds(), Replicas: model.Replicas{Fresh: 19, Total: 20},
	}}})
	f := b.tick()
	b.pass(b.every)
	return f
}

// A window holds at least four scrapes of the server, and the frame says how long
// it is; the viewer's choice counts where it is longer.
func TestWindowHoldsFourSteps(t *testing.T) {
	for _, c := range []struct {
		step, window time.Duration
		want         float64
	}{
		{15 * time.Second, time.Minute, 60},
		{30 * time.Second, time.Minute, 120},
		{time.Minute, 5 * time.Minute, 300},
		{time.Minute, time.Minute, 240},
	} {
		b := newBench(t, c.step, "a")
		b.f.Step(model.Input{At: b.at, Window: c.window})
		tokens := 0.0
		var f *model.Frame
		for range 12 {
			f = b.tell(c.step, counter(model.OutputTokens, tokens))
			tokens += 100 * c.step.Seconds()
		}
		if f.WindowS != c.want {
			t.Errorf("steps of %v, window %v: the frame's window is %v s, want %v", c.step, c.window, f.WindowS, c.want)
		}
		near(t, "rate", workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 100)
		v := f.Targets[0]
		near(t, "step", v.StepS, c.step.Seconds())
		if v.Kind != model.PrometheusTarget || v.Replicas.Total != 20 || v.Replicas.Fresh != 19 {
			t.Errorf("the target is a %s of %+v, want what a look showed", v.Kind, v.Replicas)
		}
	}
}

// Between two scrapes of the server nothing moves: that is neither a stall nor
// silence.
func TestNothingMovesBetweenSteps(t *testing.T) {
	const step = time.Minute
	b := newBench(t, 2*time.Second, "a")
	tokens := 0.0
	for i := range 200 {
		if i%30 == 0 {
			tokens += 5000
		}
		f := b.tell(step, counter(model.OutputTokens, tokens), gauge(model.Running, 3))
		if s := f.Targets[0].State; s != model.Up {
			t.Fatalf("after %d polls the target is %s, want up", i+1, s)
		}
	}
	for range 100 {
		b.tell(step, counter(model.OutputTokens, tokens), gauge(model.Running, 3))
	}
	if f := b.tick(); f.Targets[0].State != model.Stalled {
		t.Errorf("three steps without a token: %s, want stalled", f.Targets[0].State)
	}
}

// A server that is asked each fifth second takes as long as then, not the nothing of
// the polls between; what is asked each time takes as long as last time.
func TestTookIsThatOfAnAnswer(t *testing.T) {
	for _, c := range []struct {
		step, want float64 // s
	}{{5, 0.3}, {0, 0}} {
		b := newBench(t, time.Second, "a")
		var f *model.Frame
		for i := range 14 {
			batch := model.Batch{Target: "a", About: &model.About{Kind: model.PrometheusTarget, StepS: c.step}}
			if i%5 == 0 {
				batch.Took = 300 * time.Millisecond
			}
			b.f.Step(model.Input{At: b.at, Batch: &batch})
			f = b.tick()
			b.pass(time.Second)
		}
		near(t, "took", f.Targets[0].TookS, c.want)
	}
}

// The past of a server is told in steps as long as the window: a chart of it is a
// line, and a pause that no figure tells of stays a gap.
func TestPastIsNoRowOfDots(t *testing.T) {
	b := newBench(t, time.Second, "a")
	tokens := 0.0
	next := func(after time.Duration) *model.History {
		b.pass(after)
		tokens += after.Seconds()
		b.poll("a", counter(model.OutputTokens, tokens), gauge(model.Running, 1))
		return workflowNamed(t, b.tick(), "chat").History
	}
	for range 5 {
		next(time.Minute)
	}
	h := next(time.Minute)
	for i, v := range h.Running {
		if v != 1 {
			t.Fatalf("point %d of %d is %v", i, len(h.Running), v)
		}
	}
	if h = next(2 * time.Minute); !math.IsNaN(float64(h.Running[len(h.Running)-60])) {
		t.Error("two minutes without an answer are no gap")
	}
}

func TestStaleAfterThreeSteps(t *testing.T) {
	b := newBench(t, 2*time.Second, "a")
	b.tell(time.Minute, counter(model.OutputTokens, 1))
	b.pass(150 * time.Second)
	if s := b.tick().Targets[0].State; s == model.StaleAt {
		t.Error("stale before three steps have passed")
	}
	b.pass(time.Minute)
	if s := b.tick().Targets[0].State; s != model.StaleAt {
		t.Errorf("after three steps without an answer: %q, want stale", s)
	}
}

func TestSkew(t *testing.T) {
	for _, c := range []struct {
		name         string
		ahead, error time.Duration
		want         float64
	}{
		{"within what one can tell", 700 * time.Millisecond, time.Second, 0},
		{"ahead", 90 * time.Second, time.Second, 90.1},
		{"behind", -90 * time.Second, time.Second, -89.9},
	} {
		b := newBench(t, time.Second, "a")
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{
			Target: "a", About: about, Took: 200 * time.Millisecond, Clock: noon.Add(c.ahead), ClockError: c.error,
		}})
		near(t, c.name, b.tick().Targets[0].SkewS, c.want)
	}
	b := newBench(t, time.Second, "a")
	if f := b.round(); f.Targets[0].SkewS.OK() {
		t.Error("a server that shows no time has no skew")
	}
}

// A server that answers while none of those does that it scrapes has nothing to say
// of now: what it says is stale, and nothing is met by it.
func TestServerOfNobodyIsStale(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	tell := func(fresh int, n float64) *model.Frame {
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{
			Target: "a", Samples: []model.Sample{counter(model.OutputTokens, n), counter(model.Finished, n)},
			About: &model.About{Kind: model.PrometheusTarget, StepS: 5, Replicas: model.Replicas{Fresh: fresh, Total: 2}},
		}})
		f := b.tick()
		b.pass(b.every)
		return f
	}
	for i := range 10 {
		tell(2, float64(i))
	}
	f := tell(1, 11)
	if s := f.Targets[0].State; s != model.Up {
		t.Fatalf("one of two answers: %s", s)
	}
	since := b.at
	f = tell(0, 11)
	v, w := f.Targets[0], workflowNamed(t, f, "chat")
	if v.State != model.StaleAt || v.Since != since || w.Condition != model.IsStale {
		t.Errorf("none of two answers: the target is %s since %v, the workflow %s", v.State, v.Since.Mono, w.Condition)
	}
	f = tell(0, 11)
	if a, _ := alertNamed(f, "down"); a.State != model.AlertFiring || a.Text != "none of the 2 servers that it scrapes answers" {
		t.Errorf("alert %+v", a)
	}
	if f = tell(2, 12); f.Targets[0].State != model.Up {
		t.Errorf("both are back: %s", f.Targets[0].State)
	}
}

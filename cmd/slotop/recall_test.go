package main

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
)

// remembering is a source that can tell the past: a token a second.
type remembering struct {
	ended, at time.Time // of the past; zero for the present
	fails     bool
	hangs     bool
	closed    int
}

const pastStep = 15 * time.Second

var memory = &model.About{Kind: model.PrometheusTarget, Engine: "vllm", StepS: pastStep.Seconds()}

func (r *remembering) Poll(context.Context) (model.Batch, error) {
	if r.fails {
		return model.Batch{}, errors.New("too expensive")
	}
	if !r.ended.IsZero() && r.at.After(r.ended) {
		return model.Batch{}, io.EOF
	}
	return model.Batch{About: memory, Samples: []model.Sample{{
		Signal: model.OutputTokens, Kind: model.Counter, Labels: model.Labels(model.LabelModel, "m"), Value: float64(r.at.Unix()),
	}}}, nil
}

func (r *remembering) Close() error         { r.closed++; return nil }
func (r *remembering) Begins() time.Time    { return r.ended.Add(-time.Hour) }
func (r *remembering) Until(date time.Time) { r.at = date }
func (r *remembering) Pace() time.Duration  { return pastStep }
func (r *remembering) opened() sources.Opened {
	return sources.Opened{Target: model.Target{ID: "p", Name: "p", Kind: model.PrometheusTarget}, Source: r}
}

func (r *remembering) Recall(ctx context.Context, span time.Duration) (sources.Opened, error) {
	if r.hangs {
		<-ctx.Done()
		return sources.Opened{}, ctx.Err()
	}
	if r.fails {
		return sources.Opened{}, errors.New("no")
	}
	o := (&remembering{ended: time.Now()}).opened()
	o.Saved = true
	return o, nil
}

// The past is folded and not shown; the present goes on behind it on one clock.
func TestRecall(t *testing.T) {
	r := &remembering{}
	c, err := newCore(fleet.Config{Targets: []model.Target{r.opened().Target}, Every: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	heard := 0
	c.hear = func(*model.Frame) { heard++ }
	after := c.recall(t.Context(), []sources.Opened{r.opened()}, time.Hour)
	if after < time.Hour-pastStep || after > time.Hour+time.Minute {
		t.Errorf("the past took %v, want the hour", after)
	}
	if heard > 0 || c.box.latest() != nil {
		t.Error("the past was shown")
	}
	if r.closed != 0 {
		t.Error("the source was closed with its past")
	}
	c.take(model.Input{At: model.Instant{Wall: time.Now(), Mono: after}})
	f := c.box.latest()
	if f == nil || len(f.Workflows) != 1 {
		t.Fatalf("frame %+v", f)
	}
	if rate, ok := f.Workflows[0].Tokens.OutputPerSecond.Get(); !ok || rate < 0.99 || rate > 1.01 {
		t.Errorf("%v tokens/s, want 1", rate)
	}
	known := 0
	for _, v := range f.Workflows[0].History.Output {
		if v == v {
			known++
		}
	}
	if n := len(f.Workflows[0].History.Output); known < n*9/10 {
		t.Errorf("%d of %d points of the chart are known", known, n)
	}
}

// Nobody who can tell the past, and one who fails to: the run begins with itself.
func TestNothingRecalled(t *testing.T) {
	for _, r := range []*remembering{{fails: true}} {
		c, err := newCore(fleet.Config{Targets: []model.Target{r.opened().Target}, Every: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if after := c.recall(t.Context(), []sources.Opened{r.opened()}, time.Hour); after != 0 {
			t.Errorf("%v have passed", after)
		}
		c.take(model.Input{At: model.Instant{Wall: time.Now()}})
		if c.box.latest() == nil {
			t.Error("the present is not shown")
		}
	}
}

// A server that does not answer holds back neither the others' past nor the present.
func TestRecallBesideOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := []sources.Opened{(&remembering{hangs: true}).opened(), (&remembering{}).opened(), (&remembering{hangs: true}).opened()}
		targets := targetsOf(all)
		for i, id := range []model.TargetID{"a", "p", "b"} {
			targets[i].ID = id
		}
		c, err := newCore(fleet.Config{Targets: targets, Every: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		after := c.recall(t.Context(), all, time.Hour)
		if after < time.Hour-pastStep || after > time.Hour+time.Minute {
			t.Errorf("the past took %v, want the hour", after)
		}
		if took := time.Since(began); took > greetWithin {
			t.Errorf("the first numbers are held back for %v", took)
		}
	})
}

package story

import (
	"fmt"
	"math"
	"testing"
	"time"

	"slotop/model"
)

const ten = 10 * time.Second

// second is an instant so many seconds after the beginning.
func second(n int) model.Instant {
	d := time.Duration(n) * time.Second
	return model.Instant{Wall: time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC).Add(d), Mono: d}
}

// flow is a workflow of n requests a window of which a share was good.
func flow(c model.Condition, good, n float64) model.WorkflowView {
	r := model.Of(good)
	g := &model.GoodputView{Share: model.Share{Lo: r, Hi: r, Point: r}, N: n, Verdict: model.Met, Target: model.Of(0.95)}
	if c == model.IsMissed {
		g.Verdict = model.Missed
	}
	return model.WorkflowView{Name: "chat", Condition: c, Goodput: g, Requests: model.Requests{PerSecond: model.Of(n / 60), Waiting: model.Of(n)}}
}

func frameAt(n int, flows ...model.WorkflowView) *model.Frame {
	return &model.Frame{
		At: second(n), WindowS: 60, Every: time.Second, Workflows: flows,
		Targets: []model.TargetView{{Name: "a", State: model.Up, Polls: n + 1, LastGoodAt: second(n)}},
	}
}

// told is the story of frames.
func told(frames ...*model.Frame) *Story {
	var c Collector
	for _, f := range frames {
		c.Take(f)
	}
	return c.Story()
}

func TestNothing(t *testing.T) {
	s := told()
	if s.Frames != 0 || s.Last != nil || s.Duration() != 0 || s.Left != (Left{}) || s.Stages() != nil || s.Workflow("chat").Of("goodput") != nil {
		t.Errorf("%+v", s)
	}
}

// Points stand where their frames do: one that is late by a poll is no gap, a longer
// pause is one.
func TestPoints(t *testing.T) {
	f := func(n int, v float64) *model.Frame { return frameAt(n, flow(model.IsMet, 1, v)) }
	s := told(f(0, 1), f(1, 2), f(3, 4), f(8, 9))
	got := s.Workflow("chat").Of("waiting")
	if want := []float64{1, 2, 4, 4, nan, nan, nan, nan, 9}; !same(got.value, want) {
		t.Errorf("%v, want %v", got.value, want)
	}
	if len(s.Gaps) != 1 || s.Gaps[0].Kind != GapPause || s.Gaps[0].Lasted() != 5*time.Second {
		t.Errorf("gaps: %+v", s.Gaps)
	}
	if s.Axis.N != 9 || s.Axis.At(8) != second(8) || s.Axis.Merged != 1 {
		t.Errorf("axis: %+v", s.Axis)
	}
}

// What comes late has a gap before, what leaves has one behind: all series are as long
// as the axis.
func TestComeAndGo(t *testing.T) {
	other := flow(model.IsMet, 1, 7)
	other.Name = "other"
	s := told(frameAt(0, flow(model.IsMet, 1, 5)), frameAt(1, other), frameAt(2, other))
	if got := s.Workflow("chat").Of("waiting").value; !same(got, []float64{5, nan, nan}) {
		t.Errorf("chat %v", got)
	}
	if got := s.Workflow("other").Of("waiting").value; !same(got, []float64{nan, 7, 7}) {
		t.Errorf("other %v", got)
	}
}

// A day of seconds has no more points than an hour, and the same peak.
func TestBounded(t *testing.T) {
	var c Collector
	for n := range 24 * 3600 {
		v := float64(n % 100)
		if n == 40000 {
			v = 1e6
		}
		c.Take(frameAt(n, flow(model.IsMet, 1, v)))
	}
	s := c.Story()
	series := s.Workflow("chat").Of("waiting")
	if series.Len() != s.Axis.N || s.Axis.N > maxPoints || s.Axis.N < maxPoints/2 || s.Axis.Merged != 64 {
		t.Errorf("%d points on an axis of %d, %d polls each", series.Len(), s.Axis.N, s.Axis.Merged)
	}
	at, p, _ := series.Extreme()
	if p.Value != 1e6 || math.Abs(s.Axis.At(at).Sub(second(40000)).Seconds()) > 64 {
		t.Errorf("highest %v at %v", p.Value, s.Axis.At(at))
	}
	if end := s.Last.At.Sub(s.Axis.At(s.Axis.N - 1)); end.Abs() > s.Axis.Step {
		t.Errorf("the axis ends %v from the last frame", end)
	}
}

// Workflows beyond the bound are counted.
func TestTooMany(t *testing.T) {
	var flows []model.WorkflowView
	for i := range maxSubjects + 5 {
		w := flow(model.IsMet, 1, 1)
		w.Name = fmt.Sprint("flow", i)
		flows = append(flows, w)
	}
	s := told(frameAt(0, flows...), frameAt(1, flows...))
	if len(s.Workflows) != maxSubjects || s.Left.Subjects != 5 {
		t.Errorf("%d workflows, %d left out", len(s.Workflows), s.Left.Subjects)
	}
}

// Of a large fleet the targets in trouble have series.
func TestTargetsInTrouble(t *testing.T) {
	f := frameAt(0)
	f.Targets = nil
	for i := range 3 * maxSubjects {
		f.Targets = append(f.Targets, model.TargetView{Name: fmt.Sprint("t", i), State: model.Up})
	}
	f.Targets[77].State = model.Down
	s := told(f)
	if len(s.Targets) != 1 || s.Targets[0].Name != "t77" || s.Left.Subjects != 3*maxSubjects-1 {
		t.Errorf("%d targets, %d left out", len(s.Targets), s.Left.Subjects)
	}
}

// The worst moment is that of most bad requests, and of as many the one of which more
// is known; where none was bad it is the end.
func TestWorst(t *testing.T) {
	bad := func(n int, good float64, findings int) *model.Frame {
		f := frameAt(n, flow(model.IsMissed, good, 100))
		f.Findings = make([]model.FindingView, findings)
		return f
	}
	fine := func(n int) *model.Frame { return frameAt(n, flow(model.IsMet, 1, 100)) }
	for _, tt := range []struct {
		name   string
		frames []*model.Frame
		want   int
	}{
		{"most bad", []*model.Frame{fine(0), bad(1, 0.5, 0), bad(2, 0.2, 0), bad(3, 0.4, 9), fine(4)}, 2},
		{"as bad, and explained", []*model.Frame{bad(0, 0.2, 0), bad(1, 0.2, 2), bad(2, 0.2, 1)}, 1},
		{"none bad", []*model.Frame{fine(0), fine(1), fine(2)}, 2},
		{"then fine", []*model.Frame{bad(0, 0.9, 0), fine(1)}, 0},
	} {
		if s := told(tt.frames...); s.Worst.At != second(tt.want) {
			t.Errorf("%s: at %v, want %d s", tt.name, s.Worst.At.Mono, tt.want)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	var c Collector
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		c.Take(frameAt(n, flow(model.IsMet, 1, 5)))
	}
}

package panes

import (
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestStageLine: a line while a stage is open, with its change, and none after.
func TestStageLine(t *testing.T) {
	f := tuitest.LoadTest()
	got := Stage{}.Render(f, layout.Size{W: 120, H: 1}, Look{})
	has(t, got, "C stage 3 for 2 min 30 s", "requests 5.1/s ×1.5", "TTFT p95 1.3 s ×1.5", "TPOT p95 32 ms ×1.5", "goodput 91.8 %")
	if n := (Stage{}).Want(f, 80, Look{}).Max; n != 1 {
		t.Errorf("an open stage wants %d lines", n)
	}
	f.Stages[2].To = f.At
	if n := (Stage{}).Want(f, 80, Look{}).Max; n != 0 || (Stage{}).Render(f, layout.Size{W: 80, H: 1}, Look{}) != "" {
		t.Errorf("after the stage there are %d lines", n)
	}
	f.Stages[2].To, f.Stages[2].Workflows = model.Instant{}, nil
	has(t, Stage{}.Render(f, layout.Size{W: 80, H: 1}, Look{}), "C stage 3 for 2 min 30 s   nothing measured yet")
}

// TestStageChange: a factor, points for a share, ≈ where the two may be the same,
// and nothing where one of them is not known.
func TestStageChange(t *testing.T) {
	dist := func(v, lo, hi float64) *model.Dist {
		return &model.Dist{N: 100, P95: model.Estimate{Value: model.Of(v), Lo: model.Of(lo), Hi: model.Of(hi), Enough: true}}
	}
	open := &model.Dist{N: 100, P95: model.Estimate{Lo: model.Of(7.5), Open: true}}
	share := func(v float64) *model.GoodputView {
		return &model.GoodputView{Share: model.Share{Lo: model.Of(v), Hi: model.Of(v), Point: model.Of(v)}}
	}
	between := func(lo, hi float64) *model.GoodputView {
		return &model.GoodputView{Share: model.Share{Lo: model.Of(lo), Hi: model.Of(hi), Point: model.Of((lo + hi) / 2)}}
	}
	for _, tc := range []struct {
		title       string
		now, before model.StageWorkflow
		want        string
	}{
		{"REQ/S", model.StageWorkflow{PerSecond: model.Of(12)}, model.StageWorkflow{PerSecond: model.Of(8)}, "×1.5"},
		{"REQ/S", model.StageWorkflow{PerSecond: model.Of(12)}, model.StageWorkflow{PerSecond: model.Of(0)}, ""},
		{"REQ/S", model.StageWorkflow{PerSecond: model.Of(12)}, model.StageWorkflow{}, ""},
		{"TTFT p95", model.StageWorkflow{TTFT: dist(2, 1.5, 2.5)}, model.StageWorkflow{TTFT: dist(1, 0.9, 1.1)}, "~×2.0"},
		{"TTFT p95", model.StageWorkflow{TTFT: dist(4, 2.5, 5)}, model.StageWorkflow{TTFT: dist(0.093, 0.075, 0.1)}, "~×43"},
		{"TTFT p95", model.StageWorkflow{TTFT: dist(2, 2, 2.1)}, model.StageWorkflow{TTFT: dist(1, 0.95, 1.05)}, "×2"},
		{"TTFT p95", model.StageWorkflow{TTFT: dist(2, 1, 2.5)}, model.StageWorkflow{TTFT: dist(1.3, 1, 2.5)}, "≈"},
		{"TTFT p95", model.StageWorkflow{TTFT: open}, model.StageWorkflow{TTFT: dist(1.3, 1, 2.5)}, ""},
		{"GOODPUT", model.StageWorkflow{Goodput: share(0.93)}, model.StageWorkflow{Goodput: share(0.98)}, "-5 pt"},
		{"GOODPUT", model.StageWorkflow{Goodput: between(0, 0.11)}, model.StageWorkflow{Goodput: between(0.66, 0.83)}, "~-69 pt"},
		{"GOODPUT", model.StageWorkflow{Goodput: share(0.985)}, model.StageWorkflow{Goodput: share(0.98)}, "+0.5 pt"},
	} {
		for _, c := range stageFigures {
			if c.title != tc.title {
				continue
			}
			if got := c.against(&tc.now, &tc.before, Look{}); got != tc.want {
				t.Errorf("%s changed by %q, want %q", tc.title, got, tc.want)
			}
		}
	}
}

// TestStagesOnTheAxis: each stage has its letter at its instant, a restart its own.
func TestStagesOnTheAxis(t *testing.T) {
	f := tuitest.LoadTest()
	w := &f.Workflows[0]
	w.History.Events = append(w.History.Events, model.Event{At: f.At.Add(-12 * time.Minute), Kind: "restart"})
	axis := ""
	for l := range strings.SplitSeq((Charts{}).Render(f, layout.Size{W: 100, H: 9}, Look{}), "\n") {
		if strings.Contains(l, "└") {
			axis = l
		}
	}
	at := -1
	for _, letter := range []string{"R", "A", "B", "C"} {
		i := strings.Index(axis, letter)
		if i <= at {
			t.Errorf("%s stands at %d, after %d: %s", letter, i, at, axis)
		}
		at = i
	}
	if got := eventLetter(f, model.Event{At: f.At, Kind: "stage"}); got != 'S' {
		t.Errorf("a stage that is in no list has the letter %c", got)
	}
	if got := stageLetter(1000); got != 'S' {
		t.Errorf("the thousandth stage has the letter %c", got)
	}
}

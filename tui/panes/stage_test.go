package panes

import (
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/compare"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestStageLine: a line while a stage is open, with its change, and none after.
func TestStageLine(t *testing.T) {
	f := tuitest.LoadTest()
	got := Stage{}.Render(f, layout.Size{W: 140, H: 1}, Look{})
	has(t, got, "C stage 3 for 2 min 30 s", "requests 5.1/s *×1.50", "TTFT p95 1.3 s !×1.50", "TPOT p95 32 ms !×1.50", "goodput 91.8 % noise")
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

// TestStageChange: a change has a sign for what it means, noise is called so, and what
// cannot be told stays empty.
func TestStageChange(t *testing.T) {
	row := func(unit compare.Unit, change float64, v compare.Verdict, s compare.Sense) *compare.Row {
		return &compare.Row{Figure: compare.Figure{Unit: unit}, Change: compare.Change{Point: model.Of(change)}, Verdict: v, Sense: s}
	}
	for _, tc := range []struct {
		row            *compare.Row
		unicode, ascii string
	}{
		{row(compare.PerSecond, 1.5, compare.Higher, compare.Better), "+×1.50", "+x1.50"},
		{row(compare.Seconds, 1.5, compare.Higher, compare.Worse), "!×1.50", "!x1.50"},
		{row(compare.PerSecond, 0.5, compare.Lower, compare.Neither), "*×0.50", "*x0.50"},
		{row(compare.Share, -0.05, compare.Lower, compare.Worse), "!-5 pt", "!-5 pt"},
		{row(compare.Seconds, 1.1, compare.Noise, compare.Neither), "noise", "noise"},
		{row(compare.Seconds, 9, compare.CannotTell, compare.Neither), "", ""},
		{nil, "", ""},
	} {
		if got := (Look{}).changed(tc.row).text; got != tc.unicode {
			t.Errorf("%q, want %q", got, tc.unicode)
		}
		if got := (Look{ASCII: true}).changed(tc.row).text; got != tc.ascii {
			t.Errorf("%q, want %q", got, tc.ascii)
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

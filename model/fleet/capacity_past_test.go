package fleet

import (
	"fmt"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/capacity"
	"slotop/model/diagnose"
)

// TestMinutesAreBounded: a day of them, the oldest leaving first.
func TestMinutesAreBounded(t *testing.T) {
	var l lived
	spec := &model.WorkflowSpec{Name: "chat", Share: 0.9}
	one := diagnose.Nothing()
	one.Seconds, one.Counts[diagnose.Judged], one.Counts[diagnose.Good] = 60, 600, 590
	for i := range capacity.MaxMinutes + 100 {
		l.note(590, 600)
		l.minute(float64(i), minute{one}, spec)
	}
	if len(l.minutes) != capacity.MaxMinutes || len(l.blocks) != fateBlocks || l.minutes[0].Rate != 100 {
		t.Errorf("%d minutes from %v on, %d blocks", len(l.minutes), l.minutes[0].Rate, len(l.blocks))
	}
	near(t, "knee", l.knee.Rate, capacity.MaxMinutes+99)
}

// TestMinutesOfNothing: what was not judged, or at an unknown rate, says nothing; nor do
// requests of a job that has a deadline and no objective of its own.
func TestMinutesOfNothing(t *testing.T) {
	var l lived
	none := diagnose.Nothing()
	none.Seconds = 60
	some := none
	some.Counts[diagnose.Judged], some.Counts[diagnose.Good] = 10, 9
	chat := &model.WorkflowSpec{Name: "chat", Share: 0.9}
	l.note(none.Counts[diagnose.Good], 5)
	l.minute(3, minute{none}, chat)
	l.minute(none.Counts[diagnose.Good], minute{some}, chat)
	l.minute(3, minute{some}, &model.WorkflowSpec{Name: "job", Share: 0.9, DeadlineS: 60})
	if len(l.minutes)+len(l.blocks) > 0 || l.knee.Rate.OK() {
		t.Errorf("%+v", l)
	}
}

// TestWorstBurnIsOfAnHour: a quarter of an hour with a fifth of the requests too late
// burns half as fast over its hour as a budget of a tenth allows; afterwards it stays
// the worst.
func TestWorstBurnIsOfAnHour(t *testing.T) {
	b := promised(t, 10*time.Second, chatPolicy(0.9, ttftHalf), "a")
	good, all := 0.0, 0.0
	var f *model.Frame
	play := func(minutes int, bad float64) {
		for range 6 * minutes {
			all += 100
			good += 100 - bad
			f = b.round(histogram(model.TTFT, []float64{0.5}, []float64{good, all}, all/10), counter(model.Finished, all),
				counter(model.Failed, 0), counter(model.Cancelled, 0), gauge(model.Running, 3), gauge(model.Waiting, 0), counter(model.OutputTokens, 100*all))
		}
	}
	play(30, 0)
	if f.Capacity[0].WorstBurn.OK() {
		t.Errorf("after half an hour: %v", f.Capacity[0].WorstBurn)
	}
	play(30, 0)
	near(t, "of a calm hour", f.Capacity[0].WorstBurn, 0)
	play(15, 20)
	worst := f.Capacity[0].WorstBurn.Value
	if worst < 0.45 || worst > 0.55 {
		t.Errorf("burn %v", worst)
	}
	play(90, 0)
	near(t, "long after", f.Capacity[0].WorstBurn, worst)
}

// TestKneeOfPages: it is found by what histograms tell, at the rates that were seen.
func TestKneeOfPages(t *testing.T) {
	b := promised(t, 10*time.Second, chatPolicy(0.9, ttftHalf), "a")
	good, all := 0.0, 0.0
	var f *model.Frame
	for i := range 120 {
		n, late := 50.0, 0.0 // five a second
		if i >= 60 {
			n, late = 100, 50 // ten
		}
		all, good = all+n, good+n-late
		f = b.round(histogram(model.TTFT, []float64{0.5}, []float64{good, all}, all/10), counter(model.Finished, all),
			gauge(model.Running, 3), gauge(model.Waiting, 0), counter(model.OutputTokens, 100*all))
	}
	k := f.Capacity[0].Knees[0]
	if !k.Rate.OK() || k.Rate.Value < 4.9 || k.Rate.Value > 5.1 || !k.Reached || k.Workflow != "chat" {
		t.Errorf("%+v", k)
	}
	if got := fmt.Sprintf("%.1f to %.1f", f.Capacity[0].Observed.Lo.Value, f.Capacity[0].Observed.Hi.Value); got != "5.0 to 10.0" {
		t.Error(got)
	}
}

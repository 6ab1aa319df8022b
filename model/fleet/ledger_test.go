package fleet

import (
	"slices"
	"testing"
	"time"

	"slotop/model"
)

func ended(reason string, v float64) model.Sample {
	return model.Sample{Signal: model.Finished, Kind: model.Counter, Value: v,
		Labels: model.Labels(model.LabelModel, "chat", model.LabelReason, reason)}
}

// Started requests finished, failed, were cancelled, run, or nobody knows: each
// is counted once.
func TestOutcomesAddUp(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(ended("stop", 0), ended("aborted", 0), ended("error", 0), gauge(model.Running, 0), histogram(model.TTFT, []float64{1}, []float64{0, 0}, 0))
	w := workflowNamed(t, b.round(ended("stop", 80), ended("aborted", 7), ended("error", 3), gauge(model.Running, 6),
		histogram(model.TTFT, []float64{1}, []float64{100, 100}, 10)), "chat")
	r := w.Requests
	near(t, "started", r.Started, 100)
	near(t, "finished", r.Finished, 80)
	near(t, "failed", r.Failed, 3)
	near(t, "cancelled", r.Cancelled, 7)
	near(t, "unaccounted", r.Unaccounted, 4)
	near(t, "finished per second", r.PerSecond, 8)
	if slices.Contains(w.Missing, model.Failed) || slices.Contains(w.Missing, model.Cancelled) {
		t.Errorf("missing %v", w.Missing)
	}
}

// A server that gives reasons, but none for a failure, exports no failures.
func TestReasonsWithoutErrorAreNotExported(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	r := workflowNamed(t, b.round(ended("stop", 10), ended("length", 2)), "chat").Requests
	for name, v := range map[string]model.Reading{"failed": r.Failed, "cancelled": r.Cancelled} {
		if v.State != model.Unsupported {
			t.Errorf("%s: %+v, want not exported", name, v)
		}
	}
}

// A page that says nothing but when its process started serves nobody.
func TestProcessStartAloneIsNoWorkflow(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	f := b.round(model.Sample{Signal: model.ProcessStart, Kind: model.Gauge, Value: 1e9})
	if len(f.Workflows) != 0 || f.Targets[0].State != model.Up {
		t.Errorf("workflows %+v, target %s", f.Workflows, f.Targets[0].State)
	}
}

// A target that fell silent had nobody counted: that is not "no traffic".
func TestStaleIsNotNoTraffic(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(histogram(model.TTFT, []float64{1}, []float64{50, 50}, 5))
	b.round(histogram(model.TTFT, []float64{1}, []float64{90, 90}, 9))
	b.pass(time.Minute)
	w := workflowNamed(t, b.tick(), "chat")
	if o := w.Objectives[0]; w.State != model.StaleAt || o.Verdict != model.Undecided || o.Share.Lo.OK() {
		t.Errorf("%s: %s, %+v", w.State, o.Verdict, o.Share)
	}
}

// Where TTFT leaves out waiting it bounds the share from above only: whoever had
// the whole answer in time is sure, the rest is not known.
func TestTTFTWithoutWaitingCannotBeMet(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	page := func(n float64) []model.Sample {
		return []model.Sample{
			histogram(model.TTFT, []float64{1}, []float64{n, n}, 0.1*n),
			histogram(model.E2E, []float64{1, 10}, []float64{n / 4, n, n}, 6*n),
			histogram(model.Decode, []float64{1, 10}, []float64{n, n, n}, 0.5*n),
		}
	}
	b.round(page(0)...)
	w := workflowNamed(t, b.round(page(40)...), "chat")
	o := w.Objectives[0]
	near(t, "at least", o.Share.Lo, 0.25)
	near(t, "at most", o.Share.Hi, 1)
	if o.Share.Point.OK() || o.Verdict != model.Undecided {
		t.Errorf("%s, %+v", o.Verdict, o.Share.Point)
	}
	g := w.Goodput
	near(t, "goodput at least", g.Share.Lo, 0.25)
	near(t, "goodput at most", g.Share.Hi, 1)
	if g.Share.Point.OK() || g.Verdict != model.Undecided || g.Evidence != nil {
		t.Errorf("goodput %s, %+v, evidence %+v", g.Verdict, g.Share.Point, g.Evidence)
	}
	if w.Budget != nil {
		t.Errorf("a budget of requests that nobody can judge: %+v", w.Budget)
	}
}

// What no release of an engine exports is not exported, once it counts answers.
func TestLatencyNobodyExports(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	ttft := histogram(model.TTFT, []float64{1}, []float64{1, 1}, 0.1)
	f := b.round(ttft, gauge(model.Running, 1))
	if m := workflowNamed(t, f, "chat").Missing; len(m) != 0 {
		t.Errorf("before an answer: missing %v", m)
	}
	f = b.round(ttft, gauge(model.Running, 1), counter(model.OutputTokens, 9))
	want := []model.Signal{model.ITL, model.TPOT}
	if m := workflowNamed(t, f, "chat").Missing; !slices.Equal(m, want) {
		t.Errorf("workflow: missing %v, want %v", m, want)
	}
	if m := f.Targets[0].Missing; !slices.Equal(m, want) {
		t.Errorf("target: missing %v, want %v", m, want)
	}
}

// Some pages are read in the middle of an update: the count that a bucket lags
// behind on one is made up for on the next. Never is more than all of it good.
func TestPageInTheMiddleOfAnUpdate(t *testing.T) {
	b := newBench(t, time.Second, "a")
	bounds := []float64{0.5, 1}
	page := func(good, all float64) *model.Frame {
		return b.round(counter(model.Finished, all),
			histogram(model.TTFT, bounds, []float64{good, good, all}, all/4), histogram(model.E2E, bounds, []float64{good, good, all}, all/4))
	}
	page(99, 100)
	var f *model.Frame
	for i := range 5 {
		f = page(float64(101+i), float64(101+i))
		g := workflowNamed(t, f, "chat").Goodput
		if hi, ok := g.Share.Hi.Get(); ok && hi > 1 || g.PerSecond.Hi.Value > 1.01 {
			t.Errorf("after %d polls goodput %+v, %+v a second: %s", i+1, g.Share, g.PerSecond, g.Why)
		}
	}
}

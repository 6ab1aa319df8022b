package fleet

import (
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// A gateway that gives quantiles instead of buckets is shown with them, as it
// gave them: no objective is judged by them, and none is dropped.
func TestReportedQuantilesAreShown(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	poll := func(n, p95 float64) *model.Frame {
		quantiles := []model.QuantileAt{{Q: 0.5, S: 0.3}, {Q: 0.95, S: p95}}
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{
			Target: "a", About: about, Samples: []model.Sample{counter(model.Finished, n)},
			Reported: []model.Reported{{Signal: model.TTFT, Labels: chat, WindowS: model.Of(60), Count: model.Of(100), Quantiles: quantiles}},
		}})
		clear(quantiles) // a batch is the source's again after the step
		f := b.tick()
		b.pass(b.every)
		return f
	}
	poll(10, 0.9)
	f := poll(50, 1.9)
	w := workflowNamed(t, f, "chat")
	if len(w.Reported) != 1 || w.Reported[0].Target != "a" || w.Reported[0].Quantiles[1] != (model.QuantileAt{Q: 0.95, S: 1.9}) {
		t.Fatalf("reported %+v", w.Reported)
	}
	near(t, "window", w.Reported[0].WindowS, 60)
	if want := "a reports TTFT p50 300 ms p95 1.9 s over 1 min, n 100"; !slices.Contains(w.Notes, want) {
		t.Errorf("notes %q, want %q", w.Notes, want)
	}
	if w.TTFT != nil || w.Goodput.Verdict == model.Missed {
		t.Errorf("TTFT %+v, goodput %s", w.TTFT, w.Goodput.Verdict)
	}
	b.pass(time.Minute)
	if w := workflowNamed(t, b.tick(), "chat"); len(w.Reported) != 0 {
		t.Errorf("a silent gateway still reports %+v", w.Reported)
	}
}

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

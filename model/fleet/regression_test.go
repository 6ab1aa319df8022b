package fleet

import (
	"testing"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/sources/sim"
)

// lineThrough is the robust line of TTFT over a length of the prompt, of the chat
// requests whose first token came within the last part of a run.
func lineThrough(t *testing.T, scenario string, until, last time.Duration, x func(*sim.Event) float64) diagnose.Line {
	t.Helper()
	s, err := sim.New(sim.Options{Seed: 3, Scenario: scenario, At: 600 * time.Second, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(until)
	events, _ := s.Events(0, nil)
	var xs, ys []float64
	for i := range events {
		e := &events[i]
		if e.Workflow == "chat" && e.FirstToken > until-last {
			xs, ys = append(xs, x(e)), append(ys, e.TTFT().Seconds())
		}
	}
	line, ok := diagnose.TheilSen(xs, ys)
	if !ok {
		t.Fatalf("%s: no line through %d requests", scenario, len(xs))
	}
	return line
}

func promptOf(e *sim.Event) float64   { return float64(e.PromptTokens) }
func uncachedOf(e *sim.Event) float64 { return float64(e.PromptTokens - e.CachedTokens) }

func within(v float64, of [2]float64) bool { return v >= of[0] && v <= of[1] }

// What single requests tell of a prefix cache: as it collapses TTFT begins to grow with
// prompt tokens, and grows with uncached ones as before. Of requests that queue a line
// explains nothing.
func TestRegressionsOfSingleRequests(t *testing.T) {
	for _, c := range []struct {
		name, scenario   string
		until            time.Duration
		x                func(*sim.Event) float64
		slope, intercept [2]float64 // µs a token, ms
	}{
		{"quiet, uncached", "S0", 600 * time.Second, uncachedOf, [2]float64{26, 40}, [2]float64{12, 24}},
		{"quiet, prompts", "S0", 600 * time.Second, promptOf, [2]float64{7, 16}, [2]float64{8, 30}},
		{"collapse, prompts", "S5", 720 * time.Second, promptOf, [2]float64{29, 54}, [2]float64{20, 90}},
		{"collapse, uncached", "S5", 720 * time.Second, uncachedOf, [2]float64{29, 54}, [2]float64{20, 90}},
	} {
		l := lineThrough(t, c.scenario, c.until, time.Minute, c.x)
		t.Logf("%s: %.1f µs a token, intercept %.0f ms, R² %.3f", c.name, l.Slope*1e6, l.Intercept*1e3, l.R2)
		if !within(l.Slope*1e6, c.slope) || !within(l.Intercept*1e3, c.intercept) {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
	queued := lineThrough(t, "S3", 840*time.Second, 4*time.Minute, promptOf)
	t.Logf("queue: R² %.3f, intercept %.1f s", queued.R2, queued.Intercept)
	if queued.Explains() || queued.Intercept < 8 {
		t.Errorf("a queue: %+v", queued)
	}
}

// In a queue that grows the wait by Little's law is ahead of TTFT, of which a histogram
// knows only when a request has got its first token, and of queue times, which are
// known only when it ends.
func TestWaitOfNowIsNeverLate(t *testing.T) {
	next := 660 * time.Second
	foldDemo(t, "demo:S3?seed=2", time.Second, 900*time.Second, func(_ *Fleet, fr *model.Frame) {
		if fr.At.Mono < next {
			return
		}
		next += 30 * time.Second
		for i := range fr.Workflows {
			w := &fr.Workflows[i]
			if w.Name != "chat" {
				continue
			}
			t.Logf("%v: Little %.1f s, TTFT %.1f s, queue %.1f s", fr.At.Mono, w.WaitNow.Value, w.TTFT.Mean.Value, w.Queue.Mean.Value)
			if !(w.WaitNow.Value >= w.TTFT.Mean.Value) || !(w.WaitNow.Value >= w.Queue.Mean.Value) {
				t.Errorf("%v: late", fr.At.Mono)
			}
		}
	})
}

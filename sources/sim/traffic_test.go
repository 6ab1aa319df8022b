package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// source is the arrivals of one workflow with nothing behind them.
func source(w Workflow) *arrivals {
	return newArrivals(w, rand.New(rand.NewPCG(1, 0)), 1, false)
}

// drain takes n requests and returns the gaps between them and the requests.
func drain(a *arrivals, n int) (gaps []float64, requests []request) {
	var last time.Duration
	for range n {
		now := a.next
		gaps = append(gaps, (now - last).Seconds())
		last = now
		var r request
		a.draw(now, 65536, &r)
		requests = append(requests, r)
		a.schedule(now)
	}
	return gaps, requests
}

func TestGapsHaveTheirMeanAndVariation(t *testing.T) {
	for _, cv := range []float64{0, 0.5, 1, 1.09, 2} {
		gaps, _ := drain(source(Workflow{Rate: 8, CV: cv, Prompt: fixed(10), Output: fixed(10)}), 100000)
		m := mean(gaps)
		var v float64
		for _, g := range gaps {
			v += (g - m) * (g - m)
		}
		want := cv
		if cv == 0 {
			want = 1
		}
		near(t, "rate", 1/m, 8, 0.03)
		near(t, "coefficient of variation", math.Sqrt(v/float64(len(gaps)))/m, want, 0.05)
	}
}

// The means that the capacity arithmetic quotes for this mix: 1812 prompt tokens,
// 828 of them computed, 221 output tokens.
func TestTheMixOfTheDemo(t *testing.T) {
	var prompt, computed, output, rate float64
	for _, w := range DemoWorkflows() {
		_, rs := drain(source(w), 100000)
		for _, r := range rs {
			prompt += w.Rate * float64(r.prompt) / 100000
			computed += w.Rate * float64(r.prompt-r.cached) / 100000
			output += w.Rate * float64(r.output) / 100000
		}
		rate += w.Rate
	}
	near(t, "prompt tokens", prompt/rate, 1812, 0.02)
	near(t, "computed prompt tokens", computed/rate, 828, 0.02)
	near(t, "output tokens", output/rate, 221, 0.02)
}

func TestOutputEndsAtItsLimit(t *testing.T) {
	_, rs := drain(source(DemoWorkflows()[0]), 20000)
	var limited int
	for _, r := range rs {
		if r.output > 1024 || (r.limited && r.output != 1024) {
			t.Fatalf("%d tokens, limited %v", r.output, r.limited)
		}
		if r.limited {
			limited++
		}
		if r.cached < 0 || r.cached >= r.prompt {
			t.Fatalf("%d of %d prompt tokens cached", r.cached, r.prompt)
		}
	}
	// P(exp(5 + 0.8 z) > 1024) = 0.8 %.
	near(t, "share cut at the limit", float64(limited)/20000, 0.0079, 0.25)
}

func TestPaceStretchesTheGapUnderWay(t *testing.T) {
	a := source(Workflow{Rate: 2, Prompt: fixed(1), Output: fixed(1)})
	a.next = 10 * time.Second
	a.pace(4*time.Second, 3) // 6 s at 2/s are 2 s at 6/s
	if got, want := a.next, 6*time.Second; (got - want).Abs() > time.Microsecond {
		t.Errorf("next arrival at %v, want %v", got, want)
	}
	a.pace(5*time.Second, 0)
	if a.next != never {
		t.Errorf("an arrival at %v although nobody comes", a.next)
	}
	a.pace(100*time.Second, 1) // 1 s at 6/s was left
	if got, want := a.next, 103*time.Second; (got - want).Abs() > time.Microsecond {
		t.Errorf("next arrival at %v, want %v", got, want)
	}
}

func TestPatienceIsExponential(t *testing.T) {
	w := Workflow{Rate: 1, Prompt: fixed(1), Output: fixed(1), Patience: 10 * time.Second}
	_, rs := drain(source(w), 50000)
	var patience []float64
	for _, r := range rs {
		patience = append(patience, (r.deadline - r.arrival).Seconds())
	}
	near(t, "mean patience", mean(patience), 10, 0.03)
	near(t, "median patience", quantile(patience, 0.5), 10*math.Ln2, 0.03)
}

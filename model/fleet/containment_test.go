package fleet

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/slo"
	"slotop/sources"
	"slotop/sources/sim"
)

// demoPolicy is what the simulated service's workflows were promised.
var demoPolicy = model.Policy{Workflows: sim.Promises()}

// truth is how the requests that ended in (from, to] were in truth.
func truth(events []sim.Event, spec *model.WorkflowSpec, from, to time.Duration) (good, judged float64) {
	for i := range events {
		e := &events[i]
		if e.Workflow != spec.Name || e.Finish <= from || e.Finish > to || e.Replica < 0 {
			continue
		}
		switch slo.Judge(spec, observed(e)).Verdict {
		case slo.IsGood:
			good++
			judged++
		case slo.IsBad:
			judged++
		}
	}
	return good, judged
}

func observed(e *sim.Event) slo.Observed {
	o := slo.Observed{
		Outcome: model.Completed, OutputTokens: model.Of(float64(e.OutputTokens)), Stream: model.Streamed,
		HadToken: e.FirstToken != 0, WaitedS: model.Of((e.Finish - e.Arrival).Seconds()),
	}
	switch e.Outcome {
	case sim.LengthReached:
		o.Outcome = model.OutputLimited
	case sim.Aborted:
		o.Outcome, o.Reason = model.RequestCancelled, "client_disconnect"
	}
	for i, m := range model.Metrics {
		switch m {
		case model.MetricTTFT, model.MetricFirstAnswer:
			if e.FirstToken != 0 {
				o.Times[i] = model.Of(e.TTFT().Seconds())
			}
		case model.MetricTPOT:
			if v, ok := e.TPOT(); ok {
				o.Times[i] = model.Of(v.Seconds())
			}
		case model.MetricE2E:
			o.Times[i] = model.Of((e.Finish - e.Arrival).Seconds())
		}
	}
	return o
}

// containment is how a run's intervals compare with the truth.
type containment struct {
	windows int
	widest  float64
	sum     float64
}

// The interval that two replicas' histograms give for goodput holds the exact
// goodput of the same requests, in every window of every incident.
func TestGoodputIntervalHoldsTheTruth(t *testing.T) {
	const every, window, length = 5 * time.Second, time.Minute, 1200 * time.Second
	for _, scenario := range []string{"S0", "S1", "S4", "S6"} {
		t.Run(scenario, func(t *testing.T) {
			events := eventsOf(t, scenario, length)
			got := map[string]*containment{}
			playDemo(t, "demo:"+scenario, every, window, length, func(fr *model.Frame) {
				for i := range fr.Workflows {
					v := &fr.Workflows[i]
					if v.Goodput.Share.Hi.OK() {
						contained(t, fr, v, events, window, got)
					}
				}
				totalContained(t, fr, events, window)
			})
			for name, c := range got {
				t.Logf("%s %s: %d windows, widest %.3f, mean %.3f", scenario, name, c.windows, c.widest, c.sum/float64(c.windows))
			}
			c := got["chat"]
			if c == nil || c.windows < int((length-window)/every)-1 {
				t.Fatalf("chat was judged in too few windows: %+v", c)
			}
			// An interval that holds everything says nothing.
			if mean := c.sum / float64(c.windows); mean > 0.1 || scenario == "S0" && c.widest > 0.05 {
				t.Errorf("chat's intervals are too wide: mean %.3f, widest %.3f", mean, c.widest)
			}
		})
	}
}

func contained(t *testing.T, fr *model.Frame, v *model.WorkflowView, events []sim.Event, window time.Duration, got map[string]*containment) {
	t.Helper()
	at := fr.At.Mono
	if at < window {
		window = at
	}
	good, judged := truth(events, promiseOf(v.Name), at-window, at)
	if judged == 0 {
		return
	}
	const rounding = 1e-9
	g := v.Goodput
	lo, hi := known(g.Share.Lo.Value), g.Share.Hi.Value
	if share := good / judged; share < lo-rounding || share > hi+rounding {
		t.Errorf("%v %s: %.0f of %.0f = %.4f is not within %.4f–%.4f", at, v.Name, good, judged, share, lo, hi)
	}
	c := got[v.Name]
	if c == nil {
		c = &containment{}
		got[v.Name] = c
	}
	c.windows++
	c.sum += hi - lo
	c.widest = max(c.widest, hi-lo)
}

// totalContained holds the goodput of all workflows together against the truth:
// each has its own denominator, and those with many cancelled weigh more in it
// than their judged requests tell.
func totalContained(t *testing.T, fr *model.Frame, events []sim.Event, window time.Duration) {
	t.Helper()
	if fr.Goodput == nil {
		return
	}
	var good, judged float64
	for i := range demoPolicy.Workflows {
		g, n := truth(events, &demoPolicy.Workflows[i], fr.At.Mono-min(window, fr.At.Mono), fr.At.Mono)
		good, judged = good+g, judged+n
	}
	const rounding = 1e-9
	s := fr.Goodput.Share
	if share := good / judged; judged > 0 && (share < s.Lo.Value-rounding || share > s.Hi.Value+rounding) {
		t.Errorf("%v in total: %.0f of %.0f = %.4f is not within %.4f–%.4f", fr.At.Mono, good, judged, share, s.Lo.Value, s.Hi.Value)
	}
}

// Over an incident and the calm before it a product of shares guesses wrong: the
// burn rate, the budget and the point of the goodput are guessed stretch by
// stretch, and come near the truth.
func TestGuessesComeNearTheTruth(t *testing.T) {
	const every, window, length = 5 * time.Second, 5 * time.Minute, 900 * time.Second
	events := eventsOf(t, "S4", length)
	spec := &demoPolicy.Workflows[0]
	exact := func(from, to time.Duration) float64 {
		good, judged := truth(events, spec, from, to)
		return (judged - good) / judged
	}
	var last model.WorkflowView
	playDemo(t, "demo:S4", every, window, length, func(fr *model.Frame) {
		last = workflowNamed(t, fr, "chat")
		if at := fr.At.Mono; at >= 2*window {
			want := exact(at-window, at)
			if bad := 1 - last.Goodput.Share.Point.Value; math.Abs(bad-want) > 0.03 {
				t.Errorf("%v: %.3f bad, in truth %.3f", at, bad, want)
			}
			if burn := last.Budget.Burn.M5.Value; math.Abs(burn-slo.Burn(want, spec.Share)) > 0.03/(1-spec.Share) {
				t.Errorf("%v: burn %.2f, in truth %.2f", at, burn, slo.Burn(want, spec.Share))
			}
		}
	})
	want := slo.Burn(exact(0, length), spec.Share)
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.05*want {
			t.Errorf("%s: %.2f, in truth %.2f", what, got, want)
		}
	}
	near("burn in half an hour", last.Budget.Burn.M30.Value, want)
	near("budget gone", 1-last.Budget.Remaining.Value, want)
}

// When a queue has emptied, those who end have waited and those who begin do not:
// that is no clock that starts late.
func TestEmptiedQueueIsNoLateClock(t *testing.T) {
	playDemo(t, "demo:S6?seed=1", 5*time.Second, time.Minute, 900*time.Second, func(fr *model.Frame) {
		for i := range fr.Workflows {
			if v := &fr.Workflows[i]; len(v.Notes) > 0 && strings.Contains(v.Notes[0], "leaves out waiting") {
				t.Errorf("%v %s: %s", fr.At.Mono, v.Name, v.Notes[0])
			}
		}
	})
}

// So does the interval of a stage, wherever it begins.
func TestStageIntervalHoldsTheTruth(t *testing.T) {
	const every, length = 5 * time.Second, 720 * time.Second
	events := eventsOf(t, "S4?seed=5", length)
	stages := 0
	playDemo(t, "demo:S4?seed=5", every, time.Minute, length, func(fr *model.Frame) {
		for _, stage := range fr.Stages {
			from, to := stage.From.Mono, fr.At.Mono
			if !stage.To.IsZero() {
				to = stage.To.Mono
			}
			for i := range stage.Workflows {
				v := &stage.Workflows[i]
				good, judged := truth(events, promiseOf(v.Name), from, to)
				if s := v.Goodput.Share; judged > 0 && s.Hi.OK() {
					stages++
					if share := good / judged; share < s.Lo.Value-1e-9 || share > s.Hi.Value+1e-9 {
						t.Errorf("%v to %v %s: %.4f is not within %.4f–%.4f", from, to, v.Name, share, s.Lo.Value, s.Hi.Value)
					}
				}
			}
		}
	}, 590*time.Second, 605*time.Second, 640*time.Second)
	if stages < 100 {
		t.Errorf("only %d stages were judged", stages)
	}
}

func promiseOf(workflow string) *model.WorkflowSpec {
	for i := range demoPolicy.Workflows {
		if demoPolicy.Workflows[i].Name == workflow {
			return &demoPolicy.Workflows[i]
		}
	}
	return nil
}

func eventsOf(t *testing.T, scenario string, until time.Duration) []sim.Event {
	t.Helper()
	id, seed, _ := strings.Cut(scenario, "?seed=")
	n, _ := strconv.ParseUint(seed, 10, 64)
	s, err := sim.New(sim.Options{Scenario: id, Seed: n})
	if err != nil {
		t.Fatal(err)
	}
	var events []sim.Event
	seq := uint64(0)
	for at := time.Duration(0); at <= until; at += 10 * time.Second {
		s.Advance(at)
		var missed uint64
		if events, missed = s.Events(seq, events); missed > 0 {
			t.Fatalf("%d events were dropped", missed)
		}
		if n := len(events); n > 0 {
			seq = events[n-1].Seq
		}
	}
	return events
}

func playDemo(t *testing.T, target string, every, window, length time.Duration, see func(*model.Frame), marks ...time.Duration) {
	t.Helper()
	opened, err := sources.Resolve(context.Background(), []string{target}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	targets := make([]model.Target, len(opened))
	for i := range opened {
		targets[i] = opened[i].Target
	}
	f, err := New(Config{Targets: targets, Every: every, Window: window, Policy: demoPolicy})
	if err != nil {
		t.Fatal(err)
	}
	err = sources.Play(context.Background(), opened, sources.PlayOptions{Every: every, For: length}, func(in model.Input) {
		fr := f.Step(in)
		if fr == nil {
			return
		}
		see(fr)
		if slices.Contains(marks, in.At.Mono) {
			f.Step(model.Input{At: in.At, Mark: in.At.Mono.String()})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

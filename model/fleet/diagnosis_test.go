package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
)

// asked is the diagnosis of the only pool.
func askedOf(t testing.TB, f *Fleet) *inquiry {
	t.Helper()
	if len(f.inquiries) != 1 {
		t.Fatalf("%d pools", len(f.inquiries))
	}
	return f.inquiries[0]
}

// factsNow is what the diagnosis of the only pool is told.
func factsNow(t testing.TB, f *Fleet, fr *model.Frame) *diagnose.Facts {
	t.Helper()
	pools := f.pools()
	if len(pools) != 1 {
		t.Fatalf("%d pools", len(pools))
	}
	return askedOf(t, f).facts(f, fr, &pools[0], f.compared())
}

// Before anything can be compared it says for how long.
func TestSaysWhenThereWillBeABaseline(t *testing.T) {
	b, s := newBench(t, 2*time.Second, "a"), newTraffic(4)
	engines := map[string]*traffic{"a": s}
	if fr := b.tick(); fr.Findings == nil || fr.Diagnoses == nil || len(fr.Diagnoses) != 0 {
		t.Errorf("of nothing: %v, %v", fr.Findings, fr.Diagnoses)
	}
	for _, want := range []struct {
		after time.Duration
		why   string
	}{{2 * time.Second, "a baseline needs another 2 min"}, {80 * time.Second, "a baseline needs another 40 s"}, {30 * time.Second, "a baseline needs another 10 s"}} {
		fr := b.serve(want.after, engines)
		d := fr.Diagnoses
		if len(d) != 1 || d[0].State != model.CannotTell || string(d[0].Why) != want.why || d[0].Sentence != "cannot tell yet: "+want.why {
			t.Errorf("%v: %+v", fr.At.Mono, d)
		}
		if d[0].Pool != "chat" || fmt.Sprint(d[0].Targets, d[0].Workflows) != "[a] [chat]" || d[0].Factors == nil {
			t.Errorf("%v: %+v", fr.At.Mono, d)
		}
	}
	if fr := b.serve(10*time.Second, engines); fr.Diagnoses[0].State != model.NoFinding {
		t.Errorf("%v: %+v", fr.At.Mono, fr.Diagnoses)
	}
}

// Once there is more of a past, a pause keeps the beginning of an incident out of the
// baseline.
func TestThePauseGrows(t *testing.T) {
	b, s := newBench(t, 2*time.Second, "a"), newTraffic(4)
	for _, want := range []struct {
		after  time.Duration
		blocks int
		pause  int64
	}{{122 * time.Second, 6, 0}, {10 * time.Second, 6, 1}, {20 * time.Second, 6, 3}, {10 * time.Second, 7, 3}, {10 * time.Minute, 35, 3}} {
		b.serve(want.after, map[string]*traffic{"a": s})
		q := askedOf(t, b.f)
		if n := len(q.baseline); n != want.blocks || q.last-q.left-diagnose.NowBlocks != want.pause {
			t.Errorf("%v: %d blocks, a pause of %d, want %d and %d", b.at.Mono, n, q.last-q.left-diagnose.NowBlocks, want.blocks, want.pause)
		}
	}
	f := factsNow(t, b.f, b.tick())
	if n := len(f.Flows[0].Now); n != diagnose.NowBlocks || len(f.Flows[0].Before) != diagnose.BaselineBlocks || len(f.Engines[0].Before) != diagnose.BaselineBlocks {
		t.Errorf("%d, %d, %d blocks", n, len(f.Flows[0].Before), len(f.Engines[0].Before))
	}
	if p := wholeOf(b, 0); len(p.at) > diagnose.NowBlocks+diagnose.PauseBlocks+1 {
		t.Errorf("%d blocks wait", len(p.at))
	}
}

// While something is wrong the baseline stands still, for an hour at most, and for ten
// minutes where nobody is hurt.
func TestTheBaselineStandsStill(t *testing.T) {
	for _, tt := range []struct {
		name string
		late float64 // of the first tokens
		then time.Duration
	}{{"unfelt", 0, 10 * time.Minute}, {"missed", 0.5, time.Hour}} {
		t.Run(tt.name, func(t *testing.T) {
			b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
			s := newTraffic(4)
			late := 0.0
			serve := func(d time.Duration) {
				for until := b.at.Mono + d; b.at.Mono < until; b.pass(b.every) {
					page := s.page()
					for i := range page {
						if h := page[i].Hist; h != nil && page[i].Signal == model.TTFT {
							h.Counts[0] -= late
						}
					}
					b.poll("a", page...)
					b.tick()
					s.work(b.every.Seconds())
				}
			}
			serve(10 * time.Minute)
			q := askedOf(t, b.f)
			newest := q.baseline[len(q.baseline)-1]
			s.rate *= 3
			for range 60 {
				late += tt.late * s.rate * 10
				serve(10 * time.Second)
			}
			serve(30 * time.Second)
			stood := q.baseline[len(q.baseline)-1] - newest
			if stood > diagnose.PauseBlocks+3 {
				t.Errorf("the baseline moved on by %d blocks within ten minutes", stood)
			}
			for b.at.Mono < 10*time.Minute+tt.then+8*time.Minute {
				late += tt.late * s.rate * 10
				serve(10 * time.Second)
			}
			if now := q.baseline[len(q.baseline)-1]; q.last-now > 12 {
				t.Errorf("after %v it still ends %d blocks ago", tt.then, q.last-now)
			}
		})
	}
}

// More requests are found, those that wait among them, and who moved them; a viewer who looks at another
// window sees the same.
func TestFindsMoreArrivals(t *testing.T) {
	frames := map[time.Duration]string{}
	for _, window := range []time.Duration{5 * time.Second, time.Minute, 5 * time.Minute} {
		b := promised(t, 2*time.Second, chatPolicy(0.95, ttftHalf), "a")
		b.f.Step(model.Input{At: b.at, Window: window})
		s := newTraffic(4)
		b.serve(400*time.Second, map[string]*traffic{"a": s})
		s.rate, s.waiting = 12, 40
		var fr *model.Frame
		for range 9 {
			s.waiting += 25
			fr = b.serve(10*time.Second, map[string]*traffic{"a": s})
		}
		if d := fr.Diagnoses[0]; len(d.Factors) == 0 || d.Factors[0].Factor != model.FactorArrivals || math.Abs(d.Factors[0].Ratio.Value-14.5/4) > 0.01 {
			t.Errorf("window %v: %+v", window, d)
		}
		if len(fr.Findings) == 0 {
			t.Errorf("window %v: no finding: %+v", window, fr.Diagnoses[0])
		}
		text, err := json.Marshal([]any{fr.Findings, fr.Diagnoses})
		if err != nil {
			t.Fatal(err)
		}
		frames[window] = string(text)
	}
	if a, c := frames[5*time.Second], frames[5*time.Minute]; a != c {
		t.Errorf("findings depend on the window:\n%s\n%s", a, c)
	}
}

// Between two blocks frames repeat what the last one came to.
func TestFramesBetweenBlocksRepeat(t *testing.T) {
	b, s := newBench(t, time.Second, "a"), newTraffic(4)
	b.serve(202*time.Second, map[string]*traffic{"a": s})
	first := b.serve(time.Second, map[string]*traffic{"a": s}).Diagnoses[0]
	for range 5 {
		if again := b.serve(time.Second, map[string]*traffic{"a": s}).Diagnoses[0]; again.At != first.At || again.Sentence != first.Sentence {
			t.Errorf("at %v: %+v", b.at.Mono, again)
		}
	}
	if first.At.Mono != 200*time.Second {
		t.Errorf("evaluated at %v", first.At.Mono)
	}
	if later := b.serve(10*time.Second, map[string]*traffic{"a": s}).Diagnoses[0]; later.At.Mono != 210*time.Second {
		t.Errorf("evaluated at %v", later.At.Mono)
	}
}

// A replica that stops answering is counted as silent. Its numbers leave the sums, and
// neither the fall of what it served nor the growth of what the others serve is a
// change of what was asked for.
func TestAReplicaThatStopsAnswering(t *testing.T) {
	b := newBench(t, 2*time.Second, "a", "b")
	one, two := newTraffic(4), newTraffic(4)
	b.serve(400*time.Second, map[string]*traffic{"a": one, "b": two})
	one.rate = 8 // takes over
	var fr *model.Frame
	for range 45 {
		b.fail("b", model.Refused)
		fr = b.serve(2*time.Second, map[string]*traffic{"a": one})
	}
	f := factsNow(t, b.f, fr)
	if f.Silent != 1 || f.Awaited != 0 || len(f.Engines) != 1 || f.Engines[0].Name != "a" {
		t.Fatalf("silent %d, awaited %d, %d engines", f.Silent, f.Awaited, len(f.Engines))
	}
	for i := range f.Flows[0].Now {
		if r := f.Flows[0].Now[i].Rate(diagnose.Arrived); math.Abs(r-8) > 1 {
			t.Errorf("block %d: %v arrivals/s", i, r)
		}
	}
	if r := f.Flows[0].Before[0].Rate(diagnose.Arrived); math.Abs(r-8) > 1e-6 {
		t.Errorf("before: %v arrivals/s", r)
	}
	for _, v := range fr.Diagnoses[0].Factors {
		if v.Moved {
			t.Errorf("%+v", v)
		}
	}
}

// One that never answered yet is awaited, and the baseline does not wait for it.
func TestAReplicaThatIsAwaited(t *testing.T) {
	b := newBench(t, 2*time.Second, "a", "b")
	s := newTraffic(4)
	for range 150 {
		b.fail("b", model.Refused)
		b.serve(2*time.Second, map[string]*traffic{"a": s})
	}
	f := factsNow(t, b.f, b.tick())
	if f.Silent != 1 || f.Awaited != 1 || len(f.Flows[0].Before) < 15 {
		t.Errorf("silent %d, awaited %d, a baseline of %d", f.Silent, f.Awaited, len(f.Flows[0].Before))
	}
}

// A gap in all pages is no change: what is compared is rates over what was read.
func TestAGapIsNoFinding(t *testing.T) {
	b, s := newBench(t, 2*time.Second, "a"), newTraffic(4)
	b.serve(400*time.Second, map[string]*traffic{"a": s})
	for range 15 {
		b.fail("a", model.Timeout)
		s.work(2)
		b.tick()
		b.pass(2 * time.Second)
	}
	for range 12 {
		fr := b.serve(10*time.Second, map[string]*traffic{"a": s})
		if len(fr.Findings) > 0 {
			t.Fatalf("%v: %+v", b.at.Mono, fr.Findings)
		}
		for _, v := range fr.Diagnoses[0].Factors {
			if v.Moved {
				t.Errorf("%v: %+v", b.at.Mono, v)
			}
		}
	}
	f := factsNow(t, b.f, b.tick())
	for i := range f.Flows[0].Now {
		if r := f.Flows[0].Now[i].Rate(diagnose.Arrived); math.Abs(r-4) > 1e-6 {
			t.Errorf("block %d: %v arrivals/s", i, r)
		}
	}
}

// A workflow that came with the incident has no past, and is new.
func TestANewWorkflow(t *testing.T) {
	b := newBench(t, 2*time.Second, "a")
	one, two := newTraffic(4), newTraffic(20)
	two.label = model.Labels(model.LabelModel, "job")
	for i := range 240 {
		page := one.page()
		if i >= 200 {
			page = append(page, two.page()...)
			two.work(2)
		}
		b.round(page...)
		one.work(2)
	}
	f := factsNow(t, b.f, b.tick())
	for _, w := range f.Flows {
		if isNew := w.Name == "job"; w.New != isNew || (len(w.Before) == 0) != isNew {
			t.Errorf("%s: new %v, %d blocks before", w.Name, w.New, len(w.Before))
		}
	}
}

// What is said of an engine: levels, caps, what was done to it, and its age.
func TestFactsOfAnEngine(t *testing.T) {
	b := newBench(t, 2*time.Second, "a")
	f, err := New(Config{Targets: specsOf(b.f), Every: b.every, Policy: model.Policy{
		Hardware: []model.HardwareSpec{{Target: "b*", Sequences: 1}, {Target: "a*", TokenBudget: 8192}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.f = f
	s := newTraffic(4)
	more := func() []model.Sample {
		n := s.ended
		return []model.Sample{
			gauge(model.KVCapacity, 400e3), gauge(model.MaxRunning, 256),
			histogram(model.StepTokens, []float64{64, 2048, 8192}, []float64{n, 2 * n, 2 * n, 2 * n}, 100*n),
		}
	}
	for i := range 150 {
		s.running, s.usage = 5, 0.3
		if i >= 120 {
			s.running, s.waiting, s.usage = 9, 2, 0.6
		}
		b.round(append(s.page(), more()...)...)
		s.work(2)
	}
	e := factsNow(t, b.f, b.tick()).Engines[0]
	near(t, "running before", e.RunningBefore.Mean, 5)
	near(t, "running", e.Running.Mean, 9)
	near(t, "waiting, most", e.Waiting.Most, 2)
	near(t, "KV, most", e.KV.Most, 0.6)
	near(t, "KV before", e.KVBefore.Mean, 0.3)
	near(t, "pool", e.KVCapacity, 400e3)
	near(t, "cap", e.Cap, 256)
	near(t, "budget", e.Budget, 8192)
	near(t, "budget seen", e.BudgetSeen, 2048)
	near(t, "age", e.Age, 300)
	if !e.Prefix || len(e.Changes) != 0 || e.Step.Why != "" || e.Step.Fit == nil {
		t.Errorf("%+v", e)
	}
	gap := factsNow(t, b.f, b.tick()).Flows[0]
	if g := gap.Gap; !g.P50.OK() || g.P50.Value < 0.01 || g.P50.Value > 0.02 || !g.Longest.OK() || g.Longest.Value != 0.02 || gap.GapBefore.P50 != g.P50 {
		t.Errorf("gap %+v, before %+v", g, gap.GapBefore)
	}
	if len(gap.Terms) == 0 || gap.Terms[0].Metric != model.MetricTTFT || gap.Terms[0].N < 200 || gap.Terms[0].Verdict != model.Met {
		t.Errorf("terms %+v", gap.Terms)
	}
	s.restart()
	b.serve(30*time.Second, map[string]*traffic{"a": s})
	e = factsNow(t, b.f, b.tick()).Engines[0]
	if len(e.Changes) != 1 || e.Changes[0].What != "restarted" || e.Age.Value > 31 {
		t.Errorf("after a restart: %+v, %v", e.Changes, e.Age)
	}
}

// Where engines and a gateway both tell, the engines' work counts and the gateway's
// outcomes, and how much longer TTFT is there is what passes outside the engine.
func TestFactsOfBothSides(t *testing.T) {
	b := gatewayBench(t)
	gateway, engine := newTraffic(4), newTraffic(4)
	for range 120 {
		behind := gateway.page()
		for i := range behind {
			if h := behind[i].Hist; h != nil && behind[i].Signal == model.TTFT {
				h.Sum = model.Of(0.5 * gateway.ended)
			}
		}
		b.poll("gw", append(behind, counter(model.Retried, gateway.ended/4), gauge(model.AtGateway, 7))...)
		b.poll("a", engine.page()...)
		b.tick()
		gateway.work(b.every.Seconds())
		engine.work(b.every.Seconds())
		b.pass(b.every)
	}
	f := factsNow(t, b.f, b.tick())
	w := f.Flows[0]
	if len(f.Engines) != 1 || f.Engines[0].Name != "a" || len(w.Now) < 3 {
		t.Fatalf("%d engines, %d blocks", len(f.Engines), len(w.Now))
	}
	s := w.Now[len(w.Now)-1]
	if math.Abs(s.Rate(diagnose.Arrived)-4) > 1e-6 || math.Abs(s.Rate(diagnose.Retried)-1) > 1e-6 || math.Abs(s.Measures[diagnose.TTFT].Value()-0.2) > 1e-6 {
		t.Errorf("%v arrivals/s, %v retries/s, TTFT %v", s.Rate(diagnose.Arrived), s.Rate(diagnose.Retried), s.Measures[diagnose.TTFT].Value())
	}
	near(t, "outside", w.Outside, 0.3)
	near(t, "outside before", w.OutsideBefore, 0.3)
	near(t, "held", w.Held, 7)
}

// The same inputs give the same diagnosis to the byte.
func TestDiagnosisReplays(t *testing.T) {
	play := func() string {
		var out strings.Builder
		foldDemo(t, "demo:S1?seed=3", 5*time.Second, 700*time.Second, func(_ *Fleet, fr *model.Frame) {
			text, err := json.Marshal([]any{fr.Findings, fr.Diagnoses})
			if err != nil {
				t.Fatal(err)
			}
			out.Write(text)
			out.WriteByte('\n')
		})
		return out.String()
	}
	first := play()
	if again := play(); again != first {
		t.Error("two runs differ")
	}
	if !strings.Contains(first, string(model.FactorArrivals)) || !strings.Contains(first, `"state":"found"`) {
		t.Errorf("nothing was found: %.2000s", first[max(0, len(first)-2000):])
	}
}

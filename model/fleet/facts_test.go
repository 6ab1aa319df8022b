package fleet

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
)

// sent is a request that took so long, ended just now, and came with its tokens.
func (b *bench) sent(id string, ttft, e2e, prompt, cached float64) model.Request {
	r := b.done(id, ttft, e2e, 50)
	r.InputTokens, r.CachedTokens = model.Of(prompt), model.Of(cached)
	return r
}

// reporting lets clients report n requests a second for a while.
func (b *bench) reporting(d time.Duration, n int, shape func(i int, r *model.Request)) *model.Frame {
	var fr *model.Frame
	for until := b.at.Mono + d; b.at.Mono < until; {
		var all []model.Request
		for i := range n {
			r := b.sent(fmt.Sprintf("%d-%d", b.at.Mono, i), 0.2, 2, 1000, 400)
			if shape != nil {
				shape(i, &r)
			}
			all = append(all, r)
		}
		b.report(all...)
		fr = b.tick()
		b.pass(b.every)
	}
	return fr
}

// Where only single requests are reported, everything comes from them.
func TestFactsOfReports(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	b.reporting(200*time.Second, 5, nil)
	fr := b.reporting(60*time.Second, 5, func(i int, r *model.Request) {
		switch i {
		case 0: // left before anything came
			r.Outcome, r.FirstToken, r.OutputTokens = model.RequestCancelled, 0, model.Reading{}
		case 1: // left in the middle
			r.Outcome = model.RequestCancelled
		case 2:
			r.Outcome, r.Status, r.FirstToken, r.OutputTokens = model.RequestFailed, 529, 0, model.Reading{}
		case 3:
			r.Outcome = model.OutputLimited
		}
	})
	f := factsNow(t, b.f, fr)
	if len(f.Engines) != 0 || f.Silent != 0 || len(f.Flows) != 1 {
		t.Fatalf("%d engines, %d silent, %d flows", len(f.Engines), f.Silent, len(f.Flows))
	}
	w := f.Flows[0]
	now, before := w.Now[len(w.Now)-2], w.Before[0]
	for c, want := range map[diagnose.Count][2]float64{
		diagnose.Arrived: {5, 5}, diagnose.Ended: {5, 5}, diagnose.Cancelled: {2, 0}, diagnose.GaveUpEarly: {1, 0}, diagnose.Failed: {1, 0},
		diagnose.Throttled: {1, 0}, diagnose.Limited: {1, 0}, diagnose.PromptTokens: {5000, 5000}, diagnose.CachedTokens: {2000, 2000},
		diagnose.OutputTokens: {150, 250},
	} {
		if math.Abs(now.Rate(c)-want[0]) > 1e-6 || math.Abs(before.Rate(c)-want[1]) > 1e-6 {
			t.Errorf("count %d: %v/s, before %v/s, want %v", c, now.Rate(c), before.Rate(c), want)
		}
	}
	if !math.IsNaN(now.Counts[diagnose.Steps]) || !math.IsNaN(now.Measures[diagnose.KVLevel].N) {
		t.Error("what only an engine knows is known")
	}
	if v := before.Measures[diagnose.TTFT].Value(); math.Abs(v-0.2) > 0.003 {
		t.Errorf("TTFT %v", v)
	}
	if good, judged := before.Counts[diagnose.Good], before.Counts[diagnose.Judged]; good != 50 || judged != 50 {
		t.Errorf("%v good of %v", good, judged)
	}
}

// Single requests are kept of the whole present minute and of the whole baseline, as
// many as can be looked at.
func TestCallsAreBounded(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	fr := b.reporting(500*time.Second, 30, nil)
	w := factsNow(t, b.f, fr).Flows[0]
	if n := len(w.Calls); n > mostCalls || n < mostCalls/2-6 {
		t.Errorf("%d calls now", n)
	}
	if n := len(w.CallsBefore); n > mostCalls || n < 200 {
		t.Errorf("%d calls before", n)
	}
	first, last := w.Calls[0], w.Calls[len(w.Calls)-1]
	if span := last.At.Sub(first.At); span < 55*time.Second || span > 60*time.Second {
		t.Errorf("the present is of %v", span)
	}
	if span := w.CallsBefore[len(w.CallsBefore)-1].At.Sub(w.CallsBefore[0].At); span < 300*time.Second {
		t.Errorf("the baseline is of %v", span)
	}
	// Thirty a second that take two seconds each: sixty are in flight, and at its first
	// token each has those for company that began within the two seconds around it.
	for _, c := range w.Calls[:100] {
		if c.Prompt != 1000 || c.Uncached != 600 || math.Abs(c.TTFT-0.2) > 1e-6 || c.Failed {
			t.Fatalf("%+v", c)
		}
		if c.Others < 29 || c.Others > 60 {
			t.Errorf("%v others", c.Others)
		}
	}
}

func TestFewWorkflowsKeepCalls(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for i := range 60 {
		r := b.sent(fmt.Sprint(i), 0.2, 1, 10, 0)
		r.Workflow = fmt.Sprintf("w%02d", i)
		b.report(r)
	}
	n := 0
	for _, w := range b.f.flows {
		if w.story.calls.any {
			n++
		}
	}
	if n != callingFlows || b.f.calling != n {
		t.Errorf("%d of %d workflows keep calls", n, len(b.f.flows))
	}
	b.pass(2 * MaxWindow)
	b.tick()
	b.tick()
	if b.f.calling != 0 {
		t.Errorf("%d places are taken by workflows that are gone", b.f.calling)
	}
}

// A gateway names its workflow by who asks and its model as the engine does: what takes
// longer is the engine's, and no provider is blamed. Of another model's it may be.
func TestNoProviderInFrontOfEngines(t *testing.T) {
	for asked, want := range map[string]bool{"chat": false, "": false, "gpt": true} {
		f, err := New(Config{
			Targets: []model.Target{{ID: "e", Name: "e", Kind: model.EngineTarget}, {ID: "a", Name: "a", Kind: model.GatewayTarget}},
			Every:   2 * time.Second, Policy: model.Policy{KeepOthers: true, Workflows: []model.WorkflowSpec{
				{Name: "checkout", Share: 0.95, PeriodS: 86400, Objectives: []model.Objective{{Metric: model.MetricTTFT, MaxS: 0.5}}},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		b, s := &bench{t: t, f: f, at: model.Instant{Wall: noon}, every: 2 * time.Second}, newTraffic(4)
		run := func(d time.Duration, ttft float64) (fr *model.Frame) {
			for until := b.at.Mono + d; b.at.Mono < until; {
				b.poll("e", s.page()...)
				s.work(2)
				fr = b.reporting(2*time.Second, 8, func(i int, r *model.Request) {
					*r = b.sent(r.ID, ttft, ttft+1, 1000+100*float64(i), 400)
					r.Workflow, r.Model = "checkout", asked
				})
			}
			return fr
		}
		run(10*time.Minute, 0.2)
		fr := run(2*time.Minute, 2)
		blamed := slices.ContainsFunc(fr.Findings, func(x model.FindingView) bool { return x.Binds == model.BindsProvider })
		if blamed != want {
			t.Errorf("model %q: %+v", asked, fr.Findings)
		}
		for _, d := range fr.Diagnoses {
			if d.Pool == "checkout" && !want && !strings.Contains(d.Sentence, "look at the engines of chat") {
				t.Errorf("model %q: %s", asked, d.Sentence)
			}
		}
	}
}

// A device's readings are compared with what they were in the quiet blocks.
func TestFactsOfGPUs(t *testing.T) {
	b := newGPUBench(t, 2*time.Second, engineAt("engine", "http://gpu-1:8000/metrics"), gpuTarget("http://gpu-1:9400/metrics"))
	s := newTraffic(4)
	card := func(clock, power float64, slow ...string) model.Device {
		d := with(with(gpu("GPU-aaaa", 0, 0.9), model.SMClock, clock), model.Power, power)
		d.Throttle, d.ThrottleStatus = append([]string{}, slow...), model.Measured
		return d
	}
	round := func(d model.Device) {
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: b.f.targets[0].spec.ID, Samples: s.page(), About: about}})
		s.work(2)
		b.gpuRound(string(b.f.targets[1].spec.ID), d)
	}
	for range 150 {
		round(card(1.9e9, 600))
	}
	for i := range 31 {
		if i%2 == 0 {
			round(card(0.9e9, 400, model.ThrottleThermal))
		} else {
			round(card(0.9e9, 400))
		}
	}
	e := factsNow(t, b.f, b.tick()).Engines[0]
	if len(e.GPUs) != 1 {
		t.Fatalf("%d GPUs", len(e.GPUs))
	}
	g := e.GPUs[0]
	near(t, "clock before", g.Clock.Before, 1.9e9)
	near(t, "clock", g.Clock.Now, 0.9e9)
	near(t, "power before", g.Power.Before, 600)
	near(t, "power", g.Power.Now, 400)
	near(t, "throttled before", g.Throttled.Before, 0)
	if v := g.Throttled.Now; !v.OK() || v.Value < 0.4 || v.Value > 0.6 {
		t.Errorf("throttled %v", v)
	}
	if g.Tensor.Now.OK() || g.DRAM.Before.OK() {
		t.Error("what nobody measures is known")
	}
}

// Memory of the diagnosis is bounded: blocks, samples, calls and notes of hours.
func TestMemoryOfADiagnosisIsBounded(t *testing.T) {
	b, s := newBench(t, 5*time.Second, "a"), newTraffic(4)
	for i := range 5 * 720 {
		if i%720 == 700 {
			s.restart()
		}
		b.serve(5*time.Second, map[string]*traffic{"a": s})
	}
	one, w := b.f.targets[0], b.f.flows["chat"]
	if len(one.past.whole.at) > mostRecent || len(one.past.base) > diagnose.BaselineBlocks || len(w.story.base) > diagnose.BaselineBlocks ||
		len(w.story.noted) > mostRecent || len(w.story.gaps) > diagnose.BaselineBlocks || len(askedOf(t, b.f).loud) > mostRecent {
		t.Error("more than can matter is remembered")
	}
	if st := one.steps; len(st.base) > mostSamples || len(st.recent) > mostSamples || len(st.changes) > mostChanges {
		t.Errorf("%d and %d samples, %d changes", len(st.base), len(st.recent), len(st.changes))
	}
}

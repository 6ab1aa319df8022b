package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sim"
)

// roomOf plays a scenario of the simulated service and gives the last view of its only
// pool, with everything that was seen before.
func roomOf(t *testing.T, target string, policy model.Policy, window, length time.Duration, see func(model.CapacityView)) model.CapacityView {
	t.Helper()
	opened, err := sources.Resolve(context.Background(), []string{target}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	targets := make([]model.Target, len(opened))
	for i := range opened {
		targets[i] = opened[i].Target
	}
	policy.Workflows = sim.Promises()
	f, err := New(Config{Targets: targets, Every: time.Second, Window: window, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	var last model.CapacityView
	err = sources.Play(context.Background(), opened, sources.PlayOptions{Every: time.Second, For: length}, func(in model.Input) {
		fr := f.Step(in)
		if fr == nil || len(fr.Capacity) == 0 {
			return
		}
		if last = fr.Capacity[0]; see != nil {
			see(last)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func about10(t *testing.T, what string, got model.Reading, want, part float64) {
	t.Helper()
	if v, ok := got.Get(); !ok || math.Abs(v/want-1) > part {
		t.Errorf("%s: %v, want %v ± %.0f %%", what, got, want, 100*part)
	}
}

// TestCapacityOfACalmService: two replicas of the simulated 8B model at 9.4 requests a
// second each. What is learned of its pages is what it was made of: s 50.6 ms and a
// KV cache that is full at 17.5 requests a second of each.
func TestCapacityOfACalmService(t *testing.T) {
	v := roomOf(t, "demo:S0?seed=7", model.Policy{}, time.Minute, 400*time.Second, nil)
	about10(t, "machine a request", v.PerCall, 0.0506, 0.1)
	about10(t, "load", v.Load, 0.47, 0.1)
	about10(t, "rate", v.Rate, 18.8, 0.15)
	about10(t, "λ∞", v.MaxRate, 2*19.7, 0.1)
	about10(t, "λ_KV", v.KVRate, 2*17.5, 0.1)
	about10(t, "headroom", v.Headroom, model.PlanningLimit/v.Load.Value-1, 1e-9)
	about10(t, "more", v.More, v.Rate.Value*v.Headroom.Value, 1e-9)
	about10(t, "expected TPOT", v.Expected.TPOT, 12.9e-3, 0.15)
	about10(t, "expected to run", v.Expected.Running, 2*26.5, 0.25)
	about10(t, "expected KV use", v.Expected.KVUse, 26.5*1922/438e3, 0.25)
	about10(t, "sequences that fit", v.Expected.Fit, 2*228, 0.15)
	if v.Replicas.Ready != 2 || v.Replicas.Needed.Value != 2 || v.Replicas.Forecast.OK() {
		t.Errorf("replicas %+v", v.Replicas)
	}
	if v.First != model.BindsObjective || !(v.SLORate.Value > v.Rate.Value && v.SLORate.Value < v.KVRate.Value) {
		t.Errorf("first %v at %v, KV %v", v.First, v.SLORate, v.KVRate)
	}
	if len(v.Levers) != 3 || v.Cost != nil || v.Why != "" {
		t.Errorf("levers %v, cost %v, why %q", v.Levers, v.Cost, v.Why)
	}
	for _, l := range v.Levers {
		if !(l.Rate.Value > 0 && l.Load.Value < v.Load.Value) {
			t.Errorf("%+v", l)
		}
	}
	if len(v.Knees) != 3 || v.Knees[1].Workflow != "chat" || !v.Knees[1].Rate.OK() || v.Knees[1].Reached {
		t.Errorf("knees %+v", v.Knees)
	}
	if !strings.HasPrefix(v.Sentence, "load 0.") || !strings.Contains(v.Sentence, "req/s more of this mix; ") {
		t.Error(v.Sentence)
	}
}

// TestRoomEndsWhereSomethingBinds: where a cap is reached before the planning limit,
// there is room up to it and no further, and none where it is reached already.
func TestRoomEndsWhereSomethingBinds(t *testing.T) {
	for cap, room := range map[int]bool{40: true, 20: false} {
		p := model.Policy{Hardware: []model.HardwareSpec{{Sequences: cap}}}
		v := roomOf(t, "demo:S0?seed=7", p, time.Minute, 400*time.Second, nil)
		ceiling := v.Rate.Value + v.More.Value
		if (v.More.Value > 0) != room || v.More.Value > 0.95*v.Rate.Value*v.Headroom.Value {
			t.Errorf("cap %d: %v more, headroom %v of %v", cap, v.More, v.Headroom, v.Rate)
		}
		if at := fmt.Sprintf("at %.1f req/s", ceiling); v.First != model.BindsCap || !strings.Contains(string(v.FirstWhy), at) || !strings.Contains(v.Sentence, at) {
			t.Errorf("cap %d: %s, %q, %q", cap, at, v.FirstWhy, v.Sentence)
		}
		if _, bound := v.Room(); !bound {
			t.Errorf("cap %d: nothing is said to bind: %v of %v, headroom %v", cap, v.More, v.Rate, v.Headroom)
		}
	}
}

// TestCapacityInOverload: four times the chat traffic. What arrives counts, and not the
// half of it that is served; the knee was seen on the way.
func TestCapacityInOverload(t *testing.T) {
	v := roomOf(t, "demo:S1?seed=7&at=5m", model.Policy{}, time.Minute, 420*time.Second, nil)
	about10(t, "load", v.Load, 1.46, 0.15)
	if v.Replicas.Needed.Value < 4 || v.More.Value >= 0 || v.Headroom.Value >= 0 {
		t.Errorf("%+v, more %v", v.Replicas, v.More)
	}
	if !strings.HasPrefix(v.Sentence, "overloaded: load 1.") || !strings.HasSuffix(v.Sentence, " more replicas for this rate") {
		t.Error(v.Sentence)
	}
	if !strings.Contains(string(v.Why), "are given up") {
		t.Errorf("why %q", v.Why)
	}
	chat := v.Knees[1]
	if !chat.Reached || !(chat.Rate.Value < 30) || !(v.Observed.Hi.Value > 50) {
		t.Errorf("knee %+v, observed %+v", chat, v.Observed)
	}
	kinds := map[string]model.WasteView{}
	for _, w := range v.Waste {
		kinds[w.Kind] = w
	}
	if kinds["abandoned"].N.Value < 500 || kinds["abandoned"].Tokens.OK() || kinds["abandoned"].Note == "" {
		t.Errorf("abandoned %+v", kinds["abandoned"])
	}
	if !(kinds["recomputed"].Tokens.Value > 0) {
		t.Errorf("recomputed %+v", kinds["recomputed"])
	}
}

// TestCapacityIsOfWhatArrives: where half of a workflow's users give up, it is the mix of
// those who come that a machine has to carry. On the screen of findings it is the same number.
func TestCapacityIsOfWhatArrives(t *testing.T) {
	opened, err := sources.Resolve(context.Background(), []string{"demo:S1?seed=1"}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	targets := make([]model.Target, len(opened))
	for i := range opened {
		targets[i] = opened[i].Target
	}
	f, err := New(Config{Targets: targets, Every: time.Second, Policy: model.Policy{Workflows: sim.Promises()}})
	if err != nil {
		t.Fatal(err)
	}
	var last *model.Frame
	err = sources.Play(context.Background(), opened, sources.PlayOptions{Every: time.Second, For: 720 * time.Second}, func(in model.Input) {
		if fr := f.Step(in); fr != nil {
			last = fr
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	v := last.Capacity[0]
	// Of its pages by hand: 62.7 requests/s of chat at 39.1 ms, 1.6 at 61.3 and 1.1 at 208.
	about10(t, "load", v.Load, 1.392, 0.03)
	if want := fmt.Sprintf("load factor %.2f → ", v.Load.Value); len(last.Findings) == 0 || !strings.Contains(strings.Join(last.Findings[0].Try, "; "), want) {
		t.Errorf("want %q in %+v", want, last.Findings)
	}
}

// TestUtilizationIsOfTheDiagnosis: the step that is split is that of the minute that was
// judged in the same frame.
func TestUtilizationIsOfTheDiagnosis(t *testing.T) {
	looked := 0
	foldDemo(t, "demo:S5?seed=1", time.Second, 300*time.Second, func(f *Fleet, fr *model.Frame) {
		for i := range fr.Utilization {
			u := &fr.Utilization[i]
			e := f.targets[slices.IndexFunc(f.targets, func(t *target) bool { return t.spec.Name == u.Target })]
			if u.Step == nil || !u.Step.Seconds.OK() {
				continue
			}
			if looked++; u.Step.Seconds.Value != e.stepNow().Step {
				t.Fatalf("%v: %s: a step of %v, judged one of %v", fr.At.Mono, u.Target, u.Step.Seconds.Value, e.stepNow().Step)
			}
		}
	})
	if looked < 400 {
		t.Errorf("%d splits", looked)
	}
}

// TestCapacityOfASlowMachine: a machine that is half as fast carries half as much, and
// the reader is told.
func TestCapacityOfASlowMachine(t *testing.T) {
	v := roomOf(t, "demo:S4?seed=7&at=5m", model.Policy{}, time.Minute, 420*time.Second, nil)
	about10(t, "load", v.Load, 2*0.47, 0.2)
	if !strings.Contains(string(v.Why), "of what was learned") {
		t.Errorf("why %q", v.Why)
	}
	if !strings.Contains(v.Sentence, "the model is optimistic") && !strings.HasPrefix(v.Sentence, "overloaded") {
		t.Error(v.Sentence)
	}
}

// TestCapacityOfACap: the configured cap of sequences, or that of the page, binds.
func TestCapacityOfACap(t *testing.T) {
	p := model.Policy{Hardware: []model.HardwareSpec{{Sequences: 40}}}
	v := roomOf(t, "demo:S0?seed=7", p, time.Minute, 300*time.Second, nil)
	if v.First != model.BindsCap || !strings.Contains(string(v.FirstWhy), "the cap of 40 sequences") {
		t.Errorf("%v %q", v.First, v.FirstWhy)
	}
	// It need not be configured where the diagnosis found it.
	found := roomOf(t, "demo:S14?seed=7&at=5m", model.Policy{}, time.Minute, 420*time.Second, nil)
	if found.First != model.BindsCap || !strings.Contains(found.Sentence, "the cap of 24 sequences binds already at ") {
		t.Error(found.Sentence)
	}
	// TPOT at this cap is still below what breaks a promise.
	if v.SLORate.Value <= 0 || !strings.Contains(v.Sentence, "until the cap of 40 sequences binds") {
		t.Error(v.Sentence)
	}
}

// TestCapacityForecast: three times the chat, the others as they are; what nobody asked
// yet is named.
func TestCapacityForecast(t *testing.T) {
	p := model.Policy{Forecast: map[string]float64{"chat": 48, "nightly": 3, "a": 1, "b": 2, "c": 3}}
	v := roomOf(t, "demo:S0?seed=7", p, time.Minute, 300*time.Second, nil)
	about10(t, "forecast", v.Replicas.Forecast, 48+2*1.4, 0.1)
	// A chat request costs less than the mean one: less than three times the machines.
	if n := v.Replicas.Then.Value; n < 4 || n > 5 {
		t.Errorf("%v replicas then", n)
	}
	if !strings.Contains(string(v.Replicas.Why), "the forecast of a, b, c and 1 more, of which no request was seen") {
		t.Error(v.Replicas.Why)
	}
}

// TestCapacityCosts: price times GPUs over tokens, dearer by those that were not good.
func TestCapacityCosts(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  model.Policy
		gpus    float64
		perHour float64
		note    string
	}{
		{"joined", model.Policy{Prices: model.PriceSpec{GPUHour: 3.24}}, 2, 6.48, "were seen to run on"},
		{"configured", model.Policy{Hardware: []model.HardwareSpec{{GPUs: 4, GPUHour: 2}}}, 8, 16, "as configured"},
	} {
		v := roomOf(t, "demo:S0?seed=7", tc.policy, time.Minute, 200*time.Second, nil)
		c := v.Cost
		if c == nil {
			t.Errorf("%s: no cost", tc.name)
			continue
		}
		near(t, tc.name+" GPUs", c.GPUs, tc.gpus)
		near(t, tc.name+" an hour", c.PerHour, tc.perHour)
		if c.Currency != "$" || !strings.Contains(string(c.Note), tc.note) {
			t.Errorf("%s: %+v", tc.name, c)
		}
		// 4,300 tokens a second or so.
		about10(t, "a million", c.PerMillion, tc.perHour/(4300*3600)*1e6, 0.15)
		if lo, hi := c.PerMillionGood.Lo.Value, c.PerMillionGood.Hi.Value; !(lo >= c.PerMillion.Value && hi >= lo && hi < 1.1*c.PerMillion.Value) {
			t.Errorf("%s: a good million %v to %v", tc.name, lo, hi)
		}
		e := v.Energy
		if e == nil || e.Boards != 2 || !(e.PowerW.Value > 400 && e.PowerW.Value < 1500) {
			t.Errorf("%s: energy %+v", tc.name, e)
			continue
		}
		about10(t, "Wh a million", e.WhPerMillion, 1e6/(3600*e.TokensPerJoule.Value), 1e-9)
		if !(e.GoodPerJoule.Lo.Value <= e.GoodPerJoule.Hi.Value && e.GoodPerJoule.Hi.Value <= e.TokensPerJoule.Value) {
			t.Errorf("%s: good tokens a joule %+v", tc.name, e.GoodPerJoule)
		}
	}
}

// TestCapacityIsNotOfTheWindow: it does not depend on what the viewer looks at, and
// changes with a block and not with a frame.
func TestCapacityIsNotOfTheWindow(t *testing.T) {
	var short, long []model.CapacityView
	roomOf(t, "demo:S0?seed=3", model.Policy{}, 10*time.Second, 200*time.Second, func(v model.CapacityView) { short = append(short, v) })
	roomOf(t, "demo:S0?seed=3", model.Policy{}, 5*time.Minute, 200*time.Second, func(v model.CapacityView) { long = append(long, v) })
	if !reflect.DeepEqual(short, long) {
		t.Error("it depends on the window")
	}
	changes := 0
	for i := 1; i < len(short); i++ {
		if !reflect.DeepEqual(short[i], short[i-1]) {
			changes++
		}
	}
	if changes < 10 || changes > 25 {
		t.Errorf("%d changes in 200 s", changes)
	}
}

// TestCapacityUnknown: an engine that does not say what a step costs has no load factor,
// and says why; what was counted is there.
func TestCapacityUnknown(t *testing.T) {
	b := promised(t, time.Second, model.Policy{Prices: model.PriceSpec{Currency: "€", GPUHour: 2}}, "a")
	var f *model.Frame
	for i := range 130 {
		n := float64(i)
		f = b.round(gauge(model.Running, 3), gauge(model.Waiting, 0), counter(model.Finished, 2*n), counter(model.OutputTokens, 1000*n))
	}
	v := f.Capacity[0]
	if v.Load.OK() || v.PerCall.OK() || v.MaxRate.OK() || v.Replicas.Needed.OK() || v.First != model.BindsNothing {
		t.Errorf("%+v", v)
	}
	if v.Why == "" || v.Sentence != "no load factor: "+string(v.Why) {
		t.Errorf("why %q, %q", v.Why, v.Sentence)
	}
	near(t, "rate", v.Rate, 2)
	near(t, "cost", v.Cost.PerMillion, 2/(1000*3600.0)*1e6)
	if v.Cost.Currency != "€" || v.Cost.GPUs.Value != 1 || !strings.Contains(string(v.Cost.Note), "supposed") {
		t.Errorf("%+v", v.Cost)
	}
	if v.Energy != nil || len(v.Waste) != 5 || v.Knees == nil || v.Levers == nil {
		t.Errorf("%+v", v)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `"load":0`) {
		t.Error("an unknown load is written as 0")
	}
}

// TestCapacityWithoutEngines: nobody's room is told of requests alone.
func TestCapacityWithoutEngines(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	for i := range 30 {
		b.report(b.done(fmt.Sprint(i), 0.2, 1, 50))
		b.tick()
		b.pass(time.Second)
	}
	if f := b.tick(); f.Capacity == nil || len(f.Capacity) != 0 {
		t.Errorf("%+v", f.Capacity)
	}
}

// TestWasteIsNotUncountedYet: before the first stretch of time is whole nobody knows
// what the servers count.
func TestWasteIsNotUncountedYet(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	polls := 0
	for _, c := range []struct {
		polls int
		want  string
	}{{3, "nothing of the last minute was read"}, {30, "the engines do not count preemptions"}} {
		for ; polls < c.polls; polls++ {
			b.poll("a", gauge(model.Running, 3), gauge(model.Waiting, 0), counter(model.Finished, float64(polls)))
			b.tick()
			b.pass(time.Second)
		}
		for _, w := range b.tick().Capacity[0].Waste {
			if w.Kind == "recomputed" && string(w.Note) != c.want {
				t.Errorf("after %d polls: %q, want %q", polls, w.Note, c.want)
			}
		}
	}
}

// TestCapacityCountsWaste: what single reports tell of requests that helped nobody, beside
// an engine that only counts.
func TestCapacityCountsWaste(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a", "g")
	for i := range 90 {
		n := float64(i)
		b.poll("a", gauge(model.Running, 3), gauge(model.Waiting, 0), counter(model.Finished, n), counter(model.OutputTokens, 100*n), counter(model.Preemptions, 0))
		cut := b.done(fmt.Sprint("cut", i), 0.2, 1, 30)
		cut.Outcome = model.OutputLimited
		left := b.done(fmt.Sprint("left", i), 0.2, 1, 10)
		left.Outcome = model.RequestCancelled
		lost := b.done(fmt.Sprint("lost", i), 0.2, 1, 5)
		lost.Outcome, lost.OutputTokens = model.RequestFailed, model.Reading{}
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "g", Requests: []model.Request{cut, left, lost}, About: about}})
		b.tick()
		b.pass(time.Second)
	}
	waste := map[string]model.WasteView{}
	for _, w := range b.tick().Capacity[0].Waste {
		waste[w.Kind] = w
	}
	near(t, "truncated", waste["truncated"].Tokens, 30)
	near(t, "of the output", waste["truncated"].Share, 0.3)
	near(t, "abandoned", waste["abandoned"].Tokens, 10)
	if w := waste["failed"]; w.Tokens.OK() || w.N.Value < 50 || !strings.Contains(string(w.Note), "did not say") {
		t.Errorf("failed %+v", w)
	}
	near(t, "recomputed", waste["recomputed"].Tokens, 0)
}

// TestServersBehindATarget: as many as step side by side, or as a server of metrics says
// there are.
func TestServersBehindATarget(t *testing.T) {
	for _, tc := range []struct {
		name string
		t    target
		want float64
	}{
		{"one", target{}, 1},
		{"data-parallel, without steps", target{view: model.TargetView{Engines: make([]model.EngineView, 4)}}, 4},
		{"by their steps", target{view: model.TargetView{Engines: make([]model.EngineView, 4)}, steps: &stepper{ranks: 2}}, 2},
		{"behind a server of metrics", target{view: model.TargetView{Replicas: model.Replicas{Fresh: 7, Total: 8}}}, 7},
	} {
		if got := tc.t.servers(); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestGPUsThatArePaid: a GPU that two engines share is paid once, a slice is a part of it.
func TestGPUsThatArePaid(t *testing.T) {
	whole, divided := &device{}, &device{slices: 4}
	slice := &device{parent: divided}
	counted := map[*device]bool{}
	for _, tc := range []struct {
		on   []*device
		want float64
	}{{[]*device{whole}, 1}, {[]*device{whole}, 0}, {[]*device{slice, whole}, 0.25}, {nil, 0}} {
		if got := wholes(tc.on, counted); got != tc.want {
			t.Errorf("%v GPUs, want %v", got, tc.want)
		}
	}
}

// BenchmarkCapacity is what it costs of each engine and frame: nothing within a block,
// and once a block a look at every pool.
func BenchmarkCapacity(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			list, names := servers(n)
			for _, s := range list {
				s.samples = slices.DeleteFunc(s.samples, func(s model.Sample) bool { return slices.Contains(gatewayLevels, s.Signal) })
			}
			bench := newBench(b, 5*time.Second, names...)
			var fr *model.Frame
			for i := range 40 {
				for _, s := range list {
					s.move(i)
					bench.f.Step(model.Input{At: bench.at, Batch: &model.Batch{Target: s.id, Samples: s.samples, About: about}})
				}
				fr = bench.tick()
				bench.pass(5 * time.Second)
			}
			if v := fr.Capacity[0]; v.Replicas.Ready != n || !v.Rate.OK() {
				b.Fatalf("%+v", v)
			}
			b.ResetTimer()
			for i := range b.N {
				if i%10 == 0 {
					bench.f.room.of.block-- // ten frames a block
				}
				bench.f.seeCapacity(fr)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/engine·frame")
		})
	}
}

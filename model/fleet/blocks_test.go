package fleet

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
)

// traffic is an engine with steady requests: so many a second, each of 100 prompt
// tokens, 60 of them cached, and 50 output tokens.
type traffic struct {
	rate, running, waiting, usage float64
	ended, limited, left          float64
	ttft                          []float64 // bounds of the histogram
	label                         model.LabelSet
}

func newTraffic(rate float64) *traffic {
	return &traffic{rate: rate, running: 5, usage: 0.3, ttft: []float64{0.5, 1}, label: chat}
}

// work lets it serve for some seconds.
func (s *traffic) work(seconds float64) { s.ended += s.rate * seconds }

func (s *traffic) page() []model.Sample {
	n := s.ended
	counts := make([]float64, len(s.ttft)+1)
	for i := range counts {
		counts[i] = n
	}
	with := func(sig model.Signal, k model.Kind, v float64) model.Sample {
		return model.Sample{Signal: sig, Kind: k, Value: v, Labels: s.label}
	}
	hist := func(sig model.Signal, bounds, counts []float64, total float64) model.Sample {
		return model.Sample{Signal: sig, Kind: model.Histogram, Labels: s.label, Hist: &model.Buckets{Bounds: bounds, Counts: counts, Sum: model.Of(total)}}
	}
	return []model.Sample{
		with(model.Running, model.Gauge, s.running), with(model.Waiting, model.Gauge, s.waiting), with(model.KVUsage, model.Gauge, s.usage),
		{Signal: model.Finished, Kind: model.Counter, Labels: s.reason("stop"), Value: n - s.limited - s.left},
		{Signal: model.Finished, Kind: model.Counter, Labels: s.reason("length"), Value: s.limited},
		{Signal: model.Finished, Kind: model.Counter, Labels: s.reason("aborted"), Value: s.left},
		with(model.PromptTokens, model.Counter, 100*n), with(model.CachedTokens, model.Counter, 60*n), with(model.OutputTokens, model.Counter, 50*n),
		hist(model.TTFT, s.ttft, counts, 0.2*n),
		hist(model.ITL, []float64{0.01, 0.02, 0.1}, []float64{0, 25 * n, 49 * n, 49 * n}, 49*0.02*n),
		hist(model.OutputLength, []float64{1000}, []float64{n, n}, 50*n),
	}
}

func (s *traffic) reason(why string) model.LabelSet {
	return model.Labels(model.LabelModel, s.label.Get(model.LabelModel), model.LabelReason, why)
}

// restart begins its counters anew.
func (s *traffic) restart() { s.ended, s.limited, s.left = 0, 0, 0 }

// serve polls engines every interval for a while, ticking with each.
func (b *bench) serve(d time.Duration, engines map[string]*traffic) *model.Frame {
	var fr *model.Frame
	for until := b.at.Mono + d; b.at.Mono < until; {
		for _, t := range b.f.targets {
			if s := engines[t.spec.Name]; s != nil {
				b.poll(t.spec.Name, s.page()...)
				s.work(b.every.Seconds())
			}
		}
		fr = b.tick()
		b.pass(b.every)
	}
	return fr
}

func wholeOf(b *bench, i int) *part { return &b.f.targets[i].past.whole }

func TestBlockOfAnEngine(t *testing.T) {
	b, s := newBench(t, 2*time.Second, "a"), newTraffic(4)
	b.serve(21*time.Second, map[string]*traffic{"a": s})
	s.running, s.waiting, s.usage, s.limited, s.left = 9, 3, 0.5, 4, 2
	b.serve(10*time.Second, map[string]*traffic{"a": s})
	p := wholeOf(b, 0)
	if fmt.Sprint(p.at) != "[0 1 2]" {
		t.Fatalf("blocks %v", p.at)
	}
	got := p.sums[2]
	for c, want := range map[diagnose.Count]float64{
		diagnose.Ended: 40, diagnose.Arrived: 40 + 4 + 3, diagnose.Limited: 4, diagnose.Cancelled: 2,
		diagnose.PromptTokens: 4000, diagnose.CachedTokens: 2400, diagnose.OutputTokens: 2000,
		diagnose.Failed: math.NaN(), diagnose.Retried: math.NaN(), diagnose.Steps: math.NaN(), diagnose.Preemptions: math.NaN(),
	} {
		if v := got.Counts[c]; v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
			t.Errorf("count %d: %v, want %v", c, v, want)
		}
	}
	for m, want := range map[diagnose.Measure]diagnose.Mean{
		diagnose.TTFT: {N: 40, Sum: 8}, diagnose.OutputLength: {N: 40, Sum: 2000}, diagnose.RunningLevel: {N: 5, Sum: 41},
		diagnose.WaitingLevel: {N: 5, Sum: 12}, diagnose.KVLevel: {N: 5, Sum: 2.3},
	} {
		if v := got.Measures[m]; math.Abs(v.N-want.N) > 1e-9 || math.Abs(v.Sum-want.Sum) > 1e-9 {
			t.Errorf("measure %d: %v, want %v", m, v, want)
		}
	}
	if got.Seconds != 10 || got.KVMost != 0.5 || got.RunMost != 9 || p.waited[2] != 3 {
		t.Errorf("%v s, KV %v, running %v, waiting %v", got.Seconds, got.KVMost, got.RunMost, p.waited[2])
	}
}

// In a gap nothing is known: its blocks are missing, and the one after it is longer and
// no busier.
func TestGapIsNoDropAndNoReset(t *testing.T) {
	b, s := newBench(t, 2*time.Second, "a"), newTraffic(4)
	b.serve(60*time.Second, map[string]*traffic{"a": s})
	for range 15 {
		b.fail("a", model.Timeout)
		s.work(2)
		b.tick()
		b.pass(2 * time.Second)
	}
	b.serve(20*time.Second, map[string]*traffic{"a": s})
	p := wholeOf(b, 0)
	if p.find(5) == nil || p.find(9) == nil || p.find(6) != nil || p.find(7) != nil || p.find(8) != nil {
		t.Fatalf("blocks %v", p.at)
	}
	for i := range p.sums {
		if r := p.sums[i].Rate(diagnose.Arrived); math.Abs(r-4) > 1e-9 && p.at[i] > 0 {
			t.Errorf("block %d: %v arrivals/s in %v s", p.at[i], r, p.sums[i].Seconds)
		}
	}
	if v := b.f.targets[0]; v.restarts != 0 {
		t.Errorf("%d restarts", v.restarts)
	}
}

// A restart inside a block: what was counted before it and after it adds up, and what
// was in flight is no negative number of arrivals.
func TestRestartInsideABlock(t *testing.T) {
	b, s := newBench(t, 2*time.Second, "a"), newTraffic(4)
	s.running = 30
	b.serve(45*time.Second, map[string]*traffic{"a": s})
	s.restart()
	s.running = 1
	b.serve(25*time.Second, map[string]*traffic{"a": s})
	p := wholeOf(b, 0)
	i := 4 // the block from 40 s on
	if got := p.sums[i]; got.Counts[diagnose.Arrived] < 0 || got.Counts[diagnose.Ended] < 24 || got.Counts[diagnose.Ended] > 40 {
		t.Errorf("%+v", got.Counts)
	}
	for i := range p.sums {
		for c, v := range p.sums[i].Counts {
			if v < 0 {
				t.Errorf("block %d, count %d: %v", p.at[i], c, v)
			}
		}
	}
	if got := p.sums[i+1].Rate(diagnose.Arrived); math.Abs(got-4) > 1e-9 {
		t.Errorf("after it %v arrivals/s", got)
	}
}

// Points that lie farther apart than blocks are spread over those between them.
func TestPointsFartherApartThanBlocks(t *testing.T) {
	for _, step := range []time.Duration{9 * time.Second, 15 * time.Second, 30 * time.Second} {
		b, s := newBench(t, step, "a"), newTraffic(4)
		b.serve(5*time.Minute, map[string]*traffic{"a": s})
		p := wholeOf(b, 0)
		for i := 1; i < len(p.at); i++ {
			if p.at[i] != p.at[i-1]+1 {
				t.Errorf("%v: blocks %v", step, p.at)
				break
			}
			if r := p.sums[i].Rate(diagnose.Ended); math.Abs(r-4) > 1e-9 {
				t.Errorf("%v, block %d: %v/s", step, p.at[i], r)
			}
		}
		if len(p.at) < diagnose.NowBlocks+diagnose.PauseBlocks || p.at[len(p.at)-1] < 24 {
			t.Errorf("%v: %d blocks", step, len(p.at))
		}
	}
}

// Between two steps of a server nothing moves, and that is no drop.
func TestBlocksOfAServerThatPassesOn(t *testing.T) {
	b, s := newBench(t, 5*time.Second, "a"), newTraffic(4)
	said := &model.About{Kind: model.PrometheusTarget, StepS: 15}
	page := s.page()
	for i := range 60 {
		if i%3 == 0 {
			page = s.page()
		}
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", Samples: page, About: said}})
		s.work(5)
		b.tick()
		b.pass(5 * time.Second)
	}
	p := wholeOf(b, 0)
	for i := range p.at {
		if r := p.sums[i].Rate(diagnose.Ended); math.Abs(r-4) > 1e-9 {
			t.Errorf("block %d: %v/s", p.at[i], r)
		}
	}
	if n := len(p.at); n < 9 || p.at[n-1] < 27 {
		t.Errorf("blocks %v", p.at)
	}
}

// Many virtual seconds may pass between two ticks, as while a past is played, and
// between two inputs.
func TestTimeJumps(t *testing.T) {
	b, s := newBench(t, time.Minute, "a"), newTraffic(4)
	fr := b.serve(time.Hour, map[string]*traffic{"a": s})
	if p := wholeOf(b, 0); len(p.at) < 6 || math.Abs(p.sums[len(p.at)-1].Rate(diagnose.Ended)-4) > 1e-9 {
		t.Fatalf("blocks %v", p.at)
	}
	if d := fr.Diagnoses; len(d) != 1 || d[0].State != model.NoFinding {
		t.Errorf("%+v", d)
	}
	b.pass(365 * 24 * time.Hour)
	b.serve(10*time.Minute, map[string]*traffic{"a": s})
	if p := wholeOf(b, 0); len(p.at) > mostRecent || b.f.targets[0].restarts != 0 {
		t.Errorf("%d blocks", len(p.at))
	}
}

// Replicas with unlike buckets add up in everything that needs none.
func TestBlocksOfUnlikeBuckets(t *testing.T) {
	b := newBench(t, 2*time.Second, "a", "b")
	one, two := newTraffic(4), newTraffic(6)
	two.ttft = []float64{0.3, 0.9, 2}
	b.serve(32*time.Second, map[string]*traffic{"a": one, "b": two})
	got, ok := b.f.flows["chat"].sumsAt(2, everyone)
	if !ok || math.Abs(got.Rate(diagnose.Arrived)-10) > 1e-9 || math.Abs(got.Measures[diagnose.TTFT].Value()-0.2) > 1e-9 {
		t.Errorf("%v: %v arrivals/s, TTFT %v", ok, got.Rate(diagnose.Arrived), got.Measures[diagnose.TTFT].Value())
	}
	if m := got.Measures[diagnose.RunningLevel].Value(); m != 10 {
		t.Errorf("%v running", m)
	}
}

// What an engine counts for several workflows is told apart, and is one block of its own.
func TestPartsOfATarget(t *testing.T) {
	b := newBench(t, 2*time.Second, "a")
	one, two := newTraffic(4), newTraffic(6)
	two.label = model.Labels(model.LabelModel, "code")
	for range 16 {
		b.round(append(one.page(), two.page()...)...)
		one.work(2)
		two.work(2)
	}
	for name, want := range map[string]float64{"chat": 4, "code": 6} {
		got, ok := b.f.flows[name].sumsAt(1, everyone)
		if !ok || math.Abs(got.Rate(diagnose.Arrived)-want) > 1e-9 {
			t.Errorf("%s: %v/s", name, got.Rate(diagnose.Arrived))
		}
	}
	if got := wholeOf(b, 0).find(1); math.Abs(got.Rate(diagnose.Arrived)-10) > 1e-9 {
		t.Errorf("engine: %v/s", got.Rate(diagnose.Arrived))
	}
}

// A second workflow on an engine that had one begins with it.
func TestASecondWorkflowBegins(t *testing.T) {
	b := newBench(t, 2*time.Second, "a")
	one, two := newTraffic(4), newTraffic(6)
	two.label = model.Labels(model.LabelModel, "code")
	for i := range 36 {
		page := one.page()
		if i >= 18 {
			page = append(page, two.page()...)
			two.work(2)
		}
		b.round(page...)
		one.work(2)
	}
	chat, code := b.f.targets[0].past.parts[b.f.flows["chat"]], b.f.targets[0].past.parts[b.f.flows["code"]]
	if len(chat.at) < 6 || code.first < 3 {
		t.Fatalf("chat %v, code %v", chat.at, code.at)
	}
	for _, at := range []int64{1, 5} {
		if r := chat.find(at).Rate(diagnose.Arrived); math.Abs(r-4) > 1e-9 {
			t.Errorf("block %d of chat: %v/s", at, r)
		}
	}
	if r := code.find(5).Rate(diagnose.Arrived); math.Abs(r-6) > 1e-9 {
		t.Errorf("code: %v/s", r)
	}
}

// Servers that answer in turn at one address have nothing in common to subtract.
func TestServersInTurnHaveNoBlocks(t *testing.T) {
	b := newBench(t, 2*time.Second, "a")
	two := []*traffic{newTraffic(4), newTraffic(400)}
	two[0].ended, two[1].ended = 1000, 90000
	for i := range 60 {
		b.round(two[i%2].page()...)
		two[0].work(2)
		two[1].work(2)
	}
	p := wholeOf(b, 0)
	for i := range p.sums {
		if n := p.sums[i].Counts[diagnose.Ended]; n > 10000 && p.at[i] > 3 {
			t.Errorf("block %d: %v ended", p.at[i], n)
		}
	}
}

func poolNames(f *Fleet) string {
	var out []string
	for _, p := range f.pools() {
		var targets []string
		for _, t := range p.targets {
			targets = append(targets, t.spec.Name)
		}
		out = append(out, p.name+": "+strings.Join(targets, " "))
	}
	return strings.Join(out, "; ")
}

func TestPools(t *testing.T) {
	of := func(models ...string) []model.Sample {
		var out []model.Sample
		for _, m := range models {
			out = append(out, model.Sample{Signal: model.OutputTokens, Kind: model.Counter, Value: 1, Labels: model.Labels(model.LabelModel, m)})
		}
		return out
	}
	b := newBench(t, time.Second, "a", "b", "c", "d")
	step := func(want string) {
		t.Helper()
		b.tick()
		if got := poolNames(b.f); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		b.pass(time.Second)
	}
	b.poll("d", of("z")...)
	b.poll("a", of("x")...)
	step("x: a; z: d")
	b.poll("b", of("y")...)
	b.poll("c", of("x")...)
	step("x: a c; y: b; z: d")
	b.poll("b", of("x", "y")...) // joins two pools
	step("x, y: a b c; z: d")
	b.poll("c", of("u", "v", "x")...)
	step("3 engines of 4 workflows: a b c; z: d")
	if n := len(newBench(t, time.Second).f.pools()); n != 0 {
		t.Errorf("%d pools of nothing", n)
	}
}

func TestPoolOfReportsHasNoEngines(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.95, ttftHalf), "a")
	for i := range 40 {
		b.report(b.done(fmt.Sprint(i), 0.2, 1, 50))
		b.tick()
		b.pass(time.Second)
	}
	pools := b.f.pools()
	if len(pools) != 1 || pools[0].hasEngines() || len(pools[0].flows) != 1 {
		t.Errorf("%s", poolNames(b.f))
	}
}

// Of what was counted over hours without a poll nobody knows when it was: it is
// neither the present nor a quiet time to compare with.
func TestLongGapIsNoBlock(t *testing.T) {
	b, s := newBench(t, 2*time.Second, "a"), newTraffic(4)
	b.serve(10*time.Minute, map[string]*traffic{"a": s})
	b.pass(7 * time.Hour)
	s.ended += 100
	f := b.serve(30*time.Second, map[string]*traffic{"a": s})
	for _, x := range f.Diagnoses[0].Factors {
		if x.Moved {
			t.Errorf("%s moved from %v to %v", x.Factor, x.Before.Value, x.Now.Value)
		}
	}
	for i, sums := range wholeOf(b, 0).sums {
		if sums.Seconds > 12 {
			t.Errorf("block %d has %v s", wholeOf(b, 0).at[i], sums.Seconds)
		}
	}
}

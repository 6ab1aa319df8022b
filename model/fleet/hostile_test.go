package fleet

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// life is a server that has counted much: taking a small fault for a restart
// would count all of it again.
func life(i int, start float64) []model.Sample {
	n := 1e6 + float64(i)
	return []model.Sample{
		counter(model.OutputTokens, 1e9+100*float64(i)), counter(model.Finished, n), counter(model.Preemptions, 5),
		histogram(model.TTFT, []float64{1}, []float64{n, n}, 1000+float64(i)),
		{Signal: model.ProcessStart, Kind: model.Gauge, Value: start},
	}
}

// sane plays seven pages and checks that the rates are the true ones.
func sane(t *testing.T, name string, page func(i int) []model.Sample) model.TargetView {
	t.Helper()
	b := newBench(t, 10*time.Second, "a")
	var f *model.Frame
	for i := range 7 {
		f = b.round(page(i)...)
		w := workflowNamed(t, f, "chat")
		if v, ok := w.Tokens.OutputPerSecond.Get(); ok && math.Abs(v-10) > 1e-6 {
			t.Errorf("%s: page %d: %v tok/s, want 10", name, i, v)
		}
		if f.Targets[0].Restarts != 0 {
			t.Errorf("%s: page %d: %d restarts", name, i, f.Targets[0].Restarts)
		}
	}
	return f.Targets[0]
}

func TestOneFaultIsNoRestart(t *testing.T) {
	sane(t, "nothing wrong", func(i int) []model.Sample { return life(i, 1.7e9) })
	for _, start := range []float64{1.7e9, math.NaN()} {
		sane(t, "one counter falls", func(i int) []model.Sample {
			s := life(i, start)
			if i >= 5 {
				s[2].Value = 4
			}
			return s
		})
		sane(t, "a sum falls", func(i int) []model.Sample {
			s := life(i, start)
			if i >= 5 {
				s[3].Hist.Sum = model.Of(500)
			}
			return s
		})
	}
	sane(t, "a start that wanders", func(i int) []model.Sample { return life(i, 1.7e9+float64(2*(i%2))) })
	sane(t, "a start that runs backwards", func(i int) []model.Sample { return life(i, 1.7e9-float64(i)) })
	sane(t, "a histogram of NaN once", func(i int) []model.Sample {
		s := life(i, 1.7e9)
		if i == 5 {
			s[3].Hist.Counts = []float64{math.NaN(), math.NaN()}
		}
		return s
	})
}

func TestTwoServersBehindOneAddress(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	var f *model.Frame
	for i := range 12 {
		s := life(i, 1.7e9)
		if i%2 == 1 {
			s = life(i, 1.6e9)
			s[0].Value /= 2
			s[1].Value /= 2
		}
		f = b.round(s...)
	}
	if !strings.Contains(strings.Join(f.Targets[0].Notes, ";"), "several servers answer") {
		t.Errorf("notes %q", f.Targets[0].Notes)
	}
	if r := workflowNamed(t, f, "chat").Tokens.OutputPerSecond; r.OK() && r.Value > 100 {
		t.Errorf("%v tok/s", r.Value)
	}
	if f.Targets[0].Restarts > 1 {
		t.Errorf("%d restarts", f.Targets[0].Restarts)
	}
}

// A wild value is over when it is over.
func TestSpikeLeavesNoTrace(t *testing.T) {
	for _, wild := range []float64{1e18, 1e308, math.Inf(1), -7} {
		b := newBench(t, 10*time.Second, "a")
		var f *model.Frame
		for i := range 12 {
			s := life(i, 1.7e9)
			if i == 3 {
				s[0].Value = wild
			}
			f = b.round(s...)
		}
		near(t, fmt.Sprint(wild), workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 10)
	}
}

func TestGiantHistogramDoesNotReachTheFrame(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(histogram(model.TTFT, []float64{1}, []float64{1, 1}, 1), counter(model.OutputTokens, 1))
	f := b.round(histogram(model.TTFT, []float64{1}, []float64{1e308, 1e308}, 1), counter(model.OutputTokens, 2))
	if w := workflowNamed(t, f, "chat"); w.TTFT.N != 0 {
		t.Errorf("n %v", w.TTFT.N)
	}
}

func TestNegativeLevelsAndCountersAreNoNumbers(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	f := b.round(gauge(model.Running, -1), gauge(model.KVUsage, -0.5), counter(model.Finished, -10))
	w := workflowNamed(t, f, "chat")
	if w.Requests.Running.OK() || w.KVCacheUsage.OK() || w.Requests.Finished.OK() {
		t.Errorf("running %+v, KV %+v, finished %+v", w.Requests.Running, w.KVCacheUsage, w.Requests.Finished)
	}
}

// A page without any counter of work cannot tell a hang from a quiet engine.
func TestNoCountersNoStall(t *testing.T) {
	for name, extra := range map[string][]model.Sample{
		"gauges only":      nil,
		"counters are NaN": {counter(model.OutputTokens, math.NaN())},
	} {
		b := newBench(t, 10*time.Second, "a")
		for i := range 12 {
			f := b.round(append([]model.Sample{gauge(model.Running, float64(10+i%3)), gauge(model.Waiting, 2)}, extra...)...)
			if f.Targets[0].State != model.Up || len(f.Alerts) != 0 {
				t.Errorf("%s, page %d: %s, alerts %v", name, i, f.Targets[0].State, f.Alerts)
			}
		}
	}
}

// A wedged engine looks requests up and preempts in circles: that is no progress.
func TestCirclesAreNoProgress(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	var f *model.Frame
	for i := range 7 {
		f = b.round(gauge(model.Waiting, 7), counter(model.OutputTokens, 500), counter(model.Finished, 9),
			counter(model.PrefixQueries, float64(100*i)), counter(model.Preemptions, float64(i)))
	}
	if f.Targets[0].State != model.Stalled || len(f.Alerts) != 1 {
		t.Errorf("%s, %v", f.Targets[0].State, f.Alerts)
	}
}

// Bounds that change while the process lives: the new ones carry its whole life.
func TestBoundsChangeWithoutARestart(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	page := func(bounds []float64, n float64) []model.Sample {
		return []model.Sample{histogram(model.TTFT, bounds, []float64{n / 2, n}, n), counter(model.OutputTokens, 100*n)}
	}
	one, two := []float64{.5}, []float64{.75}
	b.round(page(one, 500)...)
	b.round(page(one, 510)...)
	b.round(page(two, 520)...)
	f := b.round(page(two, 530)...)
	if w := workflowNamed(t, f, "chat"); w.TTFT.N != 20 || f.Targets[0].Restarts != 0 {
		t.Errorf("n %v, restarts %d; want the 20 that were seen", w.TTFT.N, f.Targets[0].Restarts)
	}
	for i := range 40 { // back and forth costs no memory
		f = b.round(page([][]float64{one, two}[i%2], 540+10*float64(i))...)
	}
	if n := b.f.byID["a"].cols.width; n > 20 {
		t.Errorf("%d columns", n)
	}
	if w := workflowNamed(t, f, "chat"); w.TTFT.N > 70 {
		t.Errorf("n %v in six polls of 10", w.TTFT.N)
	}
}

// Many short-lived series beside a lasting one must not push it out.
func TestChurnDoesNotBlind(t *testing.T) {
	b := newBench(t, time.Second, "a")
	var f *model.Frame
	for i := range 900 {
		samples := []model.Sample{gauge(model.Running, 41), counter(model.OutputTokens, float64(10*i))}
		for k := range 40 {
			labels := model.Labels(model.LabelModel, "chat", model.LabelEngine, fmt.Sprintf("adapter-%d-%d", i, k))
			samples = append(samples, model.Sample{Signal: model.TTFT, Labels: labels, Kind: model.Histogram,
				Hist: &model.Buckets{Bounds: []float64{.1, .5, 1, 5}, Counts: []float64{1, 1, 1, 1, 1}, Sum: model.Of(1)}})
		}
		f = b.round(samples...)
	}
	w := workflowNamed(t, f, "chat")
	near(t, "running", w.Requests.Running, 41)
	near(t, "output", w.Tokens.OutputPerSecond, 10)
	if f.Targets[0].Dropped != 0 {
		t.Errorf("%d series dropped", f.Targets[0].Dropped)
	}
	if w.TTFT.N < 40*50 {
		t.Errorf("n %v of the last minute's 2,400", w.TTFT.N)
	}
}

// Bounds that are new on every page, for ever.
func TestBoundsThatNeverStand(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for i := range 6000 {
		n := float64(10 * i)
		bounds := []float64{1 + float64(i), 7000, 8000, 9000, 9500, 9600, 9700, 9800}
		b.poll("a", histogram(model.TTFT, bounds, []float64{n, n, n, n, n, n, n, n, n}, n), counter(model.OutputTokens, n))
		b.pass(time.Second)
	}
	f := b.tick()
	if w := workflowNamed(t, f, "chat"); f.Targets[0].Dropped != 0 || w.TTFT == nil {
		t.Errorf("dropped %d, TTFT %+v", f.Targets[0].Dropped, w.TTFT)
	}
	near(t, "output", workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 10)
}

// Arrivals and rejections go on while an engine hangs.
func TestArrivalsAreNoProgress(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	var f *model.Frame
	for i := range 30 {
		f = b.round(gauge(model.Waiting, 7), counter(model.OutputTokens, 500), counter(model.Started, float64(i)),
			counter(model.PromptTokens, float64(100*i)), counter(model.Failed, float64(i)))
	}
	if f.Targets[0].State != model.Stalled {
		t.Errorf("%s", f.Targets[0].State)
	}
}

// Where no counter moves with the tokens, a long answer is no hang for a while,
// and nothing is said of tokens that nobody counts.
func TestFirstTokensOnly(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	var f *model.Frame
	for i := range 30 {
		f = b.round(gauge(model.Running, 2), histogram(model.TTFT, []float64{1}, []float64{3, 3}, 1))
		if want := 5*i >= 120; (f.Targets[0].State == model.Stalled) != want {
			t.Errorf("after %d s: %s", 5*i, f.Targets[0].State)
		}
	}
	if len(f.Alerts) != 1 || strings.Contains(f.Alerts[0].Text, "tok/s") {
		t.Errorf("alerts %+v", f.Alerts)
	}
}

// twoServers answer at one address in turn, three pages each and then one each;
// one of them had a bad day long ago. Starts says whether pages tell when their
// server started.
func twoServers(t *testing.T, starts bool) *model.Frame {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	servers := [2]*serving{{fine: 50000, late: 30000}, {fine: 9000, late: 100}}
	var f *model.Frame
	for i := range 240 {
		n := i % 2
		if i < 60 {
			n = i / 3 % 2
		}
		servers[0].fine += 5
		servers[1].fine += 5
		page := servers[n].page()
		if starts {
			page = append(page, model.Sample{Signal: model.ProcessStart, Kind: model.Gauge, Value: 1.7e9 + 1e6*float64(n)})
		}
		f = b.round(page...)
	}
	return f
}

// Neither is an incident of the one that of the other, nor does each page begin
// another life.
func TestServersInTurnPageNobody(t *testing.T) {
	for _, starts := range []bool{true, false} {
		f := twoServers(t, starts)
		for _, e := range f.AlertLog {
			if strings.HasPrefix(e.Rule, "slo-burn") {
				t.Errorf("starts %t: %s %s %q", starts, e.Rule, e.State, e.Text)
			}
		}
		if f.Targets[0].Restarts > 3 || !strings.Contains(strings.Join(f.Targets[0].Notes, ";"), "several servers answer") {
			t.Errorf("starts %t: %d restarts, notes %q", starts, f.Targets[0].Restarts, f.Targets[0].Notes)
		}
		if r := workflowNamed(t, f, "chat").Requests.PerSecond; r.OK() && r.Value > 20 {
			t.Errorf("starts %t: %v requests/s", starts, r.Value)
		}
	}
}

// A server that has counted little and starts anew stands higher soon: that is no
// second server.
func TestQuickRestartIsNoSecondServer(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	s := &serving{fine: 90}
	b.run(s, 10*time.Second, 1, 0)
	*s = serving{}
	f := b.run(s, 5*time.Minute, 10, 0)
	if f.Targets[0].Restarts != 1 || len(f.Targets[0].Notes) > 0 || workflowNamed(t, f, "chat").Goodput.N != 600 {
		t.Errorf("%d restarts, notes %q, n %v", f.Targets[0].Restarts, f.Targets[0].Notes, workflowNamed(t, f, "chat").Goodput.N)
	}
}

// Two gateways behind one address count under epochs of their own: each is known
// when it comes again, and none of its life is counted anew.
func TestEpochsInTurn(t *testing.T) {
	b := promised(t, 5*time.Second, chatPolicy(0.95, ttftHalf), "a")
	servers := [2]*serving{{fine: 50000, late: 30000}, {fine: 9000, late: 100}}
	var f *model.Frame
	for i := range 120 {
		servers[0].fine += 5
		servers[1].fine += 5
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", Samples: servers[i%2].page(), About: about, Epoch: fmt.Sprint(i % 2)}})
		f = b.tick()
		b.pass(b.every)
	}
	if r := workflowNamed(t, f, "chat").Requests.PerSecond; r.OK() && r.Value > 20 {
		t.Errorf("%v requests/s", r.Value)
	}
	if f.Targets[0].Restarts > 1 || firing(f, "slo-burn") {
		t.Errorf("%d restarts, %+v", f.Targets[0].Restarts, f.Alerts)
	}
}

// What a gateway says of itself, such as when it started, makes no workflow of the
// one model that stands behind all of its own.
func TestGatewayStartIsNoWorkflow(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	n := counter(model.Finished, 10)
	n.Labels = model.Labels(model.LabelWorkflow, "checkout", model.LabelModel, "llama")
	f := b.round(n, model.Sample{Signal: model.ProcessStart, Kind: model.Gauge, Value: 1.7e9})
	if len(f.Workflows) != 1 || f.Workflows[0].Name != "checkout" {
		t.Errorf("%d workflows: %+v", len(f.Workflows), f.Workflows)
	}
}

// A sum that falls alone is no sum: no time is below 0, whatever clock it was taken by.
func TestNoMeanBelowNothing(t *testing.T) {
	for name, sum := range map[string]float64{"falls": 1, "below 0": -500} {
		b := newBench(t, 10*time.Second, "a")
		var f *model.Frame
		for i := range 7 {
			s := life(i, 1.7e9)
			if i >= 3 {
				s[3].Hist.Sum = model.Of(sum)
			}
			f = b.round(s...)
		}
		if d := workflowNamed(t, f, "chat").TTFT; d.N != 6 || d.Mean.OK() && d.Mean.Value < 0 {
			t.Errorf("%s: n %v, mean %+v", name, d.N, d.Mean)
		}
	}
}

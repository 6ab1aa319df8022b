package fleet

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// bench is a fold and a clock that only the test moves.
type bench struct {
	t     testing.TB
	f     *Fleet
	at    model.Instant
	every time.Duration
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newBench(t testing.TB, every time.Duration, targets ...string) *bench {
	t.Helper()
	specs := make([]model.Target, len(targets))
	for i, name := range targets {
		specs[i] = model.Target{ID: model.TargetID(name), Name: name, Kind: "engine"}
	}
	f, err := New(Config{Targets: specs, Every: every})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, f: f, at: model.Instant{Wall: noon}, every: every}
}

func (b *bench) poll(target string, samples ...model.Sample) {
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: model.TargetID(target), Samples: samples, About: about}})
}

func (b *bench) fail(target string, kind model.FaultKind) {
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: model.TargetID(target), Fault: &model.Fault{Kind: kind, Detail: "test"}}})
}

func (b *bench) tick() *model.Frame { return b.f.Step(model.Input{At: b.at}) }

func (b *bench) pass(d time.Duration) { b.at = b.at.Add(d) }

// round polls "a", ticks and lets one interval pass.
func (b *bench) round(samples ...model.Sample) *model.Frame {
	b.poll("a", samples...)
	f := b.tick()
	b.pass(b.every)
	return f
}

var about = &model.About{Engine: "test"}

var chat = model.Labels(model.LabelModel, "chat")

func gauge(s model.Signal, v float64) model.Sample {
	return model.Sample{Signal: s, Labels: chat, Kind: model.Gauge, Value: v}
}

func counter(s model.Signal, v float64) model.Sample {
	return model.Sample{Signal: s, Labels: chat, Kind: model.Counter, Value: v}
}

func histogram(s model.Signal, bounds, counts []float64, total float64) model.Sample {
	return model.Sample{Signal: s, Labels: chat, Kind: model.Histogram,
		Hist: &model.Buckets{Bounds: bounds, Counts: counts, Sum: model.Of(total)}}
}

func workflowNamed(t testing.TB, f *model.Frame, name string) model.WorkflowView {
	t.Helper()
	for _, w := range f.Workflows {
		if w.Name == name {
			return w
		}
	}
	t.Fatalf("no workflow %q", name)
	return model.WorkflowView{}
}

func near(t testing.TB, what string, got model.Reading, want float64) {
	t.Helper()
	v, ok := got.Get()
	if !ok || math.Abs(v-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: got %v (%v), want %v", what, got.Value, got.State, want)
	}
}

// A rate is taken over the real elapsed time, between two real scrapes.
func TestRateUsesRealElapsedTime(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	b.round(counter(model.OutputTokens, 1000))
	b.pass(2 * time.Second) // the poll came late
	f := b.round(counter(model.OutputTokens, 1700))
	near(t, "rate", workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 100)
	near(t, "covered", f.CoveredS, 7)
}

// A restart is decided once for the target: every member's new value is new.
func TestRestartAppliesToEverySeries(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	ttft := func(le, n float64) model.Sample {
		return histogram(model.TTFT, []float64{1}, []float64{le, n}, n/10)
	}
	b.round(ttft(10, 1680), counter(model.OutputTokens, 500))
	f := b.round(ttft(12, 35), counter(model.OutputTokens, 700))
	w := workflowNamed(t, f, "chat")
	if w.TTFT.N != 35 {
		t.Errorf("n = %v, want 35", w.TTFT.N)
	}
	near(t, "share", w.Objectives[0].Share.Lo, 12.0/35)
	near(t, "output", w.Tokens.OutputPerSecond, 70)
	if got := f.Targets[0]; got.Restarts != 1 || got.RestartedAt.IsZero() {
		t.Errorf("restarts = %d at %v", got.Restarts, got.RestartedAt)
	}
	if got := happened(w.History.Events); !slices.Equal(got, []string{"10s restart chat a", "10s breach chat "}) {
		t.Errorf("events = %q", got)
	}
}

func TestProcessStartMovesWithoutAFall(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	start := func(v float64) model.Sample {
		return model.Sample{Signal: model.ProcessStart, Kind: model.Gauge, Value: v}
	}
	b.round(start(1000), counter(model.OutputTokens, 0))
	b.round(start(1000), counter(model.OutputTokens, 0))
	f := b.round(start(2000), counter(model.OutputTokens, 400))
	if f.Targets[0].Restarts != 1 {
		t.Errorf("restarts = %d, want 1", f.Targets[0].Restarts)
	}
	near(t, "output", workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 20)
}

// A series that is gone after a restart and comes back later is no second restart.
func TestSeriesAbsentAfterRestart(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(counter(model.OutputTokens, 500), counter(model.Preemptions, 9))
	b.round(counter(model.OutputTokens, 10))
	f := b.round(counter(model.OutputTokens, 20), counter(model.Preemptions, 3))
	if f.Targets[0].Restarts != 1 {
		t.Errorf("restarts = %d, want 1", f.Targets[0].Restarts)
	}
	near(t, "preemptions", workflowNamed(t, f, "chat").PreemptionsPerSec, 3.0/20)
}

// Servers create labelled counters at their first event: what a late series
// shows happened since the last page, unless a line of that page was lost.
func TestLateSeriesStartsAtZero(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(counter(model.OutputTokens, 100))
	f := b.round(counter(model.OutputTokens, 200), counter(model.Preemptions, 5))
	near(t, "preemptions", workflowNamed(t, f, "chat").PreemptionsPerSec, 0.5)
}

func TestSeriesLostToABadLineIsNotNew(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", BadLines: 1,
		Samples: []model.Sample{counter(model.OutputTokens, 100)}, About: about}})
	b.pass(b.every)
	f := b.round(counter(model.OutputTokens, 200), counter(model.Preemptions, 90000))
	if r := workflowNamed(t, f, "chat").PreemptionsPerSec; r.OK() {
		t.Errorf("preemptions = %v, want unknown: the counter may be old", r)
	}
}

// OC-01: work waits, nothing moves.
func TestStalled(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	wedged := []model.Sample{gauge(model.Running, 0), gauge(model.Waiting, 7), counter(model.OutputTokens, 65012),
		counter(model.Finished, 410), histogram(model.TTFT, []float64{0.5, 1}, []float64{391, 412, 412}, 49.44)}
	var f *model.Frame
	for i := range 7 {
		f = b.round(wedged...)
		if want := i >= 3; (f.Targets[0].State == model.Stalled) != want {
			t.Errorf("poll %d at %d s: %s", i+1, 5*i, f.Targets[0].State)
		}
	}
	w := workflowNamed(t, f, "chat")
	near(t, "output", w.Tokens.OutputPerSecond, 0)
	if w.TTFT == nil || w.TTFT.N != 0 || w.TTFT.P95.Exists() {
		t.Errorf("TTFT = %+v, want no samples", w.TTFT)
	}
	if len(f.Alerts) != 1 || f.Alerts[0].State != "firing" || f.Alerts[0].Text != "no progress: 0 running, 7 waiting, 0 tok/s for 30 s" {
		t.Errorf("alerts = %+v", f.Alerts)
	}
}

func TestIdleIsNoAlert(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	var f *model.Frame
	for range 7 {
		f = b.round(gauge(model.Running, 0), gauge(model.Waiting, 0), counter(model.OutputTokens, 65012))
		if got := f.Targets[0].State; got != model.Idle {
			t.Errorf("state = %s, want idle", got)
		}
	}
	if len(f.Alerts) != 0 {
		t.Errorf("alerts = %v", f.Alerts)
	}
}

func TestFastPollsDoNotCallALongPrefillAHang(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for i := range 15 {
		f := b.round(gauge(model.Running, 1), counter(model.OutputTokens, 5))
		if want := i >= 10; (f.Targets[0].State == model.Stalled) != want {
			t.Errorf("%d s: %s", i, f.Targets[0].State)
		}
	}
}

func TestStaleValuesAreShownAndNeverAddedUp(t *testing.T) {
	b := newBench(t, time.Second, "a", "b")
	for range 3 {
		b.poll("a", gauge(model.Running, 4))
		b.poll("b", gauge(model.Running, 2))
		b.pass(time.Second)
	}
	b.fail("b", model.Timeout)
	f := b.tick()
	near(t, "one time-out changes nothing", workflowNamed(t, f, "chat").Requests.Running, 6)
	if f.Targets[1].Fault == nil || f.Targets[1].State == model.Down {
		t.Errorf("b = %+v", f.Targets[1])
	}
	b.pass(time.Second)
	b.fail("b", model.Timeout)
	b.poll("a", gauge(model.Running, 4))
	f = b.tick()
	w := workflowNamed(t, f, "chat")
	near(t, "running", w.Requests.Running, 4)
	if w.Replicas != (model.Replicas{Fresh: 1, Total: 2}) || !strings.Contains(strings.Join(w.Notes, ";"), "1 of 2 targets") {
		t.Errorf("replicas = %+v, notes %q", w.Replicas, w.Notes)
	}
	if r := f.Targets[1].Running; r.State != model.Stale || r.Value != 2 {
		t.Errorf("b running = %+v, want the last value, stale", r)
	}
	if f.Targets[1].State != model.Down || f.Targets[1].Fault.LastGoodAt.IsZero() {
		t.Errorf("b = %s, %+v", f.Targets[1].State, f.Targets[1].Fault)
	}
}

func TestSilenceIsStale(t *testing.T) {
	b := newBench(t, 2*time.Second, "a")
	b.round(gauge(model.Running, 1), counter(model.OutputTokens, 1))
	b.round(gauge(model.Running, 1), counter(model.OutputTokens, 2))
	b.pass(13 * time.Second) // 15 s after the last poll
	if got := b.tick().Targets[0].State; got != model.Up {
		t.Errorf("after 15 s: %s", got)
	}
	b.pass(time.Second)
	f := b.tick()
	if got := f.Targets[0].State; got != model.StaleAt {
		t.Errorf("after 16 s: %s, want stale", got)
	}
	if r := workflowNamed(t, f, "chat").Tokens.OutputPerSecond; r.OK() {
		t.Errorf("rate of a silent target = %v", r)
	}
}

func TestRefusedIsDownAtOnceAndComesBack(t *testing.T) {
	b := newBench(t, time.Second, "a")
	b.round(gauge(model.Running, 1))
	b.fail("a", model.Refused)
	if got := b.tick().Targets[0]; got.State != model.Down || got.FailedPolls != 1 {
		t.Errorf("got %s, %d failed", got.State, got.FailedPolls)
	}
	b.pass(time.Second)
	f := b.round(gauge(model.Running, 1))
	if got := f.Targets[0]; got.State != model.Up || got.Fault != nil {
		t.Errorf("got %s, %v", got.State, got.Fault)
	}
}

func TestNothingIsKnownBeforeTheFirstPoll(t *testing.T) {
	b := newBench(t, time.Second, "a")
	f := b.tick()
	if len(f.Targets) != 1 || f.Targets[0].State != "" || len(f.Workflows) != 0 {
		t.Errorf("got %+v", f)
	}
	text, err := json.Marshal(f)
	if err != nil || !strings.Contains(string(text), `"state":null`) {
		t.Errorf("json %s, %v", text, err)
	}
}

// OC-14 and the first page: since start only with that label.
func TestOnePageIsSinceStartAndTwoAreAWindow(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	idle := histogram(model.TTFT, []float64{0.1, 0.5, 1, 5}, []float64{10, 60, 80, 100, 100}, 95)
	w := workflowNamed(t, b.round(idle), "chat")
	if w.TTFT.N != 100 || w.TTFT.Basis != model.SinceStart || w.Requests.Basis != model.SinceStart {
		t.Errorf("first page: %+v", w.TTFT)
	}
	w = workflowNamed(t, b.round(idle), "chat")
	if w.TTFT.N != 0 || w.TTFT.Basis != model.OverWindow || w.TTFT.P95.Exists() || w.Objectives[0].Verdict != model.NoData {
		t.Errorf("second page: %+v, %+v", w.TTFT, w.Objectives[0])
	}
	for _, v := range w.History.TTFT.P95 {
		if !math.IsNaN(float64(v)) {
			t.Errorf("a point from before the window: %v", v)
		}
	}
}

// OC-04: percentiles come from summed buckets.
func TestReplicasMergeTheirBuckets(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	bounds := []float64{0.1, 0.25, 5, 10}
	b.poll("a", histogram(model.E2E, bounds, []float64{900, 990, 990, 990, 990}, 99))
	b.poll("b", histogram(model.E2E, bounds, []float64{0, 0, 0, 10, 10}, 80))
	w := workflowNamed(t, b.tick(), "chat")
	near(t, "p99", w.E2E.P99.Value, 0.25)
	if w.E2E.N != 1000 {
		t.Errorf("n = %v", w.E2E.N)
	}
}

// OC-38: unlike buckets meet on the common bounds and say so.
func TestUnlikeBuckets(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	b.poll("a", histogram(model.TTFT, []float64{0.5, 1}, []float64{10, 12, 20}, 30))
	b.poll("b", histogram(model.TTFT, []float64{0.5}, []float64{5, 20}, 30))
	w := workflowNamed(t, b.tick(), "chat")
	if p := w.TTFT.P50; !p.Open || p.Lo.Value != 0.5 || p.Value.OK() || w.TTFT.N != 40 {
		t.Errorf("p50 = %+v, n %v", p, w.TTFT.N)
	}
	if !strings.Contains(strings.Join(w.Notes, ";"), "differ in buckets") {
		t.Errorf("notes = %q", w.Notes)
	}
}

// A window that spans a change of bounds uses the common ones.
func TestBoundsChangeWithARelease(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(histogram(model.TTFT, []float64{0.5, 1}, []float64{0, 0, 0}, 0), counter(model.OutputTokens, 9))
	b.round(histogram(model.TTFT, []float64{0.5, 1}, []float64{100, 120, 200}, 0), counter(model.OutputTokens, 90))
	f := b.round(histogram(model.TTFT, []float64{0.5, 2}, []float64{10, 20, 20}, 0), counter(model.OutputTokens, 1))
	w := workflowNamed(t, f, "chat")
	if w.TTFT.N != 220 || w.TTFT.Fidelity != model.Coarse {
		t.Errorf("n = %v, %v", w.TTFT.N, w.TTFT.Fidelity)
	}
	near(t, "common bound", w.TTFT.P50.Value, 0.5)
	if said := strings.Join(f.Targets[0].Notes, ";"); !strings.Contains(said, "common ones") {
		t.Errorf("the target's notes %q", said)
	}
}

// The mark is not of TTFT alone.
func TestAnyUnlikeBucketsAreMarked(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	b.poll("a", histogram(model.ITL, []float64{0.5, 1}, []float64{10, 12, 20}, 30))
	b.poll("b", histogram(model.ITL, []float64{0.5}, []float64{5, 20}, 30))
	f := b.tick()
	if w := workflowNamed(t, f, "chat"); !strings.Contains(strings.Join(w.Notes, ";"), "differ in buckets") {
		t.Errorf("notes = %q", w.Notes)
	}
	if len(f.Targets[0].Notes) != 0 {
		t.Errorf("a alone: %q", f.Targets[0].Notes)
	}
}

func ofEngine(s model.Signal, kind model.Kind, id string, v float64) model.Sample {
	return model.Sample{Signal: s, Kind: kind, Value: v, Labels: model.Labels(model.LabelModel, "chat", model.LabelEngine, id)}
}

// Stale levels join as fresh ones do: the fullest cache, the sum of requests.
func TestStaleLevelsJoinLikeFreshOnes(t *testing.T) {
	b := newBench(t, time.Second, "a", "b")
	usage := func(id string, v float64) model.Sample { return ofEngine(model.KVUsage, model.Gauge, id, v) }
	b.poll("a", usage("0", .6), usage("1", .7), gauge(model.Running, 3))
	b.poll("b", usage("0", .2), gauge(model.Running, 5))
	b.fail("a", model.Refused)
	b.fail("b", model.Refused)
	f := b.tick()
	w := workflowNamed(t, f, "chat")
	for what, c := range map[string]struct {
		got  model.Reading
		want float64
	}{
		"a's cache": {f.Targets[0].KVCacheUsage, .7},
		"cache":     {w.KVCacheUsage, .7},
		"running":   {w.Requests.Running, 8},
	} {
		if c.got.State != model.Stale || math.Abs(c.got.Value-c.want) > 1e-9 {
			t.Errorf("%s: %+v, want %v, stale", what, c.got, c.want)
		}
	}
}

// What a limit refused is counted a page, not over and over.
func TestRefusedSeriesAreCountedOnce(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for range 4 {
		f := b.round(model.Sample{Signal: "no_such_signal", Kind: model.Counter, Value: 1}, counter(model.OutputTokens, 5))
		if n := f.Targets[0].Dropped; n != 1 {
			t.Errorf("%d dropped, want 1", n)
		}
	}
}

// With several processes behind a page the newest start tells; one without a
// number hides none.
func TestNewestProcessStartTells(t *testing.T) {
	b := newBench(t, time.Second, "a")
	page := func(first, second, third float64) *model.Frame {
		at := func(id string, v float64) model.Sample { return ofEngine(model.ProcessStart, model.Gauge, id, v) }
		return b.round(at("0", first), at("1", second), at("2", third), counter(model.OutputTokens, 5))
	}
	page(1500, 1000, math.NaN())
	if f := page(1500, 1000, math.NaN()); f.Targets[0].Restarts != 0 {
		t.Errorf("restarts = %d, want none", f.Targets[0].Restarts)
	}
	if f := page(1500, 3000, math.NaN()); f.Targets[0].Restarts != 1 {
		t.Errorf("restarts = %d, want 1", f.Targets[0].Restarts)
	}
}

// A target all of whose counters are long gone starts with an empty row.
func TestAllCountersForgotten(t *testing.T) {
	b := newBench(t, time.Second, "a")
	many := make([]model.Sample, 100)
	for i := range many {
		many[i] = ofEngine(model.OutputTokens, model.Counter, strings.Repeat("x", i+1), 1000)
	}
	b.poll("a", many...)
	for range 2 * 3600 {
		b.pass(b.every)
		b.poll("a", gauge(model.Waiting, 0))
	}
	b.pass(b.every)
	b.poll("a", counter(model.OutputTokens, 3))
	if v := b.tick().Targets[0]; v.Restarts != 0 {
		t.Errorf("restarts = %d: a new counter was held against an old one", v.Restarts)
	}
	if tg := b.f.targets[0]; tg.cols.width != tg.ring.Width() || tg.cols.width != len(tg.counters.Last()) {
		t.Errorf("%d columns, %d in the ring, %d counted", tg.cols.width, tg.ring.Width(), len(tg.counters.Last()))
	}
}

func TestIncompleteHistogramGivesAMeanOnly(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	h := func(n float64) model.Sample {
		return histogram(model.TTFT, []float64{0.5, 1}, []float64{n / 2, n, n}, n)
	}
	b.round(h(10))
	broken := h(30)
	broken.Hist = &model.Buckets{Bounds: []float64{1}, Counts: []float64{30, 30}, Sum: model.Of(30), Incomplete: true}
	w := workflowNamed(t, b.round(broken), "chat")
	if w.TTFT.N != 20 || w.TTFT.P50.Exists() {
		t.Errorf("n %v, p50 %+v", w.TTFT.N, w.TTFT.P50)
	}
	near(t, "mean", w.TTFT.Mean, 1)
	if w = workflowNamed(t, b.round(h(40)), "chat"); w.TTFT.N != 30 || !w.TTFT.P50.Exists() {
		t.Errorf("whole again: n %v, p50 %+v", w.TTFT.N, w.TTFT.P50)
	}
}

// OC-23: first tokens and finishes do not balance.
func TestUnaccounted(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	finished := func(reason string, v float64) model.Sample {
		return model.Sample{Signal: model.Finished, Kind: model.Counter, Value: v,
			Labels: model.Labels(model.LabelModel, "chat", model.LabelReason, reason)}
	}
	f := b.round(gauge(model.Running, 4), gauge(model.Waiting, 0), finished("stop", 3380), finished("length", 120),
		finished("aborted", 0), histogram(model.TTFT, []float64{1}, []float64{7200, 7200}, 1650))
	r := workflowNamed(t, f, "chat").Requests
	near(t, "started", r.Started, 7200)
	near(t, "finished", r.Finished, 3500)
	near(t, "unaccounted", r.Unaccounted, 3696)
	near(t, "cancelled", r.Cancelled, 0)
	near(t, "running", r.Running, 4)
}

// OC-39: the window, not the lifetime.
func TestPrefixHitIsOfTheWindow(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	page := func(q, h float64) []model.Sample {
		return []model.Sample{counter(model.PrefixQueries, q), counter(model.PrefixHits, h)}
	}
	b.round(page(1e6, 8e5)...)
	near(t, "hit", workflowNamed(t, b.round(page(1.012e6, 8.006e5)...), "chat").PrefixCacheHit, 0.05)
	b.f.Step(model.Input{At: b.at, Window: 10 * time.Second})
	w := workflowNamed(t, b.round(page(1.012e6, 8.006e5)...), "chat")
	if w.PrefixCacheHit.State != model.NoTraffic {
		t.Errorf("without queries: %+v", w.PrefixCacheHit)
	}
}

func TestPrefixCounterThatNeverMovedSaysSo(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(counter(model.PrefixQueries, 100), counter(model.PrefixHits, 0))
	w := workflowNamed(t, b.round(counter(model.PrefixQueries, 200), counter(model.PrefixHits, 0)), "chat")
	near(t, "hit", w.PrefixCacheHit, 0)
	if !strings.Contains(strings.Join(w.Notes, ";"), "never moved") {
		t.Errorf("notes = %q", w.Notes)
	}
}

func TestNaNGaugeEntersNoSum(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	b.poll("a", gauge(model.Running, math.NaN()))
	b.poll("b", gauge(model.Running, 3))
	f := b.tick()
	near(t, "running", workflowNamed(t, f, "chat").Requests.Running, 3)
	if f.Targets[0].Running.OK() {
		t.Errorf("a running = %+v", f.Targets[0].Running)
	}
}

// A clock that is set, back or ahead, moves nothing: only Mono counts.
func TestWallClockJumps(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(counter(model.OutputTokens, 0))
	b.at.Wall = b.at.Wall.Add(-3 * time.Hour)
	f := b.round(counter(model.OutputTokens, 500))
	near(t, "rate", workflowNamed(t, f, "chat").Tokens.OutputPerSecond, 50)
	if f.Targets[0].State != model.Up {
		t.Errorf("state = %s", f.Targets[0].State)
	}
}

// Data that stopped is a gap on the chart; a late tick is none.
func TestHistoryHasGapsOnlyWhereDataStopped(t *testing.T) {
	b := newBench(t, time.Second, "a")
	for i := range 5 {
		b.round(counter(model.OutputTokens, float64(10*i)), gauge(model.Running, 1))
	}
	b.pass(time.Second) // one tick is missing
	b.round(counter(model.OutputTokens, 50), gauge(model.Running, 1))
	h := workflowNamed(t, b.round(counter(model.OutputTokens, 60), gauge(model.Running, 1)), "chat").History
	for i, v := range h.Running {
		if v != 1 {
			t.Errorf("point %d of %v", i, h.Running)
		}
	}
	b.fail("a", model.Refused)
	for range 3 {
		b.tick()
		b.pass(time.Second)
	}
	h = workflowNamed(t, b.tick(), "chat").History
	if last := h.Running[len(h.Running)-1]; !math.IsNaN(float64(last)) {
		t.Errorf("a point while down: %v", h.Running)
	}
	if want := b.at.Wall; !h.End.Wall.Equal(want) {
		t.Errorf("history ends at %v, want %v", h.End.Wall, want)
	}
}

func TestTooManyWorkflowsAreSummedAsOther(t *testing.T) {
	b := newBench(t, time.Second, "a")
	samples := make([]model.Sample, 0, 500)
	for i := range 500 {
		samples = append(samples, model.Sample{Signal: model.Running, Kind: model.Gauge, Value: 1,
			Labels: model.Labels(model.LabelModel, "m"+string(rune('A'+i%26))+strings.Repeat("x", i/26))})
	}
	f := b.round(samples...)
	if len(f.Workflows) != crowdRows+1 {
		t.Errorf("%d workflows", len(f.Workflows))
	}
	near(t, "other", workflowNamed(t, f, model.OtherName).Requests.Running, 480)
}

func TestModelsWithoutLabelAreTheTarget(t *testing.T) {
	b := newBench(t, time.Second, "a")
	f := b.round(model.Sample{Signal: model.Running, Kind: model.Gauge, Value: 2})
	near(t, "running", workflowNamed(t, f, "a").Requests.Running, 2)
	// A model appears: the samples without a label are its own.
	f = b.round(model.Sample{Signal: model.Running, Kind: model.Gauge, Value: 2}, counter(model.OutputTokens, 1))
	near(t, "running", workflowNamed(t, f, "chat").Requests.Running, 2)
	if len(f.Workflows) != 1 {
		t.Errorf("workflows = %d", len(f.Workflows))
	}
}

func TestRejectsBadConfig(t *testing.T) {
	one := []model.Target{{ID: "a", Name: "a"}}
	for name, c := range map[string]Config{
		"no interval":  {Targets: one},
		"tiny window":  {Targets: one, Every: time.Second, Window: time.Second},
		"large window": {Targets: one, Every: time.Second, Window: time.Hour},
		"twice":        {Targets: []model.Target{{ID: "a", Name: "a"}, {ID: "a", Name: "a"}}, Every: time.Second},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSignalLayout(t *testing.T) {
	if len(model.Signals) != numSignals {
		t.Errorf("%d signals", len(model.Signals))
	}
	for i, s := range model.Signals {
		if (s.Kind == model.Histogram) != (i >= firstHist && i < firstHist+numHists) {
			t.Errorf("%s stands at %d", s.Signal, i)
		}
	}
}

// The condition is the one word for a workflow, and it has its own beginning.
func TestConditionAndSince(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	slow := func(n float64) []model.Sample {
		return []model.Sample{histogram(model.TTFT, []float64{1}, []float64{0, n}, 5*n), counter(model.OutputTokens, 10*n), gauge(model.Running, 2)}
	}
	steps := []struct {
		n    float64
		want model.Condition
	}{
		{0, model.IsStarting}, {10, model.IsUndecided}, {20, model.IsMissed}, {60, model.IsMissed}, {90, model.IsMissed},
	}
	for i, s := range steps {
		w := workflowNamed(t, b.round(slow(s.n)...), "chat")
		if w.Condition != s.want {
			t.Errorf("poll %d: %s, want %s", i+1, w.Condition, s.want)
		}
		if i == 4 && w.Since.Mono != 20*time.Second {
			t.Errorf("missed since %v, want 20s", w.Since.Mono)
		}
	}
	b.fail("a", model.Refused)
	if w := workflowNamed(t, b.tick(), "chat"); w.Condition != model.IsDown || w.Since.Mono != 50*time.Second {
		t.Errorf("%s since %v", w.Condition, w.Since.Mono)
	}
}

func TestQuietAndBusyWithoutEnds(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	page := func(running float64) []model.Sample {
		return []model.Sample{histogram(model.TTFT, []float64{1}, []float64{3, 3}, 1), gauge(model.Running, running), counter(model.OutputTokens, 100)}
	}
	b.round(page(0)...)
	if w := workflowNamed(t, b.round(page(0)...), "chat"); w.Condition != model.IsQuiet {
		t.Errorf("idle: %s", w.Condition)
	}
	if w := workflowNamed(t, b.round(page(1)...), "chat"); w.Condition != model.IsUndecided {
		t.Errorf("running, nothing ended: %s", w.Condition)
	}
}

// A share of everything since the start says nothing about now.
func TestNoShareFromOnePage(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	w := workflowNamed(t, b.round(counter(model.PrefixQueries, 1e6), counter(model.PrefixHits, 8e5),
		histogram(model.TTFT, []float64{1}, []float64{3, 300}, 900)), "chat")
	if w.PrefixCacheHit.OK() || w.Objectives[0].Share.Lo.OK() || w.Objectives[0].Verdict != model.Undecided {
		t.Errorf("hit %+v, objective %+v", w.PrefixCacheHit, w.Objectives[0])
	}
	if w.Condition != model.IsStarting {
		t.Errorf("condition %s", w.Condition)
	}
}

// A family that the newest page lacks is not known to stand still.
func TestVanishedFamilyIsUnknown(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	b.round(counter(model.OutputTokens, 100), counter(model.Preemptions, 3))
	b.round(counter(model.OutputTokens, 200), counter(model.Preemptions, 3))
	w := workflowNamed(t, b.round(counter(model.OutputTokens, 300)), "chat")
	if w.PreemptionsPerSec.OK() {
		t.Errorf("preemptions %+v", w.PreemptionsPerSec)
	}
	near(t, "output", w.Tokens.OutputPerSecond, 10)
}

// OC-38: a page read in the middle of an update.
func TestNonMonotoneBucketsAreRepairedAndMarked(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	w := workflowNamed(t, b.round(histogram(model.TTFT, []float64{0.5, 1}, []float64{10, 12, 11}, 5)), "chat")
	near(t, "p50", w.TTFT.P50.Value, 0.3)
	if w.TTFT.N != 12 || !strings.Contains(strings.Join(w.Notes, ";"), "not monotone") {
		t.Errorf("n %v, notes %q", w.TTFT.N, w.Notes)
	}
	f := b.round(histogram(model.TTFT, []float64{0.5, 1}, []float64{10, 12, 12}, 5))
	if w = workflowNamed(t, f, "chat"); f.Targets[0].Restarts != 0 || w.TTFT.N != 0 {
		t.Errorf("restarts %d, n %v", f.Targets[0].Restarts, w.TTFT.N)
	}
}

func TestWhatIsNoHistogramChangesNothing(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	good := func(n float64) model.Sample {
		return histogram(model.TTFT, []float64{1}, []float64{n, n}, n)
	}
	b.round(good(10), counter(model.OutputTokens, 1))
	b.round(histogram(model.TTFT, []float64{1}, []float64{-5, 20}, 3), counter(model.OutputTokens, 2))
	f := b.round(good(30), counter(model.OutputTokens, 3))
	if w := workflowNamed(t, f, "chat"); w.TTFT.N != 20 || f.Targets[0].Restarts != 0 {
		t.Errorf("n %v, restarts %d", w.TTFT.N, f.Targets[0].Restarts)
	}
}

// Shares over unlike buckets: the common bounds would give less than is known.
func TestShareOverUnlikeBuckets(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	page := func(k float64) {
		b.poll("a", histogram(model.TTFT, []float64{.1, .75, 2}, []float64{40 * k, 80 * k, 95 * k, 100 * k}, 1))
		b.poll("b", histogram(model.TTFT, []float64{.1, 1, 2}, []float64{30 * k, 90 * k, 96 * k, 100 * k}, 1))
	}
	page(0)
	b.pass(10 * time.Second)
	page(1)
	o := workflowNamed(t, b.tick(), "chat").Objectives[0]
	near(t, "at least", o.Share.Lo, (80.0+90)/200)
	near(t, "at most", o.Share.Hi, (95.0+90)/200)
}

// A breach that was there before a silence and is there after it began before it.
func TestSilenceDoesNotRestartABreach(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	slow := func(n float64) []model.Sample {
		return []model.Sample{histogram(model.TTFT, []float64{1}, []float64{0, n}, 5*n)}
	}
	for i := range 4 {
		b.round(slow(float64(30 * i))...)
	}
	b.fail("a", model.Refused)
	if w := workflowNamed(t, b.tick(), "chat"); w.Condition != model.IsDown || w.Since.Mono != 40*time.Second {
		t.Errorf("%s since %v", w.Condition, w.Since.Mono)
	}
	b.pass(20 * time.Second)
	if w := workflowNamed(t, b.round(slow(200)...), "chat"); w.Condition != model.IsMissed || w.Since.Mono != 10*time.Second {
		t.Errorf("%s since %v, want missed since 10s", w.Condition, w.Since.Mono)
	}
}

// A target that never answered is not said to export nothing.
func TestNeverAnsweredIsNoData(t *testing.T) {
	b := newBench(t, time.Second, "a")
	b.fail("a", model.Refused)
	v := b.tick().Targets[0]
	for name, r := range map[string]model.Reading{"running": v.Running, "KV": v.KVCacheUsage, "output": v.OutputPerSecond, "requests": v.RequestsPerSecond} {
		if r.State != model.Unknown {
			t.Errorf("%s: %v", name, r.State)
		}
	}
	if len(v.Missing) != 0 {
		t.Errorf("missing %v", v.Missing)
	}
}

// What a new replica lacks does not shorten what the others cover.
func TestCoveredWithANewReplica(t *testing.T) {
	b := newBench(t, 10*time.Second, "a", "b")
	for i := range 7 {
		b.round(counter(model.OutputTokens, float64(i)))
	}
	b.poll("b", counter(model.OutputTokens, 5))
	near(t, "covered", b.tick().CoveredS, 60)
}

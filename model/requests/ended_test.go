package requests

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// one is what a tracker says of a request that is reported once, at its end.
func one(t *testing.T, r model.Request) Ended {
	t.Helper()
	r.ID, r.Phase, r.At = "a", model.PhaseDone, stamp(100)
	got := take(New(time.Minute), 100, r)
	if len(got) != 1 {
		t.Fatalf("%d ended", len(got))
	}
	return got[0]
}

// same compares readings to a nanosecond.
func same(a, b model.Reading) bool {
	return a.State == b.State && math.Abs(a.Value-b.Value) < 1e-9
}

var none model.Reading

func TestTimes(t *testing.T) {
	whole := model.Request{
		Queued: stamp(1), Admitted: stamp(1.5), ContextDone: stamp(2), FirstToken: stamp(3), FirstAnswer: stamp(5), Completed: stamp(13),
		OutputTokens: n(101), Stream: model.Streamed, Outcome: model.Completed,
	}
	with := func(change func(r *model.Request)) model.Request {
		r := whole
		change(&r)
		return r
	}
	type times [numMetrics]model.Reading
	all := times{ttft: n(2), firstAnswer: n(4), tpot: n(.1), e2e: n(12), queue: n(.5)}
	but := func(change func(m *times)) times {
		m := all
		change(&m)
		return m
	}
	for name, tt := range map[string]struct {
		r    model.Request
		want times
	}{
		"all": {whole, all},
		"whether it streams is not known": {
			with(func(r *model.Request) { r.Stream = model.StreamUnknown }), all,
		},
		"without a stream": {
			with(func(r *model.Request) { r.Stream = model.Unary }), times{e2e: n(12), queue: n(.5)},
		},
		"nothing known": {model.Request{}, times{}},
		"never admitted": {
			with(func(r *model.Request) { r.Admitted = 0 }), but(func(m *times) { m[queue] = none }),
		},
		"when it was received is not known": {
			with(func(r *model.Request) { r.Queued = 0 }), times{tpot: n(.1)},
		},
		"end not known": {
			with(func(r *model.Request) { r.Completed = 0 }), but(func(m *times) { m[tpot], m[e2e] = none, none }),
		},
		"no reasoning": {
			with(func(r *model.Request) { r.FirstAnswer = 0 }), but(func(m *times) { m[firstAnswer] = n(2) }),
		},
		"cut while it reasoned, perhaps": {
			with(func(r *model.Request) { r.FirstAnswer, r.Outcome = 0, model.OutputLimited }),
			but(func(m *times) { m[firstAnswer] = none }),
		},
		"left in the middle: so far": {
			with(func(r *model.Request) { r.Outcome, r.Reason = model.RequestCancelled, "client_disconnect" }), all,
		},
		"two tokens": {
			with(func(r *model.Request) { r.OutputTokens = n(2) }), but(func(m *times) { m[tpot] = n(10) }),
		},
		"one token": {
			with(func(r *model.Request) { r.OutputTokens = n(1) }), but(func(m *times) { m[tpot] = none }),
		},
		"no usage": {
			with(func(r *model.Request) { r.OutputTokens = none }), but(func(m *times) { m[tpot] = none }),
		},
		"fewer than none": {
			with(func(r *model.Request) { r.OutputTokens = n(-5) }), but(func(m *times) { m[tpot] = none }),
		},
		"all tokens at once": {
			with(func(r *model.Request) { r.FirstToken, r.FirstAnswer = stamp(13), 0 }),
			but(func(m *times) { m[ttft], m[firstAnswer], m[tpot] = n(12), n(12), none }),
		},
		"all tokens in one piece": {
			with(func(r *model.Request) { r.OutputChunks = n(1) }), but(func(m *times) { m[tpot] = none }),
		},
		"several tokens a piece": {
			with(func(r *model.Request) { r.OutputChunks = n(20) }), all,
		},
		"backwards": {
			with(func(r *model.Request) { r.Completed = stamp(2.5) }), times{},
		},
	} {
		e := one(t, tt.r)
		for i, got := range e.Times() {
			if !same(got, tt.want[i]) {
				t.Errorf("%s: %s is %+v, want %+v", name, model.Metrics[i], got, tt.want[i])
			}
		}
	}
}

// The places of the times are those of the vocabulary.
func TestOrderOfMetrics(t *testing.T) {
	want := map[model.Metric]int{
		model.MetricTTFT: ttft, model.MetricFirstAnswer: firstAnswer, model.MetricTPOT: tpot,
		model.MetricE2E: e2e, model.MetricQueue: queue,
	}
	if len(model.Metrics) != numMetrics || len(want) != numMetrics {
		t.Fatalf("%d metrics", len(model.Metrics))
	}
	for i, m := range model.Metrics {
		if want[m] != i {
			t.Errorf("%s has place %d, want %d", m, want[m], i)
		}
	}
}

func TestBackwards(t *testing.T) {
	for name, tt := range map[string]struct {
		r    model.Request
		want bool
	}{
		"in order":               {model.Request{Queued: stamp(1), FirstToken: stamp(2), Completed: stamp(3)}, false},
		"all at once":            {model.Request{Queued: stamp(1), FirstToken: stamp(1), Completed: stamp(1)}, false},
		"completed first":        {model.Request{Queued: stamp(2), Completed: stamp(1)}, true},
		"token before admission": {model.Request{Queued: stamp(1), Admitted: stamp(3), FirstToken: stamp(2)}, true},
		"around a missing one":   {model.Request{Admitted: stamp(3), Completed: stamp(2)}, true},
		"sent before its plan":   {model.Request{Scheduled: stamp(2), Queued: stamp(1), Completed: stamp(3)}, false},
	} {
		e := one(t, tt.r)
		if e.Backwards != tt.want {
			t.Errorf("%s: %v", name, e.Backwards)
		}
		if !tt.want {
			continue
		}
		for _, r := range append(e.timesSlice(), e.Response(), e.WaitedS()) {
			if r.OK() {
				t.Errorf("%s: contributes %v s", name, r.Value)
			}
		}
	}
	tr := New(time.Minute)
	take(tr, 5, model.Request{ID: "h-2", At: stamp(1), Phase: model.PhaseDone, Queued: stamp(1), Completed: stamp(.5), OutputTokens: n(-5)})
	expectStats(t, tr, Stats{Reports: 1, Ended: 1, Backwards: 1, Mended: 1})
}

func (e *Ended) timesSlice() []model.Reading {
	m := e.Times()
	return m[:]
}

func TestTimesThatCannotBe(t *testing.T) {
	e := one(t, model.Request{
		Queued: -5, FirstToken: math.MaxInt64, Completed: stamp(2), Scheduled: math.MinInt64,
		Attempt: -3, Retries: -1, Status: -7, InputTokens: n(-1),
	})
	r := e.Request
	if r.Queued != 0 || r.FirstToken != 0 || r.Scheduled != 0 || r.Attempt != 0 || r.Retries != 0 || r.Status != 0 || r.InputTokens.OK() {
		t.Errorf("%+v", *r)
	}
	if e.Tries != 1 || e.Backwards || r.Completed != stamp(2) {
		t.Errorf("%+v", e)
	}
}

// A report without its own time was true at the latest time that it tells.
func TestReportWithoutATime(t *testing.T) {
	tr := New(time.Minute)
	silent := state("a", 0, model.PhaseStreaming)
	silent.At, silent.FirstToken = 0, stamp(2)
	take(tr, 3, state("a", 1, model.PhaseQueued), silent, state("a", 1.5, model.PhaseAtModel))
	expectFlight(t, tr, 3, running{"a", model.PhaseStreaming, false})
	// Nor does one without any time hurt.
	if got := take(tr, 4, model.Request{ID: "b", Phase: model.PhaseDone}); len(got) != 1 || got[0].At != at(4).Mono {
		t.Errorf("%+v", got)
	}
}

func TestWaited(t *testing.T) {
	for name, tt := range map[string]struct {
		r    model.Request
		want model.Reading
	}{
		"cut by its deadline":      {model.Request{Queued: stamp(1), Completed: stamp(31)}, n(30)},
		"left after a first token": {model.Request{Queued: stamp(1), FirstToken: stamp(2), Completed: stamp(31)}, none},
		"end not said":             {model.Request{Queued: stamp(1)}, n(99)}, // until it was reported
		"beginning not said":       {model.Request{Completed: stamp(3)}, none},
	} {
		e := one(t, tt.r)
		if got := e.WaitedS(); !same(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestOmissionOC24(t *testing.T) {
	var page []struct {
		ID        int     `json:"id"`
		Scheduled float64 `json:"scheduled_s"`
		Sent      float64 `json:"sent_s"`
		Done      float64 `json:"done_s"`
	}
	if err := json.Unmarshal(shared.File(t, "cases/files/omission.json"), &page); err != nil {
		t.Fatal(err)
	}
	tr := New(time.Minute)
	last := none
	for _, p := range page {
		got := take(tr, p.Done, model.Request{
			ID: strconv.Itoa(p.ID), At: stamp(p.Done), Phase: model.PhaseDone, Outcome: model.Completed,
			Scheduled: stamp(p.Scheduled), Queued: stamp(p.Sent), Completed: stamp(p.Done),
		})
		e := got[0]
		if !same(e.Response(), n(p.Done-p.Scheduled)) || !same(e.Times()[e2e], n(.2)) {
			t.Errorf("request %d: response %v, e2e %v", p.ID, e.Response(), e.Times()[e2e])
		}
		last = e.Response()
	}
	if !same(last, n(1.1)) {
		t.Errorf("response of the last: %v, want 1.1 s", last)
	}
	unplanned := one(t, model.Request{Queued: stamp(1), Completed: stamp(2)})
	if unplanned.Response().OK() {
		t.Error("a response time without a schedule")
	}
}

// What is not known of the tokens stays unknown, and events are not tokens.
func TestUsageOC33(t *testing.T) {
	tr := New(time.Minute)
	sum, unknown := 0.0, 0
	reports := []model.Request{
		{ID: "1", OutputTokens: n(400)},
		{ID: "2", OutputTokens: n(500)},
		{ID: "3"},
		{ID: "4", OutputChunks: n(37), Outcome: model.RequestCancelled},
		{ID: "5", OutputTokens: n(1), Phase: model.PhaseStreaming},
		{ID: "5", OutputTokens: n(15)}, // cumulative: the newest state is the count
	}
	for i := range reports {
		r := &reports[i]
		r.At = stamp(float64(i))
		if r.Phase == "" {
			r.Phase = model.PhaseDone
		}
	}
	for _, e := range take(tr, 9, reports...) {
		if v, known := e.Request.OutputTokens.Get(); known {
			sum += v
		} else {
			unknown++
		}
	}
	if sum != 915 || unknown != 2 {
		t.Errorf("at least %v, %d unknown; want 915, 2", sum, unknown)
	}
}

// A count that no request has is unknown: a sum of such numbers is none.
func TestImpossibleCounts(t *testing.T) {
	for _, v := range []float64{-1, 1e300, math.MaxFloat64} {
		tr := New(0)
		r := endAt("a", 1, 0)
		r.OutputTokens = model.Of(v)
		got := take(tr, 2, r)
		if got[0].Request.OutputTokens.OK() || tr.Stats().Mended != 1 {
			t.Errorf("%v: %+v, %d mended", v, got[0].Request.OutputTokens, tr.Stats().Mended)
		}
	}
}

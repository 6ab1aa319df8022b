package sim

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// pages runs the service for a while, cut up by the given steps, and returns the
// pages of all replicas at each whole second.
func pages(t *testing.T, o Options, whole time.Duration, cut func() time.Duration) [][]byte {
	t.Helper()
	s := service(t, o)
	var out [][]byte
	for at := time.Second; at <= whole; at += time.Second {
		for s.Now() < at {
			s.Advance(min(at, s.Now()+cut()))
		}
		for _, r := range s.Replicas() {
			page, err := r.Page(nil)
			if err != nil {
				page = []byte(err.Error())
			}
			out = append(out, page)
		}
	}
	return out
}

func TestASeedIsAPageForEveryCutOfTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cuts := map[string]func() time.Duration{
		"a second":      func() time.Duration { return time.Second },
		"13.7 ms":       func() time.Duration { return 13700 * time.Microsecond },
		"random":        func() time.Duration { return time.Duration(1 + random.IntN(1e9)) },
		"a few at once": func() time.Duration { return time.Hour },
	}
	for _, o := range []Options{
		{Seed: 7},
		{Seed: 7, Scenario: "S1", At: 10 * time.Second, For: 20 * time.Second},
		{Seed: 8, Scenario: "S6", At: 5 * time.Second},
		{Seed: 9, Restarts: []Restart{{Replica: 1, At: 20 * time.Second, Down: 5 * time.Second}}},
	} {
		want := pages(t, o, 40*time.Second, func() time.Duration { return 100 * time.Millisecond })
		for name, cut := range cuts {
			got := pages(t, o, 40*time.Second, cut)
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Fatalf("%+v, cut into %s: page %d differs", o, name, i)
				}
			}
		}
		o.Seed++
		if other := pages(t, o, 40*time.Second, cuts["a second"]); bytes.Equal(other[60], want[60]) {
			t.Errorf("%+v: another seed, the same page", o)
		}
	}
}

// Seconds in which a page was read or not make no difference to what follows.
func TestLookingChangesNothing(t *testing.T) {
	looked := pages(t, Options{Seed: 4}, 30*time.Second, func() time.Duration { return time.Second })
	s := service(t, Options{Seed: 4})
	s.Advance(30 * time.Second)
	for i, r := range s.Replicas() {
		page, err := r.Page(nil)
		if err != nil || !bytes.Equal(page, looked[len(looked)-2+i]) {
			t.Errorf("%s: page differs, error %v", r.Name(), err)
		}
	}
}

func TestAdvanceNeverGoesBack(t *testing.T) {
	s := service(t, Options{Seed: 1})
	s.Advance(10 * time.Second)
	before, _ := s.Replicas()[0].Page(nil)
	s.Advance(3 * time.Second)
	after, _ := s.Replicas()[0].Page(nil)
	if s.Now() != 10*time.Second || !bytes.Equal(before, after) {
		t.Errorf("now %v", s.Now())
	}
}

// TestLittlesLaw: in steady state the mean number in a stage is the rate through
// it times the mean time in it.
func TestLittlesLaw(t *testing.T) {
	published(t)
	m := &meter{sim: service(t, Options{Seed: 2, Replicas: 1})}
	got := m.watch(120*time.Second, 1920*time.Second)
	in := func(from, to func(Event) time.Duration) float64 {
		return mean(got.answered("", func(e Event) (time.Duration, bool) { return to(e) - from(e), true }))
	}
	scheduled := func(e Event) time.Duration { return e.Scheduled }
	finish := func(e Event) time.Duration { return e.Finish }
	queued := func(e Event) time.Duration { return e.Received + 4*time.Millisecond }
	rate := float64(len(got.ended)) / got.seconds
	near(t, "running", got.running, rate*in(scheduled, finish), 0.02)
	near(t, "waiting", got.waiting, rate*in(queued, scheduled), 0.15)
}

func TestRouterLevelsTheLoad(t *testing.T) {
	for _, id := range []string{"S0", "S1"} {
		s := service(t, Options{Seed: 3, Scenario: id, At: 30 * time.Second})
		for at := time.Second; at <= 90*time.Second; at += time.Second {
			s.Advance(at)
			a, b := s.replicas[0].outstanding(), s.replicas[1].outstanding()
			if spread := a - b; spread > 25 || spread < -25 {
				t.Fatalf("%s at %v: %d and %d outstanding", id, at, a, b)
			}
		}
		a, b := float64(s.replicas[0].totals.arrived), float64(s.replicas[1].totals.arrived)
		near(t, "requests of the two", a, b, 0.1)
	}
}

func TestRestart(t *testing.T) {
	s := service(t, Options{Seed: 1, Restarts: []Restart{{Replica: 0, At: 100 * time.Second, Down: 30 * time.Second}}})
	r := s.Replicas()[0]
	read := func() (page []byte, start, tokens float64) {
		page, err := r.Page(nil)
		if err != nil {
			t.Fatal(err)
		}
		families := parse(t, page)
		_, start = numbers(families["process_start_time_seconds"], "", "")
		_, tokens = numbers(families["vllm:generation_tokens_total"], "", "")
		return page, start, tokens
	}
	s.Advance(99 * time.Second)
	_, start, tokens := read()
	inFlight := r.outstanding()

	s.Advance(100 * time.Second)
	if _, err := r.Page(nil); !errors.Is(err, ErrNotReady) || r.Ready() || r.outstanding() != 0 {
		t.Errorf("down: error %v, ready %v, %d outstanding", err, r.Ready(), r.outstanding())
	}
	if inFlight == 0 || r.totals.aborted == 0 {
		t.Errorf("%d were in flight and %d were lost", inFlight, r.totals.aborted)
	}

	s.Advance(131 * time.Second)
	_, startAfter, tokensAfter := read()
	if startAfter-start != 168 { // from 68 s before the beginning to 100 s after it
		t.Errorf("start time moved by %v s, want 168", startAfter-start)
	}
	if tokensAfter >= tokens/10 {
		t.Errorf("%v tokens a second after the restart, %v before it", tokensAfter, tokens)
	}
	if s.replicas[1].totals.aborted > 0 {
		t.Error("the other replica lost requests")
	}
}

func TestNobodyAnswers(t *testing.T) {
	w := DemoWorkflows()[:1]
	w[0].Retries, w[0].RetryAfter = 2, 500*time.Millisecond
	s := service(t, Options{Seed: 1, Replicas: 1, Workflows: w,
		Restarts: []Restart{{At: 10 * time.Second, Down: 20 * time.Second}}})
	m := &meter{sim: s}
	m.watch(0, 40*time.Second)
	var refused, retried, followed int
	byID := map[int64]Event{}
	for _, e := range m.events {
		byID[e.ID] = e
		if e.Replica < 0 {
			refused++
			if e.Outcome != Aborted || e.Scheduled != 0 || e.FirstToken != 0 || e.TTFT() != 0 {
				t.Fatalf("refused: %+v", e)
			}
		}
		if e.RetryOf == 0 {
			continue
		}
		retried++
		before, ok := byID[e.RetryOf]
		if !ok {
			continue
		}
		followed++
		if e.Arrival != before.Finish+w[0].RetryAfter || e.PromptTokens != before.PromptTokens {
			t.Fatalf("%+v retries %+v", e, before)
		}
	}
	if refused == 0 || retried == 0 || followed != retried {
		t.Errorf("%d refused, %d retried, %d of them after a known attempt", refused, retried, followed)
	}
}

// Clients of a closed loop survive a service that is down.
func TestClosedLoopOverARestart(t *testing.T) {
	s := service(t, Options{Seed: 1, Replicas: 1,
		Workflows: []Workflow{{Name: "loop", Clients: 10, Prompt: fixed(100), Output: fixed(50)}},
		Restarts:  []Restart{{At: 5 * time.Second, Down: 5 * time.Second}}})
	s.Advance(20 * time.Second)
	if n := s.replicas[0].outstanding(); n != 10 {
		t.Errorf("%d of 10 clients are at work", n)
	}
}

func TestAnIncidentEnds(t *testing.T) {
	m := &meter{sim: service(t, Options{Seed: 1, Scenario: "S4", At: 60 * time.Second, For: 60 * time.Second})}
	before := m.watch(30*time.Second, 60*time.Second)
	during := m.watch(70*time.Second, 120*time.Second)
	after := m.watch(200*time.Second, 260*time.Second)
	if during.gap < 2*before.gap || after.gap > 1.3*before.gap {
		t.Errorf("gaps: before %.4f, during %.4f, after %.4f s", before.gap, during.gap, after.gap)
	}
}

func TestEventsAreBoundedAndCounted(t *testing.T) {
	var l eventLog
	const n = keptEvents + 1000
	for i := range n {
		l.add(Event{ID: int64(i + 1)})
	}
	events, missed := l.since(0, nil)
	if missed != 1000 || len(events) != keptEvents || events[0].Seq != 1001 || events[0].ID != 1001 {
		t.Errorf("missed %d, kept %d, first %+v", missed, len(events), events[0])
	}
	for i, e := range events {
		if e.Seq != uint64(i)+1001 {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
	}
	if late, missed := l.since(n-3, events[:0]); len(late) != 3 || missed != 0 || late[2].Seq != n {
		t.Errorf("the newest three: %d, missed %d", len(late), missed)
	}
	if none, missed := l.since(n, nil); len(none) != 0 || missed != 0 {
		t.Errorf("after the newest: %d, missed %d", len(none), missed)
	}
}

func TestEventsAreConsistent(t *testing.T) {
	m := &meter{sim: service(t, Options{Seed: 6, Scenario: "S1", At: 30 * time.Second})}
	m.watch(0, 120*time.Second)
	var last time.Duration
	for i, e := range m.events {
		ok := e.Seq == uint64(i+1) && e.Finish >= last && e.Arrival < e.Finish
		if e.Outcome == Aborted {
			ok = ok && e.Scheduled == 0 && e.FirstToken == 0 && e.OutputTokens == 0
		} else {
			ok = ok && e.Arrival < e.Scheduled && e.Scheduled < e.FirstToken && e.FirstToken <= e.Finish &&
				e.OutputTokens > 0 && e.CachedTokens < e.PromptTokens && e.CachedTokens%16 == 0 &&
				(e.WorstGap > 0) == (e.OutputTokens > 1)
		}
		if !ok {
			t.Fatalf("event %d: %+v", i, e)
		}
		last = e.Finish
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		`scenario "S99": no such scenario (S0, S1, S2, S3, S3b, S4`: {Scenario: "S99"},
		"scenario S6 needs more than 1":                             {Scenario: "S6", Replicas: 1},
		"without a workflow":                                        {Workflows: []Workflow{}},
		"negative time":                                             {At: -1},
		"restart of replica 2: there are 2":                         {Restarts: []Restart{{Replica: 2}}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", o, err, want)
		}
	}
}

// The service does not grow with the time it runs.
func TestLongRunsStaySmall(t *testing.T) {
	s := service(t, Options{Seed: 1, Scenario: "S1", At: 60 * time.Second, For: 120 * time.Second})
	s.Advance(20 * time.Minute)
	made := len(s.spare) + s.replicas[0].outstanding() + s.replicas[1].outstanding() + len(s.coming)
	if made > 2000 || len(s.events.ring) > keptEvents {
		t.Errorf("%d requests and %d events in memory", made, len(s.events.ring))
	}
}

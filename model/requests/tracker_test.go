package requests

import (
	"strconv"
	"testing"
	"time"

	"slotop/model"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// at is an instant so many seconds after noon, which is our mono 0.
func at(s float64) model.Instant {
	d := time.Duration(s * 1e9)
	return model.Instant{Wall: noon.Add(d), Mono: d}
}

// stamp is the same on the reporter's clock.
func stamp(s float64) model.Stamp { return model.StampOf(at(s).Wall) }

func n(v float64) model.Reading { return model.Of(v) }

// one batch of reports that arrive at s; what ended comes back by value.
func take(t *Tracker, s float64, reports ...model.Request) []Ended {
	return takeBatch(t, s, &model.Batch{Requests: reports})
}

func takeBatch(t *Tracker, s float64, b *model.Batch) (out []Ended) {
	t.Take(at(s), b, func(e Ended) {
		r := *e.Request
		e.Request = &r
		out = append(out, e)
	})
	return out
}

type running struct {
	id      string
	phase   model.Phase
	unknown bool
}

func inFlight(t *Tracker, s float64) (out []running) {
	t.Each(at(s), func(r *model.Request, unknown bool) { out = append(out, running{r.ID, r.Phase, unknown}) })
	return out
}

func expectFlight(t *testing.T, tr *Tracker, s float64, want ...running) {
	t.Helper()
	got := inFlight(tr, s)
	if len(got) != len(want) {
		t.Fatalf("at %v s: %+v, want %+v", s, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("at %v s: %+v, want %+v", s, got[i], want[i])
		}
	}
}

func expectStats(t *testing.T, tr *Tracker, want Stats) {
	t.Helper()
	got := tr.Stats()
	got.SkewS = model.Reading{}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// state is a report of a request that runs.
func state(id string, s float64, p model.Phase) model.Request {
	return model.Request{ID: id, At: stamp(s), Phase: p, Queued: stamp(0)}
}

// done is a report of its end.
func done(id string, s float64) model.Request {
	return model.Request{ID: id, At: stamp(s), Phase: model.PhaseDone, Queued: stamp(0), Completed: stamp(s), Outcome: model.Completed}
}

func TestNewestStateWins(t *testing.T) {
	tr := New(time.Minute)
	take(tr, 1, state("a", 1, model.PhaseStreaming))
	take(tr, 2, state("a", 0.5, model.PhaseQueued)) // older
	take(tr, 2, state("a", 1, model.PhaseStreaming))
	expectFlight(t, tr, 2, running{"a", model.PhaseStreaming, false})
	expectStats(t, tr, Stats{Reports: 3, Repeated: 2, InFlight: 1})
	take(tr, 3, state("a", 3, model.PhaseToolCall))
	expectFlight(t, tr, 3, running{"a", model.PhaseToolCall, false})
}

// Reports of the same instant: their numbers decide, else what they know of.
func TestSameInstant(t *testing.T) {
	numbered := func(seq uint64, p model.Phase) model.Request {
		r := state("a", 1, p)
		r.Seq = seq
		return r
	}
	admitted := state("a", 1, model.PhaseAtModel)
	admitted.Admitted = stamp(1)
	for name, tt := range map[string]struct {
		reports []model.Request
		want    model.Phase
	}{
		"the higher number":           {[]model.Request{numbered(2, model.PhaseStreaming), numbered(1, model.PhaseQueued)}, model.PhaseStreaming},
		"a number is used once":       {[]model.Request{numbered(2, model.PhaseQueued), numbered(2, model.PhaseStreaming)}, model.PhaseQueued},
		"more happened":               {[]model.Request{admitted, state("a", 1, model.PhaseQueued)}, model.PhaseAtModel},
		"as much happened: the later": {[]model.Request{state("a", 1, model.PhaseQueued), state("a", 1, model.PhaseRetrying)}, model.PhaseRetrying},
	} {
		tr := New(time.Minute)
		take(tr, 1, tt.reports...)
		if got := inFlight(tr, 1); len(got) != 1 || got[0].phase != tt.want {
			t.Errorf("%s: %+v, want %s", name, got, tt.want)
		}
	}
}

func TestDoneIsFinal(t *testing.T) {
	tr := New(time.Minute)
	take(tr, 1, state("a", 3, model.PhaseStreaming))
	// Even where its report is older than the last state, and only once.
	if got := take(tr, 2, done("a", 2), done("a", 2), state("a", 4, model.PhaseStreaming)); len(got) != 1 {
		t.Errorf("ended %d times", len(got))
	}
	if got := take(tr, 60, done("a", 9)); len(got) != 0 {
		t.Error("ended again")
	}
	expectFlight(t, tr, 61)
	expectStats(t, tr, Stats{Reports: 5, Late: 3, Ended: 1})
}

func TestFirstSeenAtItsEnd(t *testing.T) {
	tr := New(time.Minute)
	got := take(tr, 5, done("a", 4))
	if len(got) != 1 || got[0].Request.ID != "a" || got[0].First != stamp(0) || got[0].Tries != 1 {
		t.Fatalf("%+v", got)
	}
	expectStats(t, tr, Stats{Reports: 1, Ended: 1})
}

func TestEndsComeInTheOrderOfTheirReports(t *testing.T) {
	tr := New(time.Minute)
	var reports []model.Request
	for i := range 100 {
		reports = append(reports, done(strconv.Itoa(i*7919%100), 1))
	}
	for i, e := range take(tr, 1, reports...) {
		if e.Request.ID != reports[i].ID {
			t.Fatalf("place %d: %s, want %s", i, e.Request.ID, reports[i].ID)
		}
	}
}

func TestSilence(t *testing.T) {
	tr := New(30 * time.Second)
	take(tr, 0, state("a", 0, model.PhaseStreaming))
	take(tr, 20, state("b", 20, model.PhaseQueued))
	expectFlight(t, tr, 30, running{"a", model.PhaseStreaming, false}, running{"b", model.PhaseQueued, false})
	expectFlight(t, tr, 31, running{"a", model.PhaseStreaming, true}, running{"b", model.PhaseQueued, false})
	// A repeated report is no sign of life; a new one is, and moves it to the end.
	take(tr, 32, state("a", 0, model.PhaseStreaming))
	expectFlight(t, tr, 33, running{"a", model.PhaseStreaming, true}, running{"b", model.PhaseQueued, false})
	take(tr, 34, state("a", 33, model.PhaseStreaming))
	expectFlight(t, tr, 35, running{"b", model.PhaseQueued, false}, running{"a", model.PhaseStreaming, false})
	if tr.Stats().Ended != 0 {
		t.Error("silence ended a request")
	}
}

// Silence is measured on the clock of the arrivals: a reporter whose clock is an
// hour off is not silent, and one whose clock stands still is not either.
func TestSilenceIsOnOurClock(t *testing.T) {
	for _, off := range []float64{-3600, 0, 3600} {
		tr := New(30 * time.Second)
		take(tr, 100, state("a", 100+off, model.PhaseStreaming))
		expectFlight(t, tr, 129, running{"a", model.PhaseStreaming, false})
		expectFlight(t, tr, 131, running{"a", model.PhaseStreaming, true})
	}
}

func TestSilenceHasADefault(t *testing.T) {
	tr := New(0)
	take(tr, 0, state("a", 0, model.PhaseStreaming))
	expectFlight(t, tr, model.DefaultSilence, running{"a", model.PhaseStreaming, false})
	expectFlight(t, tr, model.DefaultSilence+1, running{"a", model.PhaseStreaming, true})
}

func TestForgotten(t *testing.T) {
	tr := New(time.Minute)
	take(tr, 0, state("a", 0, model.PhaseStreaming))
	take(tr, 10, state("b", 10, model.PhaseStreaming))
	expectFlight(t, tr, 3600, running{"a", model.PhaseStreaming, true}, running{"b", model.PhaseStreaming, true})
	expectFlight(t, tr, 3601, running{"b", model.PhaseStreaming, true})
	takeBatch(tr, 3611, &model.Batch{})
	expectStats(t, tr, Stats{Reports: 2, Forgotten: 2})
	if got := take(tr, 3700, done("a", 3700)); len(got) != 1 {
		t.Error("a forgotten request that ends after all does not count")
	}

	patient := New(2 * time.Hour) // never forgets what it does not even call silent
	take(patient, 0, state("a", 0, model.PhaseStreaming))
	expectFlight(t, patient, 7200, running{"a", model.PhaseStreaming, false})
	expectFlight(t, patient, 14401)
}

func TestRestart(t *testing.T) {
	tr := New(time.Minute)
	batch := func(epoch string, r ...model.Request) *model.Batch { return &model.Batch{Epoch: epoch, Requests: r} }
	takeBatch(tr, 1, batch("one", state("a", 1, model.PhaseStreaming), state("b", 1, model.PhaseStreaming)))
	takeBatch(tr, 2, batch("one"))
	takeBatch(tr, 2, batch(""))
	expectFlight(t, tr, 2, running{"a", model.PhaseStreaming, false}, running{"b", model.PhaseStreaming, false})
	takeBatch(tr, 3, batch("two", state("c", 3, model.PhaseQueued)))
	expectFlight(t, tr, 3,
		running{"a", model.PhaseStreaming, true}, running{"b", model.PhaseStreaming, true}, running{"c", model.PhaseQueued, false})
	takeBatch(tr, 4, batch("two", state("a", 1, model.PhaseStreaming), state("b", 4, model.PhaseStreaming)))
	expectFlight(t, tr, 4,
		running{"a", model.PhaseStreaming, true}, running{"c", model.PhaseQueued, false}, running{"b", model.PhaseStreaming, false})
	if got := takeBatch(tr, 5, batch("two", done("a", 5))); len(got) != 1 {
		t.Error("a request that was unknown cannot end")
	}
	if s := tr.Stats(); s.Restarts != 1 {
		t.Errorf("%d restarts", s.Restarts)
	}
}

func TestLostReports(t *testing.T) {
	tr := New(time.Minute)
	take(tr, 1, state("a", 1, model.PhaseStreaming), state("b", 1, model.PhaseStreaming))
	takeBatch(tr, 2, &model.Batch{Lost: 4, Requests: []model.Request{state("b", 2, model.PhaseStreaming)}})
	expectFlight(t, tr, 2, running{"a", model.PhaseStreaming, true}, running{"b", model.PhaseStreaming, false})
	expectStats(t, tr, Stats{Reports: 3, Lost: 4, InFlight: 2})
}

// A reporter that resumes tells again what is known already.
func TestResume(t *testing.T) {
	tr := New(time.Minute)
	history := []model.Request{
		state("a", 1, model.PhaseQueued), state("b", 2, model.PhaseQueued), done("b", 3), state("a", 4, model.PhaseStreaming),
	}
	for i := range history {
		history[i].Seq = uint64(i + 1)
	}
	if got := take(tr, 4, history...); len(got) != 1 {
		t.Fatalf("%d ended", len(got))
	}
	if got := take(tr, 10, append(history, done("a", 9))...); len(got) != 1 || got[0].Request.ID != "a" {
		t.Fatalf("%+v", got)
	}
	expectStats(t, tr, Stats{Reports: 9, Repeated: 2, Late: 2, Ended: 2})
}

func TestRefused(t *testing.T) {
	tr := New(time.Minute)
	long := string(make([]byte, maxID+1))
	take(tr, 1, state("", 1, model.PhaseQueued), done("", 1), state(long, 1, model.PhaseQueued))
	expectStats(t, tr, Stats{Reports: 3, Refused: 3})
	take(tr, 1, state(long[:maxID], 1, model.PhaseQueued))
	expectStats(t, tr, Stats{Reports: 4, Refused: 3, InFlight: 1})
	retry := done("a", 1)
	retry.RetryOf = long
	if got := take(tr, 1, retry); got[0].Tries != 1 || got[0].Request.RetryOf != "" {
		t.Errorf("%+v", got)
	}
	expectStats(t, tr, Stats{Reports: 5, Refused: 3, Mended: 1, Ended: 1, InFlight: 1})
}

func TestFullHouse(t *testing.T) {
	tr := New(time.Minute)
	for i := range maxInFlight {
		take(tr, 1, state(strconv.Itoa(i), 1, model.PhaseQueued))
	}
	if got := take(tr, 2, state("x", 2, model.PhaseQueued), done("y", 2)); len(got) != 1 || got[0].Request.ID != "y" {
		t.Errorf("a request that ends needs no place: %+v", got)
	}
	expectStats(t, tr, Stats{Reports: maxInFlight + 2, Refused: 1, Ended: 1, InFlight: maxInFlight})
	take(tr, 3, done("0", 3), state("x", 3, model.PhaseQueued))
	expectStats(t, tr, Stats{Reports: maxInFlight + 4, Refused: 1, Ended: 2, InFlight: maxInFlight})
}

// A quarter of an hour at a thousand requests a second, all of them strangers:
// what is kept does not grow.
func TestMemoryIsFlat(t *testing.T) {
	tr := New(time.Minute)
	ended := 0
	b := &model.Batch{Requests: make([]model.Request, 2)}
	for i := range 1_000_000 {
		id := strconv.Itoa(i)
		s := float64(i) / 1000
		b.Requests[0], b.Requests[1] = state(id, s, model.PhaseQueued), done(id, s)
		if i%5 > 0 {
			b.Requests[1].RetryOf = strconv.Itoa(i - 1)
		}
		b.Requests[0].Workflow = "w" + id
		b.Requests[0].Labels = model.Labels("session", id)
		tr.Take(at(s), b, func(Ended) { ended++ })
		if kept := len(tr.past.young) + len(tr.past.old); kept > 2*maxGeneration+2 || len(tr.live) > 1 || tr.order.Len() != len(tr.live) {
			t.Fatalf("after %d requests %d are remembered, %d in flight", i, kept, len(tr.live))
		}
		if len(tr.names.text) > maxNames || len(tr.names.labels) > maxNames {
			t.Fatalf("%d names, %d label sets", len(tr.names.text), len(tr.names.labels))
		}
	}
	if ended != 1_000_000 {
		t.Errorf("%d ended", ended)
	}
}

// What is kept shares nothing with the batch.
func TestBatchIsNotKept(t *testing.T) {
	tr := New(time.Minute)
	reports := []model.Request{state("a", 1, model.PhaseStreaming)}
	reports[0].Workflow = "chat"
	take(tr, 1, reports...)
	reports[0] = state("z", 9, model.PhaseRetrying)
	tr.Each(at(1), func(r *model.Request, _ bool) {
		if r.ID != "a" || r.Workflow != "chat" || r.Phase != model.PhaseStreaming {
			t.Errorf("%+v", *r)
		}
	})
}

func TestSkippedNumbers(t *testing.T) {
	for name, tt := range map[string]struct {
		seqs []uint64
		want uint64
	}{
		"none at all":           {[]uint64{0, 0, 0}, 0},
		"in order":              {[]uint64{7, 8, 9}, 0},
		"a gap":                 {[]uint64{7, 8, 12}, 3},
		"filled later":          {[]uint64{7, 12, 8, 10, 9, 11}, 0},
		"repeated":              {[]uint64{7, 7, 9, 7, 9}, 1},
		"began in the middle":   {[]uint64{9, 8, 7, 6}, 0},
		"far beyond the window": {[]uint64{1, 2, 3 * reorder, 5, 3*reorder - 1}, 3*reorder - 4},
		"another numbering":     {[]uint64{1, 3, 1 << 60, 1<<60 + 2, 10, 11}, 2},
		"none on the way":       {[]uint64{1, 0, 2}, 0},
	} {
		tr := New(time.Minute)
		for i, seq := range tt.seqs {
			r := state(strconv.Itoa(i), 1, model.PhaseQueued)
			r.Seq = seq
			take(tr, 1, r)
		}
		if got := tr.Stats().Skipped; got != tt.want {
			t.Errorf("%s: %d skipped, want %d", name, got, tt.want)
		}
	}
}

// A new epoch numbers anew.
func TestSkippedOverEpochs(t *testing.T) {
	tr := New(time.Minute)
	for i, b := range []*model.Batch{{Epoch: "one"}, {Epoch: "one"}, {Epoch: "two"}, {Epoch: "two"}} {
		r := state(strconv.Itoa(i), 1, model.PhaseQueued)
		r.Seq = []uint64{100, 103, 1, 3}[i]
		b.Requests = []model.Request{r}
		takeBatch(tr, 1, b)
	}
	if got := tr.Stats().Skipped; got != 3 {
		t.Errorf("%d skipped, want 2 of the first and 1 of the second", got)
	}
}

package requests

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"slotop/model"
)

// endAt is a report of an end at s on a clock that is off by so many seconds.
func endAt(id string, s, off float64) model.Request {
	return model.Request{
		ID: id, Phase: model.PhaseDone, At: stamp(s + off), Queued: stamp(s + off - 1), Completed: stamp(s + off),
	}
}

func TestSkewIsRemoved(t *testing.T) {
	for _, off := range []float64{-3600, -0.5, 0, 2, 3600} {
		r := rand.New(rand.NewPCG(1, 1))
		tr := New(time.Minute)
		for i := range 200 {
			ended := float64(i)
			late := 0.020 + 5*r.Float64()*r.Float64()
			got := take(tr, ended+late, endAt(strconv.Itoa(i), ended, off))[0]
			wrong := (got.At - at(ended).Mono).Seconds()
			if got.At > at(ended+late).Mono {
				t.Fatalf("off by %v s: ended after it was reported", off)
			}
			if i > 50 && (wrong < 0 || wrong > 0.3) {
				t.Errorf("off by %v s, request %d: placed %v s late", off, i, wrong)
			}
			e2e := got.Times()[e2e]
			if !same(e2e, n(1)) {
				t.Errorf("off by %v s: a latency of %v", off, e2e)
			}
		}
		if s := tr.Stats().SkewS; !s.OK() || math.Abs(s.Value+off) > 0.3 {
			t.Errorf("off by %v s: %v", off, s)
		}
	}
}

func TestSkewUnknown(t *testing.T) {
	tr := New(time.Minute)
	if tr.Stats().SkewS.OK() {
		t.Error("a skew without a report")
	}
	got := take(tr, 5, model.Request{ID: "a", Phase: model.PhaseDone})
	if got[0].At != at(5).Mono || tr.Stats().SkewS.OK() {
		t.Errorf("%+v", got)
	}
}

// One request whose times are a day ahead moves no other.
func TestOneWrongClock(t *testing.T) {
	tr := New(time.Minute)
	take(tr, 1, endAt("a", 1, 0), endAt("b", 1, 0))
	take(tr, 2, endAt("wrong", 2, 86400), state("wrong too", 2, model.PhaseQueued))
	if got := take(tr, 3, endAt("c", 3, 0))[0]; got.At != at(3).Mono {
		t.Errorf("placed at %v, want 3 s", got.At)
	}
	// Nor does the same one when it says so again and again.
	for i := range 10 {
		r := state("wrong", 3+86400+float64(i), model.PhaseStreaming)
		take(tr, 3, r)
	}
	if got := take(tr, 4, endAt("d", 4, 0))[0]; got.At != at(4).Mono {
		t.Errorf("placed at %v, want 4 s", got.At)
	}
}

// When the reporter's clock is set, ends are placed well again within two spans;
// at once when it is set forward.
func TestReportersClockIsSet(t *testing.T) {
	for _, step := range []float64{-3600, 3600} {
		tr := New(time.Minute)
		off := 0.0
		for i := range 400 {
			if i == 100 {
				off = step
			}
			got := take(tr, float64(i), endAt(strconv.Itoa(i), float64(i), off))[0]
			settled := i < 100 || i > 100+2*int(skewSpan.Seconds())+1 || step > 0 && i > 101
			if settled && got.At != at(float64(i)).Mono {
				t.Errorf("set by %v s, second %d: placed at %v", step, i, got.At)
			}
		}
	}
}

// When our own wall clock is set, nothing moves: only mono is subtracted.
func TestOurClockIsSet(t *testing.T) {
	tr := New(time.Minute)
	for i := range 20 {
		now := at(float64(i) + .25)
		if i >= 10 {
			now.Wall = now.Wall.Add(time.Hour)
		}
		tr.Take(now, &model.Batch{Requests: []model.Request{endAt(strconv.Itoa(i), float64(i), 0)}}, func(e Ended) {
			if want := at(float64(i) + .25).Mono; e.At != want {
				t.Errorf("second %d: placed at %v, want %v", i, e.At, want)
			}
		})
	}
	if s := tr.Stats().SkewS; !same(s, n(3600.25)) {
		t.Errorf("skew %v, want an hour", s)
	}
}

// An old stream read all at once keeps its distances; its last end is now.
func TestOldStreamAtOnce(t *testing.T) {
	tr := New(time.Minute)
	var reports []model.Request
	for i := range 60 {
		reports = append(reports, endAt(strconv.Itoa(i), float64(i)-7200, 0))
	}
	take(tr, 9, reports...)
	got := take(tr, 9, endAt("x", 30-7200, 0))[0]
	if want := at(9 - 28).Mono; got.At != want { // 58 s is the second newest
		t.Errorf("placed at %v, want %v", got.At, want)
	}
}

func TestQuietStreamKeepsItsSkew(t *testing.T) {
	tr := New(time.Minute)
	take(tr, 1, endAt("a", 1, 100), endAt("b", 1, 100))
	got := take(tr, 5000, endAt("c", 4990, 100))[0] // ten seconds on its way
	if got.At != at(4990).Mono {
		t.Errorf("placed at %v, want 4990 s", got.At)
	}
}

func TestWhenItEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		r    model.Request
		want float64
	}{
		"completed":              {model.Request{At: stamp(9), Completed: stamp(5)}, 5},
		"only reported":          {model.Request{At: stamp(9)}, 9},
		"backwards":              {model.Request{At: stamp(9), Queued: stamp(8), Completed: stamp(2)}, 9},
		"later than it arrived":  {model.Request{At: stamp(9), Completed: stamp(50)}, 10},
		"before the first input": {model.Request{At: stamp(9), Completed: stamp(-50)}, -50},
	} {
		tr := New(time.Minute)
		take(tr, 10, state("x", 10, model.PhaseQueued), state("y", 10, model.PhaseQueued)) // no skew
		tt.r.ID, tt.r.Phase = "a", model.PhaseDone
		if got := take(tr, 10, tt.r)[0]; got.At != at(tt.want).Mono {
			t.Errorf("%s: %v, want %v s", name, got.At, tt.want)
		}
	}
}

// Of a backlog the newest report tells the skew, wherever in the batch it stands:
// the older ones ended when they say.
func TestBacklogIsPlacedInThePast(t *testing.T) {
	tr := New(0)
	now := model.Instant{Wall: noon, Mono: time.Hour}
	var b model.Batch
	for i := range 100 {
		at := model.StampOf(noon.Add(time.Duration(i-99) * time.Minute))
		b.Requests = append(b.Requests, model.Request{ID: strconv.Itoa(i), At: at, Phase: model.PhaseDone, Completed: at, Outcome: model.Completed})
	}
	i := 0
	tr.Take(now, &b, func(e Ended) {
		if want := time.Hour + time.Duration(min(i, 98)-98)*time.Minute; e.At != want { // the second newest counts
			t.Errorf("request %d ended at %v, want %v", i, e.At, want)
		}
		i++
	})
}

// Of two hosts that write one stream the clock of one is ten minutes ahead, or a
// day: the requests of the other end when they end.
func TestClockAheadMovesNoOther(t *testing.T) {
	for _, off := range []float64{600, 86400} {
		tr := New(0)
		for i := range 200 {
			s := float64(i)
			got := take(tr, s+0.1, endAt(strconv.Itoa(2*i), s, off), endAt(strconv.Itoa(2*i+1), s, 0))
			for n, e := range got {
				if wrong := at(s+0.1).Mono - e.At; wrong < 0 || wrong > 200*time.Millisecond {
					t.Fatalf("%v s ahead, host %d, second %d: placed %v ago", off, n, i, wrong)
				}
			}
		}
	}
}

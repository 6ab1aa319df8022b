package requests

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// try is one try that took from s to s+1 and has had its first token in the middle.
func try(id, retryOf string, s float64) model.Request {
	return model.Request{
		ID: id, RetryOf: retryOf, At: stamp(s + 1), Phase: model.PhaseDone, Outcome: model.RequestFailed,
		Queued: stamp(s), FirstToken: stamp(s + .5), Completed: stamp(s + 1),
	}
}

type told struct {
	id                   string
	first                float64
	tries                int
	retracts, superseded bool
}

func expectEnded(t *testing.T, got []Ended, want ...told) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d ended, want %d", len(got), len(want))
	}
	for i, e := range got {
		w := want[i]
		if e.Request.ID != w.id || e.First != stamp(w.first) || e.Tries != w.tries || e.Retracts != w.retracts || e.Superseded != w.superseded {
			t.Errorf("%s: first %v, tries %d, retracts %v, superseded %v; want %+v",
				e.Request.ID, e.First.Time(), e.Tries, e.Retracts, e.Superseded, w)
		}
	}
}

// users is how many users the ended stand for.
func users(ended []Ended) (n int) {
	for _, e := range ended {
		if !e.Superseded {
			n++
		}
		if e.Retracts {
			n--
		}
	}
	return n
}

func TestTriesOfOneRequestOC22(t *testing.T) {
	var page struct {
		ID    string `json:"id"`
		Tries []struct {
			T          float64 `json:"t"`
			Status     int     `json:"status"`
			FirstToken float64 `json:"first_token_t"`
		} `json:"tries"`
	}
	if err := json.Unmarshal(shared.File(t, "cases/files/retried.json"), &page); err != nil {
		t.Fatal(err)
	}
	last := page.Tries[len(page.Tries)-1]
	end := stamp(last.FirstToken + 1)

	// As states of one request, as a gateway tells it.
	tr := New(time.Minute)
	var reports []model.Request
	for i, p := range page.Tries {
		reports = append(reports, model.Request{
			ID: page.ID, At: stamp(p.T), Phase: model.PhaseRetrying, Queued: stamp(page.Tries[0].T), Attempt: i + 1, Retries: i,
		})
	}
	reports = append(reports, model.Request{
		ID: page.ID, At: end, Phase: model.PhaseDone, Outcome: model.Completed, Status: last.Status,
		Queued: stamp(page.Tries[0].T), FirstToken: stamp(last.FirstToken), Completed: end, Attempt: len(page.Tries), Retries: len(page.Tries) - 1,
	})
	got := take(tr, 7, reports...)
	expectEnded(t, got, told{id: page.ID, tries: 3})
	if ttft := got[0].Times()[ttft]; !same(ttft, n(5.4)) {
		t.Errorf("ttft %v, want 5.4 s", ttft)
	}

	// As requests of their own, as a client tells it.
	tr = New(time.Minute)
	var ended []Ended
	for i, p := range page.Tries {
		r := model.Request{
			ID: strconv.Itoa(i), At: stamp(p.T + .01), Phase: model.PhaseDone, Outcome: model.RequestFailed, Status: p.Status,
			Queued: stamp(p.T), Completed: stamp(p.T + .01),
		}
		if i > 0 {
			r.RetryOf = strconv.Itoa(i - 1)
		}
		if p.FirstToken > 0 {
			r.FirstToken, r.Completed, r.At, r.Outcome = stamp(p.FirstToken), end, end, model.Completed
		}
		ended = append(ended, take(tr, 7, r)...)
	}
	expectEnded(t, ended, told{id: "0", tries: 1}, told{id: "1", tries: 2, retracts: true}, told{id: "2", tries: 3, retracts: true})
	if got := &ended[2]; !same(got.Times()[ttft], n(5.4)) {
		t.Errorf("ttft %v, want 5.4 s", got.Times()[ttft])
	}
	if users(ended) != 1 {
		t.Errorf("%d users", users(ended))
	}
}

// Where every try of a request says when it was received, the first one counts,
// even when its report comes late.
func TestFirstTryOfOneRequest(t *testing.T) {
	tr := New(time.Minute)
	second := model.Request{ID: "a", At: stamp(3), Phase: model.PhaseRetrying, Queued: stamp(2), Attempt: 2}
	first := model.Request{ID: "a", At: stamp(1), Phase: model.PhaseAtModel, Queued: stamp(.5), Attempt: 1}
	end := model.Request{ID: "a", At: stamp(5), Phase: model.PhaseDone, Queued: stamp(2), Completed: stamp(5), Attempt: 2}
	got := take(tr, 6, second, first, end)
	expectEnded(t, got, told{id: "a", first: .5, tries: 2})
	if e := &got[0]; !same(e.Times()[e2e], n(4.5)) {
		t.Errorf("e2e %v", e.Times()[e2e])
	}
}

func TestTries(t *testing.T) {
	for _, tt := range []struct {
		attempt, retries, want int
	}{{0, 0, 1}, {1, 0, 1}, {3, 0, 3}, {0, 2, 3}, {3, 2, 3}, {2, 2, 3}} {
		if got := one(t, model.Request{Attempt: tt.attempt, Retries: tt.retries}); got.Tries != tt.want {
			t.Errorf("attempt %d, retries %d: %d tries, want %d", tt.attempt, tt.retries, got.Tries, tt.want)
		}
	}
}

func TestChain(t *testing.T) {
	a, b, c := try("a", "", 0), try("b", "a", 2), try("c", "b", 4)
	running := func(r model.Request, s float64) model.Request {
		r.Phase, r.Outcome, r.Completed, r.FirstToken, r.At = model.PhaseQueued, "", 0, 0, stamp(s)
		return r
	}
	attempts := b
	attempts.Attempt = 2 // counts over the chain
	for name, tt := range map[string]struct {
		reports []model.Request
		want    []told
	}{
		"in order": {
			[]model.Request{a, b, c},
			[]told{{"a", 0, 1, false, false}, {"b", 0, 2, true, false}, {"c", 0, 3, true, false}},
		},
		"numbered too": {
			[]model.Request{a, attempts},
			[]told{{"a", 0, 1, false, false}, {"b", 0, 2, true, false}},
		},
		"the first is still running": {
			[]model.Request{running(a, 0), b, a},
			[]told{{"b", 0, 2, false, false}, {"a", 0, 1, false, true}},
		},
		"the middle is still running": {
			[]model.Request{a, running(b, 2), c, b},
			[]told{{"a", 0, 1, false, false}, {"c", 0, 3, true, false}, {"b", 0, 2, false, true}},
		},
		"the first was never seen": {
			[]model.Request{b, c},
			[]told{{"b", 2, 2, false, false}, {"c", 2, 3, true, false}},
		},
		"last to first": {
			[]model.Request{c, b, a},
			[]told{{"c", 4, 2, false, false}, {"b", 2, 2, false, true}, {"a", 0, 1, false, true}},
		},
		"the middle comes last": {
			[]model.Request{a, c, b},
			[]told{{"a", 0, 1, false, false}, {"c", 4, 2, false, false}, {"b", 0, 2, true, true}},
		},
		"of itself": {
			[]model.Request{try("a", "a", 0)},
			[]told{{"a", 0, 1, false, false}},
		},
		"in a circle": {
			[]model.Request{try("x", "y", 0), try("y", "x", 2)},
			[]told{{"x", 0, 2, false, false}, {"y", 0, 3, true, true}},
		},
	} {
		t.Run(name, func(t *testing.T) { expectEnded(t, take(New(time.Minute), 9, tt.reports...), tt.want...) })
	}
}

// In whatever order the tries of a user end, they stand for one user.
func TestUsersInAnyOrder(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e"}
	tries := make([]model.Request, len(ids))
	for i, id := range ids {
		before := ""
		if i > 0 {
			before = ids[i-1]
		}
		tries[i] = try(id, before, float64(2*i))
	}
	permute(tries, func(order []model.Request) {
		if got := users(take(New(time.Minute), 20, order...)); got != 1 {
			t.Errorf("%d users", got)
			for _, r := range order {
				t.Log(r.ID)
			}
		}
	})
	// Or run while others end.
	runs := tries[1]
	runs.Phase, runs.At = model.PhaseQueued, stamp(2)
	got := take(New(time.Minute), 20, tries[0], tries[2], runs, tries[3], tries[1])
	if users(got) != 1 {
		t.Errorf("%d users", users(got))
	}
}

func permute(list []model.Request, f func([]model.Request)) {
	var step func(k int)
	step = func(k int) {
		if k == len(list) {
			f(list)
			return
		}
		for i := k; i < len(list); i++ {
			list[k], list[i] = list[i], list[k]
			step(k + 1)
			list[k], list[i] = list[i], list[k]
		}
	}
	step(0)
}

// A chain is followed for so many tries, and remembered for so long.
func TestChainIsBounded(t *testing.T) {
	tr := New(time.Minute)
	var last Ended
	const length = 3 * maxChain
	for i := range length {
		before := ""
		if i > 0 {
			before = strconv.Itoa(i - 1)
		}
		got := take(tr, float64(i+1), try(strconv.Itoa(i), before, float64(i)))
		last = got[0]
	}
	// Each knows what the one before it knew.
	if last.Tries != length || last.First != stamp(0) || !last.Retracts {
		t.Errorf("%+v", last)
	}

	tr = New(time.Minute)
	take(tr, 1, try("a", "", 0))
	take(tr, 2000, try("x", "", 1999)) // the next generation
	got := take(tr, 2001, try("b", "a", 2000))
	expectEnded(t, got, told{id: "b", first: 0, tries: 2, retracts: true})
	take(tr, 4000, try("y", "", 3999))
	take(tr, 6000, try("z", "", 5999))
	got = take(tr, 6001, try("c", "b", 6000))
	expectEnded(t, got, told{id: "c", first: 6000, tries: 2})
}

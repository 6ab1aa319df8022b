package notify

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// heard is what a receiver has heard of one alert, and what is wrong with that.
type heard struct {
	fired    time.Duration // of the episode heard of last
	severity model.Severity
	firing   bool
	ends     int
}

// hear checks one notice against all that was heard before it.
func (h *heard) hear(n notice) error {
	at := n.alert.FiredAt.Mono
	switch {
	case n.what == ended && !h.firing:
		return fmt.Errorf("an end without a beginning: %s", n.alert.ID)
	case n.what == ended && h.fired != at:
		return fmt.Errorf("the end of another episode: %s", n.alert.ID)
	case n.what == ended && h.severity != n.alert.Severity:
		return fmt.Errorf("the end of another severity: %s", n.alert.ID)
	case n.what == began && h.firing && h.fired == at && rank(n.alert.Severity) <= rank(h.severity):
		return fmt.Errorf("told twice: %s", n.alert.ID)
	case n.what == began && at < h.fired:
		return fmt.Errorf("an older episode: %s", n.alert.ID)
	}
	h.firing, h.fired, h.severity = n.what == began, at, n.alert.Severity
	if n.what == ended {
		h.ends++
	}
	return nil
}

// TestRandomLives: whatever alerts do and however often deliveries fail, a
// receiver hears of each episode in order, once, and at last of all of it.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(300) {
		s := &Sender{seen: map[model.AlertID]*sighting{}}
		out := newOutbox(true)
		rng := rand.New(rand.NewPCG(seed, 1))
		alerts, all, over := map[string]model.AlertView{}, map[string]*heard{}, map[string]int{}
		deliver := func(limit int, works func() bool) {
			batch := out.pick(limit)
			sent := out.fly(batch)
			live(s, out, rng, alerts, over) // meanwhile
			ok := works()
			for _, n := range sent {
				h := all[string(n.alert.ID)]
				if h == nil {
					h = &heard{}
					all[string(n.alert.ID)] = h
				}
				if !ok {
					continue
				}
				if err := h.hear(n); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			out.land(batch, sent, ok)
		}
		for range 200 {
			deliver(1+rng.IntN(4), func() bool { return rng.IntN(3) > 0 })
		}
		clear(alerts) // nothing happens any more
		for range 1000 {
			deliver(4, func() bool { return true })
		}
		if out.count() != 0 {
			t.Fatalf("seed %d: %d wait for ever", seed, out.count())
		}
		for id, n := range over {
			if all[id] == nil || all[id].ends != n {
				t.Errorf("seed %d: %s was over %d times, heard %+v", seed, id, n, all[id])
			}
		}
	}
}

// live lets a few alerts fire, grow worse, end and fire again, and shows them in
// a frame. It counts the ends of each.
func live(s *Sender, out *outbox, rng *rand.Rand, alerts map[string]model.AlertView, over map[string]int) {
	if len(over) > 0 && len(alerts) == 0 {
		return
	}
	id := fmt.Sprint("alert ", rng.IntN(6))
	a, known := alerts[id]
	switch {
	case !known || a.State == model.AlertResolved && rng.IntN(2) == 0:
		after := int(a.FiredAt.Mono/time.Second) + 10
		a = with(fires(id, after), func(a *model.AlertView) { a.Severity = model.Warn })
	case a.State == model.AlertFiring && rng.IntN(3) == 0:
		a.Severity = model.Page
	case a.State == model.AlertFiring:
		over[id]++
		if a.State = model.AlertResolved; rng.IntN(3) == 0 { // and again before anybody looks
			a = fires(id, int(a.FiredAt.Mono/time.Second)+10)
		}
	}
	alerts[id] = a
	s.round++
	s.changes = s.changes[:0]
	for _, id := range slices.Sorted(maps.Keys(alerts)) {
		a := alerts[id]
		s.look(&a, false)
	}
	for _, c := range s.changes {
		if c.what == ended {
			out.end(c)
		}
	}
	for _, c := range s.changes {
		if c.what == began {
			out.begin(c)
		}
	}
}

// begins queues the beginning of an alert.
func begins(o *outbox, id string, severity model.Severity) {
	a := with(fires(id, 0), func(a *model.AlertView) { a.Severity = severity })
	o.begin(change{key: episode{a.ID, a.FiredAt.Mono}, notice: notice{what: began, alert: a}})
}

func picked(batch []*entry) []string {
	ids := make([]string, len(batch))
	for i, e := range batch {
		ids[i] = string(e.key.id)
	}
	return ids
}

// A page does not wait behind the warnings that came before it, nor, when it has
// failed, behind those that were never tried.
func TestPagesGoFirst(t *testing.T) {
	o := newOutbox(true)
	for i := range 5 {
		begins(o, fmt.Sprint("warn ", i), model.Warn)
	}
	begins(o, "page", model.Page)
	begins(o, "page too", model.Page)
	if got := picked(o.pick(3)); !slices.Equal(got, []string{"page", "page too", "warn 0"}) {
		t.Errorf("picked %q", got)
	}
	told := o.entries[6:7]
	o.land(told, o.fly(told), true)
	for n := range headStart + 2 {
		batch := o.pick(1)
		o.land(batch, o.fly(batch), false)
		if got := picked(batch)[0]; (got == "page") != (n <= headStart) {
			t.Errorf("after %d failures %q", n, got)
		}
	}
}

// Where there is no room, what is less severe makes some for a page: what was not
// told yet before what was.
func TestPagesFindRoom(t *testing.T) {
	o := newOutbox(true)
	for i := range maxWaiting {
		begins(o, fmt.Sprint("warn ", i), model.Warn)
	}
	for range 10 {
		batch := o.pick(64)
		o.land(batch, o.fly(batch), true)
	}
	begins(o, "page", model.Page)
	begins(o, "one more", model.Warn)
	last := o.entries[len(o.entries)-1]
	if o.dropped != 2 || last.key.id != "page" || o.entries[len(o.entries)-2].key.id != "warn 1022" {
		t.Errorf("%d dropped, the last is %q", o.dropped, last.key.id)
	}
	for i := range maxWaiting + 5 {
		begins(o, fmt.Sprint("page ", i), model.Page)
	}
	if len(o.entries) != maxWaiting || o.dropped != 2+maxWaiting+5 {
		t.Errorf("%d held, %d dropped", len(o.entries), o.dropped)
	}
}

package notify

import (
	"cmp"
	"slices"
	"time"

	"slotop/model"
)

// maxWaiting bounds the alerts a sink holds: those it has not delivered and
// those that still fire. A fleet of a thousand targets that all fail is one alert
// for each workflow, not one a target.
const maxWaiting = 1024

// step is what happened to an alert.
type step uint8

const (
	began step = iota // it fires, or fires with a higher severity
	ended             // it was resolved
)

// notice is one thing to tell.
type notice struct {
	what      step
	alert     model.AlertView
	simulated bool // the alert is about the built-in simulator
}

// episode is one firing of an alert, from its beginning to its end.
type episode struct {
	id    model.AlertID
	fired time.Duration // on the core's clock
}

// change is a notice that no sink has yet.
type change struct {
	key episode
	notice
}

// entry is one episode as a sink knows it.
type entry struct {
	key       episode
	alert     model.AlertView // as it fired
	end       model.AlertView // as it was resolved
	over      bool
	told      bool // the firing was delivered
	flying    bool // a delivery of it is under way
	tries     int  // deliveries of it alone that failed
	simulated bool
	again     time.Time // when a receiver that forgets is told again
}

// outbox is what one sink has to tell, oldest first. It waits for nothing and
// reads no clock. An episode is told first as begun, then as ended, so that no
// receiver hears of an end without its beginning.
type outbox struct {
	entries    []*entry
	byKey      map[episode]*entry
	ends       bool // the sink hears of ends
	dropped    int
	superseded int
}

func newOutbox(ends bool) *outbox {
	return &outbox{byKey: map[episode]*entry{}, ends: ends}
}

// begin takes an alert that fires. One that is known and comes again is more
// severe than before, and is told again.
func (o *outbox) begin(c change) {
	e := o.byKey[c.key]
	switch {
	case e == nil && o.full() && !o.yields(rank(c.alert.Severity)):
		o.dropped++
		return
	case e == nil:
		e = &entry{key: c.key, simulated: c.simulated}
		o.entries = append(o.entries, e)
		o.byKey[c.key] = e
	}
	e.alert, e.told = c.alert, false
}

func (o *outbox) full() bool { return len(o.entries) >= maxWaiting }

// yields makes room for an alert of some rank at the cost of the newest that is
// less severe, one not told before any that was.
func (o *outbox) yields(to int) bool {
	var least *entry
	for _, e := range o.entries {
		if !e.flying && e.rank() < to && (least == nil || !e.told || least.told) {
			least = e
		}
	}
	if least == nil {
		return false
	}
	o.remove(least)
	o.dropped++
	return true
}

// end takes the end of an alert. It is nothing to a sink that did not take its
// beginning.
func (o *outbox) end(c change) {
	e := o.byKey[c.key]
	if e == nil {
		return
	}
	e.over, e.end = true, c.alert
	// What a receiver knows it by must not change.
	e.end.Severity, e.end.FiredAt, e.end.State = e.alert.Severity, e.alert.FiredAt, model.AlertResolved
	o.settle(e)
}

// settle lets go of an episode about which there is nothing left to tell.
func (o *outbox) settle(e *entry) {
	if !e.over || e.flying || o.ends {
		return
	}
	if !e.told {
		o.superseded++
	}
	o.remove(e)
}

func (o *outbox) remove(e *entry) {
	delete(o.byKey, e.key)
	o.entries = slices.DeleteFunc(o.entries, func(x *entry) bool { return x == e })
}

// waiting reports whether the entry has something to tell.
func (e *entry) waiting() bool { return !e.told || e.over }

func (e *entry) next() notice {
	if e.told {
		return notice{what: ended, alert: e.end, simulated: e.simulated}
	}
	return notice{what: began, alert: e.alert, simulated: e.simulated}
}

// pick chooses what is told next, at most limit of it, one notice an alert: what
// is most severe before what is older. What failed before goes last and alone, so
// that one notice that a receiver cannot take holds up no other alert.
func (o *outbox) pick(limit int) []*entry {
	var next []*entry
	before := map[model.AlertID]bool{} // the alerts with something older to tell
	for _, e := range o.entries {
		if e.waiting() && !before[e.key.id] {
			before[e.key.id] = true
			next = append(next, e)
		}
	}
	slices.SortStableFunc(next, func(a, b *entry) int {
		return cmp.Or(a.turn()-b.turn(), b.rank()-a.rank())
	})
	n := 0
	for n < min(limit, len(next)) && next[n].tries == 0 {
		n++
	}
	if n == 0 && limit > 0 {
		n = min(1, len(next))
	}
	return next[:n]
}

// headStart is how often a page may fail before it waits behind what never did.
const headStart = 3

// turn is less for what goes first: how often it failed.
func (e *entry) turn() int {
	if e.rank() == rank(model.Page) {
		return max(0, e.tries-headStart)
	}
	return e.tries
}

func (e *entry) rank() int { return rank(e.alert.Severity) }

// fly marks a batch as under way and returns its notices.
func (o *outbox) fly(batch []*entry) []notice {
	notices := make([]notice, len(batch))
	for i, e := range batch {
		e.flying = true
		notices[i] = e.next()
	}
	return notices
}

// land takes the outcome of a batch.
func (o *outbox) land(batch []*entry, sent []notice, delivered bool) {
	for i, e := range batch {
		e.flying = false
		switch {
		case !delivered && len(batch) == 1:
			e.tries++
		case !delivered:
		case sent[i].what == ended:
			o.remove(e)
			continue
		default:
			e.tries = 0
			// It may have become more severe while it was under way.
			e.told = e.alert.Severity == sent[i].alert.Severity
		}
		o.settle(e)
	}
}

// count is the number of notices that are not delivered yet.
func (o *outbox) count() int {
	n := 0
	for _, e := range o.entries {
		if !e.told {
			n++
		}
		if e.over && o.ends {
			n++
		}
	}
	return n
}

// prune lets go of alerts that were told, are in no frame any more, and whose end
// nobody saw: there will be nothing to tell.
func (o *outbox) prune(shown map[episode]*model.AlertView) {
	o.entries = slices.DeleteFunc(o.entries, func(e *entry) bool {
		gone := e.told && !e.over && !e.flying && shown[e.key] == nil
		if gone {
			delete(o.byKey, e.key)
		}
		return gone
	})
}

// episodesIn are the alerts of a frame.
func episodesIn(f *model.Frame) map[episode]*model.AlertView {
	shown := make(map[episode]*model.AlertView, len(f.Alerts))
	for i := range f.Alerts {
		a := &f.Alerts[i]
		shown[episode{a.ID, a.FiredAt.Mono}] = a
	}
	return shown
}

// due lists what a receiver that forgets must be told again by now, at most
// limit of it, as it stands in the frame.
func (o *outbox) due(now time.Time, shown map[episode]*model.AlertView, limit int) ([]*entry, []notice) {
	var batch []*entry
	var notices []notice
	for _, e := range o.entries {
		if !e.told || e.over || now.Before(e.again) || len(batch) == limit {
			continue
		}
		a := *shown[e.key]
		// As the receiver knows it.
		a.Severity, a.State = e.alert.Severity, model.AlertFiring
		batch = append(batch, e)
		notices = append(notices, notice{what: began, alert: a, simulated: e.simulated})
	}
	return batch, notices
}

// untilDue is how long until the first of what was told must be told again.
func (o *outbox) untilDue(now time.Time) time.Duration {
	wait := idle
	for _, e := range o.entries {
		if e.told && !e.over {
			wait = min(wait, e.again.Sub(now))
		}
	}
	return wait
}

package alert

import (
	"container/list"
	"slices"

	"slotop/model"
)

// Observation is what one rule sees of its subject in one tick.
type Observation struct {
	Rule     Rule
	Workflow string
	Target   string
	Truth    Truth         // the answer of a compound condition
	Compare  bool          // Value is compared with the rule's bounds instead
	Value    model.Reading // the rule's number
	Text     string        // what is so, in one sentence; "" keeps the last one
	// Cause is an alert that would explain whatever is seen here, observed earlier
	// in the tick. While it fires, nothing seen here is believed. It may name a
	// member of a group by the identity that member would have alone.
	Cause   model.AlertID
	Members []string // the targets that a grouped alert speaks for

	// continues is the pending alert that a group begins from, nil where it begins
	// now.
	continues *Status
}

// subject is the rule of an observation and what it looks at: the identity of
// an alert.
func (o *Observation) subject() subject { return subject{o.Rule.Name, o.Workflow, o.Target} }

// Book keeps the alerts of a program, each once. In every tick it is given each
// rule's observation of each subject, then Settle, and then it may be read. It
// has one owner.
type Book struct {
	rows    map[subject]*row
	ids     map[model.AlertID]*row
	covered map[model.AlertID]*row // by the identity a member would have alone: the group it is in
	order   []*row                 // all of them, as last shown
	log     steps
	tick    int
	refused int // in this tick
	dropped int
}

// NewBook is an empty book.
func NewBook() *Book {
	return &Book{
		rows:    map[subject]*row{},
		ids:     map[model.AlertID]*row{},
		covered: map[model.AlertID]*row{},
		log:     steps{last: map[step]*list.Element{}, each: map[model.AlertID]int{}},
	}
}

// Observe takes one observation. In one tick, one rule sees one subject once.
func (b *Book) Observe(o Observation, at model.Instant) {
	r := b.rows[o.subject()]
	var s Status
	if r != nil {
		s = r.status
	}
	if o.continues != nil {
		s = s.continued(*o.continues)
	}
	is, v, cause := b.believe(&o)
	s = o.Rule.step(s, is, v, at)
	if r == nil {
		if r = b.admit(o.subject(), s); r == nil {
			return
		}
	}
	r.tick, r.seen = b.tick, at
	r.by, r.compare = o.Rule, o.Compare
	r.cause = ""
	if s.Stale || s.State == model.AlertUnknown { // what is over needs no explanation
		r.cause = cause
	}
	if o.Text != "" {
		r.text = o.Text
	}
	if !slices.Equal(r.members, o.Members) {
		r.members = slices.Clone(o.Members)
	}
	b.enter(r, s, at)
	b.speakFor(r, is)
}

// believe is what an observation says, as far as it may be believed: while its
// cause fires, what is seen is the cause's doing.
func (b *Book) believe(o *Observation) (verdict, model.Reading, model.AlertID) {
	if c := b.explains(o); c != nil {
		v := o.Value
		if v.OK() {
			v = model.Missing(model.Stale)
		}
		return cannotTell, v, c.id
	}
	if o.Compare {
		return o.Rule.judge(o.Value), o.Value, ""
	}
	return o.Truth.verdict(), o.Value, ""
}

// explains is the firing alert that an observation names as its cause, nil
// where there is none.
func (b *Book) explains(o *Observation) *row {
	if o.Cause == "" {
		return nil
	}
	for _, c := range [...]*row{b.ids[o.Cause], b.covered[o.Cause]} {
		if c != nil && c.status.State == model.AlertFiring && c.subject != o.subject() {
			return c
		}
	}
	return nil
}

// Ack marks an alert as acknowledged, or takes that back. A new firing clears
// the mark, and so does a group that grows: somebody had seen less than that.
// An alert that is not in the list has no mark.
func (b *Book) Ack(id model.AlertID) {
	if r := b.ids[id]; r != nil {
		r.acked = !r.acked
	}
}

// Settle ends a tick. What was not observed in it is not known now, and what
// needs no place any more is forgotten.
func (b *Book) Settle(at model.Instant) {
	kept := b.order[:0]
	for _, r := range b.order {
		if r.tick != b.tick {
			r.cause = ""
			s := r.by.step(r.status, cannotTell, model.Missing(model.Stale), at)
			b.enter(r, s, at)
		}
		if r.idle(at) {
			b.forget(r)
			continue
		}
		kept = append(kept, r)
	}
	clear(b.order[len(kept):])
	b.order = kept
	b.tick++
	b.dropped = max(b.dropped, b.refused)
	b.refused = 0
}

// Dropped is how many alerts were refused for want of room, in the tick in which
// they were most.
func (b *Book) Dropped() int { return max(b.dropped, b.refused) }

// Log is what alerts entered, newest first: pending, firing and resolved. What
// one alert repeats within Shown is one event with the latest time. The slice is
// never written again.
func (b *Book) Log() []model.AlertEvent { return b.log.events() }

// Forgotten is how many steps the log no longer holds.
func (b *Book) Forgotten() int { return b.log.forgotten }

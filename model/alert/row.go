package alert

import (
	"slices"

	"slotop/model"
)

// maxAlerts bounds the alerts kept at a time: two a target of a fleet of 1,000,
// and two a workflow. Nobody reads further, and like alerts are grouped first.
const maxAlerts = 2500

// subject is the identity of an alert.
type subject struct{ rule, workflow, target string }

// said is what an alert says. The members are replaced and never written: views
// share them.
type said struct {
	text    string
	members []string
}

// row is one alert that is not inactive.
type row struct {
	subject
	id      model.AlertID
	by      Rule
	compare bool
	status  Status
	cause   model.AlertID
	acked   bool
	said         // the latest
	ended   said // when it resolved: what follows and comes to nothing does not change that

	most   []string // the members when they were most in this episode
	covers []string // the members in the condition now

	tick int           // of the latest observation
	seen model.Instant // its time
}

// admit gives an alert a row, unless it needs none or none is left. What fires
// or is about to takes the place of an alert that is only unknown or resolved.
func (b *Book) admit(k subject, s Status) *row {
	if s.State == model.AlertInactive {
		return nil
	}
	if len(b.rows) >= maxAlerts {
		if !s.live() || !b.evict() {
			b.refused++
			return nil
		}
	}
	r := &row{subject: k, id: ID(k.rule, k.workflow, k.target)}
	b.rows[k], b.ids[r.id] = r, r
	b.order = append(b.order, r)
	return r
}

// evict makes room: first of what is unknown, which will be told again, then of
// what has resolved, which the log keeps.
func (b *Book) evict() bool {
	var least *row
	for _, r := range b.order {
		if !r.status.live() && (least == nil || expendable(r, least) > 0) {
			least = r
		}
	}
	if least == nil {
		return false
	}
	b.order = slices.DeleteFunc(b.order, func(r *row) bool { return r == least })
	b.forget(least)
	return true
}

// expendable orders by how little would be lost, least last.
func expendable(a, b *row) int {
	resolved := func(r *row) bool { return r.status.State == model.AlertResolved }
	if resolved(a) != resolved(b) {
		if resolved(b) {
			return 1
		}
		return -1
	}
	return byUrgency(a, b)
}

func (b *Book) forget(r *row) {
	b.cover(r, nil)
	delete(b.rows, r.subject)
	delete(b.ids, r.id)
}

// idle reports whether an alert needs its row no longer: it is inactive, or it
// is unknown and nobody has asked for so long that its subject must be gone.
func (r *row) idle(at model.Instant) bool {
	if r.status.State == model.AlertUnknown {
		return elapsed(r.seen.Mono, at.Mono) >= Shown
	}
	return r.status.State == model.AlertInactive
}

// enter moves an alert to its next status and notes what it entered.
func (b *Book) enter(r *row, s Status, at model.Instant) {
	was := r.status
	r.status = s
	if s.live() && !was.live() {
		r.most = nil
	}
	fired := s.State == model.AlertFiring && was.State != model.AlertFiring
	if fired {
		r.acked = false
	}
	resolved := was.State == model.AlertFiring && s.State == model.AlertResolved
	if resolved {
		r.ended = r.said
	}
	began := s.State == model.AlertPending && was.State != model.AlertPending
	if fired || resolved || began {
		b.log.add(r.event(at))
	}
}

func (r *row) event(at model.Instant) model.AlertEvent {
	return model.AlertEvent{
		At: at, ID: r.id, Rule: r.rule, Severity: r.by.Severity,
		Workflow: model.Text(r.workflow), Target: model.Text(r.target),
		State: r.status.State, Text: r.says().text,
	}
}

func (r *row) says() said {
	if r.status.State == model.AlertResolved {
		return r.ended
	}
	return r.said
}

// speakFor takes up the targets that a grouped alert stands for.
func (b *Book) speakFor(r *row, is verdict) {
	if is == recovered {
		b.cover(r, nil)
	} else {
		b.cover(r, r.members)
	}
	if len(r.members) <= len(r.most) {
		return
	}
	r.most = r.members
	if r.status.State == model.AlertFiring {
		r.acked = false
		b.log.amend(r.id, model.AlertFiring, r.text)
	}
}

// cover makes a group the explanation of what is seen of its members.
func (b *Book) cover(r *row, members []string) {
	if slices.Equal(r.covers, members) {
		return
	}
	for _, m := range r.covers {
		delete(b.covered, ID(r.rule, r.workflow, m))
	}
	for _, m := range members {
		b.covered[ID(r.rule, r.workflow, m)] = r
	}
	r.covers = members
}

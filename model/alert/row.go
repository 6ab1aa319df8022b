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

// row is one alert that is not inactive.
type row struct {
	subject
	id       model.AlertID
	by       Rule
	compare  bool
	status   Status
	text     string // while the condition lasts
	recovery string // how it ended
	cause    model.AlertID
	acked    bool

	members []string // as given
	most    []string // the members when they were most in this episode
	covers  []string // the members in the condition now
	// All three are replaced and never written: views share them.

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

// idle reports whether an alert needs its row no longer: it is inactive, it has
// been resolved for long enough, or nobody has asked about it since.
func (r *row) idle(at model.Instant) bool {
	switch r.status.State {
	case model.AlertPending, model.AlertFiring:
		return false
	case model.AlertUnknown:
		return elapsed(r.seen.Mono, at.Mono) >= Shown
	case model.AlertResolved:
		return r.status.over(at)
	default:
		return true
	}
}

// enter moves an alert to its next status and notes what it entered.
func (b *Book) enter(r *row, s Status, text string, at model.Instant) {
	was := r.status
	r.status = s
	if text != "" && s.State != model.AlertResolved {
		r.text = text
	}
	if s.live() && !was.live() {
		r.most = nil
	}
	fired := s.State == model.AlertFiring && was.State != model.AlertFiring
	if fired {
		r.acked = false
	}
	resolved := was.State == model.AlertFiring && s.State == model.AlertResolved
	if resolved {
		r.recovery = text
		if text == "" {
			r.recovery = r.text
		}
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
		State: r.status.State, Text: r.says(),
	}
}

func (r *row) says() string {
	if r.status.State == model.AlertResolved {
		return r.recovery
	}
	return r.text
}

// speakFor notes the targets that a grouped alert stands for.
func (b *Book) speakFor(r *row, members []string, is verdict) {
	if !slices.Equal(r.members, members) {
		r.members = slices.Clone(members)
	}
	if is == recovered {
		b.cover(r, nil)
	} else {
		b.cover(r, r.members)
	}
	if is != beyond || len(members) <= len(r.most) {
		return
	}
	grown := len(r.most) > 0
	r.most = r.members
	if grown && r.status.State == model.AlertFiring {
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

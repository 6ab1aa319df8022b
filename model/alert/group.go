package alert

import (
	"time"

	"slotop/model"
)

// Crowd is what a grouped alert may say of its targets.
type Crowd struct {
	Now    int           // targets in the condition
	Most   int           // the most there were at a time since it began
	Of     int           // targets looked at
	Lasted time.Duration // since it began; once all are back, until the last was
	Back   bool          // all are back
}

// Group turns the observations of one rule on many targets into what the book
// shall observe instead, so that one dead switch rings once. It reads the book
// and changes nothing. All observations are of one rule and workflow and differ
// in their target.
//
// Two or more targets that are in the condition while no alert of their own
// fires make a group: one observation without a target that lists them. It began
// when the first of them did. Once it is pending or fires, whatever target
// follows joins it, and it lasts until the last is back: a group that shrinks to
// one neither resolves nor fires again. A target that is silent stays in. A
// target whose own alert already fires keeps that. So that targets polled at
// different moments of one interval meet before the first of them fires alone,
// the rule's For is at least that interval.
func (b *Book) Group(each []Observation, text func(Crowd) string, at model.Instant) []Observation {
	if len(each) == 0 {
		return each
	}
	g := b.rows[subject{each[0].Rule.Name, each[0].Workflow, ""}]
	if g != nil && !g.status.live() {
		g = nil
	}
	if g == nil && !b.two(each) {
		return each
	}
	c := b.gather(each, g)
	out := append(make([]Observation, 0, len(each)+1), c.observation(each, g, text, at))
	for i, o := range each {
		if !c.in[i] {
			out = append(out, o)
		} else if b.rows[o.subject()] != nil {
			// What it had of its own gives way to the group.
			o.Compare, o.Truth = false, No
			out = append(out, o)
		}
	}
	return out
}

// two reports whether enough targets are in the condition to make a group.
func (b *Book) two(each []Observation) bool {
	n := 0
	for i := range each {
		if b.joins(&each[i], nil, false) {
			n++
		}
	}
	return n >= 2
}

// joins reports whether a target is in the group g, which is nil before there
// is one; member says whether it was so far.
func (b *Book) joins(o *Observation, g *row, member bool) bool {
	is, _, _ := b.believe(o)
	switch is {
	case beyond:
		own := b.rows[o.subject()]
		return own == nil || own.status.State != model.AlertFiring
	case between:
		return member && g.status.State == model.AlertFiring
	case cannotTell:
		return member
	default:
		return false
	}
}

// gathering is who is in a group now.
type gathering struct {
	in      []bool   // by observation
	members []string // their names, then those of members nobody observed
	is      Truth
	cause   model.AlertID // of the first that is unknown
	alone   *Status       // of the one that was pending on its own so far
}

func (b *Book) gather(each []Observation, g *row) gathering {
	c := gathering{in: make([]bool, len(each)), is: No}
	missed := map[string]bool{}
	if g != nil {
		for _, m := range g.covers {
			missed[m] = true
		}
	}
	known := false
	for i := range each {
		o := &each[i]
		c.in[i] = b.joins(o, g, missed[o.Target])
		delete(missed, o.Target)
		if !c.in[i] {
			continue
		}
		c.members = append(c.members, o.Target)
		if own := b.rows[o.subject()]; own != nil && own.status.State == model.AlertPending {
			was := own.status
			c.alone = &was
		}
		if is, _, _ := b.believe(o); is != cannotTell {
			known = true
		} else if c.cause == "" {
			c.cause = o.Cause
		}
	}
	if len(missed) > 0 {
		for _, m := range g.covers {
			if missed[m] {
				c.members = append(c.members, m)
			}
		}
	}
	switch {
	case known:
		c.is, c.cause = Yes, ""
	case len(c.members) > 0:
		c.is = CannotTell
	}
	return c
}

// observation is what the book shall observe of the group.
func (c gathering) observation(each []Observation, g *row, text func(Crowd) string, at model.Instant) Observation {
	rule := each[0].Rule
	rule.Below, rule.Limit, rule.Clear = false, 0, 0 // its number is how many targets
	n := len(c.members)
	o := Observation{
		Rule: rule, Workflow: each[0].Workflow, Truth: c.is, Value: model.Of(float64(n)),
		Cause: c.cause, Members: c.members,
	}
	crowd := Crowd{Now: n, Most: n, Of: len(each), Back: c.is == No}
	began := c.alone
	if g == nil {
		o.continues = began
	} else {
		began = &g.status
		crowd.Most = max(n, len(g.most))
	}
	if crowd.Back { // which only a group can be that was there before
		o.Members = g.most
		if !began.BackAt.IsZero() {
			at = began.BackAt
		}
	}
	if began != nil {
		crowd.Lasted = elapsed(began.Since.Mono, at.Mono)
	}
	o.Text = text(crowd)
	return o
}

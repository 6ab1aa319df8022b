package alert

import (
	"time"

	"slotop/model"
)

// Rule says when a condition becomes an alert and when that is over. With
// Compare observations the condition is a number beyond Limit: above it, or with
// Below under it. The number has recovered only on the other side of Clear,
// which leaves a dead band between the two where nothing changes. A Clear on the
// wrong side of Limit counts as Limit itself.
type Rule struct {
	Name     string
	Severity model.Severity
	Below    bool
	Limit    float64
	Clear    float64
	For      time.Duration // how long the condition holds before the alert fires; 0: at once
	Hold     time.Duration // how long it has recovered before the alert is resolved; 0: at once
}

// Truth is the answer to a yes-or-no condition. The zero Truth is CannotTell.
type Truth uint8

// The answers.
const (
	CannotTell Truth = iota
	No
	Yes
)

// String names the answer.
func (t Truth) String() string {
	switch t {
	case Yes:
		return "yes"
	case No:
		return "no"
	default:
		return "cannot tell"
	}
}

// verdict is a condition with a dead band: neither beyond the limit nor back
// within the clear bound.
type verdict uint8

const (
	cannotTell verdict = iota
	recovered
	between
	beyond
)

// judge compares a reading with the rule's bounds.
func (r Rule) judge(v model.Reading) verdict {
	x, ok := v.Get()
	if !ok {
		return cannotTell
	}
	limit, back := r.Limit, r.Clear
	if r.Below {
		x, limit, back = -x, -limit, -back
	}
	switch {
	case x > limit:
		return beyond
	case x <= back:
		return recovered
	default:
		return between
	}
}

// verdict is a yes-or-no answer, which has no dead band.
func (t Truth) verdict() verdict {
	switch t {
	case Yes:
		return beyond
	case No:
		return recovered
	default:
		return cannotTell
	}
}

// worse is the reading further beyond the limit. One without a value yields.
func (r Rule) worse(a, b model.Reading) model.Reading {
	if !b.OK() {
		return a
	}
	if !a.OK() || r.Below == (b.Value < a.Value) {
		return b
	}
	return a
}

package alert

import (
	"math"
	"time"

	"slotop/model"
)

// Shown is how long a resolved alert stays in the list, so that who comes late
// still sees it, and how close to each other two equal steps of one alert are one
// line of the log.
const Shown = 15 * time.Minute

// Status is where one alert stands under one rule. The zero Status is inactive.
// Only Rule.Step and Rule.StepTruth make the next one.
type Status struct {
	State model.AlertState
	Stale bool // it fires, and nothing new is known
	Times int  // how often it has fired since it was last inactive

	Since      model.Instant // when the condition began; of an unknown alert, when that began
	FiredAt    model.Instant
	LastAt     model.Instant // when the condition was last true
	BackAt     model.Instant // when the present recovery began
	ResolvedAt model.Instant
	Value      model.Reading // the latest, also where it says why there is none
	Peak       model.Reading // the worst since the condition began

	// timer is how long what the state waits for has been so: the condition true
	// while pending, recovered while firing. The time between two steps counts
	// where it was so at both, which running remembers.
	timer   time.Duration
	running bool
	mono    time.Duration // the latest seen; time that runs backwards counts only once it has caught up
	ended   *Status       // the resolved alert that a pending one began from
}

// Step is the status after a reading that is compared with the rule's bounds. A
// reading without a value says nothing about the condition.
func (r Rule) Step(s Status, v model.Reading, at model.Instant) Status {
	return r.step(s, r.judge(v), v, at)
}

// StepTruth is the status after the answer to a compound condition. The reading
// is only shown: it decides nothing.
func (r Rule) StepTruth(s Status, is Truth, v model.Reading, at model.Instant) Status {
	return r.step(s, is.verdict(), v, at)
}

func (r Rule) step(s Status, is verdict, v model.Reading, at model.Instant) Status {
	passed := elapsed(s.mono, at.Mono)
	if s.over(at) {
		s = Status{}
	}
	s.mono = max(s.mono, at.Mono)
	s.Value = v
	switch s.State {
	case model.AlertPending:
		return r.fromPending(s, is, passed, at)
	case model.AlertFiring:
		return r.fromFiring(s, is, passed, at)
	default:
		return r.fromRest(s, is, at)
	}
}

// fromRest leaves inactive, unknown and resolved.
func (r Rule) fromRest(s Status, is verdict, at model.Instant) Status {
	if is == beyond {
		return r.begin(s, at)
	}
	return s.rest(is, at)
}

// rest is the status of an alert whose condition is not true. What has resolved
// stays so for as long as that is shown: it is a fact whatever is known now.
func (s Status) rest(is verdict, at model.Instant) Status {
	switch {
	case s.State == model.AlertResolved:
		return s
	case is != cannotTell:
		return Status{State: model.AlertInactive, Value: s.Value, mono: s.mono}
	case s.State == model.AlertUnknown:
		return s
	default:
		return Status{State: model.AlertUnknown, Since: at, Value: s.Value, mono: s.mono}
	}
}

// begin starts an episode. The alert that an episode follows while it is still
// shown goes on counting how often it fired.
func (r Rule) begin(s Status, at model.Instant) Status {
	next := Status{
		State: model.AlertPending, Times: s.Times, Since: at, LastAt: at,
		Value: s.Value, Peak: r.worse(model.Reading{}, s.Value), mono: s.mono,
	}
	if s.State == model.AlertResolved {
		next.ended = &s
	}
	if r.For <= 0 {
		return next.fire(at)
	}
	return next
}

// continued is s at rest, after a pending alert of another was made its own.
func (s Status) continued(from Status) Status {
	from.Times, from.ended, from.Peak = s.Times, nil, model.Reading{}
	if s.State == model.AlertResolved {
		from.ended = &s
	}
	return from
}

func (r Rule) fromPending(s Status, is verdict, passed time.Duration, at model.Instant) Status {
	if is != beyond {
		return s.withdraw(is, at)
	}
	s.LastAt = at
	s.Peak = r.worse(s.Peak, s.Value)
	s.timer = plus(s.timer, passed)
	if s.timer >= r.For {
		return s.fire(at)
	}
	return s
}

// withdraw ends a pending alert that came to nothing: as if it had not begun.
func (s Status) withdraw(is verdict, at model.Instant) Status {
	before := Status{Value: s.Value, mono: s.mono}
	if s.ended != nil && !s.ended.over(at) {
		before = *s.ended
		before.Value, before.mono = s.Value, s.mono
	}
	return before.rest(is, at)
}

func (s Status) fire(at model.Instant) Status {
	s.State = model.AlertFiring
	s.FiredAt = at
	s.Times++
	s.timer = 0
	s.ended = nil
	return s
}

func (r Rule) fromFiring(s Status, is verdict, passed time.Duration, at model.Instant) Status {
	s.Stale = is == cannotTell
	if is == cannotTell {
		s.running = false // what happened until the next reading is not known either
		return s
	}
	s.Peak = r.worse(s.Peak, s.Value)
	if is != recovered {
		s.running, s.timer, s.BackAt = false, 0, model.Instant{}
		if is == beyond {
			s.LastAt = at
		}
		return s
	}
	if s.running {
		s.timer = plus(s.timer, passed)
	}
	if s.BackAt.IsZero() {
		s.BackAt = at
	}
	s.running = true
	if s.timer >= r.Hold {
		s.State, s.ResolvedAt = model.AlertResolved, at
		s.running, s.timer = false, 0
	}
	return s
}

// live reports whether the condition has begun and not ended.
func (s Status) live() bool {
	return s.State == model.AlertPending || s.State == model.AlertFiring
}

// over reports whether a resolved alert has been shown for long enough.
func (s Status) over(at model.Instant) bool {
	return s.State == model.AlertResolved && elapsed(s.ResolvedAt.Mono, at.Mono) >= Shown
}

// elapsed is the time between two stamps, 0 where it ran backwards. It
// saturates: a stamp may be anything a tape says.
func elapsed(from, to time.Duration) time.Duration {
	if to <= from {
		return 0
	}
	if d := to - from; d > 0 {
		return d
	}
	return math.MaxInt64
}

// plus adds two durations that are not negative, and saturates.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

package fleet

import (
	"fmt"
	"time"

	"slotop/model"
)

// Thresholds of the state machine. Three polls, because one poll may be lost;
// the minimum in seconds, because at one poll a second a long prefill or a slow
// garbage collection would read as a hang.
const (
	stillPolls      = 3
	stalledAfter    = 10 * time.Second
	stalledAtEnd    = 2 * time.Minute // engines whose counters move only at the end of a request
	staleAfterLeast = 15 * time.Second
)

// staleAfter is the age at which a value may no longer be acted on.
func staleAfter(every time.Duration) time.Duration {
	return max(stillPolls*every, staleAfterLeast)
}

// noteMovement keeps how long no work got done. A page that cannot tell never
// makes a target stalled.
func (t *target) noteMovement(at model.Instant, restarted bool) {
	moved, tells := t.progressed(restarted)
	if moved || !tells || t.good == 1 {
		t.still, t.moved = 0, at
		return
	}
	t.still++
}

// settle decides the target's state at an instant.
func (t *target) settle(at model.Instant, every time.Duration) {
	next := t.judge(at, every)
	if next == t.state {
		return
	}
	t.state, t.since = next, at
	switch next {
	case model.Stalled:
		t.since = t.moved
	case model.Down, model.Up, model.Idle:
		t.since = t.lastPoll
	case model.StaleAt:
		if !t.tellsOfNobody() {
			t.since = t.lastGood
		}
	}
	t.dirty = true
}

func (t *target) judge(at model.Instant, every time.Duration) model.State {
	every = max(every, t.step())
	switch {
	case t.polls == 0:
		return ""
	case t.fault != nil && (t.good == 0 || t.failedInRow >= softFailures || hard(t.fault.Kind)):
		return model.Down
	case at.Sub(t.lastGood) > staleAfter(every) || t.tellsOfNobody():
		return model.StaleAt
	case t.busy() && t.still >= stillPolls && t.lastGood.Sub(t.moved) >= t.patience():
		return model.Stalled
	case t.quiet() && (t.good == 1 || t.lastGood.Sub(t.moved) >= stalledAfter || t.neverMoved()):
		return model.Idle
	default:
		return model.Up
	}
}

// tellsOfNobody reports whether none of the servers answers that the target passes
// on the numbers of: it answers itself, and nothing it says is of now.
func (t *target) tellsOfNobody() bool {
	return t.about != nil && t.about.Replicas.Total > 0 && t.about.Replicas.Fresh == 0
}

// hard faults say that nobody, or not the server we look for, is there. The
// others may pass: a page that came late or cut short.
func hard(k model.FaultKind) bool {
	switch k {
	case model.Timeout, model.Malformed, model.Oversized:
		return false
	default:
		return true
	}
}

// patience is how long nothing may move while there is work. A server that passes
// on what it read must have read it three times.
func (t *target) patience() time.Duration {
	if t.atEnd {
		return max(stalledAtEnd, stillPolls*t.step())
	}
	return max(stalledAfter, stillPolls*t.step())
}

// neverMoved: nothing happened since the first page.
func (t *target) neverMoved() bool { return t.still == t.good-1 }

// inFlight is what runs plus what waits, as of the last page. What a gateway holds
// back counts too: a router with a queue and nothing running is not idle. Its phases
// may repeat what it says runs, so the sum only tells whether there is anything.
func (t *target) inFlight() (n float64, known bool) {
	for _, sl := range t.cols.slots {
		if inFlightLevel[sl.key.signal] && sl.seen == t.good && sl.level >= 0 {
			n, known = n+sl.level, true
		}
	}
	return n, known
}

// inFlightLevel are the levels that count requests on their way.
var inFlightLevel = map[model.Signal]bool{
	model.Running: true, model.Waiting: true,
	model.AtGateway: true, model.Preparing: true, model.AtModel: true, model.IsStreaming: true,
}

func (t *target) busy() bool  { n, ok := t.inFlight(); return ok && n > 0 }
func (t *target) quiet() bool { n, ok := t.inFlight(); return ok && n == 0 }

// fresh reports whether the target's values may be added up.
func (t *target) fresh() bool {
	switch t.state {
	case model.Up, model.Idle, model.Stalled:
		return true
	default:
		return false
	}
}

// tokens says that none came, where the server counts them.
func (t *target) tokens() string {
	if !t.exports(model.OutputTokens) {
		return ""
	}
	return ", 0 tok/s"
}

func whole(r model.Reading) string {
	if !r.OK() {
		return "?"
	}
	return fmt.Sprintf("%.0f", r.Value)
}

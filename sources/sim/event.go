package sim

import "time"

// Outcome is how a request ended.
type Outcome uint8

// The outcomes: the model stopped, the output limit was reached, or the client
// went without an answer (out of patience, refused, or lost in a restart).
const (
	Stopped Outcome = iota
	LengthReached
	Aborted
)

// String is the outcome as a finish reason.
func (o Outcome) String() string {
	switch o {
	case LengthReached:
		return "length"
	case Aborted:
		return "abort"
	default:
		return "stop"
	}
}

// Cause is why a client went without an answer.
type Cause uint8

// The causes of an abort, and none of one that was answered.
const (
	Answered Cause = iota
	GaveUp         // out of patience before it was started
	TooLong        // it could never fit into the cache
	Lost           // its replica was stopped
	Refused        // no replica was ready
)

// Event is what truly happened to one request: what a page only shows in sums.
// Times are virtual, since the simulation began.
type Event struct {
	Seq      uint64 // from 1, in the order in which requests ended
	ID       int64  // from 1, in the order in which requests were made
	RetryOf  int64  // the ID of the attempt before, 0 for a first one
	Attempt  int    // from 1
	Workflow string
	Replica  int // -1: refused, no replica was ready; or of a hosted provider

	Arrival    time.Duration // at the gateway
	Received   time.Duration // by its replica; 0: not yet
	Scheduled  time.Duration // first time in a batch; 0 when never
	FirstToken time.Duration // 0 when there was none
	Finish     time.Duration
	WorstGap   time.Duration // longest time between two tokens

	PromptTokens int
	CachedTokens int
	OutputTokens int
	Preemptions  int
	Outcome      Outcome
	Cause        Cause
}

// TTFT is the time from when its replica got it to the first token, 0 when there
// was none.
func (e Event) TTFT() time.Duration {
	if e.FirstToken == 0 {
		return 0
	}
	return e.FirstToken - e.Received
}

// TPOT is the mean time of a token after the first; false with fewer than two.
func (e Event) TPOT() (time.Duration, bool) {
	if e.OutputTokens < 2 {
		return 0, false
	}
	return (e.Finish - e.FirstToken) / time.Duration(e.OutputTokens-1), true
}

// keptEvents is how many events wait for a reader: at the demo's rate a quarter
// of an hour, in 2.5 MB.
const keptEvents = 1 << 14

// eventLog is a ring of the newest events.
type eventLog struct {
	ring []Event
	next uint64 // sequence number of the next event
}

func (l *eventLog) add(e Event) {
	l.next++
	e.Seq = l.next
	if len(l.ring) < keptEvents {
		l.ring = append(l.ring, e)
		return
	}
	l.ring[(e.Seq-1)%keptEvents] = e
}

// since appends the events after the given sequence number to dst, and counts
// those that were dropped before anyone asked.
func (l *eventLog) since(seq uint64, dst []Event) ([]Event, uint64) {
	oldest := l.next - uint64(len(l.ring))
	var missed uint64
	if seq < oldest {
		missed = oldest - seq
		seq = oldest
	}
	for ; seq < l.next; seq++ {
		dst = append(dst, l.ring[seq%keptEvents])
	}
	return dst, missed
}

package requests

import (
	"time"

	"slotop/model"
)

// Stats counts what a stream told, for the page of its target.
type Stats struct {
	Reports   int // all
	Repeated  int // older than what was known, or the same
	Late      int // of requests that had ended
	Refused   int // no usable ID, or too many in flight
	Mended    int // with a count or a time that cannot be; it is taken as unknown
	Backwards int // ended with times that contradict each other
	Ended     int // handed out
	Forgotten int // given up after a long silence
	InFlight  int
	Lost      int    // said to be lost by the source
	Skipped   uint64 // numbers of the stream that never came: lost, or never used
	Restarts  int    // of the reporter's numbering
	// SkewS is how far our clock is ahead of the reporter's, in seconds, delivery
	// included: what cannot be told apart.
	SkewS model.Reading
}

// Stats is the counts until now.
func (t *Tracker) Stats() Stats {
	s := t.stats
	s.InFlight = len(t.live)
	s.Skipped = t.seqs.skipped()
	if d, known := t.skew.offset(); known && !t.now.Wall.IsZero() {
		wall := time.Duration(t.now.Wall.UnixNano()) - t.now.Mono // what the wall clock is ahead
		s.SkewS = model.Of((d + wall).Seconds())
	}
	return s
}

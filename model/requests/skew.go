package requests

import (
	"time"

	"slotop/model"
)

// skewSpan is how long a delay counts: the skew comes from the last one to two
// of these, so that a clock which was set shows soon.
const skewSpan = time.Minute

// ahead is how far into our future a report may be from before its clock is wrong
// and not ours: hosts agree to seconds.
const ahead = 30 * time.Second

// skew compares the reporter's clock with ours. The time from At to arrival is
// skew plus delivery; the shortest of many is nearly skew alone. The second
// shortest is taken, of another request, so that one wrong time does not move
// all the others. Nor do those of one of several hosts that write one stream and
// whose clock is ahead: reports from the future count only where there are no
// others.
type skew struct {
	all, past delays
}

// delays holds the shortest of the last one to two spans.
type delays struct {
	young, old shortest
	began      time.Duration // of young
}

// shortest holds the two shortest delays of different requests, fewer while n is
// less than 2.
type shortest struct {
	best, next delay
	n          int
}

type delay struct {
	request uint64 // hash of its ID
	d       time.Duration
}

func (s *shortest) see(x delay) {
	switch {
	case s.n > 0 && x.request == s.best.request:
		s.best.d = min(s.best.d, x.d)
	case s.n == 0 || x.d < s.best.d:
		s.best, s.next = x, s.best
		s.n = min(s.n+1, 2)
	case s.n == 1 || x.d < s.next.d:
		s.next = x
		s.n = 2
	}
}

func (k *delays) see(arrived time.Duration, x delay) {
	if arrived-k.began > skewSpan {
		k.old, k.young, k.began = k.young, shortest{}, arrived
	}
	k.young.see(x)
}

// shortest are the two of both spans.
func (k *delays) shortest() shortest {
	both := k.young
	for i, x := range []delay{k.old.best, k.old.next} {
		if i < k.old.n {
			both.see(x)
		}
	}
	return both
}

// see takes one report that was true at the reporter's time and arrived at ours.
// A time that cannot be says nothing.
func (k *skew) see(arrived model.Instant, at model.Stamp, id string) {
	if at <= 0 || at > maxStamp {
		return
	}
	x := delay{hash(id), arrived.Mono - time.Duration(at)}
	k.all.see(arrived.Mono, x)
	if at.Time().Sub(arrived.Wall) <= ahead {
		k.past.see(arrived.Mono, x)
	}
}

// offset is what to add to a stamp to have it on our monotonic clock.
func (k *skew) offset() (time.Duration, bool) {
	both := k.past.shortest()
	if both.n < 2 {
		both = k.all.shortest()
	}
	if both.n == 2 {
		return both.next.d, true
	}
	return both.best.d, both.n == 1
}

// place is a stamp on our monotonic clock, not later than now; now where there
// is no stamp.
func (k *skew) place(s model.Stamp, now time.Duration) time.Duration {
	d, known := k.offset()
	if s == 0 || !known {
		return now
	}
	return min(now, time.Duration(s)+d)
}

// hash is FNV-1a: the same in every run.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

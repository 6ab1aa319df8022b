// Package requests follows single requests through the reports of one stream: a
// gateway, a client or a load generator that says, again and again, all it knows
// of a request. Reports may be repeated, late, out of order or lost.
//
// It refuses to guess: a request that fell silent is unknown, not failed; a time
// that was not reported stays missing; a request is counted as ended once.
package requests

import (
	"container/list"
	"time"

	"slotop/model"
)

const (
	// maxInFlight bounds the requests that are followed at the same time, about
	// 50 MB. Others are refused until some end; reported as done they still count.
	maxInFlight = 100_000
	// forgetAfter is how long a request may be silent before it is given up. An
	// hour is longer than any answer takes.
	forgetAfter = time.Hour
	// maxID bounds an ID; a longer one is refused. Names are the source's to bound.
	maxID = 256
)

// Tracker follows one stream. It belongs to one goroutine.
type Tracker struct {
	silent  time.Duration
	live    map[string]*flight
	order   list.List // of *flight, by their last report, the longest silent first
	past    past
	names   names
	skew    skew
	seqs    sequence
	epoch   string
	doubts  int // how often the stream was interrupted
	stats   Stats
	now     model.Instant
	current model.Request // the report being taken
}

// flight is a request that has not ended.
type flight struct {
	request model.Request
	seen    time.Duration // mono, arrival of the last report that told something new
	doubts  int           // of the tracker at that time
	first   model.Stamp   // earliest time at which it was said to be received
	place   *list.Element
}

// New is a tracker for which a request is unknown after so long without a
// report; 0 is model.DefaultSilence.
func New(silent time.Duration) *Tracker {
	if silent <= 0 {
		silent = model.DefaultSilence * time.Second
	}
	return &Tracker{silent: silent, live: map[string]*flight{}, names: newNames()}
}

// Take takes the reports of one batch, and hands out the requests that they
// report as ended, in the order in which they came. What Ended points to is
// valid during the call only; nothing of the batch is kept.
func (t *Tracker) Take(at model.Instant, b *model.Batch, ended func(Ended)) {
	t.now = at
	t.forget(at)
	t.interrupted(b)
	// Before any is placed in time: of a backlog the last report tells the skew,
	// and those before it are old.
	for i := range b.Requests {
		if r := &b.Requests[i]; usable(r.ID) {
			t.skew.see(at, saidAt(r), r.ID)
		}
	}
	for i := range b.Requests {
		t.take(&b.Requests[i], ended)
	}
}

// Each calls f for every request in flight, the one that was silent longest
// first. Unknown says that its phase cannot be told: it has been silent for too
// long, or reports were lost since. f must not keep or change r.
func (t *Tracker) Each(at model.Instant, f func(r *model.Request, unknown bool)) {
	t.forget(at)
	for e := t.order.Front(); e != nil; e = e.Next() {
		l := e.Value.(*flight)
		f(&l.request, l.doubts != t.doubts || at.Mono-l.seen > t.silent)
	}
}

// When is a time of the reporter's clock on the monotonic clock of the inputs, not
// later than the last batch; that where there is none.
func (t *Tracker) When(s model.Stamp) time.Duration { return t.skew.place(s, t.now.Mono) }

// forget gives up requests that have been silent for too long.
func (t *Tracker) forget(at model.Instant) {
	for e := t.order.Front(); e != nil; e = t.order.Front() {
		l := e.Value.(*flight)
		if at.Mono-l.seen <= max(forgetAfter, 2*t.silent) {
			return
		}
		t.drop(l)
		t.stats.Forgotten++
	}
}

func (t *Tracker) drop(l *flight) {
	t.order.Remove(l.place)
	delete(t.live, l.request.ID)
}

// interrupted notes that the reporter began anew, or that reports were lost:
// what was running may have ended unseen. Where in the batch that happened is
// not known; what the batch itself reports counts as seen again.
func (t *Tracker) interrupted(b *model.Batch) {
	anew := b.Epoch != "" && b.Epoch != t.epoch
	if anew {
		if t.epoch != "" {
			t.stats.Restarts++
			t.doubts++
		}
		t.epoch = b.Epoch
		t.seqs.restart()
	}
	if b.Lost > 0 {
		t.stats.Lost += b.Lost
		t.doubts++
	}
}

func usable(id string) bool { return id != "" && len(id) <= maxID }

// take takes one report.
func (t *Tracker) take(from *model.Request, ended func(Ended)) {
	t.stats.Reports++
	t.seqs.see(from.Seq)
	if !usable(from.ID) {
		t.stats.Refused++
		return
	}
	r := &t.current
	*r = *from
	if mend(r) {
		t.stats.Mended++
	}
	if t.past.find(r.ID).done {
		t.stats.Late++
		return
	}
	l := t.live[r.ID]
	if l != nil {
		// The first try is what an older report may still tell.
		l.first = earliest(l.first, r.Queued)
		if !newer(r, &l.request) {
			t.stats.Repeated++
			return
		}
	}
	if r.Done() {
		t.end(r, l, ended)
		return
	}
	t.follow(r, l)
}

// follow keeps the state of a request that runs.
func (t *Tracker) follow(r *model.Request, l *flight) {
	if l == nil {
		if len(t.live) >= maxInFlight {
			t.stats.Refused++
			return
		}
		l = &flight{first: r.Queued}
		l.place = t.order.PushBack(l)
	}
	l.request = t.names.own(r, &l.request)
	l.seen, l.doubts = t.now.Mono, t.doubts
	t.live[l.request.ID] = l
	t.order.MoveToBack(l.place)
}

// end hands out a request that has ended.
func (t *Tracker) end(r *model.Request, l *flight, ended func(Ended)) {
	e := Ended{Request: r, First: r.Queued, Tries: tries(r), Backwards: backwards(r)}
	if l != nil {
		e.First = l.first
		t.drop(l)
	}
	t.chain(&e)
	if e.Backwards {
		t.stats.Backwards++
	}
	t.stats.Ended++
	e.At = t.skew.place(endOf(&e), t.now.Mono)
	ended(e)
}

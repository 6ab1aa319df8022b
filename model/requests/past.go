package requests

import (
	"strings"
	"time"

	"slotop/model"
)

const (
	// Requests that ended are remembered for one to two generations, so that a
	// late or repeated report does not count them again and a retry finds the try
	// before it. A generation ends after so long or so many, about 6 MB each.
	generation    = 15 * time.Minute
	maxGeneration = 50_000
	// maxChain bounds how far back the tries of one user are followed.
	maxChain = 64
)

// trace is what is remembered of a request after its end.
type trace struct {
	done       bool // false: only named by a retry of it
	last       bool // handed out as the user's last try
	superseded bool // a later try has ended
	tries      int
	first      model.Stamp
	retryOf    string
}

// past remembers requests that ended.
type past struct {
	young, old map[string]trace
	began      time.Duration // of young
}

func (p *past) find(id string) trace {
	if tr, known := p.young[id]; known {
		return tr
	}
	return p.old[id]
}

// keep remembers a trace; that of the old generation, if there is one, no longer
// counts.
func (p *past) keep(now time.Duration, id string, tr trace) {
	if p.young == nil || len(p.young) >= maxGeneration || now-p.began > generation {
		p.old, p.young, p.began = p.young, map[string]trace{}, now
	}
	if _, known := p.young[id]; !known {
		id = strings.Clone(id)
	}
	p.young[id] = tr
}

// trace is what is known of a try, whether it runs or has ended.
func (t *Tracker) trace(id string) trace {
	tr := t.past.find(id)
	if l := t.live[id]; l != nil {
		tr.first, tr.tries, tr.retryOf = l.first, tries(&l.request), l.request.RetryOf
	}
	return tr
}

// chain remembers that a try ended, and completes what is told of it by the
// tries before it: which was the first, how many there were, and which of them
// counted as the user's last until now.
func (t *Tracker) chain(e *Ended) {
	now, id, before := t.now.Mono, e.Request.ID, e.Request.RetryOf
	e.Superseded = t.past.find(id).superseded
	for n := 1; before != "" && before != id && n <= maxChain; n++ {
		tr := t.trace(before)
		e.First = earliest(e.First, tr.first)
		e.Tries = max(e.Tries, n+max(1, tr.tries))
		if tr.last && !e.Retracts { // a second one is taken back when the try between them ends
			e.Retracts, tr.last = true, false
		}
		tr.superseded = true
		t.past.keep(now, before, tr)
		before = tr.retryOf
	}
	t.past.keep(now, id, trace{
		done: true, last: !e.Superseded, superseded: e.Superseded,
		tries: e.Tries, first: e.First, retryOf: strings.Clone(e.Request.RetryOf),
	})
}

package fleet

import (
	"cmp"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/requests"
	"slotop/model/slo"
)

const (
	// forgetEvents is how long a workflow that only reports named is kept at least.
	forgetEvents = MaxWindow
	// cheap is how many values are summed up anew at every tick; more than that
	// only once a second.
	cheap = 5000
)

// reports is what a workflow knows from requests that were reported one by one,
// in blocks by the time at which the requests ended.
type reports struct {
	ledger ledger
	heats  heats
	keep   time.Duration // how long after the last one they count
	blocks []*reported   // oldest first
	last   time.Duration
	any    bool
	flight model.Phases
	came   float64 // of those in flight, within the window

	sum    reported // of the window, kept while nothing changes
	sumAt  time.Duration
	sumOf  time.Duration // the beginning of it
	sumNew bool          // something ended since
	stage  *reported     // since the last mark, nil without one
}

// recent reports whether any came lately.
func (r *reports) recent(now time.Duration) bool { return r.any && now-r.last <= r.keep }

// onRequests takes the reports of a batch.
func (f *Fleet) onRequests(at model.Instant, t *target, b *model.Batch) {
	if t.isProbe() {
		f.onProbes(at, t, b)
		return
	}
	if t.follows == nil {
		if len(b.Requests) == 0 {
			return
		}
		t.follows = requests.New(f.silence())
	}
	t.follows.Take(at, b, func(e requests.Ended) {
		w := f.flowOf(originOf(e.Request, t))
		t.carries(w)
		w.ended(&e, f.whenSaid(at.Mono, e.At), at.Mono, &t.users)
		f.noteCall(t, w, &e)
	})
	for i := range b.Requests {
		w := f.flowOf(originOf(&b.Requests[i], t))
		t.carries(w)
		w.events.last, w.events.any = at.Mono, true
		w.names(b.Requests[i].Model)
		t.tellsFlight = t.tellsFlight || b.Requests[i].Phase != model.PhaseDone
	}
}

// said is what the end of a request is when it is reported.
type said uint8

const (
	news    said = iota
	late         // it was held up for minutes: it spends the budget and pages nobody
	longAgo      // it was over before anybody looked
)

func (f *Fleet) whenSaid(now, ended time.Duration) said {
	switch {
	case ended < f.started.Mono:
		return longAgo
	case now-ended > max(burnMain, 3*f.every):
		return late
	default:
		return news
	}
}

func (f *Fleet) silence() time.Duration {
	s := cmp.Or(f.policy.SilentAfterS, model.DefaultSilence)
	return time.Duration(s * float64(time.Second))
}

func originOf(r *model.Request, t *target) slo.Origin {
	return slo.Origin{
		Workflow: r.Workflow, Model: r.Model, Adapter: r.Labels.Get(model.LabelAdapter),
		Target: t.spec.Name, Labels: r.Labels,
	}
}

func (t *target) carries(w *workflow) {
	if !slices.Contains(t.reports, w) {
		t.reports = append(t.reports, w)
	}
}

// inFlight counts the requests of all targets by workflow and phase.
func (f *Fleet) inFlight(at model.Instant) {
	for _, w := range f.flows {
		w.events.flight, w.events.came = model.Phases{}, 0
	}
	from := windowStart(f.span, at.Mono)
	for _, t := range f.targets {
		if t.follows == nil {
			continue
		}
		t.flight = model.Phases{}
		t.follows.Each(at, func(r *model.Request, unknown bool) {
			countIn(&t.flight, r.Phase, unknown)
			if t.isProbe() {
				return
			}
			w := f.flowIf(originOf(r, t))
			if w == nil {
				return
			}
			countIn(&w.events.flight, r.Phase, unknown || !t.fresh())
			if t.follows.When(r.Queued) >= from {
				w.events.came++
			}
		})
	}
}

// countIn counts a request in flight by its phase.
func countIn(c *model.Phases, p model.Phase, unknown bool) {
	n := phaseOf(c, p, unknown)
	*n = model.Of(n.Value + 1)
}

// phaseOf is the count that a request in flight belongs to.
func phaseOf(c *model.Phases, p model.Phase, unknown bool) *model.Reading {
	if unknown {
		return &c.Unknown
	}
	switch p {
	case model.PhaseQueued:
		return &c.Queued
	case model.PhasePreparing:
		return &c.PreparingContext
	case model.PhaseAtModel:
		return &c.WaitingForModel
	case model.PhaseStreaming:
		return &c.Streaming
	case model.PhaseToolCall:
		return &c.ToolCall
	case model.PhaseRetrying:
		return &c.Retrying
	default:
		return &c.Other
	}
}

// ended counts a request that came to its end. What ended before anybody looked
// is history: shown where a window reaches back to it, and no news.
func (w *workflow) ended(e *requests.Ended, as said, now time.Duration, users *users) {
	r := &w.events
	r.last, r.any, r.sumNew = now, true, true
	one := &reported{}
	j := one.add(w.spec, e)
	earlier, retracts := users.count(&one.counts, e, j)
	if as != longAgo {
		r.ledger.total.Add(&one.counts)
	}
	if as == late {
		r.ledger.aside.Add(&one.counts)
	}
	r.put(e.At, now, one)
	w.spreadOut(one, e.At, now)
	r.put(e.Began(), now, &reported{counts: slo.Counts{Started: 1}})
	if retracts {
		r.put(earlier, now, &reported{counts: slo.Counts{UserBad: -1}})
	}
}

// put adds to what happened at a time.
func (r *reports) put(at, now time.Duration, one *reported) {
	if b := r.block(at, now); b != nil {
		b.merge(one)
	}
	if r.stage != nil && at >= r.stage.start {
		r.stage.merge(one)
	}
}

// block is the stretch of a time, nil where that is longer ago than anybody can ask.
func (r *reports) block(at, now time.Duration) *reported {
	start := at - at%blockSpan
	oldest := now - MaxWindow - 2*blockSpan
	for len(r.blocks) > 0 && r.blocks[0].start < oldest {
		r.blocks = r.blocks[1:]
	}
	if start < oldest {
		return nil
	}
	i, found := slices.BinarySearchFunc(r.blocks, start, byStart)
	if !found {
		r.blocks = slices.Insert(r.blocks, i, &reported{start: start})
	}
	return r.blocks[i]
}

func byStart(b *reported, at time.Duration) int { return cmp.Compare(b.start, at) }

// windowStart is where the block begins in which a window does.
func windowStart(window, now time.Duration) time.Duration {
	from := max(0, now-window)
	return from - from%blockSpan
}

// over sums the blocks of a window: whole ones, so that it reaches back for up
// to a block more than asked. It returns the beginning too.
func (r *reports) over(window, now time.Duration) (*reported, time.Duration) {
	from := windowStart(window, now)
	same := from == r.sumOf && !r.sumNew
	if same || r.sumNew && r.sum.counts.Ended() > cheap && now-r.sumAt < time.Second && r.sumOf == from {
		return &r.sum, from
	}
	r.sum = reported{}
	for _, b := range r.blocks {
		if b.start >= from {
			r.sum.merge(b)
		}
	}
	r.sumAt, r.sumOf, r.sumNew = now, from, false
	return &r.sum, from
}

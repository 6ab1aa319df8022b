package story

import (
	"cmp"
	"math"
	"slices"
	"time"

	"slotop/model"
)

// Breach is a stretch in which a workflow did not get what it was promised.
type Breach struct {
	Workflow string
	Assumed  bool // nobody promised it: the objectives are assumed
	From, To model.Instant
	Open     bool // it lasts at the end of the story
	Times    int  // how often it began again within a window of its end

	Spells  []Spell            // the conditions that it went through, the first first
	Worst   model.WorkflowView // at the moment at which most requests were surely bad
	WorstAt model.Instant

	// Bad of Judged requests are likely bad, of those that ended in this stretch and
	// the window before it, in which the breach arose. Unknown where nobody counts
	// requests that fail, or nothing is promised.
	Bad, Judged model.Reading

	is model.Condition // of the latest frame: it lasts until the next one
}

// Spell is a condition and how long it lasted in all.
type Spell struct {
	Condition model.Condition
	Lasted    time.Duration
}

// Mostly is the condition that lasted longest.
func (b *Breach) Mostly() model.Condition {
	return slices.MaxFunc(b.Spells, func(x, y Spell) int { return cmp.Compare(x.Lasted, y.Lasted) }).Condition
}

// Lasted is how long the breach took, so far where it is open.
func (b *Breach) Lasted() time.Duration { return b.To.Sub(b.From) }

// hurts follows every workflow's breaches.
type hurts struct {
	flows map[string]*hurt
	names []string
	done  []Breach
	left  int
}

// hurt is one workflow's present or latest breach and what it had counted just before.
type hurt struct {
	now    *Breach
	open   bool
	counts []tallied // of the last window, oldest first
	from   tallied   // before the breach
	sum    tallied   // so far
	rate   tallied   // a second, of the latest frame that is known
	last   spent     // what the budget said last
}

// tallied is what a workflow's budget had counted up to a time since the story began.
type tallied struct {
	at          time.Duration
	bad, judged float64
	known       bool
	era         int // how often the budget began anew
}

// spent is what a budget says: the counts of so many seconds, up to a time.
type spent struct {
	at                    time.Duration
	bad, judged, observed float64
	known                 bool
}

// tally counts what a workflow's budget has counted. That forgets what is older than its
// period, a part of the period at a time: of the one frame in which it does it is not
// known what came, and it is taken to be what came in the one before.
func (h *hurt) tally(w *model.WorkflowView, at time.Duration) tallied {
	bad, ok := badSoFar(w).Get()
	judged, also := judgedSoFar(w).Get()
	if !ok || !also {
		return tallied{at: at}
	}
	now, before := spent{at, bad, judged, w.Budget.ObservedS, true}, h.last
	passed := (at - before.at).Seconds()
	forgot := passed - (now.observed - before.observed)
	switch {
	case !before.known:
	case forgot > clockError && forgot >= leastForgotten*passed:
		h.sum.bad += h.rate.bad * passed
		h.sum.judged += h.rate.judged * passed
	case forgot > clockError, judged < before.judged-1e-6:
		h.sum.era++
	default:
		h.sum.bad += bad - before.bad
		h.sum.judged += judged - before.judged
		if passed > 0 {
			h.rate = tallied{bad: (bad - before.bad) / passed, judged: (judged - before.judged) / passed}
		}
	}
	h.last = now
	h.sum.at, h.sum.known = at, true
	return h.sum
}

const (
	clockError = 1e-3 // seconds that two clocks of one fold may part by rounding
	// leastForgotten is how much longer what a budget forgets at once must be than a
	// frame, or too many of them are guessed.
	leastForgotten = 3
)

// broken reports whether a workflow does not get what it was promised. Undecided and
// at risk are no breach, and do not end one that began.
func broken(c model.Condition) bool {
	switch c {
	case model.IsDown, model.IsStalled, model.IsStale, model.IsMissed:
		return true
	default:
		return false
	}
}

// over reports whether a condition ends a breach.
func over(c model.Condition) bool {
	switch c {
	case model.IsMet, model.IsAtRisk, model.IsQuiet, model.IsBlind:
		return true
	default:
		return false
	}
}

func (h *hurts) take(f *model.Frame) {
	window := time.Duration(f.WindowS * float64(time.Second))
	for i := range f.Workflows {
		w := &f.Workflows[i]
		one := h.flows[w.Name]
		if one == nil {
			if len(h.flows) >= maxSubjects {
				continue
			}
			if h.flows == nil {
				h.flows = map[string]*hurt{}
			}
			one = &hurt{}
			h.flows[w.Name] = one
			h.names = append(h.names, w.Name)
		}
		h.step(one, w, f.At, window)
	}
}

func (h *hurts) step(one *hurt, w *model.WorkflowView, at model.Instant, window time.Duration) {
	now := one.tally(w, at.Mono)
	one.counts = append(one.counts, now)
	for len(one.counts) > 1 && at.Mono-one.counts[1].at >= window {
		one.counts = one.counts[1:]
	}
	switch {
	case broken(w.Condition) && !one.open:
		h.begin(one, w, at, window)
	case one.open && over(w.Condition):
		one.now.pass(at)
		one.open, one.now.Open = false, false
	}
	if one.open {
		one.now.add(w, at, one.from, now)
	}
}

// begin starts a breach, or takes up one that ended within the window: their requests
// are the same.
func (h *hurts) begin(one *hurt, w *model.WorkflowView, at model.Instant, window time.Duration) {
	one.open = true
	if one.now != nil && at.Sub(one.now.To) <= window {
		one.now.Open = true
		one.now.Times++
		one.now.To, one.now.is = at, w.Condition // no condition lasted in between
		return
	}
	if one.now != nil {
		h.close(one)
	}
	from := at
	if !w.Since.IsZero() && w.Since.Mono < at.Mono && w.Since.Mono > at.Mono-window {
		from = w.Since
	}
	one.from = one.counts[0]
	one.now = &Breach{Workflow: w.Name, Assumed: w.AssumedObjectives, From: from, To: from, Open: true, Times: 1, is: w.Condition}
}

// add adds a frame to an open breach.
func (b *Breach) add(w *model.WorkflowView, at model.Instant, before, now tallied) {
	b.pass(at)
	// What is no breach by itself and ends none is part of the one before it.
	if broken(w.Condition) {
		b.is = w.Condition
	}
	if b.WorstAt.IsZero() || surelyBad(w) > surelyBad(&b.Worst) {
		b.Worst, b.WorstAt = *w, at
	}
	b.Bad, b.Judged = model.Reading{}, model.Reading{}
	if before.known && now.known && before.era == now.era {
		b.Bad, b.Judged = model.Of(max(0, now.bad-before.bad)), model.Of(now.judged-before.judged)
	}
}

// pass adds the time since the frame before to the condition that it was in.
func (b *Breach) pass(at model.Instant) {
	passed := at.Sub(b.To)
	b.To = at
	i := slices.IndexFunc(b.Spells, func(s Spell) bool { return s.Condition == b.is })
	if i < 0 {
		i, b.Spells = len(b.Spells), append(b.Spells, Spell{Condition: b.is})
	}
	b.Spells[i].Lasted += passed
}

// surelyBad is how many requests of a workflow's window were bad, whatever its
// histograms leave open.
func surelyBad(w *model.WorkflowView) float64 {
	if g := w.Goodput; g != nil && g.Share.Hi.OK() {
		return g.N * (1 - g.Share.Hi.Value)
	}
	return math.Inf(-1)
}

func (h *hurts) close(one *hurt) {
	if len(h.done) >= maxBreaches {
		h.left++
		return
	}
	h.done = append(h.done, *one.now)
}

// list is every breach, the oldest first.
func (h *hurts) list() []Breach {
	all := slices.Clone(h.done)
	for _, name := range h.names {
		if b := h.flows[name].now; b != nil {
			all = append(all, *b)
		}
	}
	slices.SortStableFunc(all, func(a, b Breach) int { return cmp.Compare(a.From.Mono, b.From.Mono) })
	return all
}

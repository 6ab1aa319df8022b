package fleet

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/hist"
)

// How model.Signals is laid out; a test holds these numbers to it. Only the
// signals from firstHist on, numHists of them, are histograms.
const (
	numSignals = 44
	firstHist  = 32
	numHists   = 11
)

// measure sums the target's samples over the window. It does so only after
// something came in: the window ends at the newest poll, not at the tick.
func (t *target) measure(window time.Duration) {
	if !t.dirty && t.stale == !t.fresh() {
		return
	}
	t.dirty, t.stale = false, !t.fresh()
	basis, ok := t.increase(window)
	for _, ty := range t.flows {
		ty.reset()
		ty.basis = basis
	}
	for _, sl := range t.cols.slots {
		if sl.pool == nil {
			t.addSlot(sl.share, sl, ok)
		}
	}
	for _, ty := range t.flows {
		ty.markAbsent(t.about)
	}
	t.sumModels(basis, ok)
	t.dress(t.total())
}

// total is the target's sum over its workflows and what belongs to none.
func (t *target) total() *tally {
	if len(t.flows) == 1 {
		t.sum = nil
		for _, only := range t.flows {
			return only
		}
	}
	if t.sum == nil {
		t.sum = &tally{}
	}
	t.sum.reset()
	// In a fixed order: sums of floats depend on it, and a replay must give the
	// same frame to the byte.
	for _, w := range slices.SortedFunc(maps.Keys(t.flows), byName) {
		t.sum.add(t.flows[w])
	}
	return t.sum
}

// increase fills delta with what each column gained over the window, or with
// all the server counted since its start where only one page was ever read.
func (t *target) increase(window time.Duration) (model.Basis, bool) {
	t.delta = grown(t.delta[:0], t.cols.width)
	if t.ring.Len() == 1 {
		copy(t.delta, t.counters.Total())
		t.elapsed = 0
		return model.SinceStart, true
	}
	var ok bool
	t.elapsed, ok = t.ring.Delta(window, t.delta)
	return model.OverWindow, ok
}

func (t *target) addSlot(ty *tally, sl *slot, ok bool) {
	ty.exported[sl.signal] = true
	if sl.kind == model.Gauge {
		t.addGauge(&ty.levels, sl)
	}
	if !t.fresh() || !ok {
		return
	}
	switch sl.kind {
	case model.Gauge:
		if sl.col >= 0 {
			ty.count[sl.signal] = sum(ty.count[sl.signal], model.Of(t.delta[sl.col]))
		}
	case model.Counter:
		t.addCounter(ty, sl)
	case model.Histogram:
		t.addSpans(ty, sl)
	}
}

func (t *target) addGauge(l *levels, sl *slot) {
	l.exported[sl.signal] = true
	switch {
	case sl.seen != t.good || !(sl.level >= 0):
	case t.fresh():
		l.addLevel(sl.signal, model.Of(sl.level))
	default:
		l.addLevel(sl.signal, stale(model.Of(sl.level)))
	}
}

// stale is the last level of a target that does not answer, marked so that it is
// shown greyed and enters no sum of fresh ones.
func stale(r model.Reading) model.Reading {
	if r.OK() {
		r.State = model.Stale
	}
	return r
}

func (t *target) addCounter(ty *tally, sl *slot) {
	d := model.Of(t.delta[sl.col])
	if d.Value < 0 {
		d = model.Reading{} // this counter alone fell within the window
	}
	if t.gone(sl, d.Value) {
		return
	}
	ty.count[sl.signal] = sum(ty.count[sl.signal], d)
	countCause(ty, sl, d)
	switch sl.key.signal {
	case model.Finished:
		if sl.key.labels.Get(model.LabelReason) == "length" {
			ty.truncated = sum(ty.truncated, d)
		}
	case model.PrefixQueries:
		ty.looked += known(t.counters.Last()[sl.col])
	case model.PrefixHits:
		ty.hits += known(t.counters.Last()[sl.col])
	}
	if t.elapsed > 0 && d.OK() {
		ty.rate[sl.signal] = sum(ty.rate[sl.signal], model.Of(d.Value/t.elapsed.Seconds()))
	}
}

// countCause keeps the reasons that a gateway gives. An engine's finish reasons
// say no more than that a request was cancelled or failed.
func countCause(ty *tally, sl *slot, d model.Reading) {
	reason := sl.key.labels.Get(model.LabelReason)
	if reason == "" || !d.OK() || d.Value == 0 {
		return
	}
	switch sl.key.signal {
	case model.Failed:
		addCauses(&ty.failedBy, map[string]float64{reason: d.Value})
	case model.Cancelled:
		addCauses(&ty.cancelledBy, map[string]float64{reason: d.Value})
	}
}

// gone reports a series that the newest page lacks and that did not grow within
// the window: that it stands still is then not known.
func (t *target) gone(sl *slot, grew float64) bool { return sl.seen != t.good && grew == 0 }

func known(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// addSpans adds a histogram's increase. Bounds that changed within the window
// meet on the common ones.
func (t *target) addSpans(ty *tally, sl *slot) {
	ty.partial = ty.partial || sl.incomplete
	for i := len(sl.spans) - 1; i >= 0; i-- {
		h, ok := t.spanIncrease(sl.spans[i])
		if !ok || t.gone(sl, h.N()) || (i < len(sl.spans)-1 && h.N() == 0) {
			continue
		}
		h.Incomplete, h.Repaired = sl.incomplete, h.Repaired || sl.repaired
		ty.repaired = ty.repaired || h.Repaired
		ty.addHist(sl.signal, h)
		if t.elapsed > 0 {
			ty.rate[sl.signal] = sum(ty.rate[sl.signal], model.Of(h.N()/t.elapsed.Seconds()))
		}
	}
}

func (t *target) spanIncrease(sp span) (hist.Hist, bool) { return sp.increase(t.delta) }

// increase is a span's part of what all columns gained, which it puts right in place.
func (sp span) increase(delta []float64) (hist.Hist, bool) {
	n := len(sp.bounds) + 1
	cum := delta[sp.col : sp.col+n]
	if math.IsNaN(cum[n-1]) || cum[n-1] < 0 || cum[0] < 0 {
		return hist.Hist{}, false
	}
	h := hist.Hist{Bounds: sp.bounds, Cum: cum}
	if sum := delta[sp.col+n]; sum >= 0 { // nothing that is observed is below 0
		h.Sum = model.Of(sum)
	}
	for i, c := range cum {
		if math.IsNaN(c) {
			return hist.Hist{Cum: cum[n-1:], Sum: h.Sum}, true // only the mean survived
		}
		if i > 0 && c < cum[i-1] {
			cum[i], h.Repaired = cum[i-1], true // a scrape in the middle of an update
		}
	}
	return h, true
}

// byName orders workflows; the samples of none come first.
func byName(a, b *workflow) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	default:
		return strings.Compare(a.name, b.name)
	}
}

// join gives each workflow this target's share of it.
func (t *target) join(now time.Duration) {
	for w, ty := range t.flows {
		if w != nil {
			w.join(t, ty)
		}
	}
	t.reports = slices.DeleteFunc(t.reports, func(w *workflow) bool { return !w.events.recent(now) })
	for _, w := range t.reports {
		w.carry(t)
	}
}

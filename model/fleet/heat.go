package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/model/hist"
)

const (
	// chartedColumns is an hour of blocks, as much as the history holds of the rows
	// that are charted; leastColumns is for all others.
	chartedColumns = historyPoints / int(diagnose.Block/time.Second)
	leastColumns   = 60
	// maxHeatBounds is more than any engine has buckets: no screen has as many lines.
	maxHeatBounds = 64
)

// The latencies whose spread is kept, in the order of heats.
const (
	heatTTFT = iota
	heatTPOT
	heatE2E
	numHeats
)

var heatMetrics = [numHeats]model.Metric{model.MetricTTFT, model.MetricTPOT, model.MetricE2E}

// heatOf is the heat that a signal counts for, -1 for none.
var heatOf = indexHeats()

func indexHeats() (of [numSignals]int) {
	for i := range of {
		of[i] = -1
	}
	for i, m := range heatMetrics {
		of[signalIndex[m.Signal()]] = i
	}
	return of
}

// heats are those of one side of a workflow.
type heats [numHeats]heat

func newHeats(rank int) (hs heats) {
	for i := range hs {
		if hs[i].keep = chartedColumns; rank >= chartedRows {
			hs[i].keep = leastColumns
		}
	}
	return hs
}

// heat is how one latency was spread over time: a column a block. What a frame holds
// of it is never written again.
type heat struct {
	keep    int
	next    int64    // the block after the newest column
	columns []column // oldest first, as they were counted
	bounds  []float64
	shown   [][]float32 // the columns on the common bounds, as frames share them
	until   int64       // the block after the newest one that is shown
	dirty   bool        // what is shown must be made anew
	view    *model.Heat
	steps   []float64 // of requests that are reported by themselves
}

// column is how many requests fell into each bucket within a block.
type column struct {
	bounds []float64
	counts []float32 // one more than bounds; nil: nothing is known
	lost   bool      // a histogram came without its buckets: the others are not all
}

// at is the column of a block, nil where that is longer ago than is kept.
func (h *heat) at(block int64) *column {
	if len(h.columns) == 0 {
		h.next = block
	}
	h.reach(block + 1)
	first := h.next - int64(len(h.columns))
	if block <= h.next-1-int64(h.keep) {
		return nil
	}
	if more := int(first - block); more > 0 { // told late, and older than all others
		h.columns = slices.Insert(h.columns, 0, make([]column, more)...)
		first, h.dirty = block, true
	}
	c := &h.columns[block-first]
	if block < h.until { // frames have it
		c.counts, h.dirty = slices.Clone(c.counts), true
	}
	return c
}

// reach makes room up to a block: blocks of which nothing is told are gaps. It lets
// go of what is older than is kept.
func (h *heat) reach(next int64) {
	if next-h.next > int64(h.keep) { // time jumped
		h.columns, h.next, h.dirty = nil, next-int64(h.keep), true
	}
	for ; h.next < next; h.next++ {
		h.columns = append(h.columns, column{})
	}
	gone := len(h.columns) - h.keep
	if gone <= 0 {
		return
	}
	mixed := slices.ContainsFunc(h.columns[:gone], func(c column) bool { return !c.on(h.bounds) })
	h.columns = slices.Delete(h.columns, 0, gone)
	h.dirty = h.dirty || mixed && !slices.Equal(h.common(), h.bounds)
}

// on reports whether the column can be shown on bounds as it is.
func (c *column) on(bounds []float64) bool { return c.counts == nil || slices.Equal(c.bounds, bounds) }

// add counts an increase, times a factor.
func (c *column) add(d hist.Hist, by float64) {
	if d.Incomplete || len(d.Bounds) == 0 {
		c.lost = c.lost || d.N() > 0
		return
	}
	c.meet(fewer(d.Bounds))
	below, from := 0.0, 0
	for i, b := range c.bounds {
		from += seek(d.Bounds[from:], b)
		c.counts[i] += float32((d.Cum[from] - below) * by)
		below = d.Cum[from]
	}
	c.counts[len(c.bounds)] += float32((d.N() - below) * by)
}

// seek is the place of x among ascending numbers.
func seek(in []float64, x float64) int {
	i := 0
	for i < len(in) && in[i] < x {
		i++
	}
	return i
}

// meet puts the column on bounds that it shares with others. Where it holds nothing
// yet they are all its own.
func (c *column) meet(bounds []float64) {
	switch {
	case c.counts != nil && slices.Equal(c.bounds, bounds):
	case c.counts == nil || c.empty():
		c.bounds, c.counts = bounds, make([]float32, len(bounds)+1)
	default:
		common := inBoth(c.bounds, bounds)
		c.bounds, c.counts = common, c.rebinned(common)
	}
}

func (c *column) empty() bool {
	return !slices.ContainsFunc(c.counts, func(n float32) bool { return n != 0 })
}

// rebinned is the column on some of its own bounds, or on any where it is empty.
func (c *column) rebinned(bounds []float64) []float32 {
	out := make([]float32, len(bounds)+1)
	i := 0
	for k, n := range c.counts {
		for i < len(bounds) && (k == len(c.bounds) || bounds[i] < c.bounds[k]) {
			i++
		}
		out[i] += n
	}
	return out
}

// inBoth is the bounds that both have.
func inBoth(a, b []float64) []float64 {
	out := make([]float64, 0, min(len(a), len(b)))
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); ok {
			out = append(out, x)
		}
	}
	return out
}

// fewer is as many of the bounds as are kept.
func fewer(bounds []float64) []float64 {
	if len(bounds) <= maxHeatBounds {
		return bounds
	}
	out := make([]float64, 0, maxHeatBounds)
	for i := range maxHeatBounds {
		out = append(out, bounds[(i+1)*len(bounds)/maxHeatBounds-1]) // the last one stays
	}
	return out
}

// common is the bounds that all columns with anything in them share, or those of the
// newest where none has.
func (h *heat) common() []float64 {
	var out []float64
	filled := false
	for i := range h.columns {
		switch c := &h.columns[i]; {
		case c.counts == nil || filled && c.on(out):
		case c.empty():
			if !filled {
				out = c.bounds
			}
		case !filled:
			out, filled = c.bounds, true
		default:
			out = inBoth(out, c.bounds)
		}
	}
	return out
}

// see is the heat up to a block that is over, nil where nothing is known.
func (h *heat) see(next int64, started model.Instant) *model.Heat {
	if len(h.columns) == 0 || next == h.until && !h.dirty {
		return h.view
	}
	h.reach(next)
	h.show(next)
	h.view = nil
	counts := h.shown[max(0, len(h.shown)-h.keep):]
	if len(h.bounds) > 0 && slices.ContainsFunc(counts, func(c []float32) bool { return c != nil }) {
		end := time.Duration(next) * diagnose.Block
		h.view = &model.Heat{
			Step: diagnose.Block, End: started.Add(end - started.Mono), Bounds: h.bounds, Counts: counts[:len(counts):len(counts)],
		}
	}
	return h.view
}

// show appends to what frames share what is new since, or makes it anew.
func (h *heat) show(next int64) {
	first := h.next - int64(len(h.columns))
	from := h.until
	h.dirty = h.dirty || first > from // nobody looked for long
	for b := from; b < next && !h.dirty; b++ {
		h.dirty = !h.columns[b-first].on(h.bounds) // of other buckets than those before
	}
	if h.dirty {
		h.bounds, h.shown, from, h.dirty = h.common(), nil, first, false
	}
	if cap(h.shown) == len(h.shown) { // a quarter of room, so that moving is rare
		h.shown = append(make([][]float32, 0, h.keep+h.keep/4), h.shown[max(0, len(h.shown)-h.keep+1):]...)
	}
	for b := from; b < next; b++ {
		h.shown = append(h.shown, h.columns[b-first].seen(h.bounds))
	}
	h.until = next
}

// seen is the column as it is shown, nil for a gap.
func (c *column) seen(bounds []float64) []float32 {
	switch {
	case c.counts == nil || c.lost:
		return nil
	case c.on(bounds):
		return c.counts
	default:
		return c.rebinned(bounds)
	}
}

// addHeat gives the workflows what the target's histograms counted since a row, in
// equal parts in the n blocks up to at.
func (t *target) addHeat(from, total []float64, at, n int64) {
	for _, sl := range t.cols.slots {
		i := heatOf[sl.signal]
		if i < 0 || sl.kind != model.Histogram || sl.flow == nil || sl.pool != nil {
			continue
		}
		h := &sl.flow.sideOf(t).heats[i]
		// Buckets that a page lacks stand still, and jump with the next one.
		incomplete := sl.incomplete || sl.closedShort
		sl.closedShort = sl.incomplete
		for k, sp := range sl.spans {
			d, ok := t.gainedBy(sp, from, total)
			if !ok || t.gone(sl, d.N()) || k < len(sl.spans)-1 && d.N() == 0 {
				continue
			}
			d.Incomplete = incomplete
			for b := at - n + 1; b <= at; b++ {
				if c := h.at(b); c != nil {
					c.add(d, 1/float64(n))
				}
			}
		}
	}
}

// gainedBy is what a histogram gained since a row, valid until the next call.
func (t *target) gainedBy(sp span, from, total []float64) (hist.Hist, bool) {
	n := sp.width()
	if sp.col+n > len(total) || sp.col+n > len(from) {
		return hist.Hist{}, false
	}
	t.gains = t.gains[:0]
	for i := sp.col; i < sp.col+n; i++ {
		t.gains = append(t.gains, total[i]-from[i])
	}
	return span{bounds: sp.bounds}.increase(t.gains)
}

// spreadOut counts a request that was reported by itself, in the block in which it
// ended.
func (w *workflow) spreadOut(one *reported, ended, now time.Duration) {
	if ended < 0 { // before the first chart begins
		return
	}
	block := blockOf(min(ended, now)) // another clock may be ahead
	for i, m := range heatMetrics {
		v, ok := one.times[slices.Index(model.Metrics, m)].Mean().Get()
		if !ok {
			continue
		}
		if c := w.events.heats[i].at(block); c != nil {
			c.meet(w.steps(i))
			k, _ := slices.BinarySearch(c.bounds, v)
			c.counts[k]++
		}
	}
}

// quiet notes that those who report requests were there in a block, even where they
// told of none.
func (w *workflow) quiet(block int64) {
	for i := range w.events.heats {
		h := &w.events.heats[i]
		if len(h.columns) == 0 {
			continue // nobody tells of this latency
		}
		if c := h.at(block); c != nil {
			c.meet(w.steps(i))
		}
	}
}

// steps are the buckets for requests that are reported by themselves: six for each
// power of ten from a millisecond to a quarter of an hour, and the promised bound, so
// that what kept it lies in other buckets than what did not.
func (w *workflow) steps(i int) []float64 {
	h := &w.events.heats[i]
	if h.steps != nil {
		return h.steps
	}
	h.steps = slices.Clone(sixths)
	if limit := w.limitOf(heatMetrics[i].Signal()); !math.IsInf(limit, 1) {
		if at, there := slices.BinarySearch(h.steps, limit); !there {
			h.steps = slices.Insert(h.steps, at, limit)
		}
	}
	return h.steps
}

var sixths = []float64{
	0.001, 0.0015, 0.002, 0.003, 0.005, 0.007,
	0.01, 0.015, 0.02, 0.03, 0.05, 0.07,
	0.1, 0.15, 0.2, 0.3, 0.5, 0.7,
	1, 1.5, 2, 3, 5, 7,
	10, 15, 20, 30, 50, 70,
	100, 150, 200, 300, 500, 700, 1000,
}

// seeHeat hangs the heats of the side that the view's latencies are of on its history.
func (w *workflow) seeHeat(h *model.History, next int64, started model.Instant) {
	hs := &w.front().heats
	if w.byRequests(w.now.Mono) {
		hs = &w.events.heats
	}
	h.HeatTTFT, h.HeatTPOT = hs[heatTTFT].see(next, started), hs[heatTPOT].see(next, started)
	h.HeatE2E = hs[heatE2E].see(next, started)
}

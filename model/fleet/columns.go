package fleet

import (
	"math"
	"slices"

	"slotop/model"
	"slotop/model/hist"
	"slotop/model/slo"
)

// maxColumns bounds the counters of one target; a page of 96 MiB can hold more
// than anyone can read. Samples beyond it are counted as dropped.
const maxColumns = 1 << 16

// key identifies a sample on its target.
type key struct {
	signal model.Signal
	labels model.LabelSet
}

// span is where a histogram's counts stand in the row: one column a bound, the
// +Inf bucket, then the sum.
type span struct {
	bounds []float64
	col    int
	poured []float64 // of a pool: what its members gained
}

func (sp span) width() int { return len(sp.bounds) + 2 }

// slot is one sample of a target: where its counters stand in the row, and the
// last level it showed.
type slot struct {
	key
	signal int // index into model.Signals of what it counts for
	kind   model.Kind
	engine string
	flow   *workflow // that it counts for, nil for none
	share  *tally    // the target's part of it
	part   *part     // the same in blocks, nil of none

	col        int    // counters, and gauges whose change over a window is needed
	spans      []span // histograms, newest bounds last
	level      float64
	told       [4]float64 // what the workflow's ledger knows of it: see told.go
	known      bool       // told means something
	anew       bool       // what it shows next is a beginning, no increase
	seen       int        // the poll that showed it last
	incomplete bool
	repaired   bool

	closedShort bool // it was incomplete when the last block ended

	origin slo.Origin // of a pool: where it counts
	isPool bool       // the common series of many: see crowd.go
	poured []float64  // its count, of a counter
	pool   *slot      // of a member: what it is poured into
	before []float64  // and what it showed last
}

// columns lays a target's samples out as one row of numbers.
type columns struct {
	slots     []*slot
	index     map[key]*slot
	width     int
	order     []*slot                                                  // the slots of the last page in page order
	dropped   int                                                      // samples of this page that have no place
	changed   bool                                                     // a slot came or went since the workflows were assigned
	lost      int                                                      // columns of bounds that were given up
	pooled    func(model.LabelSet) (o slo.Origin, row string, ok bool) // where a series that is poured into a common one counts; nil: none is
	respanned []span                                                   // histograms that showed other bounds on this page
}

func (c *columns) alloc(n int) (int, bool) {
	if c.width+n > maxColumns {
		return 0, false
	}
	col := c.width
	c.width += n
	return col, true
}

// find is the slot of the i-th sample of a page. Pages repeat: the slot that
// stood there last time is nearly always the one.
func (c *columns) find(i int, s *model.Sample) *slot {
	k := key{s.Signal, s.Labels}
	if i < len(c.order) && c.order[i] != nil && c.order[i].key == k {
		return c.order[i]
	}
	sl := c.index[k]
	if sl == nil {
		sl = c.add(k, s.Kind)
	}
	for len(c.order) <= i {
		c.order = append(c.order, nil)
	}
	c.order[i] = sl
	return sl
}

// add makes room for a sample never seen on this target, or returns nil where
// the signal is unknown or the target is full.
func (c *columns) add(k key, kind model.Kind) *slot {
	n, known := signalIndex[k.signal]
	if !known {
		c.dropped++
		return nil
	}
	sl := &slot{
		key: k, signal: outcome(n, k.labels.Get(model.LabelReason)), kind: kind, col: -1,
		engine: k.labels.Get(model.LabelEngine),
		level:  math.NaN(),
	}
	if o, row, ok := c.pools(k.labels); ok {
		if sl.pool = c.poolFor(sl, o, row); sl.pool == nil {
			return nil
		}
	} else if kind == model.Counter || isLevel(k.signal) {
		col, ok := c.alloc(1)
		if !ok {
			c.dropped++
			return nil
		}
		sl.col = col
	}
	if c.index == nil {
		c.index = map[key]*slot{}
	}
	c.index[k] = sl
	c.slots = append(c.slots, sl)
	c.changed = true
	return sl
}

func (c *columns) pools(l model.LabelSet) (o slo.Origin, row string, ok bool) {
	if c.pooled == nil {
		return o, "", false
	}
	return c.pooled(l)
}

// outcome is what a sample counts for. Engines count every end of a request as
// finished and tell them apart by reason; here a request that was cancelled or
// failed did not finish, so that the parts add up to what was started.
func outcome(signal int, reason string) int {
	if model.Signals[signal].Signal == model.Finished {
		switch reason {
		case "aborted":
			return signalIndex[model.Cancelled]
		case "error":
			return signalIndex[model.Failed]
		}
	}
	return signal
}

// isLevel marks the gauges whose change over the window is part of an identity:
// what was started is what ended and what more is in flight.
func isLevel(s model.Signal) bool { return s == model.Running || s == model.Waiting }

// put writes a sample's cumulative values into the row.
func (sl *slot) put(c *columns, s *model.Sample, poll int, row *[]float64) {
	sl.seen = poll
	switch {
	case s.Kind == model.Histogram && s.Hist != nil:
		sl.putHist(c, s.Hist, row)
	case s.Kind == model.Counter && sl.col >= 0:
		*row = grown(*row, c.width)
		(*row)[sl.col] = credible(s.Value)
		if s.Value < 0 {
			(*row)[sl.col] = math.NaN() // no counter counts down from nothing
		}
	default:
		sl.level = credible(s.Value)
	}
}

// beyond is more of anything than there is: a century of the fastest machine's
// FLOPs is less. Sums of what is below it, and their products, are finite.
const beyond = 1e30

// credible is a number, NaN where it is beyond all that anything counts.
func credible(v float64) float64 {
	if math.Abs(v) > beyond {
		return math.NaN()
	}
	return v
}

func (sl *slot) putHist(c *columns, b *model.Buckets, row *[]float64) {
	h, err := hist.Of(b)
	sl.incomplete, sl.repaired = b.Incomplete || err != nil, h.Repaired
	if err != nil {
		return // what cannot be a histogram changes nothing that is known
	}
	sp, ok := sl.spanFor(c, b)
	*row = grown(*row, c.width)
	if !ok || len(b.Counts) == 0 {
		return
	}
	n := len(sp.bounds)
	r := (*row)[sp.col : sp.col+sp.width()]
	// A page that lost a bucket still has a count and a sum.
	if !b.Incomplete {
		copy(r[:n], h.Cum[:n])
	}
	r[n] = h.N()
	r[n+1] = math.NaN()
	if b.Sum.OK() && b.Sum.Value >= 0 {
		r[n+1] = credible(b.Sum.Value)
	}
}

// spanFor is where a histogram's values go. Other bounds than before start a new
// span; the old one stands still and is merged on the common bounds. Bounds seen
// before go on where they stopped.
func (sl *slot) spanFor(c *columns, b *model.Buckets) (span, bool) {
	if n := len(sl.spans); n > 0 && b.Incomplete {
		return sl.spans[n-1], true
	}
	same := func(sp span) bool { return slices.Equal(sp.bounds, b.Bounds) }
	if i := slices.IndexFunc(sl.spans, same); i >= 0 {
		sp := sl.spans[i]
		if i < len(sl.spans)-1 {
			sl.spans = append(slices.Delete(sl.spans, i, i+1), sp)
			c.respanned = append(c.respanned, sp)
		}
		return sp, true
	}
	sp := span{bounds: slices.Clone(b.Bounds)}
	if b.Incomplete {
		sp.bounds = nil
	}
	col, ok := c.alloc(sp.width())
	if !ok {
		c.dropped++
		return span{}, false
	}
	sp.col = col
	if len(sl.spans) > 0 {
		c.respanned = append(c.respanned, sp)
	}
	if len(sl.spans) == maxSpans {
		c.lost += sl.spans[0].width()
		sl.spans = slices.Delete(sl.spans, 0, 1)
	}
	sl.spans = append(sl.spans, sp)
	return sp, true
}

// maxSpans bounds the sets of bounds that one histogram is remembered with.
const maxSpans = 4

// grown is row, wide enough, with NaN in the columns that are new.
func grown(row []float64, width int) []float64 {
	for len(row) < width {
		row = append(row, math.NaN())
	}
	return row
}

var signalIndex = indexSignals()

func indexSignals() map[model.Signal]int {
	m := make(map[model.Signal]int, len(model.Signals))
	for i, s := range model.Signals {
		m[s.Signal] = i
	}
	return m
}

// goneAfter is for how many pages a series may be absent before its place is
// given up: engines that name each process in a label leave a trail of them. The
// fuller the row, the shorter.
func (c *columns) goneAfter() int {
	switch {
	case c.width > maxColumns/2:
		return 64
	case c.width > maxColumns/8:
		return 360
	default:
		return 3600
	}
}

// checkGone is how often, in pages, anybody looks.
const checkGone = 32

// forget gives up the slots of series that are long gone, once they are many. The
// caller rewrites its rows by the columns that stay.
func (c *columns) forget(poll int) (keep []int) {
	if poll%checkGone != 0 {
		return nil
	}
	if c.pooled != nil {
		c.dropMembers(poll)
	}
	gone, after := 0, c.goneAfter()
	for _, sl := range c.slots {
		if poll-sl.seen >= after {
			gone++
		}
	}
	if c.lost < maxColumns/16 && (gone < 64 || gone < len(c.slots)/4) {
		return nil
	}
	return c.compact(poll, after)
}

func (c *columns) compact(poll, after int) (keep []int) {
	keep = []int{} // not nil, even where no counter stays
	stay := c.slots[:0]
	for _, sl := range c.slots {
		if poll-sl.seen >= after {
			delete(c.index, sl.key)
			continue
		}
		stay = append(stay, sl)
		keep = sl.move(keep)
	}
	clear(c.slots[len(stay):])
	c.slots, c.width, c.changed, c.lost = stay, len(keep), true, 0
	return keep
}

// move gives the slot new columns after those in keep and appends its old ones.
func (sl *slot) move(keep []int) []int {
	if sl.col >= 0 {
		keep, sl.col = append(keep, sl.col), len(keep)
	}
	for i := range sl.spans {
		sp := &sl.spans[i]
		col := len(keep)
		for n := range sp.width() {
			keep = append(keep, sp.col+n)
		}
		sp.col = col
	}
	return keep
}

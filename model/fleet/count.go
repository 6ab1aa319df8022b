package fleet

import (
	"math"

	"slotop/model"
)

// emptied is row with the given number of unknown columns.
func emptied(row []float64, width int) []float64 {
	return grown(row[:0], width)
}

// accumulate turns the page's counters into counters that never fall, stores
// them as a snapshot and reports whether anything moved.
func (t *target) accumulate(at model.Instant, known int, restarted bool) bool {
	// A series that appears on a later page started at zero: servers create
	// labelled counters at their first event. That holds only while no line of
	// an earlier page was lost.
	born := t.good > 1 && (t.clean || restarted)
	t.adj = grown(t.adj, t.cols.width)
	t.ring.Grow(t.cols.width, born)
	moved := false
	for i := range t.cols.width {
		before := math.NaN()
		if i < known {
			before = t.prev[i]
		} else if born {
			before = 0
		}
		if step := t.countColumn(i, before, restarted); step > 0 && t.good > 1 {
			moved = true
		}
	}
	t.keepLevels()
	t.ring.Push(at.Mono, t.adj)
	return moved
}

// countColumn adds one column's increase to its adjusted counter.
func (t *target) countColumn(i int, before float64, restarted bool) (step float64) {
	now := t.raw[i]
	switch {
	case math.IsNaN(now): // not on this page: hold what is known
		t.raw[i] = before
		if restarted && !math.IsNaN(before) {
			t.raw[i] = 0
		}
		return 0
	case restarted: // the new process counted all of it
		step = now
	case math.IsNaN(before):
		t.adj[i] = now
		return 0
	default:
		step = max(0, now-before)
	}
	if math.IsNaN(t.adj[i]) {
		t.adj[i] = 0
	}
	t.adj[i] += step
	return step
}

// keepLevels writes the gauges whose change over a window is needed.
func (t *target) keepLevels() {
	for _, sl := range t.cols.slots {
		if sl.kind == model.Gauge && sl.col >= 0 && sl.seen == t.good {
			t.adj[sl.col] = sl.level
		}
	}
}

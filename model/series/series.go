// Package series keeps the past of counters: rows that never fall although
// processes restart, snapshots of them on one time axis, and tracks of points
// that readers may keep.
//
// It never interpolates: a difference is always between two polls that took
// place, over the time that really passed between them.
package series

import "math"

// noise is the relative difference below which a fall is the rounding of a
// server that adds floats in another order, not a restart.
const noise = 1e-12

// Fell reports whether any counter is lower in cur than in prev: another process
// counts now, for every series of the target. Columns that either row lacks, or
// that are NaN in one of them, say nothing.
func Fell(prev, cur []float64) bool {
	for i, c := range cur[:min(len(cur), len(prev))] {
		if prev[i]-c > noise*math.Abs(prev[i]) {
			return true
		}
	}
	return false
}

// Counters turns the rows that a target exposes into rows that do not fall when
// it restarts. The zero Counters has no columns.
type Counters struct {
	last  []float64 // what each column showed last, 0 after a restart
	total []float64 // over all processes
}

// Last is what each column showed last, NaN for one never seen. The slice is the
// Counters' own.
func (c *Counters) Last() []float64 { return c.last }

// Total is each column's count over all processes, NaN for one never seen. The
// slice is the Counters' own; Set is the only other way to change it.
func (c *Counters) Total() []float64 { return c.total }

// Set writes a column that is no counter but shares the row.
func (c *Counters) Set(col int, v float64) { c.total[col] = v }

// Adjust takes the row of the next page and reports whether any column grew. NaN
// is a column that the page lacks: what is known of it holds. With restarted,
// every column's new value is its increase. New columns stand behind the known
// ones; with born they started at 0 after the page before, because servers
// create labelled counters at their first event.
func (c *Counters) Adjust(row []float64, restarted, born bool) (grew bool) {
	before := math.NaN()
	if born {
		before = 0
	}
	for len(c.last) < len(row) {
		c.last = append(c.last, before)
		c.total = append(c.total, math.NaN())
	}
	for i, v := range row {
		if c.take(i, v, restarted) > 0 {
			grew = true
		}
	}
	return grew
}

// take adds one column's increase.
func (c *Counters) take(i int, v float64, restarted bool) (step float64) {
	last := c.last[i]
	if restarted && !math.IsNaN(last) {
		last, c.last[i] = 0, 0
	}
	if math.IsNaN(v) {
		return 0
	}
	c.last[i] = v
	if math.IsNaN(last) { // nobody knows what came before
		c.total[i] = v
		return 0
	}
	if step = max(0, v-last); math.IsNaN(c.total[i]) {
		c.total[i] = 0
	}
	c.total[i] += step
	return step
}

// Select keeps only the given columns, in the given order.
func (c *Counters) Select(cols []int) {
	last, total := make([]float64, len(cols)), make([]float64, len(cols))
	for i, col := range cols {
		last[i], total[i] = c.last[col], c.total[col]
	}
	c.last, c.total = last, total
}

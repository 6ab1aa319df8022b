// Package series keeps the past of counters: rows that never fall although
// processes restart, snapshots of them on one time axis, and tracks of points
// that readers may keep.
//
// It never interpolates: a difference is always between two polls that took
// place, over the time that really passed between them.
package series

import "math"

// noise is the relative difference below which a fall is the rounding of a
// server that adds floats in another order.
const noise = 1e-12

// Restarted reports whether another process counts in row than in last: at least
// half of the columns that had counted something are lower now. One that falls
// alone is a fault of that counter; taking it for a restart would count the whole
// life of all the others again. NaN columns say nothing.
func Restarted(last, row []float64) bool {
	counted, fell := 0, 0
	for i, v := range row[:min(len(row), len(last))] {
		before := last[i]
		if !(before > 0) || math.IsNaN(v) {
			continue
		}
		counted++
		if before-v > noise*before {
			fell++
		}
	}
	return fell > 0 && 2*fell >= counted
}

// Counters turns the rows that a target exposes into rows that do not fall when
// it restarts. The zero Counters has no columns.
type Counters struct {
	last  []float64 // what each column showed last, 0 after a restart
	carry []float64 // what earlier processes counted
	total []float64 // carry and last together
}

// Last is what each column showed last, NaN for one never seen. The slice is the
// Counters' own.
func (c *Counters) Last() []float64 { return c.last }

// Total is each column's count over all processes, NaN for one never seen. It
// falls only where a single counter falls. The slice is the Counters' own; Set is
// the only other way to change it.
func (c *Counters) Total() []float64 { return c.total }

// Set writes a column that is no counter but shares the row.
func (c *Counters) Set(col int, v float64) { c.total[col] = v }

// Adjust takes the row of the next page. NaN is a column that the page lacks:
// what is known of it holds. With restarted, every column's new value is its
// increase. New columns stand behind the known ones.
func (c *Counters) Adjust(row []float64, restarted bool) {
	c.grow(len(row))
	for i, v := range row {
		if restarted && !math.IsNaN(c.last[i]) {
			c.carry[i] += c.last[i]
			c.last[i] = 0
		}
		if !math.IsNaN(v) {
			c.last[i] = v
			c.total[i] = c.carry[i] + v
		}
	}
}

// Rebase says that what col gained up to v belongs to no window: it was not seen,
// or it was counted in another column. The next Adjust goes on from there.
func (c *Counters) Rebase(col int, v float64) {
	c.grow(col + 1)
	if c.carry[col] = -v; !math.IsNaN(c.total[col]) {
		c.carry[col] += c.total[col]
	}
}

func (c *Counters) grow(width int) {
	for len(c.last) < width {
		c.last = append(c.last, math.NaN())
		c.carry = append(c.carry, 0)
		c.total = append(c.total, math.NaN())
	}
}

// Select keeps only the given columns, in the given order.
func (c *Counters) Select(cols []int) {
	chosen := func(row []float64) []float64 {
		out := make([]float64, len(cols))
		for i, col := range cols {
			out[i] = row[col]
		}
		return out
	}
	c.last, c.carry, c.total = chosen(c.last), chosen(c.carry), chosen(c.total)
}

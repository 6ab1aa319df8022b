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
// it restarts. The zero Counters is ready.
type Counters struct {
	last  []float64 // what each column last showed, in this process
	carry []float64 // what earlier processes counted
	born  []bool    // created by the server at its first event
}

// Born says that the server creates this column at its first event, so that a
// new process which does not show it has counted nothing in it yet.
func (c *Counters) Born(col int) {
	c.grow(col + 1)
	c.born[col] = true
}

// Adjust writes to dst, which is as long as raw, each column's count over all
// processes. With restarted, every column's new value is its increase. A column
// that the page lacks is NaN: nobody knows it, unless it is Born and was not seen
// since the restart.
func (c *Counters) Adjust(dst, raw []float64, restarted bool) {
	c.grow(len(raw))
	if restarted {
		for i, v := range c.last {
			if !math.IsNaN(v) {
				c.carry[i] += v
			}
			c.last[i] = math.NaN()
		}
	}
	for i, v := range raw {
		switch {
		case !math.IsNaN(v):
			c.last[i] = v
			dst[i] = c.carry[i] + v
		case c.born[i] && math.IsNaN(c.last[i]):
			dst[i] = c.carry[i]
		default:
			dst[i] = math.NaN()
		}
	}
}

func (c *Counters) grow(width int) {
	for len(c.last) < width {
		c.last = append(c.last, math.NaN())
		c.carry = append(c.carry, 0)
		c.born = append(c.born, false)
	}
}

package chart

import "time"

// Axis is the time axis of a chart that is w cells wide and keeps tags cells at its right:
// in which cell it begins, how many cells it has, and how long before the chart's end the
// instants lie that its first and its last cell stand for. n is 0 where a chart has no
// room to be one. All charts over time share it.
func Axis(w, tags int, span, since time.Duration) (x0, n int, first, last time.Duration) {
	x0, n = gutter+1, w-gutter-1-tags
	if n < minPlotW || span <= 0 {
		return 0, 0, 0, 0
	}
	t := timescaleOf(n, span, since)
	return x0, n, t.before(0), t.before(n - 1)
}

// before is how long before the end the middle of a cell lies. The last cell may reach
// beyond the end: nothing lies there yet.
func (t timescale) before(cell int) time.Duration {
	idx := t.last - int64(t.w*dotsAcross-1) + int64(cell*dotsAcross) + dotsAcross/2
	return max(t.since-time.Duration(idx*int64(t.per)), 0)
}

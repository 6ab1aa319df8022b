package fleet

import (
	"math"

	"slotop/model/diagnose"
)

// minute is the newest blocks of an engine or of a workflow, oldest first.
type minute []diagnose.Sums

// minuteOf is the newest minute of a workflow; blocks that are missing are left out.
func (w *workflow) minuteOf(last int64) minute {
	var out minute
	for at := last - diagnose.NowBlocks + 1; at <= last; at++ {
		if s, ok := w.sumsAt(at, (*target).fresh); ok {
			out = append(out, s)
		}
	}
	return out
}

// count is a count over the blocks that tell it and their length in seconds, NaN where
// none does.
func (m minute) count(c diagnose.Count) (n, seconds float64) {
	n = math.NaN()
	for i := range m {
		if v := m[i].Counts[c]; !math.IsNaN(v) {
			n, seconds = plusKnown(n, v), seconds+m[i].Seconds
		}
	}
	return n, seconds
}

// rate is a count a second.
func (m minute) rate(c diagnose.Count) float64 {
	n, seconds := m.count(c)
	return n / seconds
}

// measured is a measure over the blocks that tell it, a second.
func (m minute) measured(x diagnose.Measure) (n, sum float64) {
	n, sum = math.NaN(), math.NaN()
	seconds := 0.0
	for i := range m {
		if v := m[i].Measures[x]; !math.IsNaN(v.N + v.Sum) {
			n, sum, seconds = plusKnown(n, v.N), plusKnown(sum, v.Sum), seconds+m[i].Seconds
		}
	}
	return n / seconds, sum / seconds
}

package chart

import (
	"math"
	"time"
)

// scale is the range of an axis that begins at 0. Its ticks are step apart, which
// is a whole number of rows: uneven ticks would bend what is drawn between them.
type scale struct {
	top, step float64
	rows      int // between two ticks
}

// maxTop bounds what is drawn: beyond it, a value has no meaning as a latency,
// a rate or a count, and arithmetic on it loses its digits.
const maxTop = 1e15

// scaleTo is the scale from 0 over h rows that shows most, with steps of 1, 2 or 5
// times a power of ten that are at least two rows apart, where there are two.
func scaleTo(most float64, h int) scale {
	if math.IsNaN(most) || most <= 0 {
		most = 1
	}
	most = min(most, maxTop)
	h = max(h, 1)
	step := niceStep(most / float64(max(h/2, 1)))
	rows := max(h/int(math.Ceil(most/step-1e-9)), 1)
	return scale{step * float64(h) / float64(rows), step, rows}
}

// niceStep is the smallest of 1, 2 and 5 times a power of ten that is not less.
func niceStep(least float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*unit >= least*(1-1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

// tickSpans are the distances of ticks on a time axis that people count in.
var tickSpans = []time.Duration{
	5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// tickSpan is the smallest distance that is not less than least.
func tickSpan(least time.Duration) time.Duration {
	for _, d := range tickSpans {
		if d >= least {
			return d
		}
	}
	return tickSpans[len(tickSpans)-1]
}

// spans are the lengths of time that a chart may show.
var spans = []time.Duration{
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// SpanFor is the length of time to show for a history of that length: it grows
// in steps, so the axis stands still between them.
func SpanFor(history time.Duration) time.Duration {
	for _, d := range spans {
		if d >= history {
			return d
		}
	}
	return spans[len(spans)-1]
}

// clock writes the time of day of a tick, with seconds where they differ.
func clock(t time.Time, every time.Duration) string {
	if every < time.Minute {
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}

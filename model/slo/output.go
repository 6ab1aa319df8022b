package slo

import (
	"math"

	"slotop/model"
	"slotop/model/hist"
)

// GoodOutput bounds the output tokens of good requests, where it is known of
// all requests how long their answers were and how large a share was good, but
// not which. At least they are the shortest answers, or what the longest leave;
// at most the longest, or what the shortest leave. Unknown without lengths or
// their sum.
func GoodOutput(lengths *hist.Hist, share model.Share) model.Range {
	if lengths == nil || lengths.Incomplete || len(lengths.Bounds) == 0 || !lengths.Sum.OK() || !share.Lo.OK() || !share.Hi.OK() {
		return model.Range{}
	}
	n, total := lengths.N(), lengths.Sum.Value
	lo, hi := share.Lo.Value*n, share.Hi.Value*n
	least := max(shortest(lengths, lo), total-longest(lengths, n-lo))
	most := min(longest(lengths, hi), total-shortest(lengths, n-hi))
	clamp := func(v float64) model.Reading { return model.Of(min(total, max(0, v))) }
	return model.Range{Lo: clamp(least), Hi: clamp(max(least, most))}
}

// shortest is the least that the count shortest answers can sum up to: each at
// its bucket's lower edge.
func shortest(h *hist.Hist, count float64) float64 {
	sum, lower, before := 0.0, 0.0, 0.0
	for i, c := range h.Cum {
		take := min(count, c-before)
		sum += take * lower
		count -= take
		if before = c; i < len(h.Bounds) {
			lower = max(0, h.Bounds[i])
		}
	}
	return sum
}

// longest is the most that the count longest answers can sum up to: each at its
// bucket's upper edge, without limit beyond the last.
func longest(h *hist.Hist, count float64) float64 {
	sum := 0.0
	for i := len(h.Cum) - 1; i >= 0 && count > 0; i-- {
		before := 0.0
		if i > 0 {
			before = h.Cum[i-1]
		}
		take := min(count, h.Cum[i]-before)
		if take <= 0 {
			continue
		}
		if i == len(h.Bounds) {
			return math.Inf(1)
		}
		sum += take * h.Bounds[i]
		count -= take
	}
	return sum
}

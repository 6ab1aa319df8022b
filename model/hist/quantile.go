package hist

import (
	"math"
	"slices"

	"slotop/model"
)

// Quantile is the q-quantile, interpolated linearly inside its bucket exactly as
// PromQL's histogram_quantile does, with the edges of that bucket. Beyond the
// last finite bound only that bound is known. Where the first bound is not
// positive its bucket has no lower edge and the value is the bound.
func (h Hist) Quantile(q float64) model.Estimate {
	b, why := h.bucket(q)
	if why != model.Present {
		return none(why)
	}
	e := model.Estimate{Enough: enough(h.N(), q)}
	if b.open {
		e.Lo, e.Open = model.Of(b.lo), true
		return e
	}
	e.Hi = model.Of(b.hi)
	if math.IsInf(b.lo, -1) {
		e.Value = e.Hi
		return e
	}
	e.Lo = model.Of(b.lo)
	e.Value = model.Of(b.lo + (b.hi-b.lo)*b.part)
	if !e.Value.OK() {
		return model.Estimate{} // q = 0 with an empty first bucket
	}
	return e
}

// geometric is the q-quantile interpolated on a logarithmic scale, which is
// nearer to the truth for latencies than the linear rule; linear in the first
// bucket, whose lower edge is 0. It is Unknown beyond the last finite bound. What
// is shown follows the linear rule, to agree with Prometheus; the tests say by how
// much the two differ.
func (h Hist) geometric(q float64) model.Reading {
	b, why := h.bucket(q)
	if why != model.Present {
		return model.Missing(why)
	}
	if b.open || b.lo <= 0 {
		return h.Quantile(q).Value
	}
	return model.Of(b.lo * math.Pow(b.hi/b.lo, b.part))
}

// place is where a rank falls: the bucket (lo, hi] and how far into it. lo is
// -Inf in a first bucket that reaches below zero.
type place struct {
	lo, hi, part float64
	open         bool
}

// noise is by how much of itself a count may be too small because it was worked out:
// counts out of a Prometheus server are no whole numbers, and a rank that falls on a
// bucket's edge stays there. Prometheus has the same tolerance (promql/quantile.go,
// smallDeltaTolerance).
const noise = 1e-12

// bucket finds the first bucket whose cumulative count reaches rank q·n.
func (h Hist) bucket(q float64) (place, model.Presence) {
	switch {
	case h.N() == 0:
		return place{}, model.NoTraffic
	case len(h.Bounds) == 0 || h.Incomplete || !(q >= 0 && q <= 1):
		return place{}, model.Unknown
	}
	rank := q * h.N()
	i := h.holding(rank * (1 - noise))
	if i == len(h.Bounds) {
		return place{lo: h.Bounds[i-1], open: true}, model.Present
	}
	before := 0.0
	if i > 0 {
		before = h.Cum[i-1]
	}
	part := min(1, (rank-before)/(h.Cum[i]-before))
	return place{lo: h.lower(i), hi: h.Bounds[i], part: part}, model.Present
}

// holding is the index of the first bucket with a cumulative count of at least
// rank; len(Bounds) is the +Inf bucket.
func (h Hist) holding(rank float64) int {
	lo, hi := 0, len(h.Bounds)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if h.Cum[mid] >= rank {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// lower is the lower edge of bucket i.
func (h Hist) lower(i int) float64 {
	switch {
	case i > 0:
		return h.Bounds[i-1]
	case h.Bounds[0] > 0:
		return 0
	default:
		return math.Inf(-1)
	}
}

// ShareAtMost is the part of observations at or below x: exact where x is a
// boundary, else the interval between the boundaries on either side, with the
// share interpolated on a logarithmic scale as its point. Beyond the last finite
// bound the interval has no point.
func (h Hist) ShareAtMost(x float64) model.Share {
	n := h.N()
	if n == 0 {
		no := model.Missing(model.NoTraffic)
		return model.Share{Lo: no, Hi: no, Point: no}
	}
	if len(h.Bounds) == 0 || h.Incomplete || math.IsNaN(x) {
		return model.Share{}
	}
	lo, hi := h.around(x)
	s := model.Share{Lo: model.Of(lo / n), Hi: model.Of(hi / n)}
	if lo == hi {
		s.Point = s.Lo
		return s
	}
	if i, _ := slices.BinarySearch(h.Bounds, x); i < len(h.Bounds) {
		s.Point = model.Of((lo + (hi-lo)*part(h.lower(i), h.Bounds[i], x)) / n)
	}
	return s
}

// part is how far x lies into (lo, hi] on a logarithmic scale; on a linear one
// where lo is 0, and NaN where there is no lower edge at all.
func part(lo, hi, x float64) float64 {
	if lo > 0 {
		return math.Log(x/lo) / math.Log(hi/lo)
	}
	if lo == 0 {
		return max(0, x/hi)
	}
	if math.IsInf(lo, -1) {
		return math.NaN()
	}
	return (x - lo) / (hi - lo)
}

// overflowMean bounds the mean of the observations beyond the last finite bound,
// from what the sum leaves for them. Unknown without a sum or finite buckets.
func (h Hist) overflowMean() (lo, hi model.Reading) {
	last := len(h.Bounds) - 1
	if h.Incomplete || last < 0 || !h.Sum.OK() || h.Bounds[0] <= 0 {
		return model.Reading{}, model.Reading{}
	}
	over := h.N() - h.Cum[last]
	if over == 0 {
		return model.Missing(model.NoTraffic), model.Missing(model.NoTraffic)
	}
	atLeast, atMost, before := h.Sum.Value, h.Sum.Value, 0.0
	for i, u := range h.Bounds {
		c := h.Cum[i] - before
		atLeast -= c * u
		atMost -= c * h.lower(i)
		before = h.Cum[i]
	}
	if atMost/over < h.Bounds[last] {
		return model.Reading{}, model.Reading{} // the sum contradicts the buckets
	}
	return model.Of(max(h.Bounds[last], atLeast/over)), model.Of(atMost / over)
}

// interval is the 95 % interval of the q-quantile of what these observations
// are a sample of: the order statistics of Ranks, widened to their buckets.
// hi is Unknown where n is too small for an upper limit or where it lies beyond
// the last finite bound.
func (h Hist) interval(q float64) (lo, hi model.Reading) {
	if _, why := h.bucket(q); why != model.Present {
		return model.Missing(why), model.Missing(why)
	}
	l, u := Ranks(h.N(), q)
	if l > 0 {
		lo = model.Of(h.lower(h.holding(l)))
	} else if h.Bounds[0] > 0 {
		lo = model.Of(0)
	}
	if i := h.holding(u); u > 0 && i < len(h.Bounds) {
		hi = model.Of(h.Bounds[i])
	}
	return lo, hi
}

func none(why model.Presence) model.Estimate {
	no := model.Missing(why)
	return model.Estimate{Value: no, Lo: no, Hi: no}
}

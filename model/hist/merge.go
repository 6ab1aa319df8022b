package hist

import (
	"math"
	"slices"

	"slotop/model"
)

// Merge adds two increases bucket by bucket. Unlike bounds meet on their
// intersection and the result is Coarse. A side without observations adds
// nothing, so its bounds do not blur the other side. The result has memory of
// its own.
func Merge(a, b Hist) (Hist, model.Fidelity) {
	var out Hist
	if out.Add(a); out.Add(b) {
		return out, out.Fidelity
	}
	common := intersect(a.Bounds, b.Bounds)
	out = a.on(common)
	out.Add(b.on(common))
	out.Fidelity = model.Coarse
	return out, out.Fidelity
}

// Add adds o to h in place, as Merge does, and reports whether it could: where
// both saw something and their bounds differ, nothing changed and Merge is the
// way. h owns its Bounds and Cum, so an accumulator that starts as
// Hist{Bounds: b[:0], Cum: c[:0]} does not allocate.
func (h *Hist) Add(o Hist) bool {
	switch {
	case len(o.Cum) == 0 || o.N() == 0 && h.N() > 0:
		return true
	case len(h.Cum) == 0 || h.N() == 0 && o.N() > 0:
		bounds, cum := append(h.Bounds[:0], o.Bounds...), append(h.Cum[:0], o.Cum...)
		*h = o
		h.Bounds, h.Cum = bounds, cum
		return true
	case !sameBounds(h.Bounds, o.Bounds):
		return false
	}
	for i, c := range o.Cum {
		h.Cum[i] += c
	}
	h.Sum = h.Sum.Plus(o.Sum)
	h.Incomplete = h.Incomplete || o.Incomplete
	h.Repaired = h.Repaired || o.Repaired
	h.Fidelity = max(h.Fidelity, o.Fidelity)
	return true
}

// MergeBounds bounds the number of observations at or below x over replicas
// whose bounds differ: where x is no boundary of a replica, its count lies
// between the counts at the boundaries on either side.
func MergeBounds(hs []Hist, x float64) (lo, hi float64) {
	for _, h := range hs {
		l, u := h.around(x)
		lo += l
		hi += u
	}
	return lo, hi
}

// around is the interval of the cumulative count at x.
func (h Hist) around(x float64) (lo, hi float64) {
	if h.Incomplete {
		return 0, h.N()
	}
	if len(h.Cum) == 0 {
		return 0, 0
	}
	i, exact := slices.BinarySearch(h.Bounds, x)
	if exact || math.IsInf(x, 1) {
		return h.Cum[i], h.Cum[i]
	}
	if i > 0 {
		lo = h.Cum[i-1]
	}
	return lo, h.Cum[i]
}

// sameBounds is called once a series and poll; replicas of one build share the
// slice more often than not.
func sameBounds(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b)
}

func intersect(a, b []float64) []float64 {
	common := make([]float64, 0, min(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			common = append(common, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return common
}

// on is h on some of its own bounds, in memory of its own.
func (h Hist) on(bounds []float64) Hist {
	cum := make([]float64, 0, len(bounds)+1)
	for i, u := range h.Bounds {
		if len(cum) < len(bounds) && u == bounds[len(cum)] {
			cum = append(cum, h.Cum[i])
		}
	}
	h.Cum = append(cum, h.N())
	h.Bounds = bounds
	return h
}

// Package sketch holds single observations so that their quantiles can be told
// and windows merged: every value as long as they are few, then a DDSketch.
//
// It refuses to invent precision: a quantile of the sketch is within 1 % of
// a value that was observed, and an interval is as wide as its buckets make it.
package sketch

import (
	"math"
	"slices"

	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"

	"slotop/model"
)

const (
	// maxExact is how many values are kept one by one. Beyond it they are only
	// counted in buckets: 2,000 values are 16 KB, their buckets mostly less.
	maxExact = 2000
	// accuracy is the relative error of a quantile beyond maxExact values.
	accuracy = 0.01

	// What lies below least is counted as 0; what lies above most is none. In
	// seconds that is a nanosecond and 31 years. Between them lie 2,073 buckets,
	// which bounds the memory of a sketch.
	least, most = 1e-9, 1e9
)

// scale numbers the buckets. Its error is about accuracies outside (0, 1).
var scale, _ = mapping.NewLogarithmicMapping(accuracy)

// Sketch is a set of observations. The zero Sketch is empty and ready for use.
// It is not safe for use by two goroutines, not even for reading.
type Sketch struct {
	values []float64 // while they are few
	sorted bool
	rough  bool // the values went into bins
	bins   *store.DenseStore
	zeros  float64 // of a rough sketch, below least

	n, sum, min, max float64
}

// Add adds one observation. NaN, infinities, negative numbers and numbers above
// 1e9 are no latencies and no lengths: they are left out.
func (s *Sketch) Add(v float64) {
	if !(v >= 0 && v <= most) {
		return
	}
	s.note(v, v, v, 1)
	if !s.rough && len(s.values) < maxExact {
		s.values = append(s.values, v)
		s.sorted = false
		return
	}
	s.coarsen()
	s.put(v)
}

// Merge adds all observations of o, which still tells the same afterwards.
func (s *Sketch) Merge(o *Sketch) {
	if o.n == 0 {
		return
	}
	s.note(o.sum, o.min, o.max, o.n)
	if !s.rough && !o.rough && len(s.values)+len(o.values) <= maxExact {
		s.sort()
		o.sort()
		s.values = weave(s.values, o.values)
		return
	}
	s.coarsen()
	for _, v := range o.values {
		s.put(v)
	}
	s.zeros += o.zeros
	if o.rough {
		s.bins.MergeWith(o.bins)
	}
}

// weave adds the values of b to a, both being sorted. A window is merged at every
// tick, out of blocks that hardly change: sorting it anew costs ten times as much.
func weave(a, b []float64) []float64 {
	i, j := len(a)-1, len(b)-1
	a = slices.Grow(a, len(b))[:len(a)+len(b)]
	for j >= 0 {
		if i >= 0 && a[i] > b[j] {
			a[i+j+1] = a[i]
			i--
			continue
		}
		a[i+j+1] = b[j]
		j--
	}
	return a
}

func (s *Sketch) sort() {
	if !s.sorted {
		slices.Sort(s.values)
		s.sorted = true
	}
}

// note keeps what is exact whatever the number of values.
func (s *Sketch) note(sum, low, high, n float64) {
	if s.n == 0 {
		s.min, s.max = low, high
	}
	s.min, s.max = min(s.min, low), max(s.max, high)
	s.sum += sum
	s.n += n
}

// coarsen moves the values into buckets.
func (s *Sketch) coarsen() {
	if s.rough {
		return
	}
	s.rough = true
	if s.bins == nil {
		s.bins = store.NewDenseStore()
	}
	for _, v := range s.values {
		s.put(v)
	}
	s.values = nil
}

func (s *Sketch) put(v float64) {
	if v < least {
		s.zeros++
		return
	}
	s.bins.Add(scale.Index(v))
}

// N is the number of observations.
func (s *Sketch) N() float64 { return s.n }

// Mean is the exact mean.
func (s *Sketch) Mean() model.Reading {
	if s.n == 0 {
		return model.Missing(model.NoTraffic)
	}
	return model.Of(s.sum / s.n)
}

// Quantile is the q-quantile by nearest rank, the ⌈q·n⌉-th smallest observation:
// itself while the sketch is exact, else within 1 % of it. NaN when there
// is no observation or q is not within 0 and 1.
func (s *Sketch) Quantile(q float64) float64 {
	if s.n == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	v, _, _ := s.at(nearest(q, s.n))
	return v
}

// nearest is the rank of the q-quantile of n observations, from 1.
func nearest(q, n float64) float64 {
	const rounding = 1e-9 // 0.55 · 100 is 55, not the next float64 above it
	return max(1, math.Ceil(q*n-rounding))
}

// at is the observation of a rank within 1 and n, and the bucket it lies in. Of an exact
// sketch all three are the observation.
func (s *Sketch) at(rank float64) (v, lo, hi float64) {
	if !s.rough {
		s.sort()
		v = s.values[int(rank)-1]
		return v, v, v
	}
	if rank <= s.zeros {
		return s.min, s.min, min(least, s.max)
	}
	i := s.bins.KeyAtRank(rank - s.zeros - 1)
	v, lo, hi = scale.Value(i), scale.LowerBound(i), scale.LowerBound(i+1)
	return s.clamp(v), s.clamp(lo), s.clamp(hi)
}

func (s *Sketch) clamp(v float64) float64 { return min(max(v, s.min), s.max) }

// AtMost counts the observations at or below each of some ascending edges, and all of
// them last. Of a rough sketch an observation counts from the upper edge of its bucket on.
func (s *Sketch) AtMost(edges []float64) []float64 {
	out := make([]float64, len(edges)+1)
	s.sort()
	for _, v := range s.values {
		i, _ := slices.BinarySearch(edges, v)
		out[i]++
	}
	if s.rough {
		i, _ := slices.BinarySearch(edges, min(least, s.max))
		out[i] += s.zeros
		s.bins.ForEach(func(bin int, n float64) bool {
			i, _ := slices.BinarySearch(edges, s.clamp(scale.LowerBound(bin+1)))
			out[i] += n
			return false
		})
	}
	for i := 1; i < len(out); i++ {
		out[i] += out[i-1]
	}
	return out
}

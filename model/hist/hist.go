// Package hist is bucket arithmetic on classic histograms: the sum over replicas,
// quantiles and shares, with the interval that the buckets allow.
//
// It refuses to know more than the buckets do: it never averages percentiles,
// never puts a number on what lies beyond the last finite bucket, and gives no
// quantile where a bucket line was lost.
package hist

import (
	"fmt"
	"math"

	"slotop/model"
)

// Hist is an increase (or a lifetime) of one classic histogram. Bounds are the
// ascending upper edges without +Inf; Cum is cumulative over them and one entry
// longer, its last entry being the number of observations. The zero Hist has
// seen nothing and is the identity of Merge and Add.
type Hist struct {
	Bounds, Cum []float64
	Sum         model.Reading
	Incomplete  bool // a bucket line was lost: no quantiles, no shares
	Repaired    bool // counts were raised to be non-decreasing
	Fidelity    model.Fidelity
}

// Of is the histogram in b. It shares b's slices, unless counts that fall from
// one bucket to the next must be raised. Anything that cannot be a cumulative
// histogram is an error.
func Of(b *model.Buckets) (Hist, error) {
	if len(b.Counts) != len(b.Bounds)+1 {
		return Hist{}, fmt.Errorf("histogram: %d bounds with %d counts", len(b.Bounds), len(b.Counts))
	}
	for i, u := range b.Bounds {
		if math.IsNaN(u) || math.IsInf(u, 0) || i > 0 && u <= b.Bounds[i-1] {
			return Hist{}, fmt.Errorf("histogram: bound %d, %v, is not finite and ascending", i+1, u)
		}
	}
	h := Hist{Bounds: b.Bounds, Cum: b.Counts, Sum: b.Sum, Incomplete: b.Incomplete, Repaired: b.Repaired}
	falls := false
	for i, c := range b.Counts {
		if math.IsNaN(c) || c < 0 || c > maxCount {
			return Hist{}, fmt.Errorf("histogram: bucket %d counts %v", i+1, c)
		}
		falls = falls || i > 0 && c < b.Counts[i-1]
	}
	if falls {
		h.Cum = append([]float64(nil), b.Counts...)
		h.raise()
	}
	return h, nil
}

// maxCount is the most observations that can be counted one by one in a float64.
const maxCount = 1 << 53

// raise makes Cum non-decreasing in place. A scrape in the middle of an update
// sees a bucket ahead of the total; the bucket is the newer of the two.
func (h *Hist) raise() {
	for i := 1; i < len(h.Cum); i++ {
		if h.Cum[i] < h.Cum[i-1] {
			h.Cum[i] = h.Cum[i-1]
			h.Repaired = true
		}
	}
}

// N is the number of observations.
func (h Hist) N() float64 {
	if len(h.Cum) == 0 {
		return 0
	}
	return h.Cum[len(h.Cum)-1]
}

// Mean is the exact mean, which needs no buckets.
func (h Hist) Mean() model.Reading {
	n := h.N()
	if n == 0 {
		return model.Missing(model.NoTraffic)
	}
	if !h.Sum.OK() {
		return h.Sum
	}
	return model.Of(h.Sum.Value / n)
}

// Dist is the summary that a frame shows. Without bounds, or with a lost bucket
// line, it has a count and a mean and no quantiles.
func (h Hist) Dist(basis model.Basis) *model.Dist {
	return &model.Dist{
		N:        h.N(),
		Mean:     h.Mean(),
		P50:      h.Quantile(0.50),
		P90:      h.Quantile(0.90),
		P95:      h.Quantile(0.95),
		P99:      h.Quantile(0.99),
		Basis:    basis,
		Fidelity: h.Fidelity,
		Partial:  h.Incomplete,
	}
}

package sources

import (
	"cmp"
	"slices"
	"strconv"

	"slotop/model"
)

func (r *statsReader) latencies(g *statsGroup) {
	r.object(func(name []byte) {
		if i := place(statsLatencies, name); i >= 0 {
			g.latencies[i] = r.latency()
		}
	})
}

// rawLatency is a latency as it stands.
type rawLatency struct {
	bounds, counts []float64
	broken         bool // a list holds something else than numbers, or too many
	count, sum     model.Reading
	window         model.Reading
	quantiles      []model.QuantileAt
}

// latency reads the histogram or window that comes next.
func (r *statsReader) latency() latency {
	var raw rawLatency
	r.object(func(name []byte) {
		switch string(name) {
		case "le":
			raw.bounds = r.numbers(&raw.broken)
		case "cumulative":
			raw.counts = r.numbers(&raw.broken)
		case "count":
			raw.count = r.count()
		case "sum":
			raw.sum = r.seconds()
		case "window_s":
			raw.window = r.seconds()
		case "quantiles":
			raw.quantiles = r.quantiles()
		}
	})
	switch {
	case len(raw.quantiles) > 0:
		return latency{window: &model.Reported{WindowS: raw.window, Count: raw.count, Quantiles: raw.quantiles}}
	case raw.bounds == nil && raw.counts == nil && !raw.broken && !raw.count.OK():
		return latency{} // nothing is said
	case !raw.count.OK():
		return latency{broken: true}
	}
	return raw.histogram()
}

// histogram is the cumulative counts with the overflow. Where they cannot be
// right they are left out, and count and sum give a mean.
func (l *rawLatency) histogram() latency {
	h := &model.Buckets{Counts: []float64{l.count.Value}, Sum: l.sum}
	if l.broken || !l.fits() {
		return latency{hist: h, broken: true}
	}
	h.Bounds, h.Counts = l.bounds, append(l.counts, l.count.Value)
	return latency{hist: h}
}

func (l *rawLatency) fits() bool {
	if len(l.bounds) != len(l.counts) {
		return false
	}
	for i := 1; i < len(l.bounds); i++ {
		if l.bounds[i] <= l.bounds[i-1] {
			return false
		}
	}
	return slices.IsSorted(l.counts) && (len(l.counts) == 0 || l.counts[len(l.counts)-1] <= l.count.Value)
}

// numbers reads a list of numbers that are not below 0.
func (r *statsReader) numbers(broken *bool) (all []float64) {
	if r.text.peek() != '[' {
		*broken = *broken || !r.text.null()
		return nil
	}
	all = []float64{}
	for range r.text.items {
		v := r.seconds()
		if *broken = *broken || !v.OK() || len(all) == maxBounds; !*broken {
			all = append(all, v.Value)
		}
	}
	return all
}

// quantiles reads the quantiles of a window. What is none is left out.
func (r *statsReader) quantiles() (all []model.QuantileAt) {
	r.object(func(name []byte) {
		q, err := strconv.ParseFloat(string(name), 64)
		if v := r.seconds(); err == nil && q >= 0 && q <= 1 && v.OK() && len(all) < maxBounds {
			all = append(all, model.QuantileAt{Q: q, S: v.Value})
		}
	})
	slices.SortStableFunc(all, func(a, b model.QuantileAt) int { return cmp.Compare(a.Q, b.Q) })
	return slices.CompactFunc(all, func(a, b model.QuantileAt) bool { return a.Q == b.Q })
}

// addHistograms adds b to a copy of a, on the bounds that both have.
func addHistograms(a, b *model.Buckets) *model.Buckets {
	out := &model.Buckets{Sum: a.Sum.Plus(b.Sum), Incomplete: a.Incomplete || b.Incomplete}
	for i, bound := range a.Bounds {
		if j, found := slices.BinarySearch(b.Bounds, bound); found {
			out.Bounds = append(out.Bounds, bound)
			out.Counts = append(out.Counts, a.Counts[i]+b.Counts[j])
		}
	}
	out.Counts = append(out.Counts, a.N()+b.N())
	return out
}

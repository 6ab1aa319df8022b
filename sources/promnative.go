package sources

import (
	"math"
	"slices"

	prommodel "github.com/prometheus/common/model"
)

// A native histogram has buckets between powers of 2^(2^-schema), and a server may
// give each answer at another resolution, with the empty ones left out. To be
// followed it is brought to bounds that stay: those of one schema, on which finer
// ones come together exactly. One that was converted from a classic histogram has
// the bounds of that, which stay anyhow.
type grid struct {
	// schema is that of the bounds, 0 until there are any: 3 has 8 bounds between a
	// number and its double. A coarser answer makes them coarser for good.
	schema float64
	set    bool
	bounds []float64        // that any answer has shown
	finer  map[float64]bool // those that the schema does not have any more
}

const finest = 3

// noteNatives reads an answer's histograms: their buckets, as cumulative counts, and
// their sums.
func (t *track) noteNatives() {
	for _, s := range t.natives {
		t.native.fit(s.Histogram)
	}
	name := t.read.Names[0]
	for _, s := range t.natives {
		counts := map[float64]float64{}
		for _, b := range s.Histogram.Buckets {
			counts[t.native.bound(b)] += float64(b.Count)
		}
		total := 0.0
		for _, bound := range t.native.bounds {
			total += counts[bound]
			t.set(s.Metric, name+"_bucket", bound, total)
		}
		t.set(s.Metric, name+"_bucket", math.Inf(1), float64(s.Histogram.Count))
		t.set(s.Metric, name+"_sum", math.NaN(), float64(s.Histogram.Sum))
	}
	for i := range t.rows {
		t.give(i, t.native.finer[t.rows[i].bound])
	}
}

func (t *track) set(m prommodel.Metric, name string, bound, v float64) {
	if row, ok := t.row(m, name, bound); ok && !math.IsNaN(v) {
		t.got[row] = v
	}
}

// fit makes the grid as coarse as an answer, and lets it know its bounds.
func (g *grid) fit(h *prommodel.SampleHistogram) {
	if schema, ok := schemaOf(h); ok && (!g.set || schema < g.schema) {
		g.schema, g.set = min(schema, finest), true
		for _, b := range g.bounds { // they count on, as far as it can be told, for those that come between
			if g.round(b) != b {
				g.leave(b)
			}
		}
	}
	for _, b := range h.Buckets {
		if bound := g.bound(b); !math.IsInf(bound, 1) {
			if at, found := slices.BinarySearch(g.bounds, bound); !found {
				g.bounds = slices.Insert(g.bounds, at, bound)
			}
		}
	}
}

func (g *grid) leave(bound float64) {
	if g.finer == nil {
		g.finer = map[float64]bool{}
	}
	g.finer[bound] = true
}

// bound is the bound of the grid up to which a bucket's observations are counted.
func (g *grid) bound(b *prommodel.HistogramBucket) float64 {
	if _, exponential := schemaOfBucket(b); exponential && g.set {
		return g.round(float64(b.Upper))
	}
	return float64(b.Upper)
}

// round is the next bound of the schema.
func (g *grid) round(bound float64) float64 {
	if !(bound > 0) || !g.set {
		return bound
	}
	per := math.Exp2(g.schema)
	return math.Exp2(math.Ceil(math.Log2(bound)*per-1e-6) / per)
}

// schemaOf is the resolution of a histogram's buckets; ok is false where they are no
// powers, or there are none.
func schemaOf(h *prommodel.SampleHistogram) (schema float64, ok bool) {
	found := math.NaN()
	for _, b := range h.Buckets {
		if float64(b.Lower) <= 0 && float64(b.Upper) >= 0 {
			continue // around zero
		}
		one, exponential := schemaOfBucket(b)
		if !exponential || found == found && one != found {
			return 0, false
		}
		found = one
	}
	return found, found == found
}

// schemaOfBucket: the bounds of schema s are whole powers of 2^(2^-s).
func schemaOfBucket(b *prommodel.HistogramBucket) (schema float64, ok bool) {
	low, up := float64(b.Lower), float64(b.Upper)
	if !(low > 0) || math.IsInf(up, 1) || !(up > low) {
		return 0, false
	}
	schema = math.Round(-math.Log2(math.Log2(up / low)))
	if schema < -4 || schema > 8 {
		return 0, false
	}
	power := math.Log2(up) * math.Exp2(schema)
	width := math.Log2(up/low) * math.Exp2(schema)
	return schema, math.Abs(power-math.Round(power)) < 1e-6 && math.Abs(width-1) < 1e-6
}

package dialect

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/sources/expo"
)

// span is a bucket that is not cumulative: from lo up to hi, which may be +Inf.
type span struct{ lo, hi float64 }

// spanOf reads the text of a bucket's label: "[100-200)", "100-200ms", "5000ms+".
func spanOf(text string) (s span, ok bool) {
	text = strings.ReplaceAll(strings.Trim(text, "[]() "), "ms", "")
	low, high, closed := strings.Cut(text, "-")
	if !closed {
		if low, ok = strings.CutSuffix(text, "+"); !ok {
			return s, false
		}
		high = "+Inf"
	}
	var err error
	if s.lo, err = strconv.ParseFloat(low, 64); err != nil {
		return s, false
	}
	if s.hi, err = strconv.ParseFloat(high, 64); err != nil {
		return s, false
	}
	return s, s.lo < s.hi && s.lo >= 0
}

// ranges builds histograms of which each bucket is a counter. A bucket nothing
// fell into may be absent, so the edges are the file's, as far as they fit.
func (b *builder) ranges(r *reading) bool {
	metric, rows := b.rows(b.w.Ranges.From, "")
	r.metric = metric
	parts := b.parts(rows)
	for _, k := range parts.keys {
		if h, ok := b.ranged(k, *parts.all[k]); ok {
			r.hists = append(r.hists, h)
		}
	}
	return len(r.hists) > 0
}

func (b *builder) ranged(k key, parts []part) (h histRow, ok bool) {
	var spans []span
	t := term{removed: math.NaN()}
	for _, p := range parts {
		s, known := spanOf(label(b.page.Series[p.ranks[0].rows[0]].Labels, b.w.Ranges.Label))
		if c, ok := b.cell(p); known && ok {
			spans, t.cells = append(spans, s), append(t.cells, c)
		}
	}
	if len(spans) == 0 {
		return h, false
	}
	edges := edgesOf(spans, b.w.Ranges.Edges)
	h = histRow{labels: k.labels(), way: b.w, count: row{terms: []term{t}}}
	for _, x := range edges {
		h.bounds = append(h.bounds, b.w.scaled(x))
	}
	for _, s := range spans {
		at, _ := slices.BinarySearch(edges, s.hi)
		h.spanAt = append(h.spanAt, at)
	}
	return h, true
}

// edgesOf are the first of the known edges that all spans fit, or else those that
// the spans show. An edge within a span is none: nobody knows what fell below it.
func edgesOf(spans []span, known [][]float64) []float64 {
	fits := func(edges []float64) bool {
		return !slices.ContainsFunc(spans, func(s span) bool {
			return !isEdge(edges, s.lo) || !isEdge(edges, s.hi) || slices.ContainsFunc(edges, s.holds)
		})
	}
	if i := slices.IndexFunc(known, fits); i >= 0 {
		return known[i]
	}
	var edges []float64
	for _, s := range spans {
		edges = append(edges, s.lo, s.hi)
	}
	edges = slices.DeleteFunc(edges, func(x float64) bool {
		return x == 0 || math.IsInf(x, 1) || slices.ContainsFunc(spans, func(s span) bool { return s.holds(x) })
	})
	slices.Sort(edges)
	return slices.Compact(edges)
}

// holds reports whether x lies within the span and at none of its ends.
func (s span) holds(x float64) bool { return s.lo < x && x < s.hi }

// isEdge reports whether x is one of the edges or an end of all there is.
func isEdge(edges []float64, x float64) bool {
	return x == 0 || math.IsInf(x, 1) || slices.Contains(edges, x)
}

// readRanges fills the sample's buckets from counters of one bucket each. It
// reports false where the page has none, or a bad line may hide one.
func (h *histRow) readRanges(p *expo.Page, out *model.Buckets, m *memory) bool {
	m = h.count.look(p, m)
	clear(out.Counts)
	found := false
	cells := h.count.terms[0].cells
	for i := range cells {
		v, ok := cells[i].readWith(p, m)
		switch {
		case !ok && p.Bad > 0 || ok && math.IsNaN(v):
			return false
		case ok:
			out.Counts[h.spanAt[i]] += v
			found = true
		}
	}
	for i := 1; i < len(out.Counts); i++ {
		out.Counts[i] += out.Counts[i-1]
	}
	out.Sum = model.Reading{}
	return found
}

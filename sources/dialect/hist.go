package dialect

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/sources/expo"
)

// histogram builds classic histograms. One exists only where there are buckets
// and no # TYPE line says something else. Lines are grouped by name and labels,
// not by their place on the page: exporters differ in the order.
func (b *builder) histogram(r *reading) bool {
	metric, buckets := b.rows(b.w.From, "_bucket")
	buckets = slices.DeleteFunc(buckets, func(i int) bool { return !isBucket(b.page.Series[i]) })
	if len(buckets) == 0 {
		return false
	}
	r.metric = metric
	hists := newHists()
	for _, i := range buckets {
		l := hists.open(b.place(i))
		l.buckets = append(l.buckets, bucket{boundOf(b.page.Series[i]), i})
	}
	base := strings.TrimSuffix(b.page.Series[buckets[0]].Name, "_bucket")
	for _, i := range b.byName[base+"_sum"] {
		if l := hists.find(b.place(i)); l != nil {
			l.sum = i
		}
	}
	for _, i := range b.byName[base+"_count"] {
		if l := hists.find(b.place(i)); l != nil {
			l.count = i
		}
	}
	for _, k := range hists.keys {
		r.hists = append(r.hists, b.histRow(k, *hists.all[k]))
	}
	return true
}

// histPart is one histogram of a sample: the ranks that repeat it.
type histPart struct {
	key   string
	ranks []*rawLines
}

// rawLines are the series of one histogram as they stand on the page.
type rawLines struct {
	number     int // rank
	buckets    []bucket
	sum, count int // none where the page has no such line
}

type bucket struct {
	bound float64
	row   int
}

// none stands for a line that the page does not have.
const none = -1

// histsOf are the histograms of one name by sample, and the way to each.
type histsOf struct {
	*grouped[[]histPart]
	partAt map[slot]int
	lines  map[slot]*rawLines
}

func newHists() histsOf {
	return histsOf{newGrouped[[]histPart](), map[slot]int{}, map[slot]*rawLines{}}
}

// open is the histogram of a place, made where there is none yet.
func (h histsOf) open(k key, text string, number int) *rawLines {
	if l := h.find(k, text, number); l != nil {
		return l
	}
	parts := h.at(k)
	at, known := h.partAt[slot{k, text, 0}]
	if !known {
		at = len(*parts)
		h.partAt[slot{k, text, 0}] = at
		*parts = append(*parts, histPart{key: text})
	}
	l := &rawLines{number: number, sum: none, count: none}
	h.lines[slot{k, text, number}] = l
	(*parts)[at].ranks = append((*parts)[at].ranks, l)
	return l
}

// find is the histogram that a _sum or _count line belongs to, nil for none.
func (h histsOf) find(k key, text string, number int) *rawLines {
	return h.lines[slot{k, text, number}]
}

func isBucket(s *expo.Series) bool {
	return (s.Type == expo.Histogram || s.Type == expo.Untyped) && !math.IsNaN(boundOf(s))
}

// boundOf is the upper bound of a bucket line, NaN for what is none. Where no
// # TYPE line covers the bucket, its bound is still among the labels.
func boundOf(s *expo.Series) float64 {
	if !math.IsNaN(s.Le) {
		return s.Le
	}
	le, err := strconv.ParseFloat(label(s.Labels, "le"), 64)
	if err != nil {
		return math.NaN()
	}
	return le
}

// histRow is one histogram sample: the sum of its parts.
type histRow struct {
	labels model.LabelSet
	parts  [][]histLines // of each part its ranks, the lowest first
	bounds []float64     // as the sample has them

	mean   bool  // only sum and count exist
	meanOf row   // the sum
	count  row   // … or the buckets, where each is a counter
	spanAt []int // of each of those the place of its upper bound
	way    *way
}

// histLines are the series of one histogram: a row for each bound of the sample
// and one for +Inf.
type histLines struct {
	buckets    []int
	sum, count int
}

// histRow lays the parts of a sample over each other. Bounds that some of them
// lack are dropped: only at common ones can counts be added.
func (b *builder) histRow(k key, parts []histPart) histRow {
	h := histRow{labels: k.labels(), way: b.w}
	var bounds []float64
	for i, p := range parts {
		slices.SortFunc(p.ranks, func(a, c *rawLines) int { return cmp.Compare(a.number, c.number) })
		for j, l := range p.ranks {
			l.tidy(b.page)
			if i == 0 && j == 0 {
				bounds = l.bounds()
				continue
			}
			bounds = slices.DeleteFunc(bounds, func(x float64) bool { return l.row(x) == none })
		}
	}
	for _, p := range parts {
		ranks := make([]histLines, 0, len(p.ranks))
		for _, l := range p.ranks {
			one := histLines{sum: l.sum, count: l.count, buckets: make([]int, 0, len(bounds)+1)}
			for _, x := range bounds {
				one.buckets = append(one.buckets, l.row(x))
			}
			one.buckets = append(one.buckets, l.row(math.Inf(1)))
			ranks = append(ranks, one)
		}
		h.parts = append(h.parts, ranks)
	}
	for _, x := range bounds {
		h.bounds = append(h.bounds, b.w.scaled(x))
	}
	return h
}

// tidy sorts the buckets and forgets those that are gone for good: a server that
// came back with other bounds. On a page with bad lines nobody can tell, so they
// stay, and the histogram counts as incomplete until they return.
func (l *rawLines) tidy(p *expo.Page) {
	here := func(c bucket) bool { return p.Seen[c.row] }
	if p.Bad == 0 && slices.ContainsFunc(l.buckets, here) {
		l.buckets = slices.DeleteFunc(l.buckets, func(c bucket) bool { return !here(c) })
	}
	slices.SortStableFunc(l.buckets, func(a, c bucket) int { return cmp.Compare(a.bound, c.bound) })
}

// bounds are the finite ones.
func (l *rawLines) bounds() []float64 {
	var all []float64
	for _, c := range l.buckets {
		if !math.IsInf(c.bound, 1) {
			all = append(all, c.bound)
		}
	}
	return all
}

// row is the bucket line of a bound, by its place: tidy has sorted them.
func (l *rawLines) row(bound float64) int {
	at, found := slices.BinarySearchFunc(l.buckets, bound, func(c bucket, x float64) int { return cmp.Compare(c.bound, x) })
	if !found {
		return none
	}
	return l.buckets[at].row
}

// mean builds a histogram without buckets out of two counters.
func (b *builder) mean(r *reading) bool {
	sums, counts := newGrouped[row](), newGrouped[row]()
	sum, ok := b.term(sums, opAdd, b.w.Mean.Sum)
	if !ok {
		return false
	}
	count, ok := b.term(counts, opAdd, b.w.Mean.Count)
	if !ok {
		return false
	}
	r.metric = sum + " / " + count
	for _, k := range sums.keys {
		if counts.all[k] == nil {
			continue
		}
		r.hists = append(r.hists, histRow{
			labels: k.labels(), way: b.w, mean: true, meanOf: *sums.all[k], count: *counts.all[k],
		})
	}
	return len(r.hists) > 0
}

// counted reports whether counters make the histogram, not bucket lines.
func (h *histRow) counted() bool { return h.mean || len(h.spanAt) > 0 }

// here reports whether the page has the histogram.
func (h *histRow) here(p *expo.Page) bool {
	if h.counted() {
		_, ok := h.count.read(p, model.Counter, false, nil)
		return ok
	}
	found := false
	for _, ranks := range h.parts {
		switch {
		case linesHere(p, ranks) != nil:
			found = true
		case p.Bad > 0 || slices.ContainsFunc(ranks, func(l histLines) bool { return l.seen(p) }):
			return false // lost, or no number: nobody knows what it counts now
		}
	}
	return found
}

// read fills the sample's buckets from the page. It reports false where the page
// does not have the histogram, or a bad line may hide a part of it: a smaller
// sum would pass for a restart.
func (h *histRow) read(p *expo.Page, out *model.Buckets, m *memory) bool {
	if h.mean {
		return h.readMean(p, out, m)
	}
	if len(h.spanAt) > 0 {
		return h.readRanges(p, out, m)
	}
	m = h.look(p, m)
	if !h.whole(p, m) {
		return false
	}
	out.Incomplete = false
	total, sum := 0.0, model.Of(0)
	for _, ranks := range h.parts {
		l, held := standing(p, ranks, m)
		if l == nil {
			continue
		}
		n, whole := l.n(p, held)
		total += n
		sum = sum.Plus(lineOf(p, l.sum, held))
		out.Incomplete = out.Incomplete || !whole
	}
	h.readBuckets(p, total, out, m)
	h.note(p, m)
	out.Counts[len(out.Counts)-1] = total
	if sum.OK() {
		sum.Value = h.way.scaled(sum.Value)
	}
	out.Sum = sum
	return true
}

// readBuckets adds up each finite bucket. A lost line keeps what it showed last,
// within what its neighbours allow, so that nothing seems to have fallen.
func (h *histRow) readBuckets(p *expo.Page, total float64, out *model.Buckets, m *memory) {
	below := 0.0
	for i := range out.Bounds {
		v, lost := 0.0, false
		for _, ranks := range h.parts {
			l, held := standing(p, ranks, m)
			if l == nil {
				continue
			}
			c := lineOf(p, l.buckets[i], held)
			if !c.OK() {
				lost = true
				continue
			}
			v += c.Value
		}
		if lost {
			out.Incomplete = true
			v = max(below, min(max(v, out.Counts[i]), total))
		}
		out.Counts[i], below = v, v
	}
}

// linesHere is the lowest rank that counts something on the page, nil for none.
func linesHere(p *expo.Page, ranks []histLines) *histLines {
	for i := range ranks {
		l := &ranks[i]
		if valueOf(p, l.inf()).OK() || valueOf(p, l.count).OK() {
			return l
		}
	}
	return nil
}

// inf is the row of the +Inf bucket.
func (l *histLines) inf() int { return l.buckets[len(l.buckets)-1] }

// seen reports whether the lines that count stand on the page, number or not.
func (l *histLines) seen(p *expo.Page) bool {
	return l.inf() != none && p.Seen[l.inf()] || l.count != none && p.Seen[l.count]
}

// n is the number of observations, and whether the lines that say so agree.
func (l *histLines) n(p *expo.Page, held *memory) (n float64, whole bool) {
	inf, count := lineOf(p, l.inf(), held), lineOf(p, l.count, held)
	switch {
	case !inf.OK():
		return count.Value, false
	case count.OK() && count.Value != inf.Value:
		return inf.Value, false
	}
	return inf.Value, true
}

func (h *histRow) readMean(p *expo.Page, out *model.Buckets, m *memory) bool {
	n, ok := h.count.read(p, model.Counter, false, m)
	if !ok || math.IsNaN(n) {
		return false
	}
	out.Counts[0] = n
	out.Sum = model.Reading{}
	if sum, ok := h.meanOf.read(p, model.Counter, false, m); ok && !math.IsNaN(sum) {
		out.Sum = model.Of(h.way.scaled(sum))
	}
	return true
}

// valueOf is a row's value on this page, Unknown where it has none.
func valueOf(p *expo.Page, row int) model.Reading {
	if row == none || !p.Seen[row] || math.IsNaN(p.Values[row]) || math.IsInf(p.Values[row], 0) {
		return model.Reading{}
	}
	return model.Of(p.Values[row])
}

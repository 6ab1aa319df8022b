package dialect

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/sources/expo"
)

// crowd is how a signal is read from a table of very many series. Its rows come
// and go, so what a row belongs to is worked out once for each row, not once for
// the page: a page with another user makes no new plan, or takes over the crowds
// of the plan before. A row takes about 100 B here, and its sample 200 B with the
// counts of twelve buckets; as series of a layout it took ten times that.
//
// What holds for the rows of a layout holds here: of ranks that repeat a value
// the lowest is taken, parts of a sample are added up, and a part of a sum of
// counters that is gone stands still. Rows that the table gives up stay in the
// sums they were part of, as a lump.
type crowd struct {
	builder
	table   *expo.Crowd
	matches matchers // of the exposed name

	value   int   // column of a gauge or counter
	buckets []int // columns of the finite bounds, in their order
	inf     int   // … and of the bucket for all, none where the table lacks it
	sum     int
	count   int
	bounds  []float64 // as the samples have them
	largest bool

	read         uint32     // number of the page that was read last
	rows         []crowdRow // by row of the table
	parts        []crowdPart
	samples      []crowdSample
	spareParts   []int32
	spareSamples []int32
	byLabels     map[model.LabelSet]int32 // samples
	twins        map[slot]int32           // parts of which there may be several rows
	labels       []expo.Label             // of the row in hand
}

// crowdRow is where a row of the table belongs.
type crowdRow struct {
	part int32 // none where the signal is not read from it
	rank int
}

// crowdPart is one value of a sample, or one histogram of it.
type crowdPart struct {
	sample int32
	row    int32   // that counts, or did when it was seen last
	rank   int     // of that row
	rows   int32   // how many repeat one another, 0: the part is spare
	at     uint32  // the page on which it was seen last
	n      float64 // what it counted last, NaN where that is not to be counted on
}

// crowdSample is a sample and what its parts came to on the page.
type crowdSample struct {
	labels model.LabelSet
	parts  int32 // 0: the sample is spare
	found  bool  // some part is on the page
	fell   bool  // a part counts less than before: the sum begins anew
	lost   bool  // nobody knows what a part counts now

	value float64
	out   model.Buckets
	any   bool      // value is of some part
	lump  []float64 // what parts that were given up counted last: of a histogram its counts and its sum; nil for none
}

// tableOf is the table that the way reads, of the newest exposed name that the
// page has, where that name is a crowd's. Names on this page go before names that
// it had once.
func (b *builder) tableOf() (t *expo.Crowd, from pattern, metric string) {
	if len(b.crowds) == 0 || !b.plain() {
		return nil, from, ""
	}
	suffix := ""
	if b.kind == model.Histogram {
		suffix = "_bucket"
	}
	for _, n := range b.w.From {
		for _, prefix := range b.d.under(b.w) {
			name := prefix + n.name
			if slices.ContainsFunc(b.pick(name+suffix, n.matchers), func(i int) bool { return b.page.Seen[i] }) {
				return nil, from, ""
			}
			for _, one := range b.crowds[name+suffix] {
				here, once := findRow(one, name+suffix, b.columnFits, n.matchers, b.d.only)
				if here {
					return one, n, name
				}
				if once && t == nil {
					t, from, metric = one, n, name
				}
			}
		}
	}
	return t, from, metric
}

// plain is whether a way takes values as they are, from rows that count alone.
func (b *builder) plain() bool {
	w := b.w
	return len(w.From) > 0 && w.Minus == nil && w.Times == nil && w.Over == nil && len(w.Read) == 0 && w.Weight == "" &&
		(w.Rows == "" || b.d.choose == nil)
}

// uncombined are the exposed names that a way would compute with, had they fewer
// series.
func (b *builder) uncombined() []string {
	var names []string
	if len(b.crowds) == 0 || b.plain() {
		return nil
	}
	for _, n := range slices.Concat(b.w.operands()...) {
		for _, prefix := range b.d.under(b.w) {
			if len(b.crowds[prefix+n.name]) > 0 {
				names = append(names, prefix+n.name)
			}
		}
	}
	return names
}

// columnFits is whether a column may be what the signal is read from.
func (b *builder) columnFits(col *expo.Column) bool {
	if b.kind != model.Histogram {
		return math.IsNaN(col.Le)
	}
	return !math.IsNaN(col.Le) && (col.Type == expo.Histogram || col.Type == expo.Untyped)
}

// findRow reports whether a row on the page satisfies the matchers and shows a
// value under the sample name, or else whether one did once.
func findRow(t *expo.Crowd, name string, fits func(*expo.Column) bool, all ...matchers) (here, once bool) {
	var labels []expo.Label
	for row := range t.Rows() {
		if t.Born(row) == 0 || once && !t.Seen(row) || !shows(t, row, name, fits) {
			continue
		}
		labels = t.Labels(row, labels[:0])
		if slices.ContainsFunc(all, func(ms matchers) bool { return !ms.match(labels) }) {
			continue
		}
		if once = true; t.Seen(row) {
			return true, true
		}
	}
	return false, once
}

// shows reports whether a row has a value under a sample name.
func shows(t *expo.Crowd, row int, name string, fits func(*expo.Column) bool) bool {
	for i := range t.Columns {
		col := &t.Columns[i]
		if _, ok := col.Value(row); ok && col.Name == name && fits(col) {
			return true
		}
	}
	return false
}

// crowd builds the reading of a way from a table.
func (b *builder) crowd(r *reading, t *expo.Crowd, from pattern, name string) {
	c := &crowd{
		builder: builder{compiler: &compiler{fronts: b.fronts}, d: b.d, w: b.w, signal: b.signal, kind: b.kind},
		table:   t, matches: from.matchers, largest: r.largest,
		value: none, inf: none, sum: none, count: none,
		byLabels: map[model.LabelSet]int32{}, twins: map[slot]int32{},
	}
	here := c.here()
	for i := range t.Columns {
		if t.Shown(i) || !here {
			c.pick(i, name)
		}
	}
	slices.SortStableFunc(c.buckets, func(i, j int) int { return cmp.Compare(t.Columns[i].Le, t.Columns[j].Le) })
	c.buckets = slices.CompactFunc(c.buckets, func(i, j int) bool { return t.Columns[i].Le == t.Columns[j].Le })
	for _, i := range c.buckets {
		c.bounds = append(c.bounds, b.w.scaled(t.Columns[i].Le))
	}
	r.crowd, r.metric = c, strings.TrimSuffix(name, from.name)+from.text
}

// pick takes a column of the table if the signal is read from it.
func (c *crowd) pick(i int, name string) {
	col := &c.table.Columns[i]
	bucket := col.Name == name+"_bucket"
	switch {
	case c.kind != model.Histogram:
		if col.Name == name && c.columnFits(col) {
			c.value = i
		}
	case bucket && c.columnFits(col) && math.IsInf(col.Le, 1):
		c.inf = i
	case bucket && c.columnFits(col):
		c.buckets = append(c.buckets, i)
	case col.Name == name+"_sum":
		c.sum = i
	case col.Name == name+"_count":
		c.count = i
	}
}

// goesOn reports whether the crowd reads what another one did, which knows the
// rows already.
func (c *crowd) goesOn(before *crowd) bool {
	return c.table == before.table && c.w == before.w && c.signal == before.signal &&
		c.value == before.value && c.inf == before.inf && c.sum == before.sum && c.count == before.count &&
		slices.Equal(c.buckets, before.buckets) && slices.Equal(c.fronts, before.fronts)
}

// here reports whether a row of the table is on the page.
func (c *crowd) here() bool {
	for row := range c.table.Rows() {
		if c.table.Seen(row) {
			return true
		}
	}
	return false
}

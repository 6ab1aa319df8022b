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

// builder builds the rows of one way.
type builder struct {
	*compiler
	d      *Dialect
	w      *way
	signal model.Signal
	kind   model.Kind
	copies int // the most process copies of one value
}

// rows are the series of the newest exposed name that the page has, and that
// name. Names on this page go before names that it had once.
func (b *builder) rows(names []pattern, suffix string) (metric string, rows []int) {
	for _, n := range names {
		for _, prefix := range b.d.under(b.w) {
			found := b.pick(prefix+n.name+suffix, n.matchers)
			if len(found) == 0 {
				continue
			}
			if slices.ContainsFunc(found, func(i int) bool { return b.page.Seen[i] }) {
				return prefix + n.text, found
			}
			if rows == nil {
				metric, rows = prefix+n.text, found
			}
		}
	}
	return metric, rows
}

func (b *builder) pick(name string, ms matchers) []int {
	var rows []int
	for _, i := range b.byName[name] {
		labels := b.page.Series[i].Labels
		if ms.match(labels) && b.d.only.match(labels) {
			rows = append(rows, i)
		}
	}
	return b.chosen(rows)
}

// chosen keeps the rows that the way's choice wants.
func (b *builder) chosen(rows []int) []int {
	ch := b.d.choose
	if ch == nil || b.w.Rows == "" {
		return rows
	}
	is := func(r regex) func(int) bool {
		return func(i int) bool { return r.MatchString(label(b.page.Series[i].Labels, ch.Label)) }
	}
	want := is(ch.Front)
	if b.w.Rows == rowsStep {
		if want = is(ch.Step); !slices.ContainsFunc(rows, want) {
			front := is(ch.Front)
			want = func(i int) bool { return !front(i) }
		}
	}
	if !slices.ContainsFunc(rows, want) {
		return rows
	}
	return slices.DeleteFunc(rows, func(i int) bool { return !want(i) })
}

// key is what tells samples of one signal apart.
type key struct {
	model, engine, reason string
	workflow, adapter     string
	kept                  model.LabelSet
}

func (k key) labels() model.LabelSet {
	pairs := []string{
		model.LabelModel, k.model, model.LabelEngine, k.engine, model.LabelReason, k.reason,
		model.LabelWorkflow, k.workflow, model.LabelAdapter, k.adapter,
	}
	for name, value := range k.kept.All {
		pairs = append(pairs, name, value)
	}
	return model.Labels(pairs...)
}

// place says where series i belongs: to which sample, to which part of it, and as
// which of several ranks that repeat that part.
func (b *builder) place(i int) (k key, part string, rank int) {
	labels := b.page.Series[i].Labels
	k, rank = b.locate(labels)
	return k, b.partText(labels), rank
}

// locate is the sample that a series with these labels belongs to, and its rank.
func (b *builder) locate(labels []expo.Label) (k key, rank int) {
	names := &b.d.labels
	k.model = b.d.named(labels, names.Model)
	if b.d.lowerModels {
		k.model = strings.ToLower(k.model)
	}
	if b.w.Rows == rowsStep && len(b.fronts) == 1 {
		k.model = b.fronts[0]
	}
	var engine []string
	for _, n := range names.Engine {
		if v := b.d.named(labels, n); v != "" {
			engine = append(engine, v)
		}
	}
	k.engine = strings.Join(engine, "/")
	k.reason = b.d.reasonIn(b.signal, labels)
	k.workflow, k.adapter = b.d.named(labels, names.Workflow), b.d.named(labels, names.Adapter)
	k.kept = b.kept(labels)
	for _, n := range names.Ranks {
		v, _ := strconv.Atoi(label(labels, n))
		rank = rank*maxRanks + min(v, maxRanks-1)
	}
	return k, rank
}

// partText tells the parts of a sample apart: the labels but for those that rows
// repeat one another in.
func (b *builder) partText(labels []expo.Label) string {
	var text strings.Builder
	for _, l := range labels {
		if !b.repeats(l.Name) {
			text.WriteString(l.Name + "\xff" + l.Value + "\xfe")
		}
	}
	return text.String()
}

// kept are the labels that samples carry under their own names.
func (b *builder) kept(labels []expo.Label) model.LabelSet {
	var pairs []string
	for _, name := range b.d.keep {
		pairs = append(pairs, name, label(labels, name))
	}
	return model.Labels(pairs...)
}

// repeats reports whether rows that differ in this label alone show one value
// several times. Processes repeat levels; their counters are shares of a total.
func (b *builder) repeats(name string) bool {
	return name == "le" || slices.Contains(b.d.labels.Ranks, name) ||
		b.kind == model.Gauge && slices.Contains(b.d.labels.Copies, name)
}

// maxRanks keeps the ranks of several dimensions apart in one number.
const maxRanks = 100_000

// named is the value of the first of the labels in "a|b" that is there and names
// something.
func (d *Dialect) named(labels []expo.Label, names string) string {
	for name := range strings.SplitSeq(names, "|") {
		if v := label(labels, name); v != "" && !slices.Contains(d.labels.Placeholders, v) {
			return v
		}
	}
	return ""
}

// part is one value of a sample: the rows that repeat it, by rank.
type part struct {
	key   string
	ranks []rank
}

// rank holds one rank's copies of a value.
type rank struct {
	number int
	rows   []int
}

// here counts the copies that stand on the page.
func (r *rank) here(p *expo.Page) int {
	n := 0
	for _, i := range r.rows {
		if p.Seen[i] {
			n++
		}
	}
	return n
}

// slot is where a series belongs, as place tells it.
type slot struct {
	key    key
	part   string
	number int // rank
}

// parts groups rows of one name into the parts of each sample, in the order in
// which they stand on the page. A page may have as many parts, or ranks, as it
// has lines, so each is found by a table.
func (b *builder) parts(rows []int) *grouped[[]part] {
	g := newGrouped[[]part]()
	partAt, rankAt := map[slot]int{}, map[slot]int{}
	for _, i := range rows {
		k, text, number := b.place(i)
		parts := g.at(k)
		at, known := partAt[slot{k, text, 0}]
		if !known {
			at = len(*parts)
			partAt[slot{k, text, 0}] = at
			*parts = append(*parts, part{key: text})
		}
		p := &(*parts)[at]
		r, known := rankAt[slot{k, text, number}]
		if !known {
			r = len(p.ranks)
			rankAt[slot{k, text, number}] = r
			p.ranks = append(p.ranks, rank{number: number})
		}
		p.ranks[r].rows = append(p.ranks[r].rows, i)
	}
	for _, parts := range g.all {
		for _, p := range *parts {
			for j := range p.ranks {
				b.copies = max(b.copies, p.ranks[j].here(b.page))
			}
			slices.SortFunc(p.ranks, func(a, b rank) int { return cmp.Compare(a.number, b.number) })
		}
	}
	return g
}

// grouped is a map that remembers the order in which its keys came.
type grouped[T any] struct {
	all  map[key]*T
	keys []key
}

func newGrouped[T any]() *grouped[T] { return &grouped[T]{all: map[key]*T{}} }

func (g *grouped[T]) at(k key) *T {
	t, ok := g.all[k]
	if !ok {
		t = new(T)
		g.all[k] = t
		g.keys = append(g.keys, k)
	}
	return t
}

// scalar builds gauges and counters.
func (b *builder) scalar(r *reading) bool {
	rows := newGrouped[row]()
	first := [][]pattern{b.w.From}
	if len(b.w.Sum) > 0 {
		first = nil
		for _, p := range b.w.Sum {
			first = append(first, []pattern{p})
		}
	}
	var names []string
	for _, n := range first {
		metric, ok := b.term(rows, opAdd, n)
		if !ok {
			return false
		}
		names = append(names, metric)
	}
	r.metric = strings.Join(names, " + ")
	for _, t := range []struct {
		op   op
		of   *pattern
		text string
	}{{opSubtract, b.w.Minus, " - "}, {opMultiply, b.w.Times, " × "}, {opDivide, b.w.Over, " / "}} {
		if t.of == nil {
			continue
		}
		metric, ok := b.term(rows, t.op, []pattern{*t.of})
		if !ok {
			return false
		}
		r.metric += t.text + metric
	}
	if len(b.w.Read) > 0 {
		r.metric += "{" + strings.Join(b.w.Read, " × ") + "}"
	}
	for _, k := range rows.keys {
		if one := rows.all[k]; one.complete(b.w) {
			one.labels = k.labels()
			r.rows = append(r.rows, *one)
		}
	}
	return len(r.rows) > 0
}

// term adds one operand to every row that has it.
func (b *builder) term(rows *grouped[row], o op, names []pattern) (metric string, ok bool) {
	metric, found := b.rows(names, "")
	if len(found) == 0 {
		return "", false
	}
	parts := b.parts(found)
	for _, k := range parts.keys {
		if rows.all[k] == nil && o != opAdd {
			continue // nothing to apply it to
		}
		t := term{op: o, removed: math.NaN()}
		if b.w.Removed != nil {
			t.removed = *b.w.Removed
		}
		for _, p := range *parts.all[k] {
			if c, ok := b.cell(p); ok {
				t.cells = append(t.cells, c)
			}
		}
		if len(t.cells) > 0 {
			rows.at(k).terms = append(rows.at(k).terms, t)
		}
	}
	return metric, true
}

// cell is the value of a part. It reports false where a label that its value
// depends on holds no number.
func (b *builder) cell(p part) (c cell, ok bool) {
	c = cell{ranks: p.ranks, constant: math.NaN(), weight: 1}
	if len(b.w.Read) > 0 {
		c.constant = b.labelProduct(p.ranks[0].rows[0])
		return c, !math.IsNaN(c.constant)
	}
	if b.w.Weight != "" {
		var err error
		c.weight, err = strconv.ParseFloat(label(b.page.Series[p.ranks[0].rows[0]].Labels, b.w.Weight), 64)
		return c, err == nil
	}
	return c, true
}

// labelProduct multiplies the numbers that stand in labels of a series.
func (b *builder) labelProduct(i int) float64 {
	product := 1.0
	for _, name := range b.w.Read {
		v, err := strconv.ParseFloat(label(b.page.Series[i].Labels, name), 64)
		if err != nil {
			return math.NaN()
		}
		product *= v
	}
	return product
}

// complete reports whether the row has the operands without which it means nothing.
func (r *row) complete(w *way) bool {
	has := func(o op) bool { return slices.ContainsFunc(r.terms, func(t term) bool { return t.op == o }) }
	return has(opAdd) && (w.Times == nil || has(opMultiply)) && (w.Over == nil || has(opDivide))
}

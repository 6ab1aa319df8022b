package dialect

import (
	"math"
	"slices"
	"sync/atomic"

	"slotop/model"
	"slotop/sources/expo"
)

// Plan is how the pages of one target are read: for each signal the rows of the
// page it is made of. It belongs to one target and one goroutine.
type Plan struct {
	*layout
	generation int         // of the page it was made for
	memory     *memory     // nil where no sample is a sum
	devices    *devicePlan // nil where the page tells of no device

	out   []model.Buckets // of each histogram in the order of the readings, reused from page to page
	state state           // as of the last Read
	about *model.About
	told  state // what about was made from
}

// layout is the part of a plan that follows from the series of a page alone.
// Targets with the same series share it, so nobody writes to it, but for what is
// known of a target's crowds: a layout with crowds is shared by none.
type layout struct {
	dialect  *Dialect
	speakers []*Dialect
	version  string
	models   []string
	notes    []string // that hold as long as the plan does
	readings []reading
	absent   []absence
	silence  silence
	gpus     *deviceLayout // nil where the page tells of no device

	// preferred are rows that were away when the plan was made, and something
	// older or vaguer was taken instead. When one is back the plan is made anew.
	preferred []int

	described atomic.Pointer[description] // the last one that a target needed
}

// description is what is said of a target in a certain state.
type description struct {
	of    state
	about *model.About
}

func newPlan(l *layout, p *expo.Page) *Plan {
	pl := &Plan{layout: l, generation: p.Generation}
	if slices.ContainsFunc(l.readings, func(r reading) bool { return r.sums() }) {
		pl.memory = &memory{}
	}
	if l.gpus != nil {
		pl.devices = newDevicePlan(l.gpus)
	}
	bounds := 0
	for i := range l.readings {
		for j := range l.readings[i].hists {
			bounds += 1 + len(l.readings[i].hists[j].bounds)
		}
	}
	counts := make([]float64, bounds)
	for i := range l.readings {
		for j := range l.readings[i].hists {
			b := l.readings[i].hists[j].bounds
			n := len(b) + 1
			pl.out = append(pl.out, model.Buckets{Bounds: b, Counts: counts[:n:n]})
			counts = counts[n:]
		}
	}
	return pl
}

// state is what a page can change about what is said of its target, one bit a
// reading.
type state struct {
	found     uint64 // gave at least one sample
	disagrees uint64 // ranks that should repeat a value do not
	cautioned uint64 // the mean is too small to be what its name says
	silent    bool   // the engine step counts nothing of what passes through
}

// reading is one signal of a plan.
type reading struct {
	absence // its signal, and what to think when the page has lost it
	kind    model.Kind
	way     *way
	metric  string // the exposed name
	copies  int    // the most process copies of one value
	largest bool   // rows that differ in labels we drop make the largest, not a sum
	rows    []row
	hists   []histRow
	crowd   *crowd // instead of rows and hists
}

// op is what an operand does to a row's value.
type op uint8

const (
	opAdd op = iota
	opSubtract
	opMultiply
	opDivide
)

// row is one gauge or counter sample.
type row struct {
	labels model.LabelSet
	terms  []term
}

// term is one operand of a row.
type term struct {
	op      op
	removed float64 // the value of what is gone for good, NaN for none
	cells   []cell
}

// cell is one value: the ranks that repeat it, the lowest first.
type cell struct {
	ranks    []rank
	constant float64 // read from labels, else NaN
	weight   float64 // what the value is multiplied with
}

// silence tells whether requests pass through a front that its step does not
// count: then what the step says of them means nothing.
type silence struct {
	front, step []int
	name        string
}

func (s *silence) now(p *expo.Page) bool {
	return moved(p, s.front) && len(s.step) > 0 && !moved(p, s.step)
}

func moved(p *expo.Page, rows []int) bool {
	for _, i := range rows {
		if p.Seen[i] && p.Values[i] > 0 {
			return true
		}
	}
	return false
}

// Continue takes over what another plan for the same target remembers of series
// that are gone: as long as the generation of its page is the same, and that of
// crowds as long as they are on it.
func (pl *Plan) Continue(before *Plan) {
	if pl.memory != nil && before.memory != nil && pl.generation == before.generation {
		pl.memory = before.memory
	}
	if pl.devices != nil && before.devices != nil && pl.generation == before.generation {
		pl.devices.goOn(before.devices)
	}
	for i := range pl.readings {
		c := pl.readings[i].crowd
		if c == nil {
			continue
		}
		for j := range before.readings {
			if was := before.readings[j].crowd; was != nil && c.goesOn(was) {
				pl.readings[i].crowd = was
			}
		}
	}
}

// Restarted tells the plan that the target's process is another one: what is
// gone from its page will not come back.
func (pl *Plan) Restarted() {
	if pl.memory != nil {
		pl.memory.forget()
	}
	for i := range pl.readings {
		if c := pl.readings[i].crowd; c != nil {
			c.forget()
		}
	}
}

// Read appends the page's samples to into, always in the same order. Histograms
// share storage with the plan: they are valid until the next Read.
func (pl *Plan) Read(p *expo.Page, into []model.Sample) []model.Sample {
	if slices.ContainsFunc(pl.preferred, func(i int) bool { return p.Seen[i] }) {
		again := pl.dialect.Compile(p)
		again.Continue(pl)
		*pl = *again
	}
	if pl.memory != nil {
		pl.memory.fit(p)
	}
	found := pl.state.found
	pl.state = state{silent: pl.silence.now(p)}
	out := pl.out
	for i := range pl.readings {
		r := &pl.readings[i]
		mine := out[:len(r.hists)]
		out = out[len(r.hists):]
		if r.way.IfCounted && pl.state.silent {
			continue
		}
		before := len(into)
		switch {
		case r.crowd != nil:
			into = pl.readCrowd(p, i, into)
		case r.kind == model.Histogram:
			into = pl.readHists(p, i, mine, into)
		default:
			into = pl.readRows(p, i, into)
		}
		if len(into) > before {
			pl.state.found |= 1 << i
		}
	}
	if p.Bad > 0 { // what a bad line hides has not gone away
		pl.state.found |= found
	}
	return into
}

func (pl *Plan) readHists(p *expo.Page, i int, out []model.Buckets, into []model.Sample) []model.Sample {
	r := &pl.readings[i]
	for j := range r.hists {
		b := &out[j]
		if !r.hists[j].read(p, b, pl.memory) {
			continue
		}
		into = append(into, model.Sample{
			Signal: r.signal, Labels: r.hists[j].labels, Kind: r.kind, Value: math.NaN(), Hist: b,
		})
		if r.way.warns(b) {
			pl.state.cautioned |= 1 << i
		}
	}
	return into
}

// warns reports whether the mean is too small to be what the signal's name says.
func (w *way) warns(b *model.Buckets) bool {
	return w.Caution != nil && b.N() > 0 && b.Sum.OK() && b.Sum.Value/b.N() < w.Caution.Below
}

// readCrowd reads a signal of very many series.
func (pl *Plan) readCrowd(p *expo.Page, i int, into []model.Sample) []model.Sample {
	r := &pl.readings[i]
	first, unset := len(into), true
	into = r.crowd.readInto(p, into)
	for j := first; j < len(into); j++ {
		s := &into[j]
		if s.Hist != nil {
			if r.way.warns(s.Hist) {
				pl.state.cautioned |= 1 << i
			}
			continue
		}
		unset = unset && r.isUnset(s.Value)
		s.Value = r.clean(s.Value)
	}
	r.unset(into[first:], unset)
	return into
}

func (pl *Plan) readRows(p *expo.Page, i int, into []model.Sample) []model.Sample {
	r := &pl.readings[i]
	first, unset := len(into), true
	var m *memory
	if r.kind == model.Counter && !r.largest {
		m = pl.memory
	}
	for j := range r.rows {
		v, ok := r.rows[j].read(p, r.kind, r.largest, m)
		if !ok {
			continue
		}
		unset = unset && r.isUnset(v)
		into = append(into, model.Sample{
			Signal: r.signal, Labels: r.rows[j].labels, Kind: r.kind, Value: r.clean(v),
		})
		if r.kind == model.Gauge && r.rows[j].disagrees(p) {
			pl.state.disagrees |= 1 << i
		}
	}
	r.unset(into[first:], unset)
	return into
}

// unset takes the values away where all of them say that there are none: one
// engine that counts proves that all do.
func (r *reading) unset(samples []model.Sample, all bool) {
	for i := range samples {
		if all && r.kind != model.Histogram {
			samples[i].Value = math.NaN()
		}
	}
}

func (r *reading) isUnset(v float64) bool { return r.way.Unset != nil && v == *r.way.Unset }

// clean turns marks that stand for "not available" into no number.
func (r *reading) clean(v float64) float64 {
	ratio := r.signal == model.KVUsage || r.signal == model.ReportedHitRatio
	if math.IsInf(v, 0) || ratio && v < 0 {
		return math.NaN()
	}
	return r.way.scaled(v)
}

// read computes the row's value. It reports false where the page has none of it.
func (r *row) read(p *expo.Page, kind model.Kind, largest bool, m *memory) (float64, bool) {
	m = r.look(p, m)
	v, found, subtracts := 0.0, false, false
	for i := range r.terms {
		t := &r.terms[i]
		x, ok := t.read(p, kind, largest, m)
		if !ok {
			if t.op == opAdd {
				continue
			}
			return math.NaN(), found
		}
		switch t.op {
		case opAdd:
			v, found = v+x, true
		case opSubtract:
			v, subtracts = v-x, true
		case opMultiply:
			v *= x
		case opDivide:
			if x == 0 {
				return math.NaN(), found
			}
			v /= x
		}
	}
	if subtracts {
		v = max(v, 0) // the two were not read at the same instant
	}
	return v, found
}

// read adds up the term's cells. A counter that lost one of them to a bad line
// has no value: a smaller sum would pass for a restart.
func (t *term) read(p *expo.Page, kind model.Kind, largest bool, m *memory) (float64, bool) {
	v, found := 0.0, false
	for i := range t.cells {
		c := &t.cells[i]
		x, ok := c.readWith(p, m)
		switch {
		case ok && x == t.removed:
		case !ok && p.Bad > 0 && kind != model.Gauge:
			v = math.NaN()
		case !ok:
		case !found:
			v, found = v+x, true
		case largest || !math.IsNaN(c.constant):
			v = max(v, x)
		default:
			v += x
		}
	}
	return v, found
}

// read takes the lowest rank on the page, and of its process copies the largest:
// a process that is gone leaves a smaller value behind, or 0.
func (c *cell) read(p *expo.Page) (float64, bool) {
	for i := range c.ranks {
		v, ok := c.ranks[i].read(p)
		if !ok {
			continue
		}
		if !math.IsNaN(c.constant) {
			return c.constant, true
		}
		return v * c.weight, true
	}
	return 0, false
}

func (r *rank) read(p *expo.Page) (v float64, ok bool) {
	for _, i := range r.rows {
		if !p.Seen[i] {
			continue
		}
		if !ok || p.Values[i] > v || math.IsNaN(v) {
			v, ok = p.Values[i], true
		}
	}
	return v, ok
}

// disagrees reports whether ranks that should repeat one value do not.
func (r *row) disagrees(p *expo.Page) bool {
	for i := range r.terms {
		for j := range r.terms[i].cells {
			c := &r.terms[i].cells[j]
			if len(c.ranks) < 2 || !math.IsNaN(c.constant) {
				continue
			}
			first, ok := c.ranks[0].read(p)
			for k := 1; ok && k < len(c.ranks); k++ {
				if v, here := c.ranks[k].read(p); here && v != first && !math.IsNaN(v) {
					return true
				}
			}
		}
	}
	return false
}

// anyRow is one line that shows whether the reading is on a page, none if there
// is no such line.
func (r *reading) anyRow() int {
	if r.crowd != nil {
		return none
	}
	if len(r.rows) > 0 {
		return r.rows[0].anyRow()
	}
	h := &r.hists[0]
	if h.counted() {
		return h.count.anyRow()
	}
	l := &h.parts[0][0]
	return max(l.count, l.buckets[len(l.buckets)-1])
}

func (r *row) anyRow() int { return r.terms[0].cells[0].ranks[0].rows[0] }

// onPage reports whether any line of the reading stands on the page.
func (r *reading) onPage(p *expo.Page) bool {
	if r.crowd != nil {
		return r.crowd.here()
	}
	for i := range r.rows {
		if _, ok := r.rows[i].read(p, r.kind, r.largest, nil); ok {
			return true
		}
	}
	for i := range r.hists {
		if r.hists[i].here(p) {
			return true
		}
	}
	return false
}

package dialect

import (
	"math"

	"slotop/model"
	"slotop/sources/expo"
)

// readInto appends the samples of the page, always in the same order, and leaves
// out those that nobody can tell the value of.
func (c *crowd) readInto(p *expo.Page, into []model.Sample) []model.Sample {
	c.admit()
	c.choose()
	c.compare()
	c.add(p.Bad > 0)
	for i := range c.samples {
		s := &c.samples[i]
		if !s.found || s.lost {
			continue
		}
		c.finish(s)
		one := model.Sample{Signal: c.signal, Labels: s.labels, Kind: c.kind, Value: s.value}
		if c.kind == model.Histogram {
			one.Value, one.Hist = math.NaN(), &s.out
		}
		into = append(into, one)
	}
	for _, row := range c.table.Gone() {
		c.letGo(row)
	}
	c.read = c.table.Page()
	return into
}

// admit finds the part of each row that is new since the last page.
func (c *crowd) admit() {
	for row := range c.table.Rows() {
		if row == len(c.rows) {
			c.rows = append(c.rows, crowdRow{part: none})
		}
		if c.table.Born(row) <= c.read {
			continue
		}
		c.labels = c.table.Labels(row, c.labels[:0])
		if !c.matches.match(c.labels) || !c.d.only.match(c.labels) {
			continue
		}
		k, rank := c.locate(c.labels)
		part := c.partOf(k, c.labels)
		c.parts[part].rows++
		c.rows[row] = crowdRow{part, rank}
	}
}

// partOf is the part of a row with these labels. Two rows have one part only if
// they differ in nothing but labels that repeat a value.
func (c *crowd) partOf(k key, labels []expo.Label) int32 {
	if !c.hasTwins(labels) {
		return c.newPart(k)
	}
	twin := slot{k, c.partText(labels), 0}
	part, known := c.twins[twin]
	if !known {
		part = c.newPart(k)
		c.twins[twin] = part
	}
	return part
}

func (c *crowd) hasTwins(labels []expo.Label) bool {
	for _, l := range labels {
		if c.repeats(l.Name) {
			return true
		}
	}
	return false
}

func (c *crowd) newPart(k key) int32 {
	sample := c.sampleOf(k.labels())
	c.samples[sample].parts++
	part := int32(len(c.parts))
	if last := len(c.spareParts) - 1; last >= 0 {
		part, c.spareParts = c.spareParts[last], c.spareParts[:last]
	} else {
		c.parts = append(c.parts, crowdPart{})
	}
	c.parts[part] = crowdPart{sample: sample, n: math.NaN()}
	return part
}

func (c *crowd) sampleOf(labels model.LabelSet) int32 {
	if i, known := c.byLabels[labels]; known {
		return i
	}
	i := int32(len(c.samples))
	if last := len(c.spareSamples) - 1; last >= 0 {
		i, c.spareSamples = c.spareSamples[last], c.spareSamples[:last]
	} else {
		c.samples = append(c.samples, crowdSample{})
		if c.kind == model.Histogram {
			c.samples[i].out = model.Buckets{Bounds: c.bounds, Counts: make([]float64, len(c.bounds)+1)}
		}
	}
	c.samples[i].labels = labels
	c.byLabels[labels] = i
	return i
}

// choose finds the row that counts for each part: the lowest rank, and of levels
// that process copies repeat the largest.
func (c *crowd) choose() {
	page := c.table.Page()
	for row, one := range c.rows {
		if one.part == none || !c.table.Seen(row) || !c.shows(row) {
			continue
		}
		p := &c.parts[one.part]
		if p.at != page || one.rank < p.rank || one.rank == p.rank && c.level(row) > c.level(int(p.row)) {
			p.at, p.row, p.rank = page, int32(row), one.rank
		}
	}
}

// shows reports whether a row has the lines that count, numbers or not.
func (c *crowd) shows(row int) bool {
	v, value := c.cell(c.value, row)
	if value && c.w.Removed != nil && v == *c.w.Removed {
		return false
	}
	_, inf := c.cell(c.inf, row)
	_, count := c.cell(c.count, row)
	return value || inf || count
}

// level is a gauge's value, 0 for what is no gauge.
func (c *crowd) level(row int) float64 {
	if c.kind != model.Gauge {
		return 0
	}
	v, _ := c.table.Columns[c.value].Value(row)
	return v
}

// compare sees which samples are on the page, and which of them begin anew.
func (c *crowd) compare() {
	for i := range c.samples {
		s := &c.samples[i]
		s.found, s.fell, s.lost, s.any = false, false, false, false
		s.value, s.out.Sum, s.out.Incomplete = 0, model.Of(0), false
		clear(s.out.Counts)
	}
	page := c.table.Page()
	for i := range c.parts {
		p := &c.parts[i]
		if p.rows == 0 || p.at != page {
			continue
		}
		s := &c.samples[p.sample]
		n, ok := c.n(int(p.row))
		s.found = s.found || ok
		s.fell = s.fell || n < p.n
		s.lost = s.lost || !ok
		if p.n = n; !ok {
			p.n = math.NaN()
		}
	}
}

// add adds up the parts of each sample. One that is gone stands still where
// others of its sum go on; a bad line may hide it: then the sum has no value this
// once. A sum that begins anew forgets it.
func (c *crowd) add(bad bool) {
	page := c.table.Page()
	for i := range c.parts {
		p := &c.parts[i]
		if p.rows == 0 {
			continue
		}
		s := &c.samples[p.sample]
		switch {
		case p.at == page:
			c.addRow(s, int(p.row))
		case !s.found || c.kind == model.Gauge || c.largest || math.IsNaN(p.n):
		case s.fell:
			p.n = math.NaN()
		case bad && p.at == c.read:
			s.lost = true
		default:
			c.addRow(s, int(p.row))
		}
	}
}

// n is what a row counts, and whether it says so. A value that is no number is a
// value all the same; a histogram's is none.
func (c *crowd) n(row int) (float64, bool) {
	if c.kind != model.Histogram {
		return c.cell(c.value, row)
	}
	if v, ok := c.finite(c.inf, row); ok {
		return v, true
	}
	return c.finite(c.count, row)
}

func (c *crowd) cell(column, row int) (float64, bool) {
	if column == none {
		return math.NaN(), false
	}
	return c.table.Columns[column].Value(row)
}

func (c *crowd) finite(column, row int) (float64, bool) {
	v, ok := c.cell(column, row)
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// addRow adds a row to a sample.
func (c *crowd) addRow(s *crowdSample, row int) {
	n, _ := c.n(row)
	if c.kind != model.Histogram {
		c.addValue(s, n)
		return
	}
	last := len(s.out.Counts) - 1
	s.out.Counts[last] += n
	s.out.Sum = s.out.Sum.Plus(c.sumOf(row))
	for i, column := range c.buckets {
		v, ok := c.finite(column, row)
		if !ok {
			s.out.Incomplete = true
			continue
		}
		s.out.Counts[i] += v
	}
	s.out.Incomplete = s.out.Incomplete || !c.agrees(row)
}

func (c *crowd) addValue(s *crowdSample, v float64) {
	switch {
	case !s.any:
		s.value, s.any = v, true
	case c.largest:
		s.value = max(s.value, v)
	default:
		s.value += v
	}
}

func (c *crowd) sumOf(row int) model.Reading {
	if v, ok := c.finite(c.sum, row); ok {
		return model.Of(v)
	}
	return model.Reading{}
}

// agrees reports whether the lines that say how much a histogram counts are
// there and say the same.
func (c *crowd) agrees(row int) bool {
	inf, ok := c.finite(c.inf, row)
	count, counted := c.finite(c.count, row)
	return ok && (!counted || count == inf)
}

// finish makes a sample of what was added up.
func (c *crowd) finish(s *crowdSample) {
	if s.fell {
		s.lump = nil
	}
	if c.kind != model.Histogram {
		if s.lump != nil {
			c.addValue(s, s.lump[0])
		}
		return
	}
	out := &s.out
	if s.lump != nil {
		n := len(out.Counts)
		for i := range out.Counts {
			out.Counts[i] += s.lump[i]
		}
		out.Sum.Value += s.lump[n]
		if math.IsNaN(s.lump[n]) {
			out.Sum = model.Reading{}
		}
	}
	if out.Sum.OK() {
		out.Sum.Value = c.w.scaled(out.Sum.Value)
	}
	if out.Incomplete { // a lost line must not make a count seem to fall
		total := out.N()
		for i, below := 0, 0.0; i < len(out.Bounds); i++ {
			out.Counts[i] = max(below, min(out.Counts[i], total))
			below = out.Counts[i]
		}
	}
}

// letGo forgets a row that the table gives up. What it counted stays in the sum
// that it was part of.
func (c *crowd) letGo(row int32) {
	part := c.rows[row].part
	if part == none {
		return
	}
	c.rows[row].part = none
	p := &c.parts[part]
	if p.rows--; p.rows > 0 {
		return // the row that counts was seen last of all: the others go with it
	}
	c.labels = c.table.Labels(int(row), c.labels[:0])
	if c.hasTwins(c.labels) {
		k, _ := c.locate(c.labels)
		delete(c.twins, slot{k, c.partText(c.labels), 0})
	}
	c.spareParts = append(c.spareParts, part)
	s := &c.samples[p.sample]
	if s.parts--; s.parts > 0 {
		c.keep(s, p)
		return
	}
	delete(c.byLabels, s.labels)
	s.labels, s.lump, s.found = model.LabelSet{}, nil, false
	c.spareSamples = append(c.spareSamples, p.sample)
}

// keep adds what a part counted last to its sample's lump.
func (c *crowd) keep(s *crowdSample, p *crowdPart) {
	if c.kind == model.Gauge || c.largest || math.IsNaN(p.n) {
		return
	}
	if s.lump == nil {
		s.lump = make([]float64, len(s.out.Counts)+1)
	}
	if c.kind != model.Histogram {
		s.lump[0] += p.n
		return
	}
	for i, column := range c.buckets {
		if v, ok := c.finite(column, int(p.row)); ok {
			s.lump[i] += v
		}
	}
	last := len(s.out.Counts) - 1
	s.lump[last] += p.n
	if sum := c.sumOf(int(p.row)); sum.OK() {
		s.lump[last+1] += sum.Value
	} else {
		s.lump[last+1] = math.NaN()
	}
}

// forget forgets what is gone: the process is another one.
func (c *crowd) forget() {
	for i := range c.parts {
		c.parts[i].n = math.NaN()
	}
	for i := range c.samples {
		c.samples[i].lump = nil
	}
}

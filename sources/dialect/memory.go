package dialect

import (
	"math"
	"slices"

	"slotop/model"
	"slotop/sources/expo"
)

// memory is what the rows of a target's sums showed last. A counter that is the
// sum of several rows, one a host for instance, must not shrink because one of
// them is gone: that would pass for a restart of all. So a row that is gone
// stands still: it keeps its last value, until it is back, another row of the
// same sum falls, or the process is known to have started anew. It is a row's
// index that is remembered, so it holds for one generation of the page.
type memory struct {
	last []float64 // by series; NaN: nothing is remembered of it
	away []bool    // by series: it was not on the last page
}

// fit makes room for the series of a page.
func (m *memory) fit(p *expo.Page) {
	for len(m.last) < len(p.Series) {
		m.last, m.away = append(m.last, math.NaN()), append(m.away, false)
	}
}

func (m *memory) forget() {
	for i := range m.last {
		m.last[i], m.away[i] = math.NaN(), false
	}
}

func (m *memory) note(row int, v float64) {
	m.away[row] = false
	if !math.IsNaN(v) {
		m.last[row] = v
	}
}

// held is the last value of a row that is not on the page. A bad line may hide
// the row: then it has no value this once, since that tells more than one that
// stands still.
func (m *memory) held(p *expo.Page, row int) (float64, bool) {
	hidden := p.Bad > 0 && !m.away[row]
	m.away[row] = true
	return m.last[row], !hidden && !math.IsNaN(m.last[row])
}

// id is the series under which a cell is remembered.
func (c *cell) id() int { return c.ranks[0].rows[0] }

// readWith is read, with the last value of a cell that is gone.
func (c *cell) readWith(p *expo.Page, m *memory) (float64, bool) {
	v, ok := c.read(p)
	switch {
	case m == nil:
		return v, ok
	case ok:
		m.note(c.id(), v)
		return v, true
	}
	return m.held(p, c.id())
}

// sums reports whether several rows make the row's value.
func (r *row) sums() bool { return len(r.terms) > 1 || len(r.terms[0].cells) > 1 }

// sums reports whether several rows make one of the reading's values.
func (r *reading) sums() bool {
	rows := slices.ContainsFunc(r.rows, func(one row) bool { return r.kind == model.Counter && !r.largest && one.sums() })
	return rows || slices.ContainsFunc(r.hists, func(h histRow) bool {
		return len(h.parts) > 1 || h.counted() && h.count.sums() || h.mean && h.meanOf.sums()
	})
}

// look prepares the memory for a row on this page. It is nil where the row has
// nothing that could stand still, and forgets a sum of which a part fell.
func (r *row) look(p *expo.Page, m *memory) *memory {
	if m == nil || !r.sums() {
		return nil
	}
	found, fell := false, false
	for i := range r.terms {
		for j := range r.terms[i].cells {
			c := &r.terms[i].cells[j]
			v, ok := c.read(p)
			found = found || ok && r.terms[i].op == opAdd
			fell = fell || ok && v < m.last[c.id()]
		}
	}
	if !found {
		return nil
	}
	for i := range r.terms {
		for j := range r.terms[i].cells {
			if fell {
				m.last[r.terms[i].cells[j].id()] = math.NaN()
			}
		}
	}
	return m
}

// look prepares the memory for a histogram on this page. It is nil where there
// is nothing to remember, since there is only one part.
func (h *histRow) look(p *expo.Page, m *memory) *memory {
	if m == nil || len(h.parts) < 2 {
		return nil
	}
	fell := false
	for _, ranks := range h.parts {
		if l := linesHere(p, ranks); l != nil {
			fell = fell || l.fell(p, m)
		}
	}
	if fell {
		h.each(func(row int) { m.last[row] = math.NaN() })
	}
	return m
}

// whole is here, where parts that are gone may stand still.
func (h *histRow) whole(p *expo.Page, m *memory) bool {
	if m == nil {
		return h.here(p)
	}
	found, lost := false, false
	for _, ranks := range h.parts {
		here := linesHere(p, ranks) != nil
		found = found || here
		for i := range ranks {
			l := &ranks[i]
			lost = lost || !here && (l.seen(p) || p.Bad > 0 && !l.away(m))
			l.each(func(row int) { m.away[row] = !here && !l.seen(p) })
		}
	}
	return found && !lost
}

// note remembers the lines that are on the page.
func (h *histRow) note(p *expo.Page, m *memory) {
	if m == nil {
		return
	}
	h.each(func(row int) {
		if v := valueOf(p, row); v.OK() {
			m.last[row] = v.Value
		}
	})
}

func (h *histRow) each(visit func(row int)) {
	for _, ranks := range h.parts {
		for i := range ranks {
			ranks[i].each(visit)
		}
	}
}

// each visits the lines of a histogram that exist.
func (l *histLines) each(visit func(row int)) {
	for _, row := range l.buckets {
		if row != none {
			visit(row)
		}
	}
	if l.sum != none {
		visit(l.sum)
	}
	if l.count != none {
		visit(l.count)
	}
}

func (l *histLines) fell(p *expo.Page, m *memory) bool {
	for _, row := range [...]int{l.inf(), l.count} {
		if v := valueOf(p, row); v.OK() && v.Value < m.last[row] {
			return true
		}
	}
	return false
}

// away reports whether the lines were not on the last page either.
func (l *histLines) away(m *memory) bool {
	return l.inf() != none && m.away[l.inf()] || l.count != none && m.away[l.count]
}

// known reports whether the lines were read before.
func (l *histLines) known(m *memory) bool {
	return l.inf() != none && !math.IsNaN(m.last[l.inf()]) || l.count != none && !math.IsNaN(m.last[l.count])
}

// standing are the lines of a part as they are, or, where it is gone, were.
func standing(p *expo.Page, ranks []histLines, m *memory) (l *histLines, held *memory) {
	if l = linesHere(p, ranks); l != nil || m == nil {
		return l, nil
	}
	for i := range ranks {
		if ranks[i].known(m) {
			return &ranks[i], m
		}
	}
	return nil, nil
}

// lineOf is what a line shows, or what it showed last where it is held.
func lineOf(p *expo.Page, row int, held *memory) model.Reading {
	if held == nil || row == none {
		return valueOf(p, row)
	}
	if math.IsNaN(held.last[row]) {
		return model.Reading{}
	}
	return model.Of(held.last[row])
}

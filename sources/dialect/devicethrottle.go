package dialect

import (
	"cmp"
	"math"

	"slotop/model"
	"slotop/sources/expo"
)

// throttleCells are the rows that tell why a device is slowed down.
type throttleCells struct {
	way   *throttleWay
	rows  []int
	about []reasons // of each row, where it names its reason
}

// throttle gives each GPU the rows of the first way that it has.
func (b *deviceBuilder) throttle() {
	for n := range b.spec.Throttle {
		w := &b.spec.Throttle[n]
		cells := map[int]*throttleCells{}
		for i, rows := range b.rowsByDevice(w.From, true) {
			for _, row := range rows {
				cells[i] = cells[i].with(w, row, w.about(b.page.Series[row].Labels))
			}
		}
		for _, reason := range throttleReasons {
			for _, p := range w.Flags[throttleReason(reason)] {
				for i, rows := range b.rowsByDevice([]pattern{p}, true) {
					for _, row := range rows {
						cells[i] = cells[i].with(w, row, throttleReason(reason).bit())
					}
				}
			}
		}
		for i, c := range cells {
			b.l.rows[i].throttle = cmp.Or(b.l.rows[i].throttle, c)
		}
	}
}

// with adds a row to cells that may be none yet.
func (c *throttleCells) with(w *throttleWay, row int, about reasons) *throttleCells {
	if c == nil {
		c = &throttleCells{way: w}
	}
	c.rows, c.about = append(c.rows, row), append(c.about, about)
	return c
}

// about is the reason that labels name, none where they name none that counts.
func (w *throttleWay) about(labels []expo.Label) reasons {
	if r, ok := w.Words[w.Label.of(labels)]; ok {
		return r.bit()
	}
	return 0
}

// throttled brings up to date why a device is slowed down. repeated says that
// nothing else of it moved since the last page: exporters collect less often than
// they are asked, and a counter that such a page repeats has not stood still.
func (d *devicePlan) throttled(p *expo.Page, r *deviceRows, dev *model.Device, repeated bool) {
	dev.Throttle, dev.ThrottleStatus = nil, model.NotExported
	c := r.throttle
	if c == nil {
		return
	}
	var set reasons
	for i, row := range c.rows {
		if !p.Seen[row] {
			continue
		}
		about, status := d.reasons(c, i, p.Values[row], repeated)
		set |= about
		if dev.ThrottleStatus != model.Measured {
			dev.ThrottleStatus = status
		}
	}
	if dev.ThrottleStatus == model.Measured {
		dev.Throttle = d.words(set)
	}
}

// reasons are those that one row tells of.
func (d *devicePlan) reasons(c *throttleCells, i int, v float64, repeated bool) (reasons, model.Status) {
	switch {
	case math.IsNaN(v):
		return 0, model.NotReady
	case d.spec.BlankFrom > 0 && v >= d.spec.BlankFrom:
		return 0, model.NotSupported
	case !(v >= 0 && v < 1<<53):
		return 0, model.BadSample
	case c.way.Grows:
		return d.growth(c.rows[i], c.about[i], v, repeated)
	case c.way.Bits != nil:
		return c.way.bits(int64(v)), model.Measured
	case v > 0:
		return c.about[i], model.Measured
	}
	return 0, model.Measured
}

// bits are the reasons in a mask.
func (w *throttleWay) bits(mask int64) (set reasons) {
	for r, bit := range w.Bits {
		if mask&bit != 0 {
			set |= r.bit()
		}
	}
	return set
}

// growth tells from a counter whether its reason held since the last page. The
// first page cannot say, nor one on which it began anew.
func (d *devicePlan) growth(row int, about reasons, v float64, repeated bool) (reasons, model.Status) {
	g, known := d.grown[row]
	switch {
	case !known || v < g.last:
		g = growth{last: v}
	case v > g.last:
		g = growth{last: v, grew: true, sure: true}
	case !repeated:
		g.grew, g.sure = false, true
	}
	d.grown[row] = g
	switch {
	case !g.sure:
		return 0, model.NotReady
	case g.grew:
		return about, model.Measured
	}
	return 0, model.Measured
}

// words are the reasons of a set. The same set is the same slice, and nobody
// writes to it.
func (d *devicePlan) words(set reasons) []string {
	if known, ok := d.sets[set]; ok {
		return known
	}
	var words []string
	for _, r := range throttleReasons {
		if set&throttleReason(r).bit() != 0 {
			words = append(words, r)
		}
	}
	d.sets[set] = words
	return words
}

// goOn takes over what another plan for the same series remembers.
func (d *devicePlan) goOn(before *devicePlan) { d.grown = before.grown }

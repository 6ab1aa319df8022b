package chart

import (
	"math"
	"unicode/utf8"
)

// axes draws both axes with their ticks. Where no line has a value the time axis
// is dashed: a gap is seen even under a line that lies at 0.
func (g *plotting) axes() {
	side, knot, corner := '│', '┤', '└'
	if g.ASCII {
		side, knot, corner = '|', '+', '+'
	}
	for y := range g.h {
		g.c.set(gutter, y, side, g.Rule)
	}
	for k := 1; k*g.scale.rows <= g.h; k++ {
		if g.Most > 0 && float64(k)*g.scale.step > g.Most*(1+1e-9) {
			break // no share is 120 %
		}
		y := g.h - k*g.scale.rows
		g.c.set(gutter, y, knot, g.Rule)
		g.label(y, g.Format(float64(k)*g.scale.step))
	}
	g.c.set(gutter, g.h, corner, g.Rule)
	g.label(g.h, "0")
	g.timeline()
}

// label writes a value right-aligned before the axis.
func (g *plotting) label(y int, s string) {
	n := utf8.RuneCountInString(s)
	g.c.text(max(gutter-n, 0), y, s, g.Label)
}

// timeline draws the axis, or says that there is nothing above it: then no time is
// worth reading, and none should seem to pass.
func (g *plotting) timeline() {
	known, some := g.known()
	foot := g.foot()
	foot.known = known
	if some {
		foot.draw()
		return
	}
	foot.times = false
	foot.draw()
	y := (g.h - 1) / 2
	if g.Objective > 0 && g.row(g.Objective)/dotsDown == y {
		y++
	}
	g.c.text(g.x0+1, y, cut(g.Empty, g.w-1), g.Label)
}

// foot is the time axis of the chart.
func (g *plotting) foot() footing {
	return footing{
		timescale: g.timescale, c: g.c, x0: g.x0, y: g.h, end: g.End, span: g.Span, marks: g.Marks, times: true, shared: g.Shared,
		label: g.Label, rule: g.Rule, mark: g.MarkInk, ascii: g.ASCII,
	}
}

// known tells for each cell column whether any line has a value there, and whether
// one has any at all. Points further apart than a cell cover the cells between them.
func (g *plotting) known() (known []bool, some bool) {
	known = make([]bool, g.w)
	for _, l := range g.Lines {
		values := g.shown(l.Values)
		for i, v := range values {
			if math.IsNaN(float64(v)) {
				continue
			}
			to := floorCell(g.point(i, len(values)))
			from := to
			if i > 0 && !math.IsNaN(float64(values[i-1])) {
				from = floorCell(g.point(i-1, len(values)))
			}
			for x := max(from, 0); x <= to && x < g.w; x++ {
				known[x], some = true, true
			}
		}
	}
	return known, some
}

// tags writes the texts at the right. Each takes the free row nearest to its own
// that keeps the order of the values; the earlier tags choose first. What would
// stand too far from its line is left out, but for the first two.
func (g *plotting) tags() {
	type placed struct {
		value float64
		row   int
	}
	var done []placed
	for i, t := range g.Tags {
		if math.IsNaN(t.Value) || t.Text == "" {
			continue
		}
		from, to := 0, g.h-1
		for _, p := range done {
			if p.value >= t.Value {
				from = max(from, p.row+1)
			} else {
				to = min(to, p.row-1)
			}
		}
		own := g.row(t.Value) / dotsDown
		row := min(max(own, from), to)
		if from > to || i > 1 && abs(row-own) > 1+g.h/8 {
			continue
		}
		done = append(done, placed{t.Value, row})
		g.c.text(g.x0+g.w+1, row, cut(g.tagText(t), g.TagWidth-1), t.Ink)
	}
}

// tagText says when the value lies above the scale.
func (g *plotting) tagText(t Tag) string {
	switch {
	case t.Value <= g.scale.top:
		return t.Text
	case g.ASCII:
		return t.Text + " ^"
	default:
		return t.Text + " ↑"
	}
}

// cut keeps the first n runes.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

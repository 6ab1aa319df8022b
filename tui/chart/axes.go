package chart

import (
	"cmp"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// axes draws both axes with their ticks. Where no line has a value the time
// axis is broken: a gap is seen even under a line that lies at 0.
func (g *plotting) axes() {
	side, knot, corner := '│', '┤', '└'
	if g.ASCII {
		side, knot, corner = '|', '+', '+'
	}
	for y := range g.h {
		g.c.set(gutter, y, side, g.Rule)
	}
	for k := 1; k*g.scale.rows <= g.h; k++ {
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

func (g *plotting) timeline() {
	line, gap, tick := '─', ' ', '┬'
	if g.ASCII {
		line, tick = '-', '+'
	}
	known := g.known()
	for x := range g.w {
		if g.c.at(g.x0+x, g.h) != ' ' {
			continue // a mark's letter
		}
		r := line
		if !known[x] {
			r = gap
		}
		g.c.set(g.x0+x, g.h, r, g.Rule)
	}
	every := tickSpan(g.per * dotsAcross * 10) // room for 00:00 and air
	if every < time.Minute {
		every = tickSpan(g.per * dotsAcross * 13) // for 00:00:00
	}
	free := 0
	first := g.End.Add(-g.Span).Truncate(every)
	for t := first; !t.After(g.End); t = t.Add(every) {
		x := g.cellBefore(g.End.Sub(t))
		text := clock(t, every)
		from := min(max(x-len(text)/2, 0), g.w-len(text))
		if x < 0 || from < free {
			continue
		}
		if r := g.c.at(g.x0+x, g.h); r == line || r == gap {
			g.c.set(g.x0+x, g.h, tick, g.Rule)
		}
		g.c.text(g.x0+from, g.h+1, text, g.Label)
		free = from + len(text) + 1
	}
}

// known tells for each cell column whether any line has a value there. Points
// further apart than a cell cover the cells between them.
func (g *plotting) known() []bool {
	known := make([]bool, g.w)
	for _, l := range g.Lines {
		values := g.shown(l.Values)
		for i, v := range values {
			if math.IsNaN(float64(v)) {
				continue
			}
			to := floorCell(g.column(i, len(values)))
			from := to
			if i > 0 && !math.IsNaN(float64(values[i-1])) {
				from = floorCell(g.column(i-1, len(values)))
			}
			for x := max(from, 0); x <= to && x < g.w; x++ {
				known[x] = true
			}
		}
	}
	return known
}

func floorCell(column int) int {
	if column < 0 {
		return -1
	}
	return column / dotsAcross
}

// tags writes the texts at the right, each as near to its height as the others
// allow.
func (g *plotting) tags() {
	tags := slices.Clone(g.Tags)
	tags = slices.DeleteFunc(tags, func(t Tag) bool { return math.IsNaN(t.Value) || t.Text == "" })
	if len(tags) > g.h {
		tags = tags[:g.h]
	}
	slices.SortStableFunc(tags, func(a, b Tag) int { return cmp.Compare(b.Value, a.Value) })
	rows := make([]int, len(tags))
	for i, t := range tags {
		rows[i] = g.row(t.Value) / dotsDown
	}
	spread(rows, g.h)
	for i, t := range tags {
		g.c.text(g.x0+g.w+1, rows[i], cut(g.tagText(t), g.TagWidth-1), t.Ink)
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

// spread moves ascending rows apart so that no two are equal, inside 0 to h-1.
func spread(rows []int, h int) {
	for i := 1; i < len(rows); i++ {
		rows[i] = max(rows[i], rows[i-1]+1)
	}
	limit := h - 1
	for i := len(rows) - 1; i >= 0; i-- {
		rows[i] = min(rows[i], limit)
		limit = rows[i] - 1
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

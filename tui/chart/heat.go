package chart

import (
	"math"
	"slices"
	"time"
)

// Heat is how values were spread over time: time across, the buckets of a histogram
// upwards, and in each cell how large a part of that moment's values lies there.
// Shares, not counts: more traffic does not repaint what was there before.
type Heat struct {
	W, H int

	Bounds []float64     // ascending upper edges of the buckets, without the infinite one
	Counts [][]float32   // [column][bucket], oldest first, the last bucket beyond Bounds; a nil column is a gap
	Step   time.Duration // between two columns
	Behind time.Duration // how long before End the last column ends

	Objective float64 // > 0: the row of its bucket is ruled, and what lies above has the other ink
	Tag       string  // at the right, in the objective's row
	TagWidth  int     // cells kept at the right for it
	Marks     []Mark
	Empty     string // said where no column has a value in the span
	Shared    bool   // times and ticks stand under a chart below: the axis takes one row

	Span   time.Duration // shown in all
	End    time.Time     // time of day at the right, in the zone to show
	Since  time.Duration // the same on a clock that nobody sets: it keeps columns still
	Format func(float64) string

	Ramp [Shades]Ink // from little to much
	Over [Shades]Ink // above the objective

	Label, Rule, ObjectiveInk, MarkInk Ink
	ASCII                              bool
}

// Shades is how many shades of a cell there are beside the blank one.
const Shades = 4

// shadeFrom is the least share of each shade. The first is whatever there is.
var shadeFrom = [Shades]float64{0, 0.05, 0.2, 0.5}

var (
	shadeRunes = [Shades]rune{'░', '▒', '▓', '█'}
	shadeASCII = [Shades]rune{'.', ':', '+', '#'}
)

// ShadeFrom is the least share, 0–1, of shade i, and its rune.
func ShadeFrom(i int, ascii bool) (float64, rune) {
	if ascii {
		return shadeFrom[i], shadeASCII[i]
	}
	return shadeFrom[i], shadeRunes[i]
}

// shadeOf is the shade of a share above 0.
func shadeOf(share float64) int {
	for i := Shades - 1; i > 0; i-- {
		if share >= shadeFrom[i] {
			return i
		}
	}
	return 0
}

// MinHeatH is the least height of a heat map with its times; less a row without them.
const MinHeatH = minPlotH + axisRows

// heating is a heat map being drawn.
type heating struct {
	Heat
	timescale
	c      *cells
	x0     int
	w, h   int
	counts [][]float64 // by cell column; nil: a gap
	rows   []band      // from the bottom
}

// band is the buckets that one row shows: from the first to the last, both included.
type band struct{ first, last int }

// Render draws the map in exactly W × H cells; where that is too small, it is blank.
func (m Heat) Render() string {
	c := newCells(max(m.W, 0), max(m.H, 0))
	g := &heating{Heat: m, c: c, x0: gutter + 1, w: m.W - gutter - 1 - m.TagWidth, h: m.H - axisRowsOf(m.Shared)}
	if g.w < minPlotW || g.h < minPlotH || m.Step <= 0 || m.Span <= 0 || len(m.Bounds) == 0 {
		return c.String()
	}
	g.timescale = timescaleOf(g.w, m.Span, m.Since)
	g.gather()
	g.rows = g.divide()
	g.fill()
	g.rule()
	g.axes()
	return c.String()
}

// gather adds up the columns that fall into each cell: those whose middle a column
// covers, else the one that its own middle falls into.
func (g *heating) gather() {
	g.counts = make([][]float64, g.w)
	n := len(g.Counts)
	for i, col := range g.Counts {
		if len(col) == 0 {
			continue
		}
		end := max(g.Behind+time.Duration(n-1-i)*g.Step, 0)
		from, to := g.middle(end+g.Step), g.middle(end)-1
		if i == n-1 { // the newest begins a cell that the next one takes over
			to = g.cell(end)
		}
		if from > to {
			from = g.cell(end + g.Step/2)
			to = from
		}
		from, to = max(from, 0), min(to, g.w-1)
		for x := from; x <= to; x++ {
			if g.counts[x] == nil {
				g.counts[x] = make([]float64, len(g.Bounds)+1)
			}
			for b := range min(len(col), len(g.counts[x])) {
				if v := float64(col[b]); v > 0 && v <= math.MaxFloat32 {
					g.counts[x][b] += v
				}
			}
		}
	}
}

// middle is the first cell whose middle is not before an instant.
func (g *heating) middle(before time.Duration) int {
	return floorCell(max(g.column(before)+1, -1))
}

// divide chooses the buckets of each row: those between the lowest and the highest
// with a value, the objective's among them. What does not fit is put together with
// its neighbours, never across the objective.
func (g *heating) divide() []band {
	lo, hi := len(g.Bounds), -1
	for _, col := range g.counts {
		for b, v := range col {
			if v > 0 {
				lo, hi = min(lo, b), max(hi, b)
			}
		}
	}
	if o := g.bucketOf(g.Objective); o >= 0 {
		lo, hi = min(lo, o), max(hi, min(o+1, len(g.Bounds)))
	}
	if hi < 0 {
		lo, hi = 0, len(g.Bounds)
	}
	for hi-lo+1 < min(minPlotH, len(g.Bounds)+1) { // one row alone would say nothing of its place
		lo, hi = max(lo-1, 0), min(hi+1, len(g.Bounds))
	}
	return bands(lo, hi, g.bucketOf(g.Objective), g.h)
}

// bucketOf is the bucket that holds a bound, -1 without one.
func (g *heating) bucketOf(v float64) int {
	if v <= 0 || math.IsNaN(v) {
		return -1
	}
	return bucketOf(g.Bounds, v)
}

// bucketOf is the bucket that holds v: (lower, upper], the last beyond all bounds.
func bucketOf(bounds []float64, v float64) int {
	i, _ := slices.BinarySearch(bounds, v*(1-1e-9))
	return i
}

// bands puts the buckets from lo to hi into at most h rows, the higher ones together
// first: they are the wider ones. The objective's bucket is the last of its row.
func bands(lo, hi, objective, h int) []band {
	var out []band
	for b := lo; b <= hi; b++ {
		out = append(out, band{b, b})
	}
	for len(out) > h {
		at := -1
		for i := len(out) - 2; i >= 0; i-- {
			if out[i].last == objective && len(out) > 2 {
				continue
			}
			if at < 0 || out[i+1].last-out[i].first < out[at+1].last-out[at].first {
				at = i
			}
		}
		out[at].last = out[at+1].last
		out = slices.Delete(out, at+1, at+2)
	}
	return out
}

// fill draws the cells. Where there is room a bucket takes several rows, all alike.
func (g *heating) fill() {
	for x, col := range g.counts {
		var all float64
		for _, v := range col {
			all += v
		}
		if all <= 0 {
			continue
		}
		for y := range g.used() {
			r := g.rows[y/g.tall()]
			var n float64
			for _, v := range col[r.first : r.last+1] {
				n += v
			}
			if n <= 0 {
				continue
			}
			i := shadeOf(n / all)
			ink := g.Ramp[i]
			if o := g.bucketOf(g.Objective); o >= 0 && r.first > o {
				ink = g.Over[i]
			}
			_, rune := ShadeFrom(i, g.ASCII)
			g.c.set(g.x0+x, g.h-1-y, rune, ink)
		}
	}
}

// tall is how many rows a bucket takes, used how many all of them do.
func (g *heating) tall() int { return max(g.h/len(g.rows), 1) }
func (g *heating) used() int { return min(len(g.rows)*g.tall(), g.h) }

// rule draws the dashed line through the blank cells of the objective's row.
func (g *heating) rule() {
	o := g.bucketOf(g.Objective)
	at := slices.IndexFunc(g.rows, func(r band) bool { return r.first <= o && o <= r.last })
	if o < 0 || at < 0 {
		return
	}
	y := g.h - at*g.tall() - g.tall() // its upper edge is the objective, or the next above it
	dash := '┄'
	if g.ASCII {
		dash = '-'
	}
	for x := range g.w {
		if g.c.at(g.x0+x, y) == ' ' {
			g.c.set(g.x0+x, y, dash, g.ObjectiveInk)
		}
	}
	if g.TagWidth > 1 {
		g.c.text(g.x0+g.w+1, y, cut(g.Tag, g.TagWidth-1), g.ObjectiveInk)
	}
}

// axes draws both: every row that has room is named by its upper edge, the last one
// by the edge that it lies beyond.
func (g *heating) axes() {
	side, knot, corner := '│', '┤', '└'
	if g.ASCII {
		side, knot, corner = '|', '+', '+'
	}
	for y := range g.h {
		g.c.set(gutter, y, side, g.Rule)
	}
	for i, r := range g.rows {
		y := g.h - i*g.tall() - g.tall()
		if y < 0 {
			break
		}
		g.c.set(gutter, y, knot, g.Rule)
		text := ""
		if r.last == len(g.Bounds) {
			text = ">" + g.Format(g.Bounds[max(r.first-1, 0)])
		} else {
			text = g.Format(g.Bounds[r.last])
		}
		g.label(y, text)
	}
	g.c.set(gutter, g.h, corner, g.Rule)
	g.foot()
}

// label writes a value right-aligned before the axis; with a blank behind its sign
// where there is room.
func (g *heating) label(y int, s string) {
	rs := []rune(s)
	if len(rs) > 1 && rs[0] == '>' && len(rs) < gutter {
		rs = slices.Insert(rs, 1, ' ')
	}
	rs = rs[:min(len(rs), gutter)]
	g.c.text(gutter-len(rs), y, string(rs), g.Label)
}

// foot draws the time axis: dashed where nothing is known.
func (g *heating) foot() {
	known, some := make([]bool, g.w), false
	for x, col := range g.counts {
		known[x] = col != nil
		some = some || known[x]
	}
	f := footing{
		timescale: g.timescale, c: g.c, x0: g.x0, y: g.h, end: g.End, span: g.Span, known: known, marks: g.Marks, times: some, shared: g.Shared,
		label: g.Label, rule: g.Rule, mark: g.MarkInk, ascii: g.ASCII,
	}
	f.uprights(g.h)
	f.draw()
	if !some {
		g.c.text(g.x0+1, (g.h-1)/2, cut(g.Empty, g.w-1), g.Label)
	}
}

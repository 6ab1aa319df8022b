package chart

import (
	"math"
	"time"
)

// Line is one value over time. NaN is a gap; an infinity is drawn at the top.
type Line struct {
	Values []float32
	Ink    Ink
	Over   Ink     // where the value is beyond Limit
	Limit  float64 // 0: there is none
	Under  bool    // beyond Limit is below it
	Letter rune    // without braille
	Dotted bool    // every other dot only, so that it differs without colour
	Sparse bool    // every fourth dot only, likewise
	Faint  bool    // it does not stretch the scale far beyond the others
}

// beyond compares as coarsely as values are kept: one at the limit is not beyond.
func (l Line) beyond(v float32) bool {
	limit := float32(l.Limit)
	return limit > 0 && (l.Under && v < limit || !l.Under && v > limit)
}

// every is how many dots it takes for one to be drawn.
func (l Line) every() int {
	switch {
	case l.Sparse:
		return 4
	case l.Dotted:
		return 2
	default:
		return 1
	}
}

// Band is a bracket around a line. NaN is a gap, +Inf reaches the top.
type Band struct {
	Lo, Hi []float32
	Ink    Ink
}

// Tag is a short text at the right, at the height of its value. Where two want one
// row the earlier one has it.
type Tag struct {
	Value float64
	Text  string
	Ink   Ink
}

// Mark is an instant, that long before the end, with its letter.
type Mark struct {
	Before time.Duration
	Letter rune
}

// Plot is a line chart over time. All values share one grid: point i of n lies
// (n-1-i)·Step before End. A later line lies over an earlier one.
type Plot struct {
	W, H int

	Lines     []Line
	Band      *Band
	Objective float64 // > 0: a dashed line
	Most      float64 // > 0: the scale ends here, whatever the values
	Tags      []Tag
	TagWidth  int // cells kept at the right for them
	Marks     []Mark
	Empty     string // said where no line has a value in the span
	Shared    bool   // times and ticks stand under a chart below: the axis takes one row

	Step   time.Duration
	Span   time.Duration // shown in all
	End    time.Time     // time of day of the last point, in the zone to show
	Since  time.Duration // the last point on a clock that nobody sets: it keeps columns still
	Format func(float64) string

	Label, Rule, ObjectiveInk, MarkInk Ink
	ASCII                              bool
}

// What a chart needs to be one.
const (
	gutter   = 7 // cells of the values at the left
	minPlotW = 12
	minPlotH = 2
	axisRows = 2
	hidden   = 4 // an objective this many times beyond all values would flatten them

	// faintMost is how far beyond the other lines a faint one may stretch the scale.
	faintMost = 2
)

// MinH is the least height of a chart.
const MinH = minPlotH + axisRows

// plotting is a chart being drawn.
type plotting struct {
	Plot
	c     *cells
	scale scale
	x0    int     // first column of the area
	w, h  int     // of the area, in cells
	drawn []uint8 // dots of the lines so far, a byte a cell
	timescale
}

// Render draws the chart in exactly W × H cells; where that is too small for
// one, it is blank.
func (p Plot) Render() string {
	c := newCells(max(p.W, 0), max(p.H, 0))
	g := &plotting{Plot: p, c: c, x0: gutter + 1, w: p.W - gutter - 1 - p.TagWidth, h: p.H - axisRowsOf(p.Shared)}
	if g.w < minPlotW || g.h < minPlotH || p.Step <= 0 || p.Span <= 0 {
		return c.String()
	}
	g.timescale = timescaleOf(g.w, p.Span, p.Since)
	g.scale = scaleTo(p.most(), g.h)
	g.lines()
	g.objective()
	g.foot().uprights(g.h)
	g.axes()
	g.tags()
	return c.String()
}

// most is the largest value that the scale must show. A bracket is not allowed
// to flatten the line inside it, nor a far objective everything.
func (p Plot) most() float64 {
	if p.Most > 0 {
		return p.Most
	}
	var most float64
	for _, l := range p.Lines {
		if !l.Faint {
			most = max(most, Largest(p.shown(l.Values)))
		}
	}
	for _, l := range p.Lines {
		if l.Faint {
			most = max(most, min(Largest(p.shown(l.Values)), faintMost*most))
		}
	}
	if p.Band != nil {
		if hi := Largest(p.shown(p.Band.Hi)); hi <= 2*most {
			most = max(most, hi)
		}
	}
	if p.Objective > 0 && (p.Objective <= hidden*most || most == 0) {
		most = max(most, p.Objective*1.1)
	}
	return most
}

// shown is the part of the values that lies in the span.
func (p Plot) shown(values []float32) []float32 {
	n := int(p.Span/p.Step) + 1
	return values[max(len(values)-n, 0):]
}

// Largest is the largest finite value, 0 when there is none.
func Largest(values []float32) float64 {
	var most float64
	for _, v := range values {
		if f := float64(v); f > most && !math.IsInf(f, 1) {
			most = min(f, maxTop)
		}
	}
	return most
}

// point is the column of dots of point i of n.
func (g *plotting) point(i, n int) int { return g.column(time.Duration(n-1-i) * g.Step) }

// row is the row of dots of a value, from the top; values off the scale stay at
// its ends.
func (g *plotting) row(v float64) int {
	rows := g.h * dotsDown
	f := min(max(v/g.scale.top, 0), 1)
	return min(rows-int(math.Round(f*float64(rows))), rows-1)
}

// side is the row of dots of a value of a line: never on the other side of the objective
// than the value is, whose rule lies in the middle of a cell.
func (g *plotting) side(v float32) int {
	y, limit := g.row(float64(v)), float32(g.Objective)
	middle := g.row(g.Objective)/dotsDown*dotsDown + dotsDown/2
	switch {
	case !g.ruled() || v == limit:
		return y
	case v > limit:
		return min(y, middle-1)
	default:
		return max(y, middle)
	}
}

// ruled reports whether the objective is drawn.
func (g *plotting) ruled() bool { return g.Objective > 0 && g.Objective <= g.scale.top }

// lines draws the band and the lines, the upper one over the lower one.
func (g *plotting) lines() {
	if g.Band != nil {
		g.lay(g.shade(*g.Band), g.Band.Ink, ':')
	}
	g.drawn = make([]uint8, g.w*g.h)
	for _, l := range g.Lines {
		within, over := g.trace(l)
		g.lay(within, l.Ink, l.Letter)
		g.lay(over, l.Over, l.Letter)
	}
}

// trace draws a line; what is beyond its limit is a layer of its own.
func (g *plotting) trace(l Line) (within, over *dots) {
	within, over = newDots(g.w, g.h), newDots(g.w, g.h)
	within.every, over.every = l.every(), l.every()
	values := g.shown(l.Values)
	var prev dot
	joined := false
	for i, v := range values {
		f := float64(v)
		if math.IsNaN(f) {
			joined = false
			continue
		}
		p := dot{g.point(i, len(values)), g.side(v)}
		if joined && p == prev {
			continue
		}
		layer := within
		if l.beyond(v) {
			layer = over
		}
		if !joined {
			prev = p
			if alone(values, i) {
				layer.set(p)
			}
		}
		layer.join(prev, p)
		prev, joined = p, true
	}
	return within, over
}

// alone reports whether a point has no neighbour: of a line that leaves out dots it would
// be none.
func alone(values []float32, i int) bool {
	known := func(j int) bool { return j >= 0 && j < len(values) && !math.IsNaN(float64(values[j])) }
	return !known(i-1) && !known(i+1)
}

// shade fills a bracket. Between two points it holds the earlier one.
func (g *plotting) shade(b Band) *dots {
	d := newDots(g.w, g.h)
	lo, hi := g.shown(b.Lo), g.shown(b.Hi)
	n := min(len(lo), len(hi))
	for i := range n {
		l, h := float64(lo[i]), float64(hi[i])
		if math.IsNaN(l) || math.IsNaN(h) {
			continue
		}
		next := g.point(min(i+1, n-1), n)
		for x := g.point(i, n); x <= next; x++ {
			d.shade(x, g.row(h), g.row(l))
		}
	}
	return d
}

// lay puts a layer of dots on the canvas. In a cell with dots of two layers both
// show, in the ink of the upper one; a band gives way to a line.
func (g *plotting) lay(d *dots, k Ink, letter rune) {
	for i, bits := range d.bits {
		if bits == 0 {
			continue
		}
		if g.drawn != nil {
			g.drawn[i] |= bits
			bits = g.drawn[i]
		}
		r := blankBraille + rune(bits)
		if g.ASCII {
			r = letter
		}
		g.c.set(g.x0+i%d.w, i/d.w, r, k)
	}
}

// objective draws the dashed line over all but the lines: a band gives way to it.
func (g *plotting) objective() {
	if !g.ruled() {
		return
	}
	dash := '┄'
	if g.ASCII {
		dash = '-'
	}
	y := g.row(g.Objective) / dotsDown
	for x := range g.w {
		if g.drawn[y*g.w+x] == 0 {
			g.c.set(g.x0+x, y, dash, g.ObjectiveInk)
		}
	}
}

package chart

import (
	"math"
	"slices"
	"unicode/utf8"
)

// XY is a point of a roofline: work a second over work a byte.
type XY struct{ X, Y float64 }

// drawable reports whether a point has a place on logarithmic axes.
func (p XY) drawable() bool { return positive(p.X) && positive(p.Y) }

// positive reports whether a value has a logarithm that is worth an axis: beyond
// these bounds nothing is a rate or a ratio of anything.
func positive(v float64) bool { return v > 1e-30 && v < 1e30 }

// Spot is a point with a sign of its own, and what the sign means. A later one lies
// over an earlier one.
type Spot struct {
	XY
	Sign rune
	Ink  Ink
	Text string
}

// Roofline is a roofline plot (Williams, Waterman and Patterson, CACM 2009): on
// logarithmic axes what can be reached is the lesser of the peak and of bandwidth
// times intensity. What is not a positive number is left out; what lies above the
// roof is drawn there.
type Roofline struct {
	W, H int

	Peak, Bandwidth float64 // the roof; 0: not known, and no roof
	Trail           []XY    // oldest first
	Spots           []Spot
	Empty           string // said where there is nothing to draw

	FormatX, FormatY func(float64) string // of ticks
	UnitX, UnitY     string               // at the ends of the axes
	RidgeText        string               // beside the ridge
	TrailText        string               // what the trail is
	PeakText         string               // how the peaks are known

	Label, Rule, Roof Ink
	Ages              [3]Ink // of the trail: the oldest third first
	ASCII             bool
}

// What a roofline needs to be one.
const (
	roofGutter = 6 // cells of the values at the left, with a blank before
	// MinRoofW and MinRoofH are the least size of a roofline.
	MinRoofW = roofGutter + 1 + 16
	MinRoofH = 4 + axisRows
)

// decades bounds both axes: points further below are drawn at the edge, or a moment
// without load would flatten all the others.
const decades = 4

// roofing is a roofline being drawn.
type roofing struct {
	Roofline
	c        *cells
	x0, w, h int
	x, y     logScale
	above    []int // in each row, the cells left of the roof
}

// logScale maps the logarithms from lo to hi onto n dots.
type logScale struct {
	lo, hi float64
	n      int
}

// at is the dot of a value, counted from the low end; what lies off the scale stays
// at its ends.
func (s logScale) at(v float64) int {
	f := (math.Log10(v) - s.lo) / (s.hi - s.lo)
	return min(max(int(math.Round(f*float64(s.n-1))), 0), s.n-1)
}

// value is the value at a dot.
func (s logScale) value(dot int) float64 {
	return math.Pow(10, s.lo+(s.hi-s.lo)*float64(dot)/float64(max(s.n-1, 1)))
}

// Render draws the plot in exactly W × H cells; where that is too small for one it
// is blank.
func (r Roofline) Render() string {
	c := newCells(max(r.W, 0), max(r.H, 0))
	if r.W < MinRoofW || r.H < MinRoofH {
		return c.String()
	}
	g := &roofing{Roofline: r, c: c, x0: roofGutter + 1, w: r.W - roofGutter - 1, h: r.H - axisRows}
	if !g.scales() {
		g.frame()
		c.text(g.x0+1, g.h/2, cut(r.Empty, g.w-1), r.Label)
		return c.String()
	}
	g.frame()
	g.ticks()
	drawn := g.trail()
	g.roof(drawn)
	for _, s := range r.Spots {
		if s.drawable() {
			x, y := g.dot(s.XY)
			c.set(g.x0+x/dotsAcross, y/dotsDown, s.Sign, s.Ink)
		}
	}
	g.ridge()
	g.legend()
	return c.String()
}

// known reports whether there is a roof.
func (r Roofline) known() bool {
	return positive(r.Peak) && positive(r.Bandwidth) && positive(r.Peak/r.Bandwidth)
}

// scales chooses the axes, in whole decades, so that they stand still while points
// move: the roof with the ridge inside, the spots, and the trail but for its outermost
// points, one of which would flatten all the others. It is false where there is
// nothing to show.
func (g *roofing) scales() bool {
	xs, ys := g.inner()
	for _, s := range g.Spots {
		if s.drawable() {
			xs, ys = append(xs, s.X), append(ys, s.Y)
		}
	}
	top := 0.0
	if g.known() {
		ridge := g.Peak / g.Bandwidth
		xs, ys = append(xs, ridge*3, ridge/10), append(ys, g.Peak, g.Peak/30)
		top = g.Peak * 1.3
	}
	if len(xs) == 0 {
		return false
	}
	g.x = wholeDecades(xs, g.w*dotsAcross)
	g.y = wholeDecades(ys, g.h*dotsDown)
	if g.known() { // the roof is the upper end: nothing but an error lies above it
		above := top
		for _, y := range ys {
			above = max(above, y*1.3)
		}
		g.y.hi = math.Log10(above)
		g.y.lo = max(g.y.lo, math.Floor(g.y.hi)-decades+1)
	}
	return true
}

// inner is the coordinates of the trail without a twentieth at either end; what lies
// outside of the axes for it is drawn at their edge.
func (g *roofing) inner() (xs, ys []float64) {
	for _, p := range g.Trail {
		if p.drawable() {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	slices.Sort(xs)
	slices.Sort(ys)
	n := len(xs) / 20
	return xs[n : len(xs)-n], ys[n : len(ys)-n]
}

// wholeDecades is the scale from the power of ten below the least value to that above
// the largest, of at most so many decades.
func wholeDecades(values []float64, n int) logScale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, math.Floor(math.Log10(v))), max(hi, math.Ceil(math.Log10(v)))
	}
	if hi <= lo {
		hi = lo + 1
	}
	return logScale{max(lo, hi-decades), hi, n}
}

// dot is the place of a point in dots from the top left.
func (g *roofing) dot(p XY) (x, y int) { return g.x.at(p.X), g.y.n - 1 - g.y.at(p.Y) }

// frame draws both axes.
func (g *roofing) frame() {
	side, corner, line := '│', '└', '─'
	if g.ASCII {
		side, corner, line = '|', '+', '-'
	}
	for y := range g.h {
		g.c.set(roofGutter, y, side, g.Rule)
	}
	g.c.set(roofGutter, g.h, corner, g.Rule)
	for x := range g.w {
		g.c.set(g.x0+x, g.h, line, g.Rule)
	}
}

// ticks labels powers of ten, where there is room also three times them, and at the
// left the peak.
func (g *roofing) ticks() {
	taken := map[int]bool{}
	if g.known() {
		g.tickY(g.Peak, taken)
	}
	for _, v := range logTicks(g.y, dotsDown*5) {
		g.tickY(v, taken)
	}
	tick := '┬'
	if g.ASCII {
		tick = '+'
	}
	unit := " " + g.UnitX
	free, end := 0, g.w-utf8.RuneCountInString(unit)
	for _, v := range logTicks(g.x, dotsAcross*14) {
		x := g.x.at(v) / dotsAcross
		text := g.FormatX(v)
		n := utf8.RuneCountInString(text)
		from := min(max(x-n/2, 0), g.w-n)
		if from < free {
			continue
		}
		if x < end {
			g.c.set(g.x0+x, g.h, tick, g.Rule)
		}
		g.c.text(g.x0+from, g.h+1, text, g.Label)
		free = from + n + 1
	}
	g.c.text(g.x0+end, g.h, unit, g.Label)
}

// tickY labels a value at the left, unless its row or one beside it has a label.
func (g *roofing) tickY(v float64, taken map[int]bool) {
	knot := '┤'
	if g.ASCII {
		knot = '+'
	}
	y := (g.y.n - 1 - g.y.at(v)) / dotsDown
	if taken[y-1] || taken[y] || taken[y+1] {
		return
	}
	taken[y] = true
	text := g.FormatY(v)
	g.c.set(roofGutter, y, knot, g.Rule)
	g.c.text(max(roofGutter-1-utf8.RuneCountInString(text), 0), y, cut(text, roofGutter-1), g.Label)
}

// logTicks are the powers of ten of a scale, and three times them where a decade has
// at least that many dots.
func logTicks(s logScale, roomy int) []float64 {
	per := float64(s.n) / (s.hi - s.lo)
	var out []float64
	for e := math.Ceil(s.lo - 1e-9); e <= s.hi+1e-9; e++ {
		out = append(out, math.Pow(10, e))
		if three := e + math.Log10(3); per >= float64(roomy) && three < s.hi {
			out = append(out, 3*math.Pow(10, e))
		}
	}
	return out
}

// asciiAges are the trail without braille, the oldest third first.
var asciiAges = [3]rune{'.', ':', 'o'}

// trail draws where the point was, the newest over the older ones, and returns its
// dots.
func (g *roofing) trail() *dots {
	all := newDots(g.w, g.h)
	n := len(g.Trail)
	for i, p := range g.Trail {
		if !p.drawable() {
			continue
		}
		age := min(3*i/n, 2)
		x, y := g.dot(p)
		all.set(dot{x, y})
		cx, cy := x/dotsAcross, y/dotsDown
		sign := blankBraille + rune(all.bits[cy*g.w+cx])
		if g.ASCII {
			sign = asciiAges[age]
		}
		g.c.set(g.x0+cx, cy, sign, g.Ages[age])
	}
	return all
}

// roof draws the roof; in a cell that the trail has, both show.
func (g *roofing) roof(trail *dots) {
	g.above = make([]int, g.h)
	for y := range g.above {
		g.above[y] = g.w
	}
	if !g.known() {
		return
	}
	line := newDots(g.w, g.h)
	for x := range g.x.n {
		to := min(g.Peak, g.Bandwidth*g.x.value(x))
		from := min(g.Peak, g.Bandwidth*g.x.value(max(x-1, 0)))
		if math.Log10(from) >= g.y.lo { // it enters the picture at its lower edge
			line.join(dot{max(x-1, 0), g.y.n - 1 - g.y.at(from)}, dot{x, g.y.n - 1 - g.y.at(to)})
		}
	}
	lowest := 0
	for i, bits := range line.bits {
		if y := i / g.w; bits != 0 {
			g.above[y], lowest = min(g.above[y], i%g.w), y
		}
		switch {
		case bits == 0 || g.ASCII && trail.bits[i] != 0:
		case g.ASCII:
			g.c.set(g.x0+i%g.w, i/g.w, '#', g.Roof)
		default:
			g.c.set(g.x0+i%g.w, i/g.w, blankBraille+rune(bits|trail.bits[i]), g.Roof)
		}
	}
	for y := lowest + 1; y < g.h; y++ {
		g.above[y] = 0
	}
}

// ridge marks the intensity from which compute is the lower roof, with its text on
// the side that has room.
func (g *roofing) ridge() {
	if !g.known() {
		return
	}
	rule := '┊'
	if g.ASCII {
		rule = '|'
	}
	at := g.x.at(g.Peak/g.Bandwidth) / dotsAcross
	from := (g.y.n-1-g.y.at(g.Peak))/dotsDown + 1
	for y := from; y < g.h; y++ {
		if g.c.at(g.x0+at, y) == ' ' {
			g.c.set(g.x0+at, y, rule, g.Rule)
		}
	}
	n := utf8.RuneCountInString(g.RidgeText)
	for y := g.h - 1; y >= from; y-- {
		for _, x := range []int{at + 2, at - 1 - n} {
			if x >= 0 && x+n <= g.w && g.blank(x, y, n) {
				g.c.text(g.x0+x, y, g.RidgeText, g.Label)
				return
			}
		}
	}
}

// blank reports whether n cells are free, and the one on each side of them is but for
// the ridge.
func (g *roofing) blank(x, y, n int) bool {
	for i := max(x-1, 0); i < min(x+n+1, g.w); i++ {
		edge := i < x || i == x+n
		if r := g.c.at(g.x0+i, y); r != ' ' && !(edge && (r == '┊' || r == '|')) {
			return false
		}
	}
	return true
}

// legend says what the signs are: above the roof, where nothing else can be, and what
// finds no room there right below, near the axis.
func (g *roofing) legend() {
	next := make([]int, g.h)
	for _, it := range g.items() {
		n := it.width()
		if n == 0 {
			continue
		}
		placed := false
		for y := 0; y < g.h && !placed; y++ {
			if x := next[y] + 1; x+n < g.above[y] && g.blank(x, y, n) {
				g.item(it, x, y)
				next[y], placed = x+n+1, true
			}
		}
		for i := 0; i < g.h*(g.w-n) && !placed; i++ { // from the right end of the lowest row on
			if x, y := g.w-n-i%(g.w-n), g.h-1-i/(g.w-n); g.blank(x-1, y, n+2) {
				g.item(it, x, y)
				placed = true
			}
		}
	}
}

// legendItem is a sign, or none, and its meaning.
type legendItem struct {
	sign rune
	ink  Ink
	text string
}

func (it legendItem) width() int {
	n := utf8.RuneCountInString(it.text)
	if n > 0 && it.sign != 0 {
		n += 2
	}
	return n
}

func (g *roofing) items() []legendItem {
	out := []legendItem{{text: g.UnitY}}
	for i := len(g.Spots) - 1; i >= 0; i-- {
		if s := g.Spots[i]; s.drawable() {
			out = append(out, legendItem{s.Sign, s.Ink, s.Text})
		}
	}
	trace := '⠒'
	if g.ASCII {
		trace = asciiAges[2]
	}
	return append(out, legendItem{trace, g.Ages[2], g.TrailText}, legendItem{text: g.PeakText})
}

func (g *roofing) item(it legendItem, x, y int) {
	x += g.x0
	if it.sign != 0 {
		g.c.set(x, y, it.sign, it.ink)
		x += 2
	}
	g.c.text(x, y, it.text, g.Label)
}

package chart

// A braille cell has dots of its own.
const (
	dotsAcross = 2
	dotsDown   = 4
)

// blankBraille is the pattern without a dot.
const blankBraille = '\u2800'

// dotBits is the bit of each dot of a cell in its rune, by row and column.
var dotBits = [dotsDown][dotsAcross]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// dot is a place in a layer, in dots from the top left.
type dot struct{ x, y int }

// dots is one layer of a plot at the resolution of braille dots, a byte a cell.
type dots struct {
	w, h  int // in cells
	bits  []uint8
	every int // a line draws one dot of so many
}

func newDots(w, h int) *dots { return &dots{w: w, h: h, bits: make([]uint8, w*h), every: 1} }

// set marks a dot; outside of the layer it does nothing.
func (d *dots) set(p dot) {
	if p.x < 0 || p.y < 0 || p.x >= d.w*dotsAcross || p.y >= d.h*dotsDown {
		return
	}
	d.bits[p.y/dotsDown*d.w+p.x/dotsAcross] |= dotBits[p.y%dotsDown][p.x%dotsAcross]
}

// join marks the straight line between two dots, both included. Which dots it
// leaves out depends on their place alone: it does not creep.
func (d *dots) join(a, b dot) {
	dx, dy := b.x-a.x, b.y-a.y
	n := max(abs(dx), abs(dy))
	steep := abs(dy) > abs(dx)
	for i := range n + 1 {
		p := a
		if i > 0 {
			p = dot{a.x + roundDiv(dx*i, n), a.y + roundDiv(dy*i, n)}
		}
		if steep && p.y%d.every == 0 || !steep && p.x%d.every == 0 {
			d.set(p)
		}
	}
}

// shade fills column x from top to bottom thinly, so that a line over it shows.
func (d *dots) shade(x, top, bottom int) {
	if x%2 != 0 {
		return
	}
	for y := max(top+top%2, 0); y <= min(bottom, d.h*dotsDown-1); y += 2 {
		d.set(dot{x, y})
	}
}

// roundDiv is a/b rounded to the nearest integer, for b > 0.
func roundDiv(a, b int) int {
	if a < 0 {
		return -((-2*a + b) / (2 * b))
	}
	return (2*a + b) / (2 * b)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

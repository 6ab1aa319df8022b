package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// canvas is a picture that is being drawn. Across it is as wide as the page allows, so
// that x is in percent; down it is in pixels, as text is, which stays readable on a
// phone. Shapes are drawn in a field of its own that is stretched to the width.
type canvas struct {
	b      strings.Builder
	height int
}

// fieldWidth is how many units of the stretched field are 100 %.
const fieldWidth = 1000

func (c *canvas) f(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// open begins a stretched field of the canvas' height, close ends it.
func (c *canvas) open() {
	c.f(`<svg viewBox="0 0 %d %d" width="100%%" height="%d" preserveAspectRatio="none">`, fieldWidth, c.height, c.height)
}

func (c *canvas) close() { c.b.WriteString("</svg>") }

// text writes words at a place; anchor is start, middle or end.
func (c *canvas) text(class string, x, y float64, anchor, s string) {
	c.f(`<text%s x="%s%%" y="%s" text-anchor="%s">%s</text>`, classed(class), coord(x), coord(y), anchor, plain(s))
}

// beside writes words left of the field.
func (c *canvas) beside(y float64, s string) {
	c.f(`<text x="-6" y="%s" text-anchor="end">%s</text>`, coord(y), plain(s))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.f(`<line class="%s" x1="%s%%" y1="%s" x2="%s%%" y2="%s"/>`, class, coord(x1), coord(y1), coord(x2), coord(y2))
}

func (c *canvas) rect(class string, x, y, width, height float64) {
	c.f(`<rect class="%s" x="%s%%" y="%s" width="%s%%" height="%s"/>`, class, coord(x), coord(y), coord(width), coord(height))
}

func (c *canvas) dot(class string, x, y, r float64, says string) {
	c.f(`<circle class="%s" cx="%s%%" cy="%s" r="%s">`, class, coord(x), coord(y), coord(r))
	if says != "" {
		c.f("<title>%s</title>", plain(says))
	}
	c.b.WriteString("</circle>")
}

func (c *canvas) path(class, d string) {
	if d != "" {
		c.f(`<path class="%s" d="%s"/>`, class, d)
	}
}

// coord is a coordinate with as many decimals as can be seen.
func coord(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	v = math.Round(v*100) / 100
	if v == 0 {
		return "0" // and not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// trace is a path through points; one that is unknown is a gap, one between two gaps a
// dot.
func trace(xs, ys []float64) string {
	var b strings.Builder
	on := false
	for i := range ys {
		if math.IsNaN(ys[i]) {
			on = false
			continue
		}
		if !on {
			b.WriteString("M" + coord(xs[i]) + " " + coord(ys[i]))
			if i+1 == len(ys) || math.IsNaN(ys[i+1]) {
				b.WriteString("h0")
			}
			on = true
			continue
		}
		b.WriteString("L" + coord(xs[i]) + " " + coord(ys[i]))
	}
	return b.String()
}

// area is the shape between two lines; where either is unknown it ends.
func area(xs, lo, hi []float64) string {
	var b strings.Builder
	for i := 0; i < len(xs); {
		if math.IsNaN(lo[i]) || math.IsNaN(hi[i]) {
			i++
			continue
		}
		j := i
		for j+1 < len(xs) && !math.IsNaN(lo[j+1]) && !math.IsNaN(hi[j+1]) {
			j++
		}
		for k := i; k <= j; k++ {
			b.WriteString(pen(k == i) + coord(xs[k]) + " " + coord(hi[k]))
		}
		for k := j; k >= i; k-- {
			b.WriteString("L" + coord(xs[k]) + " " + coord(lo[k]))
		}
		b.WriteString("Z")
		i = j + 1
	}
	return b.String()
}

func pen(first bool) string {
	if first {
		return "M"
	}
	return "L"
}

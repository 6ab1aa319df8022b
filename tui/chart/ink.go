// Package chart turns numbers into cells: line charts in braille, sparklines
// and meters. It is handed numbers, styles and a formatter; it knows neither
// what they measure nor which theme is on.
package chart

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Ink is a style reduced to the bytes before and after a run of text, so that
// writing a run costs two copies. The zero Ink writes plain text.
type Ink struct{ on, off string }

// NewInk reduces a style. Only its colours and attributes count.
func NewInk(s lipgloss.Style) Ink {
	on, off, _ := strings.Cut(s.Render("x"), "x")
	return Ink{on, off}
}

// Write appends text in this ink.
func (k Ink) Write(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	b.WriteString(k.on)
	b.WriteString(text)
	b.WriteString(k.off)
}

// Paint is text in this ink.
func (k Ink) Paint(text string) string {
	if text == "" || k.on == "" {
		return text
	}
	return k.on + text + k.off
}

// cells is a grid of cells, each one rune one cell wide.
type cells struct {
	w, h  int
	runes []rune
	inks  []Ink
}

func newCells(w, h int) *cells {
	c := &cells{w: w, h: h, runes: make([]rune, w*h), inks: make([]Ink, w*h)}
	for i := range c.runes {
		c.runes[i] = ' '
	}
	return c
}

// set writes one cell; outside of the canvas it does nothing.
func (c *cells) set(x, y int, r rune, k Ink) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	c.runes[y*c.w+x], c.inks[y*c.w+x] = r, k
}

// at is the rune of a cell, a space outside of the canvas.
func (c *cells) at(x, y int) rune {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return ' '
	}
	return c.runes[y*c.w+x]
}

// text writes a string of narrow runes from x on.
func (c *cells) text(x, y int, s string, k Ink) {
	for _, r := range s {
		c.set(x, y, r, k)
		x++
	}
}

// String joins the lines, writing each run of one ink once: a style a cell would
// cost ten times the bytes. Blank cells take the ink before them.
func (c *cells) String() string {
	var b strings.Builder
	b.Grow(len(c.runes) * 3)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		c.line(&b, y)
	}
	return b.String()
}

func (c *cells) line(b *strings.Builder, y int) {
	var on Ink
	for x := y * c.w; x < (y+1)*c.w; x++ {
		if r, k := c.runes[x], c.inks[x]; r != ' ' && k != on {
			b.WriteString(on.off)
			b.WriteString(k.on)
			on = k
		}
		b.WriteRune(c.runes[x])
	}
	b.WriteString(on.off)
}

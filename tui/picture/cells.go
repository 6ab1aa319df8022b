package picture

import (
	"fmt"
	"image/color"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"slotop/tui/layout"
)

// cell is one place of the screen. What is wide stands in the first of its two; the
// second is empty.
type cell struct {
	text  string // one character as people count them, "" for nothing
	width int
	style style
}

// style is how a cell looks, with the colours that it comes to.
type style struct {
	fore, back              string // #rrggbb
	bold, italic, underline bool
}

// pen is the style while a drawing is read.
type pen struct {
	fore, back                       string // "" is the terminal's own
	bold, italic, underline, reverse bool
}

// cells reads a drawing line by line into a grid of a size; what lies beyond is cut.
func cells(drawn string, size layout.Size, ink, back string) [][]cell {
	rows := make([][]cell, size.H)
	var p pen
	lines := strings.Split(drawn, "\n")
	for y := range rows {
		rows[y] = make([]cell, size.W)
		if y < len(lines) {
			p.row(rows[y], lines[y], ink, back)
		}
	}
	return rows
}

// row reads one line.
func (p *pen) row(row []cell, line, ink, back string) {
	parser := ansi.NewParser()
	x := 0
	var state byte
	for len(line) > 0 {
		text, width, n, next := ansi.DecodeSequence(line, state, parser)
		state, line = next, line[max(n, 1):]
		if width == 0 {
			if ansi.Cmd(parser.Command()).Final() == 'm' && strings.HasPrefix(text, "\x1b[") {
				p.set(parser.Params())
			}
			continue
		}
		if x+width <= len(row) { // the styles of what is cut still count
			row[x] = cell{text: printable(text), width: width, style: p.style(ink, back)}
		}
		x += width
	}
}

// printable is text without what XML and people cannot read.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff {
			return -1
		}
		if r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
}

func (p *pen) style(ink, back string) style {
	s := style{fore: p.fore, back: p.back, bold: p.bold, italic: p.italic, underline: p.underline}
	if s.fore == "" {
		s.fore = ink
	}
	if s.back == "" {
		s.back = back
	}
	if p.reverse {
		s.fore, s.back = s.back, s.fore
	}
	return s
}

// set takes one sequence of attributes and colours.
func (p *pen) set(params ansi.Params) {
	if len(params) == 0 {
		*p = pen{}
		return
	}
	for i := 0; i < len(params); i++ {
		n := params[i].Param(0)
		switch {
		case n == 38 || n == 48:
			c, used := extended(params[i+1:])
			if n == 38 {
				p.fore = c
			} else {
				p.back = c
			}
			i += used
		case n >= 30 && n <= 37:
			p.fore = indexed(n - 30)
		case n >= 90 && n <= 97:
			p.fore = indexed(n - 90 + 8)
		case n >= 40 && n <= 47:
			p.back = indexed(n - 40)
		case n >= 100 && n <= 107:
			p.back = indexed(n - 100 + 8)
		default:
			p.attribute(n)
		}
	}
}

func (p *pen) attribute(n int) {
	switch n {
	case 0:
		*p = pen{}
	case 1:
		p.bold = true
	case 3:
		p.italic = true
	case 4:
		p.underline = true
	case 7:
		p.reverse = true
	case 22:
		p.bold = false
	case 23:
		p.italic = false
	case 24:
		p.underline = false
	case 27:
		p.reverse = false
	case 39:
		p.fore = ""
	case 49:
		p.back = ""
	}
}

// extended reads the colour after a 38 or 48, and how many numbers it takes.
func extended(rest ansi.Params) (hex string, used int) {
	at := func(i int) int { return rest[i].Param(0) & 0xff }
	switch {
	case len(rest) >= 2 && rest[0].Param(0) == 5:
		return indexed(at(1)), 2
	case len(rest) >= 4 && rest[0].Param(0) == 2:
		return hexOf(color.RGBA{R: uint8(at(1)), G: uint8(at(2)), B: uint8(at(3)), A: 0xff}), 4
	}
	return "", len(rest)
}

// sixteen are the colours of xterm.
var sixteen = [16]string{
	"#000000", "#cd0000", "#00cd00", "#cdcd00", "#1e90ff", "#cd00cd", "#00cdcd", "#e5e5e5",
	"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
}

// indexed is one of the 256 colours: sixteen, a cube of six steps, and greys.
func indexed(n int) string {
	switch {
	case n < 16:
		return sixteen[n]
	case n >= 232:
		g := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", g, g, g)
	}
	step := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6%6), step(n%6))
}

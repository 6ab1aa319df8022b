package picture

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"slotop/tui/layout"
)

// family is what an SVG asks for: every system has one of them.
const family = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

// SVG is a drawing of a size in cells as an SVG on a background such as #1e1e1e. It
// stands alone: no script, no font and no picture of others.
func SVG(drawn string, size layout.Size, back string) ([]byte, error) {
	s, err := read(drawn, size, back)
	if err != nil {
		return nil, err
	}
	d := &document{screen: s, classes: map[style]string{}, inks: map[string]*ink{}}
	for y, row := range s.rows {
		d.row(y, row)
	}
	return []byte(d.String()), nil
}

// document collects the parts of an SVG.
type document struct {
	*screen
	backs   strings.Builder
	texts   strings.Builder
	styles  strings.Builder
	classes map[style]string // of letters, without their background
	inks    map[string]*ink  // shapes by colour
	order   []string         // of the inks, by first use
}

// ink is all shapes of one colour.
type ink struct {
	path strings.Builder
	dots strings.Builder
	last rect // not written yet: it may go on in the next cell
}

func (d *document) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n",
		d.width(), d.height(), d.width(), d.height())
	fmt.Fprintf(&b, "<title>slotop</title>\n<style>text{font:%dpx %s;white-space:pre;direction:ltr;unicode-bidi:bidi-override}%s</style>\n",
		fontSize, family, d.styles.String())
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n", d.width(), d.height(), d.back)
	b.WriteString(d.backs.String())
	for _, colour := range d.order {
		d.inks[colour].write(&b, colour)
	}
	b.WriteString(d.texts.String())
	b.WriteString("</svg>\n")
	return b.String()
}

// row draws one line of the screen, in runs of cells that look the same.
func (d *document) row(y int, row []cell) {
	for x := 0; x < len(row); {
		end := x + 1
		for end < len(row) && row[end].text != "" && row[end].style == row[x].style || end < len(row) && row[end].width == 0 && row[end-1].width == 2 {
			end++
		}
		d.run(y, x, row[x:end])
		x = end
	}
}

// run draws cells of one style.
func (d *document) run(y, x int, run []cell) {
	if run[0].text == "" {
		return
	}
	s := run[0].style
	if s.back != d.screen.back {
		fmt.Fprintf(&d.backs, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n",
			margin+x*cellW, margin+y*cellH, len(run)*cellW, cellH, s.back)
	}
	from := -1 // of the letters not written yet
	for i, c := range run {
		r, _ := utf8.DecodeRuneInString(c.text)
		sh, drawn := shapeOf(r)
		wide := c.width != 1
		code, control := controlCode(r)
		plain := c.text != "" && c.text != " " && !drawn && !wide && !control
		blank := c.text == " " && i+1 < len(run) && run[i+1].text != " "
		if !plain && !(blank && from >= 0) && from >= 0 {
			d.letters(y, x+from, run[from:i])
			from = -1
		}
		switch {
		case drawn:
			d.shape(y, x+i, sh, s)
		case control:
			d.number(y, x+i, code, s)
		case c.width == 2:
			d.letters(y, x+i, run[i:i+1])
		case plain && from < 0:
			from = i
		}
	}
	if from >= 0 {
		d.letters(y, x+from, run[from:])
	}
	if s.underline {
		d.rect(d.ink(s.fore), rect{float64(margin + x*cellW), float64(margin + y*cellH + baseline + 2), float64(len(run) * cellW), thin})
	}
}

// letters writes text of exactly as many cells as it has in the terminal, whatever
// the font is.
func (d *document) letters(y, x int, run []cell) {
	var text strings.Builder
	width := 0
	for _, c := range run {
		text.WriteString(c.text)
		width += c.width
	}
	trimmed := strings.TrimRight(text.String(), " ")
	width -= len(text.String()) - len(trimmed)
	if trimmed == "" {
		return
	}
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(trimmed))
	fmt.Fprintf(&d.texts, `<text class="%s" x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
		d.class(run[0].style), margin+x*cellW, margin+y*cellH+baseline, width*cellW, escaped.String())
}

// number stands for a control character that is shown: a frame with its code.
func (d *document) number(y, x int, code string, s style) {
	d.shape(y, x, frame(1), s)
	fmt.Fprintf(&d.texts, `<text class="%s" style="font-size:%spx" x="%s" y="%s" textLength="6" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
		d.class(s), num(tinySize), num(margin+float64(x*cellW)+1.5), num(margin+float64(y*cellH)+tinyLine+tinyStep/2), code)
}

// class is the name of a style of letters.
func (d *document) class(s style) string {
	s.back, s.underline = "", false
	if c, ok := d.classes[s]; ok {
		return c
	}
	c := "s" + strconv.Itoa(len(d.classes))
	d.classes[s] = c
	fmt.Fprintf(&d.styles, ".%s{fill:%s", c, s.fore)
	if s.bold {
		d.styles.WriteString(";font-weight:bold")
	}
	if s.italic {
		d.styles.WriteString(";font-style:italic")
	}
	d.styles.WriteString("}")
	return c
}

// shape adds a character's shapes to those of its colour.
func (d *document) shape(y, x int, sh shape, s style) {
	colour := s.fore
	if sh.share > 0 {
		colour = mixed(s.fore, s.back, sh.share)
	}
	k := d.ink(colour)
	dx, dy := float64(margin+x*cellW), float64(margin+y*cellH)
	for _, r := range sh.rects {
		d.rect(k, rect{r.x + dx, r.y + dy, r.w, r.h})
	}
	for _, p := range sh.polys {
		for i, at := range p {
			k.path.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + num(at.x+dx) + " " + num(at.y+dy))
		}
		k.path.WriteString("Z")
	}
	for _, at := range sh.dots {
		k.dots.WriteString("M" + num(at.x+dx) + " " + num(at.y+dy) + "h0")
	}
}

func (d *document) ink(colour string) *ink {
	k := d.inks[colour]
	if k == nil {
		k = &ink{}
		d.inks[colour] = k
		d.order = append(d.order, colour)
	}
	return k
}

// rect adds a rectangle, or makes the last one longer that it touches.
func (d *document) rect(k *ink, r rect) {
	const near = 1e-6
	if k.last.w > 0 && k.last.y == r.y && k.last.h == r.h && r.x >= k.last.x && r.x <= k.last.x+k.last.w+near {
		k.last.w = max(k.last.w, r.x+r.w-k.last.x)
		return
	}
	k.flush()
	k.last = r
}

func (k *ink) flush() {
	if r := k.last; r.w > 0 {
		k.path.WriteString("M" + num(r.x) + " " + num(r.y) + "h" + num(r.w) + "v" + num(r.h) + "h" + num(-r.w) + "z")
	}
	k.last = rect{}
}

func (k *ink) write(b *strings.Builder, colour string) {
	k.flush()
	if k.path.Len() > 0 {
		fmt.Fprintf(b, `<path fill="%s" d="%s"/>`+"\n", colour, k.path.String())
	}
	if k.dots.Len() > 0 {
		fmt.Fprintf(b, `<path stroke="%s" stroke-width="%s" stroke-linecap="round" d="%s"/>`+"\n", colour, num(dot), k.dots.String())
	}
}

// num is a number with as many digits as can be seen.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

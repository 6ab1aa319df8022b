package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"slotop/tui/layout"
)

// scale is pixels a unit: sharp on the screens that have two for one.
const scale = 2

// PNG is a drawing of a size in cells as a PNG on a background such as #1e1e1e. A
// character that the Go Mono font lacks and that is no shape stands as a frame with
// its number in it.
func PNG(drawn string, size layout.Size, back string) ([]byte, error) {
	s, err := read(drawn, size, back)
	if err != nil {
		return nil, err
	}
	p, err := newPainter(s)
	if err != nil {
		return nil, err
	}
	for y, row := range s.rows {
		for x, c := range row {
			if c.text != "" {
				p.cell(x, y, c)
			}
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, p.image); err != nil {
		return nil, fmt.Errorf("write the picture: %w", err)
	}
	return b.Bytes(), nil
}

// letters of a style: bold is 1, italic is 2.
const styles = 4

// painter draws cells on an image.
type painter struct {
	image *image.RGBA
	fonts [styles]*sfnt.Font
	faces [styles]font.Face
	tiny  font.Face // for the numbers of what no font has
	buf   sfnt.Buffer
}

func newPainter(s *screen) (*painter, error) {
	p := &painter{image: image.NewRGBA(image.Rect(0, 0, s.width()*scale, s.height()*scale))}
	for i, ttf := range [styles][]byte{gomono.TTF, gomonobold.TTF, gomonoitalic.TTF, gomonobolditalic.TTF} {
		var err error
		if p.fonts[i], err = opentype.Parse(ttf); err != nil {
			return nil, fmt.Errorf("read the font: %w", err)
		}
		if p.faces[i], err = face(p.fonts[i], fontSize); err != nil {
			return nil, err
		}
	}
	var err error
	if p.tiny, err = face(p.fonts[0], tinySize); err != nil {
		return nil, err
	}
	fill(p.image, p.image.Bounds(), s.back)
	return p, nil
}

func face(f *sfnt.Font, size float64) (font.Face, error) {
	out, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size * scale, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, fmt.Errorf("read the font: %w", err)
	}
	return out, nil
}

func fill(im *image.RGBA, r image.Rectangle, colour string) {
	c, err := parseHex(colour)
	if err == nil {
		draw.Draw(im, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
}

// cell draws one character on its background.
func (p *painter) cell(x, y int, c cell) {
	at := point{float64(margin + x*cellW), float64(margin + y*cellH)}
	area := image.Rect(int(at.x)*scale, int(at.y)*scale, (int(at.x)+c.width*cellW)*scale, (int(at.y)+cellH)*scale)
	fill(p.image, area, c.style.back)
	fore, err := parseHex(c.style.fore)
	if err != nil {
		return
	}
	r, _ := utf8.DecodeRuneInString(c.text)
	switch sh, drawn := shapeOf(r); {
	case drawn:
		if sh.share > 0 {
			fore, _ = parseHex(mixed(c.style.fore, c.style.back, sh.share))
		}
		p.shape(at, sh, fore)
	case p.has(r, c):
		p.text(at.x, at.y+baseline, c.text, p.faces[styleOf(c.style)], fore)
	case strings.TrimSpace(c.text) != "":
		p.number(at, r, c.width, fore)
	}
	if c.style.underline {
		p.shape(at, shape{rects: []rect{{0, baseline + 2, float64(c.width * cellW), thin}}}, fore)
	}
}

func styleOf(s style) int {
	i := 0
	if s.bold {
		i++
	}
	if s.italic {
		i += 2
	}
	return i
}

// has reports whether the font has a character.
func (p *painter) has(r rune, c cell) bool {
	i, err := p.fonts[styleOf(c.style)].GlyphIndex(&p.buf, r)
	return err == nil && i != 0 && c.width == 1
}

func (p *painter) text(x, y float64, text string, face font.Face, c color.RGBA) {
	d := font.Drawer{Dst: p.image, Src: image.NewUniform(c), Face: face, Dot: fixed.Point26_6{X: pixels(x), Y: pixels(y)}}
	d.DrawString(text)
}

func pixels(v float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(v * scale * 64)) }

// number stands for a character that no font has: a frame with its code in it, which
// tells one from another.
func (p *painter) number(at point, r rune, width int, c color.RGBA) {
	p.shape(at, frame(width), c)
	code, control := controlCode(r)
	if control {
		p.text(at.x+1, at.y+tinyLine+tinyStep/2, code, p.tiny, c)
		return
	}
	if code = fmt.Sprintf("%04X", r); len(code) == 5 {
		code = "0" + code
	}
	per := 2 * width
	for i := 0; i < len(code); i += per {
		p.text(at.x+0.9+0.3*float64(width), at.y+tinyLine+tinyStep*float64(i/per), code[i:min(i+per, len(code))], p.tiny, c)
	}
}

// shape fills a character's shapes.
func (p *painter) shape(at point, s shape, c color.RGBA) {
	b := bounds(s)
	area := image.Rect(int(math.Floor((at.x+b.x)*scale)), int(math.Floor((at.y+b.y)*scale)),
		int(math.Ceil((at.x+b.x+b.w)*scale)), int(math.Ceil((at.y+b.y+b.h)*scale)))
	if area.Empty() {
		return
	}
	z := vector.NewRasterizer(area.Dx(), area.Dy())
	figure := func(points []point) {
		for i, q := range points {
			x, y := float32((at.x+q.x)*scale-float64(area.Min.X)), float32((at.y+q.y)*scale-float64(area.Min.Y))
			if i == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
	for _, r := range s.rects {
		figure([]point{{r.x, r.y}, {r.x + r.w, r.y}, {r.x + r.w, r.y + r.h}, {r.x, r.y + r.h}})
	}
	for _, f := range s.polys {
		figure(f)
	}
	for _, at := range s.dots {
		figure(around(at, dot/2))
	}
	z.Draw(p.image, area, image.NewUniform(c), image.Point{})
}

// around is a circle about a point.
func around(at point, r float64) []point {
	out := onCircle(r, 12)
	for i := range out {
		out[i].x += at.x - markX
		out[i].y += at.y - markY
	}
	return out
}

// bounds is the rectangle that holds a shape.
func bounds(s shape) rect {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	add := func(p point) {
		lo = point{min(lo.x, p.x), min(lo.y, p.y)}
		hi = point{max(hi.x, p.x), max(hi.y, p.y)}
	}
	for _, r := range s.rects {
		add(point{r.x, r.y})
		add(point{r.x + r.w, r.y + r.h})
	}
	for _, f := range s.polys {
		for _, p := range f {
			add(p)
		}
	}
	for _, d := range s.dots {
		add(point{d.x - dot/2, d.y - dot/2})
		add(point{d.x + dot/2, d.y + dot/2})
	}
	if lo.x > hi.x {
		return rect{}
	}
	return rect{lo.x, lo.y, hi.x - lo.x, hi.y - lo.y}
}

// Package picture turns a drawn screen, the styled text that a terminal would be
// given, into an SVG or a PNG. Lines, blocks, braille and marks are drawn as shapes,
// so that they look the same everywhere and join without gaps; letters are text. It
// knows nothing of what the screen shows.
package picture

import (
	"fmt"
	"image/color"
	"strconv"

	"slotop/tui/layout"
)

// A cell of a picture, the frame around all, and the letters, in units of an SVG.
const (
	cellW    = 9
	cellH    = 19
	margin   = 12
	fontSize = 15
	baseline = 14 // of a line of letters, below the cell's top
)

// maxCells bounds a picture: the largest terminals have a tenth.
const maxCells = 1 << 18

// The text of a terminal that names no colour, by its background.
const (
	inkOnDark  = "#e4e6e9"
	inkOnLight = "#22252a"
)

// screen is what a picture is made of.
type screen struct {
	size layout.Size
	rows [][]cell
	back string
	ink  string
}

// read takes a drawing apart, on a background such as #1e1e1e.
func read(drawn string, size layout.Size, back string) (*screen, error) {
	c, err := parseHex(back)
	if err != nil {
		return nil, err
	}
	if size.W < 1 || size.H < 1 || size.W > maxCells/size.H {
		return nil, fmt.Errorf("draw a picture of %d by %d cells: that is not the size of a screen", size.W, size.H)
	}
	s := &screen{size: size, back: back, ink: inkOnDark}
	if light(c) {
		s.ink = inkOnLight
	}
	s.rows = cells(drawn, size, s.ink, back)
	return s, nil
}

// width and height of the picture in units.
func (s *screen) width() int  { return s.size.W*cellW + 2*margin }
func (s *screen) height() int { return s.size.H*cellH + 2*margin }

// parseHex reads #rrggbb.
func parseHex(s string) (color.RGBA, error) {
	if len(s) == 7 && s[0] == '#' {
		if v, err := strconv.ParseUint(s[1:], 16, 32); err == nil {
			return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}, nil
		}
	}
	return color.RGBA{}, fmt.Errorf("colour %q is not #rrggbb", s)
}

func hexOf(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// light reports whether dark letters are the ones to read on a colour.
func light(c color.RGBA) bool {
	return 299*int(c.R)+587*int(c.G)+114*int(c.B) > 128*1000
}

// mixed is a share of one colour over another, both #rrggbb.
func mixed(over, under string, share float64) string {
	a, errA := parseHex(over)
	b, errB := parseHex(under)
	if errA != nil || errB != nil {
		return over
	}
	mix := func(x, y uint8) uint8 { return uint8(float64(x)*share + float64(y)*(1-share) + 0.5) }
	return hexOf(color.RGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff})
}

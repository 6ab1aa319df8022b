package picture

import (
	"fmt"
	"math"
)

// point is a place within a cell or a picture, in units, downwards.
type point struct{ x, y float64 }

// rect is an upright rectangle.
type rect struct{ x, y, w, h float64 }

// shape is what a character is drawn as.
type shape struct {
	rects []rect
	polys [][]point // closed; an inner one runs the other way round
	dots  []point   // of one size
	share float64   // how much of the colour is seen, 0 for all of it
}

// dot is the diameter of a dot of a braille character.
const dot = 2.5

// Thickness of lines.
const (
	thin  = 1.25
	thick = 3.0
)

// shapeOf is how a character is drawn, and whether it is: letters are not.
func shapeOf(r rune) (shape, bool) {
	switch {
	case r >= 0x2500 && r <= 0x257f:
		return box(r)
	case r >= 0x2580 && r <= 0x259f:
		return block(r), true
	case r >= 0x2800 && r <= 0x28ff:
		return braille(r), true
	}
	s, ok := marks[r]
	return s, ok
}

// braille has its dots in the order of their bits.
func braille(r rune) shape {
	var s shape
	for bit, at := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if r&(1<<bit) != 0 {
			s.dots = append(s.dots, point{cellW * (0.25 + 0.5*float64(at[0])), cellH * (0.125 + 0.25*float64(at[1]))})
		}
	}
	return s
}

// block is a part of the cell, or a shade of all of it.
func block(r rune) shape {
	one := func(x, y, w, h float64) shape {
		return shape{rects: []rect{{x * cellW, y * cellH, w * cellW, h * cellH}}}
	}
	switch {
	case r == 0x2580:
		return one(0, 0, 1, 0.5)
	case r <= 0x2588:
		h := float64(r-0x2580) / 8
		return one(0, 1-h, 1, h)
	case r <= 0x258f:
		return one(0, 0, float64(0x2590-r)/8, 1)
	case r == 0x2590:
		return one(0.5, 0, 0.5, 1)
	case r <= 0x2593:
		s := one(0, 0, 1, 1)
		s.share = float64(r-0x2590) * 0.25
		return s
	case r == 0x2594:
		return one(0, 0, 1, 0.125)
	case r == 0x2595:
		return one(0.875, 0, 0.125, 1)
	}
	return quadrants(r)
}

// quadrants lists which quarters are filled: upper left 1, upper right 2, lower left 4,
// lower right 8.
func quadrants(r rune) shape {
	var s shape
	filled := [10]int{4, 8, 1, 13, 9, 7, 11, 2, 6, 14}[r-0x2596]
	for i := range 4 {
		if filled&(1<<i) != 0 {
			s.rects = append(s.rects, rect{float64(i%2) * cellW / 2, float64(i/2) * cellH / 2, cellW / 2.0, cellH / 2.0})
		}
	}
	return s
}

// arms says of each of the characters from U+2500 what leads from the middle up, to
// the right, down and to the left: 0 nothing, 1 a thin line, 2 a thick, 3 a double one.
const arms = "0101 0202 1010 2020 0101 0202 1010 2020 0101 0202 1010 2020 0110 0210 0120 0220 " +
	"0011 0012 0021 0022 1100 1200 2100 2200 1001 1002 2001 2002 1110 1210 2110 1120 " +
	"2120 2210 1220 2220 1011 1012 2011 1021 2021 2012 1022 2022 0111 0112 0211 0212 " +
	"0121 0122 0221 0222 1101 1102 1201 1202 2101 2102 2201 2202 1111 1112 1211 1212 " +
	"2111 1121 2121 2112 2211 1122 1221 2212 1222 2122 2221 2222 0101 0202 1010 2020 " +
	"0303 3030 0310 0130 0330 0013 0031 0033 1300 3100 3300 1003 3001 3003 1310 3130 " +
	"3330 1013 3031 3033 0313 0131 0333 1303 3101 3303 1313 3131 3333 0110 0011 1001 " +
	"1100 .... .... .... 0001 1000 0100 0010 0002 2000 0200 0020 0201 1020 0102 2010 "

// dashes are the lines that have gaps, and in how many parts.
var dashes = map[rune]int{
	0x2504: 3, 0x2505: 3, 0x2506: 3, 0x2507: 3, 0x2508: 4, 0x2509: 4, 0x250a: 4, 0x250b: 4,
	0x254c: 2, 0x254d: 2, 0x254e: 2, 0x254f: 2,
}

// box draws the lines of frames. Round corners are square ones here.
func box(r rune) (shape, bool) {
	if r >= 0x2571 && r <= 0x2573 {
		return diagonal(r), true
	}
	kinds := arms[(r-0x2500)*5:]
	if n := dashes[r]; n > 0 {
		return dashed(n, kinds[1] != '0', kinds[0] == '2' || kinds[1] == '2'), true
	}
	var s shape
	for _, side := range [4]int{3, 1, 0, 2} { // what lies in a row follows itself
		s.rects = append(s.rects, arm(side, kinds[side])...)
	}
	return s, true
}

// arm is the line from the middle to a side: 0 up, 1 right, 2 down, 3 left.
func arm(side int, kind byte) []rect {
	const midX, midY = cellW / 2.0, cellH / 2.0
	line := func(shift, width float64) rect {
		half := width / 2
		switch side {
		case 0:
			return rect{midX + shift - half, 0, width, midY + half}
		case 1:
			return rect{midX - half, midY + shift - half, midX + half, width}
		case 2:
			return rect{midX + shift - half, midY - half, width, midY + half}
		default:
			return rect{0, midY + shift - half, midX + half, width}
		}
	}
	switch kind {
	case '1':
		return []rect{line(0, thin)}
	case '2':
		return []rect{line(0, thick)}
	case '3':
		return []rect{line(-1.5, thin), line(1.5, thin)}
	}
	return nil
}

// dashed is a line of parts, with half a gap at each end.
func dashed(n int, across, heavy bool) shape {
	width := thin
	if heavy {
		width = thick
	}
	var s shape
	for i := range n {
		from, long := (float64(i)+0.2)/float64(n), 0.6/float64(n)
		if across {
			s.rects = append(s.rects, rect{from * cellW, (cellH - width) / 2, long * cellW, width})
		} else {
			s.rects = append(s.rects, rect{(cellW - width) / 2, from * cellH, width, long * cellH})
		}
	}
	return s
}

func diagonal(r rune) shape {
	var s shape
	if r != 0x2572 {
		s.polys = append(s.polys, stroke(thin, point{0, cellH}, point{cellW, 0})...)
	}
	if r != 0x2571 {
		s.polys = append(s.polys, stroke(thin, point{0, 0}, point{cellW, cellH})...)
	}
	return s
}

// stroke is a line through points as one quadrangle a part.
func stroke(width float64, through ...point) [][]point {
	var out [][]point
	for i := 1; i < len(through); i++ {
		a, b := through[i-1], through[i]
		long := math.Hypot(b.x-a.x, b.y-a.y)
		dx, dy := (b.x-a.x)/long*width/2, (b.y-a.y)/long*width/2
		out = append(out, []point{
			{a.x - dx + dy, a.y - dy - dx}, {b.x + dx + dy, b.y + dy - dx}, {b.x + dx - dy, b.y + dy + dx}, {a.x - dx - dy, a.y - dy + dx},
		})
	}
	return out
}

// frame is what stands around the number of a character that cannot be shown.
func frame(width int) shape {
	w := float64(width*cellW) - 1
	corners := []point{{0.5, 2}, {w, 2}, {w, cellH - 2}, {0.5, cellH - 2}, {0.5, 2}}
	return shape{polys: stroke(0.6, corners...)}
}

// Digits in a frame: two stand beside each other in a cell, two lines below each other.
const (
	tinySize = 6.5
	tinyLine = 8.5 // of the first line, below the cell's top
	tinyStep = 6.0
)

// controlCode is the code of the control character that a sign such as U+241B shows,
// and whether r is such a sign.
func controlCode(r rune) (string, bool) {
	switch {
	case r >= 0x2400 && r <= 0x241f:
		return fmt.Sprintf("%02X", r-0x2400), true
	case r == 0x2421:
		return "7F", true
	case r == 0x2424:
		return "0A", true
	}
	return "", false
}

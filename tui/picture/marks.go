package picture

import (
	"math"
	"slices"
)

// The middle of a mark and how far it reaches to each side.
const (
	markX = cellW / 2.0
	markY = cellH/2.0 + 0.5
	reach = 4.0
)

// marks are the characters beside letters that screens use and fonts often lack.
var marks = map[rune]shape{
	'●': {polys: [][]point{circle(reach)}},
	'○': {polys: ring(reach, reach-thin)},
	'◌': {dots: onCircle(reach-0.6, 6)},
	'◉': {polys: slices.Concat(ring(reach, reach-1), [][]point{circle(reach - 2)})},
	'◐': {polys: slices.Concat(ring(reach, reach-1), [][]point{arc(reach, 90, 270)})},
	'◑': {polys: slices.Concat(ring(reach, reach-1), [][]point{arc(reach, -90, 90)})},
	'◒': {polys: slices.Concat(ring(reach, reach-1), [][]point{arc(reach, 0, 180)})},
	'◓': {polys: slices.Concat(ring(reach, reach-1), [][]point{arc(reach, 180, 360)})},

	'▲': {polys: [][]point{triangle(reach, 0)}},
	'△': {polys: hollow(triangle(reach, 0))},
	'▶': {polys: [][]point{triangle(reach, 90)}},
	'▷': {polys: hollow(triangle(reach, 90))},
	'▼': {polys: [][]point{triangle(reach, 180)}},
	'▽': {polys: hollow(triangle(reach, 180))},
	'◀': {polys: [][]point{triangle(reach, 270)}},
	'◁': {polys: hollow(triangle(reach, 270))},
	'▴': {polys: [][]point{triangle(reach-1.2, 0)}},
	'▸': {polys: [][]point{triangle(reach-1.2, 90)}},
	'▾': {polys: [][]point{triangle(reach-1.2, 180)}},
	'◂': {polys: [][]point{triangle(reach-1.2, 270)}},

	'■': {rects: []rect{square(reach - 0.4)}},
	'▪': {rects: []rect{square(reach - 2)}},
	'□': {polys: hollow(corners(reach - 0.4))},
	'▫': {polys: hollow(corners(reach - 2))},
	'◆': {polys: [][]point{diamond(reach)}},
	'◇': {polys: hollow(diamond(reach))},

	'✓': {polys: stroke(1.7, point{1.2, 10.2}, point{3.6, 13}, point{7.9, 5.6})},
	'✔': {polys: stroke(2.4, point{1.2, 10.2}, point{3.6, 13}, point{7.9, 5.6})},
	'✕': {polys: cross(1.5)},
	'✗': {polys: cross(1.7)},
	'✘': {polys: cross(2.4)},
	'↻': {polys: slices.Concat(stroke(thin, onArc(3.4, -40, 270, 14)...), [][]point{{{4.4, 3.2}, {8.4, 6.6}, {4.4, 9.4}}})},
	'★': {polys: [][]point{star()}},
	'☆': {polys: hollow(star())},
}

func square(r float64) rect { return rect{markX - r, markY - r, 2 * r, 2 * r} }

func corners(r float64) []point {
	return []point{{markX - r, markY - r}, {markX + r, markY - r}, {markX + r, markY + r}, {markX - r, markY + r}}
}

func diamond(r float64) []point {
	return []point{{markX, markY - r}, {markX + r, markY}, {markX, markY + r}, {markX - r, markY}}
}

// triangle points up, or has turned by so many degrees with the clock.
func triangle(r, turned float64) []point {
	var out []point
	sin, cos := math.Sincos(turned * math.Pi / 180)
	for _, p := range []point{{0, -r}, {r, r * 0.8}, {-r, r * 0.8}} {
		out = append(out, point{markX + p.x*cos - p.y*sin, markY + p.x*sin + p.y*cos})
	}
	return out
}

// onArc is a row of points on a circle, from an angle to another in degrees, 0 to the
// right and with the clock.
func onArc(r, from, to float64, n int) []point {
	out := make([]point, n)
	for i := range out {
		sin, cos := math.Sincos((from + (to-from)*float64(i)/float64(n-1)) * math.Pi / 180)
		out[i] = point{markX + r*cos, markY + r*sin}
	}
	return out
}

func arc(r, from, to float64) []point { return onArc(r, from, to, 13) }

func onCircle(r float64, n int) []point { return onArc(r, 0, 360, n+1)[:n] }

func circle(r float64) []point { return onCircle(r, 20) }

func ring(outer, inner float64) [][]point {
	hole := circle(inner)
	slices.Reverse(hole)
	return [][]point{circle(outer), hole}
}

// hollow is the outline of a figure: its edges as lines.
func hollow(figure []point) [][]point {
	return stroke(thin, append(slices.Clone(figure), figure[0])...)
}

func cross(width float64) [][]point {
	return slices.Concat(stroke(width, point{1.5, 6.5}, point{7.5, 13.5}), stroke(width, point{7.5, 6.5}, point{1.5, 13.5}))
}

func star() []point {
	outer, inner := onArc(reach+0.3, -90, 270, 6)[:5], onArc((reach+0.3)*0.4, -54, 306, 6)[:5]
	var out []point
	for i := range outer {
		out = append(out, outer[i], inner[i])
	}
	return out
}

// Package layout divides a rectangle among those who want a part of it. It knows
// rectangles and nothing else: neither text nor styles nor what is drawn.
package layout

// Size is a width and a height in cells.
type Size struct{ W, H int }

// Rect is a place on the screen, in cells from its top left corner.
type Rect struct{ X, Y, W, H int }

// Size is the rectangle without its place.
func (r Rect) Size() Size { return Size{r.W, r.H} }

// Empty reports whether nothing can be drawn in the rectangle.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Want is how many cells a part needs along one axis. When room is short, the
// part with the highest Drop goes first; parts with Drop 0 stay and shrink at
// last, from the end. Room left over first lifts parts to Ideal, from the first
// part on, and then lets all grow evenly to Max.
type Want struct{ Min, Ideal, Max, Drop int }

// Fixed wants exactly n cells.
func Fixed(n int) Want { return Want{Min: n, Ideal: n, Max: n} }

// tidy makes Min ≤ Ideal ≤ Max, none of them negative.
func (w Want) tidy() Want {
	w.Min = max(w.Min, 0)
	w.Ideal = max(w.Ideal, w.Min)
	w.Max = max(w.Max, w.Ideal)
	return w
}

// Rows cuts r into rows from the top, one a want, in order. A part without room
// gets an empty rectangle. The rows never overlap and never leave r.
func Rows(r Rect, wants []Want) []Rect {
	out := make([]Rect, len(wants))
	y := r.Y
	for i, h := range split(r.H, wants) {
		out[i] = Rect{r.X, y, r.W, h}
		y += h
	}
	return out
}

// Columns cuts r into columns from the left, with gap cells between those that
// have room.
func Columns(r Rect, gap int, wants []Want) []Rect {
	padded := make([]Want, len(wants))
	for i, w := range wants {
		w = w.tidy()
		padded[i] = Want{w.Min + gap, w.Ideal + gap, w.Max + gap, w.Drop}
	}
	out := make([]Rect, len(wants))
	x := r.X
	for i, w := range split(r.W+gap, padded) {
		out[i] = Rect{x, r.Y, max(w-gap, 0), r.H}
		x += w
	}
	return out
}

// Even wants n equal columns of at least least and at most most cells.
func Even(n, least, most int) []Want {
	wants := make([]Want, n)
	for i := range wants {
		wants[i] = Want{Min: least, Max: most, Drop: i}
	}
	return wants
}

// split shares total cells among the wants.
func split(total int, wants []Want) []int {
	total = max(total, 0)
	tidy := make([]Want, len(wants))
	for i, w := range wants {
		tidy[i] = w.tidy()
	}
	size := minima(total, tidy)
	left := total
	for _, s := range size {
		left -= s
	}
	for i, w := range tidy {
		if !kept(size[i], w) {
			continue
		}
		more := min(max(w.Ideal-size[i], 0), left)
		size[i] += more
		left -= more
	}
	grow(size, tidy, left)
	return size
}

// kept reports whether a part was given room at all.
func kept(size int, w Want) bool { return size > 0 || w.Min == 0 }

// minima gives every part its minimum, dropping and then shrinking parts until
// they fit.
func minima(total int, wants []Want) []int {
	size := make([]int, len(wants))
	need := 0
	for i, w := range wants {
		size[i] = w.Min
		need += w.Min
	}
	for need > total {
		worst := -1
		for i, w := range wants {
			if size[i] > 0 && w.Drop > 0 && (worst < 0 || w.Drop >= wants[worst].Drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		need -= size[worst]
		size[worst] = 0
	}
	for i := len(size) - 1; i >= 0 && need > max(total, 0); i-- {
		cut := min(size[i], need-total)
		size[i] -= cut
		need -= cut
	}
	return size
}

// grow shares what is left evenly among the parts below their maximum.
func grow(size []int, wants []Want, left int) {
	for left > 0 {
		var open []int
		for i, w := range wants {
			if size[i] < w.Max && kept(size[i], w) {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return
		}
		share := max(left/len(open), 1)
		for _, i := range open {
			more := min(share, wants[i].Max-size[i], left)
			size[i] += more
			left -= more
		}
	}
}

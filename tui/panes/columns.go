package panes

import (
	"slotop/themes"
)

// cell is one value of a table.
type cell struct {
	role themes.Role
	text string
}

// column is one column of a table over rows of type R.
type column[R any] struct {
	title string
	min   int // cells
	max   int // it takes what the others leave, up to this; 0: always min
	left  bool
	near  bool // it belongs to the column before it and stands one cell from it
	drop  int  // where room is short the highest goes first; 0 stays
	draw  func(r R, w int, look Look) cell
	about func(r R) About // the number in it; nil: none to explain
}

// gap is the blank between two columns of a screen that is not narrow; indent is the room before a row for
// the cursor's sign, the condition's mark and a blank.
const (
	gap    = 2
	indent = 3
)

// table is a set of columns fitted to a width.
type table[R any] struct {
	cols  []column[R]
	width []int
	w     int
	gap   int
}

// fit drops columns until the others fit into w cells, and then widens those
// that may grow, from the first on.
func fit[R any](cols []column[R], w int) table[R] {
	t := table[R]{w: w, gap: gap}
	if w < narrow {
		t.gap = 1
	}
	t.cols = append(t.cols, cols...)
	need := indent
	for i, c := range t.cols {
		need += c.min + t.before(i)
	}
	for need > w {
		worst := -1
		for i, c := range t.cols {
			if c.drop > 0 && (worst < 0 || c.drop >= t.cols[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		need -= t.cols[worst].min + t.before(worst)
		t.cols = append(t.cols[:worst], t.cols[worst+1:]...)
	}
	for _, c := range t.cols {
		more := min(max(c.max-c.min, 0), max(w-need, 0))
		t.width = append(t.width, c.min+more)
		need += more
	}
	return t
}

// before is the blank before column i.
func (t table[R]) before(i int) int {
	switch {
	case i == 0:
		return 0
	case t.cols[i].near:
		return 1
	default:
		return t.gap
	}
}

// head is the line of titles.
func (t table[R]) head(look Look) string {
	l := look.line(t.w).pad(indent)
	for i, c := range t.cols {
		t.place(l, i, c.left, cell{themes.Muted, look.cut(c.title, t.width[i])})
	}
	return l.String()
}

// row is one row, with the cursor's sign or the mark of its condition before it.
func (t table[R]) row(r R, c condition, cursor bool, look Look) string {
	l := look.line(t.w)
	if cursor {
		l.put(themes.Cursor, look.pick("▸", ">"))
	}
	l.pad(1).put(conditionTable[c].role, look.mark(c)).pad(indent)
	return t.fill(l, r, look)
}

// fill writes the cells of a row behind what stands before them.
func (t table[R]) fill(l *line, r R, look Look) string {
	for i, col := range t.cols {
		var about About
		if col.about != nil && look.Spots {
			about = col.about(r)
		}
		l.begin(about)
		t.place(l, i, col.left, col.draw(r, t.width[i], look))
		l.end(about)
	}
	return l.String()
}

// place writes a cell at the end or the beginning of its column.
func (t table[R]) place(l *line, i int, left bool, c cell) {
	from := l.pad(l.w + t.before(i)).w
	if !left {
		l.pad(from + t.width[i] - cells(c.text))
	}
	l.put(c.role, c.text).pad(from + t.width[i])
}

// nameWidth is the width that the longest of these names needs, in steps, so
// that the columns after it stand still while names come and go.
func nameWidth(longest int) int { return min((longest+1)/2*2, 60) }

// leastName is what a name keeps before other columns give way to it, least of it
// on a usual screen.
func leastName(longest, w, least int) int {
	switch {
	case w >= wideScreen:
		least = 16
	case w < narrow:
		least = 8
	}
	return min(max(nameWidth(longest), 8), least)
}

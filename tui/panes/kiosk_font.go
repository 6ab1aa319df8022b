package panes

import (
	"strings"

	"slotop/themes"
)

// letterRows is the height of a letter in dots.
const letterRows = 5

// letters are drawn in dots, row by row. What is not here is not drawn big.
var letters = map[rune][letterRows]string{
	' ': {"  ", "  ", "  ", "  ", "  "},
	'A': {" # ", "# #", "###", "# #", "# #"},
	'B': {"## ", "# #", "## ", "# #", "## "},
	'C': {" ##", "#  ", "#  ", "#  ", " ##"},
	'D': {"## ", "# #", "# #", "# #", "## "},
	'E': {"###", "#  ", "## ", "#  ", "###"},
	'F': {"###", "#  ", "## ", "#  ", "#  "},
	'G': {" ##", "#  ", "# #", "# #", " ##"},
	'H': {"# #", "# #", "###", "# #", "# #"},
	'I': {"#", "#", "#", "#", "#"},
	'J': {"  #", "  #", "  #", "# #", " # "},
	'K': {"# #", "# #", "## ", "# #", "# #"},
	'L': {"#  ", "#  ", "#  ", "#  ", "###"},
	'M': {"#   #", "## ##", "# # #", "#   #", "#   #"},
	'N': {"#  #", "## #", "# ##", "#  #", "#  #"},
	'O': {" # ", "# #", "# #", "# #", " # "},
	'P': {"## ", "# #", "## ", "#  ", "#  "},
	'Q': {" # ", "# #", "# #", "## ", " ##"},
	'R': {"## ", "# #", "## ", "# #", "# #"},
	'S': {" ##", "#  ", " # ", "  #", "## "},
	'T': {"###", " # ", " # ", " # ", " # "},
	'U': {"# #", "# #", "# #", "# #", "###"},
	'V': {"# #", "# #", "# #", "# #", " # "},
	'W': {"#   #", "#   #", "# # #", "## ##", "#   #"},
	'X': {"# #", "# #", " # ", "# #", "# #"},
	'Y': {"# #", "# #", " # ", " # ", " # "},
	'Z': {"###", "  #", " # ", "#  ", "###"},
	'0': {"###", "# #", "# #", "# #", "###"},
	'1': {" # ", "## ", " # ", " # ", "###"},
	'2': {"###", "  #", "###", "#  ", "###"},
	'3': {"###", "  #", "###", "  #", "###"},
	'4': {"# #", "# #", "###", "  #", "  #"},
	'5': {"###", "#  ", "###", "  #", "###"},
	'6': {"###", "#  ", "###", "# #", "###"},
	'7': {"###", "  #", "  #", "  #", "  #"},
	'8': {"###", "# #", "###", "# #", "###"},
	'9': {"###", "# #", "###", "  #", "###"},
	'.': {" ", " ", " ", " ", "#"},
	':': {" ", "#", " ", "#", " "},
	'-': {"   ", "   ", "###", "   ", "   "},
	'–': {"   ", "   ", "###", "   ", "   "},
	'>': {"#  ", " # ", "  #", " # ", "#  "},
	'<': {"  #", " # ", "#  ", " # ", "  #"},
	'≥': {"#  ", " # ", "#  ", "   ", "###"},
	'≤': {"  #", " # ", "  #", "   ", "###"},
	'~': {"    ", " # #", "# # ", "    ", "    "},
	'?': {"###", "  #", " # ", "   ", " # "},
	'*': {"# #", " # ", "# #", "   ", "   "},
	'=': {"   ", "###", "   ", "###", "   "},
	'/': {"  #", "  #", " # ", "#  ", "#  "},
}

// dots is how wide a text is in dots; -1 where a letter of it is not drawn big.
func dots(text string) int {
	n := -1
	for _, r := range text {
		l, ok := letters[r]
		if !ok {
			return -1
		}
		n += len(l[0]) + 1
	}
	return max(n, 0)
}

// scale is how many cells and lines a dot takes. With no lines two dots share one.
type scale struct{ w, h int }

// scales are the sizes of letters, the largest first. A cell is about twice as high as
// it is wide.
var scales = []scale{{12, 6}, {10, 5}, {8, 4}, {6, 4}, {6, 3}, {5, 3}, {4, 2}, {3, 2}, {2, 1}, {1, 1}, {1, 0}}

// lines is the height of a letter.
func (s scale) lines() int {
	if s.h == 0 {
		return (letterRows + 1) / 2
	}
	return letterRows * s.h
}

// scaleFor is the largest scale in which so many dots fit into w cells and h lines, the
// smallest where none does. ASCII has no half blocks.
func (k Look) scaleFor(dots, w, h int) scale {
	for _, s := range scales {
		if s.h == 0 && k.ASCII {
			break
		}
		if dots*s.w <= w && s.lines() <= h {
			return s
		}
	}
	if k.ASCII {
		return scale{1, 1}
	}
	return scales[len(scales)-1]
}

// big draws a text of known letters in lines of equal width.
func (k Look) big(text string, s scale) []string {
	var rows [letterRows + 1]string
	for i, r := range text {
		for y := range letterRows {
			if i > 0 {
				rows[y] += " "
			}
			rows[y] += letters[r][y]
		}
	}
	if s.h > 0 {
		return k.blocks(rows[:letterRows], s)
	}
	rows[letterRows] = strings.Repeat(" ", len(rows[0]))
	out := make([]string, 0, s.lines())
	for y := 0; y < letterRows; y += 2 {
		var b strings.Builder
		for x := range rows[y] {
			b.WriteString(halves[rows[y][x] == '#'][rows[y+1][x] == '#'])
		}
		out = append(out, b.String())
	}
	return out
}

// halves is a cell of two dots, by the upper and the lower one.
var halves = map[bool]map[bool]string{
	false: {false: " ", true: "▄"},
	true:  {false: "▀", true: "█"},
}

func (k Look) blocks(rows []string, s scale) []string {
	var out []string
	for _, row := range rows {
		var b strings.Builder
		for _, dot := range row {
			cell := " "
			if dot == '#' {
				cell = k.pick("█", "#")
			}
			b.WriteString(strings.Repeat(cell, s.w))
		}
		for range s.h {
			out = append(out, b.String())
		}
	}
	return out
}

// bigOr is a text in big letters where all of it can be drawn so and fits into w cells,
// else as it is on the last line.
func (k Look) bigOr(text string, s scale, w int) []string {
	upper := strings.ToUpper(text)
	if n := dots(upper); n > 0 && n*s.w <= w {
		return k.big(upper, s)
	}
	for _, smaller := range scales {
		if n := dots(upper); n > 0 && smaller.w < s.w && smaller.h > 0 && n*smaller.w <= w {
			return bottom(k.big(upper, smaller), s.lines())
		}
	}
	return bottom([]string{k.cut(text, w)}, s.lines())
}

// bottom puts lines at the bottom of n lines.
func bottom(rows []string, n int) []string {
	for len(rows) < n {
		rows = append([]string{""}, rows...)
	}
	return rows
}

// band is lines that stand beside one another: each at its column, in its role.
type band struct {
	x     int
	role  themes.Role
	rows  []string
	about About // the number in it
}

// beside draws bands of the same height over w cells.
func (k Look) beside(w int, bands ...band) []string {
	n := 0
	for _, b := range bands {
		n = max(n, len(b.rows))
	}
	out := make([]string, n)
	for y := range out {
		l := k.line(w)
		for _, b := range bands {
			if y < len(b.rows) {
				l.pad(b.x).begin(b.about)
				l.put(b.role, b.rows[y]).end(b.about)
			}
		}
		out[y] = l.String()
	}
	return out
}

package panes

import (
	"math"
	"net/url"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"slotop/model/unit"
	"slotop/themes"
)

// About says which number stands somewhere: a topic of the glossary, and whose it is:
// a workflow's or a target's name, a device's UUID, "" of all.
type About struct{ Topic, Of string }

// Spot is where a number, a row or a key stands on a drawing, in cells from its top
// left.
type Spot struct {
	About
	X, Y, W int
	Text    string // what stands there
}

// Marks are application program commands, which take no room and which Unmark takes
// out again: no terminal gets to see one.
const (
	markBegin = "\x1b_slotop:"
	markEnd   = "\x1b\\"
)

// begin marks the beginning of a number, where marks are asked for.
func (l *line) begin(a About) {
	if l.look.Spots && a.Topic != "" {
		l.b.WriteString(markOf(a))
	}
}

// markOf is the mark before a number.
func markOf(a About) string {
	return markBegin + url.QueryEscape(a.Topic) + ";" + url.QueryEscape(a.Of) + markEnd
}

// end marks the end of the number.
func (l *line) end(a About) {
	if l.look.Spots && a.Topic != "" {
		l.b.WriteString(markBegin + markEnd)
	}
}

// Number reports whether the spot is a number that the glossary explains, and no row,
// key or chart, which are there for the mouse.
func (s Spot) Number() bool {
	for _, p := range []string{MarkRow, MarkKey} {
		if strings.HasPrefix(s.Topic, p) {
			return false
		}
	}
	return s.Topic != MarkChart && s.Topic != ""
}

// What is marked beside numbers: the name of a row, whose Of names it; a key, as it is
// printed in the footer; each line of a chart, whose Of says which instants it shows.
const (
	MarkRow   = "row."
	MarkKey   = "key."
	MarkChart = "chart"
)

// Unmark takes the marks out of a drawing and says where they stood, row by row and
// from left to right. Marks do not lie within one another, and those around nothing
// say nothing.
func Unmark(drawing string) (plain string, spots []Spot) {
	var out strings.Builder
	out.Grow(len(drawing))
	for y, l := range strings.Split(drawing, "\n") {
		if y > 0 {
			out.WriteByte('\n')
		}
		row, found := unmarkLine(l, y)
		out.WriteString(row)
		spots = append(spots, found...)
	}
	return out.String(), spots
}

func unmarkLine(l string, y int) (plain string, spots []Spot) {
	var out strings.Builder
	var open *Spot
	x := 0
	shut := func() {
		if open != nil {
			if s := bare(*open); s.W > 0 {
				spots = append(spots, s)
			}
		}
		open = nil
	}
	for {
		text, rest, marked := strings.Cut(l, markBegin)
		out.WriteString(text)
		n := unit.Width(text)
		x += n
		if open != nil {
			open.W += n
			open.Text += text
		}
		if !marked {
			break
		}
		mark, after, _ := strings.Cut(rest, markEnd)
		l = after
		shut()
		if mark == "" {
			continue
		}
		topic, of, _ := strings.Cut(mark, ";")
		open = &Spot{X: x, Y: y}
		open.Topic, _ = url.QueryUnescape(topic)
		open.Of, _ = url.QueryUnescape(of)
	}
	shut()
	return out.String(), spots
}

// bare is a spot without styles, and without the blanks around its text. A chart keeps
// its blanks: time passes in them too.
func bare(s Spot) Spot {
	s.Text = ansi.Strip(s.Text)
	if s.Topic == MarkChart {
		return s
	}
	trimmed := strings.TrimLeft(s.Text, " ")
	s.X += len(s.Text) - len(trimmed)
	s.Text = strings.TrimRight(trimmed, " ")
	s.W = unit.Width(s.Text)
	return s
}

// unpadded is a line without blanks at its end, and without marks around them: what is
// drawn with marks is what is drawn without, and marks.
func unpadded(s string) string {
	tail := ""
	for {
		s = strings.TrimRight(s, " ")
		i := strings.LastIndex(s, markBegin)
		if i < 0 || !strings.HasSuffix(s, markEnd) || strings.Contains(s[i+len(markBegin):len(s)-len(markEnd)], "\x1b") {
			return s + tail
		}
		mark := s[i:]
		s = s[:i]
		if mark == markBegin+markEnd {
			tail = mark
		} else {
			tail = "" // it began here, and nothing stands in it
		}
	}
}

// Pointed draws the number at a spot of a drawing of w cells reversed, in the role of the cursor. Where colour
// and attributes may be lost brackets stand around it, as far as there is room.
func Pointed(drawing string, s Spot, w int, look Look) string {
	rows := strings.Split(drawing, "\n")
	if s.Y >= len(rows) || s.W <= 0 {
		return drawing
	}
	row := rows[s.Y]
	from, to, text := s.X, s.X+s.W, s.Text
	if look.ASCII {
		plain := ansi.Strip(row)
		if from > 0 && ansi.Cut(plain, from-1, from) == " " {
			from, text = from-1, "["+text
		}
		if after := ansi.Cut(plain, to, to+1); after == " " || after == "" && to < w {
			to, text = to+1, text+"]"
		}
	}
	var b strings.Builder
	b.WriteString(ansi.Cut(row, 0, from))
	b.WriteString("\x1b[0m")
	look.ink(themes.Cursor).Write(&b, reverse+text)
	b.WriteString("\x1b[0m")
	b.WriteString(ansi.Cut(row, to, math.MaxInt32))
	rows[s.Y] = b.String()
	return strings.Join(rows, "\n")
}

// reverse swaps ink and ground, on every terminal and without any colour.
const reverse = "\x1b[7m"

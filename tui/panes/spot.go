package panes

import (
	"net/url"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"slotop/model/unit"
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
		l.b.WriteString(markBegin + url.QueryEscape(a.Topic) + ";" + url.QueryEscape(a.Of) + markEnd)
	}
}

// end marks the end of the number.
func (l *line) end(a About) {
	if l.look.Spots && a.Topic != "" {
		l.b.WriteString(markBegin + markEnd)
	}
}

// Unmark takes the marks out of a drawing and says where they stood, row by row and
// from left to right. Marks do not lie within one another.
func Unmark(drawing string) (plain string, spots []Spot) {
	var out strings.Builder
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
		if mark == "" && open != nil {
			spots = append(spots, bare(*open))
			open = nil
			continue
		}
		topic, of, _ := strings.Cut(mark, ";")
		open = &Spot{X: x, Y: y}
		open.Topic, _ = url.QueryUnescape(topic)
		open.Of, _ = url.QueryUnescape(of)
	}
	if open != nil {
		spots = append(spots, bare(*open))
	}
	return out.String(), spots
}

// bare is a spot without styles, and without the blanks around its text.
func bare(s Spot) Spot {
	s.Text = ansi.Strip(s.Text)
	trimmed := strings.TrimLeft(s.Text, " ")
	s.X += len(s.Text) - len(trimmed)
	s.Text = strings.TrimRight(trimmed, " ")
	s.W = unit.Width(s.Text)
	return s
}

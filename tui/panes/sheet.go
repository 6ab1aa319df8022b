package panes

import (
	"fmt"
	"math"
	"strings"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// This file lays out pages of text that may be longer than the screen.

// wholeScreen is a pane that stands alone.
type wholeScreen struct{}

// Want takes all the room there is.
func (wholeScreen) Want(*model.Frame, int, Look) layout.Want {
	return layout.Want{Min: 3, Ideal: 20, Max: math.MaxInt16}
}

// sheet collects the lines of a page.
type sheet struct {
	w    int
	look Look
	out  []string
}

// labelW is the column of the labels at the left.
const labelW = 13

// fact writes a label and parts; a label alone on a narrow screen stays short.
func (s *sheet) fact(label string, ps ...part) {
	s.out = append(s.out, s.look.line(s.w).pad(1).put(themes.Muted, label).pad(labelW+1).parts(3, ps...).String())
}

// facts writes a label and parts over as many lines as they need: nothing is left
// out.
func (s *sheet) facts(label string, ps ...part) { s.spread(label, labelW+1, ps) }

// spread writes parts from a column on, over as many lines as they need, with a
// label before the first.
func (s *sheet) spread(label string, at int, ps []part) {
	ps = broken(fitting(ps, math.MaxInt16, 3), s.w-at)
	for len(ps) > 0 {
		n := 1
		for n < len(ps) && widthOf(ps[:n+1], 3) <= s.w-at {
			n++
		}
		s.out = append(s.out, s.look.line(s.w).pad(1).put(themes.Muted, label).pad(at).parts(3, ps[:n]...).String())
		label, ps = "", ps[n:]
	}
}

// broken breaks the parts of one segment that are wider than w.
func broken(ps []part, w int) []part {
	var out []part
	for _, p := range ps {
		if p.width() <= w || len(p.segs) != 1 {
			out = append(out, p)
			continue
		}
		for _, l := range wrap(p.segs[0].text, w) {
			out = append(out, part{segs: []seg{{p.segs[0].role, l}}, about: p.about})
		}
	}
	return out
}

// text writes a sentence over as many lines as needed, indented.
func (s *sheet) text(indent int, role themes.Role, text string) {
	for _, l := range wrap(s.look.sentence(text, maxProse), s.w-indent) {
		s.out = append(s.out, s.look.line(s.w).pad(indent).put(role, l).String())
	}
}

// prose writes a label and a sentence of a target over as many lines as needed.
func (s *sheet) prose(label string, role themes.Role, text string) {
	for i, l := range wrap(s.look.sentence(text, maxProse), s.w-labelW-1) {
		if i > 0 {
			label = ""
		}
		s.out = append(s.out, s.look.line(s.w).pad(1).put(themes.Muted, label).pad(labelW+1).put(role, l).String())
	}
}

// maxProse bounds one sentence of a target.
const maxProse = 600

func (s *sheet) rule(title string, remarks ...part) {
	s.out = append(s.out, s.look.rule(s.w, []seg{{themes.Strong, title}}, remarks...))
}

// scrolled is the first line of a page, which stays, and those below it from
// scroll on. When not all fit, the last line says which are shown.
func scrolled(all []string, scroll int, size layout.Size, look Look) string {
	if size.H <= 1 || len(all) <= size.H {
		return lines(size.H, all...)
	}
	h := size.H - 2 // of the body: below the title, above the count
	body := all[1:]
	from := min(max(scroll, 0), len(body)-h)
	out := append([]string{all[0]}, body[from:from+h]...)
	return strings.Join(append(out, look.line(size.W).pad(1).put(themes.Muted,
		fmt.Sprintf("%d to %d of %d lines", from+1, from+h, len(body))).String()), "\n")
}

// scrollable is how far n lines can be scrolled in a size.
func scrollable(n int, size layout.Size) int {
	if size.H <= 1 || n <= size.H {
		return 0
	}
	return n - 1 - (size.H - 2)
}

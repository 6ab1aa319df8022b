package panes

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"slotop/model/unit"
	"slotop/themes"
)

// This file is the only place of the panes that measures, cuts and pads text.
// All of it counts in cells.

// cells is the width of a string on screen.
func cells(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return unit.Width(s)
		}
	}
	return len(s)
}

// cut shortens s to n cells, with a mark where something is missing.
func (k Look) cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if cells(s) <= n {
		return s
	}
	return unit.TruncateRight(s, n, k.ASCII)
}

// shorter leaves out clauses of a sentence from its end until it fits into n cells.
// What stays is true by itself; a clause that does not fit alone is cut.
func (k Look) shorter(s string, n int) string {
	for cells(s) > n {
		i := strings.LastIndex(s, ", ")
		if i <= 0 {
			return k.cut(s, n)
		}
		s = s[:i]
	}
	return s
}

// clipped shortens a sentence to n cells between its words, with a mark where
// something is missing. No comma and no open bracket is left at the end.
func (k Look) clipped(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	end := " " + k.pick("…", "..")
	kept := ""
	for _, word := range glued(strings.Fields(s)) {
		if cells(kept)+cells(word)+1+cells(end) > n {
			break
		}
		kept = strings.TrimLeft(kept+" "+word, " ")
	}
	if i := strings.LastIndexByte(kept, '('); i > strings.LastIndexByte(kept, ')') {
		kept = kept[:i]
	}
	if kept = strings.TrimRight(kept, " ,;:·("); kept == "" {
		return k.cut(s, n)
	}
	return kept + end
}

// foreign makes a name from a target safe and shortens it to n cells: a path loses its
// beginning, anything else its middle.
func (k Look) foreign(s string, n int) string {
	safe := unit.Escape(s, k.ASCII)
	switch {
	case n <= 0:
		return ""
	case strings.ContainsAny(s, `/\`):
		return unit.TruncateLeft(safe, n, k.ASCII)
	default:
		return unit.TruncateMiddle(safe, n, k.ASCII)
	}
}

// sentence makes a sentence safe, names of targets in it included, and shortens it
// to n cells.
func (k Look) sentence(s string, n int) string { return k.cut(unit.Sentence(s, k.ASCII), n) }

// spaces is a run of blanks.
func spaces(n int) string {
	const blank = "                                                                                "
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// seg is a run of text in one role.
type seg struct {
	role themes.Role
	text string
}

// part is a group of segments that is shown whole or not at all. Where room is
// short the highest drop goes first; drop 0 stays, and is cut at the end.
type part struct {
	segs  []seg
	drop  int
	about About // the number in it; zero: none to explain
}

// of says which number the part shows, and whose.
func (p part) of(topic, whose string) part {
	p.about = About{Topic: topic, Of: whose}
	return p
}

// say is a part of one segment.
func say(drop int, role themes.Role, text string) part {
	return part{segs: []seg{{role, text}}, drop: drop}
}

func (p part) width() int {
	n := 0
	for _, s := range p.segs {
		n += cells(s.text)
	}
	return n
}

// line writes one line of at most max cells.
type line struct {
	look   Look
	b      strings.Builder
	w, max int
}

func (k Look) line(w int) *line { return &line{look: k, max: w} }

// put adds text in a role, cut to the room there is.
func (l *line) put(role themes.Role, text string) *line {
	if room := l.max - l.w; room < cells(text) {
		text = l.look.cut(text, room)
	}
	word := strings.Trim(text, " ") // blanks around it have no ground of their own
	if word == "" {
		l.b.WriteString(text)
	} else {
		at := strings.Index(text, word)
		l.b.WriteString(text[:at])
		l.look.ink(role).Write(&l.b, word)
		l.b.WriteString(text[at+len(word):])
	}
	l.w += cells(text)
	return l
}

// pad adds blanks up to column x.
func (l *line) pad(x int) *line {
	n := min(x, l.max) - l.w
	l.b.WriteString(spaces(n))
	l.w += max(n, 0)
	return l
}

// parts adds those parts that fit, gap cells apart.
func (l *line) parts(gap int, ps ...part) *line {
	for i, p := range fitting(ps, l.max-l.w, gap) {
		if i > 0 {
			l.pad(l.w + gap)
		}
		label := p.label()
		for _, s := range p.segs[:label] {
			l.put(s.role, s.text)
		}
		l.begin(p.about)
		for _, s := range p.segs[label:] {
			l.put(s.role, s.text)
		}
		l.end(p.about)
	}
	return l
}

// label is how many segments at the beginning say what the number is: quiet words. Where
// all are quiet there is no number, and all of them say so.
func (p part) label() int {
	n := 0
	for n < len(p.segs) && (p.segs[n].role == themes.Muted || strings.TrimSpace(p.segs[n].text) == "") {
		n++
	}
	if n == len(p.segs) {
		return 0
	}
	return n
}

// fitting leaves out parts until the others fit into w cells.
func fitting(ps []part, w, gap int) []part {
	kept := make([]part, 0, len(ps))
	total := -gap
	for _, p := range ps {
		if n := p.width(); n > 0 {
			kept = append(kept, p)
			total += n + gap
		}
	}
	for total > w {
		worst := -1
		for i, p := range kept {
			if p.drop > 0 && (worst < 0 || p.drop >= kept[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		total -= kept[worst].width() + gap
		kept = append(kept[:worst], kept[worst+1:]...)
	}
	return kept
}

// ends puts some parts at the left and others at the right. Both draw on the
// same room; the left keeps at least what its parts without drop need.
func (l *line) ends(gap int, left, right []part) *line {
	need := widthOf(fitting(left, 0, gap), gap)
	right = fitting(right, l.max-l.w-gap-need, gap)
	if len(right) == 0 {
		return l.parts(gap, left...)
	}
	at := l.max - widthOf(right, gap)
	l.max = at - gap
	l.parts(gap, left...)
	l.max = at + widthOf(right, gap)
	return l.pad(at).parts(gap, right...)
}

func widthOf(ps []part, gap int) int {
	if len(ps) == 0 {
		return 0
	}
	n := -gap
	for _, p := range ps {
		n += p.width() + gap
	}
	return n
}

// String is the line so far, without blanks at its end.
func (l *line) String() string {
	if l.look.Spots {
		return unpadded(l.b.String())
	}
	return strings.TrimRight(l.b.String(), " ")
}

// rule is a horizontal rule with a title in it and remarks at its right end.
func (k Look) rule(w int, title []seg, remarks ...part) string {
	dash := k.pick("─", "-")
	if len(title) == 0 && len(remarks) == 0 {
		return k.line(w).put(themes.Rule, strings.Repeat(dash, max(w, 0))).String()
	}
	l := k.line(w)
	if len(title) > 0 {
		l.put(themes.Rule, dash+dash+" ")
		for _, s := range title {
			l.put(s.role, s.text)
		}
		l.pad(l.w + 1)
	}
	remarks = fitting(remarks, w-l.w-4, 2)
	end := widthOf(remarks, 2)
	if end > 0 {
		end += 4 // a blank on both sides and the rule's end
	}
	l.put(themes.Rule, strings.Repeat(dash, max(w-l.w-end, 0)))
	if end > 0 {
		l.pad(l.w+1).parts(2, remarks...).pad(l.w+1).put(themes.Rule, dash+dash)
	}
	return l.String()
}

// wrap breaks a sentence into lines of at most w cells, between words only, and not
// between a number and its unit: the hyphens of flags and host names are no place to
// break. A longer word is cut.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var out []string
	l := ""
	for _, word := range glued(strings.Fields(s)) {
		switch {
		case l != "" && cells(l)+1+cells(word) <= w:
			l += " " + word
			continue
		case l != "":
			out = append(out, l)
		}
		for cells(word) > w {
			head := ansi.Truncate(word, w, "")
			if head == "" { // a wide character in a single cell
				return out
			}
			out = append(out, head)
			word = word[len(head):]
		}
		l = word
	}
	if l == "" {
		return out
	}
	return append(out, l)
}

// folded breaks a sentence into at most n lines of w cells, with a mark where something
// is missing.
func (k Look) folded(s string, w, n int) []string {
	out := wrap(s, w)
	if len(out) <= n {
		return out
	}
	return append(out[:n-1], k.clipped(strings.Join(out[n-1:], " "), w))
}

// glued keeps numbers and their units together: 500 ms.
func glued(words []string) []string {
	out := words[:0:0]
	for _, w := range words {
		n := len(out) - 1
		if n >= 0 && strings.TrimRight(out[n], "0123456789") != out[n] && slices.Contains(unitWords, strings.TrimRight(w, ",;:)")) {
			out[n] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

// unitWords are the units that stand behind a number and a blank.
var unitWords = []string{"%", "ms", "s", "min", "h", "d", "/s", "req/s", "tok/s", "MHz", "GiB", "tokens", "requests", "preemptions/s"}

// lines joins at most n lines.
func lines(n int, all ...string) string {
	return strings.Join(all[:min(max(n, 0), len(all))], "\n")
}

package panes

import (
	"strings"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// KeyHelp is one binding as people read it. The table of keys is the root
// model's: it is handed in, so that help and footer cannot differ from it.
type KeyHelp struct {
	Key, ASCII string // as printed on the keyboard, and without arrows
	Does       string
	Short      string // one word for the footer, "" when it is not there
	Brief      string // of a screen: the word where that is too long
	Group      string
	Here       bool // the screen it leads to is shown now
	Badge      bool // the footer counts what fires beside it
	Drop       int  // where the footer is short of room, the highest goes first
}

// Leaving is the Drop of the key that leaves: the last to hide, and the last in
// the footer.
const Leaving = 1

// Help lists the keys and the marks.
type Help struct {
	wholeScreen

	Keys   *[]KeyHelp
	Scroll int
}

// Name names the pane.
func (Help) Name() string { return "help" }

// What the help needs: the column of the keys, that of the words of a condition, and the
// least that a column of entries has for its text.
const (
	helpKey    = 10
	helpWord   = 13
	helpColumn = 38
	helpGap    = 1
)

// Render flows the entries into as many columns as fit, and where they are higher than
// the screen shows the rows from Scroll on.
func (h Help) Render(_ *model.Frame, size layout.Size, look Look) string {
	rows, w := h.rows(size, look)
	room := size.H - 1
	remark := []part{say(1, themes.Muted, "e the glossary of numbers").of("key.e", ""), say(2, themes.Muted, "esc closes it").of("key.esc", "")}
	from := min(max(h.Scroll, 0), max(len(rows)-room, 0))
	if len(rows) > room {
		remark = append([]part{say(0, themes.Muted, look.pick("↑↓", "up/down")+" for more")}, remark...)
	}
	out := []string{look.rule(size.W, []seg{{themes.Strong, "HELP"}}, remark...)}
	for _, row := range rows[from:min(from+max(room, 0), len(rows))] {
		l := look.line(size.W)
		for x, entry := range row {
			l.pad(x * (w + helpGap))
			for _, s := range entry {
				l.put(s.role, s.text)
			}
		}
		out = append(out, l.String())
	}
	return strings.TrimRight(lines(size.H, out...), "\n")
}

// HelpScroll is how far the help can be scrolled in a size.
func HelpScroll(keys *[]KeyHelp, size layout.Size, look Look) int {
	rows, _ := Help{Keys: keys}.rows(size, look)
	return max(len(rows)-(size.H-1), 0)
}

// rows divides the entries into columns, and says how wide each is.
func (h Help) rows(size layout.Size, look Look) (rows [][][]seg, w int) {
	across := max((size.W+helpGap)/(helpColumn+helpGap), 1)
	w = (size.W+helpGap)/across - helpGap
	entries := h.entries(size.W, w, look)
	columns := inGroups(entries, across, size.H-1)
	if columns == nil {
		columns = flowing(entries, across)
	}
	for x, column := range columns {
		for y, e := range column {
			if y == len(rows) {
				rows = append(rows, make([][]seg, across))
			}
			rows[y][x] = e
		}
	}
	return rows, w
}

// heading reports whether an entry is the name of a group.
func heading(entry []seg) bool { return len(entry) == 1 }

// inGroups divides the entries into columns that break where a group begins, as low as
// they can be, nil where that is higher than h lines.
func inGroups(entries [][]seg, across, h int) [][][]seg {
	var groups [][][]seg
	for i, e := range entries {
		if i == 0 || heading(e) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], e)
	}
	for limit := (len(entries) + across - 1) / across; limit <= h; limit++ {
		var columns [][][]seg
		fits := true
		for _, g := range groups {
			if n := len(columns) - 1; n >= 0 && len(columns[n])+len(g) <= limit {
				columns[n] = append(columns[n], g...)
				continue
			}
			columns, fits = append(columns, g), fits && len(g) <= limit
		}
		if fits && len(columns) <= across {
			return columns
		}
	}
	return nil
}

// flowing divides the entries into columns of like height. A heading is not left alone at
// the foot of one.
func flowing(entries [][]seg, across int) [][][]seg {
	per := (len(entries) + across - 1) / across
	columns := make([][][]seg, 0, across)
	for x := 0; len(entries) > 0; x++ {
		n := min(per, len(entries))
		if n < len(entries) && n > 1 && heading(entries[n-1]) {
			n--
		}
		if x == across-1 {
			n = len(entries)
		}
		columns, entries = append(columns, entries[:n]), entries[n:]
	}
	return columns
}

// entries is a line for each key by group, each mark, and each word that stands
// for a missing number; texts that are longer than w go on below.
func (h Help) entries(width, w int, look Look) [][]seg {
	var out [][]seg
	add := func(sign seg, at int, text string) {
		sign.text += spaces(at - 1 - cells(sign.text))
		for i, l := range wrap(text, w-at-1) {
			if i > 0 {
				sign.text = spaces(at - 1)
			}
			out = append(out, []seg{{sign.role, " " + sign.text + " "}, {themes.Text, l}})
		}
	}
	group := ""
	for _, k := range *h.Keys {
		if k.Group != group && group != "" { // the first group stands under the title
			out = append(out, []seg{{themes.Muted, k.Group}})
		}
		group = k.Group
		add(seg{themes.Key, look.pick(k.Key, k.ASCII)}, helpKey, k.Does)
	}
	out = append(out, []seg{{themes.Muted, "marks"}})
	for c := range conditionTable {
		info := conditionTable[c]
		add(seg{info.role, look.mark(condition(c)) + " " + info.in(helpWord-4)}, helpWord, info.means)
	}
	out = append(out, []seg{{themes.Muted, "numbers"}})
	for _, n := range numberWords[:len(numberWords)-h.onlyNarrow(width)] {
		add(seg{themes.Strong, look.pick(n.sign, n.ascii)}, helpKey, n.means)
	}
	return out
}

// onlyNarrow is how many of the last number words are seen on a narrow screen only.
func (Help) onlyNarrow(w int) int {
	if w < narrow {
		return 0
	}
	return 1
}

// numberWords explains what stands where a number is uncertain or missing.
var numberWords = []struct{ sign, ascii, means string }{
	{"~640 ms", "~640 ms", "within its bucket"},
	{"1–2.5 s", "1-2.5 s", "a wide bucket"},
	{">7.5 s", ">7.5 s", "beyond the last bucket"},
	{"1.2 s" + tooFew, "1.2 s" + tooFew, "few samples, take care"},
	{"1.2 s" + sinceStart, "1.2 s" + sinceStart, "since the server began"},
	{"n=0", "n=0", "no sample in the window"},
	{"n/e", "n/e", "the server lacks it"},
	{"–", "-", "not known yet"},
	{"i31 ms", "i31 ms", "ITL, which is not TPOT"},
}

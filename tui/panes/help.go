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

// helpColumn is the width of one column of the help.
const helpColumn = 39

// Render flows the entries into as many columns as fit.
func (h Help) Render(_ *model.Frame, size layout.Size, look Look) string {
	entries := h.entries(size.W, look)
	across := max(size.W/helpColumn, 1)
	rows := size.H - 1
	if rows < 1 {
		return look.rule(size.W, []seg{{themes.Strong, "HELP"}})
	}
	from := 0
	var remark []part
	if cols := flow(entries, across, rows); cols == nil {
		from = min(h.Scroll*across, max(len(entries)-rows*across+across, 0))
		remark = []part{say(0, themes.Muted, look.pick("↑↓", "up/down")+" for more")}
	}
	out := []string{look.rule(size.W, []seg{{themes.Strong, "HELP"}, {themes.Muted, "  esc closes it"}}, remark...)}
	shown := entries[from:]
	cols := flow(shown[:min(len(shown), rows*across)], across, rows)
	if cols == nil { // the headings that moved on took the last rows
		cols = flow(shown[:min(len(shown), rows*across-across)], across, rows)
	}
	for y := range rows {
		l := look.line(size.W)
		for x, col := range cols {
			if y < len(col) {
				l.pad(x * helpColumn)
				for _, s := range fittingSegs(col[y], helpColumn-1, look) {
					l.put(s.role, s.text)
				}
			}
		}
		out = append(out, l.String())
	}
	return strings.TrimRight(lines(size.H, out...), "\n")
}

// flow divides entries into columns of like height, none higher than rows. A
// heading is not left alone at the foot of a column. It is nil when they do not
// fit.
func flow(entries [][]seg, across, rows int) [][][]seg {
	per := min((len(entries)+across-1)/across, rows)
	var cols [][][]seg
	for len(entries) > 0 {
		if len(cols) == across {
			return nil
		}
		n := min(per, len(entries))
		if n < len(entries) && n > 1 && len(entries[n-1]) == 1 {
			n--
		}
		cols = append(cols, entries[:n])
		entries = entries[n:]
	}
	return cols
}

// HelpLines is how far the help can be scrolled at least: one line an entry.
func HelpLines(keys *[]KeyHelp, look Look) int { return len(Help{Keys: keys}.entries(0, look)) }

func fittingSegs(segs []seg, w int, look Look) []seg {
	var out []seg
	for _, s := range segs {
		s.text = look.cut(s.text, w)
		w -= cells(s.text)
		out = append(out, s)
	}
	return out
}

// entries is a line for each key by group, each mark, and each word that stands
// for a missing number.
func (h Help) entries(w int, look Look) [][]seg {
	var out [][]seg
	group := ""
	for _, k := range *h.Keys {
		if k.Group != group && group != "" { // the first group stands under the title
			out = append(out, []seg{{themes.Muted, " " + k.Group}})
		}
		group = k.Group
		key := look.pick(k.Key, k.ASCII)
		out = append(out, []seg{{themes.Key, "  " + key + spaces(10-cells(key))}, {themes.Text, " " + k.Does}})
	}
	out = append(out, []seg{{themes.Muted, " marks"}})
	for c := range conditionTable {
		info := conditionTable[c]
		word := info.in(10)
		out = append(out, []seg{
			{info.role, "  " + look.mark(condition(c)) + " " + word},
			{themes.Text, spaces(10-cells(word)) + " " + info.means},
		})
	}
	out = append(out, []seg{{themes.Muted, " numbers"}})
	for _, n := range numberWords[:len(numberWords)-h.onlyNarrow(w)] {
		out = append(out, []seg{
			{themes.Strong, "  " + look.pick(n.sign, n.ascii) + spaces(10-cells(look.pick(n.sign, n.ascii)))},
			{themes.Text, " " + n.means},
		})
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

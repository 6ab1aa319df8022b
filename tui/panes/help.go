package panes

import (
	"math"

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
	Special    bool // it is in the footer of this screen only
}

// Help lists the keys and the marks.
type Help struct {
	Keys   *[]KeyHelp
	Scroll int
}

// Name names the pane.
func (Help) Name() string { return "help" }

// Want takes all the room there is.
func (Help) Want(*model.Frame, int, Look) layout.Want {
	return layout.Want{Min: 3, Ideal: 20, Max: math.MaxInt16}
}

// helpColumn is the width of one column of the help.
const helpColumn = 39

// Render flows the entries into as many columns as fit.
func (h Help) Render(_ *model.Frame, size layout.Size, look Look) string {
	entries := h.entries(look)
	across := max(size.W/helpColumn, 1)
	rows := size.H - 1
	if rows < 1 {
		return look.rule(size.W, []seg{{themes.Strong, "HELP"}})
	}
	room := rows * across
	from := 0
	var remark []part
	if len(entries) > room {
		from = min(h.Scroll*across, len(entries)-room)
		remark = []part{say(0, themes.Muted, look.pick("↑↓", "up/down")+" for more")}
	}
	out := []string{look.rule(size.W, []seg{{themes.Strong, "HELP"}, {themes.Muted, "  esc closes it"}}, remark...)}
	shown := entries[from:min(from+room, len(entries))]
	per := min((len(shown)+across-1)/across, rows)
	if across == 1 {
		per = len(shown)
	}
	for y := range per {
		l := look.line(size.W)
		for x := range across {
			if i := x*per + y; i < len(shown) {
				l.pad(x * helpColumn)
				for _, s := range fittingSegs(shown[i], helpColumn-1, look) {
					l.put(s.role, s.text)
				}
			}
		}
		out = append(out, l.String())
	}
	return lines(size.H, out...)
}

// HelpLines is how far the help can be scrolled at least: one line an entry.
func HelpLines(keys *[]KeyHelp, look Look) int { return len(Help{Keys: keys}.entries(look)) }

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
func (h Help) entries(look Look) [][]seg {
	var out [][]seg
	group := ""
	for _, k := range *h.Keys {
		if k.Group != group {
			group = k.Group
			out = append(out, []seg{{themes.Muted, " " + group}})
		}
		key := look.pick(k.Key, k.ASCII)
		out = append(out, []seg{{themes.Key, "  " + key + spaces(10-cells(key))}, {themes.Text, " " + k.Does}})
	}
	out = append(out, []seg{{themes.Muted, " marks"}})
	for c := range conditionTable {
		info := conditionTable[c]
		word := look.cut(info.word, 10)
		out = append(out, []seg{
			{info.role, "  " + look.mark(condition(c)) + " " + word},
			{themes.Text, spaces(10-cells(word)) + " " + info.means},
		})
	}
	out = append(out, []seg{{themes.Muted, " numbers"}})
	for _, n := range numberWords {
		out = append(out, []seg{
			{themes.Strong, "  " + look.pick(n.sign, n.ascii) + spaces(10-cells(look.pick(n.sign, n.ascii)))},
			{themes.Text, " " + n.means},
		})
	}
	return out
}

// numberWords explains what stands where a number is uncertain or missing.
var numberWords = []struct{ sign, ascii, means string }{
	{"~640 ms", "~640 ms", "within its bucket"},
	{"1–2.5 s", "1-2.5 s", "a wide bucket"},
	{">7.5 s", ">7.5 s", "beyond the last bucket"},
	{"n=0", "n=0", "no samples in the window"},
	{"n/e", "n/e", "not exported by this server"},
	{"–", "-", "not known yet"},
	{"i31 ms", "i31 ms", "ITL, which is not TPOT"},
}

package report

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// page is text of a fixed width that is being written line by line.
type page struct {
	b     strings.Builder
	width int
	ascii bool
	at    model.Instant
	used  [len(legend)]bool // which short words the tables used
	few   bool              // an estimate was marked so

	statuses uint16 // words for devices' readings that were used, a bit each
}

func (p *page) line(s string) {
	p.b.WriteString(strings.TrimRight(unit.TruncateRight(s, p.width, p.ascii), " "))
	p.b.WriteByte('\n')
}

// flow writes a label and pieces that are never torn apart, as many on a line as
// fit; further lines start below the first piece. Only a piece that is wider than
// a line is broken between its words.
func (p *page) flow(label, gap string, pieces ...string) {
	room := p.width - unit.Width(label)
	comma := strings.TrimRight(gap, " ") // stays at the end of a line
	indent := strings.Repeat(" ", unit.Width(label))
	line, used := label, 0
	// put writes s behind a gap, or on a line of its own: then the line before ends
	// with a comma. Room is kept for what comes behind s.
	put := func(gap, comma, s string, behind int) {
		if used > 0 && used+len(gap)+unit.Width(s)+behind > room {
			p.line(line + comma)
			line, used = indent, 0
		}
		if used > 0 {
			line += gap
			used += len(gap)
		}
		line += s
		used += unit.Width(s)
	}
	for _, s := range pieces {
		if unit.Width(s)+len(comma) <= room {
			if s != "" {
				put(gap, comma, s, len(comma))
			}
			continue
		}
		words := strings.Fields(s)
		for i, word := range words {
			behind := 0
			if i == len(words)-1 {
				behind = len(comma)
			}
			if i == 0 {
				put(gap, comma, word, behind)
			} else {
				put(" ", "", word, behind)
			}
		}
	}
	p.line(line)
}

// sentence writes words after a label, wrapped.
func (p *page) sentence(label, text string) {
	p.flow(label, " ", glued(strings.Fields(text))...)
}

// glued keeps numbers and their units together: 500 ms.
func glued(words []string) []string {
	var out []string
	for _, w := range words {
		if n := len(out) - 1; n >= 0 && isUnit(strings.TrimRight(w, ",;:)")) && endsInDigit(out[n]) {
			out[n] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

func isUnit(w string) bool { return slices.Contains([]string{"%", "ms", "s", "min", "h", "d"}, w) }

func endsInDigit(w string) bool { return w[len(w)-1] >= '0' && w[len(w)-1] <= '9' }

// safe is text from outside as it may be shown.
func (p *page) safe(s string) string { return unit.Sentence(s, p.ascii) }

// name is safe text in at most n cells. Of a path the end is kept: it tells
// models apart.
func (p *page) name(s string, n int) string {
	if strings.ContainsAny(s, `/\`) {
		return unit.TruncateLeft(p.safe(s), n, p.ascii)
	}
	return unit.TruncateMiddle(p.safe(s), n, p.ascii)
}

// ago is a time of day and how long it is past.
func (p *page) ago(t model.Instant) string {
	return unit.Clock(t, p.ascii) + " (" + unit.Duration(p.at.Sub(t).Seconds()) + " ago)"
}

// legend is the short word a narrow cell shows for each reason to have no number,
// the same as on the screen.
var legend = [...]struct {
	why  model.Presence
	word string
}{
	{model.Unknown, "–"},
	{model.Stale, "old"},
	{model.Unsupported, "n/e"},
	{model.NoTraffic, "n=0"},
}

// missing is the short word for a reason; the legend below the tables explains
// those that were used.
func (p *page) missing(why model.Presence) string {
	for i, l := range legend {
		if l.why == why {
			p.used[i] = true
			return p.short(l.word)
		}
	}
	return unit.None(p.ascii)
}

// few marks a percentile that its samples do not support.
const few = "(few)"

// short is a word of the legend; its dash has a stand-in.
func (p *page) short(word string) string {
	return unit.Sentence(word, p.ascii)
}

func (p *page) explain() {
	var pieces []string
	for i, l := range legend {
		if p.used[i] {
			pieces = append(pieces, p.short(l.word)+": "+l.why.String())
		}
	}
	if p.few {
		pieces = append(pieces, few+": too few samples for a 95 % interval")
	}
	if pieces = append(pieces, p.explainStatuses()...); len(pieces) > 0 {
		p.line("")
		p.flow("", "   ", pieces...)
	}
}

// cell is a reading in the given format, or the short word for why there is none.
func (p *page) cell(r model.Reading, format func(float64) string) string {
	if v, ok := r.Get(); ok {
		return format(v)
	}
	return p.missing(r.State)
}

// quantile is the p95 of a distribution in eight cells.
func (p *page) quantile(d *model.Dist, exported bool) string {
	switch {
	case d == nil && !exported:
		return p.missing(model.Unsupported)
	case d == nil:
		return p.missing(model.Unknown)
	case d.N == 0:
		return p.missing(model.NoTraffic)
	case !d.P95.Exists():
		return p.missing(model.Unknown)
	default:
		return unit.EstimateShort(d.P95, p.ascii)
	}
}

// column is one column of a table. The first column takes what is left.
type column struct {
	head string
	min  int // cells
	left bool
	drop int // the highest goes first when the page is narrow, 0 stays
}

const leastName = 12 // cells of the first column before others are dropped

// table lays columns out: which are shown, and with what gap.
type table struct {
	cols []column
	show []bool
	gap  int
	name int // cells of the first column
}

func (p *page) table(cols ...column) *table {
	t := &table{cols: cols, show: make([]bool, len(cols)), gap: 2}
	for i := range cols {
		t.show[i] = true
	}
	if t.fit(p.width) < 2*leastName {
		t.gap = 1
	}
	for t.fit(p.width) < leastName {
		worst := 0
		for i, c := range cols {
			if t.show[i] && c.drop > cols[worst].drop {
				worst = i
			}
		}
		if worst == 0 {
			break
		}
		t.show[worst] = false
	}
	t.name = max(1, min(t.fit(p.width), 48))
	heads := make([]string, len(cols))
	for i, c := range cols {
		heads[i] = c.head
	}
	p.row(t, heads...)
	return t
}

// fit is how many cells are left for the first column.
func (t *table) fit(width int) int {
	for i, c := range t.cols {
		if i > 0 && t.show[i] {
			width -= c.min + t.gap
		}
	}
	return width
}

func (p *page) row(t *table, cells ...string) {
	line := unit.PadRight(cells[0], t.name)
	for i, c := range t.cols {
		if i == 0 || !t.show[i] {
			continue
		}
		line += strings.Repeat(" ", t.gap)
		s := unit.TruncateRight(cells[i], c.min, p.ascii)
		if c.left {
			line += unit.PadRight(s, c.min)
		} else {
			line += unit.PadLeft(s, c.min)
		}
	}
	p.line(line)
}

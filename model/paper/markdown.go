package paper

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markdown is a document that is being written.
type markdown struct {
	b     strings.Builder
	level int
}

// Markdown is the document as GitHub-flavoured Markdown.
func (p *Paper) Markdown() string {
	m := &markdown{level: 1}
	m.line("# " + marked(p.Title))
	if p.Badge != "" {
		m.line("**" + marked(p.Badge) + "**")
	}
	for _, t := range p.Under {
		m.line(m.text(t))
	}
	for _, b := range p.Body {
		b.markdown(m)
	}
	if len(p.Foot) > 0 {
		m.line("---")
	}
	for _, t := range p.Foot {
		m.line(m.text(t))
	}
	return m.b.String()
}

// line writes a paragraph.
func (m *markdown) line(s string) {
	if m.b.Len() > 0 {
		m.b.WriteByte('\n')
	}
	m.b.WriteString(s)
	m.b.WriteByte('\n')
}

func (m *markdown) text(t Text) string { return inlined(t, true) }

// inlined is text as Markdown; first says that it begins a line, where more means
// something than in the middle of one: a number and a dot in a table begin no list.
func inlined(t Text, first bool) string {
	var b strings.Builder
	for i, s := range t {
		switch {
		case s.Code:
			b.WriteString(fenced(s.Text))
		case s.Strong || s.Tone == Breach:
			b.WriteString(stressed(s.Text))
		default:
			b.WriteString(escaped(clean(s.Text), first && i == 0))
		}
	}
	return b.String()
}

// stressed is text in bold; blanks at its ends stay outside, or it would not be.
func stressed(s string) string {
	s = clean(s)
	core := strings.TrimSpace(s)
	if core == "" {
		return s
	}
	i := strings.Index(s, core)
	return s[:i] + "**" + escaped(core, false) + "**" + s[i+len(core):]
}

// marked is text at the beginning of a line.
func marked(s string) string { return escaped(clean(s), true) }

// fenced is text between as many backticks as it needs.
func fenced(s string) string {
	s = clean(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		pad = " "
	}
	return fence + pad + strings.ReplaceAll(s, "|", "\\|") + pad + fence
}

// escaped is text of which Markdown reads nothing as markup; what means something at
// the beginning of a line only is escaped there.
func escaped(s string, first bool) string {
	var b strings.Builder
	before := ' '
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&' && (after == '#' || unicode.IsLetter(after)):
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*[]|~", r), r == '_' && !(inWord(before) && inWord(after)),
			r == '!' && after == '[', first && begins(s, i, r, after):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// begins reports whether a sign would make the line that it is in a heading, a quote,
// a list or a rule.
func begins(s string, i int, r, after rune) bool {
	ends := after == utf8.RuneError || unicode.IsSpace(after) || after == r
	switch r {
	case '>', '=':
		return i == 0
	case '#', '+', '-':
		return i == 0 && ends
	case '.', ')':
		return i > 0 && ends && strings.TrimFunc(s[:i], unicode.IsDigit) == ""
	default:
		return false
	}
}

func (s Section) markdown(m *markdown) {
	m.level++
	m.line(strings.Repeat("#", m.level) + " " + marked(s.Title))
	for _, b := range s.Body {
		b.markdown(m)
	}
	m.level--
}

func (p Para) markdown(m *markdown) { m.line(m.text(p.Text)) }

func (l List) markdown(m *markdown) {
	items := make([]string, len(l.Items))
	for i, t := range l.Items {
		items[i] = "- " + m.text(t)
	}
	if len(items) > 0 {
		m.line(strings.Join(items, "\n"))
	}
}

func (t Table) markdown(m *markdown) {
	if t.Caption != "" {
		m.line(stressed(t.Caption))
	}
	var b strings.Builder
	rule := "|"
	b.WriteString("|")
	for _, c := range t.Columns {
		b.WriteString(" " + escaped(clean(c.Head), false) + " |")
		if c.Right {
			rule += "---:|"
		} else {
			rule += "---|"
		}
	}
	b.WriteString("\n" + rule)
	for _, r := range t.Rows {
		b.WriteString("\n|")
		for _, c := range r.Cells {
			b.WriteString(" " + inlined(c, false) + " |")
		}
	}
	m.line(b.String())
}

func (f Facts) markdown(m *markdown) {
	items := make([]string, len(f.Items))
	for i, x := range f.Items {
		items[i] = "- " + stressed(x.Name) + ": " + inlined(x.Value, false)
		if len(x.Note) > 0 {
			items[i] += " (" + inlined(x.Note, false) + ")"
		}
	}
	if len(items) > 0 {
		m.line(strings.Join(items, "\n"))
	}
}

func (n Notice) markdown(m *markdown) {
	inner := &markdown{level: m.level}
	for _, b := range n.Body {
		b.markdown(inner)
	}
	lines := strings.Split(strings.TrimRight(inner.b.String(), "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
	}
	m.line(strings.Join(lines, "\n"))
}

func (f Figures) markdown(m *markdown) {
	for _, one := range f.Items {
		m.line(stressed(one.Title))
		var items []string
		for _, t := range one.Says {
			items = append(items, "- "+m.text(t))
		}
		for _, s := range one.Picture.sparks() {
			if row := sparkline(s.values); row != "" {
				items = append(items, fmt.Sprintf("- %s %s", fenced(row), escaped(clean(s.name), false)))
			}
		}
		if len(items) > 0 {
			m.line(strings.Join(items, "\n"))
		}
	}
}

// sparkCells is the width of a series as a row of small bars.
const sparkCells = 60

// sparkline is a series as a row of bars from 0 to its highest; a gap is a blank. Of the
// points that share a bar the highest shows.
func sparkline(values []float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	most := 0.0
	for _, v := range values {
		if v > most && !math.IsInf(v, 1) {
			most = v
		}
	}
	n := min(len(values), sparkCells)
	row := make([]rune, n)
	known := false
	for i := range n {
		v := math.NaN()
		for _, w := range values[i*len(values)/n : (i+1)*len(values)/n] {
			if !math.IsNaN(w) && !(v >= w) {
				v = w
			}
		}
		switch {
		case math.IsNaN(v):
			row[i] = ' '
			continue
		case math.IsInf(v, 1):
			row[i] = bars[len(bars)-1]
		case most == 0 || v <= 0:
			row[i] = bars[0]
		default:
			row[i] = bars[min(int(v/most*float64(len(bars))), len(bars)-1)]
		}
		known = true
	}
	if !known {
		return ""
	}
	return string(row)
}

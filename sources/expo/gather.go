package expo

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// gathering is what a scanner remembers of a page that is too large to be
// remembered line by line: all of it in tables. Nothing here depends on a # TYPE
// line, since that may stand behind the lines it covers.
type gathering struct {
	crowds []*Crowd
	byName map[string]*Crowd
	names  map[string]*sampleName
	last   *sampleName // of the line before
	crowd  *Crowd      // of the line before, nil on a new page
	row    int32       // of the line before, in its crowd
	key    []byte      // text of the row that is looked for

	page uint32
	cost int  // bytes that the tables take, about
	full bool // a line of this page was refused for want of room

	goesOn bool // what is read next belongs to a line that is too long
	spent  bool // too much of the tables is of pages long gone: the next page starts anew
}

// The cost of tables is bounded: 50,000 rows of fourteen columns and 60 B of
// labels take 14 MB.
const (
	maxGathered = 48 << 20
	nameCost    = 1 << 10 // the tables of a crowd included
	columnCost  = 256
	familyCost  = 256
	slotCost    = 24 // a row's stamps, and the head of its text
	usedCost    = 40 // a row's place in the table of rows
	cellCost    = 8
)

// maxColumns bounds the columns of a crowd: each new row goes through them. No
// histogram known has a tenth of it.
const maxColumns = 512

// sampleName is where the lines of one sample name stand.
type sampleName struct {
	text    string
	base    string           // the crowd of lines that are no buckets …
	plain   *Crowd           // … nil until there is one …
	column  int32            // … and their column
	buckets *Crowd           // of lines with a bound, nil where the name is none of buckets
	bounds  map[string]int32 // their columns by le
	next    int32            // the column that probably comes next
}

func newGathering() *gathering {
	return &gathering{byName: map[string]*Crowd{}, names: map[string]*sampleName{}}
}

// begin starts a page: what the page before gave up is free now.
func (g *gathering) begin(page uint32) {
	g.page, g.last, g.crowd, g.full, g.goesOn = page, nil, nil, false, false
	for _, c := range g.crowds {
		g.cost -= c.release()
		c.page, c.here = page, 0
	}
}

// take notes the sample that was just parsed.
func (g *gathering) take(s *Scanner) {
	l := &s.sample
	if len(l.labels) > s.lim.Labels {
		s.page.Dropped++
		return
	}
	c, column, le := g.place(l)
	if c == nil || column == none {
		g.refuse(s)
		return
	}
	g.key = l.appendKey(g.key[:0], le)
	row, why := g.rowOf(s, c)
	if why != "" {
		s.bad(l.line, why)
		return
	}
	if row == none || !g.see(s, c, row, &c.Columns[column]) {
		g.refuse(s)
	}
}

// refuse drops a line for want of room.
func (g *gathering) refuse(s *Scanner) {
	s.page.Dropped++
	g.full = true
}

// takes sets so many bytes aside, if there is room.
func (g *gathering) takes(cost int) bool {
	if g.cost+cost > maxGathered {
		return false
	}
	g.cost += cost
	return true
}

// place finds the crowd and the column of a line, and the label that is the
// column's bound, none where it has no bound. Without room there is no column.
func (g *gathering) place(l *sampleLine) (c *Crowd, column int32, le int) {
	n := g.nameOf(l)
	if n == nil {
		return nil, none, none
	}
	if n.buckets != nil {
		le = slices.IndexFunc(l.labels, func(one labelSpan) bool { return l.nameIs(one.name, "le") })
		if le >= 0 {
			if column, bound := g.bucket(l, n, l.labels[le].value); bound {
				return n.buckets, column, le
			}
		}
	}
	if n.plain == nil || n.column == none { // there may be room for it now
		n.plain = g.crowdOf(n.base)
		n.column = g.addColumn(n.plain, Column{Name: n.text, Le: math.NaN()})
	}
	return n.plain, n.column, none
}

// nameOf is the sample name of a line, nil without room for another.
func (g *gathering) nameOf(l *sampleLine) *sampleName {
	text := l.name.of(l.line)
	if !l.name.raw {
		text = []byte(l.nameText(l.name))
	}
	if g.last != nil && string(text) == g.last.text {
		return g.last
	}
	n := g.names[string(text)]
	if n == nil {
		if !g.takes(nameCost + len(text)) {
			return nil
		}
		n = g.addName(string(text))
	}
	g.last = n
	return n
}

func (g *gathering) addName(text string) *sampleName {
	n := &sampleName{text: text, base: text}
	if base, ok := strings.CutSuffix(text, "_bucket"); ok {
		n.buckets, n.bounds = g.crowdOf(base), map[string]int32{}
	} else if base, ok := strings.CutSuffix(text, "_sum"); ok {
		n.base = base
	} else if base, ok := strings.CutSuffix(text, "_count"); ok {
		n.base = base
	}
	g.names[text] = n
	return n
}

// crowdOf is the crowd of that name. Its cost is that of the sample name that
// asks for it first.
func (g *gathering) crowdOf(name string) *Crowd {
	c := g.byName[name]
	if c == nil {
		c = &Crowd{Name: name, rows: map[string]int32{}, page: g.page}
		g.byName[name] = c
		g.crowds = append(g.crowds, c)
	}
	return c
}

// bucket is the column of a bound. It reports false for what is no bound.
func (g *gathering) bucket(l *sampleLine, n *sampleName, value span) (column int32, bound bool) {
	text := value.of(l.line)
	columns := n.buckets.Columns
	if i := n.next; value.raw && int(i) < len(columns) && string(text) == columns[i].le && columns[i].Name == n.text {
		n.next++
		return i, true
	}
	if i, ok := n.bounds[string(text)]; ok && value.raw {
		n.next = i + 1
		return i, true
	}
	decoded := decodedValue(string(text), span{0, len(text), value.raw})
	if i, ok := n.bounds[decoded]; ok {
		return i, true
	}
	le, err := strconv.ParseFloat(decoded, 64)
	if err != nil || math.IsNaN(le) {
		return none, false
	}
	if column = g.addColumn(n.buckets, Column{Name: n.text, Le: le, le: decoded}); column != none {
		n.bounds[decoded], n.next = column, column+1
	}
	return column, true
}

// addColumn returns none where the crowd has no room for it.
func (g *gathering) addColumn(c *Crowd, col Column) int32 {
	if len(c.Columns) == maxColumns || !g.takes(columnCost+len(col.le)) {
		return none
	}
	c.Columns = append(c.Columns, col)
	return int32(len(c.Columns) - 1)
}

// rowOf is the row of a line, none without room for another. Most lines of a
// page have the row of the line before.
func (g *gathering) rowOf(s *Scanner, c *Crowd) (row int32, why string) {
	if c == g.crowd && c.texts[g.row] == string(g.key) {
		return g.row, ""
	}
	row, known := c.rows[string(g.key)]
	if !known {
		if why := s.sample.checkLabels(); why != "" {
			return none, why
		}
		if row = g.addRow(c); row == none {
			return none, ""
		}
		if c.apart {
			s.page.New++
		}
	}
	g.crowd, g.row = c, row
	return row, ""
}

func (g *gathering) addRow(c *Crowd) int32 {
	if !g.takes(usedCost + len(g.key)) {
		return none
	}
	row := int32(len(c.texts))
	if last := len(c.free) - 1; last >= 0 {
		row, c.free = c.free[last], c.free[:last]
	} else if g.takes(slotCost) {
		c.texts, c.at, c.born = append(c.texts, ""), append(c.at, 0), append(c.born, 0)
	} else {
		g.cost -= usedCost + len(g.key)
		return none
	}
	text := string(g.key)
	c.texts[row], c.born[row], c.rows[text] = text, g.page, row
	return row
}

// see gives a cell its value on this page. It reports false where there is no
// room for the cell.
func (g *gathering) see(s *Scanner, c *Crowd, row int32, col *Column) bool {
	if more := int(row) + 1 - len(col.values); more > 0 {
		if !g.takes(more * cellCost) {
			return false
		}
		for range more {
			col.values = append(col.values, absent)
		}
	}
	c.visit(row, g.page)
	v := s.sample.value
	if before, again := col.Value(int(row)); again {
		s.page.Repeated++
		if before != v && !(math.IsNaN(before) && math.IsNaN(v)) {
			s.page.Unlike++
		}
	} else {
		s.seen++
	}
	col.values[row] = v
	return true
}

// appendKey appends the text of a line's row: its labels but one, in the order
// of their names, so that all spellings of a series are one.
func (s *sampleLine) appendKey(into []byte, but int) []byte {
	n := len(s.labels)
	if but >= 0 {
		n--
		s.labels[but], s.labels[n] = s.labels[n], s.labels[but]
	}
	for i := 1; i < n; i++ {
		for j := i; j > 0 && s.before(s.labels[j].name, s.labels[j-1].name); j-- {
			s.labels[j], s.labels[j-1] = s.labels[j-1], s.labels[j]
		}
	}
	for _, l := range s.labels[:n] {
		if l.name.raw {
			into = append(into, l.name.of(s.line)...)
		} else {
			into = append(into, s.nameText(l.name)...)
		}
		into = append(into, nameEnds...)
		text := l.value.of(s.line)
		if l.value.raw {
			into = append(into, text...)
		} else {
			into = append(into, decodedValue(string(text), span{0, len(text), false})...)
		}
		into = append(into, valueEnds...)
	}
	return into
}

func (s *sampleLine) before(a, b span) bool {
	if a.raw && b.raw {
		return bytes.Compare(a.of(s.line), b.of(s.line)) < 0
	}
	return s.nameText(a) < s.nameText(b)
}

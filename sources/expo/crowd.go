package expo

import (
	"math"
	"strings"
)

// Crowd is the series of a large page whose sample names differ in nothing but
// the endings of a histogram, as a table: a row for each set of labels, le apart,
// and a column for each sample name and bound. A gateway that labels a histogram
// with a user writes fourteen lines for each of them: as Series they take some
// 300 B a line, 4 KB a user. A row takes about 90 B, its labels as text (60 B are
// usual) and 8 B for each column, 260 B in all.
//
// A row is a slot: it keeps what its series showed last while they are away, and
// goes to another set of labels once they have been away for long. Born tells.
type Crowd struct {
	Name    string // what the sample names have in common: foo of foo_bucket
	Columns []Column

	rows  map[string]int32 // by text
	texts []string         // of each row: its labels in the order of their names
	at    []uint32         // of each row: the last page that had it, 0: the slot is free
	born  []uint32         // of each row: the page that gave it its labels
	free  []int32
	gone  []int32 // given up with this page
	page  uint32  // the number of the last page
	here  int     // rows on this page
	apart bool    // too many to be listed as Series
}

// Column is one sample name of a crowd, and one bound where it is a bucket.
type Column struct {
	Name   string
	Family string // the name in the # TYPE line that covers it; Name where none does
	Type   Type
	Le     float64 // upper bound of a bucket, else NaN

	le     string // as it is written, "" for no bucket
	values []float64
	series []int32 // of each row where the crowd is listed, none for no series yet
}

// absent is the value of a cell that its row's last page did not have: a NaN that
// no line can write.
var absent = math.Float64frombits(0x7ff8_0000_0bad_0bad)

// Page is the number of the page that was read last. Numbers only grow.
func (c *Crowd) Page() uint32 { return c.page }

// Rows is the number of slots.
func (c *Crowd) Rows() int { return len(c.texts) }

// Born is the number of the page that gave a row its labels, 0 for a free slot.
func (c *Crowd) Born(row int) uint32 { return c.born[row] }

// Seen reports whether a row is on the page.
func (c *Crowd) Seen(row int) bool { return c.at[row] == c.page }

// Gone are the rows that are given up: they have been away for long, and after
// this page their slots may go to others.
func (c *Crowd) Gone() []int32 { return c.gone }

// Labels appends a row's labels to into, in the order of their names and without
// le. They share the row's text.
func (c *Crowd) Labels(row int, into []Label) []Label {
	for rest := c.texts[row]; rest != ""; {
		name, after, _ := strings.Cut(rest, nameEnds)
		value, next, _ := strings.Cut(after, valueEnds)
		into, rest = append(into, Label{name, value}), next
	}
	return into
}

// What ends a name and a value in a row's text. Neither occurs in UTF-8.
const (
	nameEnds  = "\xff"
	valueEnds = "\xfe"
)

// Value is what a row showed in the column on the last page that had the row. It
// reports false where that page lacked the line.
func (col *Column) Value(row int) (float64, bool) {
	if row >= len(col.values) || math.Float64bits(col.values[row]) == math.Float64bits(absent) {
		return math.NaN(), false
	}
	return col.values[row], true
}

// Shown reports whether any row on the page has a value in the column.
func (c *Crowd) Shown(column int) bool {
	col := &c.Columns[column]
	for row := range col.values {
		if _, ok := col.Value(row); ok && c.Seen(row) {
			return true
		}
	}
	return false
}

// visit notes that the page has a row. Its cells are empty until lines fill them.
func (c *Crowd) visit(row int32, page uint32) {
	if c.at[row] == page {
		return
	}
	c.at[row] = page
	c.here++
	for i := range c.Columns {
		if v := c.Columns[i].values; int(row) < len(v) {
			v[row] = absent
		}
	}
}

// release gives up the rows that are gone.
func (c *Crowd) release() (cost int) {
	for _, row := range c.gone {
		cost += usedCost + len(c.texts[row])
		delete(c.rows, c.texts[row])
		c.texts[row], c.at[row], c.born[row] = "", 0, 0
		c.free = append(c.free, row)
	}
	c.gone = c.gone[:0]
	return cost
}

// give marks the rows that have been away for so many pages as gone.
func (c *Crowd) give(pages uint32) {
	for row, at := range c.at {
		if at != 0 && c.page-at >= pages {
			c.gone = append(c.gone, int32(row))
		}
	}
}

// series is the column's line of a row as a series of its own.
func (col *Column) as(labels []Label) *Series {
	s := &Series{Name: col.Name, Family: col.Family, Type: col.Type, Labels: labels, Le: math.NaN()}
	switch {
	case col.le == "":
	case col.Type == Histogram:
		s.Le = col.Le
	default:
		s.Labels = append(labels[:len(labels):len(labels)], Label{"le", col.le})
	}
	return s
}

// number is the index of a row's series, none where it has none yet.
func (col *Column) number(row int) *int32 {
	for len(col.series) <= row {
		col.series = append(col.series, none)
	}
	return &col.series[row]
}

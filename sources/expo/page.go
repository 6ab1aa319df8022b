// Package expo turns the text of a metrics page into series and values, within
// limits and line by line: one bad line never blinds a target. It knows the
// exposition format and nothing of any engine.
package expo

// Type is what a page's # TYPE line says of a family.
type Type uint8

// The types. Untyped covers families without a # TYPE line, and the types of
// OpenMetrics that have no counterpart here (info, stateset, unknown).
const (
	Untyped Type = iota
	Gauge
	Counter
	Histogram
	Summary
)

// String is the word of the # TYPE line.
func (t Type) String() string {
	switch t {
	case Untyped:
		return "untyped"
	case Gauge:
		return "gauge"
	case Counter:
		return "counter"
	case Histogram:
		return "histogram"
	case Summary:
		return "summary"
	}
	return "invalid"
}

// Label is one name and its decoded value.
type Label struct{ Name, Value string }

// Series is one line's identity: its sample name (with _bucket, _sum, _count or
// _total where the line has it), its decoded labels in page order, and its family.
// It may be shared between the pages of several targets: nobody writes to it.
type Series struct {
	Name   string
	Family string // the name in the # TYPE line that covers it; Name where none does
	Type   Type
	Labels []Label // without le
	// Le is the upper bound of a _bucket line of a histogram, else NaN. A bucket
	// whose le is missing or no number has NaN too, and keeps that label.
	Le float64
}

// Page is what the last scan read. It belongs to the Scanner and is overwritten
// by the next scan. Values[i] belongs to Series[i]; Seen[i] is false when the
// line was not on this page (its value is then NaN). Series are only appended,
// until Generation changes: then every index may mean another series.
type Page struct {
	Series     []*Series
	Values     []float64
	Seen       []bool
	Generation int // starts at 1 with the first page
	New        int // series, and rows and columns of crowds, first seen on this page

	// Crowds are the series of a large page that are too many to be in Series.
	Crowds []*Crowd

	// Families are the names that # TYPE lines of this page declare. One without
	// a series is exported and has nothing to say yet.
	Families []Family

	Lines    int
	BadLines []BadLine // the first few lines that were skipped
	Bad      int       // how many were skipped in all
	Dropped  int       // lines whose series a limit refused
	Repeated int       // lines whose series stood on the page already; the last one counts
	Unlike   int       // of those, lines with another value than the one before

	// Verdict is what the reference parser says against an early page of the
	// generation, the first one unless many targets share their lines: readers
	// stricter than this one refuse such a page. Empty when it has nothing to say.
	Verdict string
}

// Names yields sample names and how many series bear them: each of Series alone,
// of crowds those that their rows may have.
func (p *Page) Names(yield func(name string, series int) bool) {
	for _, s := range p.Series {
		if !yield(s.Name, 1) {
			return
		}
	}
	for _, c := range p.Crowds {
		for i := range c.Columns {
			if !yield(c.Columns[i].Name, c.used()) {
				return
			}
		}
	}
}

// Family is what a # TYPE line declares.
type Family struct {
	Name string
	Type Type
}

// BadLine is a skipped line: its number from 1, why, and a short excerpt in
// which control characters are visible marks.
type BadLine struct {
	Line    int
	Why     string
	Excerpt string
}

// Limits bound what one page may cost. Zero means the default.
type Limits struct {
	Body   int // bytes
	Line   int // bytes of one line
	Labels int // labels of one series
	Series int // series of one target, crowds apart
	Crowd  int // series of one family on a page read by ScanFrom; where there are more, they are a Crowd
}

// The defaults leave room: the largest page known, a router that exports every
// family twice, has 340 KB; the longest line, a configuration as labels, 2 KB. A
// gateway's page with a histogram for each of 50,000 users has 66 MB.
const (
	defaultBody   = 96 << 20
	defaultLine   = 64 << 10
	defaultLabels = 128
	defaultSeries = 200_000
	defaultCrowd  = 1 << 14
)

func (l Limits) orDefault() Limits {
	l.Body = positiveOr(l.Body, defaultBody)
	l.Line = positiveOr(l.Line, defaultLine)
	l.Labels = positiveOr(l.Labels, defaultLabels)
	l.Series = positiveOr(l.Series, defaultSeries)
	l.Crowd = positiveOr(l.Crowd, defaultCrowd)
	return l
}

func positiveOr(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// Package expo turns the text of a metrics page into series and values, within
// limits and line by line: one bad line never blinds a target. It knows the
// exposition format and nothing of any engine.
package expo

// Type is what a page's # TYPE line says of a family.
type Type uint8

// The types. Untyped covers families without a # TYPE line.
const (
	Untyped Type = iota
	Gauge
	Counter
	Histogram
	Summary
)

// Label is one name and its decoded value.
type Label struct{ Name, Value string }

// Series is one line's identity: its sample name (with _bucket, _sum, _count or
// _total where the line has it), its decoded labels in page order, and its family.
type Series struct {
	Name   string
	Family string // the name in the # TYPE line that covers it; Name where none does
	Type   Type
	Labels []Label // without le
	Le     float64 // upper bound of a _bucket line of a histogram, else NaN
}

// Page is what the last scan read. It belongs to the Scanner and is overwritten
// by the next scan. Values[i] belongs to Series[i]; Seen[i] is false when the
// line was not on this page (its value is then NaN). Series are only appended,
// until Generation changes: then every index may mean another series.
type Page struct {
	Series     []Series
	Values     []float64
	Seen       []bool
	Generation int // starts at 1 with the first page
	New        int // series first seen on this page

	Lines    int
	BadLines []BadLine // the first few lines that were skipped
	Bad      int       // how many were skipped in all
	Dropped  int       // series refused by a limit
	Repeated int       // lines whose series stood on the page already; the last one counts
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
	Series int // series of one target
}

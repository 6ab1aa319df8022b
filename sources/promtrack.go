package sources

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	prommodel "github.com/prometheus/common/model"

	"slotop/model"
	"slotop/sources/dialect"
	"slotop/sources/expo"
)

// seen is what one dialect reads off the server: a page of sums, laid out as an
// engine's own.
type seen struct {
	view  *dialect.View
	page  expo.Page
	plan  *dialect.Plan
	stale bool // the plan does not know all of the page
}

func newSeen(view *dialect.View) *seen {
	return &seen{view: view, page: expo.Page{Generation: 1}, stale: true}
}

// add gives the page a line that no answer has shown yet.
func (s *seen) add(series expo.Series) int {
	s.page.Series = append(s.page.Series, &series)
	s.page.Values = append(s.page.Values, math.NaN())
	s.page.Seen = append(s.page.Seen, false)
	s.stale = true
	return len(s.page.Series) - 1
}

// show writes a line's value; NaN takes the line off the page.
func (s *seen) show(line int, v float64) {
	s.page.Values[line], s.page.Seen[line] = v, !math.IsNaN(v)
}

// read appends the page's samples.
func (s *seen) read(into []model.Sample) []model.Sample {
	if s.stale {
		plan := s.view.Plan(&s.page)
		if s.plan != nil {
			plan.Continue(s.plan)
		}
		s.plan, s.stale = plan, false
	}
	return s.plan.ReadMany(&s.page, into)
}

// maxSums bounds the rows that one metric may bring: labels that workflows match on
// may have as many values as there are servers.
const maxSums = 20_000

// track follows one exposed metric.
type track struct {
	tag  string
	read dialect.Read
	on   *seen

	rows    []trackRow
	known   map[string]int // rows by what tells them apart
	order   []int          // rows of buckets by group and bound
	groups  int
	dropped int       // rows that had no room in the last answer
	got     []float64 // the answer that is being read, by row
	natives []*prommodel.Sample

	asked time.Time     // the instant of the last answer
	lag   time.Duration // by how much what is shown lies back
	shown time.Time     // up to where it was shown

	refused int       // questions in a row that were too much
	bounded time.Time // when its bounds were looked at
	uneven  bool      // some engines lack some of them

	odometer                 // of counters and histograms
	earlier, level stand     // of gauges: the last two answers
	native         grid      // of histograms whose buckets are part of the value
	instead        *recorded // a rule that is read in place of the metric
}

// trackRow is one sum that the server forms.
type trackRow struct {
	line  int // on the page
	group int // the rows of a histogram that differ in their bound
	bound float64
	gone  bool // a bound that was given up
}

// start begins to read an answer.
func (t *track) start() {
	t.dropped = 0
	t.got = t.got[:0]
	for range t.rows {
		t.got = append(t.got, math.NaN())
	}
	t.natives = t.natives[:0]
}

// note reads one element of an answer.
func (t *track) note(s *prommodel.Sample) {
	if t.read.Native {
		if s.Histogram != nil {
			t.natives = append(t.natives, s)
		}
		return
	}
	if s.Histogram != nil || math.IsNaN(float64(s.Value)) || math.IsInf(float64(s.Value), 0) {
		return
	}
	bound := math.NaN()
	if t.read.Buckets {
		var err error
		if bound, err = strconv.ParseFloat(string(s.Metric[prommodel.BucketLabel]), 64); err != nil {
			return
		}
	}
	if row, ok := t.row(s.Metric, t.read.Names[0], bound); ok {
		t.got[row] = float64(s.Value)
	}
}

// finish ends reading an answer.
func (t *track) finish() {
	if t.read.Native {
		t.noteNatives()
	}
	if t.read.Merge != dialect.Count {
		return
	}
	sizes := 0
	for _, v := range t.got {
		if !math.IsNaN(v) {
			sizes++
		}
	}
	if sizes >= maxSizes { // some were left out, and nobody knows how large those are
		t.start()
	}
}

// row is the place of a sum, made where it is new.
func (t *track) row(m prommodel.Metric, name string, bound float64) (row int, ok bool) {
	var key strings.Builder
	key.WriteString(name)
	for _, label := range t.read.By {
		key.WriteByte(0xff)
		key.WriteString(string(m[prommodel.LabelName(label)]))
	}
	group := key.String()
	if !math.IsNaN(bound) {
		key.WriteString("\xfe" + strconv.FormatFloat(bound, 'g', -1, 64))
	}
	if row, ok = t.known[key.String()]; ok {
		return row, true
	}
	if len(t.rows) >= maxSums {
		t.dropped++
		return 0, false
	}
	if t.known == nil {
		t.known = map[string]int{}
	}
	number, ok := t.known[group+"\xfd"]
	if !ok {
		number = t.groups
		t.known[group+"\xfd"] = number
		t.groups++
	}
	row = len(t.rows)
	t.known[key.String()] = row
	t.rows = append(t.rows, trackRow{line: t.on.add(t.series(m, name, bound)), group: number, bound: bound})
	t.got = append(t.got, math.NaN())
	if !math.IsNaN(bound) {
		t.rank(row)
	}
	return row, true
}

// series is the line of the page that a sum stands for.
func (t *track) series(m prommodel.Metric, name string, bound float64) expo.Series {
	s := expo.Series{Name: name, Family: name, Le: bound}
	for _, label := range t.read.By {
		if v := m[prommodel.LabelName(label)]; v != "" {
			s.Labels = append(s.Labels, expo.Label{Name: label, Value: string(v)})
		}
	}
	if t.read.Native { // another part of the same histogram than its classic buckets
		s.Labels = append(s.Labels, expo.Label{Name: tagLabel, Value: "native"})
	}
	if !math.IsNaN(bound) {
		s.Family, s.Type = strings.TrimSuffix(name, "_bucket"), expo.Histogram
	}
	return s
}

// rank puts a new bucket in its place. What it counted before is what the next lower
// bound did: observations between the two have only come now, or nobody can tell.
func (t *track) rank(row int) {
	at, _ := slices.BinarySearchFunc(t.order, row, func(o, row int) int {
		a, b := t.rows[o], t.rows[row]
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.bound, b.bound))
	})
	t.order = slices.Insert(t.order, at, row)
	if at > 0 && t.rows[t.order[at-1]].group == t.rows[row].group {
		t.like(row, t.order[at-1])
	}
}

// takeLevels notes an answer of levels.
func (t *track) takeLevels(at time.Time) {
	t.earlier, t.level = t.level, stand{at, slices.Clone(t.got)}
}

// showLevels puts the levels of an instant on the page: between two answers they are
// taken to have changed evenly, as counts are, so that what was started, what ended
// and what is in flight are of one time.
func (t *track) showLevels(at time.Time) {
	part := 1.0
	if span := t.level.at.Sub(t.earlier.at); !t.earlier.at.IsZero() && span > 0 {
		part = min(1, max(0, at.Sub(t.earlier.at).Seconds()/span.Seconds()))
	}
	for i, r := range t.rows {
		v, was := t.level.of(i), t.earlier.of(i)
		if !math.IsNaN(was) && !math.IsNaN(v) && t.read.Merge != dialect.Count {
			v = was + (v-was)*part
		}
		t.on.show(r.line, v)
	}
}

// showCounts puts the counts of an instant on the page. Those of a histogram rise
// from bound to bound.
func (t *track) showCounts(at time.Time) {
	for i, r := range t.rows {
		if math.IsNaN(r.bound) {
			t.on.show(r.line, t.at(i, at))
		}
	}
	group, most := -1, 0.0
	for _, i := range t.order {
		r := t.rows[i]
		switch {
		case r.gone:
			t.on.show(r.line, math.NaN())
			continue
		case r.group != group:
			group, most = r.group, 0
		}
		v := t.at(i, at)
		if v < most {
			v = most
		}
		most = max(most, zeroIfNaN(v))
		t.on.show(r.line, v)
	}
}

// until is the instant of which the counts are shown: what has been shown is not
// taken back.
func (t *track) until(now time.Time) time.Time {
	if at := now.Add(-t.lag); at.After(t.shown) {
		t.shown = at
	}
	return t.shown
}

// hide takes all of it off the page: what it showed is too old.
func (t *track) hide() {
	for _, r := range t.rows {
		t.on.show(r.line, math.NaN())
	}
}

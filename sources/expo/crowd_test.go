package expo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// flat is a page with the rows of its crowds among its series, if they are there.
func flat(p *Page) *Page {
	out := *p
	out.Series, out.Values, out.Seen = nil, nil, nil
	put := func(s *Series, v float64) {
		out.Series, out.Values, out.Seen = append(out.Series, s), append(out.Values, v), append(out.Seen, true)
	}
	for i, s := range p.Series {
		if p.Seen[i] {
			put(s, p.Values[i])
		}
	}
	for _, c := range p.Crowds {
		for row := range c.Rows() {
			for k := range c.Columns {
				if v, ok := c.Columns[k].Value(row); ok && c.Seen(row) {
					put(c.Columns[k].as(c.Labels(row, nil)), v)
				}
			}
		}
	}
	return &out
}

// rescanFrom reads a page line by line, in small pieces.
func rescanFrom(t *testing.T, s *Scanner, body string) *Page {
	t.Helper()
	p, err := s.ScanFrom(iotest.HalfReader(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkStreamed holds what is read line by line to what is read as a whole, read
// first, again, and after another page, with crowds of so many series.
func checkStreamed(t *testing.T, a, b []byte, crowds ...int) {
	want, err := NewScanner(Limits{}).Scan(a)
	for _, crowd := range crowds {
		s := NewScanner(Limits{Crowd: crowd})
		for i, body := range [][]byte{a, b, a, a} {
			p, errHere := s.ScanFrom(bytes.NewReader(body))
			if i == 1 {
				continue
			}
			var one, other *NotMetricsError
			if errors.As(err, &one) != errors.As(errHere, &other) || one != nil && *one != *other {
				t.Fatalf("crowds of %d: %v, as a whole %v", crowd, errHere, err)
			}
			if err != nil || len(want.set()) != len(flat(want).Series) {
				break // it is no page, or bounds stand on it in two spellings
			}
			if samePage(t, fmt.Sprintf("crowds of %d, page %d", crowd, i), flat(p), want); t.Failed() {
				t.FailNow()
			}
			if p.New != 0 && i == 3 {
				t.Fatalf("crowds of %d: %d new series on the same page", crowd, p.New)
			}
		}
	}
}

func FuzzScanFrom(f *testing.F) {
	for _, a := range seeds {
		f.Add([]byte(a), []byte(seeds[0]))
		f.Add([]byte(a), []byte(a+seeds[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) { checkStreamed(t, a, b, 1, 4, 1000) })
}

func TestRandomPagesStreamed(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	const seed = 20261201
	r := pageMaker{rand.New(rand.NewPCG(seed, 1))}
	for i := range 1_500 {
		a, b := r.page(), r.page()
		if checkStreamed(t, a, b, 1, 4, 1000); t.Failed() {
			t.Fatalf("seed %d, page %d:\n%s\nbefore it:\n%s", seed, i, a, b)
		}
	}
}

func TestRealPagesStreamed(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	realPages(t, func(name string, body []byte) {
		t.Run(name, func(t *testing.T) { checkStreamed(t, body, bytes.ToUpper(body), 1, 1000) })
	})
}

// users is a page with a histogram of two buckets for each of the users.
func users(from, n, count int) string {
	var b strings.Builder
	b.WriteString("# TYPE up gauge\nup 1\n# TYPE h histogram\n")
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, "h_bucket{le=\"1\",user=\"u%d\"} %d\nh_bucket{le=\"+Inf\",user=\"u%[1]d\"} %[2]d\nh_sum{user=\"u%[1]d\"} %[3]d\nh_count{user=\"u%[1]d\"} %[2]d\n", i, count, 2*count)
	}
	return b.String()
}

func TestCrowdIsATable(t *testing.T) {
	s := NewScanner(Limits{Crowd: 100})
	p := rescanFrom(t, s, users(0, 30, 7))
	if len(p.Series) != 1 || len(p.Crowds) != 1 || p.Lines != 3+4*30 || p.New != 1 {
		t.Fatalf("page %+v", p)
	}
	c := p.Crowds[0]
	if c.Name != "h" || c.Rows() != 30 || len(c.Columns) != 4 || c.Columns[1].Type != Histogram || c.Columns[1].Family != "h" {
		t.Fatalf("crowd %+v", c)
	}
	if l := c.Labels(3, nil); len(l) != 1 || l[0] != (Label{"user", "u3"}) {
		t.Errorf("labels %v", l)
	}
	if v, ok := c.Columns[2].Value(29); !ok || v != 14 || !c.Seen(29) || !c.Shown(2) {
		t.Errorf("the last sum is %v", v)
	}
	names := 0
	for name, n := range p.Names {
		if names += n; name == "h_sum" && n != 30 {
			t.Errorf("%d of h_sum", n)
		}
	}
	if names != 1+4*30 {
		t.Errorf("%d series", names)
	}
	// A user comes, one goes, one lacks a line: only the first is new.
	body := strings.Replace(users(1, 30, 8), "h_sum{user=\"u9\"} 16\n", "", 1)
	p = rescanFrom(t, s, body)
	if p.New != 1 || p.Generation != 2 || c.Seen(0) || c.Born(30) != c.Page() {
		t.Errorf("page %+v", p)
	}
	if v, ok := c.Columns[0].Value(0); !ok || v != 7 {
		t.Errorf("what is away shows %v", v)
	}
	if _, ok := c.Columns[2].Value(9); ok {
		t.Error("a line that is away is there")
	}
}

// What an index or a column means changes with the generation only.
func TestCrowdsChangeGeneration(t *testing.T) {
	s := NewScanner(Limits{Crowd: 100})
	as := func(typ, page string) string { return strings.ReplaceAll(page, "# TYPE h histogram", typ) }
	generation := 0
	for i, step := range []struct {
		body           string
		renewed        bool
		series, crowds int
	}{
		{users(0, 20, 1), true, 81, 0},
		{users(0, 20, 2), false, 81, 0},
		{as("# TYPE h gauge", users(0, 20, 3)), true, 81, 0},
		{as("# TYPE h banana", users(0, 20, 3)), false, 81, 0}, // nor does that cover h_bucket
		{as("", users(0, 20, 3)) + "# TYPE h histogram\n", true, 81, 0},
		{users(0, 26, 3), true, 1, 1},
		{users(0, 20, 4), false, 1, 1}, // it stays apart
		{as("# TYPE h gauge", users(0, 20, 5)), true, 1, 1},
		{users(20, 20, 6), true, 1, 1},
		{users(20, 20, 6) + "other 1\n", false, 2, 1},
	} {
		p := rescanFrom(t, s, step.body)
		if (p.Generation != generation) != step.renewed || len(p.Series) != step.series || len(p.Crowds) != step.crowds {
			t.Errorf("page %d: generation %d after %d; %d series, %d crowds", i, p.Generation, generation, len(p.Series), len(p.Crowds))
		}
		generation = p.Generation
	}
	// A page that is held again has nothing to do with the crowds.
	p := rescan(t, s, users(0, 26, 9))
	if p.Generation == generation || len(p.Crowds) != 0 || len(p.Series) != 105 || s.gathering != nil {
		t.Errorf("held: %+v", p)
	}
}

// A row that is away for long gives its slot to another, and says so before.
func TestRowsAreGivenUp(t *testing.T) {
	s := NewScanner(Limits{Crowd: 1})
	rescanFrom(t, s, users(0, 10, 5))
	var c *Crowd
	for i := range awayPages {
		p := rescanFrom(t, s, users(1, 9, 6))
		c = p.Crowds[0]
		if gone := len(c.Gone()); (gone == 1) != (i == awayPages-1) {
			t.Fatalf("after %d pages %d are gone", i+1, gone)
		}
	}
	if v, ok := c.Columns[0].Value(0); c.Gone()[0] != 0 || !ok || v != 5 || c.Born(0) == 0 {
		t.Errorf("row %d is gone, and showed %v", c.Gone()[0], v)
	}
	rescanFrom(t, s, users(1, 11, 7))
	if c.Rows() != 11 || len(c.Gone()) != 0 || c.Born(0) != c.Page() || c.Labels(0, nil)[0].Value != "u10" || c.Labels(10, nil)[0].Value != "u11" {
		t.Errorf("%d rows, the first is %v", c.Rows(), c.Labels(0, nil))
	}
}

// What a page brings only once must not pile up, whatever part of the line it is.
func TestStreamedChurnIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	for name, line := range map[string]string{
		"rows":    "a{b=\"%d\"} 1\n",
		"names":   "a%d 1\n",
		"buckets": "a_bucket{le=\"%d\"} 1\n",
		"types":   "# TYPE a_%d gauge\n",
	} {
		for _, crowd := range []int{1, 1 << 20} {
			s := NewScanner(Limits{Crowd: crowd})
			for i := range 3 * spareEntries {
				p := rescanFrom(t, s, "# TYPE steady gauge\nsteady 1\n"+fmt.Sprintf(line, i))
				wantValue(t, flat(p), "steady", 1)
				g := s.gathering
				rows := 0
				for _, c := range g.crowds {
					rows += c.used()
				}
				if p.Dropped > 0 && name != "buckets" || len(p.Series) > spareEntries+10 || len(g.crowds) > spareEntries+10 || rows > spareEntries+10 ||
					len(s.families.all) > spareEntries+10 || g.cost > 4<<20 {
					t.Fatalf("%s: page %d: %d dropped, %d series, %d crowds, %d rows, %d families, cost %d",
						name, i, p.Dropped, len(p.Series), len(g.crowds), rows, len(s.families.all), g.cost)
				}
			}
		}
	}
}

// A page that needs more than there is room for is read as far as that goes, and
// the rest is counted. What is away makes room.
func TestTablesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	const n = maxGathered / 1000
	long := strings.Repeat("x", 980)
	page := func(from int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a{b=\"%d%s\"} 1\n", from+i, long)
		}
		return b.String()
	}
	s := NewScanner(Limits{})
	p := rescanFrom(t, s, page(0))
	if p.Dropped == 0 || p.Dropped > n/5 || s.gathering.cost > maxGathered {
		t.Fatalf("%d of %d dropped, cost %d", p.Dropped, n, s.gathering.cost)
	}
	dropped := p.Dropped
	rescanFrom(t, s, page(n)) // no room for any of them yet
	if p = rescanFrom(t, s, page(n)); p.Dropped > dropped+n/100 {
		t.Errorf("%d dropped with others away, %d without", p.Dropped, dropped)
	}
}

// Tables of thousands of columns would take their time with each row.
func TestColumnsAreBounded(t *testing.T) {
	s := NewScanner(Limits{Crowd: 1})
	bounds := func(from int) string {
		var b strings.Builder
		for i := range maxColumns + 5 {
			fmt.Fprintf(&b, "a_bucket{le=\"%d\"} 1\n", from+i)
		}
		return b.String()
	}
	if p := rescanFrom(t, s, bounds(0)); p.Dropped != 5 {
		t.Errorf("%d dropped", p.Dropped)
	}
	rescanFrom(t, s, bounds(5000)) // a server that came back with others
	if p := rescanFrom(t, s, bounds(5000)); p.Dropped != 5 {
		t.Errorf("%d dropped of others", p.Dropped)
	}
}

func TestStreamedPagesThatAreNone(t *testing.T) {
	for name, body := range map[string]string{
		HTML: "<!DOCTYPE html><html>", JSON: "{\"a\":1}", Empty: " \n", Gzip: "\x1f\x8b123",
		Text: "one line of\nsome other text\nand one\nand more of it\n",
	} {
		s := NewScanner(Limits{})
		_, err := s.ScanFrom(strings.NewReader(body))
		var not *NotMetricsError
		if !errors.As(err, &not) || not.What != name {
			t.Errorf("%s: %v", name, err)
		}
		wantValue(t, rescanFrom(t, s, "a 1\n"), "a", 1)
	}
}

func TestStreamedLimits(t *testing.T) {
	s := NewScanner(Limits{Body: 1000, Line: 20, Labels: 2})
	_, err := s.ScanFrom(strings.NewReader(strings.Repeat("a{b=\"c\"} 1\n", 200)))
	var over *OversizedError
	if !errors.As(err, &over) || over.Limit != 1000 || !strings.Contains(err.Error(), "larger than 1000 bytes") {
		t.Errorf("error %v", err)
	}
	s = NewScanner(Limits{Line: 20, Labels: 2})
	long := strings.Repeat("x", 200_000)
	p := rescanFrom(t, s, "\xEF\xBB\xBF# TYPE a gauge\na 1\r\nb{c=\""+long+"\"} 1\nd{e=\"fghijklmnopqrstuvw\"} 1\nc{x=\"\",y=\"\",z=\"\"} 1\nd 2\ne 3")
	if p.Lines != 7 || p.Bad != 3 || p.Dropped != 1 || p.BadLines[0].Line != 3 || p.BadLines[0].Why != whyLong ||
		p.BadLines[1].Why != whyLong || p.BadLines[2].Why != whyCut {
		t.Errorf("page %+v", p)
	}
	wantValue(t, p, "a", 1)
	wantValue(t, p, "d", 2)
	// What the reader says is not ours to judge, and does no harm.
	broken := errors.New("broken")
	if _, err := s.ScanFrom(io.MultiReader(strings.NewReader("# TYPE a gauge\na 2\nd 3\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if p = rescanFrom(t, s, "# TYPE a gauge\na 5\nd 6\n"); p.New != 0 || p.Values[0] != 5 {
		t.Errorf("after it: %+v", p)
	}
	s = NewScanner(Limits{Series: 3})
	if p = rescanFrom(t, s, "a 1\nb 1\nc 1\nd 1\n"); p.Dropped != 1 || len(p.Series) != 3 {
		t.Errorf("series beyond the limit: %+v", p)
	}
}

// A page like the one before costs the buffer it is read through, and nothing for
// its lines; ids that come cost their text.
func TestStreamedPageAllocatesLittle(t *testing.T) {
	s := NewScanner(Limits{Crowd: 1000})
	body := []byte(users(0, 5000, 1))
	n := testing.AllocsPerRun(5, func() {
		if _, err := s.ScanFrom(bytes.NewReader(body)); err != nil {
			t.Fatal(err)
		}
	})
	if n > 20 {
		t.Errorf("%v allocations for %d bytes", n, len(body))
	}
}

// BenchmarkStreamed is the page of OC-27: 50,000 rows of fourteen columns, one in
// a hundred of them new. It reports what the tables take.
func BenchmarkStreamed(b *testing.B) {
	var pages [2][]byte
	for i := range pages {
		pages[i] = workflows(500*i, 50_000)
	}
	s := NewScanner(Limits{})
	b.SetBytes(int64(len(pages[0])))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.ScanFrom(bytes.NewReader(pages[i%2])); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.gathering.cost)/50_000, "B/row")
}

// workflows is a page as vLLM writes it for so many models.
func workflows(from, n int) []byte {
	b := []byte("# TYPE vllm:time_to_first_token_seconds histogram\n")
	for i := from; i < from+n; i++ {
		labels := fmt.Sprintf("engine=\"0\",model_name=\"wf-%05d\"} %d.0\n", i, i)
		for _, le := range benchBounds[len(benchBounds)-12:] {
			b = append(b, "vllm:time_to_first_token_seconds_bucket{le=\""+le+"\","+labels...)
		}
		b = append(b, "vllm:time_to_first_token_seconds_count{"+labels...)
		b = append(b, "vllm:time_to_first_token_seconds_sum{"+labels...)
	}
	return b
}

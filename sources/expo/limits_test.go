package expo

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func limited(t *testing.T, lim Limits, body string) *Page {
	t.Helper()
	p, err := NewScanner(lim).Scan([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBodyLimit(t *testing.T) {
	s := NewScanner(Limits{Body: 10})
	rescan(t, s, "a 1\nb 234\n")
	_, err := s.Scan([]byte("a 1\nb 2345\n"))
	var over *OversizedError
	if !errors.As(err, &over) || over.Size != 11 || over.Limit != 10 {
		t.Fatalf("error %v", err)
	}
	if p := rescan(t, s, "a 3\nb 4\n"); p.Values[0] != 3 || p.New != 0 {
		t.Errorf("after the refusal: %+v", p)
	}
}

func TestLineLimit(t *testing.T) {
	lim := Limits{Line: 20}
	long := strings.Repeat("x", 30)
	p := limited(t, lim, "# TYPE a gauge\na 1\nb{c=\""+long+"\"} 1\n# HELP d "+long+"\n# TYPE "+long+" gauge\nd 1\n")
	if p.Bad != 3 || len(p.Series) != 2 || p.BadLines[1].Line != 4 || p.BadLines[1].Why != whyLong {
		t.Errorf("page %+v", p)
	}
	// A line that was short enough once gets no credit for it.
	s := NewScanner(lim)
	rescan(t, s, "a 1\n")
	p = rescan(t, s, "a 1 # {t=\""+long+"\"} 1\nb 1\n")
	if p.Bad != 1 || p.Seen[0] {
		t.Errorf("page %+v", p)
	}
}

func TestLabelLimit(t *testing.T) {
	p := limited(t, Limits{Labels: 2}, "a{b=\"1\",c=\"2\"} 1\na{b=\"1\",c=\"2\",d=\"3\"} 1\n")
	if p.Dropped != 1 || p.Bad != 0 || len(p.Series) != 1 {
		t.Errorf("page %+v", p)
	}
}

func TestSeriesLimit(t *testing.T) {
	s := NewScanner(Limits{Series: 3})
	p := rescan(t, s, "a 1\nb 1\nc 1\nd 1\na 2\nd 2\n")
	if p.Dropped != 2 || len(p.Series) != 3 || p.Values[0] != 2 || p.Repeated != 1 {
		t.Fatalf("full: %+v", p)
	}
	p = rescan(t, s, "a 1\nb 1\nc 1\nd 1\n")
	if p.Dropped != 1 || p.Generation != 1 {
		t.Errorf("still full: %+v", p)
	}
	// Room that a vanished series takes goes to one that is there.
	p = rescan(t, s, "a 1\nb 1\nd 1\n")
	if p.Dropped != 0 || p.Generation != 2 || p.New != 3 {
		t.Errorf("room for d: %+v", p)
	}
	wantValue(t, p, "d", 1)
}

func TestManyBadLines(t *testing.T) {
	p := limited(t, Limits{}, "# HELP a A.\na 1\n"+strings.Repeat("a b\n", 100))
	if p.Bad != 100 || len(p.BadLines) != maxBadLines || p.BadLines[4].Line != 7 || p.Lines != 102 {
		t.Errorf("page %+v", p)
	}
}

// What a page brings only once must not pile up, whatever part of the line it is.
func TestChurnIsBounded(t *testing.T) {
	for name, line := range map[string]string{
		"series":   "a{b=\"%d\"} 1\n",
		"bare":     "x%d-1\n",
		"comment":  "# made at %d\n",
		"help":     "# HELP a_%d Text.\n",
		"type":     "# TYPE a_%d gauge\n",
		"spelling": "%[2]sa 1\n",
		"bad":      "a{b=\"%d} 1\n",
		"bytes":    "a{b=\"%d" + strings.Repeat("x", 60_000) + "\"} 1\n",
	} {
		s := NewScanner(Limits{})
		pages := spareEntries + 200
		if name == "bytes" {
			pages = 20
		}
		for i := range pages {
			p := rescan(t, s, "# TYPE steady gauge\nsteady 1\n"+fmt.Sprintf(line, i, strings.Repeat(" ", i)))
			wantValue(t, p, "steady", 1)
			if len(p.Series) > spareEntries+10 || len(s.entries) > spareEntries+10 || len(s.families.all) > spareEntries+10 ||
				s.bytes > spareBytes+200_000 {
				t.Fatalf("%s: page %d: %d series, %d entries, %d families, %d bytes",
					name, i, len(p.Series), len(s.entries), len(s.families.all), s.bytes)
			}
		}
	}
}

// A page of wide lines must not cost more than the time to go through it: every
// label of a line was once compared with every other.
func TestWideLinesAreCheap(t *testing.T) {
	wide := func(n int, quote string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `%sl%d%s="x",`, quote, i, quote)
		}
		return "foo{" + b.String() + "} 1\n"
	}
	for name, body := range map[string]string{
		"thousands of labels": strings.Repeat(wide(6000, ""), 12),
		"quoted names":        strings.Repeat(wide(4500, `"`), 12),
		"at the limit":        strings.Repeat(wide(128, `"`)+"foo{"+strings.Repeat(" ", 60<<10)+"} 1\n", 10),
	} {
		t.Run(name, func(t *testing.T) {
			took := best(3, func(int) { limited(t, Limits{}, "# TYPE foo gauge\nfoo 1\n"+body) })
			if took > 300*time.Millisecond {
				t.Errorf("%d bytes took %v", len(body), took)
			}
		})
	}
	long := "# TYPE foo gauge\nfoo{" + strings.TrimSuffix(strings.SplitAfter(wide(100, ""), "{")[1], "} 1\n")
	if p := limited(t, Limits{}, long+`l7="x"} 1`+"\nfoo 2\n"); p.Bad != 1 || p.BadLines[0].Why != whyTwice {
		t.Errorf("a name that stands twice: %+v", p)
	}
	if p := limited(t, Limits{}, long+`"__name__"="x"} 1`+"\nfoo 2\n"); p.Bad != 1 || p.BadLines[0].Why != whyReserved {
		t.Errorf("a reserved name: %+v", p)
	}
}

// The reference parser is asked about no page on which it may take long.
func TestVerdictIsBounded(t *testing.T) {
	odd := "# TYPE a gauge\na 1\na -nan\n"
	if p := limited(t, Limits{}, odd); p.Verdict == "" {
		t.Fatal("no verdict on a small page")
	}
	for name, more := range map[string]string{
		"large page":  strings.Repeat("# a comment that says nothing\n", 10<<10),
		"long line":   "b{c=\"" + strings.Repeat("x", 70<<10) + "\"} 1\n",
		"many labels": "b{" + strings.Repeat("c=\"d\",", 200) + "} 1\n",
	} {
		if p := limited(t, Limits{}, odd+more); p.Verdict != "" {
			t.Errorf("%s: %s", name, p.Verdict)
		}
	}
}

func TestSeriesWithTwoValues(t *testing.T) {
	p := limited(t, Limits{}, "a 1\na 1\nb 1\nb 2\nb 2\nc NaN\nc NaN\nd NaN\nd 1\n")
	if p.Repeated != 5 || p.Unlike != 2 {
		t.Errorf("repeated %d, unlike %d", p.Repeated, p.Unlike)
	}
}

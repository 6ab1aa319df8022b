package expo

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// reorder puts the families of a page into another order.
func reorder(body []byte, seed uint64) []byte {
	families := bytes.SplitAfter(body, []byte("\n# HELP "))
	for i := range families {
		families[i] = append([]byte("# HELP "), bytes.TrimSuffix(families[i], []byte("# HELP "))...)
	}
	families[0] = bytes.TrimPrefix(families[0], []byte("# HELP "))
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(families), func(i, j int) { families[i], families[j] = families[j], families[i] })
	return bytes.Join(families, nil)
}

// On a steady page nothing is allocated, whatever the page has that is odd.
func TestSteadyAllocatesNothing(t *testing.T) {
	odd := "# NOTE what stands here counts for nothing\n\n" +
		"# HELP a Help.\r\n# TYPE a counter\r\na{b=\"1\"} 1\r\n" +
		"b NaN\nc -nan\nd +Inf\ne 0x10\nf 0.30000000000000004\ng 18446744073709551616\nh 2.4804184064e+010\n" +
		"i{text=\"rack 14\" left side\"} 1\nno_value_here\nj two\n" +
		"k 1 1758000000000\nn 1 1758000000.25\nl 2 # {t=\"1\"} 2 3.5\nb 5\n# TYPE a counter\nm-1\n"
	for name, pages := range map[string][][]byte{
		"vllm":      {benchPage(1), benchPage(2)},
		"reordered": {benchPage(1), reorder(benchPage(2), 1), reorder(benchPage(3), 2)},
		"odd":       {[]byte(odd), []byte(strings.ReplaceAll(odd, " 1\r\n", " 2\r\n"))},
	} {
		s := warm(t, pages...)
		i := 0
		if n := testing.AllocsPerRun(20, func() {
			if _, err := s.Scan(pages[i%len(pages)]); err != nil {
				t.Fatal(err)
			}
			i++
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestSteadyReadsValues(t *testing.T) {
	s := warm(t, benchPage(1))
	for n := 2; n < 5; n++ {
		body := reorder(benchPage(n), uint64(n))
		want, ok := reference(body)
		if !ok {
			t.Fatal("expfmt refuses the page")
		}
		p, err := s.Scan(body)
		if err != nil || p.New != 0 || p.Generation != 1 || p.Bad != 0 {
			t.Fatalf("page %d: %v, %d new, generation %d, %v", n, err, p.New, p.Generation, p.BadLines)
		}
		if d := difference(p.set(), want); d != "" {
			t.Error(d)
		}
	}
}

// rescan reads one more page with s.
func rescan(t *testing.T, s *Scanner, body string) *Page {
	t.Helper()
	p, err := s.Scan([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLinesComeAndGo(t *testing.T) {
	s := NewScanner(Limits{})
	rescan(t, s, "a 1\nb 2\nc 3\n")
	p := rescan(t, s, "a 4\nc 5\n")
	if p.New != 0 || p.Seen[1] || !math.IsNaN(p.Values[1]) || p.Values[0] != 4 || p.Values[2] != 5 || !p.Seen[2] {
		t.Errorf("without b: %+v", p)
	}
	p = rescan(t, s, "a 6\nb 7\nd 8\nc 9\n")
	if p.New != 1 || p.Series[3].Name != "d" || !p.Seen[1] || p.Generation != 1 {
		t.Errorf("with d: %+v", p)
	}
	for i, want := range []float64{6, 7, 9, 8} {
		if p.Values[i] != want {
			t.Errorf("%s = %v, want %v", p.Series[i].Name, p.Values[i], want)
		}
	}
}

func TestSpellingsOfOneSeries(t *testing.T) {
	s := NewScanner(Limits{})
	rescan(t, s, "# TYPE a histogram\na_bucket{b=\"1\",le=\"5\"} 1\n")
	p := rescan(t, s, "# TYPE a histogram\na_bucket { le=\"5\", b = \"1\" , } 2\n")
	if p.New != 0 || len(p.Series) != 1 || p.Values[0] != 2 || p.Repeated != 0 {
		t.Errorf("other spelling: %+v", p)
	}
	p = rescan(t, s, "# TYPE a histogram\na_bucket{b=\"1\",le=\"5\"} 3\na_bucket{le=\"5\",b=\"1\"} 4\n")
	if p.New != 0 || p.Values[0] != 4 || p.Repeated != 1 {
		t.Errorf("both spellings: %+v", p)
	}
	p = rescan(t, s, "# TYPE a histogram\na_bucket{b=\"5\",le=\"1\"} 3\n")
	if p.New != 1 {
		t.Errorf("other series: %+v", p)
	}
}

func TestTypeChangesStartAGeneration(t *testing.T) {
	s := NewScanner(Limits{})
	rescan(t, s, "# TYPE a gauge\na 1\nb 1\n")
	p := rescan(t, s, "b 2\n")
	if p.Generation != 1 {
		t.Fatalf("a family that went away started generation %d", p.Generation)
	}
	// The type changes while no sample shows it, which must not be missed later.
	rescan(t, s, "# TYPE a counter\nb 2\n")
	p = rescan(t, s, "# TYPE a counter\nb 2\na 3\n")
	if p.Generation != 2 || p.New != 2 || len(p.Series) != 2 {
		t.Fatalf("after the change: %+v", p)
	}
	if a, v := find(t, p, "a"); a.Type != Counter || v != 3 {
		t.Errorf("a is a %v of %v", a.Type, v)
	}
	p = rescan(t, s, "b 2\na 3\n")
	if a, _ := find(t, p, "a"); a.Type != Untyped || p.Generation != 3 {
		t.Errorf("without its type: %+v", p)
	}
}

// A bare name whose value follows at once must not swallow a longer name.
func TestNameWithoutBlank(t *testing.T) {
	s := NewScanner(Limits{})
	rescan(t, s, "a-1\nb+2\n")
	p := rescan(t, s, "a1 5\nbinf 6\n")
	wantValue(t, p, "a1", 5)
	wantValue(t, p, "binf", 6)
	if p.Seen[0] || p.Seen[1] {
		t.Errorf("page %+v", p)
	}
}

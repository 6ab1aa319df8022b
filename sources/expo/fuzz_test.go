package expo

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
)

// seeds are pages and lines on which parsers have stumbled.
var seeds = []string{
	"up 1\n",
	"# HELP a Text \\\\ with \\n escapes\n# TYPE a counter\na{b=\"c\"} 1\na{b=\"d\",} 2 1758000000000\n",
	"# TYPE h histogram\nh_bucket{le=\"0.1\"} 1\nh_bucket{le=\"1.0\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 4.5\nh_count 3\n",
	"# TYPE s summary\ns{quantile=\"0.5\"} 1\ns_sum 2\ns_count 3\n",
	"# TYPE \"a.b\" gauge\n{\"a.b\",c=\"d\"} 1\n{\"a.b\"} 2\n\"e f\"{g=\"h\"} 3\n",
	"\t a \t { b = \"c\" , d = \"e\" } \t -1e3 \t 5\n",
	"a 1\r\nb{c=\"d\"} 2\r\n",
	"a NaN\nb +Inf\nc -Inf\nd -nan\ne 2.4804184064e+010\nf 0.00015000000000000001\ng 18446744073709551616\n",
	"a 0x1p2\na 1_000\na 1e999\na 1e-400\na .5\na 5.\na +1\na 007\n",
	"a-1\nb+2\nab 3\n",
	"a{b=\"\\\\\\\"\\n\"} 1\na{b=\"\\x\"} 2\na{b=\"\xff\"} 3\n",
	"# TYPE vllm:x counter\nvllm_x_total 1 # {t=\"1\"} 2 3.5\nvllm_x_created 1.7e9\n# EOF\nnothing here\n",
	"# HELP a b\n# HELP a b\n# TYPE a gauge\n# TYPE a gauge\na 1\na 2\n",
	"a{b=\"1\",b=\"2\"} 1\na{__name__=\"b\"} 1\n",
	"lab_note{text=\"rack 14\" left side\",room=\"b2\"} 1\nno_value_here\nok 1\n",
	"# TYPE g gauge\ng{le=\"10\",gt=\"5\"} 1\n",
	"a{b=\"1\",c=\"2\"} 1\na{c=\"2\",b=\"1\"} 2\n",
	"foo\"b.c\" 1\n", "a 1", "#", "# TYPE", "# TYPE a", "# TYPE a \n", "{}", "{} 1\n", "{\"a\"", "\"", "a{",
}

// deliberate are the pages that both parsers accept and read differently, on
// purpose or by a quirk of expfmt that no exporter could want.
func deliberate(body []byte, p *Page) bool {
	if bytes.Contains(body, []byte("# EOF")) {
		return true // it ends our page; a plain comment for expfmt
	}
	// In braces expfmt applies the type of the line before to the labels that
	// precede the name, and mixes up label sets of histograms and summaries.
	typed := bytes.Contains(bytes.ToLower(body), []byte("histogram")) || bytes.Contains(bytes.ToLower(body), []byte("summary"))
	if typed && braceLine.Match(body) {
		return true
	}
	names := map[string]bool{}
	for _, s := range p.Series {
		names[s.Name] = true
	}
	for i, s := range p.Series {
		switch s.Type {
		case Histogram:
			if oddHistogram(s) {
				return true
			}
		case Summary:
			if oddSummary(s, p.Values[i]) {
				return true
			}
		case Untyped, Gauge, Counter:
		}
	}
	return false
}

var braceLine = regexp.MustCompile(`(?m)^[ \t]*\{`)

// oddHistogram: expfmt takes name{le="1"} for a bucket, drops a bucket without
// le and any le elsewhere.
func oddHistogram(s *Series) bool {
	bucket := strings.HasSuffix(s.Name, "_bucket")
	if s.Name == s.Family || bucket && math.IsNaN(s.Le) {
		return true
	}
	for _, l := range s.Labels {
		if l.Name == "le" {
			return true
		}
	}
	return false
}

// oddSummary: expfmt drops a quantile without its label and the label elsewhere,
// writes the quantile as a number and the count as a whole one.
func oddSummary(s *Series, v float64) bool {
	if strings.HasSuffix(s.Name, "_count") && (v != math.Trunc(v) || v < 0 || v > 1<<53) {
		return true
	}
	for _, l := range s.Labels {
		if l.Name == "quantile" {
			return s.Name != s.Family || !plainQuantile.MatchString(l.Value)
		}
	}
	return s.Name == s.Family
}

var plainQuantile = regexp.MustCompile(`^0\.[0-9]{0,8}[1-9]$`)

func FuzzScan(f *testing.F) {
	for _, a := range seeds {
		f.Add([]byte(a), []byte(seeds[0]))
		f.Add([]byte(a), []byte(a+seeds[1]))
	}
	f.Fuzz(checkPages)
}

// checkPages holds the scanner to expfmt on page a, where expfmt takes it, and
// to itself: a page says the same read first, again, and after page b.
func checkPages(t *testing.T, a, b []byte) {
	fresh, err := NewScanner(Limits{}).Scan(a)
	if err != nil {
		return
	}
	if want, ok := reference(a); ok && !deliberate(a, fresh) {
		if fresh.Bad != 0 || fresh.Dropped != 0 {
			t.Fatalf("expfmt takes the page, we skip %v", fresh.BadLines)
		}
		if d := difference(fresh.set(), want); d != "" {
			t.Fatal(d)
		}
	}
	s := NewScanner(Limits{})
	_, _ = s.Scan(b)
	again(t, s, a, fresh)
	again(t, s, a, fresh)
	if s.page.New != 0 {
		t.Fatalf("%d new series on the same page", s.page.New)
	}
	_, _ = s.Scan(b)
	again(t, s, a, fresh)
}

func again(t *testing.T, s *Scanner, body []byte, want *Page) {
	t.Helper()
	p, err := s.Scan(body)
	if err != nil {
		t.Fatal(err)
	}
	samePage(t, "again", p, want)
	if t.Failed() {
		t.FailNow()
	}
}

// FuzzNumber holds the quick path to strconv's result.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1.5", "2.4804184064e+010", "9007199254740993", "1e22", "1e23", "0.1e-21", ".5", "5.", "1e", "1e+", "00012", "123456789012345678901", "0.30000000000000004"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, n := quickFloat([]byte(s + " "))
		if n == 0 {
			return
		}
		want, err := number([]byte(s[:min(n, len(s))]))
		if err != nil || math.Float64bits(got) != math.Float64bits(want) || n > len(s) {
			t.Fatalf("%q: %v from %d bytes, want %v, %v", s, got, n, want, err)
		}
	})
}

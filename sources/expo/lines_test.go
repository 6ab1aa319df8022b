package expo

import (
	"math"
	"strings"
	"testing"

	"slotop/sources/sourcetest/shared"
)

func TestLines(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		line, series string
		value        float64
		why          string
	}{
		{"a 1", "a", 1, ""},
		{" \ta\t \t-2.5 \t", "a", -2.5, ""},
		{"a\t7", "a", 7, ""},
		{"a{} 1", "a", 1, ""},
		{"a{b=\"c\"}1", "a{b=c}", 1, ""},
		{"a { b = \"c\" , d\t=\"e\" , } 1", "a{b=c,d=e}", 1, ""},
		{"a:b_9{_x=\"\"} 1", "a:b_9{_x=}", 1, ""},
		{`a{b="}{,# \\ \" \n é"} 1`, "a{b=}{,# \\ \" \n é}", 1, ""},
		{`a{b="C:\models\x"} 1`, "a{b=C:\\models\\x}", 1, ""},
		{"a{b=\"\xff\xfe.\"} 1", "a{b=\uFFFD.}", 1, ""},
		{`{"a.b"} 1`, "a.b", 1, ""},
		{`{"a b",c="d"} 1`, "a b{c=d}", 1, ""},
		{`{c="d","a\"b\\","e f"="g"} 1`, `a"b\{c=d,e f=g}`, 1, ""},
		{`"a b" 1`, "a b", 1, ""},
		{"a 1 1758000000000", "a", 1, ""},
		{"a 1 -5", "a", 1, ""},
		{"a 1 1758000000.25", "a", 1, ""},
		{"a 1 # {t=\"x\"} 17.0 1758000000.25", "a", 1, ""},
		{"a 1 1758 # {t=\"x\"} 17.0", "a", 1, ""},
		{"a 1 # {}", "a", 1, ""},

		{"a NaN", "a", nan, ""}, {"a nan", "a", nan, ""}, {"a -nan", "a", nan, ""}, {"a +NaN", "a", nan, ""},
		{"a +Inf", "a", inf, ""}, {"a inf", "a", inf, ""}, {"a Infinity", "a", inf, ""}, {"a -Inf", "a", -inf, ""},
		{"a 2.4804184064e+010", "a", 24804184064, ""},
		{"a 1e+06", "a", 1e6, ""}, {"a 1.23457e+06", "a", 1.23457e6, ""}, {"a 1E-3", "a", 1e-3, ""},
		{"a 1.7751391234567e+09", "a", 1.7751391234567e+09, ""},
		{"a 0.00015000000000000001", "a", 0.00015000000000000001, ""}, {"a 0.30000000000000004", "a", 0.30000000000000004, ""},
		{"a 9007199254740993", "a", 9007199254740992, ""}, {"a 18446744073709551616", "a", 1 << 64, ""},
		{"a 123456789012345678901234567890", "a", 123456789012345678901234567890, ""},
		{"a .5", "a", 0.5, ""}, {"a 5.", "a", 5, ""}, {"a +1", "a", 1, ""}, {"a 007", "a", 7, ""}, {"a -0", "a", 0, ""},
		{"a 1e-400", "a", 0, ""}, {"a 4.9e-324", "a", 4.9e-324, ""}, {"a 1.7976931348623157e308", "a", math.MaxFloat64, ""},

		{"a 1e999", "", 0, whyValue}, {"a 1_000", "", 0, whyValue}, {"a 0x1p2", "", 0, whyValue}, {"a 0x10", "", 0, whyValue},
		{"a 1e", "", 0, whyValue}, {"a .", "", 0, whyValue}, {"a -", "", 0, whyValue}, {"a 1,5", "", 0, whyValue},
		{"a 1f", "", 0, whyValue}, {"a one", "", 0, whyValue}, {"a true", "", 0, whyValue}, {"a --1", "", 0, whyValue},
		{"a", "", 0, whyNoValue}, {"a ", "", 0, whyNoValue}, {"a{b=\"c\"}", "", 0, whyNoValue},
		{"a 1 x", "", 0, whyTail}, {"a 1 5 5", "", 0, whyTail}, {"a 1 # comment", "", 0, whyTail}, {"a 1 NaN", "", 0, whyTail},
		{"a 1 +Inf", "", 0, whyTail}, {"a 1 5s", "", 0, whyTail},
		{"9a 1", "", 0, whyName}, {"-a 1", "", 0, whyName}, {"é 1", "", 0, whyName}, {"{} 1", "", 0, whyName},
		{"{a=\"b\"} 1", "", 0, whyName}, {`"a 1`, "", 0, whyName}, {`{"a","b"} 1`, "", 0, whyNames},
		{`{"",b="c"} 1`, "", 0, whyNameText}, {"{\"\xff\"} 1", "", 0, whyNameText},
		{"a{,} 1", "", 0, whyLabelName}, {"a{b=\"c\",,} 1", "", 0, whyLabelName}, {"a{9=\"c\"} 1", "", 0, whyLabelName}, {"a{", "", 0, whyLabelName},
		{"a{b} 1", "", 0, whyEquals}, {"a{b:c=\"d\"} 1", "", 0, whyEquals}, {"a{b!=\"d\"} 1", "", 0, whyEquals},
		{"a{b=c} 1", "", 0, whyQuote}, {"a{b='c'} 1", "", 0, whyQuote}, {"a{b=1} 1", "", 0, whyQuote},
		{"a{b=\"c} 1", "", 0, whyOpen}, {`a{b="c\"} 1`, "", 0, whyOpen},
		{"a{b=\"c\" d=\"e\"} 1", "", 0, whyComma}, {"a{b=\"c\"; 1", "", 0, whyComma},
		{"a{b=\"1\",b=\"2\"} 1", "", 0, whyTwice}, {"a{b=\"1\",\"b\"=\"2\"} 1", "", 0, whyTwice},
		{"a{__name__=\"b\"} 1", "", 0, whyReserved},
		{"# TYPE a banana", "", 0, whyType}, {"# TYPE 9a gauge", "", 0, whyName},
	} {
		// The line stands between two others, so that its number is known.
		p := scan(t, "# HELP x X.\nbefore 1\n"+tc.line+"\nafter 2\n")
		wantValue(t, p, "before", 1)
		wantValue(t, p, "after", 2)
		if tc.why != "" {
			if p.Bad != 1 || len(p.Series) != 2 || p.BadLines[0].Line != 3 || p.BadLines[0].Why != tc.why {
				t.Errorf("%q: %d series, bad lines %v; want %q", tc.line, len(p.Series), p.BadLines, tc.why)
			}
			continue
		}
		if p.Bad != 0 || len(p.Series) != 3 || p.Series[1].text() != tc.series || !equal(p.Values[1], tc.value) {
			t.Errorf("%q: %v = %v, bad lines %v; want %q = %v", tc.line, p.Series, p.Values, p.BadLines, tc.series, tc.value)
		}
	}
}

func TestComments(t *testing.T) {
	p := scan(t, "#\n#a\n# \n##\n# HELP\n# HELP a\n# TYPE\n# TYPE a\n# TYPE a \n# UNIT a seconds\n#TYPE\tb\tCounter \n# TYPE c info\na 1\nb 2\nc 3\n")
	if p.Bad != 0 || len(p.Series) != 3 || p.Lines != 15 {
		t.Fatalf("page %+v", p)
	}
	if b, _ := find(t, p, "b"); b.Type != Counter {
		t.Errorf("b is a %v", b.Type)
	}
}

func TestTypes(t *testing.T) {
	p := scan(t, "h_bucket{le=\"1\"} 1\nh_bucket 2\nh_bucket{le=\"x\"} 3\nh_sum 1\nh_count 1\nh_total 1\n"+
		"s{quantile=\"0.5\"} 1\ns_sum 1\ns_count 1\ns_bucket{le=\"1\"} 1\n"+
		"c_total 1\nc_created 1\nd 1\ng{le=\"1\"} 1\ng_count 1\nx_y_count 1\nz_sum 1\n"+
		"# TYPE h histogram\n# TYPE s summary\n# TYPE c counter\n# TYPE d counter\n# TYPE g gauge\n"+
		"# TYPE x:y histogram\n# TYPE z histogram\n# TYPE z_sum gauge\n")
	for text, want := range map[string]struct {
		family string
		typ    Type
	}{
		"h_bucket≤1": {"h", Histogram}, "h_bucket": {"h", Histogram}, "h_bucket{le=x}": {"h", Histogram},
		"h_sum": {"h", Histogram}, "h_count": {"h", Histogram}, "h_total": {"h_total", Untyped},
		"s{quantile=0.5}": {"s", Summary}, "s_sum": {"s", Summary}, "s_count": {"s", Summary}, "s_bucket{le=1}": {"s_bucket", Untyped},
		"c_total": {"c", Counter}, "c_created": {"c_created", Untyped}, "d": {"d", Counter},
		"g{le=1}": {"g", Gauge}, "g_count": {"g_count", Untyped},
		"x_y_count": {"x:y", Histogram}, "z_sum": {"z_sum", Gauge},
	} {
		if s, _ := find(t, p, text); s.Family != want.family || s.Type != want.typ {
			t.Errorf("%s is a %v of %q, want %v of %q", text, s.Type, s.Family, want.typ, want.family)
		}
	}
}

// Some clients write vllm_x samples under # TYPE vllm:x when asked for OpenMetrics.
func TestEscapedColons(t *testing.T) {
	p := scan(t, string(shared.File(t, "corpus/engines/vllm-main-2026-05-openmetrics-colons-escaped.txt")))
	types := map[Type]int{}
	for _, s := range p.Series {
		if !strings.HasSuffix(s.Name, "_created") {
			types[s.Type]++
		}
		if strings.HasPrefix(s.Name, "vllm_") && s.Type != Untyped && !strings.HasPrefix(s.Family, "vllm:") {
			t.Errorf("%s is of family %q", s.Name, s.Family)
		}
		if strings.HasSuffix(s.Name, "_bucket") && math.IsNaN(s.Le) {
			t.Errorf("%s has no bound", s.text())
		}
	}
	if types[Untyped] != 0 || types[Histogram] < 250 || types[Counter] < 10 || types[Gauge] < 5 || p.Bad != 0 {
		t.Errorf("types %v, %d bad lines: %v", types, p.Bad, p.BadLines)
	}
}

func TestLineEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		body     string
		complete bool
		series   int
		lines    int
		bad      int
	}{
		"line feeds":         {"# TYPE a gauge\na 1\nb 2\n", false, 2, 3, 0},
		"carriage returns":   {"# TYPE a gauge\r\na 1\r\n\r\nb 2\r\n", false, 2, 4, 0},
		"byte order mark":    {"\xEF\xBB\xBF# TYPE a gauge\na 1\n", false, 1, 2, 0},
		"cut in a value":     {"a 1\nb 2", false, 1, 2, 1},
		"cut in a name":      {"a 1\nb", false, 1, 2, 1},
		"cut in a comment":   {"a 1\n# HEL", false, 1, 2, 1},
		"whole all the same": {"a 1\nb 2", true, 2, 2, 0},
		"whole but no value": {"a 1\nb", true, 1, 2, 1},
		"blanks at the end":  {"a 1\n  ", false, 1, 2, 0},
		"EOF":                {"a 1\n# EOF\nb 2\n", false, 1, 2, 0},
		"EOF at the end":     {"a 1\n# EOF", false, 1, 2, 0},
		"not quite EOF":      {"a 1\n# EOF today\n#EOF\nb 2\n", false, 2, 4, 0},
	} {
		s := NewScanner(Limits{})
		s.Complete = tc.complete
		for range 2 {
			p := rescan(t, s, tc.body)
			if len(p.Series) != tc.series || p.Lines != tc.lines || p.Bad != tc.bad {
				t.Errorf("%s: %d series, %d lines, %d bad: %v", name, len(p.Series), p.Lines, p.Bad, p.BadLines)
			}
			if p.Bad == 1 && !tc.complete && p.BadLines[0].Why != whyCut {
				t.Errorf("%s: %q", name, p.BadLines[0].Why)
			}
		}
	}
}

// Wherever a page is cut, no value may be other than the page has it.
func TestCutAnywhere(t *testing.T) {
	body := "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 12\nh_bucket{le=\"+Inf\"} 345 1758000000000\nh_sum 1.25e+02\nh_count 345\nup 1 # {t=\"1\"} 2\n"
	whole := scan(t, body).set()
	steady := NewScanner(Limits{})
	for cut := range len(body) {
		for _, s := range []*Scanner{NewScanner(Limits{}), steady} {
			p, err := s.Scan([]byte(body[:cut]))
			if err != nil {
				continue
			}
			for k, v := range p.set() {
				if whole[k] != v {
					t.Errorf("cut at %d: %s = %v, want %v", cut, k, v, whole[k])
				}
			}
		}
		rescan(t, steady, body)
	}
}

func TestExcerpt(t *testing.T) {
	p := scan(t, "ok 1\n\x1b[31m\u202e\u009b\a\t\x00\xff é b\n"+strings.Repeat("é", 100)+"\n")
	if got, want := p.BadLines[0].Excerpt, `\x1b[31m\u202e\u009b\a\t\x00\xff é b`; got != want {
		t.Errorf("excerpt %q, want %q", got, want)
	}
	if got, want := p.BadLines[1].Excerpt, strings.Repeat("é", 36)+"..."; got != want {
		t.Errorf("excerpt %q, want %q", got, want)
	}
}

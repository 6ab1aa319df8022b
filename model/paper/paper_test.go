package paper

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// well checks a page as strictly as XML is read, and what HTML wants besides: unique
// ids, headings without a leap, labels for pictures, headers for tables. It returns the
// words that it shows.
func well(t testing.TB, page string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict = true
	ids := map[string]bool{}
	level := 0
	var words strings.Builder
	var path []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			path = append(path, v.Name.Local)
			level = element(t, v, ids, level)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if !slices.Contains(path, "style") && !slices.Contains(path, "title") && !slices.Contains(path, "desc") {
				words.Write(v)
			}
		}
	}
	if len(path) > 0 {
		t.Errorf("not closed: %v", path)
	}
	return strings.ReplaceAll(words.String(), "\u00a0", " ")
}

var unsafeAttribute = regexp.MustCompile(`^(on.*|src|srcset|href|action|formaction|style|xlink:href)$`)

// element checks one element, and returns the level of the latest heading.
func element(t testing.TB, v xml.StartElement, ids map[string]bool, level int) int {
	t.Helper()
	name := v.Name.Local
	if slices.Contains([]string{"script", "iframe", "object", "embed", "img", "form", "base", "a"}, name) {
		t.Errorf("<%s> has no place on a page", name)
	}
	attributes := map[string]string{}
	for _, a := range v.Attr {
		attributes[a.Name.Local] = a.Value
		if unsafeAttribute.MatchString(a.Name.Local) && a.Value != "data:," {
			t.Errorf("<%s %s=%q>", name, a.Name.Local, a.Value)
		}
	}
	if id := attributes["id"]; id != "" {
		if ids[id] {
			t.Errorf("id %s twice", id)
		}
		ids[id] = true
	}
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		next := int(name[1] - '0')
		if next > level+1 {
			t.Errorf("<%s> after a heading of level %d", name, level)
		}
		return next
	}
	if name == "th" && attributes["scope"] == "" {
		t.Error("<th> without a scope")
	}
	if name == "svg" && attributes["role"] == "img" && attributes["aria-labelledby"] == "" {
		t.Error("a picture without a label")
	}
	return level
}

// sample is a document with all there is.
func sample(name string) *Paper {
	from := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	nan, inf := math.NaN(), math.Inf(1)
	format := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	chart := &Chart{
		From: from, To: from.Add(time.Hour), Format: format, Limit: 0.5, Promise: name, Wide: true,
		Lines: []Line{{Name: name, Band: name, Y: []float64{1, nan, 3, nan, 9, 200}, Lo: []float64{0.5, nan, 2, 10, 8, 100}, Hi: []float64{1.5, nan, 4, inf, 10, 300}}, {Name: "p50", Y: []float64{1, 1, nan, nan, 1, 1}}},
		Marks: []Mark{{from.Add(time.Minute), "D", name}, {from.Add(time.Minute), "R", "restart"}}, Gaps: []Stretch{{from, from.Add(time.Minute)}}, Spans: []Stretch{{from, from.Add(2 * time.Minute)}},
	}
	heat := &Heat{From: from, To: from.Add(time.Minute), Bounds: []float64{1, 2, 3}, Counts: [][]float64{{1, 0, 9, 0}, nil, {0, 0, 0, 4}}, Format: format, Limit: 1.5, Promise: name}
	return &Paper{
		Title: name, Over: name, Badge: name, Under: []Text{T(name)}, Foot: []Text{Code(name)},
		Body: []Block{
			Notice{Breach, []Block{List{[]Text{Strong(name).And(T(" is "), Toned(name, Breach)), T("≥ 90 %")}}}},
			Facts{[]Fact{{name, Say("1.5 s", "last/"+name, model.Of(1.5)), T(name), Good}}},
			Section{name, []Block{Para{T(name)}, Table{name, []Column{{Head: name}, {Head: "n", Right: true}}, []Row{{[]Text{T(name), Toned("12", Warn)}, Quiet}}},
				Section{"below " + name, []Block{Figures{[]Figure{{name, chart, []Text{T(name)}}}}}}}},
			Figures{[]Figure{
				{"heat", heat, nil},
				{"bars", &Bars{Rows: []Bar{{name, []float64{1, -1, 0, 2}, 3}}, Parts: []string{"a", name, "c", "rest"}, Format: format}, nil},
				{"scatter", &Scatter{Points: []Spot{{1, 0.5, 0.4, 0.6, false, name}, {2, 0.9, nan, nan, true, ""}}, XFormat: format, YFormat: format, Top: 1, Limit: 0.9, Promise: name, Rule: 1.5, RuleName: name, XName: name}, nil},
				{"roof", &Roofline{Peak: 1e15, Bandwidth: 3e12, Points: []Place{{Name: name, X: 100, Y: 3e14}, {X: 5, Y: 1e13, Past: true}, {X: nan, Y: 1}}, Flops: format, Intensity: format}, nil},
			}},
		},
	}
}

var hostile = []string{
	"plain", `</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='x`, "]]>", "</style><b>", "&amp;&#60;", "<!--", "モデル", "😀👨‍👩‍👧", "a\u202eb", "\x00\x1b[31m\x7f", "\xff\xfe", "",
	"# head", "- item", "1. one", "| cell |", "**bold** _it_ `code` ~~no~~", "[a](http://x) ![b](http://x)", "<http://x>", strings.Repeat("long", 300),
}

func TestHostile(t *testing.T) {
	for _, name := range hostile {
		page := sample(name).HTML()
		words := well(t, page)
		if shown := clean(name); !strings.Contains(words, strings.ReplaceAll(shown, "\u00a0", " ")) {
			t.Errorf("%q is not to be seen as %q", name, shown)
		}
		if md := markup(sample(name)); strings.ContainsAny(md, "\x00\x1b\x7f\u202e") || strings.Contains(md, "<") {
			t.Errorf("%q in Markdown: %.300q", name, md)
		}
	}
}

// markup is the Markdown of a sample without its last line, which is code: there a
// reader takes no sign for markup.
func markup(p *Paper) string {
	p.Foot = nil
	return p.Markdown()
}

func FuzzPaper(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		well(t, sample(name).HTML())
		md := markup(sample(name))
		for line := range strings.SplitSeq(md, "\n") {
			if strings.ContainsRune(line, '\r') || strings.Contains(line, "<") {
				t.Fatalf("markup comes through: %q", line)
			}
		}
		// A table of two columns has as many cells in each row, whatever the name holds.
		for line := range strings.SplitSeq(md, "\n") {
			if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 3 {
				t.Fatalf("torn row: %q", line)
			}
		}
	})
}

func TestMarkdownEscape(t *testing.T) {
	for _, tt := range []struct{ in, first, within string }{
		{"sim_0 and _it_", `sim_0 and \_it\_`, `sim_0 and \_it\_`},
		{"19.1 /s", "19.1 /s", "19.1 /s"},
		{"1. one", `1\. one`, "1. one"},
		{"+253 %", "+253 %", "+253 %"},
		{"+ item", `\+ item`, "+ item"},
		{"-5 %", "-5 %", "-5 %"},
		{"---", `\---`, "---"},
		{"# head", `\# head`, "# head"},
		{"#1", "#1", "#1"},
		{"> 10 s", `\> 10 s`, "> 10 s"},
		{"a<b>&lt;", "a&lt;b>&amp;lt;", "a&lt;b>&amp;lt;"},
		{"~640 ms | x", `\~640 ms \| x`, `\~640 ms \| x`},
		{"R&D", "R&amp;D", "R&amp;D"},
		{"a & b", "a & b", "a & b"},
	} {
		if got := escaped(tt.in, true); got != tt.first {
			t.Errorf("%q begins a line as %q, want %q", tt.in, got, tt.first)
		}
		if got := escaped(tt.in, false); got != tt.within {
			t.Errorf("%q within one is %q, want %q", tt.in, got, tt.within)
		}
	}
}

func TestSparkline(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		in   []float64
		want string
	}{
		{nil, ""}, {[]float64{nan, nan}, ""}, {[]float64{0, 0}, "▁▁"}, {[]float64{0, 4, nan, 8}, "▁▅ █"}, {[]float64{math.Inf(1), 1, 0}, "██▁"},
	} {
		if got := sparkline(tt.in); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.in, got, tt.want)
		}
	}
	long := make([]float64, 1000)
	long[501] = 1
	if got := []rune(sparkline(long)); len(got) != sparkCells || !slices.Contains(got, '█') {
		t.Errorf("%d cells, %q", len(got), string(got))
	}
}

// Ticks are full times of day, never more than fit, and there is one at least.
func TestTimeTicks(t *testing.T) {
	from := time.Date(2026, 11, 29, 23, 58, 13, 0, time.UTC)
	for _, tt := range []struct {
		span   time.Duration
		first  string
		n      int
		layout string
	}{
		{7 * time.Second, "23:58:14", 4, "15:04:05"},
		{5 * time.Minute, "23:59:00", 5, "15:04"},
		{time.Hour, "00:00:00", 4, "15:04"},
		{30 * time.Hour, "00:00:00", 5, "15:04"},
		{10 * 24 * time.Hour, "00:00:00", 5, "Jan 2"},
	} {
		ticks, layout := timeTicks(from, from.Add(tt.span))
		if len(ticks) != tt.n || len(ticks) > 0 && ticks[0].Format(time.TimeOnly) != tt.first || layout != tt.layout {
			t.Errorf("%v: %v as %s", tt.span, ticks, layout)
		}
	}
}

// A scale holds what it is made for, and its ticks are in order within it.
func TestScales(t *testing.T) {
	for _, most := range []float64{0, 1e-9, 0.03, 0.95, 1, 7, 99, 1e12, math.NaN(), math.Inf(1)} {
		s, ticks := linear(most, 100, 0)
		if len(ticks) < 3 || len(ticks) > 8 || !slices.IsSorted(ticks) || s.to < ticks[len(ticks)-1]*(1-1e-9) {
			t.Errorf("linear to %v: %v", most, ticks)
		}
		if at := s.at(min(most, s.to)); !math.IsNaN(most) && (at < -1e-6 || at > 100+1e-6) {
			t.Errorf("%v stands at %v", most, at)
		}
	}
	for _, r := range [][2]float64{{0.01, 10}, {1, 1}, {3e-7, 5e9}} {
		s, ticks := decades(r[0], r[1], 0, 100)
		if len(ticks) < 2 || len(ticks) > 6 || !slices.IsSorted(ticks) || s.at(r[0]) < 0 || s.at(r[1]) > 100+1e-9 {
			t.Errorf("decades of %v: %v, from %v to %v", r, ticks, s.at(r[0]), s.at(r[1]))
		}
	}
}

// A gap is a gap: neither line nor band goes over it.
func TestTrace(t *testing.T) {
	nan := math.NaN()
	xs := []float64{0, 10, 20, 30, 40}
	if got, want := trace(xs, []float64{1, 2, nan, 4, nan}), "M0 1L10 2M30 4h0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := area(xs[:4], []float64{0, 0, nan, 1}, []float64{2, 3, 4, 5}), "M0 2L10 3L10 0L0 0ZM30 5L30 1Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The colours of the page have enough contrast in both schemes and in print: 4.5 to 1
// for words, as WCAG 2 asks for.
func TestContrast(t *testing.T) {
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(style, -1)
	if len(schemes) != 3 {
		t.Fatalf("%d schemes", len(schemes))
	}
	for _, s := range schemes {
		colour := map[string]float64{}
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{3,6});`).FindAllStringSubmatch(s[1], -1) {
			colour[m[1]] = luminance(t, m[2])
		}
		for _, ink := range []string{"ink", "muted", "data", "breach", "warn", "good"} {
			for _, ground := range []string{"page", "panel"} {
				a, b := colour[ink], colour[ground]
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
					t.Errorf("%s on %s: %.2f to 1", ink, ground, ratio)
				}
			}
		}
	}
}

// luminance is the relative luminance of a colour as WCAG defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	hex = hex[1:]
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

package chart

import (
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "rewrite the goldens")

var nan, inf = float32(math.NaN()), float32(math.Inf(1))

func seconds(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) + " s" }

// at is a time of day that no test depends on.
var at = time.Date(2026, 3, 1, 3, 14, 7, 0, time.UTC)

// plot is a chart with all its parts, drawn from values of one point a second.
func plot(values []float32) Plot {
	lo, hi := make([]float32, len(values)), make([]float32, len(values))
	low := make([]float32, len(values))
	for i, v := range values {
		lo[i], hi[i], low[i] = v*0.7, v*1.4, v/3
	}
	return Plot{
		W: 60, H: 10,
		Lines: []Line{
			{Values: low, Letter: '+'},
			{Values: values, Limit: 1, Letter: '#'},
		},
		Band:      &Band{Lo: lo, Hi: hi},
		Objective: 1,
		Tags:      []Tag{{Value: 1, Text: "SLO 1 s"}},
		TagWidth:  10,
		Step:      time.Second,
		Span:      SpanFor(time.Duration(len(values)) * time.Second),
		End:       at,
		Since:     20 * time.Minute,
		Format:    seconds,
	}
}

func ramp(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(i) / float32(n) * 3
	}
	return out
}

func withGap(values []float32, from, to int) []float32 {
	for i := from; i < to; i++ {
		values[i] = nan
	}
	return values
}

func TestPlotGolden(t *testing.T) {
	marked := plot(withGap(ramp(280), 100, 140))
	marked.Marks = []Mark{{Before: 140 * time.Second, Letter: 'R'}}
	ascii := marked
	ascii.ASCII = true
	open := plot(ramp(280))
	for i := 200; i < 280; i++ {
		open.Band.Hi[i] = inf
	}
	calm := plot(ramp(280))
	for _, l := range append(calm.Lines, Line{Values: calm.Band.Lo}, Line{Values: calm.Band.Hi}) {
		for i := range l.Values {
			l.Values[i] /= 200
		}
	}
	for _, tc := range []struct {
		name string
		plot Plot
	}{{"marked", marked}, {"ascii", ascii}, {"open", open}, {"far-objective", calm}} {
		golden(t, tc.name, tc.plot.Render())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s\n got:\n%s\nwant:\n%s", name, got, want)
	}
}

// check holds a drawing to the promised size: h lines, each of exactly w cells.
func check(t *testing.T, what, got string, w, h int) {
	t.Helper()
	lines := strings.Split(got, "\n")
	if h == 0 {
		if got != "" {
			t.Errorf("%s: %q in no height", what, got)
		}
		return
	}
	if len(lines) != h {
		t.Errorf("%s: %d lines, want %d", what, len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			t.Errorf("%s: line %d has %d cells, want %d: %q", what, i, n, w, l)
		}
	}
}

// TestPlotAlwaysFits throws sizes and strange values at the chart.
func TestPlotAlwaysFits(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, seed))
	values := map[string][]float32{
		"empty":    {},
		"one":      {0.4},
		"gap only": {nan, nan, nan},
		"infinite": {inf, inf, -inf},
		"mixed":    {nan, 1, inf, -3, 0, nan, 2},
		"huge":     {1e30, math.MaxFloat32, 1},
		"tiny":     {1e-30, 2e-38},
		"zero":     {0, 0, 0},
		"negative": {-1, -2},
		"long":     ramp(4000),
	}
	for name, v := range values {
		for _, ascii := range []bool{false, true} {
			for range 60 {
				p := plot(v)
				p.W, p.H, p.ASCII = rng.IntN(140), rng.IntN(24), ascii
				p.Objective = []float64{0, 1, 1e20, math.Inf(1), 1e-9}[rng.IntN(5)]
				p.TagWidth = rng.IntN(12)
				p.Since = time.Duration(rng.Int64N(int64(2 * time.Hour)))
				p.Marks = []Mark{{Before: time.Duration(rng.Int64N(int64(time.Hour))), Letter: 'R'}}
				p.Tags = append(p.Tags, Tag{Value: math.Inf(1), Text: "beyond"}, Tag{Value: math.NaN(), Text: "never"})
				got := p.Render()
				check(t, fmt.Sprintf("seed %d %s %d×%d", seed, name, p.W, p.H), got, p.W, p.H)
				if strings.Contains(got, "never") {
					t.Errorf("%s: a tag without a value is drawn", name)
				}
				if ascii && strings.ContainsFunc(got, func(r rune) bool { return r > 126 }) {
					t.Errorf("%s: not ASCII:\n%s", name, got)
				}
			}
		}
	}
}

// inside is the plot area of a line, between the axis and the tags.
func inside(line string) string { return string([]rune(line)[gutter+1 : 50]) }

func TestGapIsAGap(t *testing.T) {
	p := plot(withGap(ramp(280), 100, 140))
	p.Objective, p.Band = 0, nil
	lines := strings.Split(p.Render(), "\n")
	// 300 s over 42 cells, 280 s known: seconds 100 to 140 of the data lie
	// around cells 17 to 22.
	for _, l := range lines[:8] {
		if got := string([]rune(inside(l))[18:21]); strings.TrimSpace(got) != "" {
			t.Errorf("something is drawn in the gap: %q of %q", got, l)
		}
	}
	if axis := inside(lines[8]); !strings.Contains(axis, "╌╌╌") || strings.Contains(axis, " ") {
		t.Errorf("the time axis does not show the gap: %q", lines[8])
	}
	none := plot(withGap(ramp(280), 0, 280))
	none.Empty = "no samples"
	if got := none.Render(); !strings.Contains(got, "no samples") || strings.Contains(got, "┬") || !strings.Contains(got, "SLO 1 s") {
		t.Errorf("a chart of nothing but a gap is\n%s", got)
	}
	whole := plot(ramp(300))
	if axis := inside(strings.Split(whole.Render(), "\n")[8]); strings.Contains(axis, "╌") {
		t.Errorf("the time axis is dashed without a gap: %q", axis)
	}
}

func TestOverUsesItsOwnInk(t *testing.T) {
	p := plot(ramp(300))
	p.Lines[1].Ink = Ink{"<", ">"}
	p.Lines[1].Over = Ink{"[", "]"}
	got := p.Render()
	if !strings.Contains(got, "[") || !strings.Contains(got, "<") {
		t.Errorf("want both inks:\n%s", got)
	}
	for i := range p.Lines[1].Values {
		p.Lines[1].Values[i] /= 4
	}
	if got := p.Render(); strings.Contains(got, "[") {
		t.Errorf("below its limit a line is drawn as over it:\n%s", got)
	}
}

// TestLinesInOneCellBothShow: two lines that meet in a cell keep their dots.
func TestLinesInOneCellBothShow(t *testing.T) {
	flat := func(v float32) []float32 {
		out := make([]float32, 300)
		for i := range out {
			out[i] = v
		}
		return out
	}
	p := plot(flat(0))
	p.Band, p.Objective, p.Tags = nil, 0, nil
	p.Lines = []Line{{Values: flat(0)}, {Values: flat(0.09)}, {Values: flat(1)}}
	if got := p.Render(); !strings.Contains(got, "⣒⣒⣒") {
		t.Errorf("want both lower lines in one row:\n%s", got)
	}
}

// TestColumnsStandStill: a second later nothing moves, except at the right
// edge, until a whole cell has passed.
func TestColumnsStandStill(t *testing.T) {
	p := plot(ramp(300))
	p.Band, p.Objective, p.Tags = nil, 0, nil
	p.Since = 7 * p.Span / 42 * 42 / 7 // at the start of a cell
	first := p.Render()
	p.Since += time.Second
	p.End = p.End.Add(time.Second)
	for i := range p.Lines {
		p.Lines[i].Values = append(p.Lines[i].Values[1:], p.Lines[i].Values[299])
	}
	second := p.Render()
	moved := 0
	for i, l := range strings.Split(first, "\n") {
		other := []rune(strings.Split(second, "\n")[i])
		for x, r := range []rune(l) {
			if r != other[x] {
				moved++
			}
		}
	}
	if moved > 8 {
		t.Errorf("%d cells moved after a second:\n%s\n%s", moved, first, second)
	}
}

func TestScale(t *testing.T) {
	tests := []struct {
		most      float64
		h         int
		top, step float64
		rows      int
	}{
		{0.95, 8, 1, 0.5, 4},
		{1, 10, 1, 0.2, 2},
		{17.3, 8, 20, 5, 2},
		{2.6, 9, 3, 1, 3}, // three even steps, not 3, 2 and 4 rows
		{2.6, 10, 10.0 / 3, 1, 3},
		{0.069, 6, 0.1, 0.05, 3},
		{0, 6, 1, 0.5, 3},
		{math.NaN(), 6, 1, 0.5, 3},
		{math.Inf(1), 4, 1e15, 5e14, 2},
		{8, 0, 10, 10, 1},
	}
	for _, tc := range tests {
		got := scaleTo(tc.most, tc.h)
		if math.Abs(got.top-tc.top) > 1e-9*tc.top || math.Abs(got.step-tc.step) > 1e-9*tc.step || got.rows != tc.rows {
			t.Errorf("scaleTo(%v, %d) = %v, want %v by %v, %d rows", tc.most, tc.h, got, tc.top, tc.step, tc.rows)
		}
	}
}

// TestNoTickBeyondTheMost: a share has no 120 %.
func TestNoTickBeyondTheMost(t *testing.T) {
	for h := MinH; h < 40; h++ {
		got := Plot{
			W: 40, H: h, Most: 1, Lines: []Line{{Values: []float32{1, 1, 0}}}, Step: time.Second, Span: 3 * time.Second,
			Format: func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) },
		}.Render()
		if strings.Contains(got, "120 %") || !strings.Contains(got, "100 %") {
			t.Errorf("%d lines:\n%s", h, got)
		}
	}
}

func TestSpanFor(t *testing.T) {
	for history, want := range map[time.Duration]time.Duration{
		0:                30 * time.Second,
		2 * time.Minute:  2 * time.Minute,
		11 * time.Minute: 15 * time.Minute,
		400 * time.Hour:  24 * time.Hour,
	} {
		if got := SpanFor(history); got != want {
			t.Errorf("SpanFor(%v) = %v, want %v", history, got, want)
		}
	}
}

func TestSpark(t *testing.T) {
	tests := []struct {
		values []float32
		n      int
		most   float64
		ascii  bool
		want   string
	}{
		{[]float32{0, 1, 2, 3, 4, 5, 6, 7}, 8, 0, false, "▁▂▃▄▅▆▇█"},
		{[]float32{0, 1, 2, 3, 4, 5, 6, 7}, 4, 0, false, "▂▄▆█"},
		{[]float32{1, nan, 1}, 5, 2, false, "  ▅ ▅"},
		{[]float32{0, 0}, 2, 0, false, "▁▁"},
		{[]float32{inf, -inf, 1e38}, 3, 1, false, "█ █"},
		{[]float32{0, 4, 8}, 3, 8, true, ".+#"},
		{nil, 3, 0, false, "   "},
		{[]float32{1}, 0, 0, false, ""},
		{[]float32{1}, -2, 0, false, ""},
	}
	for _, tc := range tests {
		if got := Spark(tc.values, tc.n, tc.most, tc.ascii); got != tc.want {
			t.Errorf("Spark(%v, %d, %v) = %q, want %q", tc.values, tc.n, tc.most, got, tc.want)
		}
	}
}

func TestMeter(t *testing.T) {
	tests := []struct {
		ratio       float64
		n           int
		ascii       bool
		full, empty string
	}{
		{0, 4, false, "", "────"},
		{1, 4, false, "━━━━", ""},
		{0.5, 4, false, "━━", "──"},
		{0.4, 5, false, "━━", "───"},
		{0.5, 5, false, "━━╸", "──"},
		{0.99, 8, false, "━━━━━━━━", ""},
		{0.01, 4, false, "", "────"},
		{3.05, 4, false, "━━━━", ""},
		{-1, 2, false, "", "──"},
		{math.NaN(), 2, false, "", "──"},
		{0.5, 4, true, "##", ".."},
		{0.5, -1, false, "", ""},
	}
	for _, tc := range tests {
		full, empty := Meter(tc.ratio, tc.n, tc.ascii)
		if full != tc.full || empty != tc.empty {
			t.Errorf("Meter(%v, %d) = %q %q, want %q %q", tc.ratio, tc.n, full, empty, tc.full, tc.empty)
		}
	}
}

func TestInk(t *testing.T) {
	red := NewInk(lipgloss.NewStyle().Foreground(lipgloss.Color("1")))
	var b strings.Builder
	red.Write(&b, "up")
	red.Write(&b, "")
	if got, want := b.String(), "\x1b[31mup\x1b[m"; got != want || red.Paint("up") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Ink{}).Paint("up"); got != "up" {
		t.Errorf("the zero ink writes %q", got)
	}
	c := newCells(6, 1)
	c.text(0, 0, "ab", red)
	c.text(3, 0, "cd", red)
	if got, want := c.String(), "\x1b[31mab cd \x1b[m"; got != want {
		t.Errorf("a run of one ink is %q, want %q", got, want)
	}
}

// TestTags: a tag stands on the row of its line, the first of two that want one
// row has it, the order is that of the values, and a low chart leaves one out
// before it stands beside another line.
func TestTags(t *testing.T) {
	flat := func(v float32) []float32 { return []float32{v, v, v} }
	tests := []struct {
		name             string
		h                int
		slo, high, low   float64
		rowS, rowH, rowL int // -1: left out
	}{
		{"apart", 8, 4, 8, 1, 4, 0, 7},
		{"p95 at the objective", 8, 8, 7.9, 1, 0, 1, 7},
		{"all three at one row", 8, 4.2, 4.1, 4, 3, 4, 5},
		{"both below the objective at the foot", 8, 0.9, 0.5, 0.4, 7, -1, -1},
		{"no room below", 3, 1, 8, 0.5, 2, 0, -1},
		{"equal values", 8, 4, 4, 4, 4, 5, 6},
		{"above and below", 4, 4, 4.2, 3.9, 2, 1, 3},
	}
	for _, tc := range tests {
		p := Plot{
			W: 60, H: tc.h + axisRows, TagWidth: 10, Step: time.Second, Span: time.Minute, End: at, Since: time.Minute, Format: seconds,
			Lines: []Line{{Values: flat(8), Letter: '#'}},
			Tags:  []Tag{{Value: tc.slo, Text: "SLO"}, {Value: tc.high, Text: "high"}, {Value: tc.low, Text: "low"}},
		}
		lines := strings.Split(p.Render(), "\n")
		row := func(word string) int {
			return slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(strings.TrimSpace(l), word) })
		}
		if s, h, l := row("SLO"), row("high"), row("low"); s != tc.rowS || h != tc.rowH || l != tc.rowL {
			t.Errorf("%s: rows %d %d %d, want %d %d %d\n%s", tc.name, s, h, l, tc.rowS, tc.rowH, tc.rowL, strings.Join(lines, "\n"))
		}
	}
}

// TestObjectiveCrossesTheBand: the dashed line shows wherever no line has a dot.
func TestObjectiveCrossesTheBand(t *testing.T) {
	p := plot(ramp(280))
	p.Lines = nil
	row := strings.Split(p.Render(), "\n")
	if !slices.ContainsFunc(row, func(l string) bool { return strings.Count(l, "┄") == 60-gutter-1-p.TagWidth }) {
		t.Errorf("the band hides the objective:\n%s", strings.Join(row, "\n"))
	}
}

// TestDottedDiffersWithoutColour: a dotted line has half of the dots, flat or steep.
func TestDottedDiffersWithoutColour(t *testing.T) {
	for _, to := range []dot{{39, 0}, {39, 9}, {3, 39}, {20, 20}} {
		count := func(dotted bool) (n int) {
			d := newDots(20, 10)
			if dotted {
				d.every = 2
			}
			d.join(dot{0, 0}, to)
			for _, b := range d.bits {
				n += bits.OnesCount8(b)
			}
			return n
		}
		if whole, half := count(false), count(true); half < whole/2 || half > whole/2+1 {
			t.Errorf("to %v: %d of %d dots", to, half, whole)
		}
	}
}

func BenchmarkPlot(b *testing.B) {
	p := plot(ramp(900))
	p.W, p.H = 100, 12
	b.ReportAllocs()
	for b.Loop() {
		p.Render()
	}
}

// TestBelowIsBeyondToo: a share that falls under its objective has the other ink,
// and a fixed scale stays whatever the values.
func TestBelowIsBeyondToo(t *testing.T) {
	p := plot([]float32{0.99, 0.97, 0.95, 0.6, 0.02})
	p.Band, p.Tags, p.Objective, p.Most = nil, nil, 0.95, 1
	over := Ink{"<", ">"}
	p.Lines = []Line{{Values: p.Lines[1].Values, Limit: 0.95, Under: true, Over: over, Letter: '#'}}
	if got := p.Render(); !strings.Contains(got, "<") || !strings.Contains(got, "1 s\u2524") {
		t.Errorf("a share under its objective is drawn as\n%s", got)
	}
	p.Lines[0].Values = []float32{0.99, 0.97, 0.95, 0.95}
	if got := p.Render(); strings.Contains(got, "<") {
		t.Errorf("a share that is kept is drawn as missed:\n%s", got)
	}
	p.Lines[0].Values = []float32{0.01, 0.01}
	if got := p.most(); got != 1 {
		t.Errorf("small values end the scale at %v", got)
	}
}

// The worked examples of the smoothing.
func TestSmooth(t *testing.T) {
	for tau, want := range map[time.Duration]float64{30 * time.Second: 0.1535, time.Minute: 0.0800} {
		if got := Weight(5*time.Second, tau); math.Abs(got-want) > 0.00005 {
			t.Errorf("weight for %v: %.4f, want %.4f", tau, got, want)
		}
	}
	step := make([]float32, 200)
	for i := 1; i < len(step); i++ {
		step[i] = 1
	}
	smooth := Smooth(step, time.Second, 30*time.Second)
	for at, want := range map[int]float64{30: 0.63, 60: 0.86, 90: 0.95} {
		if got := float64(smooth[at]); math.Abs(got-want) > 0.005 {
			t.Errorf("after %d s: %.3f, want %.2f", at, got, want)
		}
	}
	nan := float32(math.NaN())
	if got := Smooth([]float32{1, nan, 5}, time.Second, time.Minute); got[0] != 1 || !math.IsNaN(float64(got[1])) || got[2] != 5 {
		t.Errorf("a gap: %v", got)
	}
}

// A line that leaves out dots does not leave out a point that stands alone.
func TestALonePointShows(t *testing.T) {
	for i := 3; i < 60; i++ {
		values := withGap(ramp(60), 0, 60)
		values[i] = 3
		p := plot(values)
		p.Band, p.Lines = nil, p.Lines[1:]
		p.Lines[0].Sparse = true
		if drawn := p.Render(); !strings.ContainsFunc(drawn, func(r rune) bool { return r > blankBraille && r <= blankBraille+0xff }) {
			t.Fatalf("point %d is not there:\n%s", i, drawn)
		}
	}
}

// TestSidesOfTheObjective: what keeps it lies below its rule, which is in the middle of a
// cell, and what breaks it above, however near both are.
func TestSidesOfTheObjective(t *testing.T) {
	upper := func(v float32) (above, below bool) {
		p := plot([]float32{v, v})
		p.Band, p.Lines, p.Most, p.Step, p.Span = nil, p.Lines[1:], 2, time.Minute, time.Minute
		for _, r := range p.Render() {
			if r > blankBraille && r <= blankBraille+0xff {
				above = above || (r-blankBraille)&0x1b != 0
				below = below || (r-blankBraille)&0xe4 != 0
			}
		}
		return above, below
	}
	for _, c := range []struct {
		v            float32
		above, below bool
	}{{0.99, false, true}, {1.01, true, false}} {
		if above, below := upper(c.v); above != c.above || below != c.below {
			t.Errorf("%v: in the upper half %v, in the lower %v", c.v, above, below)
		}
	}
}

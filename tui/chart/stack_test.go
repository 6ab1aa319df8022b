package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// stack is three parts of which the lowest grows, with a gap.
func stack() Stack {
	queue, prefill, decode := withGap(ramp(280), 100, 140), withGap(ramp(280), 100, 140), withGap(ramp(280), 100, 140)
	for i := range queue {
		queue[i] = max(queue[i]-1.5, 0) * 4
		prefill[i] = prefill[i]*0 + 0.2
		decode[i] = decode[i]*0 + 2
	}
	return Stack{
		W: 60, H: 12, Step: time.Second, Span: 5 * time.Minute, End: at, Since: 20 * time.Minute, Format: seconds, TagWidth: 10, Empty: "no samples",
		Parts: []Part{{Values: queue, Fill: '▓', ASCII: '#'}, {Values: prefill, Fill: '▒', ASCII: '='}, {Values: decode, Fill: '░', ASCII: ':'}},
		Tags:  []Tag{{Value: 8.2, Text: "8.2 s"}},
	}
}

func TestStackGolden(t *testing.T) {
	marked, ascii, none := stack(), stack(), stack()
	marked.Marks = []Mark{{Before: 140 * time.Second, Letter: 'R'}}
	ascii.ASCII, ascii.Shared = true, true
	none.Parts = []Part{{Values: []float32{nan, nan}, Fill: '▓', ASCII: '#'}}
	for _, tc := range []struct {
		name  string
		stack Stack
	}{{"stack", marked}, {"stack-shared-ascii", ascii}, {"stack-none", none}} {
		golden(t, tc.name, tc.stack.Render())
	}
}

// TestStackAlwaysFits throws sizes and strange values at the stack.
func TestStackAlwaysFits(t *testing.T) {
	const seed = 23
	rng := rand.New(rand.NewPCG(seed, seed))
	strange := []float32{0, 1, 7, nan, inf, -inf, -3, math.MaxFloat32, 1e-30}
	for i := range 600 {
		s := stack()
		s.W, s.H, s.ASCII, s.Shared = rng.IntN(140), rng.IntN(30), i%2 == 0, i%3 == 0
		s.TagWidth = rng.IntN(14)
		s.Step = []time.Duration{0, time.Second, 7 * time.Second, time.Hour}[rng.IntN(4)]
		s.Since = time.Duration(rng.Int64N(int64(2 * time.Hour)))
		s.Parts = s.Parts[:rng.IntN(4)]
		for p := range s.Parts {
			s.Parts[p].Values = make([]float32, rng.IntN(400)) // not even equally long
			for v := range s.Parts[p].Values {
				s.Parts[p].Values[v] = strange[rng.IntN(len(strange))]
			}
		}
		what := fmt.Sprintf("seed %d, stack %d, %d×%d", seed, i, s.W, s.H)
		got := s.Render()
		check(t, what, got, s.W, s.H)
		if s.ASCII && strings.ContainsFunc(got, func(r rune) bool { return r > 126 }) {
			t.Errorf("%s: not ASCII:\n%s", what, got)
		}
	}
}

// TestStackAddsUp: in every column the parts stand in their order, none below an earlier
// one, and together they are as high as their sum, to within a row.
func TestStackAddsUp(t *testing.T) {
	s := stack()
	s.Tags = nil
	rows := strings.Split(s.Render(), "\n")
	h := s.H - axisRows
	order := " ░▒▓"
	for x := gutter + 1; x < s.W-s.TagWidth; x++ {
		column := make([]rune, h)
		for y := range h {
			column[y] = []rune(rows[y])[x]
		}
		if !slices.IsSortedFunc(column, func(a, b rune) int { return strings.IndexRune(order, a) - strings.IndexRune(order, b) }) {
			t.Errorf("column %d is %q from the top", x, string(column))
		}
	}
	last := []rune{}
	for y := range h {
		last = append(last, []rune(rows[y])[s.W-s.TagWidth-1])
	}
	sum := 0.0
	for _, p := range s.Parts {
		sum += float64(p.Values[len(p.Values)-1])
	}
	top := scaleTo(sum, h).top
	if got, want := float64(strings.Count(string(last), "▓")+strings.Count(string(last), "▒")+strings.Count(string(last), "░")), sum/top*float64(h); math.Abs(got-want) > 1 {
		t.Errorf("the newest column is %v rows high, want %.1f", got, want)
	}
}

// TestStackKeepsAPointWhole: of two points in one cell the taller is drawn, not the
// largest of each part.
func TestStackKeepsAPointWhole(t *testing.T) {
	g := &stacking{parts: []Part{{Values: []float32{9, 1}}, {Values: []float32{0, 2}}}, plotting: plotting{
		Plot: Plot{Step: time.Second, Span: time.Minute}, w: 12, h: 4, timescale: timescaleOf(12, time.Minute, time.Minute+time.Second),
	}}
	g.gather()
	if got := g.heaps[11]; len(got) != 2 || got[0] != 9 || got[1] != 9 {
		t.Errorf("the newest cell reaches up to %v, want 9 and 9", got)
	}
}

// TestUnknownPartIsNotZero: a column of which nothing is known is a gap, and a part that
// nobody tells leaves the others where they are.
func TestUnknownPartIsNotZero(t *testing.T) {
	s := stack()
	for i := range s.Parts[1].Values {
		s.Parts[1].Values[i] = nan
	}
	got := s.Render()
	if strings.Contains(got, "▒") || !strings.Contains(got, "▓") || !strings.Contains(got, "░") {
		t.Errorf("without prefill:\n%s", got)
	}
	if !strings.Contains(got, "╌╌╌") {
		t.Errorf("the gap is not on the axis:\n%s", got)
	}
}

// TestOneTimeAxis: a plot, a stack and a heat map of one size put an instant into the
// same column, and only the lowest says what time it is.
func TestOneTimeAxis(t *testing.T) {
	marks := []Mark{{Before: 93 * time.Second, Letter: 'R'}}
	p, s, h := plot(ramp(280)), stack(), heat()
	p.Marks, s.Marks, h.Marks = marks, marks, marks
	p.TagWidth, s.TagWidth, h.TagWidth = 12, 12, 12
	p.Shared, s.Shared = true, true
	var at []int
	for i, drawn := range []string{p.Render(), s.Render(), h.Render()} {
		at = append(at, slices.Index([]rune(strings.Split(drawn, "\n")[1]), '┊'))
		if strings.Count(drawn, "R") != 1 {
			t.Errorf("chart %d: the letter of its mark is not there once:\n%s", i, drawn)
		}
		for _, sign := range []string{"03:1", "┬"} {
			if lowest := i == 2; strings.Contains(drawn, sign) != lowest {
				t.Errorf("chart %d: %q on its axis, want %v:\n%s", i, sign, lowest, drawn)
			}
		}
	}
	if at[0] < 0 || at[0] != at[1] || at[1] != at[2] {
		t.Errorf("one instant stands in the columns %v", at)
	}
}

func FuzzStack(f *testing.F) {
	f.Add(60, 14, int64(time.Second), int64(time.Minute), []byte{1, 2, 3, 255, 0, 9})
	f.Fuzz(func(t *testing.T, w, h int, step, since int64, data []byte) {
		s := stack()
		s.W, s.H = w%200, h%60
		s.Step, s.Since = time.Duration(step), time.Duration(since%int64(1000*time.Hour))
		for p := range s.Parts {
			s.Parts[p].Values = nil
			for i, b := range data {
				if i%len(s.Parts) == p {
					s.Parts[p].Values = append(s.Parts[p].Values, math.Float32frombits(uint32(b)<<24))
				}
			}
		}
		check(t, fmt.Sprintf("%d×%d", s.W, s.H), s.Render(), max(s.W, 0), max(s.H, 0))
	})
}

func BenchmarkStack(b *testing.B) {
	s := stack()
	s.W, s.H = 118, 8
	b.ReportAllocs()
	for b.Loop() {
		s.Render()
	}
}

package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// heatBounds are those of an engine, as far as the tests need them.
var heatBounds = []float64{0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 10}

// heat is a map whose values climb from the lowest bucket beyond the last, with a gap of
// three columns and three columns without a value.
func heat() Heat {
	h := Heat{
		W: 60, H: 14, Bounds: heatBounds, Step: 10 * time.Second, Span: 5 * time.Minute, End: at, Since: 20 * time.Minute,
		Objective: 0.5, Tag: "SLO 500 ms", TagWidth: 12, Format: seconds, Empty: "no samples",
	}
	for i := range 30 {
		col := make([]float32, len(heatBounds)+1)
		switch {
		case i >= 10 && i < 13:
			h.Counts = append(h.Counts, nil)
			continue
		case i < 20 || i >= 23:
			at := i * len(col) / 30
			col[at] = 60
			col[max(at-1, 0)] += 30
			col[min(at+1, len(col)-1)] += 3
		}
		h.Counts = append(h.Counts, col)
	}
	return h
}

func TestHeatGolden(t *testing.T) {
	marked, few, none := heat(), heat(), heat()
	marked.Marks = []Mark{{Before: 140 * time.Second, Letter: 'R'}}
	few.H, few.ASCII = 6, true
	none.Counts = [][]float32{nil, nil}
	shared := heat()
	shared.Shared = true
	for _, tc := range []struct {
		name string
		heat Heat
	}{{"heat", marked}, {"heat-low-ascii", few}, {"heat-none", none}, {"heat-shared", shared}} {
		golden(t, tc.name, tc.heat.Render())
	}
}

// TestHeatAlwaysFits throws sizes, buckets and strange counts at the map.
func TestHeatAlwaysFits(t *testing.T) {
	const seed = 17
	rng := rand.New(rand.NewPCG(seed, seed))
	strange := []float32{0, 1, 7, nan, inf, -inf, -3, math.MaxFloat32, 1e-30}
	for i := range 600 {
		h := heat()
		h.W, h.H, h.ASCII, h.Shared = rng.IntN(140), rng.IntN(30), i%2 == 0, i%3 == 0
		h.Bounds = heatBounds[:rng.IntN(len(heatBounds)+1)]
		h.Objective = []float64{0, 0.5, 0.3, 1e9, -1, math.NaN(), math.Inf(1)}[rng.IntN(7)]
		h.TagWidth = rng.IntN(14)
		h.Step = []time.Duration{0, time.Second, 10 * time.Second, time.Hour}[rng.IntN(4)]
		h.Behind = time.Duration(rng.Int64N(int64(time.Minute))) - 30*time.Second
		h.Since = time.Duration(rng.Int64N(int64(2 * time.Hour)))
		h.Counts = nil
		for range rng.IntN(200) {
			col := make([]float32, rng.IntN(len(h.Bounds)+3))
			for b := range col {
				col[b] = strange[rng.IntN(len(strange))]
			}
			h.Counts = append(h.Counts, col)
		}
		what := fmt.Sprintf("seed %d, map %d, %d×%d", seed, i, h.W, h.H)
		got := h.Render()
		check(t, what, got, h.W, h.H)
		if h.ASCII && strings.ContainsFunc(got, func(r rune) bool { return r > 126 }) {
			t.Errorf("%s: not ASCII:\n%s", what, got)
		}
		if again := h.Render(); again != got {
			t.Errorf("%s: drawn twice it differs", what)
		}
	}
}

// TestBands: rows hold every bucket once, in order, and none lies on both sides of the
// objective unless there is a single row.
func TestBands(t *testing.T) {
	for lo := range 4 {
		for hi := lo; hi < 24; hi++ {
			for o := -1; o <= hi; o++ {
				for h := 2; h < 26; h++ {
					got := bands(lo, hi, o, h)
					next := lo
					for _, r := range got {
						if r.first != next || r.last < r.first {
							t.Fatalf("bands(%d, %d, %d, %d) = %v", lo, hi, o, h, got)
						}
						if r.first <= o && o < r.last {
							t.Fatalf("bands(%d, %d, %d, %d) = %v: one lies across the objective", lo, hi, o, h, got)
						}
						next = r.last + 1
					}
					if next != hi+1 || len(got) > h {
						t.Fatalf("bands(%d, %d, %d, %d) = %v", lo, hi, o, h, got)
					}
				}
			}
		}
	}
}

// TestHeatSharesNotCounts: ten times the traffic in the same buckets is the same map.
func TestHeatSharesNotCounts(t *testing.T) {
	h := heat()
	before := h.Render()
	for i, col := range h.Counts {
		more := make([]float32, len(col))
		for b, v := range col {
			more[b] = 10 * v
		}
		if col != nil {
			h.Counts[i] = more
		}
	}
	if got := h.Render(); got != before {
		t.Errorf("more traffic repaints the map:\n%s\n%s", before, got)
	}
}

// TestHeatNamesWhatIsBeyond: the last row is named by the edge that it lies beyond, and
// what lies above the objective has the other ink.
func TestHeatNamesWhatIsBeyond(t *testing.T) {
	h := heat()
	if got := h.Render(); !strings.Contains(got, "> 10 s┤") {
		t.Errorf("the overflow bucket has no name:\n%s", got)
	}
	for i := range h.Over {
		h.Over[i] = Ink{"[", "]"}
	}
	for y, l := range strings.Split(h.Render(), "\n") {
		above := y < strings.Count(strings.Split(h.Render(), "SLO")[0], "\n")
		if strings.Contains(l, "[") && !above && strings.ContainsAny(l, "░▒▓█") {
			t.Errorf("row %d lies within the objective and has the ink of what does not: %q", y, l)
		}
	}
}

// TestHeatColumnsStandStill: a second later, with no column more, nothing moves until a
// cell has passed.
func TestHeatColumnsStandStill(t *testing.T) {
	h := heat()
	h.Since = 20 * time.Minute
	first := h.Render()
	h.Since += time.Second
	h.Behind += time.Second
	h.End = h.End.Add(time.Second)
	if second := h.Render(); second != first {
		t.Errorf("the map moved after a second:\n%s\n%s", first, second)
	}
}

func FuzzHeat(f *testing.F) {
	f.Add(60, 14, int64(time.Second), int64(time.Minute), 0.5, []byte{1, 2, 3, 255, 0, 9})
	f.Fuzz(func(t *testing.T, w, h int, step, since int64, objective float64, data []byte) {
		m := heat()
		m.W, m.H = w%200, h%60
		m.Step, m.Since, m.Objective, m.Counts = time.Duration(step), time.Duration(since%int64(1000*time.Hour)), objective, nil
		for len(data) > 0 {
			n := min(len(data), len(heatBounds)+1)
			col := make([]float32, n)
			for i, b := range data[:n] {
				col[i] = math.Float32frombits(uint32(b) << 24)
			}
			m.Counts, data = append(m.Counts, col), data[n:]
		}
		check(t, fmt.Sprintf("%d×%d", m.W, m.H), m.Render(), max(m.W, 0), max(m.H, 0))
	})
}

func BenchmarkHeat(b *testing.B) {
	h := heat()
	h.W, h.H, h.Span = 118, 14, 15*time.Minute
	for range 2 {
		h.Counts = append(h.Counts, h.Counts...)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Render()
	}
}

// TestHeatStandsWhereItsTimeIs: a cell is painted by the column that its middle lies in, so
// that the map is not late beside the lines above it.
func TestHeatStandsWhereItsTimeIs(t *testing.T) {
	for _, since := range []time.Duration{20 * time.Minute, 20*time.Minute + 3*time.Second, 20*time.Minute + 7*time.Second} {
		for i := range 24 {
			m := Heat{
				W: 8 + 50, H: 6, Bounds: []float64{1, 2, 3}, Counts: make([][]float32, 30), Step: 10 * time.Second, Behind: 2 * time.Second,
				Span: 5 * time.Minute, End: at, Since: since, Format: seconds,
			}
			m.Counts[i+5] = []float32{1, 0, 0, 0}
			end := m.Behind + time.Duration(29-i-5)*m.Step
			line := strings.Split(m.Render(), "\n")
			scale := timescaleOf(50, m.Span, since)
			painted := 0
			for x, r := range []rune(line[m.H-axisRows-1])[gutter+1:] {
				if r != '█' {
					continue
				}
				painted++
				if middle := scale.before(x); middle < end || middle > end+m.Step {
					t.Errorf("since %v, column %d: a cell of %v before is painted, from %v to %v", since, i, middle, end+m.Step, end)
				}
			}
			if painted == 0 {
				t.Errorf("since %v: column %d is not there", since, i)
			}
		}
	}
}

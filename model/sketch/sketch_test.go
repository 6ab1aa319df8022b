package sketch

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"slotop/model"
	"slotop/model/unit"
	"slotop/sources/sourcetest/shared"
)

func of(values ...float64) *Sketch {
	var s Sketch
	for _, v := range values {
		s.Add(v)
	}
	return &s
}

// logNormal is n latencies around a median of 0.4 s.
func logNormal(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 0.4 * math.Exp(0.8*r.NormFloat64())
	}
	return out
}

// trueQuantile is the definition: sorted, the ⌈q·n⌉-th.
func trueQuantile(values []float64, q float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[max(1, int(math.Ceil(q*float64(len(values))-1e-9)))-1]
}

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)+1e-12
}

func TestColdStartOC20(t *testing.T) {
	var page struct {
		TTFT []float64 `json:"ttft_s"`
	}
	if err := json.Unmarshal(shared.File(t, "cases/files/warm-up.json"), &page); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		values   []float64
		p50, p95 float64
	}{
		{page.TTFT, 1.04, 43.51},
		{page.TTFT[10:], 0.97, 1.36},
	} {
		d := of(tt.values...).Dist(model.FromEvents)
		if d.N != float64(len(tt.values)) || d.P50.Value != model.Of(tt.p50) || d.P95.Value != model.Of(tt.p95) {
			t.Errorf("n=%v p50=%v p95=%v, want %d, %v, %v", d.N, d.P50.Value, d.P95.Value, len(tt.values), tt.p50, tt.p95)
		}
	}
}

func TestThrottledOC22(t *testing.T) {
	var page []struct {
		Status  int     `json:"status"`
		Latency float64 `json:"latency_s"`
	}
	if err := json.Unmarshal(shared.File(t, "cases/files/throttled.json"), &page); err != nil {
		t.Fatal(err)
	}
	var good, all Sketch
	for _, r := range page {
		all.Add(r.Latency)
		if r.Status == 200 {
			good.Add(r.Latency)
		}
	}
	if good.N() != 36 || good.Quantile(.5) != 1.24 || good.Quantile(.95) != 1.58 || all.Quantile(.5) != 1.16 {
		t.Errorf("n=%v p50=%v p95=%v, mixed p50=%v", good.N(), good.Quantile(.5), good.Quantile(.95), all.Quantile(.5))
	}
}

func TestNearestRank(t *testing.T) {
	for _, tt := range []struct{ q, n, rank float64 }{
		{0, 10, 1},
		{0.5, 1, 1},
		{0.5, 10, 5},
		{0.5, 11, 6},
		{0.55, 100, 55}, // 0.55 · 100 is a little more than 55
		{0.95, 36, 35},
		{1, 10, 10},
	} {
		if got := nearest(tt.q, tt.n); got != tt.rank {
			t.Errorf("q=%v n=%v: rank %v, want %v", tt.q, tt.n, got, tt.rank)
		}
	}
}

func TestNoQuantile(t *testing.T) {
	var empty Sketch
	for _, v := range []float64{
		empty.Quantile(.5), of(1).Quantile(-.1), of(1).Quantile(1.1), of(1).Quantile(math.NaN()),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%v", v)
		}
	}
	d := empty.Dist(model.FromEvents)
	for _, r := range []model.Reading{d.Mean, d.P95.Value, d.P95.Lo, d.P95.Hi} {
		if r != model.Missing(model.NoTraffic) {
			t.Errorf("%+v", r)
		}
	}
	if d.N != 0 || d.Basis != model.FromEvents || unit.Estimate(d.P95, false) != "no samples" {
		t.Errorf("%+v", d)
	}
}

func TestRefused(t *testing.T) {
	s := of(math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-300, most*1.01, 0, 1, most)
	if s.N() != 3 || s.Quantile(0) != 0 || s.Quantile(1) != most {
		t.Errorf("n=%v, from %v to %v", s.N(), s.Quantile(0), s.Quantile(1))
	}
	s.Merge(of(-1))
	if s.N() != 3 {
		t.Errorf("n=%v", s.N())
	}
}

// Both sides of the bound: the last exact value and the first that is not.
func TestExactUpToTheBound(t *testing.T) {
	values := logNormal(rand.New(rand.NewPCG(1, 1)), maxExact+1)
	s := of(values[:maxExact]...)
	for _, q := range []float64{0, .01, .5, .9, .95, .99, .999, 1} {
		if got, want := s.Quantile(q), trueQuantile(values[:maxExact], q); got != want {
			t.Errorf("q=%v: %v, want %v", q, got, want)
		}
	}
	if s.rough {
		t.Error("not exact at the bound")
	}
	s.Add(values[maxExact])
	if !s.rough || s.values != nil {
		t.Error("exact beyond the bound")
	}
	for _, q := range []float64{0, .01, .5, .9, .95, .99, .999, 1} {
		if got, want := s.Quantile(q), trueQuantile(values, q); !near(got, want, accuracy) {
			t.Errorf("q=%v: %v, want %v", q, got, want)
		}
	}
}

func TestAccuracyOfTheWholeRange(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	values := make([]float64, 50_000)
	for i := range values {
		values[i] = math.Pow(10, -9+18*r.Float64())
	}
	s := of(values...)
	for q := 0.0; q <= 1; q += 0.02 {
		if got, want := s.Quantile(q), trueQuantile(values, q); !near(got, want, accuracy) {
			t.Errorf("q=%v: %v, want %v", q, got, want)
		}
	}
	if s.Quantile(0) < slices.Min(values) || s.Quantile(1) > slices.Max(values) {
		t.Error("a quantile lies outside of what was seen")
	}
}

// Zeros have no logarithm.
func TestZeros(t *testing.T) {
	var s Sketch
	for i := range 4 * maxExact {
		s.Add(float64(i % 4)) // 0, 1, 2, 3
	}
	for _, tt := range []struct{ q, want float64 }{{0, 0}, {.25, 0}, {.26, 1}, {.5, 1}, {.75, 2}, {1, 3}} {
		if got := s.Quantile(tt.q); !near(got, tt.want, accuracy) {
			t.Errorf("q=%v: %v, want %v", tt.q, got, tt.want)
		}
	}
	var nothing Sketch
	for range maxExact + 1 {
		nothing.Add(0)
	}
	if d := nothing.Dist(model.FromEvents); d.P50.Value != model.Of(0) || d.P99.Hi != model.Of(0) || d.Mean != model.Of(0) {
		t.Errorf("%+v", d)
	}
}

func TestSumsStayExact(t *testing.T) {
	var s, whole Sketch
	for i := 1; i <= 5000; i++ {
		one := of(float64(i) / 4) // sums of quarters are exact in a float64
		s.Merge(one)
		whole.Add(float64(i) / 4)
	}
	for _, x := range []*Sketch{&s, &whole} {
		if x.N() != 5000 || x.Mean() != model.Of(5001./8) || x.min != .25 || x.max != 1250 {
			t.Errorf("n=%v mean=%v min=%v max=%v", x.N(), x.Mean(), x.min, x.max)
		}
	}
}

func TestAddAfterAsking(t *testing.T) {
	s := of(3, 1)
	if s.Quantile(1) != 3 {
		t.Fatal(s.Quantile(1))
	}
	s.Add(2)
	if s.Quantile(.5) != 2 || s.Quantile(1) != 3 {
		t.Errorf("p50=%v, largest=%v", s.Quantile(.5), s.Quantile(1))
	}
}

// AtMost counts every observation once, at or below the edges it is at or below.
func TestAtMost(t *testing.T) {
	edges := []float64{1, 2, 5}
	var s Sketch
	for _, v := range []float64{0, 0.5, 1, 1.5, 2, 4, 5, 9} {
		s.Add(v)
	}
	if got := s.AtMost(edges); !slices.Equal(got, []float64{3, 5, 7, 8}) {
		t.Errorf("%v", got)
	}
	var rough Sketch
	for i := range 10 * maxExact {
		rough.Add(float64(i%1000) / 100)
	}
	got := rough.AtMost(edges)
	for i, want := range []float64{101, 201, 501, 1000} {
		want *= 10 * maxExact / 1000
		if got[i] > want || got[i] < want*(1-3*accuracy)-10 {
			t.Errorf("%v at most %v, want about %v", got[i], append(edges, 10)[i], want)
		}
	}
	if got := (&Sketch{}).AtMost(edges); !slices.Equal(got, []float64{0, 0, 0, 0}) {
		t.Errorf("of nothing %v", got)
	}
}

package hist

import (
	"math"
	"slices"
	"testing"

	"slotop/model"
)

// hist builds a histogram from bound, cumulative count pairs and the total.
func build(sum, n float64, pairs ...float64) Hist {
	h := Hist{Sum: model.Of(sum)}
	for i := 0; i < len(pairs); i += 2 {
		h.Bounds = append(h.Bounds, pairs[i])
		h.Cum = append(h.Cum, pairs[i+1])
	}
	h.Cum = append(h.Cum, n)
	return h
}

// worked is the TTFT increase that the worked examples use.
func worked() Hist {
	return build(math.NaN(), 240, .1, 60, .25, 120, .5, 180, .75, 200, 1, 220, 2.5, 235, 5, 240)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func value(r model.Reading) float64 {
	if !r.OK() {
		return math.NaN()
	}
	return r.Value
}

// is compares a reading with a number; NaN stands for "has none".
func is(r model.Reading, want float64) bool {
	got := value(r)
	return math.IsNaN(got) && math.IsNaN(want) || near(got, want)
}

var nan = math.NaN()

func TestOf(t *testing.T) {
	inf := math.Inf(1)
	bad := map[string]model.Buckets{
		"no counts":         {Bounds: []float64{1}},
		"no +Inf":           {Bounds: []float64{1, 2}, Counts: []float64{1, 2}},
		"NaN count":         {Bounds: []float64{1}, Counts: []float64{nan, 2}},
		"infinite count":    {Bounds: []float64{1}, Counts: []float64{1, inf}},
		"negative count":    {Bounds: []float64{1}, Counts: []float64{-1, 2}},
		"NaN bound":         {Bounds: []float64{nan}, Counts: []float64{1, 2}},
		"+Inf among bounds": {Bounds: []float64{1, inf}, Counts: []float64{1, 2, 3}},
		"descending bounds": {Bounds: []float64{2, 1}, Counts: []float64{1, 2, 3}},
		"repeated bound":    {Bounds: []float64{1, 1}, Counts: []float64{1, 2, 3}},
	}
	for name, b := range bad {
		if h, err := Of(&b); err == nil {
			t.Errorf("%s: no error, got %+v", name, h)
		}
	}
	b := model.Buckets{Bounds: []float64{1}, Counts: []float64{1, 2}, Sum: model.Of(3), Incomplete: true}
	h, err := Of(&b)
	if err != nil || h.N() != 2 || h.Sum.Value != 3 || !h.Incomplete || h.Repaired {
		t.Errorf("good histogram: %+v, %v", h, err)
	}
	if &h.Cum[0] != &b.Counts[0] {
		t.Error("a good histogram was copied")
	}
}

// A scrape in the middle of an update: 10 / 12 / 11 at 0.5 / 1 / +Inf.
func TestNonMonotoneIsRepaired(t *testing.T) {
	b := model.Buckets{Bounds: []float64{.5, 1}, Counts: []float64{10, 12, 11}}
	h, err := Of(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.Cum, []float64{10, 12, 12}) || !h.Repaired {
		t.Errorf("repaired to %v (%v)", h.Cum, h.Repaired)
	}
	if !slices.Equal(b.Counts, []float64{10, 12, 11}) {
		t.Errorf("the source's counts were written to: %v", b.Counts)
	}
	if e := h.Quantile(.5); !is(e.Value, .30) {
		t.Errorf("p50 = %+v, want 0.30", e)
	}
}

func TestMeanOnly(t *testing.T) {
	h, err := Of(&model.Buckets{Counts: []float64{64}, Sum: model.Of(28.16)})
	if err != nil {
		t.Fatal(err)
	}
	d := h.Dist(model.SinceStart)
	if d.N != 64 || !is(d.Mean, .44) || d.P50.Exists() || d.P99.Exists() || d.Basis != model.SinceStart {
		t.Errorf("%+v", d)
	}
	if m := build(nan, 64).Mean(); m.OK() || m.State != model.Unknown {
		t.Errorf("mean without a sum: %+v", m)
	}
	if s := h.ShareAtMost(1); s.Lo.OK() || s.Hi.OK() || s.Point.OK() {
		t.Errorf("share without bounds: %+v", s)
	}
}

func TestDist(t *testing.T) {
	h := build(36, 1000, .025, 300, .05, 900, .1, 1000)
	d := h.Dist(model.OverWindow)
	// Old and new names of the renamed metric hold these counts.
	if d.N != 1000 || !is(d.Mean, .036) || !near(math.Round(d.P50.Value.Value*1e4)/10, 33.3) || !is(d.P95.Value, .075) {
		t.Errorf("%+v", d)
	}
	if d.Partial || d.Fidelity != model.Exact {
		t.Errorf("marks: %+v", d)
	}
	h.Incomplete, h.Fidelity = true, model.Coarse
	d = h.Dist(model.OverWindow)
	if d.P50.Exists() || d.P99.Exists() || !is(d.Mean, .036) || !d.Partial || d.Fidelity != model.Coarse {
		t.Errorf("incomplete: %+v", d)
	}
}

// A window in which nothing happened has no samples, neither 0 ms nor the
// lifetime's percentile.
func TestNoTraffic(t *testing.T) {
	idle := build(95, 100, .1, 10, .5, 60, 1, 80, 5, 100)
	if e := idle.Quantile(.95); !is(e.Value, 4) {
		t.Errorf("lifetime p95 = %+v", e)
	}
	window := build(0, 0, .1, 0, .5, 0, 1, 0, 5, 0) // the increase over five minutes
	d := window.Dist(model.OverWindow)
	for _, e := range []model.Estimate{d.P50, d.P90, d.P95, d.P99} {
		if e.Exists() || e.Value.State != model.NoTraffic {
			t.Errorf("%+v", e)
		}
	}
	if d.N != 0 || d.Mean.State != model.NoTraffic {
		t.Errorf("%+v", d)
	}
	if s := window.ShareAtMost(.5); s.Lo.State != model.NoTraffic || s.Point.State != model.NoTraffic {
		t.Errorf("share %+v", s)
	}
}

func BenchmarkDist(b *testing.B) {
	h := worked()
	b.ReportAllocs()
	for b.Loop() {
		h.Dist(model.OverWindow)
	}
}

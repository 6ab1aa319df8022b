package sketch

import (
	"math/rand/v2"
	"testing"

	"slotop/model"
	"slotop/model/hist"
	"slotop/model/unit"
)

// countTo holds 1, 2 … n, so that a value is its rank.
func countTo(n int) *Sketch {
	var s Sketch
	for _, i := range rand.New(rand.NewPCG(8, 8)).Perm(n) {
		s.Add(float64(i + 1))
	}
	return &s
}

func TestDistRanks(t *testing.T) {
	d := countTo(1000).Dist(model.FromEvents)
	for _, tt := range []struct {
		e             model.Estimate
		value, lo, hi float64
	}{
		{d.P50, 500, 469, 532},
		{d.P95, 950, 936, 964},
		{d.P99, 990, 983, 997},
	} {
		want := model.Estimate{Value: model.Of(tt.value), Lo: model.Of(tt.lo), Hi: model.Of(tt.hi), Enough: true, Seen: true}
		if tt.e != want {
			t.Errorf("%+v, want %+v", tt.e, want)
		}
	}
	if d.N != 1000 || d.Mean != model.Of(500.5) {
		t.Errorf("n=%v mean=%v", d.N, d.Mean)
	}
}

// Where n allows no upper limit there is a value, no Hi, and not enough.
func TestDistOfFew(t *testing.T) {
	d := countTo(100).Dist(model.FromEvents)
	want := model.Estimate{Value: model.Of(99), Lo: model.Of(97), Seen: true}
	if d.P99 != want {
		t.Errorf("%+v, want %+v", d.P99, want)
	}
	if d.P95 != (model.Estimate{Value: model.Of(95), Lo: model.Of(90), Hi: model.Of(100), Enough: true, Seen: true}) {
		t.Errorf("%+v", d.P95)
	}
	for n, enough := range map[int][4]bool{
		5: {}, 6: {true}, 35: {true}, 36: {true, true}, 71: {true, true}, 72: {true, true, true}, 367: {true, true, true}, 368: {true, true, true, true},
	} {
		d := countTo(n).Dist(model.FromEvents)
		for i, e := range []model.Estimate{d.P50, d.P90, d.P95, d.P99} {
			if e.Enough != enough[i] || e.Hi.OK() != enough[i] || e.Open || !e.Value.OK() {
				t.Errorf("n=%d, quantile %d: %+v", n, i, e)
			}
		}
	}
}

func TestDistOnScreen(t *testing.T) {
	for _, tt := range []struct {
		e    model.Estimate
		want string
	}{
		{of(0.812).Dist(model.FromEvents).P95, "812 ms"}, // the only one there is
		{countTo(1000).Dist(model.FromEvents).P50, "8 min 20 s"},
		{countTo(100).Dist(model.FromEvents).P99, "1 min 39 s"}, // what is sure of it
		{countTo(100).Dist(model.FromEvents).P50, "50 s"},
	} {
		if got := unit.Estimate(tt.e, false); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.e, got, tt.want)
		}
	}
}

// Beyond the bound the interval is widened to the buckets: it holds the order
// statistics and the value, and is not wider than the two buckets.
func TestDistBeyondTheBound(t *testing.T) {
	for n := maxExact + 1; n < 50*maxExact; n += n/7 + 1 {
		d := countTo(n).Dist(model.FromEvents)
		for q, e := range map[float64]model.Estimate{.5: d.P50, .9: d.P90, .95: d.P95, .99: d.P99} {
			l, u := hist.Ranks(float64(n), q)
			lo, hi, v := e.Lo.Value, e.Hi.Value, e.Value.Value
			if !(lo <= l && u <= hi && lo <= v && v <= hi) || !e.Enough {
				t.Errorf("n=%d q=%v: %+v does not hold %v to %v", n, q, e, l, u)
			}
			if width := 1 + 2.1*accuracy; lo*width < l || hi > u*width {
				t.Errorf("n=%d q=%v: %+v is more than a bucket wider than %v to %v", n, q, e, l, u)
			}
		}
	}
}

// 95 of 100 samples enclose the true quantile; the promise is at least that.
func TestIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const trials, truth = 2000, 0.9 // of a uniform distribution
	held := 0
	for range trials {
		var s Sketch
		for range 200 {
			s.Add(r.Float64())
		}
		if e := s.Dist(model.FromEvents).P90; e.Lo.Value <= truth && truth <= e.Hi.Value {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.94 || share > 0.99 {
		t.Errorf("encloses the truth in %v", share)
	}
}

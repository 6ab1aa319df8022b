package hist

import (
	"math"
	"testing"

	"slotop/model"
)

func TestQuantileWorkedExample(t *testing.T) {
	h := worked()
	for _, tt := range []struct {
		q, linear, lo, hi, geometric float64
		enough                       bool
	}{
		{.50, .250, .1, .25, .250, true},
		{.90, .950, .75, 1, .944088, true},
		{.95, 1.800, 1, 2.5, 1.630498, true},
		{.99, 3.800, 2.5, 5, 3.585, false},
	} {
		e := h.Quantile(tt.q)
		if !is(e.Value, tt.linear) || !is(e.Lo, tt.lo) || !is(e.Hi, tt.hi) || e.Open || e.Enough != tt.enough {
			t.Errorf("p%v = %+v", 100*tt.q, e)
		}
		if g := h.geometric(tt.q); !g.OK() || g.Value < tt.geometric-5e-4 || g.Value > tt.geometric+5e-4 {
			t.Errorf("geometric p%v = %+v, want %v", 100*tt.q, g, tt.geometric)
		}
	}
}

// Counts that were worked out are a trace beside the whole numbers that they stand for.
func TestQuantileOfCountsWithNoise(t *testing.T) {
	for _, cum := range []float64{950, math.Nextafter(950, 0), 950 - 1e-10, math.Nextafter(950, 951)} {
		h := build(nan, 1000, .05, 500, .1, cum, .2, 1000)
		if e := h.Quantile(.95); !is(e.Lo, .05) || !is(e.Hi, .1) || !(e.Value.Value <= .1) || e.Value.Value < .1-1e-9 {
			t.Errorf("%v of 1000: %+v", cum, e)
		}
		if e := build(nan, 1000, .05, 500, .1, cum).Quantile(.95); e.Open || !is(e.Hi, .1) {
			t.Errorf("%v of 1000 in the last bucket: %+v", cum, e)
		}
	}
	if e := build(nan, 1000, .05, 500, .1, 949, .2, 1000).Quantile(.95); !is(e.Lo, .1) {
		t.Errorf("949 of 1000: %+v", e)
	}
}

func TestQuantileCorners(t *testing.T) {
	first := build(nan, 100, .3, 100, .5, 100)
	below := build(nan, 10, 0, 4, 1, 10)
	open := build(nan, 10, 1, 2, 160, 4)
	gap := build(nan, 10, 1, 0, 2, 5, 3, 5, 4, 10)
	tests := []struct {
		name          string
		h             Hist
		q             float64
		value, lo, hi float64
		open          bool
	}{
		{"below the first boundary", first, .99, .297, 0, .3, false},
		{"first bound at zero", below, .3, 0, nan, 0, false},
		{"above it", below, .7, .5, 0, 1, false},
		{"last bucket", open, .5, nan, 160, nan, true},
		{"q = 1 in the last bucket", open, 1, nan, 160, nan, true},
		{"q = 1", gap, 1, 4, 3, 4, false},
		{"rank on a boundary takes the first bucket that reaches it", gap, .5, 2, 1, 2, false},
		{"q = 0, empty first bucket", gap, 0, nan, nan, nan, false},
		{"q = 0", first, 0, 0, 0, .3, false},
		{"q out of range", first, 1.1, nan, nan, nan, false},
		{"q is NaN", first, nan, nan, nan, nan, false},
		{"empty", build(0, 0, 1, 0), .5, nan, nan, nan, false},
		{"zero value", Hist{}, .5, nan, nan, nan, false},
		{"only +Inf", build(1, 5), .5, nan, nan, nan, false},
	}
	for _, tt := range tests {
		e := tt.h.Quantile(tt.q)
		if !is(e.Value, tt.value) || !is(e.Lo, tt.lo) || !is(e.Hi, tt.hi) || e.Open != tt.open {
			t.Errorf("%s: %+v", tt.name, e)
		}
	}
	if g := open.geometric(.5); g.OK() {
		t.Errorf("geometric beyond the last bound: %+v", g)
	}
	if g := first.geometric(.99); !is(g, .297) {
		t.Errorf("geometric in the first bucket: %+v", g)
	}
	if g := (Hist{}).geometric(.5); g.State != model.NoTraffic {
		t.Errorf("geometric of nothing: %+v", g)
	}
}

func TestShareAtMost(t *testing.T) {
	tests := []struct {
		name          string
		h             Hist
		x             float64
		lo, hi, point float64
	}{
		{"on a boundary", worked(), .5, .75, .75, .75},
		{"between two", worked(), .6, .75, 200. / 240, .787472},
		{"higher up", worked(), 2, 220. / 240, 235. / 240, .963948},
		{"beyond the last, nothing there", worked(), 60, 1, 1, 1},
		{"first bucket", worked(), .05, 0, .25, .125},
		{"at zero", worked(), 0, 0, .25, 0},
		{"beyond the last", build(nan, 10, 1, 4), 2, .4, 1, nan},
		{"infinity", build(nan, 10, 1, 4), inf, 1, 1, 1},
		{"no lower edge", build(nan, 10, -1, 4, 1, 8), -2, 0, .4, nan},
		{"across zero", build(nan, 10, -1, 4, 1, 8), 0, .4, .8, .6},
		{"TTFT 0.2 s off the boundary", build(140, 1000, .1, 600, .25, 900, .5, 980), .2, .6, .9, .6 + .3*.756471},
		{"TTFT 0.25 s on it", build(140, 1000, .1, 600, .25, 900, .5, 980), .25, .9, .9, .9},
		{"TPOT 50 ms", build(24, 1000, .025, 700, .05, 950, .1, 1000), .05, .95, .95, .95},
	}
	for _, tt := range tests {
		s := tt.h.ShareAtMost(tt.x)
		if !is(s.Lo, tt.lo) || !is(s.Hi, tt.hi) {
			t.Errorf("%s: %+v", tt.name, s)
		}
		if got := value(s.Point); !(got-tt.point < 1e-5 && tt.point-got < 1e-5) && !is(s.Point, tt.point) {
			t.Errorf("%s: point %v, want %v", tt.name, got, tt.point)
		}
	}
	h := worked()
	h.Incomplete = true
	if s := h.ShareAtMost(.5); s.Lo.OK() || s.Hi.OK() {
		t.Errorf("incomplete: %+v", s)
	}
}

func TestOverflowMean(t *testing.T) {
	tests := []struct {
		name   string
		h      Hist
		lo, hi float64
	}{
		{"worked example", build(300, 240, 1, 180, 2.5, 210, 5, 230, 10, 236), 10, 47.5},
		{"the sum says more", build(600, 240, 1, 180, 2.5, 210, 5, 230, 10, 236), 185. / 4, 122.5},
		{"nothing beyond", build(5, 10, 1, 10), nan, nan},
		{"no sum", build(nan, 10, 1, 5), nan, nan},
		{"no buckets", build(5, 10), nan, nan},
		{"reaches below zero", build(5, 10, -1, 5), nan, nan},
		{"contradictory sum", build(5, 10, 10, 5), nan, nan},
	}
	for _, tt := range tests {
		if lo, hi := tt.h.overflowMean(); !is(lo, tt.lo) || !is(hi, tt.hi) {
			t.Errorf("%s: [%v, %v]", tt.name, lo, hi)
		}
	}
}

func TestInterval(t *testing.T) {
	for _, tt := range []struct {
		name   string
		h      Hist
		q      float64
		lo, hi float64
	}{
		{"p50", worked(), .5, .1, .5},
		{"p95", worked(), .95, 1, 2.5},
		{"p99 has no upper limit below 368", worked(), .99, 1, nan},
		{"upper limit beyond the last bound", build(nan, 1000, 1, 500), .9, 1, nan},
		{"too few for either", build(nan, 2, 1, 2), .5, 0, nan},
		{"only +Inf", build(nan, 100), .5, nan, nan},
		{"no lower edge", build(nan, 100, -1, 100), .5, nan, -1},
	} {
		if lo, hi := tt.h.interval(tt.q); !is(lo, tt.lo) || !is(hi, tt.hi) {
			t.Errorf("%s: [%v, %v]", tt.name, lo, hi)
		}
	}
}

func BenchmarkQuantile(b *testing.B) {
	h := worked()
	b.ReportAllocs()
	for b.Loop() {
		h.Quantile(.95)
	}
}

func BenchmarkShareAtMost(b *testing.B) {
	h := worked()
	b.ReportAllocs()
	for b.Loop() {
		h.ShareAtMost(.6)
	}
}

package hist

import (
	"slices"
	"testing"

	"slotop/model"
)

// Fleet percentiles come from summed buckets; the mean of per-replica p99 values
// (5.09 s here) answers no question.
func TestFleetPercentiles(t *testing.T) {
	a := build(70, 990, .1, 900, .25, 990, 5, 990, 10, 990)
	b := build(75, 10, .1, 0, .25, 0, 5, 0, 10, 10)
	fleet, f := Merge(a, b)
	if f != model.Exact || fleet.N() != 1000 {
		t.Errorf("%v n %v", f, fleet.N())
	}
	for _, tt := range []struct {
		name string
		h    Hist
		q    float64
		want float64
	}{
		{"fleet p99", fleet, .99, .25},
		{"fleet p99.9", fleet, .999, 9.50},
		{"a p99", a, .99, .1 + .15*80.1/90},
		{"b p99", b, .99, 9.95},
	} {
		if e := tt.h.Quantile(tt.q); !is(e.Value, tt.want) {
			t.Errorf("%s = %+v, want %v", tt.name, e, tt.want)
		}
	}
	if e := b.Quantile(.99); e.Enough {
		t.Error("ten requests suffice for a p99")
	}
}

func TestMergeUnlikeBounds(t *testing.T) {
	a := build(30, 20, .5, 10, 1, 12)
	b := build(30, 20, .5, 5)
	m, f := Merge(a, b)
	if f != model.Coarse || !slices.Equal(m.Bounds, []float64{.5}) || !slices.Equal(m.Cum, []float64{15, 40}) || !is(m.Sum, 60) {
		t.Errorf("%+v %v", m, f)
	}
	if e := m.Quantile(.5); !e.Open || !is(e.Lo, .5) || e.Value.OK() || e.Hi.OK() {
		t.Errorf("p50 = %+v, want beyond 0.5", e)
	}
	// A replica that saw nothing does not blur the other.
	if m, f := Merge(a, build(0, 0, .5, 0)); f != model.Exact || len(m.Bounds) != 2 {
		t.Errorf("with an idle replica: %+v", m)
	}
	if !slices.Equal(a.Cum, []float64{10, 12, 20}) {
		t.Errorf("Merge wrote to its argument: %v", a.Cum)
	}
	if m, f := Merge(a, build(1, 2, .3, 1)); f != model.Coarse || len(m.Bounds) != 0 || m.N() != 22 || m.Quantile(.5).Exists() {
		t.Errorf("nothing in common: %+v %v", m, f)
	}
}

func TestMergeBounds(t *testing.T) {
	hs := []Hist{
		build(nan, 100, .1, 40, .25, 80, .5, 95),
		build(nan, 100, .1, 30, .3, 90, .5, 96),
	}
	for _, tt := range []struct{ x, lo, hi float64 }{
		{.1, 70, 70}, {.25, 110, 170}, {.3, 170, 185}, {.5, 191, 191}, {1, 191, 200}, {.05, 0, 70},
	} {
		if lo, hi := MergeBounds(hs, tt.x); lo != tt.lo || hi != tt.hi {
			t.Errorf("at %v: [%v, %v], want [%v, %v]", tt.x, lo, hi, tt.lo, tt.hi)
		}
	}
	hs[1].Incomplete = true
	if lo, hi := MergeBounds(append(hs, Hist{}), .25); lo != 80 || hi != 180 {
		t.Errorf("incomplete: [%v, %v]", lo, hi)
	}
}

// As in the worked example, whose histograms end in a finite bound of 1.
func TestMergeBoundsAtTheLastBound(t *testing.T) {
	hs := []Hist{
		build(nan, 100, .1, 40, .25, 80, .5, 95, 1, 100),
		build(nan, 100, .1, 30, .3, 90, .5, 96, 1, 100),
	}
	for _, x := range []float64{1, 2} {
		if lo, hi := MergeBounds(hs, x); lo != 200 || hi != 200 {
			t.Errorf("at %v: [%v, %v]", x, lo, hi)
		}
	}
}

func TestAddReusesMemory(t *testing.T) {
	a, b := worked(), worked()
	acc := Hist{Bounds: make([]float64, 0, len(a.Bounds)), Cum: make([]float64, 0, len(a.Cum))}
	allocs := testing.AllocsPerRun(100, func() {
		acc = Hist{Bounds: acc.Bounds[:0], Cum: acc.Cum[:0]}
		if !acc.Add(a) || !acc.Add(b) || !acc.Add(Hist{}) {
			t.Error("equal bounds refused")
		}
	})
	if allocs != 0 || acc.N() != 480 || a.N() != 240 || !slices.Equal(acc.Bounds, a.Bounds) {
		t.Errorf("%v allocations, n %v, argument %v", allocs, acc.N(), a.N())
	}
}

func TestAddRefusesOtherBounds(t *testing.T) {
	a, b := build(1, 2, 1, 1), build(1, 2, 2, 1)
	if a.Add(b) || a.N() != 2 || a.Sum.Value != 1 {
		t.Errorf("%+v", a)
	}
	idle := build(0, 0, 3, 0)
	idle.Incomplete = true
	if !a.Add(idle) || a.N() != 2 || a.Incomplete {
		t.Errorf("an idle replica: %+v", a)
	}
	if !idle.Add(a) || !slices.Equal(idle.Bounds, a.Bounds) || idle.N() != 2 || idle.Incomplete {
		t.Errorf("onto an idle replica: %+v", idle)
	}
}

// What Merge returns may be used again as an accumulator without writing to the
// bounds of a histogram that went into it.
func TestMergeSharesNothing(t *testing.T) {
	a, b, idle := build(1, 2, 1, 1), build(1, 2, 1, 2), build(0, 0, 3, 0)
	for _, m := range []func() (Hist, model.Fidelity){
		func() (Hist, model.Fidelity) { return Merge(a, b) },
		func() (Hist, model.Fidelity) { return Merge(idle, a) },
		func() (Hist, model.Fidelity) { return Merge(a, idle) },
		func() (Hist, model.Fidelity) { return Merge(Hist{}, a) },
	} {
		got, _ := m()
		got.Bounds[0], got.Cum[0] = 99, 99
	}
	if a.Bounds[0] != 1 || a.Cum[0] != 1 || b.Bounds[0] != 1 || b.Cum[0] != 2 {
		t.Errorf("written through: %+v %+v", a, b)
	}
}

func TestAddMarks(t *testing.T) {
	a, b := build(1, 2, 1, 1), build(1, 2, 1, 1)
	b.Sum, b.Incomplete, b.Repaired, b.Fidelity = model.Reading{}, true, true, model.Coarse
	m, f := Merge(a, b)
	if m.Sum.OK() || !m.Incomplete || !m.Repaired || f != model.Coarse {
		t.Errorf("%+v", m)
	}
}

func BenchmarkAdd(b *testing.B) {
	h, acc := worked(), Hist{}
	b.ReportAllocs()
	for b.Loop() {
		acc = Hist{Bounds: acc.Bounds[:0], Cum: acc.Cum[:0]}
		acc.Add(h)
		acc.Add(h)
	}
}

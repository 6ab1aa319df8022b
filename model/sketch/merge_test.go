package sketch

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"slotop/model"
)

func merged(sketches ...*Sketch) *Sketch {
	var s Sketch
	for _, o := range sketches {
		s.Merge(o)
	}
	return &s
}

var quantiles = []float64{0, .01, .25, .5, .9, .95, .99, 1}

func TestMergeOfFewStaysExact(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var all []float64
	var parts []*Sketch
	for range 7 {
		values := logNormal(r, maxExact/7)
		all = append(all, values...)
		parts = append(parts, of(values...))
	}
	s := merged(parts...)
	if s.rough || s.N() != float64(len(all)) {
		t.Fatalf("rough=%v n=%v", s.rough, s.N())
	}
	for _, q := range quantiles {
		if got, want := s.Quantile(q), trueQuantile(all, q); got != want {
			t.Errorf("q=%v: %v, want %v", q, got, want)
		}
	}
}

func TestMergeLeavesTheOther(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{10, maxExact, 2 * maxExact} {
		o := of(logNormal(r, n)...)
		before := *o.Dist(model.FromEvents)
		s := merged(of(1, 2, 3), o)
		for range 3 * maxExact {
			s.Add(1e6)
		}
		if after := *o.Dist(model.FromEvents); after != before {
			t.Errorf("n=%d: %+v became %+v", n, before, after)
		}
	}
}

// However the parts are put together, the quantiles are the same.
func TestMergeAssociatesAndCommutes(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, sizes := range [][]int{{1, 2, 3}, {700, 700, 700}, {1999, 1, 1}, {5000, 10, 0}, {10, 5000, 3000}, {0, 0, 2001}} {
		a, b, c := of(logNormal(r, sizes[0])...), of(logNormal(r, sizes[1])...), of(logNormal(r, sizes[2])...)
		want := merged(merged(a, b), c)
		for i, got := range []*Sketch{merged(a, merged(b, c)), merged(c, b, a), merged(b, merged(c, a))} {
			if got.rough != want.rough || got.N() != want.N() || !near(got.sum, want.sum, 1e-12) {
				t.Errorf("%v, way %d: rough=%v n=%v", sizes, i, got.rough, got.N())
			}
			for _, q := range quantiles {
				if got.Quantile(q) != want.Quantile(q) {
					t.Errorf("%v, way %d, q=%v: %v, want %v", sizes, i, q, got.Quantile(q), want.Quantile(q))
				}
			}
		}
	}
}

func TestMergeOfZeros(t *testing.T) {
	var half Sketch
	for i := range 2 * maxExact {
		half.Add(float64(i % 2))
	}
	s := merged(&half, &half)
	if s.Quantile(.5) != 0 || !near(s.Quantile(.501), 1, accuracy) || s.Quantile(1) > 1 {
		t.Errorf("p50=%v p50.1=%v", s.Quantile(.5), s.Quantile(.501))
	}
}

func TestMergeWithItself(t *testing.T) {
	for _, n := range []int{3, maxExact, 3 * maxExact} {
		s := of(logNormal(rand.New(rand.NewPCG(7, 7)), n)...)
		p95 := s.Quantile(.95)
		s.Merge(s)
		if s.N() != float64(2*n) || !near(s.Quantile(.95), p95, 2*accuracy) {
			t.Errorf("n=%d: n=%v p95=%v, was %v", n, s.N(), s.Quantile(.95), p95)
		}
	}
}

// Any values, cut anywhere: a merge knows what one sketch of all knows.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{}, uint16(0), uint8(1))
	f.Add([]byte("some latencies, as good as any other"), uint16(2), uint8(1))
	f.Add([]byte("some latencies, as good as any other"), uint16(9), uint8(250))
	f.Fuzz(func(t *testing.T, b []byte, cut uint16, times uint8) {
		var values []float64
		for ; len(b) >= 8; b = b[8:] {
			v := math.Float64frombits(binary.LittleEndian.Uint64(b))
			for range times {
				values = append(values, v)
			}
		}
		at := int(cut) % (len(values) + 1)
		m, one := merged(of(values[:at]...), of(values[at:]...)), of(values...)
		kept := slices.DeleteFunc(values, func(v float64) bool { return !(v >= 0 && v <= most) })
		if m.N() != one.N() || m.N() != float64(len(kept)) {
			t.Fatalf("n=%v, in one %v, want %d", m.N(), one.N(), len(kept))
		}
		if len(kept) == 0 {
			return
		}
		last := 0.0
		for _, q := range quantiles {
			got, want := m.Quantile(q), trueQuantile(kept, q)
			if got != one.Quantile(q) || !near(got, want, accuracy*1.0001) && math.Abs(got-want) > least {
				t.Errorf("q=%v: %v, in one %v, truth %v", q, got, one.Quantile(q), want)
			}
			if got < last {
				t.Errorf("q=%v: %v, less than a lower quantile", q, got)
			}
			last = got
		}
	})
}

package hist

import (
	"math"
	"slices"
	"testing"

	"slotop/model"
)

var inf = math.Inf(1)

var bounds = []float64{.025, .05, .1, .25, .5, 1, 2.5, 5}

// decode builds a histogram out of fuzzed bytes: the first chooses the bounds,
// each following one is the count of a bucket.
func decode(data []byte) Hist {
	if len(data) == 0 {
		return Hist{}
	}
	h := Hist{Sum: model.Of(0)}
	total, rest := 0.0, data[1:]
	for i := 0; i <= len(bounds); i++ {
		if i < len(bounds) && data[0]>>i&1 == 0 {
			continue
		}
		if len(rest) > 0 {
			total += float64(rest[0])
			rest = rest[1:]
		}
		if i < len(bounds) {
			h.Bounds = append(h.Bounds, bounds[i])
		}
		h.Cum = append(h.Cum, total)
	}
	h.Sum = model.Of(total)
	return h
}

func same(a, b Hist) bool {
	return slices.Equal(a.Bounds, b.Bounds) && slices.Equal(a.Cum, b.Cum) && a.Sum == b.Sum &&
		a.Fidelity == b.Fidelity && a.Incomplete == b.Incomplete && a.Repaired == b.Repaired
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []byte{0xff, 9, 8, 7}, []byte{0xff, 1})
	f.Add([]byte{0x0f, 1, 2, 3, 4, 5}, []byte{0x1e, 9, 8, 7, 6, 5}, []byte{0xf0, 1, 1, 1, 1, 1})
	f.Add([]byte{0x0f}, []byte{0xf0}, []byte{0xff, 1})
	f.Add([]byte{}, []byte{0}, []byte{1, 1})
	f.Fuzz(func(t *testing.T, x, y, z []byte) {
		a, b, c := decode(x), decode(y), decode(z)
		ab, fidelity := Merge(a, b)
		ba, _ := Merge(b, a)
		if !same(ab, ba) || fidelity != ab.Fidelity {
			t.Errorf("a+b = %+v, b+a = %+v", ab, ba)
		}
		bc, _ := Merge(b, c)
		left, _ := Merge(ab, c)
		right, _ := Merge(a, bc)
		if !same(left, right) {
			t.Errorf("(a+b)+c = %+v, a+(b+c) = %+v", left, right)
		}
		for _, u := range left.Bounds {
			lo, hi := MergeBounds([]Hist{a, b, c}, u)
			if i, _ := slices.BinarySearch(left.Bounds, u); left.Cum[i] < lo || left.Cum[i] > hi {
				t.Errorf("at %v: %v outside [%v, %v]", u, left.Cum[i], lo, hi)
			}
		}
		if got := left.N(); got != a.N()+b.N()+c.N() {
			t.Errorf("n = %v", got)
		}
	})
}

// promQuantile is PromQL's classic rule, read from its definition: +Inf stands
// for the last bucket, NaN for no answer.
func promQuantile(q float64, h Hist) float64 {
	last := len(h.Cum) - 1
	if last < 1 || h.Cum[last] == 0 || math.IsNaN(q) {
		return nan
	}
	rank := q * h.Cum[last]
	b := 0
	for b < last && h.Cum[b] < rank {
		b++
	}
	switch {
	case b == last:
		return inf
	case b == 0 && h.Bounds[0] <= 0:
		return h.Bounds[0]
	case b == 0:
		return h.Bounds[0] * (rank / h.Cum[0])
	}
	start, count := h.Bounds[b-1], h.Cum[b]-h.Cum[b-1]
	return start + (h.Bounds[b]-start)*((rank-h.Cum[b-1])/count)
}

func FuzzQuantile(f *testing.F) {
	f.Add([]byte{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9}, .5, .95)
	f.Add([]byte{0xff, 0, 0, 3, 0, 0, 0, 0, 1}, 0., 1.)
	f.Add([]byte{0x00, 3}, .5, .9)
	f.Fuzz(func(t *testing.T, data []byte, p, q float64) {
		h := decode(data)
		if !(p >= 0 && p <= 1 && q >= 0 && q <= 1) {
			if p < 0 && h.Quantile(p).Exists() {
				t.Errorf("quantile at %v", p)
			}
			return
		}
		if p > q {
			p, q = q, p
		}
		a, b := h.Quantile(p), h.Quantile(q)
		for _, tt := range []struct {
			q float64
			e model.Estimate
		}{{p, a}, {q, b}} {
			// A rank that is on a bucket's edge but for noise stays there.
			want, least := promQuantile(tt.q, h), promQuantile(tt.q*(1-noise), h)
			if tt.e.Open != math.IsInf(want, 1) && tt.e.Open != math.IsInf(least, 1) {
				t.Errorf("q=%v: %+v, Prometheus %v", tt.q, tt.e, want)
			}
			v, rounding := value(tt.e.Value), 1e-15*math.Abs(value(tt.e.Value))
			if !tt.e.Open && !(v >= least-rounding && v <= want+rounding) && !math.IsNaN(want) {
				t.Errorf("q=%v: %v, Prometheus %v to %v", tt.q, v, least, want)
			}
			if math.IsNaN(want) && tt.e.Exists() {
				t.Errorf("q=%v: %+v, Prometheus has none", tt.q, tt.e)
			}
			if v := tt.e.Value; v.OK() && (v.Value < tt.e.Lo.Value || v.Value > tt.e.Hi.Value) {
				t.Errorf("q=%v: %+v outside its bucket", tt.q, tt.e)
			}
			if g := h.geometric(tt.q); g.OK() && (g.Value < tt.e.Lo.Value*(1-1e-12) || g.Value > tt.e.Hi.Value*(1+1e-12)) {
				t.Errorf("q=%v: geometric %v outside %+v", tt.q, g.Value, tt.e)
			}
		}
		if a.Value.OK() && b.Value.OK() && a.Value.Value > b.Value.Value*(1+1e-12) || a.Open && b.Exists() && !b.Open {
			t.Errorf("q rises from %v to %v, the quantile falls from %+v to %+v", p, q, a, b)
		}
	})
}

func FuzzShare(f *testing.F) {
	f.Add([]byte{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9}, .6, 2.)
	f.Fuzz(func(t *testing.T, data []byte, x, y float64) {
		if !(x <= y) {
			return
		}
		h := decode(data)
		a, b := h.ShareAtMost(x), h.ShareAtMost(y)
		if a.Lo.Value > b.Lo.Value || a.Hi.Value > b.Hi.Value || a.Lo.Value > a.Hi.Value {
			t.Errorf("shares at %v and %v: %+v, %+v", x, y, a, b)
		}
		if p := a.Point; p.OK() && (p.Value < a.Lo.Value-1e-12 || p.Value > a.Hi.Value+1e-12) {
			t.Errorf("point outside: %+v", a)
		}
	})
}

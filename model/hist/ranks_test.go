package hist

import (
	"math"
	"math/big"
	"testing"
)

func TestRanks(t *testing.T) {
	for _, tt := range []struct{ n, q, lo, hi float64 }{
		{100, .50, 40, 61},
		{100, .90, 84, 96},
		{100, .95, 90, 100},
		{100, .99, 97, 0},
		{240, .50, 105, 136},
		{240, .95, 221, 235},
		{240, .99, 234, 0},
		{1000, .50, 469, 532},
		{1000, .95, 936, 964},
		{1000, .99, 983, 997},
		{0, .5, 0, 0},
		{5, .5, 0, 0},
		{6, .5, 1, 6},
		{6.9, .5, 1, 6},
	} {
		if lo, hi := Ranks(tt.n, tt.q); lo != tt.lo || hi != tt.hi {
			t.Errorf("n=%v q=%v: [%v, %v], want [%v, %v]", tt.n, tt.q, lo, hi, tt.lo, tt.hi)
		}
	}
}

func TestEnoughStarts(t *testing.T) {
	for q, first := range map[float64]float64{.5: 6, .9: 36, .95: 72, .99: 368, .999: 3688} {
		if enough(first-1, q) || !enough(first, q) {
			t.Errorf("q=%v: upper limits do not start at n=%v", q, first)
		}
		if _, hi := Ranks(first-1, q); hi != 0 {
			t.Errorf("q=%v n=%v: upper rank %v", q, first-1, hi)
		}
		if _, hi := Ranks(first, q); hi != first {
			t.Errorf("q=%v n=%v: upper rank %v", q, first, hi)
		}
	}
}

// The definition, in exact arithmetic over the whole distribution.
func naiveRanks(n int64, q float64) (lo, hi float64) {
	p := new(big.Float).SetPrec(400).SetFloat64(q)
	r := new(big.Float).SetPrec(400).Sub(big.NewFloat(1), p)
	cdf := make([]float64, n+1)
	sum := new(big.Float).SetPrec(400)
	for k := int64(0); k <= n; k++ {
		term := new(big.Float).SetPrec(400).SetInt(new(big.Int).Binomial(n, k))
		for range k {
			term.Mul(term, p)
		}
		for range n - k {
			term.Mul(term, r)
		}
		cdf[k], _ = sum.Add(sum, term).Float64()
	}
	for l := int64(1); l <= n && cdf[l-1] <= .025; l++ {
		lo = float64(l)
	}
	for u := n; u >= 1 && 1-cdf[u-1] <= .025; u-- {
		hi = float64(u)
	}
	return lo, hi
}

func TestRanksAgainstDefinition(t *testing.T) {
	for n := int64(1); n <= 120; n += 7 {
		for _, q := range []float64{.01, .1, .3, .5, .75, .9, .95, .99} {
			lo, hi := Ranks(float64(n), q)
			wantLo, wantHi := naiveRanks(n, q)
			if lo != wantLo || hi != wantHi {
				t.Errorf("n=%d q=%v: [%v, %v], want [%v, %v]", n, q, lo, hi, wantLo, wantHi)
			}
		}
	}
}

// Where counting out ends, the approximation continues without a step.
func TestRanksOfLargeSamples(t *testing.T) {
	for _, q := range []float64{.5, .95, .99} {
		lo, hi := Ranks(exactRanks, q)
		aLo, aHi := Ranks(exactRanks+1, q)
		if math.Abs(aLo-lo) > 3 || math.Abs(aHi-hi) > 3 {
			t.Errorf("q=%v: [%v, %v] then [%v, %v]", q, lo, hi, aLo, aHi)
		}
	}
}

// With less risk the ranks lie farther apart, and more observations are needed for both.
func TestRanksAt(t *testing.T) {
	if lo, hi := RanksAt(1000, .95, 0.025); lo != 936 || hi != 964 {
		t.Errorf("at 95 %%: [%v, %v]", lo, hi)
	}
	lo, hi := RanksAt(1000, .95, 0.0005)
	if lo >= 936 || hi <= 964 {
		t.Errorf("at 99.9 %%: [%v, %v]", lo, hi)
	}
	for _, n := range []float64{141, 142} { // 0.95^142 < 0.0007
		if _, hi := RanksAt(n, .95, 0.0007); (hi > 0) != (n >= 142) {
			t.Errorf("n=%v: upper rank %v", n, hi)
		}
	}
	n := float64(exactRanks) * 4 // by the normal approximation
	if lo, hi := RanksAt(n, .5, 0.025); math.Abs(lo-(n/2-0.98*math.Sqrt(n))) > 3 || math.Abs(hi-(n/2+0.98*math.Sqrt(n))) > 3 {
		t.Errorf("of %v: [%v, %v]", n, lo, hi)
	}
}

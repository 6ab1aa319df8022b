package diagnose

import (
	"math"
	"testing"

	"slotop/model"
	"slotop/model/slo"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, within)
	}
}

func TestArrivals(t *testing.T) {
	near(t, "arrivals", Arrivals((30+5)-(26+1), 540), 548, 0)
}

func TestTimeToBreach(t *testing.T) {
	near(t, "breach", slo.TimeToBreach(20, 9, 7, 5).Value, 7.5, 1e-9)
	near(t, "wait", slo.LittleWait(model.Of(208), model.Of(17.2)).Value, 12.1, 0.05)
}

func TestLogMean(t *testing.T) {
	near(t, "equal", LogMean(3, 3), 3, 0)
	near(t, "L(e,1)", LogMean(math.E, 1), math.E-1, 1e-12)
	near(t, "nearly equal", LogMean(1, 1+1e-13), 1, 1e-9)
	for _, v := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {math.NaN(), 1}} {
		if !math.IsNaN(LogMean(v[0], v[1])) {
			t.Errorf("LogMean(%v) is a number", v)
		}
	}
}

// A prefix cache that collapsed: prompt × miss share × cost a token.
func TestContributionsOfACollapse(t *testing.T) {
	before, now := []float64{1812, 0.45695, 50.72e-6}, []float64{1736, 0.98848, 55.36e-6}
	near(t, "before", product(before), 0.042, 0.0005)
	near(t, "now", product(now), 0.095, 0.0005)
	got := Contributions(before, now)
	for i, want := range []float64{-0.0028, 0.0501, 0.0057} {
		near(t, []string{"prompt", "miss share", "cost"}[i], got[i], want, 5e-5)
	}
	near(t, "sum", sum(got), product(now)-product(before), 1e-12)
}

// The weights of a sum's terms give back the logarithm of the sum.
func TestWeights(t *testing.T) {
	before, now := []float64{22.9, 33.9, 0}, []float64{40, 90, 0}
	w := Weights(before, now)
	log := w[0]*math.Log(now[0]/before[0]) + w[1]*math.Log(now[1]/before[1])
	near(t, "log", log, math.Log(sum(now)/sum(before)), 1e-12)
	near(t, "nothing", w[2], 0, 0)
}

func sums(measures map[Measure]Mean) *Sums {
	s := Nothing()
	for m, v := range measures {
		s.Measures[m] = v
	}
	return &s
}

func TestSplitTTFT(t *testing.T) {
	before := sums(map[Measure]Mean{TTFT: {100, 10}, QueueTime: {100, 2}, PrefillTime: {100, 6}})
	now := sums(map[Measure]Mean{TTFT: {100, 50}, QueueTime: {100, 32}, PrefillTime: {100, 11}})
	p, ok := SplitTTFT(before, now, 9)
	if !ok {
		t.Fatal("a steady queue cannot be split")
	}
	near(t, "TTFT", p.TTFT, 0.40, 1e-12)
	near(t, "queue", p.Queue, 0.30, 1e-12)
	near(t, "prefill", p.Prefill, 0.05, 1e-12)
	near(t, "rest", p.Rest, 0.05, 1e-12)
	for _, grew := range []float64{10, -10, math.NaN()} {
		if _, ok := SplitTTFT(before, now, grew); ok {
			t.Errorf("split although the queue grew by %v of 100", grew)
		}
	}
	now.Measures[PrefillTime] = Mean{math.NaN(), math.NaN()}
	if _, ok := SplitTTFT(before, now, 0); ok {
		t.Error("split without a prefill time")
	}
}

func TestSplitE2E(t *testing.T) {
	// 101 tokens at 20 ms to 201 at 30 ms: 2 s of decode to 6 s.
	before := sums(map[Measure]Mean{TTFT: {10, 1}, OutputLength: {10, 1010}, DecodeTime: {10, 20}})
	now := sums(map[Measure]Mean{TTFT: {10, 2}, OutputLength: {10, 2010}, DecodeTime: {10, 60}})
	e, ok := SplitE2E(before, now)
	if !ok {
		t.Fatal("not split")
	}
	near(t, "TTFT", e.TTFT, 0.1, 1e-12)
	near(t, "E2E", e.E2E, 4.1, 1e-9)
	l := LogMean(6, 2)
	near(t, "length", e.Length, l*math.Log(2), 1e-9)
	near(t, "pace", e.Pace, l*math.Log(1.5), 1e-9)
	// Without a decode time TPOT stands for the pace.
	for _, s := range []*Sums{before, now} {
		s.Measures[TPOT] = Mean{10, 10 * s.Measures[DecodeTime].Value() / (s.Measures[OutputLength].Value() - 1)}
		s.Measures[DecodeTime] = Mean{math.NaN(), math.NaN()}
	}
	if again, ok := SplitE2E(before, now); !ok || math.Abs(again.Length-e.Length) > 1e-9 {
		t.Errorf("by TPOT %+v, want %+v", again, e)
	}
	before.Measures[OutputLength] = Mean{10, 10} // of one token: no pace
	if _, ok := SplitE2E(before, now); ok {
		t.Error("split of answers without a second token")
	}
}

func TestGain(t *testing.T) {
	a, b := Gain(0.8, 4), Gain(0.6, 4)
	near(t, "α 0.8", a, 3.36, 0.005)
	near(t, "α 0.6", b, 2.31, 0.005)
	near(t, "TPOT", a/b, 1.46, 0.005)
	near(t, "α of 3.36", acceptance(a, 4), 0.8, 1e-9)
	near(t, "α of 2.31", acceptance(b, 4), 0.6, 1e-9)
	if v := acceptance(5.5, 4); !math.IsNaN(v) {
		t.Errorf("α %v of more tokens than there are", v)
	}
	near(t, "all accepted", Gain(1, 4), 5, 0)
}

func TestCost(t *testing.T) {
	s := Cost(27.6e-6, 0.0654e-6, 0, 828, 1922, 221)
	near(t, "cost", s, 50.6e-3, 0.05e-3)
	near(t, "load", 9.3*s, 0.471, 0.001)
}

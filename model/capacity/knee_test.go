package capacity

import (
	"testing"
)

// minute is a minute of a workflow that is the whole pool.
func minute(rate, share, design float64) Minute {
	n := 60 * rate
	return Minute{float32(rate), float32(share * n), float32(n), float32(design)}
}

// TestKnee follows a sweep whose knee at 95 % lies between 12 and 14 requests a
// second.
func TestKnee(t *testing.T) {
	sweep := []Minute{
		minute(16, 0.533, 30), minute(4, 0.994, 3), minute(8, 0.991, 4), minute(12, 0.985, 4), minute(14, 0.90, 11), minute(15, 0.804, 30),
	}
	tests := []struct {
		name    string
		minutes []Minute
		target  float64
		knee    float64 // -1: unknown
		reached bool
		missed  bool
		blocks  int
	}{
		{"nothing", nil, 0.95, -1, false, false, 0},
		{"a sweep", sweep, 0.95, 12, true, false, 6},
		{"never so high", sweep, 0.999, -1, false, false, 6},
		{"only the quiet part", sweep[1:4], 0.95, 12, false, false, 3},
		{"too few for certainty", []Minute{{0.2, 12, 12, 1}}, 0.95, -1, false, false, 1},
		{"together they suffice", []Minute{{0.2, 40, 40, 1}, {0.2, 40, 40, 1}, {0.2, 40, 40, 1}}, 0.95, 0.2, false, false, 3},
		{"neighbours share their fate", []Minute{{4, 228, 240, 1}, {4, 240, 240, 20}}, 0.95, -1, false, false, 2},
		{"a minute without requests", []Minute{{4, 0, 0, 1}, minute(8, 0.999, 1)}, 0.95, 8, false, false, 1},
		{"a bad hour at a low rate does not hide a good one at a high rate", []Minute{minute(3, 0.1, 4), minute(12, 0.995, 4)}, 0.95, 12, false, true, 2},
		{"nor a bad minute at the same rate", []Minute{minute(12, 0.2, 4), minute(12, 1, 1), minute(12, 1, 1), minute(12, 1, 1), minute(11.9, 1, 1), minute(12, 1, 1)}, 0.8, 12, false, true, 6},
	}
	for _, tc := range tests {
		v := Knee(tc.minutes, tc.target)
		if known := v.Rate.OK(); known != (tc.knee >= 0) || known && !close32(v.Rate.Value, tc.knee) || v.Reached != tc.reached || v.Missed != tc.missed || v.Blocks != tc.blocks {
			t.Errorf("%s: %+v", tc.name, v)
		}
	}
	v := Knee(sweep, 0.95)
	near(t, "lowest rate", v.Observed.Lo.Value, 4, 1e-6)
	near(t, "highest rate", v.Observed.Hi.Value, 16, 1e-6)
}

func close32(got, want float64) bool { return got > want*(1-1e-6) && got < want*(1+1e-6) }

// TestKneeOfAnyOrder: the same minutes give the same knee, whatever their order.
func TestKneeOfAnyOrder(t *testing.T) {
	a := []Minute{{4, 200, 240, 3}, {4, 240, 240, 2}, {8, 470, 480, 4}, {4, 240, 240, 9}}
	b := []Minute{a[3], a[2], a[1], a[0]}
	if x, y := Knee(a, 0.9), Knee(b, 0.9); x != y {
		t.Errorf("%+v\n%+v", x, y)
	}
	if a[0] != (Minute{4, 200, 240, 3}) {
		t.Error("the minutes were moved")
	}
}

func BenchmarkKnee(b *testing.B) {
	day := make([]Minute, MaxMinutes)
	for i := range day {
		day[i] = minute(4+10*float64(i%97)/97, 0.99, 4)
	}
	for b.Loop() {
		Knee(day, 0.95)
	}
}

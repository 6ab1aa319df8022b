package sources

import (
	"math"
	"slices"
	"testing"

	"slotop/model"
)

// Each reason for a slow clock has its word; idling and clocks that somebody set have
// none.
func TestThrottleWords(t *testing.T) {
	for mask, want := range map[uint64][]string{
		0:              nil,
		0x1:            nil, // idle
		0x2 | 0x10:     nil, // application clocks, sync boost
		0x100:          nil, // display clocks
		0x4:            {"power cap"},
		0x8:            {"hardware slowdown"},
		0x20:           {"thermal"},
		0x40:           {"hardware thermal"},
		0x80:           {"power brake"},
		0x8 | 0x80:     {"hardware slowdown", "power brake"},
		0x1 | 0x4:      {"power cap"},
		math.MaxUint64: {"power cap", "hardware slowdown", "thermal", "hardware thermal", "power brake"},
	} {
		if got := throttleWords(mask); !slices.Equal(got, want) {
			t.Errorf("%#x: %q, want %q", mask, got, want)
		}
	}
}

// Every reading has values beyond which it is none.
func TestEveryReadingHasItsLimit(t *testing.T) {
	for m := range model.NumDeviceMetrics {
		for _, v := range []float64{-1, math.NaN(), math.Inf(1), math.MaxUint64} {
			if credible(m, v) {
				t.Errorf("%s may be %v", m, v)
			}
		}
		if !credible(m, 0) || !credible(m, 0.5) {
			t.Errorf("%s may not be 0 or 0.5", m)
		}
	}
}

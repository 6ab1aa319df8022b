package unit

import (
	"math"
	"testing"
	"time"

	"slotop/model"
)

func TestFormats(t *testing.T) {
	tests := []struct {
		name   string
		format func(float64) string
		v      float64
		want   string
	}{
		{"Load", Load, 0.4708, "0.47"},
		{"Load", Load, 0.7, "0.70"},
		{"Load", Load, 1.46, "1.46"},
		{"Load", Load, 0.001, "<0.01"},
		{"Load", Load, 0, "0.00"},
		{"Load", Load, math.NaN(), "n/a"},
		{"Count", Count, 0, "0"},
		{"Count", Count, 208, "208"},
		{"Count", Count, 999.4, "999"},
		{"Count", Count, 999.6, "1.0k"},
		{"Count", Count, 1234, "1.2k"},
		{"Count", Count, 9960, "10k"},
		{"Count", Count, 17500, "18k"},
		{"Count", Count, 999600, "1.0M"},
		{"Count", Count, 1250025000, "1.3G"},
		{"Count", Count, 4e15, "4.0P"},
		{"Count", Count, -5, "-5"},
		{"Count", Count, -0.2, "0"},
		{"Count", Count, math.Copysign(0, -1), "0"},
		{"Count", Count, math.NaN(), "n/a"},
		{"Integer", Integer, 3696, "3696"},
		{"Integer", Integer, 1250025000, "1250025000"},
		{"Number", Number, 0, "0"},
		{"Number", Number, 0.001, "<0.01"},
		{"Number", Number, 0.99, "0.99"},
		{"Number", Number, 6, "6"},
		{"Number", Number, 19.63, "19.6"},
		{"Number", Number, 1030.4, "1030"},
		{"Number", Number, -0.354, "-0.35"},
		{"Period", Period, 86400, "1 d"},
		{"Period", Period, 30 * 86400, "30 d"},
		{"Period", Period, 5400, "90 min"},
		{"Period", Period, 45, "45 s"},
		{"Period", Period, 90.5, "90.5 s"},
		{"Rate", Rate, 0, "0.0"},
		{"Rate", Rate, 0.001, "<0.1"},
		{"Rate", Rate, 0.6, "0.6"},
		{"Rate", Rate, 17.2, "17.2"},
		{"Rate", Rate, 99.96, "100"},
		{"Rate", Rate, 390, "390"},
		{"Rate", Rate, 1800, "1.8k"},
		{"Rate", Rate, 999.7, "1.0k"},
		{"Rate", Rate, -0.3, "-0.3"},
		{"Rate", Rate, math.Inf(1), "n/a"},
		{"Ratio", Ratio, 0.712, "71.2 %"},
		{"Ratio", Ratio, 0.625, "62.5 %"},
		{"Ratio", Ratio, 0, "0 %"},
		{"Ratio", Ratio, 1, "100 %"},
		{"Ratio", Ratio, 0.9997, "99.9 %"},
		{"Ratio", Ratio, 0.0002, "<0.1 %"},
		{"Ratio", Ratio, 3.05, "305.0 %"},
		{"Percent", Percent, 0.99, "99 %"},
		{"Percent", Percent, 0.996, "99 %"},
		{"Percent", Percent, 0.002, "<1 %"},
		{"Percent", Percent, 1, "100 %"},
		{"Percent", Percent, -0.2, "-20 %"},
		{"Bytes", Bytes, 512, "512 B"},
		{"Bytes", Bytes, 1536, "1.5 KiB"},
		{"Bytes", Bytes, 79.1 * (1 << 30), "79 GiB"},
		{"Bytes", Bytes, 1023.7 * (1 << 20), "1.0 GiB"},
		{"Duration", Duration, 0, "0 s"},
		{"Duration", Duration, 1e-6, "<0.01 ms"},
		{"Duration", Duration, 0.00045, "0.45 ms"},
		{"Duration", Duration, 0.0069, "6.9 ms"},
		{"Duration", Duration, 0.00999, "10 ms"},
		{"Duration", Duration, 0.069, "69 ms"},
		{"Duration", Duration, 0.812, "812 ms"},
		{"Duration", Duration, 0.9996, "1.0 s"},
		{"Duration", Duration, 1.4, "1.4 s"},
		{"Duration", Duration, 9.96, "10 s"},
		{"Duration", Duration, 12, "12 s"},
		{"Duration", Duration, 59.7, "1 min 00 s"},
		{"Duration", Duration, 252, "4 min 12 s"},
		{"Duration", Duration, 3599.8, "1 h 00 min"},
		{"Duration", Duration, 11100, "3 h 05 min"},
		{"Duration", Duration, 86399, "1 d 00 h"},
		{"Duration", Duration, 187200, "2 d 04 h"},
		{"Duration", Duration, -1.4, "-1.4 s"},
		{"DurationShort", DurationShort, 0.812, "812 ms"},
		{"DurationShort", DurationShort, 0.00045, "0.5 ms"},
		{"DurationShort", DurationShort, 0.00001, "<.1 ms"},
		{"DurationShort", DurationShort, 12, "12 s"},
		{"DurationShort", DurationShort, 252, "4m12s"},
		{"DurationShort", DurationShort, 3599, "59m59s"},
		{"DurationShort", DurationShort, 11100, "3h05m"},
		{"DurationShort", DurationShort, 187200, "2d04h"},
		{"DurationShort", DurationShort, 200 * day, "200d"},
		{"Precise", Precise, 0, "0 s"},
		{"Precise", Precise, 0.1 / 3, "33.3 ms"},
		{"Precise", Precise, 0.075, "75.0 ms"},
		{"Precise", Precise, 0.25, "250 ms"},
		{"Precise", Precise, 0.99961, "1.00 s"},
		{"Precise", Precise, 9.5, "9.50 s"},
		{"Precise", Precise, 43.51, "43.5 s"},
		{"Precise", Precise, 160, "160 s"},
		{"Limit", Limit, 0.5, "500 ms"},
		{"Limit", Limit, 0.05, "50 ms"},
		{"Limit", Limit, 3, "3 s"},
		{"Limit", Limit, 7.5, "7.5 s"},
		{"Limit", Limit, 120, "120 s"},
		{"Limit", Limit, 0, "0 s"},
	}
	for _, tt := range tests {
		if got := tt.format(tt.v); got != tt.want {
			t.Errorf("%s(%v) = %q, want %q", tt.name, tt.v, got, tt.want)
		}
	}
}

// Columns are as wide as the widest number, so the promise is a bound.
func TestWidths(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format func(float64) string
		max    int
		most   float64
	}{
		{"Count", Count, 4, 999e18},
		{"Rate", Rate, 4, 999e18},
		{"Ratio", Ratio, 6, 1},
		{"Percent", Percent, 5, 1},
		{"Bytes", Bytes, 8, 1e21},
		{"Duration", Duration, 11, 300 * day},
		{"DurationShort", DurationShort, 6, 9999 * day},
		{"Precise", Precise, 7, 999},
	} {
		for v := 1e-7; v <= tt.most; v *= 1.003 {
			if s := tt.format(v); Width(s) > tt.max {
				t.Errorf("%s(%v) = %q, wider than %d", tt.name, v, s, tt.max)
			}
		}
	}
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		v           float64
		times, more string
	}{
		{3.6, "×3.60", "+360 %"}, {0.994, "×0.99", "+99 %"}, {9.996, "×10.0", "+1000 %"}, {99.96, "×100", "+9996 %"},
		{-0.12, "×-0.12", "-12 %"}, {0, "×0.00", "0 %"}, {math.NaN(), "n/a", "n/a"}, {math.Inf(1), "n/a", "n/a"},
	} {
		if a, b := Times(tt.v), More(tt.v); a != tt.times || b != tt.more {
			t.Errorf("%v: %q and %q, want %q and %q", tt.v, a, b, tt.times, tt.more)
		}
	}
}

func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		r    model.Reading
		long string
	}{
		{model.Of(0.712), "71.2 %"},
		{model.Of(0), "0 %"},
		{model.Reading{}, "no data"},
		{model.Missing(model.NoTraffic), "no samples"},
		{model.Missing(model.Unsupported), "not exported"},
		{model.Reading{Value: 1, State: model.Stale}, "stale"},
	} {
		if got := Reading(tt.r, Ratio); got != tt.long {
			t.Errorf("Reading(%v) = %q", tt.r, got)
		}
	}
}

func TestClock(t *testing.T) {
	at := model.Instant{Wall: time.Date(2026, 11, 29, 4, 14, 7, 0, time.FixedZone("", 3600))}
	if a, b := Clock(at, false), ClockMinute(at, false); a != "03:14:07" || b != "03:14" {
		t.Errorf("%q, %q", a, b)
	}
	if a, b := Clock(model.Instant{}, false), ClockMinute(model.Instant{}, true); a != "–" || b != "-" {
		t.Errorf("never: %q, %q", a, b)
	}
}

func BenchmarkDuration(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Duration(0.812)
	}
}

func TestMeasured(t *testing.T) {
	for u, want := range map[model.Unit]string{
		model.Seconds: "500 ms", model.Ratio: "50.0 %", model.PerSecond: "0.5/s", model.Times: "0.5×", model.Number: "0.5", "": "0.5",
	} {
		if got := Measured(0.5, u); got != want {
			t.Errorf("%s: %q, want %q", u, got, want)
		}
	}
}

// What shrank to next to nothing keeps two digits.
func TestFactor(t *testing.T) {
	for v, want := range map[float64]string{
		3.6: "×3.60", 120: "×120", 0.35: "×0.35", 0.1: "×0.10", 0.0995: "×0.10", 0.064: "×0.064", 0.0099: "×0.0099", 0.00995: "×0.010", 0.0012: "×0.0012",
		0.0004: "×<0.001", 0: "×0.00",
	} {
		if got := Factor(v, false); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if got := Factor(0.064, true); got != "x0.064" {
		t.Errorf("in ASCII %q", got)
	}
}

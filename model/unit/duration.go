package unit

import "math"

const (
	minute = 60.0
	hour   = 60 * minute
	day    = 24 * hour
)

// Duration is a time in at most 11 cells, with two digits below ten of a unit:
// 812 ms, 1.4 s, 12 s, 4 min 12 s, 3 h 05 min, 2 d 04 h.
func Duration(seconds float64) string {
	return signed(seconds, func(s float64) string {
		switch {
		case math.Round(s) < minute:
			return subMinute(s)
		case math.Round(s) < hour:
			return pair(math.Round(s), minute, " min ", " s")
		case math.Round(s/minute)*minute < day:
			return pair(math.Round(s/minute), 60, " h ", " min")
		default:
			return pair(math.Round(s/hour), 24, " d ", " h")
		}
	})
}

// DurationShort is a time in at most 6 cells: 812 ms, 12 s, 4m12s, 3h05m, 2d04h.
func DurationShort(seconds float64) string {
	return signed(seconds, func(s float64) string {
		switch {
		case math.Round(s) < minute:
			if s > 0 && s < 0.001 {
				return shorter(s)
			}
			return subMinute(s)
		case math.Round(s) < hour:
			return pair(math.Round(s), minute, "m", "s")
		case math.Round(s/minute)*minute < day:
			return pair(math.Round(s/minute), 60, "h", "m")
		case math.Round(s/hour)*hour < 100*day:
			return pair(math.Round(s/hour), 24, "d", "h")
		default:
			return fixed(s/day, 0) + "d"
		}
	})
}

// Precise is a time in seconds or milliseconds with three digits, for where one
// number is explained: 33.3 ms, 9.50 s, 160 s.
func Precise(seconds float64) string {
	return signed(seconds, func(s float64) string {
		if s == 0 {
			return "0 s"
		}
		if v := 1000 * s; v < 999.5 {
			return three(v) + " ms"
		}
		return three(s) + " s"
	})
}

func three(v float64) string {
	switch {
	case rounded(v, 2) < 10:
		return fixed(v, 2)
	case rounded(v, 1) < 100:
		return fixed(v, 1)
	default:
		return fixed(v, 0)
	}
}

// Limit is a time that somebody chose, as short as it is exact: 500 ms, 3 s, 7.5 s.
func Limit(seconds float64) string {
	return signed(seconds, func(s float64) string {
		if s < 1 && s > 0 {
			return trimmed(1000*s, 3) + " ms"
		}
		return trimmed(s, 3) + " s"
	})
}

// Period is a longer time that somebody chose, in the largest unit that holds it
// whole: 1 d, 90 min, 45 s.
func Period(seconds float64) string {
	for _, u := range []struct {
		s    float64
		name string
	}{{day, " d"}, {hour, " h"}, {minute, " min"}} {
		if n := seconds / u.s; n >= 1 && n == math.Trunc(n) {
			return fixed(n, 0) + u.name
		}
	}
	return Limit(seconds)
}

func subMinute(s float64) string {
	ms := 1000 * s
	switch {
	case s == 0:
		return "0 s"
	case ms < 0.005:
		return "<0.01 ms"
	case rounded(ms, 2) < 1:
		return fixed(ms, 2) + " ms"
	case rounded(ms, 1) < 10:
		return fixed(ms, 1) + " ms"
	case math.Round(ms) < 1000:
		return fixed(ms, 0) + " ms"
	case rounded(s, 1) < 10:
		return fixed(s, 1) + " s"
	default:
		return fixed(s, 0) + " s"
	}
}

// shorter is a time below a millisecond in 6 cells: 0.4 ms.
func shorter(s float64) string {
	if ms := 1000 * s; ms >= 0.05 {
		return fixed(ms, 1) + " ms"
	}
	return "<.1 ms"
}

// pair writes n small units as large and small ones, the small ones always with
// two digits.
func pair(n, per float64, large, small string) string {
	s := fixed(math.Mod(n, per), 0)
	if len(s) < 2 {
		s = "0" + s
	}
	return fixed(math.Floor(n/per), 0) + large + s + small
}

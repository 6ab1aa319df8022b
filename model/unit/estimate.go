package unit

import (
	"math"
	"strconv"
	"strings"

	"slotop/model"
)

// How much wider than narrow a bracket must be before it is shown with the value,
// and before it is shown instead of the value.
const (
	narrowBracket = 1.2
	wideBracket   = 2.0
)

// marks are the signs of an estimate.
type marks struct{ atMost, dash string }

func marksFor(ascii bool) marks {
	if ascii {
		return marks{"<=", "-"}
	}
	return marks{"≤", "–"}
}

// Estimate is a quantile with what is known of its error: 182 ms where its
// bracket is narrow, ~640 ms (500–750) where it is not, 1.0–2.5 s where the value
// would be a guess, ≤ 0.3 s in the first bucket, > 160 s beyond the last, or the
// word for why there is none. What was read off single observations stands alone.
func Estimate(e model.Estimate, ascii bool) string {
	m := marksFor(ascii)
	lo, hi := e.Lo.Value, e.Hi.Value
	switch shapeOf(e) {
	case absent:
		return e.Value.State.String()
	case beyond:
		return "> " + edge(lo)
	case below:
		return m.atMost + " " + edge(hi)
	case point:
		return Duration(e.Value.Value)
	case around:
		return "~" + withBracket(e.Value.Value, lo, hi, m)
	default:
		return between(lo, hi, m, false)
	}
}

// EstimateShort is Estimate in at most 8 cells: 182 ms, ~640 ms, 1–2.5 s, ≤0.3 s,
// >160 s. A bracket that does not fit loses its blanks and leading zeros, and then
// digits, but always has both ends: .1–.25 s, 50–125ms, 1ms–2.5s.
func EstimateShort(e model.Estimate, ascii bool) string {
	m := marksFor(ascii)
	lo, hi := e.Lo.Value, e.Hi.Value
	switch shapeOf(e) {
	case absent:
		return None(ascii)
	case beyond:
		return ">" + edge(lo)
	case below:
		return m.atMost + edge(hi)
	case point:
		return DurationShort(e.Value.Value)
	case around:
		return "~" + DurationShort(e.Value.Value)
	default:
		if s := between(lo, hi, m, true); Width(s) <= shortCells {
			return s
		}
		return squeezed(lo, hi, m)
	}
}

// shortCells is the room of the short form.
const shortCells = 8

// EstimateIn is EstimateShort, but for a bracket that n cells have room for as it is
// usually written: 100–250 ms instead of .1–.25 s.
func EstimateIn(e model.Estimate, n int, ascii bool) string {
	if shapeOf(e) == wide {
		if s := between(e.Lo.Value, e.Hi.Value, marksFor(ascii), true); Width(s) <= n {
			return s
		}
	}
	return EstimateShort(e, ascii)
}

type shape uint8

const (
	absent shape = iota
	beyond
	below
	point
	around
	wide
)

func shapeOf(e model.Estimate) shape {
	switch {
	case !e.Exists():
		return absent
	case e.Seen && e.Value.OK():
		return point
	case e.Open || !e.Hi.OK():
		if e.Lo.OK() {
			return beyond
		}
		return point
	case !e.Lo.OK() || e.Lo.Value <= 0:
		return below
	}
	switch u := e.Hi.Value / e.Lo.Value; {
	case u > wideBracket*(1+1e-9) || !e.Value.OK():
		return wide
	case u > narrowBracket*(1+1e-9):
		return around
	default:
		return point
	}
}

// edge is a bucket boundary, as it is usually written: 0.3 s, 25 ms, 160 s.
func edge(s float64) string {
	hundredths := math.Abs(100*s-math.Round(100*s)) < 1e-6
	switch {
	case s < 0:
		return signed(s, edge)
	case s >= 10000:
		return trimmed(s/hour, decimalsFor(s/hour)) + " h"
	case s >= 1 || s == 0 || s >= 0.1 && hundredths:
		return trimmed(s, decimalsFor(s)) + " s"
	default:
		return trimmed(1000*s, decimalsFor(1000*s)) + " ms"
	}
}

// withBracket writes the value and its bracket in one unit.
func withBracket(v, lo, hi float64, m marks) string {
	k, name := 1000.0, " ms"
	if rounded(v, 3) >= 1 {
		k, name = 1, " s"
	}
	value := fixed(v*k, 0)
	if rounded(v*k, 1) < 10 {
		value = fixed(v*k, 1)
	}
	return value + name + " (" + trimmed(lo*k, decimalsFor(lo*k)) + m.dash + trimmed(hi*k, decimalsFor(hi*k)) + ")"
}

// between writes a bracket, both ends with the same decimals unless short.
func between(lo, hi float64, m marks, short bool) string {
	k, name := 1000.0, " ms"
	if hi >= 1 {
		k, name = 1, " s"
	}
	lo, hi = lo*k, hi*k
	if lo < 0.05 { // would read 0.0
		return edge(lo/k) + m.dash + edge(hi/k)
	}
	if short {
		return trimmed(lo, decimalsFor(lo)) + m.dash + trimmed(hi, decimalsFor(hi)) + name
	}
	d := max(needed(lo), needed(hi))
	return fixed(lo, d) + m.dash + fixed(hi, d) + name
}

// squeezed writes a wide bracket in 8 cells: in seconds or milliseconds as long as
// both ends are exact, then with a unit each, then rounded outwards.
func squeezed(lo, hi float64, m marks) string {
	exact := func(s string, v float64) bool {
		f, err := strconv.ParseFloat(s, 64)
		return err == nil && math.Abs(f-v) <= 1e-9*v
	}
	last := ""
	for _, u := range scales {
		a, b := bare(trimmed(lo/u.s, 2)), bare(trimmed(hi/u.s, 2))
		if hi/u.s >= 1000 || !exact(a, lo/u.s) || !exact(b, hi/u.s) {
			continue
		}
		for _, name := range []string{" " + u.name, u.name} {
			if s := a + m.dash + b + name; Width(s) <= shortCells {
				return s
			}
		}
	}
	for _, digits := range []int{3, 2, 1} {
		for _, u := range scales {
			a, b := bare(outward(lo/u.s, digits, math.Floor)), bare(outward(hi/u.s, digits, math.Ceil))
			if s := a + m.dash + b + u.name; digits < 3 && Width(s) <= shortCells {
				return s
			}
		}
		last = own(lo, digits, math.Floor) + m.dash + own(hi, digits, math.Ceil)
		if Width(last) <= shortCells {
			return last
		}
	}
	return last
}

// scales are the units of a squeezed bracket, the likeliest first.
var scales = []struct {
	s    float64
	name string
}{{1, "s"}, {0.001, "ms"}, {minute, "m"}, {hour, "h"}}

// own is v in its own unit without a blank: 1ms, 2.5s, 19m.
func own(v float64, digits int, round func(float64) float64) string {
	switch {
	case v < 0.1:
		return bare(outward(v/0.001, digits, round)) + "ms"
	case v < 100:
		return bare(outward(v, digits, round)) + "s"
	case v < 100*minute:
		return bare(outward(v/minute, digits, round)) + "m"
	default:
		return bare(outward(v/hour, digits, round)) + "h"
	}
}

// outward is v > 0 with that many digits, rounded away from the inside of its
// bracket; a value that has no more digits stays as it is.
func outward(v float64, digits int, round func(float64) float64) string {
	decimals := min(max(digits-1-int(math.Floor(math.Log10(v))), 0), 4)
	p := math.Pow10(decimals)
	if n := math.Round(v * p); math.Abs(n-v*p) < 1e-6 {
		return trimmed(n/p, decimals)
	}
	return trimmed(round(v*p)/p, decimals)
}

// bare is a decimal without the zero before its point.
func bare(s string) string {
	if rest, ok := strings.CutPrefix(s, "0."); ok {
		return "." + rest
	}
	return s
}

// decimalsFor is how many decimals three digits leave.
func decimalsFor(v float64) int {
	switch {
	case v >= 100:
		return 0
	case v >= 10:
		return 1
	default:
		return 2
	}
}

// needed is how many decimals v has, of those that three digits leave.
func needed(v float64) int {
	_, after, _ := strings.Cut(trimmed(v, decimalsFor(v)), ".")
	return len(after)
}

// trimmed is v with at most that many decimals and no trailing zeros.
func trimmed(v float64, decimals int) string {
	s := fixed(v, decimals)
	if decimals == 0 || !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Share is a share of requests: 95.0 % where it is exact or known to within a
// point, else the interval it lies in, rounded outwards: 60–90 %, or ≤ 80 % where
// only the most is known.
func Share(s model.Share, ascii bool) string {
	switch {
	case !s.Hi.OK():
		return s.Lo.State.String()
	case !s.Lo.OK():
		return marksFor(ascii).atMost + " " + strconv.Itoa(int(math.Ceil(100*s.Hi.Value-1e-9))) + " %"
	}
	lo, hi := s.Lo.Value, s.Hi.Value
	if hi-lo <= 0.01+1e-12 {
		if s.Point.OK() {
			return Ratio(s.Point.Value)
		}
		return Ratio((lo + hi) / 2)
	}
	from, to := math.Floor(100*lo+1e-9), math.Ceil(100*hi-1e-9)
	return strconv.Itoa(int(from)) + marksFor(ascii).dash + strconv.Itoa(int(to)) + " %"
}

// Promised is a share that somebody chose, as short as it is exact: 95 %, 99.9 %,
// 99.95 %.
func Promised(share float64) string {
	return signed(share, func(r float64) string { return trimmed(100*r, 4) + " %" })
}

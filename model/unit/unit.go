// Package unit writes numbers for people: seconds, bytes, ratios, rates, counts
// and estimates, and makes foreign text safe to print. It is the only formatter.
//
// It decides no colours, draws nothing and pads no tables. Numbers and their unit
// are separated by a plain space. Widths are bounded and stated, so that a column
// can be right-aligned once and its digits stay where they are.
package unit

import (
	"math"
	"strconv"
	"strings"

	"slotop/model"
)

// None stands where there is no number, in a cell too narrow for a word.
func None(ascii bool) string {
	if ascii {
		return "-"
	}
	return "–"
}

// Reading is the number in the given format, or the word for why there is none.
func Reading(r model.Reading, format func(float64) string) string {
	if v, ok := r.Get(); ok {
		return format(v)
	}
	return r.State.String()
}

// fixed is v with that many decimals.
func fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

// rounded is v at that many decimals; formats choose their unit by it, so that
// 0.9996 s is 1.0 s and not 1000 ms.
func rounded(v float64, decimals int) float64 {
	p := math.Pow10(decimals)
	return math.Round(v*p) / p
}

// scaled is v in the largest of the units that leaves at least 1, each base times
// the one before, with two digits below ten.
func scaled(v, base float64, units []string) string {
	i := 0
	for v /= base; math.Round(v) >= base && i < len(units)-1; i++ {
		v /= base
	}
	if rounded(v, 1) < 10 {
		return fixed(v, 1) + units[i]
	}
	return fixed(v, 0) + units[i]
}

var (
	thousands = []string{"k", "M", "G", "T", "P", "E"}
	binary    = []string{" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}
)

// notNumber is what NaN and infinities read as, "" for anything else. They should
// not get here: a Reading holds neither.
func notNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "n/a"
	}
	return ""
}

// signed writes the magnitude, with a sign before it unless it reads as zero.
func signed(v float64, format func(float64) string) string {
	if s := notNumber(v); s != "" {
		return s
	}
	s := format(math.Abs(v))
	if v < 0 && strings.ContainsAny(s, "123456789") {
		return "-" + s
	}
	return s
}

// Count is a number of things in at most 4 cells: 208, 1.2k, 18k.
func Count(n float64) string {
	return signed(n, func(n float64) string {
		if math.Round(n) < 1000 {
			return fixed(n, 0)
		}
		return scaled(n, 1000, thousands)
	})
}

// Integer is a number of things in full: 3696.
func Integer(n float64) string {
	return signed(n, func(n float64) string { return fixed(n, 0) })
}

// Number is a number of no unit in three digits, trailing zeros left out: 0.99,
// 19.6, 1030. What is more than nothing never reads as nothing: <0.01.
func Number(v float64) string {
	return signed(v, func(v float64) string {
		if v > 0 && v < 0.005 {
			return "<0.01"
		}
		return trimmed(v, decimalsFor(v))
	})
}

// Load is a load factor in two decimals: 0.47, 1.46. What is more than nothing never
// reads as nothing: <0.01.
func Load(v float64) string {
	return signed(v, func(v float64) string {
		if v > 0 && v < 0.005 {
			return "<0.01"
		}
		return fixed(v, 2)
	})
}

// Times is by what something was multiplied, in three digits: ×3.60, ×0.99, ×120.
func Times(v float64) string {
	if s := notNumber(v); s != "" {
		return s
	}
	switch {
	case math.Abs(rounded(v, 2)) < 10:
		return "×" + fixed(v, 2)
	case math.Abs(rounded(v, 1)) < 100:
		return "×" + fixed(v, 1)
	default:
		return "×" + Integer(v)
	}
}

// Factor is Times for what may also have shrunk to next to nothing: ×0.35, ×0.064,
// ×0.0064, ×<0.001.
func Factor(v float64, ascii bool) string {
	s := Times(v)
	switch {
	case v > 0 && v < 0.001:
		s = "×<0.001"
	case v > 0 && v < 0.00995:
		s = "×" + fixed(v, 4)
	case v > 0 && v < 0.0995:
		s = "×" + fixed(v, 3)
	}
	if rest, times := strings.CutPrefix(s, "×"); ascii && times {
		return "x" + rest
	}
	return s
}

// More is a change as a share of what was before, with its sign: +260 %, -12 %.
func More(share float64) string {
	if share > 0 && notNumber(share) == "" {
		return "+" + Percent(share)
	}
	return Percent(share)
}

// Rate is a number per second in at most 4 cells: 17.2, 390, 1.8k. What is more
// than nothing never reads as nothing: <0.1.
func Rate(v float64) string {
	return signed(v, func(v float64) string {
		switch {
		case v > 0 && v < 0.05:
			return "<0.1"
		case rounded(v, 1) < 100:
			return fixed(v, 1)
		case math.Round(v) < 1000:
			return fixed(v, 0)
		default:
			return scaled(v, 1000, thousands)
		}
	})
}

// Ratio is a ratio in percent with one decimal: 71.2 %. Only the whole reads
// 100 %, and only nothing reads 0 %; ratios above 1 are not cut.
func Ratio(r float64) string { return percent(r, 1) }

// Percent is a ratio in whole percent: 99 %, with the same promise as Ratio.
func Percent(r float64) string { return percent(r, 0) }

func percent(r float64, decimals int) string {
	return signed(r, func(r float64) string {
		step := math.Pow10(-decimals)
		p := rounded(100*r, decimals)
		switch {
		case r == 0 || r == 1:
			return fixed(p, 0) + " %"
		case p == 0:
			return "<" + fixed(step, decimals) + " %"
		case p == 100 && r < 1:
			p -= step
		}
		return fixed(p, decimals) + " %"
	})
}

// Bytes is a size in binary units: 512 B, 1.5 KiB, 79 GiB.
func Bytes(n float64) string {
	return signed(n, func(n float64) string {
		if math.Round(n) < 1024 {
			return fixed(n, 0) + " B"
		}
		return scaled(n, 1024, binary)
	})
}

// Clock is the time of day in UTC: 03:14:07.
func Clock(at model.Instant, ascii bool) string { return clock(at, "15:04:05", ascii) }

// ClockMinute is the time of day in UTC without seconds: 03:14.
func ClockMinute(at model.Instant, ascii bool) string { return clock(at, "15:04", ascii) }

func clock(at model.Instant, layout string, ascii bool) string {
	if at.IsZero() {
		return None(ascii)
	}
	return at.Wall.UTC().Format(layout)
}

// Measured is a number with its unit, as an alert shows it.
func Measured(v float64, u model.Unit) string {
	switch u {
	case model.Seconds:
		return Duration(v)
	case model.Ratio:
		return Ratio(v)
	case model.PerSecond:
		return Rate(v) + "/s"
	case model.Times:
		return Rate(v) + "×"
	default:
		return Number(v)
	}
}

// Exact is a number as exactly as it is worth copying: nine digits, no exponent, no unit.
func Exact(v float64) string {
	if s := notNumber(v); s != "" {
		return s
	}
	s := strconv.FormatFloat(v, 'g', 9, 64)
	if strings.ContainsRune(s, 'e') {
		rounded, err := strconv.ParseFloat(s, 64)
		if err == nil {
			s = strconv.FormatFloat(rounded, 'f', -1, 64)
		}
	}
	return s
}

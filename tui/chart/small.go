package chart

import (
	"math"
	"time"
)

// Levels of a sparkline.
var (
	sparkLevels = []rune("▁▂▃▄▅▆▇█")
	sparkASCII  = []rune("..::++##")
)

// Spark draws values in n cells, the newest at the right, from 0 to most (0: to
// the largest of them). A cell shows the largest value that falls into it, and
// is blank where there is none.
func Spark(values []float32, n int, most float64, ascii bool) string {
	if n <= 0 {
		return ""
	}
	if most <= 0 {
		most = Largest(values)
	}
	levels := sparkLevels
	if ascii {
		levels = sparkASCII
	}
	out := make([]rune, n)
	for i := range out {
		v := cellValue(values, i, n)
		if math.IsNaN(v) {
			out[i] = ' '
			continue
		}
		f := 0.0
		if most > 0 {
			f = min(v/most, 1)
		}
		out[i] = levels[min(int(f*float64(len(levels))), len(levels)-1)]
	}
	return string(out)
}

// cellValue is the largest value of cell i of n, NaN where there is none. Fewer
// values than cells stay at the right.
func cellValue(values []float32, i, n int) float64 {
	v := math.NaN()
	from, to := i-(n-len(values)), i-(n-len(values))+1
	if len(values) > n {
		from, to = i*len(values)/n, (i+1)*len(values)/n
	}
	for j := max(from, 0); j < to; j++ {
		f := float64(values[j])
		if f < 0 || math.IsNaN(f) {
			continue
		}
		if math.IsNaN(v) || f > v {
			v = f
		}
	}
	return v
}

// Meter draws a ratio as a heavy rule of n cells over a light one: the filled and
// the empty part. It keeps the text's weight, where a bar of blocks would shout.
// Beyond 1 it is full; NaN leaves it empty.
func Meter(ratio float64, n int, ascii bool) (full, empty string) {
	n = max(n, 0)
	if math.IsNaN(ratio) {
		ratio = 0
	}
	ratio = min(max(ratio, 0), 1)
	if ascii {
		k := int(math.Round(ratio * float64(n)))
		return repeat('#', k), repeat('.', n-k)
	}
	halves := int(math.Round(ratio * float64(n) * 2))
	full = repeat('━', halves/2)
	if halves%2 == 1 {
		return full + "╸", repeat('─', n-halves/2-1)
	}
	return full, repeat('─', n-halves/2)
}

func repeat(r rune, n int) string {
	out := make([]rune, max(n, 0))
	for i := range out {
		out[i] = r
	}
	return string(out)
}

// Weight is what an exponentially weighted mean with time constant tau gives to a
// value that comes dt after the last: 1 − e^(−dt/tau). It smooths as much as a
// window of twice tau, and has made 63, 86 and 95 % of a step after one, two and
// three times tau.
func Weight(dt, tau time.Duration) float64 {
	return 1 - math.Exp(-dt.Seconds()/tau.Seconds())
}

// Smooth is the exponentially weighted mean of points that are step apart, for
// the eye: no figure and no judgement is made of it. A gap is a gap, and what
// comes behind it begins anew.
func Smooth(values []float32, step, tau time.Duration) []float32 {
	w := Weight(step, tau)
	out := make([]float32, len(values))
	mean := math.NaN()
	for i, v := range values {
		switch f := float64(v); {
		case math.IsNaN(f) || math.IsInf(f, 0):
			mean = math.NaN()
			out[i] = v
			continue
		case math.IsNaN(mean):
			mean = f
		default:
			mean += w * (f - mean)
		}
		out[i] = float32(mean)
	}
	return out
}

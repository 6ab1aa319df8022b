package paper

import (
	"math"
	"time"
)

// scale maps values to places between two ends, linear or by powers of ten.
type scale struct {
	from, to float64 // values
	a, b     float64 // places
	log      bool
}

func (s scale) at(v float64) float64 {
	if math.IsNaN(v) {
		return v
	}
	f, t := s.from, s.to
	if s.log {
		v, f, t = math.Log10(max(v, s.from)), math.Log10(f), math.Log10(t)
	}
	v = min(max(v, f), t)
	return s.a + (s.b-s.a)*(v-f)/(t-f)
}

func (s scale) all(vs []float64) []float64 {
	out := make([]float64, len(vs))
	for i, v := range vs {
		out[i] = s.at(v)
	}
	return out
}

// nice is the least of 1, 2, 2.5 and 5 times a power of ten that is not below v.
func nice(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 2.5, 5, 10} {
		if v <= k*p*(1+1e-9) {
			return k * p
		}
	}
	return 10 * p
}

// linear is a scale from 0 that holds most, and its ticks.
func linear(most, a, b float64) (scale, []float64) {
	if !(most > 0) || math.IsInf(most, 0) {
		most = 1
	}
	step := nice(most / 4)
	top := step * math.Ceil(most/step-1e-9)
	var ticks []float64
	for i := 0; float64(i)*step <= top*(1+1e-9); i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return scale{from: 0, to: top, a: a, b: b}, ticks
}

// decades is a scale by powers of ten that holds least and most, and its ticks.
func decades(least, most, a, b float64) (scale, []float64) {
	lo, hi := math.Floor(math.Log10(least)+1e-9), math.Ceil(math.Log10(most)-1e-9)
	if hi <= lo {
		hi = lo + 1
	}
	every := max(1, math.Ceil((hi-lo)/5))
	var ticks []float64
	for e := lo; e <= hi; e += every {
		ticks = append(ticks, math.Pow(10, e))
	}
	return scale{from: math.Pow(10, lo), to: math.Pow(10, hi), a: a, b: b, log: true}, ticks
}

// timeSteps are the distances that ticks of a time axis may have.
var timeSteps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour, 28 * 24 * time.Hour,
}

// maxTimeTicks is how many times of day fit under a picture on a phone.
const maxTimeTicks = 5

// timeTicks are full times of day between two instants, and how to write them.
func timeTicks(from, to time.Time) (ticks []time.Time, layout string) {
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if to.Sub(from) <= maxTimeTicks*s {
			step = s
			break
		}
	}
	switch {
	case step < time.Minute:
		layout = "15:04:05"
	case step < 24*time.Hour:
		layout = "15:04"
	default:
		layout = "Jan 2"
	}
	for at := from.UTC().Truncate(step); !at.After(to); at = at.Add(step) {
		if !at.Before(from) {
			ticks = append(ticks, at)
		}
	}
	return ticks, layout
}

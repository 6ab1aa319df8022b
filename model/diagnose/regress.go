package diagnose

import (
	"math"
	"slices"
)

const (
	// maxPoints bounds a robust line: its slopes are those of all pairs.
	maxPoints = 150
	// minPoints is how many requests a line through them needs.
	minPoints = 60
	// leastFit is the R² below which a slope says nothing: what is left is queueing.
	leastFit = 0.05
)

// Line is a robust straight line through points, and how much of their spread it
// explains, 0–1.
type Line struct {
	Slope, Intercept, R2 float64
	N                    int
}

// Explains reports whether the slope may be read at all.
func (l Line) Explains() bool { return l.R2 >= leastFit }

// steeper reports whether the slope grew beyond a fifth and beyond what chance does
// to the two: a slope of R² r has an error of about its √((1/r − 1)/(n − 2))-th part.
func (l Line) steeper(before Line) bool {
	chance := errorsBeyond * math.Hypot(l.chance(), before.chance())
	return l.Slope > flatBy*before.Slope && l.Slope-before.Slope > chance
}

// chance is the standard error of the slope.
func (l Line) chance() float64 {
	return math.Abs(l.Slope) * math.Sqrt((1/max(l.R2, 1e-6)-1)/float64(l.N-2))
}

// TheilSen is the line whose slope is the median of the slopes of all pairs, and
// whose intercept is the median of what it leaves: a few requests that waited do
// not bend it. Of more than 150 points it takes as many, evenly spread. ok is false
// below 60 points, and where all have one x.
func TheilSen(x, y []float64) (line Line, ok bool) {
	x, y = thinned(x), thinned(y)
	if len(x) < minPoints {
		return Line{N: len(x)}, false
	}
	slopes := make([]float64, 0, len(x)*(len(x)-1)/2)
	for i := range x {
		for j := range i {
			if dx := x[i] - x[j]; dx != 0 {
				slopes = append(slopes, (y[i]-y[j])/dx)
			}
		}
	}
	if len(slopes) == 0 {
		return Line{N: len(x)}, false
	}
	line = Line{Slope: median(slopes), N: len(x), R2: explained(x, y)}
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = y[i] - line.Slope*x[i]
	}
	line.Intercept = median(rest)
	return line, true
}

// thinned is at most maxPoints of the values, evenly spread.
func thinned(v []float64) []float64 {
	if len(v) <= maxPoints {
		return v
	}
	out := make([]float64, maxPoints)
	for i := range out {
		out[i] = v[i*len(v)/maxPoints]
	}
	return out
}

// median sorts its argument. NaN of nothing.
func median(v []float64) float64 {
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// explained is the squared correlation of two lists: R² of the straight line.
func explained(x, y []float64) float64 {
	mx, my := sum(x)/float64(len(x)), sum(y)/float64(len(y))
	var xx, xy, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy * xy / (xx * yy)
}

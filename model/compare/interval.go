package compare

import (
	"fmt"
	"math"
	"slices"

	"slotop/model"
	"slotop/model/hist"
	"slotop/model/slo"
)

// interval is what the change may be: the logarithm of a factor, or the difference of
// two shares. Ends that reach into the infinite are not known.
type interval struct {
	point, lo, hi float64 // point is NaN where there is none
	// halfOpen: buckets exclude their lower edge, so that a quantile of the bucket above
	// another is higher, though they touch.
	halfOpen bool
	why      string // why nothing could be told, where that is not the error's size
}

// change is the interval as a factor or a difference.
func (i interval) change(difference bool) Change {
	of := func(v float64) model.Reading {
		if !difference {
			v = math.Exp(v)
			if v == 0 {
				return model.Reading{} // unknown: a factor of 0 is none that anybody measured
			}
		}
		return model.Of(v)
	}
	return Change{Point: of(i.point), Lo: of(i.lo), Hi: of(i.hi)}
}

// effective is how many independent requests say as much as those that were counted:
// n over the design effect, and fewer where that effect was itself seen on few
// stretches, by the ratio of the normal and Student's quantile with df degrees of freedom
// (Korn and Graubard).
func effective(s sampled, df, risk float64) float64 {
	if df < 1 {
		return 0
	}
	k := normal(risk) / student(risk, df)
	return s.n / max(1, s.effect) * k * k
}

// newcombe is the interval of the difference of two shares: method 10, with both ends of
// each share where buckets or missing words leave one open.
func newcombe(a, b sampled, na, nb, risk float64) interval {
	la, ha := shareInterval(a, na, risk)
	lb, hb := shareInterval(b, nb, risk)
	i := interval{point: math.NaN(), lo: math.Inf(-1), hi: math.Inf(1)}
	if a.point.OK() && b.point.OK() {
		i.point = b.point.Value - a.point.Value
	}
	if b.lo.OK() && a.hi.OK() {
		i.lo = b.lo.Value - a.hi.Value - math.Hypot(b.lo.Value-lb.Value, ha.Value-a.hi.Value)
	}
	if b.hi.OK() && a.lo.OK() {
		i.hi = b.hi.Value - a.lo.Value + math.Hypot(hb.Value-b.hi.Value, a.lo.Value-la.Value)
	}
	return i
}

// ofRates is the interval of the ratio of two rates. Given how many were counted in
// both stages, how many of them fell into the second is binomial, with a chance that
// tells the ratio.
func ofRates(a, b sampled, na, nb float64, lasted spans, risk float64) interval {
	i := interval{point: math.NaN(), lo: math.Inf(-1), hi: math.Inf(1)}
	if a.point.Value > 0 && b.point.Value > 0 {
		i.point = math.Log(b.point.Value / a.point.Value)
	}
	// A count of na in na·A/n seconds has the rate of n in A seconds.
	perA, perB := exposure(a, na, lasted.a), exposure(b, nb, lasted.b)
	if !(perA > 0 && perB > 0) {
		i.why = "nothing was counted"
		return i
	}
	z := normal(risk)
	ratio := func(xa, xb float64, end int) float64 {
		lo, hi := slo.Wilson(xb, xa+xb, z)
		p := [2]float64{lo, hi}[end]
		return math.Log(p/(1-p)) + math.Log(perA/perB)
	}
	if b.lo.OK() && a.hi.OK() {
		i.lo = ratio(a.hi.Value*perA, b.lo.Value*perB, 0)
	}
	if b.hi.OK() && a.lo.OK() {
		i.hi = ratio(a.lo.Value*perA, b.hi.Value*perB, 1)
	}
	return i
}

// exposure is for how many seconds independent events would be counted to know a rate as
// well. A count of nothing is taken as the whole of its stage.
func exposure(s sampled, effective, lasted float64) float64 {
	if s.n == 0 {
		return lasted
	}
	return lasted * effective / s.n
}

// rateInterval is the interval of one rate: the score interval of a count, which solves
// (x − m)² = z²·m. Too short a stage to tell the sampling error has none.
func rateInterval(s sampled, n, lasted, risk float64) (lo, hi model.Reading) {
	per := exposure(s, n, lasted)
	if !(per > 0) || !s.hi.OK() {
		return model.Reading{}, model.Reading{}
	}
	z := normal(risk)
	end := func(rate, side float64) float64 {
		x := rate * per
		return max(0, x+z*z/2+side*z*math.Sqrt(x+z*z/4)) / per
	}
	if s.lo.OK() {
		lo = model.Of(end(s.lo.Value, -1))
	}
	return lo, model.Of(end(s.hi.Value, 1))
}

// The edges around a rank in counted latencies. Of single observations they are 2 %
// apart.
type around struct{ lo, hi float64 }

// at is the bucket that holds a rank, counted from 1; hi is infinite beyond the last edge.
func at(c *model.Counted, rank float64) around {
	i, _ := slices.BinarySearch(c.Counts, rank-1e-9)
	i = min(i, len(c.Bounds))
	out := around{0, math.Inf(1)}
	if i > 0 {
		out.lo = c.Bounds[i-1]
	}
	if i < len(c.Bounds) {
		out.hi = c.Bounds[i]
	}
	return out
}

func total(c *model.Counted) float64 {
	if len(c.Counts) == 0 {
		return 0
	}
	return c.Counts[len(c.Counts)-1]
}

// bracket is the bucket that a quantile of what was counted lies in.
func bracket(c *model.Counted, q float64) (lo, hi model.Reading) {
	n := total(c)
	if n == 0 || len(c.Bounds) == 0 {
		return model.Reading{}, model.Reading{}
	}
	b := at(c, max(1e-6, q*n))
	return model.Of(b.lo), model.Of(b.hi)
}

// limits are the edges between which a quantile lies, whatever the distribution: of those
// beyond its bracket the nearest that so few or so many at or below it would be chance
// with half the risk each. NaN where there is none; few says that too few requests had no
// upper one, wherever it lay.
func limits(s sampled, df, risk float64) (lo, hi float64, few bool) {
	lo, hi = math.NaN(), math.NaN()
	c, whole := s.counted, total(s.counted)
	here, _ := slices.BinarySearch(c.Counts, s.q*whole-1e-9)
	effect := 0.0 // where all or none lie on one side of an edge, that of the edge before
	for i := min(here, len(c.Bounds)) - 1; i >= -1; i-- {
		if i < 0 {
			lo = 0 // nothing is below it
			break
		}
		n := s.at(i, &effect, df, risk)
		if l, _ := hist.RanksAt(n, s.q, risk/2); l > 0 && c.Counts[i]/whole*n <= l-1+1e-9 {
			lo = c.Bounds[i]
			break
		}
	}
	effect = 0
	for i := here; i < len(c.Bounds); i++ {
		n := s.at(i, &effect, df, risk)
		_, u := hist.RanksAt(n, s.q, risk/2)
		few = u == 0
		if u > 0 && c.Counts[i]/whole*n >= u-1e-9 {
			hi = c.Bounds[i]
			break
		}
	}
	return lo, hi, few
}

// at is how many independent requests tell what share lies at or below an edge.
func (s sampled) at(edge int, effect *float64, df, risk float64) float64 {
	if e := s.counted.Effects[edge]; e > 0 {
		*effect = e
	}
	s.n, s.effect = total(s.counted), *effect
	return math.Floor(effective(s, df, risk))
}

func quantileInterval(s sampled, df, risk float64) (lo, hi model.Reading) {
	if total(s.counted) == 0 || len(s.counted.Bounds) == 0 {
		return model.Reading{}, model.Reading{}
	}
	l, u, _ := limits(s, df, risk)
	return model.Of(l), model.Of(u)
}

// ofQuantiles is the interval of the ratio of two quantiles. Brackets add up as they
// are, for nothing is random in them; how far the limits lie beyond them is squared and
// added.
func ofQuantiles(a, b sampled, df, risk float64) interval {
	i := interval{point: math.NaN(), lo: math.Inf(-1), hi: math.Inf(1), halfOpen: true}
	if a.point.Value > 0 && b.point.Value > 0 {
		i.point = math.Log(b.point.Value / a.point.Value)
	}
	if total(a.counted) == 0 || total(b.counted) == 0 {
		i.why = "nothing was counted"
		return i
	}
	ba, bb := at(a.counted, a.q*total(a.counted)), at(b.counted, b.q*total(b.counted))
	la, ha, fewA := limits(a, df, risk)
	lb, hb, fewB := limits(b, df, risk)
	if up := math.Log(bb.lo/ba.hi) - math.Hypot(beyond(lb, bb.lo), beyond(ba.hi, ha)); !math.IsNaN(up) {
		i.lo = up
	}
	if down := math.Log(bb.hi/ba.lo) + math.Hypot(beyond(bb.hi, hb), beyond(la, ba.lo)); !math.IsNaN(down) {
		i.hi = down
	}
	if (fewA || fewB) && (math.IsInf(i.lo, -1) || math.IsInf(i.hi, 1)) {
		i.why = fmt.Sprintf("%.0f and %.0f requests, of which many share their fate, are too few", a.n, b.n)
	}
	return i
}

// beyond is the logarithm of hi over lo, 0 where they are the same edge, be it 0 or
// infinite.
func beyond(lo, hi float64) float64 {
	if lo == hi {
		return 0
	}
	return math.Log(hi / lo)
}

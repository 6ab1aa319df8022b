package story

import (
	"math"
	"time"

	"slotop/model"
)

// Axis is the time axis that all series of a story share. Point i covers the Step that
// ends at At(i).
type Axis struct {
	Start  model.Instant
	Step   time.Duration
	N      int           // points
	Poll   time.Duration // between two frames
	Merged int           // how many polls a point stands for at most: 1 is nothing merged
}

// At is the end of point i.
func (a Axis) At(i int) model.Instant { return a.Start.Add(time.Duration(i) * a.Step) }

// Index is the point that covers an instant, within the axis.
func (a Axis) Index(at model.Instant) int { return min(max(a.place(at), 0), max(a.N-1, 0)) }

// place is the point of an instant: the nearest, because polls are a little early or
// late.
func (a Axis) place(at model.Instant) int {
	return int(math.Round(float64(at.Sub(a.Start)) / float64(a.Step)))
}

// Keep says which of several points stays when they are merged into one.
type Keep string

// The ways to merge. Highest and Lowest keep the worst; Last keeps the newest, where
// neither end is worse, and of counts that only grow.
const (
	KeepHighest Keep = "highest"
	KeepLowest  Keep = "lowest"
	KeepLast    Keep = "last"
)

// Point is one value over time with what is known of its error; NaN is unknown.
type Point struct {
	Value  float64
	Lo, Hi float64 // an interval that holds the value; Hi is +Inf beyond the last bucket
	N      float64 // requests it rests on
}

// Known reports whether anything is known.
func (p Point) Known() bool { return !math.IsNaN(p.Value) || !math.IsNaN(p.Lo) }

// rank is what points are compared by: the value, or the least that it can be.
func (p Point) rank() float64 {
	if math.IsNaN(p.Value) {
		return p.Lo
	}
	return p.Value
}

var nowhere = Point{math.NaN(), math.NaN(), math.NaN(), math.NaN()}

// Series is one figure over the axis.
type Series struct {
	Signal string // named after the frame's key: ttft.p95
	Unit   model.Unit
	Keep   Keep
	Wide   bool // it has Lo, Hi and N

	value, lo, hi, n []float64
}

// Len is how many points there are.
func (s *Series) Len() int { return len(s.value) }

// At is point i. Without an interval Lo, Hi and N are unknown.
func (s *Series) At(i int) Point {
	if !s.Wide {
		return Point{s.value[i], math.NaN(), math.NaN(), math.NaN()}
	}
	return Point{s.value[i], s.lo[i], s.hi[i], s.n[i]}
}

// Known reports whether any point is known.
func (s *Series) Known() bool {
	for i := range s.value {
		if s.At(i).Known() {
			return true
		}
	}
	return false
}

// Extreme is the point that the series would keep of all, and its place; ok is false
// where none is known. Of KeepLast it is the last.
func (s *Series) Extreme() (at int, p Point, ok bool) {
	p = nowhere
	for i := range s.value {
		q := s.At(i)
		if !q.Known() || ok && s.better(p, q) {
			continue
		}
		at, p, ok = i, q, true
	}
	return at, p, ok
}

// better reports whether the older of two known points stays.
func (s *Series) better(old, next Point) bool {
	switch s.Keep {
	case KeepHighest:
		return old.rank() >= next.rank()
	case KeepLowest:
		return old.rank() <= next.rank()
	default:
		return false
	}
}

// join is what stays of two points.
func (s *Series) join(old, next Point) Point {
	switch {
	case !next.Known(), old.Known() && s.better(old, next):
		return old
	default:
		return next
	}
}

func (s *Series) set(i int, p Point) {
	for len(s.value) <= i {
		s.push(nowhere)
	}
	p = s.join(s.At(i), p)
	s.value[i] = p.Value
	if s.Wide {
		s.lo[i], s.hi[i], s.n[i] = p.Lo, p.Hi, p.N
	}
}

func (s *Series) push(p Point) {
	s.value = append(s.value, p.Value)
	if s.Wide {
		s.lo, s.hi, s.n = append(s.lo, p.Lo), append(s.hi, p.Hi), append(s.n, p.N)
	}
}

// halve merges points so that of a step twice as long each has one. Point 0 stays
// alone: a point is named by its end.
func (s *Series) halve() {
	n := (len(s.value) + 2) / 2
	for i := range n {
		p := nowhere
		for _, j := range []int{2*i - 1, 2 * i} {
			if j >= 0 && j < len(s.value) {
				p = s.join(p, s.At(j))
			}
		}
		s.value[i] = p.Value
		if s.Wide {
			s.lo[i], s.hi[i], s.n[i] = p.Lo, p.Hi, p.N
		}
	}
	s.value = s.value[:n]
	if s.Wide {
		s.lo, s.hi, s.n = s.lo[:n], s.hi[:n], s.n[:n]
	}
}

// Merged is the series from one point up to before another with at most n points, each of
// as many of its own, for a picture that has no room for more; every is how many.
func (s *Series) Merged(from, to, n int) (points []Point, every int) {
	n, to = max(n, 1), min(to, s.Len())
	every = max(1, (to-from+n-1)/n)
	for i := from; i < to; i += every {
		p := nowhere
		for j := i; j < min(i+every, to); j++ {
			p = s.join(p, s.At(j))
		}
		points = append(points, p)
	}
	return points, every
}

// Subject is a workflow, a target, a pool or a device with its series.
type Subject struct {
	Name   string
	Series []*Series
	Heats  map[string]*model.Heat // by latency: ttft, tpot, e2e; nil where none is known

	heats map[string]*heat
}

// Of is the series of a signal, nil where there is none.
func (s *Subject) Of(signal string) *Series {
	if s == nil {
		return nil
	}
	for _, one := range s.Series {
		if one.Signal == signal {
			return one
		}
	}
	return nil
}

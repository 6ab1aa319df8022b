package sources

import (
	"math"
	"time"
)

// A Prometheus server tells how much counters gained over a span, restarts of their
// processes taken into account. An odometer makes a count of that which only grows,
// as an engine's own would that never restarts.
//
// Gains are asked for from an anchor on, an instant some scrapes ago at which the
// count is known. increase() stretches what it saw between the first and the last
// sample to the whole range. Where the range reaches back one scrape interval
// before the anchor and its length is a whole number of intervals, it holds the
// anchor's own sample and that of each interval since: what it saw is exactly what
// the counter gained between the two instants, and the stretch is known:
//
//	gain = increase(x[now−anchor+interval]) × (now−anchor) / (now−anchor+interval)
//
// (promql/functions.go, extrapolatedRate.) A scrape that is missed in between costs
// nothing; one that is missed at the anchor itself costs up to two intervals' gains of
// that server. A count that begins at 0 is stretched less by the server, and comes out
// up to interval/(now−anchor+interval) too small for that once. VictoriaMetrics counts
// from the sample before the range: there the range begins at the anchor.
type odometer struct {
	anchor, before, last stand
}

// stand is what the counts were at an instant. NaN: there was no such count yet.
type stand struct {
	at time.Time
	n  []float64
}

const (
	// nearestAnchor and farthestAnchor are how many scrape intervals an anchor may lie back. A
	// server that receives its samples from elsewhere has them late, so the counts at
	// an anchor are asked for again when all of them must be in.
	nearestAnchor  = 3
	farthestAnchor = 11
	// longestGap is how many intervals without an answer are asked for in one piece.
	// What was gained before is lost: a gap is a gap.
	longestGap = 40
)

// begin sets the counts that are known to 0 at an instant, from which on gains count.
func (o *odometer) begin(at time.Time) {
	o.anchor = stand{at: at}
	o.before, o.last = o.anchor, o.anchor
}

// resume goes on with the counts as they are after a time that nothing is known of.
func (o *odometer) resume(at time.Time) {
	n := append([]float64(nil), o.last.n...)
	o.anchor = stand{at, n}
	o.before, o.last = o.anchor, o.anchor
}

// rangeFrom is the range to be asked for, given that the range of a server without whole
// gains goes back one interval before the anchor, and the factor that its answer is
// to be multiplied with.
func rangeFrom(since time.Duration, interval time.Duration, wholes bool) (span time.Duration, factor float64) {
	if wholes {
		return since, 1
	}
	span = since + interval
	return span, since.Seconds() / span.Seconds()
}

// settles is the instant at which the counts should be asked for again, to be the
// anchor from then on; ok is false where the anchor is near enough for an answer at
// the given instant.
func (o *odometer) settles(now time.Time, interval time.Duration) (at time.Time, ok bool) {
	since := now.Sub(o.anchor.at)
	if since <= farthestAnchor*interval {
		return at, false
	}
	return o.anchor.at.Add((since - nearestAnchor*interval) / interval * interval), true
}

// settle moves the anchor to an instant, given the gains since the one before.
func (o *odometer) settle(at time.Time, gained []float64, factor float64) {
	o.anchor = o.anchor.plus(at, gained, factor)
}

// take notes the gains from the anchor up to an instant. A count is never taken back,
// also where the first answer for an instant proves to have been too large.
func (o *odometer) take(at time.Time, gained []float64, factor float64) {
	next := o.anchor.plus(at, gained, factor)
	for i, was := range o.last.n {
		if was > next.n[i] || math.IsNaN(next.n[i]) {
			next.n[i] = was
		}
	}
	o.before, o.last = o.last, next
}

// walk takes the gains since the last answer. The counts before it become the anchor:
// the past is all there.
func (o *odometer) walk(at time.Time, gained []float64, factor float64) {
	o.anchor = o.last
	o.take(at, gained, factor)
}

// zero makes the counts begin with the last answer.
func (o *odometer) zero() {
	n := make([]float64, len(o.last.n))
	for i, v := range o.last.n {
		n[i] = o.anchor.of(i)
		if !math.IsNaN(v) {
			n[i], o.last.n[i] = zeroIfNaN(n[i])-v, 0
		}
	}
	o.anchor.n, o.before = n, o.last
}

func (s stand) plus(at time.Time, gained []float64, factor float64) stand {
	next := stand{at, make([]float64, max(len(s.n), len(gained)))}
	for i := range next.n {
		next.n[i] = s.of(i)
		if i < len(gained) && !math.IsNaN(gained[i]) {
			next.n[i] = zeroIfNaN(next.n[i]) + gained[i]*factor
		}
	}
	return next
}

func (s stand) of(i int) float64 {
	if i >= len(s.n) {
		return math.NaN()
	}
	return s.n[i]
}

// like gives count i the value that another has, at every instant that is
// remembered: that of a bucket bound which nobody knew of is what the next lower
// bound shows.
func (o *odometer) like(i, other int) {
	for _, s := range []*stand{&o.anchor, &o.before, &o.last} {
		for len(s.n) <= i {
			s.n = append(s.n, math.NaN())
		}
		s.n[i] = s.of(other)
	}
}

// at is count i at an instant between the last two answers, NaN where there is no
// such count yet. What was gained between two scrapes is taken to have come evenly.
func (o *odometer) at(i int, t time.Time) float64 {
	last := o.last.of(i)
	span := o.last.at.Sub(o.before.at)
	if math.IsNaN(last) || span <= 0 || !t.Before(o.last.at) {
		return last
	}
	first := zeroIfNaN(o.before.of(i))
	return first + (last-first)*max(0, t.Sub(o.before.at).Seconds())/span.Seconds()
}

func zeroIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Hosting is how a hosted provider answers: nobody sees its engines. The first token
// takes so long for any prompt, and more for each of its tokens.
type Hosting struct {
	Intercept float64 // seconds
	Slope     float64 // seconds a prompt token
	TPOT      float64 // seconds a token
}

// Spreads of the provider's times over requests, as standard deviations of the log.
const (
	interceptSpread = 0.2
	slopeSpread     = 0.05
	tpotSpread      = 0.1
)

// worstGap is the longest time between two tokens over the mean one.
const worstGap = 2.5

// provider answers each request for itself: the service's own load makes it no slower.
type provider struct {
	sim      *Sim
	random   *rand.Rand
	hosting  Hosting    // in force now
	underway []*request // by what happens to them next
}

// accept takes a request, and fixes what will become of it.
func (p *provider) accept(q *request, now time.Duration) {
	spread := func(s float64) float64 { return math.Exp(product(s, p.random.NormFloat64())) }
	wait := product(p.hosting.Intercept, spread(interceptSpread)) +
		product(p.hosting.Slope*float64(q.prompt), spread(slopeSpread))
	per := p.hosting.TPOT * spread(tpotSpread)
	q.received, q.scheduled = now, now
	q.due = now + seconds(wait)
	q.done = q.due + seconds(per*float64(q.output-1))
	if q.output > 1 {
		q.worst = seconds(worstGap * per)
	}
	p.put(q)
}

func (p *provider) put(q *request) {
	i := len(p.underway)
	for i > 0 && p.underway[i-1].due > q.due {
		i--
	}
	p.underway = slices.Insert(p.underway, i, q)
}

func (p *provider) next() time.Duration {
	if len(p.underway) == 0 {
		return never
	}
	return p.underway[0].due
}

// turn gives a request its first token, or its last.
func (p *provider) turn(now time.Duration) {
	q := p.underway[0]
	p.underway = slices.Delete(p.underway, 0, 1)
	if q.first == 0 {
		q.first, q.generated, q.due = now, 1, q.done
		p.put(q)
		return
	}
	q.generated = q.output
	outcome := Stopped
	if q.limited {
		outcome = LengthReached
	}
	p.sim.ended(-1, q, now, outcome, Answered)
}

// shift makes the provider slower by the factors of an incident.
func (p *provider) shift(c Shift) {
	p.hosting.Intercept *= defaulted(c.Intercept, 1)
	p.hosting.TPOT *= defaulted(c.TPOT, 1)
}

package sources

import (
	"context"
	"math"
	"strings"
	"time"

	"slotop/sources/dialect"
)

// Engines may differ in the bounds of a histogram, such as two versions of one. Only at
// bounds that all of them have can their counts be added: at any other the sum lacks
// the engines without it, and would pass for requests that were not as fast.

// bounds asks how many engines have each bound of a classic histogram.
func (q *promQL) bounds(r *dialect.Read) string {
	each := q.selector(r.Names[0], r.Match)
	for _, name := range r.Names[1:] {
		each += " or " + q.selector(name, r.Match)
	}
	return q.all(r, "count", each)
}

// askBounds looks at the bounds of one histogram, the one that was not looked at for
// the longest time, where nothing else but the refresh itself had to be asked.
func (p *prometheus) askBounds(ctx context.Context, q *asking) error {
	if q.bounds == nil {
		q.bounds = p.unbounded(q.at)
	}
	if q.bounds == nil {
		return nil
	}
	return p.lookAtBounds(ctx, q.bounds, q.at)
}

// lookAtBounds asks for the bounds of a histogram. What cannot be had is asked for
// again when it is its turn.
func (p *prometheus) lookAtBounds(ctx context.Context, t *track, at time.Time) error {
	answer, err := p.instant(ctx, tagged(p.promQL.bounds(&t.read), t.tag), at)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.bounded = at; err != nil {
		return nil
	}
	p.answerTo([]*track{t}, answer.vector)
	t.keepCommon()
	return nil
}

// unbounded is the histogram whose bounds should be looked at next, nil for none.
func (p *prometheus) unbounded(at time.Time) *track {
	var next *track
	for _, t := range p.counts {
		if !t.read.Buckets || t.instead != nil || t.asked.IsZero() || at.Sub(t.bounded).Abs() < lookEvery {
			continue
		}
		if next == nil || t.bounded.Before(next.bounded) {
			next = t
		}
	}
	return next
}

// keepCommon takes the bounds off the page that not all engines have, given how many
// have each.
func (t *track) keepCommon() {
	most := map[int]float64{}
	for i, r := range t.rows {
		if n := t.got[i]; n > most[r.group] {
			most[r.group] = n
		}
	}
	t.uneven = false
	for i, r := range t.rows {
		if most[r.group] == 0 || math.IsInf(r.bound, 1) { // nobody is there to tell
			continue
		}
		rare := !(t.got[i] >= most[r.group])
		t.uneven = t.uneven || rare
		t.give(i, rare)
	}
}

// give takes a bound off the page, or puts it back.
func (t *track) give(row int, up bool) {
	if r := &t.rows[row]; r.gone != up {
		r.gone, t.on.stale = up, true
	}
}

// unevenly names the histograms whose bounds differ among engines.
func (f *promFleet) unevenly() []string {
	var names []string
	for _, t := range f.counts {
		if t.uneven {
			names = append(names, strings.TrimSuffix(t.read.Names[0], "_bucket"))
		}
	}
	return names
}

package sources

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// scrape is one sample of a counter, and when the server can be asked for it.
type scrape struct {
	at, visible time.Duration
	v           float64
}

// increaseOf is increase(x[span]) at an instant, asked at a moment, as Prometheus
// computes it: promql/functions.go, extrapolatedRate, 2.42.
func increaseOf(scrapes []scrape, at, span, asked time.Duration) float64 {
	var in []scrape
	for _, s := range scrapes {
		if s.at >= at-span && s.at <= at && s.visible <= asked {
			in = append(in, s)
		}
	}
	if len(in) < 2 {
		return math.NaN()
	}
	gained, last := in[len(in)-1].v-in[0].v, in[0].v
	for _, s := range in[1:] {
		if s.v < last {
			gained += last
		}
		last = s.v
	}
	first, end := in[0], in[len(in)-1]
	sampled := (end.at - first.at).Seconds()
	toStart, toEnd := (first.at - (at - span)).Seconds(), (at - end.at).Seconds()
	if gained > 0 && first.v >= 0 {
		toStart = min(toStart, sampled*first.v/gained)
	}
	usual := sampled / float64(len(in)-1)
	stretched := sampled
	for _, edge := range []float64{toStart, toEnd} {
		if edge < usual*1.1 {
			stretched += edge
		} else {
			stretched += usual / 2
		}
	}
	return gained * stretched / sampled
}

// drive follows one counter for a while as the live source does. It returns what was
// counted from an instant on, up to the last anchor and up to the end.
func drive(scrapes []scrape, interval, from, to time.Duration) (settled float64, until time.Duration, shown float64) {
	epoch := time.Unix(1_800_000_000, 0)
	var o odometer
	o.begin(epoch.Add(from))
	ask := func(at time.Time, asked time.Duration) ([]float64, float64) {
		span, factor := rangeFrom(at.Sub(o.anchor.at), interval, false)
		return []float64{increaseOf(scrapes, at.Sub(epoch), span, asked)}, factor
	}
	for at := from + (nearestAnchor+1)*interval; at <= to; at += interval {
		got, factor := ask(epoch.Add(at), at)
		o.take(epoch.Add(at), got, factor)
		if then, ok := o.settles(epoch.Add(at), interval); ok {
			got, factor := ask(then, at)
			o.settle(then, got, factor)
		}
	}
	return o.anchor.of(0), o.anchor.at.Sub(epoch), o.last.of(0)
}

// Whatever a server's scrapes look like, the counts must grow by what its counters
// gained: exactly where no scrape is lost, and nearly so where some are.
func TestOdometerCountsWhatWasGained(t *testing.T) {
	const interval, from, to = 15 * time.Second, 5 * time.Minute, 35 * time.Minute
	for _, c := range []struct {
		what    string
		missed  float64       // share of scrapes
		late    time.Duration // until a sample can be asked for
		restart bool
		within  float64
	}{
		{what: "steady", within: 1e-9},
		{what: "late", late: 40 * time.Second, within: 1e-9},
		// What came between the last scrape of the old process and its end is nobody's.
		{what: "restarted", restart: true, within: 0.01},
		// A scrape that is missed at an anchor costs up to two intervals' gains.
		{what: "missed", missed: 0.1, within: 0.03},
	} {
		t.Run(c.what, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			counted, gained := 0.0, 0.0
			for range 50 {
				scrapes, truth := scrapesOf(rng, interval, to, c.missed, c.late, c.restart)
				settled, until, shown := drive(scrapes, interval, from, to)
				counted, gained = counted+settled, gained+truth(until)-truth(from)
				if off := shown/(truth(to)-truth(from)) - 1; c.late == 0 && c.missed == 0 && !c.restart && math.Abs(off) > c.within {
					t.Errorf("the last answer is %.3g off", off)
				}
			}
			if off := math.Abs(counted/gained - 1); off > c.within {
				t.Errorf("counted %.1f where %.1f were gained: %.3g off, want at most %g", counted, gained, off, c.within)
			}
		})
	}
}

// scrapesOf are those of one counter, and what it had counted by its last scrape before
// an instant, had it never begun anew.
func scrapesOf(rng *rand.Rand, interval, to time.Duration, missed float64, late time.Duration, restart bool) (all []scrape, truth func(time.Duration) float64) {
	var at []time.Duration
	var counted []float64
	v, sum, dies := 5000+rng.Float64()*1e5, 0.0, to/4+time.Duration(rng.Int64N(int64(to/2)))
	for when := time.Duration(rng.Int64N(int64(interval))); when <= to; when += interval {
		step := 100 + rng.Float64()*200
		if when > to/2 {
			step *= 10 // traffic that changes
		}
		if restart && when-interval < dies && dies <= when {
			v = 0
		}
		v, sum = v+step, sum+step
		at, counted = append(at, when), append(counted, sum)
		if rng.Float64() >= missed {
			all = append(all, scrape{when, when + late, v})
		}
	}
	return all, func(until time.Duration) float64 {
		last := 0.0
		for i, when := range at {
			if when <= until {
				last = counted[i]
			}
		}
		return last
	}
}

// A count is never taken back, and between two answers it moves evenly.
func TestOdometerNeverGoesBack(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	var o odometer
	o.begin(at)
	o.take(at.Add(10*time.Second), []float64{100, math.NaN()}, 1)
	if v := o.at(0, at.Add(5*time.Second)); v != 50 {
		t.Errorf("halfway %v, want 50", v)
	}
	if v := o.at(1, at.Add(5*time.Second)); !math.IsNaN(v) {
		t.Errorf("a count that nobody knows is %v", v)
	}
	o.take(at.Add(20*time.Second), []float64{80, 7}, 1) // the first answer was too large
	if v := o.at(0, at.Add(20*time.Second)); v != 100 {
		t.Errorf("it went back to %v", v)
	}
	if v := o.at(1, at.Add(15*time.Second)); v != 3.5 {
		t.Errorf("a new count is %v halfway, want 3.5", v)
	}
	if v := o.at(0, at.Add(-time.Hour)); v != 100 {
		t.Errorf("before the last two answers it is %v", v)
	}
	o.zero()
	if v := o.at(0, at.Add(20*time.Second)); v != 0 {
		t.Errorf("begun anew it is %v", v)
	}
	o.take(at.Add(30*time.Second), []float64{130, 9}, 1)
	if a, b := o.at(0, at.Add(30*time.Second)), o.at(1, at.Add(30*time.Second)); a != 30 || b != 2 {
		t.Errorf("after that %v and %v, want 30 and 2", a, b)
	}
}

// A server whose range holds the sample before it needs no factor.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		wholes bool
		span   time.Duration
		factor float64
	}{{false, 75 * time.Second, 0.8}, {true, time.Minute, 1}} {
		span, factor := rangeFrom(time.Minute, 15*time.Second, c.wholes)
		if span != c.span || factor != c.factor {
			t.Errorf("%v: %v × %v, want %v × %v", c.wholes, span, factor, c.span, c.factor)
		}
	}
}

package sources

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"slotop/model"
)

// The pace of polls. All of it is arithmetic on the run's own clock; run.go
// holds the timers.
const (
	// secondPoll follows the first good one early: only then is there a rate.
	secondPoll = 500 * time.Millisecond
	// firstRetry is short because a first failure is often a restart or a lost packet.
	firstRetry = time.Second
	// slowRetry is the longest wait after failures, and the usual one where only
	// a person can help.
	slowRetry = 30 * time.Second
	// jitterShare spreads retries, so that a fleet that failed as one does not
	// come back as one.
	jitterShare = 0.2
	// firstSpread is the time over which a fleet's first polls are spread, and
	// firstStep the most that two targets are apart in it.
	firstSpread = 400 * time.Millisecond
	firstStep   = time.Millisecond
	// never is no time at all: a poll is under way, or the source has ended.
	never = time.Duration(math.MaxInt64)
)

// pace says when one target is polled next.
type pace struct {
	every time.Duration
	phase time.Duration // polls lie on phase + k × every
	good  int           // good polls so far
	fails int           // failures since the last of them
	rng   *rand.Rand    // its own: what others do must not change its jitter
}

func newPace(id model.TargetID, every time.Duration, seed uint64) pace {
	h := fnv.New64a()
	h.Write([]byte(id))
	// Likely names differ in their last digits only, which the hash leaves in its
	// low bits; the multiplication carries them up.
	mixed := (h.Sum64() ^ h.Sum64()>>32) * 0x9e3779b97f4a7c15
	return pace{
		every: every,
		phase: time.Duration(mixed>>1) % every,
		rng:   rand.New(rand.NewPCG(seed, mixed)),
	}
}

// firstPoll is when target i of n is polled first.
func firstPoll(i, n int) time.Duration {
	return time.Duration(i) * min(firstStep, firstSpread/time.Duration(n))
}

// afterGood is the next poll after one that started and ended well.
func (p *pace) afterGood(started, ended time.Duration) time.Duration {
	p.fails = 0
	if p.good++; p.good == 1 && p.every > secondPoll {
		return ended + secondPoll
	}
	// A poll that came off the grid is not followed by the next point at once.
	return max(p.point(started+p.every/2), p.point(ended))
}

// point is the first point of the grid after t.
func (p *pace) point(t time.Duration) time.Duration {
	k := (t - p.phase) / p.every
	if t >= p.phase {
		k++
	}
	return p.phase + k*p.every
}

// afterFault is the next poll after a failed one.
func (p *pace) afterFault(kind model.FaultKind, ended time.Duration) time.Duration {
	p.fails++
	longest := max(slowRetry, p.every)
	wait := min(firstRetry, p.every)
	switch {
	case p.fails > 1 && needsPerson(kind):
		wait = longest
	case p.fails > 1:
		wait = min(longest, wait<<min(p.fails-1, 10))
	}
	jitter := 1 - jitterShare + 2*jitterShare*p.rng.Float64()
	return ended + time.Duration(float64(wait)*jitter)
}

// needsPerson reports whether asking again soon cannot help.
func needsPerson(kind model.FaultKind) bool {
	switch kind {
	case model.Denied, model.NotFound, model.Certificate, model.Redirected,
		model.NotMetrics, model.Oversized, model.UnsupportedPage:
		return true
	case model.Refused, model.Timeout, model.Malformed:
		return false
	}
	return false
}

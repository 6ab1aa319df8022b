package fleet

import (
	"cmp"
	"time"

	"slotop/model"
)

// Some targets pass on what they read themselves, a Prometheus server above all:
// between two of its scrapes nothing new can be known.

// steps is how many steps of a server a window holds at least: a rate over fewer
// is as much chance as it is traffic.
const steps = 4

// noteTook keeps how long a poll took. Between two steps nothing is asked and a poll
// takes no time, so it is the longest of two steps.
func (t *target) noteTook(at model.Instant, took time.Duration) {
	if took >= t.took || at.Sub(t.tookAt) > 2*t.step() {
		t.took, t.tookAt = took, at
	}
}

// kind is what the target is: what a look showed, or what its address says.
func (t *target) kind() string {
	if t.about == nil {
		return t.spec.Kind
	}
	return cmp.Or(t.about.Kind, t.spec.Kind)
}

// step is the time between two points of what the target passes on, 0 where every
// poll is new.
func (t *target) step() time.Duration {
	if t.about == nil {
		return 0
	}
	return seconds(t.about.StepS)
}

// longestStep is the longest step of those that tell of requests. How often GPUs
// are sampled, or targets looked for, says nothing about the window of a percentile.
func (f *Fleet) longestStep() time.Duration {
	longest := time.Duration(0)
	for _, t := range f.targets {
		switch t.kind() {
		case model.GPUTarget, model.FinderTarget:
		default:
			longest = max(longest, t.step())
		}
	}
	return longest
}

// spanned is the window of a frame's figures: the one chosen, or as long as it
// takes to hold enough steps.
func (f *Fleet) spanned() time.Duration {
	return min(max(f.window, steps*f.longestStep()), max(f.window, f.reach))
}

// skew is how many seconds the other side's clock is ahead of ours: unknown where
// it showed none, 0 where the difference is no more than the error of looking.
func skew(at model.Instant, b *model.Batch) model.Reading {
	if b.Clock.IsZero() {
		return model.Reading{}
	}
	// It answered some time within the poll, and the stamp is that of its end.
	ahead := b.Clock.Sub(at.Wall.Add(-b.Took / 2))
	if ahead.Abs() <= b.ClockError+b.Took/2 {
		return model.Of(0)
	}
	return model.Of(ahead.Seconds())
}

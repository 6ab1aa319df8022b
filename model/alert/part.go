package alert

import (
	"slices"

	"slotop/model"
)

// parted is what the last word on an alert is whose target went.
const parted = "not watched any more"

// Part ends what the book holds of a target that is not watched any more: nobody
// will observe it again. What fires of it is resolved at once, and says why. A
// group goes on without it, and ends with its last member.
func (b *Book) Part(target string, at model.Instant) {
	for _, r := range b.order {
		if slices.Contains(r.covers, target) {
			rest := slices.DeleteFunc(slices.Clone(r.covers), func(m string) bool { return m == target })
			b.cover(r, rest)
			if len(rest) == 0 {
				b.release(r, at)
			}
		}
		if r.target == target {
			b.release(r, at)
		}
	}
}

// release resolves an alert whatever its rule waits for.
func (b *Book) release(r *row, at model.Instant) {
	rule := r.by
	rule.Hold = 0
	if r.status.State == model.AlertFiring {
		r.text = parted
	}
	b.enter(r, rule.step(r.status, recovered, model.Reading{}, at), at)
	r.tick, r.seen = b.tick, at
}

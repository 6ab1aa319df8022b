package fleet

import (
	"slices"

	"slotop/model"
)

// watch begins with a target. One that is watched already stays as it is: its past
// is worth more than a second beginning.
func (f *Fleet) watch(spec model.Target) {
	if f.byID[spec.ID] != nil {
		return
	}
	t := newTarget(spec, f.reach)
	if !f.stages.from.IsZero() {
		t.marked = []float64{} // what it counts from its first page on is of the open stage
	}
	f.targets = append(f.targets, t)
	f.byID[spec.ID] = t
}

// leave ends with a target. What its workflows were judged by stays theirs; its
// part of the window goes with it, and so do its alerts; of the open stage it stays.
func (f *Fleet) leave(id model.TargetID, at model.Instant) {
	t := f.byID[id]
	if t == nil {
		return
	}
	delete(f.byID, id)
	f.stages.part(t)
	f.targets = slices.DeleteFunc(f.targets, func(o *target) bool { return o == t })
	f.book.Part(t.spec.Name, at)
	for _, gone := range f.devices.leave(t) {
		f.book.Part(gone, at)
	}
}

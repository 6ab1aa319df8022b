package tape

import (
	"time"

	"slotop/model"
)

// This file is what stands around a batch: targets that come, and the time that it
// was on the other side.

// joins writes a target that is watched from here on.
func (e *encoder) joins(t *model.Target) {
	e.string(string(t.ID))
	e.string(t.Name)
	e.string(t.Kind)
	e.bool(t.Simulated)
	e.string(t.GPUs)
}

func (d *decoder) joins() *model.Target {
	return &model.Target{ID: model.TargetID(d.string()), Name: d.string(), Kind: d.string(), Simulated: d.bool(), GPUs: d.string()}
}

// clock writes what time it was on the other side, whatever century that is.
func (e *encoder) clock(b *model.Batch) {
	e.bool(!b.Clock.IsZero())
	if !b.Clock.IsZero() {
		e.int(b.Clock.Unix())
		e.uint(uint64(b.Clock.Nanosecond()))
	}
	e.int(int64(b.ClockError))
}

func (d *decoder) clock(b *model.Batch) {
	if d.bool() {
		s, ns := d.int(), d.uint()
		if ns >= 1e9 {
			d.fail()
			return
		}
		b.Clock = time.Unix(s, int64(ns)).UTC()
	}
	b.ClockError = time.Duration(d.int())
}

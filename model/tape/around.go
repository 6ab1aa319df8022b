package tape

import (
	"time"

	"slotop/model"
)

// This file is what stands around a batch: targets that come, what somebody tells of,
// and the time that it was on the other side.

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

// note writes an annotation.
func (e *encoder) note(n *model.Annotation) {
	e.time(n.At)
	e.string(n.Text)
}

func (d *decoder) note() *model.Annotation {
	return &model.Annotation{At: d.time(), Text: d.text()}
}

// time writes a time of whatever century, or that there is none.
func (e *encoder) time(t time.Time) {
	e.bool(!t.IsZero())
	if !t.IsZero() {
		e.int(t.Unix())
		e.uint(uint64(t.Nanosecond()))
	}
}

func (d *decoder) time() time.Time {
	if !d.bool() {
		return time.Time{}
	}
	s, ns := d.int(), d.uint()
	if ns >= 1e9 {
		d.fail()
		return time.Time{}
	}
	return time.Unix(s, int64(ns)).UTC()
}

// clock writes what time it was on the other side.
func (e *encoder) clock(b *model.Batch) {
	e.time(b.Clock)
	e.int(int64(b.ClockError))
}

func (d *decoder) clock(b *model.Batch) {
	b.Clock = d.time()
	b.ClockError = time.Duration(d.int())
}

package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/steptime"
)

// This file says how much of its accelerators each engine uses: by hardware
// counters, by the engine's own estimate, and by what its model's shape and its
// rates come to. An estimate is called one, and what is not known stays unknown.

const (
	// trailStep and trailPoints make the past of an operating point: ten minutes.
	trailStep   = 10 * time.Second
	trailPoints = 60
)

// utilizer is what is remembered of one engine's utilization.
type utilizer struct {
	of    made
	block int64         // in which the view was made, by blocks of its own
	heard time.Duration // when its GPUs' counters were read last
	view  model.UtilizationView
	trail []model.PointView // frames hold parts of it: what is in it is never written again
	last  int64             // when the last point was added, in steps
	model served
	means [len(counterBases)]recentMeans
}

// made is what a view was made of: while it is the same, so is the view.
type made struct {
	standing
	polls int
	heard time.Duration // when one of its GPUs was last told of
	step  time.Duration
	fit   *steptime.Fit
}

// standing is what a view must not be older than.
type standing struct {
	fresh, paired bool // it answers, and often enough for a rate
	span          time.Duration
	gpus, stale   int
}

// Of more targets than few a view is made anew once in a trailStep only, each at a
// time of its own: nobody reads a thousand, and they must not cost a core.
const few = 100

// seeUtilization puts on the frame how much of its accelerators each engine uses
// that is read directly.
func (f *Fleet) seeUtilization(fr *model.Frame) {
	on := f.runningOn()
	fr.Utilization = []model.UtilizationView{}
	for i, t := range f.targets {
		if t.kind() == model.EngineTarget {
			fr.Utilization = append(fr.Utilization, t.utilized(f, fr.At, i, on[t]))
		}
	}
}

// runningOn are the devices that each engine runs on.
func (f *Fleet) runningOn() map[*target][]*device {
	if len(f.devices.list) == 0 {
		return nil
	}
	on := map[*target][]*device{}
	for _, d := range f.devices.list {
		for _, j := range d.joints {
			on[j.engine] = append(on[j.engine], d)
		}
	}
	for t, list := range on {
		on[t] = undivided(list)
	}
	return on
}

// undivided leaves out a GPU of which slices are listed as well: they are the
// devices that the engine has.
func undivided(list []*device) []*device {
	if !slices.ContainsFunc(list, func(d *device) bool { return d.parent != nil }) {
		return list
	}
	whole := func(d *device) bool {
		return slices.ContainsFunc(list, func(o *device) bool { return o.parent == d })
	}
	return slices.DeleteFunc(slices.Clone(list), whole)
}

// utilized is the i-th target's view, made anew only where something moved.
func (t *target) utilized(f *Fleet, at model.Instant, i int, on []*device) model.UtilizationView {
	u := t.use
	if u == nil {
		u = &utilizer{last: int64(at.Mono / trailStep)}
		t.use = u
	}
	now := t.madeOf(f.span, on)
	if now.heard != u.heard {
		u.read(now.heard, on)
	}
	block := int64((at.Mono + time.Duration(i%10)*trailStep/10) / trailStep)
	due := now.standing != u.of.standing || len(f.targets) <= few || block != u.block
	if now != u.of && due || u.view.Target == "" {
		u.of, u.block = now, block
		u.view = u.see(t, f, on)
	}
	u.walk(at)
	v := u.view
	v.Trail = u.recent()
	return v
}

func (t *target) madeOf(span time.Duration, on []*device) made {
	fit, _ := t.stepFit()
	m := made{
		standing: standing{fresh: t.fresh(), paired: t.elapsed > 0, span: span, gpus: len(on)},
		polls:    t.good, step: t.stepNow().At.Mono, fit: fit,
	}
	for _, d := range on {
		m.heard = max(m.heard, d.heard().Mono)
		if d.view.Stale {
			m.stale++
		}
	}
	return m
}

// walk adds the points that are due. What is skipped is a gap.
func (u *utilizer) walk(at model.Instant) {
	i := int64(at.Mono / trailStep)
	due := min(i-u.last, trailPoints)
	u.last = max(u.last, i)
	for ; due > 0; due-- {
		p := model.PointView{}
		if due == 1 && u.view.Point != nil {
			p = *u.view.Point
		}
		if len(u.trail) == 0 && !p.FLOPs.OK() {
			continue // a trail begins with what is known
		}
		u.append(p)
	}
}

// append adds a point. Once the memory is used up the recent points move to another.
func (u *utilizer) append(p model.PointView) {
	if len(u.trail) == cap(u.trail) {
		moved := make([]model.PointView, 0, 3*trailPoints)
		u.trail = append(moved, u.recent()...)
	}
	u.trail = append(u.trail, p)
}

func (u *utilizer) recent() []model.PointView {
	from := max(0, len(u.trail)-trailPoints)
	return u.trail[from:len(u.trail):len(u.trail)]
}

// see makes the view.
func (u *utilizer) see(t *target, f *Fleet, on []*device) model.UtilizationView {
	e := &engineUse{t: t, on: on, means: &u.means, heard: u.heard, served: u.model.lookUp(t, f.policy.Models)}
	e.identify(f.hardwareOf(t))
	e.measure()
	v := model.UtilizationView{
		Target: t.spec.Name, Models: e.served.names,
		GPUs: model.Of(e.gpus), Busy: busyOf(on),
		Measures: []model.MeasureView{}, Missing: []string{},
	}
	e.seeMachine(&v)
	e.seeMeasures(&v)
	if v.Step = t.splitStep(); v.Step != nil {
		v.Step.Floor = e.floor()
	}
	e.judge(&v)
	v.Missing = append(v.Missing, e.missing...)
	return v
}

// seeMachine says what the figures rest on.
func (e *engineUse) seeMachine(v *model.UtilizationView) {
	if s := e.served.shape; s != nil {
		v.Shape, v.ShapeFrom = model.Text(s.Model), model.Text(s.From)
	}
	v.Device, v.DeviceFrom = model.Text(e.product), model.Text(e.from)
	v.Confidence, v.PeakNote = model.Text(e.confidence), model.Text(e.note)
	v.PeakFLOPs, v.PeakBytes = model.Of(e.roof.FLOPs), model.Of(e.roof.Bytes)
	if v.PeakFLOPs.OK() {
		v.Precision = model.Text(e.precision)
	}
	v.Ridge = model.Of(e.roof.Ridge())
}

// busyOf is the mean share of time in which kernels ran on the devices.
func busyOf(on []*device) model.Reading {
	n, total := 0.0, 0.0
	for _, d := range on {
		if r := d.view.Values[model.Busy]; r.OK() && !d.view.NotCredible {
			n, total = n+1, total+r.Value
		}
	}
	return model.Of(total / n)
}

// splitStep is the mean step of now and what it is made of, nil while no step was
// ever seen.
func (t *target) splitStep() *model.StepView {
	fit, why := t.stepFit()
	now := t.stepNow()
	if !t.fresh() {
		return nil
	}
	v := &model.StepView{Why: model.Text(why), Seconds: model.Of(now.Step), Gap: now.Steps == 0 && now.Step > 0}
	if fit == nil {
		if !v.Seconds.OK() && why == "" {
			return nil
		}
		return v
	}
	s := fit.Explain(now)
	v.Samples, v.Gap = fit.Samples, fit.ByGap
	if total := s.Total(); now.Step > 0 && !math.IsNaN(total) {
		v.Fixed, v.KV, v.Prefill, v.Sequences = model.Of(s.Fixed), model.Of(s.KV), model.Of(s.Prefill), model.Of(s.Sequences)
		v.Unexplained, v.Residual = model.Of(now.Step-total), model.Of(now.Step/total)
	}
	return v
}

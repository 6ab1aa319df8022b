package fleet

import (
	"cmp"
	"math"
	"slices"

	"slotop/model"
)

// seeDevices puts the devices on the frame: each merged from all that is said of
// it, joined with the engines that run on it, and summed up.
func (f *Fleet) seeDevices(fr *model.Frame) {
	ds := &f.devices
	for _, d := range ds.list {
		d.settle()
		d.slices = 0
	}
	ds.forget(fr.At)
	for _, d := range ds.list {
		if d.parent != nil && d.state != model.DeviceLost {
			d.parent.slices++
		}
	}
	fr.Devices = make([]model.DeviceView, 0, len(ds.list))
	f.noteUnknownGPUs(fr)
	if len(ds.list) == 0 {
		return
	}
	f.joinDevices(fr)
	for _, d := range ds.list {
		d.merge()
	}
	f.doubtIdle()
	for _, d := range ds.list {
		fr.Devices = append(fr.Devices, d.view)
	}
	fr.DeviceSum = f.sumDevices()
}

// merge makes the device's view of what is said of it: reading by reading from
// whoever knows it most precisely.
func (d *device) merge() {
	told := d.ranked()
	lead := told[0]
	v := model.DeviceView{
		UUID: d.name(), Target: lead.by.spec.Name, State: d.state, Since: d.since,
		Stale: !slices.ContainsFunc(told, (*telling).fresh), Processes: []model.ProcessView{}, Pods: []string{}, BadSamples: d.bad, Slices: d.slices,
	}
	for _, tl := range told {
		dev := &tl.said
		v.Name, v.Bus = cmp.Or(v.Name, model.Text(dev.Name)), cmp.Or(v.Bus, model.Text(dev.Bus))
		v.Host, v.Profile = cmp.Or(v.Host, model.Text(dev.Host)), cmp.Or(v.Profile, model.Text(dev.Profile))
		v.Detail = cmp.Or(v.Detail, model.Text(dev.Detail))
		v.Shared = v.Shared || dev.Shared
		if !v.Index.OK() && dev.Index >= 0 && !tl.gone {
			v.Index = model.Of(float64(dev.Index))
		}
		v.GoodAt = latest(v.GoodAt, tl.good)
		if len(v.Pods) == 0 && len(dev.Pods) > 0 {
			v.Pods = dev.Pods
		}
	}
	if d.parent != nil {
		v.Parent = model.Text(d.parent.name())
	}
	if d.state == model.DeviceLost {
		v.Detail = d.lostText(told)
	}
	for m := range model.NumDeviceMetrics {
		v.Values[m] = d.valueOf(told, m)
	}
	v.Throttled = throttles(told)
	v.UnchangedS = unchanged(told)
	d.processes(told, &v)
	d.seeJoints(&v)
	d.view = v
}

// lostText is why the device is lost, in its driver's words where it has some.
func (d *device) lostText(told []*telling) model.Text {
	for _, tl := range told {
		if tl.said.State == model.DeviceLost && tl.said.Detail != "" {
			return model.Text(tl.said.Detail)
		}
	}
	if d.stated {
		return "the driver cannot reach it any more"
	}
	return model.Text("not listed any more by " + told[0].by.spec.Name)
}

// ranked is what is said of the device, first by those whose readings are of now,
// of them by the most precise, and else by the latest.
func (d *device) ranked() []*telling {
	if len(d.tellings) == 1 {
		return d.tellings
	}
	told := slices.Clone(d.tellings)
	slices.SortStableFunc(told, func(a, b *telling) int {
		if a.here() != b.here() {
			if a.here() {
				return -1
			}
			return 1
		}
		if !a.here() {
			return cmp.Compare(b.good.Mono, a.good.Mono)
		}
		return cmp.Compare(precision(&b.said), precision(&a.said))
	})
	return told
}

// precision is that of the best reading there is.
func precision(dev *model.Device) model.Precision {
	best := model.FromText
	for m, r := range dev.Readings {
		if r.Status != model.NotExported {
			best = max(best, dev.From[m])
		}
	}
	return best
}

// valueOf is one metric: the most precise number of now, the latest where two are
// as precise, or else the best reason for which there is none. Of a device that is
// lost or not told of any more it is the last number, marked as old.
func (d *device) valueOf(told []*telling, m model.DeviceMetric) model.DeviceValue {
	current := told[0].here() && d.state != model.DeviceLost
	var best *telling
	var reading model.DeviceReading
	for _, tl := range told {
		if tl.good.IsZero() || current && !tl.here() {
			continue
		}
		if r := d.readingOf(tl, m); best == nil || better(tl, r, best, reading, m) {
			best, reading = tl, r
		}
	}
	v := model.DeviceValue{Reading: reading.Reading(), Status: reading.Status}
	if !current {
		v.Reading = stale(v.Reading)
	}
	return v
}

// readingOf is what one target reads. A driver does not know how busy a slice is, nor
// a GPU that is divided: what an exporter makes of that, mostly 0, is no reading.
func (d *device) readingOf(tl *telling, m model.DeviceMetric) model.DeviceReading {
	r := tl.said.Readings[m]
	if (m == model.Busy || m == model.MemBusy) && d.sliced() && tl.said.From[m] < model.FromCounters && r.Status != model.NotExported {
		return model.DeviceReading{Status: model.NotSupported}
	}
	return r
}

// sliced reports whether the device is a slice, or is divided into some.
func (d *device) sliced() bool { return d.parent != nil || d.slices > 0 }

// better reports whether the reading a of x is worth more than b of y.
func better(x *telling, a model.DeviceReading, y *telling, b model.DeviceReading, m model.DeviceMetric) bool {
	if a.Status != model.Measured || b.Status != model.Measured {
		return worth[a.Status] > worth[b.Status]
	}
	if p, q := x.said.From[m], y.said.From[m]; p != q {
		return p > q
	}
	return x.heard.Mono > y.heard.Mono
}

// worth orders the states of a reading by how much they tell.
var worth = [...]int{
	model.NotExported: 0, model.NotSupported: 1, model.NotPermitted: 2, model.Failing: 3, model.BadSample: 4, model.NotReady: 5, model.Measured: 6,
}

func latest(a, b model.Instant) model.Instant {
	if b.Mono > a.Mono || a.IsZero() {
		return b
	}
	return a
}

// throttles are why the device runs slower than it could, nil where nobody knows.
func throttles(told []*telling) []string {
	for _, tl := range told {
		if tl.here() && tl.said.ThrottleStatus == model.Measured {
			return orEmpty(tl.said.Throttle)
		}
	}
	return nil
}

// unchanged is how long no reading moved, of exporters that repeat what they read a
// while ago.
func unchanged(told []*telling) model.Reading {
	least := math.Inf(1)
	for _, tl := range told {
		if !tl.here() {
			continue
		}
		if tl.same < stillPolls || !measures(&tl.said) {
			return model.Reading{}
		}
		least = min(least, tl.heard.Sub(tl.moved).Seconds())
	}
	return model.Of(least)
}

// measures reports whether there is any number that could move.
func measures(dev *model.Device) bool {
	return slices.ContainsFunc(dev.Readings[:], func(r model.DeviceReading) bool { return r.Status == model.Measured })
}

// mostPID is the highest number of a process that any system gives. What drivers
// show beyond it, and 0, stands for "I do not know".
const mostPID = 1<<31 - 1

// processes are those on the device, and which engine each is.
func (d *device) processes(told []*telling, v *model.DeviceView) {
	for _, tl := range told {
		if len(tl.said.Processes) == 0 || !tl.here() {
			continue
		}
		for _, p := range tl.said.Processes {
			if p.PID <= 0 || p.PID >= mostPID {
				continue
			}
			view := model.ProcessView{PID: p.PID, Name: model.Text(p.Name), Memory: p.Memory.Reading()}
			if e := d.servedBy(p); e != nil {
				view.Engine = model.Text(e.spec.Name)
			}
			v.Processes = append(v.Processes, view)
		}
		return
	}
}

// sumDevices sums up. Only what is there, of now and can be believed counts, and
// slices are part of their GPU.
func (f *Fleet) sumDevices() *model.DevicesView {
	s := &model.DevicesView{}
	busy := 0.0
	for _, d := range f.devices.list {
		v := &d.view
		s.Bad += v.BadSamples
		if d.parent != nil || d.state == model.DeviceUnsupported {
			continue
		}
		s.Total++
		if d.state != model.DevicePresent || v.Stale {
			continue
		}
		s.Present++
		if r := v.Values[model.Busy]; r.OK() && !v.NotCredible {
			s.Measured++
			busy += r.Value
		}
		s.PowerW = sum(s.PowerW, v.Values[model.Power].Reading)
		if used, total := v.Values[model.MemUsed], v.Values[model.MemTotal]; used.OK() && total.OK() && !v.Shared {
			s.Used, s.Memory = sum(s.Used, used.Reading), sum(s.Memory, total.Reading)
		}
	}
	if s.Measured > 0 {
		s.Busy = model.Of(busy / float64(s.Measured))
	}
	for _, t := range f.targets {
		if len(t.tells) > 0 && t.fresh() && t.round > 0 && t.round.Seconds() > s.TookS.Value {
			s.TookS = model.Of(t.round.Seconds())
		}
	}
	return s
}

package fleet

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/alert"
)

// maxDevices bounds the GPUs and slices that are remembered: two thousand hosts of
// eight. What has no place is counted as dropped by its target.
const maxDevices = 1 << 14

// devices is every GPU that a target ever told of, in the order of first sight. One
// that is lost keeps its place: a row that moved up would make another card look
// broken.
type devices struct {
	list  []*device
	index map[deviceKey]*device
}

// deviceKey is what a device is known by: its UUID, and the host only where the
// same name may mean another device elsewhere.
type deviceKey struct{ id, host string }

// device is one GPU, or a slice of one, as all its targets tell of it.
type device struct {
	deviceKey
	tellings []*telling // in the order in which the targets began to tell of it
	state    model.DeviceState
	since    model.Instant
	stated   bool // it was said to be lost, and is not only missing
	parent   *device
	slices   int // of a GPU: those that are listed now
	bad      int // samples that could not be

	joints  []joint
	zeros   zeros
	metered metered
	view    model.DeviceView
}

// telling is what one target says of one device.
type telling struct {
	by     *target
	of     *device
	said   model.Device  // readings are those of the last time it was there
	good   model.Instant // when that was
	turned model.Instant // when the target began to say of its state what it says
	moved  model.Instant // when a reading was last another than before
	heard  model.Instant
	poll   int // the target's good poll that listed it last
	same   int // polls since a reading moved
	gone   bool
	missed int // polls whose page was not whole and lacks it
}

func newDevices() devices { return devices{index: map[deviceKey]*device{}} }

// take folds in what a good poll says of devices. What a whole page does not list
// any more is gone; a page of which a part was lost proves nothing.
func (ds *devices) take(at model.Instant, t *target, b *model.Batch) {
	if len(b.Devices) == 0 && len(t.tells) == 0 {
		return
	}
	t.round = b.Round
	if t.round == 0 {
		t.round = b.Took
	}
	t.unplaced = 0
	for i := range b.Devices {
		ds.hear(at, t, b, &b.Devices[i])
	}
	whole := b.BadLines == 0 && b.Dropped == 0
	for _, tl := range t.tells {
		switch {
		case tl.poll == t.good:
			ds.place(tl)
		case !whole:
			tl.missed++
		case !tl.gone:
			tl.gone, tl.turned, tl.missed = true, at, 0
		}
	}
}

// hear takes in one device, and before a slice whose GPU the target does not list
// that GPU.
func (ds *devices) hear(at model.Instant, t *target, b *model.Batch, dev *model.Device) {
	if dev.Parent != "" && !slices.ContainsFunc(b.Devices, func(d model.Device) bool { return d.UUID == dev.Parent }) {
		ds.tell(at, t, gpuOf(dev, b)) // for its second slice it has been told already
	}
	if !ds.tell(at, t, dev) {
		t.unplaced++
	}
}

// gpuOf is the GPU of a slice, as far as its slices tell: it is there while one of
// them is.
func gpuOf(slice *model.Device, b *model.Batch) *model.Device {
	gpu := &model.Device{UUID: slice.Parent, Index: slice.Index, Name: slice.Name, Bus: slice.Bus, Host: slice.Host, State: model.DeviceLost}
	for i := range b.Devices {
		if d := &b.Devices[i]; d.Parent == slice.Parent && d.State != model.DeviceLost {
			gpu.State = model.DevicePresent
		}
	}
	return gpu
}

// tell notes what a target says of a device, and reports whether it could: there
// may be no place left, or the target named another one the same in this poll.
func (ds *devices) tell(at model.Instant, t *target, dev *model.Device) bool {
	if dev.UUID == "" {
		return false
	}
	d := ds.find(keyOf(dev, t))
	if d == nil {
		return false
	}
	tl := d.telling(t)
	if tl.poll == t.good {
		return false
	}
	tl.hear(at, dev)
	tl.poll = t.good
	return true
}

// place finds the GPU of a slice; a target may list it behind its slices.
func (ds *devices) place(tl *telling) {
	if tl.said.Parent != "" {
		gpu := model.Device{UUID: tl.said.Parent, Host: tl.said.Host}
		tl.of.parent = ds.index[keyOf(&gpu, tl.by)]
	}
}

// find is the device of a name, a new one in the last place where none has it.
func (ds *devices) find(k deviceKey) *device {
	d := ds.index[k]
	if d == nil && len(ds.list) < maxDevices {
		d = &device{deviceKey: k}
		ds.index[k] = d
		ds.list = append(ds.list, d)
	}
	return d
}

func keyOf(dev *model.Device, t *target) deviceKey {
	if worldwide(dev.UUID) {
		return deviceKey{id: dev.UUID}
	}
	return deviceKey{dev.UUID, hostOf(dev, t)}
}

// hostOf names the host of a device, or, where nobody says, its target.
func hostOf(dev *model.Device, t *target) string {
	switch {
	case dev.Host != "":
		return dev.Host
	case t.place.host != "":
		return t.place.host
	default:
		return t.spec.Name
	}
}

// leastHex is how many hexadecimal digits a name begins with, at least, that is no
// number of a device on its host.
const leastHex = 4

// worldwide reports whether a name means one device wherever it is read, as the
// UUIDs of NVIDIA do. An index such as GPU-0 does not.
func worldwide(id string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(id, "MIG-"), "GPU-")
	if len(rest) == len(id) || len(rest) < leastHex {
		return false
	}
	return strings.Trim(rest[:leastHex], "0123456789abcdefABCDEF") == ""
}

// name is what the device is called everywhere.
func (d *device) name() string {
	if d.host == "" {
		return d.id
	}
	return d.host + "/" + d.id
}

// telling is what a target says of the device, without a word yet where it never
// told of it.
func (d *device) telling(t *target) *telling {
	for _, tl := range d.tellings {
		if tl.by == t {
			return tl
		}
	}
	tl := &telling{by: t, of: d}
	d.tellings = append(d.tellings, tl)
	t.tells = append(t.tells, tl)
	return tl
}

// hear notes what is said of the device now.
func (tl *telling) hear(at model.Instant, dev *model.Device) {
	was := tl.said
	known := tl.poll > 0
	tl.said = *dev
	if tl.said.State == "" {
		tl.said.State = model.DevicePresent
	}
	tl.heard, tl.missed = at, 0
	if !known || tl.gone || tl.said.State != was.State {
		tl.gone, tl.turned = false, at
	}
	if tl.said.State == model.DeviceLost {
		if known {
			recall(&tl.said, &was)
		}
		return
	}
	own(&tl.said, &was)
	tl.of.bad += sift(&tl.said)
	tl.good = at
	if tl.same++; !known || tl.said.Readings != was.Readings {
		tl.moved, tl.same = at, 0
	}
}

// own makes what a device points to the fold's own: a source may write over it when
// it is polled again. What is as it was is kept.
func own(dev, was *model.Device) {
	dev.Throttle, dev.Pods = keptTexts(dev.Throttle, was.Throttle), keptTexts(dev.Pods, was.Pods)
	if dev.Processes != nil && slices.EqualFunc(dev.Processes, was.Processes, sameProcess) {
		dev.Processes = was.Processes
		return
	}
	dev.Processes = slices.Clone(dev.Processes)
	for i := range dev.Processes {
		dev.Processes[i].Serves = slices.Clone(dev.Processes[i].Serves)
	}
}

func sameProcess(a, b model.Process) bool {
	return a.PID == b.PID && a.Name == b.Name && a.Memory == b.Memory && slices.Equal(a.Serves, b.Serves)
}

func keptTexts(list, was []string) []string {
	if was != nil && slices.Equal(list, was) {
		return was
	}
	return slices.Clone(list)
}

// sift takes out what cannot be: a number that is none, and a memory of no bytes,
// which drivers without an answer give. It counts the bad samples.
func sift(dev *model.Device) (bad int) {
	for m := range dev.Readings {
		r := &dev.Readings[m]
		if r.Status == model.Measured && math.IsNaN(credible(r.Value)) {
			*r = model.DeviceReading{Status: model.BadSample}
		}
		if r.Status == model.BadSample {
			bad++
		}
	}
	if total := dev.Readings[model.MemTotal]; total.Status == model.Measured && total.Value <= 0 {
		for _, m := range []model.DeviceMetric{model.MemTotal, model.MemUsed, model.MemReserved} {
			dev.Readings[m] = model.DeviceReading{Status: model.NotSupported}
		}
	}
	return bad
}

// recall completes what is said of a lost device by what was known of it.
func recall(dev, was *model.Device) {
	dev.Readings, dev.From, dev.Shared = was.Readings, was.From, was.Shared
	dev.Throttle, dev.ThrottleStatus, dev.Processes, dev.Pods = was.Throttle, was.ThrottleStatus, was.Processes, was.Pods
	dev.Name, dev.Bus = cmp.Or(dev.Name, was.Name), cmp.Or(dev.Bus, was.Bus)
	dev.Host, dev.Parent, dev.Profile = cmp.Or(dev.Host, was.Host), cmp.Or(dev.Parent, was.Parent), cmp.Or(dev.Profile, was.Profile)
	if dev.Index < 0 {
		dev.Index = was.Index
	}
}

// fresh reports whether what the target says of the device is of now.
func (tl *telling) fresh() bool { return tl.by.fresh() && tl.missed < stillPolls }

// here reports whether the readings are of now.
func (tl *telling) here() bool {
	return tl.fresh() && !tl.gone && tl.said.State != model.DeviceLost && !tl.good.IsZero()
}

// settle decides whether the device is there. Of targets that list it the one that
// changed its mind last is right: exporters repeat for a while what was. That one
// does not list it proves nothing while another does.
func (d *device) settle() {
	var listed, gone *telling
	for _, tl := range d.tellings {
		switch {
		case !tl.fresh():
		case tl.gone:
			gone = later(gone, tl)
		default:
			listed = later(listed, tl)
		}
	}
	switch {
	case listed != nil:
		d.enter(listed.said.State, listed.turned, true)
	case gone != nil:
		d.enter(model.DeviceLost, gone.turned, false)
	}
}

func later(a, b *telling) *telling {
	if a == nil || b.turned.Mono > a.turned.Mono {
		return b
	}
	return a
}

func (d *device) enter(s model.DeviceState, at model.Instant, stated bool) {
	if s != d.state {
		d.state, d.since, d.stated = s, at, false
	}
	d.stated = d.stated || stated
}

// forget drops slices that were taken apart a while ago: a GPU that is lost stays,
// a division of it that nobody wants any more does not.
func (ds *devices) forget(at model.Instant) {
	ds.drop(func(d *device) bool {
		return d.parent != nil && d.state == model.DeviceLost && at.Sub(d.since) > alert.Shown
	})
}

// leave ends with what a target said. What nobody else told of goes with it, and is
// returned by name.
func (ds *devices) leave(t *target) (gone []string) {
	for _, tl := range t.tells {
		d := tl.of
		d.tellings = slices.DeleteFunc(d.tellings, func(o *telling) bool { return o == tl })
		if len(d.tellings) == 0 {
			gone = append(gone, d.name())
		}
	}
	t.tells = nil
	ds.drop(func(d *device) bool { return len(d.tellings) == 0 })
	return gone
}

func (ds *devices) drop(which func(*device) bool) {
	before := len(ds.list)
	ds.list = slices.DeleteFunc(ds.list, func(d *device) bool {
		if !which(d) {
			return false
		}
		delete(ds.index, d.deviceKey)
		for _, tl := range d.tellings {
			tl.by.tells = slices.DeleteFunc(tl.by.tells, func(o *telling) bool { return o == tl })
		}
		return true
	})
	if len(ds.list) == before {
		return
	}
	for _, d := range ds.list {
		if d.parent != nil && ds.index[d.parent.deviceKey] != d.parent {
			d.parent = nil
		}
	}
}

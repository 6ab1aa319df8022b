package tape

import (
	"math"
	"slices"
	"time"

	"slotop/model"
)

// devices is what a target's devices are written against: the last that stood at
// each place of its list, within a segment. Writer and reader keep the same.
type devices struct{ last []model.Device }

// Which parts of a device follow; the others are as in last.
const (
	hasFacts = 1 << iota // what it is
	hasState             // whether it is there
	hasFrom              // how precise its readings are
	hasReadings
	hasThrottle
	hasProcesses
	hasPods
	hasMake // what its chip is

	deviceFlags = 1<<iota - 1
)

// How a device's reading is written: a whole number of a scale against its last
// value, or eight bytes, or why there is none.
const (
	readingRaw  = 5
	readingNone = 6
	readingOdd  = 7 // none, and yet with a value
	readingBits = 3
)

// scales are those of which most readings are whole numbers: counts, per cents and
// thousandths, which sources multiply or divide by. The first that fits is taken.
var scales = [readingRaw]func(n float64) float64{
	func(n float64) float64 { return n },
	func(n float64) float64 { return n * 0.01 },
	func(n float64) float64 { return n / 100 },
	func(n float64) float64 { return n * 0.001 },
	func(n float64) float64 { return n / 1000 },
}

var perUnit = [readingRaw]float64{1, 100, 100, 1000, 1000}

// steps is how many steps of a scale v is, if it is a whole number of them and no bit
// is lost.
func steps(v float64, scale int) (n int64, ok bool) {
	f := math.Round(v * perUnit[scale])
	if math.IsNaN(f) || math.Abs(f) > 1<<53 || !sameFloat(scales[scale](f), v) {
		return 0, false
	}
	return int64(f), !(f == 0 && math.Signbit(v))
}

// measure writes a reading of a device.
func (e *encoder) measure(r, last model.DeviceReading) {
	if r.Status != model.Measured {
		mode := uint64(readingNone)
		if math.Float64bits(r.Value) != 0 {
			mode = readingOdd
		}
		e.uint(mode | uint64(r.Status)<<readingBits)
		if mode == readingOdd {
			e.bits(r.Value)
		}
		return
	}
	for scale := range scales {
		if n, ok := steps(r.Value, scale); ok {
			from, _ := steps(last.Value, scale)
			e.uint(zigzag(n-from)<<readingBits | uint64(scale))
			return
		}
	}
	e.uint(readingRaw)
	e.bits(r.Value)
}

func (d *decoder) measure(last model.DeviceReading) model.DeviceReading {
	v := d.uint()
	mode, rest := int(v&(1<<readingBits-1)), v>>readingBits
	switch mode {
	case readingNone, readingOdd:
		r := model.DeviceReading{Status: model.Status(rest)}
		if rest > math.MaxUint8 {
			d.fail()
		}
		if mode == readingOdd {
			r.Value = d.bits()
		}
		return r
	case readingRaw:
		return model.Measure(d.bits())
	default:
		from, _ := steps(last.Value, mode)
		return model.Measure(scales[mode](float64(from + unzigzag(rest))))
	}
}

// device writes what differs from the last one at its place, and makes it the last.
func (e *encoder) device(v, last *model.Device) {
	flags := changed(v, last)
	e.uint(flags)
	if flags&hasFacts != 0 {
		for _, text := range facts(v) {
			e.string(*text)
		}
		e.int(int64(v.Index))
	}
	if flags&hasState != 0 {
		e.string(string(v.State))
		e.string(v.Detail)
		e.bool(v.Shared)
	}
	if flags&hasFrom != 0 {
		for _, p := range v.From {
			e.byte(byte(p))
		}
	}
	if flags&hasReadings != 0 {
		e.readings(&v.Readings, &last.Readings)
	}
	if flags&hasThrottle != 0 {
		e.byte(byte(v.ThrottleStatus))
		encodeStrings(e, v.Throttle)
	}
	if flags&hasProcesses != 0 {
		e.processes(v.Processes)
	}
	if flags&hasPods != 0 {
		encodeStrings(e, v.Pods)
	}
	if flags&hasMake != 0 {
		e.string(v.Capability)
		e.int(int64(v.Cores))
	}
	remember(last, v, flags)
}

// remember keeps a device without what its source may write over.
func remember(last, v *model.Device, flags uint64) {
	throttle, processes, pods := last.Throttle, last.Processes, last.Pods
	if flags&hasThrottle != 0 {
		throttle = slices.Clone(v.Throttle)
	}
	if flags&hasPods != 0 {
		pods = slices.Clone(v.Pods)
	}
	if flags&hasProcesses != 0 {
		processes = slices.Clone(v.Processes)
		for i := range processes {
			processes[i].Serves = slices.Clone(processes[i].Serves)
		}
	}
	*last = *v
	last.Throttle, last.Processes, last.Pods = throttle, processes, pods
}

// facts are the texts that say which device it is.
func facts(v *model.Device) [6]*string {
	return [...]*string{&v.UUID, &v.Name, &v.Bus, &v.Host, &v.Parent, &v.Profile}
}

// changed says which parts differ.
func changed(v, last *model.Device) (flags uint64) {
	mark := func(flag uint64, same bool) {
		if !same {
			flags |= flag
		}
	}
	sameFacts := v.Index == last.Index
	were := facts(last)
	for i, text := range facts(v) {
		sameFacts = sameFacts && *text == *were[i]
	}
	mark(hasFacts, sameFacts)
	mark(hasState, v.State == last.State && v.Detail == last.Detail && v.Shared == last.Shared)
	mark(hasFrom, v.From == last.From)
	mark(hasReadings, moved(&v.Readings, &last.Readings) == 0)
	mark(hasThrottle, v.ThrottleStatus == last.ThrottleStatus && sameList(v.Throttle, last.Throttle))
	mark(hasProcesses, (v.Processes == nil) == (last.Processes == nil) && slices.EqualFunc(v.Processes, last.Processes, sameProcess))
	mark(hasPods, sameList(v.Pods, last.Pods))
	mark(hasMake, v.Capability == last.Capability && v.Cores == last.Cores)
	return flags
}

// sameList compares lists; one that is not there is not an empty one.
func sameList[T comparable](a, b []T) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

func sameProcess(a, b model.Process) bool {
	return a.PID == b.PID && a.Name == b.Name && sameReading(a.Memory, b.Memory) && sameList(a.Serves, b.Serves)
}

func sameReading(a, b model.DeviceReading) bool {
	return a.Status == b.Status && sameFloat(a.Value, b.Value)
}

type readings = [model.NumDeviceMetrics]model.DeviceReading

// moved has a bit for each metric that differs.
func moved(v, last *readings) (set uint64) {
	for m := range v {
		if !sameReading(v[m], last[m]) {
			set |= 1 << m
		}
	}
	return set
}

func (e *encoder) readings(v, last *readings) {
	set := moved(v, last)
	e.uint(set)
	for m := range v {
		if set&(1<<m) != 0 {
			e.measure(v[m], last[m])
		}
	}
}

func (d *decoder) readings(into *readings) {
	set := d.uint()
	if set>>model.NumDeviceMetrics != 0 {
		d.fail()
		return
	}
	for m := range into {
		if set&(1<<m) != 0 {
			into[m] = d.measure(into[m])
		}
	}
}

// device reads what its counterpart wrote, over the last device at its place. What
// it points to is new: whoever has the last one keeps it.
func (d *decoder) device(v *model.Device) {
	flags := d.uint()
	if flags > deviceFlags {
		d.fail()
		return
	}
	if flags&hasFacts != 0 {
		for _, text := range facts(v) {
			*text = d.string()
		}
		v.Index = int(d.int())
	}
	if flags&hasState != 0 {
		v.State, v.Detail, v.Shared = model.DeviceState(d.string()), d.string(), d.bool()
	}
	if flags&hasFrom != 0 {
		for m := range v.From {
			v.From[m] = model.Precision(d.byte())
		}
	}
	if flags&hasReadings != 0 {
		d.readings(&v.Readings)
	}
	if flags&hasThrottle != 0 {
		v.ThrottleStatus, v.Throttle = model.Status(d.byte()), decodeStrings[string](d)
	}
	if flags&hasProcesses != 0 {
		v.Processes = d.processes()
	}
	if flags&hasPods != 0 {
		v.Pods = decodeStrings[string](d)
	}
	if flags&hasMake != 0 {
		v.Capability, v.Cores = d.string(), int(d.int())
	}
}

func (e *encoder) processes(list []model.Process) {
	if list == nil {
		e.noList()
		return
	}
	e.length(len(list))
	for i := range list {
		p := &list[i]
		e.int(int64(p.PID))
		e.string(p.Name)
		e.measure(p.Memory, model.DeviceReading{})
		if p.Serves == nil {
			e.noList()
			continue
		}
		e.length(len(p.Serves))
		for _, port := range p.Serves {
			e.int(int64(port))
		}
	}
}

// leastProcess is how many bytes one takes at least: number, name, memory, no ports.
const leastProcess = 4

func (d *decoder) processes() []model.Process {
	n, ok := d.list(maxList, leastProcess)
	if !ok {
		return nil
	}
	list := make([]model.Process, n)
	for i := range list {
		list[i] = model.Process{PID: int(d.int()), Name: d.string(), Memory: d.measure(model.DeviceReading{})}
		if n, ok := d.length(); ok {
			list[i].Serves = make([]int, n)
			for j := range list[i].Serves {
				list[i].Serves[j] = int(d.int())
			}
		}
	}
	return list
}

// devices writes a batch's devices and returns how many places are new.
func (e *encoder) devices(b *model.Batch, ds *devices) (grown int) {
	e.int(int64(b.Round))
	if b.Devices == nil {
		e.noList()
		return 0
	}
	e.length(len(b.Devices))
	for i := range b.Devices {
		if i == len(ds.last) {
			ds.last = append(ds.last, model.Device{})
			grown++
		}
		e.device(&b.Devices[i], &ds.last[i])
	}
	return grown
}

// readDevices reads them. They are valid until the next batch of the target.
func (r *Reader) readDevices(ds *devices) {
	d, b := &r.dec, &r.batch
	b.Round = time.Duration(d.int())
	n, ok := d.list(maxDevices, 1)
	if !ok {
		return
	}
	if more := n - len(ds.last); more > 0 {
		if r.devices += more; r.devices > maxDevices {
			d.fail()
			return
		}
		ds.last = append(ds.last, make([]model.Device, more)...)
	}
	for i := range n {
		d.device(&ds.last[i])
	}
	if b.Devices = ds.last[:n:n]; n == 0 {
		b.Devices = []model.Device{} // which is not none
	}
}

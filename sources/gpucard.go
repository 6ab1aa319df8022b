package sources

import (
	"fmt"
	"strings"
	"time"

	"slotop/model"
	"slotop/sources/nvml"
)

// card is one GPU as the driver's library knows it.
type card struct {
	device    model.Device // as of the last round
	handle    nvml.Device
	lost      nvml.Return // why it is not asked any more; Success: it is there
	off       [model.NumDeviceMetrics]bool
	noReasons bool
	fields    []nvml.Field  // that it has, of wantedFields
	links     [4]gpuCounter // of the counters below model.PCIeTx
	gpm       gpm
	divided   bool // by MIG
	instances []*instance
}

// reading is one round's way through the cards.
type reading struct {
	driver      nvml.Driver
	at          time.Duration
	proc        string
	slow        bool // this round also reads what seldom changes
	answered    int  // calls that brought something, if only that there is no such reading
	failed      nvml.Return
	first, last int64 // when the driver read a card's fields, in microseconds
	stamps      int
}

// took notes how a call ended.
func (r *reading) took(answer nvml.Return) nvml.Return {
	if statusOf(answer) == model.Failing && !isLost(answer) {
		r.failed = answer
	} else {
		r.answered++
	}
	return answer
}

// span is how long the round took, by the driver's own stamps: those of the first
// and of the last card lie one card's readings too near to each other.
func (r *reading) span() time.Duration {
	if r.stamps < 2 || r.last <= r.first {
		return 0
	}
	between := time.Duration(r.last-r.first) * time.Microsecond
	return between * time.Duration(r.stamps) / time.Duration(r.stamps-1)
}

// stamp notes when a card's fields were read.
func (r *reading) stamp(us int64) {
	if us <= 0 {
		return
	}
	if r.stamps == 0 {
		r.first = us
	}
	r.last = us
	r.stamps++
}

func newCard(uuid string) *card {
	return &card{device: model.Device{UUID: uuid, Index: -1}}
}

// deviceUUID is a UUID as NVIDIA writes it, in lower case after its prefix: all who
// tell of a device write it like that.
func deviceUUID(s string) string {
	for _, prefix := range []string{"GPU-", "MIG-"} {
		if rest, found := strings.CutPrefix(s, prefix); found {
			return prefix + strings.ToLower(rest)
		}
	}
	return s
}

// take notes that the card is there, under a handle and a number. What it is and
// can is asked anew after it was away.
func (c *card) take(d nvml.Driver, handle nvml.Device, index int) {
	if c.handle != handle || c.lost != nvml.Success {
		c.forget(d)
		c.handle, c.lost = handle, nvml.Success
		c.identify(d)
	}
	c.device.Index = index
}

func (c *card) identify(d nvml.Driver) {
	if name, answer := d.Text(c.handle, nvml.Name); answer == nvml.Success {
		c.device.Name = name
	}
	if bus, answer := d.Text(c.handle, nvml.Bus); answer == nvml.Success {
		c.device.Bus = bus
	}
	if n, answer := d.Number(c.handle, nvml.Capability); answer == nvml.Success {
		c.device.Capability = fmt.Sprintf("%d.%d", n/100, n%100)
	}
	if n, answer := d.Number(c.handle, nvml.Cores); answer == nvml.Success {
		c.device.Cores = int(n)
	}
	c.off = [model.NumDeviceMetrics]bool{}
	c.noReasons = false
	c.fields = append(c.fields[:0], wantedFields...)
	c.gpm = gpm{supported: supportsGPM(d, c.handle)}
}

// forget ends what refers to the card in the library.
func (c *card) forget(d nvml.Driver) {
	c.gpm.free(d)
	for _, i := range c.instances {
		i.gpm.free(d)
	}
	c.instances = nil
	c.handle = 0
	c.links = [4]gpuCounter{}
}

// lose marks the card as lost. It is not asked again until the library lists it.
func (c *card) lose(d nvml.Driver, why nvml.Return) {
	if c.lost == why {
		return
	}
	uuid, index, name, bus := c.device.UUID, c.device.Index, c.device.Name, c.device.Bus
	c.forget(d)
	c.lost = why
	c.device = model.Device{UUID: uuid, Index: index, Name: name, Bus: bus, State: model.DeviceLost, Detail: lostDetail(why)}
}

// read reads the card and its instances, until an answer says that it is lost.
func (c *card) read(r *reading) {
	if c.lost != nvml.Success {
		return
	}
	c.device.State, c.device.Detail = model.DevicePresent, ""
	for _, step := range []func(*reading) nvml.Return{
		c.readSeldom, c.readFields, c.readUse, c.readMemory, c.readClocks, c.readTemperature, c.readReasons, c.readCounters, c.readInstances,
	} {
		if answer := step(r); isLost(answer) {
			c.lose(r.driver, answer)
			return
		}
	}
	judge(&c.device)
}

// judge says of a device that gives no reading what it is.
func judge(d *model.Device) {
	if d.State != model.DevicePresent {
		return
	}
	for m := range model.NumDeviceMetrics {
		if s := d.Readings[m].Status; s != model.NotExported && s != model.NotSupported && m != model.MemTotal && m != model.MemUsed {
			return
		}
	}
	d.State, d.Shared = model.DeviceUnsupported, false
	for _, m := range []model.DeviceMetric{model.MemTotal, model.MemUsed, model.MemReserved} {
		d.Readings[m] = model.DeviceReading{Status: model.NotSupported}
	}
	d.Detail = "the driver has no readings of it: not a discrete GPU"
}

// put notes a reading of the driver's.
func (c *card) put(m model.DeviceMetric, v float64, answer nvml.Return) {
	put(&c.device, m, v, statusOf(answer), model.FromDriver)
	if statusOf(answer) == model.NotSupported {
		c.off[m] = true
	}
}

// put notes a reading. A value that cannot be is none.
func put(d *model.Device, m model.DeviceMetric, v float64, status model.Status, from model.Precision) {
	d.From[m] = from
	switch {
	case status != model.Measured:
		d.Readings[m] = model.DeviceReading{Status: status}
	case !credible(m, v):
		d.Readings[m] = model.DeviceReading{Status: model.BadSample}
	default:
		d.Readings[m] = model.Measure(v)
	}
}

// number reads a number, unless the card is known not to have it.
func (c *card) number(r *reading, n gpuNumber) nvml.Return {
	if c.off[n.metric] {
		return nvml.Success
	}
	v, answer := r.driver.Number(c.handle, n.number)
	c.put(n.metric, float64(v)*n.scale, r.took(answer))
	return answer
}

// gpuNumber is a metric that is one number of the library's.
type gpuNumber struct {
	number nvml.Number
	metric model.DeviceMetric
	scale  float64
}

const (
	milli = 1e-3
	mega  = 1e6
)

var (
	clocks = []gpuNumber{{nvml.SMClock, model.SMClock, mega}, {nvml.MemClock, model.MemClock, mega}}
	seldom = []gpuNumber{
		{nvml.PowerLimit, model.PowerLimit, milli},
		{nvml.SMClockMax, model.SMClockMax, mega},
		{nvml.MemClockMax, model.MemClockMax, mega},
		{nvml.ECCUncorrected, model.ECCErrors, 1},
	}
)

func (c *card) readClocks(r *reading) nvml.Return { return c.readNumbers(r, clocks) }

func (c *card) readNumbers(r *reading, list []gpuNumber) nvml.Return {
	for _, n := range list {
		if answer := c.number(r, n); isLost(answer) {
			return answer
		}
	}
	return nvml.Success
}

// readSeldom reads what changes seldom, in some rounds only.
func (c *card) readSeldom(r *reading) nvml.Return {
	if !r.slow {
		return nvml.Success
	}
	if answer := c.readNumbers(r, seldom); isLost(answer) {
		return answer
	}
	if answer := c.readPeak(r); isLost(answer) {
		return answer
	}
	if answer := c.divide(r); isLost(answer) {
		return answer
	}
	if c.divided { // each instance has its own
		c.device.Processes = nil
		return nvml.Success
	}
	var answer nvml.Return
	c.device.Processes, answer = runningOn(r, c.handle, c.device.Processes)
	return answer
}

// readPeak works out the bandwidth of the memory: two transfers in each period of
// its highest clock, over its whole width. That is the data sheet's figure for
// nearly every card; the H200's is 2 % below it.
func (c *card) readPeak(r *reading) nvml.Return {
	if c.off[model.DRAMPeak] {
		return nvml.Success
	}
	bits, answer := r.driver.Number(c.handle, nvml.BusWidth)
	clock := c.device.Readings[model.MemClockMax]
	if r.took(answer) == nvml.Success && clock.Status != model.Measured {
		put(&c.device, model.DRAMPeak, 0, clock.Status, model.FromDriver)
		return answer
	}
	c.put(model.DRAMPeak, 2*clock.Value*float64(bits)/8, answer)
	return answer
}

// readUse reads for how long of the last moment kernels ran. The driver does not
// know it of a GPU that is divided.
func (c *card) readUse(r *reading) nvml.Return {
	if c.divided {
		put(&c.device, model.Busy, 0, model.NotSupported, model.FromDriver)
		put(&c.device, model.MemBusy, 0, model.NotSupported, model.FromDriver)
		return nvml.Success
	}
	if c.off[model.Busy] {
		return nvml.Success
	}
	use, answer := r.driver.Utilization(c.handle)
	r.took(answer)
	c.put(model.Busy, float64(use.GPU)/100, answer)
	c.put(model.MemBusy, float64(use.Memory)/100, answer)
	return answer
}

func (c *card) readTemperature(r *reading) nvml.Return {
	if c.off[model.Temperature] {
		return nvml.Success
	}
	v, answer := r.driver.Temperature(c.handle)
	c.put(model.Temperature, float64(v), r.took(answer))
	return answer
}

// reasons are the bits of the clocks' event mask that are worth a word. Idle,
// application clocks, sync boost and display clocks are no faults.
var reasons = []struct {
	bit  uint64
	word string
}{
	{nvml.EventPowerCap, model.ThrottlePowerCap},
	{nvml.EventSlowdown, model.ThrottleSlowdown},
	{nvml.EventThermal, model.ThrottleThermal},
	{nvml.EventHWThermal, model.ThrottleHWThermal},
	{nvml.EventBrake, model.ThrottleBrake},
}

// throttleWords are the words for an event mask.
func throttleWords(mask uint64) []string {
	var words []string
	for _, r := range reasons {
		if mask&r.bit != 0 {
			words = append(words, r.word)
		}
	}
	return words
}

func (c *card) readReasons(r *reading) nvml.Return {
	if c.noReasons {
		return nvml.Success
	}
	mask, answer := r.driver.Number(c.handle, nvml.EventReasons)
	c.device.ThrottleStatus = statusOf(r.took(answer))
	c.noReasons = c.device.ThrottleStatus == model.NotSupported
	c.device.Throttle = nil
	if answer == nvml.Success {
		c.device.Throttle = throttleWords(mask)
	}
	return answer
}

// credible reports whether a value can be: no GPU has 30 kW or 100 GHz or freezes, and
// what a driver gives for a number that it does not know is all ones, or -1.
func credible(m model.DeviceMetric, v float64) bool { return v >= 0 && v <= highest[m] }

// highest are the values beyond which a reading is none.
var highest = [model.NumDeviceMetrics]float64{
	model.Busy: 1, model.MemBusy: 1, model.SMActive: 1, model.SMOccupancy: 1, model.TensorActive: 1, model.DRAMActive: 1,
	model.MemTotal: maxMemory, model.MemReserved: maxMemory, model.MemUsed: maxMemory,
	model.Power: maxWatts, model.PowerLimit: maxWatts, model.Energy: maxCount,
	model.SMClock: maxHertz, model.SMClockMax: maxHertz, model.MemClock: maxHertz, model.MemClockMax: maxHertz,
	model.Temperature: maxCelsius, model.MemTemperature: maxCelsius,
	model.PCIeTx: maxRate, model.PCIeRx: maxRate, model.NVLinkTx: maxRate, model.NVLinkRx: maxRate,
	model.ECCErrors: maxCount, model.DRAMPeak: maxRate,
}

const (
	maxMemory  = 1 << 48 // 256 TiB
	maxWatts   = 30e3
	maxHertz   = 100e9
	maxCelsius = 200
	maxRate    = 1e14
	maxCount   = 1 << 60
)

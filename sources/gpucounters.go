package sources

import (
	"slices"
	"time"

	"slotop/model"
	"slotop/sources/nvml"
)

// wantedFields are read in one call. Of the counters for all links the library makes
// one sum.
var wantedFields = []nvml.Field{
	{ID: nvml.FieldPowerInstant},
	{ID: nvml.FieldEnergy},
	{ID: nvml.FieldMemTemperature},
	{ID: nvml.FieldPCIeTx},
	{ID: nvml.FieldPCIeRx},
	{ID: nvml.FieldNVLinkTx, Scope: nvml.AllLinks},
	{ID: nvml.FieldNVLinkRx, Scope: nvml.AllLinks},
}

// fieldOf says what a field is a reading of, and its unit. A counter's rate is the
// reading.
var fieldOf = map[uint32]struct {
	metric  model.DeviceMetric
	scale   float64
	counter bool
}{
	nvml.FieldPowerInstant:   {model.Power, milli, false},
	nvml.FieldEnergy:         {model.Energy, milli, false},
	nvml.FieldMemTemperature: {model.MemTemperature, 1, false},
	nvml.FieldPCIeTx:         {model.PCIeTx, 1, true},
	nvml.FieldPCIeRx:         {model.PCIeRx, 1, true},
	nvml.FieldNVLinkTx:       {model.NVLinkTx, 1024, true},
	nvml.FieldNVLinkRx:       {model.NVLinkRx, 1024, true},
}

// elsewhere are the functions that a field stands for, for cards and drivers that
// do not have the field.
var elsewhere = []struct {
	field uint32
	gpuNumber
}{
	{nvml.FieldPowerInstant, gpuNumber{nvml.Power, model.Power, milli}},
	{nvml.FieldEnergy, gpuNumber{nvml.Energy, model.Energy, milli}},
}

// readFields reads what a card tells in fields. Those that it does not have are not
// asked for again.
func (c *card) readFields(r *reading) nvml.Return {
	if len(c.fields) > 0 {
		answer := r.took(r.driver.Fields(c.handle, c.fields))
		if isLost(answer) {
			return answer
		}
		c.takeFields(r, answer)
	}
	for _, e := range elsewhere {
		if c.hasField(e.field) {
			continue
		}
		if answer := c.number(r, e.gpuNumber); isLost(answer) {
			return answer
		}
	}
	return nvml.Success
}

func (c *card) hasField(id uint32) bool {
	return slices.ContainsFunc(c.fields, func(f nvml.Field) bool { return f.ID == id })
}

// takeFields takes over what the fields say after a call of them.
func (c *card) takeFields(r *reading, answer nvml.Return) {
	kept := c.fields[:0]
	stamp := int64(0)
	for _, f := range c.fields {
		status := partStatus(f.Return)
		if answer != nvml.Success {
			status = statusOf(answer)
		}
		stamp = max(stamp, f.Timestamp)
		if status != model.NotSupported {
			kept = append(kept, f)
		}
		c.takeField(r.at, &f, status)
	}
	c.fields = kept
	if answer == nvml.Success {
		r.stamp(stamp)
	}
}

func (c *card) takeField(at time.Duration, f *nvml.Field, status model.Status) {
	of := fieldOf[f.ID]
	v, whole := f.Uint()
	switch {
	case status == model.Measured && !whole:
		status = model.BadSample
	case of.counter && status == model.Measured:
		rate, status := c.links[of.metric-model.PCIeTx].rate(v, f.Wide(), f.Timestamp, at)
		put(&c.device, of.metric, rate*of.scale, status, model.FromDriver)
		return
	}
	put(&c.device, of.metric, float64(v)*of.scale, status, model.FromDriver)
}

// gpuCounter is one as it was read last.
type gpuCounter struct {
	known bool
	value uint64
	stamp int64 // microseconds since 1970, by the driver
	at    time.Duration
}

// rate is how much the counter grew a second since it was read last. One of fewer
// than 64 bits goes round too often for that: 4 GiB are a quarter of a second of a
// PCIe link. One that has shrunk began anew. Nor is there a rate where the driver's
// clock and the schedule do not agree on how long it was: one of them was set, or
// the machine slept.
func (l *gpuCounter) rate(value uint64, wide bool, stamp int64, at time.Duration) (float64, model.Status) {
	if !wide {
		return 0, model.NotSupported
	}
	was := *l
	*l = gpuCounter{true, value, stamp, at}
	took := time.Duration(stamp-was.stamp) * time.Microsecond
	if !was.known || value < was.value || took <= 0 || !alike(took, at-was.at) {
		return 0, model.NotReady
	}
	return float64(value-was.value) / took.Seconds(), model.Measured
}

// alike reports whether two measurements of one time agree, as far as they can
// where a round takes long.
func alike(a, b time.Duration) bool {
	const factor, grain = 2, 2 * time.Second
	return a <= factor*b+grain && b <= factor*a+grain
}

const (
	// shortestGPM is the least time between two samples that the library allows.
	shortestGPM = 100 * time.Millisecond
	// longestGPM is the longest time for which a mean is still said to be of now,
	// unless polls are as rare: after a pause two samples say nothing of it.
	longestGPM = 10 * time.Second
	gpmFactor  = 3
)

// gpm reads the performance counters of one GPU or MIG instance: the difference of
// two samples is the mean over the time between them.
type gpm struct {
	supported bool
	from, to  nvml.Sample
	sampled   bool // from holds a sample
	at        time.Duration
	between   time.Duration // the last two samples
	status    model.Status  // why there are no values, of the last round
	detail    string
}

// metricOf says what each of the library's metrics is a reading of: shares in
// percent, and rates of links in MiB/s.
var metricOf = []struct {
	id     uint32
	metric model.DeviceMetric
	rate   bool
}{
	{nvml.MetricSM, model.SMActive, false},
	{nvml.MetricOccupancy, model.SMOccupancy, false},
	{nvml.MetricTensor, model.TensorActive, false},
	{nvml.MetricDRAM, model.DRAMActive, false},
	{nvml.MetricPCIeTx, model.PCIeTx, true},
	{nvml.MetricPCIeRx, model.PCIeRx, true},
	{nvml.MetricNVLinkTx, model.NVLinkTx, true},
	{nvml.MetricNVLinkRx, model.NVLinkRx, true},
	{nvml.MetricGraphics, model.Busy, false}, // last: of instances only
}

// supportsGPM asks once whether a GPU has the counters.
func supportsGPM(d nvml.Driver, handle nvml.Device) bool {
	ok, answer := d.GPM(handle)
	return ok && answer == nvml.Success
}

// free gives the samples back.
func (g *gpm) free(d nvml.Driver) {
	for _, s := range []nvml.Sample{g.from, g.to} {
		if s != 0 {
			_ = d.FreeSample(s) // there is nothing to do about it
		}
	}
	*g = gpm{supported: g.supported}
}

// read takes a sample by take, and works the metrics out since the one before it.
// Whatever goes wrong, both samples are worth nothing after it.
func (g *gpm) read(r *reading, metrics []nvml.Metric, take func(nvml.Sample) nvml.Return) nvml.Return {
	if g.status == model.NotPermitted && !r.slow {
		return nvml.Success
	}
	if answer := g.alloc(r.driver); answer != nvml.Success {
		return g.fail(answer)
	}
	if answer := take(g.to); answer != nvml.Success {
		return g.fail(r.took(answer))
	}
	between := r.at - g.at
	whole := g.sampled && between <= max(longestGPM, gpmFactor*g.between)
	g.from, g.to = g.to, g.from // from is the new one now
	g.sampled, g.at, g.between = true, r.at, between
	g.status, g.detail = model.NotReady, ""
	if !whole {
		return nvml.Success
	}
	answer := r.took(r.driver.Metrics(g.to, g.from, metrics))
	if answer != nvml.Success {
		return g.fail(answer)
	}
	g.status = model.Measured
	return nvml.Success
}

func (g *gpm) alloc(d nvml.Driver) (answer nvml.Return) {
	for _, s := range []*nvml.Sample{&g.from, &g.to} {
		if *s != 0 {
			continue
		}
		if *s, answer = d.NewSample(); answer != nvml.Success {
			*s = 0
			return answer
		}
	}
	return nvml.Success
}

func (g *gpm) fail(answer nvml.Return) nvml.Return {
	g.sampled, g.between = false, 0
	g.status, g.detail = statusOf(answer), ""
	switch answer {
	case nvml.NoPermission:
		g.detail = "its performance counters need admin rights: run as root, or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0"
	case nvml.InUse:
		g.detail = "its performance counters are taken by another profiler, such as DCGM or Nsight"
	}
	if g.status == model.NotSupported {
		g.supported = false
	}
	return answer
}

// early reports whether the last sample is too new for another.
func (g *gpm) early(at time.Duration) bool { return g.sampled && at-g.at < shortestGPM }

// show notes on a device what the counters say, if they may be asked at all. Where
// they say nothing of a link, what the driver itself says stays.
func (g *gpm) show(d *model.Device, metrics []nvml.Metric) {
	for i := range metrics {
		of := metricOf[i]
		status := g.status
		if status == model.Measured {
			status = partStatus(metrics[i].Return)
		}
		if of.rate && status != model.Measured && d.From[of.metric] == model.FromDriver {
			continue
		}
		v := metrics[i].Value * (1 << 20)
		if !of.rate {
			v = share(metrics[i].Value)
		}
		put(d, of.metric, v, status, model.FromCounters)
	}
}

// share is a percentage as a share. One of two samples may come out a trace above
// all of it.
func share(percent float64) float64 {
	const trace = 102
	if percent > 100 && percent <= trace {
		return 1
	}
	return percent / 100
}

// readCounters reads the performance counters of the whole GPU. Those of one that
// is divided are read for each instance.
func (c *card) readCounters(r *reading) nvml.Return {
	wanted := wantedMetrics(len(metricOf) - 1)
	if c.divided {
		c.gpm.free(r.driver)
		c.gpm.status = model.NotSupported
		c.gpm.show(&c.device, wanted)
		return nvml.Success
	}
	return c.gpm.update(r, &c.device, wanted, func(s nvml.Sample) nvml.Return { return r.driver.Take(c.handle, s) })
}

// update reads the counters and notes on a device what they say.
func (g *gpm) update(r *reading, d *model.Device, wanted []nvml.Metric, take func(nvml.Sample) nvml.Return) nvml.Return {
	if g.early(r.at) {
		d.Detail = g.detail
		return nvml.Success
	}
	answer := nvml.Success
	if g.supported {
		answer = g.read(r, wanted, take)
	}
	if !g.supported {
		g.status = model.NotSupported
	}
	g.show(d, wanted)
	d.Detail = g.detail
	return answer
}

// wantedMetrics are the first n of metricOf, ready to be asked for.
func wantedMetrics(n int) []nvml.Metric {
	list := make([]nvml.Metric, n)
	for i := range list {
		list[i].ID = metricOf[i].id
	}
	return list
}

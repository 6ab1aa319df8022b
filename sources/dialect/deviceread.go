package dialect

import (
	"math"
	"slices"

	"slotop/model"
	"slotop/sources/expo"
)

// devicePlan is how one target's devices are read from page to page.
type devicePlan struct {
	*deviceLayout
	now    []model.Device // each as of the last page that had it
	shown  [][]bool       // of each, which of its series were on that page
	listed []model.Device
	grown  map[int]growth // of counters of throttling, by series
	sets   map[reasons][]string
}

// growth is what a counter of throttling did between the last two pages on which
// its device's readings moved.
type growth struct {
	last float64
	grew bool
	sure bool // two pages have shown it
}

func newDevicePlan(l *deviceLayout) *devicePlan {
	d := &devicePlan{
		deviceLayout: l, now: make([]model.Device, len(l.rows)), listed: make([]model.Device, 0, len(l.rows)),
		grown: map[int]growth{}, sets: map[reasons][]string{0: {}},
	}
	for i := range l.rows {
		d.now[i] = l.rows[i].fixed
		d.shown = append(d.shown, make([]bool, len(l.rows[i].own)+len(l.rows[i].kin)))
	}
	return d
}

// Devices are the GPUs that a page tells of, in a fixed order; nil where the
// dialect knows of none. The slice is valid until the next call, what it points to
// stays as it is. A device whose series are all gone is not in it.
func (pl *Plan) Devices(p *expo.Page) []model.Device {
	d := pl.devices
	if d == nil {
		return nil
	}
	d.listed = d.listed[:0]
	for i := range d.rows {
		r, dev := &d.rows[i], &d.now[i]
		here, moved := r.look(p, d.shown[i])
		if !here {
			continue
		}
		if moved {
			was := *dev
			*dev = d.identify(p, r)
			dev.Readings, dev.Processes = was.Readings, was.Processes
		}
		d.read(p, r, dev)
		d.listed = append(d.listed, d.now[i])
	}
	return d.listed
}

// look notes which of a device's series are on the page: whether it is there, and
// whether they are others than before.
func (r *deviceRows) look(p *expo.Page, shown []bool) (here, moved bool) {
	for i := range shown {
		row := 0
		if i < len(r.own) {
			row = r.own[i]
		} else {
			row = r.kin[i-len(r.own)]
		}
		seen := p.Seen[row]
		here = here || seen && (i < len(r.own) || !r.slice)
		moved = moved || seen != shown[i]
		shown[i] = seen
	}
	return here, moved
}

// read brings a device up to date.
func (d *devicePlan) read(p *expo.Page, r *deviceRows, dev *model.Device) {
	before := dev.Readings
	sliced := r.sliced || r.on != none && p.Seen[r.on] && p.Values[r.on] == 1
	for m := range model.NumDeviceMetrics {
		dev.Readings[m], dev.From[m] = d.metric(p, r, m, sliced)
	}
	noMemory(dev)
	dev.Detail = r.detail(dev, sliced)
	d.throttled(p, r, dev, before == dev.Readings)
	dev.Processes = processesOf(p, r, dev.Processes)
}

// metric is a metric by the first way that measured it. A way that says that there
// is no such reading lets the next one speak; one that says nonsense does not.
func (d *devicePlan) metric(p *expo.Page, r *deviceRows, m model.DeviceMetric, sliced bool) (model.DeviceReading, model.Precision) {
	none := model.DeviceReading{}
	if sliced && (d.unsliced[m] || d.counted[m]) || r.slice && (d.unsliced[m] || d.whole[m]) {
		none.Status = model.NotSupported
	}
	for i := range r.cells[m] {
		c := &r.cells[m][i]
		if c.way.Unsliced && sliced {
			continue
		}
		v := c.read(p, m)
		if v.Status == model.NotExported {
			continue
		}
		if v.Status != model.NotSupported {
			return v, c.way.precision()
		}
		none = v
	}
	if none.Status == model.NotExported && p.Bad > 0 && len(r.cells[m]) > 0 {
		none.Status = model.NotReady // a line that could not be read may hide it
	}
	return none, model.FromText
}

func (w *deviceWay) precision() model.Precision {
	if w.Counters {
		return model.FromCounters
	}
	return model.FromDriver
}

// read adds up the operands. Without one of them there is no sum.
func (c *deviceCell) read(p *expo.Page, m model.DeviceMetric) model.DeviceReading {
	sum := model.Measure(0)
	for _, rows := range c.terms {
		v := c.term(p, m, rows)
		if v.Status != model.Measured {
			return v
		}
		sum.Value += v.Value
	}
	return plausible(m, sum.Value)
}

// term is the largest of the rows of a device, or their sum.
func (c *deviceCell) term(p *expo.Page, m model.DeviceMetric, rows []int) model.DeviceReading {
	var best model.DeviceReading
	for _, row := range rows {
		if !p.Seen[row] {
			continue
		}
		v := c.way.reading(m, p.Values[row])
		switch {
		case v.Status != model.Measured:
			best = worse(best, v)
		case best.Status != model.Measured:
			best = v
		case c.way.Add:
			best.Value += v.Value
		default:
			best.Value = max(best.Value, v.Value)
		}
	}
	return best
}

// worse keeps a value, and of two readings without one that which says more.
func worse(a, b model.DeviceReading) model.DeviceReading {
	if a.Status == model.Measured || a.Status > b.Status {
		return a
	}
	return b
}

// reading is what one exposed value says.
func (w *deviceWay) reading(m model.DeviceMetric, v float64) model.DeviceReading {
	switch {
	case math.IsNaN(v):
		return model.DeviceReading{Status: model.NotReady}
	case w.BlankFrom > 0 && v >= w.BlankFrom && !math.IsInf(v, 0) || slices.Contains(w.Blank, v):
		return model.DeviceReading{Status: model.NotSupported}
	}
	return plausible(m, scaled(w.Scale, v))
}

// slack is by how much a ratio may pass 1 and still be one: shares of a period are
// counted by one clock and divided by another.
const slack = 0.02

// bounds are what a device's metric can be. The upper ones are ten times what the
// largest parts have, so that only nonsense is beyond them: a sample in some
// hundred thousand is, and would flatten a chart for an hour.
var bounds = func() (b [model.NumDeviceMetrics]struct{ low, high float64 }) {
	for _, m := range []model.DeviceMetric{
		model.Busy, model.MemBusy, model.SMActive, model.SMOccupancy, model.TensorActive, model.DRAMActive,
	} {
		b[m].high = 1
	}
	for _, m := range []model.DeviceMetric{model.MemTotal, model.MemReserved, model.MemUsed} {
		b[m].high = 1 << 47 // 128 TiB
	}
	for _, m := range []model.DeviceMetric{model.Power, model.PowerLimit} {
		b[m].high = 1e5
	}
	for _, m := range []model.DeviceMetric{model.SMClock, model.SMClockMax, model.MemClock, model.MemClockMax} {
		b[m].high = 1e11
	}
	for _, m := range []model.DeviceMetric{model.Temperature, model.MemTemperature} {
		b[m].low, b[m].high = -100, 250
	}
	for _, m := range []model.DeviceMetric{model.PCIeTx, model.PCIeRx, model.NVLinkTx, model.NVLinkRx, model.DRAMPeak} {
		b[m].high = 1e15
	}
	b[model.Energy].high = 1e16
	b[model.ECCErrors].high = 1 << 53
	return b
}()

// isRatio reports whether a metric is a share of time.
func isRatio(m model.DeviceMetric) bool { return bounds[m].high == 1 }

// plausible is a value in the metric's unit, or a bad sample.
func plausible(m model.DeviceMetric, v float64) model.DeviceReading {
	low, high := bounds[m].low, bounds[m].high
	if isRatio(m) && v <= 1+slack {
		v = min(v, 1)
	}
	if !(v >= low && v <= high) {
		return model.DeviceReading{Status: model.BadSample}
	}
	return model.Measure(v + 0) // no minus before a zero
}

// noMemory takes away what a part without memory of its own says of it: drivers of
// such parts answer 0 of 0 and call it success.
func noMemory(d *model.Device) {
	if total := d.Readings[model.MemTotal]; total.Status != model.Measured || total.Value > 0 {
		return
	}
	for _, m := range []model.DeviceMetric{model.MemTotal, model.MemReserved, model.MemUsed} {
		if d.Readings[m].Status == model.Measured {
			d.Readings[m] = model.DeviceReading{Status: model.NotSupported}
		}
	}
}

// detail says why a sliced GPU has no utilization, and how a slice gets one.
func (r *deviceRows) detail(dev *model.Device, sliced bool) string {
	if (r.slice || sliced) && dev.Readings[model.Busy].Status != model.Measured {
		return r.unmeasured
	}
	return r.fixed.Detail
}

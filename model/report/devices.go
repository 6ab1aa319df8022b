package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// maxDevices is up to how many GPUs have a row each, whatever they do. Of more, only
// those have one that are out of the ordinary, and as many at most.
const maxDevices = 16

// gpus is one row a GPU or slice, and below it what is out of the ordinary.
func (p *page) gpus(f *model.Frame) {
	if len(f.Devices) == 0 {
		return
	}
	p.line("")
	p.deviceSum(f)
	rows := make([]*model.DeviceView, 0, len(f.Devices))
	for i := range f.Devices {
		if d := &f.Devices[i]; len(f.Devices) <= maxDevices || odd(d) {
			rows = append(rows, d)
		}
	}
	shown := rows[:min(len(rows), maxDevices)]
	p.deviceRows(shown)
	if n := len(f.Devices) - len(shown); n > 0 && len(rows) > len(shown) {
		p.line(fmt.Sprintf("+ %d more, %d of them out of the ordinary", n, len(rows)-len(shown)))
	} else if n > 0 {
		p.line(fmt.Sprintf("+ %d more, present and at work as they should", n))
	}
}

// deviceSum is all GPUs in one line.
func (p *page) deviceSum(f *model.Frame) {
	s := f.DeviceSum
	if s == nil {
		return
	}
	lost, stale := 0, 0
	for i := range f.Devices {
		switch d := &f.Devices[i]; {
		case d.Parent != "" || d.State == model.DeviceUnsupported:
		case d.State == model.DeviceLost:
			lost++
		case d.Stale:
			stale++
		}
	}
	pieces := []string{plural(s.Total, "GPU") + " present"}
	if lost > 0 {
		pieces[0] = fmt.Sprintf("%d of %d present", s.Total-lost, s.Total)
	}
	if stale > 0 {
		pieces = append(pieces, fmt.Sprintf("%d stale", stale))
	}
	if s.Busy.OK() {
		pieces = append(pieces, "busy "+unit.Ratio(s.Busy.Value)+" (some kernel ran)"+meanOf(s))
	}
	if s.Used.OK() {
		pieces = append(pieces, "memory "+unit.BytesOf(s.Used.Value, s.Memory.Value))
	}
	if s.PowerW.OK() {
		pieces = append(pieces, "power "+unit.Watts(s.PowerW.Value))
	}
	if s.TookS.OK() && s.TookS.Value > f.Every.Seconds() && f.Every > 0 {
		pieces = append(pieces, "GPU round "+unit.Duration(s.TookS.Value))
	}
	if s.Bad > 0 {
		pieces = append(pieces, plural(s.Bad, "bad sample"))
	}
	p.flow("GPUS  ", ", ", pieces...)
}

// meanOf says of how many GPUs the mean is, where that is not all of them.
func meanOf(s *model.DevicesView) string {
	if s.Measured == s.Total {
		return ""
	}
	return fmt.Sprintf(", mean of %d of %d", s.Measured, s.Total)
}

// odd reports whether there is more to say of a device than its numbers.
func odd(d *model.DeviceView) bool {
	hot := slices.ContainsFunc(d.Throttled, func(r string) bool { return r != model.ThrottlePowerCap })
	return d.State != model.DevicePresent || d.Stale || d.NotCredible || hot
}

func (p *page) deviceRows(rows []*model.DeviceView) {
	if len(rows) == 0 {
		return
	}
	busyW, stateW, throttleW, runsW := 5, len("present"), len("THROTTLED"), len("RUNS")
	for _, d := range rows {
		stateW = max(stateW, len(deviceState(d)))
		throttleW = max(throttleW, len(p.throttles(d)))
		busyW = max(busyW, unit.Width(p.busy(d)))
		runsW = max(runsW, unit.Width(p.runs(d)))
	}
	t := p.table(
		column{head: "GPU"},
		column{head: "STATE", min: stateW, left: true},
		column{head: "BUSY", min: busyW},
		column{head: "TENSOR", min: 6, drop: 3},
		column{head: "DRAM", min: 5, drop: 2},
		column{head: "MEMORY", min: 12, drop: 4},
		column{head: "POWER", min: 9, drop: 5},
		column{head: "CLOCK", min: 8, drop: 6},
		column{head: "TEMP", min: 6, drop: 8},
		column{head: "THROTTLED", min: min(throttleW, p.width/4), left: true, drop: 7},
		column{head: "RUNS", min: min(runsW, p.width/5), left: true, drop: 9},
	)
	for _, d := range rows {
		p.row(t, p.name(deviceName(d), t.name), deviceState(d), p.busy(d),
			p.value(d, model.TensorActive, unit.Percent), p.value(d, model.DRAMActive, unit.Percent),
			p.memory(d), p.power(d), p.value(d, model.SMClock, unit.Hertz),
			p.value(d, model.Temperature, func(c float64) string { return unit.Celsius(c, p.ascii) }), p.throttles(d), p.runs(d))
		p.device(d)
	}
}

// deviceName is a GPU's number on its host, or its name; a slice stands below its
// GPU.
func deviceName(d *model.DeviceView) string {
	host := string(d.Host)
	if host == "" {
		host = d.Target
	}
	switch {
	case d.Parent != "" && d.Profile != "":
		return "  " + string(d.Profile)
	case d.Parent != "":
		return "  " + d.UUID
	case d.Index.OK():
		return strings.TrimSpace(host + " " + strconv.Itoa(int(d.Index.Value)) + " " + strings.TrimPrefix(string(d.Name), "NVIDIA "))
	default:
		return d.UUID
	}
}

func deviceState(d *model.DeviceView) string {
	switch {
	case d.State == model.DeviceLost:
		return "LOST"
	case d.Stale:
		return "stale"
	default:
		return string(d.State)
	}
}

// device writes the lines below a device's row; for a healthy one there are none.
func (p *page) device(d *model.DeviceView) {
	const indent = "  "
	if d.State == model.DeviceLost {
		p.sentence(indent, p.safe("lost since "+p.ago(d.Since)+", "+d.UUID+", bus "+orNone(string(d.Bus))+": "+string(d.Detail)))
	}
	if d.Stale {
		p.sentence(indent, "stale since "+p.ago(d.GoodAt))
	}
	if d.NotCredible {
		p.sentence(indent, "0 % busy is not credible: tokens are flowing")
	}
	if d.State == model.DeviceUnsupported && d.Detail != "" {
		p.sentence(indent, p.safe(string(d.Detail)))
	}
	if d.UnchangedS.OK() {
		p.sentence(indent, "no reading has moved for "+unit.Duration(d.UnchangedS.Value)+": its source repeats itself")
	}
	if d.BadSamples > 0 {
		p.sentence(indent, plural(d.BadSamples, "bad sample"))
	}
}

// runs are the engines on a device.
func (p *page) runs(d *model.DeviceView) string {
	if len(d.Engines) == 0 {
		return unit.None(p.ascii)
	}
	return p.safe(strings.Join(d.Engines, ", "))
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// value is one reading, or the word for why there is none.
func (p *page) value(d *model.DeviceView, m model.DeviceMetric, format func(float64) string) string {
	v := d.Values[m]
	switch {
	case v.OK():
		return format(v.Value)
	case v.State == model.Stale:
		return p.missing(model.Stale)
	case v.Status == model.NotExported || v.Status == model.Measured:
		return p.missing(model.Unsupported)
	}
	p.statuses |= 1 << v.Status
	return v.Status.Brief()
}

// busy is for how long some kernel ran. A slice has no such reading, nor has a GPU
// that is divided.
func (p *page) busy(d *model.DeviceView) string {
	v := d.Values[model.Busy]
	switch {
	case d.NotCredible:
		return unit.Percent(0) + "?"
	case v.Status == model.NotSupported && d.Division() != "":
		return "n/a (" + d.Division() + ")"
	}
	return p.value(d, model.Busy, unit.Percent)
}

// memory is what is used of how much; where only one is known that alone.
func (p *page) memory(d *model.DeviceView) string {
	if used, total := d.Values[model.MemUsed], d.Values[model.MemTotal]; used.OK() && total.OK() {
		return unit.BytesOf(used.Value, total.Value)
	}
	return p.value(d, model.MemUsed, unit.Bytes)
}

func (p *page) power(d *model.DeviceView) string {
	if power, limit := d.Values[model.Power], d.Values[model.PowerLimit]; power.OK() && limit.OK() {
		return unit.WattsOf(power.Value, limit.Value)
	}
	return p.value(d, model.Power, unit.Watts)
}

// throttles are why it runs slower than it could.
func (p *page) throttles(d *model.DeviceView) string {
	switch {
	case d.Throttled == nil || d.Stale || d.State == model.DeviceLost:
		return unit.None(p.ascii)
	case len(d.Throttled) == 0:
		return "no"
	default:
		return p.safe(strings.Join(d.Throttled, ", "))
	}
}

// explainStatuses are the words for readings without a value that were used.
func (p *page) explainStatuses() (pieces []string) {
	for s := model.NotExported; s <= model.Failing; s++ {
		if p.statuses&(1<<s) == 0 {
			continue
		}
		means := s.String()
		switch s {
		case model.NotSupported:
			means = "the device has no such reading"
		case model.Failing:
			means = "its source failed to read it"
		}
		pieces = append(pieces, s.Brief()+": "+means)
	}
	return pieces
}

package panes

import (
	"fmt"
	"math"
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Devices is a row a GPU, by host, its slices below it: what each does, and what
// holds it back. Rows stand where they were first seen and never move.
type Devices struct{}

// Name names the pane.
func (Devices) Name() string { return "devices" }

// Want takes all the room there is, below the engines' utilization what that leaves: a
// few rows at least, and all of it first where the cursor is here.
func (Devices) Want(f *model.Frame, w int, look Look) layout.Want {
	if len(f.Utilization) == 0 {
		return wholeScreen{}.Want(f, w, look)
	}
	want := layout.Want{Min: min(len(f.Devices), 3) + 2, Max: math.MaxInt16, Drop: 2}
	if n := len(f.Devices); n > 0 && n <= fewDevices { // what their rows do not need is the roofline's
		want.Max = len(deviceList(f)) + len(silentTellers(f, deviceList(f), w, look)) + 3
	}
	want.Ideal = max(min(len(f.Devices), 5)+2, want.Min)
	if look.View.Device != "" {
		want.Drop = 0
	}
	return want
}

// fewDevices is up to how many GPUs a screen may have lines to spare.
const fewDevices = 64

// Render draws the rows around the cursor, and only those.
func (Devices) Render(f *model.Frame, size layout.Size, look Look) string {
	out := []string{devicesTitle(f, size.W, look)}
	if len(f.Devices) == 0 {
		return lines(size.H, append(out, noDevices(f, size, look)...)...)
	}
	list := deviceList(f)
	if size.H > leastSums || size.H >= len(list)+3 {
		out = append(out, look.line(size.W).pad(indent).parts(3, deviceSums(f, look)...).String())
	}
	out = append(out, silentTellers(f, list, size.W, look)...)
	under := DeviceUnder(f, look.View)
	here := look.View.Device != "" || len(f.Utilization) == 0
	if u := UtilizationUnder(f, look.View); !here && u != nil { // the rows around those of the engine above
		if gpus := gpusOf(f, u.Target); len(gpus) > 0 {
			under = gpus[0]
		}
	}
	at := max(slices.IndexFunc(list, func(e deviceEntry) bool { return e.d == under }), 0)
	from, to, more := visible(len(list), at, size.H-len(out)-1)
	t := fit(deviceColumns(list[from:to], size.W, look), size.W-1)
	out = append(out, t.head(look))
	for i, e := range list[from:to] {
		if e.d == nil {
			out = append(out, look.line(size.W-1).pad(1).parts(2, hostHead(f, e.host, look)...).String())
			continue
		}
		out = append(out, deviceRow(t, e.d, here && from+i == at, look))
	}
	if more > 0 {
		text := fmt.Sprintf("%d to %d of %d", from+1, to, len(list))
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, text).String())
	}
	return lines(size.H, out...)
}

// leastSums is up to which height the rows have all the room, where they need it.
const leastSums = 8

// devicesTitle counts the states of the GPUs, and says what the first column's number
// is worth.
func devicesTitle(f *model.Frame, w int, look Look) string {
	title := []seg{{themes.Strong, "GPUS"}}
	if f.DeviceSum != nil {
		title = append(title, seg{themes.Text, " " + gpuCount(f)})
	}
	counts := map[condition]int{}
	doubted := false
	for i := range f.Devices {
		d := &f.Devices[i]
		counts[deviceCondition(d)]++
		doubted = doubted || d.NotCredible
	}
	for _, c := range []condition{down, stale} {
		if n := counts[c]; n > 0 {
			title = append(title, seg{themes.Text, "  "}, seg{conditionTable[c].role, fmt.Sprintf("%d %s", n, deviceWord(c))})
		}
	}
	if n := gpusHeldBack(f); n > 0 {
		title = append(title, seg{themes.Text, "  "}, seg{themes.Warn, fmt.Sprintf("%d held back", n)})
	}
	var remarks []part
	if s := f.DeviceSum; s != nil && s.TookS.OK() && f.Every > 0 && s.TookS.Value > f.Every.Seconds() {
		remarks = append(remarks, say(1, themes.Warn, "GPU round "+unit.Duration(s.TookS.Value)).of("round", ""))
	}
	if doubted {
		remarks = append(remarks, say(2, themes.Warn, "0 %? tokens flow"))
	}
	return look.rule(w, title, append(remarks, say(3, themes.Muted, "busy: some kernel ran"))...)
}

// gpuCount is how many GPUs there are, of how many where some are lost.
func gpuCount(f *model.Frame) string {
	all := f.DeviceSum.Total
	if n := gpusLost(f); n > 0 {
		return fmt.Sprintf("%d of %d", all-n, all)
	}
	return unit.Integer(float64(all))
}

// deviceSums is all GPUs in one line.
func deviceSums(f *model.Frame, look Look) []part {
	s := f.DeviceSum
	if s == nil {
		return nil
	}
	mean := ""
	if s.Busy.OK() && s.Measured < s.Total {
		mean = fmt.Sprintf(", mean of %d of %d", s.Measured, s.Total)
	}
	busy := part{segs: []seg{{themes.Muted, "busy "}, seg(look.reading(s.Busy, 12, unit.Ratio)), {themes.Muted, mean}}}.of("busy", "")
	return append([]part{busy}, deviceTotals(s)...)
}

// deviceTotals is what all GPUs hold and draw together.
func deviceTotals(s *model.DevicesView) []part {
	var out []part
	if s.Used.OK() && s.Memory.OK() {
		out = append(out, part{segs: []seg{{themes.Muted, "memory "}, {themes.Text, unit.BytesOf(s.Used.Value, s.Memory.Value)}}, drop: 1}.of("memory_used", ""))
	}
	if s.PowerW.OK() {
		out = append(out, part{segs: []seg{{themes.Muted, "power "}, {themes.Text, unit.Watts(s.PowerW.Value)}}, drop: 2}.of("power_w", ""))
	}
	if s.Bad > 0 {
		out = append(out, say(3, themes.Warn, plural(s.Bad, "bad sample")).of("bad_samples", ""))
	}
	return out
}

// deviceCondition is what a device is in, in the words and marks of all rows.
func deviceCondition(d *model.DeviceView) condition {
	switch {
	case d.State == model.DeviceLost:
		return down
	case d.Stale:
		return stale
	case d.State == model.DeviceUnsupported:
		return cannot
	case d.NotCredible:
		return undecided
	case heldBack(d):
		return atRisk
	default:
		return up
	}
}

func deviceWord(c condition) string {
	switch c {
	case down:
		return "LOST"
	case stale:
		return "stale"
	case cannot:
		return "unsupported"
	default:
		return "present"
	}
}

// heldBack reports whether a device runs slower for a reason that somebody should
// look at: a power cap alone is normal under load.
func heldBack(d *model.DeviceView) bool {
	return d.State == model.DevicePresent && !d.Stale &&
		slices.ContainsFunc(d.Throttled, func(r string) bool { return r != model.ThrottlePowerCap })
}

// deviceEntry is one line of the list: a device, or, without one, the head of a host.
type deviceEntry struct {
	d    *model.DeviceView
	host *hostGPUs
}

// hostGPUs are the GPUs of a host, not their slices.
type hostGPUs struct {
	name string
	gpus []*model.DeviceView
}

// deviceList is every device by host, in the order of first sight, slices behind
// their GPU. Where there is one host only it has no head.
func deviceList(f *model.Frame) []deviceEntry {
	gpus := make(map[string]bool, len(f.Devices))
	for i := range f.Devices {
		gpus[f.Devices[i].UUID] = true
	}
	parts := map[string][]*model.DeviceView{}
	byHost := map[string]*hostGPUs{}
	var hosts []*hostGPUs
	for i := range f.Devices {
		d := &f.Devices[i]
		if d.Parent != "" && gpus[string(d.Parent)] {
			parts[string(d.Parent)] = append(parts[string(d.Parent)], d)
			continue
		}
		name := deviceHost(d)
		if byHost[name] == nil {
			byHost[name] = &hostGPUs{name: name}
			hosts = append(hosts, byHost[name])
		}
		byHost[name].gpus = append(byHost[name].gpus, d)
	}
	out := make([]deviceEntry, 0, len(f.Devices)+len(hosts))
	for _, h := range hosts {
		if len(hosts) > 1 {
			out = append(out, deviceEntry{host: h})
		}
		for _, d := range h.gpus {
			out = append(out, deviceEntry{d, h})
			for _, s := range parts[d.UUID] {
				out = append(out, deviceEntry{s, h})
			}
		}
	}
	return out
}

// deviceHost names the host of a device, or, where nobody says, who told of it.
func deviceHost(d *model.DeviceView) string {
	if d.Host != "" {
		return string(d.Host)
	}
	return d.Target
}

// hostHead is a host's name, how many GPUs it has, and whether who tells of them
// answers.
func hostHead(f *model.Frame, h *hostGPUs, look Look) []part {
	here, all := 0, 0
	for _, d := range h.gpus {
		if d.State != model.DeviceUnsupported {
			all++
		}
		if d.State == model.DevicePresent && !d.Stale {
			here++
		}
	}
	count := plural(all, "GPU")
	if here < all {
		count = fmt.Sprintf("%d of %s", here, count)
	}
	out := []part{say(0, themes.Strong, look.foreign(h.name, 40)), say(1, themes.Muted, count)}
	teller := h.gpus[0].Target
	if teller != h.name {
		out = append(out, say(2, themes.Muted, "told by "+look.foreign(teller, 40)))
	}
	for i := range f.Targets {
		if t := &f.Targets[i]; t.Name == teller && t.Fault != nil {
			out = append(out, part{segs: []seg{{themes.Breach, t.Fault.Kind.Word()}, {themes.Text, ": " + look.sentence(t.Fault.Detail, maxProse)}}, drop: 0})
		}
	}
	return out
}

// silentTellers is a line for each target that tells of GPUs and fails, as far as no
// head of a host says so.
func silentTellers(f *model.Frame, list []deviceEntry, w int, look Look) []string {
	headed := map[string]bool{}
	for _, e := range list {
		if e.d == nil {
			headed[e.host.gpus[0].Target] = true
		}
	}
	var out []string
	for i := range f.Targets {
		t := &f.Targets[i]
		if t.Kind != model.GPUTarget || t.Fault == nil || headed[t.Name] || len(out) == maxSilent {
			continue
		}
		c := conditionOf(t)
		l := look.line(w-1).pad(1).put(conditionTable[c].role, look.mark(c)).pad(indent).put(themes.Strong, look.foreign(t.Name, 30)).pad(indent + 1)
		out = append(out, l.pad(l.w+1).put(themes.Breach, t.Fault.Kind.Word()).put(themes.Text, ": "+look.sentence(t.Fault.Detail, maxProse)).String())
	}
	return out
}

// maxSilent leaves the screen to the GPUs.
const maxSilent = 3

// DeviceOrder lists the devices as the screen shows them.
func DeviceOrder(f *model.Frame) []string {
	var out []string
	for _, e := range deviceList(f) {
		if e.d != nil {
			out = append(out, e.d.UUID)
		}
	}
	return out
}

// DeviceUnder is the device under the cursor, the first on screen without a choice,
// nil when there is none.
func DeviceUnder(f *model.Frame, v View) *model.DeviceView {
	for i := range f.Devices {
		if f.Devices[i].UUID == v.Device {
			return &f.Devices[i]
		}
	}
	for _, e := range deviceList(f) {
		if e.d != nil {
			return e.d
		}
	}
	return nil
}

// noDevicesH is the height from which every way to learn of GPUs is listed.
const noDevicesH = 8

// noDevices says what is missing, and how to get it.
func noDevices(f *model.Frame, size layout.Size, look Look) []string {
	w := size.W
	s := &sheet{w: w, look: look}
	told := false
	for i := range f.Targets {
		if t := &f.Targets[i]; t.Kind == model.GPUTarget {
			told = true
			s.out = append(s.out, tried(f, t, w, look)...)
		}
	}
	if told {
		return s.out
	}
	if size.H < noDevicesH {
		s.text(indent, themes.Muted, "nobody tells of GPUs: name nvml: or a GPU exporter beside the engines")
		return s.out
	}
	s.text(indent, themes.Text, "nobody tells of GPUs")
	s.out = append(s.out, "")
	for _, way := range []struct{ what, how string }{
		{"nvml:", "this host's NVIDIA GPUs, through the driver or nvidia-smi"},
		{"HOST:9400", "dcgm-exporter, with tensor and DRAM activity"},
		{"HOST:9835", "nvidia_gpu_exporter"},
		{"HOST:5000", "AMD's device-metrics-exporter"},
		{"HOST:8080", "Intel's xpumd"},
		{"HOST:9090", "all-smi"},
	} {
		s.facts(way.what, say(0, themes.Muted, way.how))
	}
	s.out = append(s.out, "")
	s.text(indent, themes.Muted, "name one beside the engines: slotop localhost:8000 nvml:")
	return s.out
}

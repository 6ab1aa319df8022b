package panes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Device is one GPU or slice, opened: every reading with its meaning, what holds it
// back, what runs on it and how that is known.
type Device struct{ wholeScreen }

// Name names the pane.
func (Device) Name() string { return "device" }

// Render draws the lines from View.Scroll on.
func (Device) Render(f *model.Frame, size layout.Size, look Look) string {
	return scrolled(devicePage(f, size.W, look), look.View.Scroll, size, look)
}

// Scroll is how far the page can be scrolled.
func (Device) Scroll(f *model.Frame, size layout.Size, look Look) int {
	return scrollable(len(devicePage(f, size.W, look)), size)
}

func devicePage(f *model.Frame, w int, look Look) []string {
	d := DeviceUnder(f, look.View)
	if d == nil || look.View.Device != "" && d.UUID != look.View.Device {
		return []string{look.line(w).pad(1).put(themes.Muted, "this GPU is no longer known: esc goes back").String()}
	}
	s := &sheet{w: w, look: look}
	c := deviceCondition(d)
	title := []seg{
		{conditionTable[c].role, look.mark(c) + " "}, {themes.Strong, look.cut(deviceLabel(d, look), 40)},
		{conditionTable[c].role, " " + deviceWord(c)},
	}
	if !d.Since.IsZero() && c != stale {
		title = append(title, seg{themes.Muted, " for " + look.span(f.At.Sub(d.Since).Truncate(time.Second)) + ", since " + hms(d.Since) + " UTC"})
	}
	s.out = append(s.out, look.rule(w, title))
	s.identity(f, d)
	s.readings(d)
	s.onDevice(d)
	return s.out
}

// identity says which device it is, who tells of it and how well.
func (s *sheet) identity(f *model.Frame, d *model.DeviceView) {
	k := s.look
	if d.State == model.DeviceLost {
		s.prose("lost", themes.Breach, string(d.Detail))
	} else if d.Detail != "" {
		s.prose("", themes.Muted, string(d.Detail))
	}
	s.prose("uuid", themes.Text, d.UUID)
	var where []part
	for _, x := range []struct {
		label string
		text  model.Text
	}{{"host", d.Host}, {"bus", d.Bus}, {"part of", d.Parent}, {"profile", d.Profile}} {
		if x.text != "" {
			where = append(where, part{segs: []seg{{themes.Muted, x.label + " "}, {themes.Text, k.foreign(string(x.text), 44)}}})
		}
	}
	if d.Index.OK() {
		where = append(where, part{segs: []seg{{themes.Muted, "number "}, {themes.Text, strconv.Itoa(int(d.Index.Value))}}})
	}
	if d.Slices > 0 {
		where = append(where, say(0, themes.Text, plural(d.Slices, "slice")))
	}
	s.facts("", where...)
	told := []part{say(0, themes.Text, k.foreign(d.Target, 40))}
	if !d.GoodAt.IsZero() {
		told = append(told, say(0, themes.Muted, "last read "+hms(d.GoodAt)+", "+k.age(f.At.Sub(d.GoodAt))+" ago"))
	}
	if d.Stale {
		told = append(told, say(0, themes.Warn, "stale since "+hms(d.GoodAt)))
	}
	if d.UnchangedS.OK() {
		told = append(told, say(0, themes.Warn, "no reading moved for "+unit.Duration(d.UnchangedS.Value)+": it repeats itself").of("unchanged", d.UUID))
	}
	role := themes.Muted
	if d.BadSamples > 0 {
		role = themes.Warn
	}
	s.facts("told by", append(told, say(0, role, plural(d.BadSamples, "bad sample")).of("bad_samples", d.UUID))...)
}

// deviceFacts are the readings of a page, by what they are about.
var deviceFacts = []struct {
	label string
	of    []deviceFact
}{
	{"compute", []deviceFact{{"busy", model.Busy}, {"SM active", model.SMActive}, {"SM occupancy", model.SMOccupancy}, {"tensor active", model.TensorActive}}},
	{"bandwidth", []deviceFact{{"DRAM active", model.DRAMActive}, {"memory busy", model.MemBusy}, {"peak", model.DRAMPeak}}},
	{"memory", []deviceFact{{"used", model.MemUsed}, {"of", model.MemTotal}, {"reserved", model.MemReserved}}},
	{"power", []deviceFact{{"now", model.Power}, {"limit", model.PowerLimit}, {"energy", model.Energy}}},
	{"clocks", []deviceFact{{"SM", model.SMClock}, {"of", model.SMClockMax}, {"memory", model.MemClock}, {"of", model.MemClockMax}}},
	{"heat", []deviceFact{{"chip", model.Temperature}, {"memory", model.MemTemperature}}},
	{"links", []deviceFact{{"PCIe out", model.PCIeTx}, {"in", model.PCIeRx}, {"NVLink out", model.NVLinkTx}, {"in", model.NVLinkRx}}},
	{"ECC", []deviceFact{{"uncorrected errors", model.ECCErrors}}},
}

// deviceFact is a reading and what it is called beside those like it.
type deviceFact struct {
	label  string
	metric model.DeviceMetric
}

// readings is every reading, those without a value with the reason.
func (s *sheet) readings(d *model.DeviceView) {
	k := s.look
	s.rule("READINGS", say(1, themes.Muted, "busy: some kernel ran, on however little of the chip"))
	if d.NotCredible {
		s.prose("", themes.Warn, "0 % busy is not credible: tokens are flowing on "+strings.Join(d.Engines, ", "))
	}
	for _, group := range deviceFacts {
		var ps []part
		for _, fact := range group.of {
			ps = append(ps, part{segs: []seg{{themes.Muted, fact.label + " "}, seg(k.inFull(d, fact.metric))}}.of(fact.metric.String(), d.UUID))
		}
		s.facts(group.label, ps...)
	}
	if d.Shared {
		s.facts("", say(0, themes.Warn, "its memory is the host's"))
	}
	held := drawHeldBack(d, s.w, k)
	if len(d.Throttled) > 0 && !heldBack(d) && d.State == model.DevicePresent && !d.Stale {
		held.text += ": normal under load"
	}
	if d.Throttled == nil {
		held.text = "not known"
	}
	s.facts("held back", part{segs: []seg{seg(held)}}.of("throttled", d.UUID))
}

// inFull is a reading with its unit, or the word for why there is none.
func (k Look) inFull(d *model.DeviceView, m model.DeviceMetric) cell {
	v := d.Values[m]
	if v.State == model.Stale {
		return cell{themes.Gone, k.deviceNumber(m, v.Value) + ", old"}
	}
	if !v.OK() {
		return k.missingOf(d, m, 24)
	}
	if m == model.Busy && d.NotCredible {
		return cell{themes.Warn, "0 %?"}
	}
	return cell{themes.Text, k.deviceNumber(m, v.Value)}
}

// deviceNumber is a value in the unit of its metric.
func (k Look) deviceNumber(m model.DeviceMetric, v float64) string {
	switch m {
	case model.MemTotal, model.MemReserved, model.MemUsed:
		return unit.Bytes(v)
	case model.Power, model.PowerLimit:
		return unit.Watts(v)
	case model.Energy:
		return unit.Joules(v)
	case model.SMClock, model.SMClockMax, model.MemClock, model.MemClockMax:
		return unit.Hertz(v)
	case model.Temperature, model.MemTemperature:
		return unit.Celsius(v, k.ASCII)
	case model.PCIeTx, model.PCIeRx, model.NVLinkTx, model.NVLinkRx, model.DRAMPeak:
		return unit.Bytes(v) + "/s"
	case model.ECCErrors:
		return unit.Integer(v)
	default:
		return unit.Ratio(v)
	}
}

// onDevice is what runs on it: engines and how that is known, processes, pods.
func (s *sheet) onDevice(d *model.DeviceView) {
	k := s.look
	s.rule("RUNS ON IT")
	if len(d.Engines) == 0 {
		s.text(indent, themes.Muted, "no engine is known to: gpus in the configuration says which one does")
	} else {
		by := "by " + k.sentence(string(d.JoinedBy), 40)
		if d.JoinedBy == "host" {
			by += ": nothing else there could be meant"
		}
		s.facts("engines", say(0, themes.Text, k.foreign(strings.Join(d.Engines, ", "), maxProse)), say(0, themes.Muted, by))
	}
	for i, p := range d.Processes[:min(len(d.Processes), maxListed)] {
		label := ""
		if i == 0 {
			label = "processes"
		}
		ps := []part{say(0, themes.Strong, k.foreign(string(p.Name), 40)), say(0, themes.Muted, "pid "+strconv.Itoa(p.PID))}
		if p.Memory.OK() {
			ps = append(ps, say(0, themes.Text, unit.Bytes(p.Memory.Value)).of("process.memory", Within(d.UUID, strconv.Itoa(p.PID))))
		}
		if p.Engine != "" {
			ps = append(ps, say(0, themes.Text, k.foreign(string(p.Engine), 40)))
		}
		s.facts(label, ps...)
	}
	s.more(len(d.Processes) - maxListed)
	if len(d.Pods) > 0 {
		s.prose("pods", themes.Text, strings.Join(d.Pods, ", "))
	}
}

// gpusOf is a row for each GPU that a target tells of or runs on.
func (s *sheet) gpusOf(f *model.Frame, t *model.TargetView) {
	var rows []deviceEntry
	for _, e := range deviceList(f) {
		if e.d != nil && (e.d.Target == t.Name || slices.Contains(t.GPUs, e.d.UUID)) {
			rows = append(rows, e)
		}
	}
	if len(rows) == 0 {
		return
	}
	s.rule("GPUS", say(1, themes.Muted, "busy: some kernel ran"))
	shown := rows[:min(len(rows), maxListed)]
	table := fit(deviceColumns(shown, s.w, s.look), s.w-1)
	s.out = append(s.out, table.head(s.look))
	for _, e := range shown {
		s.out = append(s.out, deviceRow(table, e.d, false, s.look))
	}
	s.more(len(rows) - len(shown))
}

// memberWord is what the members of a grouped alert are.
func memberWord(f *model.Frame, a *model.AlertView) string {
	if len(a.Members) > 0 && deviceNamed(f, a.Members[0]) != nil {
		return "GPU"
	}
	return "target"
}

func deviceNamed(f *model.Frame, uuid string) *model.DeviceView {
	i := slices.IndexFunc(f.Devices, func(d model.DeviceView) bool { return d.UUID == uuid })
	if i < 0 {
		return nil
	}
	return &f.Devices[i]
}

// lostGPUs lists the GPUs that one alert speaks for, each with its state now.
func (s *sheet) lostGPUs(f *model.Frame, a *model.AlertView) {
	s.rule("GPUS", say(1, themes.Muted, plural(len(a.Members), "GPU")))
	var rows []deviceEntry
	for _, name := range a.Members {
		if d := deviceNamed(f, name); d != nil {
			rows = append(rows, deviceEntry{d: d})
		}
	}
	shown := rows[:min(len(rows), maxListed)]
	t := fit(deviceColumns(shown, s.w, s.look), s.w-1)
	for _, e := range shown {
		s.out = append(s.out, deviceRow(t, e.d, false, s.look))
	}
	s.more(len(rows) - len(shown))
}

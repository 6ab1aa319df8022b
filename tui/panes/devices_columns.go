package panes

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
)

// meterW is what a percentage takes, and meterMost with its meter.
const (
	meterW    = 5
	meterMost = 15
)

// deviceColumns is the columns of every table of GPUs, for the rows shown. First
// come what a GPU does and what holds it back; what is measured of it gives way.
func deviceColumns(shown []deviceEntry, w int, look Look) []column[*model.DeviceView] {
	longest, engines, held, busy := 0, 0, len("HELD BACK"), meterW
	for _, e := range shown {
		if e.d == nil {
			continue
		}
		longest = max(longest, cells(deviceLabel(e.d, look)))
		engines = max(engines, cells(unit.Escape(enginesOn(e.d), look.ASCII)))
		if heldBack(e.d) && w >= narrow {
			held = len(model.ThrottleSlowdown) // the longest reason
		}
		if e.d.Division() != "" && w >= narrow {
			busy = len("n/a (MIG)")
		}
	}
	share := func(title string, m model.DeviceMetric, least, drop int) column[*model.DeviceView] {
		return column[*model.DeviceView]{title: title, min: max(least, len(title)), max: meterMost, drop: drop, left: true, about: deviceAbout(m.String()),
			draw: func(d *model.DeviceView, w int, k Look) cell { return k.shareOf(d, m, w) }}
	}
	return []column[*model.DeviceView]{
		{title: "GPU", min: leastName(longest, w, 14), max: nameWidth(longest), left: true, about: deviceAbout("row.device"), draw: func(d *model.DeviceView, w int, k Look) cell {
			return cell{themes.Strong, k.cut(deviceLabel(d, k), w)}
		}},
		share("BUSY", model.Busy, busy, 0),
		share("TENSOR", model.TensorActive, meterW, 1),
		share("DRAM", model.DRAMActive, meterW, 3),
		{title: "MEM", min: meterW, max: meterMost, drop: 4, left: true, about: deviceAbout("memory_used"), draw: drawMemoryShare},
		{title: "MEMORY", min: 12, drop: 9, about: deviceAbout("memory_used"), draw: drawMemory},
		{title: "POWER", min: 9, drop: 5, about: deviceAbout("power_w"), draw: drawPower},
		{title: "CLOCK", min: 8, max: 13, drop: 6, about: deviceAbout("sm_clock_hz"), draw: drawClock},
		{title: "TEMP", min: 6, drop: 8, about: deviceAbout("temperature_c"), draw: func(d *model.DeviceView, w int, k Look) cell {
			return k.readingOf(d, model.Temperature, w, func(c float64) string { return unit.Celsius(c, k.ASCII) })
		}},
		{title: "HELD BACK", min: held, max: 28, drop: 2, left: true, about: deviceAbout("throttled"), draw: drawHeldBack},
		{title: "RUNS", min: min(max(engines, 8), 14), max: min(max(engines, 8), 30), drop: 7, left: true, draw: func(d *model.DeviceView, w int, k Look) cell {
			if len(d.Engines) == 0 {
				return cell{themes.Muted, unit.None(k.ASCII)}
			}
			return cell{themes.Muted, k.foreign(enginesOn(d), w)}
		}},
	}
}

// deviceAbout says what a column holds of its row's GPU.
func deviceAbout(topic string) func(*model.DeviceView) About {
	return func(d *model.DeviceView) About { return About{topic, d.UUID} }
}

// enginesOn names the engines on a device.
func enginesOn(d *model.DeviceView) string {
	if n := len(d.Engines) - 1; n > 0 {
		return fmt.Sprintf("%s +%d", d.Engines[0], n)
	}
	return strings.Join(d.Engines, "")
}

// deviceLabel is a GPU's number and name, of a slice its profile.
func deviceLabel(d *model.DeviceView, k Look) string {
	name := unit.Escape(strings.TrimPrefix(string(d.Name), "NVIDIA "), k.ASCII)
	switch {
	case d.Parent != "" && d.Profile != "":
		return k.pick("└ ", "- ") + unit.Escape(string(d.Profile), k.ASCII)
	case d.Parent != "":
		return k.pick("└ ", "- ") + unit.Escape(d.UUID, k.ASCII)
	case d.Index.OK():
		return strings.TrimSpace(unit.Integer(d.Index.Value) + " " + name)
	case name == "":
		return unit.Escape(d.UUID, k.ASCII)
	default:
		return name
	}
}

// deviceRow is a row of numbers, or, where there are none of now, a sentence.
func deviceRow(t table[*model.DeviceView], d *model.DeviceView, cursor bool, look Look) string {
	c := deviceCondition(d)
	if c != down && c != stale && c != cannot {
		return t.row(d, c, cursor, look)
	}
	l := look.line(t.w)
	if cursor {
		l.put(themes.Cursor, look.pick("▸", ">"))
	}
	l.pad(1).put(conditionTable[c].role, look.mark(c)).pad(indent)
	about := deviceAbout("row.device")(d)
	l.begin(about)
	t.place(l, 0, true, t.cols[0].draw(d, t.width[0], look))
	l.end(about)
	l.pad(l.w+t.gap).parts(0, say(0, conditionTable[c].role, deviceWord(c)).of("device.state", d.UUID))
	return l.put(themes.Text, deviceSentence(d, c, look)).String()
}

// deviceSentence is since when nothing is known, and what was last.
func deviceSentence(d *model.DeviceView, c condition, look Look) string {
	detail := look.sentence(string(d.Detail), maxProse)
	switch {
	case c == down:
		text := " since " + hms(d.Since)
		for _, s := range []string{look.sentence(string(d.Bus), 40), detail} {
			if s != "" {
				text += ", " + s
			}
		}
		return text
	case c == stale:
		text := " since " + hms(d.GoodAt)
		if v := d.Values[model.Busy]; v.State == model.Stale {
			text += ", last busy " + unit.Percent(v.Value)
		}
		if used, total := d.Values[model.MemUsed], d.Values[model.MemTotal]; used.State == model.Stale && total.State == model.Stale {
			text += ", memory " + unit.BytesOf(used.Value, total.Value)
		}
		return text
	case detail != "":
		return ": " + detail
	default:
		return ""
	}
}

// missingOf is the word for why a device has no such reading.
func (k Look) missingOf(d *model.DeviceView, m model.DeviceMetric, w int) cell {
	v := d.Values[m]
	text := v.Status.String()
	switch {
	case v.State == model.Stale:
		return k.absent(model.Stale, w)
	case (m == model.Busy || m == model.MemBusy) && v.Status == model.NotSupported && d.Division() != "":
		text += " (" + d.Division() + ")"
	}
	role := themes.Muted
	if v.Status == model.BadSample || v.Status == model.Failing {
		role = themes.Warn
	}
	if cells(text) > w {
		text = v.Status.Brief()
	}
	return cell{role, k.cut(text, w)}
}

// readingOf is a reading in w cells, or the word for why there is none.
func (k Look) readingOf(d *model.DeviceView, m model.DeviceMetric, w int, format func(float64) string) cell {
	if v, ok := d.Values[m].Get(); ok {
		return cell{themes.Text, format(v)}
	}
	return k.missingOf(d, m, w)
}

// shareOf is a ratio, with a meter where there is room for one.
func (k Look) shareOf(d *model.DeviceView, m model.DeviceMetric, w int) cell {
	v, ok := d.Values[m].Get()
	switch {
	case !ok:
		return k.missingOf(d, m, w)
	case m == model.Busy && d.NotCredible:
		return cell{themes.Warn, "0 %?"}
	}
	return k.metered(v, w)
}

func (k Look) metered(v float64, w int) cell {
	text := unit.Percent(v)
	text = spaces(meterW-cells(text)) + text
	if room := w - meterW - 1; room >= 4 {
		full, empty := chart.Meter(v, room, k.ASCII)
		return cell{themes.Meter, text + " " + full + empty}
	}
	return cell{themes.Text, text}
}

func drawMemoryShare(d *model.DeviceView, w int, k Look) cell {
	used, total := d.Values[model.MemUsed], d.Values[model.MemTotal]
	switch {
	case used.OK() && total.OK() && total.Value > 0:
		return k.metered(used.Value/total.Value, w)
	case used.OK():
		return k.missingOf(d, model.MemTotal, w)
	default:
		return k.missingOf(d, model.MemUsed, w)
	}
}

func drawMemory(d *model.DeviceView, w int, k Look) cell {
	if used, total := d.Values[model.MemUsed], d.Values[model.MemTotal]; used.OK() && total.OK() {
		return cell{themes.Text, unit.BytesOf(used.Value, total.Value)}
	}
	return k.readingOf(d, model.MemUsed, w, unit.Bytes)
}

func drawPower(d *model.DeviceView, w int, k Look) cell {
	if power, limit := d.Values[model.Power], d.Values[model.PowerLimit]; power.OK() && limit.OK() {
		return cell{themes.Text, unit.WattsOf(power.Value, limit.Value)}
	}
	return k.readingOf(d, model.Power, w, unit.Watts)
}

func drawClock(d *model.DeviceView, w int, k Look) cell {
	if clock, most := d.Values[model.SMClock], d.Values[model.SMClockMax]; clock.OK() && most.OK() {
		if text := unit.HertzOf(clock.Value, most.Value); cells(text) <= w {
			return cell{themes.Text, text}
		}
	}
	return k.readingOf(d, model.SMClock, w, unit.Hertz)
}

// drawHeldBack is why a device runs slower than it could.
func drawHeldBack(d *model.DeviceView, w int, k Look) cell {
	switch {
	case d.Throttled == nil:
		return cell{themes.Muted, unit.None(k.ASCII)}
	case len(d.Throttled) == 0:
		return cell{themes.Muted, "no"}
	}
	role := themes.Text
	if heldBack(d) {
		role = themes.Warn
	}
	return cell{role, k.heldBackIn(d, w)}
}

// briefReasons are the reasons in as many cells as a narrow column has.
var briefReasons = map[string]string{
	model.ThrottleSlowdown: "hw slow", model.ThrottleHWThermal: "hw heat", model.ThrottleThermal: "heat", model.ThrottleBrake: "brake", model.ThrottlePowerCap: "power cap",
}

// heldBackIn lists the reasons in w cells: in full, in short, or the one to look at first
// and how many there are beside it. No reason is cut into another word.
func (k Look) heldBackIn(d *model.DeviceView, w int) string {
	words := heldBackWords(d)
	text := strings.Join(words, ", ")
	if cells(unit.Escape(text, k.ASCII)) <= w {
		return unit.Escape(text, k.ASCII)
	}
	for i, word := range words {
		if brief, ok := briefReasons[word]; ok {
			words[i] = brief
		}
	}
	if text = strings.Join(words, ", "); cells(unit.Escape(text, k.ASCII)) <= w || len(words) == 1 {
		return k.foreign(text, w)
	}
	rest := " +" + unit.Integer(float64(len(words)-1))
	return k.foreign(words[0], w-cells(rest)) + rest
}

// heldBackWords lists the reasons, the one to look at first.
func heldBackWords(d *model.DeviceView) []string {
	words := slices.DeleteFunc(slices.Clone(d.Throttled), func(r string) bool { return r == model.ThrottlePowerCap })
	if len(words) < len(d.Throttled) {
		words = append(words, model.ThrottlePowerCap)
	}
	return words
}

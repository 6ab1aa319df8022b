package panes

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// figureLabel is the column of the labels of the GPUs' figures.
const figureLabel = 7

// drawFigures is what the GPUs of an engine do, each number with whose word it is.
func drawFigures(f *model.Frame, u *model.UtilizationView, size layout.Size, look Look) []string {
	gpus := gpusOf(f, u.Target)
	out := []string{look.rule(size.W, gpusTitle(u, gpus, look))}
	for _, m := range u.Measures {
		out = append(out, measureLine(u.Target, m, size.W, look))
	}
	if len(u.Measures) == 0 {
		out = append(out, look.line(size.W).pad(1).put(themes.Muted, "MFU, MBU not known: see below").String())
	}
	figure := func(label string, ps ...part) {
		out = append(out, look.line(size.W).pad(1).put(themes.Muted, label).pad(figureLabel+1).parts(2, ps...).String())
	}
	if ps := peaks(u, look); len(ps) > 0 {
		figure("peaks", ps...)
	}
	if len(gpus) > 0 {
		figure("power", powerPart(gpus, look).of("power_w", ofGPUs(u, gpus)))
		clock, held := clockPart(gpus, look).of("sm_clock_hz", ofGPUs(u, gpus)), heldPart(gpus, look).of("throttled", ofGPUs(u, gpus))
		if held.segs[0].role == themes.Warn { // what to look at has room of its own
			figure("clock", clock)
			figure("held", held)
		} else {
			figure("clock", clock, held)
		}
	}
	figure("busy", busyPart(u, look).of("busy", u.Target), say(1, themes.Muted, "(some kernel ran)"))
	if len(gpus) == 0 {
		for _, l := range wrap(noGPUs, size.W-1) {
			out = append(out, look.line(size.W).pad(1).put(themes.Muted, l).String())
		}
	}
	return out[:min(len(out), max(size.H, 0))]
}

// ofGPUs is whose a figure of several GPUs is: the only one's, else the engine's.
func ofGPUs(u *model.UtilizationView, gpus []*model.DeviceView) string {
	if len(gpus) == 1 {
		return gpus[0].UUID
	}
	return u.Target
}

const noGPUs = "power and clocks: no GPU is known to serve it; nvml: beside the engines, or gpus in the configuration"

// gpusTitle names the GPU, or counts the GPUs, that serve the engine.
func gpusTitle(u *model.UtilizationView, gpus []*model.DeviceView, look Look) []seg {
	hardware := seg{themes.Muted, " " + look.sentence(withPrecision(string(u.Device), u), 32)}
	switch {
	case len(gpus) == 1 && gpus[0].Index.OK():
		return []seg{{themes.Strong, "GPU " + unit.Integer(gpus[0].Index.Value)}, hardware}
	case len(gpus) > 1:
		return []seg{{themes.Strong, plural(len(gpus), "GPU")}, hardware}
	default:
		return []seg{{themes.Strong, "GPU"}, hardware}
	}
}

// gpusOf are the GPUs that serve a target, as far as that is known.
func gpusOf(f *model.Frame, target string) []*model.DeviceView {
	var uuids []string
	for i := range f.Targets {
		if f.Targets[i].Name == target {
			uuids = f.Targets[i].GPUs
			break
		}
	}
	var out []*model.DeviceView
	for i := range f.Devices {
		if d := &f.Devices[i]; slices.Contains(uuids, d.UUID) || slices.Contains(d.Engines, target) {
			out = append(out, d)
		}
	}
	return out
}

// measureLine is compute and bandwidth by one basis: the counters' words where they
// are counted, MFU and MBU where they are worked out.
func measureLine(target string, m model.MeasureView, w int, look Look) string {
	compute, bandwidth := measureWords(m)
	l := look.line(w).pad(1).put(themes.Muted, compute).pad(figureLabel + 1)
	for _, c := range []struct {
		label, topic string
		cell
	}{{"", "compute", look.useShare(m.Compute, 8)}, {bandwidth, "bandwidth", look.useShare(m.Bandwidth, 8)}} {
		if c.label != "" {
			l.pad(l.w+2).put(themes.Muted, c.label).pad(l.w + 5 - cells(c.label))
		}
		l.pad(l.w+6-cells(c.text)).parts(0, part{segs: []seg{seg(c.cell)}}.of(c.topic, Within(target, string(m.Basis))))
	}
	by := look.basis(m.Basis)
	if word := basisWords[m.Basis].word; word != "" && l.w+2+cells(by) > w {
		by = word
	}
	return l.pad(l.w+2).put(themes.Muted, by).String()
}

func measureWords(m model.MeasureView) (compute, bandwidth string) {
	if counted(m.Basis) {
		return "tensor", "DRAM"
	}
	return "MFU", "MBU"
}

// measurePart is the same on a line with others.
func measurePart(m model.MeasureView, drop int, look Look) part {
	compute, bandwidth := measureWords(m)
	return part{segs: []seg{
		{themes.Muted, compute + " "}, seg(look.useShare(m.Compute, 8)), {themes.Muted, "  " + bandwidth + " "}, seg(look.useShare(m.Bandwidth, 8)),
		{themes.Muted, "  " + look.basis(m.Basis)},
	}, drop: drop}
}

// peaks are what the shares are of, and how sure that is.
func peaks(u *model.UtilizationView, look Look) []part {
	var out []part
	if v, ok := u.PeakFLOPs.Get(); ok {
		out = append(out, say(0, themes.Text, unit.FLOPs(v)).of("peak_flops", u.Target))
	}
	if v, ok := u.PeakBytes.Get(); ok {
		out = append(out, say(0, themes.Text, unit.Bandwidth(v)).of("peak_bytes", u.Target))
	}
	if c := confidenceText(u); c != "" && len(out) > 0 {
		out = append(out, say(1, themes.Muted, look.sentence(c, 20)))
	}
	return out
}

// sumOf adds a reading of those GPUs that have one.
func sumOf(gpus []*model.DeviceView, m model.DeviceMetric) (sum float64, n int) {
	for _, d := range gpus {
		if v, ok := d.Values[m].Get(); ok {
			sum, n = sum+v, n+1
		}
	}
	return sum, n
}

func powerPart(gpus []*model.DeviceView, look Look) part {
	power, n := sumOf(gpus, model.Power)
	limit, m := sumOf(gpus, model.PowerLimit)
	switch {
	case n == 0:
		return part{segs: []seg{seg(look.missingOf(gpus[0], model.Power, 24))}}
	case n < len(gpus):
		return say(0, themes.Text, fmt.Sprintf("%s of %d of %d GPUs", unit.Watts(power), n, len(gpus)))
	case m == n:
		return say(0, themes.Text, unit.WattsOf(power, limit))
	default:
		return say(0, themes.Text, unit.Watts(power))
	}
}

// clockPart is the clock, from the slowest to the fastest where they differ.
func clockPart(gpus []*model.DeviceView, look Look) part {
	lo, hi, n := 0.0, 0.0, 0
	for _, d := range gpus {
		if v, ok := d.Values[model.SMClock].Get(); ok {
			if n == 0 || v < lo {
				lo = v
			}
			hi, n = max(hi, v), n+1
		}
	}
	switch most := gpus[0].Values[model.SMClockMax]; {
	case n == 0:
		return part{segs: []seg{seg(look.missingOf(gpus[0], model.SMClock, 24))}}
	case unit.Hertz(lo) != unit.Hertz(hi):
		return say(0, themes.Text, unit.Integer(lo/1e6)+look.pick("–", "-")+unit.Hertz(hi))
	case most.OK() && lo < most.Value:
		return say(0, themes.Text, unit.HertzOf(lo, most.Value))
	default:
		return say(0, themes.Text, unit.Hertz(lo))
	}
}

// heldPart is what holds the GPUs back.
func heldPart(gpus []*model.DeviceView, look Look) part {
	var reasons []string
	known := false
	hurts := false
	for _, d := range gpus {
		known = known || d.Throttled != nil
		hurts = hurts || heldBack(d)
		for _, r := range d.Throttled {
			if !slices.Contains(reasons, r) {
				reasons = append(reasons, r)
			}
		}
	}
	switch {
	case !known:
		return say(1, themes.Muted, "throttling not known")
	case hurts:
		return say(0, themes.Warn, look.foreign(strings.Join(reasons, ", "), 36))
	case len(reasons) > 0:
		return say(0, themes.Text, look.foreign(strings.Join(reasons, ", "), 36))
	default:
		return say(1, themes.Muted, "no throttling")
	}
}

func busyPart(u *model.UtilizationView, look Look) part {
	c := look.ratio(u.Busy, 12)
	return part{segs: []seg{{c.role, spaces(5-cells(c.text)) + c.text}}}
}

// useLines is the figures as lines, where they have no column of their own.
func (s *sheet) useLines(f *model.Frame, u *model.UtilizationView) {
	k := s.look
	var measures []part
	for i, m := range u.Measures {
		measures = append(measures, measurePart(m, i, k).of("compute", Within(u.Target, string(m.Basis))))
	}
	if len(measures) == 0 {
		measures = []part{say(0, themes.Muted, "MFU, MBU not known")}
	}
	if s.w < narrow { // one measure a line is what fits
		for _, m := range measures[:min(len(measures), 2)] {
			s.out = append(s.out, k.line(s.w).pad(1).parts(2, m).String())
		}
	} else {
		s.out = append(s.out, k.line(s.w).pad(1).parts(3, measures...).String())
	}
	s.out = append(s.out, k.line(s.w).pad(1).parts(2, useParts(f, u, k)...).String())
}

// useParts is how the GPUs of an engine run, and how sure its peaks are.
func useParts(f *model.Frame, u *model.UtilizationView, k Look) []part {
	c := k.ratio(u.Busy, 12)
	out := []part{part{segs: []seg{{themes.Muted, "busy "}, seg(c)}, drop: 2}.of("busy", u.Target), say(5, themes.Muted, "(some kernel ran)")}
	if c := confidenceText(u); c != "" {
		out = append(out, say(4, themes.Muted, "peaks: "+k.sentence(c, 20)))
	}
	gpus := gpusOf(f, u.Target)
	if len(gpus) == 0 {
		return append(out, say(3, themes.Muted, "no GPU is known to serve it"))
	}
	power, clock := powerPart(gpus, k), clockPart(gpus, k)
	power.segs = append([]seg{{themes.Muted, "power "}}, power.segs...)
	clock.segs = append([]seg{{themes.Muted, "clock "}}, clock.segs...)
	power.drop, clock.drop = 1, 3
	power, clock = power.of("power_w", ofGPUs(u, gpus)), clock.of("sm_clock_hz", ofGPUs(u, gpus))
	return append([]part{power, clock, heldPart(gpus, k)}, out...)
}

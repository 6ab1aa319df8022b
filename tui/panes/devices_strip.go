package panes

import (
	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// GPUs is one line of the overview: how many there are, what they do together, and
// whether one is missing.
type GPUs struct{}

// Name names the pane.
func (GPUs) Name() string { return "gpus" }

// Want is one line where any GPU is known, the first to go.
func (GPUs) Want(f *model.Frame, _ int, _ Look) layout.Want {
	n := 0
	if f.DeviceSum != nil {
		n = 1
	}
	return layout.Want{Min: n, Ideal: n, Max: n, Drop: 6}
}

// Render draws the line.
func (GPUs) Render(f *model.Frame, size layout.Size, look Look) string {
	s := f.DeviceSum
	if s == nil || size.H <= 0 {
		return ""
	}
	head := part{segs: []seg{{themes.Muted, "GPUs "}, {themes.Text, gpuCount(f)}}}.of("devices", "")
	if n := gpusLost(f); n > 0 {
		head.segs = append(head.segs, seg{themes.Breach, " " + look.mark(down) + unit.Integer(float64(n)) + " LOST"})
	}
	ps := []part{head}
	if v, ok := s.Busy.Get(); ok {
		full, empty := chart.Meter(v, meterCells, look.ASCII)
		ps = append(ps, part{segs: []seg{{themes.Muted, "busy "}, {themes.Meter, full}, {themes.Rule, empty}, {themes.Text, " " + unit.Percent(v)}}, drop: 1}.of("busy", ""))
	}
	if n := gpusHeldBack(f); n > 0 {
		ps = append(ps, say(4, themes.Warn, unit.Integer(float64(n))+" held back"))
	}
	return look.line(size.W-1).pad(1).parts(3, append(ps, deviceTotals(s)...)...).String()
}

// gpusHeldBack counts those that run slower for a reason worth a look.
func gpusHeldBack(f *model.Frame) int {
	n := 0
	for i := range f.Devices {
		if heldBack(&f.Devices[i]) {
			n++
		}
	}
	return n
}

// gpusLost counts the GPUs, not the slices, that are lost.
func gpusLost(f *model.Frame) int {
	n := 0
	for i := range f.Devices {
		if d := &f.Devices[i]; d.State == model.DeviceLost && d.Parent == "" {
			n++
		}
	}
	return n
}

// aside reports whether a target has no place among those that serve: it tells of
// GPUs, or it finds others and nothing hinders it.
func aside(t *model.TargetView) bool {
	return t.Kind == model.GPUTarget || t.Kind == model.FinderTarget && conditionOf(t) >= starting
}

// servers are the targets that serve, or stand before what serves, unless there is
// nothing of the kind.
func servers(f *model.Frame) []*model.TargetView {
	out := make([]*model.TargetView, 0, len(f.Targets))
	for i := range f.Targets {
		if !aside(&f.Targets[i]) {
			out = append(out, &f.Targets[i])
		}
	}
	if len(out) > 0 {
		return out
	}
	for i := range f.Targets {
		out = append(out, &f.Targets[i])
	}
	return out
}

// OnlyGPUs reports whether every target tells of GPUs.
func OnlyGPUs(f *model.Frame) bool {
	for i := range f.Targets {
		if f.Targets[i].Kind != model.GPUTarget {
			return false
		}
	}
	return len(f.Targets) > 0
}

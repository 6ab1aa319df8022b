package fleet

import (
	"fmt"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/alert"
	"slotop/model/unit"
)

// The rules on GPUs. A lost one takes an engine's work with it and pages; that
// nothing is known of GPUs any more is no reason to wake anybody.
var (
	gpuLostRule   = alert.Rule{Name: "gpu-lost", Severity: model.Page}
	gpuSilentRule = alert.Rule{Name: "gpu-telemetry", Severity: model.Warn}
)

const (
	// silentPolls is how many polls of a GPU target fail before its telemetry is lost.
	silentPolls = 3
	// unlistedFor is how long a GPU must be missing before that counts as a loss where
	// nobody says that it is one: an exporter that has just started lists nothing until
	// its first round, which with dcgm-exporter takes 30 s.
	unlistedFor = 45 * time.Second
)

// judgeDevices looks at the GPUs and at the targets that tell of nothing else.
func (f *Fleet) judgeDevices(fr *model.Frame) {
	var silent, lost []alert.Observation
	for i, t := range f.targets {
		if t.kind() == model.GPUTarget {
			silent = append(silent, f.silentOf(t, &fr.Targets[i], fr.At))
		}
	}
	for _, d := range f.devices.list {
		if d.parent == nil && !d.view.Stale {
			lost = append(lost, d.lostOf(fr.At))
		}
	}
	for _, o := range append(f.book.Group(silent, manySilent, fr.At), f.book.Group(lost, manyLost, fr.At)...) {
		f.observe(o, fr.At)
	}
}

func manySilent(c alert.Crowd) string {
	if c.Back {
		return fmt.Sprintf("GPU telemetry of %d targets back after %s", c.Most, unit.Duration(c.Lasted.Seconds()))
	}
	return fmt.Sprintf("GPU telemetry lost: %d of %d targets are silent", c.Now, c.Of)
}

func manyLost(c alert.Crowd) string {
	if c.Back {
		return fmt.Sprintf("%d GPUs back after %s", c.Most, unit.Duration(c.Lasted.Seconds()))
	}
	return fmt.Sprintf("%d of %d GPUs lost", c.Now, c.Of)
}

// silentOf: a target that tells of GPUs has failed three times, or says nothing.
func (f *Fleet) silentOf(t *target, v *model.TargetView, at model.Instant) alert.Observation {
	o := alert.Observation{Rule: gpuSilentRule, Target: v.Name, Truth: alert.No}
	o.Rule.For = f.every // targets that fail together are polled within one interval
	what := "GPU telemetry lost: "
	if t.good == 0 {
		what = "no GPU telemetry: "
	}
	switch {
	case t.polls == 0:
		o.Truth = alert.CannotTell
	case t.failedInRow >= silentPolls:
		o.Truth, o.Text = alert.Yes, what+v.Fault.Kind.Word()+": "+v.Fault.Detail
	case t.state == model.StaleAt:
		o.Truth, o.Text = alert.Yes, what+"no answer for "+unit.Duration(at.Sub(v.LastGoodAt).Seconds())
	}
	return o
}

// lostOf: the device fell off the bus, or is not listed any more.
func (d *device) lostOf(at model.Instant) alert.Observation {
	o := alert.Observation{Rule: gpuLostRule, Target: d.name(), Truth: alert.No}
	v := &d.view
	if d.state != model.DeviceLost || !d.stated && at.Sub(d.since) < unlistedFor {
		return o
	}
	text := d.name() + ": GPU lost"
	if v.Bus != "" {
		text += ", bus " + string(v.Bus)
	}
	if len(v.Engines) > 0 {
		text += ", ran " + strings.Join(v.Engines, " and ")
	}
	if v.Host != "" {
		text += ", on " + string(v.Host)
	}
	if v.Name != "" {
		text += ", " + string(v.Name)
	}
	o.Truth, o.Text = alert.Yes, text+": "+string(v.Detail)
	return o
}

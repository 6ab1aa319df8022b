package panes

import (
	"slices"
	"strings"

	"slotop/model"
)

// This file says what a figure of utilization was read from: that depends on the basis by
// which it is known.

// byBasis reports whether a topic's figures are known by one of several bases.
func byBasis(topic string) bool { return isCompute(topic) || isBandwidth(topic) }

func isCompute(topic string) bool { return slices.Contains([]string{"mfu", "compute", "flops"}, topic) }
func isBandwidth(topic string) bool {
	return slices.Contains([]string{"mbu", "bandwidth", "bytes"}, topic)
}

// estimates are the signals with which engines estimate their own work.
var estimates = []model.Signal{model.EstimatedFLOPs, model.EstimatedRead, model.EstimatedWritten}

// usedBy reports whether a figure was computed from a signal, as far as its basis says:
// engines estimate their work, or it is worked out from tokens and steps, or the hardware
// counts it.
func usedBy(o owner, topic string, s model.Signal) bool {
	if !byBasis(topic) || basisOf(o) == "" {
		return true
	}
	estimate := slices.Contains(estimates, s)
	return basisOf(o) == model.ByEngine && estimate || basisOf(o) == model.ByShape && !estimate
}

// countedBy is who told what the hardware counted; "" where that is not the basis.
func countedBy(o owner, topic string) string {
	if !byBasis(topic) || !counted(basisOf(o)) || o.t == nil {
		return ""
	}
	var by []string
	n := 0
	for i := range o.f.Devices {
		if d := &o.f.Devices[i]; slices.Contains(o.t.GPUs, d.UUID) {
			n++
			if !slices.Contains(by, d.Target) {
				by = append(by, d.Target)
			}
		}
	}
	if n == 0 {
		return ""
	}
	what := "tensor active"
	if isBandwidth(topic) {
		what = "DRAM active"
	}
	return what + " of " + plural(n, "GPU") + "  on " + strings.Join(by, ", ")
}

// burnSpan is the span that a burn rate is over: it is not the window.
func burnSpan(topic string) string {
	switch topic {
	case "burn.2m":
		return "2 min"
	case "burn", "burn.5m":
		return "5 min"
	case "burn.30m":
		return "30 min"
	default:
		return ""
	}
}

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
//
// Of two ways to know a step or the hits of a cache the one that was not taken is none.
func usedBy(o owner, topic string, s model.Signal) bool {
	switch {
	case topic == "prefix_cache_hit":
		lookUp := s == model.PrefixHits || s == model.PrefixQueries
		return lookUp != (o.tells(model.CachedTokens) && o.tells(model.PromptTokens))
	case aStep(topic) && o.u != nil && o.u.Step != nil:
		return s != model.ITL && s != model.StepTokens || o.u.Step.Gap == (s == model.ITL)
	case !byBasis(topic) || basisOf(o) == "":
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

// tells reports whether any of its targets exposes a signal.
func (o owner) tells(s model.Signal) bool {
	return slices.ContainsFunc(o.carriers(), func(t *model.TargetView) bool {
		return slices.ContainsFunc(t.Meanings, func(m model.Meaning) bool { return m.Signal == s })
	})
}

// aStep reports whether a topic is the mean step or a part of it.
func aStep(topic string) bool {
	return topic == "step" || strings.HasPrefix(topic, "step.") && topic != "step.floor"
}

// wholeBlocks is the span of what is worked out once a block, whatever the window.
const wholeBlocks = "minute of whole blocks"

// ownSpan is the span that a number is over where it is not the window, "" for others.
func ownSpan(o owner, topic string) string {
	switch {
	case topic == "burn.2m":
		return "2 min"
	case topic == "burn" || topic == "burn.5m":
		return "5 min"
	case topic == "burn.30m":
		return "30 min"
	case topic == "wait_now" || topic == "breach_in":
		return "30 s"
	case byBasis(topic) && counted(basisOf(o)):
		return "minute"
	case aStep(topic) && topic != "step.samples", o.c != nil && !slices.Contains(longer, topic):
		return wholeBlocks
	default:
		return ""
	}
}

// longer are the topics of a pool that are of all that was seen, or of no time at all.
var longer = []string{"knee", "observed", "worst_burn", "forecast", "replicas", "replicas.then", "cost.per_hour", "binds_first"}

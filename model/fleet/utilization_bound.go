package fleet

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/steptime"
	"slotop/model/unit"
)

// Where a ceiling is near: two signs must agree. The bounds are those that
// published guides give for tensor and DRAM activity.
const (
	dramHigh   = 0.6
	dramBelow  = 0.5
	tensorHigh = 0.5
	tensorLow  = 0.35
	bothLow    = 0.2
)

// boundOf is which ceiling is near, by the share of compute and of bandwidth in use.
// waiting is NaN where nobody says whether requests wait.
func boundOf(compute, bandwidth, waiting float64) model.Bound {
	switch {
	case math.IsNaN(compute) || math.IsNaN(bandwidth):
		return model.BoundUnknown
	case bandwidth >= dramHigh && compute < tensorLow:
		return model.BoundBandwidth
	case compute >= tensorHigh && bandwidth < dramBelow:
		return model.BoundCompute
	case compute >= bothLow || bandwidth >= bothLow:
		return model.BoundMixed
	case waiting > 0:
		return model.BoundStarved
	case waiting == 0:
		return model.BoundUnder
	default:
		return model.BoundUnknown
	}
}

// byOneSign is the bound that one sign alone points to.
func byOneSign(compute, bandwidth float64) model.Bound {
	switch {
	case math.IsNaN(compute) && bandwidth >= dramHigh:
		return model.BoundBandwidth
	case math.IsNaN(bandwidth) && compute >= tensorHigh:
		return model.BoundCompute
	default:
		return model.BoundUnknown
	}
}

// judge says which ceiling is near, and by what.
func (e *engineUse) judge(v *model.UtilizationView) {
	compute, bandwidth := orNaN(v.MFU), orNaN(v.MBU)
	waiting := orNaN(e.t.view.Waiting)
	if !e.t.fresh() {
		waiting = math.NaN()
	}
	counted := len(e.measures) > 0 && e.measures[0].counted()
	if counted { // both signs of one kind, or one of them
		compute, bandwidth = e.measures[0].compute, e.measures[0].bandwidth
	}
	v.Bound, v.Likely = boundOf(compute, bandwidth, waiting), !counted
	if v.Bound == model.BoundUnknown {
		v.Bound, v.Likely = byOneSign(compute, bandwidth), true
	}
	if v.Bound == model.BoundUnknown {
		v.Likely = false
		v.Sentence = "unknown: " + e.blind(v)
		return
	}
	v.Sentence = string(v.Bound) + phase(v)
	if v.Likely {
		v.Sentence = "likely " + v.Sentence
	}
	v.Sentence += e.because(v, compute, bandwidth, counted)
}

// phase names the phase that a bound is of, as far as the step's time tells.
func phase(v *model.UtilizationView) string {
	_, reads, prompts := shares(v.Step)
	switch {
	case v.Bound == model.BoundBandwidth && reads > 0.5:
		return " decode"
	case v.Bound == model.BoundCompute && prompts > 0.5:
		return " prefill"
	default:
		return ""
	}
}

// shares are the parts of a step's time, NaN without a split: host work of sequences,
// weights and KV reads, prompts.
func shares(s *model.StepView) (host, reads, prompts float64) {
	if s == nil || !s.Unexplained.OK() {
		return math.NaN(), math.NaN(), math.NaN()
	}
	all := s.Seconds.Value + math.Max(0, -s.Unexplained.Value) // at least what is explained
	return s.Sequences.Value / all, (s.Fixed.Value + s.KV.Value) / all, s.Prefill.Value / all
}

// because gives the figures behind a verdict.
func (e *engineUse) because(v *model.UtilizationView, compute, bandwidth float64, counted bool) string {
	c, b := "MFU", "MBU"
	if counted {
		c, b = "tensor active", "DRAM active"
	}
	text := ": "
	switch host, reads, prompts := shares(v.Step); {
	case math.IsNaN(reads):
	case host > 0.5:
		text += fmt.Sprintf("host work for sequences is %s of a step; ", unit.Percent(host))
	case v.Bound == model.BoundCompute && prompts > 0.5:
		text += fmt.Sprintf("prompts are %s of a step; ", unit.Percent(prompts))
	case v.Bound == model.BoundBandwidth && reads > 0.5:
		text += fmt.Sprintf("weights and KV reads are %s of a step; ", unit.Percent(reads))
	default:
		text += fmt.Sprintf("weights and KV reads are %s of a step, prompts %s; ", unit.Percent(reads), unit.Percent(prompts))
	}
	if s := v.Step; s != nil && steptime.Judge(orNaN(s.Residual)) == steptime.Slower {
		text += fmt.Sprintf("%s of it is unexplained, by its own baseline; ", unit.Percent(s.Unexplained.Value/s.Seconds.Value))
	}
	switch {
	case math.IsNaN(compute):
		return text + fmt.Sprintf("%s %s alone", b, unit.Percent(bandwidth))
	case math.IsNaN(bandwidth):
		return text + fmt.Sprintf("%s %s alone", c, unit.Percent(compute))
	}
	text += fmt.Sprintf("%s %s, %s %s", b, unit.Percent(bandwidth), c, unit.Percent(compute))
	switch v.Bound {
	case model.BoundStarved:
		text += ", and requests wait"
	case model.BoundUnder:
		text += ", and nothing waits"
	}
	return text
}

// blind says why there is no verdict.
func (e *engineUse) blind(v *model.UtilizationView) string {
	switch {
	case !e.t.fresh():
		return "the engine does not answer"
	case e.t.elapsed <= 0:
		return "rates need a second poll"
	case len(e.measures) == 0 && v.Busy.OK() && e.t.couldEstimate():
		return "the driver gives busy time only; GPM, dcgm-exporter or --enable-mfu-metrics would tell"
	case len(e.measures) == 0 && v.Busy.OK():
		return "the driver gives busy time only; GPM or dcgm-exporter would tell"
	case len(e.measures) == 0:
		return "no counter, no estimate and no known shape"
	case !e.known():
		return "the peaks are not known"
	case !v.MFU.OK() && !v.MBU.OK():
		return "the number of GPUs is not known"
	case !v.MFU.OK():
		return "only bandwidth is known, which says too little alone"
	case !v.MBU.OK():
		return "only compute is known, which says too little alone"
	default:
		return "little is in use, and whether requests wait is not known"
	}
}

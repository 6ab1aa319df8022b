package fleet

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/roofline"
	"slotop/model/unit"
)

// measure is compute and bandwidth by one basis. NaN is not known.
type measure struct {
	basis              model.UtilizationBasis
	compute, bandwidth float64
	each               roofline.Work // of one GPU in a second
	total              roofline.Work // of all of them
	note               []string
}

// counted reports whether it is read off hardware counters.
func (m *measure) counted() bool {
	return m.basis != model.ByEngine && m.basis != model.ByShape
}

var unknownWork = roofline.Work{FLOPs: math.NaN(), Bytes: math.NaN()}

// measure takes every measure there is, the most trusted first.
func (e *engineUse) measure() {
	for i := range counterBases {
		e.byCounters(i)
	}
	e.hint()
	if !e.t.fresh() || e.t.elapsed <= 0 {
		return
	}
	e.byEngine()
	e.byShape()
}

// byCounters is what hardware counters say of its GPUs, over the last minute: one
// reading is of a second or less, in which a few steps were made.
func (e *engineUse) byCounters(basis int) {
	_, n := counted(e.on, counterBases[basis], model.TensorActive)
	_, k := counted(e.on, counterBases[basis], model.DRAMActive)
	if n == 0 && k == 0 {
		return
	}
	tensor, dram := e.means[basis].over(e.heard)
	m := measure{basis: counterBases[basis], compute: tensor, bandwidth: dram, total: unknownWork}
	m.note = append(m.note, "tensor active and DRAM active of the chip over a minute: near MFU and MBU, and not the same")
	if least := max(n, k); least < len(e.on) {
		m.note = append(m.note, fmt.Sprintf("of %d of %s", least, gpus(float64(len(e.on)))))
	}
	if most := e.sharers(); most > 1 {
		m.note = append(m.note, fmt.Sprintf("of GPUs that %d engines share", most))
	}
	m.each = roofline.Work{FLOPs: tensor * e.roof.FLOPs * e.clocked(), Bytes: dram * e.roof.Bytes}
	e.measures = append(e.measures, m)
}

// sharers is how many engines run on the GPU that has most of them.
func (e *engineUse) sharers() int {
	most := 0
	for _, d := range e.on {
		most = max(most, len(d.joints))
	}
	return most
}

// clocked is the present clock over the one at which the peak holds, 1 where either
// is not known.
func (e *engineUse) clocked() float64 {
	n, total := 0.0, 0.0
	for _, d := range e.on {
		if r := d.view.Values[model.SMClock]; r.OK() && r.Value > 0 {
			n, total = n+1, total+r.Value
		}
	}
	if share := total / n / e.boost; share > 0 {
		return share
	}
	return 1
}

// byEngine is the engine's own estimate, which it counts for one GPU.
func (e *engineUse) byEngine() {
	ty := e.t.tallied()
	each := roofline.Work{
		FLOPs: orNaN(ty.rateOf(model.EstimatedFLOPs)),
		Bytes: orNaN(ty.rateOf(model.EstimatedRead)) + orNaN(ty.rateOf(model.EstimatedWritten)),
	}.Per(e.estimators())
	if math.IsNaN(each.FLOPs) && math.IsNaN(each.Bytes) {
		return
	}
	m := e.estimate(model.ByEngine, each)
	m.note = []string{"the engine's own estimate from its model's shape, attention not halved for causality"}
	if e.served.shape != nil && e.served.shape.Experts > 0 {
		m.note = append(m.note, "with as many experts read as tokens could touch")
	}
	if math.IsNaN(e.gpus) {
		m.note = append(m.note, "of one GPU "+rates(each)+": how many there are is not known")
	}
	m.total = roofline.Work{FLOPs: each.FLOPs * e.gpus, Bytes: each.Bytes * e.gpus}
	e.measures = append(e.measures, m)
}

// rates are those of a second's work that are known.
func rates(w roofline.Work) string {
	var known []string
	if !math.IsNaN(w.FLOPs) {
		known = append(known, unit.FLOPs(w.FLOPs))
	}
	if !math.IsNaN(w.Bytes) {
		known = append(known, unit.Bandwidth(w.Bytes))
	}
	return strings.Join(known, " and ")
}

// estimators is how many data-parallel engines of the page estimate: each counts for
// one GPU of its own.
func (e *engineUse) estimators() float64 {
	var ids []string
	for _, sl := range e.t.cols.slots {
		if sl.key.signal == model.EstimatedFLOPs && sl.seen == e.t.good && !slices.Contains(ids, sl.engine) {
			ids = append(ids, sl.engine)
		}
	}
	return math.Max(1, float64(len(ids)))
}

func (e *engineUse) estimate(basis model.UtilizationBasis, each roofline.Work) measure {
	return measure{basis: basis, each: each, compute: e.roof.MFU(each), bandwidth: e.roof.MBU(each)}
}

// surest is the confidence of a row that was cross-checked.
const surest = "A"

// byShape is what the model's shape and the engine's tempo come to.
func (e *engineUse) byShape() {
	s := e.served.shape
	if s == nil {
		e.lacks("shape: %s", e.served.why)
		return
	}
	e.tempo = e.t.tempoOf(e.engines)
	of := e.gpus / e.engines
	if math.IsNaN(of) {
		of = 1
	}
	e.effort = e.tempo.work(s, of)
	if math.IsNaN(e.effort.all.FLOPs) && math.IsNaN(e.effort.all.Bytes) {
		e.lacks("formula: the page does not tell the tokens or the steps that it needs")
		return
	}
	m := e.estimate(model.ByShape, e.effort.all.Per(e.gpus))
	m.total = e.effort.all
	m.note = append([]string{"from the model's shape and the token rates"}, e.tempo.notes...)
	if s.From == roofline.FromTable {
		m.note = append(m.note, "KV cache taken as 16 bit")
	}
	if s.Confidence != surest {
		m.note = append(m.note, "its shape by one secondary source")
	}
	if math.IsNaN(s.ExpertParams) {
		m.note = append(m.note, "no bytes, as its experts are of unknown size")
	}
	e.measures = append(e.measures, m)
}

// hint says what would measure where nothing does.
func (e *engineUse) hint() {
	if len(e.measures) > 0 {
		return
	}
	for _, d := range e.on {
		for _, m := range []model.DeviceMetric{model.TensorActive, model.DRAMActive} {
			if d.view.Values[m].Status == model.NotPermitted {
				e.lacks("counters: %s locks them; run with admin rights, or load its driver with NVreg_RestrictProfilingToAdminUsers=0", d.name())
				return
			}
		}
	}
	ways := "GPM (nvml: on Hopper and later) or dcgm-exporter with its profiling fields would measure"
	if e.t.couldEstimate() {
		ways += "; --enable-mfu-metrics would make the engine estimate"
	}
	e.lacks("counters: none of tensor and DRAM activity; %s", ways)
}

// selfEstimating are the engines that count their own FLOPs and bytes when told to.
var selfEstimating = []model.Text{"vllm", "sglang", "aphrodite"}

// couldEstimate reports whether the engine does not count its own FLOPs and can.
func (t *target) couldEstimate() bool {
	return slices.Contains(selfEstimating, t.view.Engine) && !t.exports(model.EstimatedFLOPs)
}

// seeMeasures shows the measures, and of each figure the best.
func (e *engineUse) seeMeasures(v *model.UtilizationView) {
	for i := range e.measures {
		m := &e.measures[i]
		v.Measures = append(v.Measures, model.MeasureView{
			Basis: m.basis, Compute: model.Of(m.compute), Bandwidth: model.Of(m.bandwidth),
			FLOPs: model.Of(m.total.FLOPs), Bytes: model.Of(m.total.Bytes), Note: model.Text(strings.Join(m.note, "; ")),
		})
		shown := v.Measures[i]
		if !v.MFU.OK() && shown.Compute.OK() {
			v.MFU = shown.Compute
			v.Basis = m.basis
		}
		if !v.MBU.OK() && shown.Bandwidth.OK() {
			v.MBU = shown.Bandwidth
		}
		if v.Point == nil {
			v.Point = pointOf(m.each)
		}
	}
	if v.Basis == "" && len(e.measures) > 0 {
		v.Basis = e.measures[0].basis
	}
	if v.Point != nil {
		v.Intensity = v.Point.Intensity
	}
	if e.effort != nil {
		v.Prefill, v.Decode = pointOf(e.effort.prefill.Per(e.gpus)), pointOf(e.effort.decode.Per(e.gpus))
	}
	v.Gap = model.Text(e.gap())
}

// floor is the least time in which the GPUs of one engine could do a mean step.
func (e *engineUse) floor() model.Reading {
	if e.effort == nil || !(e.tempo.steps > 0) {
		return model.Reading{}
	}
	return model.Of(e.roof.Times(e.gpus / e.engines).Floor(e.effort.all.Per(e.tempo.steps)))
}

// pointOf is the point of a second's work, nil where there is none: what does
// nothing stands nowhere.
func pointOf(w roofline.Work) *model.PointView {
	p := model.PointView{FLOPs: model.Of(w.FLOPs), Intensity: model.Of(w.Intensity())}
	if !p.FLOPs.OK() || !p.Intensity.OK() || p.FLOPs.Value <= 0 {
		return nil
	}
	return &p
}

// unlike is how far apart two measures must be for their gap to need a word.
const unlike = 0.1

// gap says what it means that the two most trusted measures differ.
func (e *engineUse) gap() string {
	if len(e.measures) < 2 {
		return ""
	}
	a, b := &e.measures[0], &e.measures[1]
	switch {
	case a.counted() && b.counted():
		return "two readers of the same counters, over intervals of their own"
	case a.counted():
		return e.gapToEstimate(a, b)
	default:
		return gapOfEstimates(a, b)
	}
}

// gapToEstimate holds counters against an estimate. The tensor pipe issues in as
// many cycles as its peak's clock is above the present one.
func (e *engineUse) gapToEstimate(a, b *measure) string {
	var said []string
	if a.compute >= 0 && b.compute >= 0 {
		expected := b.compute / e.clocked()
		text := fmt.Sprintf("tensor active %s against MFU %s", unit.Percent(a.compute), unit.Percent(b.compute))
		if e.clocked() != 1 {
			text += fmt.Sprintf(" (%s expected at the present clock)", unit.Percent(expected))
		}
		switch {
		case a.compute > expected*(1+unlike):
			text += ": the pipe also issues for padding and for what the estimate does not count"
		case a.compute < expected*(1-unlike):
			text += ": the estimate is more than the chip issued, so a shape, a precision or a number of GPUs may be wrong"
		}
		said = append(said, text)
	}
	if a.bandwidth >= 0 && b.bandwidth >= 0 {
		text := fmt.Sprintf("DRAM active %s against MBU %s", unit.Percent(a.bandwidth), unit.Percent(b.bandwidth))
		switch {
		case a.bandwidth > b.bandwidth*(1+unlike):
			text += ": activations, logits and repeated reads move bytes too"
		case a.bandwidth < b.bandwidth*(1-unlike):
			text += ": the estimate is more than the memory moved, so a shape, a format or a number of GPUs may be wrong"
		}
		said = append(said, text)
	}
	return strings.Join(said, "; ")
}

// gapOfEstimates holds the engine's estimate against ours, by what both give.
// Attention that an engine does not halve doubles the FLOPs at most.
func gapOfEstimates(a, b *measure) string {
	var said []string
	wrong := false
	if r := a.each.FLOPs / b.each.FLOPs; r > 0 && !math.IsInf(r, 0) {
		text := fmt.Sprintf("the engine counts %s of the formula's FLOPs", unit.Percent(r))
		if wrong = r < 1-unlike || r > 2; !wrong && r > 1 {
			text += ", as it does not halve attention for causality"
		}
		said = append(said, text)
	}
	if r := a.each.Bytes / b.each.Bytes; r > 0 && !math.IsInf(r, 0) {
		said = append(said, fmt.Sprintf("%s of its bytes", unit.Percent(r)))
	}
	text := strings.Join(said, " and ")
	if wrong {
		text += ": a shape, a precision or a number of GPUs may be wrong"
	}
	return text
}

package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/roofline"
	"slotop/model/slo"
	"slotop/model/unit"
)

// engineUse is one engine while its utilization is worked out.
type engineUse struct {
	t      *target
	on     []*device
	served *served
	means  *[len(counterBases)]recentMeans // of hardware counters
	heard  time.Duration                   // when they were read last

	product, from, confidence string
	note                      string        // of the peaks
	roof                      roofline.Roof // of one GPU
	boost                     float64       // Hz, at which it holds
	memory                    float64       // bytes of one GPU
	precision                 roofline.Precision
	gpus                      float64 // NaN unknown
	engines                   float64 // data-parallel, that the page tells apart

	tempo    tempo
	measures []measure
	effort   *effort
	missing  []string
}

func (e *engineUse) lacks(format string, args ...any) {
	e.missing = append(e.missing, fmt.Sprintf(format, args...))
}

// served is the model behind a target. It is looked up again when the target
// serves others.
type served struct {
	about *model.About // and
	slots int          // of the page that it was looked up of
	names []string
	shape *roofline.Shape
	why   string // there is no shape
	in    roofline.Precision
	known bool // what it is stored in
}

// lookUp finds the shape of what the target serves: as configured, or by its name.
func (s *served) lookUp(t *target, specs []model.ModelSpec) *served {
	if s.names != nil && s.about == t.about && s.slots == len(t.cols.slots) {
		return s
	}
	names := t.servedNames()
	if slices.Equal(names, s.names) && s.names != nil {
		s.about, s.slots = t.about, len(t.cols.slots)
		return s
	}
	*s = served{about: t.about, slots: len(t.cols.slots), names: names}
	if len(names) == 0 {
		s.why = "the page names no model"
		return s
	}
	var shapes []*roofline.Shape
	for _, name := range names {
		shape, why := shapeOf(name, specs)
		if shape == nil {
			s.why = why
			continue
		}
		shapes = append(shapes, shape)
	}
	if in, known := roofline.StoredIn(names[0]); known {
		s.in, s.known = in, true
	}
	switch {
	case len(shapes) == 0:
	case len(names) == 1:
		s.shape, s.why = shapes[0], ""
	default:
		s.shape, s.why = common(shapes, len(names), s.why)
	}
	if s.shape != nil {
		s.in, s.known = s.shape.Weights, true
	}
	return s
}

// servedNames are the models that the target serves, by its newest page.
func (t *target) servedNames() []string {
	var names []string
	if t.about != nil && len(t.about.Models) > 0 {
		names = slices.Clone(t.about.Models)
	} else {
		for _, sl := range t.cols.slots {
			if m := sl.key.labels.Get(model.LabelModel); m != "" && sl.seen == t.good {
				names = append(names, m)
			}
		}
	}
	slices.Sort(names)
	return orEmpty(slices.Compact(names))
}

// common is the shape that all of several models have: rates of one page cannot be
// given to one of them.
func common(shapes []*roofline.Shape, names int, why string) (*roofline.Shape, string) {
	for _, s := range shapes {
		if *s != *shapes[0] {
			return nil, fmt.Sprintf("it serves %d models of different shapes", names)
		}
	}
	if len(shapes) < names {
		return nil, why
	}
	return shapes[0], ""
}

func shapeOf(name string, specs []model.ModelSpec) (*roofline.Shape, string) {
	for _, spec := range specs {
		if slo.Glob(spec.Name, name) {
			return roofline.Configured(spec, name)
		}
	}
	if s := roofline.FindShape(name); s != nil {
		return s, ""
	}
	return nil, name + " is not in the table of models; say what it is under models"
}

// identify finds out what the engine runs on: as configured, or by the devices that
// it is joined with.
func (e *engineUse) identify(spec model.HardwareSpec) {
	e.roof = roofline.Roof{FLOPs: math.NaN(), Bytes: math.NaN()}
	e.boost, e.memory = math.NaN(), math.NaN()
	e.engines = math.Max(1, float64(len(e.t.view.Engines)))
	want, assumed := e.wanted(spec)
	e.precision = want
	if p := e.peaks(spec); p != nil {
		e.product, e.from, e.confidence, e.note = p.Product, p.From, p.Confidence, p.Note
		e.roof.FLOPs, e.precision = p.Peak(want)
		e.roof.Bytes, e.boost, e.memory = p.Bytes, p.BoostHz, p.Memory
		if spec.Accelerator != "" {
			e.from = roofline.FromConfiguration
		}
	}
	e.configured(spec, want)
	if assumed && !math.IsNaN(e.roof.FLOPs) {
		e.lacks("precision: taken as 16 bit, as nothing says how the model multiplies; say it under hardware: precision")
	}
	e.count(spec)
}

// wanted is the precision that the engine multiplies in.
func (e *engineUse) wanted(spec model.HardwareSpec) (p roofline.Precision, assumed bool) {
	if p, known := roofline.PrecisionNamed(spec.Precision); known {
		return p, false
	}
	if e.served.known {
		return e.served.in, false
	}
	return roofline.BF16, true
}

// peaks are those of the accelerator, nil where it is not known or is in no table.
func (e *engineUse) peaks(spec model.HardwareSpec) *roofline.Peaks {
	if spec.Accelerator != "" {
		p := roofline.NamedPeaks(spec.Accelerator)
		if p == nil {
			e.product, e.from = spec.Accelerator, roofline.FromConfiguration
			e.lacks("peaks: %s is not in the table of accelerators; give peak_tflops and bandwidth_gbs under hardware", spec.Accelerator)
		}
		return p
	}
	if len(e.on) == 0 {
		if !(spec.PeakFLOPs > 0) || !(spec.PeakBytes > 0) {
			e.lacks("accelerator: no GPU is known that it runs on; name it under hardware: accelerator and gpus, or watch its GPUs as well (nvml:, dcgm-exporter)")
		}
		return nil
	}
	var one *roofline.Peaks
	for _, d := range e.on {
		p, why := roofline.FindPeaks(cardOf(d))
		if p == nil {
			e.lacks("peaks: %s; name the card under hardware: accelerator", why)
			return nil
		}
		if one != nil && one.Product != p.Product {
			e.lacks("peaks: it runs on %s and %s: no one peak is theirs", one.Product, p.Product)
			return nil
		}
		one = p
	}
	return one
}

// cardOf is what is known of a device.
func cardOf(d *device) roofline.Card {
	v := &d.view
	number := func(m model.DeviceMetric) float64 {
		if r := v.Values[m]; r.Status == model.Measured {
			return r.Value
		}
		return math.NaN()
	}
	c := roofline.Card{
		Name: string(v.Name), Profile: string(v.Profile), Memory: number(model.MemTotal),
		SMClockMax: number(model.SMClockMax), Bandwidth: number(model.DRAMPeak),
	}
	for _, tl := range d.tellings {
		c.Capability, c.Cores = cmp.Or(c.Capability, tl.said.Capability), cmp.Or(c.Cores, tl.said.Cores)
	}
	return c
}

// configured puts in the peaks that the operator gives.
func (e *engineUse) configured(spec model.HardwareSpec, want roofline.Precision) {
	if spec.PeakFLOPs > 0 {
		e.roof.FLOPs, e.precision = spec.PeakFLOPs, want
	}
	if spec.PeakBytes > 0 {
		e.roof.Bytes = spec.PeakBytes
	}
	if spec.PeakFLOPs > 0 || spec.PeakBytes > 0 {
		e.confidence = "configured"
		if e.from == "" {
			e.from = roofline.FromConfiguration
		}
	}
}

// fits is how much of a GPU's memory weights may take for an engine to run there.
const fits = 0.95

// count says how many GPUs serve the engine: as configured, as joined, or else one
// for each engine that the page tells apart, while nothing contradicts that.
func (e *engineUse) count(spec model.HardwareSpec) {
	e.gpus = math.NaN()
	joined := float64(len(e.on))
	switch {
	case spec.GPUs > 0:
		e.gpus = float64(spec.GPUs)
	case joined >= e.engines:
		e.gpus = joined
	case joined > 0:
		e.lacks("gpus: it is %s engines and %s is known to run it; say gpus under hardware", unit.Integer(e.engines), gpus(joined))
	case !e.known():
		// Without a peak the number has nothing to divide.
	case e.tooLarge():
		e.lacks("gpus: its weights (%s) do not fit the memory of %s; say gpus under hardware", unit.Bytes(e.served.shape.WeightsStored()), gpus(e.engines))
	default:
		e.gpus = e.engines
		e.lacks("gpus: taken to be %s, as nothing says more; say gpus under hardware", unit.Integer(e.gpus))
	}
}

// known reports whether there is any peak.
func (e *engineUse) known() bool { return !math.IsNaN(e.roof.FLOPs) || !math.IsNaN(e.roof.Bytes) }

// tooLarge reports whether the model cannot run on one GPU for each engine.
func (e *engineUse) tooLarge() bool {
	return e.served.shape != nil && e.served.shape.WeightsStored() > fits*e.memory
}

func gpus(n float64) string {
	if n == 1 {
		return "1 GPU"
	}
	return unit.Integer(n) + " GPUs"
}

package fleet

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/roofline"
	"slotop/model/steptime"
)

const llama = "meta-llama/Llama-3.1-8B-Instruct"

// workshop is an engine at work beside the GPUs of its host.
type workshop struct {
	*bench
	name    string // served model
	engine  *model.About
	page    func(s float64) []model.Sample // after so many seconds
	gpuSays *model.About
	gpus    func() []model.Device
}

func newWorkshop(t testing.TB, policy model.Policy) *workshop {
	t.Helper()
	b := newGPUBench(t, 10*time.Second, engineAt("a", "http://127.0.0.1:8000"), gpuTarget("nvml:"))
	b.f.policy = policy
	w := &workshop{bench: b, name: llama, gpuSays: gpuAbout, gpus: func() []model.Device { return []model.Device{gpu("GPU-aaaa0001", 0, 0.99)} }}
	w.page = func(s float64) []model.Sample { return busyPage(w.name, s) }
	return w
}

// busyPage is what an engine counted after so many seconds of 50 steps each, with 32
// sequences in a step behind 2,000 tokens, and 8 prompts a second of 1,000 tokens of
// which 375 are cached.
func busyPage(name string, s float64) []model.Sample {
	l := model.Labels(model.LabelModel, name)
	hist := func(signal model.Signal, n, sum float64) model.Sample {
		return model.Sample{Signal: signal, Labels: l, Kind: model.Histogram, Hist: &model.Buckets{Bounds: []float64{1}, Counts: []float64{n, n}, Sum: model.Of(sum)}}
	}
	level := func(signal model.Signal, v float64) model.Sample {
		return model.Sample{Signal: signal, Labels: l, Kind: model.Gauge, Value: v}
	}
	count := func(signal model.Signal, v float64) model.Sample {
		return model.Sample{Signal: signal, Labels: l, Kind: model.Counter, Value: v * s}
	}
	return []model.Sample{
		level(model.Running, 32), level(model.Waiting, 0), level(model.KVUsage, 0.16), level(model.KVCapacity, 400000),
		count(model.OutputTokens, 1608), count(model.PromptTokens, 8000), count(model.CachedTokens, 3000), count(model.Finished, 8),
		hist(model.StepTokens, 50*s, 6608*s), hist(model.ITL, 1600*s, 32*s), hist(model.TTFT, 8*s, 0.8*s),
	}
}

// after plays so many polls and returns the last frame.
func (w *workshop) after(polls int) *model.Frame {
	w.t.Helper()
	var f *model.Frame
	for i := range polls {
		about := w.engine
		if about == nil {
			about = &model.About{Engine: "vllm", Models: []string{w.name}}
			w.engine = about
		}
		w.f.Step(model.Input{At: w.at, Batch: &model.Batch{Target: "http://127.0.0.1:8000", Samples: w.page(float64(10 * (i + 1))), About: about}})
		if w.gpus != nil {
			w.f.Step(model.Input{At: w.at, Batch: &model.Batch{Target: "nvml:", Devices: w.gpus(), About: w.gpuSays}})
		}
		f = w.tick()
		w.pass(w.every)
	}
	return f
}

func (w *workshop) use(polls int) model.UtilizationView {
	w.t.Helper()
	f := w.after(polls)
	if len(f.Utilization) != 1 {
		w.t.Fatalf("%d views", len(f.Utilization))
	}
	return f.Utilization[0]
}

// roughly compares to a thousandth.
func roughly(t testing.TB, what string, got model.Reading, want float64) {
	t.Helper()
	if v, ok := got.Get(); !ok || math.Abs(v/want-1) > 1e-3 {
		t.Errorf("%s: got %v (%v), want %v", what, got.Value, got.State, want)
	}
}

func none(t testing.TB, what string, r model.Reading) {
	t.Helper()
	if r.OK() {
		t.Errorf("%s is %v, and nobody knows it", what, r.Value)
	}
}

func lists(t testing.TB, list []string, want string) {
	t.Helper()
	if !strings.Contains(strings.Join(list, "\n"), want) {
		t.Errorf("nothing says %q:\n%s", want, strings.Join(list, "\n"))
	}
}

// The formula: every term by hand.
func TestUtilizationByShape(t *testing.T) {
	v := newWorkshop(t, model.Policy{}).use(4)
	const (
		perToken, perPosition = 2 * 7.505e9, 2 * 128256 * 4096
		attention, kv         = 524288.0, 131072.0
		weights               = (8.03e9 - 128256*4096) * 2
	)
	prefill := 5000.*(perToken-perPosition) + 8*perPosition + 8*attention*(625*625/2.+625*375)
	decode := 1608 * (perToken + attention*2000)
	bytes := 50*weights + 1600*2000*kv + (5000+1608)*kv
	if len(v.Measures) != 1 || v.Measures[0].Basis != model.ByShape || v.Basis != model.ByShape {
		t.Fatalf("%+v", v)
	}
	roughly(t, "FLOP/s", v.Measures[0].FLOPs, prefill+decode)
	roughly(t, "bytes/s", v.Measures[0].Bytes, bytes)
	roughly(t, "MFU", v.MFU, (prefill+decode)/989.4e12)
	roughly(t, "MBU", v.MBU, bytes/3350e9)
	roughly(t, "intensity", v.Intensity, (prefill+decode)/bytes)
	roughly(t, "ridge", v.Ridge, 989.4/3.35)
	roughly(t, "prefill", v.Prefill.FLOPs, prefill)
	roughly(t, "prefill's intensity", v.Prefill.Intensity, prefill/(8*weights+5000*kv))
	roughly(t, "decode", v.Decode.FLOPs, decode)
	roughly(t, "busy", v.Busy, 0.99)
	if v.Shape != llama || v.ShapeFrom != "table" || v.Device != "H100 SXM5 80GB" || v.DeviceFrom != "table" || v.Confidence != "A" || v.Precision != "bf16" || v.GPUs.Value != 1 {
		t.Errorf("%+v", v)
	}
	// 0.36 of the bandwidth and 0.10 of the compute: neither is near, by estimates.
	if v.Bound != model.BoundMixed || !v.Likely || !strings.HasPrefix(v.Sentence, "likely mixed: MBU 35 %, MFU 10 %") {
		t.Errorf("%s %v: %s", v.Bound, v.Likely, v.Sentence)
	}
	lists(t, v.Missing, "counters: none of tensor and DRAM activity")
}

// Without a counter of steps the gaps between tokens give the same.
func TestStepsByGaps(t *testing.T) {
	want := newWorkshop(t, model.Policy{}).use(4)
	for _, c := range []struct {
		name    string
		without []model.Signal
		note    string
	}{
		{"gaps", []model.Signal{model.StepTokens}, "by the gaps between tokens"},
		{"running", []model.Signal{model.StepTokens, model.ITL}, "by the requests that run"},
	} {
		w := newWorkshop(t, model.Policy{})
		w.page = func(s float64) []model.Sample { return drop(busyPage(llama, s), c.without...) }
		v := w.use(4)
		if d := v.MBU.Value / want.MBU.Value; math.Abs(d-1) > 0.02 {
			t.Errorf("%s: MBU %v, by steps %v", c.name, v.MBU.Value, want.MBU.Value)
		}
		lists(t, []string{string(v.Measures[0].Note)}, c.note)
	}
	// A model that drafts makes several tokens in a step: without a counter they cannot
	// be told.
	w := newWorkshop(t, model.Policy{})
	w.page = func(s float64) []model.Sample {
		l := model.Labels(model.LabelModel, llama)
		return append(drop(busyPage(llama, s), model.StepTokens), model.Sample{Signal: model.SpecDrafts, Labels: l, Kind: model.Counter, Value: 500 * s})
	}
	v := w.use(4)
	none(t, "MBU", v.MBU)
	if !v.MFU.OK() {
		t.Error("FLOPs need no steps")
	}
}

func drop(page []model.Sample, signals ...model.Signal) []model.Sample {
	var out []model.Sample
next:
	for _, s := range page {
		for _, d := range signals {
			if s.Signal == d {
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// The engine's counters are for one GPU of each of its data-parallel engines.
func TestUtilizationByEngine(t *testing.T) {
	w := newWorkshop(t, model.Policy{Hardware: []model.HardwareSpec{{Target: "a", GPUs: 4}}})
	w.page = func(s float64) []model.Sample {
		page := busyPage(llama, s)
		for engine, flops := range map[string]float64{"0": 300e12, "1": 100e12} {
			l := model.Labels(model.LabelModel, llama, model.LabelEngine, engine)
			page = append(page,
				model.Sample{Signal: model.EstimatedFLOPs, Labels: l, Kind: model.Counter, Value: flops * s},
				model.Sample{Signal: model.EstimatedRead, Labels: l, Kind: model.Counter, Value: 1e12 * s},
				model.Sample{Signal: model.EstimatedWritten, Labels: l, Kind: model.Counter, Value: 0.5e12 * s})
		}
		return page
	}
	v := w.use(4)
	if len(v.Measures) != 2 || v.Measures[0].Basis != model.ByEngine || v.Measures[1].Basis != model.ByShape || v.Basis != model.ByEngine {
		t.Fatalf("%+v", v.Measures)
	}
	roughly(t, "MFU", v.MFU, 200./989.4)
	roughly(t, "MBU", v.MBU, 1.5/3.35)
	roughly(t, "FLOP/s of all", v.Measures[0].FLOPs, 800e12)
	roughly(t, "a GPU's point", v.Point.FLOPs, 200e12)
	roughly(t, "intensity", v.Intensity, 200e12/1.5e12)
	lists(t, []string{string(v.Gap)}, "821 % of the formula's FLOPs and 512 % of its bytes: a shape, a precision or a number of GPUs may be wrong")
	if !v.Likely {
		t.Error("an estimate is only likely")
	}

	page := w.page
	w = newWorkshop(t, model.Policy{})
	w.page, w.gpus = page, nil
	v = w.use(4)
	none(t, "FLOP/s of nobody knows how many", v.Measures[0].FLOPs)
	lists(t, []string{string(v.Measures[0].Note)}, "of one GPU 200 TFLOP/s and 1.5 TB/s: how many there are is not known")
}

func withCounters(tensor, dram float64) func() []model.Device {
	return func() []model.Device {
		d := with(with(gpu("GPU-aaaa0001", 0, 0.99), model.SMClock, 1980e6), model.SMClockMax, 1980e6)
		for m, v := range map[model.DeviceMetric]float64{model.TensorActive: tensor, model.DRAMActive: dram} {
			d.Readings[m], d.From[m] = model.Measure(v), model.FromCounters
		}
		return []model.Device{d}
	}
}

// Hardware counters go first, and what an estimate says beside them is explained.
func TestUtilizationByCounters(t *testing.T) {
	for basis, about := range map[model.UtilizationBasis]*model.About{
		model.ByGPM: gpuAbout, model.ByDCGM: {Engine: "dcgm-exporter"}, model.ByExporter: {Engine: "all-smi"},
	} {
		w := newWorkshop(t, model.Policy{})
		w.gpuSays, w.gpus = about, withCounters(0.12, 0.72)
		v := w.use(4)
		if len(v.Measures) != 2 || v.Basis != basis || v.Measures[0].Basis != basis || v.Measures[1].Basis != model.ByShape {
			t.Fatalf("%s: %+v", basis, v.Measures)
		}
		near(t, "tensor", v.MFU, 0.12)
		near(t, "DRAM", v.MBU, 0.72)
		none(t, "FLOP/s of counters", v.Measures[0].FLOPs)
		roughly(t, "point", v.Point.FLOPs, 0.12*989.4e12*1980/1830)
		roughly(t, "intensity", v.Intensity, 0.12*989.4e12*1980/1830/(0.72*3350e9))
		if v.Bound != model.BoundBandwidth || v.Likely || v.Sentence != "bandwidth-bound: DRAM active 72 %, tensor active 12 %" {
			t.Errorf("%s likely %v: %s", v.Bound, v.Likely, v.Sentence)
		}
		// MFU 10.3 %, at 1980 of 1830 MHz 9.5 %: the pipe issued a quarter more.
		for _, say := range []string{"tensor active 12 % against MFU 10 % (9 % expected at the present clock): the pipe also issues", "DRAM active 72 % against MBU 35 %: activations"} {
			lists(t, []string{string(v.Gap)}, say)
		}
		if strings.Contains(strings.Join(v.Missing, " "), "counters:") {
			t.Errorf("%q", v.Missing)
		}
	}
}

// An exporter's figure that is no hardware counter is none here.
func TestBusyIsNoUtilization(t *testing.T) {
	w := newWorkshop(t, model.Policy{})
	w.name = "acme/secret-70b"
	w.gpus = func() []model.Device {
		return []model.Device{with(with(gpu("GPU-aaaa0001", 0, 1), model.MemBusy, 0.9), model.TensorActive, 0.9)}
	}
	v := w.use(4)
	none(t, "MFU", v.MFU)
	none(t, "MBU", v.MBU)
	if len(v.Measures) != 0 || v.Bound != model.BoundUnknown || v.Likely || v.Basis != "" || v.Point != nil {
		t.Errorf("%+v", v)
	}
	const want = "unknown: the driver gives busy time only; GPM, dcgm-exporter or --enable-mfu-metrics would tell"
	if v.Sentence != want {
		t.Errorf("%q", v.Sentence)
	}
	near(t, "busy", v.Busy, 1)
	lists(t, v.Missing, "shape: acme/secret-70b is not in the table of models; say what it is under models")
}

func TestBound(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		compute, bandwidth, waiting float64
		want, alone                 model.Bound
	}{
		{0.34, 0.60, 0, model.BoundBandwidth, ""},
		{0.35, 0.60, 0, model.BoundMixed, ""},
		{0.34, 0.59, 0, model.BoundMixed, ""},
		{0.50, 0.49, 0, model.BoundCompute, ""},
		{0.50, 0.50, 0, model.BoundMixed, ""},
		{0.49, 0.10, 0, model.BoundMixed, ""},
		{0.19, 0.19, 3, model.BoundStarved, ""},
		{0.19, 0.19, 0, model.BoundUnder, ""},
		{0.19, 0.19, nan, model.BoundUnknown, ""},
		{0.19, 0.20, 3, model.BoundMixed, ""},
		{1.40, 0.10, 0, model.BoundCompute, ""}, // never clipped
		{nan, 0.70, 0, model.BoundUnknown, model.BoundBandwidth},
		{0.70, nan, 0, model.BoundUnknown, model.BoundCompute},
		{nan, 0.50, 0, model.BoundUnknown, ""},
		{nan, nan, 0, model.BoundUnknown, ""},
	} {
		if got := boundOf(c.compute, c.bandwidth, c.waiting); got != c.want {
			t.Errorf("%v %v %v: %q", c.compute, c.bandwidth, c.waiting, got)
		}
		if got := byOneSign(c.compute, c.bandwidth); got != c.alone {
			t.Errorf("%v %v alone: %q", c.compute, c.bandwidth, got)
		}
	}
}

// What is not known stays unknown, and the frame says how to make it known.
func TestUtilizationUnknown(t *testing.T) {
	two := func(a, b string) func() []model.Device {
		return func() []model.Device {
			d, e := gpu("GPU-aaaa0001", 0, 1), gpu("GPU-aaaa0002", 1, 1)
			d.Name, e.Name = a, b
			return []model.Device{d, e}
		}
	}
	for name, c := range map[string]struct {
		change  func(*workshop)
		polls   int
		missing string
		say     string
		flops   bool // known all the same
	}{
		"no GPU":              {change: func(w *workshop) { w.gpus = nil }, missing: "accelerator: no GPU is known", say: "unknown: the peaks are not known", flops: true},
		"no such card":        {change: func(w *workshop) { w.gpus = two("NVIDIA X1", "NVIDIA X1") }, missing: "peaks: NVIDIA X1 is not in the table", say: "unknown: the peaks are not known", flops: true},
		"a virtual card":      {change: func(w *workshop) { w.gpus = two("GRID A100-4C", "GRID A100-4C") }, missing: "virtual", say: "unknown: the peaks", flops: true},
		"two kinds":           {change: func(w *workshop) { w.gpus = two("NVIDIA L4", "NVIDIA L40S") }, missing: "peaks: it runs on L4 and L40S", say: "unknown: the peaks", flops: true},
		"an alias":            {change: func(w *workshop) { w.name = "llama-70b" }, missing: "shape: llama-70b is not in the table", say: "unknown: the driver gives busy time only"},
		"one page":            {change: func(*workshop) {}, polls: 1, missing: "counters:", say: "unknown: rates need a second poll"},
		"no tokens":           {change: func(w *workshop) { w.page = func(float64) []model.Sample { return busyPage(llama, 1)[:2] } }, missing: "formula: the page does not tell", say: "unknown: the driver gives busy"},
		"two models":          {change: func(w *workshop) { w.engine = &model.About{Engine: "x", Models: []string{llama, "Qwen/Qwen3-8B"}} }, missing: "it serves 2 models of different shapes", say: "unknown: the driver"},
		"one of them unknown": {change: func(w *workshop) { w.engine = &model.About{Engine: "x", Models: []string{llama, "mine"}} }, missing: "shape: mine is not in the table", say: "unknown: the driver"},
	} {
		w := newWorkshop(t, model.Policy{})
		c.change(w)
		if c.polls == 0 {
			c.polls = 3
		}
		v := w.use(c.polls)
		none(t, name+": MFU", v.MFU)
		none(t, name+": MBU", v.MBU)
		lists(t, v.Missing, c.missing)
		if !strings.HasPrefix(v.Sentence, c.say) || v.Bound != model.BoundUnknown {
			t.Errorf("%s: %q %q", name, v.Bound, v.Sentence)
		}
		if c.flops != (len(v.Measures) == 1 && v.Measures[0].FLOPs.OK() && v.Measures[0].Bytes.OK()) {
			t.Errorf("%s: %+v", name, v.Measures)
		}
	}
}

// A silent engine has no present.
func TestUtilizationOfASilentEngine(t *testing.T) {
	w := newWorkshop(t, model.Policy{})
	w.use(4)
	for range 4 {
		w.f.Step(model.Input{At: w.at, Batch: &model.Batch{Target: "http://127.0.0.1:8000", Fault: &model.Fault{Kind: model.Refused}}})
		w.pass(w.every)
	}
	v := w.tick().Utilization[0]
	none(t, "MFU", v.MFU)
	if len(v.Measures) != 0 || v.Point != nil || v.Sentence != "unknown: the engine does not answer" {
		t.Errorf("%+v", v)
	}
	if n := len(v.Trail); n < 4 || v.Trail[n-1].FLOPs.OK() || !v.Trail[0].FLOPs.OK() {
		t.Errorf("trail %+v", v.Trail)
	}
}

// How many GPUs an engine has is never made up in silence.
func TestNumberOfGPUs(t *testing.T) {
	eight := func() (out []model.Device) {
		for i := range 8 {
			out = append(out, gpu(fmt.Sprintf("GPU-aaaa%04d", i), i, 1))
		}
		return out
	}
	h100 := model.HardwareSpec{Accelerator: "H100 SXM5 80GB"}
	ranks := func(n int) func(float64) []model.Sample {
		return func(s float64) []model.Sample {
			page := drop(busyPage(llama, s), model.Running)
			for i := range n {
				page = append(page, model.Sample{Signal: model.Running, Labels: model.Labels(model.LabelModel, llama, model.LabelEngine, fmt.Sprint(i)), Kind: model.Gauge, Value: 8})
			}
			return page
		}
	}
	for name, c := range map[string]struct {
		spec    model.HardwareSpec
		served  string
		gpus    func() []model.Device
		page    func(float64) []model.Sample
		want    float64 // 0: unknown
		missing string
	}{
		"joined":               {gpus: eight, want: 8},
		"configured":           {spec: model.HardwareSpec{GPUs: 2}, gpus: eight, want: 2},
		"assumed":              {spec: h100, want: 1, missing: "gpus: taken to be 1"},
		"four ranks":           {spec: h100, page: ranks(4), want: 4, missing: "gpus: taken to be 4"},
		"four ranks on one":    {gpus: func() []model.Device { return []model.Device{gpu("GPU-aaaa0001", 0, 1)} }, page: ranks(4), missing: "it is 4 engines and 1 GPU is known"},
		"too large for one":    {spec: h100, served: "meta-llama/Llama-3.1-70B-Instruct", missing: "do not fit the memory of 1 GPU"},
		"large and configured": {spec: model.HardwareSpec{Accelerator: "H100 SXM5 80GB", GPUs: 4}, served: "meta-llama/Llama-3.1-70B-Instruct", want: 4},
	} {
		w := newWorkshop(t, model.Policy{Hardware: []model.HardwareSpec{c.spec}})
		w.gpus = c.gpus
		if c.served != "" {
			w.name = c.served
		}
		if c.page != nil {
			w.page = c.page
		}
		v := w.use(3)
		if v.GPUs.Value != c.want {
			t.Errorf("%s: %v GPUs", name, v.GPUs)
		}
		if known := c.want > 0; v.MFU.OK() != known {
			t.Errorf("%s: MFU %v", name, v.MFU)
		}
		if c.missing != "" {
			lists(t, v.Missing, c.missing)
		} else if strings.Contains(strings.Join(v.Missing, " "), "gpus:") {
			t.Errorf("%s: %q", name, v.Missing)
		}
	}
}

// What the operator says goes before every table.
func TestUtilizationAsConfigured(t *testing.T) {
	w := newWorkshop(t, model.Policy{
		Hardware: []model.HardwareSpec{{Target: "b*", GPUs: 9}, {Target: "a", PeakFLOPs: 50e12, PeakBytes: 0.5e12, GPUs: 1, Precision: "fp8"}},
		Models:   []model.ModelSpec{{Name: "cha?", Shape: llama, WeightBytes: 1, KVBytes: 1}},
	})
	w.name = "chat"
	v := w.use(3)
	if v.Shape != llama || v.ShapeFrom != "configuration" || v.Confidence != "configured" || v.Precision != "fp8" || v.PeakFLOPs.Value != 50e12 || v.PeakBytes.Value != 0.5e12 {
		t.Errorf("%+v", v)
	}
	if !(v.MFU.Value > 1.5 && v.MFU.Value < 2.5) {
		t.Errorf("MFU %v: above 1 it is shown, and not clipped", v.MFU.Value)
	}
	near(t, "ridge", v.Ridge, 100)

	w = newWorkshop(t, model.Policy{Hardware: []model.HardwareSpec{{Accelerator: "NVIDIA B200"}}})
	if v = w.use(3); v.Device != "B200 SXM 180GB" || v.DeviceFrom != "configuration" || v.Confidence != "A" || v.GPUs.Value != 1 {
		t.Errorf("%+v", v)
	}
	w = newWorkshop(t, model.Policy{Hardware: []model.HardwareSpec{{Accelerator: "H1000"}}})
	lists(t, w.use(3).Missing, "H1000 is not in the table")
}

// A slice has its share of its GPU, and no busy time.
func TestUtilizationOfASlice(t *testing.T) {
	w := newWorkshop(t, model.Policy{Hardware: []model.HardwareSpec{{}}})
	w.gpus = func() []model.Device {
		whole := gpu("GPU-aaaa0001", 0, 0)
		part := model.Device{UUID: "MIG-bbbb0001", Index: -1, Name: whole.Name, Parent: whole.UUID, Profile: "3g.40gb", State: model.DevicePresent}
		part.Processes = []model.Process{{PID: 7, Serves: []int{8000}}}
		return []model.Device{whole, part}
	}
	v := w.use(3)
	if v.Device != "H100 SXM5 80GB 3g.40gb" || v.GPUs.Value != 1 {
		t.Fatalf("%+v", v)
	}
	roughly(t, "peak", v.PeakFLOPs, 989.4e12*3/7)
	roughly(t, "bandwidth", v.PeakBytes, 3350e9/2)
	none(t, "busy", v.Busy)
}

// A card that is in no table has the peaks of its clocks, and says that it is so.
func TestUtilizationOfAnUnlistedCard(t *testing.T) {
	w := newWorkshop(t, model.Policy{})
	w.gpus = func() []model.Device {
		d := with(with(gpu("GPU-aaaa0001", 0, 1), model.SMClockMax, 2610e6), model.DRAMPeak, 504e9)
		d.Name, d.Capability, d.Cores = "NVIDIA GeForce RTX 4070 Ti", "8.9", 7680
		return []model.Device{d}
	}
	v := w.use(3)
	roughly(t, "peak", v.PeakFLOPs, 60*512*2610e6)
	roughly(t, "bandwidth", v.PeakBytes, 504e9)
	if v.DeviceFrom != "derived" || v.Confidence != "C" || !v.MFU.OK() {
		t.Errorf("%+v", v)
	}
}

// The split of a step is what was learned of it, and explains the verdict.
func TestStepSplit(t *testing.T) {
	w := newWorkshop(t, model.Policy{})
	w.gpus = withCounters(0.12, 0.72)
	w.use(3)
	w.tick() // what the block was is looked at
	e := w.f.byID["http://127.0.0.1:8000"]
	e.steps.fit = &steptime.Fit{Fixed: 6.8e-3, PerKVToken: 65e-9, PerPrefill: 27.6e-6, Samples: 40}
	e.steps.nowMean = steptime.Sample{At: w.at, Seconds: 60, Steps: 3000, Step: 14e-3, Sequences: 32, KVTokens: 64000, Prefill: 100}
	v := w.tick().Utilization[0]
	if v.Step == nil {
		t.Fatal("no step")
	}
	near(t, "fixed", v.Step.Fixed, 6.8e-3)
	near(t, "KV", v.Step.KV, 4.16e-3)
	near(t, "prefill", v.Step.Prefill, 2.76e-3)
	near(t, "unexplained", v.Step.Unexplained, 14e-3-13.72e-3)
	near(t, "residual", v.Step.Residual, 14/13.72)
	roughly(t, "floor", v.Step.Floor, v.Measures[1].Bytes.Value/50/3350e9) // of 50 steps a second
	const want = "bandwidth-bound decode: weights and KV reads are 78 % of a step; DRAM active 72 %, tensor active 12 %"
	if v.Sentence != want {
		t.Errorf("%q", v.Sentence)
	}
	sum := v.Step.Fixed.Value + v.Step.KV.Value + v.Step.Prefill.Value + v.Step.Sequences.Value + v.Step.Unexplained.Value
	near(t, "the parts", v.Step.Seconds, sum)

	e.steps.nowMean.Step, e.steps.nowMean.At = 28e-3, w.at.Add(time.Second)
	lists(t, []string{w.tick().Utilization[0].Sentence}, "39 % of a step, prompts 10 %; 51 % of it is unexplained")
}

// The trail holds ten minutes, and nobody writes to what a frame holds.
func TestTrail(t *testing.T) {
	w := newWorkshop(t, model.Policy{})
	var frames []*model.Frame
	var was [][]model.PointView
	for range 250 {
		f := w.after(1)
		w.page = func(float64) []model.Sample { return busyPage(llama, w.at.Mono.Seconds()) }
		frames, was = append(frames, f), append(was, append([]model.PointView{}, f.Utilization[0].Trail...))
	}
	last := frames[len(frames)-1].Utilization[0].Trail
	if len(last) != trailPoints || !last[0].FLOPs.OK() {
		t.Errorf("%d points, the oldest %+v", len(last), last[0])
	}
	for i, f := range frames {
		for k, p := range f.Utilization[0].Trail {
			if p != was[i][k] {
				t.Fatalf("point %d of frame %d was written over", k, i)
			}
		}
	}
	w.pass(time.Hour)
	if trail := w.tick().Utilization[0].Trail; len(trail) != trailPoints || trail[0].FLOPs.OK() {
		t.Errorf("an hour of silence is no gap: %d points", len(trail))
	}
}

// Nothing is worked out again while nothing moved.
func TestUtilizationIsKept(t *testing.T) {
	w := newWorkshop(t, model.Policy{})
	w.use(3)
	a := w.tick().Utilization[0] // a block ended: its steps are news
	w.pass(time.Second)
	b := w.tick().Utilization[0]
	if &a.Measures[0] != &b.Measures[0] {
		t.Error("made again without news")
	}
	w.f.setWindow(20 * time.Second)
	if c := w.tick().Utilization[0]; &a.Measures[0] == &c.Measures[0] {
		t.Error("another window and the same figures")
	}
}

// In a large fleet a view is made once in ten seconds, and at once where an engine
// falls silent.
func TestUtilizationOfManyIsMadeSeldom(t *testing.T) {
	var names []string
	for i := range few + 1 {
		names = append(names, fmt.Sprintf("t%03d", i))
	}
	b := newBench(t, time.Second, names...)
	made := map[string]int{}
	before := map[string]model.UtilizationView{}
	for n := range 32 {
		for _, name := range names {
			b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: model.TargetID(name), Samples: busyPage(llama, float64(n)), About: about}})
		}
		f := b.tick()
		b.pass(b.every)
		again := 0
		for _, v := range f.Utilization {
			was := before[v.Target]
			if len(v.Measures) > 0 && (len(was.Measures) == 0 || &was.Measures[0] != &v.Measures[0]) {
				made[v.Target]++
				again++
			}
			before[v.Target] = v
		}
		if n > 12 && again > 25 {
			t.Errorf("%d views are made in one frame", again)
		}
	}
	for name, n := range made {
		if n < 3 || n > 6 {
			t.Errorf("%s was made %d times in half a minute", name, n)
		}
	}
	if len(made) != len(names) {
		t.Errorf("%d of %d have a measure", len(made), len(names))
	}
	b.fail("t007", model.Refused)
	for _, v := range b.tick().Utilization {
		if gone := v.Target == "t007"; gone != (len(v.Measures) == 0) {
			t.Errorf("%s: %s", v.Target, v.Sentence)
		}
	}
}

func TestUtilizationIsAList(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"))
	if f := b.tick(); f.Utilization == nil || len(f.Utilization) != 0 {
		t.Errorf("%v", f.Utilization)
	}
}

// A spread-out expert model reads more weights than a single stream of it.
func TestWorkOfExperts(t *testing.T) {
	s := roofline.FindShape("Qwen/Qwen3-30B-A3B")
	one := tempo{output: 100, prompts: 0, computed: 0, cached: 0, steps: 100, sequences: 1, context: 1000}
	many := tempo{output: 1600, prompts: 0, computed: 0, cached: 0, steps: 100, sequences: 16, context: 1000}
	a, b := one.work(s, 1), many.work(s, 1)
	if r := b.all.Bytes / a.all.Bytes; !(r > 4 && r < 10) {
		t.Errorf("16 sequences read %v times what one does", r)
	}
	near(t, "FLOPs", model.Of(b.all.FLOPs), 16*a.all.FLOPs)
	idle := tempo{}
	if w := idle.work(s, 1); w.all != (roofline.Work{}) {
		t.Errorf("%+v", w)
	}
}

func BenchmarkUtilization(b *testing.B) {
	w := newWorkshop(b, model.Policy{})
	w.gpus = withCounters(0.12, 0.72)
	f := w.after(8)
	e, on := w.f.byID["http://127.0.0.1:8000"], w.f.runningOn()
	b.Run("moved", func(b *testing.B) {
		for b.Loop() {
			e.use.of = made{}
			e.utilized(w.f, f.At, 0, on[e])
		}
	})
	b.Run("still", func(b *testing.B) {
		e.utilized(w.f, f.At, 0, on[e])
		b.ReportAllocs()
		for b.Loop() {
			e.utilized(w.f, f.At, 0, on[e])
		}
	})
}

// One reading is of a few steps: a verdict is of the last minute's.
func TestCountersOverAMinute(t *testing.T) {
	w := newWorkshop(t, model.Policy{})
	n := 0
	w.gpus = func() []model.Device {
		n++
		return withCounters([]float64{0.05, 0.35}[n%2], []float64{0.9, 0.5}[n%2])()
	}
	v := w.use(12)
	near(t, "tensor", v.MFU, 0.20)
	near(t, "DRAM", v.MBU, 0.70)
	if v.Bound != model.BoundBandwidth {
		t.Errorf("%s", v.Sentence)
	}
	w.gpus = withCounters(0.7, 0.3)
	w.page = func(float64) []model.Sample { return busyPage(llama, w.at.Mono.Seconds()) }
	v = w.use(6)
	near(t, "tensor after a minute", v.MFU, 0.7)
	if v.Bound != model.BoundCompute {
		t.Errorf("%s", v.Sentence)
	}
}

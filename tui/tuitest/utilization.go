package tuitest

import (
	"fmt"
	"math"

	"slotop/model"
)

// Uses is the frames that tell of utilization and capacity: calm, traffic, a slow
// machine, silence, a fleet, what cannot be, nothing but busy time, and hostile
// names.
func Uses() []Named {
	return []Named{
		{"use-calm", CalmUse()}, {"use-traffic", TrafficUse()}, {"use-throttled", ThrottledUse()}, {"use-stale", StaleUse()},
		{"use-many", ManyUse()}, {"use-beyond", BeyondUse()}, {"use-busy", BusyUse()}, {"use-hostile", HostileUse()},
	}
}

// What an H100 SXM can do in BF16, of one GPU.
const (
	h100FLOPs = 989.4e12
	h100Bytes = 3.35e12
)

// engineUse is an engine on one H100 by the given shares, with ten minutes behind it
// that led from a third of that to here.
func engineUse(target string, mfu, mbu float64) model.UtilizationView {
	at := point(mfu*h100FLOPs, mfu*h100FLOPs/(mbu*h100Bytes))
	u := model.UtilizationView{
		Target: target, Models: []string{"acme/chat-8b"},
		Shape: "Llama-3.1-8B", ShapeFrom: "table", Device: "H100 SXM", DeviceFrom: "table", GPUs: model.Of(1), Precision: "BF16", Confidence: "A",
		PeakFLOPs: model.Of(h100FLOPs), PeakBytes: model.Of(h100Bytes), Ridge: model.Of(h100FLOPs / h100Bytes),
		MFU: model.Of(mfu), MBU: model.Of(mbu), Basis: model.ByEngine,
		Measures: []model.MeasureView{
			{Basis: model.ByGPM, Compute: model.Of(mfu * 1.05), Bandwidth: model.Of(mbu * 1.38)},
			{Basis: model.ByEngine, Compute: model.Of(mfu), Bandwidth: model.Of(mbu), FLOPs: model.Of(mfu * h100FLOPs), Bytes: model.Of(mbu * h100Bytes), Note: "no causal halving of attention"},
			{Basis: model.ByShape, Compute: model.Of(mfu * 0.94), Bandwidth: model.Of(mbu * 0.97), FLOPs: model.Of(mfu * 0.94 * h100FLOPs), Bytes: model.Of(mbu * 0.97 * h100Bytes)},
		},
		Intensity: at.Intensity, Point: &at, Busy: model.Of(0.98), Bound: model.BoundBandwidth,
		Sentence: "bandwidth-bound decode: weights and KV reads are 77 % of a step",
	}
	prefill, decode := point(0.42*h100FLOPs, 640), point(0.6*mfu*h100FLOPs, 0.7*at.Intensity.Value)
	u.Prefill, u.Decode = &prefill, &decode
	for i := range 60 {
		f := 0.35 + 0.65*float64(i)/59
		wave := 1 + 0.08*math.Sin(float64(i))
		p := point(mfu*h100FLOPs*f*f*wave, at.Intensity.Value*f)
		if i == 20 {
			p = model.PointView{}
		}
		u.Trail = append(u.Trail, p)
	}
	return u
}

func point(flops, intensity float64) model.PointView {
	return model.PointView{FLOPs: model.Of(flops), Intensity: model.Of(intensity)}
}

// step is a split of a step in milliseconds; its length is what the parts add up to.
func step(fixed, kv, prefill, unexplained float64) *model.StepView {
	s := &model.StepView{
		Fixed: model.Of(fixed / 1000), KV: model.Of(kv / 1000), Prefill: model.Of(prefill / 1000), Sequences: model.Of(0), Unexplained: model.Of(unexplained / 1000),
		Samples: 70,
	}
	explained := fixed + kv + prefill
	s.Seconds, s.Residual = model.Of((explained+unexplained)/1000), model.Of((explained+unexplained)/explained)
	return s
}

// oneEngine is a frame of one engine on one GPU.
func oneEngine(u model.UtilizationView) *model.Frame {
	f := Calm()
	f.Targets = append(f.Targets[:1:1], gpuTarget("gpus", "nvml:", ""))
	d := gpu("", 0, 0.98)
	d.Engines, d.JoinedBy = []string{f.Targets[0].Name}, "process"
	f.Targets[0].GPUs = []string{d.UUID}
	f.Devices = []model.DeviceView{d}
	f.DeviceSum = &model.DevicesView{Total: 1, Present: 1, Measured: 1, Busy: model.Of(0.98), PowerW: model.Of(512), Used: model.Of(68 * gib), Memory: model.Of(80 * gib)}
	f.Utilization = []model.UtilizationView{u}
	f.Capacity = []model.CapacityView{pool("vllm-0:8000", 0.471)}
	return f
}

// CalmUse is the quiet service of the demo on one H100.
func CalmUse() *model.Frame {
	u := engineUse("vllm-0:8000", 0.21, 0.44)
	u.Step = step(6.8, 3.1, 2.9, 0)
	u.Gap = "DRAM is busier than weights and KV reads need, 61 % against 44 %: activations, logits and re-reads count in one and not in the other"
	return oneEngine(u)
}

// TrafficUse is four times the traffic: the KV cache is full and the load explains
// how long a step takes.
func TrafficUse() *model.Frame {
	u := engineUse("vllm-0:8000", 0.26, 0.34)
	u.Step = step(6.8, 27.7, 25.8, 4.2)
	u.Bound, u.Sentence = model.BoundMixed, "mixed: prefill is 40 % of a step, KV reads 43 %"
	u.Gap = ""
	f := oneEngine(u)
	c := pool("vllm-0:8000", 1.46)
	c.Rate, c.Headroom, c.More = model.Of(29.2), model.Of(-15.2/29.2), model.Of(-15.2)
	c.First, c.FirstWhy = model.BindsKV, "the KV cache fills first: 228 sequences fit (model)"
	c.Sentence = "overloaded: load 1.46 of 0.70; a second replica makes it 0.73"
	c.Replicas.Needed, c.Replicas.Then = model.Of(3), model.Of(3)
	c.Knees[0].Reached = true
	c.WorstBurn = model.Of(19.6)
	c.Waste = append(c.Waste, model.WasteView{Kind: "recomputed", Tokens: model.Of(812), Share: model.Of(0.07), N: model.Of(62), Note: "prefilled again after preemption"})
	f.Capacity = []model.CapacityView{c}
	return f
}

// ThrottledUse is a GPU whose clocks fell: a step takes twice as long as its load
// explains.
func ThrottledUse() *model.Frame {
	u := engineUse("vllm-0:8000", 0.12, 0.17)
	u.Step = step(6.8, 30, 25.2, 60.1)
	u.Sentence = "likely bandwidth-bound; a step takes 1.97× as long as its load explains, and the clock is 891 of 1980 MHz: hardware thermal slowdown"
	u.Likely = true
	u.Missing = []string{"the split of a step is the engine's own of before: see the clock"}
	f := oneEngine(u)
	f.Capacity[0].Why = "steps take ×1.97 of what was learned: the load is of machines as slow as now"
	d := &f.Devices[0]
	d.Throttled = []string{model.ThrottleHWThermal}
	measure(d, model.SMClock, 891e6)
	measure(d, model.Power, 301)
	return f
}

// StaleUse is an engine that fell silent: what is known of it is old, its shape is
// not.
func StaleUse() *model.Frame {
	f := Stale()
	u := engineUse("vllm-0:8000", 0.21, 0.44)
	u.MFU, u.MBU, u.Basis, u.Measures, u.Intensity = model.Missing(model.Stale), model.Missing(model.Stale), "", nil, model.Missing(model.Stale)
	u.Point, u.Prefill, u.Decode, u.Busy = nil, nil, nil, model.Missing(model.Stale)
	u.Trail = u.Trail[:40]
	u.Step = &model.StepView{Why: "no good poll since 03:13:02"}
	u.Bound, u.Sentence = model.BoundUnknown, "unknown: vllm-0:8000 does not answer since 03:13:02"
	f.Utilization = []model.UtilizationView{u}
	c := model.CapacityView{
		Pool: "chat", Targets: []string{"vllm-0:8000", "vllm-1:8000"}, Workflows: []string{"chat"},
		Why: "no engine of it answers", Sentence: "unknown: no engine of it answers", Observed: span(3, 16.2),
	}
	f.Capacity = []model.CapacityView{c}
	return f
}

// ManyUse is a fleet of engines in every state of use.
func ManyUse() *model.Frame {
	f := ManyGPUs(2)
	f.Targets = f.Targets[2:]
	for i := range 14 {
		name := fmt.Sprintf("vllm-%d.pool.example:8000", i)
		f.Targets = append(f.Targets, target(name, float64(20+i), 0, 0.3))
		u := engineUse(name, 0.05+0.02*float64(i), 0.6-0.03*float64(i))
		u.Step = step(6.8, 3+float64(i), 2.9, 0.1*float64(i))
		u.Gap = ""
		f.Devices[i].Engines, f.Devices[i].JoinedBy = []string{name}, "host"
		f.Utilization = append(f.Utilization, u)
	}
	us := f.Utilization
	us[3].Step = step(6.8, 12, 9, 24)
	us[5].Bound, us[5].Sentence = model.BoundCompute, "compute-bound prefill: 71 % of a step"
	us[6].Step = step(6.8, 8, 3, 3.5)
	us[7].Bound, us[7].Sentence = model.BoundStarved, "starved: requests wait and neither compute nor bandwidth is used"
	us[8].Bound, us[8].Sentence, us[8].Likely = model.BoundUnder, "underused: nothing waits", true
	us[9] = BusyUse().Utilization[0]
	us[9].Target = "vllm-9.pool.example:8000"
	us[10].GPUs, us[10].Precision = model.Of(8), "FP8"
	f.Capacity = []model.CapacityView{pool("chat", 0.83), pool("code", 0.64), pool("batch", 0.2)}
	f.Capacity[1].Cost, f.Capacity[1].Energy, f.Capacity[1].Knees = nil, nil, nil
	silent := &f.Capacity[2]
	silent.Load, silent.Why = model.Reading{}, "the model of step times needs 12 samples and has 3"
	silent.Sentence = "no load factor: " + string(silent.Why)
	f.Capacity[0].Sentence = "load 0.83, beyond the planning limit of 0.70; 1 more replica for this rate"
	return f
}

// BeyondUse is a number of GPUs that somebody got wrong: more than the whole is used.
func BeyondUse() *model.Frame {
	u := engineUse("vllm-0:8000", 1.12, 1.31)
	u.DeviceFrom, u.Confidence, u.Trail = "derived", "C", u.Trail[30:]
	u.Measures = u.Measures[1:2]
	u.Step = step(6.8, 3.1, 2.9, -0.4)
	u.Step.Gap = true
	u.Likely, u.Sentence = true, "likely bandwidth-bound decode"
	u.Prefill, u.Decode = nil, nil
	f := oneEngine(u)
	f.Devices, f.DeviceSum, f.Targets = nil, nil, f.Targets[:1]
	f.Targets[0].GPUs = nil
	f.Capacity = nil
	return f
}

// BusyUse is an engine of which nothing but busy time is known.
func BusyUse() *model.Frame {
	u := model.UtilizationView{
		Target: "sglang-0:30000", Models: []string{"acme/secret-moe"}, Busy: model.Of(0.97),
		Sentence: "unknown: NVML gives busy time only; GPM, dcgm-exporter or --enable-mfu-metrics would tell",
		Missing: []string{
			"GPM: this GPU has none; dcgm-exporter with profiling metrics tells tensor and DRAM activity",
			"the shape of acme/secret-moe: name it under models in the configuration",
			"the peaks of the accelerator: name it under hardware in the configuration",
		},
		Step: &model.StepView{Why: "no step counter and no gaps between tokens: iteration_tokens would tell"},
	}
	f := oneEngine(u)
	d := &f.Devices[0]
	d.Engines, f.Targets[0].Name, f.Targets[0].GPUs = []string{u.Target}, u.Target, []string{d.UUID}
	for _, m := range []model.DeviceMetric{model.TensorActive, model.DRAMActive, model.SMActive, model.SMOccupancy} {
		lacking(d, m, model.NotSupported)
	}
	f.Capacity = []model.CapacityView{{
		Pool: "chat", Targets: []string{u.Target}, Workflows: []string{"chat"},
		Replicas: model.ReplicaPlan{Ready: 1}, Why: "no step counter and no gaps between tokens", Sentence: "no load factor: no step counter and no gaps between tokens",
	}}
	return f
}

// HostileUse puts names that try to take over the terminal wherever a view of
// utilization or capacity has a text, and numbers that cannot be.
func HostileUse() *model.Frame {
	f := Hostile()
	for i := range f.Targets {
		n := f.Targets[i].Name
		t := model.Text(n)
		u := engineUse(n, 1e30, 1e-30)
		u.Models, u.Shape, u.ShapeFrom, u.Device, u.DeviceFrom, u.Precision, u.Confidence, u.Gap, u.Sentence, u.Missing = []string{n}, t, t, t, t, t, t, t, n, []string{n}
		u.Measures[0].Note, u.Basis = t, model.UtilizationBasis(n)
		u.Measures[1].Basis = model.UtilizationBasis(n)
		u.Step = step(1e9, -4, 1e-9, 7)
		u.Bound, u.GPUs = model.Bound(n), model.Of(1e12)
		if i%3 == 1 {
			u.Step.Why = t
		}
		f.Utilization = append(f.Utilization, u)
		c := pool(n, 1e9)
		c.Targets, c.Workflows, c.First, c.FirstWhy, c.Why, c.Sentence = []string{n}, []string{n, n}, model.Binding(n), t, t, n
		c.Replicas.Why, c.Knees[0].Workflow, c.Levers[0].Change, c.Cost.Currency = t, n, n, n
		c.Waste[0].Kind, c.Waste[0].Note = n, t
		f.Capacity = append(f.Capacity, c)
	}
	return f
}

// expected is what the formulas give of the pool at a rate; where the queue never ends,
// only how many sequences fit.
func expected(rate, load float64) *model.ExpectedView {
	e := &model.ExpectedView{Fit: model.Of(228)}
	if load < 1 {
		tpot := 0.00682 / (1 - load)
		running := rate * 221 * tpot
		e.TPOT, e.Running, e.KVUse = model.Of(tpot), model.Of(running), model.Of(running/228)
	}
	return e
}

// pool is the capacity of a pool at a load factor.
func pool(name string, load float64) model.CapacityView {
	rate := 9.3 * load / 0.471
	return model.CapacityView{
		Pool: name, Targets: []string{"vllm-0:8000"}, Workflows: []string{"batch-eval", "chat", "summarize"},
		Load: model.Of(load), Rate: model.Of(rate), PerCall: model.Of(0.0506), MaxRate: model.Of(19.7), KVRate: model.Of(17.5), SLORate: model.Of(14.4),
		Headroom: model.Of(0.7/load - 1), More: model.Of(rate * (0.7/load - 1)), First: model.BindsMemory, FirstWhy: "the objective on TPOT of chat breaks first, at 14.4 req/s (model)",
		Expected: expected(rate, load),
		Replicas: model.ReplicaPlan{Ready: 1, Needed: model.Of(math.Ceil(load / 0.7)), Forecast: model.Of(24), Then: model.Of(2), Why: "decided by the load"},
		Knees: []model.KneeView{
			{Workflow: "chat", Rate: model.Of(13.1), Blocks: 238, Observed: span(3.1, 16.2), Reached: true},
			{Workflow: "summarize", Rate: model.Of(16.2), Blocks: 238, Observed: span(3.1, 16.2)},
			{Workflow: "batch-eval", Blocks: 6, Observed: span(7, 9.3)},
		},
		Levers: []model.LeverView{
			{Change: "prefix hits +10 points", Rate: model.Of(0.91), Load: model.Of(load * 0.94)},
			{Change: "half the output", Rate: model.Of(3.1), Load: model.Of(load * 0.71)},
			{Change: "KV cache in FP8", Rate: model.Of(1.9), Load: model.Of(load * 0.86)},
		},
		Cost:   &model.CostView{Currency: "$", PerHour: model.Of(3.24), PerMillion: model.Of(0.362), PerMillionGood: span(0.364, 0.371), Note: "GPUs that the engines were seen to run on"},
		Energy: &model.EnergyView{PowerW: model.Of(512), Boards: 1, TokensPerJoule: model.Of(4.1), WhPerMillion: model.Of(67.7), GoodPerJoule: span(4.02, 4.06), Note: "power of the boards, without their hosts"},
		Waste: []model.WasteView{
			{Kind: "failed", Tokens: model.Of(0), Share: model.Of(0), N: model.Of(0)},
			{Kind: "abandoned", Tokens: model.Of(41), Share: model.Of(0.02), N: model.Of(14), Note: "at the mean output so far"},
			{Kind: "truncated", Tokens: model.Missing(model.Unsupported), Share: model.Missing(model.Unsupported), N: model.Missing(model.Unsupported), Note: "finish reasons are not exported"},
		},
		WorstBurn: model.Of(2.1), Observed: span(3.1, 16.2),
		Sentence: fmt.Sprintf("load %.2f of 0.70: room for %.0f %% of this mix", load, 100*(0.7/load-1)),
	}
}

// span is a range of rates.
func span(lo, hi float64) model.Range { return model.Range{Lo: model.Of(lo), Hi: model.Of(hi)} }

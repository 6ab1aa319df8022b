package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// wild is an engine that tells what no engine should, between stretches of sense.
type wild struct {
	rng    *rand.Rand
	name   string
	labels []model.LabelSet
	done   []float64 // requests, by label
	lacks  map[model.Signal]bool
	rate   float64
	part   float64 // of the samples that are wild
	every  float64 // of the pages that begin anew
}

var strange = []float64{0, -1, 5, 1e18, 1e300, math.MaxFloat64, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1)}

var wildNames = []string{"chat", "\x1b[31mred\x1b[0m", "要約\u202e", strings.Repeat("w", 60), "", "other", "a\nb"}

func newWild(rng *rand.Rand, i int) *wild {
	w := &wild{rng: rng, name: fmt.Sprintf("t%d", i), lacks: map[model.Signal]bool{}, rate: []float64{0, 0.01, 1, 8, 1000}[rng.IntN(5)]}
	w.part = []float64{0, 0.002, 0.02, 0.3}[rng.IntN(4)]
	w.every = []float64{0, 0, 0.01, 0.5, 1}[rng.IntN(5)]
	for range 1 + rng.IntN(3) {
		at := wildNames[rng.IntN(len(wildNames))]
		l := model.Labels(model.LabelModel, at)
		if rng.IntN(3) == 0 {
			l = model.Labels(model.LabelModel, at, model.LabelEngine, fmt.Sprint(rng.IntN(3)))
		}
		w.labels, w.done = append(w.labels, l), append(w.done, 0)
	}
	for _, s := range model.Signals {
		if rng.IntN(4) == 0 {
			w.lacks[s.Signal] = true
		}
	}
	return w
}

// page is what it tells after some seconds more of work.
func (w *wild) page(seconds float64) []model.Sample {
	var out []model.Sample
	if w.rng.IntN(40) == 0 {
		w.rate = []float64{0, 1, 8, 40}[w.rng.IntN(4)]
	}
	for i, labels := range w.labels {
		if w.rng.Float64() < w.every {
			w.done[i] = 0
		}
		w.done[i] += math.Floor(w.rate * seconds * w.rng.Float64() * 2)
		for _, s := range model.Signals {
			if !w.lacks[s.Signal] {
				out = append(out, w.sample(s, labels, w.done[i]))
			}
		}
	}
	return out
}

func (w *wild) sample(s model.SignalInfo, labels model.LabelSet, n float64) model.Sample {
	out := model.Sample{Signal: s.Signal, Kind: s.Kind, Labels: labels}
	bad := w.rng.Float64() < w.part
	odd := strange[w.rng.IntN(len(strange))]
	switch {
	case s.Kind == model.Histogram:
		bounds := []float64{0.01, 0.1, 1, 1000, 5000}
		counts := []float64{0, n / 4, n / 2, n, n, n}
		out.Hist = &model.Buckets{Bounds: bounds, Counts: counts, Sum: model.Of(n * 300 * w.rng.Float64())}
		if s.Signal != model.PromptLength && s.Signal != model.OutputLength && s.Signal != model.StepTokens {
			out.Hist.Sum = model.Of(n * 0.03)
		}
		if bad {
			counts[w.rng.IntN(len(counts))] = odd
			out.Hist.Sum = model.Reading{Value: odd, State: model.Present}
		}
	case bad:
		out.Value = odd
	case s.Kind == model.Counter:
		out.Value = 100 * n
		if s.Signal == model.Finished || s.Signal == model.Started {
			out.Value = n
		}
	case s.Signal == model.KVCapacity:
		out.Value = 438000
	case s.Signal == model.MaxRunning:
		out.Value = 256
	case s.Signal == model.KVUsage || s.Signal == model.ReportedHitRatio:
		out.Value = w.rng.Float64()
	case s.Signal == model.ProcessStart:
		out.Value = 1.7e9
	default:
		out.Value = math.Floor(w.rng.Float64() * 40)
	}
	return out
}

// wildRun folds one run and hands every frame to a function. The same seed gives the
// same inputs.
func wildRun(t testing.TB, seed uint64, rounds int, each func(*model.Frame)) {
	rng := rand.New(rand.NewPCG(seed, 7))
	every := []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second, time.Minute, 5 * time.Minute}[rng.IntN(5)]
	var specs []model.Target
	var engines []*wild
	for i := range 1 + rng.IntN(4) {
		engines = append(engines, newWild(rng, i))
		kind := []string{model.EngineTarget, model.EngineTarget, model.EngineTarget, model.GatewayTarget, model.PrometheusTarget}[rng.IntN(5)]
		specs = append(specs, model.Target{ID: model.TargetID(engines[i].name), Name: engines[i].name, Kind: kind})
	}
	specs = append(specs, model.Target{ID: "gpu", Name: "gpu", Kind: model.GPUTarget})
	policy := model.Policy{
		KeepOthers: true, Prices: model.PriceSpec{GPUHour: []float64{0, 2, 1e7}[rng.IntN(3)]}, Forecast: map[string]float64{"chat": 1e6, "nobody": 3},
		Workflows: []model.WorkflowSpec{{Name: "chat", Share: 0.95, PeriodS: 86400, Objectives: []model.Objective{{Metric: model.MetricTTFT, MaxS: 1}, {Metric: model.MetricTPOT, MaxS: 0.05}}}},
		Hardware:  []model.HardwareSpec{{Target: "t0", Accelerator: "NVIDIA H100 80GB HBM3", GPUs: 1 + rng.IntN(9), Sequences: rng.IntN(2) * 256, TokenBudget: rng.IntN(2) * 2048}},
		Models:    []model.ModelSpec{{Name: "*", Shape: "meta-llama/Llama-3.1-8B-Instruct"}},
	}
	f, err := New(Config{Targets: specs, Every: every, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	at := model.Instant{Wall: noon}
	about := &model.About{Engine: "vllm", Models: []string{"chat"}}
	for range rounds {
		for _, w := range engines {
			id := model.TargetID(w.name)
			switch rng.IntN(30) {
			case 0:
				f.Step(model.Input{At: at, Batch: &model.Batch{Target: id, Fault: &model.Fault{Kind: model.Timeout}}})
			case 1:
			case 2:
				a := *about
				a.Version = fmt.Sprint(rng.IntN(3))
				a.StepS = []float64{0, 15, 60, -1, 1e6}[rng.IntN(5)]
				a.Replicas = model.Replicas{Fresh: rng.IntN(3), Total: rng.IntN(3)}
				f.Step(model.Input{At: at, Batch: &model.Batch{Target: id, Samples: w.page(every.Seconds()), About: &a}})
			default:
				f.Step(model.Input{At: at, Batch: &model.Batch{Target: id, Samples: w.page(every.Seconds()), About: about}})
			}
		}
		f.Step(model.Input{At: at, Batch: &model.Batch{Target: "gpu", Devices: wildDevices(rng), About: &model.About{Engine: "nvml"}}})
		switch rng.IntN(200) {
		case 0:
			f.Step(model.Input{At: at, Window: time.Duration(rng.IntN(2000)) * time.Second})
		case 1:
			f.Step(model.Input{At: at, Mark: wildNames[rng.IntN(len(wildNames)-1)] + "m"})
		case 2:
			at = at.Add([]time.Duration{time.Hour, 40 * time.Second, 1000 * time.Hour}[rng.IntN(3)])
		case 3:
			at.Wall = at.Wall.Add(-5 * time.Hour)
		case 4:
			f.Step(model.Input{At: at, Leave: model.TargetID(engines[0].name)})
		case 5:
			f.Step(model.Input{At: at, Join: &specs[0]})
		case 6:
			at.Mono = max(0, at.Mono-90*time.Second)
		}
		each(f.Step(model.Input{At: at}))
		at = at.Add(every)
	}
}

func wildDevices(rng *rand.Rand) []model.Device {
	var out []model.Device
	for i := range rng.IntN(4) {
		d := model.Device{UUID: fmt.Sprintf("GPU-abcdef0%d-2345", i), Index: i, Name: []string{"NVIDIA H100 80GB HBM3", "\x1b[2Jevil", ""}[rng.IntN(3)], State: model.DevicePresent}
		for m := range model.NumDeviceMetrics {
			switch rng.IntN(4) {
			case 0:
				d.Readings[m], d.From[m] = model.Measure(rng.Float64()), model.FromCounters
			case 1:
				d.Readings[m] = model.Measure(strange[rng.IntN(len(strange))])
			}
		}
		out = append(out, d)
	}
	return out
}

// numbered finds numbers that are none, wherever they are in a value.
func numbered(t testing.TB, path string, v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Errorf("%s is %v", path, f)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			numbered(t, path, v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			numbered(t, fmt.Sprintf("%s[%d]", path, i), v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") == "-" {
				continue // gaps of charts are NaN
			}
			numbered(t, path+"."+v.Type().Field(i).Name, v.Field(i), depth+1)
		}
	case reflect.String:
		for _, bad := range []string{"NaN", "Inf", "%!", "n/a"} {
			if s := v.String(); strings.Contains(s, bad) && s != bad {
				t.Errorf("%s says %q", path, s)
			}
		}
	}
}

// soundFrame checks what every frame promises.
func soundFrame(t testing.TB, fr *model.Frame) {
	if len(fr.Findings) > mostFindings {
		t.Errorf("%d findings", len(fr.Findings))
	}
	for _, x := range []any{fr.Findings, fr.Diagnoses, fr.Capacity, fr.Utilization, *fr} {
		numbered(t, reflect.TypeOf(x).String(), reflect.ValueOf(x), 0)
	}
	for i := range fr.Utilization {
		u := &fr.Utilization[i]
		if len(u.Trail) > trailPoints {
			t.Errorf("%d points", len(u.Trail))
		}
		if s := u.Step; s != nil && s.Unexplained.OK() {
			sum := s.Fixed.Value + s.KV.Value + s.Prefill.Value + s.Sequences.Value + s.Unexplained.Value
			if math.Abs(sum-s.Seconds.Value) > 1e-9*max(s.Seconds.Value, math.Abs(s.Unexplained.Value)) {
				t.Errorf("the parts of a step are %v, the step %v: %+v", sum, s.Seconds.Value, s)
			}
			if s.Fixed.Value < 0 || s.KV.Value < 0 || s.Prefill.Value < 0 || s.Sequences.Value < 0 || s.Seconds.Value < 0 {
				t.Errorf("%+v", s)
			}
		}
		for _, r := range []model.Reading{u.MFU, u.MBU, u.Busy, u.Intensity} {
			if r.OK() && r.Value < 0 {
				t.Errorf("%+v", u)
			}
		}
	}
	for i := range fr.Diagnoses {
		for _, x := range fr.Diagnoses[i].Factors {
			share(t, "who", x.WhoShare)
			notBelow(t, string(x.Factor), x.Ratio, 0)
			notBelow(t, "before", x.Before, 0)
			notBelow(t, "now", x.Now, 0)
		}
		notBelow(t, "residual", fr.Diagnoses[i].Residual, 0)
	}
	for i := range fr.Findings {
		x := &fr.Findings[i]
		if x.Since.Mono > fr.At.Mono {
			t.Errorf("%s since %v, now %v", x.ID, x.Since.Mono, fr.At.Mono)
		}
	}
	for i := range fr.Capacity {
		soundRoom(t, &fr.Capacity[i])
	}
}

func soundRoom(t testing.TB, c *model.CapacityView) {
	for _, r := range []model.Reading{c.Load, c.Rate, c.PerCall, c.MaxRate, c.KVRate, c.SLORate, c.WorstBurn} {
		notBelow(t, "a rate of room", r, 0)
	}
	notBelow(t, "headroom", c.Headroom, -1)
	notBelow(t, "needed", c.Replicas.Needed, 1)
	notBelow(t, "then", c.Replicas.Then, 1)
	ordered := func(what string, r model.Range) {
		notBelow(t, what, r.Lo, 0)
		if r.Lo.OK() && r.Hi.OK() && r.Lo.Value > r.Hi.Value*(1+1e-9) {
			t.Errorf("%s: %v to %v", what, r.Lo.Value, r.Hi.Value)
		}
	}
	ordered("rates seen", c.Observed)
	for _, w := range c.Waste {
		share(t, w.Kind, w.Share)
		notBelow(t, w.Kind, w.Tokens, 0)
	}
	if k := c.Cost; k != nil {
		ordered("cost", k.PerMillionGood)
		notBelow(t, "cost", k.PerMillion, 0)
	}
	if e := c.Energy; e != nil {
		ordered("energy", e.GoodPerJoule)
		notBelow(t, "power", e.PowerW, 0)
	}
}

func share(t testing.TB, what string, r model.Reading) {
	if r.OK() && !(r.Value >= 0 && r.Value <= 1+1e-9) {
		t.Errorf("the share of %s is %v", what, r.Value)
	}
}

func notBelow(t testing.TB, what string, r model.Reading, least float64) {
	if r.OK() && r.Value < least {
		t.Errorf("%s is %v", what, r.Value)
	}
}

// Whatever engines and GPUs say, and however time goes: nothing panics, no number is
// none, what adds up adds up, and the same inputs give the same bytes.
func FuzzWild(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		var first, second []byte
		wildRun(t, seed, 150, func(fr *model.Frame) {
			soundFrame(t, fr)
			text, err := json.Marshal(fr)
			if err != nil {
				t.Fatal(err)
			}
			first = text
			if t.Failed() {
				t.FailNow()
			}
		})
		wildRun(t, seed, 150, func(fr *model.Frame) { second, _ = json.Marshal(fr) })
		if !bytes.Equal(first, second) {
			t.Error("the same inputs gave another frame")
		}
	})
}

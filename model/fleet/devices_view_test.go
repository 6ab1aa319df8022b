package fleet

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

func counters(d model.Device, m model.DeviceMetric, v float64) model.Device {
	d.Readings[m], d.From[m] = model.Measure(v), model.FromCounters
	return d
}

func fromText(d model.Device) model.Device {
	d.From = [model.NumDeviceMetrics]model.Precision{}
	return d
}

// Readings of one GPU are merged one by one: by precision, then by age, and a bad
// sample of one gives way to the number of another.
func TestMergedReadingByReading(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"), gpuTarget("http://h:9400/metrics"), gpuTarget("nvml:smi"))
	const id = "GPU-abcdef01-2345"
	text := fromText(with(with(gpu(id, 4, 0.11), model.Temperature, 70), model.PowerLimit, 700))
	driver := without(with(with(gpu(id, 0, 0.97), model.Power, 500), model.Temperature, 61), model.TensorActive, model.NotPermitted)
	dcgm := counters(counters(without(gpu(id, 0, 0), model.Busy, model.BadSample), model.TensorActive, 0.31), model.DRAMActive, 0.61)
	dcgm = without(without(dcgm, model.Temperature, model.BadSample), model.SMActive, model.NotSupported)
	b.gpus("nvml:smi", text)
	b.gpus("http://h:9400/metrics", dcgm)
	b.gpus("nvml:", driver)
	f := b.tick()
	if len(f.Devices) != 1 {
		t.Fatalf("%d rows for one GPU", len(f.Devices))
	}
	d := &f.Devices[0]
	if d.Target != "http://h:9400/metrics" || d.BadSamples != 2 || f.DeviceSum.Bad != 2 {
		t.Errorf("told by %s, %d bad samples", d.Target, d.BadSamples)
	}
	for m, want := range map[model.DeviceMetric]float64{
		model.Busy: 0.97, model.Power: 500, model.Temperature: 61, model.TensorActive: 0.31, model.DRAMActive: 0.61, model.PowerLimit: 700,
	} {
		near(t, m.String(), d.Values[m].Reading, want)
	}
	if s := d.Values[model.SMActive].Status; s != model.NotSupported {
		t.Errorf("SM active: %s", s)
	}
	if s := d.Values[model.Energy].Status; s != model.NotExported {
		t.Errorf("energy: %s", s)
	}
	near(t, "mean", f.DeviceSum.Busy, 0.97)
}

// What one target lost another may still see; whoever changed its mind last is right.
func TestTwoTargetsDisagree(t *testing.T) {
	const id = "GPU-abcdef01-2345"
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"), gpuTarget("http://h:9400/metrics"))
	say := func(nvml, dcgm *model.Device) model.DeviceState {
		for target, d := range map[string]*model.Device{"nvml:": nvml, "http://h:9400/metrics": dcgm} {
			if d == nil {
				b.gpus(target)
			} else {
				b.gpus(target, *d)
			}
		}
		f := b.tick()
		b.pass(b.every)
		return f.Devices[0].State
	}
	here, gone := gpu(id, 0, 0.5), lost(id, 0)
	for i, c := range []struct {
		nvml, dcgm *model.Device
		want       model.DeviceState
	}{
		{&here, &here, model.DevicePresent},
		{&gone, &here, model.DeviceLost},    // the exporter repeats what was
		{&gone, nil, model.DeviceLost},      // until it knows too
		{&here, nil, model.DevicePresent},   // and the same the other way round
		{&here, &here, model.DevicePresent}, //
		{&here, nil, model.DevicePresent},   // that one does not list it proves nothing
	} {
		if got := say(c.nvml, c.dcgm); got != c.want {
			t.Errorf("step %d: %s, want %s", i+1, got, c.want)
		}
	}
}

// A name that is no UUID means a device of its own on each host.
func TestNamesThatAreNotWorldwide(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("http://a:9090/metrics"), gpuTarget("http://b:9090/metrics"), gpuTarget("c"))
	for _, id := range []string{"http://a:9090/metrics", "http://b:9090/metrics", "c"} {
		b.gpus(id, gpu("GPU-0", 0, 0.5))
	}
	d := gpu("card1", 1, 0.5)
	d.Host = "Node-7"
	b.gpus("c", gpu("GPU-0", 0, 0.5), d)
	if got := uuids(b.tick()); got != "a/GPU-0 b/GPU-0 c/GPU-0 Node-7/card1" {
		t.Errorf("devices %s", got)
	}
	for id, want := range map[string]bool{
		"GPU-00000003-aaaa": true, "MIG-7b3c9a01-aa": true, "MIG-GPU-abcdef01-2/1/0": true,
		"GPU-0": false, "GPU-gggggggg": false, "00000003-aaaa": false, "MIG-1111": true, "MIG-111": false, "": false,
	} {
		if worldwide(id) != want {
			t.Errorf("worldwide(%q) = %v", id, !want)
		}
	}
}

// OC-12: bad samples are counted and reach no figure.
func TestOC12BadSamples(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("x"))
	bad := func(i int) model.Device {
		return without(gpu(fmt.Sprintf("GPU-%08d-aaaa", i), i, 0), model.Busy, model.BadSample)
	}
	dram := counters(gpu("GPU-00000000-aaaa", 0, 0.97), model.DRAMActive, 0.81)
	blank := without(bad(1), model.DRAMActive, model.NotSupported)
	b.gpuRound("x", dram, blank, bad(2), gpu("GPU-00000003-aaaa", 3, 0))
	f := b.gpuRound("x", dram, blank, bad(2), gpu("GPU-00000003-aaaa", 3, 0))
	s := f.DeviceSum
	near(t, "mean busy", s.Busy, 0.485)
	if s.Measured != 2 || s.Total != 4 || s.Present != 4 || s.Bad != 4 || f.Devices[1].BadSamples != 2 {
		t.Errorf("sum %+v, %d bad samples of the second", s, f.Devices[1].BadSamples)
	}
	if v := f.Devices[1].Values; v[model.Busy].Status != model.BadSample || v[model.Busy].OK() || v[model.DRAMActive].Status != model.NotSupported {
		t.Errorf("second: %+v %+v", v[model.Busy], v[model.DRAMActive])
	}
	nan := with(gpu("GPU-00000000-aaaa", 0, math.NaN()), model.Power, math.Inf(1))
	f = b.gpuRound("x", nan, blank, bad(2), gpu("GPU-00000003-aaaa", 3, 0))
	if v := f.Devices[0].Values; v[model.Busy].Status != model.BadSample || v[model.Power].Status != model.BadSample || f.Devices[0].BadSamples != 2 {
		t.Errorf("not a number: %+v", f.Devices[0])
	}
}

// OC-29: a slice is a row under its GPU, and utilization is no reading of either.
func TestOC29Slices(t *testing.T) {
	const id = "GPU-00000000-aaaa"
	slice := func(n int, active float64) model.Device {
		d := model.Device{UUID: fmt.Sprintf("MIG-%s/%d", id, n), Parent: id, Index: 0, Profile: "3g.40gb", State: model.DevicePresent}
		return counters(d, model.Busy, active)
	}
	b := newGPUBench(t, time.Second, gpuTarget("x"))
	zero := with(slice(3, 0), model.Busy, 0) // an exporter that prints the driver's 0
	f := b.gpuRound("x", slice(1, 0.93), slice(2, 0.02), zero)
	if len(f.Devices) != 4 || f.Devices[0].UUID != id {
		t.Fatalf("devices %s", uuids(f))
	}
	if v := f.Devices[0].Values[model.Busy]; v.OK() || v.Status != model.NotExported {
		t.Errorf("the GPU's busy: %+v", v)
	}
	for i, want := range []float64{0.93, 0.02} {
		d := f.Devices[i+1]
		near(t, "slice", d.Values[model.Busy].Reading, want)
		if d.Parent != id || d.Profile != "3g.40gb" {
			t.Errorf("slice %+v", d)
		}
	}
	if v := f.Devices[3].Values[model.Busy]; v.OK() || v.Status != model.NotSupported {
		t.Errorf("a slice's 0 by the driver reads %+v", v)
	}
	if s := f.DeviceSum; s.Total != 1 || s.Present != 1 || s.Measured != 0 || s.Busy.OK() {
		t.Errorf("sum %+v", s)
	}
	// The driver's own busy of a divided GPU counts again once it is whole.
	whole := with(with(gpu(id, 0, 0.5), model.MemUsed, 10), model.MemTotal, 100)
	if f = b.gpuRound("x", whole, slice(1, 0.9)); f.Devices[0].Values[model.Busy].Status != model.NotSupported {
		t.Errorf("divided: %+v", f.Devices[0].Values[model.Busy])
	}
	f = b.gpuRound("x", whole)
	near(t, "whole", f.Devices[0].Values[model.Busy].Reading, 0.5)
	if f.Devices[1].State != model.DeviceLost || len(f.Alerts) != 0 {
		t.Errorf("slice %s, alerts %+v", f.Devices[1].State, f.Alerts)
	}
	b.pass(16 * time.Minute)
	if f = b.gpuRound("x", whole); len(f.Devices) != 1 {
		t.Errorf("slices that were taken apart stay: %s", uuids(f))
	}
}

// Sums are over what is there, and slices are not counted beside their GPU.
func TestSums(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("x"))
	one := with(with(with(gpu("GPU-00000001-1", 0, 0.5), model.Power, 300), model.MemUsed, 10), model.MemTotal, 80)
	two := with(with(gpu("GPU-00000002-1", 1, 0.7), model.Power, 400), model.MemUsed, 20) // no total
	three := with(model.Device{UUID: "jetson", State: model.DeviceUnsupported}, model.Power, 9)
	slice := with(with(model.Device{UUID: "MIG-1", Parent: "GPU-00000001-1"}, model.MemUsed, 5), model.MemTotal, 40)
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "x", Devices: []model.Device{one, two, three, slice}, Took: time.Second, Round: 2 * time.Second}})
	s := b.tick().DeviceSum
	near(t, "power", s.PowerW, 700)
	near(t, "used", s.Used, 10)
	near(t, "memory", s.Memory, 80)
	near(t, "round", s.TookS, 2)
	if s.Total != 2 || s.Present != 2 {
		t.Errorf("sum %+v", s)
	}
}

// OC-34: zeros that mean "not available".
func TestOC34ZerosThatCannotBe(t *testing.T) {
	var c struct {
		Devices []struct {
			UUID, Name string
			Processes  []struct{ PID int }
		}
	}
	readCase(t, "zero-na.json", &c)
	const engine = "http://localhost:8000/metrics"
	b := newGPUBench(t, 2*time.Second, gpuTarget("nvml:"), engineAt("e", engine))
	d := gpu(c.Devices[0].UUID, 0, 0)
	d.Name = c.Devices[0].Name
	d = with(with(d, model.MemUsed, 0), model.MemTotal, 0)
	d = without(without(d, model.TensorActive, model.NotPermitted), model.DRAMActive, model.NotPermitted)
	for _, p := range c.Devices[0].Processes {
		d.Processes = append(d.Processes, model.Process{PID: p.PID})
	}
	poll := func(n int) *model.Frame {
		b.poll(engine, counter(model.OutputTokens, 600*float64(n)), gauge(model.Running, 1))
		return b.gpuRound("nvml:", d)
	}
	var f *model.Frame
	for n := range 8 {
		f = poll(n)
		if f.Devices[0].NotCredible != (n >= 6) {
			t.Errorf("poll %d: not credible %v", n+1, f.Devices[0].NotCredible)
		}
	}
	v := &f.Devices[0]
	if v.Values[model.MemTotal].Status != model.NotSupported || v.Values[model.MemUsed].OK() {
		t.Errorf("memory %+v of %+v", v.Values[model.MemUsed], v.Values[model.MemTotal])
	}
	if len(v.Processes) != 1 || v.Processes[0].PID != 4121 {
		t.Errorf("processes %+v", v.Processes)
	}
	if s := v.Values[model.TensorActive].Status; s.String() != "needs admin rights" {
		t.Errorf("tensor active: %s", s)
	}
	if f.DeviceSum.Measured != 0 || f.DeviceSum.Busy.OK() || len(f.Alerts) != 0 {
		t.Errorf("sum %+v, alerts %+v", f.DeviceSum, f.Alerts)
	}
	if !slices.Contains(v.Engines, "e") || v.JoinedBy != byHost {
		t.Errorf("engines %v by %s", v.Engines, v.JoinedBy)
	}
	// One sample that is not 0 ends the doubt.
	d = with(d, model.Busy, 0.4)
	if f = poll(8); f.Devices[0].NotCredible {
		t.Error("40 % is not credible")
	}
}

// A card that idles beside a busy one of the same engine is no contradiction, nor is
// an engine that serves a request now and then.
func TestCredibleZeros(t *testing.T) {
	const engine = "http://localhost:8000/metrics"
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"), engineAt("e", engine))
	for n := range 30 {
		b.poll(engine, counter(model.OutputTokens, 300*float64(n)), gauge(model.Running, 1))
		f := b.gpuRound("nvml:", gpu("GPU-00000001-1", 0, 0), gpu("GPU-00000002-1", 1, 0.9))
		if f.Devices[0].NotCredible {
			t.Fatal("the second card of two may idle")
		}
	}
	for n := range 30 {
		b.poll(engine, counter(model.OutputTokens, 9000+300*float64(n/3)), gauge(model.Running, 0))
		f := b.gpuRound("nvml:", gpu("GPU-00000001-1", 0, 0), gpu("GPU-00000002-1", 1, 0))
		if f.Devices[0].NotCredible {
			t.Fatal("requests between samples are no contradiction")
		}
	}
}

// An exporter that collects every 30 s repeats itself: how old its numbers are is
// told.
func TestUnchanged(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("x"))
	var f *model.Frame
	for i := range 70 {
		f = b.gpuRound("x", gpu("GPU-00000001-1", 0, float64(i/30)/10))
		got := f.Devices[0].UnchangedS
		if want := i % 30; want < stillPolls && got.OK() || want >= stillPolls && got.Value != float64(want) {
			t.Fatalf("after %d s: unchanged for %+v, want %d s", i, got, want)
		}
	}
	if f = b.gpuRound("x", without(gpu("GPU-00000001-1", 0, 0), model.Busy, model.NotSupported)); f.Devices[0].UnchangedS.OK() {
		t.Error("what has no number repeats none")
	}
}

// A source may write over what its last batch pointed to.
func TestKeepsNothingOfABatch(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("x"))
	d := gpu("GPU-00000001-1", 0, 0.5)
	d.Throttle, d.ThrottleStatus, d.Pods = []string{model.ThrottleThermal}, model.Measured, []string{"ns/pod/c"}
	d.Processes = []model.Process{{PID: 7, Name: "vllm", Serves: []int{8000}}}
	list := []model.Device{d}
	b.gpus("x", list...)
	d.Throttle[0], d.Pods[0], d.Processes[0].Name, d.Processes[0].Serves[0], list[0].Name = "!", "!", "!", 1, "!"
	v := b.tick().Devices[0]
	if v.Throttled[0] != model.ThrottleThermal || v.Pods[0] != "ns/pod/c" || v.Processes[0].Name != "vllm" || v.Name != "NVIDIA H100 80GB HBM3" {
		t.Errorf("%+v", v)
	}
}

// Whatever names devices, the rows are bounded and what has none is counted.
func TestDevicesAreBounded(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("x"))
	for round := range 3 {
		list := make([]model.Device, 0, maxDevices/2)
		for i := range maxDevices / 2 {
			list = append(list, model.Device{UUID: fmt.Sprintf("GPU-%04d%04d-1", round, i)})
		}
		b.gpus("x", list...)
	}
	f := b.tick()
	if len(f.Devices) != maxDevices || f.Targets[0].Dropped != maxDevices/2 {
		t.Errorf("%d rows, %d dropped", len(f.Devices), f.Targets[0].Dropped)
	}
	b.gpus("x", model.Device{UUID: "GPU-00000000-1"}, model.Device{UUID: "GPU-00000000-1"}, model.Device{})
	if f = b.tick(); f.Targets[0].Dropped != 2 {
		t.Errorf("%d dropped, want one that is there twice and one without a name", f.Targets[0].Dropped)
	}
}

// A target that is not watched any more takes its GPUs along, and their alerts.
func TestGPUsOfATargetThatGoes(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("x"), gpuTarget("y"))
	b.gpus("x", lost("GPU-00000001-1", 0), gpu("GPU-00000002-1", 1, 0.5))
	b.gpus("y", gpu("GPU-00000002-1", 0, 0.5))
	if f := b.tick(); len(f.Devices) != 2 || len(firingOf(f, "gpu-lost")) != 1 {
		t.Fatalf("%s, alerts %+v", uuids(f), f.Alerts)
	}
	b.leaves("x")
	f := b.tick()
	if uuids(f) != "GPU-00000002-1" || f.Devices[0].Target != "y" || len(firingOf(f, "gpu-lost")) != 0 {
		t.Errorf("%s, alerts %+v", uuids(f), f.Alerts)
	}
}

// A frame without GPUs says so by an empty list, and costs nothing.
func TestNoDevices(t *testing.T) {
	b := newBench(t, time.Second, "a")
	f := b.round(counter(model.OutputTokens, 1))
	if f.Devices == nil || len(f.Devices) != 0 || f.DeviceSum != nil || f.Targets[0].GPUs == nil {
		t.Errorf("devices %v, sum %v, %v", f.Devices, f.DeviceSum, f.Targets[0].GPUs)
	}
}

// Sixty-four GPUs, an engine on each eight of them.
func TestSixtyFourGPUs(t *testing.T) {
	targets := []model.Target{}
	var lists [8][]model.Device
	for h := range 8 {
		exporter := fmt.Sprintf("http://node-%d:9400/metrics", h)
		targets = append(targets, gpuTarget(exporter), engineAt(fmt.Sprintf("e%d", h), fmt.Sprintf("http://node-%d:8000/metrics", h)))
		for i := range 8 {
			lists[h] = append(lists[h], gpu(fmt.Sprintf("GPU-%d%07d-1", h, i), i, 0.5))
		}
	}
	b := newGPUBench(t, time.Second, targets...)
	for h := range 8 {
		b.gpus(fmt.Sprintf("http://node-%d:9400/metrics", h), lists[h]...)
	}
	f := b.tick()
	if s := f.DeviceSum; s.Total != 64 || s.Present != 64 || s.Measured != 64 {
		t.Errorf("sum %+v", s)
	}
	for i, v := range f.Targets {
		if v.Kind == model.EngineTarget && (len(v.GPUs) != 8 || !strings.HasPrefix(v.GPUs[0], fmt.Sprintf("GPU-%d", i/2))) {
			t.Errorf("%s runs on %v", v.Name, v.GPUs)
		}
	}
}

// BenchmarkDevices is a poll and a frame of 64 GPUs of eight hosts.
func BenchmarkDevices(b *testing.B) {
	var targets []model.Target
	var lists [8][]model.Device
	for h := range 8 {
		targets = append(targets, gpuTarget(fmt.Sprintf("http://node-%d:9400/metrics", h)), engineAt(fmt.Sprintf("e%d", h), fmt.Sprintf("http://node-%d:8000/metrics", h)))
		for i := range 8 {
			lists[h] = append(lists[h], gpu(fmt.Sprintf("GPU-%d%07d-1", h, i), i, 0.5))
		}
	}
	bench := newGPUBench(b, time.Second, targets...)
	b.ReportAllocs()
	for b.Loop() {
		for h := range 8 {
			bench.gpus(string(targets[2*h].ID), lists[h]...)
		}
		bench.tick()
		bench.pass(time.Second)
	}
}

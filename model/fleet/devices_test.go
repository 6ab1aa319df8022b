package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// newGPUBench watches GPU targets, whose names are their IDs, and the engines that
// are given as name=address.
func newGPUBench(t testing.TB, every time.Duration, targets ...model.Target) *bench {
	t.Helper()
	f, err := New(Config{Targets: targets, Every: every})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, f: f, at: model.Instant{Wall: noon}, every: every}
}

func gpuTarget(id string) model.Target {
	return model.Target{ID: model.TargetID(id), Name: id, Kind: model.GPUTarget}
}

func engineAt(name, address string) model.Target {
	return model.Target{ID: model.TargetID(address), Name: name, Kind: model.EngineTarget}
}

func (b *bench) gpus(target string, devices ...model.Device) {
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: model.TargetID(target), Devices: devices, About: gpuAbout}})
}

// gpuRound tells of devices, ticks and lets one interval pass.
func (b *bench) gpuRound(target string, devices ...model.Device) *model.Frame {
	b.gpus(target, devices...)
	f := b.tick()
	b.pass(b.every)
	return f
}

var gpuAbout = &model.About{Engine: "nvml"}

// gpu is a device of which the driver tells how busy it is.
func gpu(uuid string, index int, busy float64) model.Device {
	d := model.Device{UUID: uuid, Index: index, Name: "NVIDIA H100 80GB HBM3", Bus: fmt.Sprintf("00000000:%02X:00.0", 16*index+11), State: model.DevicePresent}
	return with(d, model.Busy, busy)
}

func with(d model.Device, m model.DeviceMetric, v float64) model.Device {
	d.Readings[m], d.From[m] = model.Measure(v), model.FromDriver
	return d
}

func without(d model.Device, m model.DeviceMetric, why model.Status) model.Device {
	d.Readings[m] = model.DeviceReading{Status: why}
	return d
}

func lost(uuid string, index int) model.Device {
	return model.Device{UUID: uuid, Index: index, State: model.DeviceLost, Detail: "GPU is lost"}
}

func deviceNamed(t testing.TB, f *model.Frame, uuid string) *model.DeviceView {
	t.Helper()
	for i := range f.Devices {
		if f.Devices[i].UUID == uuid {
			return &f.Devices[i]
		}
	}
	t.Fatalf("no device %s among %d", uuid, len(f.Devices))
	return nil
}

func uuids(f *model.Frame) string {
	var out []string
	for _, d := range f.Devices {
		out = append(out, d.UUID)
	}
	return strings.Join(out, " ")
}

func firingOf(f *model.Frame, rule string) []model.AlertView {
	var out []model.AlertView
	for _, a := range f.Alerts {
		if a.Rule == rule && a.State == model.AlertFiring {
			out = append(out, a)
		}
	}
	return out
}

// scriptedDevice is a device of a case's scripted driver.
type scriptedDevice struct {
	Index int      `json:"index"`
	UUID  string   `json:"uuid"`
	Error string   `json:"error"`
	Busy  *float64 `json:"util_gpu"`
	Used  float64  `json:"mem_used_mib"`
	Total float64  `json:"mem_total_mib"`
	Temp  float64  `json:"temp_c"`
	Power float64  `json:"power_w"`
}

func (s scriptedDevice) device() model.Device {
	if s.Error != "" {
		return lost(s.UUID, s.Index)
	}
	d := gpu(s.UUID, s.Index, *s.Busy/100)
	d = with(with(d, model.MemUsed, s.Used*(1<<20)), model.MemTotal, s.Total*(1<<20))
	return with(with(d, model.Temperature, s.Temp), model.Power, s.Power)
}

func readCase(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shared.Dir(t, "cases/files"), name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// OC-02: a GPU is lost, the others are renumbered, and it comes back elsewhere.
func TestOC02LostGPUKeepsItsRow(t *testing.T) {
	var script struct {
		Polls []struct {
			T       float64          `json:"t"`
			Devices []scriptedDevice `json:"devices"`
		} `json:"polls"`
	}
	readCase(t, "gpu-lost.json", &script)
	b := newGPUBench(t, 2*time.Second, gpuTarget("nvml:"))
	const third = "GPU-00000003-aaaa"
	var order string
	for i, p := range script.Polls {
		b.at = model.Instant{Wall: noon}.Add(seconds(p.T))
		var list []model.Device
		for _, d := range p.Devices {
			list = append(list, d.device())
		}
		b.gpus("nvml:", list...)
		f := b.tick()
		if i == 0 {
			order = uuids(f)
		}
		if got := uuids(f); got != order || len(f.Devices) != 8 {
			t.Errorf("poll %d: rows %s, want %s", i+1, got, order)
		}
		row := deviceNamed(t, f, third)
		sum := f.DeviceSum
		switch i {
		case 1, 2:
			if row.State != model.DeviceLost || row.Since.Wall != noon.Add(2*time.Second) {
				t.Errorf("poll %d: %s since %v, want lost since the second", i+1, row.State, row.Since.Wall)
			}
			if r := row.Values[model.Busy]; r.OK() || r.State != model.Stale {
				t.Errorf("poll %d: a lost GPU reads %+v", i+1, r)
			}
			if sum.Total != 8 || sum.Present != 7 || sum.Measured != 7 {
				t.Errorf("poll %d: %d of %d, %d measured, want 7 of 8", i+1, sum.Present, sum.Total, sum.Measured)
			}
			near(t, "mean busy", sum.Busy, []float64{0, 0.90, 0.89}[i])
			fired := firingOf(f, "gpu-lost")
			if len(fired) != 1 || fired[0].Severity != model.Page || !strings.Contains(fired[0].Text, third) || !strings.Contains(fired[0].Text, "00000000:3B:00.0") || !strings.Contains(fired[0].Text, "GPU lost") {
				t.Errorf("poll %d: alerts %+v, want one page that names UUID and bus", i+1, fired)
			}
		case 3:
			if row.State != model.DevicePresent || row.Index.Value != 7 || row.Since.Wall != noon.Add(time.Minute) {
				t.Errorf("back: %+v", row)
			}
			near(t, "its busy", row.Values[model.Busy].Reading, 0.90)
			if sum.Present != 8 || len(firingOf(f, "gpu-lost")) != 0 {
				t.Errorf("back: %d present, alerts %+v", sum.Present, f.Alerts)
			}
		}
	}
	pages := 0
	for _, e := range b.tick().AlertLog {
		if e.State == model.AlertFiring {
			pages += e.Times
		}
	}
	if pages != 1 {
		t.Errorf("%d alerts fired in all, want one", pages)
	}
}

// A GPU that nobody lists any more is lost; that only pages once it is no start of
// an exporter.
func TestUnlistedGPU(t *testing.T) {
	b := newGPUBench(t, 5*time.Second, gpuTarget("http://h:9400/metrics"))
	const a, c = "GPU-aaaaaaaa-1", "GPU-cccccccc-1"
	id := "http://h:9400/metrics"
	b.gpuRound(id, gpu(a, 0, 0.5), gpu(c, 1, 0.5))
	f := b.gpuRound(id, gpu(c, 0, 0.5))
	row := deviceNamed(t, f, a)
	if row.State != model.DeviceLost || row.Detail != model.Text("not listed any more by "+id) || row.Since.Wall != noon.Add(5*time.Second) {
		t.Errorf("row %+v", row)
	}
	if len(f.Alerts) != 0 {
		t.Errorf("alerts at once: %+v", f.Alerts)
	}
	for range 10 {
		f = b.gpuRound(id, gpu(c, 0, 0.5))
	}
	if got := firingOf(f, "gpu-lost"); len(got) != 1 {
		t.Errorf("after 50 s: %+v", f.Alerts)
	}
	if f = b.gpuRound(id, gpu(a, 0, 0.1), gpu(c, 1, 0.5)); len(firingOf(f, "gpu-lost")) != 0 || deviceNamed(t, f, a).State != model.DevicePresent {
		t.Errorf("back: %+v", f.Alerts)
	}
}

// A page that was not read whole proves no loss; after three such the row is old.
func TestHalfAPageLosesNoGPU(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("x:1"))
	half := func() *model.Frame {
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "x:1", BadLines: 1, Devices: []model.Device{gpu("GPU-bbbbbbbb-1", 0, 0.2)}}})
		f := b.tick()
		b.pass(b.every)
		return f
	}
	const missing = "GPU-aaaaaaaa-1"
	b.gpuRound("x:1", gpu(missing, 0, 0.7), gpu("GPU-bbbbbbbb-1", 1, 0.2))
	for i := range 3 {
		row := deviceNamed(t, half(), missing)
		if row.State != model.DevicePresent || row.Stale != (i == 2) {
			t.Errorf("half page %d: %s, stale %v", i+1, row.State, row.Stale)
		}
	}
	f := b.gpuRound("x:1", gpu("GPU-bbbbbbbb-1", 1, 0.2))
	if row := deviceNamed(t, f, missing); row.State != model.DeviceLost {
		t.Errorf("a whole page without it: %s", row.State)
	}
}

// OC-21 B: the driver answers three polls and then fails every call.
func TestOC21TelemetryLost(t *testing.T) {
	var script struct {
		B []struct {
			T     float64   `json:"t"`
			Busy  []float64 `json:"util_gpu"`
			Error string    `json:"error"`
		} `json:"B"`
	}
	readCase(t, "driver-errors.json", &script)
	b := newGPUBench(t, 2*time.Second, gpuTarget("nvml:"))
	warned, good := 0, noon
	for _, p := range script.B {
		b.at = model.Instant{Wall: noon}.Add(seconds(p.T))
		if p.Error == "" {
			var list []model.Device
			for i, v := range p.Busy {
				list = append(list, gpu(fmt.Sprintf("GPU-%08d-aaaa", i), i, v/100))
			}
			b.gpus("nvml:", list...)
			good = b.at.Wall
		} else {
			b.fail("nvml:", model.Malformed)
		}
		f := b.tick()
		if len(f.Devices) != 3 {
			t.Fatalf("%v s: %d rows", p.T, len(f.Devices))
		}
		for _, d := range f.Devices {
			if d.GoodAt.Wall != good || d.State != model.DevicePresent {
				t.Errorf("%v s: %s, last good at %v, want %v", p.T, d.State, d.GoodAt.Wall, good)
			}
			if v := d.Values[model.Busy]; v.Value == 0 || p.T >= 8 && p.T < 40 && (v.OK() || !d.Stale) || (p.T < 6 || p.T == 40) && (!v.OK() || d.Stale) {
				t.Errorf("%v s: busy %+v, stale %v", p.T, v, d.Stale)
			}
		}
		for _, a := range firingOf(f, "gpu-telemetry") {
			if warned++; warned == 1 && (a.Severity != model.Warn || p.T < 10 || !strings.HasPrefix(a.Text, "GPU telemetry lost: malformed")) {
				t.Errorf("%v s: %+v", p.T, a)
			}
		}
		if got := len(f.Alerts) - len(slices.DeleteFunc(slices.Clone(f.Alerts), func(a model.AlertView) bool { return a.Rule != "gpu-telemetry" })); got != 0 {
			t.Errorf("%v s: %+v", p.T, f.Alerts)
		}
	}
	f := b.tick()
	if warned == 0 || len(firingOf(f, "gpu-telemetry")) != 0 {
		t.Errorf("%d warnings, now %+v", warned, f.Alerts)
	}
	times := 0
	for _, e := range f.AlertLog {
		if e.State == model.AlertFiring {
			times += e.Times
		}
	}
	if times != 1 || f.DeviceSum.Present != 3 {
		t.Errorf("fired %d times, %d present after recovery", times, f.DeviceSum.Present)
	}
	near(t, "mean busy after recovery", f.DeviceSum.Busy, 0.89)
}

// OC-21 A: what never answered says so in the same warning.
func TestOC21NoTelemetryAtAll(t *testing.T) {
	b := newGPUBench(t, 2*time.Second, gpuTarget("nvml:"), engineAt("e", "http://h:8000/metrics"))
	var f *model.Frame
	for range 5 {
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "nvml:", Fault: &model.Fault{Kind: model.UnsupportedPage, Detail: "library and kernel module differ, e.g. after an upgrade: reload or reboot"}}})
		b.poll("http://h:8000/metrics", counter(model.OutputTokens, 1), gauge(model.Running, 0))
		f = b.tick()
		b.pass(b.every)
	}
	if got := firingOf(f, "gpu-telemetry"); len(got) != 1 || !strings.Contains(got[0].Text, "reload or reboot") {
		t.Errorf("alerts %+v", f.Alerts)
	}
	if got := firingOf(f, "down"); len(got) != 0 {
		t.Errorf("a GPU target is down like an engine: %+v", got)
	}
	if f.Workflows[0].Condition == model.IsPartial || f.Targets[1].State != model.Idle || f.Devices == nil || f.DeviceSum != nil {
		t.Errorf("workflow %s, engine %s, devices %v", f.Workflows[0].Condition, f.Targets[1].State, f.Devices)
	}
}

// Thirty engines and their GPUs fall silent: one line each, with the right counts.
func TestSilentGPUsAreNoEngines(t *testing.T) {
	var targets []model.Target
	for i := range 30 {
		targets = append(targets, engineAt(fmt.Sprintf("e%d", i), fmt.Sprintf("http://h%d:8000/metrics", i)), gpuTarget(fmt.Sprintf("http://h%d:9400/metrics", i)))
	}
	b := newGPUBench(t, time.Second, targets...)
	for range 6 {
		for _, x := range targets {
			b.fail(string(x.ID), model.Refused)
		}
		b.tick()
		b.pass(b.every)
	}
	f := b.tick()
	down, silent := firingOf(f, "down"), firingOf(f, "gpu-telemetry")
	if len(down) != 1 || down[0].Text != "30 of 30 targets down" {
		t.Errorf("down: %+v", down)
	}
	if len(silent) != 1 || silent[0].Text != "GPU telemetry lost: 30 of 30 targets are silent" {
		t.Errorf("telemetry: %+v", silent)
	}
}

// Several GPUs that are lost together page once.
func TestManyLostPageOnce(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"))
	var good, bad []model.Device
	for i := range 8 {
		good = append(good, gpu(fmt.Sprintf("GPU-%08d-1", i), i, 0.5))
		bad = append(bad, lost(fmt.Sprintf("GPU-%08d-1", i), i))
	}
	b.gpuRound("nvml:", good...)
	f := b.gpuRound("nvml:", bad...)
	if got := firingOf(f, "gpu-lost"); len(got) != 1 || got[0].Text != "8 of 8 GPUs lost" || len(got[0].Members) != 8 {
		t.Errorf("alerts %+v", f.Alerts)
	}
	if f = b.gpuRound("nvml:", good...); len(firingOf(f, "gpu-lost")) != 0 {
		t.Errorf("back: %+v", f.Alerts)
	}
}

// A lost GPU stays lost while nothing is known of it; its alert goes on.
func TestLostAndSilent(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"))
	b.gpuRound("nvml:", gpu("GPU-aaaaaaaa-1", 0, 0.5), gpu("GPU-bbbbbbbb-1", 1, 0.5))
	b.gpuRound("nvml:", lost("GPU-aaaaaaaa-1", 0), gpu("GPU-bbbbbbbb-1", 1, 0.5))
	var f *model.Frame
	for range 6 {
		b.fail("nvml:", model.Refused)
		f = b.tick()
		b.pass(b.every)
	}
	row := deviceNamed(t, f, "GPU-aaaaaaaa-1")
	fired := firingOf(f, "gpu-lost")
	if row.State != model.DeviceLost || !row.Stale || len(fired) != 1 || !fired[0].Stale || len(firingOf(f, "gpu-telemetry")) != 1 {
		t.Errorf("row %s stale %v, alerts %+v", row.State, row.Stale, f.Alerts)
	}
	if s := f.DeviceSum; s.Total != 2 || s.Present != 0 || s.Busy.OK() {
		t.Errorf("sum %+v", s)
	}
}

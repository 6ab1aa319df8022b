package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/tui/layout"
	"slotop/tui/panes"
)

// gpuScreen is screen 4 as it stands on a usual terminal, without colours.
func gpuScreen(f *model.Frame) string {
	return ansi.Strip(panes.Devices{}.Render(f, layout.Size{W: 120, H: 40}, panes.Look{}))
}

// gpuPage is one GPU, opened.
func gpuPage(f *model.Frame, uuid string) string {
	return ansi.Strip(panes.Device{}.Render(f, layout.Size{W: 120, H: 60}, panes.Look{View: panes.View{Device: uuid}}))
}

// gpuRow is the line of the screen that begins with a GPU's number or name.
func gpuRow(t *testing.T, screen, label string) string {
	t.Helper()
	for l := range strings.Lines(screen) {
		if _, rest, _ := strings.Cut(strings.TrimLeft(l, "▸ "), " "); strings.HasPrefix(rest, label) {
			return strings.TrimRight(l, "\n")
		}
	}
	t.Fatalf("no row %q on\n%s", label, screen)
	return ""
}

// script is a driver that a case plays, and the fold it is played to.
type script struct {
	t     *testing.T
	core  *core
	start time.Time
	every time.Duration
}

func newScript(t *testing.T, every time.Duration, targets ...model.Target) *script {
	t.Helper()
	targets = append([]model.Target{{ID: "nvml:", Name: "gpus", Kind: model.GPUTarget}}, targets...)
	c, err := newCore(fleet.Config{Targets: targets, Every: every})
	if err != nil {
		t.Fatal(err)
	}
	return &script{t: t, core: c, start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), every: every}
}

func (s *script) at(seconds float64) model.Instant {
	d := time.Duration(seconds * float64(time.Second))
	return model.Instant{Wall: s.start.Add(d), Mono: d}
}

// poll folds a batch of the GPUs, or its fault, and returns the frame after it.
func (s *script) poll(seconds float64, b model.Batch) *model.Frame {
	b.Target = "nvml:"
	s.core.take(model.Input{At: s.at(seconds), Batch: &b})
	s.core.take(model.Input{At: s.at(seconds)})
	return s.core.box.latest()
}

func caseScript(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(caseFiles(t, name)[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func driverGPU(uuid string, index int, busy float64) model.Device {
	d := model.Device{UUID: uuid, Index: index, Name: "NVIDIA H100", Bus: fmt.Sprintf("00000000:%02X:00.0", 16*index+11), State: model.DevicePresent}
	d.Readings[model.Busy], d.From[model.Busy] = model.Measure(busy), model.FromDriver
	return d
}

// OC-02 as it stands on the screen: eight rows at every poll, the lost one in its
// place and by its word, and one critical alert.
func TestOC02OnScreen(t *testing.T) {
	var c struct {
		Polls []struct {
			T       float64
			Devices []struct {
				Index int
				UUID  string
				Error string
				Busy  float64 `json:"util_gpu"`
			}
		}
	}
	caseScript(t, "gpu-lost.json", &c)
	s := newScript(t, 2*time.Second)
	for i, p := range c.Polls {
		var b model.Batch
		for _, d := range p.Devices {
			if d.Error != "" {
				b.Devices = append(b.Devices, model.Device{UUID: d.UUID, Index: d.Index, State: model.DeviceLost, Detail: "GPU is lost"})
				continue
			}
			b.Devices = append(b.Devices, driverGPU(d.UUID, d.Index, d.Busy/100))
		}
		f := s.poll(p.T, b)
		screen := gpuScreen(f)
		rows := strings.Count(screen, "H100")
		if rows != 8 {
			t.Errorf("poll %d: %d rows:\n%s", i+1, rows, screen)
		}
		third := strings.Split(screen, "\n")[3+3] // below title, sums and head, the fourth
		switch i {
		case 1, 2:
			says(t, "the lost row", third, "LOST since 12:00:02, 00000000:3B:00.0")
			says(t, "the title", screen, "GPUS 7 of 8  1 LOST")
			says(t, "the sums", screen, []string{"", "busy 90.0 %, mean of 7 of 8", "busy 89.0 %, mean of 7 of 8"}[i])
			if i == 1 {
				says(t, "text", asText(f), "GPUS  7 of 8 present, busy 90.0 % (some kernel ran), mean of 7 of 8")
			}
		default:
			saysNot(t, "the row that is there", third, "LOST")
			says(t, "the title", screen, "GPUS 8 ")
		}
		if i == 3 {
			says(t, "the row that came back", third, "7 H100")
		}
	}
	fired := 0
	for _, e := range s.core.box.latest().AlertLog {
		if e.State == model.AlertFiring && e.Severity == model.Page {
			fired += e.Times
			says(t, "the alert", e.Text, "GPU-00000003-aaaa: GPU lost, bus 00000000:3B:00.0")
		}
	}
	if fired != 1 {
		t.Errorf("%d pages", fired)
	}
}

// OC-12: pages of an exporter with markers and wild values.
func TestOC12OnScreen(t *testing.T) {
	page := caseFiles(t, "gpu-garbage.prom")[0]
	frames := play(t, time.Second, page, page)
	f := frames[len(frames)-1]
	is(t, "mean busy", f.DeviceSum.Busy, 0.485, 1e-9)
	if s := f.DeviceSum; s.Measured != 2 || s.Total != 4 {
		t.Errorf("%d of %d", s.Measured, s.Total)
	}
	screen := gpuScreen(f)
	says(t, "the sums", screen, "busy 48.5 %, mean of 2 of 4")
	for i, want := range []string{" 97 %", "bad sample", "bad sample", "  0 %"} {
		says(t, fmt.Sprintf("row %d", i), gpuRow(t, screen, fmt.Sprint(i)), want)
	}
	says(t, "DRAM of the first", gpuRow(t, screen, "0"), "81 %")
	says(t, "DRAM of the second", gpuRow(t, screen, "1"), "n/a")
	second := gpuPage(f, "GPU-00000001-aaaa")
	says(t, "the second's page", second, "2 bad samples")
	says(t, "the second's page", second, "in n/a")
	says(t, "text", asText(f), "bad: bad sample")
	if len(f.Workflows) != 0 {
		t.Errorf("GPUs serve %d workflows", len(f.Workflows))
	}
}

// OC-21 B: rows stay, with the time from which on they are old, and are never 0.
func TestOC21OnScreen(t *testing.T) {
	var c struct {
		B []struct {
			T     float64
			Busy  []float64 `json:"util_gpu"`
			Error string
		}
	}
	caseScript(t, "driver-errors.json", &c)
	s := newScript(t, 2*time.Second)
	for _, p := range c.B {
		b := model.Batch{}
		for i, v := range p.Busy {
			b.Devices = append(b.Devices, driverGPU(fmt.Sprintf("GPU-%08d-aaaa", i), i, v/100))
		}
		if p.Error != "" {
			b.Fault = &model.Fault{Kind: model.Malformed, Detail: "the driver fails every call: unknown error"}
		}
		f := s.poll(p.T, b)
		screen := gpuScreen(f)
		if strings.Count(screen, "H100") != 3 || strings.Contains(screen, " 0 %") {
			t.Fatalf("at %v s:\n%s", p.T, screen)
		}
		if p.T >= 8 && p.T < 40 {
			says(t, "a row", gpuRow(t, screen, "1"), "stale since 12:00:04, last busy 91 %")
		} else {
			saysNot(t, "the screen", screen, "stale")
		}
		if p.T == 14 {
			text := strings.Join(strings.Fields(asText(f)), " ")
			says(t, "text", text, "GPU telemetry lost: malformed: the driver fails every call: unknown error")
			says(t, "text", text, "stale since 12:00:04")
		}
	}
}

// OC-29: a slice is a row under its GPU; nobody is told that it idles.
func TestOC29OnScreen(t *testing.T) {
	page := caseFiles(t, "mig.prom")[0]
	frames := play(t, time.Second, page, page, page)
	f := frames[len(frames)-1]
	screen := gpuScreen(f)
	if len(f.Devices) != 3 || len(f.Alerts) != 0 {
		t.Errorf("%d devices, alerts %+v:\n%s", len(f.Devices), f.Alerts, screen)
	}
	lines := strings.Split(screen, "\n")[3:]
	for i, want := range []string{"n/a (MIG)", "└ 3g.40gb", "└ 3g.40gb"} {
		says(t, "row", lines[i], want)
	}
	says(t, "the first slice", lines[1], "93 %")
	says(t, "the second slice", lines[2], " 2 %")
	saysNot(t, "the screen", screen, " 0 %")
	if s := f.DeviceSum; s.Total != 1 || s.Busy.OK() {
		t.Errorf("sum %+v", s)
	}
}

// OC-29 by the driver's library: slices with memory, and no utilization at all.
func TestOC29ByTheDriver(t *testing.T) {
	var c struct {
		Devices []struct {
			UUID   string
			Slices []struct {
				UUID  string
				Used  float64 `json:"mem_used_mib"`
				Total float64 `json:"mem_total_mib"`
			}
		}
	}
	caseScript(t, "mig-nvml.json", &c)
	d := driverGPU(c.Devices[0].UUID, 0, 0)
	d.Readings[model.Busy] = model.DeviceReading{Status: model.NotSupported}
	b := model.Batch{Devices: []model.Device{d}}
	for _, s := range c.Devices[0].Slices {
		slice := model.Device{UUID: s.UUID, Parent: d.UUID, Index: 0, State: model.DevicePresent}
		slice.Readings[model.MemUsed], slice.Readings[model.MemTotal] = model.Measure(s.Used*(1<<20)), model.Measure(s.Total*(1<<20))
		slice.Readings[model.Busy] = model.DeviceReading{Status: model.NotSupported}
		b.Devices = append(b.Devices, slice)
	}
	f := newScript(t, time.Second).poll(0, b)
	screen := gpuScreen(f)
	for _, label := range []string{"0 H100", "└ MIG-1111", "└ MIG-2222"} {
		says(t, label, gpuRow(t, screen, label), "n/a (MIG)")
	}
	says(t, "the first slice", gpuRow(t, screen, "└ MIG-1111"), "52 %")
}

// OC-34: 0 that cannot be, and counters that need rights.
func TestOC34OnScreen(t *testing.T) {
	var c struct {
		Devices []struct {
			UUID, Name string
			Processes  []struct{ PID int }
		}
		Rate float64 `json:"engine_tokens_per_second"`
	}
	caseScript(t, "zero-na.json", &c)
	const engine = "http://localhost:8000/metrics"
	s := newScript(t, 2*time.Second, model.Target{ID: engine, Name: "localhost:8000", Kind: model.EngineTarget})
	d := driverGPU(c.Devices[0].UUID, 0, 0)
	d.Name = c.Devices[0].Name
	d.Readings[model.MemUsed], d.Readings[model.MemTotal] = model.Measure(0), model.Measure(0)
	for _, m := range []model.DeviceMetric{model.TensorActive, model.DRAMActive} {
		d.Readings[m] = model.DeviceReading{Status: model.NotPermitted}
	}
	for _, p := range c.Devices[0].Processes {
		d.Processes = append(d.Processes, model.Process{PID: p.PID, Name: "x"})
	}
	about := &model.About{Engine: "vllm"}
	var f *model.Frame
	for i := range 10 {
		at := 2 * float64(i)
		s.core.take(model.Input{At: s.at(at), Batch: &model.Batch{Target: engine, About: about, Samples: []model.Sample{
			{Signal: model.OutputTokens, Kind: model.Counter, Labels: model.Labels(model.LabelModel, "m"), Value: c.Rate * at},
			{Signal: model.Running, Labels: model.Labels(model.LabelModel, "m"), Value: 1},
		}}})
		f = s.poll(at, model.Batch{Devices: []model.Device{d}})
	}
	is(t, "the engine's rate", f.Targets[1].OutputPerSecond, 300, 1e-6)
	screen := gpuScreen(f)
	row := gpuRow(t, screen, "0 ACME embedded")
	says(t, "the row", row, "0 %?")
	says(t, "the row", row, "n/a")
	says(t, "the title", screen, "0 %? tokens flow")
	page := gpuPage(f, d.UUID)
	says(t, "the page", page, "0 % busy is not credible: tokens are flowing on localhost:8000")
	says(t, "the page", page, "tensor active needs admin rights")
	says(t, "the page", page, "SM active not exported")
	says(t, "the page", page, "pid 4121")
	saysNot(t, "the page", page, "pid 0")
	saysNot(t, "the page", page, "4294967295")
	says(t, "text", asText(f), "0 % busy is not credible: tokens are flowing")
	if len(f.Alerts) != 0 {
		t.Errorf("alerts %+v", f.Alerts)
	}
}

// OC-18: the screen says how long a round takes that outlasts the interval.
func TestOC18SlowRoundsAreSaid(t *testing.T) {
	s := newScript(t, time.Second)
	f := s.poll(0, model.Batch{Devices: []model.Device{driverGPU("GPU-00000001-1", 0, 0.5)}, Round: 2 * time.Second})
	says(t, "the screen", gpuScreen(f), "GPU round 2.0 s")
	says(t, "text", asText(f), "GPU round 2.0 s")
	f = s.poll(1, model.Batch{Devices: []model.Device{driverGPU("GPU-00000001-1", 0, 0.5)}, Took: 3 * time.Millisecond})
	saysNot(t, "the screen", gpuScreen(f), "GPU round")
}

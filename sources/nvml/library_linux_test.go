//go:build linux && (amd64 || arm64) && !nonvml

package nvml_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slotop/sources/nvml"
	"slotop/sources/sourcetest/fakenvml"
)

const h100 = `gpu GPU-1 index=0 name=NVIDIA_H100_80GB_HBM3 bus=00000000:1A:00.0 busy=95 membusy=61` +
	` total=85899345920 used=73014444032 reserved=1073741824 power=94000 limit=700000 energy=600000 sm=345 mem=1593 smmax=1980 memmax=2619` +
	` width=5120 major=9 minor=0 cores=16896 temp=34 tempv=35 reasons=36 ecc=28 gpm=1 f186=95000 f83=600001 f82=u32 f138=1000 f139=2000 f197=u7 f198=!3 g2=97 g5=48.5 g10=58 g60=!3`

func start(t *testing.T, l *fakenvml.Library, script string) (nvml.Driver, nvml.Device) {
	t.Helper()
	l.Script(script)
	d, err := nvml.Open(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Init(); r != nvml.Success {
		t.Fatal(r)
	}
	t.Cleanup(func() { d.Shutdown() })
	h, r := d.Handle(0)
	if r != nvml.Success {
		t.Fatal(r)
	}
	return d, h
}

// said writes an answer and its return down as one.
func said[T comparable](v T, r nvml.Return) any {
	if r != nvml.Success {
		return r
	}
	return v
}

func TestEveryFunction(t *testing.T) {
	l := fakenvml.Build(t)
	d, h := start(t, l, h100+"\nprocess GPU-1 4121 1048576\n")
	for name, c := range map[string]struct{ got, want any }{
		"version":     {said(d.Version()), "550.163.01"},
		"count":       {said(d.Count()), 1},
		"name":        {said(d.Text(h, nvml.Name)), "NVIDIA H100 80GB HBM3"},
		"uuid":        {said(d.Text(h, nvml.UUID)), "GPU-1"},
		"bus":         {said(d.Text(h, nvml.Bus)), "00000000:1A:00.0"},
		"power":       {said(d.Number(h, nvml.Power)), uint64(94000)},
		"limit":       {said(d.Number(h, nvml.PowerLimit)), uint64(700000)},
		"energy":      {said(d.Number(h, nvml.Energy)), uint64(600000)},
		"SM clock":    {said(d.Number(h, nvml.SMClock)), uint64(345)},
		"mem clock":   {said(d.Number(h, nvml.MemClock)), uint64(1593)},
		"SM highest":  {said(d.Number(h, nvml.SMClockMax)), uint64(1980)},
		"mem highest": {said(d.Number(h, nvml.MemClockMax)), uint64(2619)},
		"bus width":   {said(d.Number(h, nvml.BusWidth)), uint64(5120)},
		"capability":  {said(d.Number(h, nvml.Capability)), uint64(900)},
		"cores":       {said(d.Number(h, nvml.Cores)), uint64(16896)},
		"reasons":     {said(d.Number(h, nvml.EventReasons)), uint64(nvml.EventPowerCap | nvml.EventThermal)},
		"ECC":         {said(d.Number(h, nvml.ECCUncorrected)), uint64(28)},
		"MIG":         {said(d.Number(h, nvml.MigMode)), nvml.NotSupported},
		"temperature": {said(d.Temperature(h)), 35},
		"use":         {said(d.Utilization(h)), nvml.Utilization{GPU: 95, Memory: 61}},
		"memory":      {said(d.Memory(h)), nvml.Memory{Total: 85899345920, Reserved: 1073741824, Free: 11811160064, Used: 73014444032, Split: true}},
		"GPM":         {said(d.GPM(h)), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	if list, r := d.Processes(h, nil); r != nvml.Success || len(list) != 1 || list[0] != (nvml.Process{PID: 4121, Memory: 1 << 20}) {
		t.Errorf("processes: %v, %v", list, r)
	}
	if d.Doing() != "" {
		t.Errorf("between calls it does %q", d.Doing())
	}
}

func TestFields(t *testing.T) {
	d, h := start(t, fakenvml.Build(t), h100)
	fields := []nvml.Field{{ID: nvml.FieldPowerInstant}, {ID: nvml.FieldNVLinkTx, Scope: nvml.AllLinks}, {ID: nvml.FieldPCIeTx}, {ID: nvml.FieldPCIeRx}, {ID: nvml.FieldMemTemperature}}
	if r := d.Fields(h, fields); r != nvml.Success {
		t.Fatal(r)
	}
	want := []struct {
		v    uint64
		wide bool
		r    nvml.Return
	}{{95000, true, nvml.Success}, {1000, true, nvml.Success}, {7, false, nvml.Success}, {0, true, nvml.NotSupported}, {32, false, nvml.Success}}
	for i, w := range want {
		f := &fields[i]
		v, whole := f.Uint()
		if f.Return != w.r || w.r == nvml.Success && (v != w.v || !whole || f.Wide() != w.wide || f.Timestamp == 0) {
			t.Errorf("field %d: %d, %v, wide %v", f.ID, v, f.Return, f.Wide())
		}
	}
	if r := d.Fields(h, nil); r != nvml.Success {
		t.Errorf("without fields: %v", r)
	}
}

func TestPerformanceCounters(t *testing.T) {
	d, h := start(t, fakenvml.Build(t), h100)
	a, r1 := d.NewSample()
	b, r2 := d.NewSample()
	if r1 != nvml.Success || r2 != nvml.Success || a == b {
		t.Fatal(r1, r2)
	}
	metrics := []nvml.Metric{{ID: nvml.MetricSM}, {ID: nvml.MetricTensor}, {ID: nvml.MetricNVLinkRx}, {ID: nvml.MetricOccupancy}}
	if r := d.Metrics(a, b, metrics); r != nvml.InvalidArgument {
		t.Errorf("of empty samples: %v", r)
	}
	if r := d.Take(h, a); r != nvml.Success {
		t.Fatal(r)
	}
	if r := d.Take(h, b); r != nvml.Success {
		t.Fatal(r)
	}
	if r := d.Metrics(a, b, metrics); r != nvml.Success {
		t.Fatal(r)
	}
	for i, want := range []nvml.Metric{{ID: 2, Value: 97}, {ID: 5, Value: 48.5}, {ID: 60, Return: nvml.NotSupported}, {ID: 3, Return: nvml.NotSupported}} {
		if metrics[i] != want {
			t.Errorf("got %+v, want %+v", metrics[i], want)
		}
	}
	for _, s := range []nvml.Sample{a, b} {
		if r := d.FreeSample(s); r != nvml.Success {
			t.Error(r)
		}
	}
}

func TestInstances(t *testing.T) {
	d, h := start(t, fakenvml.Build(t), h100+" migmode=1\nmig MIG-2 parent=GPU-1 slot=2 instance=5 name=NVIDIA_H100_MIG_3g.40gb total=100 used=10 g1=93\n")
	if n, r := d.Number(h, nvml.MigSlots); r != nvml.Success || n == 0 {
		t.Errorf("slots: %d, %v", n, r)
	}
	if _, r := d.Instance(h, 0); r != nvml.NotFound {
		t.Errorf("an empty slot: %v", r)
	}
	i, r := d.Instance(h, 2)
	if r != nvml.Success {
		t.Fatal(r)
	}
	if got := said(d.Text(i, nvml.UUID)); got != "MIG-2" {
		t.Error(got)
	}
	if got := said(d.Number(i, nvml.GPUInstance)); got != uint64(5) {
		t.Error(got)
	}
	s, _ := d.NewSample()
	if r := d.TakeInstance(h, 5, s); r != nvml.Success {
		t.Error(r)
	}
	d.FreeSample(s)
}

// An old driver lacks every newer form and several functions altogether. None of
// them is called: that would end the process.
func TestOldDriver(t *testing.T) {
	d, h := start(t, fakenvml.Build(t, "V1_ONLY"), h100+"\nprocess GPU-1 4121 1048576\n")
	if m, r := d.Memory(h); r != nvml.Success || m.Used != 73014444032+1073741824 || m.Split {
		t.Errorf("memory: %+v, %v", m, r)
	}
	if got := said(d.Temperature(h)); got != 34 {
		t.Errorf("temperature: %v", got)
	}
	if got := said(d.Text(h, nvml.Bus)); got != "0000:1A:00.0" {
		t.Errorf("bus: %v", got)
	}
	if got := said(d.Number(h, nvml.EventReasons)); got != uint64(36) {
		t.Errorf("reasons: %v", got)
	}
	if list, r := d.Processes(h, nil); r != nvml.Success || len(list) != 1 || list[0] != (nvml.Process{PID: 4121, Memory: 1 << 20}) {
		t.Errorf("processes: %v, %v", list, r)
	}
	if r := d.Fields(h, []nvml.Field{{ID: 186}}); r != nvml.FunctionNotFound {
		t.Errorf("fields: %v", r)
	}
	if ok, r := d.GPM(h); ok || r != nvml.FunctionNotFound {
		t.Errorf("GPM: %v, %v", ok, r)
	}
	for name, r := range map[string]nvml.Return{
		"sample": second(d.NewSample()), "free": d.FreeSample(0), "take": d.Take(h, 0),
		"take instance": d.TakeInstance(h, 0, 0), "metrics": d.Metrics(0, 0, nil),
	} {
		if r != nvml.FunctionNotFound {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func second[T any](_ T, r nvml.Return) nvml.Return { return r }

// A newer form that a card does not support is no reason to do without the older.
func TestOlderFormOfACard(t *testing.T) {
	d, h := start(t, fakenvml.Build(t), "gpu GPU-1 temp=61")
	if got := said(d.Temperature(h)); got != 61 {
		t.Error(got)
	}
}

func TestManyProcesses(t *testing.T) {
	l := fakenvml.Build(t)
	script := "gpu GPU-1\n" + strings.Repeat("process GPU-1 77 5\n", 300)
	d, h := start(t, l, script)
	for range 2 { // the second time there is room
		list, r := d.Processes(h, make([]nvml.Process, 1))
		if r != nvml.Success || len(list) != 301 || list[300].PID != 77 {
			t.Errorf("%d, %v", len(list), r)
		}
	}
	if n := l.Calls("nvmlDeviceGetComputeRunningProcesses_v3"); n != 3 {
		t.Errorf("%d calls, want one that is too short and two good ones", n)
	}
}

func TestNoLibrary(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "junk.so")
	if err := os.WriteFile(junk, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "libnvidia-ml.so.1"): "No such file",
		fakenvml.Build(t, "NO_COUNT").Path:              "has no function nvmlDeviceGetCount_v2",
		junk:                                            "invalid ELF header",
		filepath.Join(t.TempDir(), "a\x00b", "nvidia.so.1"): "cannot open",
	} {
		if _, err := nvml.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", path, err, want)
		}
	}
}

// A call that hangs is named, and nobody else waits for it.
func TestACallThatHangs(t *testing.T) {
	l := fakenvml.Build(t)
	d, h := start(t, l, h100+"\nhang nvmlDeviceGetPowerUsage\n")
	ended := make(chan nvml.Return)
	go func() {
		_, r := d.Number(h, nvml.Power)
		ended <- r
	}()
	for d.Doing() == "" {
		select {
		case r := <-ended:
			t.Fatalf("it returned %v", r)
		default:
		}
	}
	if got := d.Doing(); got != "nvmlDeviceGetPowerUsage" {
		t.Errorf("it does %q", got)
	}
	l.Release()
	if r := <-ended; r != nvml.Success {
		t.Error(r)
	}
}

func TestReturnsAreWords(t *testing.T) {
	for r, want := range map[nvml.Return]string{nvml.GPUIsLost: "GPU is lost (15)", 555: "error 555"} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	l := fakenvml.Build(b)
	l.Script(h100)
	d, err := nvml.Open(l.Path)
	if err != nil {
		b.Fatal(err)
	}
	d.Init()
	defer d.Shutdown()
	h, _ := d.Handle(0)
	fields := []nvml.Field{{ID: nvml.FieldPowerInstant}, {ID: nvml.FieldEnergy}}
	for name, call := range map[string]func() nvml.Return{
		"number": func() nvml.Return { return second(d.Number(h, nvml.Power)) },
		"memory": func() nvml.Return { return second(d.Memory(h)) },
		"fields": func() nvml.Return { return d.Fields(h, fields) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := call(); r != nvml.Success {
					b.Fatal(r)
				}
			}
		})
	}
}

//go:build linux && (amd64 || arm64) && !nonvml

package sources_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest"
	"slotop/sources/sourcetest/fakenvml"
)

// gpuBench polls the GPUs of a library on a schedule of its own.
type gpuBench struct {
	tb     testing.TB
	lib    *fakenvml.Library
	source sources.Source
}

func newGPUBench(tb testing.TB, script string, without ...string) *gpuBench {
	tb.Helper()
	b := &gpuBench{tb: tb, lib: fakenvml.Build(tb, without...)}
	b.lib.Script(script)
	b.source = resolve(tb, "nvml:"+b.lib.Path)[0].Source
	tb.Cleanup(func() { _ = b.source.Close() })
	return b
}

// at polls at a second of the schedule.
func (b *gpuBench) at(second float64) (model.Batch, error) {
	b.source.(sources.Advancer).Advance(time.Duration(second * float64(time.Second)))
	return b.source.Poll(b.tb.Context())
}

// good polls, and the poll must be good.
func (b *gpuBench) good(second float64) []model.Device {
	b.tb.Helper()
	batch, err := b.at(second)
	if err != nil {
		b.tb.Fatalf("at %v s: %v", second, err)
	}
	return batch.Devices
}

// fault polls, and the poll must fail.
func (b *gpuBench) fault(second float64) *sources.FaultError {
	b.tb.Helper()
	batch, err := b.at(second)
	var fault *sources.FaultError
	if !errors.As(err, &fault) {
		b.tb.Fatalf("at %v s: %v, %+v", second, err, batch.Devices)
	}
	return fault
}

const (
	h100Memory = " total=85899345920 used=73014444032 reserved=1073741824"
	h100Rest   = " power=94000 limit=700000 energy=600000 sm=1980 mem=2619 smmax=1980 memmax=2619 width=5120 temp=34 tempv=59 reasons=36 ecc=28"
	h100Fields = " f186=631950 f83=600001 f82=u54"
	h100GPM    = " gpm=1 g2=97 g3=72.75 g5=48.5 g10=58 g20=10 g21=20 g60=30 g61=100.5"
)

// h100 is a script of one card: uuid, index, and how busy it is.
func h100(uuid string, index, busy int) string {
	return fmt.Sprintf("gpu %s index=%d name=NVIDIA_H100_80GB_HBM3 bus=00000000:%02X:00.0 busy=%d membusy=61%s%s%s",
		uuid, index, 0x1a+index, busy, h100Memory, h100Rest, h100Fields)
}

func TestGPUsKeepTheContract(t *testing.T) {
	world := "clock 1000000\n" + h100("GPU-1", 0, 90) + h100GPM + "\n" + h100("GPU-2", 1, 10) + "\nprocess GPU-1 1 77\n"
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return newGPUBench(tb, world).source },
		Bad:  func(tb testing.TB) sources.Source { return resolve(tb, "nvml:/no/such/library.so")[0].Source },
		Word: model.NotFound,
		Silent: func(tb testing.TB) sources.Source {
			b := newGPUBench(tb, world+"hang nvmlDeviceGetTemperatureV")
			tb.Cleanup(b.lib.Release)
			return b.source
		},
	})
}

// All readings of one card, of which the counters need a second sample.
func TestEveryReadingOfAGPU(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		without []string
	}{
		"h100":          {h100("GPU-1", 0, 95) + h100GPM + " f197=1000000 f198=u5 f138=1000 f139=!3\nprocess GPU-1 4121 1048576\nprocess GPU-1 4122 18446744073709551615\n", nil},
		"no-counters":   {h100("GPU-1", 0, 95) + " f197=1000000 f198=2000000 f138=1000 f139=2000", []string{"NO_GPM"}},
		"no-fields":     {h100("GPU-1", 0, 95) + h100GPM, []string{"NO_FIELDS"}},
		"old-driver":    {h100("GPU-1", 0, 95) + h100GPM + "\nprocess GPU-1 4121 1048576\n", []string{"V1_ONLY"}},
		"unknown-field": {strings.Replace(h100("GPU-1", 0, 95), h100Fields, " f186=!2 f83=!2 f197=!2 gpm=1 g5=!2 g10=58", 1), nil},
		"no-symbol":     {h100("GPU-1", 0, 95), []string{"NO_TEMPERATURE"}},
		"denied":        {h100("GPU-1", 0, 95) + h100GPM + " gpmtake=!4", nil},
		"taken":         {h100("GPU-1", 0, 95) + h100GPM + " gpmtake=!19", nil},
		"impossible":    {"gpu GPU-1 index=0 busy=4294967295 membusy=101 total=100 used=101 temp=4294967295 f186=4294967295000 f82=u4294967295 sm=4294967295 reasons=0", nil},
		"failing":       {"gpu GPU-1 index=0 busy=!999 total=!10 temp=!27 sm=!4 mem=!20 reasons=!999 f186=!4 f83=!999 power=!999", nil},
		"jetson":        {"gpu GPU-1 index=0 name=Orin_(nvgpu)", nil},
		"embedded":      {"gpu GPU-0000000f-aaaa index=0 name=ACME_embedded busy=0 total=0 used=0 gpm=1 gpmtake=!4\nprocess GPU-0000000f-aaaa 0 0\nprocess GPU-0000000f-aaaa 4294967295 0\nprocess GPU-0000000f-aaaa 4121 0\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newGPUBench(t, "clock 1000000\n"+c.script, c.without...)
			first := say(b.good(0))
			b.lib.Script("clock 3000000\n" + grown(c.script))
			asGolden(t, name, "first poll\n"+first+"second poll\n"+say(b.good(2)))
		})
	}
}

// grown is a script in which the counters of links have grown by two seconds'
// worth: 2 MB and 4 MB a second of PCIe, 1 and 2 MiB a second of NVLink.
func grown(script string) string {
	return strings.NewReplacer("f197=1000000", "f197=5000000", "f198=2000000", "f198=10000000", "f138=1000", "f138=3048", "f139=2000", "f139=6096").Replace(script)
}

// OC-34: success with zeros is no reading of memory, and no process has such a number.
func TestZerosThatMeanNotAvailable(t *testing.T) {
	golden, err := os.ReadFile("testdata/gpu/embedded.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"memory_total                 n/a", "tensor_active                needs admin rights", "NVreg_RestrictProfilingToAdminUsers=0", "process 4121", "busy                         0 (driver)"} {
		if !strings.Contains(string(golden), line) {
			t.Errorf("it does not say %q", line)
		}
	}
	if strings.Contains(string(golden), "process 0 ") || strings.Contains(string(golden), "4294967295") {
		t.Error("impossible processes are shown")
	}
}

// The memory of a part without any of its own is the host's.
func TestUnifiedMemory(t *testing.T) {
	for name, memory := range map[string]string{"not supported": "", "none": " total=0 used=0"} {
		t.Run(name, func(t *testing.T) {
			b := newGPUBench(t, "gpu GPU-1 index=0 name=NVIDIA_GB10 busy=94 sm=2411"+memory)
			for second := range 2 {
				d := b.good(float64(second))[0]
				total, used := d.Readings[model.MemTotal], d.Readings[model.MemUsed]
				if !d.Shared || total.Status != model.Measured || total.Value < 1<<27 || used.Value <= 0 || used.Value > total.Value || d.State != model.DevicePresent {
					t.Errorf("shared %v, %v of %v, %s", d.Shared, used, total, d.State)
				}
			}
		})
	}
}

func TestSixteenCards(t *testing.T) {
	var script strings.Builder
	for i := range 16 {
		script.WriteString(h100(fmt.Sprintf("GPU-%08x", i), i, i) + h100GPM + "\n")
	}
	b := newGPUBench(t, script.String())
	b.good(0)
	before := b.lib.Calls("")
	devices := b.good(1)
	if len(devices) != 16 || devices[15].Readings[model.Busy] != model.Measure(0.15) || devices[15].Index != 15 {
		t.Errorf("%d devices, %+v", len(devices), devices[15].Readings[model.Busy])
	}
	if n := b.lib.Calls("") - before; n != 1+16*9 {
		t.Errorf("%d calls in a round, want one and nine a card", n)
	}
}

// OC-29: the driver does not know how busy a GPU is that is divided; the counters
// of each instance do.
func TestMIG(t *testing.T) {
	script := h100("GPU-00000000-aaaa", 0, 77) + h100GPM + " migmode=1\n" +
		"mig MIG-1111 parent=GPU-00000000-aaaa slot=0 instance=3 name=NVIDIA_H100_80GB_HBM3_MIG_3g.40gb total=42144366592 used=22020096000 g1=93 g5=41\n" +
		"mig MIG-2222 parent=GPU-00000000-aaaa slot=2 instance=9 name=NVIDIA_H100_80GB_HBM3_MIG_3g.40gb total=42144366592 used=524288000 g1=2 g5=0\n" +
		"process MIG-1111 4121 1048576\n"
	b := newGPUBench(t, "clock 1000000\n"+script)
	first := say(b.good(0))
	asGolden(t, "mig", "first poll\n"+first+"second poll\n"+say(b.good(2)))

	// An administrator divides it anew, and then not at all.
	b.lib.Script(h100("GPU-00000000-aaaa", 0, 77) + h100GPM + " migmode=1\nmig MIG-3333 parent=GPU-00000000-aaaa slot=1 instance=1 total=1000 used=1\n")
	if got := uuids(b.good(30)); !slices.Equal(got, []string{"GPU-00000000-aaaa", "MIG-3333"}) {
		t.Errorf("divided anew: %v", got)
	}
	b.lib.Script(h100("GPU-00000000-aaaa", 0, 77) + h100GPM + " migmode=0")
	devices := b.good(60)
	if got := uuids(devices); !slices.Equal(got, []string{"GPU-00000000-aaaa"}) || devices[0].Readings[model.Busy] != model.Measure(0.77) {
		t.Errorf("whole again: %v, %v", got, devices[0].Readings[model.Busy])
	}
}

func uuids(devices []model.Device) []string {
	var list []string
	for _, d := range devices {
		list = append(list, d.UUID)
	}
	return list
}

// A counter that went back began anew, one of 32 bits says nothing, and where the
// clock was set there is no rate either.
func TestCountersOfLinks(t *testing.T) {
	b := newGPUBench(t, "")
	for _, c := range []struct {
		second, clock, tx int
		want              model.DeviceReading
	}{
		{0, 1, 1000, model.DeviceReading{Status: model.NotReady}},
		{2, 3, 5000, model.Measure(2000)},
		{4, 5, 100, model.DeviceReading{Status: model.NotReady}},
		{6, 7, 2100, model.Measure(1000)},
		{8, 3607, 4100, model.DeviceReading{Status: model.NotReady}},
		{10, 3609, 6100, model.Measure(1000)},
		{12, 3608, 8100, model.DeviceReading{Status: model.NotReady}},
	} {
		b.lib.Script(fmt.Sprintf("clock %d000000\ngpu GPU-1 index=0 busy=1 f197=%d", c.clock, c.tx))
		if got := b.good(float64(c.second))[0].Readings[model.PCIeTx]; got != c.want {
			t.Errorf("at %d s: %v, want %v", c.second, got, c.want)
		}
	}
}

// After a pause two samples say nothing of now.
func TestSamplesAcrossAPause(t *testing.T) {
	b := newGPUBench(t, h100("GPU-1", 0, 90)+h100GPM)
	for _, c := range []struct {
		second float64
		want   model.Status
	}{
		{0, model.NotReady}, {0.5, model.Measured}, {0.55, model.Measured}, {2, model.Measured},
		{20, model.NotReady}, {22, model.Measured}, {200, model.NotReady}, {380, model.Measured},
	} {
		if got := b.good(c.second)[0].Readings[model.TensorActive].Status; got != c.want {
			t.Errorf("at %v s: %v, want %v", c.second, got, c.want)
		}
	}
}

// Handles are fetched once, and the library is started once.
func TestCallsOfARound(t *testing.T) {
	b := newGPUBench(t, h100("GPU-1", 0, 90)+h100GPM+"\n"+h100("GPU-2", 1, 90)+h100GPM)
	for second := range 9 {
		b.good(float64(second))
	}
	for call, want := range map[string]int{
		"nvmlInit": 1, "nvmlDeviceGetHandleByIndex": 2, "nvmlDeviceGetName": 2, "nvmlDeviceGetCount": 9, "nvmlShutdown": 0,
		"nvmlDeviceGetEnforcedPowerLimit": 2, "nvmlDeviceGetComputeRunningProcesses_v3": 2, "nvmlGpmSampleAlloc": 4,
		"nvmlDeviceGetFieldValues": 18, "nvmlDeviceGetUtilizationRates": 18, "nvmlDeviceGetPowerUsage": 0,
	} {
		if got := b.lib.Calls(call); got != want {
			t.Errorf("%s: %d calls in 9 rounds of two cards, want %d", call, got, want)
		}
	}
	if err := b.source.Close(); err != nil {
		t.Error(err)
	}
	if !b.givesBack() || b.lib.Calls("nvmlGpmSampleFree") != 4 {
		t.Error("what was taken was not given back")
	}
}

// A call that hangs costs one poll after the other, but no round is begun beside it,
// and when it returns the numbers go on.
func TestACallThatHangs(t *testing.T) {
	script := h100("GPU-1", 0, 90)
	b := newGPUBench(t, script)
	b.good(0)
	b.lib.Script(script + "\nhang nvmlDeviceGetTemperatureV")
	rounds := b.lib.Calls("nvmlDeviceGetCount")
	var fault *sources.FaultError
	for n := range 6 {
		b.source.(sources.Advancer).Advance(time.Duration(n+2) * time.Second)
		batch, err := b.soon()
		if n < 3 && (err != nil || len(batch.Devices) != 1) {
			t.Fatalf("poll %d: %v", n, err)
		}
		if n >= 3 && (!errors.As(err, &fault) || fault.Kind != model.Timeout || !strings.Contains(fault.Detail, "nvmlDeviceGetTemperatureV")) {
			t.Fatalf("poll %d: %v", n, err)
		}
	}
	if got := b.lib.Calls("nvmlDeviceGetCount"); got != rounds+1 {
		t.Errorf("%d rounds were begun", got-rounds)
	}
	b.lib.Release()
	batch, err := b.at(9)
	if err != nil || batch.Round < 7*time.Second || batch.About.StepS < 7 || !strings.Contains(batch.About.Notes[0], "a GPU round takes") {
		t.Errorf("%v, a round of %v, %+v", err, batch.Round, batch.About)
	}
	b.lib.Script(script)
	if batch, err := b.at(10); err != nil || batch.Round != 0 || batch.About.StepS != 0 {
		t.Errorf("then: %v, %v, %+v", err, batch.Round, batch.About)
	}
}

// soon polls without patience.
func (b *gpuBench) soon() (model.Batch, error) {
	ctx, cancel := context.WithTimeout(b.tb.Context(), 20*time.Millisecond)
	defer cancel()
	return b.source.Poll(ctx)
}

// Whoever closes does not wait for a call that hangs; should it return, what was
// taken is given back all the same.
func TestClosedWhileACallHangs(t *testing.T) {
	b := newGPUBench(t, h100("GPU-1", 0, 90)+"\nhang nvmlDeviceGetTemperatureV")
	if _, err := b.soon(); err == nil {
		t.Fatal("it does not hang")
	}
	for range 2 {
		if err := b.source.Close(); err != nil {
			t.Error(err)
		}
	}
	if b.lib.Calls("nvmlShutdown") != 0 {
		t.Error("it was closed under the call")
	}
	b.lib.Release()
	if !b.givesBack() {
		t.Error("nothing was given back after the call returned")
	}
}

// givesBack waits for the library to be ended, which nobody waits for who closes.
func (b *gpuBench) givesBack() bool {
	for range 5000 {
		if b.lib.Calls("nvmlShutdown") == 1 {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// OC-18: with eight cards and 25 ms a call a round takes longer than a poll. Rounds
// never overlap, the poll ends in time, and how long a round takes is said.
func TestSlowCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes two rounds of a slow driver, four seconds")
	}
	var script strings.Builder
	for i := range 8 {
		script.WriteString(h100(fmt.Sprintf("GPU-%08x", i), i, 50) + h100GPM + "\n")
	}
	b := newGPUBench(t, script.String())
	b.good(0)
	b.lib.Script(script.String() + "delay 25000")
	rounds, start := b.lib.Calls("nvmlDeviceGetCount"), time.Now()
	var batch model.Batch
	for batch.Round == 0 {
		began := time.Now()
		b.source.(sources.Advancer).Advance(time.Since(start) + time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		var err error
		batch, err = b.source.Poll(ctx)
		cancel()
		if err != nil || len(batch.Devices) != 8 {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("a poll took %v", took)
		}
	}
	if took := time.Since(start); batch.Round < 1500*time.Millisecond || batch.Round > took*13/10 {
		t.Errorf("a round of %v, it took %v", batch.Round, took)
	}
	if got := b.lib.Calls("nvmlDeviceGetCount") - rounds; got != 1 {
		t.Errorf("%d rounds were begun", got)
	}
	t.Logf("round %v, note %q", batch.Round, batch.About.Notes[0])
}

func TestGPUAddresses(t *testing.T) {
	for address, want := range map[string]string{"nvml:cuda": "is no way to read GPUs", "nvml:libnvidia-ml.so": "is no way"} {
		if _, err := sources.Resolve(t.Context(), []string{address}, sources.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

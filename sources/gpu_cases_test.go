//go:build linux && (amd64 || arm64) && !nonvml

package sources_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// OC-02: a GPU is lost, the driver counts the others anew, and it comes back with
// another number. Whoever it is, it is told apart by its UUID.
func TestAGPUThatIsLostAndComesBack(t *testing.T) {
	var scripted struct {
		Polls []struct {
			T       float64 `json:"t"`
			Count   int     `json:"device_count"`
			Devices []struct {
				Index int
				UUID  string
				Busy  int    `json:"util_gpu"`
				Used  int    `json:"mem_used_mib"`
				Total int    `json:"mem_total_mib"`
				Temp  int    `json:"temp_c"`
				Power int    `json:"power_w"`
				Error string `json:"error"`
			}
		}
	}
	if err := json.Unmarshal(shared.File(t, "cases/files/gpu-lost.json"), &scripted); err != nil {
		t.Fatal(err)
	}
	b := newGPUBench(t, "")
	wants := []struct {
		index3 int
		state  model.DeviceState
		busy   float64 // mean of those that are there
	}{{3, model.DevicePresent, 0.9}, {3, model.DeviceLost, 0.9}, {-1, model.DeviceLost, 0.89}, {7, model.DevicePresent, 0.9}}
	for n, p := range scripted.Polls {
		var script strings.Builder
		fmt.Fprintf(&script, "count %d\n", p.Count)
		for _, d := range p.Devices {
			if d.Error != "" {
				fmt.Fprintf(&script, "gpu %s index=%d lost=15\n", d.UUID, d.Index)
				continue
			}
			fmt.Fprintf(&script, "gpu %s index=%d busy=%d used=%d total=%d temp=%d power=%d\n", d.UUID, d.Index, d.Busy, d.Used<<20, d.Total<<20, d.Temp, d.Power*1000)
		}
		b.lib.Script(script.String())
		devices := b.good(p.T)
		if len(devices) != 8 {
			t.Fatalf("poll %d: %d devices", n+1, len(devices))
		}
		busy, there := 0.0, 0
		for i, d := range devices {
			if want := fmt.Sprintf("GPU-%08d-aaaa", i); d.UUID != want {
				t.Errorf("poll %d: row %d is %s, want %s", n+1, i, d.UUID, want)
			}
			if d.State == model.DevicePresent {
				busy += d.Readings[model.Busy].Value
				there++
			}
		}
		lost := devices[3]
		if w := wants[n]; lost.State != w.state || lost.Index != w.index3 || there != map[model.DeviceState]int{model.DevicePresent: 8, model.DeviceLost: 7}[w.state] {
			t.Errorf("poll %d: %s with index %d, %d of 8 are there", n+1, lost.State, lost.Index, there)
		}
		if got := busy / float64(there); got < wants[n].busy-1e-9 || got > wants[n].busy+1e-9 {
			t.Errorf("poll %d: busy %v, want %v", n+1, got, wants[n].busy)
		}
		if lost.State == model.DeviceLost && (lost.Detail == "" || lost.Readings[model.Busy].Status != model.NotExported) {
			t.Errorf("poll %d: the lost one says %q, and has readings: %v", n+1, lost.Detail, lost.Readings[model.Busy])
		}
	}
}

// A lost GPU is asked seldom, though the driver goes on counting it, and is seen
// when it is back. Samples from before are not used: the driver refuses them.
func TestALostGPUIsAskedSeldom(t *testing.T) {
	good := h100("GPU-1", 0, 90) + h100GPM + "\n" + h100("GPU-2", 1, 80) + h100GPM
	b := newGPUBench(t, good)
	b.good(0)
	b.good(1)
	b.lib.Script(h100("GPU-1", 0, 90) + h100GPM + "\n" + h100("GPU-2", 1, 80) + h100GPM + " lost=15")
	for second := 2; second < 30; second++ {
		d := b.good(float64(second))[1]
		if d.State != model.DeviceLost || !strings.Contains(d.Detail, "fell off the bus") || d.Bus == "" {
			t.Fatalf("at %d s: %+v", second, d)
		}
	}
	if n := b.lib.Calls("nvmlDeviceGetHandleByIndex"); n > 2+2*3 {
		t.Errorf("%d handles were asked for in half a minute", n)
	}
	b.lib.Script(good)
	states := ""
	for second := 30; second < 42; second++ {
		states += b.good(float64(second))[1].Readings[model.TensorActive].Status.String() + ","
	}
	if !strings.Contains(states, "no sample yet,measured,measured") || strings.Contains(states, "error") {
		t.Errorf("after it was back: %s", states)
	}
}

// A driver that answers nothing for one call after the other is told from a GPU
// that is lost: in a container its device access may have been revoked.
func TestOneGPUThatFails(t *testing.T) {
	b := newGPUBench(t, h100("GPU-1", 0, 90)+"\n"+h100("GPU-2", 1, 80))
	b.good(0)
	b.lib.Script(h100("GPU-1", 0, 90) + "\n" + h100("GPU-2", 1, 80) + " lost=999")
	for second := 1; second < 25; second++ {
		d := b.good(float64(second))[1]
		if d.State != model.DevicePresent || d.Readings[model.Busy].Status != model.Failing || d.Index != 1 {
			t.Fatalf("at %d s: %s, %v", second, d.State, d.Readings[model.Busy])
		}
	}
}

// A GPU that cannot be reached at all is at least counted.
func TestAGPUThatWasNeverSeen(t *testing.T) {
	b := newGPUBench(t, h100("GPU-1", 0, 90)+"\ngpu GPU-2 index=1 lost=999")
	batch, err := b.at(0)
	if err != nil || len(batch.Devices) != 1 || !slices.Contains(batch.About.Notes, "GPU 1 cannot be reached: unknown error (999)") {
		t.Errorf("%v, %+v", err, batch.About)
	}
	for script, want := range map[string]sources.FaultError{
		"gpu GPU-2 index=0 lost=4":   {Kind: model.Denied, Detail: "insufficient permissions"},
		"gpu GPU-2 index=0 lost=999": {Kind: model.Refused, Detail: "GPU 0 cannot be reached: unknown error (999)"},
	} {
		if f := newGPUBench(t, script).fault(0); f.Kind != want.Kind || !strings.Contains(f.Detail, want.Detail) {
			t.Errorf("%s: %v", script, f)
		}
	}
	// A container has been given one GPU of three.
	b = newGPUBench(t, "gpu GPU-2 index=0 lost=4\n"+h100("GPU-1", 1, 90)+"\ngpu GPU-3 index=2 lost=4")
	if batch, err := b.at(0); err != nil || len(batch.Devices) != 1 || !slices.Contains(batch.About.Notes, "2 of the host's 3 GPUs are not ours to read") {
		t.Errorf("%v, %+v", err, batch.About)
	}
}

// OC-21, script A: cause and cure are named, and the driver is tried every half minute.
func TestDriverThatDoesNotStart(t *testing.T) {
	var scripted struct{ A []struct{ Init string } }
	if err := json.Unmarshal(shared.File(t, "cases/files/driver-errors.json"), &scripted); err != nil {
		t.Fatal(err)
	}
	if got := scripted.A[0].Init; got != "LIB_RM_VERSION_MISMATCH" {
		t.Fatalf("the case changed: %s", got)
	}
	for code, want := range map[int]struct {
		kind model.FaultKind
		says string
	}{
		18:  {model.UnsupportedPage, "library and kernel module of the NVIDIA driver differ, e.g. after an upgrade: reload the module, or reboot"},
		9:   {model.UnsupportedPage, "not loaded: modprobe nvidia"},
		4:   {model.Denied, "rights to /dev/nvidiactl"},
		12:  {model.UnsupportedPage, "install it anew"},
		999: {model.Refused, "does not start: unknown error (999)"},
	} {
		b := newGPUBench(t, fmt.Sprintf("init %d", code))
		for second := 0; second < 29; second += 2 {
			if f := b.fault(float64(second)); f.Kind != want.kind || !strings.Contains(f.Detail, want.says) {
				t.Errorf("%d: %v", code, f)
			}
		}
		most := 1
		if want.kind == model.Refused {
			most = 5 // after 1, 2, 4, 8 s
		}
		if n := b.lib.Calls("nvmlInit"); n > most {
			t.Errorf("%d: tried %d times within half a minute", code, n)
		}
		b.lib.Script(h100("GPU-1", 0, 90))
		b.good(40)
		if b.lib.Calls("nvmlShutdown") != 0 {
			t.Error("what did not start was ended")
		}
	}
	b := newGPUBench(t, "count 0")
	if f := b.fault(0); f.Kind != model.NotFound || !strings.Contains(f.Detail, "finds no GPU") {
		t.Errorf("no GPU: %v", f)
	}
}

// OC-21, script B: three polls are good, then every call fails. There is no reading
// of 0, the library is started anew less and less often, and it goes on by itself.
func TestDriverThatStopsToAnswer(t *testing.T) {
	var scripted struct {
		B []struct {
			T     float64
			Busy  []int `json:"util_gpu"`
			Error string
		}
	}
	if err := json.Unmarshal(shared.File(t, "cases/files/driver-errors.json"), &scripted); err != nil {
		t.Fatal(err)
	}
	b := newGPUBench(t, "")
	for _, p := range scripted.B {
		if p.Error != "" {
			b.lib.Script("all 999\n" + h100("GPU-1", 0, 0))
			if f := b.fault(p.T); f.Kind != model.Refused || !strings.Contains(f.Detail, "GPU telemetry lost: every call of the NVIDIA driver gives unknown error (999)") {
				t.Errorf("at %v s: %v", p.T, f)
			}
			continue
		}
		var script strings.Builder
		for i, busy := range p.Busy {
			script.WriteString(h100(fmt.Sprintf("GPU-%d", i), i, busy) + "\n")
		}
		b.lib.Script(script.String())
		devices := b.good(p.T)
		for i, busy := range p.Busy {
			if got := devices[i].Readings[model.Busy].Value; got != float64(busy)/100 {
				t.Errorf("at %v s: GPU %d is %v busy", p.T, i, got)
			}
		}
	}
	// Init works where the calls do not: at 6 s it fails, and is tried at 8, 10, 14, 22
	// and 38 s. At 40 s the last attempt is 2 s old.
	if n := b.lib.Calls("nvmlInit"); n < 5 || n > 7 {
		t.Errorf("the library was started %d times", n)
	}
	if b.lib.Calls("nvmlInit")-1 != b.lib.Calls("nvmlShutdown") {
		t.Error("it was not ended before it was started anew")
	}
}

// What NVIDIA's own stand-in for its library answered, read through this one.
func TestRecordedDrivers(t *testing.T) {
	for _, name := range []string{"h100-busy", "l40s-busy-no-gpm", "h100-gpu-lost"} {
		t.Run(name, func(t *testing.T) {
			replayDriver(t, string(shared.File(t, "corpus/gpu/nvml-mock-driver/"+name+".jsonl")))
		})
	}
}

// recordedKeys are the names in a recording, and in a script.
var recordedKeys = map[string]string{
	"GetClockInfo_MEM_MHz": "mem", "GetClockInfo_SM_MHz": "sm", "GetMaxClockInfo_SM_MHz": "smmax", "GetCurrentClocksEventReasons": "reasons",
	"GetEnforcedPowerLimit_mW": "limit", "GetPowerUsage_mW": "power", "GetTemperature_C": "temp", "GetTotalEccErrors_UNCORRECTED_VOLATILE": "ecc",
	"GetTotalEnergyConsumption_mJ": "energy", "GpmQueryDeviceSupport": "gpm",
}

type recordedDevice map[string]any

func (d recordedDevice) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "gpu %v index=%v", d["GetUUID"], d["index"])
	for _, key := range slices.Sorted(maps.Keys(recordedKeys)) {
		if v, ok := d[key].(float64); ok {
			fmt.Fprintf(&b, " %s=%d", recordedKeys[key], int(v))
		}
	}
	if use, ok := d["GetUtilizationRates"].(map[string]any); ok {
		fmt.Fprintf(&b, " busy=%v membusy=%v", use["Gpu"], use["Memory"])
	}
	if m, ok := d["GetMemoryInfo_v2"].(map[string]any); ok {
		fmt.Fprintf(&b, " total=%d used=%d reserved=%d", int(m["Total"].(float64)), int(m["Used"].(float64)), int(m["Reserved"].(float64)))
	}
	if m, ok := d["GpmMetricsGet"].(map[string]any); ok {
		fmt.Fprintf(&b, " g2=%v g3=%v g5=%v g10=%v", m["SM_UTIL"], m["SM_OCCUPANCY"], m["ANY_TENSOR_UTIL"], m["DRAM_BW_UTIL"])
	}
	return b.String()
}

// lost reports whether the driver said that the card is lost.
func (d recordedDevice) lost() bool { return strings.Contains(fmt.Sprint(d), "GPU_IS_LOST") }

func replayDriver(t *testing.T, recording string) {
	var rounds [][]recordedDevice
	for line := range strings.Lines(recording) {
		var d recordedDevice
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d["index"] == 0.0 {
			rounds = append(rounds, nil)
		}
		rounds[len(rounds)-1] = append(rounds[len(rounds)-1], d)
	}
	b := newGPUBench(t, "")
	readings := 0
	for second, round := range rounds {
		script := ""
		for _, d := range round {
			if d.lost() {
				script += fmt.Sprintf("gpu %v index=%v lost=15\n", d["GetUUID"], d["index"])
				continue
			}
			script += d.script() + "\n"
		}
		b.lib.Script(script)
		batch, err := b.at(float64(second))
		if err != nil {
			t.Fatalf("round %d: %v", second, err)
		}
		for i, d := range round {
			readings += checkRecorded(t, second, d, batch.Devices[i])
		}
	}
	if readings < 50 {
		t.Errorf("only %d readings were compared", readings)
	}
}

func checkRecorded(t *testing.T, round int, d recordedDevice, got model.Device) (compared int) {
	t.Helper()
	if d.lost() {
		if got.State != model.DeviceLost {
			t.Errorf("round %d: %s is %s, want lost", round, got.UUID, got.State)
		}
		return 1
	}
	want := map[model.DeviceMetric]float64{
		model.SMClock: d["GetClockInfo_SM_MHz"].(float64) * 1e6, model.Power: d["GetPowerUsage_mW"].(float64) / 1000,
		model.Busy: d["GetUtilizationRates"].(map[string]any)["Gpu"].(float64) / 100, model.MemTotal: d["GetMemoryInfo_v2"].(map[string]any)["Total"].(float64),
		model.Temperature: d["GetTemperature_C"].(float64),
	}
	if m, ok := d["GpmMetricsGet"].(map[string]any); ok {
		want[model.TensorActive], want[model.DRAMActive] = m["ANY_TENSOR_UTIL"].(float64)/100, m["DRAM_BW_UTIL"].(float64)/100
	}
	for m, v := range want {
		if r := got.Readings[m]; r.Status != model.Measured || r.Value < v-1e-6*v || r.Value > v+1e-6*v {
			t.Errorf("round %d: %s %v is %v, want %v", round, got.UUID, m, r, v)
		}
		compared++
	}
	return compared
}

// threeEngines polls three servers of which the last one comes and goes: it breaks
// its connections off, and later answers again.
func threeEngines(t *testing.T) (poll func(round int)) {
	var gone atomic.Bool
	page := reply(enginePage)
	flapping := func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler)
		}
		page(w, r)
	}
	all := resolve(t, serve(t, page).URL+"/metrics", serve(t, page).URL+"/metrics", serve(t, flapping).URL+"/metrics")
	t.Cleanup(func() { _ = sources.CloseAll(all) })
	return func(round int) {
		gone.Store(round%10 >= 5)
		for i, o := range all {
			if _, err := o.Source.Poll(t.Context()); (err != nil) != (i == 2 && gone.Load()) {
				t.Fatalf("round %d, engine %d: %v", round, i, err)
			}
		}
	}
}

// OC-18, soak: ten thousand rounds of GPUs, and of three engines beside them, take no
// more descriptors, goroutines or memory.
func TestTenThousandRounds(t *testing.T) {
	rounds := 10000
	if testing.Short() {
		rounds = 500
	}
	script := h100("GPU-1", 0, 90) + h100GPM + "\n" + h100("GPU-2", 1, 80) + h100GPM + " migmode=1\nmig MIG-1 parent=GPU-2 slot=0 instance=1 total=1000 used=10 g1=5\nprocess GPU-1 1 77\n"
	worse := strings.Replace(script, "busy=80", "busy=80 lost=15", 1)
	b := newGPUBench(t, script)
	poll := threeEngines(t)
	at := 0.0
	run := func(n int) {
		for i := range n {
			if i%50 == 25 {
				b.lib.Script(worse)
			} else if i%50 == 30 {
				b.lib.Script(script)
			}
			b.good(at)
			poll(i)
			at++
		}
	}
	run(200)
	files, goroutines, heap := openFiles(t), runtime.NumGoroutine(), liveHeap()
	run(rounds)
	if got := openFiles(t); got > files+2 {
		t.Errorf("%d descriptors, %d before", got, files)
	}
	if got := runtime.NumGoroutine(); got > goroutines+2 { // the last round's may be about to end
		t.Errorf("%d goroutines, %d before", got, goroutines)
	}
	if got := liveHeap(); got > heap+1<<20 {
		t.Errorf("the heap has %d bytes, %d before", got, heap)
	}
	if b.lib.Calls("nvmlInit") != 1 {
		t.Error("the library was started anew")
	}
	if taken, given := b.lib.Calls("nvmlGpmSampleAlloc"), b.lib.Calls("nvmlGpmSampleFree"); taken-given > 4 {
		t.Errorf("%d samples were taken and %d given back", taken, given)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
			t.Fatal(err)
		}
		t.Skip("this system does not tell which files are open")
	}
	return len(list)
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkGPURound prints what a round of eight cards costs us, the driver's own
// time apart.
func BenchmarkGPURound(b *testing.B) {
	var script strings.Builder
	for i := range 8 {
		script.WriteString(h100(fmt.Sprintf("GPU-%08x", i), i, 50) + h100GPM + "\n")
	}
	bench := newGPUBench(b, script.String())
	bench.good(0)
	calls, at := bench.lib.Calls(""), 0.0
	b.ReportAllocs()
	for b.Loop() {
		at++
		bench.good(at)
	}
	b.ReportMetric(float64(bench.lib.Calls("")-calls)/at, "calls/op")
}

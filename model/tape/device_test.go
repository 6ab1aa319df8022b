package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// dumpDevices writes every bit of a batch's devices, and of the other side's clock.
func dumpDevices(w io.Writer, b *model.Batch) {
	if !b.Clock.IsZero() || b.ClockError != 0 {
		fmt.Fprintf(w, " clock %s ± %d", b.Clock.Format(time.RFC3339Nano), b.ClockError)
	}
	if b.Devices == nil && b.Round == 0 {
		return
	}
	fmt.Fprintf(w, " round %d devices nil=%v", b.Round, b.Devices == nil)
	for i := range b.Devices {
		d := b.Devices[i]
		fmt.Fprintf(w, "\n  device %q %d %q bus %q host %q part of %q %q", d.UUID, d.Index, d.Name, d.Bus, d.Host, d.Parent, d.Profile)
		fmt.Fprintf(w, " %q %q shared %v from %v", d.State, d.Detail, d.Shared, d.From)
		for m, r := range d.Readings {
			if r != (model.DeviceReading{}) {
				fmt.Fprintf(w, " %v %d:%x", model.DeviceMetric(m), r.Status, math.Float64bits(r.Value))
			}
		}
		if d.Capability != "" || d.Cores != 0 {
			fmt.Fprintf(w, " make %q %d", d.Capability, d.Cores)
		}
		fmt.Fprintf(w, " throttle %d %q nil=%v pods %q nil=%v", d.ThrottleStatus, d.Throttle, d.Throttle == nil, d.Pods, d.Pods == nil)
		fmt.Fprintf(w, " processes nil=%v", d.Processes == nil)
		for _, p := range d.Processes {
			fmt.Fprintf(w, " %d %q %d:%x %v nil=%v", p.PID, p.Name, p.Memory.Status, math.Float64bits(p.Memory.Value), p.Serves, p.Serves == nil)
		}
	}
}

// oddDevices collects what a naive format gets wrong of devices, clocks, and targets
// that come and go.
func oddDevices() []model.Input {
	nan := math.Float64frombits(0x7ff8000000000123)
	at := func(n int) model.Instant {
		return model.Instant{Wall: t0.Add(time.Duration(n)), Mono: time.Duration(n)}
	}
	one := model.Device{
		UUID: "GPU-00000000-aaaa", Index: -1, Name: "x\x1b[2J", Bus: "00000000:3B:00.0", Host: "h\xff", State: model.DevicePresent,
		Throttle: []string{}, ThrottleStatus: model.Measured, Pods: []string{"ns/pod/c"},
		Processes: []model.Process{{PID: math.MaxInt, Name: "a", Memory: model.Measure(1 << 30), Serves: []int{8000, -1}}, {PID: -5, Serves: []int{}}},
	}
	one.From[model.DRAMActive] = model.FromCounters
	for m, v := range []float64{0.57, 57 * 0.01, 57.0 / 100, nan, math.Inf(-1), math.Copysign(0, -1), 1 << 60, 412.123, 0.001 * 412123, 1e300, 0, -3} {
		one.Readings[m] = model.Measure(v)
	}
	one.Readings[12] = model.DeviceReading{Value: nan, Status: model.BadSample}
	one.Readings[13] = model.DeviceReading{Value: 3, Status: model.NotSupported}
	one.Readings[14] = model.DeviceReading{Status: 200}
	two := one
	two.UUID, two.Index, two.Readings[0], two.Processes = "GPU-00000001-aaaa", 1<<40, model.Measure(0.58), nil
	lost := model.Device{UUID: two.UUID, State: model.DeviceLost, Detail: "GPU is lost"}
	slice := model.Device{UUID: "MIG-1", Parent: one.UUID, Profile: "3g.40gb", State: "from the future", Shared: true, Throttle: []string{"thermal"}}
	moved := one
	moved.Readings[0], moved.Readings[3], moved.Readings[10] = model.Measure(0.571), model.Measure(1), model.DeviceReading{}
	batch := func(devices []model.Device, b model.Batch) *model.Batch {
		b.Target, b.Devices = "nvml:", devices
		return &b
	}
	about := &model.About{Kind: model.GPUTarget, StepS: 30.5, Replicas: model.Replicas{Fresh: 2, Total: 3}}
	return []model.Input{
		{At: at(1), Batch: batch([]model.Device{one, two, slice}, model.Batch{About: about, Round: 2 * time.Second, Clock: t0.Add(time.Hour), ClockError: time.Second})},
		{At: at(2), Batch: batch([]model.Device{one, two, slice}, model.Batch{About: about})},
		{At: at(3), Batch: batch([]model.Device{moved, lost}, model.Batch{Clock: time.Date(9999, 1, 2, 3, 4, 5, 6, time.UTC)})},
		{At: at(4), Batch: batch([]model.Device{}, model.Batch{ClockError: -1})},
		{At: at(5), Batch: batch(nil, model.Batch{Round: -1})},
		{At: at(6), Batch: batch([]model.Device{slice, one, two, lost}, model.Batch{Clock: time.Unix(-1, 1).UTC()})}, // all in other places
		{At: at(7), Batch: batch(nil, model.Batch{Fault: &model.Fault{Kind: model.Timeout}})},
		{At: at(8), Join: &model.Target{ID: "http://a:1/metrics", Name: "a", Kind: "engine", Simulated: true, GPUs: "nvml: GPU-1"}},
		{At: at(9), Join: &model.Target{}, Leave: "http://a:1/metrics"},
		{At: at(10), Leave: "\x1b[2J"},
	}
}

func TestRoundTripOddDevices(t *testing.T) {
	want := oddDevices()
	got, _, err := play(t, record(t, Header{Version: "test"}, want))
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sameInputs(t, got, want)
}

// TestRoundTripMakes: what a chip is may become known late, differ and be forgotten.
func TestRoundTripMakes(t *testing.T) {
	var want []model.Input
	for i, d := range []model.Device{
		{UUID: "GPU-1"}, {UUID: "GPU-1", Capability: "9.0", Cores: 16896}, {UUID: "GPU-1", Capability: "9.0", Cores: 16896, Index: 1},
		{UUID: "GPU-1", Capability: "9.\xff", Cores: -1}, {UUID: "GPU-1"},
	} {
		at := model.Instant{Wall: t0.Add(time.Duration(i)), Mono: time.Duration(i)}
		want = append(want, model.Input{At: at, Batch: &model.Batch{Target: "nvml:", Devices: []model.Device{d}}})
	}
	got, _, err := play(t, record(t, Header{Version: "test"}, want))
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sameInputs(t, got, want)
}

// TestWritesNoDeviceLate: a source may write over what its batch pointed to.
func TestWritesNoDeviceLate(t *testing.T) {
	want := oddDevices()
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		in := oddDevices()[i] // of its own: they share what they point to
		if in.Batch != nil {
			in.Batch.About = want[i].Batch.About // which nobody writes to
		}
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
		if in.Batch == nil {
			continue
		}
		for i := range in.Batch.Devices {
			d := &in.Batch.Devices[i]
			clear(d.Throttle)
			clear(d.Pods)
			for j := range d.Processes {
				clear(d.Processes[j].Serves)
			}
			clear(d.Processes)
			*d = model.Device{}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, _, _ := play(t, file.Bytes())
	sameInputs(t, got, want)
}

// TestNoPasswordJoins: what joins later keeps the header's promise.
func TestNoPasswordJoins(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Write(model.Input{Join: &model.Target{ID: "http://user:secret@a:8000/metrics"}})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// host is what a driver tells of eight GPUs under load, each second.
type host struct {
	rng  *rand.Rand
	gpus []model.Device
}

func newHost(rng *rand.Rand, n int) *host {
	h := &host{rng: rng}
	for i := range n {
		d := model.Device{
			UUID: fmt.Sprintf("GPU-%08x-0000-4000-8000-%012x", rng.Uint32(), i), Index: i, Name: "NVIDIA H100 80GB HBM3",
			Bus: fmt.Sprintf("00000000:%02X:00.0", 16*i+11), State: model.DevicePresent, ThrottleStatus: model.Measured,
			Processes: []model.Process{{PID: 4000 + i, Name: "python3", Memory: model.Measure(70 << 30), Serves: []int{8000}}},
		}
		for _, m := range []model.DeviceMetric{model.SMActive, model.SMOccupancy, model.TensorActive, model.DRAMActive} {
			d.From[m] = model.FromCounters
		}
		h.gpus = append(h.gpus, d)
	}
	return h
}

// poll moves what moves on a busy card: a dozen readings of two dozen.
func (h *host) poll() []model.Device {
	for i := range h.gpus {
		r := &h.gpus[i].Readings
		percent := func(m model.DeviceMetric, from int) { r[m] = model.Measure(float64(from+h.rng.IntN(8)) * 0.01) }
		percent(model.Busy, 92)
		percent(model.MemBusy, 50)
		for _, m := range []model.DeviceMetric{model.SMActive, model.SMOccupancy, model.TensorActive, model.DRAMActive} {
			r[m] = model.Measure(h.rng.Float64()) // counters give as many digits as there are
		}
		r[model.MemTotal], r[model.MemReserved] = model.Measure(81559<<20), model.Measure(600<<20)
		r[model.MemUsed] = model.Measure(float64((70000 + h.rng.IntN(3)) << 20))
		r[model.Power] = model.Measure(float64(480000+h.rng.IntN(40000)) * 0.001)
		r[model.Energy] = model.Measure(r[model.Energy].Value + float64(h.rng.IntN(500)))
		r[model.PowerLimit], r[model.SMClockMax], r[model.MemClock] = model.Measure(700), model.Measure(1980e6), model.Measure(2619e6)
		r[model.SMClock] = model.Measure(float64(1965+15*h.rng.IntN(2)) * 1e6)
		r[model.Temperature] = model.Measure(float64(61 + h.rng.IntN(2)))
		r[model.PCIeTx], r[model.PCIeRx] = model.Measure(float64(h.rng.IntN(1e9))), model.Measure(float64(h.rng.IntN(1e9)))
	}
	return h.gpus
}

// watched is so long a recording of n GPUs.
func watched(n int, length time.Duration) (inputs []model.Input) {
	h := newHost(rand.New(rand.NewPCG(5, 9)), n)
	for at := time.Duration(0); at < length; at += time.Second {
		stamp := model.Instant{Wall: t0.Add(at), Mono: at}
		in := copyInput(model.Input{At: stamp, Batch: &model.Batch{Target: "nvml:", Took: 3 * time.Millisecond, Devices: h.poll()}})
		inputs = append(inputs, in, model.Input{At: stamp.Add(time.Second - 1)})
	}
	return inputs
}

// TestSizeOfDevices holds what a GPU's readings cost on a tape: eight bytes for each
// of the four counters, which have no digits to save, and about as much for all
// others that move: 40 MB a day for a host of eight.
func TestSizeOfDevices(t *testing.T) {
	const n, seconds = 8, 600
	want := watched(n, seconds*time.Second)
	tape := record(t, Header{}, want)
	got, _, err := play(t, tape)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	sameInputs(t, got, want)
	each := float64(len(tape)) / (n * seconds)
	t.Logf("%.1f bytes a device and poll", each)
	if each > 64 {
		t.Errorf("%.1f bytes a device and poll", each)
	}
	still := watched(n, time.Second)[0]
	var idle []model.Input
	for i := range seconds {
		in := still
		in.At = model.Instant{Wall: t0, Mono: time.Duration(i) * time.Second}
		idle = append(idle, in)
	}
	if each := float64(len(record(t, Header{}, idle))) / (n * seconds); each > 6 {
		t.Errorf("%.1f bytes a device that does not move", each)
	}
}

func TestDevicesBeyondTheBounds(t *testing.T) {
	small := model.Input{At: model.Instant{Mono: 1}, Batch: &model.Batch{Target: "a", Devices: []model.Device{{UUID: "x"}}}}
	large := func(target string, n int) model.Input {
		return model.Input{At: model.Instant{Mono: 2}, Batch: &model.Batch{Target: model.TargetID(target), Devices: make([]model.Device, n)}}
	}
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	// One batch is too large for any segment, and three are too large for one.
	written := []model.Input{small, large("a", maxDevices/2), large("b", maxDevices/2), large("c", maxDevices/2), small}
	for _, in := range append([]model.Input{large("d", maxDevices+1)}, written...) {
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || w.Dropped() != 1 {
		t.Fatalf("dropped %d: %v", w.Dropped(), err)
	}
	got, _, err := play(t, file.Bytes())
	if !errors.Is(err, io.EOF) || !reflect.DeepEqual(got, written) {
		t.Errorf("%d inputs: %v", len(got), err)
	}
}

// TestForgedDevices: what no writer writes is refused before it takes memory.
func TestForgedDevices(t *testing.T) {
	batch := func(k kind, devices func(*encoder)) []byte {
		e := newEncoder()
		e.uint(uint64(k | withBatch | neverWall))
		e.int(0)
		e.string("g")
		e.int(0)
		e.bool(false)
		e.byte(aboutNone)
		e.int(0)
		e.string("")
		e.int(0)
		devices(&e)
		e.byte(layoutNone)
		return e.b
	}
	zeros := make([]byte, maxDevices+1)
	for name, raw := range map[string][]byte{
		"devices beyond the bound": batch(withDevices, func(e *encoder) { e.int(0); e.length(maxDevices + 1); e.b = append(e.b, zeros...) }),
		"devices beyond the bytes": batch(withDevices, func(e *encoder) { e.int(0); e.length(100) }),
		"parts nobody knows":       batch(withDevices, func(e *encoder) { e.int(0); e.length(1); e.uint(deviceFlags + 1) }),
		"metrics nobody knows":     batch(withDevices, func(e *encoder) { e.int(0); e.length(1); e.uint(hasReadings); e.uint(1 << model.NumDeviceMetrics) }),
		"a status beyond a byte": batch(withDevices, func(e *encoder) {
			e.int(0)
			e.length(1)
			e.uint(hasReadings)
			e.uint(1)
			e.uint(readingNone | 256<<readingBits)
		}),
		"processes beyond the bytes": batch(withDevices, func(e *encoder) {
			e.int(0)
			e.length(1)
			e.uint(hasProcesses)
			e.length(9)
			e.b = append(e.b, zeros[:20]...)
		}),
		"a nanosecond of two": batch(withClock, func(e *encoder) { e.bool(true); e.int(1); e.uint(1e9); e.int(0) }),
		"a part nobody knows": batch(1<<10, func(*encoder) {}),
	} {
		if n, err := readAll(forge(t, version3, raw, 1, 0)); n != 0 || !errors.Is(err, errMalformed) {
			t.Errorf("%s: %d inputs, %v", name, n, err)
		}
	}
	// The same devices in many small batches of as many targets.
	e := newEncoder()
	const each, targets = 1 << 12, 17
	for i := range targets {
		e.uint(uint64(withBatch | withDevices | neverWall))
		e.int(0)
		e.string(fmt.Sprint(i))
		e.int(0)
		e.bool(false)
		e.byte(aboutNone)
		e.int(0)
		e.string("")
		e.int(0)
		e.int(0)
		e.length(each)
		e.b = append(e.b, zeros[:each]...)
		e.byte(layoutNone)
	}
	if n, err := readAll(forge(t, version3, e.b, targets, 0)); n != maxDevices/each || !errors.Is(err, errMalformed) {
		t.Errorf("many targets: %d inputs, %v", n, err)
	}
}

// TestNewPartsInAnOldTape: a tape that says it is of format 2 has none of format 3.
func TestNewPartsInAnOldTape(t *testing.T) {
	for _, k := range []kind{withDevices, withClock} {
		if n, err := readAll(forge(t, version2, []byte{byte(k), 0}, 1, 0)); n != 0 || !errors.Is(err, errMalformed) {
			t.Errorf("kind %d: %d inputs, %v", k, n, err)
		}
	}
}

// FuzzDevices writes two devices made of arbitrary numbers.
func FuzzDevices(f *testing.F) {
	f.Add(0.57, 57*0.01, uint8(1), uint8(1), int64(0), uint64(0), "", "")
	f.Add(math.NaN(), math.Copysign(0, -1), uint8(5), uint8(0), int64(-1), uint64(1<<63), "GPU-1", "\x1b\xff")
	f.Add(float64(1<<53), 1e300, uint8(200), uint8(1), int64(1)<<40, uint64(math.MaxUint64), "a", "b")
	f.Fuzz(func(t *testing.T, x, y float64, s1, s2 uint8, n int64, bits uint64, a, b string) {
		one := model.Device{UUID: a, Name: b, Index: int(n), State: model.DeviceState(b), Throttle: []string{a}, ThrottleStatus: model.Status(s1), Shared: n > 0}
		one.Readings[model.Busy] = model.DeviceReading{Value: x, Status: model.Status(s1)}
		one.Readings[model.Power] = model.Measure(y)
		one.From[model.Power] = model.Precision(s2)
		one.Processes = []model.Process{{PID: int(n), Name: a, Memory: model.DeviceReading{Value: x, Status: model.Status(s2)}, Serves: []int{int(n)}}}
		two := one
		two.Readings[model.Busy] = model.Measure(math.Float64frombits(bits))
		two.Readings[model.Power], two.Pods = model.Measure(x), []string{a, b}
		clock := time.Unix(n>>8, int64(bits%1e9)).UTC()
		want := []model.Input{
			{Batch: &model.Batch{Target: "g", Devices: []model.Device{one, two}, Round: time.Duration(n)}},
			{Join: &model.Target{ID: "x", GPUs: b}, Leave: model.TargetID(a)},
			{Batch: &model.Batch{Target: "g", Devices: []model.Device{two, one, two}, Clock: clock, ClockError: time.Duration(bits)}},
			{Batch: &model.Batch{Target: "g", Devices: []model.Device{one}}},
		}
		got, _, err := play(t, record(t, Header{}, want))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		sameInputs(t, got, want)
	})
}

// BenchmarkWriteDevices records eight busy GPUs polled each second.
func BenchmarkWriteDevices(b *testing.B) {
	inputs := watched(8, 5*time.Minute)
	var size int64
	b.ReportAllocs()
	for b.Loop() {
		w, err := NewWriter(io.Discard, Header{})
		if err != nil {
			b.Fatal(err)
		}
		for _, in := range inputs {
			if err := w.Write(in); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		size = w.Size()
	}
	b.ReportMetric(float64(size)/(8*300), "B/device-poll")
}

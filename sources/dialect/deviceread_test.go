package dialect

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

// gpuPoller reads one target's pages and keeps a copy of its devices.
type gpuPoller struct {
	*poller
	devices []model.Device
}

func newGPUPoller(t testing.TB) *gpuPoller { return &gpuPoller{poller: newPoller(t)} }

func (p *gpuPoller) poll(body string) *gpuPoller {
	p.t.Helper()
	p.poller.poll(body)
	page, err := p.scanner.Scan([]byte(body))
	if err != nil {
		p.t.Fatal(err)
	}
	p.devices = slices.Clone(p.plan.Devices(page))
	return p
}

// of is the device of that name.
func (p *gpuPoller) of(uuid string) *model.Device {
	p.t.Helper()
	i := slices.IndexFunc(p.devices, func(d model.Device) bool { return d.UUID == uuid })
	if i < 0 {
		var names []string
		for _, d := range p.devices {
			names = append(names, d.UUID)
		}
		p.t.Fatalf("no device %s: %q", uuid, names)
	}
	return &p.devices[i]
}

func (p *gpuPoller) is(uuid string, m model.DeviceMetric, want model.DeviceReading) {
	p.t.Helper()
	if got := p.of(uuid).Readings[m]; got.Status != want.Status || math.Abs(got.Value-want.Value) > 1e-9*math.Abs(want.Value) {
		p.t.Errorf("%s: %v is %v (%v), want %v (%v)", uuid, m, got.Value, got.Status, want.Value, want.Status)
	}
}

func status(s model.Status) model.DeviceReading { return model.DeviceReading{Status: s} }

// OC-12: blank marks are no values and wild ones no measurements.
func TestGPUGarbage(t *testing.T) {
	p := newGPUPoller(t).poll(string(shared.File(t, "cases/files/gpu-garbage.prom")))
	id := func(n int) string { return fmt.Sprintf("GPU-%08d-aaaa", n) }
	p.is(id(0), model.Busy, model.Measure(0.97))
	p.is(id(1), model.Busy, status(model.BadSample))
	p.is(id(2), model.Busy, status(model.BadSample))
	p.is(id(3), model.Busy, model.Measure(0))
	p.is(id(0), model.DRAMActive, model.Measure(0.81))
	p.is(id(1), model.DRAMActive, status(model.NotSupported))
	p.is(id(1), model.PCIeRx, status(model.NotSupported))
	p.is(id(3), model.DRAMActive, status(model.NotExported))
	sum, n := 0.0, 0
	for _, d := range p.devices {
		if r := d.Readings[model.Busy]; r.Status == model.Measured {
			sum, n = sum+r.Value, n+1
		}
	}
	if n != 2 || sum/2 != 0.485 {
		t.Errorf("mean %v over %d of %d", sum/float64(n), n, len(p.devices))
	}
}

// OC-29: there is no utilization of a slice, whatever a page prints for it. There is
// the activity of its engine.
func TestSlicesHaveNoUtilization(t *testing.T) {
	body := string(shared.File(t, "cases/files/mig.prom"))
	p := newGPUPoller(t).poll(body)
	gpu, a, b := "GPU-00000000-aaaa", "MIG-GPU-00000000-aaaa/1", "MIG-GPU-00000000-aaaa/2"
	p.is(gpu, model.Busy, status(model.NotSupported))
	p.is(gpu, model.TensorActive, status(model.NotSupported)) // counted for each slice
	p.is(a, model.TensorActive, status(model.NotExported))
	p.is(a, model.Busy, model.Measure(0.93))
	p.is(b, model.Busy, model.Measure(0.02))
	if d := p.of(a); d.Parent != gpu || d.Profile != "3g.40gb" || d.From[model.Busy] != model.FromCounters || d.Index != -1 {
		t.Errorf("slice %+v", d)
	}
	if d := p.of(gpu); !strings.Contains(d.Detail, "MIG is on") || d.Index != 0 {
		t.Errorf("GPU %+v", d)
	}
	if got := []string{p.devices[0].UUID, p.devices[1].UUID, p.devices[2].UUID}; !slices.Equal(got, []string{gpu, a, b}) {
		t.Errorf("order %q", got)
	}

	without, _, _ := strings.Cut(body, "# TYPE DCGM_FI_PROF")
	p = newGPUPoller(t).poll(without)
	p.is(a, model.Busy, status(model.NotSupported))
	if d := p.of(a); !strings.Contains(d.Detail, "DCGM_FI_PROF_GR_ENGINE_ACTIVE") {
		t.Errorf("detail %q", d.Detail)
	}
}

// A GPU whose slices are not listed has no utilization either while the mode is on.
func TestMIGModeIsReadFromPageToPage(t *testing.T) {
	page := func(on int) string {
		return fmt.Sprintf("nvidia_smi_utilization_gpu_ratio{uuid=\"aa\"} 0\nnvidia_smi_mig_mode_current{uuid=\"aa\"} %d\n", on)
	}
	p := newGPUPoller(t).poll(page(1))
	p.is("GPU-aa", model.Busy, status(model.NotSupported))
	p.poll(page(0)).is("GPU-aa", model.Busy, model.Measure(0))
	if d := p.of("GPU-aa"); d.Detail != "" {
		t.Errorf("detail %q", d.Detail)
	}
}

// OC-34: memory of 0 of 0 bytes is none, a process without a number is none, and a
// metric that is not there is not 0.
func TestZeroThatMeansNotAvailable(t *testing.T) {
	p := newGPUPoller(t).poll(`all_smi_gpu_utilization{gpu="ACME embedded",gpu_uuid="x"} 0
all_smi_gpu_memory_used_bytes{gpu="ACME embedded",gpu_uuid="x"} 0
all_smi_gpu_memory_total_bytes{gpu="ACME embedded",gpu_uuid="x"} 0
all_smi_gpu_temperature_celsius{gpu="ACME embedded",gpu_uuid="x"} 0
all_smi_process_memory_used_bytes{pid="0",name="a",device_uuid="x"} 1
all_smi_process_memory_used_bytes{pid="4294967295",name="b",device_uuid="x"} 1
all_smi_process_memory_used_bytes{pid="4121",name="vllm",device_uuid="x",command="--prompt secret"} 77
`)
	p.is("x", model.Busy, model.Measure(0))
	p.is("x", model.MemTotal, status(model.NotSupported))
	p.is("x", model.MemUsed, status(model.NotSupported))
	p.is("x", model.Temperature, status(model.NotSupported))
	p.is("x", model.Power, status(model.NotExported))
	want := []model.Process{{PID: 4121, Name: "vllm", Memory: model.Measure(77)}}
	if got := p.of("x").Processes; !reflect.DeepEqual(got, want) {
		t.Errorf("processes %+v", got)
	}
}

// Marks that stand for no value, values that cannot be, and values that only look odd.
func TestBlanksAndNonsense(t *testing.T) {
	dcgm := func(metric, value string) string { return "DCGM_FI_" + metric + "{UUID=\"GPU-x\"} " + value + "\n" }
	amd := func(metric, value string) string {
		return metric + "{gpu_id=\"0\",serial_number=\"x\"} " + value + "\n"
	}
	for _, c := range []struct {
		name, page string
		metric     model.DeviceMetric
		want       model.DeviceReading
	}{
		{"an integer's mark", dcgm("DEV_GPU_UTIL", "9223372036854775794"), model.Busy, status(model.NotSupported)},
		{"the lowest of them", dcgm("DEV_GPU_UTIL", "9223372036854775792"), model.Busy, status(model.NotSupported)},
		{"as a float", dcgm("DEV_MEMORY_TEMP", "9.223372036854776e+18"), model.MemTemperature, status(model.NotSupported)},
		{"32 bits full", dcgm("DEV_GPU_UTIL", "4294967295"), model.Busy, status(model.BadSample)},
		{"101 %", dcgm("DEV_GPU_UTIL", "101"), model.Busy, model.Measure(1)},
		{"103 %", dcgm("DEV_GPU_UTIL", "103"), model.Busy, status(model.BadSample)},
		{"below 0 %", dcgm("DEV_GPU_UTIL", "-1"), model.Busy, status(model.BadSample)},
		{"infinite", dcgm("DEV_GPU_UTIL", "+Inf"), model.Busy, status(model.BadSample)},
		{"no number", dcgm("DEV_GPU_UTIL", "NaN"), model.Busy, status(model.NotReady)},
		{"a ratio's mark", dcgm("PROF_DRAM_ACTIVE", "140737488355328"), model.DRAMActive, status(model.NotSupported)},
		{"another", dcgm("PROF_SM_ACTIVE", "140737488355330.000000"), model.SMActive, status(model.NotSupported)},
		{"percent for a ratio", dcgm("PROF_SM_ACTIVE", "88"), model.SMActive, status(model.BadSample)},
		{"a power's mark", dcgm("DEV_POWER_USAGE", "140737488355329"), model.Power, status(model.NotSupported)},
		{"much energy", dcgm("DEV_TOTAL_ENERGY_CONSUMPTION", "281474976710656"), model.Energy, model.Measure(281474976710.656)},
		{"an energy's mark", dcgm("DEV_TOTAL_ENERGY_CONSUMPTION", "9223372036854775794"), model.Energy, status(model.NotSupported)},
		{"a rate's mark", dcgm("PROF_PCIE_TX_BYTES", "9223372036854775792"), model.PCIeTx, status(model.NotSupported)},
		{"negative bytes", dcgm("DEV_FB_USED", "-3"), model.MemUsed, status(model.BadSample)},
		{"blank in a sum", dcgm("DEV_FB_USED", "3") + dcgm("DEV_FB_FREE", "9223372036854775794"), model.MemTotal, status(model.NotSupported)},
		{"half a sum", dcgm("DEV_FB_USED", "3"), model.MemTotal, status(model.NotExported)},
		{"nonsense in a sum", dcgm("DEV_FB_USED", "-3") + dcgm("DEV_FB_FREE", "9"), model.MemTotal, status(model.BadSample)},
		{"a way that is blank", dcgm("DEV_GPU_UTIL", "9223372036854775794") + dcgm("PROF_GR_ENGINE_ACTIVE", "0.5"), model.Busy, model.Measure(0.5)},
		{"a way that is nonsense", dcgm("DEV_GPU_UTIL", "700123456") + dcgm("PROF_GR_ENGINE_ACTIVE", "0.5"), model.Busy, status(model.BadSample)},
		{"millijoules", dcgm("DEV_TOTAL_ENERGY_CONSUMPTION", "1500"), model.Energy, model.Measure(1.5)},
		{"megahertz", dcgm("DEV_SM_CLOCK", "1755"), model.SMClock, model.Measure(1.755e9)},
		{"16 bits full", amd("gpu_package_power", "65535"), model.Power, status(model.NotSupported)},
		{"8 bits full", amd("gpu_package_power", "255"), model.Power, model.Measure(255)},
		{"the fastest die", amd(`gpu_clock`, "1") + "gpu_clock{gpu_id=\"0\",serial_number=\"x\",clock_type=\"system\",clock_index=\"1\"} 2100\ngpu_clock{gpu_id=\"0\",serial_number=\"x\",clock_type=\"system\",clock_index=\"2\"} 900\n" + amd("gpu_total_vram", "4"), model.SMClock, model.Measure(2.1e9)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newGPUPoller(t).poll(c.page)
			p.is(p.devices[0].UUID, c.metric, c.want)
		})
	}
}

// A card that leaves and comes back under another number is the same card, and none
// of the others moves.
func TestDeviceLeavesAndComesBack(t *testing.T) {
	page := func(ids ...int) (body string) {
		for index, id := range ids {
			body += fmt.Sprintf("DCGM_FI_DEV_GPU_UTIL{gpu=\"%d\",UUID=\"GPU-%d\"} 90\n", index, id)
		}
		return body
	}
	p := newGPUPoller(t)
	for _, step := range []struct {
		ids  []int
		at   map[int]int // index by id
		gone bool
	}{
		{[]int{0, 1, 2}, map[int]int{0: 0, 1: 1, 2: 2}, false},
		{[]int{0, 2}, map[int]int{0: 0, 2: 1}, true},
		{[]int{0, 2, 1}, map[int]int{0: 0, 2: 1, 1: 2}, false},
		{[]int{0, 1, 2}, map[int]int{0: 0, 1: 1, 2: 2}, false},
	} {
		p.poll(page(step.ids...))
		if len(p.devices) != len(step.ids) {
			t.Fatalf("%v: %d devices", step.ids, len(p.devices))
		}
		for id, index := range step.at {
			if d := p.of(fmt.Sprintf("GPU-%d", id)); d.Index != index || d.Readings[model.Busy] != model.Measure(0.9) {
				t.Errorf("%v: device %d has index %d and is %v busy", step.ids, id, d.Index, d.Readings[model.Busy])
			}
		}
	}
}

// A GPU is given to another pod without its old one staying on.
func TestPodsMove(t *testing.T) {
	page := func(pod string) string {
		return fmt.Sprintf("DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\",namespace=\"ns\",pod=%q,container=\"c\"} 1\n", pod)
	}
	p := newGPUPoller(t)
	for _, pod := range []string{"a", "b", "a"} {
		p.poll(page(pod))
		if got := p.of("GPU-0").Pods; !slices.Equal(got, []string{"ns/" + pod + "/c"}) {
			t.Errorf("%s: pods %q", pod, got)
		}
	}
	if p.poll(page("")); len(p.of("GPU-0").Pods) > 0 {
		t.Errorf("pods %q, want none", p.of("GPU-0").Pods)
	}
}

// A line that could not be read hides a reading for the moment, no more.
func TestBadLineHidesAReading(t *testing.T) {
	good := "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\"} 50\nDCGM_FI_DEV_GPU_TEMP{UUID=\"GPU-0\"} 60\n"
	p := newGPUPoller(t).poll(good)
	p.poll(strings.Replace(good, "} 50", "} fifty", 1))
	p.is("GPU-0", model.Busy, status(model.NotReady))
	p.is("GPU-0", model.Temperature, model.Measure(60))
	p.poll(strings.Replace(good, "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\"} 50\n", "", 1))
	p.is("GPU-0", model.Busy, status(model.NotExported))
}

// A device that a GPU's page tells of is read the same on every page, at no cost.
func TestSteadyDevicesAllocateNothing(t *testing.T) {
	for _, name := range []string{
		"dcgm-exporter/h100-x2-k8s-extended-counters.prom", "dcgm-exporter/a100-mig.prom",
		"nvidia_gpu_exporter/two-gpus-demo.prom", "amd/mi300x-device-metrics-exporter.prom",
	} {
		p := newGPUPoller(t)
		body := string(shared.File(t, "corpus/gpu/"+name))
		first := slices.Clone(p.poll(body).devices)
		page, err := p.scanner.Scan([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var again []model.Device
		if n := testing.AllocsPerRun(50, func() { again = p.plan.Devices(page) }); n != 0 {
			t.Errorf("%s: %v allocations a page", name, n)
		}
		if !reflect.DeepEqual(again, first) {
			t.Errorf("%s: the same page is read in another way", name)
		}
	}
}

// What was handed out stays as it is while the next page is read.
func TestWhatDevicesPointToStays(t *testing.T) {
	page := func(mem, pid int, reason string) string {
		return fmt.Sprintf(`nvidia_smi_utilization_gpu_ratio{uuid="a"} 1
nvidia_smi_clocks_event_reasons_active{uuid="a"} %s
nvidia_smi_compute_app_info{uuid="a",pid="%d",process_name="p"} 1
nvidia_smi_compute_app_used_memory_bytes{uuid="a",pid="%d",process_name="p"} %d
`, reason, pid, pid, mem)
	}
	p := newGPUPoller(t)
	first := p.poll(page(5, 1, "4")).of("GPU-a")
	kept := *first
	p.poll(page(6, 1, "32")).poll(page(6, 2, "0"))
	if kept.Processes[0].Memory.Value != 5 || !slices.Equal(kept.Throttle, []string{model.ThrottlePowerCap}) {
		t.Errorf("what was read has become %+v, %q", kept.Processes, kept.Throttle)
	}
	if now := p.of("GPU-a"); len(now.Processes) != 1 || now.Processes[0].PID != 2 || len(now.Throttle) != 0 {
		t.Errorf("now %+v, %q", now.Processes, now.Throttle)
	}
}

// FuzzDevices gives pages of exporters and what becomes of them to the dialects: no
// page makes a ratio outside 0–1 or a negative number of bytes a measurement, nor two
// devices of one name.
func FuzzDevices(f *testing.F) {
	set, err := Builtin()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\",GPU_I_ID=\"1\"} -5\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID=\"GPU-0\",GPU_I_ID=\"1\"} 7e300\n"),
		[]byte("DCGM_FI_DEV_FB_USED{UUID=\"GPU-0\"} -5\nDCGM_FI_DEV_FB_FREE{UUID=\"GPU-0\"} 1e308\n"))
	f.Add([]byte("nvidia_smi_mig_info{uuid=\"a\",gpu_instance_id=\"1\",compute_instance_id=\"0\",mig_uuid=\"b\"} 1\nnvidia_smi_mig_memory_used_bytes{uuid=\"a\",gpu_instance_id=\"1\"} -0\n"),
		[]byte("nvidia_smi_mig_info{uuid=\"a\",gpu_instance_id=\"2\",compute_instance_id=\"0\",mig_uuid=\"b\"} 1\n"))
	f.Add([]byte("gpu_total_vram{gpu_compute_partition_type=\"cpx\",gpu_id=\"1\",serial_number=\"s\",gpu_uuid=\"s\"} 1e300\ngpu_violation_ppt_residency_accumulated{gpu_id=\"1\",serial_number=\"s\"} -1\n"),
		[]byte("gpu_gfx_activity{gpu_id=\"1\",serial_number=\"s\"} NaN\n"))
	f.Add([]byte("hw_gpu_info{hw_id=\"x\"} 1\nhw_memory_size_bytes{hw_parent=\"x\"} 1e308\nhw_memory_size_bytes{hw_parent=\"x\",m=\"2\"} 1e308\n"),
		[]byte("all_smi_process_memory_used_bytes{pid=\"1\",device_uuid=\"x\"} -Inf\nall_smi_gpu_info{gpu_uuid=\"x\"} 1\n"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := expo.NewScanner(expo.Limits{})
		s.Complete = true
		generation, plan := 0, (*Plan)(nil)
		for _, body := range [][]byte{first, second, first} {
			page, err := s.Scan(body)
			if err != nil {
				return
			}
			if page.Generation != generation || page.New > 0 {
				before := plan
				if generation, plan = page.Generation, set.Plan(page); plan == nil {
					return
				}
				if before != nil {
					plan.Continue(before)
				}
			}
			plan.Read(page, nil)
			checkDevices(t, plan.Devices(page))
		}
	})
}

func checkDevices(t *testing.T, devices []model.Device) {
	names := map[string]bool{}
	for i := range devices {
		d := &devices[i]
		if d.UUID == "" || names[d.UUID] || d.State != model.DevicePresent {
			t.Errorf("device %q, there twice: %v", d.UUID, names[d.UUID])
		}
		names[d.UUID] = true
		for m := range model.NumDeviceMetrics {
			r := d.Readings[m]
			ratio := m <= model.DRAMActive
			switch v := r.Value; {
			case r.Status != model.Measured:
				if v != 0 {
					t.Errorf("%v: %v without being measured", m, v)
				}
			case math.IsNaN(v) || math.IsInf(v, 0), ratio && (v < 0 || v > 1), v < 0 && m != model.Temperature && m != model.MemTemperature:
				t.Errorf("%v is measured as %v", m, v)
			}
		}
		for _, p := range d.Processes {
			if p.PID <= 0 || p.Memory.Status == model.Measured && p.Memory.Value < 0 {
				t.Errorf("process %+v", p)
			}
		}
	}
}

func BenchmarkDevices(b *testing.B) {
	for _, name := range []string{"dcgm-exporter/h100-x2-k8s-extended-counters.prom", "nvidia_gpu_exporter/two-gpus-demo.prom"} {
		body := shared.File(b, "corpus/gpu/"+name)
		page := scan(b, body)
		set := builtinSet(b)
		plan := set.Plan(page)
		b.Run("read/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				plan.Devices(page)
			}
		})
		b.Run("compile/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set.newLayout(page)
			}
		})
	}
}

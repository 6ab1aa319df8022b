package dialect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"slotop/model"
)

// Partitions of a card are devices with a share of its memory; what is measured of
// the card is the card's, once.
func TestPartitions(t *testing.T) {
	var b strings.Builder
	for i := range 8 {
		labels := fmt.Sprintf(`{card_series="AMD Instinct MI300X OAM",driver_version="6.12.12",gpu_compute_partition_type="cpx",gpu_id="%d",gpu_partition_id="%d",gpu_uuid="c%d",hostname="h",namespace="ns",pod="p%d",container="c",serial_number="692"}`, i, i, i, i)
		fmt.Fprintf(&b, "gpu_total_vram%s 24574\ngpu_used_vram%s %d\ngpu_gfx_activity%s 0\ngpu_package_power%s 700\n", labels, labels, 100*i, labels, labels)
	}
	p := newGPUPoller(t).poll(b.String())
	if len(p.devices) != 9 || p.devices[0].UUID != "692" {
		t.Fatalf("%d devices, the first is %s", len(p.devices), p.devices[0].UUID)
	}
	p.is("692", model.Power, model.Measure(700))
	p.is("692", model.Busy, status(model.NotSupported))
	p.is("692", model.MemTotal, status(model.NotExported))
	p.is("c3", model.MemTotal, model.Measure(24574<<20))
	p.is("c3", model.MemUsed, model.Measure(300<<20))
	p.is("c3", model.Power, status(model.NotSupported))
	p.is("c3", model.Busy, status(model.NotSupported))
	if d := p.of("c3"); d.Parent != "692" || d.Profile != "cpx" || d.Index != 3 || !slices.Equal(d.Pods, []string{"ns/p3/c"}) || d.Name != "AMD Instinct MI300X OAM" {
		t.Errorf("partition %+v", d)
	}
	if d := p.of("692"); d.Index != -1 || d.Pods != nil || d.Host != "h" {
		t.Errorf("card %+v", d)
	}
}

// The two devices of one MI250X have one serial number, and are two devices.
func TestTwoDevicesOfOneCard(t *testing.T) {
	p := newGPUPoller(t).poll(`gpu_gfx_activity{gpu_id="0",gpu_partition_id="0",gpu_compute_partition_type="spx",serial_number="77"} 10
gpu_gfx_activity{gpu_id="1",gpu_partition_id="0",gpu_compute_partition_type="SPX",serial_number="77"} 20
`)
	p.is("77/0", model.Busy, model.Measure(0.1))
	p.is("77/1", model.Busy, model.Measure(0.2))
}

// all-smi lists slices of its own, with memory, and a utilization that NVML does not
// have.
func TestSlicesOfAllSmi(t *testing.T) {
	gpu := `gpu_index="0",gpu_uuid="GPU-AB",gpu="NVIDIA H100",instance="i",host="h"`
	slice := gpu + `,mig_instance="3",mig_uuid="MIG-CD",mig_profile="1g.10gb",gpu_instance_id="7",compute_instance_id="0"`
	p := newGPUPoller(t).poll("all_smi_gpu_mig_mode{" + gpu + "} 1\nall_smi_gpu_utilization{" + gpu + "} 0\nall_smi_gpu_memory_total_bytes{" + gpu +
		"} 80\nall_smi_mig_instance_utilization_gpu{" + slice + "} 0\nall_smi_mig_instance_memory_used_bytes{" + slice +
		"} 1\nall_smi_mig_instance_memory_total_bytes{" + slice + "} 10\n")
	p.is("GPU-ab", model.Busy, status(model.NotSupported))
	p.is("GPU-ab", model.MemTotal, model.Measure(80))
	p.is("MIG-cd", model.Busy, status(model.NotSupported))
	p.is("MIG-cd", model.MemUsed, model.Measure(1))
	if d := p.of("MIG-cd"); d.Parent != "GPU-ab" || d.Profile != "1g.10gb" {
		t.Errorf("slice %+v", d)
	}
}

// The activity of a GPU instance is that of each compute instance in it.
func TestPartsOfASliceShareIt(t *testing.T) {
	p := newGPUPoller(t).poll(`nvidia_smi_mig_info{uuid="a",gpu_instance_id="2",compute_instance_id="0",mig_uuid="m0",profile="1c.3g.71gb"} 1
nvidia_smi_mig_info{uuid="a",gpu_instance_id="2",compute_instance_id="1",mig_uuid="m1",profile="1c.3g.71gb"} 1
nvidia_smi_mig_info{uuid="a",gpu_instance_id="7",compute_instance_id="0",mig_uuid="m2",profile="1g.18gb"} 1
nvidia_smi_mig_graphics_activity_ratio{uuid="a",gpu_instance_id="2"} 0.5
nvidia_smi_mig_graphics_activity_ratio{uuid="a",gpu_instance_id="7"} 0.25
nvidia_smi_mig_tensor_activity_ratio{uuid="a",gpu_instance_id="7"} 0.125
nvidia_smi_gpu_info{uuid="a",index="4",name="NVIDIA H200",pci_bus_id="00000000:01:00.0"} 1
nvidia_smi_power_draw_watts{uuid="a"} 300
`)
	for uuid, busy := range map[string]float64{"MIG-m0": 0.5, "MIG-m1": 0.5, "MIG-m2": 0.25} {
		p.is(uuid, model.Busy, model.Measure(busy))
		if d := p.of(uuid); d.Name != "NVIDIA H200" || d.Bus != "00000000:01:00.0" || strings.Contains(d.Detail, "shares") != (busy == 0.5) {
			t.Errorf("slice %+v", d)
		}
	}
	p.is("MIG-m2", model.TensorActive, model.Measure(0.125))
	p.is("GPU-a", model.Power, model.Measure(300))
	if d := p.of("GPU-a"); d.Index != 4 {
		t.Errorf("GPU %+v", d)
	}
}

// xpumd's own page: what belongs to a GPU bears the GPU's id as its parent's, and
// names of its own that are not the GPU's.
func TestPartsOfAnIntelGPU(t *testing.T) {
	p := newGPUPoller(t).poll(`hw_gpu_info{hw_id="u-1",hw_name="gpu_0",hw_model="Intel(R) Data Center GPU Max 1550",pci_bdf="0000:18:00.0"} 1
hw_gpu_utilization_ratio{hw_id="u-1",hw_name="engine-0-all",hw_gpu_task="all"} 0.4
hw_gpu_utilization_ratio{hw_id="u-1",hw_name="engine-1-compute_all",hw_gpu_task="compute_all"} 0.9
hw_memory_size_bytes{hw_id="u-1_mem_0",hw_name="mem_0",hw_parent="u-1",hw_memory_location="device",com_intel_subdevice_id="0"} 64
hw_memory_size_bytes{hw_id="u-1_mem_1",hw_name="mem_1",hw_parent="u-1",hw_memory_location="device",com_intel_subdevice_id="1"} 64
hw_memory_size_bytes{hw_id="u-1_mem_2",hw_name="mem_2",hw_parent="u-1",hw_memory_location="system"} 1000
hw_memory_usage_bytes{hw_id="u-1_mem_0",hw_parent="u-1"} 7
hw_power_limit_watts{hw_id="u-1_power_0",hw_parent="u-1"} 6e8
hw_frequency_throttle_status{hw_id="u-1_freq_0",hw_parent="u-1",hw_frequency_domain="gpu",com_intel_speed_throttle_reason="thermal_limit"} 1
hw_frequency_throttle_status{hw_id="u-1_freq_0",hw_parent="u-1",hw_frequency_domain="gpu",com_intel_speed_throttle_reason="ave_pwr_cap"} 0
`)
	if len(p.devices) != 1 {
		t.Fatalf("%d devices", len(p.devices))
	}
	p.is("u-1", model.Busy, model.Measure(0.4))
	p.is("u-1", model.MemTotal, model.Measure(128))
	p.is("u-1", model.MemUsed, model.Measure(7))
	p.is("u-1", model.PowerLimit, status(model.NotExported))
	if d := p.of("u-1"); d.Name != "Intel(R) Data Center GPU Max 1550" || d.Bus != "0000:18:00.0" || !slices.Equal(d.Throttle, []string{model.ThrottleThermal}) {
		t.Errorf("%+v", d)
	}
}

func TestThrottleReasons(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       []string
		status     model.Status
	}{
		{"none told", "DCGM_FI_DEV_GPU_TEMP{UUID=\"x\"} 1\n", nil, model.NotExported},
		{"a mask of what is no fault", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"x\"} 275\n", []string{}, model.Measured},
		{"a mask", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"x\"} 237\n", throttleReasons, model.Measured},
		{"the mask's old name", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{UUID=\"x\"} 36\n", []string{model.ThrottlePowerCap, model.ThrottleThermal}, model.Measured},
		{"a blank mask", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"x\"} 9223372036854775794\n", nil, model.NotSupported},
		{"a mask that is none", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"x\"} -1\n", nil, model.BadSample},
		{"words", "DCGM_EXP_CLOCK_EVENTS_COUNT{UUID=\"x\",clock_event=\"hw_thermal\"} 3\nDCGM_EXP_CLOCK_EVENTS_COUNT{UUID=\"x\",clock_event=\"gpu_idle\"} 9\n",
			[]string{model.ThrottleHWThermal}, model.Measured},
		{"no word", "DCGM_EXP_CLOCK_EVENTS_COUNT{UUID=\"x\"} 0\n", []string{}, model.Measured},
		{"flags", "nvidia_smi_clocks_throttle_reasons_hw_slowdown{uuid=\"x\"} 1\nnvidia_smi_clocks_throttle_reasons_sw_power_cap{uuid=\"x\"} 0\n",
			[]string{model.ThrottleSlowdown}, model.Measured},
		{"shares of time", "gpu_violation_ppt_residency_percentage{gpu_id=\"0\"} 12\ngpu_violation_hbm_thermal_residency_percentage{gpu_id=\"0\"} 0\ngpu_total_vram{gpu_id=\"0\"} 1\n",
			[]string{model.ThrottlePowerCap}, model.Measured},
		{"on the row of a slice", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS{UUID=\"x\",GPU_I_ID=\"1\"} 4\n", []string{model.ThrottlePowerCap}, model.Measured},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &newGPUPoller(t).poll(c.page).devices[0]
			if d.ThrottleStatus != c.status || !slices.Equal(d.Throttle, c.want) || (d.Throttle == nil) != (c.want == nil) {
				t.Errorf("%v %q, want %v %q", d.ThrottleStatus, d.Throttle, c.status, c.want)
			}
		})
	}
}

// A counter of throttling says something from the second page on: that it grew. A
// page that repeats the one before does not say that it stood still.
func TestThrottleCounters(t *testing.T) {
	page := func(temp, power, thermal float64) string {
		return fmt.Sprintf("DCGM_FI_DEV_GPU_TEMP{UUID=\"x\"} %v\nDCGM_FI_DEV_POWER_VIOLATION{UUID=\"x\"} %v\nDCGM_FI_DEV_THERMAL_VIOLATION{UUID=\"x\"} %v\n", temp, power, thermal)
	}
	p := newGPUPoller(t)
	for i, step := range []struct {
		temp, power, thermal float64
		want                 []string
		status               model.Status
	}{
		{50, 10, 10, nil, model.NotReady},
		{50, 10, 10, nil, model.NotReady}, // the exporter repeats itself
		{51, 20, 10, []string{model.ThrottlePowerCap}, model.Measured},
		{51, 20, 10, []string{model.ThrottlePowerCap}, model.Measured},
		{52, 20, 11, []string{model.ThrottleThermal}, model.Measured},
		{53, 20, 11, []string{}, model.Measured},
		{54, 0, 0, nil, model.NotReady}, // it began anew
		{55, 0, 0, []string{}, model.Measured},
	} {
		d := p.poll(page(step.temp, step.power, step.thermal)).of("x")
		if d.ThrottleStatus != step.status || !slices.Equal(d.Throttle, step.want) {
			t.Errorf("page %d: %v %q, want %v %q", i, d.ThrottleStatus, d.Throttle, step.status, step.want)
		}
	}
	// A new series makes a new plan, which remembers.
	d := p.poll(page(56, 9, 0) + "DCGM_FI_DEV_SM_CLOCK{UUID=\"x\"} 1\n").of("x")
	if !slices.Equal(d.Throttle, []string{model.ThrottlePowerCap}) {
		t.Errorf("after a new plan: %v %q", d.ThrottleStatus, d.Throttle)
	}
}

// A server's page stays a server's though GPU figures stand on it as well, and a
// dialect may let a GPU exporter's speak.
func TestEngineBesideGPUs(t *testing.T) {
	body := "vllm:num_requests_running{model_name=\"m\"} 3\nDCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\"} 50\n"
	p := newGPUPoller(t).poll(body)
	if about := p.plan.About(nil); about.Engine != "vllm" || about.Kind != "" || p.devices != nil {
		t.Errorf("engine %q of kind %q with %d devices", about.Engine, about.Kind, len(p.devices))
	}
	p = newGPUPoller(t)
	if err := p.set.AddDir(files("both.yaml", "engine: vllm\nlike: vllm\nalso: [dcgm-exporter]\ndetect: {any: [\"*\"]}\n")); err != nil {
		t.Fatal(err)
	}
	p.poll(body).is("GPU-0", model.Busy, model.Measure(0.5))
	if about := p.plan.About(nil); about.Engine != "vllm" || about.Kind != "" || len(p.samples) != 1 {
		t.Errorf("engine %q of kind %q with %d samples", about.Engine, about.Kind, len(p.samples))
	}
}

// The exporter in the package comment works as it stands there.
func TestNewcomersExporter(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "//\tengine: bar-exporter\n")
	example, _, _ := strings.Cut(rest, "//\n")
	p := newGPUPoller(t)
	if err := p.set.AddDir(files("bar.yaml", "engine: bar-exporter\n"+strings.ReplaceAll(example, "//\t", ""))); err != nil {
		t.Fatal(err)
	}
	p.poll(`bar_utilization_percent{uuid="b-1",gpu="3",model="Bar 9"} 62.5
bar_memory_used_mib{uuid="b-1"} 2
bar_dram_active_ratio{uuid="b-1"} 0.25
`)
	p.is("b-1", model.Busy, model.Measure(0.625))
	p.is("b-1", model.MemUsed, model.Measure(2<<20))
	if d := p.of("b-1"); d.Index != 3 || d.Name != "Bar 9" || d.From[model.DRAMActive] != model.FromCounters || p.plan.About(nil).Kind != model.GPUTarget {
		t.Errorf("%+v", d)
	}
}

// Two devices of one name are told apart: a row that names another's would else
// overwrite it.
func TestTwoDevicesOfOneName(t *testing.T) {
	p := newGPUPoller(t).poll(`nvidia_smi_mig_info{uuid="a",gpu_instance_id="1",mig_uuid="m"} 1
nvidia_smi_mig_info{uuid="a",gpu_instance_id="2",mig_uuid="m"} 1
nvidia_smi_mig_memory_used_bytes{uuid="a",gpu_instance_id="2"} 7
`)
	p.is("MIG-m", model.MemUsed, status(model.NotExported))
	p.is("MIG-m#2", model.MemUsed, model.Measure(7))
}

// What a page may cost is bounded, and what is left out is told.
func TestBoundsOfDevices(t *testing.T) {
	var many, parts, pods strings.Builder
	for i := range maxDevices + 5 {
		fmt.Fprintf(&many, "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-%d\"} 1\n", i)
		fmt.Fprintf(&pods, "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\",namespace=\"n\",pod=\"%d\",container=\"c\"} 1\n", i)
		fmt.Fprintf(&parts, "nvidia_smi_mig_info{uuid=\"a\",gpu_instance_id=\"1\",compute_instance_id=\"%d\",mig_uuid=\"%d\"} 1\n", i, i)
	}
	p := newGPUPoller(t).poll(many.String())
	if len(p.devices) != maxDevices || !slices.Contains(p.plan.About(nil).Notes, "more than 2048 devices: the rest is not read") {
		t.Errorf("%d devices, notes %q", len(p.devices), p.plan.About(nil).Notes)
	}
	p = newGPUPoller(t).poll(parts.String())
	if len(p.devices) != 1+maxParts || !slices.Contains(p.plan.About(nil).Notes, "more than 16 parts of a slice: the rest is not read") {
		t.Errorf("%d devices, notes %q", len(p.devices), p.plan.About(nil).Notes)
	}
	p = newGPUPoller(t).poll(pods.String())
	if got := p.of("GPU-0").Pods; len(got) != maxPods+1 || got[maxPods] != "and 1989 more" {
		t.Errorf("%d pods: %q", len(got), got)
	}
	var processes strings.Builder
	for i := range maxProcesses + 5 {
		fmt.Fprintf(&processes, "nvidia_smi_compute_app_info{uuid=\"a\",pid=\"%d\"} 1\n", i+1)
	}
	p = newGPUPoller(t).poll(processes.String())
	if got := p.of("GPU-a").Processes; len(got) != maxProcesses || !slices.Contains(p.plan.About(nil).Notes, "more than 1024 processes on a device: the rest is not listed") {
		t.Errorf("%d processes, notes %q", len(got), p.plan.About(nil).Notes)
	}
	p = newGPUPoller(t).poll("all_smi_gpu_utilization 5\nall_smi_up 1\n")
	if len(p.devices) != 0 || !slices.Contains(p.plan.About(nil).Notes, "1 series of all_smi_gpu_utilization name no device") {
		t.Errorf("%d devices, notes %q", len(p.devices), p.plan.About(nil).Notes)
	}
}

func TestErrorsOfDevices(t *testing.T) {
	head := "engine: foo\nkind: gpu\n"
	for _, c := range []struct{ name, file, want string }{
		{"nothing to read", head, `foo.yaml:2:1: a target of kind gpu needs devices`},
		{"no name", head + "devices:\n  labels: {index: gpu}\n", `foo.yaml:3:1: labels: uuid is missing: it tells the devices apart`},
		{"a metric", head + "devices:\n  labels: {uuid: a}\n  metrics:\n    bussy: {from: a}\n", `foo.yaml:6:5: unknown key "bussy", did you mean "busy"?`},
		{"a label", head + "devices:\n  labels: {uid: a}\n", `foo.yaml:4:12: unknown key "uid", did you mean "uuid"?`},
		{"spellings", head + "devices:\n  labels: {uuid: 'a|'}\n", `foo.yaml:4:18: `},
		{"spellings as a list", head + "devices:\n  labels: {uuid: [a, b]}\n", `write the spellings of a label as a|b`},
		{"two ways in one", head + "devices:\n  labels: {uuid: a}\n  metrics:\n    busy: {from: a, sum: [b]}\n", `foo.yaml:6:11: busy: needs exactly one of from and sum`},
		{"an open name", head + "devices:\n  labels: {uuid: a}\n  metrics:\n    busy: {from: a*}\n", `foo.yaml:6:11: busy: "a*" names no single metric`},
		{"a reason", head + "devices:\n  labels: {uuid: a}\n  throttle: {from: a, bits: {powr cap: 1}}\n", `foo.yaml:5:30: unknown key "powr cap", did you mean "power cap"?`},
		{"a word", head + "devices:\n  labels: {uuid: a}\n  throttle: {from: a, label: l, words: {x: hot}}\n", `words: x: "hot" is none of power cap`},
		{"words of nothing", head + "devices:\n  labels: {uuid: a}\n  throttle: {from: a, words: {x: thermal}}\n", `words are those of a label`},
		{"bits of nothing", head + "devices:\n  labels: {uuid: a}\n  throttle: {bits: {thermal: 1}}\n", `bits and words need from`},
		{"bits that grow", head + "devices:\n  labels: {uuid: a}\n  throttle: {from: a, bits: {thermal: 1}, grows: true}\n", `grows is for flags`},
		{"no reasons", head + "devices:\n  labels: {uuid: a}\n  throttle: {from: a}\n", `needs exactly one of bits, words and flags`},
		{"slices of no name", head + "devices:\n  labels: {uuid: a}\n  slices: {called: MIG}\n", `slices: id is missing`},
		{"slices of no kind", head + "devices:\n  labels: {uuid: a}\n  slices: {id: i}\n", `slices: called is missing`},
		{"which slices", head + "devices:\n  labels: {uuid: a}\n  slices: {called: x, id: i, only: y}\n", `slices: "y" is no label="value"`},
		{"processes", head + "devices:\n  labels: {uuid: a}\n  processes: {from: a}\n", `processes: from and pid are needed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := builtinSet(t).AddDir(files("foo.yaml", c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

package tuitest

import (
	"fmt"
	"time"

	"slotop/model"
)

const gib = 1 << 30

// gpu is a GPU under load of which the driver's counters tell all there is.
func gpu(host string, i int, busy float64) model.DeviceView {
	of := 0
	for _, r := range host {
		of += int(r)
	}
	d := model.DeviceView{
		UUID: fmt.Sprintf("GPU-%04x%04x-9c1b-4f0a-8e21-5d2b7a9c0e1f", of&0xffff, i), Name: "NVIDIA H100 80GB HBM3", Target: "gpus", Host: model.Text(host),
		Index: model.Of(float64(i)), Bus: model.Text(fmt.Sprintf("00000000:%02X:00.0", 16*i+11)),
		State: model.DevicePresent, Since: ago(23 * time.Minute), GoodAt: ago(300 * time.Millisecond),
		Throttled: []string{}, Processes: []model.ProcessView{}, Pods: []string{}, Engines: []string{},
	}
	for m, v := range map[model.DeviceMetric]float64{
		model.Busy: busy, model.MemBusy: 0.48, model.SMActive: busy * 0.8, model.SMOccupancy: 0.22, model.TensorActive: busy * 0.31, model.DRAMActive: busy * 0.62,
		model.MemUsed: 68.4 * gib, model.MemTotal: 80 * gib, model.MemReserved: 0.6 * gib,
		model.Power: 512 * busy, model.PowerLimit: 700, model.Energy: 41.3e6, model.SMClock: 1980e6, model.SMClockMax: 1980e6,
		model.MemClock: 2619e6, model.MemClockMax: 2619e6, model.Temperature: 61, model.MemTemperature: 74,
		model.PCIeTx: 1.2e9, model.PCIeRx: 410e6, model.ECCErrors: 0,
	} {
		measure(&d, m, v)
	}
	for _, m := range []model.DeviceMetric{model.NVLinkTx, model.NVLinkRx, model.DRAMPeak} {
		lacking(&d, m, model.NotExported)
	}
	return d
}

func measure(d *model.DeviceView, m model.DeviceMetric, v float64) {
	d.Values[m] = model.DeviceValue{Reading: model.Of(v), Status: model.Measured}
}

func lacking(d *model.DeviceView, m model.DeviceMetric, why model.Status) {
	d.Values[m] = model.DeviceValue{Reading: model.DeviceReading{Status: why}.Reading(), Status: why}
}

// outdated makes a device's numbers those of a while ago.
func outdated(d *model.DeviceView, since time.Duration) {
	for m := range d.Values {
		if d.Values[m].OK() {
			d.Values[m].State = model.Stale
		}
	}
	d.GoodAt, d.Throttled = ago(since), nil
}

// gpuTarget is a target that tells of GPUs.
func gpuTarget(name string, id model.TargetID, engine model.Text) model.TargetView {
	return model.TargetView{
		Name: name, ID: id, Kind: model.GPUTarget, Engine: engine, State: model.Up, Since: ago(23 * time.Minute),
		LastGoodAt: ago(300 * time.Millisecond), TookS: model.Of(0.0121), Polls: 1447,
	}
}

// GPUs is two engines on a host of eight GPUs in every state there is, and another
// host whose exporter has fallen silent.
func GPUs() *model.Frame {
	f := Calm()
	f.Targets = append(f.Targets, gpuTarget("gpus", "nvml:", ""), gpuTarget("node-2:9400", "http://node-2:9400/metrics", "dcgm-exporter"))
	gone := &f.Targets[3]
	gone.State, gone.Since, gone.LastGoodAt, gone.FailedPolls = model.Down, ago(40*time.Second), ago(41*time.Second), 12
	gone.Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nothing listens at node-2:9400: is the exporter running?"}, LastGoodAt: gone.LastGoodAt}
	for i := range 8 {
		f.Devices = append(f.Devices, gpu("node-1", i, 0.97-0.01*float64(i)))
	}
	serve(f)
	trouble(f.Devices)
	slice := gpu("node-1", 20, 0.93)
	slice.UUID, slice.Parent, slice.Profile = "MIG-7b3c9a01-1f", model.Text(f.Devices[6].UUID), "3g.40gb"
	measure(&slice, model.MemTotal, 40*gib)
	measure(&slice, model.MemUsed, 21*gib)
	for _, m := range []model.DeviceMetric{model.Power, model.PowerLimit, model.SMClock, model.SMClockMax} {
		lacking(&slice, m, model.NotSupported)
	}
	other := gpu("node-1", 21, 0.02)
	other.UUID, other.Parent, other.Profile = "MIG-7b3c9a01-2f", model.Text(f.Devices[6].UUID), "3g.40gb"
	lacking(&other, model.Busy, model.NotSupported)
	f.Devices = append(f.Devices, slice, other)
	for i := range 2 {
		d := gpu("node-2", i, 0.5)
		d.Target, d.Stale = "node-2:9400", true
		outdated(&d, 41*time.Second)
		f.Devices = append(f.Devices, d)
	}
	f.DeviceSum = &model.DevicesView{
		Total: 9, Present: 6, Measured: 3, Busy: model.Of(0.96), PowerW: model.Of(3402), Used: model.Of(479 * gib), Memory: model.Of(560 * gib),
		TookS: model.Of(2), Bad: 3,
	}
	lostAlert := alert("gpu-lost/"+f.Devices[3].UUID, "gpu-lost", "", model.Page, model.AlertFiring, 72*time.Second, 72*time.Second,
		f.Devices[3].UUID+": GPU lost, bus 00000000:3B:00.0, on node-1, NVIDIA H100 80GB HBM3: GPU is lost")
	lostAlert.Target = model.Text(f.Devices[3].UUID)
	silent := alert("gpu-telemetry/node-2:9400", "gpu-telemetry", "", model.Warn, model.AlertFiring, 36*time.Second, 35*time.Second,
		"GPU telemetry lost: refused: nothing listens at node-2:9400: is the exporter running?")
	silent.Target = "node-2:9400"
	f.Alerts = []model.AlertView{lostAlert, silent}
	f.AlertLog = []model.AlertEvent{entered(silent, model.AlertFiring, 35*time.Second), entered(lostAlert, model.AlertFiring, 72*time.Second)}
	return f
}

// serve says which engine runs on which GPU.
func serve(f *model.Frame) {
	for i := range 4 {
		d, e := &f.Devices[i], &f.Targets[i/2]
		d.Engines, d.JoinedBy = []string{e.Name}, "process"
		d.Processes = []model.ProcessView{{PID: 4121 + i, Name: "VLLM::EngineCore", Memory: model.Of(67.9 * gib), Engine: model.Text(e.Name)}, {PID: 977, Name: "dcgm"}}
		d.Pods = []string{"inference/chat-0/vllm"}
		e.GPUs = append(e.GPUs, d.UUID)
	}
}

// trouble puts GPUs into every state.
func trouble(d []model.DeviceView) {
	d[0].Throttled = []string{model.ThrottlePowerCap}
	d[1].Throttled = []string{model.ThrottlePowerCap, model.ThrottleHWThermal}
	measure(&d[1], model.SMClock, 1410e6)
	measure(&d[1], model.Temperature, 91)
	d[3].State, d[3].Since, d[3].Detail = model.DeviceLost, ago(72*time.Second), "GPU is lost"
	outdated(&d[3], 73*time.Second)
	d[4].BadSamples, d[4].UnchangedS = 3, model.Of(24)
	lacking(&d[4], model.Busy, model.BadSample)
	lacking(&d[4], model.TensorActive, model.NotPermitted)
	lacking(&d[4], model.DRAMActive, model.NotPermitted)
	lacking(&d[4], model.Temperature, model.Failing)
	lacking(&d[4], model.PowerLimit, model.NotReady)
	d[5].NotCredible, d[5].Throttled, d[5].Name, d[5].Shared = true, nil, "NVIDIA GB10", true
	d[5].Engines, d[5].JoinedBy = []string{"vllm-0:8000", "vllm-1:8000"}, "host"
	measure(&d[5], model.Busy, 0)
	for _, m := range []model.DeviceMetric{model.MemUsed, model.MemTotal, model.MemReserved, model.TensorActive, model.DRAMActive, model.PowerLimit} {
		lacking(&d[5], m, model.NotSupported)
	}
	lacking(&d[6], model.Busy, model.NotSupported)
	lacking(&d[6], model.MemBusy, model.NotSupported)
	d[6].Slices = 2
	d[7].State, d[7].Detail = model.DeviceUnsupported, "the driver has no readings of it: not a discrete GPU"
	for m := range model.NumDeviceMetrics {
		lacking(&d[7], m, model.NotSupported)
	}
}

// OnlyGPUs is a host of four GPUs, and nothing else.
func OnlyGPUs() *model.Frame {
	f := base()
	f.Targets = []model.TargetView{gpuTarget("gpus", "nvml:", "nvml")}
	for i := range 4 {
		d := gpu("", i, 0.9)
		f.Devices = append(f.Devices, d)
	}
	f.DeviceSum = &model.DevicesView{Total: 4, Present: 4, Measured: 4, Busy: model.Of(0.9), PowerW: model.Of(1843), Used: model.Of(274 * gib), Memory: model.Of(320 * gib), TookS: model.Of(0.02)}
	return f
}

// ManyGPUs is a fleet of hosts with eight GPUs each.
func ManyGPUs(hosts int) *model.Frame {
	f := Calm()
	for h := range hosts {
		host := fmt.Sprintf("gpu-node-%d.example", h)
		f.Targets = append(f.Targets, gpuTarget(host+":9400", model.TargetID("http://"+host+":9400/metrics"), "dcgm-exporter"))
		for i := range 8 {
			d := gpu(host, i, 0.5)
			d.UUID, d.Target = fmt.Sprintf("GPU-%04x%04x-1", h, i), host+":9400"
			f.Devices = append(f.Devices, d)
		}
	}
	n := 8 * hosts
	f.DeviceSum = &model.DevicesView{Total: n, Present: n, Measured: n, Busy: model.Of(0.5)}
	return f
}

// hostileGPUs puts the names wherever a device has a text.
func hostileGPUs(f *model.Frame, names []string) {
	for i, n := range names {
		d := gpu(n, i, 0.5)
		text := model.Text(n)
		d.UUID, d.Name, d.Host, d.Target, d.Bus, d.Detail, d.Profile = "GPU-"+n, text, text, n, text, text, text
		d.Throttled, d.Engines, d.Pods, d.JoinedBy = []string{n}, []string{n, n}, []string{n}, text
		d.Processes = []model.ProcessView{{PID: 1 << 30, Name: text, Engine: text, Memory: model.Of(1e30)}}
		switch i % 4 {
		case 1:
			d.State = model.DeviceLost
		case 2:
			d.Stale = true
		case 3:
			d.Parent = model.Text("GPU-" + names[0])
		}
		f.Devices = append(f.Devices, d)
	}
	f.DeviceSum = &model.DevicesView{Total: len(names), Present: 2, Measured: 2, Busy: model.Of(0.5), Bad: 1e9, TookS: model.Of(1e6)}
}

package fleet

import (
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// joints is "device: engines by ways" of each device, and "engine: devices".
func joints(f *model.Frame) string {
	var out []string
	for _, d := range f.Devices {
		if len(d.Engines) > 0 {
			out = append(out, d.UUID[len(d.UUID)-1:]+": "+strings.Join(d.Engines, " ")+" by "+string(d.JoinedBy))
		}
	}
	return strings.Join(out, "; ")
}

func listening(d model.Device, ports ...int) model.Device {
	d.Processes = append(d.Processes, model.Process{PID: 100 + len(d.Processes), Name: "python3", Serves: ports})
	return d
}

func on(host string, d model.Device) model.Device {
	d.Host = host
	return d
}

func TestJoins(t *testing.T) {
	one, two, three := gpu("GPU-00000001-1", 0, 0.5), gpu("GPU-00000002-2", 1, 0.5), gpu("GPU-00000003-3", 2, 0.5)
	local, port1 := "http://localhost:8000/metrics", "http://127.0.0.1:8001/metrics"
	configured := func(e model.Target, gpus string) model.Target { e.GPUs = gpus; return e }
	tests := []struct {
		name    string
		gpus    model.Target
		devices []model.Device
		engines []model.Target
		want    string
	}{
		{"one engine on this host", gpuTarget("nvml:"), []model.Device{one, two}, []model.Target{engineAt("e", local)},
			"1: e by host; 2: e by host"},
		{"two engines on two GPUs: nobody knows", gpuTarget("nvml:"), []model.Device{one, two},
			[]model.Target{engineAt("e", local), engineAt("g", port1)}, ""},
		{"two engines on one GPU", gpuTarget("nvml:"), []model.Device{one},
			[]model.Target{engineAt("e", local), engineAt("g", port1)}, "1: e g by host"},
		{"by the ports of processes", gpuTarget("nvml:"), []model.Device{listening(one, 8000), listening(listening(two, 8001), 9999)},
			[]model.Target{engineAt("e", local), engineAt("g", port1)}, "1: e by process; 2: g by process"},
		{"the one of which nothing is known has what is left", gpuTarget("nvml:"), []model.Device{listening(one, 8000), two, three},
			[]model.Target{engineAt("e", local), engineAt("g", port1)}, "1: e by process; 2: g by host; 3: g by host"},
		{"a process of this host is none of another's engine", gpuTarget("nvml:"), []model.Device{listening(one, 8000)},
			[]model.Target{engineAt("far", "http://other:8000/metrics")}, ""},
		{"an exporter on the engine's host", gpuTarget("http://Node-1:9400/metrics"), []model.Device{one},
			[]model.Target{engineAt("e", "http://node-1:8000/metrics"), engineAt("far", "http://node-2:8000/metrics")}, "1: e by host"},
		{"the host that an exporter names", gpuTarget("http://10.0.0.9:9400/metrics"), []model.Device{on("node-1", one)},
			[]model.Target{engineAt("e", "https://node-1/llm/metrics")}, "1: e by host"},
		{"an exporter for several hosts is on none of them", gpuTarget("http://node-1:9400/metrics"), []model.Device{on("node-2", one), on("node-3", two)},
			[]model.Target{engineAt("e", "http://node-1:8000/metrics"), engineAt("g", "http://node-3:8000/metrics")}, "2: g by host"},
		{"by configuration, over all else", gpuTarget("nvml:"), []model.Device{listening(one, 8000), two, three},
			[]model.Target{configured(engineAt("e", local), "gpu-00000002-2 GPU-00000003-3")}, "2: e by configuration; 3: e by configuration"},
		{"by the name of a target", gpuTarget("nvml:"), []model.Device{one, two},
			[]model.Target{configured(engineAt("e", "http://elsewhere:1/metrics"), "other nvml:")}, "1: e by configuration; 2: e by configuration"},
		{"a configuration that names nothing known", gpuTarget("nvml:"), []model.Device{one},
			[]model.Target{configured(engineAt("e", local), "GPU-00000009-9")}, ""},
		{"a saved page is nowhere", gpuTarget("gpu.prom"), []model.Device{one}, []model.Target{engineAt("e", "engine.prom")}, ""},
		{"a gateway runs on no GPU", gpuTarget("nvml:"), []model.Device{one},
			[]model.Target{{ID: model.TargetID(local), Name: "g", Kind: model.GatewayTarget}}, ""},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newGPUBench(t, time.Second, append(c.engines, c.gpus)...)
			b.gpus(string(c.gpus.ID), c.devices...)
			f := b.tick()
			if got := joints(f); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, v := range f.Targets {
				want := strings.Count(c.want, " "+v.Name+" ")
				if len(v.GPUs) != want {
					t.Errorf("%s runs on %v, want %d", v.Name, v.GPUs, want)
				}
			}
		})
	}
}

// A process is named after the engine that it is, and only where that is known.
func TestProcessesAreEngines(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"), engineAt("e", "http://localhost:8000/metrics"))
	b.gpus("nvml:", listening(listening(gpu("GPU-00000001-1", 0, 0.5), 8000), 22))
	got := b.tick().Devices[0].Processes
	if len(got) != 2 || got[0].Engine != "e" || got[1].Engine != "" {
		t.Errorf("%+v", got)
	}
}

// What ran on a GPU when it was lost, or when its telemetry was, is still joined.
func TestWhatRanOnALostGPU(t *testing.T) {
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"), engineAt("e", "http://localhost:8000/metrics"), engineAt("g", "http://localhost:8001/metrics"))
	one, two := listening(gpu("GPU-00000001-1", 0, 0.5), 8000), listening(gpu("GPU-00000002-2", 1, 0.5), 8001)
	b.gpuRound("nvml:", one, two)
	f := b.gpuRound("nvml:", lost("GPU-00000001-1", 0), two)
	if got := joints(f); got != "1: e by process; 2: g by process" || len(f.Devices[0].Processes) != 0 {
		t.Errorf("got %q, processes %+v", got, f.Devices[0].Processes)
	}
	if a := firingOf(f, "gpu-lost"); len(a) != 1 || !strings.HasPrefix(a[0].Text, "GPU-00000001-1: GPU lost, bus 00000000:0B:00.0, ran e, ") {
		t.Errorf("alerts %+v", a)
	}
	b.fail("nvml:", model.Refused)
	if got := joints(b.tick()); got != "1: e by process; 2: g by process" {
		t.Errorf("without telemetry: %q", got)
	}
}

// A slice with the engine's process is joined, and its GPU is not.
func TestSliceByProcess(t *testing.T) {
	slice := listening(model.Device{UUID: "MIG-00000007-7", Parent: "GPU-00000001-1"}, 8000)
	b := newGPUBench(t, time.Second, gpuTarget("nvml:"), engineAt("e", "http://localhost:8000/metrics"))
	b.gpus("nvml:", gpu("GPU-00000001-1", 0, 0), slice)
	if got := joints(b.tick()); got != "7: e by process" {
		t.Errorf("got %q", got)
	}
}

// What a configuration names and nobody tells of is said.
func TestConfiguredGPUThatNobodyKnows(t *testing.T) {
	e := engineAt("e", "http://h:8000/metrics")
	e.GPUs = "GPU-00000001-1 GPU-00000009-9 nvml:"
	b := newGPUBench(t, time.Second, e, gpuTarget("nvml:"))
	b.poll("http://h:8000/metrics")
	if got := b.tick().Targets[0].Notes; len(got) != 0 {
		t.Errorf("before all have been asked: %q", got)
	}
	for range 2 {
		b.gpus("nvml:", gpu("GPU-00000001-1", 0, 0.5))
		if got := b.tick().Targets[0].Notes; len(got) != 1 || got[0] != "configured to run on GPU-00000009-9, and no target tells of such a GPU" {
			t.Errorf("notes %q", got)
		}
	}
}

func TestPlaces(t *testing.T) {
	for id, want := range map[string]place{
		"http://vllm-0:8000/metrics":        {"vllm-0", 8000},
		"https://VLLM.example./llm/metrics": {"vllm.example", 443},
		"stats+https://gw/stats":            {"gw", 443},
		"http://[::1]:9/metrics":            {thisHost, 9},
		"http://127.0.0.1:8000/metrics":     {thisHost, 8000},
		"http://h/metrics":                  {"h", 80},
		"pages/a.prom":                      {},
		"http://":                           {},
		"http://a b:1/":                     {},
	} {
		if got := placeOf(model.Target{ID: model.TargetID(id), Kind: model.EngineTarget}); got != want {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
	if got := placeOf(gpuTarget("nvml:/opt/libnvidia-ml.so.1")); got.host != thisHost {
		t.Errorf("nvml: is at %+v", got)
	}
}

package sources

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// The lists that the tool prints beside its tables, of every card that was captured.
func TestListsOfInstances(t *testing.T) {
	for file, want := range map[string]string{
		"h100.list.txt": "", "h200.list.txt": "", "l40s.list.txt": "", "rtx4080s.list.txt": "", "rtx2080s-windows.list.txt": "",
		"h100-mig.list.txt": "0 3g.40gb, 1 2g.20gb, 2 1g.10gb, 3 1g.10gb",
		"h200-mig.list.txt": "0 1c.3g.71gb, 1 2c.3g.71gb, 2 2g.35gb, 3 1g.18gb, 4 1g.18gb",
	} {
		var got []string
		for i, d := range smiInstances(string(shared.File(t, "corpus/gpu/nvidia-smi/"+file))) {
			got = append(got, fmt.Sprintf("%d %s", d.Index, d.Profile))
			if want := fmt.Sprintf("MIG-%08d-0000-0000-0000-%012d", i, i); d.UUID != want || d.Parent != "GPU-00000000-0000-0000-0000-000000000000" || !strings.HasPrefix(d.Name, "NVIDIA H") {
				t.Errorf("%s: %+v", file, d)
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: got %s, want %s", file, s, want)
		}
	}
}

func TestListsOfProcesses(t *testing.T) {
	const mib = 1 << 20
	for file, want := range map[string]string{
		"h100.idle": "", "h100-mig.idle": "", "l40s.idle": "",
		"h100.load":             "11327 memhog 2566, 11328 memhog 1542, 11345 gpu_burn 15690",
		"h100-mig.load":         "21180 memhog 2296, 21181 memhog 1272, 21198 gpu_burn 7484",
		"l40s.load":             "20037 ffmpeg 538, 20038 ffmpeg 681",
		"rtx2080s-windows.idle": "12444 TextInputHost.exe n/a, 2056 dwm.exe n/a, 12332 explorer.exe n/a, 14184 StartMenuExperienceHost.exe n/a",
		"rtx2080s-windows.load": "12444 TextInputHost.exe n/a, 2056 dwm.exe n/a, 12332 explorer.exe n/a, 14184 StartMenuExperienceHost.exe n/a, 25704 ffmpeg.exe n/a, 26660 ffmpeg.exe n/a",
	} {
		apps := readSMIApps(string(shared.File(t, "corpus/gpu/nvidia-smi/"+file+".compute-apps.csv")))
		var got []string
		for _, uuid := range slices.Sorted(maps.Keys(apps)) {
			for _, p := range apps[uuid] {
				memory := fmt.Sprint(p.Memory.Value / mib)
				if p.Memory.Status != model.Measured {
					memory = p.Memory.Status.String()
				}
				got = append(got, fmt.Sprintf("%d %s %s", p.PID, p.Name, memory))
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s:\ngot  %s\nwant %s", file, s, want)
		}
	}
}

// A process's name may hold what separates the columns; lines that are none are
// left out.
func TestOddListsOfProcesses(t *testing.T) {
	apps := readSMIApps("gpu_uuid, pid, process_name, used_gpu_memory [MiB]\r\n" +
		"GPU-AB, 7, /opt/my, own, server --x, 12 MiB\r\n" +
		"GPU-AB, 0, zero, 1 MiB\nGPU-AB, 4294967295, ones, 1 MiB\nGPU-AB, x, none, 1 MiB\nGPU-AB\n\nGPU-AB, 8, b, much\n")
	list := apps["GPU-ab"]
	if len(apps) != 1 || len(list) != 2 || list[0].PID != 7 || list[0].Name != "my, own, server --x" || list[0].Memory.Value != 12<<20 || list[1].Memory.Status != model.BadSample {
		t.Errorf("%+v", apps)
	}
	if got := readSMIApps("no list\nat all, of, anything, here\n"); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// What the tool says when it has no table is a fault with a cure. The texts of
// topo, nvlink, pmon and dmon are no source: they repeat, in whole numbers and
// without UUIDs, what the table says, or hold what no reading is made of.
func TestWhatIsNoTable(t *testing.T) {
	for file, want := range map[string]string{
		"reconstructed-error-bad-field":         "printed no table of GPUs: Field \"utilization.tensor\" is not a valid field",
		"reconstructed-error-driver-not-loaded": "not loaded: modprobe nvidia",
		"reconstructed-error-gpu-lost":          "tells of no GPU while one is lost",
		"reconstructed-error-no-devices":        "finds no GPU",
		"reconstructed-error-version-mismatch":  "library and kernel module of the NVIDIA driver differ",
		"h100.topo":                             "printed no table", "h200.topo": "printed no table", "h100.nvlink-s": "printed no table", "h200.nvlink-s": "printed no table",
		"h100.idle.dmon": "printed no table", "h100.load.dmon": "printed no table", "h100.idle.pmon": "printed no table", "h100.load.pmon": "printed no table",
		"h100-mig.idle.dmon": "printed no table", "h100-mig.load.dmon": "printed no table", "h100-mig.idle.pmon": "printed no table", "h100-mig.load.pmon": "printed no table",
		"l40s.idle.dmon": "printed no table", "l40s.load.dmon": "printed no table", "l40s.idle.pmon": "printed no table", "l40s.load.pmon": "printed no table",
		"rtx2080s-windows.idle.dmon": "printed no table", "rtx2080s-windows.load.dmon": "printed no table", "rtx2080s-windows.idle.pmon": "printed no table", "rtx2080s-windows.load.pmon": "printed no table",
	} {
		run := &smiRun{newest: make(chan []smiRow, 1), ended: make(chan struct{})}
		run.said = run.drain(strings.NewReader(string(shared.File(t, "corpus/gpu/nvidia-smi/"+file+".txt"))))
		close(run.ended)
		rows, said := run.next()
		if fault := smiFault(said); rows != nil || !strings.Contains(fault.Detail, want) {
			t.Errorf("%s: %d rows, %v", file, len(rows), fault)
		}
	}
}

// The tool prints one table after the other; the newest that is whole counts.
func TestTheNewestTableCounts(t *testing.T) {
	const heading = "count, index, uuid, utilization.gpu [%]\n"
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"two whole":   {heading + "2, 0, GPU-a, 1 %\n2, 1, GPU-b, 2 %\n2, 0, GPU-a, 3 %\n2, 1, GPU-b, 4 %\n", "GPU-a 0.03 GPU-b 0.04"},
		"no count":    {"uuid, utilization.gpu [%]\nGPU-a, 1 %\nGPU-b, 2 %\nGPU-a, 3 %\n", "GPU-a 0.03"},
		"new heading": {heading + "2, 0, GPU-a, 1 %\n" + heading + "2, 0, GPU-a, 5 %\n2, 1, GPU-b, 6 %\n", "GPU-a 0.05 GPU-b 0.06"},
		"no units":    {"uuid, utilization.gpu [%], memory.total [MiB]\nGPU-a, 7, 81559\n", "GPU-a 0.07"},
	} {
		run := &smiRun{newest: make(chan []smiRow, 1), ended: make(chan struct{})}
		run.drain(strings.NewReader(c.text))
		close(run.ended)
		rows, _ := run.next()
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%s %v", r.device.UUID, r.device.Readings[model.Busy].Value))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %s, want %s", name, s, c.want)
		}
	}
}

func FuzzSMITable(f *testing.F) {
	f.Add("uuid, index, utilization.gpu [%]\nGPU-1, 0, 5 %\nGPU-1, 0, [N/A]\n")
	f.Add("pci.bus_id, name, power.draw [W]\n00:01, a, 1 W\n, , \n")
	f.Fuzz(func(t *testing.T, text string) {
		var table smiTable
		seen := 0
		for line := range strings.Lines(text) {
			for _, r := range append(table.add(line), table.rows...) {
				d := r.shown()
				judge(&d)
				if d.UUID == "" || d.State == "" {
					t.Fatalf("a device without a name or a state: %+v", d)
				}
				for m, reading := range d.Readings {
					if reading.Status == model.Measured && !credible(model.DeviceMetric(m), reading.Value) {
						t.Fatalf("%v is measured as %v", model.DeviceMetric(m), reading.Value)
					}
				}
			}
			if seen++; len(table.rows) > maxGPUs || seen > 1000 {
				return
			}
		}
	})
}

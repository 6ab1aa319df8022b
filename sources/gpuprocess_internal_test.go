package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// hostTree is a /proc in which each process has a name, a parent and what it has
// open, and sockets listen on ports.
type hostTree struct {
	tb   testing.TB
	root string
}

func newHostTree(tb testing.TB, ports ...int) hostTree {
	h := hostTree{tb, tb.TempDir()}
	table := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	for i, port := range ports {
		table += fmt.Sprintf("   %d: 00000000:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 %d 1 0 100 0 0 10 0\n", i, port, inodeOf(port))
	}
	h.write("net/tcp", table)
	return h
}

func inodeOf(port int) int { return 100000 + port }

func (h hostTree) write(name, text string) {
	h.tb.Helper()
	path := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.tb.Fatal(err)
	}
}

func (h hostTree) process(pid, parent int, comm string, open ...any) {
	h.tb.Helper()
	h.write(fmt.Sprintf("%d/comm", pid), comm+"\n")
	h.write(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (%s) S %d 1 1 0", pid, comm, parent))
	fds := filepath.Join(h.root, fmt.Sprint(pid), "fd")
	_ = os.RemoveAll(fds)
	if err := os.MkdirAll(fds, 0o755); err != nil {
		h.tb.Fatal(err)
	}
	for i, what := range open {
		to := fmt.Sprint(what)
		if port, ok := what.(int); ok {
			to = fmt.Sprintf("socket:[%d]", inodeOf(port))
		}
		if err := os.Symlink(to, filepath.Join(fds, fmt.Sprint(i))); err != nil {
			h.tb.Skip("this system has no symbolic links")
		}
	}
}

func on(pids ...int) []model.Device {
	d := model.Device{UUID: "GPU-1"}
	for _, pid := range pids {
		d.Processes = append(d.Processes, model.Process{PID: pid, Name: "as the driver says"})
	}
	return []model.Device{d}
}

func TestProcessesByNameAndPort(t *testing.T) {
	h := newHostTree(t, 8000, 8001, 9090, 5555)
	const gpu = "/dev/nvidia0"
	h.process(1, 0, "init", 9090)
	h.process(10, 1, "bash")
	h.process(20, 10, "vllm serve) S 9", 8000)
	h.process(21, 20, "VLLM::EngineCore", 5555, gpu)
	h.process(22, 21, "VLLM::Worker_TP0", gpu, "/dev/null")
	h.process(30, 1, "llama-server", 8001, gpu)
	h.process(40, 1, "another's") // of this number, but without a GPU
	table := processTable{root: h.root}
	devices := on(22, 30, 40, 50)
	table.name(devices, 0)
	for i, want := range []model.Process{
		{PID: 22, Name: "VLLM::Worker_TP0", Serves: []int{5555, 8000}},
		{PID: 30, Name: "llama-server", Serves: []int{8001}},
		{PID: 40, Name: "as the driver says"},
		{PID: 50, Name: "as the driver says"},
	} {
		if got := devices[0].Processes[i]; got.PID != want.PID || got.Name != want.Name || !slices.Equal(got.Serves, want.Serves) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// An engine listens long after it has begun to use the GPU, and looking costs: it is
// looked at again after as long as it was there, unless the processes change.
func TestPortsAreLookedForAgain(t *testing.T) {
	h := newHostTree(t, 8000)
	h.process(30, 1, "vllm", "/dev/nvidia0")
	table := processTable{root: h.root}
	looks, before := 0, time.Duration(-1)
	for at := time.Duration(0); at < 20*time.Minute; at += time.Second {
		table.name(on(30), at)
		if table.next != before {
			looks++
			before = table.next
		}
	}
	if looks != 8 { // at 0, 10, 30, 70, 150, 310, 610 and 910 s
		t.Errorf("%d looks", looks)
	}
	h.process(30, 1, "vllm", "/dev/nvidia0", 8000)
	h.process(31, 1, "other", "/dev/nvidia0")
	devices := on(30, 31)
	table.name(devices, 20*time.Minute)
	if got := devices[0].Processes[0].Serves; !slices.Equal(got, []int{8000}) {
		t.Errorf("after the processes changed: %v", got)
	}
	table.name(nil, 21*time.Minute)
	if len(table.known) != 0 {
		t.Error("processes that are gone are remembered")
	}
}

// A loop of parents, and a host that tells nothing, do no harm.
func TestOddHosts(t *testing.T) {
	h := newHostTree(t, 8000)
	h.process(2, 3, "a", "/dev/nvidia0")
	h.process(3, 2, "b", 8000)
	table := processTable{root: h.root}
	devices := on(2)
	table.name(devices, 0)
	if got := devices[0].Processes[0].Serves; !slices.Equal(got, []int{8000}) {
		t.Error(got)
	}
	empty := processTable{root: filepath.Join(h.root, "none")}
	devices = on(2, 3)
	empty.name(devices, 0)
	if p := devices[0].Processes[0]; p.Name != "as the driver says" || p.Serves != nil {
		t.Errorf("%+v", p)
	}
}

func TestHostMemory(t *testing.T) {
	for name, c := range map[string]struct {
		text        string
		ok          bool
		total, used float64
	}{
		"linux":     {"MemTotal:       125829120 kB\nMemFree:  1 kB\nMemAvailable:   62914560 kB\n", true, 120 << 30, 60 << 30},
		"none":      {"", false, 0, 0},
		"no number": {"MemTotal: much kB\nMemAvailable: 1 kB\n", false, 0, 0},
		"upside":    {"MemTotal: 1 kB\nMemAvailable: 2 kB\n", false, 0, 0},
	} {
		h := newHostTree(t)
		h.write("meminfo", c.text)
		var d model.Device
		if ok := hostMemory(&d, h.root); ok != c.ok || d.Readings[model.MemTotal].Value != c.total || d.Readings[model.MemUsed].Value != c.used {
			t.Errorf("%s: %v, %v of %v", name, ok, d.Readings[model.MemUsed], d.Readings[model.MemTotal])
		}
	}
}

package sources

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"slotop/model"
	"slotop/sources/discover"
	"slotop/sources/nvml"
)

// runningOn lists the processes that compute on a device. Where it cannot be read
// now, those of the last time stay.
func runningOn(r *reading, d nvml.Device, last []model.Process) ([]model.Process, nvml.Return) {
	list, answer := r.driver.Processes(d, nil)
	if r.took(answer) != nvml.Success {
		if statusOf(answer) == model.NotReady {
			return last, answer
		}
		return nil, answer
	}
	var running []model.Process
	for _, p := range list {
		if !possiblePID(int64(p.PID)) {
			continue
		}
		memory := model.DeviceReading{Status: model.NotSupported}
		if p.Memory != nvml.Unavailable && p.Memory != 0 { // none that computes has none
			memory = model.Measure(float64(p.Memory))
		}
		running = append(running, model.Process{PID: int(p.PID), Memory: memory})
	}
	return running, answer
}

// possiblePID reports whether a process may have a number. 0 and all ones are what
// drivers say for one that they do not know.
func possiblePID(pid int64) bool { return pid > 0 && pid < math.MaxInt32 }

// processTable knows the processes on the GPUs by name, and the ports that they
// serve. It looks at nothing but what runs on a GPU, and what started that.
type processTable struct {
	root  string // /proc
	known map[int]hostProcess
	pids  []int
	next  time.Duration // when ports are looked for again
	wait  time.Duration
}

// hostProcess is what the host knows of a process.
type hostProcess struct {
	name   string
	serves []int
}

const (
	// firstLook is how long ports are not looked for again after the processes have
	// changed, lastLook how long at most: an engine listens minutes after it began to
	// load its model, and hardly ever changes its port.
	firstLook = 10 * time.Second
	lastLook  = 5 * time.Minute
	// maxProcessesNamed bounds the processes that are looked at.
	maxProcessesNamed = 256
	// maxAncestors bounds how far up a port is looked for: a worker's engine, its
	// server, and what starts that.
	maxAncestors = 4
)

// name fills in what the host knows of the processes on devices.
func (t *processTable) name(devices []model.Device, at time.Duration) {
	pids := pidsOn(devices)
	if changed := !slices.Equal(pids, t.pids); changed || len(pids) > 0 && at >= t.next {
		t.wait = min(2*t.wait, lastLook)
		if changed {
			t.wait = firstLook
		}
		t.pids, t.next = pids, at+t.wait
		t.look()
	}
	for i := range devices {
		devices[i].Processes = t.named(devices[i].Processes)
	}
}

// pidsOn are the processes on devices, each once, in order.
func pidsOn(devices []model.Device) []int {
	var pids []int
	for i := range devices {
		for _, p := range devices[i].Processes {
			pids = append(pids, p.PID)
		}
	}
	slices.Sort(pids)
	pids = slices.Compact(pids)
	return pids[:min(len(pids), maxProcessesNamed)]
}

func (t *processTable) named(list []model.Process) []model.Process {
	named := slices.Clone(list)
	for i := range named {
		p := t.known[named[i].PID]
		if p.name != "" {
			named[i].Name = p.name
		}
		named[i].Serves = p.serves
	}
	return named
}

// look finds out what the processes are called and which ports they serve.
func (t *processTable) look() {
	l := &hostLook{root: t.root, ports: portsOf(t.root), held: map[int]holding{}}
	t.known = make(map[int]hostProcess, len(t.pids))
	for _, pid := range t.pids {
		t.known[pid] = l.process(pid)
	}
}

// portsOf are the ports on which somebody listens, by the socket that does.
func portsOf(proc string) map[string]int {
	ports := map[string]int{}
	listening, err := discover.Listening(proc)
	if err != nil {
		return ports // without them a process only has no ports
	}
	for _, s := range listening {
		ports["socket:["+strconv.FormatUint(s.Inode, 10)+"]"] = int(s.Addr.Port())
	}
	return ports
}

// hostLook is one look at the host's processes.
type hostLook struct {
	root  string
	ports map[string]int
	held  map[int]holding // of the processes that were looked at
}

// holding is what a process has open.
type holding struct {
	known bool // it takes the same user or root to see
	gpu   bool
	ports []int
}

// process describes a process on a GPU. Drivers give the host's numbers: inside a
// container another process may have that number, one without a GPU.
func (l *hostLook) process(pid int) hostProcess {
	own := l.holds(pid)
	if own.known && !own.gpu {
		return hostProcess{}
	}
	serves := slices.Clone(own.ports)
	for up, n := l.parent(pid), 0; up > 1 && n < maxAncestors; up, n = l.parent(up), n+1 {
		serves = append(serves, l.holds(up).ports...)
	}
	slices.Sort(serves)
	comm := l.text(pid, "comm")
	return hostProcess{name: strings.TrimSpace(string(comm)), serves: slices.Compact(serves)}
}

// holds looks through what a process has open, once.
func (l *hostLook) holds(pid int) holding {
	if h, done := l.held[pid]; done {
		return h
	}
	h := l.open(pid)
	l.held[pid] = h
	return h
}

// maxDescriptors bounds the files of one process that are looked at: a server has one for
// each connection, and opens the socket it listens on before any of them.
const maxDescriptors = 1 << 14

func (l *hostLook) open(pid int) (h holding) {
	fds := filepath.Join(l.root, strconv.Itoa(pid), "fd")
	dir, err := os.Open(fds)
	if err != nil {
		return h
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(maxDescriptors)
	h.known = err == nil || errors.Is(err, io.EOF) // nothing at all
	for _, name := range names {
		what, err := os.Readlink(filepath.Join(fds, name))
		if err != nil {
			continue
		}
		h.gpu = h.gpu || strings.HasPrefix(what, "/dev/nv") || what == "/dev/dxg"
		if port, listens := l.ports[what]; listens {
			h.ports = append(h.ports, port)
		}
	}
	return h
}

// parent is the process that started another, 0 where that is not known.
func (l *hostLook) parent(pid int) int {
	stat := l.text(pid, "stat") // "42 (a name) S 1 …", and a name may hold anything
	after := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(after) < 2 {
		return 0
	}
	up, _ := strconv.Atoi(string(after[1]))
	return up
}

func (l *hostLook) text(pid int, file string) []byte {
	text, err := os.ReadFile(filepath.Join(l.root, strconv.Itoa(pid), file))
	if err != nil {
		return nil // it has ended
	}
	return text
}

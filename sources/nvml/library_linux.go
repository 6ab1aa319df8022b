//go:build linux && (amd64 || arm64) && !nonvml

package nvml

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// places are where the library lies: on the loader's own path, and where WSL, NixOS and
// hosts that only run containers keep it.
var places = []string{
	"libnvidia-ml.so.1",
	"/usr/lib/wsl/lib/libnvidia-ml.so.1",
	"/run/opengl-driver/lib/libnvidia-ml.so.1",
	"/usr/local/nvidia/lib64/libnvidia-ml.so.1",
}

// Open loads the library, from path where that is not empty. It calls nothing in
// it. The library stays loaded until the process ends: a call that hangs may
// still be inside.
func Open(path string) (Driver, error) {
	try := places
	if path != "" {
		try = []string{path}
	}
	// The reason for a failure is kept for each thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var first error
	for _, p := range try {
		handle, err := purego.Dlopen(p, purego.RTLD_LAZY|purego.RTLD_LOCAL)
		if err == nil {
			return bind(p, handle)
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("load NVIDIA's library: %w", first)
}

// function is one of the library's, with no address where the library lacks it.
type function struct {
	name    string
	address uintptr
}

// find looks up the first of a function's names that the library has.
func find(handle uintptr, names ...string) function {
	for _, name := range names {
		if address, err := purego.Dlsym(handle, name); err == nil {
			return function{name, address}
		}
	}
	return function{name: names[0]}
}

// library is a Driver by NVIDIA's own library.
type library struct {
	initialize, shutdown, version function
	count, handle, instance       function
	texts                         [Bus + 1]function
	numbers                       [numNumbers]function
	temperatureV, temperature     function
	utilization, memory2, memory1 function
	fields                        function
	processes2, processes1        function
	gpm, take, takeInstance       function
	newSample, freeSample         function
	metrics                       function

	doing atomic.Pointer[function]
	out   *out
}

// out is where calls write their answers: on the heap for good, so that nothing
// moves under a call that takes long.
type out struct {
	word     [2]uint32
	long     uint64
	address  uintptr
	text     [textSize]byte
	use      Utilization
	memory2  memory2
	memory1  memory1
	celsius  temperature
	support  gpmSupport
	pci      pciInfo
	metrics  metricsGet
	process2 []process2
	process1 []process1
}

var _ Driver = (*library)(nil)

// bind looks all functions up. A library without the first of them is none of
// NVIDIA's.
func bind(path string, handle uintptr) (*library, error) {
	f := func(names ...string) function { return find(handle, names...) }
	l := &library{
		initialize:   f("nvmlInit_v2", "nvmlInit"),
		shutdown:     f("nvmlShutdown"),
		version:      f("nvmlSystemGetDriverVersion"),
		count:        f("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
		handle:       f("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"),
		instance:     f("nvmlDeviceGetMigDeviceHandleByIndex"),
		temperatureV: f("nvmlDeviceGetTemperatureV"),
		temperature:  f("nvmlDeviceGetTemperature"),
		utilization:  f("nvmlDeviceGetUtilizationRates"),
		memory2:      f("nvmlDeviceGetMemoryInfo_v2"),
		memory1:      f("nvmlDeviceGetMemoryInfo"),
		fields:       f("nvmlDeviceGetFieldValues"),
		processes2:   f("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"),
		processes1:   f("nvmlDeviceGetComputeRunningProcesses"),
		gpm:          f("nvmlGpmQueryDeviceSupport"),
		take:         f("nvmlGpmSampleGet"),
		takeInstance: f("nvmlGpmMigSampleGet"),
		newSample:    f("nvmlGpmSampleAlloc"),
		freeSample:   f("nvmlGpmSampleFree"),
		metrics:      f("nvmlGpmMetricsGet"),
		out:          &out{process2: make([]process2, 64), process1: make([]process1, 64)},
	}
	l.texts = [...]function{
		Name: f("nvmlDeviceGetName"),
		UUID: f("nvmlDeviceGetUUID"),
		Bus:  f("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2"),
	}
	for n, row := range numbers {
		l.numbers[n] = f(row.names...)
	}
	for _, needed := range []function{l.initialize, l.count, l.handle, l.texts[UUID]} {
		if needed.address == 0 {
			return nil, fmt.Errorf("load NVIDIA's library: %s has no function %s", path, needed.name)
		}
	}
	return l, nil
}

// call calls a function if there is one.
//
//go:uintptrescapes
func (l *library) call(f *function, args ...uintptr) Return {
	if f.address == 0 {
		return FunctionNotFound
	}
	l.doing.Store(f)
	r, _, _ := purego.SyscallN(f.address, args...)
	l.doing.Store(nil)
	return Return(uint32(r))
}

// Doing reads what call notes.
func (l *library) Doing() string {
	if f := l.doing.Load(); f != nil {
		return f.name
	}
	return ""
}

// Init calls the newest form that there is.
func (l *library) Init() Return { return l.call(&l.initialize) }

// Shutdown leaves the library loaded.
func (l *library) Shutdown() Return { return l.call(&l.shutdown) }

// Version asks the library, which asks the kernel module.
func (l *library) Version() (string, Return) {
	r := l.call(&l.version, uintptr(unsafe.Pointer(&l.out.text)), textSize)
	return l.written(r)
}

// Count calls the newest form that there is.
func (l *library) Count() (int, Return) {
	r := l.call(&l.count, uintptr(unsafe.Pointer(&l.out.word)))
	return int(l.out.word[0]), r
}

// Handle calls the newest form that there is.
func (l *library) Handle(index int) (Device, Return) {
	r := l.call(&l.handle, uintptr(index), uintptr(unsafe.Pointer(&l.out.address)))
	return Device(l.out.address), r
}

// Instance needs a driver that knows MIG.
func (l *library) Instance(gpu Device, slot int) (Device, Return) {
	r := l.call(&l.instance, uintptr(gpu), uintptr(slot), uintptr(unsafe.Pointer(&l.out.address)))
	return Device(l.out.address), r
}

// Text reads the PCI address out of a structure, which is shorter on old drivers.
func (l *library) Text(d Device, what Text) (string, Return) {
	if what == Bus {
		l.out.pci = pciInfo{}
		r := l.call(&l.texts[Bus], uintptr(d), uintptr(unsafe.Pointer(&l.out.pci)))
		if l.out.pci.bus[0] == 0 { // the older form has the short address only
			return ended(l.out.pci.legacy[:]), r
		}
		return ended(l.out.pci.bus[:]), r
	}
	r := l.call(&l.texts[what], uintptr(d), uintptr(unsafe.Pointer(&l.out.text)), textSize)
	return l.written(r)
}

// written is the text that a call wrote.
func (l *library) written(r Return) (string, Return) {
	if r != Success {
		return "", r
	}
	return ended(l.out.text[:]), r
}

// ended is a text up to its final zero.
func ended(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// Number calls a function as the table of numbers says.
func (l *library) Number(d Device, what Number) (uint64, Return) {
	row, f := &numbers[what], &l.numbers[what]
	word := uintptr(unsafe.Pointer(&l.out.word))
	switch {
	case row.wide && len(row.before) == 0:
		return l.long(l.call(f, uintptr(d), uintptr(unsafe.Pointer(&l.out.long))))
	case row.wide:
		return l.long(l.call(f, uintptr(d), row.before[0], row.before[1], uintptr(unsafe.Pointer(&l.out.long))))
	case row.pair:
		r := l.call(f, uintptr(d), word, uintptr(unsafe.Pointer(&l.out.word[1])))
		return 100*uint64(l.out.word[0]) + uint64(l.out.word[1]), r
	case row.second:
		return l.word(l.call(f, uintptr(d), word, uintptr(unsafe.Pointer(&l.out.word[1]))))
	case len(row.before) == 0:
		return l.word(l.call(f, uintptr(d), word))
	default:
		return l.word(l.call(f, uintptr(d), row.before[0], word))
	}
}

func (l *library) long(r Return) (uint64, Return) { return l.out.long, r }
func (l *library) word(r Return) (uint64, Return) { return uint64(l.out.word[0]), r }

// Temperature calls the older form where a card does not have the newer.
func (l *library) Temperature(d Device) (int, Return) {
	l.out.celsius = temperature{version: temperatureVersion}
	r := l.call(&l.temperatureV, uintptr(d), uintptr(unsafe.Pointer(&l.out.celsius)))
	if !older(r) {
		return int(l.out.celsius.celsius), r
	}
	const chip = 0 // NVML_TEMPERATURE_GPU
	r = l.call(&l.temperature, uintptr(d), chip, uintptr(unsafe.Pointer(&l.out.word)))
	return int(int32(l.out.word[0])), r
}

// older reports whether an older form of a function may answer where a newer one
// did not.
func older(r Return) bool {
	switch r {
	case NotSupported, FunctionNotFound, ArgumentVersionMismatch, Deprecated:
		return true
	}
	return false
}

// Utilization reads both shares in one call.
func (l *library) Utilization(d Device) (Utilization, Return) {
	r := l.call(&l.utilization, uintptr(d), uintptr(unsafe.Pointer(&l.out.use)))
	return l.out.use, r
}

// Memory calls the older form where a card does not have the newer.
func (l *library) Memory(d Device) (Memory, Return) {
	l.out.memory2 = memory2{version: memoryVersion}
	r := l.call(&l.memory2, uintptr(d), uintptr(unsafe.Pointer(&l.out.memory2)))
	if !older(r) {
		m := &l.out.memory2
		return Memory{m.total, m.reserved, m.free, m.used, true}, r
	}
	r = l.call(&l.memory1, uintptr(d), uintptr(unsafe.Pointer(&l.out.memory1)))
	m := &l.out.memory1
	return Memory{Total: m.total, Free: m.free, Used: m.used}, r
}

// Fields hands the fields to the library as they are.
func (l *library) Fields(d Device, fields []Field) Return {
	if len(fields) == 0 {
		return Success
	}
	return l.call(&l.fields, uintptr(d), uintptr(len(fields)), uintptr(unsafe.Pointer(&fields[0])))
}

// Processes asks for the shorter form where a driver does not have the longer.
func (l *library) Processes(d Device, to []Process) ([]Process, Return) {
	to, r := list(l, &l.processes2, d, &l.out.process2, to)
	if older(r) {
		return list(l, &l.processes1, d, &l.out.process1, to)
	}
	return to, r
}

// list calls a function that fills an array and says how long it should be. The
// array grows as it must: some more may come meanwhile.
func list[T interface{ process() Process }](l *library, f *function, d Device, room *[]T, to []Process) ([]Process, Return) {
	for {
		n := len(*room)
		l.out.word[0] = uint32(n)
		r := l.call(f, uintptr(d), uintptr(unsafe.Pointer(&l.out.word)), uintptr(unsafe.Pointer(&(*room)[0])))
		wanted := int(l.out.word[0])
		if r == InsufficientSize && n < maxProcesses {
			*room = make([]T, min(max(wanted+wanted/4, 2*n), maxProcesses))
			continue
		}
		if r != Success {
			return to, r
		}
		for _, p := range (*room)[:min(wanted, n)] {
			to = append(to, p.process())
		}
		return to, r
	}
}

func (p process2) process() Process { return Process{p.pid, p.memory} }
func (p process1) process() Process { return Process{p.pid, p.memory} }

// GPM asks for support in the structure that the library wants.
func (l *library) GPM(d Device) (bool, Return) {
	l.out.support = gpmSupport{version: gpmVersion}
	r := l.call(&l.gpm, uintptr(d), uintptr(unsafe.Pointer(&l.out.support)))
	return r == Success && l.out.support.supported == 1, r
}

// NewSample takes memory of the library's.
func (l *library) NewSample() (Sample, Return) {
	r := l.call(&l.newSample, uintptr(unsafe.Pointer(&l.out.address)))
	return Sample(l.out.address), r
}

// FreeSample gives it back.
func (l *library) FreeSample(s Sample) Return { return l.call(&l.freeSample, uintptr(s)) }

// Take reads the counters of a whole GPU.
func (l *library) Take(d Device, s Sample) Return {
	return l.call(&l.take, uintptr(d), uintptr(s))
}

// TakeInstance reads those of an instance, by its GPU.
func (l *library) TakeInstance(d Device, instance uint32, s Sample) Return {
	return l.call(&l.takeInstance, uintptr(d), uintptr(instance), uintptr(s))
}

// Metrics copies: the library's structure holds the metrics itself.
func (l *library) Metrics(from, to Sample, metrics []Metric) Return {
	q := &l.out.metrics
	n := copy(q.metrics[:], metrics)
	q.version, q.number, q.from, q.to = gpmVersion, uint32(n), from, to
	r := l.call(&l.metrics, uintptr(unsafe.Pointer(q)))
	copy(metrics, q.metrics[:n])
	return r
}

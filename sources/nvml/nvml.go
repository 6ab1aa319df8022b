// Package nvml is a thin binding of NVIDIA's management library, libnvidia-ml.
// It opens the library, looks up each function by name and hands on what a call
// answers. It needs neither cgo nor the library to be built, never calls a
// function that the library lacks, and decides nothing: what a return code means
// for a reading is its caller's to say.
package nvml

import "errors"

// ErrUnbound says that this build cannot load the library: it is for another
// system or processor, or was made with the tag nonvml.
var ErrUnbound = errors.New("this build has no binding of NVIDIA's library")

// Device is the library's handle of a GPU or of a MIG instance. It is good until
// Shutdown.
type Device uintptr

// Sample is the library's buffer of one reading of the performance counters.
type Sample uintptr

// Driver is the library once it is loaded. A Driver is used by one goroutine at a
// time, Doing excepted. Calls may block for as long as the driver likes.
type Driver interface {
	// Init starts the library. Until it succeeds nothing else may be asked.
	Init() Return
	// Shutdown ends what Init began; all handles are void then.
	Shutdown() Return
	// Version is the driver's: "550.163.01".
	Version() (string, Return)
	// Count is how many GPUs there are, lost ones mostly included.
	Count() (int, Return)
	// Handle finds the GPU with the library's number index, which may change.
	Handle(index int) (Device, Return)
	// Instance finds the MIG instance in a slot of a GPU; slots may be empty.
	Instance(gpu Device, slot int) (Device, Return)

	Text(d Device, what Text) (string, Return)
	Number(d Device, what Number) (uint64, Return)
	// Temperature is in degrees Celsius.
	Temperature(d Device) (int, Return)
	Utilization(d Device) (Utilization, Return)
	Memory(d Device) (Memory, Return)
	// Fields reads each of the fields; the return of each is in it, and counts only
	// where the call itself succeeds. Without fields it asks nothing.
	Fields(d Device, fields []Field) Return
	// Processes appends those that compute on a device, of at most maxProcesses.
	Processes(d Device, to []Process) ([]Process, Return)

	// GPM reports whether a GPU has the performance counters.
	GPM(d Device) (bool, Return)
	NewSample() (Sample, Return)
	FreeSample(s Sample) Return
	// Take reads the counters of a GPU into a sample.
	Take(d Device, s Sample) Return
	// TakeInstance reads those of one GPU instance of it.
	TakeInstance(d Device, instance uint32, s Sample) Return
	// Metrics works out each of the metrics between two samples, at most maxMetrics.
	Metrics(from, to Sample, metrics []Metric) Return

	// Doing names the function that is being called now, "" when none is. It may be
	// asked at any time, also by others.
	Doing() string
}

// Text is something that a device says in words.
type Text uint8

// What devices say in words. Bus is the PCI address: "00000000:1A:00.0".
const (
	Name Text = iota
	UUID
	Bus
)

// Number is a reading that is one whole number.
type Number uint8

// The numbers.
const (
	Power          Number = iota // mW, by product the last second's mean or of the moment
	PowerLimit                   // mW, enforced
	Energy                       // mJ since the driver was loaded
	SMClock                      // MHz
	MemClock                     // MHz
	SMClockMax                   // MHz
	MemClockMax                  // MHz
	EventReasons                 // a mask of Event bits
	ECCUncorrected               // since the driver was loaded
	MigMode                      // 1 where the GPU is divided
	MigSlots                     // how many instances it may have at most
	BusWidth                     // bits, of the memory
	Capability                   // compute capability: 100 × major + minor
	Cores                        // CUDA cores
	GPUInstance                  // number of the GPU instance that a MIG instance is part of
	numNumbers
)

// Why a GPU's clocks are what they are, as bits of EventReasons.
const (
	EventPowerCap  = 0x4  // software power cap
	EventSlowdown  = 0x8  // hardware slowdown
	EventThermal   = 0x20 // software thermal slowdown
	EventHWThermal = 0x40
	EventBrake     = 0x80 // hardware power brake
)

// Utilization are percentages of the library's own sample period: of the time in
// which a kernel ran, and in which the memory was read or written.
type Utilization struct{ GPU, Memory uint32 }

// Memory is in bytes. Reserved is what the driver keeps for itself; an old driver
// says it only as a part of Used, and Split is false then.
type Memory struct {
	Total, Reserved, Free, Used uint64
	Split                       bool
}

// Unavailable is what the library says for a number of bytes that it does not know.
const Unavailable = ^uint64(0)

// Process is one that computes on a device. Memory is in bytes or Unavailable.
type Process struct {
	PID    uint32
	Memory uint64
}

// Field is one value out of many that are read in one call, in the library's own
// layout (nvmlFieldValue_t). The caller sets ID and Scope.
type Field struct {
	ID        uint32
	Scope     uint32
	Timestamp int64 // microseconds since 1970, when it was read
	latency   int64
	kind      uint32 // nvmlValueType_t
	Return    Return
	value     uint64 // the union's bytes, of a little-endian machine
}

// The fields that are used. Their numbers are the library's.
const (
	FieldMemTemperature = 82  // °C
	FieldEnergy         = 83  // mJ since the driver was loaded
	FieldNVLinkTx       = 138 // KiB, a counter; Scope is the link or AllLinks
	FieldNVLinkRx       = 139 // KiB
	FieldPowerInstant   = 186 // mW; Scope 0 is the GPU
	FieldPCIeTx         = 197 // bytes, a counter that may wrap
	FieldPCIeRx         = 198 // bytes
)

// AllLinks is the Scope that sums a counter up over a GPU's links.
const AllLinks = ^uint32(0)

// The kinds of values, as the library numbers them. A double, 0, is no whole number.
const (
	kindUint32 = 1
	kindUlong  = 2 // 64 bits on Linux
	kindUint64 = 3
	kindInt64  = 4
	kindInt32  = 5
	kindUint16 = 6
)

// Uint is the field's value where it is a whole number and not negative.
func (f *Field) Uint() (uint64, bool) {
	switch f.kind {
	case kindUint32:
		return uint64(uint32(f.value)), true
	case kindUint16:
		return uint64(uint16(f.value)), true
	case kindUlong, kindUint64:
		return f.value, true
	case kindInt64:
		return f.value, int64(f.value) >= 0
	case kindInt32:
		return uint64(uint32(f.value)), int32(uint32(f.value)) >= 0
	default:
		return 0, false
	}
}

// Wide reports whether the value has 64 bits: a counter with fewer may go round
// more often than it is read.
func (f *Field) Wide() bool {
	return f.kind == kindUlong || f.kind == kindUint64 || f.kind == kindInt64
}

// Metric is one that is worked out of two samples, in the library's own layout
// (nvmlGpmMetric_t). The caller sets ID; Value counts only where Return is Success.
type Metric struct {
	ID     uint32
	Return Return
	Value  float64 // utilizations 0–100, rates MiB/s
	info   [3]uintptr
}

// The metrics that are used. Their numbers are the library's.
const (
	MetricGraphics  = 1 // time in which anything ran
	MetricSM        = 2
	MetricOccupancy = 3
	MetricTensor    = 5  // any kind of tensor operation
	MetricDRAM      = 10 // of the bandwidth
	MetricPCIeTx    = 20
	MetricPCIeRx    = 21
	MetricNVLinkRx  = 60
	MetricNVLinkTx  = 61
)

const (
	maxMetrics   = 512 // the library's own array has fewer
	maxProcesses = 4096
)

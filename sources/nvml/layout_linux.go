//go:build linux && (amd64 || arm64) && !nonvml

package nvml

// The library's structures, as its header declares them for 64-bit systems. A test
// compares every size and offset with testdata/layout.txt, which in turn is made
// from the header.
type (
	// nvmlMemory_v2_t
	memory2 struct {
		version                     uint32
		total, reserved, free, used uint64
	}
	// nvmlMemory_t
	memory1 struct{ total, free, used uint64 }

	// nvmlProcessInfo_v2_t, also of the third version of the function
	process2 struct {
		pid    uint32
		memory uint64
		_, _   uint32 // the GPU instance and the compute instance
	}
	// nvmlProcessInfo_v1_t
	process1 struct {
		pid    uint32
		memory uint64
	}

	// nvmlTemperature_v1_t
	temperature struct {
		version, sensor uint32
		celsius         int32
	}

	// nvmlPciInfo_t
	pciInfo struct {
		legacy                            [16]byte
		domain, number, device, id, subID uint32
		bus                               [32]byte
	}

	// nvmlGpmSupport_t
	gpmSupport struct{ version, supported uint32 }

	// nvmlGpmMetricsGet_t; the library's array has grown with every release, and it
	// reads no further than number.
	metricsGet struct {
		version, number uint32
		from, to        Sample
		metrics         [maxMetrics]Metric
	}
)

// A structure's version is its size with the number of its form in the top byte,
// for all but the performance counters.
const (
	memoryVersion      = 40 | 2<<24
	temperatureVersion = 12 | 1<<24
	gpmVersion         = 1
)

// textSize is enough for any text of the library: the longest are names and UUIDs,
// of up to 96 bytes.
const textSize = 128

// numbers says how each number is asked for.
var numbers = [numNumbers]struct {
	names  []string  // of the function, newest first
	before []uintptr // arguments between the device and the answer
	wide   bool      // the answer has 64 bits, otherwise 32
	second bool      // there is a second answer, which nobody wants
	pair   bool      // there is a second answer, the smaller part of the first
}{
	Power:          {names: []string{"nvmlDeviceGetPowerUsage"}},
	PowerLimit:     {names: []string{"nvmlDeviceGetEnforcedPowerLimit"}},
	Energy:         {names: []string{"nvmlDeviceGetTotalEnergyConsumption"}, wide: true},
	SMClock:        {names: []string{"nvmlDeviceGetClockInfo"}, before: []uintptr{clockSM}},
	MemClock:       {names: []string{"nvmlDeviceGetClockInfo"}, before: []uintptr{clockMem}},
	SMClockMax:     {names: []string{"nvmlDeviceGetMaxClockInfo"}, before: []uintptr{clockSM}},
	MemClockMax:    {names: []string{"nvmlDeviceGetMaxClockInfo"}, before: []uintptr{clockMem}},
	EventReasons:   {names: []string{"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}, wide: true},
	ECCUncorrected: {names: []string{"nvmlDeviceGetTotalEccErrors"}, before: []uintptr{eccUncorrected, eccVolatile}, wide: true},
	MigMode:        {names: []string{"nvmlDeviceGetMigMode"}, second: true},
	MigSlots:       {names: []string{"nvmlDeviceGetMaxMigDeviceCount"}},
	BusWidth:       {names: []string{"nvmlDeviceGetMemoryBusWidth"}},
	Capability:     {names: []string{"nvmlDeviceGetCudaComputeCapability"}, pair: true},
	Cores:          {names: []string{"nvmlDeviceGetNumGpuCores"}},
	GPUInstance:    {names: []string{"nvmlDeviceGetGpuInstanceId"}},
}

const (
	clockSM        = 1 // NVML_CLOCK_SM
	clockMem       = 2 // NVML_CLOCK_MEM
	eccUncorrected = 1 // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
	eccVolatile    = 0 // NVML_VOLATILE_ECC
)

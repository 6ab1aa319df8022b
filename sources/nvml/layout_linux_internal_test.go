//go:build linux && (amd64 || arm64) && !nonvml

package nvml

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list of facts, which make live compares with the header")

// ours are our copies of the library's structures, with the header's names of their
// fields in order.
var ours = []struct {
	name   string
	layout any
	fields string
}{
	{"nvmlMemory_v2_t", memory2{}, "version total reserved free used"},
	{"nvmlMemory_t", memory1{}, "total free used"},
	{"nvmlUtilization_t", Utilization{}, "gpu memory"},
	{"nvmlProcessInfo_v2_t", process2{}, "pid usedGpuMemory gpuInstanceId computeInstanceId"},
	{"nvmlProcessInfo_v1_t", process1{}, "pid usedGpuMemory"},
	{"nvmlTemperature_v1_t", temperature{}, "version sensorType temperature"},
	{"nvmlPciInfo_t", pciInfo{}, "busIdLegacy domain bus device pciDeviceId pciSubSystemId busId"},
	{"nvmlFieldValue_t", Field{}, "fieldId scopeId timestamp latencyUsec valueType nvmlReturn value"},
	{"nvmlGpmSupport_t", gpmSupport{}, "version isSupportedDevice"},
	{"nvmlGpmMetric_t", Metric{}, "metricId nvmlReturn value metricInfo"},
}

// metricsHead are the fields of nvmlGpmMetricsGet_t; its array has another length in
// every header.
const metricsHead = "version numMetrics sample1 sample2 metrics"

// constants are the numbers that we share with the header.
var constants = []struct {
	name  string
	value uint64
}{
	{"NVML_SUCCESS", uint64(Success)}, {"NVML_ERROR_UNINITIALIZED", uint64(Uninitialized)}, {"NVML_ERROR_INVALID_ARGUMENT", uint64(InvalidArgument)},
	{"NVML_ERROR_NOT_SUPPORTED", uint64(NotSupported)}, {"NVML_ERROR_NO_PERMISSION", uint64(NoPermission)}, {"NVML_ERROR_NOT_FOUND", uint64(NotFound)},
	{"NVML_ERROR_INSUFFICIENT_SIZE", uint64(InsufficientSize)}, {"NVML_ERROR_DRIVER_NOT_LOADED", uint64(DriverNotLoaded)}, {"NVML_ERROR_TIMEOUT", uint64(Timeout)},
	{"NVML_ERROR_LIBRARY_NOT_FOUND", uint64(LibraryNotFound)}, {"NVML_ERROR_FUNCTION_NOT_FOUND", uint64(FunctionNotFound)}, {"NVML_ERROR_GPU_IS_LOST", uint64(GPUIsLost)},
	{"NVML_ERROR_RESET_REQUIRED", uint64(ResetRequired)}, {"NVML_ERROR_OPERATING_SYSTEM", uint64(OperatingSystem)}, {"NVML_ERROR_LIB_RM_VERSION_MISMATCH", uint64(VersionMismatch)},
	{"NVML_ERROR_IN_USE", uint64(InUse)}, {"NVML_ERROR_MEMORY", uint64(OutOfMemory)}, {"NVML_ERROR_NO_DATA", uint64(NoData)},
	{"NVML_ERROR_ARGUMENT_VERSION_MISMATCH", uint64(ArgumentVersionMismatch)}, {"NVML_ERROR_DEPRECATED", uint64(Deprecated)}, {"NVML_ERROR_NOT_READY", uint64(NotReady)},
	{"NVML_ERROR_GPU_NOT_FOUND", uint64(GPUNotFound)}, {"NVML_ERROR_UNKNOWN", uint64(Unknown)},
	{"nvmlMemory_v2", memoryVersion}, {"nvmlTemperature_v1", temperatureVersion}, {"NVML_GPM_METRICS_GET_VERSION", gpmVersion}, {"NVML_GPM_SUPPORT_VERSION", gpmVersion},
	{"NVML_TEMPERATURE_GPU", 0}, {"NVML_CLOCK_SM", clockSM}, {"NVML_CLOCK_MEM", clockMem}, {"NVML_MEMORY_ERROR_TYPE_UNCORRECTED", eccUncorrected}, {"NVML_VOLATILE_ECC", eccVolatile},
	{"nvmlClocksEventReasonSwPowerCap", EventPowerCap}, {"nvmlClocksThrottleReasonHwSlowdown", EventSlowdown}, {"nvmlClocksEventReasonSwThermalSlowdown", EventThermal},
	{"nvmlClocksThrottleReasonHwThermalSlowdown", EventHWThermal}, {"nvmlClocksThrottleReasonHwPowerBrakeSlowdown", EventBrake},
	{"NVML_FI_DEV_MEMORY_TEMP", FieldMemTemperature}, {"NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION", FieldEnergy}, {"NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX", FieldNVLinkTx},
	{"NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX", FieldNVLinkRx}, {"NVML_FI_DEV_POWER_INSTANT", FieldPowerInstant}, {"NVML_FI_DEV_PCIE_COUNT_TX_BYTES", FieldPCIeTx}, {"NVML_FI_DEV_PCIE_COUNT_RX_BYTES", FieldPCIeRx},
	{"NVML_VALUE_TYPE_UNSIGNED_INT", kindUint32}, {"NVML_VALUE_TYPE_UNSIGNED_LONG", kindUlong}, {"NVML_VALUE_TYPE_UNSIGNED_LONG_LONG", kindUint64},
	{"NVML_VALUE_TYPE_SIGNED_LONG_LONG", kindInt64}, {"NVML_VALUE_TYPE_SIGNED_INT", kindInt32}, {"NVML_VALUE_TYPE_UNSIGNED_SHORT", kindUint16},
	{"NVML_GPM_METRIC_GRAPHICS_UTIL", MetricGraphics}, {"NVML_GPM_METRIC_SM_UTIL", MetricSM}, {"NVML_GPM_METRIC_SM_OCCUPANCY", MetricOccupancy},
	{"NVML_GPM_METRIC_ANY_TENSOR_UTIL", MetricTensor}, {"NVML_GPM_METRIC_DRAM_BW_UTIL", MetricDRAM}, {"NVML_GPM_METRIC_PCIE_TX_PER_SEC", MetricPCIeTx},
	{"NVML_GPM_METRIC_PCIE_RX_PER_SEC", MetricPCIeRx}, {"NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC", MetricNVLinkRx}, {"NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC", MetricNVLinkTx},
}

// described writes down our layouts and numbers, and which functions we look up.
func described(t *testing.T) string {
	var b strings.Builder
	describe := func(name string, layout any, fields string, sized bool) {
		typ := reflect.TypeOf(layout)
		names := strings.Fields(fields)
		if typ.NumField() != len(names) {
			t.Fatalf("%s has %d fields, named are %d", name, typ.NumField(), len(names))
		}
		if sized {
			fmt.Fprintf(&b, "struct %s %d\n", name, typ.Size())
		}
		for i, field := range names {
			size := typ.Field(i).Type.Size()
			if !sized && i == len(names)-1 {
				size = typ.Field(i).Type.Elem().Size()
				field += "[0]"
			}
			fmt.Fprintf(&b, "field %s.%s %d %d\n", name, field, typ.Field(i).Offset, size)
		}
	}
	for _, s := range ours {
		describe(s.name, s.layout, s.fields, true)
	}
	describe("nvmlGpmMetricsGet_t", metricsGet{}, metricsHead, false)
	for _, c := range constants {
		fmt.Fprintf(&b, "number %s %d\n", c.name, c.value)
	}
	for _, name := range lookedUp(t) {
		fmt.Fprintf(&b, "function %s\n", name)
	}
	return b.String()
}

// lookedUp are the functions that the code looks up.
func lookedUp(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, file := range []string{"library_linux.go", "layout_linux.go"} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"(nvml[A-Z]\w+)"`).FindAllStringSubmatch(string(code), -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// layout.txt is compared with NVIDIA's header by a module of its own, which knows
// the names in it and takes every number from the header.
func TestLayoutIsTheHeaders(t *testing.T) {
	got := described(t)
	if *update {
		if err := os.WriteFile("testdata/layout.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("testdata/layout.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	ourLines, theirs := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for _, line := range ourLines {
		if !slices.Contains(theirs, line) {
			t.Errorf("ours and not the header's: %s", line)
		}
	}
	for _, line := range theirs {
		if !slices.Contains(ourLines, line) {
			t.Errorf("the header's and not ours: %s", line)
		}
	}
}

package sources_test

import (
	"net/http"
	"slices"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest"
	"slotop/sources/sourcetest/shared"
)

// gpuPage is a page of a GPU exporter with nothing but devices to tell of.
const gpuPage = `# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-0a",modelName="NVIDIA H100 80GB HBM3",hostname="h"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-0b",modelName="NVIDIA H100 80GB HBM3",hostname="h"} 700123456
# TYPE DCGM_FI_PROF_DRAM_ACTIVE gauge
DCGM_FI_PROF_DRAM_ACTIVE{gpu="0",UUID="GPU-0a",modelName="NVIDIA H100 80GB HBM3",hostname="h"} 0.5
`

func TestGPUExportersKeepTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return resolve(tb, serve(tb, reply(gpuPage)).URL)[0].Source },
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, serve(tb, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
			}).URL)[0].Source
		},
		Word: model.Denied,
	})
}

// A target that is found to be a GPU exporter says so, and what is not there is no
// signal that it lacks.
func TestAGPUExporterIsFound(t *testing.T) {
	source := resolve(t, serve(t, reply(gpuPage)).URL)[0].Source
	first, err := source.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := first.About
	if a.Kind != model.GPUTarget || a.Engine != "dcgm-exporter" || len(a.Missing)+len(a.Meanings) != 0 || len(first.Samples) != 0 {
		t.Errorf("about %+v, %d samples", a, len(first.Samples))
	}
	if got := first.Devices; len(got) != 2 || got[0].Readings[model.Busy] != model.Measure(0.97) ||
		got[1].Readings[model.Busy].Status != model.BadSample || got[1].Readings[model.DRAMActive].Status != model.NotExported {
		t.Errorf("devices %+v", got)
	}
	second, err := source.Poll(t.Context())
	if err != nil || second.About != a {
		t.Errorf("the second poll says something else: %v", err)
	}
}

// A page whose server turns from an engine into an exporter, and back, is read as
// what it is.
func TestDevicesLeaveWithTheirPage(t *testing.T) {
	batches, errs := pollAll(t, savedPages(t, enginePage, gpuPage, enginePage)...)
	for i, want := range []int{0, 2, 0} {
		if errs[i] != nil || len(batches[i].Devices) != want {
			t.Errorf("page %d: %d devices, %v", i, len(batches[i].Devices), errs[i])
		}
	}
}

// Every saved page of an exporter goes through the source as it is.
func TestCorpusOfExporters(t *testing.T) {
	for name, devices := range map[string]int{
		"dcgm-exporter/h100-x2-k8s-extended-counters.prom": 2, "dcgm-exporter/a100-mig.prom": 3,
		"nvidia_gpu_exporter/two-gpus-demo.prom": 5, "amd/mi300x-with-amd-prefix.prom": 2,
		"intel/xpumd-arc-pro-b60.prom": 1, "all-smi/gb10-unified-memory.prom": 1,
	} {
		batches, errs := pollAll(t, savedPages(t, string(shared.File(t, "corpus/gpu/"+name)))...)
		if errs[0] != nil || len(batches[0].Devices) != devices || batches[0].BadLines+batches[0].Dropped > 0 {
			t.Errorf("%s: %d devices, %d bad lines, %v", name, len(batches[0].Devices), batches[0].BadLines, errs[0])
		}
		if slices.ContainsFunc(batches[0].Samples, func(s model.Sample) bool { return s.Signal != model.ProcessStart }) {
			t.Errorf("%s: samples %+v", name, batches[0].Samples)
		}
	}
}

package sources_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest"
	"slotop/sources/sourcetest/shared"
)

// say writes devices down, a line a reading.
func say(devices []model.Device) string {
	var b strings.Builder
	for _, d := range devices {
		fmt.Fprintf(&b, "%s %s index %d", d.UUID, d.State, d.Index)
		for _, more := range []struct{ word, value string }{
			{"name", d.Name}, {"bus", d.Bus}, {"host", d.Host}, {"in", d.Parent}, {"profile", d.Profile}, {"detail", d.Detail},
		} {
			if more.value != "" {
				fmt.Fprintf(&b, ", %s %s", more.word, more.value)
			}
		}
		if d.Shared {
			b.WriteString(", memory shared with the host")
		}
		b.WriteByte('\n')
		for m := range model.NumDeviceMetrics {
			if r := d.Readings[m]; r.Status == model.Measured {
				fmt.Fprintf(&b, "  %-28s %v (%s)\n", m, r.Value, []string{"text", "driver", "counters"}[d.From[m]])
			} else if r.Status != model.NotExported {
				fmt.Fprintf(&b, "  %-28s %v\n", m, r.Status)
			}
		}
		fmt.Fprintf(&b, "  throttle                     %v %v\n", d.ThrottleStatus, d.Throttle)
		for _, p := range d.Processes {
			fmt.Fprintf(&b, "  process %d %q %v %v serves %v\n", p.PID, p.Name, p.Memory.Value, p.Memory.Status, p.Serves)
		}
	}
	return b.String()
}

// asGolden compares a text with a file, or makes it that.
func asGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "gpu", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what was read (run with -update and look at the difference):\n%s", path, got)
	}
}

// Every table that was captured, read as a saved file.
func TestSavedTablesOfGPUs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Dir(t, "corpus/gpu/nvidia-smi"), "*.csv"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		opened := resolve(t, file)[0]
		batch, err := opened.Source.Poll(t.Context())
		if err != nil {
			// Lists of processes, and what was printed without a heading, are no table.
			if !strings.HasSuffix(name, "compute-apps") && !strings.HasSuffix(name, "noheader-nounits") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if opened.Target.Kind != model.GPUTarget || batch.About.Engine != "nvidia-smi" || batch.About.Version == "" || batch.BadLines > 0 {
			t.Errorf("%s: %s, %+v", name, opened.Target.Kind, batch.About)
		}
		asGolden(t, "smi-"+name, say(batch.Devices))
		if _, err := opened.Source.Poll(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("%s: another table: %v", name, err)
		}
	}
}

func TestSavedTablesKeepTheContract(t *testing.T) {
	const table = "uuid, index, utilization.gpu [%], driver_version\nGPU-a, 0, 1 %, 590\nGPU-a, 0, 3 %, 590\n"
	gone := filepath.Join(t.TempDir(), "gone.csv")
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return resolve(tb, savedPages(tb, table)[0])[0].Source },
		Bad: func(tb testing.TB) sources.Source {
			if err := os.WriteFile(gone, []byte(table), 0o600); err != nil {
				tb.Fatal(err)
			}
			defer os.Remove(gone)
			return resolve(tb, gone)[0].Source
		},
		Word: model.NotFound,
	})
}

// Tables in a row are one target, a table a poll, also of one file; another kind of
// file between them is not.
func TestSavedTablesInARow(t *testing.T) {
	const heading = "uuid, index, utilization.gpu [%], driver_version\n"
	files := savedPages(t, heading+"GPU-a, 0, 1 %, 590\nGPU-b, 1, 2 %, 590\nGPU-a, 0, 3 %, 590\nno row\n", heading+"GPU-a, 0, 4 %, 595\n", enginePage)
	opened := resolve(t, files...)
	if len(opened) != 2 {
		t.Fatalf("%d targets", len(opened))
	}
	for _, want := range []struct {
		busy    float64
		devices int
		version string
		bad     int
	}{{0.01, 2, "590", 0}, {0.03, 1, "590", 1}, {0.04, 1, "595", 0}} {
		b, err := opened[0].Source.Poll(t.Context())
		if err != nil || len(b.Devices) != want.devices || b.Devices[0].Readings[model.Busy].Value != want.busy || b.About.Version != want.version || b.BadLines != want.bad {
			t.Errorf("%v, %+v, %+v, want %+v", err, b.About, b.Devices, want)
		}
	}
	if _, err := opened[0].Source.Poll(t.Context()); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// tool puts an nvidia-smi into PATH. It prints a table for a query, of those columns
// that it is asked for and knows, and then waits.
func tool(tb testing.TB, script string) {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		tb.Fatal(err)
	}
	tb.Setenv("PATH", dir+":/usr/bin:/bin")
}

const smiWorks = `
case "$1" in
-L)
	echo "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000)"
	echo "  MIG 3g.40gb     Device  0: (UUID: MIG-00000001)"
	exit ;;
--query-compute-apps*)
	echo "gpu_uuid, pid, process_name, used_gpu_memory [MiB]"
	echo "GPU-00000000, 21180, /opt/vllm, 2296 MiB"
	exit ;;
--query-gpu=*power.draw.instant*)
	echo 'Field "power.draw.instant" is not a valid field to query.'
	exit 2 ;;
--query-gpu=*clocks_event_reasons.active*)
	echo 'Field "clocks_event_reasons.active" is not a valid field to query.'
	exit 2 ;;
esac
echo "count, index, uuid, name, driver_version, mig.mode.current, clocks_throttle_reasons.active, utilization.gpu [%], power.draw [W]"
echo "2, 0, GPU-00000000, NVIDIA H100 80GB HBM3, 470.256.02, Enabled, 0x0000000000000024, [N/A], 433.78 W"
echo "2, 1, GPU-00000009, NVIDIA H100 80GB HBM3, 470.256.02, Disabled, 0x0000000000000000, 55 %, [Unknown Error]"
exec sleep 1000
`

func TestTheToolKeepsTheContract(t *testing.T) {
	opened := func(tb testing.TB, script string) sources.Source {
		tool(tb, script)
		s := resolve(tb, "nvml:smi")[0].Source
		tb.Cleanup(func() { _ = s.Close() })
		return s
	}
	// A table each poll: the tool is started anew when it has ended.
	once := strings.ReplaceAll(smiWorks, "exec sleep 1000", "")
	sourcetest.Run(t, sourcetest.Case{
		Open:   func(tb testing.TB) sources.Source { return opened(tb, once) },
		Bad:    func(tb testing.TB) sources.Source { return opened(tb, "echo No devices were found; exit 6") },
		Word:   model.NotFound,
		Silent: func(tb testing.TB) sources.Source { return opened(tb, "exec sleep 1000") },
	})
}

func TestGPUsThroughTheTool(t *testing.T) {
	tool(t, smiWorks)
	s := resolve(t, "nvml:smi")[0].Source
	batch, err := s.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asGolden(t, "tool", say(batch.Devices))
	if batch.About.Version != "470.256.02" || !strings.Contains(batch.About.Notes[0], "nvidia-smi") {
		t.Errorf("%+v", batch.About)
	}
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took %v: the tool was not killed", took)
	}
}

// One that is not listed any more is lost, and keeps its place.
func TestAGPUThatTheToolListsNoMore(t *testing.T) {
	dir := t.TempDir()
	once := filepath.Join(dir, "once")
	tool(t, `
case "$1" in --query-gpu*) ;; *) exit ;; esac
echo "count, index, uuid, utilization.gpu [%]"
if [ -e `+once+` ]; then echo "1, 0, GPU-00000009, 2 %"; exit; fi
touch `+once+`
echo "2, 0, GPU-00000000, 1 %"
echo "2, 1, GPU-00000009, 2 %"
`)
	s := resolve(t, "nvml:smi")[0].Source
	defer s.Close()
	for n, want := range []model.DeviceState{model.DevicePresent, model.DeviceLost} {
		b, err := s.Poll(t.Context())
		if err != nil || len(b.Devices) != 2 || b.Devices[0].State != want || b.Devices[1].UUID != "GPU-00000009" {
			t.Errorf("poll %d: %v, %+v", n, err, b.Devices)
		}
	}
}

// A tool that prints something else for ever, or a line without an end, is said to be
// none, and ends.
func TestAToolThatIsNone(t *testing.T) {
	for name, script := range map[string]string{
		"junk":     "exec yes junk",
		"one line": "head -c 300000 /dev/zero | tr '\\0' x; exec sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			tool(t, script)
			s := resolve(t, "nvml:smi")[0].Source
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := s.Poll(ctx)
			var fault *sources.FaultError
			if !errors.As(err, &fault) || fault.Kind == model.Timeout {
				t.Errorf("%v", err)
			}
		})
	}
}

// A script in the tool's place may start programs of its own: they end with it, and
// hold nobody up.
func TestAToolThatStartsOthers(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	tool(t, "sleep 1000 & echo $! > "+pid+"; wait")
	s := resolve(t, "nvml:smi")[0].Source
	var text []byte
	for len(text) == 0 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/10)
		if _, err := s.Poll(ctx); err == nil {
			t.Fatal("it told of GPUs")
		}
		cancel()
		text, _ = os.ReadFile(pid)
	}
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("closing took %v", took)
	}
	if runtime.GOOS != "linux" {
		return
	}
	stat := "/proc/" + strings.TrimSpace(string(text)) + "/stat"
	for range 1000 { // the system takes it away in its own time
		if state, err := os.ReadFile(stat); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		runtime.Gosched()
	}
	t.Error("what it started still runs")
}

// Without the library nvml: reads through the tool, and says why; without either it
// says what to do.
func TestWithoutTheLibrary(t *testing.T) {
	tool(t, smiWorks)
	s := resolve(t, "nvml:")[0].Source
	defer s.Close()
	b, err := s.Poll(t.Context())
	if err != nil {
		if strings.Contains(err.Error(), "NVIDIA driver") && !strings.Contains(err.Error(), "No such file") {
			t.Skipf("this host has the library: %v", err)
		}
		t.Fatal(err)
	}
	if b.About.Engine == "nvml" {
		t.Skip("this host has the library")
	}
	if !strings.Contains(b.About.Notes[0], "NVIDIA") { // which library could not be loaded, or that this build loads none
		t.Errorf("%+v", b.About)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := resolve(t, "nvml:")[0].Source.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "nor is there an nvidia-smi: install the NVIDIA driver") {
		t.Errorf("without either: %v", err)
	}
	if _, err := resolve(t, "nvml:smi")[0].Source.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "no nvidia-smi in PATH") {
		t.Errorf("without the tool: %v", err)
	}
}

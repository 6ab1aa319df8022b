package tui

import (
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/tui/tuitest"
)

func TestGPUScreen(t *testing.T) {
	f := tuitest.GPUs()
	h := newHarness(t, f, nil)
	h.resize(100, 40)
	h.press("4")
	h.shows("GPUS 8 of 9  1 LOST  2 stale  1 held back", "0 H100 80GB HBM3", "LOST since 03:12:55")
	h.press("down", "down", "enter")
	h.shows("2 H100 80GB HBM3 present", f.Devices[2].UUID, "engines      vllm-1:8000   by process", "VLLM::EngineCore")
	h.press("esc")
	h.shows("GPUS 8 of 9")
	if got := h.view.Device; got != f.Devices[2].UUID {
		t.Errorf("the cursor is on %q after closing", got)
	}
	h.press("end")
	if got, want := h.view.Device, f.Devices[len(f.Devices)-1].UUID; got != want {
		t.Errorf("the last row is %q, want %q", got, want)
	}
	h.press("home", "enter")
	h.shows("0 H100 80GB HBM3 present", "power cap: normal under load")
	h.press("esc", "esc")
	h.shows("all 3 workflows met")
}

// What is opened stays open when rows come, and says so when it goes.
func TestOpenedGPUStays(t *testing.T) {
	f := tuitest.GPUs()
	h := newHarness(t, f, nil)
	h.resize(100, 40)
	h.press("4", "down", "enter")
	uuid := f.Devices[1].UUID
	next := tuitest.GPUs()
	next.Devices = append([]model.DeviceView{tuitest.ManyGPUs(1).Devices[0]}, next.Devices...)
	h.frame = next
	h.tick(time.Second)
	h.shows(uuid)
	gone := tuitest.GPUs()
	gone.Devices = gone.Devices[2:]
	h.frame = gone
	h.tick(time.Second)
	h.shows("this GPU is no longer known: esc goes back")
}

// Where nothing but GPUs is watched, theirs is the screen to begin with.
func TestOnlyGPUs(t *testing.T) {
	h := newHarness(t, tuitest.OnlyGPUs(), nil)
	h.shows("GPUS 4", "3 H100")
	h.press("down", "enter")
	h.shows("1 H100 80GB HBM3 present")
	h.press("esc", "5")
	h.shows("1 target")
	h.press("1")
	h.shows("GPUS 4")

	waits := newHarness(t, nil, func(o *Options) {
		o.Targets = []model.Target{{ID: "nvml:", Name: "gpus", Kind: model.GPUTarget}}
	})
	waits.shows("GPUS", "gpus", "asked, no answer yet")
}

// A GPU target that fails is no engine: the headline is silent about it, the strip and
// the GPUs' screen are not.
func TestSilentGPUTargetIsNoEngine(t *testing.T) {
	f := tuitest.GPUs()
	h := newHarness(t, f, nil)
	h.resize(120, 40)
	h.shows("all 3 workflows met", "2 engines, 8 of 9 GPUs", "GPU lost, bus 00000000:3B:00.0", "+ 1 more")
	if got := h.View().Content; strings.Contains(got, "node-2:9400 down") || strings.Contains(got, "of 4 targets") {
		t.Errorf("the headline counts GPU targets:\n%s", got)
	}
	h.press("4")
	h.shows("node-2", "refused: nothing listens at node-2:9400")
	if got := titleOf(f, Options{Signals: Attention{Title: true}}); got != "slotop" {
		t.Errorf("title %q", got)
	}
}

// Of one host the fault of who tells of its GPUs stands above its rows.
func TestFaultOfTheOnlyTeller(t *testing.T) {
	f := tuitest.OnlyGPUs()
	f.Targets[0].State = model.Down
	f.Targets[0].Fault = &model.FaultView{Fault: model.Fault{Kind: model.UnsupportedPage, Detail: "library and kernel module differ: reload or reboot"}}
	h := newHarness(t, f, nil)
	h.shows("gpus unsupported: library and kernel module differ: reload or reboot", "0 H100")
	f = tuitest.OnlyGPUs()
	f.Targets[0].Fault = &model.FaultView{Fault: model.Fault{Kind: model.UnsupportedPage, Detail: "library and kernel module differ: reload or reboot"}}
	f.Targets[0].State, f.Devices, f.DeviceSum = model.Down, nil, nil
	h = newHarness(t, f, nil)
	h.shows("gpus  unsupported", "library and kernel module differ: reload or reboot")
}

// A page about several lost GPUs lists them with their states.
func TestAlertOfSeveralGPUs(t *testing.T) {
	f := tuitest.GPUs()
	a := f.Alerts[0]
	a.ID, a.Target, a.Text, a.Members = "gpu-lost", "", "2 of 9 GPUs lost", []string{f.Devices[3].UUID, f.Devices[2].UUID}
	f.Alerts = []model.AlertView{a}
	h := newHarness(t, f, nil)
	h.resize(100, 40)
	h.shows("2 of 9 GPUs lost")
	h.press("6")
	h.shows("2 GPUs: enter lists them")
	h.press("enter")
	h.shows("what ran on it is gone", "GPUS", "LOST since 03:12:55", "2 H100")
}

package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/tuitest"
)

func TestUseScreensGolden(t *testing.T) {
	for _, s := range []struct {
		name  string
		frame *model.Frame
		keys  []string
		ascii bool
	}{
		{"util-calm", tuitest.CalmUse(), []string{"4"}, false},
		{"util-calm-ascii", tuitest.CalmUse(), []string{"4"}, true},
		{"util-throttled", tuitest.ThrottledUse(), []string{"4"}, false},
		{"util-many", tuitest.ManyUse(), []string{"4", "down", "down"}, false},
		{"util-many-gpu", tuitest.ManyUse(), []string{"4", "end"}, false},
		{"util-busy", tuitest.BusyUse(), []string{"4"}, false},
		{"util-beyond", tuitest.BeyondUse(), []string{"4"}, false},
		{"util-engine", tuitest.CalmUse(), []string{"4", "enter"}, false},
		{"capacity-calm", tuitest.CalmUse(), []string{"7"}, false},
		{"capacity-traffic-ascii", tuitest.TrafficUse(), []string{"7"}, true},
		{"capacity-many", tuitest.ManyUse(), []string{"7", "pgdown"}, false},
		{"capacity-none", tuitest.Calm(), []string{"7"}, false},
	} {
		var b strings.Builder
		for _, size := range tuitest.Sizes {
			h := newHarness(t, s.frame, func(o *Options) { o.ASCII = s.ascii })
			h.resize(size.W, size.H)
			h.press(s.keys...)
			got := h.View().Content
			tuitest.Fits(t, fmt.Sprintf("%s at %d×%d", s.name, size.W, size.H), got, size.W, size.H)
			fmt.Fprintf(&b, "== %d×%d\n%s\n", size.W, size.H, ansi.Strip(got))
		}
		tuitest.Golden(t, s.name, b.String())
	}
}

// Every screen of utilization and capacity, on every kind of frame, from nothing to a
// wall.
func TestUseEverySize(t *testing.T) {
	for _, nf := range tuitest.Uses() {
		h := newHarness(t, nf.Frame, nil)
		for _, keys := range [][]string{{"4"}, {"enter"}, {"pgdown"}, {"esc", "end"}, {"enter"}, {"7"}, {"pgdown"}} {
			h.press(keys...)
			for _, w := range []int{0, 1, 39, 40, 57, 80, 111, 112, 131, 300} {
				for _, hh := range []int{0, 1, 9, 10, 13, 24, 33, 100} {
					h.resize(w, hh)
					tuitest.Fits(t, fmt.Sprintf("%s %v at %d×%d", nf.Name, keys, w, hh), h.View().Content, w, max(hh, 1))
				}
			}
		}
	}
}

// At 80×24 the roofline with the split of a step, the sentence and a line for the GPU
// are there at once, and on the smallest screen the sentence and the shares.
func TestUtilizationAtAGlance(t *testing.T) {
	h := newHarness(t, tuitest.CalmUse(), nil)
	h.press("4")
	h.shows("ridge 295", "fixed+weights", "1.00× of what load explains", "bandwidth-bound decode: weights and KV reads are 77 % of a step", "0 H100 80GB", "4 util", "7 cap")
	h.resize(120, 40)
	h.shows("MFU    21.0 %  MBU  44.0 %  engine estimate", "7 capacity")
	h.resize(40, 10)
	h.shows("MFU 21.0 %", "reads are 77 % of a step", "0 H100")
}

// The cursor goes over the engines and then the GPUs; each opens a page of its own.
func TestUtilizationCursor(t *testing.T) {
	f := tuitest.ManyUse()
	h := newHarness(t, f, nil)
	h.resize(120, 40)
	h.press("4")
	h.shows("▸△ vllm-3.pool.example:8000", "ROOFLINE vllm-3.p…8000")
	h.press("down", "down", "down")
	h.shows("▸● vllm-0.pool.example:8000", "ROOFLINE vllm-0.p…8000")
	h.press("enter")
	h.shows("● vllm-0.pool.example:8000 bandwidth-bound", "MEASURES", "OPERATING POINT", "WHAT IT IS WORKED OUT FROM", "Llama-3.1-8B")
	h.press("esc", "end")
	h.shows("▸● 7 H100 80GB HBM3")
	h.hides("▸● vllm", "▸△ vllm")
	h.press("enter")
	h.shows("7 H100 80GB HBM3 present", "READINGS")
	h.press("esc", "home")
	h.shows("▸△ vllm-3.pool.example:8000")
	h.press("s")
	h.shows("sorted by name")
	h.press("s")
	h.shows("by MFU")
	if h.view.Sort != 0 {
		t.Error("the fleet is sorted too")
	}
}

func TestOpenedEngineThatGoes(t *testing.T) {
	h := newHarness(t, tuitest.ManyUse(), nil)
	h.press("4", "down", "enter")
	h.frame = tuitest.CalmUse()
	h.tick(0)
	h.shows("this engine is no longer watched: esc goes back")
}

func TestCapacityScreen(t *testing.T) {
	h := newHarness(t, tuitest.CalmUse(), nil)
	h.press("7")
	h.shows("CAPACITY", "load factor  0.47", "you can add 4.5 req/s of this mix", "binds first")
	h.hides("enter open")
	h.press("enter")
	h.shows("load factor  0.47")
	h.press("pgdown")
	h.shows("WASTE")
	h.press("home")
	h.shows("load factor  0.47")
	h.press("esc")
	h.shows("all 3 workflows met")
	h.press("7")
	h.resize(40, 10)
	h.shows("0.47", "room", "you can add 4.5", "14.4 an objective breaks")
	h.press("pgdown", "pgdown")
	h.shows("the objective on TPOT")
}

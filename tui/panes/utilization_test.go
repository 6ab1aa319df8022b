package panes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// usePanes are the panes of the screens of utilization and of capacity.
var usePanes = []Pane{Utilizations{}, Roofline{}, Utilization{}, Capacity{}, Devices{}}

// The rows of GPUs give way to the engines above them.
func TestDevicesBelowEngines(t *testing.T) {
	for _, nf := range tuitest.Uses() {
		drawGolden(t, Devices{}, "devices", nf)
	}
}

// Whatever room they get, on whatever frame, the panes of utilization and capacity
// stay inside of it.
func TestUseEverySize(t *testing.T) {
	plain := [2]Look{lookFor(t, "mono", false), lookFor(t, "mono", true)}
	for _, nf := range append(tuitest.Uses(), tuitest.Named{Name: "empty", Frame: tuitest.Empty()}, tuitest.Named{Name: "gpus", Frame: tuitest.OnlyGPUs()}) {
		for _, p := range usePanes {
			for w := 0; w <= 45; w += 3 {
				for h := range 16 {
					look := plain[(w+h)%2]
					got := p.Render(nf.Frame, layout.Size{W: w, H: h}, look)
					tuitest.Fits(t, fmt.Sprintf("%s on %s at %d×%d", p.Name(), nf.Name, w, h), got, w, max(h, 1))
				}
			}
		}
	}
}

func drawnUse(p Pane, f *model.Frame, w, h int, v View) string {
	return ansi.Strip(p.Render(f, layout.Size{W: w, H: h}, Look{View: v}))
}

func TestRooflineSays(t *testing.T) {
	for _, tc := range []struct {
		name  string
		frame *model.Frame
		w     int
		want  []string
	}{
		{"calm", tuitest.CalmUse(), 120, []string{
			"ROOFLINE vllm-0:8000", "ridge 295", "● now", "P prefill", "D decode", "last 10 min", "peaks: table A",
			"STEP 12.8 ms", "fixed+weights", "6.8 ms", "1.00× of what load explains", "tensor 22.1 %", "GPM", "MFU    21.0 %", "engine estimate", "MFU    19.7 %  MBU  42.7 %  model",
			"989 TFLOP/s  3.35 TB/s  table A", "502/700 W", "no throttling", "(some kernel ran)", "bandwidth-bound decode: weights and KV reads are 77 % of a step",
			"DRAM is busier than weights and KV reads need",
		}},
		{"usual", tuitest.CalmUse(), 80, []string{"ridge 295", "KV reads", "1.00× of what load explains", "tensor 22.1 %", "engine estimate", "502/700 W", "busy 98 %", "bandwidth-bound decode"}},
		{"small", tuitest.CalmUse(), 40, []string{"tensor 22.1 %", "MFU 21.0 %", "reads are 77 % of a step"}},
		{"throttled", tuitest.ThrottledUse(), 120, []string{"1.97× of what load explains", "slower", "hardware thermal", "891/1980 MHz"}},
		{"beyond the whole", tuitest.BeyondUse(), 120, []string{"112.0 %!", "131.0 %!", "above 100 %: a peak, the shape", "derived C", "step = gap between tokens", "-0.4 ms"}},
		{"busy alone", tuitest.BusyUse(), 80, []string{"MFU, MBU not known", "unknown: NVML gives busy time only", "step: no step counter", "name it under models in the", "name it under hardware in the"}},
		{"stale", tuitest.StaleUse(), 80, []string{"no good poll since 03:13:02", "unknown: vllm-0:8000 does not answer"}},
	} {
		got := drawnUse(Roofline{}, tc.frame, tc.w, 24, View{})
		for _, w := range tc.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", tc.name, w, got)
			}
		}
	}
}

// Nothing that is not known reads as a number.
func TestUnknownUseIsNoNumber(t *testing.T) {
	got := drawnUse(Roofline{}, tuitest.BusyUse(), 120, 24, View{}) + drawnUse(Utilization{}, tuitest.BusyUse(), 120, 60, View{})
	for _, bad := range []string{" 0 %", "0.0 ms", "0 TFLOP", "NaN", "Inf"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q in\n%s", bad, got)
		}
	}
}

func TestUseOrder(t *testing.T) {
	f := tuitest.ManyUse()
	names := func(by UseSort) string {
		var out []string
		for _, u := range utilizationOrder(f, by)[:4] {
			out = append(out, strings.TrimSuffix(u.Target, ".pool.example:8000"))
		}
		return strings.Join(out, " ")
	}
	for by, want := range []string{
		"vllm-3 vllm-6 vllm-7 vllm-0", "vllm-0 vllm-1 vllm-2 vllm-3", "vllm-13 vllm-12 vllm-11 vllm-10", "vllm-0 vllm-1 vllm-2 vllm-3", "vllm-3 vllm-6 vllm-13 vllm-12",
	} {
		if got := names(UseSort(by)); got != want {
			t.Errorf("%s: %s, want %s", UseSort(by).Words(), got, want)
		}
	}
	last := utilizationOrder(f, UseByTrouble)
	if got := last[len(last)-1].Target; got != "vllm-9.pool.example:8000" {
		t.Errorf("the engine of which nothing is known is not the last but %s", got)
	}
}

// The roofline is that of the engine under the cursor, or of the GPU's.
func TestUseCursor(t *testing.T) {
	f := tuitest.ManyUse()
	for _, tc := range []struct {
		view View
		want string
	}{
		{View{}, "vllm-3.pool.example:8000"},
		{View{Engine: "vllm-5.pool.example:8000"}, "vllm-5.pool.example:8000"},
		{View{Engine: "gone"}, "vllm-3.pool.example:8000"},
		{View{Device: f.Devices[4].UUID}, "vllm-4.pool.example:8000"},
		{View{Device: "gone", Engine: "vllm-5.pool.example:8000"}, "vllm-5.pool.example:8000"},
	} {
		if got := UtilizationUnder(f, tc.view).Target; got != tc.want {
			t.Errorf("%+v shows %s, want %s", tc.view, got, tc.want)
		}
	}
	if got := (UseUnder(tuitest.Empty(), View{})); got != (UseRow{}) {
		t.Errorf("on nothing the cursor is on %+v", got)
	}
	if n := len(UseOrder(f, View{})); n != len(f.Utilization)+len(f.Devices) {
		t.Errorf("%d rows", n)
	}
}

func TestCapacitySays(t *testing.T) {
	for _, tc := range []struct {
		name  string
		frame *model.Frame
		want  []string
	}{
		{"calm", tuitest.CalmUse(), []string{
			"load factor  0.47", "room: below 0.6", "you can add 4.5 req/s of this mix", "binds first  the objective on TPOT of chat breaks first", "expected     TPOT 12.9 ms   26 running   KV cache 12 %   228 sequences fit", "1 ready   1 needed now   2 needed for forecast   forecast 24.0 req/s",
			"9.3 now   14.4 an objective breaks", "19.7 queues never end", "fixed+weights 53 %", "kept its promise up to 13.1 req/s   failed above   238 minutes seen at 3.1–16.2 req/s",
			"more was never seen", "no rate at which it surely kept its promise", "prefix hits +10 points            +0.9 req/s   load 0.47 → 0.44",
			"$3.24 an hour   $0.362 per million   $0.364–0.371 per million good ones", "512 W board power of 1 GPU", "power of the boards, without their hosts", "GPUs that the engines were seen to run on", "abandoned    2.0 % of the tokens",
			"truncated    not known: finish reasons are not exported", "failed       none", "2.1× in the worst hour   1 spends what is allowed",
		}},
		{"traffic", tuitest.TrafficUse(), []string{"1.46", "overload: queues never end", "none: take away 15.2 req/s", "binds first  the KV cache fills first", "3 needed now"}},
		{"throttled", tuitest.ThrottledUse(), []string{"but          steps take ×1.97 of what was learned"}},
		{"busy alone", tuitest.BusyUse(), []string{"not known: no step counter", "prices:", "nvml: or dcgm-exporter"}},
		{"nothing", tuitest.Empty(), []string{"no pool yet"}},
		{"GPUs alone", tuitest.OnlyGPUs(), []string{"no engine is watched"}},
	} {
		got := drawnUse(Capacity{}, tc.frame, 120, 60, View{})
		for _, w := range tc.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", tc.name, w, got)
			}
		}
	}
}

func TestKneeSays(t *testing.T) {
	of := func(lo, hi float64) model.Range { return model.Range{Lo: model.Of(lo), Hi: model.Of(hi)} }
	for _, tc := range []struct {
		knee model.KneeView
		want string
	}{
		{model.KneeView{Rate: model.Of(13), Reached: true, Observed: of(3, 16)}, "failed above"},
		{model.KneeView{Rate: model.Of(13), Observed: of(3, 16)}, "not sure above"},
		{model.KneeView{Rate: model.Of(16), Observed: of(3, 16)}, "more was never seen"},
		{model.KneeView{Observed: of(3, 16)}, "no rate at which it surely kept its promise"},
	} {
		ps := kneeParts(&tc.knee)
		if got := ps[len(ps)-1].segs[0].text; got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.knee, got, tc.want)
		}
	}
}

// The smallest screen keeps load, headroom and what binds first.
func TestSmallCapacity(t *testing.T) {
	got := drawnUse(Capacity{}, tuitest.TrafficUse(), 40, 8, View{})
	for _, w := range []string{"1.46", "overload", "none: take away 15.2 req/s", "KV cache"} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
}

func BenchmarkUtilizationScreen(b *testing.B) {
	f := tuitest.CalmUse()
	b.ReportAllocs()
	for b.Loop() {
		Roofline{}.Want(f, 120, Look{})
		Roofline{}.Render(f, layout.Size{W: 120, H: 20}, Look{})
	}
}

// A split that lacks something is shown, and says on the page what it lacks.
func TestSplitThatLacksSomething(t *testing.T) {
	f := tuitest.CalmUse()
	step := *f.Utilization[0].Step
	step.Why, step.Floor = "its KV cache is of unknown size: the share in use stands for tokens", model.Of(0.0042)
	f.Utilization[0].Step = &step
	has(t, drawnUse(Roofline{}, f, 120, 30, View{}), "fixed+weights", "6.8 ms", "the roofline allows 4.2 ms")
	has(t, drawnUse(Utilization{}, f, 120, 90, View{}), "KV reads", "the share in use stands for tokens")
	step.Fixed = model.Reading{}
	hasNot(t, drawnUse(Roofline{}, f, 120, 30, View{}), "fixed+weights")
}

// The roof is whichever of the two ceilings is lower.
func TestReachable(t *testing.T) {
	u := &model.UtilizationView{PeakFLOPs: model.Of(989.4e12), PeakBytes: model.Of(3350e9)}
	for intensity, want := range map[float64]float64{1: 3350e9, 100: 335e12, 1000: 989.4e12} {
		if got, ok := reachable(u, intensity); !ok || got != want {
			t.Errorf("at %v: %v, want %v", intensity, got, want)
		}
	}
	if _, ok := reachable(&model.UtilizationView{PeakFLOPs: model.Of(1)}, 1); ok {
		t.Error("a roof of one side")
	}
}

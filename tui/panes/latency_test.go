package panes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// latencyOf draws the screen of latencies of a frame at a size.
func latencyOf(f *model.Frame, w, h int, view View) string {
	return ansi.Strip(Latency{}.Render(f, layout.Size{W: w, H: h}, Look{View: view}))
}

// TestLatencySaysWhyThereIsNone: not exported, no sample, since the start and known by a
// gateway's summaries alone are four things, and each says what it would take.
func TestLatencySaysWhyThereIsNone(t *testing.T) {
	frame := func(change func(f *model.Frame, w *model.WorkflowView)) *model.Frame {
		f := tuitest.Calm()
		change(f, &f.Workflows[0])
		return f
	}
	missing := func(f *model.Frame, w *model.WorkflowView) {
		w.TTFT, w.Missing = nil, []model.Signal{model.TTFT}
		f.Targets[1].Missing = []model.Signal{model.TTFT}
	}
	tests := []struct {
		name   string
		frame  *model.Frame
		metric model.Metric
		want   []string
	}{
		{"not exported", frame(missing), "", []string{"TTFT is not exported by vllm-1:8000 (vllm 0.11.0): slotop doctor vllm-1:8000 says what would"}},
		{"no target tells", frame(func(_ *model.Frame, w *model.WorkflowView) {
			w.ITL, w.Missing = nil, []model.Signal{model.ITL}
		}), itl, []string{"ITL is not exported by its servers: slotop doctor says which flag or version would tell it"}},
		{"no sample", frame(func(_ *model.Frame, w *model.WorkflowView) { w.TPOT = &model.Dist{Basis: model.OverWindow} }), model.MetricTPOT,
			[]string{"no sample: no request ended in the last 60 s", "n=0"}},
		{"since the start", frame(func(_ *model.Frame, w *model.WorkflowView) { w.TTFT.Basis = model.SinceStart }), "",
			[]string{"* counted since the server started", "from the second poll on there is a window", "ms*"}},
		{"reported", frame(func(f *model.Frame, w *model.WorkflowView) {
			missing(f, w)
			w.Reported = []model.ReportedView{{
				Target: "gateway:9000", Signal: model.TTFT, WindowS: model.Of(300), Count: model.Of(812),
				Quantiles: []model.QuantileAt{{Q: 0.5, S: 0.31}, {Q: 0.999, S: 2.4}},
			}, {Target: "gateway:9000", Signal: model.E2E, Quantiles: []model.QuantileAt{{Q: 0.5, S: 77}}}}
		}), "", []string{"gateway:9000 reports TTFT  p50 310 ms  p99.9 2.4 s  n 812  over its own 5 min"}},
		{"nobody answers", tuitest.Stale(), "", []string{"chat down for 19 s"}},
		{"nothing served", tuitest.Empty(), "", []string{"no target has answered yet"}},
	}
	how := Enables(func(t *model.TargetView, s model.Signal) string {
		return "start " + t.Name + " so that it tells " + string(s)
	})
	told := latencyOf(frame(missing), 120, 37, View{Enables: &how})
	if want := "TTFT is not exported by vllm-1:8000 (vllm 0.11.0): start vllm-1:8000 so that it tells ttft_seconds"; !strings.Contains(told, want) {
		t.Errorf("a known way is not told: want %q in\n%s", want, told)
	}
	for _, tc := range tests {
		got := latencyOf(tc.frame, 120, 37, View{Metric: tc.metric})
		flat := strings.Join(strings.Fields(got), " ")
		for _, want := range tc.want {
			if !strings.Contains(flat, strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s: want %q in\n%s", tc.name, want, got)
			}
		}
		if strings.Contains(got, "1m17s") {
			t.Errorf("%s: a summary of another latency is shown", tc.name)
		}
	}
}

// TestReadingSpeed: what people read is told in their words, with what is assumed; what
// a program reads is not.
func TestReadingSpeed(t *testing.T) {
	f := tuitest.Breach()
	w := &f.Workflows[0]
	w.TPOT.P50.Value = model.Of(0.189) // the mean speed of silent reading
	if got := readingSpeed(w, Look{}); !strings.Contains(got, "about 240 words/min at 0.75 words a token, 1× what they read: 238, most 175–300") {
		t.Errorf("at reading speed: %q", got)
	}
	for name, change := range map[string]func(){
		"a program":   func() { w.Promised.Reader = model.ReaderProgram },
		"nobody said": func() { w.Promised.Reader = model.ReaderUnknown },
		"no sample":   func() { w.Promised.Reader, w.TPOT = model.ReaderHuman, &model.Dist{} },
		"no TPOT":     func() { w.TPOT = nil },
	} {
		change()
		if got := readingSpeed(w, Look{}); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestWithinSaysMissedWithoutColour: the share that missed its objective has a mark.
func TestWithinSaysMissedWithoutColour(t *testing.T) {
	for ascii, want := range map[bool]string{false: "▲ 0.1 %", true: "! 0.1 %"} {
		got := ansi.Strip(Latency{}.Render(tuitest.Breach(), layout.Size{W: 80, H: 22}, Look{ASCII: ascii}))
		if !strings.Contains(got, want) {
			t.Errorf("ascii %v: want %q in\n%s", ascii, want, got)
		}
	}
}

// TestLatencySwitches: the key steps through all latencies and comes back, and the one
// that is charted has the cursor, its title and its heat map.
func TestLatencySwitches(t *testing.T) {
	f := tuitest.Breach()
	var v View
	for _, want := range []string{"TTFT", "TPOT", "ITL", "E2E", "TTFT"} {
		got := latencyOf(f, 80, 22, v)
		if !strings.Contains(got, "▸  "+want+" ") || !strings.Contains(got, "── "+want) {
			t.Errorf("charting %s:\n%s", want, got)
		}
		if heat := strings.Contains(got, "HEAT "+want); heat == (want == "ITL") {
			t.Errorf("%s has a heat map: %v", want, heat)
		}
		v.Metric, _ = NextMetric(v)
	}
}

// TestMultiplesCountTheRest: of forty workflows the chosen one and the worst have charts,
// and the others are counted.
func TestMultiplesCountTheRest(t *testing.T) {
	f := tuitest.Fleet(40, 3)
	for _, size := range []layout.Size{{W: 120, H: 15}, {W: 200, H: 33}} {
		got := ansi.Strip(Charts{}.Render(f, size, Look{View: View{Workflow: f.Workflows[39].Name}}))
		shown := []string{}
		for i := range f.Workflows {
			if strings.Contains(got, "TTFT "+f.Workflows[i].Name) {
				shown = append(shown, f.Workflows[i].Name)
			}
		}
		if !slices.Contains(shown, f.Workflows[39].Name) || !slices.Contains(shown, f.Workflows[0].Name) {
			t.Errorf("%v: shown are %v", size, shown)
		}
		if want := fmt.Sprintf("+ %d more", 40-len(shown)); !strings.Contains(got, want) {
			t.Errorf("%v: %d are shown, want %q in\n%s", size, len(shown), want, got)
		}
		if n := strings.Count(got, "03:10"); n == 0 || n > 4 {
			t.Errorf("%v: the times of day stand %d times:\n%s", size, n, got)
		}
	}
}

// TestMultiplesHaveOneAxis: workflows of different age show the same time, in columns of
// one width, so that an instant stands at the same place in each.
func TestMultiplesHaveOneAxis(t *testing.T) {
	f := tuitest.Breach()
	young := *f.Workflows[1].History
	nan := float32(math.NaN())
	for _, v := range []*[]float32{&young.Output, &young.Running, &young.Waiting, &young.TTFT.P50, &young.TTFT.P95, &young.TTFT.LoP95, &young.TTFT.HiP95} {
		*v = slices.Clone(*v)
		for i := range len(*v) - 60 {
			(*v)[i] = nan
		}
	}
	f.Workflows[1].History = &young
	rows := multipleRows(f, &f.Workflows[0], 20, true)
	for i, row := range rows {
		for _, g := range row {
			if g.span != 15*time.Minute {
				t.Errorf("row %d of %s shows %v", i, g.w.Name, g.span)
			}
			if lowest := i == len(rows)-1; g.shared == lowest {
				t.Errorf("row %d shares the times below it: %v", i, g.shared)
			}
		}
	}
	drawn := strings.Split(ansi.Strip(Charts{}.Render(f, layout.Size{W: 120, H: 15}, Look{})), "\n")
	at := map[int]bool{}
	for _, l := range drawn {
		rs := []rune(l)
		for x, r := range rs {
			if r == '┊' {
				at[x] = true
			}
		}
	}
	if len(at) != 2 {
		t.Errorf("one event stands in the columns %v:\n%s", at, strings.Join(drawn, "\n"))
	}
}

// TestHeatEndsBehind: a map whose last column is not over yet lies as far behind.
func TestHeatEndsBehind(t *testing.T) {
	h := tuitest.Breach().Workflows[0].History
	if got := behindOf(h, h.End.Add(-7*time.Second)); got != 7*time.Second {
		t.Errorf("7 s behind: %v", got)
	}
	if got := behindOf(h, h.End.Add(time.Second)); got != 0 {
		t.Errorf("a second ahead: %v", got)
	}
}

// TestAPartIsNotTheWhole: where a phase is not known the others do not pass for all of the
// request.
func TestAPartIsNotTheWhole(t *testing.T) {
	phases := func(decode bool) string {
		f := tuitest.Calm()
		h := *f.Workflows[0].History
		h.Queue, h.Prefill = []float32{0.05, 0.05}, []float32{0.15, 0.15}
		if h.Decode = []float32{1.8, 1.8}; !decode {
			h.Decode = nil
		}
		f.Workflows[0].History = &h
		return ansi.Strip(strings.Join(graph{f: f, w: &f.Workflows[0]}.drawPhases(layout.Size{W: 100, H: 10}, false, Look{}), "\n"))
	}
	if got := phases(true); !strings.Contains(got, " 2.0 s") || strings.Contains(got, "≥") || strings.Contains(got, "decode –") {
		t.Errorf("of all phases:\n%s", got)
	}
	if got := phases(false); !strings.Contains(got, "≥ 200 ms") || !strings.Contains(got, "decode –") || strings.Contains(got, "queue –") {
		t.Errorf("without the last phase:\n%s", got)
	}
}

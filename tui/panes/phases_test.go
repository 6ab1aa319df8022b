package panes

import (
	"math"
	"strings"
	"testing"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

func mean(n, v float64) *model.Dist {
	return &model.Dist{N: n, Mean: model.Of(v), Basis: model.OverWindow}
}

// TestTakes: the phase that most of a request goes to is named only where the
// parts are exact, speak of the same requests and add up.
func TestTakes(t *testing.T) {
	missed := func(metrics ...model.Metric) (out []model.ObjectiveView) {
		for _, m := range metrics {
			out = append(out, model.ObjectiveView{Metric: m, Verdict: model.Missed})
		}
		return out
	}
	started := mean(100, 9)
	started.Basis = model.SinceStart
	for _, tc := range []struct {
		name string
		w    model.WorkflowView
		want string
	}{
		{"queue", model.WorkflowView{Queue: mean(100, 9.4), Prefill: mean(100, .2), Decode: mean(100, 3.2), E2E: mean(100, 12.8)}, "queue takes 73 % of a request"},
		{"no E2E", model.WorkflowView{Queue: mean(100, 1), Prefill: mean(100, 6), Decode: mean(100, 3)}, "prefill takes 60 % of a request"},
		{"one part and the whole", model.WorkflowView{Queue: mean(100, 6), E2E: mean(100, 10)}, "queue takes 60 % of a request"},
		{"one part, no whole", model.WorkflowView{Queue: mean(100, 6)}, ""},
		{"no half", model.WorkflowView{Queue: mean(100, 4), Prefill: mean(100, 2), Decode: mean(100, 4), E2E: mean(100, 10)}, ""},
		{"first token only", model.WorkflowView{Queue: mean(100, .9), Prefill: mean(100, .1), Decode: mean(100, 9), E2E: mean(100, 10), Objectives: missed("ttft")}, "queue takes 90 % of queue and prefill"},
		{"first token and more", model.WorkflowView{Queue: mean(100, .9), Prefill: mean(100, .1), Decode: mean(100, 9), E2E: mean(100, 10), Objectives: missed("ttft", "tpot")}, "decode takes 90 % of a request"},
		{"other requests", model.WorkflowView{Queue: mean(300, 9), Prefill: mean(300, .2), Decode: mean(100, .8), E2E: mean(100, 10)}, ""},
		{"more than the whole", model.WorkflowView{Queue: mean(100, 9), Prefill: mean(100, 1), Decode: mean(100, 4), E2E: mean(100, 10)}, ""},
		{"since the start", model.WorkflowView{Queue: started, E2E: mean(100, 10)}, ""},
		{"nothing happened", model.WorkflowView{Queue: mean(0, math.NaN()), E2E: mean(0, math.NaN())}, ""},
		{"nothing exported", model.WorkflowView{}, ""},
	} {
		if got := splitOf(&tc.w).takes(&tc.w); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestSplitLine: the parts stand at their places with and without values, and each
// absence has its own word.
func TestSplitLine(t *testing.T) {
	w := tuitest.Breach().Workflows[0]
	full := splitOf(&w).line(&w, 79, Look{})
	for _, want := range []string{"mean E2E   13 s", "▓ queue  9.4 s", "▒ prefill 210 ms", "░ decode  3.2 s", "▓▓▓▓▓▓▓▒░░"} {
		if !strings.Contains(full, want) {
			t.Errorf("no %q in %q", want, full)
		}
	}
	w.Prefill, w.Missing = nil, []model.Signal{model.Prefill}
	w.Decode = &model.Dist{Basis: model.OverWindow}
	w.E2E = nil
	part := splitOf(&w).line(&w, 79, Look{})
	if !strings.Contains(part, "▒ prefill    n/e") || !strings.Contains(part, "░ decode    n=0") || !strings.Contains(part, "E2E      –") {
		t.Errorf("absences read %q", part)
	}
	for _, label := range []string{"queue", "prefill", "decode"} {
		if a, b := column0(full, label), column0(part, label); a != b {
			t.Errorf("%s moved from %d to %d:\n%s\n%s", label, a, b, full, part)
		}
	}
	if wide := splitOf(&tuitest.Breach().Workflows[0]).line(&w, 119, Look{}); !strings.Contains(wide, "n 1032") {
		t.Errorf("with room there is no n: %q", wide)
	}
}

// column0 is the cell at which a word begins, -1 without it.
func column0(l, word string) int {
	before, _, ok := strings.Cut(l, word)
	if !ok {
		return -1
	}
	return cells(before)
}

// TestLoadStandsStill: whatever the numbers, known or not, every field of the load
// has its place.
func TestLoadStandsStill(t *testing.T) {
	labels := []string{
		"waiting", "running", "KV", "preempted", "prefix hit", "queue", "prefill", "decode",
		"requests", "prompt", "output", "unaccounted", "failed", "cancelled", "started", "finished",
	}
	for _, width := range []int{80, 120, 200} {
		at := map[string]int{}
		for _, nf := range tuitest.All() {
			if len(nf.Frame.Workflows) == 0 {
				continue
			}
			got := Queue{}.Render(nf.Frame, layout.Size{W: width, H: 3}, Look{})
			for _, label := range labels {
				x := -1
				for l := range strings.SplitSeq(got, "\n") {
					if x < 0 {
						x = column0(l, " "+label+" ")
					}
				}
				if other, ok := at[label]; ok && other != x {
					t.Errorf("%d columns: %s stands at %d on %s and at %d before:\n%s", width, label, x, nf.Name, other, got)
				}
				at[label] = x
			}
		}
	}
}

// TestNothingJumpsForANote: a note, a restart and an error change no pane's size.
func TestNothingJumpsForANote(t *testing.T) {
	calm, noted := tuitest.Calm(), tuitest.Calm()
	noted.Workflows[0].Notes = []string{"first note", "second note"}
	noted.Workflows[0].Requests.Failed = model.Of(3)
	noted.Targets[0].RestartedAt = noted.At.Add(-20e9)
	for _, p := range []Pane{Headline{}, Workflows{}, Charts{}, Queue{}, Engines{}, Rule{BelowLoad}} {
		if a, b := p.Want(calm, 80, Look{}), p.Want(noted, 80, Look{}); a != b {
			t.Errorf("%s wants %v, with a note %v", p.Name(), a, b)
		}
	}
	got := Rule{BelowLoad}.Render(noted, layout.Size{W: 80, H: 1}, Look{})
	if want := "note figures span a restart at 03:13:47; first note; second note"; !strings.Contains(got, want) {
		t.Errorf("the rule says %q, want %q", got, want)
	}
	if got := (Rule{BelowLoad}).Render(calm, layout.Size{W: 80, H: 1}, Look{}); strings.Trim(got, "─") != "" {
		t.Errorf("without notes the rule says %q", got)
	}
}

// TestNoZeroBeforeAWindow: an empty histogram before the first window is not "no
// sample in the window".
func TestNoZeroBeforeAWindow(t *testing.T) {
	f := tuitest.First()
	f.Workflows[0].TTFT, f.Workflows[0].TPOT = &model.Dist{}, &model.Dist{}
	f.Workflows[0].Queue, f.Workflows[0].PrefixCacheHit = &model.Dist{}, model.Missing(model.NoTraffic)
	f.Targets[0].TTFT = &model.Dist{}
	for _, p := range []Pane{Workflows{}, Queue{}, Engines{}} {
		if got := p.Render(f, layout.Size{W: 200, H: 6}, Look{}); strings.Contains(got, "n=0") || strings.Contains(got, "no samples") {
			t.Errorf("%s counts before there is a window:\n%s", p.Name(), got)
		}
	}
}

// TestStripShowsWhoServes: dead targets do not crowd out the one that serves.
func TestStripShowsWhoServes(t *testing.T) {
	f := manyRefused(30)
	f.Targets[17].State, f.Targets[17].Fault = model.Up, nil
	f.Workflows[0].Targets = []string{f.Targets[16].Name, f.Targets[17].Name}
	got := Engines{}.Render(f, layout.Size{W: 80, H: 4}, Look{})
	if !strings.Contains(got, " ● ") || !strings.Contains(got, " ✕ ") || !strings.Contains(got, "+ 28 more, the worst is down") {
		t.Errorf("the strip shows\n%s", got)
	}
}

// TestEveryFaultHasItsWord: the row of a failing target says why, uncut.
func TestEveryFaultHasItsWord(t *testing.T) {
	for _, k := range []model.FaultKind{
		model.Refused, model.Timeout, model.Denied, model.Redirected, model.Certificate, model.NotFound, model.NotMetrics,
		model.Malformed, model.Oversized, model.UnsupportedPage,
	} {
		r := row{t: &model.TargetView{State: model.Down, Fault: &model.FaultView{Fault: model.Fault{Kind: k}}}}
		c := drawTargetState(r, stateW(80), Look{})
		if c.role != themes.Breach || c.text != strings.ReplaceAll(string(k), "_", " ") {
			t.Errorf("%s reads %q", k, c.text)
		}
	}
}

// TestNoChartWithoutItsSignal: what no server exports has no empty chart.
func TestNoChartWithoutItsSignal(t *testing.T) {
	f := tuitest.Calm()
	w := &f.Workflows[0]
	w.TPOT, w.ITL, w.Missing = nil, nil, []model.Signal{model.TPOT, model.ITL}
	for _, width := range []int{80, 120, 200} {
		got := Charts{}.Render(f, layout.Size{W: width, H: 24}, Look{})
		if strings.Contains(got, "TPOT chat") || !strings.Contains(got, "TTFT chat") || !strings.Contains(got, "OUTPUT tok/s chat") {
			t.Errorf("%d columns:\n%s", width, got)
		}
	}
}

// TestTrendSpan: the title names the time that there is, and the line covers no
// more than it.
func TestTrendSpan(t *testing.T) {
	f := tuitest.Calm()
	f.Workflows = f.Workflows[:1]
	h := f.Workflows[0].History
	for _, v := range [][]float32{h.TTFT.P95, h.Output, h.Running, h.Waiting} {
		for i := range v[:len(v)-110] {
			v[i] = float32(math.NaN())
		}
	}
	got := Workflows{}.Render(f, layout.Size{W: 200, H: 2}, Look{})
	if !strings.Contains(got, "TTFT p95, 2 min") {
		t.Errorf("110 s of history are titled\n%s", got)
	}
	if n := strings.Count(got, "▁") + strings.Count(got, "▂"); n < 18 || n > 24 {
		t.Errorf("110 s of 120 s take %d of 24 cells:\n%s", n, got)
	}
}

package panes

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/model/glossary"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestLoadGoldens draws the screen on frames of their own, beside those of all panes.
func TestLoadGoldens(t *testing.T) {
	for _, nf := range tuitest.Loads() {
		drawGolden(t, Inflight{}, "inflight", nf)
	}
}

// inflight draws the screen as text.
func inflight(f *model.Frame, w, h int, v View) string {
	return ansi.Strip(Inflight{}.Render(f, layout.Size{W: w, H: h}, Look{View: v}))
}

func TestInflightSays(t *testing.T) {
	unnamed := tuitest.Calm()
	unnamed.Workflows = nil
	nothing := tuitest.Empty()
	nothing.Targets, nothing.Workflows = nil, nil
	tests := []struct {
		what  string
		frame *model.Frame
		view  View
		w, h  int
		want  []string
	}{
		{"a surge", tuitest.Surge(), View{}, 80, 21, []string{
			"chat BREACHED", "workflow 1 of 3", "≈ 12 s  over 500 ms  208 waiting ÷ 17.2 first tokens/s", "preempted 1.0/s", "prefix hits 71.2 %",
			"228 running × 1.9k tokens  of 438k in all  228 of this mix fit", "IN FLIGHT 436", "running: prefill or decode", "events+http://HOST", "preempts from 95 %", "vllm-1:8000",
		}},
		{"a queue that grows", tuitest.Growing(), View{}, 200, 56, []string{"≈ 2.9 s", "over 5 s promised in 7.5 s at this pace", "20 waiting ÷ 7.0 first tokens/s", "of the last 30 s"}},
		{"one that stands", tuitest.Standing(), View{}, 80, 21, []string{"not known  7 wait and none got a token in 30 s"}},
		{"nobody tells", tuitest.UntoldQueue(), View{}, 80, 21, []string{"not known  its servers do not export what waits", "a minute of traffic", "not exported", "full from 95 %"}},
		{"nothing waits", tuitest.Surge(), View{Workflow: "batch-eval"}, 120, 38, []string{"workflow 3 of 3", "none  nothing waits: what comes is taken at once", "▸✓ batch-eval"}},
		{"each phase", tuitest.Phased(), View{}, 80, 22, []string{
			"queued", "197", "preparing context", "waiting for model", "streaming", "tool call", "retrying", "silent", "served whole", "1019", "cut at limit", "13", "cancelled", "841",
			"failed", "9", "throttled", "22", "unaccounted", "retried 57 0.9/s", "WORST 2 OF 3",
		}},
		{"the reasons, where there is room", tuitest.Phased(), View{}, 200, 56, []string{"client_disconnect 833, +1", "gateway:9000"}},
		{"a small screen", tuitest.Phased(), View{}, 40, 8, []string{"chat BREACHED", "1/3", "wait now ≈ 12 s over 500 ms", "streaming 214  queued 197", "KV", "served whole 1019  cancelled 841", "vllm-0:8000"}},
		{"a screen for one column", tuitest.Phased(), View{}, 60, 30, []string{"retrying", "throttled", "0.4/s", "WAITING, RUNNING", "gateway:9000"}},
		{"no workflow", unnamed, View{}, 80, 21, []string{"the targets answer and serve no model yet"}},
		{"no target", nothing, View{}, 80, 21, []string{"nothing is watched", "slotop localhost:8000", "slotop demo"}},
		{"GPUs alone", tuitest.OnlyGPUs(), View{}, 80, 21, []string{"only GPUs are watched", "slotop localhost:8000 nvml:"}},
	}
	for _, tc := range tests {
		got := inflight(tc.frame, tc.w, tc.h, tc.view)
		for _, w := range tc.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", tc.what, w, got)
			}
		}
	}
}

// TestStandingAddsUp: shares are of all in the table, and no request is in two rows.
func TestStandingAddsUp(t *testing.T) {
	f := tuitest.Phased()
	w := &f.Workflows[0]
	for _, rows := range [][]tally{standingRows(w), endedRows(f, w)} {
		sum, n := 0.0, 0.0
		for _, r := range rows {
			if r.n.OK() {
				sum += r.share
				n += r.n.Value
			}
		}
		if sum < 0.999 || sum > 1.001 {
			t.Errorf("shares add up to %v", sum)
		}
		if want := 1032.0 + 841 + 31; rows[0].name == "served whole" && n != want {
			t.Errorf("%v requests ended, want %v", n, want)
		}
	}
}

// TestNumbersOfTheLoadAreExplained: each number says which topic it is, and whose.
func TestNumbersOfTheLoadAreExplained(t *testing.T) {
	f := tuitest.Phased()
	drawn := Inflight{}.Render(f, layout.Size{W: 120, H: 37}, Look{Spots: true})
	plain, spots := Unmark(drawn)
	if without := (Inflight{}).Render(f, layout.Size{W: 120, H: 37}, Look{}); plain != without {
		t.Error("marks move what they mark")
	}
	found := map[About]string{}
	for _, s := range spots {
		found[s.About] = s.Text
	}
	for a, text := range map[About]string{
		{"wait_now", "chat"}: "≈12 s", {"phase.queued", "chat"}: "197", {"phase.streaming", "chat"}: "214", {"requests.cancelled", "chat"}: "841",
		{"requests.retries", "chat"}: "57 0.9/s", {"prefix_cache_hit", "chat"}: "71 %", {"waiting", "vllm-0:8000"}: "104", {"kv_cache_usage", "vllm-1:8000"}: "98 %", {"wait_now", "summarize"}: "≈2.1 s",
	} {
		if found[a] != text {
			t.Errorf("%v reads %q, want %q", a, found[a], text)
		}
	}
}

// TestEndsAreExplainedAsShown: what stands in a row of the ends is what explaining it says.
func TestEndsAreExplainedAsShown(t *testing.T) {
	f := tuitest.Phased()
	r := &f.Workflows[0].Requests
	r.Finished, r.OutputLimit, r.Failed, r.Throttled = model.Of(900), model.Of(31), model.Of(12), model.Of(5)
	for _, row := range endedRows(f, &f.Workflows[0]) {
		topic, ok := glossary.Find(row.topic)
		v := valueOf(ownerOf(f, f.Workflows[0].Name, topic), row.topic)
		if !ok || v.r != row.n {
			t.Errorf("%s shows %v, and %s is %v", row.name, row.n, row.topic, v.r)
		}
	}
}

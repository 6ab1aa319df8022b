package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// opens is the whole page of a frame's first workflow, its lines joined where
// they wrap.
func opens(f *model.Frame, w int) string {
	page := Workflow{}.Render(f, layout.Size{W: w, H: 300}, Look{})
	return strings.Join(strings.Fields(page), " ")
}

func has(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}

func hasNot(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("there is %q in\n%s", w, text)
		}
	}
}

// TestWorkflowPage says what was promised, what is kept and on what it rests, at
// every width.
func TestWorkflowPage(t *testing.T) {
	for _, w := range []int{40, 80, 120, 200} {
		has(t, opens(tuitest.LoadTest(), w),
			"95 % of requests within all of", "TTFT 1 s", "first answer 4 s", "TPOT 50 ms", "as configured", "over 1 d", "an answer cut at its output limit is bad",
			"91.8 % MISSED", "4.6 good requests/s", "of 313 judged: 300 finished, 11 failed, 2 cancelled", "2 cancelled not counted",
			"judged one by one", "n 313 leaves 88–95 %", "by user, best attempt 94.1 %",
			"within 1 s", "93.0 % of 300 met", "99.0 % of 300 met", "burn", "1.6×", "21 % left", "gone in 3 h 09 min at this burn",
			"response", "first answer", "stage 3", "against B", "×1.5",
			"queued 3", "preparing context 2", "waiting for the model 1", "streaming 12", "tool call 1", "unknown 2",
			"offered 10.0 req/s", "sent 5.0 req/s", "behind by 900 ms", "cut at the output limit 17", "retries 6", "TARGETS", "● gateway:")
	}
}

// TestAssumedIsSaid: nobody set these objectives, and the page says so.
func TestAssumedIsSaid(t *testing.T) {
	has(t, opens(tuitest.Calm(), 80), "assumed: nobody set them, they never page")
	hasNot(t, opens(tuitest.Breach(), 80), "assumed")
	got := Rule{AboveWorkflows}.Render(tuitest.Calm(), layout.Size{W: 80, H: 1}, Look{})
	has(t, got, "objectives are assumed")
	some := tuitest.Calm()
	some.Workflows[0].AssumedObjectives = false
	has(t, Rule{AboveWorkflows}.Render(some, layout.Size{W: 80, H: 1}, Look{}), "objectives of 2 of 3 are assumed")
}

// TestObjectiveInsideABucket (OC-08): an interval, never one number, and the bounds
// that would be exact.
func TestObjectiveInsideABucket(t *testing.T) {
	f := tuitest.Calm()
	w := &f.Workflows[0]
	share := func(lo, hi float64) model.Share {
		return model.Share{Lo: model.Of(lo), Hi: model.Of(hi), Point: model.Of((lo + hi) / 2)}
	}
	w.Objectives = []model.ObjectiveView{
		{Metric: model.MetricTTFT, MaxS: 0.2, Share: share(0.6, 0.9), N: 1000, Target: 0.95, Verdict: model.Missed, Bounds: model.Range{Lo: model.Of(0.1), Hi: model.Of(0.25)}},
		{Metric: model.MetricTPOT, MaxS: 0.05, Share: share(0.95, 0.95), N: 1000, Target: 0.95, Verdict: model.Met},
	}
	w.Condition = model.IsMissed
	w.Goodput.Share, w.Goodput.PerSecond, w.Goodput.Verdict = share(0.55, 0.9), model.Range{Lo: model.Of(11), Hi: model.Of(18)}, model.Missed
	got := opens(f, 80)
	has(t, got, "60–90 % of 1000 met", "inside a bucket: 100 ms or 250 ms would be exact", "95.0 % of 1000 met", "55–90 % MISSED", "11.0–18.0 good requests/s")
	hasNot(t, got, "76.0 %", "57.0 %", "75.0 %")
	has(t, Headline{}.Render(f, layout.Size{W: 80, H: 3}, Look{}), "goodput 55–90 % (objective 95 %)", "TTFT 200 ms: 60–90 % of 1000 met")
	has(t, Workflows{}.Render(f, layout.Size{W: 80, H: 4}, Look{}), "55–90 %")
}

// TestFewRequests (OC-16): two requests are counted and not judged, and the largest
// of few is not called their 99th percentile.
func TestFewRequests(t *testing.T) {
	f := tuitest.Calm()
	w := &f.Workflows[0]
	w.TTFT.N, w.TTFT.P95.Enough, w.TTFT.P99.Enough = 2, false, false
	w.Objectives = w.Objectives[:1]
	w.Objectives[0].N, w.Objectives[0].Verdict = 2, model.Undecided
	w.Objectives[0].Share = model.Share{Lo: model.Of(0.5), Hi: model.Of(0.5), Point: model.Of(0.5)}
	w.Condition, w.Goodput.Verdict, w.Goodput.N, w.Goodput.Why = model.IsUndecided, model.Undecided, 2, "1 of 2 bad, too few to judge"
	w.Budget.Burn, w.Budget.Text = model.Burn{}, "1 of 2 bad in 5 min"
	got := opens(f, 80)
	has(t, got, "1 of 2 met", "max of 2", "n 2", "1 of 2 bad in 5 min", "1 of 2 bad, too few to judge", "undecided")
	hasNot(t, got, "TTFT p50 72 ms p95 ~180 ms (144–288) p99")
	has(t, Headline{}.Render(f, layout.Size{W: 80, H: 3}, Look{}), "? chat undecided   1 of 2 bad, too few to judge")
	has(t, Alerts{}.Render(f, layout.Size{W: 200, H: 40}, Look{}), "1 of 2 bad in 5 min")
}

// TestReasons (OC-22): refusals stand beside the percentiles of the successes, with
// their share of all.
func TestReasons(t *testing.T) {
	f := tuitest.Calm()
	r := &f.Workflows[0].Requests
	r.Finished, r.Failed, r.Cancelled = model.Of(36), model.Of(9), model.Of(0)
	r.FailedBy = []model.Cause{{Reason: "429", N: 9}}
	has(t, opens(f, 80), "429: 9 of 45, 20.0 %")
	r.Cancelled = model.Reading{}
	got := opens(f, 80)
	has(t, got, "429: 9")
	hasNot(t, got, "of 45")
}

// TestGenerator (OC-24): a schedule shows how far the generator is behind, and
// without one events do not claim to know the client's delay.
func TestGenerator(t *testing.T) {
	f := tuitest.LoadTest()
	has(t, opens(f, 80), "offered 10.0 req/s", "sent 5.0 req/s", "behind by 900 ms", "response p50 600 ms p95 1.1 s")
	f.Workflows[0].Load, f.Workflows[0].Response = nil, nil
	got := opens(f, 80)
	has(t, got, "client delay not included")
	hasNot(t, got, "response p50")
	hasNot(t, opens(tuitest.Calm(), 80), "generator")
}

// TestUnknownTokens (OC-33): a sum over requests of which some did not say.
func TestUnknownTokens(t *testing.T) {
	has(t, opens(tuitest.LoadTest(), 80), "output at least 915 tokens, 2 of 5 unknown")
	f := tuitest.LoadTest()
	f.Workflows[0].Tokens.Output.Unknown = 0
	has(t, opens(f, 80), "output 915 tokens, n 3")
}

// TestDeadline: a job that must be done by a time has no goodput and no budget.
func TestDeadline(t *testing.T) {
	f := tuitest.Breach()
	f.Workflows = f.Workflows[2:]
	got := opens(f, 80)
	has(t, got, "no objective", "within 1 h of 02:54:07 met", "left 40 min 00 s", "needs 30 min 00 s", "remaining 1440 requests", "at 0.8/s", "read by a program")
	hasNot(t, got, "ERROR BUDGET", "goodput")
}

// TestNothingKnownOfAPromise: each reason why there is no number has its words.
func TestNothingKnownOfAPromise(t *testing.T) {
	f := tuitest.Mixed()
	find := func(name string) *model.Frame {
		for i := range f.Workflows {
			if f.Workflows[i].Name == name {
				one := *f
				one.Workflows = f.Workflows[i : i+1]
				return &one
			}
		}
		t.Fatalf("no workflow %s", name)
		return nil
	}
	has(t, opens(find("bare"), 80), "not exported by its servers", "cannot compute", "NOT EXPORTED")
	has(t, opens(find("still"), 80), "goodput no traffic", "TTFT within 1 s no traffic")
	has(t, opens(find("slow"), 80), "spent", "outside", "mean 2.05 s", "gateway TTFT 2.40 s n 190", "engine TTFT 360 ms n 188")
	has(t, opens(find("half"), 80), "gateway TTFT no samples", "no first token on both sides")
	has(t, opens(tuitest.Stale(), 80), "no target of it answers")
}

// TestConditionsInWords: the headline says in words what a workflow is in.
func TestConditionsInWords(t *testing.T) {
	for _, tc := range []struct {
		c    model.Condition
		want string
	}{
		{model.IsDown, "✕ chat down for 24 min"},
		{model.IsStalled, "■ chat STALLED for 24 min"},
		{model.IsStale, "◌ chat no data since 02:50:07"},
		{model.IsMissed, "▲ chat BREACHED for 24 min"},
		{model.IsPartial, "◐ chat 1 of 2 up for 24 min   goodput 98.8 % (objective 95 %)"},
		{model.IsAtRisk, "△ chat at risk for 24 min   goodput 98.8 % (objective 95 %)   burn 0.2×"},
		{model.IsUndecided, "? chat undecided"},
		{model.IsBlind, "- chat cannot compute"},
		{model.IsStarting, "… chat answers"},
		{model.IsQuiet, "2 of 3 workflows met, the others without traffic"},
	} {
		f := tuitest.Calm()
		f.Workflows[0].Condition, f.Workflows[0].Replicas.Fresh = tc.c, 1
		if tc.c == model.IsQuiet {
			f.Workflows = append(f.Workflows[1:], f.Workflows[0])
		}
		has(t, Headline{}.Render(f, layout.Size{W: 80, H: 2}, Look{}), tc.want)
	}
}

// TestRiskHasAReason: the alert that speaks for it, else its budget.
func TestRiskHasAReason(t *testing.T) {
	f := tuitest.Mixed()
	risky := f.Workflows[3]
	f.Workflows = []model.WorkflowView{risky}
	for i := range f.Targets {
		f.Targets[i].State = model.Up
	}
	has(t, Headline{}.Render(f, layout.Size{W: 80, H: 3}, Look{}), "△ risky at risk for 6 min", "a new request waits 1.2 s: TTFT will miss 1 s")
	f.Alerts = nil
	has(t, Headline{}.Render(f, layout.Size{W: 80, H: 3}, Look{}), "41 % of the budget left, gone in 6 h 09 min at this burn")
}

// TestNothingToDo is said only where it is so.
func TestNothingToDo(t *testing.T) {
	for name, change := range map[string]func(*model.Frame){
		"an alert is pending": func(f *model.Frame) { f.Alerts = tuitest.Breach().Alerts[2:] },
		"a target is down":    func(f *model.Frame) { f.Targets[0].State = model.Down },
	} {
		f := tuitest.Calm()
		change(f)
		got := Headline{}.Render(f, layout.Size{W: 80, H: 3}, Look{})
		if strings.Contains(got, "nothing to do") {
			t.Errorf("%s, and the headline says\n%s", name, got)
		}
	}
}

// TestTableKeepsWhatMatters: what never gives way, at any width.
func TestTableKeepsWhatMatters(t *testing.T) {
	f := tuitest.Breach()
	for _, w := range []int{40, 44, 60, 72, 80, 100, 120, 200} {
		got := Workflows{}.Render(f, layout.Size{W: w, H: 5}, Look{})
		has(t, got, "WORKFLOW", "TTFT p95", "TPOT p95", "GOODPUT", "▲ chat", ">7.5 s", "69 ms", "0–3 %", "95–97 %")
		if w >= 60 {
			has(t, got, "STATE", "BREACHED", "at risk")
		}
		if w >= 80 {
			has(t, got, "BURN", "SINCE", "SLO", "19.6", "03:09")
		}
		if w >= 120 {
			has(t, got, "REQ/S", "LEFT", "62 %", "▄▆")
		}
	}
}

// TestOtherIsSetBack: what no workflow matches is a row, and a quiet one.
func TestOtherIsSetBack(t *testing.T) {
	f := tuitest.Mixed()
	for _, c := range workflowColumns(f, f.Workflows, 200, Look{}) {
		for i := range f.Workflows {
			w := &f.Workflows[i]
			if role := c.draw(w, 9, Look{}).role; w.Name == model.OtherName && (role == themes.Text || role == themes.Strong) {
				t.Errorf("%s of the rest stands out", c.title)
			}
		}
	}
}

// TestStripSaysWhatTheHeadlineDoesNot: no alert is told twice, none is left out.
func TestStripSaysWhatTheHeadlineDoesNot(t *testing.T) {
	render := func(f *model.Frame) string { return Strip{}.Render(f, layout.Size{W: 120, H: 1}, Look{}) }
	f := tuitest.Breach()
	got := render(f)
	has(t, got, "△ summarize: 10 % of requests miss an objective", "since 03:11", "+ 1 more")
	hasNot(t, got, "98 %")

	f.Alerts = f.Alerts[2:]
	has(t, render(f), "◇ pending: KV cache at 99 %")
	f.Alerts[0].Acknowledged = true
	if got := render(f); got != "" || (Strip{}).Want(f, 80, Look{}).Max != 0 {
		t.Errorf("an acknowledged alert has a line: %q", got)
	}

	over := tuitest.Breach()
	over.Alerts = over.Alerts[:1]
	over.Alerts[0].State, over.Alerts[0].ResolvedAt = model.AlertResolved, over.At.Add(-time.Second)
	has(t, render(over), "✓ resolved after 3 min 01 s: chat: 98 %")
	over.Alerts[0].ResolvedAt = over.At.Add(-2 * time.Minute)
	if got := render(over); got != "" {
		t.Errorf("old news: %q", got)
	}

	switched := tuitest.Switch()
	if got := render(switched); got != "" {
		t.Errorf("the headline says it already: %q", got)
	}
	switched.Targets[3].State = model.Up
	has(t, render(switched), "▲ 30 of 30 targets down")
}

// TestStripFits: it is cut in the sentence and not in what comes after it.
func TestStripFits(t *testing.T) {
	f := tuitest.Breach()
	for w := 40; w < 130; w++ {
		got := Strip{}.Render(f, layout.Size{W: w, H: 1}, Look{})
		tuitest.Fits(t, "strip", got, w, 1)
		has(t, got, "+ 1 more", "summarize: 1")
		if w >= narrow {
			has(t, got, ", since 03:11")
		}
	}
}

// How alerts are carried out stands with them: a receiver that fails says so.
func TestDeliveriesAreShown(t *testing.T) {
	f := tuitest.Calm()
	out := []Delivery{{Name: "pager", Delivered: 3}, {Name: "hook\x1b[2J", Waiting: 2, Failures: 7, Dropped: 1, Error: "connect: refused"}}
	got := Alerts{}.Render(f, layout.Size{W: 80, H: 40}, Look{View: View{Outbox: &out}})
	has(t, got, "SENT TO", "pager", "3 delivered", "2 waiting", "7 tries failed", "1 DROPPED", "connect: refused")
	if strings.Contains(got, "\x1b") {
		t.Errorf("an escape of the receiver's name: %q", got)
	}
	if got := (Alerts{}).Render(f, layout.Size{W: 80, H: 40}, Look{}); strings.Contains(got, "SENT TO") {
		t.Error("receivers where there are none")
	}
}

// TestAlertPageNamesTheObjective: an opened alert about a workflow says which
// objective its users miss, by how many requests, and since when it is not so.
func TestAlertPageNamesTheObjective(t *testing.T) {
	f := tuitest.Breach()
	w := &f.Workflows[0]
	f.Alerts = []model.AlertView{{
		ID: "x", Rule: "slo-burn", Workflow: model.Text(w.Name), Severity: model.Page, State: model.AlertFiring, Text: "17 of 20 bad in 2 min",
		Since: f.At, FiredAt: f.At, LastAt: f.At, Value: model.Of(17.04), Unit: model.Times,
	}}
	look := Look{View: View{Alert: "x"}}
	page := strings.Join(strings.Fields(Alert{}.Render(f, layout.Size{W: 80, H: 40}, look)), " ")
	has(t, page, "of "+w.Name, "now 17.0×", "goodput 0–3 % MISSED", "within 500 ms", "MISSED")
	hasNot(t, page, "last true")
	f.Alerts[0].LastAt = f.At.Add(-20 * time.Second)
	page = strings.Join(strings.Fields(Alert{}.Render(f, layout.Size{W: 80, H: 40}, look)), " ")
	has(t, page, "last true "+hms(f.Alerts[0].LastAt))
}

// TestShorter: a sentence loses whole clauses before a word is cut.
func TestShorter(t *testing.T) {
	for _, tt := range []struct {
		w    int
		want string
	}{{60, "at least 46 of 132 bad in 2 min, 10 % allowed: burn 3.6×"}, {40, "at least 46 of 132 bad in 2 min"}, {20, "at least 46 of 132 …"}} {
		if got := (Look{}).shorter("at least 46 of 132 bad in 2 min, 10 % allowed: burn 3.6×", tt.w); got != tt.want {
			t.Errorf("%d: %q, want %q", tt.w, got, tt.want)
		}
	}
}

// TestWhatIsNotKnownOfThoseInFlight: that nothing runs is not said of requests that
// were not heard of again, and a chart says that it guesses.
func TestWhatIsNotKnownOfThoseInFlight(t *testing.T) {
	f := tuitest.Calm()
	for i := range f.Workflows {
		f.Workflows[i].Condition = model.IsQuiet
	}
	f.Workflows[0].Phases = &model.Phases{Unknown: model.Of(54)}
	got := Headline{}.Render(f, layout.Size{W: 80, H: 2}, Look{})
	has(t, got, "no traffic", "54 requests in flight were not heard of again")
	has(t, opens(tuitest.Breach(), 120), "best guess")
	hasNot(t, opens(tuitest.LoadTest(), 120), "best guess")
}

// TestStripSaysWhatTheHeadlineHasNoRoomFor: a target that is down is not left out
// because the lines above speak of a workflow.
func TestStripSaysWhatTheHeadlineHasNoRoomFor(t *testing.T) {
	f := tuitest.Breach()
	down := f.Targets[0]
	down.Name, down.State = "spare:8000", model.Down
	f.Targets = append(f.Targets, down)
	f.Alerts = []model.AlertView{
		{ID: "d", Rule: "down", Severity: model.Warn, State: model.AlertFiring, Target: "spare:8000", Text: "refused: replica is not ready", Since: f.At},
	}
	size := layout.Size{W: 80, H: 3}
	hasNot(t, Headline{}.Render(f, size, Look{}), "spare:8000")
	has(t, Strip{}.Render(f, layout.Size{W: 80, H: 1}, Look{}), "spare:8000: refused: replica is not ready")
	calm := tuitest.Calm()
	calm.Targets, calm.Alerts = append(calm.Targets, down), f.Alerts
	has(t, Headline{}.Render(calm, size, Look{}), "spare:8000")
	hasNot(t, Strip{}.Render(calm, layout.Size{W: 80, H: 1}, Look{}), "spare:8000")
}

// Of thousands of alerts those around the cursor are drawn, wherever it is, and how
// many more there are is said.
func TestThousandsOfAlerts(t *testing.T) {
	f := *tuitest.Breach()
	one := f.Alerts[0]
	f.Alerts = nil
	for i := range 2500 {
		one.ID = model.AlertID(fmt.Sprint(i))
		f.Alerts = append(f.Alerts, one)
	}
	look := lookFor(t, "mono", true)
	for _, at := range []int{0, 1000, 2499} {
		look.View.Alert = f.Alerts[at].ID
		s, line := alertLines(&f, 80, look)
		above, below := max(0, at-nearby), 2500-min(2500, at+nearby)
		all := strings.Join(s.out, "\n")
		for _, n := range []int{above, below} {
			if more := fmt.Sprintf("+ %d more", n); (n > 0) != strings.Contains(all, more) {
				t.Errorf("at %d: %q is there: %t", at, more, !(n > 0))
			}
		}
		if len(s.out) > 5*2*nearby+100 || !strings.Contains(strings.Join(s.out[max(0, line-3):line+1], "\n"), ">") {
			t.Errorf("at %d: %d lines, the cursor in %d", at, len(s.out), line)
		}
	}
}

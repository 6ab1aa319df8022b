package panes

import (
	"os"
	"strings"
	"testing"

	"slotop/model"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// TestLead: who, since when, why, what it is not and what to try, at any width, and
// each answer that there may be has its words.
func TestLead(t *testing.T) {
	early := tuitest.Unexplained()
	early.Diagnoses[0].Factors, early.Diagnoses[0].Sentence = tuitest.Arrivals().Diagnoses[0].Factors, "nobody is hurt: arrivals ×3.60"
	pattern := tuitest.Arrivals()
	pattern.Findings = pattern.Findings[:1]
	pattern.Findings[0].Layer, pattern.Findings[0].Cause = model.LayerSymptom, "tokens come faster than anyone reads"
	for _, tc := range []struct {
		name  string
		frame *model.Frame
		w     int
		want  []string
		not   []string
	}{
		{"a cause", tuitest.Arrivals(), 80, []string{"▲ chat BREACHED for 4 min 12 s", "because  arrivals ×3.6, all chat · KV cache full", "not      the GPU", "try      add a replica: load factor 1.46 → 0.73 …", "high, n 1892"}, nil},
		{"a cause, wide", tuitest.Arrivals(), 120, []string{"or cap chat at 13 req/s   confidence high, n 1892", "+ 1 more on 6", "TTFT 500 ms: 1 of 1892 met"}, nil},
		{"a cause, narrow", tuitest.Arrivals(), 40, []string{"chat BREACHED for 4 min 12 s", "why arrivals ×3.6, all chat", "try add a replica", "high, n 1892"}, []string{"not "}},
		{"a pattern is no cause", pattern, 80, []string{"seen     tokens come faster than anyone reads · KV cache full"}, []string{"because"}},
		{"cannot tell", tuitest.Untold(), 80, []string{"cause    cannot tell: only 20 s of quiet time", "TTFT 500 ms: 1 of 1892 met"}, []string{"because", "try "}},
		{"nothing moved", tuitest.Unexplained(), 80, []string{"cause    no finding yet: step slowdown ×1.03, arrival rate ×1.02"}, []string{"because", "try "}},
		{"it moved for the first time", early, 80, []string{"cause    no finding yet: arrival rate ×3.60"}, []string{"because", "try ", "nobody is hurt"}},
		{"it stands from before", tuitest.Stood(), 80, []string{"because  arrivals", "now      cannot tell: no engine of it answers", "try  "}, []string{"not  "}},
		{"the cause is another's", tuitest.Bulk(), 80, []string{"chat BREACHED", "because  arrivals ×1.8, 96 % batch-eval", "try      admit batch-eval by priority below chat"}, []string{"the users got worse"}},
		{"nobody is hurt", tuitest.Seen(), 80, []string{"all 3 workflows met", "noticed  arrivals ×1.4, all chat", "confidence medium, n 672"}, []string{"nothing to do", "because", "try "}},
		{"nobody knows who is hurt", tuitest.Doubted(), 80, []string{"? chat undecided   goodput 91–98 % lies on both sides of the objective 95 %", "noticed  arrivals ×1.4, all chat", "try      nothing yet: load 0.62 of 0.7", "medium, n 672"}, []string{"because"}},
		{"nobody knows, narrow", tuitest.Doubted(), 40, []string{"? chat undecided", "why arrivals", "try nothing yet"}, nil},
		{"at risk", tuitest.Risky(), 80, []string{"△ chat at risk for 60 s", "a new request waits 1.2 s: TTFT will miss 1 s", "noticed  arrivals ×1.4, all chat", "try      nothing yet"}, []string{"because"}},
		{"nobody looked", tuitest.Breach(), 80, []string{"TTFT 500 ms: 1 of 1892 met"}, []string{"because", "cause", "try "}},
	} {
		got := Headline{}.Render(tc.frame, layout.Size{W: tc.w, H: 6}, Look{})
		for _, w := range tc.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", tc.name, w, got)
			}
		}
		for _, w := range tc.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: there is %q in\n%s", tc.name, w, got)
			}
		}
	}
}

// TestTheLinesStand: what is below a breach does not move when its cause is found, is
// lost, or cannot be told.
func TestTheLinesStand(t *testing.T) {
	for _, w := range []int{60, 80, 120, 200} {
		want := Headline{}.Want(tuitest.Arrivals(), w, Look{})
		for _, f := range []*model.Frame{tuitest.Untold(), tuitest.Unexplained(), tuitest.Stood(), tuitest.Throttled(), tuitest.Provider()} {
			if got := (Headline{}).Want(f, w, Look{}); got != want {
				t.Errorf("at %d: %v, want %v", w, got, want)
			}
		}
	}
}

// TestTheChartStays: the line of alerts gives way before the chart that proves the
// cause does.
func TestTheChartStays(t *testing.T) {
	for name, f := range map[string]*model.Frame{"breach": tuitest.Arrivals(), "at risk": tuitest.Risky(), "undecided": tuitest.Doubted()} {
		if strip, charts := (Strip{}).Want(f, 80, Look{}), (Charts{}).Want(f, 80, Look{}); strip.Drop <= charts.Drop {
			t.Errorf("%s: the strip goes with %d, the chart with %d", name, strip.Drop, charts.Drop)
		}
	}
}

// TestLeadInTheDocs: the lines of the documentation are those of the screen.
func TestLeadInTheDocs(t *testing.T) {
	docs, err := os.ReadFile("../../docs/numbers.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := (Headline{}).Render(tuitest.Arrivals(), layout.Size{W: 80, H: 4}, Look{}); !strings.Contains(string(docs), got) {
		t.Errorf("docs/numbers.md does not show\n%s", got)
	}
}

// TestClipped: a sentence is cut between its words, numbers keep their units, and no
// bracket stays open.
func TestClipped(t *testing.T) {
	const text = "add a replica (load 1.46 → 0.73), or cap chat at 13 req/s"
	for n, want := range map[int]string{
		99: text, 57: text, 56: "add a replica (load 1.46 → 0.73), or cap chat at …", 40: "add a replica (load 1.46 → 0.73), or …", 30: "add a replica …", 7: "add a …", 4: "add…", 1: "…", 0: "",
	} {
		if got := (Look{}).clipped(text, n); got != want || cells(got) > n {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestOneCursorOverFindingsAndAlerts: the first row without a choice, the same row
// when others come, and an alert only where the cursor is on one.
func TestOneCursorOverFindingsAndAlerts(t *testing.T) {
	f := tuitest.Arrivals()
	all := Entries(f)
	if len(all) != len(f.Findings)+len(f.Alerts) || all[0].Finding == "" || all[2].Alert != f.Alerts[0].ID {
		t.Fatalf("%v", all)
	}
	if EntryAt(f, View{}) != 0 || FindingUnder(f, View{}) != &f.Findings[0] {
		t.Error("without a choice the first finding is meant")
	}
	if a := AlertUnder(f, View{}); a == nil || a.ID != f.Alerts[0].ID {
		t.Error("without a choice the first alert is the one to acknowledge")
	}
	second := View{Finding: FindingKey(&f.Findings[1])}
	if FindingUnder(f, second) != &f.Findings[1] || AlertUnder(f, second) != nil {
		t.Error("the chosen finding is not under the cursor")
	}
	alert := View{Alert: f.Alerts[1].ID}
	if FindingUnder(f, alert) != nil || AlertUnder(f, alert) != &f.Alerts[1] {
		t.Error("the chosen alert is not under the cursor")
	}
	if EntryAt(tuitest.Calm(), View{}) != -1 {
		t.Error("a row where there is none")
	}
	twice := tuitest.Arrivals()
	twice.Findings = append(twice.Findings, twice.Findings...)
	if n := len(Entries(twice)); n != len(all) {
		t.Errorf("%d rows, want %d: the cursor cannot stand on two with one key", n, len(all))
	}
	if n := len(Entries(tuitest.ManyFindings())); n > maxFindings+10 {
		t.Errorf("%d rows", n)
	}
}

// TestFindingIsOver: what was opened is not replaced by another.
func TestFindingIsOver(t *testing.T) {
	f := tuitest.Arrivals()
	look := Look{View: View{Finding: FindingKey(&f.Findings[0])}}
	f.Findings = f.Findings[1:]
	got := Finding{}.Render(f, layout.Size{W: 80, H: 20}, look)
	if !strings.Contains(got, "this finding is over") {
		t.Errorf("got\n%s", got)
	}
}

// TestFindingPage shows all that a finding has.
func TestFindingPage(t *testing.T) {
	got := strings.Join(strings.Fields(Finding{}.Render(tuitest.Arrivals(), layout.Size{W: 100, H: 60}, Look{})), " ")
	for _, w := range []string{
		"T1 more arrivals than service", "confidence high 60 s against 350 s", "symptom chat TTFT: 1 of 1892 met 500 ms", "cause arrivals ×3.6, all chat",
		"arrival rate ×3.60 → +260 % work (machine ×1.07, miss ×1.02, prompt ×1.01, output ×0.99)", "binding KV cache full, 1.0 preemptions/s",
		"against would change my mind: flat arrivals; running below its cap with KV free", "evidence ▸ arrivals 8.1 → 29.2 /s ▸ KV 0.14 → 0.99 ▸ waiting 0 → 208",
		"not the GPU: a step takes 1.07× what the load explains", "try 1 add a replica: load factor 1.46 → 0.73 2 cap chat at 13 req/s 3 check the retry share first",
		"rests on 1892 requests since 03:10:07 workflow chat", "DIAGNOSIS", "60 s against 350 s before 03:09", "▸ arrival rate 8.1/s 29.2/s ×3.60 +260 % chat",
	} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
}

// TestAnswersWithoutAFinding stand where findings would.
func TestAnswersWithoutAFinding(t *testing.T) {
	page := func(f *model.Frame) string {
		return strings.Join(strings.Fields(Alerts{}.Render(f, layout.Size{W: 80, H: 200}, Look{})), " ")
	}
	has(t, page(tuitest.Untold()), "DIAGNOSIS", "60 s against 20 s", "cannot tell: only 20 s of quiet time to compare with, 60 s are needed")
	has(t, page(tuitest.Unexplained()), "no factor moved: arrivals ×1.02", "step slowdown ×1.00 ×1.03 ×1.03 +3 %")
	has(t, page(tuitest.Stood()), "T1 more arrivals than service", "now cannot tell: no engine of it answers: this stands from before")
	has(t, page(tuitest.ManyFindings()), "pool-0 and 9 more: cannot tell: its engines do not answer", "pool-1 and 19 more: no finding", "+ 12 more")
	hasNot(t, page(tuitest.Breach()), "DIAGNOSIS", "cannot tell")
}

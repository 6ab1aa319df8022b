package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"slotop/model"
)

// gated is a frame of workflows as a gate meets them, one of each verdict.
func gated() *model.Frame {
	f := calm()
	met := flow("chat", model.Met, exact(.991), 240)
	missed := flow("summarize|<b>", model.Missed, model.Share{Lo: model.Of(.62), Hi: model.Of(.8), Point: model.Of(.7)}, 60)
	missed.Objectives[0].Share, missed.Objectives[0].Verdict = exact(.75), model.Missed
	undecided := flow("rag", model.Undecided, model.Share{Lo: model.Of(.9), Hi: model.Of(.97)}, 1032)
	undecided.Goodput.Why = "the bounds of the share lie on both sides of what was promised"
	undecided.AssumedObjectives = true
	quiet := flow("batch", model.NoData, model.Share{Lo: model.Missing(model.NoTraffic), Hi: model.Missing(model.NoTraffic)}, 0)
	blind := flow("legacy", model.CannotCompute, model.Share{}, 0)
	blind.Goodput.Why = "no finish counts"
	late := flow("nightly", model.Met, exact(1), 500)
	late.Deadline = &model.DeadlineView{Began: at(0), DeadlineS: 3600, LeftS: model.Of(600), NeedsS: model.Of(900), Verdict: model.Missed}
	f.Workflows = []model.WorkflowView{met, missed, undecided, quiet, blind, late}
	f.Goodput = &model.GoodputView{Share: model.Share{Lo: model.Of(.93), Hi: model.Of(.98)}, N: 1332, Verdict: model.Undecided, Basis: model.ByHistograms}
	return f
}

func flow(name string, v model.Verdict, s model.Share, n float64) model.WorkflowView {
	w := model.WorkflowView{
		Name: name, Condition: model.IsMet, Replicas: model.Replicas{Fresh: 2, Total: 2}, Missing: []model.Signal{}, Notes: []string{},
		Objectives: []model.ObjectiveView{
			{Metric: model.MetricTTFT, MaxS: .5, Share: s, N: n, Target: .95, Verdict: v},
			{Metric: model.MetricTPOT, MaxS: .05, Share: exact(.99), N: n, Target: .95, Verdict: model.Met},
		},
		Goodput: &model.GoodputView{
			Share: s, N: n, Target: model.Of(.95), Verdict: v, Basis: model.ByHistograms,
			Of: model.Denominator{Judged: n, Finished: model.Of(n), Unaccounted: model.Of(0)},
		},
	}
	if v == model.NoData || v == model.CannotCompute {
		w.Objectives[0].Share, w.Objectives[1].Share, w.Objectives[1].Verdict = model.Share{}, model.Share{}, v
	}
	return w
}

func only(names ...string) func(string) bool {
	return func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
}

func TestJudge(t *testing.T) {
	silent := empty()
	silent.Targets[0].Polls, silent.Targets[0].FailedPolls = 3, 3
	silent.Targets[0].Fault = &model.FaultView{Fault: model.Fault{Kind: model.Refused, Detail: "nothing listens"}}
	nameless := empty()
	nameless.Targets[0].Polls = 3
	half := gated()
	half.Workflows[0].Replicas.Fresh = 1
	unknown := gated()
	unknown.Workflows[0].Goodput = nil
	first := gated()
	first.Workflows[0].Goodput = &model.GoodputView{Verdict: model.Undecided, Why: "rates need a second poll", Target: model.Of(.95)}
	atMost := gated()
	atMost.Workflows[0].Goodput.Verdict = model.Missed
	atMost.Workflows[0].Goodput.Share = model.Share{Hi: model.Of(.6)}
	atMost.Workflows[0].Goodput.Of.Failed = 12
	tests := []struct {
		name  string
		frame *model.Frame
		opt   CheckOptions
		want  Outcome
		why   string
	}{
		{"met", gated(), CheckOptions{Only: only("chat")}, CheckMet, "met: chat"},
		{"a miss counts most", gated(), CheckOptions{}, CheckMissed, "missed: summarize|<b>: goodput 62–80 % of 60 requests, promised 95 %; TTFT 500 ms was kept by 75.0 % (and 1 more)"},
		{"undecided", gated(), CheckOptions{Only: only("chat", "rag")}, CheckUntold, "could not tell: rag: goodput 90–97 % of 1032 requests is no proof either way, promised 95 %: the bounds of the share lie on both sides of what was promised"},
		{"no traffic", gated(), CheckOptions{Only: only("batch")}, CheckUntold, "could not tell: batch: no request in the window"},
		{"not exported", gated(), CheckOptions{Only: only("legacy")}, CheckUntold, "could not tell: legacy: goodput cannot be computed: no finish counts"},
		{"deadline", gated(), CheckOptions{Only: only("nightly")}, CheckMissed, "missed: nightly: its deadline of 1 h cannot be kept: 15 min 00 s to go, 10 min 00 s left"},
		{"enough", gated(), CheckOptions{Only: only("chat"), MinRequests: 240}, CheckMet, "met: chat"},
		{"too few", gated(), CheckOptions{Only: only("chat"), MinRequests: 241}, CheckUntold, "could not tell: chat: 240 requests judged, fewer than the 241 asked for"},
		{"too few for a miss", gated(), CheckOptions{Only: only("summarize|<b>"), MinRequests: 100}, CheckUntold, "could not tell: summarize|<b>: 60 requests judged, fewer than the 100 asked for"},
		{"nothing exported, whatever the number", gated(), CheckOptions{Only: only("legacy"), MinRequests: 100}, CheckUntold, "could not tell: legacy: goodput cannot be computed: no finish counts"},
		{"expected and not there", gated(), CheckOptions{Only: only("chat", "search"), Expected: []string{"search", "chat", "search"}}, CheckUntold, "could not tell: search: no request of it was seen"},
		{"expected, not asked for", gated(), CheckOptions{Only: only("chat"), Expected: []string{"search"}}, CheckMet, "met: chat"},
		{"no such name", gated(), CheckOptions{Only: only("caht")}, CheckUntold, "could not tell: no workflow of that name was seen; there are chat, summarize|<b>, rag, batch, legacy, 1 more"},
		{"one poll", first, CheckOptions{Only: only("chat")}, CheckUntold, "could not tell: chat: its goodput is not known: rates need a second poll"},
		{"at most", atMost, CheckOptions{Only: only("chat")}, CheckMissed, "missed: chat: goodput at most 60.0 % of 240 requests, promised 95 %; 12 failed"},
		{"half its targets", half, CheckOptions{Only: only("chat")}, CheckUntold, "could not tell: chat: only 1 of its 2 targets answered to the end"},
		{"not judged", unknown, CheckOptions{Only: only("chat")}, CheckUntold, "could not tell: chat: its goodput is not known"},
		{"nobody answers", silent, CheckOptions{Expected: []string{"chat"}}, CheckUntold, "could not tell: no target answered: localhost:8000: refused: nothing listens"},
		{"nothing named", nameless, CheckOptions{}, CheckUntold, "could not tell: no target has named a model or reported a request"},
		{"no poll", empty(), CheckOptions{}, CheckUntold, "could not tell: no target answered"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := Judge(tc.frame, tc.opt)
			if c.Outcome != tc.want || c.Why != tc.why {
				t.Errorf("%s: %s", c.Outcome, c.Why)
			}
			for name, form := range forms(t, c) {
				if !bytes.Contains(bytes.ToLower(form), []byte(strings.ReplaceAll(string(tc.want), "_", " "))) && name != "json" && name != "junit" {
					t.Errorf("%s does not say %s:\n%s", name, tc.want, form)
				}
			}
		})
	}
}

// forms are a check in all forms.
func forms(t testing.TB, c *Check) map[string][]byte {
	t.Helper()
	var asJSON, asJUnit bytes.Buffer
	if err := CheckJSON(&asJSON, c); err != nil {
		t.Fatal(err)
	}
	if err := CheckJUnit(&asJUnit, c); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"json": asJSON.Bytes(), "junit": asJUnit.Bytes(), "txt": []byte(CheckText(c, Options{})), "md": []byte(CheckMarkdown(c)),
	}
}

func TestCheckGolden(t *testing.T) {
	all := Judge(gated(), CheckOptions{Expected: []string{"search"}})
	one := Judge(gated(), CheckOptions{Only: only("chat")})
	hostile := incident()
	hostile.Workflows[0].Goodput = &model.GoodputView{Verdict: model.CannotCompute, Why: "\x1b[2J", Target: model.Of(.95)}
	for name, c := range map[string]*Check{"check": all, "check-met": one, "check-hostile": Judge(hostile, CheckOptions{})} {
		for form, got := range forms(t, c) {
			if form == "json" {
				var indented bytes.Buffer
				if err := json.Indent(&indented, got, "", "  "); err != nil {
					t.Fatal(err)
				}
				got = indented.Bytes()
			}
			if form == "junit" {
				form = "junit.xml"
			}
			golden(t, name+"."+form, got)
		}
		golden(t, name+"-40-ascii.txt", []byte(CheckText(c, Options{Width: 40, ASCII: true})))
	}
}

// TestCheckIsPlain: whatever the frame, no form holds a byte that a terminal, an
// XML reader or a page of Markdown would obey.
func TestCheckIsPlain(t *testing.T) {
	frame := incident()
	frame.Workflows[0].Goodput = &model.GoodputView{Verdict: model.CannotCompute, Why: "\x1b[2J", Target: model.Of(.95)}
	c := Judge(frame, CheckOptions{Expected: []string{"\x1b[31m", "a|b\n| c", "<img src=x>", "@all"}})
	for width := 1; width < 150; width += 7 {
		checkPlain(t, CheckText(c, Options{Width: width}), max(width, leastWidth), false)
		checkPlain(t, CheckText(c, Options{Width: width, ASCII: true}), max(width, leastWidth), true)
	}
	all := forms(t, c)
	checkClean(t, all["json"])
	for line := range strings.SplitSeq(string(all["md"]), "\n") {
		checkPlain(t, line, 1<<20, false)
		if strings.Contains(line, "<") || strings.Contains(line, "@") {
			t.Errorf("Markdown holds %q", line)
		}
		if strings.HasPrefix(line, "| ") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
			t.Errorf("a row of another width: %q", line)
		}
	}
	for line := range strings.SplitSeq(string(all["junit"]), "\n") {
		checkPlain(t, line, 1<<20, false)
	}
}

// TestJUnitCounts: the sums of a file are those of its cases.
func TestJUnitCounts(t *testing.T) {
	frame := gated()
	c := Judge(frame, CheckOptions{MinRequests: 100, Expected: []string{"search"}})
	var back junitSuites
	if err := xml.Unmarshal(forms(t, c)["junit"], &back); err != nil {
		t.Fatal(err)
	}
	tests, failures, errors := 0, 0, 0
	for _, s := range back.Suites {
		for _, one := range s.Cases {
			tests++
			if one.Failure != nil {
				failures++
			}
			if one.Error != nil {
				errors++
			}
		}
	}
	// Two objectives and the goodput of six workflows, one deadline, and one
	// workflow of which nothing was seen.
	if want := 6*3 + 1 + 1; tests != want || back.Tests != want {
		t.Errorf("%d cases, said %d, want %d", tests, back.Tests, want)
	}
	// Only the deadline: the missed workflow has too few requests.
	if failures != 1 || back.Failures != 1 || back.Errors != errors {
		t.Errorf("%d failures, said %d; %d errors, said %d", failures, back.Failures, errors, back.Errors)
	}
}

func TestCheckErrors(t *testing.T) {
	gone := errors.New("broken pipe")
	c := Judge(gated(), CheckOptions{})
	for name, write := range map[string]func() error{
		"json":  func() error { return CheckJSON(errWriter{gone}, c) },
		"junit": func() error { return CheckJUnit(errWriter{gone}, c) },
	} {
		if err := write(); !errors.Is(err, gone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestJUnitSkips what was only assumed and is not measured: the rest was judged.
func TestJUnitSkips(t *testing.T) {
	f := gated()
	w := &f.Workflows[0]
	w.AssumedObjectives = true
	w.Objectives[1].Verdict, w.Objectives[1].Share = model.CannotCompute, model.Share{}
	var back junitSuites
	if err := xml.Unmarshal(forms(t, Judge(f, CheckOptions{Only: only("chat")}))["junit"], &back); err != nil {
		t.Fatal(err)
	}
	if s := back.Suites[0]; back.Errors != 0 || s.Skipped != 1 || s.Cases[1].Skipped == nil || s.Cases[1].Skipped.Message != "not exported" {
		t.Errorf("%+v", s)
	}
	w.AssumedObjectives = false
	back = junitSuites{}
	if err := xml.Unmarshal(forms(t, Judge(f, CheckOptions{Only: only("chat")}))["junit"], &back); err != nil || back.Errors != 1 {
		t.Errorf("a promise that is not measured: %v, %+v", err, back)
	}
}

package panes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/model/glossary"
	"slotop/tui/layout"
	"slotop/tui/tuitest"
)

// words are the columns that hold names and words, and no number.
var words = []string{"", "BY", "BOUND", "HARDWARE", "ENGINE", "MODELS", "RUNS", "FACTOR", "WHO", "FROM"}

// columnsExplained checks that each column of a table that holds a number says which.
func columnsExplained[R any](t *testing.T, table string, cols []column[R], rows ...R) {
	t.Helper()
	for _, c := range cols {
		if c.about == nil {
			if !slices.Contains(words, c.title) && !strings.HasPrefix(c.title, "TTFT p95, ") {
				t.Errorf("%s: column %q holds a number of which nothing is said", table, c.title)
			}
			continue
		}
		for _, r := range rows {
			a := c.about(r)
			if _, ok := glossary.Find(a.Topic); !ok && !strings.HasPrefix(a.Topic, MarkRow) && a.Topic != "" {
				t.Errorf("%s: column %q is about %q, which is not in the glossary", table, c.title, a.Topic)
			}
		}
	}
}

// TestEveryColumnOfNumbersHasATopic goes through the tables, all columns of them.
func TestEveryColumnOfNumbersHasATopic(t *testing.T) {
	f, look := tuitest.Mixed(), Look{}
	var flows []*model.WorkflowView
	for i := range f.Workflows {
		flows = append(flows, &f.Workflows[i])
	}
	columnsExplained(t, "workflows", workflowColumns(f, f.Workflows, 400, look), flows...)
	columnsExplained(t, "budgets", budgetColumns(20, 400), flows...)
	var targets []*model.TargetView
	var rows []row
	for i := range f.Targets {
		targets = append(targets, &f.Targets[i])
		rows = append(rows, rowOf(&f.Targets[i], f))
	}
	columnsExplained(t, "targets", targetColumns(f, targets, 400, 0, look), rows...)
	gpus := tuitest.GPUs()
	var devices []deviceEntry
	var views []*model.DeviceView
	for i := range gpus.Devices {
		devices = append(devices, deviceEntry{d: &gpus.Devices[i]})
		views = append(views, &gpus.Devices[i])
	}
	columnsExplained(t, "devices", deviceColumns(devices, 400, look), views...)
	use := tuitest.ManyUse()
	var engines []*model.UtilizationView
	for i := range use.Utilization {
		engines = append(engines, &use.Utilization[i])
	}
	columnsExplained(t, "utilization", utilizationColumns(engines, 400, look), engines...)
	found := tuitest.Arrivals()
	var factors []*model.FactorView
	for i := range found.Diagnoses[0].Factors {
		factors = append(factors, &found.Diagnoses[0].Factors[i])
	}
	columnsExplained(t, "factors", factorColumns("pool", 20), factors...)
}

// TestExplainGoldens are explanations of some numbers in each size, in Unicode and ASCII.
func TestExplainGoldens(t *testing.T) {
	for _, c := range []struct {
		name  string
		frame *model.Frame
		e     Explain
	}{
		{"quantile", tuitest.Breach(), Explain{About: About{"ttft.p95", "summarize"}, Shown: "~3.2 s"}},
		{"beyond", tuitest.Breach(), Explain{About: About{"ttft.p95", "chat"}, Shown: ">7.5 s"}},
		{"goodput", tuitest.Breach(), Explain{About: About{"goodput", "chat"}, Shown: "0–3 %"}},
		{"burn", tuitest.Breach(), Explain{About: About{"burn.5m", "chat"}, Shown: "19.6×"}},
		{"missing", tuitest.Mixed(), Explain{About: About{"tpot.p95", string(tuitest.Mixed().Targets[2].ID)}, Shown: "n/e"}},
		{"gpu", tuitest.GPUs(), Explain{About: About{"tensor_active", tuitest.GPUs().Devices[0].UUID}, Shown: "30 %"}},
		{"mfu", tuitest.TrafficUse(), Explain{About: About{"mfu", tuitest.TrafficUse().Utilization[0].Target}, Shown: "26.0 %"}},
		{"load", tuitest.TrafficUse(), Explain{About: About{"load", tuitest.TrafficUse().Capacity[0].Pool}, Shown: "1.46"}},
		{"topic", tuitest.Calm(), Explain{About: About{Topic: "wait_now"}, Bare: true}},
	} {
		tuitest.Golden(t, "explain/"+c.name, everySize(t, c.name, c.frame, c.e))
	}
	for _, g := range []Glossary{{}, {At: 40}, {Filter: "token"}, {Filter: "nothing at all"}} {
		tuitest.Golden(t, fmt.Sprintf("glossary/%d%s", g.At, strings.ReplaceAll(g.Filter, " ", "-")), everySize(t, "glossary", nil, g))
	}
}

// everySize draws a pane in each size, in Unicode and in ASCII.
func everySize(t *testing.T, name string, f *model.Frame, p Pane) string {
	var b strings.Builder
	for _, s := range tuitest.Sizes {
		for _, ascii := range []bool{false, true} {
			size := layout.Size{W: s.W, H: s.H}
			got := p.Render(f, size, Look{ASCII: ascii})
			tuitest.Fits(t, name, got, size.W, size.H)
			if ascii {
				for _, r := range got {
					if r > 0x7e {
						t.Errorf("%s: %q in ASCII", name, r)
						break
					}
				}
			}
			fmt.Fprintf(&b, "=== %d×%d ascii %v\n%s\n", s.W, s.H, ascii, got)
		}
	}
	return b.String()
}

// FuzzUnmark: foreign text in a name or a cell neither makes a mark nor breaks one.
func FuzzUnmark(f *testing.F) {
	for _, s := range []string{"chat", "a;b", "\x1b_slotop:x;y\x1b\\", "漢字\n", "%zz", "\x1b\\", "\x9c", "\u202e", ""} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, of, text string) {
		about := About{"ttft.p95", of}
		look := Look{Spots: true}
		l := look.line(60).pad(1).parts(2, part{segs: []seg{{text: look.foreign(text, 20)}}}.of("goodput", of), say(0, 0, "7 ms").of(about.Topic, about.Of))
		plain, spots := Unmark(l.String() + "\n" + look.foreign(text, 40))
		if want := (Look{}).line(60).pad(1).parts(2, say(0, 0, look.foreign(text, 20)), say(0, 0, "7 ms")).String() + "\n" + look.foreign(text, 40); plain != want {
			t.Errorf("%q instead of %q", plain, want)
		}
		found := false
		for _, s := range spots {
			found = found || s.About == about && s.Text == "7 ms"
			if s.Topic != "ttft.p95" && s.Topic != "goodput" || s.Of != of {
				t.Errorf("a spot about %v", s.About)
			}
		}
		if !found {
			t.Errorf("the number is no spot of %v", spots)
		}
		Pointed(plain, Spot{X: 3, W: 4, Text: "7 ms"}, 60, Look{ASCII: true})
		_, _ = Unmark(text)
	})
}

package report

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	pm "github.com/prometheus/common/model"

	"slotop/model"
)

// exposedPage is a frame as a page, and its series as Prometheus reads them.
func exposedPage(t *testing.T, f *model.Frame) (string, map[string]float64) {
	t.Helper()
	var e Exposition
	text := e.Page(f, Exposed{Version: "1.2.3", AgeS: model.Of(0.5)})
	parser := expfmt.NewTextParser(pm.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	out := map[string]float64{}
	for name, fam := range families {
		if fam.GetHelp() == "" || !strings.HasPrefix(name, "slotop_") {
			t.Errorf("%s: help %q", name, fam.GetHelp())
		}
		for _, m := range fam.GetMetric() {
			key := name
			for _, l := range m.GetLabel() {
				key += "," + l.GetName() + "=" + l.GetValue()
			}
			v := m.GetGauge().GetValue() + m.GetCounter().GetValue()
			if _, twice := out[key]; twice || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: twice or no number: %v", key, v)
			}
			out[key] = v
		}
	}
	return text, out
}

// TestExposition: every frame is a page that Prometheus reads, each series once, and the
// same frame twice is the same page.
func TestExposition(t *testing.T) {
	for name, make := range map[string]func() *model.Frame{
		"calm": calm, "incident": incident, "empty": empty, "gpus": gpus, "explained": explained, "gated": gated, "load test": loadTest,
	} {
		text, _ := exposedPage(t, make())
		again, _ := exposedPage(t, make())
		if text != again {
			t.Errorf("%s: another page the second time", name)
		}
		if strings.ContainsAny(text, "\x1b\r\x00") {
			t.Errorf("%s: passes on what a terminal obeys", name)
		}
	}
	text, _ := exposedPage(t, incident())
	golden(t, "exposition.prom", []byte(text))
}

// What is not known has no sample: neither 0 nor NaN.
func TestExpositionOfNothing(t *testing.T) {
	_, got := exposedPage(t, nil)
	if len(got) != 2 { // the build and the age
		t.Errorf("%v", got)
	}
	f := &model.Frame{At: at(0), WindowS: 60, Workflows: []model.WorkflowView{{Name: "w", Goodput: &model.GoodputView{Verdict: model.NoData}}}}
	_, got = exposedPage(t, f)
	for key := range got {
		if strings.Contains(key, "goodput_ratio") || strings.Contains(key, "latency") || strings.Contains(key, "burn") {
			t.Errorf("%s = %v of nothing known", key, got[key])
		}
	}
	if got["slotop_workflow_verdict,workflow=w,verdict=no_data"] != 1 || got["slotop_workflow_verdict,workflow=w,verdict=met"] != 0 {
		t.Errorf("%v", got)
	}
}

// A finding that is over reads 0, and the oldest that are over are forgotten.
func TestExpositionOfFindings(t *testing.T) {
	var e Exposition
	f := &model.Frame{At: at(0)}
	for i := range maxTold + 10 {
		f.Findings = []model.FindingView{{ID: fmt.Sprint("T", i), Title: "title", Layer: model.LayerCause, Confidence: model.HighConfidence, Workflow: "chat"}}
		e.Page(f, Exposed{})
	}
	if len(e.told) != maxTold {
		t.Errorf("%d findings are remembered", len(e.told))
	}
	page := e.Page(f, Exposed{})
	for want, n := range map[string]int{"T209\"": 1, "T208\"": 0} {
		line := page[strings.Index(page, `slotop_finding{id="`+want):]
		line, _, _ = strings.Cut(line, "\n")
		if !strings.HasSuffix(line, fmt.Sprint(" ", n)) {
			t.Errorf("%q, want %d", line, n)
		}
	}
	if strings.Contains(page, `id="T0"`) {
		t.Error("the oldest is still there")
	}
}

// Names carry their units, counters end in _total, and labels are declared.
func TestExpositionNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range families {
		if seen[f.name] {
			t.Errorf("%s is there twice", f.name)
		}
		seen[f.name] = true
		if total := strings.HasSuffix(f.name, "_total"); total != (f.kind == "counter") {
			t.Errorf("%s is a %s", f.name, f.kind)
		}
		if slices.Contains(f.labels, "quantile") || slices.Contains(f.labels, "le") {
			t.Errorf("%s has a label that is a histogram's", f.name)
		}
	}
}

const exportPage = "../../docs/export.md"

// The table of metrics in the documentation is made of the metrics.
func TestExportDocsAreFresh(t *testing.T) {
	text, err := os.ReadFile(exportPage)
	if err != nil {
		t.Fatal(err)
	}
	start, end := strings.Index(string(text), "<!-- metrics:"), strings.Index(string(text), "<!-- /metrics -->")
	if start < 0 || end < start {
		t.Fatal("no place for the metrics")
	}
	start += strings.Index(string(text[start:]), "-->\n") + len("-->\n")
	var b strings.Builder
	b.WriteString("\n| metric | type | labels | |\n|---|---|---|---|\n")
	for _, f := range families {
		labels := ""
		if len(f.labels) > 0 {
			labels = "`" + strings.Join(f.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, f.kind, labels, f.help)
	}
	fresh := string(text[:start]) + b.String() + "\n" + string(text[end:])
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/export.md is not what the program says; run go test ./model/report -run ExportDocs -update and read the difference")
	}
	if err := os.WriteFile(exportPage, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

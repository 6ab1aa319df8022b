package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// The cases are situations that people who watch inference servers reported.
// Each runs the whole way: page, dialect, fold, frame, and text where the case
// is about what stands there.

// play folds saved pages, one poll each, every interval apart, and returns all
// frames.
func play(t *testing.T, every time.Duration, args ...string) []*model.Frame {
	t.Helper()
	return playOver(t, 0, every, args...)
}

// playOver is play with another window than the usual.
func playOver(t *testing.T, window, every time.Duration, args ...string) []*model.Frame {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), args, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: every, Window: window})
	if err != nil {
		t.Fatal(err)
	}
	var frames []*model.Frame
	err = sources.Play(context.Background(), opened, sources.PlayOptions{Every: every}, func(in model.Input) {
		c.take(in)
		if in.IsTick() {
			frames = append(frames, c.box.latest())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(frames) == 0 {
		t.Fatal("no frame")
	}
	return frames
}

// caseFiles are the paths of a case's files.
func caseFiles(t *testing.T, names ...string) []string {
	t.Helper()
	dir := shared.Dir(t, "cases/files")
	for i, n := range names {
		names[i] = filepath.Join(dir, n)
	}
	return names
}

// only is the one workflow of the last frame.
func only(t *testing.T, frames []*model.Frame) (*model.Frame, model.WorkflowView) {
	t.Helper()
	f := frames[len(frames)-1]
	if len(f.Workflows) != 1 {
		t.Fatalf("%d workflows", len(f.Workflows))
	}
	return f, f.Workflows[0]
}

// is checks a reading against the case's figure, exact to the digits it shows.
func is(t *testing.T, what string, r model.Reading, want, within float64) {
	t.Helper()
	v, ok := r.Get()
	if !ok || math.Abs(v-want) > within {
		t.Errorf("%s: got %v (%v), want %v", what, r.Value, r.State, want)
	}
}

func says(t testing.TB, what, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%s does not say %q:\n%s", what, want, text)
	}
}

func saysNot(t testing.TB, what, text, never string) {
	t.Helper()
	if strings.Contains(text, never) {
		t.Errorf("%s says %q:\n%s", what, never, text)
	}
}

func asText(f *model.Frame) string { return report.Text(f, report.Options{Width: 120}) }

func notesOf(f *model.Frame) string {
	var all []string
	for _, v := range f.Targets {
		all = append(all, v.Notes...)
	}
	for _, w := range f.Workflows {
		all = append(all, w.Notes...)
	}
	return strings.Join(all, "\n")
}

func TestOC01WedgedEngine(t *testing.T) {
	wedged := caseFiles(t, "wedged-scrape.prom")[0]
	frames := play(t, 5*time.Second, slices.Repeat([]string{wedged}, 7)...)
	for i, f := range frames {
		if stalled := f.Targets[0].State == model.Stalled; stalled != (i >= 3) {
			t.Errorf("at %d s: %s", 5*i, f.Targets[0].State)
		}
	}
	f, w := only(t, frames)
	is(t, "throughput", w.Tokens.OutputPerSecond, 0, 0)
	for name, d := range map[string]*model.Dist{"TTFT": w.TTFT, "E2E": w.E2E} {
		if d == nil || d.N != 0 || d.P95.Exists() || d.P50.Exists() {
			t.Errorf("%s: %+v, want no samples", name, d)
		}
	}
	const alert = "no progress: 0 running, 7 waiting, 0 tok/s for 30 s"
	if got := alertsOf(t, f); !slices.Equal(got, []string{"stalled firing: " + alert}) {
		t.Errorf("alerts: %q", got)
	}
	text := asText(f)
	says(t, "the text", text, alert)
	says(t, "the text", text, "no samples")
	// A cache at 0 % stands only in rows that say what is wrong.
	for _, name := range []string{w.Name, f.Targets[0].Name} {
		kv, state := cell(t, text, name, "KV"), strings.Fields(text[strings.Index(text, "\n"+name+" "):])[1]
		if kv != "0 %" || state != "STALLED" {
			t.Errorf("%s: KV %q, state %q", name, kv, state)
		}
	}
	for _, healthy := range []string{" met", " up ", " idle"} {
		saysNot(t, "the text", text, healthy)
	}

	idle := caseFiles(t, "wedged-idle.prom")[0]
	f, _ = only(t, play(t, 5*time.Second, slices.Repeat([]string{idle}, 7)...))
	if f.Targets[0].State != model.Idle || len(f.Alerts) != 0 {
		t.Errorf("control: %s, %v", f.Targets[0].State, f.Alerts)
	}
}

// alertsOf are the alerts of a frame as its JSON has them.
func alertsOf(t *testing.T, f *model.Frame) []string {
	t.Helper()
	var b strings.Builder
	if err := report.JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Alerts []struct{ Rule, State, Text string }
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, a := range got.Alerts {
		all = append(all, a.Rule+" "+a.State+": "+a.Text)
	}
	return all
}

func TestOC03RenamedMetrics(t *testing.T) {
	for _, name := range []string{"renamed-both.prom", "renamed-old.prom", "renamed-new.prom"} {
		t.Run(name, func(t *testing.T) {
			_, w := only(t, play(t, 5*time.Second, caseFiles(t, name)...))
			is(t, "KV", w.KVCacheUsage, 0.625, 0)
			if w.ITL == nil {
				t.Fatal("no inter-token latency")
			}
			is(t, "p50", w.ITL.P50.Value, 0.0333, 0.00005)
			is(t, "p95", w.ITL.P95.Value, 0.0750, 0.00005)
			if w.ITL.N != 1000 || w.ITL.Basis != model.SinceStart {
				t.Errorf("n %v, %s", w.ITL.N, w.ITL.Basis)
			}
			if w.TPOT != nil && w.TPOT.N > 0 {
				t.Errorf("gaps shown as TPOT: %+v", w.TPOT)
			}
		})
	}
	_, w := only(t, play(t, 5*time.Second, caseFiles(t, "started-finished.prom")...))
	if w.KVCacheUsage.OK() || !slices.Contains(w.Missing, model.KVUsage) {
		t.Errorf("neither name: KV %+v, missing %v", w.KVCacheUsage, w.Missing)
	}
}

func TestOC04PercentilesOverReplicas(t *testing.T) {
	f := play(t, 5*time.Second, caseFiles(t, "replica-a.prom")[0])
	_, a := only(t, f)
	is(t, "a p99", a.E2E.P99.Value, 0.1+0.15*(0.99*990-900)/90, 1e-9) // 0.2335: 0.23 to the digits of the case
	_, b := only(t, play(t, 5*time.Second, caseFiles(t, "replica-b.prom")[0]))
	is(t, "b p99", b.E2E.P99.Value, 9.95, 1e-9)
	if b.E2E.N != 10 || b.E2E.P99.Enough {
		t.Errorf("b: n %v, enough %v", b.E2E.N, b.E2E.P99.Enough)
	}
	files := caseFiles(t, "replica-a.prom", "replica-b.prom")
	_, both := only(t, play(t, 5*time.Second, asDir(t, "a", files[0]), asDir(t, "b", files[1])))
	is(t, "fleet p99", both.E2E.P99.Value, 0.25, 0.0005)
	if both.E2E.N != 1000 {
		t.Errorf("fleet n %v", both.E2E.N)
	}
	if r := both.Worst; r == nil || r.Target != "b" || r.Metric != model.MetricE2E || r.Latency.N != 10 || r.Latency.P99.Value.Value != b.E2E.P99.Value.Value {
		t.Errorf("worst replica %+v", r)
	}
}

// TestOC04Summaries: ready-made quantiles of two replicas make none of the fleet.
func TestOC04Summaries(t *testing.T) {
	page := func(p99 string) string {
		return `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="m"} 1
# TYPE vllm:e2e_request_latency_seconds summary
vllm:e2e_request_latency_seconds{model_name="m",quantile="0.5"} 0.31
vllm:e2e_request_latency_seconds{model_name="m",quantile="0.99"} ` + p99 + `
vllm:e2e_request_latency_seconds_sum{model_name="m"} 40
vllm:e2e_request_latency_seconds_count{model_name="m"} 100
`
	}
	f, w := only(t, play(t, 5*time.Second, asPages(t, "a", page("0.73")), asPages(t, "b", page("9.91"))))
	is(t, "running", w.Requests.Running, 2, 0)
	if d := w.E2E; d != nil && (d.P50.Exists() || d.P90.Exists() || d.P95.Exists() || d.P99.Exists()) {
		t.Errorf("a percentile from summaries: %+v", d)
	}
	for _, p := range []string{"0.73", "730 ms", "9.9", "5.3"} { // of a, of b, and their mean
		saysNot(t, "the text", asText(f), p)
	}
}

// asDir makes a file a target of its own.
func asDir(t *testing.T, name, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return asPages(t, name, string(text))
}

// asPages makes pages a target, one poll each.
func asPages(t *testing.T, name string, pages ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("page-%02d.prom", i)), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// cell is what stands under a title in the row that begins with a name, in the
// first table that has both.
func cell(t *testing.T, text, name, title string) string {
	t.Helper()
	edge := -1
	for line := range strings.Lines(text) {
		if before, _, ok := strings.Cut(line, " "+title); ok && edge < 0 {
			edge = ansi.StringWidth(before + " " + title)
		} else if edge >= 0 && strings.HasPrefix(line, name+" ") {
			fields := strings.Split(ansi.Truncate(line, edge, ""), "  ")
			return strings.TrimSpace(fields[len(fields)-1])
		}
	}
	t.Fatalf("no %s of %s in\n%s", title, name, text)
	return ""
}

func TestOC07StickyThroughputGauge(t *testing.T) {
	files := caseFiles(t, "sticky-1.prom", "sticky-2.prom", "sticky-3.prom")
	frames := playOver(t, 10*time.Second, 10*time.Second, files...)
	for i, want := range map[int]string{1: "0.0", 2: "390"} {
		f, w := only(t, frames[:i+1])
		v, _ := strconv.ParseFloat(want, 64)
		is(t, "throughput", w.Tokens.OutputPerSecond, v, 0)
		is(t, "of the target", f.Targets[0].OutputPerSecond, v, 0)
		is(t, "engine reports", f.Targets[0].ReportedOutput, 412.5, 0)
		text := asText(f)
		if got := cell(t, text, w.Name, "TOK/S"); got != want {
			t.Errorf("after scrape %d the throughput reads %q, want %q", i+1, got, want)
		}
		if n := strings.Count(text, "412"); n != 1 || !strings.Contains(text, "engine reports 412") {
			t.Errorf("the gauge is told %d times:\n%s", n, text)
		}
		if len(f.Alerts) != 0 {
			t.Errorf("alerts: %v", f.Alerts)
		}
	}
}

func TestOC14NoTraffic(t *testing.T) {
	idle := caseFiles(t, "idle.prom")[0]
	f, w := only(t, play(t, 10*time.Second, slices.Repeat([]string{idle}, 31)...))
	if w.TTFT == nil || w.TTFT.N != 0 || w.TTFT.P50.Exists() || w.TTFT.P95.Exists() || w.TTFT.P99.Exists() {
		t.Errorf("TTFT %+v", w.TTFT)
	}
	if w.Objectives[0].Verdict != model.NoData {
		t.Errorf("verdict %s", w.Objectives[0].Verdict)
	}
	says(t, "the text", asText(f), "no samples")
}

func TestOC19MissingFamilies(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, caseFiles(t, "families-missing.prom")...))
	for _, s := range []model.Signal{model.Finished, model.TPOT, model.E2E, model.KVUsage} {
		if !slices.Contains(w.Missing, s) {
			t.Errorf("%s is not called missing: %v", s, w.Missing)
		}
	}
	if w.KVCacheUsage.OK() || w.Requests.Finished.OK() || w.E2E != nil {
		t.Errorf("KV %+v, finished %+v, E2E %+v", w.KVCacheUsage, w.Requests.Finished, w.E2E)
	}
	text := asText(f)
	says(t, "the text", text, "KV usage not exported")
	says(t, "the text", text, "finished not exported")
	says(t, "the text", text, "n/e: not exported")
	for _, title := range []string{"KV", "ITL p95", "TOK/S"} {
		if got := cell(t, text, w.Name, title); got != "n/e" {
			t.Errorf("%s reads %q, want n/e", title, got)
		}
	}
	saysNot(t, "the text", text, "0 %")
	if o := w.Objectives[1]; o.Metric != "tpot" || o.Verdict != model.CannotCompute || o.Share.Lo.OK() || o.Share.Hi.OK() {
		t.Errorf("TPOT: %+v", o)
	}
	says(t, "the text", text, "objective TPOT 50 ms for 95 %: cannot compute")
}

func TestOC23StartedAndFinished(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, caseFiles(t, "started-finished.prom")...))
	r := w.Requests
	is(t, "started", r.Started, 7200, 0)
	is(t, "finished", r.Finished, 3500, 0)
	is(t, "running", r.Running, 4, 0)
	is(t, "waiting", r.Waiting, 0, 0)
	is(t, "unaccounted", r.Unaccounted, 3696, 0)
	says(t, "the text", asText(f), "unaccounted")
}

func TestOC26GaugePerProcess(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, caseFiles(t, "gauge-per-pid.prom")...))
	is(t, "KV", w.KVCacheUsage, 0.712, 0)
	says(t, "the notes", notesOf(f), "8 process copies")
	if len(f.Targets[0].Engines) > 1 {
		t.Errorf("processes taken for engines: %+v", f.Targets[0].Engines)
	}
}

func TestOC28RanksRepeatTheSameCount(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, caseFiles(t, "ranks-dp-tp.prom")...))
	is(t, "two data-parallel ranks", w.Requests.Running, 17, 0)
	if len(f.Targets[0].Engines) != 2 {
		t.Errorf("engines: %+v", f.Targets[0].Engines)
	}
	_, w = only(t, play(t, 5*time.Second, caseFiles(t, "ranks-no-dp.prom")...))
	is(t, "no data-parallel rank", w.Requests.Running, 24, 0)
}

func TestOC30Triton(t *testing.T) {
	f := play(t, 5*time.Second, caseFiles(t, "triton-ensemble.prom")...)
	w := workflow(t, f[0], "ensemble")
	is(t, "requests", w.Requests.Finished, 64, 0)
	is(t, "mean", w.E2E.Mean, 0.440, 1e-9)
	if w.E2E.P50.Exists() {
		t.Errorf("a percentile from a mean: %+v", w.E2E.P50)
	}
	total := 0.0
	for _, w := range f[0].Workflows {
		if v, ok := w.Requests.Finished.Get(); ok {
			total += v
		}
	}
	if total != 64 {
		t.Errorf("%v requests in all", total)
	}
	f = play(t, 5*time.Second, caseFiles(t, "triton-implausible.prom")...)
	w = f[0].Workflows[0]
	is(t, "mean", w.E2E.Mean, 0.000255, 1e-9)
	says(t, "the notes", notesOf(f[0]), "no request latency")
}

func workflow(t *testing.T, f *model.Frame, name string) model.WorkflowView {
	t.Helper()
	for _, w := range f.Workflows {
		if w.Name == name {
			return w
		}
	}
	t.Fatalf("no workflow %q", name)
	return model.WorkflowView{}
}

func TestOC10BadLines(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, caseFiles(t, "one-bad-line.prom")...))
	is(t, "running", w.Requests.Running, 4, 0)
	is(t, "waiting", w.Requests.Waiting, 1, 0)
	if got := f.Targets[0]; got.BadLines != 2 || got.State != model.Up {
		t.Errorf("%d bad lines, %s", got.BadLines, got.State)
	}
	says(t, "the text", asText(f), "2 lines skipped (5, 8)")
	f, w = only(t, play(t, 5*time.Second, caseFiles(t, "repeated-type.prom")...))
	is(t, "running", w.Requests.Running, 6, 0)
	if got := f.Targets[0]; got.BadLines != 0 || len(got.Engines) != 2 {
		t.Errorf("%d bad lines, engines %+v", got.BadLines, got.Engines)
	}
}

func TestOC32NaN(t *testing.T) {
	f := play(t, 5*time.Second, caseFiles(t, "nan.prom")...)[0]
	if f.Targets[0].State == model.Down || f.Targets[0].BadLines != 0 {
		t.Errorf("%s, %d bad lines", f.Targets[0].State, f.Targets[0].BadLines)
	}
	saysNot(t, "the text", asText(f), "NaN")
	var b strings.Builder
	if err := report.JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	saysNot(t, "the JSON", b.String(), "NaN")
}

func TestOC35LabelEscapes(t *testing.T) {
	f := play(t, 5*time.Second, caseFiles(t, "label-escapes.prom")...)[0]
	want := map[string]float64{"D:\\models\\\"Chat\" 72B, {q4} #1\n": 3, `F:\`: 5, "/data/models/acme/chat 70b/": 2}
	for name, v := range want {
		is(t, name, workflow(t, f, name).Requests.Running, v, 0)
	}
	is(t, "sum", f.Targets[0].Running, 10, 0)
	for line := range strings.Lines(asText(f)) {
		if strings.HasPrefix(line, "#1") || strings.Contains(line, "\r") {
			t.Errorf("a name broke its line: %q", line)
		}
	}
	says(t, "the text", asText(f), "chat 70b/")
}

func TestOC37OpenMetrics(t *testing.T) {
	f, w := only(t, play(t, 5*time.Second, caseFiles(t, "openmetrics.prom")...))
	if w.TTFT == nil || w.TTFT.N != 10 {
		t.Fatalf("TTFT %+v", w.TTFT)
	}
	if f.Targets[0].BadLines != 0 {
		t.Errorf("%d bad lines: %s", f.Targets[0].BadLines, f.Targets[0].FirstBad)
	}
	if p := w.TTFT.P90; !p.Open || p.Lo.Value != 0.1 {
		t.Errorf("80 %% within 0.1 s: p90 %+v", p)
	}
	is(t, "80 % within 0.1 s: p50", w.TTFT.P50.Value, 0.1*5/8, 1e-12)
	is(t, "the quoted name", w.Requests.Running, 3, 0)
	says(t, "the text", asText(f), "running 3")
	saysNot(t, "the text", asText(f), "skipped")

	// A frame has rates of tokens only, so the 1 234 come within ten seconds.
	page := string(shared.File(t, "cases/files/openmetrics.prom"))
	before := strings.Replace(page, "} 1234.0 #", "} 0.0 #", 1)
	if before == page {
		t.Fatal("the page holds no 1234.0")
	}
	_, w = only(t, play(t, 10*time.Second, asPages(t, "a", before, page)))
	is(t, "prompt tokens in ten seconds", w.Tokens.PromptPerSecond, 123.4, 1e-9)
	_, w = only(t, play(t, 10*time.Second, asPages(t, "a", page, page)))
	is(t, "no prompt tokens", w.Tokens.PromptPerSecond, 0, 0)
}

func TestOC11EscapeInjection(t *testing.T) {
	f := play(t, 5*time.Second, caseFiles(t, "escape-injection.prom")...)[0]
	is(t, "sum", f.Targets[0].Running, 6, 0)
	if len(f.Workflows) != 3 {
		t.Errorf("%d workflows", len(f.Workflows))
	}
	var js strings.Builder
	if err := report.JSON(&js, f); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"text": asText(f), "json": js.String()} {
		for _, r := range text {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e {
				t.Errorf("%s holds %U", what, r)
			}
		}
	}
}

func TestOC39PrefixHit(t *testing.T) {
	f, w := only(t, play(t, 10*time.Second, caseFiles(t, "prefix-1.prom", "prefix-2.prom")...))
	is(t, "window", w.PrefixCacheHit, 0.05, 1e-12)
	says(t, "the text", asText(f), "prefix hits 5.0 % of prompt tokens")
	says(t, "the text", asText(f), "prefix cache hits from vllm:prefix_cache_hits_total: tokens")
	saysNot(t, "the text", asText(f), "79.1") // the lifetime, which is not shown
	f, w = only(t, play(t, 10*time.Second, slices.Repeat(caseFiles(t, "prefix-2.prom"), 2)...))
	if w.PrefixCacheHit.State != model.NoTraffic {
		t.Errorf("without queries: %+v", w.PrefixCacheHit)
	}
	saysNot(t, "the text", asText(f), "79.1")
}

// prefixPages are the pages of OC-39 with another counter of hits, and preempted
// requests on the second.
func prefixPages(t *testing.T, hits1, hits2, preempted string) string {
	t.Helper()
	page := func(file, was, hits, preempted string) string {
		text := string(shared.File(t, "cases/files/"+file))
		changed := strings.Replace(text, "} "+was, "} "+hits, 1)
		if was != hits && changed == text {
			t.Fatalf("%s holds no %s", file, was)
		}
		return changed + "# TYPE vllm:num_preemptions_total counter\n" +
			`vllm:num_preemptions_total{engine="0",model_name="acme/chat-70b"} ` + preempted + "\n"
	}
	return asPages(t, "a",
		page("prefix-1.prom", "800000.0", hits1, "0.0"),
		page("prefix-2.prom", "800600.0", hits2, preempted))
}

func TestOC39PrefixRemarks(t *testing.T) {
	const neverMoved, recomputed = "the counter never moved", "preemptions in the window: recomputed prompts may count as prefix hits"
	tests := []struct {
		name                   string
		hits1, hits2, preempts string
		hit                    float64
		says, never            []string
	}{
		{"no preemption", "800000.0", "800600.0", "0.0", 0.05, nil, []string{neverMoved, recomputed}},
		{"preemptions", "800000.0", "800600.0", "7.0", 0.05, []string{recomputed}, []string{neverMoved}},
		{"hits 0 for ever", "0.0", "0.0", "0.0", 0, []string{neverMoved}, []string{recomputed}},
		{"hits 0 for ever, and preemptions", "0.0", "0.0", "7.0", 0, []string{neverMoved, recomputed}, nil},
		{"a window without hits", "800000.0", "800000.0", "0.0", 0, nil, []string{neverMoved}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f, w := only(t, play(t, 10*time.Second, prefixPages(t, tc.hits1, tc.hits2, tc.preempts)))
			is(t, "window", w.PrefixCacheHit, tc.hit, 1e-12)
			for _, want := range tc.says {
				says(t, "the text", asText(f), want)
			}
			for _, never := range tc.never {
				saysNot(t, "the text", asText(f), never)
			}
		})
	}
}

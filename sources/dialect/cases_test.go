package dialect

import (
	"math"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// read is what the built-in dialects make of one page.
type read struct {
	t       *testing.T
	samples []model.Sample
	about   *model.About
}

func readPage(t *testing.T, body string) read {
	t.Helper()
	page := scan(t, []byte(body))
	d, ok := builtinSet(t).Detect(page)
	if !ok {
		t.Fatal("no dialect claims the page")
	}
	plan := d.Compile(page)
	return read{t, plan.Read(page, nil), plan.About(page)}
}

func readCase(t *testing.T, name string) read {
	t.Helper()
	return readPage(t, string(shared.File(t, "cases/files/"+name)))
}

// of are the samples of a signal.
func (r read) of(s model.Signal) []model.Sample {
	var all []model.Sample
	for _, one := range r.samples {
		if one.Signal == s {
			all = append(all, one)
		}
	}
	return all
}

// only is the one sample of a signal.
func (r read) only(s model.Signal) model.Sample {
	r.t.Helper()
	all := r.of(s)
	if len(all) != 1 {
		r.t.Fatalf("%s has %d samples, want 1", s, len(all))
	}
	return all[0]
}

func (r read) value(s model.Signal, want float64) {
	r.t.Helper()
	if got := r.only(s).Value; got != want {
		r.t.Errorf("%s = %v, want %v", s, got, want)
	}
}

func (r read) none(signals ...model.Signal) {
	r.t.Helper()
	for _, s := range signals {
		if all := r.of(s); len(all) > 0 {
			r.t.Errorf("%s has %d samples, want none", s, len(all))
		}
	}
}

func (r read) noted(part string) {
	r.t.Helper()
	if !slices.ContainsFunc(r.about.Notes, func(n string) bool { return strings.Contains(n, part) }) {
		r.t.Errorf("no note says %q: %q", part, r.about.Notes)
	}
}

func (r read) missing(signals ...model.Signal) {
	r.t.Helper()
	for _, s := range signals {
		if !slices.Contains(r.about.Missing, s) {
			r.t.Errorf("%s is not called missing: %v", s, r.about.Missing)
		}
	}
}

func (r read) meaning(s model.Signal) model.Meaning {
	r.t.Helper()
	i := slices.IndexFunc(r.about.Meanings, func(m model.Meaning) bool { return m.Signal == s })
	if i < 0 {
		r.t.Fatalf("%s has no meaning", s)
	}
	return r.about.Meanings[i]
}

// OC-03: both names, only the old or only the new say the same, and say it once.
func TestRenamedMetric(t *testing.T) {
	for file, metric := range map[string][2]string{
		"renamed-both.prom": {"vllm:kv_cache_usage_perc", "vllm:inter_token_latency_seconds"},
		"renamed-new.prom":  {"vllm:kv_cache_usage_perc", "vllm:inter_token_latency_seconds"},
		"renamed-old.prom":  {"vllm:gpu_cache_usage_perc", "vllm:time_per_output_token_seconds"},
	} {
		t.Run(file, func(t *testing.T) {
			r := readCase(t, file)
			r.value(model.KVUsage, 0.625)
			itl := r.only(model.ITL).Hist
			if !slices.Equal(itl.Bounds, []float64{0.025, 0.05, 0.1}) || !slices.Equal(itl.Counts, []float64{300, 900, 1000, 1000}) {
				t.Errorf("ITL buckets are %v %v", itl.Bounds, itl.Counts)
			}
			r.none(model.TPOT)
			if got := [2]string{r.meaning(model.KVUsage).Metric, r.meaning(model.ITL).Metric}; got != metric {
				t.Errorf("read from %q, want %q", got, metric)
			}
		})
	}
	r := readCase(t, "families-missing.prom")
	r.none(model.KVUsage, model.ITL)
	r.missing(model.KVUsage, model.ITL)
}

// OC-07: the sticky gauge is only what the engine reports; tokens are counted.
func TestStickyGauge(t *testing.T) {
	for file, tokens := range map[string]float64{"sticky-1.prom": 70000, "sticky-2.prom": 70000, "sticky-3.prom": 73900} {
		r := readCase(t, file)
		r.value(model.OutputTokens, tokens)
		r.value(model.ReportedOutput, 412.5)
		if m := r.meaning(model.ReportedOutput).Measures; !strings.Contains(m, "stays when idle") {
			t.Errorf("%s: the gauge means %q", file, m)
		}
	}
}

// OC-19: families that a flag removed are named, and have no value.
func TestFamiliesMissing(t *testing.T) {
	r := readCase(t, "families-missing.prom")
	r.value(model.Running, 5)
	r.value(model.Waiting, 2)
	gone := []model.Signal{
		model.KVUsage, model.Finished, model.PromptTokens, model.OutputTokens, model.PrefixQueries, model.PrefixHits,
		model.Preemptions, model.ITL, model.TPOT, model.E2E, model.Queue, model.Prefill, model.Decode,
		model.PromptLength, model.OutputLength, model.OutputLimit, model.StepTokens,
	}
	if !slices.Equal(r.about.Missing, gone) {
		t.Errorf("missing %v, want %v", r.about.Missing, gone)
	}
	r.none(gone...)
}

// OC-23: first tokens and finished requests are counted apart.
func TestStartedAndFinished(t *testing.T) {
	r := readCase(t, "started-finished.prom")
	if n := r.only(model.TTFT).Hist.N(); n != 7200 {
		t.Errorf("TTFT has n %v, want 7200", n)
	}
	finished := map[string]float64{}
	for _, s := range r.of(model.Finished) {
		finished[s.Labels.Get(model.LabelReason)] = s.Value
	}
	if len(finished) != 3 || finished["stop"] != 3380 || finished["length"] != 120 || finished["aborted"] != 0 {
		t.Errorf("finished %v", finished)
	}
	r.value(model.Running, 4)
	r.value(model.Waiting, 0)
}

// OC-26: of eight process copies the one that is alive counts.
func TestProcessCopies(t *testing.T) {
	r := readCase(t, "gauge-per-pid.prom")
	r.value(model.KVUsage, 0.712)
	if got := r.only(model.KVUsage).Labels; got != model.Labels(model.LabelEngine, "0", model.LabelModel, "acme/chat-70b") {
		t.Errorf("labels %v: a process is no engine", got)
	}
	r.noted("8 process copies")
}

// OC-28: data-parallel ranks add up, tensor-parallel ranks repeat.
func TestParallelRanks(t *testing.T) {
	r := readCase(t, "ranks-dp-tp.prom")
	got := map[string]float64{}
	for _, s := range r.of(model.Running) {
		got[s.Labels.Get(model.LabelEngine)] = s.Value
	}
	if len(got) != 2 || got["0"] != 10 || got["1"] != 7 {
		t.Errorf("running %v, want 10 and 7", got)
	}
	if strings.Contains(strings.Join(r.about.Notes, "\n"), "disagree") {
		t.Errorf("ranks that agree are called out: %q", r.about.Notes)
	}
	readCase(t, "ranks-no-dp.prom").value(model.Running, 24)

	body := string(shared.File(t, "cases/files/ranks-dp-tp.prom"))
	off := strings.Replace(body, `tp_rank="5"} 7.0`, `tp_rank="5"} 6.0`, 1)
	if off == body {
		t.Fatal("the case has changed")
	}
	readPage(t, off).noted("parallel ranks disagree on sglang:num_running_reqs")
}

// OC-30: an ensemble's request is one request, its microseconds are seconds.
func TestTritonEnsemble(t *testing.T) {
	r := readCase(t, "triton-ensemble.prom")
	r.value(model.Finished, 64)
	e2e := r.only(model.E2E).Hist
	if mean := e2e.Sum.Value / e2e.N(); mean != 0.44 || len(e2e.Bounds) != 0 {
		t.Errorf("mean %v s over %d bounds, want 0.44 s over none", mean, len(e2e.Bounds))
	}
	if m := r.only(model.E2E).Labels.Get(model.LabelModel); m != "ensemble" {
		t.Errorf("model %q, want ensemble", m)
	}
	r.noted("engine step tensorrt_llm: not reported")

	r = readCase(t, "triton-implausible.prom")
	r.value(model.Finished, 2_400_000)
	e2e = r.only(model.E2E).Hist
	if mean := e2e.Sum.Value / e2e.N(); mean != 0.000255 {
		t.Errorf("mean %v s, want 0.000255 s", mean)
	}
	r.noted("no request latency")
}

// OC-32: no number is no value.
func TestNotANumber(t *testing.T) {
	r := readCase(t, "nan.prom")
	r.value(model.OutputTokens, 0)
	if v := r.only(model.ReportedOutput).Value; !math.IsNaN(v) {
		t.Errorf("the rate is %v, want no number", v)
	}
}

// OC-35: decoded names, one model each.
func TestLabelEscapes(t *testing.T) {
	r := readCase(t, "label-escapes.prom")
	got := map[string]float64{}
	for _, s := range r.of(model.Running) {
		got[s.Labels.Get(model.LabelModel)] = s.Value
	}
	want := map[string]float64{"D:\\models\\\"Chat\" 72B, {q4} #1\n": 3, `F:\`: 5, "/data/models/acme/chat 70b/": 2}
	for m, v := range want {
		if got[m] != v || len(got) != len(want) {
			t.Errorf("models %v", got)
		}
	}
	if len(r.about.Models) != 3 {
		t.Errorf("models %q", r.about.Models)
	}
}

// OC-37: creation stamps are no tokens, a quoted name is a name.
func TestOpenMetricsExtras(t *testing.T) {
	r := readCase(t, "openmetrics.prom")
	r.value(model.PromptTokens, 1234)
	ttft := r.only(model.TTFT).Hist
	if !slices.Equal(ttft.Counts, []float64{8, 10}) || ttft.Incomplete {
		t.Errorf("TTFT counts %v, incomplete %v", ttft.Counts, ttft.Incomplete)
	}
	r.value(model.Running, 3)
}

// OC-39: hits and look-ups are counters in tokens.
func TestPrefixCache(t *testing.T) {
	for file, want := range map[string][2]float64{"prefix-1.prom": {1_000_000, 800_000}, "prefix-2.prom": {1_012_000, 800_600}} {
		r := readCase(t, file)
		r.value(model.PrefixQueries, want[0])
		r.value(model.PrefixHits, want[1])
		if m := r.meaning(model.PrefixHits); m.Measures != "tokens" {
			t.Errorf("%s: hits measure %q", file, m.Measures)
		}
		if k := r.only(model.PrefixHits).Kind; k != model.Counter {
			t.Errorf("%s: hits are a %v", file, k)
		}
	}
}

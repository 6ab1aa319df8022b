package sources_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest"
)

// vllmLines is an engine's page, of which a replica runs n requests and makes a
// hundred tokens a second.
func vllmLines(m string, n float64) []string {
	label := fmt.Sprintf(`{model_name=%q,engine="0"`, m)
	lines := []string{
		fmt.Sprintf("vllm:num_requests_running%s} %g", label, n),
		fmt.Sprintf("vllm:num_requests_waiting%s} %g", label, n/2),
		fmt.Sprintf("vllm:kv_cache_usage_perc%s} %g", label, n/100),
		fmt.Sprintf("vllm:generation_tokens_total%s} 5000 100", label),
		fmt.Sprintf(`vllm:request_success_total%s,finished_reason="stop"} 900 4`, label),
		fmt.Sprintf("vllm:time_to_first_token_seconds_sum%s} 50 2", label),
		fmt.Sprintf("vllm:time_to_first_token_seconds_count%s} 900 4", label),
	}
	for le, gain := range map[string]float64{"0.1": 1, "0.5": 3, "+Inf": 4} {
		lines = append(lines, fmt.Sprintf("vllm:time_to_first_token_seconds_bucket%s,le=%q} 900 %g", label, le, gain))
	}
	slices.Sort(lines)
	return lines
}

// aFleet is a server that scrapes a few replicas of one model.
func aFleet(replicas int) *fakeProm {
	f := newFakeProm()
	for i := range replicas {
		instance := fmt.Sprintf("10.0.0.%d:8000", i)
		f.replica("vllm", instance, "up 1")
		f.replica("vllm", instance, vllmLines("m", float64(10+i))...)
	}
	return f
}

// watchedProm polls a source as the scheduler does, while the server's time goes on.
type watchedProm struct {
	tb     testing.TB
	fake   *fakeProm
	source sources.Source
	at     time.Duration
}

func watchProm(tb testing.TB, f *fakeProm, query string) *watchedProm {
	tb.Helper()
	return &watchedProm{tb: tb, fake: f, source: resolve(tb, "prom+"+f.serve(tb).URL+query)[0].Source}
}

// after polls when some time has passed.
func (w *watchedProm) after(d time.Duration) model.Batch {
	w.tb.Helper()
	b, err := w.try(d)
	if err != nil {
		w.tb.Fatalf("poll at %v: %v", w.at, err)
	}
	return b
}

func (w *watchedProm) try(d time.Duration) (model.Batch, error) {
	w.fake.mu.Lock()
	w.fake.now, w.fake.asked = w.fake.now.Add(d), nil
	w.fake.mu.Unlock()
	w.at += d
	w.source.(sources.Advancer).Advance(w.at)
	return w.source.Poll(w.tb.Context())
}

// the is the sample of a signal with the given labels, name and value in turn.
func the(tb testing.TB, b model.Batch, s model.Signal, pairs ...string) model.Sample {
	tb.Helper()
	want := model.Labels(pairs...)
	for _, sample := range b.Samples {
		if sample.Signal == s && sample.Labels == want {
			return sample
		}
	}
	tb.Fatalf("no %s%v among %d samples", s, want, len(b.Samples))
	return model.Sample{}
}

func notesOf(b model.Batch) string { return strings.Join(b.About.Notes, "\n") }

func TestPrometheusKeepsTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return watchProm(tb, aFleet(3), "").source },
		Bad: func(tb testing.TB) sources.Source {
			f := aFleet(1)
			f.wrong = func(string) (int, string) { return http.StatusUnauthorized, "" }
			return watchProm(tb, f, "").source
		},
		Word: model.Denied,
		Silent: func(tb testing.TB) sources.Source {
			over := make(chan struct{})
			s := serve(tb, func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-over:
				}
			})
			tb.Cleanup(func() { close(over) })
			return resolve(tb, "prom+"+s.URL)[0].Source
		},
	})
}

func TestPrometheusAddsAFleetUp(t *testing.T) {
	w := watchProm(t, aFleet(3), "")
	b := w.after(0)
	label := []string{model.LabelModel, "m"}
	if v := the(t, b, model.Running, label...).Value; v != 33 {
		t.Errorf("%v run, want 33", v)
	}
	if v := the(t, b, model.KVUsage, label...).Value; v != 0.12 {
		t.Errorf("the fullest cache has %v, want 0.12", v)
	}
	if a := b.About; a.Engine != "vllm" || a.StepS != 15 || a.Replicas != (model.Replicas{Fresh: 3, Total: 3}) || a.Kind != model.PrometheusTarget {
		t.Errorf("about %+v", a)
	}
	if !b.Clock.Equal(w.fake.now) {
		t.Errorf("the server's clock shows %v, want %v", b.Clock, w.fake.now)
	}
	tokens := the(t, b, model.OutputTokens, label...).Value
	n := the(t, b, model.TTFT, label...).Hist.N()
	for range 6 {
		b = w.after(10 * time.Second)
	}
	if gained := the(t, b, model.OutputTokens, label...).Value - tokens; math.Abs(gained-60*300) > 1e-6 {
		t.Errorf("%v tokens in a minute, want 18000", gained)
	}
	h := the(t, b, model.TTFT, label...).Hist
	if gained := h.N() - n; math.Abs(gained-60*12) > 1e-6 || len(h.Bounds) != 2 || h.Bounds[1] != 0.5 || math.Abs(h.Counts[1]/h.N()-0.75) > 1e-9 || math.Abs(h.Sum.Value/h.N()-0.5) > 1e-9 {
		t.Errorf("%v first tokens in a minute, want 720: %+v", gained, h)
	}
	if v := the(t, b, model.Finished, model.LabelModel, "m", model.LabelReason, "stop").Value; v <= 0 {
		t.Errorf("%v finished", v)
	}
}

// What is asked and what is answered must not grow with the fleet, and nothing is
// asked where there can be nothing new.
func TestPrometheusCostsTheSameForAnyFleet(t *testing.T) {
	bytes := map[int]int{}
	for _, n := range []int{20, 200} {
		w := watchProm(t, aFleet(n), "")
		w.after(0)
		w.after(15 * time.Second)
		w.fake.bytes = 0
		for i := range 30 { // a minute
			w.after(2 * time.Second)
			if asked := len(w.fake.asked); asked > 3 {
				t.Errorf("%d replicas: %d questions in poll %d: %q", n, asked, i, w.fake.asked)
			}
		}
		bytes[n] = w.fake.bytes
	}
	if ratio := float64(bytes[200]) / float64(bytes[20]); ratio > 1.1 {
		t.Errorf("%d bytes a minute of 200 replicas, %d of 20: %.2f times as many", bytes[200], bytes[20], ratio)
	}
	t.Logf("bytes a minute: %d of 20 replicas, %d of 200", bytes[20], bytes[200])
}

func TestPrometheusIsNotAskedBetweenScrapes(t *testing.T) {
	w := watchProm(t, aFleet(2), "")
	w.after(0)
	asked := 0
	last := 0.0
	for range 60 { // two minutes
		b := w.after(2 * time.Second)
		asked += min(1, len(w.fake.asked))
		v := the(t, b, model.OutputTokens, model.LabelModel, "m").Value
		if v <= last {
			t.Fatalf("the count stands still at %v", v)
		}
		last = v
	}
	if asked < 7 || asked > 9 {
		t.Errorf("%d refreshes in 120 s of a server that scrapes every 15 s", asked)
	}
}

// Levels are shown of the same time as counts, so that what was started, what ended and
// what is in flight add up.
func TestPrometheusShowsOneTime(t *testing.T) {
	f := aFleet(1)
	w := watchProm(t, f, "")
	w.after(0)
	w.after(15 * time.Second)
	for i := range f.series {
		if f.series[i].name == "vllm:num_requests_running" {
			f.series[i].value = 40
		}
	}
	for _, c := range []struct{ after, want float64 }{{15, 10}, {5, 20}, {5, 30}, {5, 40}, {15, 40}} {
		b := w.after(time.Duration(c.after * float64(time.Second)))
		if v := the(t, b, model.Running, model.LabelModel, "m").Value; math.Abs(v-c.want) > 1e-6 {
			t.Errorf("%v run at %v, want %v", v, w.at, c.want)
		}
	}
}

// Several kinds of engines behind one server stand beside each other.
func TestPrometheusReadsSeveralDialects(t *testing.T) {
	f := aFleet(1)
	f.replica("sglang", "10.0.1.1:30000", `sglang:num_running_reqs{model_name="m"} 5`, `sglang:num_queue_reqs{model_name="m"} 2`,
		`sglang:generation_tokens_total{model_name="m"} 100 50`)
	f.replica("proxy", "10.0.2.1:4000", "litellm_requests_metric_total 5 1", "litellm_proxy_total_requests_metric_total 5 1")
	b := watchProm(t, f, "").after(0)
	if a, c := the(t, b, model.Running, model.LabelModel, "m", model.LabelEngine, "vllm"), the(t, b, model.Running, model.LabelModel, "m", model.LabelEngine, "sglang"); a.Value != 10 || c.Value != 5 {
		t.Errorf("running %v and %v", a.Value, c.Value)
	}
	if b.About.Engine != "sglang, vllm" || !strings.Contains(notesOf(b), "also there, not read: litellm") {
		t.Errorf("about %+v", b.About)
	}
	chosen := watchProm(t, f, "?dialect=sglang").after(0)
	if v := the(t, chosen, model.Running, model.LabelModel, "m").Value; v != 5 || chosen.About.Engine != "sglang" {
		t.Errorf("%v run at the chosen ones, of %s", v, chosen.About.Engine)
	}
	gateway := watchProm(t, f, "?dialect=litellm").after(0)
	if gateway.About.Kind != model.GatewayTarget {
		t.Errorf("a gateway's dialect makes a %q", gateway.About.Kind)
	}
}

// Single servers are shown on demand, and count once.
func TestPrometheusShowsSingleServers(t *testing.T) {
	w := watchProm(t, aFleet(5), "?replicas=2")
	for range 3 {
		b := w.after(15 * time.Second)
		total, single := 0.0, 0
		for _, s := range b.Samples {
			if s.Signal == model.Running {
				total += s.Value
			}
			if s.Signal == model.Running && s.Labels.Get(model.LabelEngine) != "" {
				single++
			}
		}
		if total != 10+11+12+13+14 || single != 2 {
			t.Errorf("%v run in all, %d servers alone: %v", total, single, b.Samples)
		}
		if asked := len(w.fake.asked); w.at > 15*time.Second && asked > 3 {
			t.Errorf("%d questions", asked)
		}
	}
}

// A part of what is asked for that fails says why, and takes nothing else along.
func TestPrometheusShowsWhatFailedOC32(t *testing.T) {
	f := aFleet(2)
	w := watchProm(t, f, "")
	w.after(0)
	f.wrong = func(query string) (int, string) {
		if strings.Contains(query, "increase(") {
			return 422, `{"status":"error","errorType":"execution","error":"found duplicate series for the match group"}`
		}
		return 0, ""
	}
	b := w.after(15 * time.Second)
	if v := the(t, b, model.Running, model.LabelModel, "m").Value; v != 21 {
		t.Errorf("%v run, want 21", v)
	}
	if !strings.Contains(notesOf(b), "no counts: 422 execution: found duplicate series for the match group") {
		t.Errorf("notes: %s", notesOf(b))
	}
	asked := 0
	for range 20 {
		b = w.after(2 * time.Second)
		for _, q := range f.asked {
			if strings.Contains(q, "increase(") {
				asked++
			}
		}
	}
	if asked > 20 {
		t.Errorf("asked %d times in 20 polls", asked)
	}
	for range 20 {
		b = w.after(2 * time.Second)
	}
	if slices.ContainsFunc(b.Samples, func(s model.Sample) bool { return s.Signal == model.OutputTokens }) {
		t.Error("counts of which nothing was heard for 80 s are still shown")
	}
	f.wrong = nil
	b = w.after(15 * time.Second)
	if strings.Contains(notesOf(b), "no counts") {
		t.Errorf("what is over is still said: %s", notesOf(b))
	}
	the(t, b, model.OutputTokens, model.LabelModel, "m")
}

// A question that is too much for the server is put in smaller pieces, and more rarely.
func TestPrometheusAsksForLessWhereItIsTooMuch(t *testing.T) {
	f := aFleet(2)
	for i := range 2 {
		for _, signal := range []string{"e2e_request_latency_seconds", "request_queue_time_seconds", "inter_token_latency_seconds"} {
			for _, end := range []string{`_bucket{le="+Inf",model_name="m"} 1 1`, `_bucket{le="1",model_name="m"} 1 1`, `_sum{model_name="m"} 1 1`, `_count{model_name="m"} 1 1`} {
				f.replica("vllm", fmt.Sprintf("10.0.0.%d:8000", i), "vllm:"+signal+end)
			}
		}
	}
	const most = 5 // parts in one question
	f.wrong = func(query string) (int, string) {
		if strings.Count(query, "increase(") > most {
			return 422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}`
		}
		return 0, ""
	}
	w := watchProm(t, f, "")
	b := w.after(0)
	if !strings.Contains(notesOf(b), "too many samples") {
		t.Errorf("notes: %s", notesOf(b))
	}
	refused, seen := 0, map[model.Signal]bool{}
	for range 120 {
		b = w.after(5 * time.Second)
		for _, q := range f.asked {
			if strings.Count(q, "increase(") > most {
				refused++
			}
		}
		for _, s := range b.Samples {
			if s.Hist != nil {
				seen[s.Signal] = true
			}
		}
	}
	if refused > 6 {
		t.Errorf("asked %d times more for what is too much", refused)
	}
	for _, s := range []model.Signal{model.TTFT, model.E2E, model.Queue, model.ITL} {
		if !seen[s] {
			t.Errorf("%s was never read", s)
		}
	}
	if !strings.Contains(notesOf(b), "asked for in turns") {
		t.Errorf("notes: %s", notesOf(b))
	}
}

// However large the fleet, one question takes the server no more than 0.3 s, as far as
// it says, and everything has its turn.
func TestPrometheusSparesTheServer(t *testing.T) {
	f := newFakeProm()
	f.each = 45 * time.Microsecond // as five times as many would take a small one
	signals := []string{"time_to_first_token_seconds", "request_time_per_output_token_seconds", "e2e_request_latency_seconds", "request_queue_time_seconds",
		"inter_token_latency_seconds", "request_prefill_time_seconds", "request_decode_time_seconds", "request_prompt_tokens"}
	for i := range 100 {
		lines := []string{`vllm:num_requests_running{model_name="m"} 1`, `vllm:generation_tokens_total{model_name="m"} 1 1`}
		for _, signal := range signals {
			for _, le := range []string{"0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "+Inf"} {
				lines = append(lines, fmt.Sprintf(`vllm:%s_bucket{model_name="m",le=%q} 1 1`, signal, le))
			}
			lines = append(lines, "vllm:"+signal+`_sum{model_name="m"} 1 1`, "vllm:"+signal+`_count{model_name="m"} 1 1`)
		}
		f.replica("vllm", fmt.Sprintf("10.0.%d.%d:8000", i/250, i%250), lines...)
	}
	w := watchProm(t, f, "")
	seen := map[model.Signal]bool{}
	var worst time.Duration
	for i := range 24 {
		b := w.after(15 * time.Second)
		for _, s := range b.Samples {
			seen[s.Signal] = seen[s.Signal] || s.Hist != nil
		}
		if i > 2 {
			worst = max(worst, f.spent)
		}
	}
	if worst > 300*time.Millisecond {
		t.Errorf("a question took the server %v", worst)
	}
	if worst < 100*time.Millisecond {
		t.Errorf("no question took more than %v: more could be asked at once", worst)
	}
	for _, s := range []model.Signal{model.TTFT, model.TPOT, model.E2E, model.Queue, model.ITL, model.Prefill, model.Decode, model.PromptLength} {
		if !seen[s] {
			t.Errorf("%s never had its turn", s)
		}
	}
	t.Logf("at most %v a question", worst)
}

func TestPrometheusSaysWhatTheServerRemarks(t *testing.T) {
	f := aFleet(1)
	f.remark = "No StoreAPIs matched for this query\x1b[31m"
	b := watchProm(t, f, "").after(0)
	if notes := notesOf(b); !strings.Contains(notes, "the server remarks: No StoreAPIs matched for this query") || strings.Contains(notes, "\x1b") {
		t.Errorf("notes: %q", notes)
	}
}

func TestPrometheusWithoutEngines(t *testing.T) {
	f := newFakeProm()
	f.replica("node", "a:9100", "up 1")
	w := watchProm(t, f, "")
	b := w.after(0)
	if len(b.Samples) != 0 || !strings.Contains(notesOf(b), "no metrics of an engine") {
		t.Errorf("samples %v, notes %s", b.Samples, notesOf(b))
	}
	f.replica("vllm", "a:8000", vllmLines("m", 3)...)
	w.after(5 * time.Second)
	if len(w.fake.asked) != 0 {
		t.Errorf("looked again after 5 s: %q", w.fake.asked)
	}
	b = w.after(15 * time.Second)
	the(t, b, model.Running, model.LabelModel, "m")
}

// One job's servers that another job scrapes as well count once.
func TestPrometheusCountsServersOfTwoJobsOnce(t *testing.T) {
	f := aFleet(2)
	for i := range 2 {
		f.replica("vllm-too", fmt.Sprintf("10.0.0.%d:8000", i), vllmLines("m", float64(10+i))...)
	}
	b := watchProm(t, f, "").after(0)
	if v := the(t, b, model.Running, model.LabelModel, "m").Value; v != 21 {
		t.Errorf("%v run, want 21", v)
	}
	if !strings.Contains(notesOf(b), "left out: job vllm-too") {
		t.Errorf("notes: %s", notesOf(b))
	}
}

// Two versions of an engine whose histograms differ in their bounds meet on those that
// both have.
func TestPrometheusOfEnginesWithOtherBounds(t *testing.T) {
	f := aFleet(2)
	old := vllmLines("m", 5)
	for i, line := range old {
		old[i] = strings.Replace(line, `le="0.5"`, `le="0.25"`, 1)
	}
	f.replica("vllm", "10.0.0.99:8000", old...)
	w := watchProm(t, f, "")
	b := w.after(0)
	for range 3 {
		b = w.after(15 * time.Second)
	}
	h := the(t, b, model.TTFT, model.LabelModel, "m").Hist
	if !slices.Equal(h.Bounds, []float64{0.1}) || math.Abs(h.Counts[0]/h.N()-0.25) > 1e-9 || h.Incomplete {
		t.Errorf("%+v, want the one bound that all have, and a fourth below it", h)
	}
	if !strings.Contains(notesOf(b), "engines differ in the bounds of vllm:time_to_first_token_seconds") {
		t.Errorf("notes: %s", notesOf(b))
	}
}

// VictoriaMetrics counts from the sample before a range: nothing is to be stretched.
func TestPrometheusOfTheOtherKind(t *testing.T) {
	f := aFleet(1)
	f.vm = true
	w := watchProm(t, f, "")
	first := the(t, w.after(0), model.OutputTokens, model.LabelModel, "m").Value
	var last float64
	for range 20 {
		last = the(t, w.after(15*time.Second), model.OutputTokens, model.LabelModel, "m").Value
	}
	if math.Abs(last-first-300*100) > 1e-6 {
		t.Errorf("%v tokens in 300 s, want 30000", last-first)
	}
}

// The server's clock may be wrong, and may be set.
func TestPrometheusClockIsSet(t *testing.T) {
	w := watchProm(t, aFleet(1), "")
	w.after(0)
	last := 0.0
	for i := range 60 {
		if i == 20 {
			w.fake.now = w.fake.now.Add(-3 * time.Hour)
		}
		if i == 40 {
			w.fake.now = w.fake.now.Add(2 * time.Hour)
		}
		v := the(t, w.after(15*time.Second), model.OutputTokens, model.LabelModel, "m").Value
		if v < last {
			t.Fatalf("the count fell from %v to %v", last, v)
		}
		last = v
	}
	if last < 55*15*100 || last > 70*15*100 {
		t.Errorf("%v tokens in 15 minutes, want about 90000", last)
	}
}

package dialect

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

// poller reads one target's pages as a source does: the plan is made anew when
// series appear.
type poller struct {
	t          testing.TB
	set        *Set
	scanner    *expo.Scanner
	generation int
	plan       *Plan
	samples    []model.Sample
	streams    bool // pages are read line by line
}

func newPoller(t testing.TB) *poller {
	s := expo.NewScanner(expo.Limits{})
	s.Complete = true
	return &poller{t: t, set: builtinSet(t), scanner: s}
}

// newCrowdPoller reads pages as if they were large, and all their series crowds.
func newCrowdPoller(t testing.TB) *poller {
	p := newPoller(t)
	p.scanner, p.streams = expo.NewScanner(expo.Limits{Crowd: 1}), true
	p.scanner.Complete = true
	return p
}

func (p *poller) poll(body string) read {
	p.t.Helper()
	page, err := (*expo.Page)(nil), error(nil)
	if p.streams {
		page, err = p.scanner.ScanFrom(strings.NewReader(body))
	} else {
		page, err = p.scanner.Scan([]byte(body))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	if page.Generation != p.generation || page.New > 0 {
		before := p.plan
		if p.plan = p.set.Plan(page); p.plan == nil {
			p.t.Fatal("no dialect claims the page")
		}
		if before != nil {
			p.plan.Continue(before)
		}
		p.generation = page.Generation
	}
	p.samples = p.plan.Read(page, p.samples[:0])
	t, _ := p.t.(*testing.T)
	return read{t, p.samples, p.plan.About(page)}
}

func TestSteadyPageAllocatesNothing(t *testing.T) {
	for _, name := range []string{
		"vllm-main-2026-05-dp4-lora-spec-mfu.prom", "sglang-main-2026-07-tp4-all-schedulers.prom",
		"triton-trtllm-llm-opt-ins.prom", "trtllm-2026-08-prometheus.prom", "tgi-3.3.7.prom",
		"llamacpp-b10590.prom", "vllm-0.11.0-v1-multiprocess-pid-gauges.prom",
	} {
		p := newPoller(t)
		body := string(shared.File(t, "corpus/engines/"+name))
		p.poll(body)
		before := p.plan.About(nil)
		page, err := p.scanner.Scan([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(50, func() {
			p.samples = p.plan.Read(page, p.samples[:0])
			p.plan.About(page)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a page", name, n)
		}
		if p.plan.About(page) != before {
			t.Errorf("%s: what is said of it has changed though nothing did", name)
		}
	}
}

const vllmHist = `# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m"} %v
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.5",model_name="m"} %v
vllm:time_to_first_token_seconds_bucket{engine="0",le="1.0",model_name="m"} %v
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} %v
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} %v
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} %v
`

func TestLinesOfAHistogramStandInAnyOrder(t *testing.T) {
	lines := strings.SplitAfter(fmt.Sprintf(vllmHist, 3, 5, 6, 7, 7, 4.5), "\n")
	for i := range 5 {
		shuffled := append([]string{lines[0]}, lines[1+i:]...)
		shuffled = append(shuffled, lines[1:1+i]...)
		got := readPage(t, strings.Join(shuffled, "")).only(model.TTFT).Hist
		if !slices.Equal(got.Counts, []float64{3, 5, 6, 7}) || got.Sum != model.Of(4.5) || got.Incomplete {
			t.Errorf("rotated by %d: %+v", i, got)
		}
	}
}

func TestHistogramThatLostALineIsIncomplete(t *testing.T) {
	whole := fmt.Sprintf(vllmHist, 3, 5, 6, 7, 7, 4.5)
	later := fmt.Sprintf(vllmHist, 4, 6, 8, 9, 9, 5)
	without := func(part string) string {
		lines := strings.SplitAfter(later, "\n")
		return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, part) }), "")
	}
	for _, c := range []struct {
		name, body string
		counts     []float64
		sum        model.Reading
	}{
		{"a bucket", without(`le="0.5"`), []float64{4, 5, 8, 9}, model.Of(5)},
		{"a bucket to a bad line", strings.Replace(later, `le="0.5",model_name="m"} 6`, `le="0.5",model_name="m"} six`, 1), []float64{4, 5, 8, 9}, model.Of(5)},
		{"the last bucket", without(`le="+Inf"`), []float64{4, 6, 8, 9}, model.Of(5)},
		{"a count that disagrees", strings.Replace(later, `_count{engine="0",model_name="m"} 9`, `_count{engine="0",model_name="m"} 10`, 1), []float64{4, 6, 8, 9}, model.Of(5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPoller(t)
			p.poll(whole)
			got := p.poll(c.body).only(model.TTFT).Hist
			if !got.Incomplete || !slices.Equal(got.Counts, c.counts) || got.Sum != c.sum {
				t.Errorf("incomplete %v, counts %v, sum %v", got.Incomplete, got.Counts, got.Sum)
			}
			if got := p.poll(later).only(model.TTFT).Hist; got.Incomplete || !slices.Equal(got.Counts, []float64{4, 6, 8, 9}) {
				t.Errorf("whole again: incomplete %v, counts %v", got.Incomplete, got.Counts)
			}
		})
	}
	t.Run("the sum", func(t *testing.T) {
		p := newPoller(t)
		p.poll(whole)
		got := p.poll(without("_sum")).only(model.TTFT).Hist
		if got.Incomplete || got.Sum.OK() {
			t.Errorf("incomplete %v, sum %v: percentiles do not need the sum", got.Incomplete, got.Sum)
		}
	})
}

func TestServerThatCameBackWithOtherBounds(t *testing.T) {
	p := newPoller(t)
	p.poll(fmt.Sprintf(vllmHist, 3, 5, 6, 7, 7, 4.5))
	got := p.poll(strings.ReplaceAll(fmt.Sprintf(vllmHist, 1, 1, 1, 1, 1, 0.05), `le="0.5"`, `le="0.25"`)).only(model.TTFT).Hist
	if got.Incomplete || !slices.Equal(got.Bounds, []float64{0.1, 0.25, 1}) {
		t.Errorf("incomplete %v, bounds %v", got.Incomplete, got.Bounds)
	}
}

// A counter made of several rows must not shrink because a bad line hid one of
// them: that would pass for a restart.
func TestCounterThatLostARow(t *testing.T) {
	page := `# TYPE tgi_request_failure counter
tgi_request_failure{err="validation"} 2
tgi_request_failure{err="overloaded"} %s
`
	p := newPoller(t)
	p.poll(fmt.Sprintf(page, "5")).value(model.Failed, 7)
	if v := p.poll(fmt.Sprintf(page, "five")).only(model.Failed).Value; !math.IsNaN(v) {
		t.Errorf("got %v from half of the rows", v)
	}
	p.poll(fmt.Sprintf(page, "6")).value(model.Failed, 8)
}

func TestBreakdownsAndDuplicatesAreSkipped(t *testing.T) {
	r := readPage(t, string(shared.File(t, "corpus/engines/sglang-main-2026-07-dp2-priority.prom")))
	got := map[string]float64{}
	for _, s := range r.of(model.Running) {
		got[s.Labels.Get(model.LabelEngine)] += s.Value
	}
	if len(got) != 2 || got["0"] != 6 || got["1"] != 2 {
		t.Errorf("running %v, want the totals 6 and 2", got)
	}
	r = readPage(t, string(shared.File(t, "corpus/engines/ray-2.52-vllm-0.12-v1.prom")))
	r.value(model.OutputTokens, 14688)
	r = readPage(t, string(shared.File(t, "corpus/engines/sglang-main-2026-07-tp4-all-schedulers.prom")))
	r.value(model.OutputTokens, 8296)
	if n := r.only(model.Queue).Hist.N(); n != 50 {
		t.Errorf("queue n %v, want 50 and not four times as many", n)
	}
	if r.only(model.Queue).Hist.Sum.Value >= 0 {
		t.Error("the page's sum is negative")
	}
}

func TestSeriesThatComeWithTheirFirstEvent(t *testing.T) {
	idle := readPage(t, string(shared.File(t, "corpus/engines/llm-d-inference-sim-0.10.2-idle.prom")))
	if idle.about.Engine != "llm-d-inference-sim" || len(idle.about.Missing) != 0 {
		t.Errorf("engine %s misses %v before its first request", idle.about.Engine, idle.about.Missing)
	}
	// After a request the version that never had the series can be told.
	old := readPage(t, string(shared.File(t, "corpus/engines/sglang-0.4.6.prom")))
	if !slices.Equal(old.about.Missing, []model.Signal{model.Queue, model.Prefill}) {
		t.Errorf("missing %v", old.about.Missing)
	}
}

func TestFamilyWithoutASampleIsNotMissing(t *testing.T) {
	r := readPage(t, `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 0
# TYPE vllm:request_success_total counter
# TYPE vllm:e2e_request_latency_seconds histogram
`)
	for _, s := range []model.Signal{model.Finished, model.E2E} {
		if slices.Contains(r.about.Missing, s) {
			t.Errorf("%s is called missing", s)
		}
	}
	r.noted("exported, no event yet: requests_finished, e2e_seconds")
	r.missing(model.TTFT)
}

func TestSentinels(t *testing.T) {
	r := readPage(t, `vllm:gpu_prefix_cache_hit_rate{model_name="m"} -1
vllm:gpu_cache_usage_perc{model_name="m"} NaN
vllm:num_requests_swapped{model_name="m"} 0
vllm:estimated_flops_per_gpu_total{model_name="m"} 0
`)
	for _, s := range []model.Signal{model.ReportedHitRatio, model.KVUsage, model.EstimatedFLOPs} {
		if v := r.only(s).Value; !math.IsNaN(v) {
			t.Errorf("%s = %v, want no number", s, v)
		}
	}
	r.value(model.Swapped, 0)
}

// A signal that vanishes is missing from then on, unless the page has a bad line
// that may hide it.
func TestSignalThatVanishes(t *testing.T) {
	both := "vllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_waiting{engine=\"0\"} 2\n"
	one := "vllm:num_requests_running{engine=\"0\"} 1\n"
	p := newPoller(t)
	first := p.poll(both).about
	if a := p.poll(one + "vllm:num_requests_waiting{engine=\"0\"} two\n").about; a != first {
		t.Error("a bad line took a signal away")
	}
	gone := p.poll(one)
	gone.missing(model.Waiting)
	gone.none(model.Waiting)
	if slices.Contains(p.poll(both).about.Missing, model.Waiting) {
		t.Error("it came back and is still called missing")
	}
}

// The newest name was away when the plan was made, with no series new when it
// came back: it is taken again all the same.
func TestBetterNameComesBack(t *testing.T) {
	both := "sglang:realtime_tokens_total{mode=\"decode\"} 40\nsglang:generation_tokens_total 30\n"
	p := newPoller(t)
	p.poll(both).value(model.OutputTokens, 40)
	p.poll("sglang:generation_tokens_total 31\nsglang:num_running_reqs 1\n").value(model.OutputTokens, 31)
	back := p.poll(both)
	back.value(model.OutputTokens, 40)
	if m := back.meaning(model.OutputTokens); m.AtFinish {
		t.Errorf("still read from %s", m.Metric)
	}
}

// While the step counts nothing of what passes the front, what it says of the
// queue means nothing.
func TestSilentStep(t *testing.T) {
	page := `nv_inference_request_success{model="ensemble"} %d
nv_inference_request_success{model="tensorrt_llm"} %d
nv_inference_queue_duration_us{model="ensemble"} 41
nv_inference_queue_duration_us{model="tensorrt_llm"} %d
nv_inference_pending_request_count{model="tensorrt_llm"} 0
`
	p := newPoller(t)
	idle := p.poll(fmt.Sprintf(page, 0, 0, 0))
	idle.value(model.Waiting, 0)
	silent := p.poll(fmt.Sprintf(page, 9, 0, 0))
	silent.none(model.Queue, model.Waiting)
	silent.missing(model.Queue, model.Waiting)
	silent.noted("not reported")
	spoken := p.poll(fmt.Sprintf(page, 9, 8, 4000))
	queue := spoken.only(model.Queue)
	if queue.Hist.N() != 8 || queue.Hist.Sum != model.Of(0.004) || queue.Labels.Get(model.LabelModel) != "ensemble" {
		t.Errorf("queue %+v of %v", queue.Hist, queue.Labels)
	}
}

// Pages of which no capture exists.
func TestPagesWrittenFromTheCatalogue(t *testing.T) {
	for _, c := range []struct {
		name, body, engine string
		want               map[model.Signal]float64
	}{
		{"Triton with the vLLM backend", `nv_inference_request_success{model="vllm_model",version="1"} 12
nv_inference_pending_request_count{model="vllm_model",version="1"} 3
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{model="vllm_model",version="1"} 340
`, "triton", map[model.Signal]float64{model.Finished: 12, model.Waiting: 3, model.PromptTokens: 340}},
		{"KServe with its vLLM backend", `request_predict_seconds_count{model_name="llama3"} 4
vllm:num_requests_running{engine="0",model_name="llama3"} 2
vllm:request_success_total{engine="0",finished_reason="stop",model_name="llama3"} 3
`, "kserve", map[model.Signal]float64{model.Running: 2, model.Finished: 3}},
		{"Dynamo's newer frontend", `dynamo_frontend_active_requests{model="m"} 7
dynamo_frontend_queued_requests{model="m"} 3
dynamo_frontend_requests_total{endpoint="chat",model="m",request_type="stream",status="success"} 5
dynamo_frontend_requests_total{endpoint="completions",model="m",request_type="unary",status="success"} 2
dynamo_frontend_requests_total{endpoint="chat",error_type="timeout",model="m",status="error"} 1
dynamo_frontend_model_max_num_seqs{model="M"} 64
`, "dynamo-frontend", map[model.Signal]float64{model.Running: 4, model.Waiting: 3, model.Finished: 7, model.Failed: 1, model.MaxRunning: 64}},
		{"Xinference", `xinference:model_serve_count{model="m",format="gguf"} 1
xinference:model_request_total{model="m"} 9
xinference:output_tokens_total_counter{model="m"} 512
xinference:input_tokens_total_counter{model="m"} 77
`, "xinference", map[model.Signal]float64{model.Running: 1, model.Started: 9, model.OutputTokens: 512, model.PromptTokens: 77}},
		{"TensorRT-LLM 1.0", `# TYPE e2e_request_latency_seconds histogram
e2e_request_latency_seconds_bucket{engine_type="undefined",le="+Inf",model_name="undefined"} 3
e2e_request_latency_seconds_count{engine_type="undefined",model_name="undefined"} 3
e2e_request_latency_seconds_sum{engine_type="undefined",model_name="undefined"} 6
request_success_total{engine_type="undefined",finished_reason="end_id",model_name="undefined"} 3
`, "trtllm-1.0", map[model.Signal]float64{model.Finished: 3}},
		{"SGLang through its gateway", `sglang_num_running_reqs{model_name="m",worker_addr="http://w1"} 2
sglang_num_queue_reqs{model_name="m",worker_addr="http://w1"} 1
`, "sglang", map[model.Signal]float64{model.Running: 2, model.Waiting: 1}},
		{"llama.cpp through an old Prometheus", "llamacpp_requests_processing 2\n",
			"llama.cpp", map[model.Signal]float64{model.Running: 2}},
		{"TensorRT-LLM with a time-out", `trtllm_request_success_total{finished_reason="timeout",model_name="m",engine_type="trtllm"} 2
trtllm_kv_cache_used_blocks{model_name="m",pid="1"} 10
trtllm_kv_cache_max_blocks{model_name="m",pid="1"} 40
`, "trtllm", map[model.Signal]float64{model.Finished: 2, model.KVUsage: 0.25}},
		{"both spellings", "vllm:num_requests_running 3\nvllm_num_requests_running 3\n",
			"vllm", map[model.Signal]float64{model.Running: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := readPage(t, c.body)
			if r.about.Engine != c.engine {
				t.Errorf("engine %q, want %q", r.about.Engine, c.engine)
			}
			for s, v := range c.want {
				r.value(s, v)
			}
		})
	}
}

func TestUnknownPage(t *testing.T) {
	if d, ok := builtinSet(t).Detect(scan(t, []byte("go_goroutines 8\nnode_cpu_seconds_total 3\n"))); ok {
		t.Errorf("taken for %s", d.engine)
	}
	federation := "vllm:num_requests_running{instance=\"a:8000\",job=\"x\"} 3\nvllm:num_requests_running{instance=\"a:8000\",job=\"y\"} 3\n"
	if d, ok := builtinSet(t).Detect(scan(t, []byte(federation))); ok {
		t.Errorf("a federation of servers taken for %s", d.engine)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"vllm-main-2026-05-dp4-lora-spec-mfu.prom", "sglang-main-2026-07-tp4-all-schedulers.prom"} {
		body, err := os.ReadFile(filepath.Join(shared.Dir(b, "corpus/engines"), name))
		if err != nil {
			b.Fatal(err)
		}
		page := scan(b, body)
		set := builtinSet(b)
		d, _ := set.Detect(page)
		plan := d.Compile(page)
		var samples []model.Sample
		b.Run("read/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				samples = plan.Read(page, samples[:0])
			}
		})
		b.Run("compile/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, _ := set.Detect(page)
				d.Compile(page)
			}
		})
	}
}

// A count that is no number is unknown, not 0: whoever read 0 would see a
// restart on this page and the whole life of the server on the next.
func TestCountThatIsNoNumberIsNotZero(t *testing.T) {
	page := func(n0, n1 string) string {
		body := "# TYPE vllm:time_to_first_token_seconds histogram\n"
		for engine, n := range []string{n0, n1} {
			for _, le := range [][2]string{{"1", "5"}, {"+Inf", n}} {
				body += fmt.Sprintf("vllm:time_to_first_token_seconds_bucket{engine=\"%d\",model_name=\"m\",le=%q} %s\n", engine, le[0], le[1])
			}
		}
		return body
	}
	p := newPoller(t)
	for _, step := range []struct {
		n0, n1 string
		want   []float64
	}{
		{"9", "7", []float64{9, 7}}, {"NaN", "8", []float64{8}}, {"10", "8", []float64{10, 8}},
	} {
		var got []float64
		for _, s := range p.poll(page(step.n0, step.n1)).of(model.TTFT) {
			got = append(got, s.Hist.N())
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s and %s: read %v, want %v", step.n0, step.n1, got, step.want)
		}
	}
}

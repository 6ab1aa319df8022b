package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// examined are the pages that doctor is shown: one of each engine, gateway and GPU
// exporter, and of some the release of another generation.
var examined = []string{
	"engines/aphrodite-0.20.prom",
	"engines/dynamo-real-frontend-2026-01.prom",
	"engines/dynamo-real-worker-sglang-2025-12.prom",
	"engines/kserve-huggingfaceserver-0.20.prom",
	"engines/llamacpp-b10590.prom",
	"engines/llamacpp-b4800.prom",
	"engines/llamacpp-metrics-disabled-501.json",
	"engines/llm-d-inference-sim-0.10.2-load.prom",
	"engines/lmdeploy-0.16.prom",
	"engines/mlc-llm.txt",
	"engines/ollama-root.txt",
	"engines/ray-2.52-vllm-0.12-v1.prom",
	"engines/sglang-0.4.6.prom",
	"engines/sglang-main-2026-07-pd-prefill.prom",
	"engines/sglang-main-2026-07-single-mfu-spec.prom",
	"engines/sglang-v1-loads-prometheus.prom",
	"engines/tei-1.9.3.prom",
	"engines/tgi-3.3.7.prom",
	"engines/triton-real-generic-models-excerpt.prom",
	"engines/triton-trtllm-llm-opt-ins.prom",
	"engines/trtllm-2026-08-prometheus.prom",
	"engines/trtllm-metrics-drained.json",
	"engines/vllm-0.6.6-v0-single-process.prom",
	"engines/vllm-0.12.0-v1.prom",
	"engines/vllm-main-2026-05-dp4-lora-spec-mfu.prom",
	"gateways/aibrix/gateway-plugin-metrics.prom",
	"gateways/bifrost/metrics.prom",
	"gateways/dynamo/frontend-one-request.prom",
	"gateways/envoy-ai-gateway/metrics-v1.1-style.prom",
	"gateways/helicone/otel-collector-view.prom",
	"gateways/higress/ai-statistics.prom",
	"gateways/kong/metrics.prom",
	"gateways/kserve/python-server.prom",
	"gateways/litellm/metrics.prom",
	"gateways/llm-d-epp/router-new-names-only.prom",
	"gateways/production-stack/router-metrics.prom",
	"gateways/proposed/events.jsonl",
	"gateways/proposed/stats.json",
	"gateways/ray-serve/node-metrics.prom",
	"gateways/sglang-router/smg-grpc-mode.prom",
	"gpu/all-smi/gb10-unified-memory.prom",
	"gpu/amd/mi300x-device-metrics-exporter.prom",
	"gpu/dcgm-exporter/a100-mig.prom",
	"gpu/dcgm-exporter/h100-x2-default-counters.prom",
	"gpu/dcgm-exporter/rtx4090-no-prof.prom",
	"gpu/intel/xpumd-arc-pro-b60.prom",
	"gpu/nvidia_gpu_exporter/h100.load.prom",
}

// TestDoctorGoldens: what doctor says of each is kept as a file, to be read as
// somebody on call would. Rewrite them with -update.
func TestDoctorGoldens(t *testing.T) {
	for _, name := range examined {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arg := shared.Dir(t, "corpus/"+name)
			if strings.HasSuffix(name, ".jsonl") {
				arg = "events:" + arg
			}
			r := headless(t, "doctor", "--width", "100", arg)
			said := r.out + r.err
			golden := filepath.Join("testdata", "doctor", strings.NewReplacer("/", "_", ".prom", "").Replace(name)+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(said), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if said != string(want) {
				t.Errorf("doctor says of %s\n%s\nnot as in %s; run with -update and read the difference", name, said, golden)
			}
			for line := range strings.Lines(r.out) {
				if len([]rune(strings.TrimRight(line, "\n"))) > 100 {
					t.Errorf("a line wider than the page: %q", line)
				}
			}
		})
	}
}

func TestDoctorExitCode(t *testing.T) {
	t.Parallel()
	families := shared.Dir(t, "cases/files/families-missing.prom")
	vllm := shared.Dir(t, "corpus/engines/vllm-main-2026-05-dp4-lora-spec-mfu.prom")
	for _, tc := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{vllm}, exitOK, []string{"what is assumed can be judged"}},
		{[]string{"--slo", "*:e2e=10s,95%", vllm}, exitOK, []string{"all that is promised can be judged"}},
		{[]string{"--slo", "*:first_answer=1s,95%", vllm}, exitUntold, []string{"1 promise cannot be judged", "to do", "events+http://GATEWAY/events"}},
		{[]string{"--slo", "other-team:ttft=1s,95%", vllm}, exitUntold, []string{"promise other-team: CANNOT BE JUDGED", "no target carries it now", "look at match"}},
		{[]string{families}, exitUntold, []string{"cannot be judged: no finish counts"}},
		{[]string{shared.Dir(t, "corpus/engines/ollama-root.txt")}, exitFailed, []string{"no target answered"}},
		{[]string{"-o", "xml", vllm}, exitUsage, []string{"-o xml: text or json"}},
		{[]string{"--slo", "chat", vllm}, exitUsage, []string{`part "chat"`}},
		{[]string{"nowhere.prom"}, exitUsage, []string{"no such file"}},
		{nil, exitUsage, []string{"no target"}},
	} {
		r := headless(t, append([]string{"doctor"}, tc.args...)...)
		if r.code != tc.code {
			t.Errorf("%v: exit code %d, want %d", tc.args, r.code, tc.code)
		}
		for _, s := range tc.says {
			says(t, "doctor", strings.Join(strings.Fields(r.out+r.err), " "), s)
		}
	}
}

// TestOC19Doctor: of a page that lacks whole families each gap is named once, with
// what brings it, and the rules that need it.
func TestOC19Doctor(t *testing.T) {
	t.Parallel()
	r := headless(t, "doctor", shared.Dir(t, "cases/files/families-missing.prom"))
	text := strings.Join(strings.Fields(r.out), " ")
	for _, s := range []string{
		"not exported here (vllm:e2e_request_latency_seconds,", "start it without --disable-log-stats",
		"upgrade to vLLM 0.11 or later", "--enable-mfu-metrics",
		"acme/chat-70b cannot be judged: no finish counts", "kv-full it takes KV cache usage and preemptions",
	} {
		says(t, "doctor", text, s)
	}
	saysNot(t, "doctor", text, "stalled")
}

// TestOC08Doctor: a bound between two buckets is told with the interval that it
// costs, and the nearest edge.
func TestOC08Doctor(t *testing.T) {
	t.Parallel()
	r := headless(t, "doctor", "--slo", "*:ttft=200ms,tpot=50ms,95%", shared.Dir(t, "cases/files/goodput.prom"))
	text := strings.Join(strings.Fields(r.out), " ")
	for _, s := range []string{
		"TTFT 200 ms lies between two bucket edges, 100 ms and 250 ms", "between 60.0 % and 90.0 % of the 1000 requests",
		"the nearest edge is 250 ms", "TPOT 50 ms is a bucket edge on goodput.prom (vllm): exact",
	} {
		says(t, "doctor", text, s)
	}
}

// checkupJSON is what these tests read of the public form.
type checkupJSON struct {
	Schema  string `json:"schema"`
	Told    bool   `json:"all_promises_can_be_judged"`
	Targets []struct {
		Name    string         `json:"name"`
		Kind    string         `json:"kind"`
		Engine  *string        `json:"engine"`
		Took    *float64       `json:"took_s"`
		Skew    *float64       `json:"clock_skew_s"`
		Fault   map[string]any `json:"fault"`
		Lacks   []report.Lack  `json:"lacks"`
		Signals []struct {
			Signal string `json:"signal"`
			Metric string `json:"metric"`
		} `json:"signals"`
	} `json:"targets"`
	Promises []report.PromiseCheckup `json:"promises"`
	Blind    []report.RuleCheckup    `json:"cannot_evaluate"`
	Host     []report.Fact           `json:"host"`
}

func (r ran) checkup(tb testing.TB) checkupJSON {
	tb.Helper()
	var c checkupJSON
	if err := json.Unmarshal([]byte(r.out), &c); err != nil {
		tb.Fatalf("%v: %s %s", err, r.out, r.err)
	}
	if c.Schema != report.CheckupSchema {
		tb.Errorf("schema %q", c.Schema)
	}
	return c
}

func TestDoctorJSON(t *testing.T) {
	t.Parallel()
	c := headless(t, "doctor", "-o", "json", shared.Dir(t, "corpus/engines/vllm-0.10.2-v1-old-and-new-names.prom")).checkup(t)
	if len(c.Targets) != 1 || !c.Told || c.Targets[0].Engine == nil || *c.Targets[0].Engine != "vllm" || c.Targets[0].Took != nil || len(c.Host) > 0 {
		t.Errorf("%+v", c)
	}
	i := slices.IndexFunc(c.Targets[0].Lacks, func(l report.Lack) bool { return l.What == "TPOT" })
	if i < 0 || c.Targets[0].Lacks[i].Do != "upgrade to vLLM 0.11 or later" || !slices.Equal(c.Targets[0].Lacks[i].Metrics, []string{"vllm:request_time_per_output_token_seconds"}) {
		t.Errorf("%+v", c.Targets[0].Lacks)
	}
	if len(c.Targets[0].Signals) < 15 || len(c.Promises) != 1 || !c.Promises[0].Every {
		t.Errorf("%+v", c)
	}
}

// recorder is a server that answers some paths and notes all that were asked.
type recorder struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newRecorder(tb testing.TB, answer http.HandlerFunc) *recorder {
	tb.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, q.Method+" "+q.URL.Path)
		r.mu.Unlock()
		answer(w, q)
	}))
	tb.Cleanup(r.Close)
	return r
}

func (r *recorder) address() string { return strings.TrimPrefix(r.URL, "http://") }

// harmless checks that nothing was asked that costs a server anything: that makes
// it generate, empties a queue or changes it.
func (r *recorder) harmless(tb testing.TB) {
	tb.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.asked) == 0 {
		tb.Error("nothing was asked")
	}
	metrics := 0
	for _, q := range r.asked {
		path, get := strings.CutPrefix(q, "GET ")
		if path == "/metrics" {
			metrics++
		}
		if !get || slices.Contains([]string{"/health", "/health_generate", "/perf_metrics", "/v1/completions", "/v1/chat/completions", "/slots/0"}, path) {
			tb.Errorf("asked %s", q)
		}
	}
	if metrics > 1 { // TensorRT-LLM empties a queue for each
		tb.Errorf("/metrics was asked %d times", metrics)
	}
}

// TestDoctorLive: a server is asked once, for nothing that costs it anything, and
// what only a live one tells is told.
func TestDoctorLive(t *testing.T) {
	t.Parallel()
	page := shared.File(t, "corpus/engines/vllm-0.12.0-v1.prom")
	server := newRecorder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(page)
	})
	c := headless(t, "doctor", "-o", "json", server.address()).checkup(t)
	if len(c.Targets) != 1 || c.Targets[0].Fault != nil || c.Targets[0].Took == nil || c.Targets[0].Skew == nil {
		t.Errorf("%+v", c.Targets)
	}
	var facts []string
	for _, f := range c.Host {
		facts = append(facts, f.What)
	}
	if !slices.Equal(facts, []string{"config", "GPUs", "terminal", "tapes"}) {
		t.Errorf("%+v", c.Host)
	}
	server.harmless(t)
}

// TestDoctorTensorRT: a queue of statistics is emptied once at most, and the page
// that is wanted is named.
func TestDoctorTensorRT(t *testing.T) {
	t.Parallel()
	server := newRecorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`[{"iterLatencyMS":12}]`))
		default:
			http.NotFound(w, r)
		}
	})
	r := headless(t, "doctor", server.address())
	if r.code != exitFailed {
		t.Errorf("exit code %d", r.code)
	}
	says(t, "doctor", strings.Join(strings.Fields(r.out), " "), "return_perf_metrics: true")
	server.harmless(t)
}

// TestDoctorRefused: what a server has against being read is said with what to do.
func TestDoctorRefused(t *testing.T) {
	t.Parallel()
	locked := newRecorder(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	fine := newEngine(t)
	r := headless(t, "doctor", locked.address(), fine.address())
	text := strings.Join(strings.Fields(r.out), " ")
	says(t, "doctor", text, "denied: 401: needs a key: set authorization or basic_auth")
	says(t, "doctor", text, "1 target answers, 1 does not")
	if r.code != exitOK {
		t.Errorf("exit code %d: %s", r.code, r.out)
	}
	r = headless(t, "doctor", "--width", "40", "--ascii", locked.address())
	for line := range strings.Lines(r.out) {
		if len(line) > 41 {
			t.Errorf("%q", line)
		}
	}
}

// TestDoctorFinds: the targets that a file lists are examined like those that are
// named, and one that leads to none says so.
func TestDoctorFinds(t *testing.T) {
	t.Parallel()
	one, two := newEngine(t), newEngine(t)
	file := filepath.Join(t.TempDir(), "targets.json")
	text, err := json.Marshal([]map[string][]string{{"targets": {one.address(), two.address()}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := headless(t, "doctor", "-o", "json", "file_sd:"+file).checkup(t)
	engines := 0
	for _, v := range c.Targets {
		if v.Engine != nil && *v.Engine == "vllm" && v.Fault == nil {
			engines++
		}
	}
	if engines != 2 || len(c.Targets) != 3 || !c.Told {
		t.Errorf("%+v", c.Targets)
	}
}

// TestDoctorProbe: what a probe measures is in no workflow's figures, so it judges no
// promise.
func TestDoctorProbe(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"one\"}}]}\n\ndata: [DONE]\n\n"))
	}))
	t.Cleanup(server.Close)
	r := headless(t, "doctor", "openai+"+server.URL+"?model=tiny")
	text := strings.Join(strings.Fields(r.out), " ")
	says(t, "doctor", text, "a probe, which sends requests of its own")
	saysNot(t, "doctor", text, "judged exactly")
	saysNot(t, "doctor", text, "goodput, exactly")
	if r.code != exitOK {
		t.Errorf("exit code %d: %s", r.code, r.out)
	}
}

// TestDoctorClock: a clock that agrees with ours does so whenever its server was asked.
func TestDoctorClock(t *testing.T) {
	opened := []sources.Opened{{Target: model.Target{ID: "a", Name: "a", Kind: model.EngineTarget}}}
	e, err := newExamination(settings{window: fleet.DefaultWindow}, opened)
	if err != nil {
		t.Fatal(err)
	}
	at := model.Instant{Wall: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
	e.take(model.Input{At: at, Batch: &model.Batch{Target: "a", About: &model.About{Engine: "vllm"}, Clock: at.Wall, ClockError: time.Second / 2}})
	e.take(model.Input{At: at.Add(5 * time.Second)})
	if s := e.frame().Targets[0].SkewS; !s.OK() || s.Value != 0 {
		t.Errorf("%+v", s)
	}
}

// TestEverySignalIsInAFigure: whatever a server may export is part of what doctor
// says can or cannot be shown.
func TestEverySignalIsInAFigure(t *testing.T) {
	for _, info := range model.Signals {
		if !slices.ContainsFunc(slices.Concat(engineFigures, gatewayFigures), func(f figure) bool {
			return slices.ContainsFunc(f.sets, func(set []model.Signal) bool { return slices.Contains(set, info.Signal) })
		}) {
			t.Errorf("%s is in no figure", info.Signal)
		}
	}
}

// TestEveryRuleIsKnown: the table of rules is as long as the fold's.
func TestEveryRuleIsKnown(t *testing.T) {
	e, err := newExamination(settings{window: fleet.DefaultWindow}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := e.frame().Rules; n != len(builtInRules) {
		t.Errorf("the fold has %d rules, doctor knows %d: add what the new ones need", n, len(builtInRules))
	}
}

package dialect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// gatewayPage is a page of the corpus.
func gatewayPage(t *testing.T, name string) string {
	t.Helper()
	return string(shared.File(t, "corpus/"+name))
}

// values are the samples of a signal by workflow, model and engine, whichever the
// page names first.
func (r read) values(s model.Signal) map[string]float64 {
	all := map[string]float64{}
	for _, one := range r.of(s) {
		l := one.Labels
		name := l.Get(model.LabelWorkflow)
		for _, other := range []string{model.LabelEngine, model.LabelModel} {
			if name == "" {
				name = l.Get(other)
			}
		}
		v := one.Value
		if one.Hist != nil {
			v = one.Hist.N()
		}
		all[name] += v
	}
	return all
}

func (r read) wants(s model.Signal, want map[string]float64) {
	r.t.Helper()
	if got := r.values(s); fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("%s: %v, want %v", s, got, want)
	}
}

func TestGatewaysByTheirPages(t *testing.T) {
	for name, engine := range map[string]string{
		"gateways/aibrix/gateway-plugin-metrics.prom":       "aibrix",
		"gateways/bifrost/metrics.prom":                     "bifrost",
		"gateways/dynamo/frontend-one-request.prom":         "dynamo-frontend",
		"gateways/envoy-ai-gateway/metrics-v1.1-style.prom": "envoy-ai-gateway",
		"gateways/helicone/otel-collector-view.prom":        "helicone",
		"gateways/higress/ai-statistics.prom":               "higress",
		"gateways/kong/metrics.prom":                        "kong",
		"gateways/litellm/metrics.prom":                     "litellm",
		"gateways/llm-d-epp/gie-0.x-inference_model.prom":   "llm-d-epp",
		"gateways/llm-d-epp/router-0.10-dual-emission.prom": "llm-d-epp",
		"gateways/llm-d-epp/router-new-names-only.prom":     "llm-d-epp",
		"gateways/production-stack/router-metrics.prom":     "production-stack",
		"gateways/sglang-router/sgl_router-old-names.prom":  "sgl-router",
		"gateways/sglang-router/smg-grpc-mode.prom":         "sglang-gateway",
		"captures/bifrost-1.4.19/011.prom":                  "bifrost",
		"captures/gomodel-0.1.18/010.prom":                  "gomodel",
		"captures/llm-d-router-epp-ebab68792/008.full.prom": "llm-d-epp",
	} {
		body := gatewayPage(t, name)
		// What else a process exports must not change whose page it is.
		for _, more := range []string{"", "python_info{version=\"3.12\"} 1\nprocess_start_time_seconds 1.7e9\n", "go_goroutines 7\ntarget_info{service_name=\"x\"} 1\n"} {
			r := readPage(t, body+more)
			if r.about.Engine != engine || r.about.Kind != model.GatewayTarget {
				t.Errorf("%s: %s %q, want the gateway %s", name, r.about.Kind, r.about.Engine, engine)
			}
		}
	}
	if r := readPage(t, gatewayPage(t, "captures/llm-d-inference-sim-0.10.2/009.prom")); r.about.Kind != "" {
		t.Errorf("an engine is a %s", r.about.Kind)
	}
}

// OC-03 once more: of five generations of names any one says the same, and all
// together say it once.
func TestGenerationsOfTheEndpointPicker(t *testing.T) {
	const newest = "gateways/llm-d-epp/router-new-names-only.prom"
	want := readPage(t, gatewayPage(t, newest))
	both := readPage(t, gatewayPage(t, "gateways/llm-d-epp/router-0.10-dual-emission.prom"))
	if write(want.samples, want.about) != write(both.samples, both.about) {
		t.Errorf("with the deprecated names\n%s\nwant\n%s", write(both.samples, both.about), write(want.samples, want.about))
	}
	body := gatewayPage(t, newest)
	for _, prefix := range []string{"llm_d_router_epp_", "llm_d_inference_scheduler_"} {
		older := strings.ReplaceAll(body, "llm_d_epp_", prefix)
		for name, text := range map[string]string{"alone": older, "before the newest": older + body, "behind it": body + older} {
			if r := readPage(t, text); samplesOf(r) != samplesOf(want) {
				t.Errorf("%s %s:\n%s", prefix, name, samplesOf(r))
			}
		}
	}
	full := readPage(t, gatewayPage(t, "captures/llm-d-router-epp-ebab68792/008.full.prom"))
	full.wants(model.Started, map[string]float64{"agent": 137, "batch": 132, "chat": 141, "rag": 120})
	// Router and engines together held what clients had open: 106.
	held := 0.0
	for _, s := range []model.Signal{model.AtGateway, model.Running} {
		for _, v := range full.values(s) {
			held += v
		}
	}
	if held != 106 {
		t.Errorf("%v requests are held", held)
	}
}

// Unstreamed answers have no first token: their whole duration is no TTFT.
func TestFirstTokensOfStreamsOnly(t *testing.T) {
	r := readPage(t, gatewayPage(t, "gateways/llm-d-epp/router-0.10-dual-emission.prom"))
	r.wants(model.TTFT, map[string]float64{"checkout-assistant": 60})
	const row = `llm_d_epp_request_ttft_seconds_bucket{model_name="m",streaming="%s",fairness_id="a",le="+Inf"} 7` + "\n"
	head := "# TYPE llm_d_epp_request_ttft_seconds histogram\n"
	readPage(t, head+fmt.Sprintf(row, "false")).none(model.TTFT)
	readPage(t, head+fmt.Sprintf(row, "")).wants(model.TTFT, map[string]float64{"a": 7})
}

// The first label that names a workflow counts, and a placeholder names none.
func TestWorkflowsOfLiteLLM(t *testing.T) {
	row := func(labels string, v int) string {
		return fmt.Sprintf("litellm_proxy_total_requests_metric_total{requested_model=\"m\",status_code=\"200\",%s} %d\n", labels, v)
	}
	body := row(`api_key_alias="None",team_alias="None",metadata_workflow="None",team="t1"`, 1) +
		row(`api_key_alias="None",team_alias="shop",metadata_workflow="",team="t2"`, 2) +
		row(`api_key_alias="key",team_alias="shop",metadata_workflow="None",team="t2"`, 4) +
		row(`api_key_alias="key",team_alias="shop",metadata_workflow="checkout",team="t2"`, 8)
	readPage(t, body).wants(model.Started, map[string]float64{"m": 1, "shop": 2, "key": 4, "checkout": 8})

	for label, want := range map[string]map[string]float64{
		"team":                          {"t1": 1, "t2": 14},
		"metadata_nobody":               {"m": 15},
		"metadata_workflow|team":        {"t1": 1, "t2": 6, "checkout": 8},
		"metadata.workflow":             {"m": 7, "checkout": 8},
		"api_key_alias|requested_model": {"m": 3, "key": 12},
	} {
		set, err := builtinSet(t).Naming(label)
		if err != nil {
			t.Fatal(err)
		}
		page := scan(t, []byte(body))
		r := read{t, set.Plan(page).Read(page, nil), &model.About{}}
		r.wants(model.Started, want)
	}
}

func TestNamingAndKeepingTogether(t *testing.T) {
	const body = `litellm_proxy_total_requests_metric_total{requested_model="m",api_key_alias="k",team="t",route="/a"} 1
litellm_proxy_total_requests_metric_total{requested_model="m",api_key_alias="k",team="t",route="/b"} 2
`
	const want = "requests_started{model=m,route=/a,workflow=t} 1<nil>\nrequests_started{model=m,route=/b,workflow=t} 2<nil>"
	keeping, err := builtinSet(t).Keeping([]string{"route"})
	if err != nil {
		t.Fatal(err)
	}
	naming, err := keeping.Naming("team")
	if err != nil {
		t.Fatal(err)
	}
	page := scan(t, []byte(body))
	if got := samplesOf(read{t, naming.Plan(page).Read(page, nil), nil}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := samplesOf(read{t, keeping.Plan(page).Read(page, nil), nil}); !strings.Contains(got, "workflow=k") {
		t.Errorf("the set it came from has changed: %s", got)
	}
}

// Milliseconds are seconds, and a total beside its parts is not added to them.
func TestUnitsOfGateways(t *testing.T) {
	kong := readPage(t, gatewayPage(t, "gateways/kong/metrics.prom"))
	e2e := kong.only(model.E2E).Hist
	if first, last := e2e.Bounds[0], e2e.Bounds[len(e2e.Bounds)-1]; first != 0.25 || last != 60 || e2e.Sum.Value != 372.602 {
		t.Errorf("E2E from %v to %v s, sum %v", first, last, e2e.Sum.Value)
	}
	kong.value(model.PromptTokens, 189825)
	kong.value(model.OutputTokens, 16895)
	kong.none(model.TTFT, model.TPOT, model.ITL)
	readPage(t, "kong_http_requests_total{service=\"a\",route=\"b\",code=\"200\"} 3\n").noted("ai_metrics: true")

	higress := readPage(t, gatewayPage(t, "gateways/higress/ai-statistics.prom"))
	for s, want := range map[model.Signal]float64{model.TTFT: 0.34, model.E2E: 3.235} {
		if h := higress.only(s).Hist; len(h.Bounds) != 0 || h.Sum.Value/h.N() != want {
			t.Errorf("%s: mean %v s over %d bounds, want %v s", s, h.Sum.Value/h.N(), len(h.Bounds), want)
		}
	}
	helicone := readPage(t, gatewayPage(t, "gateways/helicone/otel-collector-view.prom")).only(model.TTFT).Hist
	if helicone.Bounds[5] != 0.075 || math.Abs(helicone.Sum.Value-18.4681) > 1e-9 {
		t.Errorf("bound %v s, sum %v s", helicone.Bounds[5], helicone.Sum.Value)
	}
	litellm := readPage(t, gatewayPage(t, "gateways/litellm/metrics.prom"))
	litellm.none(model.TPOT, model.ITL) // latency_per_output_token is neither
	litellm.wants(model.Started, map[string]float64{"checkout-assistant": 60, "nightly-summaries": 43})
}

// Gaps are ITL and means of a request TPOT, whatever a gateway calls them.
func TestGapsAndMeansStayApart(t *testing.T) {
	for name, want := range map[string][2]bool{ // ITL, TPOT
		"gateways/bifrost/metrics.prom":                     {true, false},
		"gateways/dynamo/frontend-one-request.prom":         {true, false},
		"gateways/envoy-ai-gateway/metrics-v1.1-style.prom": {false, true},
		"gateways/sglang-router/smg-grpc-mode.prom":         {false, true},
		"gateways/aibrix/gateway-plugin-metrics.prom":       {false, true},
		"captures/llm-d-router-epp-ebab68792/013.prom":      {true, true},
	} {
		r := readPage(t, gatewayPage(t, name))
		if got := [2]bool{len(r.of(model.ITL)) > 0, len(r.of(model.TPOT)) > 0}; got != want {
			t.Errorf("%s: ITL and TPOT %v, want %v", name, got, want)
		}
	}
}

// A removed worker's -1 is no level, and a gauge with le no histogram.
func TestGaugesOfTheSGLangGateway(t *testing.T) {
	body := gatewayPage(t, "gateways/sglang-router/smg-grpc-mode.prom")
	r := readPage(t, body)
	r.wants(model.KVUsage, map[string]float64{"grpc://10.0.0.21:30000": 0.71, "grpc://10.0.0.22:30000": 0.43})
	for _, s := range r.samples {
		if s.Kind == model.Gauge && s.Value < 0 {
			t.Errorf("%s%s is %v", s.Signal, s.Labels, s.Value)
		}
	}
	gone := strings.Replace(body, `smg_worker_requests_active{worker="grpc://10.0.0.22:30000"} 5`, `smg_worker_requests_active{worker="grpc://10.0.0.22:30000"} -1`, 1)
	readPage(t, gone).wants(model.Running, map[string]float64{"grpc://10.0.0.21:30000": 6, "grpc://10.0.0.23:30000": 0})
	// The same as a table of many series.
	page := streamed(t, []byte(gone), 1)
	crowds := read{t, builtinSet(t).Plan(page).Read(page, nil), nil}
	crowds.wants(model.Running, map[string]float64{"grpc://10.0.0.21:30000": 6, "grpc://10.0.0.23:30000": 0})

	// Over HTTP the time to the response head is what there is.
	var http []string
	for line := range strings.Lines(body) {
		if !strings.Contains(line, "smg_router_") {
			http = append(http, line)
		}
	}
	r = readPage(t, strings.Join(http, ""))
	if m := r.meaning(model.TTFT); !strings.HasPrefix(m.Metric, "smg_http_request_duration_seconds") || !strings.Contains(m.Measures, "response head") {
		t.Errorf("TTFT from %s: %s", m.Metric, m.Measures)
	}
	if n := r.only(model.TTFT).Hist.N(); n != 60 {
		t.Errorf("TTFT has n %v", n)
	}
	r.none(model.TPOT, model.E2E, model.OutputTokens)
}

// The router's page is told from an engine's by its server label.
func TestProductionStackIsNoEngine(t *testing.T) {
	r := readPage(t, gatewayPage(t, "gateways/production-stack/router-metrics.prom"))
	r.wants(model.Running, map[string]float64{"http://10.0.0.11:8000": 7, "http://10.0.0.12:8000": 5, "http://10.0.0.13:8000": 0})
	r.none(model.Waiting, model.TTFT, model.ITL, model.KVUsage)
	for _, page := range []string{"vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 1\n",
		"vllm:num_requests_running{model_name=\"m\",server=\"s\"} 1\n"} {
		if got := readPage(t, page).about.Engine; got != "vllm" {
			t.Errorf("%s is read as %s", page, got)
		}
	}
}

// bifrostPage is a page on which clients of streams waited 4 s and the first-token
// clock, which starts at the provider's headers, says 2 ms.
func bifrostPage(labels func(metric string) string, models ...string) string {
	var b strings.Builder
	hist := func(name, labels string, n, sum float64) {
		fmt.Fprintf(&b, "# TYPE %s histogram\n%s_bucket{%s,le=\"+Inf\"} %v\n%s_sum{%s} %v\n%s_count{%s} %v\n",
			name, name, labels, n, name, labels, sum, name, labels, n)
	}
	for _, m := range models {
		of := `model="` + m + `"` + labels("bifrost")
		fmt.Fprintf(&b, "bifrost_upstream_requests_total{%s,number_of_retries=\"0\"} 3\nbifrost_upstream_requests_total{%s,number_of_retries=\"2\"} 1\n", of, of)
		fmt.Fprintf(&b, "bifrost_success_requests_total{%s} 4\n", of)
		hist("bifrost_stream_first_token_latency_seconds", of, 4, 0.008)
	}
	hist("http_request_duration_seconds", `method="POST",path="/v1/chat/completions",status="200"`+labels("http"), 4, 16)
	return b.String()
}

func TestFirstTokensOfBifrost(t *testing.T) {
	label := func(text string, on ...string) func(string) string {
		return func(metric string) string {
			if slices.Contains(on, metric) {
				return "," + text
			}
			return ""
		}
	}
	const http, clock = "http_request_duration_seconds", "bifrost_stream_first_token_latency_seconds"
	for _, c := range []struct {
		name   string
		page   string
		metric string
		mean   float64
	}{
		{"one model", bifrostPage(label(""), "m"), http, 4},
		{"a custom label on both", bifrostPage(label(`workflow="w"`, "bifrost", "http"), "m", "n"), http, 4},
		{"keys, which only its own families have", bifrostPage(label(`virtual_key_name="k"`, "bifrost"), "m"), clock, 0.002},
		{"two models that nothing tells apart", bifrostPage(label(""), "m", "n"), clock, 0.002},
	} {
		page := strings.ReplaceAll(c.page, ",,", ",")
		r := readPage(t, page)
		if m := r.meaning(model.TTFT); !strings.HasPrefix(m.Metric, c.metric) {
			t.Errorf("%s: TTFT from %s, want %s", c.name, m.Metric, c.metric)
		}
		h := r.of(model.TTFT)[0].Hist
		if mean := h.Sum.Value / h.N(); mean != c.mean {
			t.Errorf("%s: mean %v s, want %v s", c.name, mean, c.mean)
		}
		if c.metric == clock {
			r.noted("starts at the provider's response headers")
		}
		retried := 0.0
		for _, v := range r.values(model.Retried) {
			retried += v
		}
		if want := 2 * float64(len(r.of(model.Retried))); retried != want {
			t.Errorf("%s: %v retries, want %v", c.name, retried, want)
		}
	}
	saturated := readPage(t, gatewayPage(t, "captures/bifrost-1.4.19/011.prom"))
	sum := 0.0
	for _, s := range saturated.of(model.TTFT) {
		sum += s.Hist.Sum.Value
	}
	if math.Abs(sum-368) > 0.5 { // what clients waited
		t.Errorf("TTFT adds up to %v s", sum)
	}
	saturated.wants(model.Cancelled, map[string]float64{"agent": 1, "batch": 0, "chat": 1, "rag": 3})
}

// What nobody had a failure of is 0 where the counter is on the page, and unknown
// where it is not.
func TestNoFailureAndNoCounter(t *testing.T) {
	const head = "litellm_proxy_total_requests_metric_total{requested_model=\"m\",api_key_alias=\"a\",status_code=\"200\"} 5\n" +
		"litellm_proxy_total_requests_metric_total{requested_model=\"m\",api_key_alias=\"b\",status_code=\"200\"} 7\n"
	readPage(t, head).none(model.Failed)
	p := newPoller(t)
	p.poll(head)
	r := p.poll(head + "litellm_proxy_failed_requests_metric_total{requested_model=\"m\",api_key_alias=\"b\",exception_status=\"429\",exception_class=\"X\"} 2\n")
	r.wants(model.Failed, map[string]float64{"a": 0, "b": 2})
	for _, s := range r.of(model.Failed) {
		if reason := s.Labels.Get(model.LabelReason); (s.Value > 0) != (reason == "rate_limited") {
			t.Errorf("%s: %v", s.Labels, s.Value)
		}
	}
	// Rows that say nobody's name may be anybody's failures.
	r = readPage(t, head+"litellm_proxy_failed_requests_metric_total{exception_status=\"500\"} 2\n")
	r.wants(model.Failed, map[string]float64{"": 2})
	// A zero is no memory of what it stands beside: that stands still as it was.
	const gone = "litellm_proxy_total_requests_metric_total{requested_model=\"m\",api_key_alias=\"a\",status_code=\"200\",team=\"x\"} 10\n"
	const failed = "litellm_proxy_failed_requests_metric_total{requested_model=\"m\",api_key_alias=\"b\",exception_status=\"429\"} 2\n"
	p = newPoller(t)
	p.poll(head + gone + failed)
	r = p.poll(head + failed)
	r.wants(model.Finished, map[string]float64{"a": 15, "b": 7})
	r.wants(model.Failed, map[string]float64{"a": 0, "b": 2})
}

func TestReasonsOfFailures(t *testing.T) {
	d := &Dialect{failures: map[string]string{"Full": "rejected", "503": "timeout"}}
	for exposed, want := range map[string]string{
		"": "", "Full": "rejected", "503": "timeout", "429": "rate_limited", "408": "timeout", "504": "timeout", "499": "client_disconnect",
		"400": "upstream_4xx", "500": "upstream_5xx", "200": "", "4x1": "4x1", "ContextWindowExceeded": "ContextWindowExceeded", "50": "50", "_OTHER": "_OTHER",
	} {
		if want == "" && exposed != "" {
			want = exposed
		}
		if got := d.failure(exposed); got != want {
			t.Errorf("%q is %q, want %q", exposed, got, want)
		}
	}
}

// A page with a series for each user of very many is read as a table.
func TestCrowdOfUsersAtAGateway(t *testing.T) {
	const users = 300
	var b strings.Builder
	b.WriteString("# TYPE litellm_proxy_total_requests_metric_total counter\n")
	for i := range users {
		fmt.Fprintf(&b, "litellm_proxy_total_requests_metric_total{requested_model=\"m\",user=\"u%d\",api_key_alias=\"k%d\",status_code=\"200\"} 2\n", i, i%2)
	}
	b.WriteString("# TYPE litellm_request_total_latency_metric histogram\n")
	for i := range users {
		of := fmt.Sprintf("requested_model=\"m\",user=\"u%d\",api_key_alias=\"None\",team_alias=\"t%d\"", i, i%3)
		fmt.Fprintf(&b, "litellm_request_total_latency_metric_bucket{%s,le=\"1.0\"} 1\nlitellm_request_total_latency_metric_bucket{%s,le=\"+Inf\"} 2\n"+
			"litellm_request_total_latency_metric_sum{%s} 3\nlitellm_request_total_latency_metric_count{%s} 2\n", of, of, of, of)
	}
	page := streamed(t, []byte(b.String()), 100)
	if len(page.Crowds) == 0 {
		t.Fatal("no table")
	}
	plan := builtinSet(t).Plan(page)
	r := read{t, plan.Read(page, nil), plan.About(page)}
	r.wants(model.Started, map[string]float64{"k0": users, "k1": users})
	r.wants(model.Finished, map[string]float64{"k0": users, "k1": users})
	r.wants(model.E2E, map[string]float64{"t0": 200, "t1": 200, "t2": 200})
	r.none(model.Failed)
}

func TestNotesOfGateways(t *testing.T) {
	for _, c := range []struct{ page, note string }{
		{"litellm_not_a_premium_user_metric_total 1\n", "enterprise edition"},
		{"litellm_proxy_total_requests_metric_total{api_key_alias=\"None\",team_alias=\"\"} 1\n", "custom_prometheus_metadata_labels"},
		{"litellm_requests_metric_total 1\nlitellm_requests_metric_created 1.7e9\n", "PROMETHEUS_MULTIPROC_DIR"},
		{"llm_d_epp_request_total{model_name=\"m\",fairness_id=\"default-flow\"} 1\n", "x-llm-d-inference-fairness-id"},
		{"inference_objective_request_total{model_name=\"m\"} 1\n", "stream_options.include_usage"},
		{"bifrost_upstream_requests_total{model=\"m\",virtual_key_name=\"\"} 1\n", "virtual key"},
		{"kong_nginx_requests_total 1\n", "log_statistics"},
		{"ray_serve_deployment_request_counter_total{deployment=\"d\"} 1\n", "log_engine_metrics"},
	} {
		readPage(t, c.page).noted(c.note)
	}
	for _, n := range readPage(t, gatewayPage(t, "gateways/litellm/metrics.prom")).about.Notes {
		if strings.Contains(n, "custom_prometheus") {
			t.Errorf("keys have an alias, and still: %s", n)
		}
	}
	r := readPage(t, "llm_d_epp_request_total{model_name=\"m\",fairness_id=\"default-flow\"} 4\n")
	r.wants(model.Started, map[string]float64{"m": 4})
}

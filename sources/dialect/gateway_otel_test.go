package dialect

import (
	"fmt"
	"strings"
	"testing"

	"slotop/model"
)

// otelHist is one histogram with OpenTelemetry's labels.
func otelHist(name, labels string, n, sum float64) string {
	return fmt.Sprintf("# TYPE %s histogram\n%s_bucket{%s,le=\"1\"} %v\n%s_bucket{%s,le=\"+Inf\"} %v\n%s_sum{%s} %v\n%s_count{%s} %v\n",
		name, name, labels, n-1, name, labels, n, name, labels, sum, name, labels, n)
}

const chatOf = `gen_ai_operation_name="chat",gen_ai_request_model="m"`

func TestOpenTelemetryWithDots(t *testing.T) {
	plain := otelHist("gen_ai_server_request_duration_seconds", chatOf, 10, 5) +
		otelHist("gen_ai_server_request_duration_seconds", chatOf+`,error_type="429"`, 2, 1) +
		otelHist("gen_ai_server_time_to_first_token_seconds", chatOf, 9, 2) +
		otelHist("gen_ai_client_token_usage", chatOf+`,gen_ai_token_type="input"`, 10, 700)
	var dotted strings.Builder
	for line := range strings.Lines(plain) {
		name, labels, found := strings.Cut(line, "{")
		if !found {
			continue
		}
		ending := name[strings.LastIndex(name, "_"):]
		name = strings.TrimSuffix(name, ending)
		unit := ""
		if rest, ok := strings.CutSuffix(name, "_seconds"); ok {
			name, unit = rest, "_seconds"
		}
		name = strings.NewReplacer("gen_ai_server_", "gen_ai.server.", "gen_ai_client_", "gen_ai.client.", "request_duration", "request.duration",
			"token_usage", "token.usage").Replace(name)
		labels = strings.NewReplacer("gen_ai_operation_name", `"gen_ai.operation.name"`, "gen_ai_request_model", `"gen_ai.request.model"`,
			"gen_ai_token_type", `"gen_ai.token.type"`, "error_type", `"error.type"`).Replace(labels)
		fmt.Fprintf(&dotted, "{%q,%s", name+unit+ending, labels)
	}
	if !strings.Contains(dotted.String(), `{"gen_ai.server.request.duration_seconds_bucket","gen_ai.operation.name"="chat"`) {
		t.Fatal(dotted.String())
	}
	want := readPage(t, plain)
	want.wants(model.Finished, map[string]float64{"m": 10})
	want.wants(model.Failed, map[string]float64{"m": 2})
	want.value(model.PromptTokens, 700)
	for name, body := range map[string]string{"dots": dotted.String(), "both": dotted.String() + plain, "both, the other way": plain + dotted.String()} {
		if r := readPage(t, body); samplesOf(r) != samplesOf(want) || r.about.Engine != "otel-genai" {
			t.Errorf("%s (%s):\n%s\nwant\n%s", name, r.about.Engine, samplesOf(r), samplesOf(want))
		}
	}
}

// A collector gives every series a job and an instance, as a federation does; that
// one says no types, and is nobody's page.
func TestCollectorsPage(t *testing.T) {
	of := func(service string) string {
		return fmt.Sprintf(`%s,job=%q,instance="i-1"`, chatOf, service)
	}
	body := otelHist("gen_ai_client_operation_duration_seconds", of("shop"), 10, 5) +
		otelHist("gen_ai_client_operation_duration_seconds", of("support"), 4, 5) +
		otelHist("gen_ai_client_operation_duration_seconds", strings.Replace(of("support"), "chat", "invoke_agent", 1), 2, 50) +
		otelHist("gen_ai_client_operation_time_to_first_chunk_seconds", of("shop"), 9, 2) +
		otelHist("gen_ai_client_token_usage", of("shop")+`,gen_ai_token_type="output"`, 10, 300) +
		"# TYPE target_info gauge\ntarget_info{job=\"shop\",instance=\"i-1\"} 1\ntarget_info{job=\"support\",instance=\"i-1\"} 1\n"
	r := readPage(t, body)
	if r.about.Engine != "otel-genai-client" || r.about.Kind != model.GatewayTarget {
		t.Fatalf("%s %s", r.about.Kind, r.about.Engine)
	}
	r.wants(model.Finished, map[string]float64{"shop": 10, "support": 4})
	r.wants(model.TTFT, map[string]float64{"shop": 9})
	r.wants(model.OutputTokens, map[string]float64{"shop": 300})
	r.noted("measured by the callers")

	var untyped []string
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "#") {
			untyped = append(untyped, line)
		}
	}
	if d, ok := builtinSet(t).Detect(scan(t, []byte(strings.Join(untyped, "")))); ok {
		t.Errorf("a federation is read as %s", d.engine)
	}
	engine := `# TYPE vllm:num_requests_running gauge` + "\n" + `vllm:num_requests_running{model_name="m",job="a",instance="b"} 1` + "\n"
	if d, ok := builtinSet(t).Detect(scan(t, []byte(engine))); ok {
		t.Errorf("what passes engines on is read as %s", d.engine)
	}
}

// Of a page with both, the servers' figures are read, and none is added to the
// callers' of the same requests.
func TestServersAndCallersOnOnePage(t *testing.T) {
	r := readPage(t, otelHist("gen_ai_client_operation_duration_seconds", chatOf+`,error_type="timeout"`, 3, 5)+
		otelHist("gen_ai_client_operation_duration_seconds", chatOf, 12, 9)+
		otelHist("gen_ai_server_request_duration_seconds", chatOf, 10, 5))
	r.wants(model.Started, map[string]float64{"m": 10})
	r.wants(model.Finished, map[string]float64{"m": 10})
	r.wants(model.Failed, map[string]float64{"m": 0})
	r.wants(model.E2E, map[string]float64{"m": 10})
	r.noted("those that servers measure are read")
}

func TestWhoWritesOpenTelemetryNames(t *testing.T) {
	by := func(scope string) string {
		return otelHist("gen_ai_server_request_duration_seconds", chatOf+`,otel_scope_name="`+scope+`"`, 10, 5)
	}
	for _, c := range []struct{ page, engine string }{
		{by("envoyproxy/ai-gateway"), "envoy-ai-gateway"},
		{by("envoyproxy/ai-gateway") + "envoy_server_live 1\n", "envoy-ai-gateway"},
		{by("inference-gateway"), "otel-genai"},
		{otelHist("gen_ai_client_operation_duration_seconds", chatOf, 10, 5) + "traefik_open_connections 2\n", "traefik"},
		{otelHist("gen_ai_client_operation_duration_seconds", chatOf, 10, 5), "otel-genai-client"},
	} {
		if got := readPage(t, c.page).about.Engine; got != c.engine {
			t.Errorf("read as %s, want %s:\n%s", got, c.engine, c.page)
		}
	}
	// A mapped header names the workflow, and where there is none it is said how to.
	envoy := gatewayPage(t, "gateways/envoy-ai-gateway/metrics-v1.1-style.prom")
	for _, n := range readPage(t, envoy).about.Notes {
		if strings.Contains(n, "metricsRequestHeaderAttributes") {
			t.Errorf("told though it is done: %s", n)
		}
	}
	without := strings.NewReplacer(`,workflow="checkout-assistant"`, "", `,workflow="support-rag"`, "").Replace(envoy)
	r := readPage(t, without)
	r.noted("metricsRequestHeaderAttributes")
	r.wants(model.Failed, map[string]float64{"llama-3.1-70b-instruct": 1})
}

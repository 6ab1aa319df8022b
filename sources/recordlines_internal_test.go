package sources

import (
	"fmt"
	"strings"
	"testing"

	"slotop/model"
)

// mapped is what one line of a native format becomes.
func mapped(line string) string {
	d := newDecoder(nil)
	d.lines.nameBy("x_workflow")
	m, why := d.read([]byte(line), unsaid)
	switch {
	case why != "":
		return "skipped: " + why
	case m.of == ofNoMatter:
		return "passed: " + m.aside
	}
	at := func(s model.Stamp) string {
		if s == 0 {
			return "-"
		}
		return s.Time().Format("05.000")
	}
	return fmt.Sprintf("%s %s %s %s|%s %s %s|%s %s %d|%g %g %d", m.ID, m.Workflow, m.Model, m.Instance,
		at(m.Queued), at(m.FirstToken), at(m.Completed), m.Outcome, m.Reason, m.Status, m.InputTokens.Value, m.OutputTokens.Value, m.Stream)
}

func TestLinesOfOtherFormats(t *testing.T) {
	trace := func(rest string) string { return `{"schema":"dynamo.request.trace.v1",` + rest + `}` }
	ended := `"event_type":"request_end","event_time_unix_ms":1785585602000,`
	access := func(rest string) string {
		return `{"start_time":"2026-08-01T12:00:00.000Z","duration":1500,"gen_ai.request.model":"m","route_name":"r","x-request-id":"a",` + rest + `}`
	}
	for _, tc := range []struct{ name, line, want string }{
		{"a trace with all there may be", trace(ended + `"agent_context":{"session_id":"run-42:researcher"},"request":{"request_id":"a","model":"m","request_received_ms":1785585600000,` +
			`"ttft_ms":250.5,"total_time_ms":2000,"prefill_wait_time_ms":20,"worker":{"decode_worker_id":7587890123456789},"input_tokens":5,"output_tokens":6,"finish_reason_metadata":{"choices":[{"finish_reason":"stop"},{"finish_reason":"length"}]}}`),
			"a run-42 m 7587890123456789|00.000 00.250 02.000|output_limit  0|5 6 0"},
		{"a trace for replay", trace(ended + `"request":{"request_id":"a","request_received_ms":1785585600000,"output_tokens":16,"replay":{"input_sequence_hashes":[14879255164371896291]}}`),
			"a   |00.000 - 02.000|  0|0 16 0"},
		{"a trace whose reason is a word", trace(ended + `"request":{"request_id":"a","finish_reason_metadata":"length"}`), "a   |- - 02.000|output_limit  0|0 0 0"},
		{"a cancelled one", trace(ended + `"request":{"request_id":"a","finish_reason_metadata":{"finish_reason":"cancelled"}}`), "a   |- - 02.000|cancelled client_disconnect 0|0 0 0"},
		{"a session with a number for a name", trace(ended + `"agent_context":{"session_id":"0f0e0d0c-0b0a-4908-8706-050403020100"},"request":{"request_id":"a"}`), "a   |- - 02.000|  0|0 0 0"},
		{"payloads", trace(`"event_type":"request_payload","payload":{"request_id":"a","request":{"messages":[{"content":"` + canary + `"}]}}`), "passed: rows with payloads"},
		{"tools", trace(`"event_type":"tool_end","tool":{"tool_call_id":"c"}`), "passed: rows of tool calls"},
		{"a row to come", trace(`"event_type":"request_begin"`), "skipped: a row of a kind that is not known"},
		{"no id", trace(ended + `"request":{}`), "skipped: it has no id"},

		{"access", access(`"response_code":200,"response_flags":"-","upstream_host":"h:1","gen_ai.usage.input_tokens":"5","gen_ai.usage.output_tokens":6`), "a r m h:1|00.000 - 01.500|completed  200|5 6 0"},
		{"a header names the workflow", access(`"x-workflow":"shop","response_code":200`), "a shop m |00.000 - 01.500|completed  200|0 0 0"},
		{"the first token is told", access(`"response_code":200,"token_latency_ttft":"250"`), "a r m |00.000 00.250 01.500|completed  200|0 0 0"},
		{"the client left", access(`"response_code":0,"response_flags":"DC"`), "a r m |00.000 - 01.500|cancelled client_disconnect 0|0 0 0"},
		{"the client left in the answer", access(`"response_code":200,"response_flags":"DC"`), "a r m |00.000 - 01.500|cancelled client_disconnect 200|0 0 0"},
		{"too slow", access(`"response_code":504,"response_flags":"UT"`), "a r m |00.000 - 01.500|failed timeout 504|0 0 0"},
		{"broken off", access(`"response_code":200,"response_flags":"UC,URX"`), "a r m |00.000 - 01.500|failed upstream_5xx 200|0 0 0"},
		{"too many", access(`"response_code":429,"response_flags":"RL"`), "a r m |00.000 - 01.500|failed rejected 429|0 0 0"},
		{"no time", `{"response_flags":"-","start_time":"-","gen_ai.request.model":"m","x-request-id":"a"}`, "skipped: it has no time"},
		{"other traffic", `{"start_time":"2026-08-01T12:00:00.000Z","duration":1,"response_code":200,"response_flags":"-","gen_ai.request.model":null}`, "passed: lines of other traffic"},

		{"kong", `{"started_at":1785585600123,"request":{"id":"a"},"response":{"status":499},"latencies":{"request":500},"consumer":{"username":"shop"},"ai":{"ai-proxy":{"meta":{"response_model":"m","request_mode":"stream"},"usage":{"prompt_tokens":5,"completion_tokens":6}}}}`,
			"a shop m |00.123 - 00.623|cancelled client_disconnect 499|5 6 1"},
		{"kong without a model", `{"started_at":1785585600123,"request":{"id":"a"},"latencies":{"request":500},"route":{"name":"shop"}}`, "passed: lines of other traffic"},

		{"higress", `{"start_time":"2026-08-01T12:00:00Z","ai_log":"{\"ai_consumer\":\"shop\",\"ai_cluster\":\"c\",\"model\":\"m\",\"response_type\":\"stream\",\"llm_first_token_duration\":\"300\",\"llm_service_duration\":\"1500\",\"question\":\"` + canary + `\"}","request_id":"a","response_code":200}`,
			"a shop m c|00.000 00.300 01.500|completed  200|0 0 1"},
		{"higress in an object", `{"ai_log":{"model":"m","input_token":"5"},"start_time":"2026-08-01T12:00:00Z","request_id":"a","duration":"100","response_code":"502"}`, "a  m |00.000 - 00.100|failed upstream_5xx 502|5 0 0"},
		{"higress without a model", `{"ai_log":"-","start_time":"2026-08-01T12:00:00Z"}`, "passed: lines of other traffic"},
		{"higress cut", `{"ai_log":"{\"model\":\"m\",\"question\":\"` + canary + `","start_time":"2026-08-01T12:00:00Z","request_id":"a"}`, "skipped: its ai_log is not JSON"},
		{"higress without a time", `{"ai_log":"{\"model\":\"m\"}"}`, "skipped: it has no time: put start_time into the access log's format"},

		{"none of these", `{"level":"info","msg":"` + canary + `"}`, "skipped: its version (v) is not 1"},
		{"our own", `{"v":1,"id":"a","at":"2026-08-01T12:00:00Z","phase":"done","start_time":"x","response_flags":"-"}`, "a   |- - -|  0|0 0 0"},
		{"cut", `{"schema":"dynamo.request.trace.v1","event_type":"requ`, "skipped: not JSON"},
	} {
		got := mapped(tc.line)
		if got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, got, tc.want)
		}
		if strings.Contains(got, "CANARY") {
			t.Errorf("%s: a prompt came through", tc.name)
		}
	}
}

// A record without an ID has the same one each time it is read, and another than others.
func TestIDsThatAreMade(t *testing.T) {
	line := `{"start_time":"2026-08-01T12:00:00.000Z","duration":1500,"gen_ai.request.model":"m","response_code":200,"gen_ai.usage.output_tokens":6}`
	a, b := mapped(line), mapped(line)
	c := mapped(strings.Replace(line, "1500", "1501", 1))
	if a != b || a == c || !strings.HasPrefix(a, "envoy-ai-gateway-") {
		t.Errorf("got %s, %s, %s", a, b, c)
	}
}

// Formats may alternate in one file.
func TestLinesOfSeveralFormats(t *testing.T) {
	d := newDecoder(nil)
	native := `{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":1785585602000,"request":{"request_id":"n"}}`
	for i, line := range []string{eventLine("a"), native, native, "[]", eventLine("b"), native, eventLine("c"), `{"v":1,"dropped":2}`} {
		m, why := d.read([]byte(line), unsaid)
		got := why
		if why == "" {
			got = m.ID + fmt.Sprint(m.dropped)
		}
		if want := []string{"a0", "n0", "n0", "not a JSON object", "b0", "n0", "c0", "2"}[i]; got != want {
			t.Errorf("%d: got %s, want %s", i, got, want)
		}
	}
}

// An address says which server it is, and nothing of its keys.
func TestServersOfAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://vllm.internal:8000/v1":       "vllm.internal:8000",
		"https://[2001:db8::1]:443":          "[2001:db8::1]:443",
		"http://user:SECRET@h:1/x?key=x#@y":  "h:1",
		"http://user:SE/CRET@h:1/x":          "",
		"http://h/a@b":                       "", // it may be a key
		"http://h?key=SECRET":                "h",
		"vllm:8000":                          "",
		"http://h\u001b[2J/":                 "",
		"":                                   "",
		"http://" + strings.Repeat("h", 900): "",
	} {
		r := newRecordReader(nil, "")
		r.outer.reset([]byte(`"` + address + `"`))
		r.t = &r.outer
		if got := r.host(); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

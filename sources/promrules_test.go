package sources_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// A server that keeps no metric of an engine's but what rules made of them is read by
// those.
func TestPrometheusReadsRulesWhereItKeepsNothingElse(t *testing.T) {
	f := newFakeProm()
	f.rule("model:running:sum", `sum by (model_name) (vllm:num_requests_running)`, `model:running:sum{model_name="m"} 33`)
	f.rule("model:tokens:rate1m", `sum(rate(vllm:generation_tokens_total[1m])) by (model_name)`, `model:tokens:rate1m{model_name="m"} 300`)
	f.rule("model:ttft_bucket:increase5m", "sum by (model_name, le) (\n  increase(vllm:time_to_first_token_seconds_bucket[5m])\n)",
		`model:ttft_bucket:increase5m{model_name="m",le="0.5"} 2700`, `model:ttft_bucket:increase5m{model_name="m",le="+Inf"} 3600`)
	f.rule("model:ttft:p95", `histogram_quantile(0.95, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[1m])))`, "model:ttft:p95 0.4")
	f.rule("other:rate", `sum by (job) (rate(http_requests_total[1m]))`, "other:rate 7")
	w := watchProm(t, f, "")
	b := w.after(0)
	if v := the(t, b, model.Running, model.LabelModel, "m").Value; v != 33 {
		t.Errorf("%v run, want 33", v)
	}
	if b.About.Replicas != (model.Replicas{}) || !strings.Contains(notesOf(b), "read from recording rules in place of the engines' own metrics: model:tokens:rate1m, model:ttft_bucket:increase5m, model:running:sum") {
		t.Errorf("%+v, notes: %s", b.About.Replicas, notesOf(b))
	}
	tokens, n := the(t, b, model.OutputTokens, model.LabelModel, "m").Value, the(t, b, model.TTFT, model.LabelModel, "m").Hist.N()
	for range 20 {
		b = w.after(15 * time.Second)
	}
	if v := the(t, b, model.OutputTokens, model.LabelModel, "m").Value - tokens; math.Abs(v-300*300) > 1e-6 {
		t.Errorf("%v tokens in five minutes, want 90000", v)
	}
	h := the(t, b, model.TTFT, model.LabelModel, "m").Hist
	if v := h.N() - n; math.Abs(v-3600) > 1e-6 || math.Abs(h.Counts[0]/h.N()-0.75) > 1e-9 {
		t.Errorf("%v first tokens in five minutes, want 3600: %+v", v, h)
	}
}

// Where a metric is too much for the server, its rule is read.
func TestPrometheusReadsRulesOfWhatIsTooMuch(t *testing.T) {
	f := aFleet(2)
	f.rule("model:ttft_bucket:rate1m", `sum by (model_name, le) (rate(vllm:time_to_first_token_seconds_bucket[1m]))`,
		`model:ttft_bucket:rate1m{model_name="m",le="0.1"} 2`, `model:ttft_bucket:rate1m{model_name="m",le="0.5"} 6`, `model:ttft_bucket:rate1m{model_name="m",le="+Inf"} 8`)
	f.wrong = func(query string) (int, string) {
		if strings.Contains(query, "increase(vllm:time_to_first_token_seconds_bucket") {
			return 422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}`
		}
		return 0, ""
	}
	w := watchProm(t, f, "")
	var b model.Batch
	for range 60 {
		b = w.after(15 * time.Second)
	}
	if !strings.Contains(notesOf(b), "model:ttft_bucket:rate1m") {
		t.Errorf("notes: %s", notesOf(b))
	}
	n := the(t, b, model.TTFT, model.LabelModel, "m").Hist.N()
	for range 4 {
		b = w.after(15 * time.Second)
	}
	if v := the(t, b, model.TTFT, model.LabelModel, "m").Hist.N() - n; math.Abs(v-60*8) > 1e-6 {
		t.Errorf("%v first tokens in a minute, want 480", v)
	}
	the(t, b, model.OutputTokens, model.LabelModel, "m")
}

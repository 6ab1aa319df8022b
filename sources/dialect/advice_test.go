package dialect

import (
	"slices"
	"strings"
	"testing"

	"slotop/model"
)

// TestAdvice: what a target lacks is followed by what to do for it.
func TestAdvice(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		engine, name string
		metric, say  string // parts
		known        bool
	}{
		{"vllm", "estimated_flops", "vllm:estimated_flops_per_gpu_total", "--enable-mfu-metrics", true},
		{"ray-vllm", "estimated_flops", "ray_vllm_estimated_flops_per_gpu_total", "--enable-mfu-metrics", true},
		{"aphrodite", "tpot_seconds", "aphrodite:request_time_per_output_token_seconds", "Aphrodite 0.20", true},
		{"sglang", "estimated_flops", "sglang:estimated_flops_per_gpu_total", "--enable-mfu-metrics", true},
		{"sglang-loads", "ttft_seconds", "sglang_time_to_first_token_seconds", "--enable-metrics", true},
		{"trtllm", "kv_cache_ratio", "trtllm_kv_cache_utilization", "enable_iter_perf_stats", true},
		{"triton", "kv_cache_ratio", "nv_trt_llm_kv_cache_block_metrics", "REPORT_CUSTOM_METRICS", true},
		{"triton", "itl_seconds", "", "vLLM backend", true},
		{"triton+vllm", "itl_seconds", "vllm:inter_token_latency_seconds", "vLLM backend", true},
		{"triton+vllm", "estimated_flops", "vllm:estimated_flops_per_gpu_total", "--enable-mfu-metrics", true},
		{"triton", "estimated_flops", "", "", false},
		{"llama.cpp", "requests_waiting", "llamacpp:requests_deferred", "", true},
		{"llama.cpp", "ttft_seconds", "", "", false},
		{"llm-d-inference-sim", "tpot_seconds", "", "", false},
		{"nobody", "ttft_seconds", "", "", false},
	} {
		a, known := set.Advice(aboutOf(c.engine), c.name)
		if known != c.known || a.Metric != c.metric || !strings.Contains(a.Enable, c.say) || c.say == "" && a.Enable != "" {
			t.Errorf("%s, %s: %+v, %v", c.engine, c.name, a, known)
		}
	}
}

// aboutOf is a target whose page may carry another engine's metrics: "triton+vllm".
func aboutOf(engines string) *model.About {
	engine, other, found := strings.Cut(engines, "+")
	about := &model.About{Engine: engine}
	if found {
		about.Notes = []string{"the page also carries the metrics of " + other}
	}
	return about
}

// TestAdviceNamesTheFlag: a flag that a way needs is what its advice says.
func TestAdviceNamesTheFlag(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range set.Engines() {
		for _, info := range model.Signals {
			a, _ := set.Advice(&model.About{Engine: engine}, string(info.Signal))
			if strings.HasPrefix(a.Needs, "-") && !strings.Contains(a.Enable, a.Needs) {
				t.Errorf("%s: %s needs %s, and the advice is %q", engine, info.Signal, a.Needs, a.Enable)
			}
		}
	}
}

func TestAdviceIsChecked(t *testing.T) {
	for _, c := range []struct{ row, says string }{
		{"{for: [ttft_secondz], say: do it}", `there is no signal "ttft_secondz", did you mean "ttft_seconds"?`},
		{"{for: [ttft_seconds]}", "a row takes for and say"},
		{"{say: do it}", "a row takes for and say"},
		{"{for: [sm_active], say: do it}", ""},
	} {
		_, err := parse("x.yaml", []byte("engine: x\ndetect: {any: [a]}\nenable:\n  - "+c.row+"\n"))
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", c.row, err)
		case c.says != "" && (err == nil || !slices.Contains([]string{"x.yaml:3:1: " + c.says, "x.yaml:4:5: " + c.says}, err.Error())):
			t.Errorf("%s: %v", c.row, err)
		}
	}
}

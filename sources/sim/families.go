package sim

type kind string

const (
	gaugeKind     kind = "gauge"
	counterKind   kind = "counter"
	histogramKind kind = "histogram"
	summaryKind   kind = "summary"
)

// row is one line's value, with the label that tells it from its neighbours.
type row struct {
	label, value string
	slot         *float64
}

// family is one metric family of the engine: what it is called and where its
// rows are. A counter's name is without _total.
type family struct {
	name, help string
	kind       kind
	rows       func(s *served) []row
	hist       func(s *served) *histogram
}

func single(slot func(s *served) *float64) func(s *served) []row {
	return func(s *served) []row { return []row{{slot: slot(s)}} }
}

func none(s *served) *float64 { return &s.zero }

// families are the engine's, in the order in which vLLM shows them.
var families = []family{
	{name: "vllm:estimated_flops_per_gpu", kind: counterKind,
		help: "Estimated number of floating point operations per GPU (for Model Flops Utilization calculations).",
		rows: single(func(s *served) *float64 { return &s.flops })},
	{name: "vllm:estimated_read_bytes_per_gpu", kind: counterKind,
		help: "Estimated number of bytes read from memory per GPU (for Model Flops Utilization calculations).",
		rows: single(func(s *served) *float64 { return &s.read })},
	{name: "vllm:estimated_write_bytes_per_gpu", kind: counterKind,
		help: "Estimated number of bytes written to memory per GPU (for Model Flops Utilization calculations).",
		rows: single(func(s *served) *float64 { return &s.wrote })},
	{name: "vllm:num_requests_running", kind: gaugeKind,
		help: "Number of requests in model execution batches.",
		rows: single(func(s *served) *float64 { return &s.running })},
	{name: "vllm:num_requests_waiting", kind: gaugeKind,
		help: "Number of requests waiting to be processed.",
		rows: single(func(s *served) *float64 { return &s.waiting })},
	{name: "vllm:num_requests_waiting_by_reason", kind: gaugeKind,
		help: "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for scheduling capacity; " +
			"'deferred' = deferred by transient constraints (LoRA budget, KV transfer, blocked status). " +
			"Sum of all reasons equals vllm:num_requests_waiting.",
		rows: func(s *served) []row {
			return []row{{"reason", "capacity", &s.waiting}, {"reason", "deferred", &s.zero}}
		}},
	{name: "vllm:engine_sleep_state", kind: gaugeKind,
		help: "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake; " +
			"weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.",
		rows: func(s *served) []row {
			return []row{{"sleep_state", "awake", &s.one}, {"sleep_state", "weights_offloaded", &s.zero},
				{"sleep_state", "discard_all", &s.zero}}
		}},
	{name: "vllm:kv_cache_usage_perc", kind: gaugeKind,
		help: "KV-cache usage. 1 means 100 percent usage.",
		rows: single(func(s *served) *float64 { return &s.usage })},
	{name: "vllm:prefix_cache_queries", kind: counterKind,
		help: "Prefix cache queries, in terms of number of queried tokens.",
		rows: single(func(s *served) *float64 { return &s.queries })},
	{name: "vllm:prefix_cache_hits", kind: counterKind,
		help: "Prefix cache hits, in terms of number of cached tokens.",
		rows: single(func(s *served) *float64 { return &s.hits })},
	{name: "vllm:external_prefix_cache_queries", kind: counterKind,
		help: "External prefix cache queries from KV connector cross-instance cache sharing, " +
			"in terms of number of queried tokens.",
		rows: single(none)},
	{name: "vllm:external_prefix_cache_hits", kind: counterKind,
		help: "External prefix cache hits from KV connector cross-instance cache sharing, " +
			"in terms of number of cached tokens.",
		rows: single(none)},
	{name: "vllm:mm_cache_queries", kind: counterKind,
		help: "Multi-modal cache queries, in terms of number of queried items.", rows: single(none)},
	{name: "vllm:mm_cache_hits", kind: counterKind,
		help: "Multi-modal cache hits, in terms of number of cached items.", rows: single(none)},
	{name: "vllm:num_preemptions", kind: counterKind,
		help: "Cumulative number of preemption from the engine.",
		rows: single(func(s *served) *float64 { return &s.preemptions })},
	{name: "vllm:prompt_tokens", kind: counterKind,
		help: "Number of prefill tokens processed.",
		rows: single(func(s *served) *float64 { return &s.promptTokens })},
	{name: "vllm:prompt_tokens_by_source", kind: counterKind,
		help: "Number of prompt tokens by source.",
		rows: func(s *served) []row {
			return []row{{"source", "local_compute", &s.computedTokens},
				{"source", "local_cache_hit", &s.cachedTokens},
				{"source", "external_kv_transfer", &s.zero}}
		}},
	{name: "vllm:prompt_tokens_cached", kind: counterKind,
		help: "Number of cached prompt tokens (local + external).",
		rows: single(func(s *served) *float64 { return &s.cachedTokens })},
	{name: "vllm:generation_tokens", kind: counterKind,
		help: "Number of generation tokens processed.",
		rows: single(func(s *served) *float64 { return &s.outputTokens })},
	{name: "vllm:request_success", kind: counterKind,
		help: "Count of successfully processed requests.",
		rows: func(s *served) []row {
			return []row{{"finished_reason", "stop", &s.finished[Stopped]},
				{"finished_reason", "length", &s.finished[LengthReached]},
				{"finished_reason", "abort", &s.finished[Aborted]},
				{"finished_reason", "error", &s.zero}, {"finished_reason", "repetition", &s.zero}}
		}},
	{name: "vllm:request_prompt_tokens", kind: histogramKind,
		help: "Number of prefill tokens processed.",
		hist: func(s *served) *histogram { return &s.promptLength }},
	{name: "vllm:request_generation_tokens", kind: histogramKind,
		help: "Number of generation tokens processed.",
		hist: func(s *served) *histogram { return &s.outputLength }},
	{name: "vllm:iteration_tokens_total", kind: histogramKind,
		help: "Histogram of number of tokens per engine_step.",
		hist: func(s *served) *histogram { return &s.step }},
	{name: "vllm:request_max_num_generation_tokens", kind: histogramKind,
		help: "Histogram of maximum number of requested generation tokens.",
		hist: func(s *served) *histogram { return &s.longestOutput }},
	{name: "vllm:request_params_n", kind: histogramKind,
		help: "Histogram of the n request parameter.",
		hist: func(s *served) *histogram { return &s.choices }},
	{name: "vllm:request_params_max_tokens", kind: histogramKind,
		help: "Histogram of the max_tokens request parameter.",
		hist: func(s *served) *histogram { return &s.limit }},
	{name: "vllm:time_to_first_token_seconds", kind: histogramKind,
		help: "Histogram of time to first token in seconds.",
		hist: func(s *served) *histogram { return &s.ttft }},
	{name: "vllm:inter_token_latency_seconds", kind: histogramKind,
		help: "Histogram of inter-token latency in seconds.",
		hist: func(s *served) *histogram { return &s.gap }},
	{name: "vllm:request_time_per_output_token_seconds", kind: histogramKind,
		help: "Histogram of time_per_output_token_seconds per request.",
		hist: func(s *served) *histogram { return &s.tpot }},
	{name: "vllm:e2e_request_latency_seconds", kind: histogramKind,
		help: "Histogram of e2e request latency in seconds.",
		hist: func(s *served) *histogram { return &s.e2e }},
	{name: "vllm:request_queue_time_seconds", kind: histogramKind,
		help: "Histogram of time spent in WAITING phase for request.",
		hist: func(s *served) *histogram { return &s.queue }},
	{name: "vllm:request_inference_time_seconds", kind: histogramKind,
		help: "Histogram of time spent in RUNNING phase for request.",
		hist: func(s *served) *histogram { return &s.inference }},
	{name: "vllm:request_prefill_time_seconds", kind: histogramKind,
		help: "Histogram of time spent in PREFILL phase for request.",
		hist: func(s *served) *histogram { return &s.prefill }},
	{name: "vllm:request_decode_time_seconds", kind: histogramKind,
		help: "Histogram of time spent in DECODE phase for request.",
		hist: func(s *served) *histogram { return &s.decode }},
	{name: "vllm:request_prefill_kv_computed_tokens", kind: histogramKind,
		help: "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
		hist: func(s *served) *histogram { return &s.computedLength }},
}

package glossary

import "slotop/model"

var traffic = []Topic{
	{
		Key: "requests_per_second", Name: "requests per second", Unit: "requests/s", Group: GroupTraffic,
		Is:         "How many requests ended a second, well or not as the source counts them.",
		Measured:   "At the engines, or at the gateway that counts whole requests.",
		Formula:    "increase of finished requests / time between the two polls that bound the window",
		Misleads:   "It is what was served, not what was asked for: in an overload arrivals are more. Prometheus' rate() extends to the edges of its window, so that its figure differs by a few per cent.",
		Signals:    []model.Signal{model.Finished, model.Started},
		AlsoCalled: []string{"vLLM: rate(vllm:request_success_total)", "SGLang: rate(sglang:num_requests_total)", "AIPerf: request throughput", "also: QPS, RPS"},
	},
	{
		Key: "requests.started", Name: "requests started", Unit: "requests", Group: GroupTraffic,
		Is: "How many requests arrived in the window.", Measured: "At the gateway, or at the engine's acceptance.",
		Formula: "increase of the counter over the window", Misleads: "Retries arrive as requests of their own.",
		Signals: []model.Signal{model.Started},
	},
	{
		Key: "requests.finished", Name: "requests finished", Unit: "requests", Group: GroupTraffic,
		Is: "How many requests ended in the window with an answer, cut ones included.", Measured: "At the source, when they end.",
		Formula: "increase of the counter over the window", Misleads: "What the word success covers differs: some engines count every end.",
		Signals: []model.Signal{model.Finished}, AlsoCalled: []string{"vLLM: vllm:request_success_total", "TGI: tgi_request_success", "SGLang: sglang:num_requests_total"},
	},
	{
		Key: "requests.failed", Name: "requests failed", Unit: "requests", Group: GroupTraffic,
		Is: "How many requests ended in the window with an error or were refused.", Measured: "At the source; gateways see failures that engines do not.",
		Formula: "increase of the counter over the window, by reason where told", Misleads: "A gateway that retries hides failures from the client, and 499 is a client that hung up.",
		Signals: []model.Signal{model.Failed}, AlsoCalled: []string{"TGI: tgi_request_failure", "TensorRT-LLM: trtllm_request_error_total", "LiteLLM: litellm_proxy_failed_requests_metric"},
	},
	{
		Key: "requests.cancelled", Name: "requests cancelled", Unit: "requests", Group: GroupTraffic,
		Is: "How many requests were given up by their client in the window.", Measured: "At the source that notices the client leaving.",
		Formula: "increase of the counter over the window, by reason where told", Misleads: "Many leave because they waited too long: those count as bad if they had waited longer than the promised TTFT, the others are excluded.",
		Signals: []model.Signal{model.Cancelled}, AlsoCalled: []string{"vLLM: finished_reason=\"abort\"", "Triton: nv_inference_request_failure{reason=\"CANCELED\"}", "also: aborted, disconnected, abandoned"},
	},
	{
		Key: "requests.unaccounted", Name: "requests unaccounted for", Unit: "requests", Group: GroupTraffic,
		Is: "Requests that began and appear in no counter of ends: cancelled or lost.", Measured: "Computed.",
		Formula: "started − finished − failed − cancelled − growth of running; first tokens stand for starts where nobody counts those", Misleads: "What a restart took with it is in it. It is judged as neither good nor bad.",
		Signals: []model.Signal{model.Started, model.TTFT, model.Finished, model.Failed, model.Cancelled, model.Running},
	},
	{
		Key: "requests.output_limit", Name: "answers cut at their limit", Unit: "requests", Group: GroupTraffic,
		Is: "How many finished requests were cut at their output limit.", Measured: "By the finish reason.",
		Formula: "increase of finished{reason=\"length\"}", Misleads: "Wanted for some jobs; a workflow may declare them bad.",
		Signals: []model.Signal{model.Finished}, AlsoCalled: []string{"OpenAI: finish_reason \"length\"", "also: truncated, max_tokens reached"},
	},
	{
		Key: "requests.whole", Name: "requests served whole", Unit: "requests", Group: GroupTraffic,
		Is: "How many requests ended in the window with an answer that was not cut at its limit.", Measured: "At the source, when they end.",
		Formula: "finished − cut at their limit, as far as those are told", Misleads: "An answer that is whole may be late: goodput tells how many were in time.",
		Signals: []model.Signal{model.Finished},
	},
	{
		Key: "requests.failed_otherwise", Name: "requests failed, but not for their rate", Unit: "requests", Group: GroupTraffic,
		Is: "How many requests ended in the window with an error other than being refused because too many came.", Measured: "At the source; gateways see failures that engines do not.",
		Formula: "failed − refused for their rate, as far as those are told", Misleads: "Counters of engines do not tell the two apart: then all that failed are in it.",
		Signals: []model.Signal{model.Failed},
	},
	{
		Key: "requests.throttled", Name: "requests refused for their rate", Unit: "requests", Group: GroupTraffic,
		Is: "How many of the failed were refused because too many came.", Measured: "By the status given to the client: 429 or 529.",
		Formula: "increase over the window", Misleads: "Clients that back off hide demand that is not served.",
	},
	{
		Key: "requests.retries", Name: "retries", Unit: "attempts", Group: GroupTraffic,
		Is: "Attempts after the first, of one request.", Measured: "At the gateway or client that repeats.",
		Formula: "increase over the window", Misleads: "They add load without adding users: under an error a retry storm looks like growth.",
		Signals: []model.Signal{model.Retried},
	},
	{
		Key: "running", Name: "running", Unit: "requests", Group: GroupTraffic,
		Is: "Requests in the engine's batch: being prefilled or decoded at this moment.", Measured: "At the engine, at the last poll.",
		Formula: "the gauge, added over engines; tensor-parallel ranks repeat one another and are not added", Misleads: "A moment, not a mean. Each one more makes a step longer and TPOT higher.",
		Signals: []model.Signal{model.Running}, AlsoCalled: []string{"vLLM: vllm:num_requests_running", "SGLang: sglang:num_running_reqs", "TGI: tgi_batch_current_size", "llama.cpp: llamacpp:requests_processing", "also: concurrency, batch size, active requests"},
	},
	{
		Key: "waiting", Name: "waiting", Unit: "requests", Group: GroupTraffic,
		Is: "Requests that were accepted and are not in the batch yet.", Measured: "At the engine, at the last poll; what a gateway holds back is told apart.",
		Formula: "the gauge, added over engines", Misleads: "Ten that wait are much for a slow engine and nothing for a fast one: the wait of a new request is the comparable number. A router may hold a queue where no engine shows one.",
		Signals: []model.Signal{model.Waiting}, AlsoCalled: []string{"vLLM: vllm:num_requests_waiting", "SGLang: sglang:num_queue_reqs", "TGI: tgi_queue_size", "llama.cpp: llamacpp:requests_deferred", "also: queue depth, pending"},
	},
	{
		Key: "swapped", Name: "held aside", Unit: "requests", Group: GroupTraffic,
		Is: "Requests that were preempted or paused and are held aside.", Measured: "At the engine, at the last poll.",
		Formula: "the gauge", Misleads: "Newer engines recompute instead and have no such state.",
		Signals: []model.Signal{model.Swapped}, AlsoCalled: []string{"vLLM V0: vllm:num_requests_swapped", "SGLang: sglang:num_retracted_reqs"},
	},
	phase("queued", "queued at the gateway", "have been received and not admitted", model.AtGateway),
	phase("preparing_context", "preparing context", "have their context put together: retrieval, templates, tools", model.Preparing),
	phase("waiting_for_model", "waiting for the model", "were sent and nothing came back: they queue at the engine or are prefilled", model.AtModel),
	phase("streaming", "streaming", "have begun to answer", model.IsStreaming),
	phase("tool_call", "in a tool call", "wait for a tool, not for the model"),
	phase("retrying", "retrying", "are between two attempts"),
	phase("other", "in another phase", "stand in a phase that slotop does not know"),
	phase("unknown", "silent", "have not been heard of for too long"),
	{
		Key: "offered_per_second", Name: "offered load", Unit: "requests/s", Group: GroupTraffic,
		Is: "How many requests a second a load generator meant to send.", Measured: "By its schedule.",
		Formula: "scheduled in the window / covered time", Misleads: "Where less is sent than offered the generator is the bottleneck, or waits for answers.",
		AlsoCalled: []string{"vLLM bench serve: request rate", "AIPerf: request rate"},
	},
	{
		Key: "sent_per_second", Name: "sent load", Unit: "requests/s", Group: GroupTraffic,
		Is: "How many requests a second a load generator sent.", Measured: "At the generator.",
		Formula: "sent in the window / covered time",
	},
	{
		Key: "behind", Name: "generator behind its schedule", Unit: "s", Group: GroupTraffic,
		Is: "How much later than scheduled the latest request was sent.", Measured: "At the generator.",
		Formula: "sent − scheduled", Misleads: "While it is not about 0, latencies that start at sending are too good.",
	},
	{
		Key: "output_per_second", Name: "output tokens per second", Unit: "tokens/s", Group: GroupTraffic,
		Is: "Tokens generated a second, over all requests.", Measured: "At the engine; some count a token when it is made, others an answer when it ends.",
		Formula: "increase of output tokens / time between the two polls that bound the window", Misleads: "Throughput is no speed for a user: that is 1 / TPOT. It can rise while goodput falls. Where whole answers are counted at their end a quiet server shows spikes.",
		Signals: []model.Signal{model.OutputTokens}, AlsoCalled: []string{"vLLM: rate(vllm:generation_tokens_total)", "SGLang: gen_throughput", "llama.cpp: rate(llamacpp:tokens_predicted_total)", "AIPerf: output token throughput", "also: generation or decode throughput, TPS"},
	},
	{
		Key: "reported_output", Name: "output rate as the engine reports it", Unit: "tokens/s", Group: GroupTraffic,
		Is: "The engine's own figure of tokens a second.", Measured: "By the engine, over a time of its own.",
		Formula: "the gauge as it came", Misleads: "Some keep the last value while idle, or average since the last scrape by anyone.",
		Signals: []model.Signal{model.ReportedOutput}, AlsoCalled: []string{"SGLang: sglang:gen_throughput", "vLLM before 0.7: avg_generation_throughput_toks_per_s", "llama.cpp: predicted_tokens_seconds"},
	},
	{
		Key: "prompt_per_second", Name: "prompt tokens per second", Unit: "tokens/s", Group: GroupTraffic,
		Is: "Prompt tokens a second, cached ones included unless the source leaves them out.", Measured: "At the engine.",
		Formula: "increase of prompt tokens / time between the two polls", Misleads: "Cached tokens cost next to nothing: computed ones are prompt · (1 − cached share).",
		Signals: []model.Signal{model.PromptTokens}, AlsoCalled: []string{"vLLM: rate(vllm:prompt_tokens_total)", "also: input or prefill throughput"},
	},
	{
		Key: "output_tokens", Name: "output tokens", Unit: "tokens", Group: GroupTraffic,
		Is: "Tokens of the requests that ended in the window, as far as they told how many.", Measured: "In each request's own report of usage.",
		Formula: "Σ over requests that said; the others are counted as unknown", Misleads: "At least so many: some requests report no usage.",
	},
	{
		Key: "prompt_length", Name: "prompt length", Unit: "tokens", Group: GroupTraffic,
		Is: "Tokens of a prompt, in the mean.", Measured: "At the engine.", Formula: "increase of prompt tokens / increase of requests",
		Misleads: "A mix of short and long prompts has a mean that none of them has.", Signals: []model.Signal{model.PromptLength, model.PromptTokens}, AlsoCalled: []string{"AIPerf, TensorRT-LLM: ISL, input sequence length"},
	},
	{
		Key: "output_length", Name: "output length", Unit: "tokens", Group: GroupTraffic,
		Is: "Tokens of an answer, in the mean.", Measured: "At the engine.", Formula: "increase of output tokens / increase of finished requests",
		Misleads: "In a short window tokens and ends belong to different requests.", Signals: []model.Signal{model.OutputLength, model.OutputTokens}, AlsoCalled: []string{"AIPerf, TensorRT-LLM: OSL, output sequence length"},
	},
}

// phase is the topic of the requests in one phase of the event schema.
func phase(key, name, are string, signals ...model.Signal) Topic {
	return Topic{
		Key: "phase." + key, Name: name, Unit: "requests", Group: GroupTraffic,
		Is:       "Requests in flight that " + are + ".",
		Measured: "At the gateway or client that reports the phases of its requests.",
		Formula:  "counted at the instant of the frame",
		Misleads: "A moment, not a mean. Only requests whose reporter tells phases are in it; the engines' own running and waiting know others.",
		Signals:  signals,
	}
}

var cache = []Topic{
	{
		Key: "kv_cache_usage", Name: "KV cache usage", Unit: "0–1, shown in %", Group: GroupCache,
		Is: "The share of the KV cache that running requests hold.", Measured: "At the engine, at the last poll; of a workflow the fullest engine, which is the first to queue.",
		Formula: "blocks in use / blocks; blocks that hold nothing but reusable prefixes count as free", Misleads: "It is occupancy, not bandwidth. Full is no fault in itself: preemptions and a queue are. Means over engines hide the full one.",
		Signals: []model.Signal{model.KVUsage}, AlsoCalled: []string{"vLLM: vllm:kv_cache_usage_perc (0–1); before gpu_cache_usage_perc", "SGLang: sglang:token_usage", "TensorRT-LLM: trtllm_kv_cache_utilization", "llama.cpp: llamacpp:kv_cache_usage_ratio, removed"},
	},
	{
		Key: "prefix_cache_hit", Name: "prefix cache hits", Unit: "0–1, shown in %", Group: GroupCache,
		Is: "The share of prompt tokens that were found in the cache and need no prefill.", Measured: "At the engine.",
		Formula: "increase of cached / of all prompt tokens; where cached ones are not told, increase of hits / of look-ups", Misleads: "Some engines look up again at each attempt to schedule and count too many while requests wait. Gauges of that name are often means since the start.",
		Signals: []model.Signal{model.PrefixHits, model.PrefixQueries, model.CachedTokens, model.PromptTokens}, AlsoCalled: []string{"vLLM: rate(vllm:prefix_cache_hits_total) / rate(vllm:prefix_cache_queries_total)", "SGLang: cache_hit_rate, a gauge", "OpenAI: cached_tokens / prompt_tokens"},
	},
	{
		Key: "cached_prompt_share", Name: "cached prompt share", Unit: "0–1, shown in %", Group: GroupCache,
		Is: "The share of prompt tokens that came from a cache.", Measured: "At the engine or gateway that counts cached tokens.",
		Formula: "increase of cached prompt tokens / increase of prompt tokens", Misleads: "A provider bills it at another price; it is not the engine's memory.",
		Signals: []model.Signal{model.CachedTokens, model.PromptTokens},
	},
	{
		Key: "cached_per_second", Name: "cached prompt tokens per second", Unit: "tokens/s", Group: GroupCache,
		Is: "Prompt tokens a second that came from a cache and were not computed.", Measured: "At the engine or gateway that counts cached tokens.",
		Formula: "cached prompt share · prompt tokens a second", Misleads: "Many are a saving only against prompts that would have been computed otherwise.",
		Signals: []model.Signal{model.CachedTokens, model.PromptTokens},
	},
	{
		Key: "preemptions", Name: "preemptions per second", Unit: "1/s", Group: GroupCache,
		Is: "How often a second a running request was thrown out of the batch because the KV cache was full.", Measured: "At the engine.",
		Formula: "increase of preemptions / time between the two polls", Misleads: "Each is computed again from its prompt: work that helps nobody, and a gap in the middle of an answer.",
		Signals: []model.Signal{model.Preemptions}, AlsoCalled: []string{"vLLM: rate(vllm:num_preemptions_total)", "SGLang: num_retracted_requests_total", "also: evictions, retractions"},
	},
	{
		Key: "spec_accept", Name: "accepted tokens per step", Unit: "tokens", Group: GroupCache,
		Is: "How many tokens a step yields with speculative decoding.", Measured: "At the engine.",
		Formula: "1 + increase of accepted draft tokens / increase of drafts", Misleads: "SGLang's gauge already has the one more in it.",
		Signals: []model.Signal{model.SpecAccepted, model.SpecDrafts, model.SpecAcceptLength}, AlsoCalled: []string{"SGLang: spec_accept_length", "TensorRT-LLM: acceptance length"},
	},
}

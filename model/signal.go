package model

// Signal is the canonical name of one thing an inference server can say of
// itself, with its unit in the name. Dialects map exposed names to signals;
// everything behind the sources knows signals only.
type Signal string

// The signals. Definitions follow the field's usage: TTFT from acceptance to the
// first output, queueing included unless the dialect says otherwise; ITL is the
// gap between two outputs, TPOT the mean per token of one finished request.
const (
	Running           Signal = "requests_running"          // gauge, requests in the batch
	Waiting           Signal = "requests_waiting"          // gauge, accepted and not in the batch
	Swapped           Signal = "requests_swapped"          // gauge, preempted or paused and held aside
	KVUsage           Signal = "kv_cache_ratio"            // gauge, 0–1
	KVCapacity        Signal = "kv_cache_capacity_tokens"  // gauge, tokens
	KVUsedTokens      Signal = "kv_cache_used_tokens"      // gauge, tokens
	MaxRunning        Signal = "requests_running_max"      // gauge, configured sequence cap
	ReportedHitRatio  Signal = "reported_prefix_hit_ratio" // gauge, 0–1, the engine's own figure
	ReportedOutput    Signal = "reported_output_rate"      // gauge, tokens/s, the engine's own figure: may be sticky
	ReportedQueueMean Signal = "reported_queue_seconds"    // gauge, seconds, the engine's own mean
	SpecAcceptLength  Signal = "spec_accept_length"        // gauge, tokens per step, bonus token included

	// Requests at a gateway, by phase: gauges.
	AtGateway   Signal = "requests_queued_at_gateway"
	Preparing   Signal = "requests_preparing_context"
	AtModel     Signal = "requests_waiting_for_model"
	IsStreaming Signal = "requests_streaming"

	Started          Signal = "requests_started"      // counter
	Finished         Signal = "requests_finished"     // counter, label reason: stop, length, aborted, error, other
	Failed           Signal = "requests_failed"       // counter, rejected or failed, not part of Finished
	Cancelled        Signal = "requests_cancelled"    // counter
	Retried          Signal = "requests_retried"      // counter, attempts after the first
	PromptTokens     Signal = "prompt_tokens"         // counter, logical prompt tokens
	OutputTokens     Signal = "output_tokens"         // counter
	CachedTokens     Signal = "cached_prompt_tokens"  // counter, prompt tokens served from cache
	PrefixQueries    Signal = "prefix_cache_queries"  // counter, tokens or blocks looked up
	PrefixHits       Signal = "prefix_cache_hits"     // counter, same unit as queries
	Preemptions      Signal = "preemptions"           // counter
	SpecDrafts       Signal = "spec_drafts"           // counter
	SpecDraftTokens  Signal = "spec_draft_tokens"     // counter
	SpecAccepted     Signal = "spec_accepted_tokens"  // counter
	EstimatedFLOPs   Signal = "estimated_flops"       // counter, FLOP per GPU
	EstimatedRead    Signal = "estimated_read_bytes"  // counter, bytes per GPU
	EstimatedWritten Signal = "estimated_write_bytes" // counter, bytes per GPU

	TTFT         Signal = "ttft_seconds"
	ITL          Signal = "itl_seconds"
	TPOT         Signal = "tpot_seconds"
	E2E          Signal = "e2e_seconds"
	Queue        Signal = "queue_seconds"
	Prefill      Signal = "prefill_seconds"
	Decode       Signal = "decode_seconds"
	PromptLength Signal = "prompt_length_tokens"
	OutputLength Signal = "output_length_tokens"
	OutputLimit  Signal = "output_limit_tokens"
	StepTokens   Signal = "step_tokens"

	ProcessStart Signal = "process_start_seconds" // gauge, Unix seconds
)

// SignalInfo is what every layer may assume of a signal.
type SignalInfo struct {
	Signal Signal
	Kind   Kind
	Title  string // the word on screen
}

// Signals lists every signal once, in the order in which they are reported.
var Signals = []SignalInfo{
	{Running, Gauge, "running"},
	{Waiting, Gauge, "waiting"},
	{Swapped, Gauge, "swapped"},
	{KVUsage, Gauge, "KV cache usage"},
	{KVCapacity, Gauge, "KV cache capacity"},
	{KVUsedTokens, Gauge, "KV cache tokens in use"},
	{MaxRunning, Gauge, "sequence cap"},
	{ReportedHitRatio, Gauge, "prefix hit ratio (engine reports)"},
	{ReportedOutput, Gauge, "output rate (engine reports)"},
	{ReportedQueueMean, Gauge, "mean queue time (engine reports)"},
	{SpecAcceptLength, Gauge, "accepted tokens per step"},
	{AtGateway, Gauge, "queued at the gateway"},
	{Preparing, Gauge, "preparing context"},
	{AtModel, Gauge, "waiting for the model"},
	{IsStreaming, Gauge, "streaming"},
	{Started, Counter, "requests started"},
	{Finished, Counter, "requests finished"},
	{Failed, Counter, "requests failed"},
	{Cancelled, Counter, "requests cancelled"},
	{Retried, Counter, "requests retried"},
	{PromptTokens, Counter, "prompt tokens"},
	{OutputTokens, Counter, "output tokens"},
	{CachedTokens, Counter, "cached prompt tokens"},
	{PrefixQueries, Counter, "prefix cache queries"},
	{PrefixHits, Counter, "prefix cache hits"},
	{Preemptions, Counter, "preemptions"},
	{SpecDrafts, Counter, "speculation drafts"},
	{SpecDraftTokens, Counter, "draft tokens"},
	{SpecAccepted, Counter, "accepted draft tokens"},
	{EstimatedFLOPs, Counter, "estimated FLOPs"},
	{EstimatedRead, Counter, "estimated bytes read"},
	{EstimatedWritten, Counter, "estimated bytes written"},
	{TTFT, Histogram, "TTFT"},
	{ITL, Histogram, "ITL"},
	{TPOT, Histogram, "TPOT"},
	{E2E, Histogram, "E2E latency"},
	{Queue, Histogram, "queue time"},
	{Prefill, Histogram, "prefill"},
	{Decode, Histogram, "decode"},
	{PromptLength, Histogram, "prompt length"},
	{OutputLength, Histogram, "output length"},
	{OutputLimit, Histogram, "output limit"},
	{StepTokens, Histogram, "tokens per step"},
	{ProcessStart, Gauge, "process start"},
}

// Title is the signal's word on screen.
func (s Signal) Title() string {
	for _, info := range Signals {
		if info.Signal == s {
			return info.Title
		}
	}
	return string(s)
}

// The labels a mapped sample may carry. Sources translate an engine's own label
// names into these and drop the rest, except labels that a workflow matches on:
// those keep their own names.
const (
	LabelModel    = "model"    // served model name
	LabelEngine   = "engine"   // data-parallel engine or rank whose work adds up
	LabelReason   = "reason"   // finish reason: stop, length, aborted, error, other; or why it failed
	LabelWorkflow = "workflow" // as a gateway names it
	LabelAdapter  = "adapter"  // LoRA
)

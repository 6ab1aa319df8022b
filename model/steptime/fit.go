package steptime

import "slotop/model"

// Fit is what was learned of an engine: the mean time of a step is
//
//	Fixed + PerSequence·running + PerKVToken·KV tokens + PerPrefill·prefill tokens
//
// and, where mean prompts are long, PerAttention·prefill tokens·mean prompt. All in
// seconds and none below 0.
type Fit struct {
	Fixed, PerSequence, PerKVToken, PerPrefill, PerAttention float64

	Samples  int           // it was fitted to
	From, To model.Instant // of them
	Error    float64       // relative root mean square over them
	Span     float64       // highest over lowest load among them, by explained time; ≥ 1
	ByGap    bool          // steps were taken to be the gaps between events
	ByShare  bool          // KV tokens are the share of the cache in use, 0–1: its size is not known
}

package model

// StageView is a stretch of a load test, from one mark to the next.
type StageView struct {
	Name      string          `json:"name"`
	From      Instant         `json:"from"`
	To        Instant         `json:"to"` // null while it is open
	Workflows []StageWorkflow `json:"workflows"`
	// UnseenS is for how many seconds of it something that is watched was not read.
	UnseenS float64 `json:"unseen_s"`
}

// StageWorkflow is a workflow's figures over a stage.
type StageWorkflow struct {
	Name            string       `json:"name"`
	Finished        Reading      `json:"finished"`
	PerSecond       Reading      `json:"per_second"`
	OutputPerSecond Reading      `json:"output_per_second"`
	PromptPerSecond Reading      `json:"prompt_per_second"`
	PrefixCacheHit  Reading      `json:"prefix_cache_hit"` // 0–1 of what was looked up
	TTFT            *Dist        `json:"ttft"`
	TPOT            *Dist        `json:"tpot"`
	E2E             *Dist        `json:"e2e"`
	Goodput         *GoodputView `json:"goodput"`

	// What was promised while it ran. Goodputs are comparable where it was the same.
	AssumedObjectives bool        `json:"assumed_objectives"`
	Objectives        []Objective `json:"objectives"`

	Sampled *Sampled `json:"-"` // nil where nothing was counted
}

// Sampled is what a stage's figures were counted on, and how much they differed from
// one equal stretch of it to the next: what says how far chance alone moves them.
type Sampled struct {
	Batches int     // stretches that were told apart
	BatchS  float64 // seconds that one lasted

	Requests, Good Tally // that finished; of them, those that likely kept all promises
	Output, Prompt Tally // tokens
	// GoodEffect and HitEffect are the design effects of the shares: how many requests,
	// or tokens of prompts, say as much as one that shares no fate. At least 1, and 0
	// where that is not known.
	GoodEffect, HitEffect float64
	Looked                float64 // tokens or blocks of prompts that were looked up in the cache

	TTFT, TPOT, E2E Counted
}

// Tally is a count and how many times more it varied between stretches than a count of
// events that know nothing of one another would: its index of dispersion. 0: not known.
type Tally struct{ N, Effect float64 }

// Counted is latencies as they were counted.
type Counted struct {
	Bounds  []float64 // ascending upper edges in seconds, without +Inf
	Counts  []float64 // cumulative over them, and one longer
	Effects []float64 // by edge, of the share at or below it: the design effect, 0 where it is not known
}

package model

// CapacityView is how much room a pool has at its objectives. What a model says is
// called so; what was seen says over which range.
type CapacityView struct {
	Pool      string   `json:"pool"`
	Targets   []string `json:"targets"`
	Workflows []string `json:"workflows"`

	// Load is the load factor ρ: seconds of machine that a second's requests need, over
	// the ready replicas. Beyond PlanningLimit queues grow faster than the load.
	Load     Reading `json:"load"`
	Rate     Reading `json:"requests_per_second"`      // now, of the pool
	PerCall  Reading `json:"machine_s_per_request"`    // s
	MaxRate  Reading `json:"max_requests_per_second"`  // λ∞: where queues never end, model
	KVRate   Reading `json:"kv_requests_per_second"`   // where the KV cache is full, model
	SLORate  Reading `json:"at_objective_per_second"`  // the least at which an objective still holds, model
	Headroom Reading `json:"headroom"`                 // to the planning limit, a share of the present rate
	More     Reading `json:"more_requests_per_second"` // of this mix, to the planning limit or what binds before
	First    Binding `json:"binds_first"`              // as the rate grows
	FirstWhy Text    `json:"binds_first_why"`

	Expected *ExpectedView `json:"expected"` // null without a load factor

	Replicas  ReplicaPlan `json:"replicas"`
	Knees     []KneeView  `json:"knees"`  // of each workflow, as observed
	Levers    []LeverView `json:"levers"` // what a change would buy, model
	Cost      *CostView   `json:"cost"`   // null without a price
	Energy    *EnergyView `json:"energy"` // null where nobody tells power
	Waste     []WasteView `json:"waste"`
	WorstBurn Reading     `json:"worst_burn"` // the highest hour's burn seen so far

	Observed Range  `json:"observed_requests_per_second"` // the range of rates seen
	Why      Text   `json:"why"`                          // why there is no load factor
	Sentence string `json:"sentence"`
}

// Room is More as a share of the present rate, and whether it ends before the planning
// limit, where something binds: it is less than Headroom then.
func (c *CapacityView) Room() (share Reading, bound bool) {
	if !c.More.OK() || !c.Headroom.OK() || !(c.Rate.Value > 0) {
		return c.Headroom, false
	}
	share = Of(c.More.Value / c.Rate.Value)
	if bound = share.Value < c.Headroom.Value-1e-6; !bound {
		share = c.Headroom
	}
	return share, bound
}

// ExpectedView is what the formulas give at the present rate, to be held against what
// is measured: where the two part the model is not to be trusted at other rates.
type ExpectedView struct {
	TPOT    Reading `json:"tpot_s"`             // mean; unknown where the queue never ends
	Running Reading `json:"running"`            // sequences in the pool
	KVUse   Reading `json:"kv_cache_usage"`     // 0–1; above 1 it does not suffice
	Fit     Reading `json:"sequences_that_fit"` // in the KV caches of the pool
	Context Reading `json:"context_tokens"`     // that a running sequence holds in the mean; unknown where a cache tells its share only
}

// PlanningLimit is the load factor up to which the formulas hold and tails stay
// short: above it they are optimistic, because traffic fluctuates.
const PlanningLimit = 0.7

// ReplicaPlan is how many replicas a rate needs. A forecast is a configured rate.
type ReplicaPlan struct {
	Ready    int     `json:"ready"`
	Needed   Reading `json:"needed"` // for the present rate
	Forecast Reading `json:"forecast_per_second"`
	Then     Reading `json:"needed_for_forecast"`
	Why      Text    `json:"why"` // what decides: load, KV cache
}

// KneeView is the highest rate at which a workflow surely kept its promise, in
// blocks of a minute.
type KneeView struct {
	Workflow string  `json:"workflow"`
	Rate     Reading `json:"requests_per_second"` // of the pool; unknown: none kept it, or too few requests
	Blocks   int     `json:"blocks"`
	Observed Range   `json:"observed_requests_per_second"`
	Reached  bool    `json:"reached"`      // a higher rate was seen and failed: else the knee is beyond what was seen
	Missed   bool    `json:"missed_below"` // so did a minute at no higher a rate: it was not the rate alone
}

// LeverView is what one change would buy, by the model.
type LeverView struct {
	Change string  `json:"change"` // "prefix hits +10 points"
	Rate   Reading `json:"more_requests_per_second"`
	Load   Reading `json:"load_then"`
}

// CostView is what tokens cost. Tokens are output tokens.
type CostView struct {
	Currency       string  `json:"currency"`
	PerHour        Reading `json:"per_hour"` // of the pool
	PerMillion     Reading `json:"per_million_output"`
	PerMillionGood Range   `json:"per_million_good_output"` // goodput is an interval
	GPUs           Reading `json:"gpus"`                    // of the pool, that are paid for
	Note           Text    `json:"note"`                    // how their number is known
}

// EnergyView is what tokens cost in energy, by the boards' power.
type EnergyView struct {
	PowerW         Reading `json:"power_w"` // of the boards that serve the pool
	Boards         int     `json:"boards"`
	TokensPerJoule Reading `json:"output_tokens_per_joule"`
	WhPerMillion   Reading `json:"wh_per_million_output"`
	GoodPerJoule   Range   `json:"good_tokens_per_joule"`
	Note           Text    `json:"note"` // what the power is of
}

// WasteView is work that helped nobody, over the window.
type WasteView struct {
	Kind   string  `json:"kind"` // failed, abandoned, truncated, retried, recomputed
	Tokens Reading `json:"tokens_per_second"`
	Share  Reading `json:"share"` // of the output tokens, or of the prompt tokens for recomputed
	N      Reading `json:"n"`     // requests, or preemptions
	Note   Text    `json:"note"`  // how it is known, or why not
}

// HardwareSpec is what the operator says of the machine behind a target. Zero fields
// say nothing.
type HardwareSpec struct {
	Target      string  `json:"target"` // glob of target names; "" is all
	Accelerator string  `json:"accelerator,omitempty"`
	GPUs        int     `json:"gpus,omitempty"`       // that serve one target: tensor × pipeline parallel
	Precision   string  `json:"precision,omitempty"`  // of the arithmetic: bf16, fp16, fp8, fp4, int8
	PeakFLOPs   float64 `json:"peak_flops,omitempty"` // FLOP/s of one GPU
	PeakBytes   float64 `json:"peak_bytes,omitempty"` // bytes/s of one GPU
	Sequences   int     `json:"sequences,omitempty"`  // sequence cap of one engine
	TokenBudget int     `json:"token_budget,omitempty"`
	GPUHour     float64 `json:"gpu_hour,omitempty"` // price of one GPU for an hour
}

// ModelSpec is the shape of a served model, where its name does not tell it.
type ModelSpec struct {
	Name  string `json:"name"`            // glob of served names
	Shape string `json:"shape,omitempty"` // a row of the table of models
	// What differs from the row, or a shape of its own where there is none.
	WeightBytes  float64 `json:"weight_bytes_per_param,omitempty"`
	KVBytes      float64 `json:"kv_bytes_per_element,omitempty"`
	Params       float64 `json:"params,omitempty"`        // all
	ActiveParams float64 `json:"active_params,omitempty"` // that a decoded token multiplies by
	Layers       int     `json:"layers,omitempty"`
	Hidden       int     `json:"hidden,omitempty"`
	Heads        int     `json:"heads,omitempty"`
	KVHeads      int     `json:"kv_heads,omitempty"`
	HeadSize     int     `json:"head_size,omitempty"`
	Vocabulary   int     `json:"vocabulary,omitempty"`
}

// PriceSpec is what things cost.
type PriceSpec struct {
	Currency string  `json:"currency,omitempty"` // "$" unless said
	GPUHour  float64 `json:"gpu_hour,omitempty"` // of one GPU, unless its hardware says
}

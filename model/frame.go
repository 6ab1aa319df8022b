package model

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Schema is the version of the frame's JSON form. Keys may be added under it;
// none changes its meaning or goes away.
const Schema = "slotop.frame/1"

// Frame is everything slotop knows at one instant: the one thing that is drawn,
// printed and compared. Nobody writes to a frame after the fold returned it.
// In JSON unknown is null, never 0; times are RFC 3339 UTC; units are seconds,
// bytes and ratios 0–1.
type Frame struct {
	Schema      string            `json:"schema"`
	At          Instant           `json:"at"`
	WindowS     float64           `json:"window_s"`
	CoveredS    Reading           `json:"covered_s"` // how much of the window the data spans
	Simulated   bool              `json:"simulated"`
	Targets     []TargetView      `json:"targets"`
	Workflows   []WorkflowView    `json:"workflows"`         // worst first
	Goodput     *GoodputView      `json:"goodput"`           // of all workflows with objectives
	Devices     []DeviceView      `json:"devices"`           // in the order in which they were first seen
	DeviceSum   *DevicesView      `json:"device_summary"`    // null without any
	Utilization []UtilizationView `json:"utilization"`       // of each engine that is read directly
	Alerts      []AlertView       `json:"alerts"`            // most urgent first
	AlertLog    []AlertEvent      `json:"alert_log"`         // newest first, bounded
	LogDropped  int               `json:"alert_log_dropped"` // steps that the log no longer holds
	Unjudged    []Unjudged        `json:"cannot_evaluate"`
	Stages      []StageView       `json:"stages"`    // oldest first, the last one open
	Findings    []FindingView     `json:"findings"`  // causes first, then what binds, then symptoms
	Diagnoses   []DiagnosisView   `json:"diagnoses"` // of each pool, the worst first
	Capacity    []CapacityView    `json:"capacity"`  // of each pool, the fullest first

	// Events is what happened at one instant, oldest first, bounded: restarts, marks,
	// breaches and their ends, incidents, deployments that an annotation tells of.
	Events        []Event `json:"events"`
	EventsDropped int     `json:"events_dropped"` // that the list no longer holds

	Every   time.Duration `json:"-"` // poll interval
	Started Instant       `json:"-"` // first input
	Rules   int           `json:"-"` // how many rules are evaluated: what an empty list of alerts stands for
}

// State is a target's condition, worst last in urgency order of Rank.
type State string

// The states. The empty state, null in JSON, means that no poll has ended yet.
const (
	Up      State = "up"
	Idle    State = "idle"    // answers, nothing runs, waits or moves
	Stalled State = "stalled" // something runs or waits and nothing moved over 3 polls
	StaleAt State = "stale"   // no good poll for max(3 polls, 15 s)
	Down    State = "down"    // polls fail
)

// Rank orders states by how much they hurt, worst highest.
func (s State) Rank() int {
	switch s {
	case Down:
		return 5
	case Stalled:
		return 4
	case StaleAt:
		return 3
	case "":
		return 2
	case Up:
		return 1
	default:
		return 0
	}
}

// MarshalJSON writes null while no poll has ended.
func (s State) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return []byte(`"` + string(s) + `"`), nil
}

// FaultView is the fault of the last poll and when the target last answered well.
type FaultView struct {
	Fault
	LastGoodAt Instant `json:"last_good_at"`
}

// TargetView is one target as the screen and the JSON show it. Rates and
// distributions are over the frame's window.
type TargetView struct {
	Name        string     `json:"name"`
	ID          TargetID   `json:"id"`
	Kind        string     `json:"kind"`
	Engine      Text       `json:"engine"`
	Version     Text       `json:"version"`
	State       State      `json:"state"`
	Since       Instant    `json:"since"` // when the state began
	Fault       *FaultView `json:"fault"`
	LastGoodAt  Instant    `json:"last_good_at"`
	TookS       Reading    `json:"took_s"` // how long the last poll took
	Polls       int        `json:"polls"`
	FailedPolls int        `json:"failed_polls"`
	BadLines    int        `json:"bad_lines"` // in the last good page
	FirstBad    Text       `json:"first_bad_line"`
	Dropped     int        `json:"dropped_series"`
	Restarts    int        `json:"restarts"`
	RestartedAt Instant    `json:"restarted_at"`
	Models      []string   `json:"models"`
	Missing     []Signal   `json:"missing"`
	Notes       []string   `json:"notes"`
	Meanings    []Meaning  `json:"meanings"`

	Running           Reading  `json:"running"`
	Waiting           Reading  `json:"waiting"`
	KVCacheUsage      Reading  `json:"kv_cache_usage"`
	RequestsPerSecond Reading  `json:"requests_per_second"`
	OutputPerSecond   Reading  `json:"output_per_second"`
	ReportedOutput    Reading  `json:"engine_reports_output_per_second"`
	TTFT              *Dist    `json:"ttft"`
	TPOT              *Dist    `json:"tpot"`
	ITL               *Dist    `json:"itl"`
	PreemptionsPerSec Reading  `json:"preemptions_per_second"`
	Simulated         bool     `json:"simulated"`
	SkewS             Reading  `json:"clock_skew_s"` // how far its clock is ahead of ours; null where it tells no time
	StepS             Reading  `json:"step_s"`       // between two points of what it passes on; null where each poll is new
	Replicas          Replicas `json:"replicas"`     // servers behind it, 0 of 0 where it is one
	GPUs              []string `json:"gpus"`         // UUIDs of the devices it runs on, as far as that is known

	Probe *ProbeView `json:"probe"` // of a probe; null for every other target

	Engines []EngineView `json:"engines"` // data-parallel engines, [] when the page tells none apart
}

// EngineView is one data-parallel engine or rank behind a target.
type EngineView struct {
	ID           string  `json:"id"`
	Running      Reading `json:"running"`
	Waiting      Reading `json:"waiting"`
	KVCacheUsage Reading `json:"kv_cache_usage"`
}

// Text is a string that may not exist; empty is null in JSON.
type Text string

// MarshalJSON writes null for a text that does not exist.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Basis says what a distribution or a count covers.
type Basis string

// Over the frame's window; since the server started (only ever shown with that
// label); from per-request events.
const (
	OverWindow Basis = "window"
	SinceStart Basis = "since_start"
	FromEvents Basis = "events"
)

// MarshalJSON writes null where nothing is covered yet.
func (b Basis) MarshalJSON() ([]byte, error) { return Text(b).MarshalJSON() }

// Dist is a latency distribution in seconds. N = 0 means that the signal is
// exported and saw no event; a nil *Dist means that it is not known at all.
type Dist struct {
	N     float64  `json:"n"`
	Mean  Reading  `json:"mean"`
	P50   Estimate `json:"p50"`
	P90   Estimate `json:"p90"`
	P95   Estimate `json:"p95"`
	P99   Estimate `json:"p99"`
	Basis Basis    `json:"basis"`

	Fidelity Fidelity `json:"-"` // Coarse: replicas or releases differ in buckets
	Partial  bool     `json:"-"` // a histogram in it is incomplete
}

// Requests counts a workflow's requests over the basis. Unaccounted is started
// minus finished, failed, cancelled and the change in flight: cancelled or lost.
type Requests struct {
	Started     Reading `json:"started"`
	Finished    Reading `json:"finished"`
	PerSecond   Reading `json:"per_second"`
	Running     Reading `json:"running"`
	Waiting     Reading `json:"waiting"`
	Failed      Reading `json:"failed"`
	Cancelled   Reading `json:"cancelled"`
	Unaccounted Reading `json:"unaccounted"`
	OutputLimit Reading `json:"output_limit"` // of the finished, cut at their limit
	Throttled   Reading `json:"throttled"`    // of the failed, refused for their rate (429, 529)
	Retries     Reading `json:"retries"`
	Basis       Basis   `json:"basis"`

	FailedBy    []Cause `json:"failed_by"`    // by reason, most first; [] where reasons are not known
	CancelledBy []Cause `json:"cancelled_by"` // likewise
}

// Cause counts requests that ended for one reason.
type Cause struct {
	Reason string  `json:"reason"`
	N      float64 `json:"n"`
}

// Tokens are token rates per second; CachedPromptShare is 0–1 of prompt tokens.
type Tokens struct {
	PromptPerSecond   Reading `json:"prompt_per_second"`
	OutputPerSecond   Reading `json:"output_per_second"`
	CachedPromptShare Reading `json:"cached_prompt_share"`
	// Output counts what is known where requests are reported one by one: some
	// report no usage. Nil where tokens come from counters.
	Output *Known `json:"output"`
}

// Known is a sum over requests of which some did not say.
type Known struct {
	Sum     float64 `json:"at_least"`
	N       float64 `json:"n"`       // requests that said
	Unknown float64 `json:"unknown"` // requests that did not
}

// Verdict says whether an objective was met over the window.
type Verdict string

// The verdicts. Undecided: the interval of the share lies on both sides of the
// target. NoData: exported, but no request in the window. CannotCompute: the
// servers do not export what the objective needs.
const (
	Met           Verdict = "met"
	Missed        Verdict = "missed"
	Undecided     Verdict = "undecided"
	NoData        Verdict = "no_data"
	CannotCompute Verdict = "cannot_compute"
)

// Word is the verdict as people say it.
func (v Verdict) Word() string {
	switch v {
	case NoData:
		return "no traffic"
	case CannotCompute:
		return "cannot compute"
	default:
		return string(v)
	}
}

// Condition is what a workflow is in. The screen and the text say it by its Word.
type Condition string

// The conditions, worst first.
const (
	IsDown      Condition = "down"           // no target of it answers
	IsStalled   Condition = "stalled"        // work, and none of it moves
	IsStale     Condition = "stale"          // no good poll for too long
	IsMissed    Condition = "missed"         // an objective is missed
	IsPartial   Condition = "partial"        // some of its targets are silent
	IsAtRisk    Condition = "at_risk"        // met, but its budget goes too fast, a warning fires, or a breach is predicted
	IsUndecided Condition = "undecided"      // too few requests, or too coarse buckets
	IsBlind     Condition = "cannot_compute" // its servers do not export what its objectives need
	IsStarting  Condition = "starting"       // no window yet
	IsMet       Condition = "met"
	IsQuiet     Condition = "no_traffic"
)

// Conditions lists the conditions, worst first.
var Conditions = []Condition{
	IsDown, IsStalled, IsStale, IsMissed, IsPartial, IsAtRisk, IsUndecided, IsBlind, IsStarting, IsMet, IsQuiet,
}

// Rank is the place of c among the conditions, the worst being 0.
func (c Condition) Rank() int { return slices.Index(Conditions, c) }

// Word is the condition as people say it: what must not be overlooked in capitals.
func (c Condition) Word() string {
	switch c {
	case "":
		return string(IsStarting)
	case IsStalled:
		return "STALLED"
	case IsStale:
		return "no data"
	case IsMissed:
		return "BREACHED"
	default:
		return strings.ReplaceAll(string(c), "_", " ")
	}
}

// ObjectiveView is one bound of a workflow, the share of requests within it and
// the share that was promised.
type ObjectiveView struct {
	Metric  Metric  `json:"metric"`
	MaxS    float64 `json:"max_s"`
	Share   Share   `json:"share"`
	N       float64 `json:"n"`      // requests it was measured on
	Target  float64 `json:"target"` // 0–1
	Verdict Verdict `json:"verdict"`
	// Bounds are the bucket edges on both sides of MaxS where it is none itself:
	// an objective on one of them would be exact.
	Bounds Range `json:"nearest_bounds"`
}

// WorkflowView is a named class of requests. Without configuration each served
// model is one, with assumed objectives.
type WorkflowView struct {
	Name              string          `json:"name"`
	AssumedObjectives bool            `json:"assumed_objectives"`
	Requests          Requests        `json:"requests"`
	Tokens            Tokens          `json:"tokens"`
	TTFT              *Dist           `json:"ttft"`
	TPOT              *Dist           `json:"tpot"`
	ITL               *Dist           `json:"itl"`
	E2E               *Dist           `json:"e2e"`
	Queue             *Dist           `json:"queue"`
	Prefill           *Dist           `json:"prefill"`
	Decode            *Dist           `json:"decode"`
	KVCacheUsage      Reading         `json:"kv_cache_usage"` // the fullest engine: the first to queue
	PrefixCacheHit    Reading         `json:"prefix_cache_hit"`
	PreemptionsPerSec Reading         `json:"preemptions_per_second"`
	Objectives        []ObjectiveView `json:"objectives"`
	FirstAnswer       *Dist           `json:"first_answer"`   // null where no event tells it
	Response          *Dist           `json:"response"`       // E2E from a load generator's schedule; null without one
	Phases            *Phases         `json:"phases"`         // null where nobody tells phases
	Load              *LoadView       `json:"load"`           // null without a load generator's schedule
	Reported          []ReportedView  `json:"reported"`       // latencies that a gateway sums up itself
	Outside           *OutsideView    `json:"outside_engine"` // null unless gateways and engines both tell TTFT
	Promised          Promise         `json:"promised"`
	Goodput           *GoodputView    `json:"goodput"`
	Budget            *BudgetView     `json:"budget"`
	Deadline          *DeadlineView   `json:"deadline"` // null for workflows without one

	// Members is how many workflows the row stands for, where it sums those that
	// have none of their own; else 0.
	Members int `json:"members"`

	Targets  []string `json:"targets"`
	Replicas Replicas `json:"replicas"`
	Missing  []Signal `json:"missing"` // exported by none of its targets
	Notes    []string `json:"notes"`
	State    State    `json:"state"` // the worst of its fresh targets

	Condition Condition `json:"condition"`
	Since     Instant   `json:"since"` // when the condition began

	// WaitNow is how long a request that arrives now waits for its first token, in
	// seconds, by Little's law; BreachIn when that will be longer than promised.
	WaitNow  Reading `json:"wait_now_s"`
	BreachIn Reading `json:"breach_in_s"`
	// Worst is the slowest target, where several serve the workflow: a figure of
	// its own, and never a mean of theirs.
	Worst *WorstReplica `json:"worst_replica"`

	History *History `json:"-"`
}

// Latency is the distribution that an objective on a metric speaks of, nil where
// it is not known at all.
func (w *WorkflowView) Latency(m Metric) *Dist {
	switch m {
	case MetricTTFT:
		return w.TTFT
	case MetricFirstAnswer:
		return w.FirstAnswer
	case MetricTPOT:
		return w.TPOT
	case MetricE2E:
		return w.E2E
	case MetricQueue:
		return w.Queue
	default:
		return nil
	}
}

// ReportedView is a latency as its reporter sums it up, over a window of its own.
// It is shown as it is, and merged and compared with nothing.
type ReportedView struct {
	Target    string       `json:"target"`
	Signal    Signal       `json:"signal"`
	WindowS   Reading      `json:"window_s"`
	Count     Reading      `json:"count"`
	Quantiles []QuantileAt `json:"quantiles"` // ascending
}

// OutsideView is the part of TTFT that passes before a request reaches its engine:
// what gateways measured less what the engines behind them did. Means may be
// subtracted, percentiles may not: both stand side by side.
type OutsideView struct {
	Mean    Reading `json:"mean_s"` // below 0: the two do not measure the same
	Gateway *Dist   `json:"gateway_ttft"`
	Engine  *Dist   `json:"engine_ttft"`
	Note    Text    `json:"note"` // why Mean cannot be trusted or formed
}

// WorstReplica is one target's own latency: TTFT, or E2E where there is none.
type WorstReplica struct {
	Target  string `json:"target"`
	Metric  Metric `json:"metric"`
	Latency *Dist  `json:"latency"`
}

// Replicas says how many of a workflow's targets the totals cover.
type Replicas struct {
	Fresh int `json:"fresh"`
	Total int `json:"total"`
}

// Track is one latency over time in seconds: three percentiles and the bracket of
// the middle one. NaN is a gap; HiP95 may be +Inf, beyond the last bucket. P99 is nil
// where it is not kept.
type Track struct {
	P50, P95, LoP95, HiP95 []float32
	P99                    []float32
}

// History is a workflow's recent past on a fixed grid, oldest first, all slices
// equally long, the last point at End. NaN is a gap. The slices are shared with
// earlier frames and are never written again.
type History struct {
	Step     time.Duration
	End      Instant
	TTFT     Track
	TPOT     Track
	ITL      Track
	E2E      Track     // empty where it is not kept
	Goodput  []float32 // 0–1, the point of the interval
	Requests []float32 // finished per second
	Output   []float32 // tokens per second
	Running  []float32
	Waiting  []float32
	KV       []float32 // 0–1
	Events   []Event   // oldest first, those of this workflow and of all

	GoodputLo, GoodputHi []float32 // 0–1, the interval around Goodput
	Preemptions          []float32 // per second
	PrefixHit            []float32 // 0–1

	// Mean seconds of each phase of a request. They add up where all are known.
	Queue, Prefill, Decode []float32

	// How the latencies were spread over time; nil where it is not known.
	HeatTTFT, HeatTPOT, HeatE2E *Heat
}

// Heat is how many requests fell into each bucket of a histogram, in one column after
// another, oldest first. Columns are Step long, the last one ends at End. Slices are
// shared with earlier frames and are never written again.
type Heat struct {
	Step   time.Duration
	End    Instant
	Bounds []float64   // ascending upper edges in seconds, without +Inf
	Counts [][]float32 // [column][bucket], the last bucket beyond Bounds; a nil column is a gap
}

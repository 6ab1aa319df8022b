// Package diagnose turns what changed between a baseline and now into findings:
// which factor moved, what binds, what users feel, how sure that is, what would
// contradict it and what to try next. It is arithmetic on facts that are handed to
// it: it reads no clock and no frame's history, and it never claims of a machine
// what only clients told.
package diagnose

import (
	"math"
	"time"

	"slotop/model"
	"slotop/model/steptime"
)

// The lengths that everything is compared over: the present, a pause, and the
// baseline before it, in blocks of ten seconds (requests that are neighbours share
// their fate: they are no independent samples).
const (
	Block          = 10 * time.Second
	NowBlocks      = 6
	PauseBlocks    = 3
	BaselineBlocks = 35
	// LeastBaseline is how many quiet blocks a comparison needs.
	LeastBaseline = 6
)

// Count is one thing that is counted over a stretch.
type Count int

// The counts. Requests arrive by Δ(running + waiting) + Δended, or as the server
// counts starts. Tokens of prompts are counted with their first token.
const (
	Arrived Count = iota
	Ended         // finished, failed and cancelled together
	Failed
	Cancelled
	GaveUpEarly // of the cancelled, before their first token; only single reports tell
	Limited     // answers cut at their limit
	Retried     // attempts after the first
	Throttled   // of the failed, refused for their rate (429, 529)
	Judged      // requests judged by all their objectives
	Good        // of them, likely good
	PromptTokens
	CachedTokens
	OutputTokens
	Preemptions
	Drafts
	DraftTokens
	Accepted
	Steps // of the engine
	NumCounts
)

// Measure is one thing of which many were observed: its number and its sum.
type Measure int

// The measures. Lengths are in tokens, of requests that ended; the rest in seconds.
const (
	PromptLength Measure = iota
	OutputLength
	TTFT
	QueueTime
	PrefillTime
	DecodeTime
	TPOT
	ITL
	E2E
	RunningLevel // readings of a level
	WaitingLevel
	KVLevel
	NumMeasures
)

// Mean is how many were observed and their sum.
type Mean struct{ N, Sum float64 }

// Value is the mean, NaN of nothing.
func (m Mean) Value() float64 {
	if !(m.N > 0) {
		return math.NaN()
	}
	return m.Sum / m.N
}

// Sums is what one stretch saw of one workflow or of one engine. What nobody says
// is NaN.
type Sums struct {
	Seconds  float64
	Counts   [NumCounts]float64
	Measures [NumMeasures]Mean
	KVMost   float64 // the highest KV cache usage that was read, 0–1
	RunMost  float64 // the most sequences that were seen running
}

// Nothing is the sums of a stretch of which nothing is known.
func Nothing() Sums {
	s := Sums{KVMost: math.NaN(), RunMost: math.NaN()}
	for i := range s.Counts {
		s.Counts[i] = math.NaN()
	}
	for i := range s.Measures {
		s.Measures[i] = Mean{math.NaN(), math.NaN()}
	}
	return s
}

// Rate is a count over the time of the stretch, per second; NaN where it is not known.
func (s *Sums) Rate(c Count) float64 { return s.Counts[c] / s.Seconds }

// Facts is what is known of one pool at one instant: engines that serve the same
// workflows, the gateways in front of them, and what users of the workflows get.
type Facts struct {
	Pool    string
	At      model.Instant
	Flows   []Flow
	Engines []Engine // that answer; none where only single requests are reported
	Silent  int      // engines that do not answer
	Awaited int      // of them, that never answered yet: they start, or were never there
	Behind  string   // without engines: the pool whose engines serve its models, "" none that is known
	Settled bool     // blocks reach back over NowBlocks at least

	// Of the baseline: quiet blocks only. Its newest block may be old: it stands
	// still while something is wrong.
	BaselineTo model.Instant
}

// Flow is one workflow.
type Flow struct {
	Name string
	Spec *model.WorkflowSpec // what was promised

	// Terms are its objectives over the newest NowBlocks: what each bound's share was.
	Terms []model.ObjectiveView

	Now    []Sums // the newest blocks, oldest first, at most NowBlocks
	Before []Sums // the baseline, oldest first; empty: it was not there or not seen
	New    bool   // its first request came after the baseline

	// Of its engines' ITL over the newest NowBlocks and over the baseline, s.
	Gap, GapBefore Gap
	// Outside is mean TTFT at the gateways less that at the engines, s.
	Outside, OutsideBefore model.Reading
	// Held is how many requests wait at gateways now.
	Held model.Reading
	// Turns is how many calls one piece of work makes, and Took how long it takes, s,
	// where anybody tells of work above single calls.
	Turns, Took Shift

	// Calls are the newest single requests, where anybody reports them: of the present
	// and of the baseline.
	Calls, CallsBefore []Call
}

// Gap is percentiles of the gap between two events.
type Gap struct {
	P50, P95, P99 model.Reading
	Longest       model.Reading // at least so long: the lower edge of the highest bucket in use
}

// Call is one request as reported by itself.
type Call struct {
	At       model.Instant // of its end
	TTFT     float64       // s, NaN without a first token
	TPOT     float64       // s, NaN below two tokens
	Prompt   float64       // tokens, NaN unknown
	Uncached float64       // of them, computed; NaN unknown
	Others   float64       // requests of the pool that ran beside it at its first token; NaN unknown
	Failed   bool
}

// Level is a level over a stretch.
type Level struct{ Mean, Most model.Reading }

// Engine is one engine, or a group of them that a server tells of as one.
type Engine struct {
	Name        string
	Now, Before []Sums // as of a Flow, over all that it serves

	Running, Waiting, KV                   Level // over the newest NowBlocks
	RunningBefore, WaitingBefore, KVBefore Level

	KVCapacity, KVCapacityBefore model.Reading // tokens
	Cap                          model.Reading // sequences, as it or the operator says
	Budget                       model.Reading // tokens a step, as the operator says
	BudgetSeen                   model.Reading // the most tokens of a step by its histogram's highest bucket in use
	Prefix                       bool          // its hit counters are known to be right (cached tokens, not look-ups)

	Age     model.Reading // s since it started or came to be known with fresh counters
	Changes []Change      // what was done to it, newest first

	Step Step
	GPUs []GPU
}

// Change is something done to an engine: a restart, another version, another size
// of its KV pool.
type Change struct {
	At   model.Instant
	What string // "restarted", "version 0.11 → 0.12", "KV pool 438k → 45k tokens"
}

// Step is what the step-time model says of an engine.
type Step struct {
	Fit    *steptime.Fit // nil: none yet
	Why    string        // why there is none, as a sentence
	Before *steptime.Fit // of before a restart or a change, to compare coefficients with
	Now    steptime.Sample
	Base   steptime.Sample // mean over the baseline
	// Residual is observed over explained step time over the newest NowBlocks; Short and
	// Long are the same over the shorter and the longer half of the samples: equal, what
	// slows it multiplies; less for the long ones, it adds.
	Residual, Short, Long model.Reading
}

// Shift is a reading in the baseline and now.
type Shift struct{ Before, Now model.Reading }

// GPU is one device that an engine runs on.
type GPU struct {
	Name             string
	SM, Tensor, DRAM Shift // 0–1
	Power            Shift // W
	Clock            Shift // SM clock, Hz
	Throttled        Shift // share of the time with a reason that slows, 0–1
	Reasons          []string
}

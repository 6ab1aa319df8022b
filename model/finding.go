package model

import "strings"

// Factor is one of the things outside an engine, or in the speed of its machine,
// whose change changes its work: arrivals × work a request × machine.
type Factor string

// The factors. The residual is how much longer a step takes than its load explains.
const (
	FactorArrivals   Factor = "arrival_rate"
	FactorPrompt     Factor = "prompt_length"
	FactorMiss       Factor = "cache_miss_share"
	FactorOutput     Factor = "output_length"
	FactorResidual   Factor = "step_residual"
	FactorAcceptance Factor = "acceptance"    // tokens a step with speculative decoding
	FactorRetries    Factor = "retry_share"   // of the attempts
	FactorSetting    Factor = "configuration" // a pool, a cap or a version changed; or nothing else did
	FactorReplicas   Factor = "replicas"      // fewer or younger than wanted
	FactorProvider   Factor = "provider"      // a hosted service that nobody here can look into
	FactorOutside    Factor = "outside"       // between the user and the engine
)

// Binding is the resource that limits the service now. It is a state and no cause,
// unless nothing outside moved.
type Binding string

// What binds; the empty binding, null in JSON, is none.
const (
	BindsNothing  Binding = ""
	BindsKV       Binding = "kv_capacity"
	BindsCap      Binding = "sequence_cap"
	BindsBudget   Binding = "prefill_budget"
	BindsCompute  Binding = "compute"
	BindsMemory   Binding = "bandwidth"
	BindsHost     Binding = "host"
	BindsQueue    Binding = "queue"
	BindsUpstream Binding = "queue_upstream"
	BindsProvider Binding = "provider"
	// BindsObjective is for what binds first as the rate grows: a promise breaks
	// before anything is full.
	BindsObjective Binding = "objective"
)

// MarshalJSON writes null where nothing binds.
func (b Binding) MarshalJSON() ([]byte, error) { return Text(b).MarshalJSON() }

// Word is what binds as people say it, "" for nothing.
func (b Binding) Word() string {
	switch b {
	case BindsKV:
		return "KV cache"
	case BindsBudget:
		return "prefill token budget"
	case BindsMemory:
		return "memory bandwidth"
	case BindsUpstream:
		return "queue before the engine"
	case BindsObjective:
		return "an objective"
	default:
		return strings.ReplaceAll(string(b), "_", " ")
	}
}

// Layer is what kind of a statement a finding is. Findings are ordered by it.
type Layer string

// Causes come first, then what binds, then what users feel.
const (
	LayerCause   Layer = "cause"
	LayerBinding Layer = "binding"
	LayerSymptom Layer = "symptom"
)

// Rank orders layers, causes first.
func (l Layer) Rank() int {
	switch l {
	case LayerCause:
		return 0
	case LayerBinding:
		return 1
	default:
		return 2
	}
}

// Confidence says how sure a finding is: high is a cause with what binds and
// nothing against it, medium a cause alone, low a pattern of symptoms.
type Confidence string

// The three degrees.
const (
	HighConfidence   Confidence = "high"
	MediumConfidence Confidence = "medium"
	LowConfidence    Confidence = "low"
)

// FactorView is how one factor moved from the baseline to now.
type FactorView struct {
	Factor Factor  `json:"factor"`
	Before Reading `json:"before"` // in the factor's own unit: requests/s, tokens, a share, a ratio
	Now    Reading `json:"now"`
	Ratio  Reading `json:"ratio"`
	// Work is by how much the work grew through it, as a share of the work before:
	// 2.6 is +260 %. Effects multiply: shares of several factors do not add up.
	Work  Reading `json:"work"`
	Moved bool    `json:"moved"` // beyond chance and large enough to matter
	// Who moved it, where one workflow carries most of the change; WhoShare is the
	// part of the change that is its own, 0–1.
	Who      Text    `json:"who"`
	WhoShare Reading `json:"who_share"`
	Mix      bool    `json:"mix"` // no workflow changed: their shares of the traffic did
}

// FindingView is one thing that is wrong, why, and what to try. Texts are short,
// in words and with units; what they say is in the other fields as numbers.
type FindingView struct {
	ID       string `json:"id"` // of the rule: T1
	Title    string `json:"title"`
	Layer    Layer  `json:"layer"`
	Pool     Text   `json:"pool"`     // of the engines that it is about, where there are several
	Workflow Text   `json:"workflow"` // that it names, null for all
	Target   Text   `json:"target"`

	Symptom    Text       `json:"symptom"` // "chat TTFT: 1 of 1892 met 500 ms"
	Cause      Text       `json:"cause"`   // "arrivals ×3.6, all chat"
	Binding    Text       `json:"binding"` // "KV cache full, 1.0 preemptions/s"
	Confidence Confidence `json:"confidence"`
	Evidence   []string   `json:"evidence"` // "arrivals 8.1 → 29.2 /s"
	Against    []string   `json:"against"`  // what would change the mind
	Not        []string   `json:"not"`      // what was looked at and ruled out: "the GPU: a step takes 1.07× of what load explains"
	Try        []string   `json:"try"`      // the next experiment first

	Factor    *FactorView `json:"factor"` // the cause in numbers; null for a pattern
	Binds     Binding     `json:"binds"`
	N         Reading     `json:"n"` // requests it rests on
	WindowS   float64     `json:"window_s"`
	BaselineS Reading     `json:"baseline_s"`
	Since     Instant     `json:"since"`
}

// DiagnosisState is what the diagnosis as a whole came to.
type DiagnosisState string

// The states. NoFinding was looked for and there is none; CannotTell says why.
const (
	Diagnosed  DiagnosisState = "found"
	NoFinding  DiagnosisState = "no_finding"
	CannotTell DiagnosisState = "cannot_tell"
)

// DiagnosisView is the diagnosis of one pool: engines that serve the same workflows.
type DiagnosisView struct {
	Pool       string         `json:"pool"`
	Targets    []string       `json:"targets"`
	Workflows  []string       `json:"workflows"`
	State      DiagnosisState `json:"state"`
	Why        Text           `json:"why"`      // cannot tell because …; what limits a diagnosis that was made
	Sentence   string         `json:"sentence"` // for the overview
	Factors    []FactorView   `json:"factors"`  // all that were looked at, the largest first
	Binds      Binding        `json:"binds"`
	Binding    Text           `json:"binding"`  // in words
	Residual   Reading        `json:"residual"` // observed over explained step time
	At         Instant        `json:"at"`       // of the evaluation: the end of its last block
	WindowS    float64        `json:"window_s"`
	BaselineS  Reading        `json:"baseline_s"`  // of quiet time to compare with
	BaselineTo Instant        `json:"baseline_to"` // its newest end; it stands still while something is wrong
}

package model

// Policy is what the operator promised and wants to be told: the workflows with
// their objectives, and the rules. It is data: a tape carries it, so that a
// replay judges as the recording did. The zero Policy promises nothing: every
// workflow then has assumed objectives, which never page.
type Policy struct {
	Workflows []WorkflowSpec `json:"workflows,omitempty"` // the first that matches takes a request
	// KeepOthers: what no workflow matches keeps its own name, with assumed
	// objectives, as far as there are rows. Otherwise it is summed as OtherName.
	KeepOthers bool       `json:"keep_others,omitempty"`
	Rules      []RuleSpec `json:"rules,omitempty"`
	// GraceS is how long after a restart latency alerts wait, in seconds.
	GraceS float64 `json:"grace_s,omitempty"`
	// IdleClearS: a firing alert whose workflow has had no request for so long is
	// resolved. 0: never, silence is not recovery.
	IdleClearS float64 `json:"idle_clear_s,omitempty"`
	// SilentAfterS is how long a running request may be silent before its phase
	// counts as unknown, in seconds; 0 is DefaultSilence.
	SilentAfterS float64 `json:"silent_after_s,omitempty"`

	Hardware []HardwareSpec `json:"hardware,omitempty"` // the first that matches a target says it
	Models   []ModelSpec    `json:"models,omitempty"`   // the first that matches a served name
	Prices   PriceSpec      `json:"prices,omitzero"`
	// Forecast is a rate in requests a second, by workflow, to plan replicas for.
	Forecast map[string]float64 `json:"forecast,omitempty"`
}

// Defaults of a policy.
const (
	DefaultShare   = 0.95
	DefaultPeriodS = 24 * 3600 // of an error budget
	DefaultSilence = 120       // seconds
	OtherName      = "other"   // the row of what no workflow matches, or has no row of its own
)

// Metric names what an objective bounds.
type Metric string

// The metrics an objective may bound. FirstAnswerTime is the first token of the
// answer proper; where no reasoning comes before it, it is TTFT.
const (
	MetricTTFT        Metric = "ttft"
	MetricTPOT        Metric = "tpot"
	MetricE2E         Metric = "e2e"
	MetricFirstAnswer Metric = "first_answer"
	MetricQueue       Metric = "queue"
)

// Metrics lists them in the order in which they are shown.
var Metrics = []Metric{MetricTTFT, MetricFirstAnswer, MetricTPOT, MetricE2E, MetricQueue}

// Signal is the histogram of an engine that measures the metric, "" where none
// does.
func (m Metric) Signal() Signal {
	switch m {
	case MetricTTFT:
		return TTFT
	case MetricTPOT:
		return TPOT
	case MetricE2E:
		return E2E
	case MetricQueue:
		return Queue
	default:
		return ""
	}
}

// Title is the metric's word on screen.
func (m Metric) Title() string {
	switch m {
	case MetricFirstAnswer:
		return "first answer"
	case MetricQueue:
		return "queue"
	default:
		return m.Signal().Title()
	}
}

// Objective is one bound, in seconds.
type Objective struct {
	Metric Metric  `json:"metric"`
	MaxS   float64 `json:"max_s"`
}

// Reader is who consumes a workflow's answers.
type Reader string

// The readers. Nobody is told that a program could read faster.
const (
	ReaderUnknown Reader = ""
	ReaderHuman   Reader = "human"
	ReaderProgram Reader = "program"
)

// MarshalJSON writes null for a reader that nobody named.
func (r Reader) MarshalJSON() ([]byte, error) { return Text(r).MarshalJSON() }

// WorkflowSpec is one workflow as promised.
type WorkflowSpec struct {
	Name string `json:"name"` // may be a glob where Match is empty
	// Match lists ways to belong to it; any one suffices. Empty: whatever calls
	// itself Name, by workflow or by model.
	Match        []Match     `json:"match,omitempty"`
	Objectives   []Objective `json:"objectives,omitempty"`
	Share        float64     `json:"share"`    // of requests within all objectives, 0–1
	PeriodS      float64     `json:"period_s"` // of the error budget
	DeadlineS    float64     `json:"deadline_s,omitempty"`
	Reader       Reader      `json:"reader,omitempty"`
	TruncatedBad bool        `json:"truncated_bad,omitempty"` // an answer cut at its limit is bad
	OneTokenBad  bool        `json:"one_token_bad,omitempty"` // an answer of one token, which has no TPOT, is bad
	Assumed      bool        `json:"assumed,omitempty"`       // nobody promised it: it never pages
}

// Match is one way to belong to a workflow: every pattern that is given must
// match. Patterns are globs: * any run of characters, ? one.
type Match struct {
	Workflow string            `json:"workflow,omitempty"` // as the gateway or event names it
	Model    string            `json:"model,omitempty"`
	Adapter  string            `json:"adapter,omitempty"` // LoRA
	Target   string            `json:"target,omitempty"`  // name of the target it came from
	Labels   map[string]string `json:"labels,omitempty"`  // key, team, route, tag, or any other label
}

// Severity is what an alert asks of people.
type Severity string

// Only broken promises to users page.
const (
	Page Severity = "page"
	Warn Severity = "warn"
	Note Severity = "note"
)

// RuleSpec is one rule of the user's own: a number, a bound, and how long.
type RuleSpec struct {
	Name     string   `json:"name"`
	Signal   string   `json:"signal"`             // one of the fold's rule signals
	Over     *float64 `json:"over,omitempty"`     // condition: value > Over
	Under    *float64 `json:"under,omitempty"`    // or value < Under
	Clear    *float64 `json:"clear,omitempty"`    // recovered at or below (over), at or above (under); nil: the bound itself
	ForS     float64  `json:"for_s,omitempty"`    // how long before firing
	HoldS    float64  `json:"hold_s,omitempty"`   // how long recovered before it is resolved
	Workflow string   `json:"workflow,omitempty"` // glob; for signals of workflows; "" is all
	Target   string   `json:"target,omitempty"`   // glob; for signals of targets; "" is all
	Severity Severity `json:"severity"`
}

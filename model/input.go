package model

import (
	"strings"
	"time"
)

// TargetID names a target for good: the target as given, without credentials.
type TargetID string

// Target is a polled thing.
type Target struct {
	ID        TargetID `json:"id"`
	Name      string   `json:"name"` // what the screen calls it, unique
	Kind      string   `json:"kind"`
	Simulated bool     `json:"simulated,omitempty"`
	// GPUs are the devices that it runs on where the configuration says so: UUIDs, or
	// names of the targets that tell of them, separated by blanks.
	GPUs string `json:"gpus,omitempty"`
}

// The kinds of targets. A gateway stands before engines; a Prometheus server tells
// of others.
const (
	EngineTarget     = "engine"
	GatewayTarget    = "gateway"
	GPUTarget        = "gpu"
	PrometheusTarget = "prometheus"
	ProbeTarget      = "probe"
	FinderTarget     = "discovery" // finds others
)

// Kind says how a sample's value may be used.
type Kind uint8

// A gauge is a level, a counter only grows until its process restarts, a
// histogram is a set of counters that restart together.
const (
	Gauge Kind = iota
	Counter
	Histogram
)

// String names the kind as in a dialect file.
func (k Kind) String() string {
	switch k {
	case Counter:
		return "counter"
	case Histogram:
		return "histogram"
	default:
		return "gauge"
	}
}

// Buckets is a classic histogram as exposed, cumulative over le and over time.
// Bounds are ascending upper edges without +Inf; Counts has one entry more, the
// last being the +Inf bucket. With no Bounds only the mean is known.
// Sum is Unknown where the page has none.
type Buckets struct {
	Bounds []float64
	Counts []float64
	Sum    Reading
	// Incomplete: a bucket line of this histogram was lost or two disagree.
	// Sum and count may be used, quantiles may not.
	Incomplete bool
	// Repaired: cumulative counts were raised to be non-decreasing.
	Repaired bool
}

// N is the number of observations.
func (b *Buckets) N() float64 {
	if len(b.Counts) == 0 {
		return 0
	}
	return b.Counts[len(b.Counts)-1]
}

// Sample is one value as the target exposed it, under its canonical name, unit
// and labels. Counters and histograms stay cumulative. Copies of one series (a
// line per process or per tensor-parallel rank) are already one sample.
type Sample struct {
	Signal Signal
	Labels LabelSet
	Kind   Kind
	Value  float64  // NaN: exposed, but not a number
	Hist   *Buckets // Histogram only
}

// FaultKind is the one word for why a poll returned nothing.
type FaultKind string

// The faults.
const (
	Refused         FaultKind = "refused"
	Timeout         FaultKind = "timeout"
	Denied          FaultKind = "denied"
	Redirected      FaultKind = "redirected"
	Certificate     FaultKind = "certificate"
	NotFound        FaultKind = "not_found"
	NotMetrics      FaultKind = "not_metrics"
	Malformed       FaultKind = "malformed"
	Oversized       FaultKind = "oversized"
	UnsupportedPage FaultKind = "unsupported"
)

// Word is the fault as people say it.
func (k FaultKind) Word() string { return strings.ReplaceAll(string(k), "_", " ") }

// Fault is why a poll returned nothing: a word, and a sentence that says what
// was found and what to do about it. It never holds a credential.
type Fault struct {
	Kind   FaultKind `json:"kind"`
	Detail string    `json:"detail"`
}

// Meaning is where a signal came from on this target and what it measures there.
type Meaning struct {
	Signal   Signal `json:"signal"`
	Metric   string `json:"metric"`             // the exposed name that was read
	Measures string `json:"measures,omitempty"` // set where it differs from the signal's definition
	AtFinish bool   `json:"at_finish,omitempty"`
}

// IncidentNote begins a note that names an incident for as long as it lasts. Charts
// mark where a target begins and ceases to tell of one.
const IncidentNote = "incident: "

// About is what a target says of itself. A source hands out the same pointer
// until something in it changes; nobody writes to it after that.
type About struct {
	// Kind is what a look showed the target to be, of the kinds of targets; "" where
	// its address had said so.
	Kind     string    `json:"target_kind,omitempty"`
	Engine   string    `json:"engine,omitempty"`  // dialect, "" when no dialect claims the page
	Version  string    `json:"version,omitempty"` // as far as the page shows it
	Models   []string  `json:"models,omitempty"`
	Meanings []Meaning `json:"meanings,omitempty"` // one a signal found
	Missing  []Signal  `json:"missing,omitempty"`  // signals the engine could export and does not here
	Notes    []string  `json:"notes,omitempty"`    // short sentences: "8 process copies of kv_cache_usage_perc"

	// StepS is how many seconds lie between two points of what the target tells, where
	// it passes on what it read itself: a Prometheus server's scrape interval, an
	// exporter's collection interval. 0: every poll is new.
	StepS float64 `json:"step_s,omitempty"`
	// Replicas is how many servers stand behind the target's numbers, and how many of
	// them answer; 0 of 0 where it is one or is not known.
	Replicas Replicas `json:"replicas,omitzero"`
}

// Batch is everything one poll of one target returned, or why it returned
// nothing. Samples (and what they point to) are valid only until the source is
// polled again: whoever keeps a value copies it.
type Batch struct {
	Target   TargetID
	Took     time.Duration
	Fault    *Fault
	Samples  []Sample
	About    *About
	BadLines int    // lines of this page that were skipped
	FirstBad string // the first of them: line number, reason, excerpt
	Dropped  int    // series refused by a limit

	Requests []Request  // reports of single requests, in the order in which they came
	Epoch    string     // of the reporter's numbering; another one means it began anew; "": it has none
	Lost     int        // reports the reporter says, or its numbers show, never reached us
	Reported []Reported // latencies summed up by the reporter itself

	Devices []Device // GPUs, of a target that tells of them: all it has, each time
	// Round is how long the last round of readings took where it goes on beside the
	// polls, as it must where calls block; 0: the poll read them itself.
	Round time.Duration
	// Clock is what the other side's clock showed when it answered; zero: it does not
	// say. ClockError is by how much that may be wrong for want of digits.
	Clock      time.Time
	ClockError time.Duration
}

// Input is the only thing the core consumes. With nothing but a stamp it is a
// tick.
type Input struct {
	At     Instant
	Batch  *Batch
	Window time.Duration // > 0: the viewer chose another window
	Ack    AlertID       // the viewer acknowledged an alert, or took that back
	Mark   string        // a stage begins here, with this name
	Join   *Target       // a target is watched from here on
	Leave  TargetID      // a target is not watched any more
	Note   *Annotation   // somebody tells of a change
}

// IsTick reports whether the input only tells the time.
func (in Input) IsTick() bool {
	return in.Batch == nil && in.Window == 0 && in.Ack == "" && in.Mark == "" && in.Join == nil && in.Leave == "" && in.Note == nil
}

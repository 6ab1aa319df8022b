package model

import "time"

// Stamp is a time on the clock of whoever reported it, in Unix nanoseconds. Zero
// means that it has not happened, or was not measured.
type Stamp int64

// StampOf is the stamp of a wall time, zero for the zero time.
func StampOf(t time.Time) Stamp {
	if t.IsZero() {
		return 0
	}
	return Stamp(t.UnixNano())
}

// Time is the stamp as a wall time in UTC.
func (s Stamp) Time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(s)).UTC()
}

// Between is the time from a to b in seconds: unknown where either is missing or
// where time runs backwards.
func Between(a, b Stamp) Reading {
	if a == 0 || b == 0 || b < a {
		return Reading{}
	}
	return Of(float64(b-a) / 1e9)
}

// Phase is where a request stands. Phases that slotop does not know are kept as
// they are and counted as running.
type Phase string

// The phases of the event schema.
const (
	PhaseQueued    Phase = "queued"
	PhasePreparing Phase = "preparing_context" // retrieval, templating, tool set-up
	PhaseAtModel   Phase = "waiting_for_model" // sent, nothing back: prefill
	PhaseStreaming Phase = "streaming"
	PhaseToolCall  Phase = "tool_call"
	PhaseRetrying  Phase = "retrying"
	PhaseDone      Phase = "done"
)

// Outcome is how a request ended.
type Outcome string

// The outcomes. OutputLimited is an answer that was cut at its limit.
const (
	Completed        Outcome = "completed"
	OutputLimited    Outcome = "output_limit"
	RequestCancelled Outcome = "cancelled"
	RequestFailed    Outcome = "failed"
)

// Streaming says whether the client of a request reads a stream. Without a
// stream TTFT and TPOT do not apply.
type Streaming uint8

// Whether it streams may be unknown.
const (
	StreamUnknown Streaming = iota
	Streamed
	Unary
)

// Request is the whole known state of one request at one moment, as a gateway, a
// client or a load generator reports it: a lost or repeated report costs
// nothing. It holds times, counts and names; never a prompt or an answer.
type Request struct {
	ID  string
	Seq uint64 // grows within a stream; 0: not numbered
	At  Stamp  // when this state was true

	Workflow, Model, ModelVersion, Instance string
	Labels                                  LabelSet // those the operator listed

	Phase       Phase
	Scheduled   Stamp // when a load generator meant to send it; 0: no schedule is known
	Queued      Stamp // received
	Admitted    Stamp
	ContextDone Stamp
	FirstToken  Stamp // of any kind
	FirstAnswer Stamp // of the answer proper, where reasoning tokens come first
	Completed   Stamp

	InputTokens, OutputTokens, CachedTokens Reading
	OutputChunks                            Reading // stream events that carried tokens: not tokens

	Stream  Streaming
	Outcome Outcome // with PhaseDone
	Reason  string  // of a cancellation or a failure
	Status  int     // HTTP status given to the client, 0 unknown
	Attempt int     // from 1; 0 unknown
	Retries int     // so far
	RetryOf string  // ID of the attempt before this one, where attempts are requests of their own
}

// Done reports whether the request has ended.
func (r *Request) Done() bool { return r.Phase == PhaseDone }

// Reported is a latency as a gateway reports it: quantiles over a window of its
// own. They are shown as they are and never merged with anything.
type Reported struct {
	Signal    Signal
	Labels    LabelSet
	WindowS   Reading
	Count     Reading
	Quantiles []QuantileAt // ascending
}

// QuantileAt is one quantile and its value in seconds.
type QuantileAt struct {
	Q float64 `json:"q"`
	S float64 `json:"seconds"`
}

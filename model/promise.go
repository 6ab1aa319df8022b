package model

// Promise is what a workflow was promised.
type Promise struct {
	Share        float64 `json:"share"`
	PeriodS      float64 `json:"period_s"`
	Reader       Reader  `json:"reader"`
	TruncatedBad bool    `json:"truncated_bad"`
}

// Range is a number known to lie between two others.
type Range struct {
	Lo Reading `json:"lo"`
	Hi Reading `json:"hi"`
}

// Denominator says of which requests a goodput is the share. Judged is Finished
// plus Failed plus what of Cancelled counts, less the Unmeasured; Excluded left
// for reasons that are not the service's. Unaccounted appear in no counter and are
// not judged.
type Denominator struct {
	Judged      float64 `json:"judged"`
	Finished    Reading `json:"finished"` // unknown where nobody counts ends
	Failed      float64 `json:"failed"`
	Cancelled   Reading `json:"cancelled"` // in all
	Excluded    Reading `json:"excluded"`  // of them; unknown where only counters exist
	Unaccounted Reading `json:"unaccounted"`
	// Unmeasured were answered, but something that was promised was not measured of
	// them: each may be either, and widens the share. Unknown where only counters
	// exist.
	Unmeasured Reading `json:"unmeasured"`
}

// Judging is what a goodput was read from.
type Judging string

// One by one, or from histograms that each know one bound only.
const (
	ByRequests   Judging = "requests"
	ByHistograms Judging = "histograms"
)

// GoodputView is the share of requests that met every objective, and the rate.
// From histograms it is an interval: each bound is known for itself, and how
// often they are met together is not.
type GoodputView struct {
	Share           Share   `json:"share"`             // null where it cannot be computed
	PerSecond       Range   `json:"per_second"`        // good requests
	OutputPerSecond Range   `json:"output_per_second"` // output tokens of good requests
	Basis           Judging `json:"basis"`
	N               float64 `json:"n"`      // requests judged
	Target          Reading `json:"target"` // 0–1; unknown of all workflows together
	Verdict         Verdict `json:"verdict"`
	Why             Text    `json:"why"` // of a verdict that is none: a sentence

	Of Denominator `json:"of"`
	// Sample is the 95 % interval of a share seen on N requests (Wilson), where
	// the verdict rests on it: few requests say little.
	Sample Range `json:"sample"`
	// Evidence is the same with requests that share their fate counted as fewer:
	// what this window says of the service. Null below twelve blocks of 10 s.
	Evidence *EvidenceView `json:"evidence"`
	// UserShare counts a user's best attempt instead of each attempt.
	UserShare Share `json:"user_share"`

	// Least and Most are the requests behind the ends of Share: shares do not add
	// up, requests do.
	Least Fraction `json:"-"`
	Most  Fraction `json:"-"`
}

// Fraction is so many good requests of so many.
type Fraction struct{ Good, Of float64 }

// EvidenceView is a share as evidence: N/DesignEffect independent requests.
type EvidenceView struct {
	Lo           Reading `json:"lo"`
	Hi           Reading `json:"hi"`
	DesignEffect float64 `json:"design_effect"`
}

// Burn is the rate at which the error budget goes, by window: 1 spends exactly
// what is allowed.
type Burn struct {
	M2  Reading `json:"2m"`
	M5  Reading `json:"5m"`
	M30 Reading `json:"30m"`
}

// BudgetView is a workflow's error budget over its period, as far as slotop was
// there to see it.
type BudgetView struct {
	Burn        Burn    `json:"burn"`
	Remaining   Reading `json:"remaining"` // share of the budget left; below 0 it is overspent
	PeriodS     float64 `json:"period_s"`
	ObservedS   float64 `json:"observed_s"` // of the period, so far
	Allowed     Reading `json:"allowed"`    // bad requests allowed among those seen
	Bad         Reading `json:"bad"`
	ExhaustedIn Reading `json:"exhausted_in_s"` // at the present burn
	Text        Text    `json:"text"`           // "3 of 7 bad in 5 min" where traffic is too low for rates
}

// DeadlineView is a job of a workflow that must be done by a time.
type DeadlineView struct {
	Began     Instant `json:"began"` // when the first of its requests came
	DeadlineS float64 `json:"deadline_s"`
	LeftS     Reading `json:"left_s"`
	Remaining Reading `json:"remaining"` // requests
	PerSecond Reading `json:"per_second"`
	NeedsS    Reading `json:"needs_s"` // at the present rate
	Verdict   Verdict `json:"verdict"`
}

// Phases counts a workflow's requests in flight by where they stand. Unknown
// ones have been silent for too long.
type Phases struct {
	Queued           Reading `json:"queued"`
	PreparingContext Reading `json:"preparing_context"`
	WaitingForModel  Reading `json:"waiting_for_model"`
	Streaming        Reading `json:"streaming"`
	ToolCall         Reading `json:"tool_call"`
	Retrying         Reading `json:"retrying"`
	Other            Reading `json:"other"`
	Unknown          Reading `json:"unknown"`
}

// LoadView compares what a load generator meant to send with what it sent.
type LoadView struct {
	OfferedPerSecond Reading `json:"offered_per_second"`
	SentPerSecond    Reading `json:"sent_per_second"`
	BehindS          Reading `json:"behind_s"` // the latest request's delay before it was sent
}

// Complete is the phases with a zero where nobody is: whoever reports phases
// reports all of them.
func (p Phases) Complete() Phases {
	for _, r := range []*Reading{
		&p.Queued, &p.PreparingContext, &p.WaitingForModel, &p.Streaming, &p.ToolCall, &p.Retrying, &p.Other, &p.Unknown,
	} {
		if r.State == Unknown {
			*r = Of(0)
		}
	}
	return p
}

// Running is how many requests have left the queue and not ended, as far as
// their reports tell.
func (p Phases) Running() Reading {
	return Of(p.PreparingContext.Value + p.WaitingForModel.Value + p.Streaming.Value + p.ToolCall.Value + p.Retrying.Value + p.Other.Value)
}

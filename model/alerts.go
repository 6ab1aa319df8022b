package model

// AlertID identifies an alert for good: its rule, workflow and target.
type AlertID string

// AlertState is where an alert stands.
type AlertState string

// The states. AlertUnknown cannot be judged now, for example because its target
// is down; an alert that already fires goes on firing and is marked stale
// instead: silence is not recovery.
const (
	AlertInactive AlertState = "inactive"
	AlertPending  AlertState = "pending"
	AlertFiring   AlertState = "firing"
	AlertUnknown  AlertState = "unknown"
	AlertResolved AlertState = "resolved"
)

// Unit is what an alert's number is measured in.
type Unit string

// The units. Times is a factor, such as a burn rate.
const (
	Seconds   Unit = "seconds"
	Ratio     Unit = "ratio" // 0–1
	PerSecond Unit = "per_second"
	Times     Unit = "times"
	Number    Unit = "count"
)

// MarshalJSON writes null for a number that has no unit because there is none.
func (u Unit) MarshalJSON() ([]byte, error) { return Text(u).MarshalJSON() }

// AlertView is one alert that is not inactive.
type AlertView struct {
	ID       AlertID    `json:"id"`
	Rule     string     `json:"rule"`
	Severity Severity   `json:"severity"`
	Workflow Text       `json:"workflow"`
	Target   Text       `json:"target"`
	State    AlertState `json:"state"`
	Text     string     `json:"text"` // what is so, in one sentence

	Since      Instant `json:"since"` // when the condition began
	FiredAt    Instant `json:"fired_at"`
	LastAt     Instant `json:"last_at"` // when the condition was last true
	ResolvedAt Instant `json:"resolved_at"`
	Value      Reading `json:"value"` // the rule's number now
	Peak       Reading `json:"peak"`  // the worst since it began
	Limit      Reading `json:"limit"` // of the number
	Unit       Unit    `json:"unit"`  // of all three
	Times      int     `json:"times"` // how often it has fired

	Stale        bool `json:"data_stale"` // fires, and nothing new is known
	Acknowledged bool `json:"acknowledged"`
	Cause        Text `json:"cause"` // the ID of the alert that explains this one
	// Members are the targets that one alert speaks for, in the order given.
	Members []string `json:"members"`
}

// AlertEvent is one step of an alert's life.
type AlertEvent struct {
	At       Instant    `json:"at"`
	ID       AlertID    `json:"id"`
	Rule     string     `json:"rule"`
	Severity Severity   `json:"severity"`
	Workflow Text       `json:"workflow"`
	Target   Text       `json:"target"`
	State    AlertState `json:"state"` // that it entered
	Text     string     `json:"text"`
	Times    int        `json:"times"` // the same step in a row, folded into one
}

// Unjudged is a rule or an objective that cannot be evaluated, and why.
type Unjudged struct {
	Rule     string `json:"rule"`
	Workflow Text   `json:"workflow"`
	Target   Text   `json:"target"`
	Why      string `json:"why"`
}

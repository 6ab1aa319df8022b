package model

import "time"

// Event is something that happened at one instant. It is marked on the charts, and the
// viewer jumps from one to the next.
type Event struct {
	At       Instant   `json:"at"`
	Kind     EventKind `json:"kind"`
	Workflow Text      `json:"workflow"` // that it happened to; null: to all
	Target   Text      `json:"target"`   // that restarted, or the stage's or the incident's name, or a deployment's text
}

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventRestart  EventKind = "restart"  // of a target
	EventStage    EventKind = "stage"    // of a load test begins
	EventIncident EventKind = "incident" // a target says that one began
	EventRecovery EventKind = "recovery" // a target says that it is over
	EventBreach   EventKind = "breach"   // a workflow misses an objective from here on
	EventCleared  EventKind = "cleared"  // and no more
	EventDeploy   EventKind = "deploy"   // an annotation tells of a change
)

// Annotation is somebody's word that something was done at a time: a deployment, a
// change of flags. It may be told late.
type Annotation struct {
	At   time.Time
	Text string
}

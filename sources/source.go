// Package sources turns the world into stamped inputs: it says what a target
// string means, opens it, polls it on a schedule and classifies what went
// wrong. It draws nothing and remembers no history.
package sources

import (
	"context"
	"time"

	"slotop/model"
)

// Source reads one target.
//
// Poll reads it once. It starts no goroutine and keeps no history; it may keep
// what makes the next poll cheap. The exception is a source that is spoken to
// without asking, such as a stream of events: it may have one goroutine that
// reads from its connection, into a bounded buffer that the polls empty. Close
// ends it and waits for it, a panic in it is that source's failure, and it reads
// no clock. The batch it returns needs neither Target nor
// Took nor Fault: the scheduler fills them. An error means that nothing was
// read; a *FaultError says which word describes it, anything else counts as
// malformed. io.EOF means that the source has no more polls to give.
// Samples stay valid until the next Poll.
type Source interface {
	Poll(ctx context.Context) (model.Batch, error)
	Close() error
}

// Advancer is a source with a time of its own, such as the simulator: before
// each poll it is told how far the schedule has come since it was opened. What
// happens until then is the poll's work, which its context can end.
type Advancer interface {
	Advance(to time.Duration)
}

// Dated is a source that plays the past with the dates it happened on, such as a
// file of events. Play begins where the earliest begins, and says before each
// poll up to which date it goes.
type Dated interface {
	Begins() time.Time // zero where nothing happened
	Until(date time.Time)
}

// Spec is one target as the user gave it, with the settings that apply to it.
type Spec struct {
	Address string   // the TARGET argument, credentials included
	More    []string // page files after it in a row: later polls of the same target
	Name    string   // the user's own name for it; "" chooses one
	GPUs    []string // that it runs on, as in Target.GPUs
	Options Options
}

// Kind is one way of reading a target. The table of kinds is in kinds.go.
type Kind struct {
	Name    string // as in Target.Kind, or "pages", "demo" …
	Doc     string // one line for --help and the README
	Example string
	Match   func(address string) bool
	Open    func(ctx context.Context, spec Spec) ([]Opened, error)
}

// Opened is a target that was found behind an address, with its source. One
// address may hold several targets, such as the two replicas of the simulator.
type Opened struct {
	Target model.Target
	Source Source
	Saved  bool // the past, such as saved pages: Play it, there is nothing to wait for
}

// FaultError is an error that knows the fault's word.
type FaultError struct {
	Kind   model.FaultKind
	Detail string // a sentence: what was found, where, what to do; no credentials
}

func (e *FaultError) Error() string { return string(e.Kind) + ": " + e.Detail }

// soon marks a failure of something that lies here: looking again costs nobody
// anything, so that it is not put off.
type soon struct{ error }

// Unwrap gives the failure.
func (s soon) Unwrap() error { return s.error }

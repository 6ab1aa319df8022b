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
// what makes the next poll cheap. The batch it returns needs neither Target nor
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

// Spec is one target as the user gave it, with the settings that apply to it.
type Spec struct {
	Address string   // the TARGET argument, credentials included
	More    []string // page files after it in a row: later polls of the same target
	Name    string   // the user's own name for it; "" chooses one
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
	Saved  bool // pages read before: Play them, there is nothing to wait for
}

// FaultError is an error that knows the fault's word.
type FaultError struct {
	Kind   model.FaultKind
	Detail string // a sentence: what was found, where, what to do; no credentials
}

func (e *FaultError) Error() string { return string(e.Kind) + ": " + e.Detail }

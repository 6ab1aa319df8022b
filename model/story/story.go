package story

import (
	"time"

	"slotop/model"
)

// Story is what happened between its first frame and its last. It shares the
// collector's memory: it is to be read before the next frame is taken.
type Story struct {
	First, Last *model.Frame
	Worst       *model.Frame // of the moment at which most requests were surely bad; the last one where none was
	Frames      int          // that were taken
	Axis        Axis         // of every series

	Workflows []Subject // in the order in which they were first seen
	Targets   []Subject
	Pools     []Subject
	Devices   []Subject // by UUID

	Breaches []Breach      // oldest first
	Alerts   []Episode     // oldest first
	Findings []Held        // in the order in which they were first made
	Events   []model.Event // oldest first
	Gaps     []Gap         // oldest first
	Polls    []Polls       // of each target, in its frames' order

	Left Left // what the bounds kept out
}

// Left counts what a story has no room for.
type Left struct {
	Subjects, Breaches, Alerts, Findings, Events, Gaps, Polls int
}

// Duration is the time between the first frame and the last.
func (s *Story) Duration() time.Duration {
	if s.Last == nil {
		return 0
	}
	return s.Last.At.Sub(s.First.At)
}

// Stages are the stretches that were marked, oldest first.
func (s *Story) Stages() []model.StageView {
	if s.Last == nil {
		return nil
	}
	return s.Last.Stages
}

// Workflow is the subject of that name, nil where there is none.
func (s *Story) Workflow(name string) *Subject { return named(s.Workflows, name) }

// Pool is the subject of that name, nil where there is none.
func (s *Story) Pool(name string) *Subject { return named(s.Pools, name) }

func named(all []Subject, name string) *Subject {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// The bounds of a story. A point of a series is 8 to 32 bytes.
const (
	maxPoints   = 1440 // a day of minutes, twelve minutes of half seconds
	maxSubjects = 64   // of each kind
	maxBreaches = 512
	maxEpisodes = 512
	maxHeld     = 256
	maxSpans    = 32 // of one finding
	maxEvents   = 1024
	maxGaps     = 512
	maxPolls    = 2048
)

package report

import (
	"io"

	"slotop/model"
)

// CheckupSchema is the version of a checkup's JSON form. Keys may be added under
// it; none changes its meaning or goes away.
const CheckupSchema = "slotop.doctor/1"

// Checkup is what can be told of what, and what it takes to tell more.
type Checkup struct {
	Targets  []TargetCheckup  `json:"targets"`
	Promises []PromiseCheckup `json:"promises"`
	Watching int              `json:"rules"`
	Blind    []RuleCheckup    `json:"cannot_evaluate"`
	Host     []Fact           `json:"host"` // [] where only saved pages were looked at
}

// TargetCheckup is one target.
type TargetCheckup struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Engine   model.Text      `json:"engine"`
	Version  model.Text      `json:"version"`
	Models   []string        `json:"models"`
	Fault    *model.Fault    `json:"fault"`        // null where it answered
	TookS    model.Reading   `json:"took_s"`       // of its poll; null where it is saved
	SkewS    model.Reading   `json:"clock_skew_s"` // how far its clock is ahead; null where it tells no time
	StepS    model.Reading   `json:"step_s"`       // between two points of what it passes on
	Replicas model.Replicas  `json:"replicas"`     // servers behind it, 0 of 0 where it is one
	BadLines int             `json:"bad_lines"`
	FirstBad model.Text      `json:"first_bad_line"`
	Dropped  int             `json:"dropped_series"`
	Notes    []string        `json:"notes"`
	Exact    bool            `json:"reports_requests"` // it tells of requests one by one
	Shows    []string        `json:"shows"`            // figures that can be told
	Waits    []string        `json:"with_first_event"` // figures that it tells once there is something to tell
	Lacks    []Lack          `json:"lacks"`
	Signals  []model.Meaning `json:"signals"`
	Devices  []DeviceCheckup `json:"devices"`
}

// Lack is something that cannot be told, why, and what would change that.
type Lack struct {
	What    string     `json:"what"`
	Why     string     `json:"why"`
	Metrics []string   `json:"metrics"` // the exposed names that it would be read from
	Do      model.Text `json:"do"`      // null where nothing is known to help
}

// DeviceCheckup is one GPU of a target.
type DeviceCheckup struct {
	UUID   string            `json:"uuid"`
	Name   model.Text        `json:"name"`
	State  model.DeviceState `json:"state"`
	Detail model.Text        `json:"detail"`
	Shows  []string          `json:"shows"`
	Lacks  []Lack            `json:"lacks"`
}

// PromiseCheckup is what can be told of one workflow's promise.
type PromiseCheckup struct {
	Workflow string `json:"workflow"`
	Assumed  bool   `json:"assumed_objectives"`
	Every    bool   `json:"every_workflow"` // nobody promised anything: each workflow has the assumed objectives
	// Lost says that the promise, or a part of it, cannot be judged.
	Lost bool     `json:"cannot_compute"`
	Says []string `json:"says"`
	Do   []string `json:"do"` // what would change that
}

// RuleCheckup is a rule that cannot be evaluated.
type RuleCheckup struct {
	Rule string     `json:"rule"`
	On   model.Text `json:"on"` // the workflow or the targets; null: anywhere
	Why  string     `json:"why"`
}

// Fact is something about the host that slotop runs on.
type Fact struct {
	What string `json:"what"`
	Says string `json:"says"`
	Bad  bool   `json:"bad"` // something is to be done about it
}

// Told reports whether all that is promised can be judged.
func (c *Checkup) Told() bool {
	for i := range c.Promises {
		if c.Promises[i].Lost {
			return false
		}
	}
	return true
}

// Answered is how many targets gave something.
func (c *Checkup) Answered() int {
	n := 0
	for i := range c.Targets {
		if c.Targets[i].Fault == nil {
			n++
		}
	}
	return n
}

// CheckupJSON writes a checkup on one line, in the versioned form that
// CheckupSchema names.
func CheckupJSON(w io.Writer, c *Checkup) error {
	return writeJSON(w, "the checkup", struct {
		Schema string `json:"schema"`
		Told   bool   `json:"all_promises_can_be_judged"`
		*Checkup
	}{CheckupSchema, c.Told(), c})
}

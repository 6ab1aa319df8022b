package report

import (
	"io"

	"slotop/model"
)

// CheckSchema is the version of a check's JSON form. Keys may be added under it;
// none changes its meaning or goes away.
const CheckSchema = "slotop.check/1"

// checkJSON is a check's public form; views are those of the frame.
type checkJSON struct {
	Schema    string             `json:"schema"`
	At        model.Instant      `json:"at"`
	WindowS   float64            `json:"window_s"`
	CoveredS  model.Reading      `json:"covered_s"`
	Simulated bool               `json:"simulated"`
	Outcome   Outcome            `json:"outcome"`
	Why       string             `json:"why"`
	Workflows []rowJSON          `json:"workflows"`
	Goodput   *model.GoodputView `json:"goodput"` // of all of them; null where some were left out
	Targets   []targetJSON       `json:"targets"`
	Unjudged  []model.Unjudged   `json:"cannot_evaluate"`
}

type rowJSON struct {
	Name       string                `json:"name"`
	Outcome    Outcome               `json:"outcome"`
	Why        model.Text            `json:"why"`
	Assumed    bool                  `json:"assumed_objectives"`
	Goodput    *model.GoodputView    `json:"goodput"`
	Objectives []model.ObjectiveView `json:"objectives"`
	Deadline   *model.DeadlineView   `json:"deadline"`
	Requests   *model.Requests       `json:"requests"` // null where nothing was seen
}

type targetJSON struct {
	Name  string           `json:"name"`
	State model.State      `json:"state"`
	Fault *model.FaultView `json:"fault"`
}

// CheckJSON writes a check on one line, in the versioned form that CheckSchema
// names.
func CheckJSON(w io.Writer, c *Check) error {
	out := checkJSON{
		Schema: CheckSchema, At: c.frame.At, WindowS: c.frame.WindowS, CoveredS: c.frame.CoveredS, Simulated: c.frame.Simulated,
		Outcome: c.Outcome, Why: c.Why, Workflows: []rowJSON{}, Targets: []targetJSON{}, Unjudged: []model.Unjudged{},
	}
	out.Unjudged = append(out.Unjudged, c.frame.Unjudged...)
	if c.all {
		out.Goodput = c.frame.Goodput
	}
	for i := range c.Rows {
		out.Workflows = append(out.Workflows, c.Rows[i].json())
	}
	for i := range c.frame.Targets {
		t := &c.frame.Targets[i]
		out.Targets = append(out.Targets, targetJSON{t.Name, t.State, t.Fault})
	}
	return writeJSON(w, "check", out)
}

func (r *CheckRow) json() rowJSON {
	row := rowJSON{Name: r.Name, Outcome: r.Outcome, Why: model.Text(r.Why), Objectives: []model.ObjectiveView{}}
	if w := r.flow; w != nil {
		row.Assumed, row.Goodput, row.Deadline, row.Requests = w.AssumedObjectives, w.Goodput, w.Deadline, &w.Requests
		row.Objectives = append(row.Objectives, w.Objectives...)
	}
	return row
}

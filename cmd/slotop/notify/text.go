package notify

import (
	"strconv"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
)

const (
	// maxText bounds one text of an alert on its way out; a sentence is far shorter.
	maxText = 4 << 10
	// maxMembers bounds the targets that are named; the alert says how many there are.
	maxMembers = 100
)

// clean is foreign text that is fit for a terminal, a log and the environment of
// a program: control characters become visible marks.
func clean(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return unit.Escape(s, false)
}

// cleaned is an alert whose texts are clean.
func cleaned(a model.AlertView) model.AlertView {
	a.ID, a.Rule, a.Text = model.AlertID(clean(string(a.ID))), clean(a.Rule), clean(a.Text)
	a.Workflow, a.Target = model.Text(clean(string(a.Workflow))), model.Text(clean(string(a.Target)))
	a.Cause = model.Text(clean(string(a.Cause)))
	members := make([]string, 0, min(len(a.Members), maxMembers))
	for _, m := range a.Members[:min(len(a.Members), maxMembers)] {
		members = append(members, clean(m))
	}
	a.Members = members
	return a
}

// stamp is an instant for programs, "" for never.
func stamp(at model.Instant) string {
	if at.IsZero() {
		return ""
	}
	return at.Wall.Format(time.RFC3339)
}

// number is a reading for programs, in the unit of its rule, "" where there is
// none.
func number(r model.Reading) string {
	if !r.OK() {
		return ""
	}
	return strconv.FormatFloat(r.Value, 'f', -1, 64)
}

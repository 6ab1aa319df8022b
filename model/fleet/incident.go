package fleet

import (
	"slices"
	"strings"

	"slotop/model"
)

// incident is what a target says of an incident under way, "" of none.
func incident(a *model.About) string {
	if a == nil {
		return ""
	}
	i := slices.IndexFunc(a.Notes, func(note string) bool { return strings.HasPrefix(note, model.IncidentNote) })
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(a.Notes[i], model.IncidentNote)
}

// markIncident marks on the charts of all workflows where a target begins, or
// ceases, to tell of an incident.
func (f *Fleet) markIncident(at model.Instant, before, now *model.About) {
	was, is := incident(before), incident(now)
	if was == is {
		return
	}
	e := model.Event{At: at, Kind: model.EventIncident, Target: model.Text(is)}
	if is == "" {
		e.Kind, e.Target = model.EventRecovery, model.Text(was)
	}
	f.note(e)
}

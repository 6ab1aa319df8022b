package alert

import (
	"cmp"
	"slices"

	"slotop/model"
)

// Alerts are all alerts that are not inactive: firing, pending, unknown, then
// resolved. In each of these come first those that no other explains, then page
// before warn before note, then the oldest, but of the resolved ones the newest.
func (b *Book) Alerts(at model.Instant) []model.AlertView {
	slices.SortFunc(b.order, byUrgency)
	views := make([]model.AlertView, 0, len(b.order))
	for _, r := range b.order {
		if r.status.State != model.AlertInactive && !r.status.over(at) {
			views = append(views, r.view())
		}
	}
	return views
}

// untold is the sentence of an alert of which nobody has said anything yet.
const untold = "nothing can be told"

func (r *row) view() model.AlertView {
	s, says := &r.status, r.says()
	v := model.AlertView{
		ID: r.id, Rule: r.rule, Severity: r.by.Severity,
		Workflow: model.Text(r.workflow), Target: model.Text(r.target),
		State: s.State, Text: cmp.Or(says.text, untold),
		Since: s.Since, FiredAt: s.FiredAt, LastAt: s.LastAt, ResolvedAt: s.ResolvedAt,
		Value: s.Value, Peak: s.Peak, Times: s.Times,
		Stale: s.Stale, Acknowledged: r.acked, Cause: model.Text(r.cause),
		Members: says.members,
	}
	// A compound condition has a limit only where its rule names one.
	if r.compare || r.by.Limit != 0 {
		v.Limit = model.Of(r.by.Limit)
	}
	if v.Members == nil {
		v.Members = []string{}
	}
	return v
}

// byUrgency is the order of Alerts. The identity breaks ties, so that the order
// never depends on a map.
func byUrgency(a, b *row) int {
	if c := cmp.Compare(stateRank(a.status.State), stateRank(b.status.State)); c != 0 {
		return c
	}
	if (a.cause == "") != (b.cause == "") {
		if a.cause == "" {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(severityRank(a.by.Severity), severityRank(b.by.Severity)); c != 0 {
		return c
	}
	if c := cmp.Compare(a.status.Since.Mono, b.status.Since.Mono); c != 0 && a.status.State != model.AlertResolved {
		return c
	}
	if c := cmp.Compare(b.status.ResolvedAt.Mono, a.status.ResolvedAt.Mono); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

func stateRank(s model.AlertState) int {
	switch s {
	case model.AlertFiring:
		return 0
	case model.AlertPending:
		return 1
	case model.AlertUnknown:
		return 2
	case model.AlertResolved:
		return 3
	default:
		return 4
	}
}

func severityRank(s model.Severity) int {
	switch s {
	case model.Page:
		return 0
	case model.Warn:
		return 1
	default:
		return 2
	}
}

package fleet

import (
	"fmt"
	"slices"

	"slotop/model"
	"slotop/model/unit"
)

// keepReported keeps the latencies that a reporter sums up itself, those of its
// newest page. They are shown as they are and merged with nothing.
func (t *target) keepReported(reported []model.Reported) {
	t.reported = t.reported[:0]
	for _, r := range reported {
		r.Quantiles = slices.Clone(r.Quantiles)
		t.reported = append(t.reported, r)
	}
}

// reportedTo hands them to their workflows.
func (t *target) reportedTo(f *Fleet) {
	if !t.fresh() || t.isProbe() {
		return
	}
	for _, r := range t.reported {
		if w := f.flowIf(t.origin(r.Labels)); w != nil {
			w.reported = append(w.reported, model.ReportedView{
				Target: t.spec.Name, Signal: r.Signal, WindowS: r.WindowS, Count: r.Count, Quantiles: r.Quantiles,
			})
		}
	}
}

// saysItself is a reported latency in one sentence.
func saysItself(r *model.ReportedView) string {
	text := r.Target + " reports " + r.Signal.Title()
	for _, q := range r.Quantiles {
		text += fmt.Sprintf(" p%.4g %s", 100*q.Q, unit.Duration(q.S))
	}
	if r.WindowS.OK() {
		text += " over " + unit.Period(r.WindowS.Value)
	}
	if r.Count.OK() {
		text += ", n " + unit.Integer(r.Count.Value)
	}
	return text
}

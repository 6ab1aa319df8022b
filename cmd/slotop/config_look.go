package main

import (
	"cmp"
	"slices"

	"slotop/model"
)

// looked is what a target showed when the configuration was checked.
type looked struct {
	target  model.Target
	about   *model.About
	fault   *model.Fault
	hists   []shownHist
	signals map[model.Signal]bool
	reports bool // of single requests
}

// shownHist is a histogram as exposed, since the server started.
type shownHist struct {
	signal model.Signal
	labels model.LabelSet
	bounds []float64
	counts []float64 // one more than bounds, cumulative
}

func (t *looked) done() bool { return t.about != nil || t.fault != nil }

// take keeps what a poll showed; what it points to is copied.
func (t *looked) take(b *model.Batch) {
	if b.Fault != nil {
		if t.about == nil {
			t.fault = b.Fault
		}
		return
	}
	t.about, t.fault = b.About, nil
	if t.about == nil {
		t.about = &model.About{}
	}
	t.hists, t.signals = t.hists[:0], map[model.Signal]bool{}
	t.reports = t.reports || len(b.Requests) > 0
	for _, s := range b.Samples {
		t.signals[s.Signal] = true
		if s.Hist != nil {
			t.hists = append(t.hists, shownHist{s.Signal, s.Labels, slices.Clone(s.Hist.Bounds), slices.Clone(s.Hist.Counts)})
		}
	}
}

// describe is one line on the target.
func (t *looked) describe() string {
	switch {
	case t.fault != nil:
		return t.target.Name + ": " + t.fault.Kind.Word() + ": " + t.fault.Detail
	case t.about == nil:
		return t.target.Name + ": no answer within " + lookPatience.String()
	case t.byRequests():
		return t.target.Name + ": reports single requests: what is promised is judged one by one"
	default:
		return t.target.Name + ": " + t.called()
	}
}

// byRequests reports whether the target tells of single requests, not of sums.
func (t *looked) byRequests() bool {
	return t.serves() && (t.reports || t.about != nil && len(t.signals) == 0 && t.target.Kind == model.GatewayTarget)
}

// serves reports whether requests of users pass through the target: those of a probe
// are its own, and neither GPUs nor what finds other targets have any.
func (t *looked) serves() bool {
	kind := t.target.Kind
	if t.about != nil {
		kind = cmp.Or(t.about.Kind, kind)
	}
	return kind != model.ProbeTarget && kind != model.GPUTarget && kind != model.FinderTarget
}

// called is the target's software.
func (t *looked) called() string {
	name := cmp.Or(t.about.Engine, "no engine that is known")
	if t.about.Version != "" {
		name += " " + t.about.Version
	}
	return name
}

// only is the one model of the target, "" where it has several.
func (t *looked) only() string {
	if len(t.about.Models) == 1 {
		return t.about.Models[0]
	}
	return ""
}

// carries reports whether any histogram has the label.
func (t *looked) carries(label string) bool {
	return slices.ContainsFunc(t.hists, func(h shownHist) bool { return h.labels.Get(label) != "" })
}

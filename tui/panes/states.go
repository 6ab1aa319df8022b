package panes

import (
	"fmt"

	"slotop/model"
	"slotop/themes"
)

// condition is what a row is in, worst first: rows sort by it.
type condition uint8

const (
	down condition = iota
	stalled
	stale
	breached
	partly
	atRisk
	undecided
	cannot
	starting
	met
	up
	quiet
	conditions
)

// conditionInfo is how a condition shows: always a mark and a word, so that it
// never depends on colour.
type conditionInfo struct {
	mark, ascii string
	word        string
	brief       string // in a narrow column; "": the word
	role        themes.Role
	means       string // for the help
}

var conditionTable = [conditions]conditionInfo{
	down:      {"✕", "x", "down", "", themes.Breach, "fails: refused, denied"},
	stalled:   {"■", "#", "STALLED", "", themes.Breach, "has work, none moves"},
	stale:     {"◌", "o", "no data", "", themes.Warn, "stale: no poll for 15 s"},
	breached:  {"▲", "!", "BREACHED", "", themes.Breach, "an objective is missed"},
	partly:    {"◐", "%", "part down", "", themes.Warn, "some targets are silent"},
	atRisk:    {"△", "^", "at risk", "", themes.Warn, "met, but not for long"},
	undecided: {"?", "?", "undecided", "", themes.Warn, "too few, or too coarse"},
	cannot:    {"-", "-", "cannot compute", "cannot", themes.Muted, "not exported"},
	starting:  {"…", ".", "starting", "", themes.Muted, "no answer or window yet"},
	met:       {"✓", "v", "met", "", themes.OK, "its objectives are met"},
	up:        {"●", "*", "up", "", themes.OK, "answers"},
	quiet:     {"○", "_", "no traffic", "idle", themes.Muted, "idle: nothing to do"},
}

// in is the word of a condition in w cells.
func (info conditionInfo) in(w int) string {
	if info.brief != "" && cells(info.word) > w {
		return info.brief
	}
	return info.word
}

// mark is the condition's sign.
func (k Look) mark(c condition) string {
	return k.pick(conditionTable[c].mark, conditionTable[c].ascii)
}

// hurts reports whether somebody must act.
func (c condition) hurts() bool { return c <= partly }

// conditionOf is what a target is in.
func conditionOf(t *model.TargetView) condition {
	switch t.State {
	case model.Down:
		return down
	case model.Stalled:
		return stalled
	case model.StaleAt:
		return stale
	case model.Up:
		return up
	case model.Idle:
		return quiet
	default:
		return starting
	}
}

// targetWord is the word of a target's state, as in the JSON.
func targetWord(c condition) string {
	switch c {
	case stale:
		return "stale"
	case quiet:
		return "idle"
	default:
		return conditionTable[c].word
	}
}

// workflowConditions translates the fold's word for a workflow.
var workflowConditions = map[model.Condition]condition{
	model.IsDown: down, model.IsStalled: stalled, model.IsStale: stale, model.IsMissed: breached, model.IsPartial: partly,
	model.IsAtRisk: atRisk, model.IsUndecided: undecided, model.IsBlind: cannot, model.IsStarting: starting, model.IsMet: met, model.IsQuiet: quiet,
}

// of is what a workflow is in. A word that is not known yet claims nothing.
func of(w *model.WorkflowView) condition {
	if c, ok := workflowConditions[w.Condition]; ok {
		return c
	}
	return starting
}

// word is the workflow's state in words, in that many cells if it can be.
func word(w *model.WorkflowView, room int) string {
	switch c := of(w); c {
	case partly:
		return fmt.Sprintf("%d of %d up", w.Replicas.Fresh, w.Replicas.Total)
	default:
		return conditionTable[c].in(room)
	}
}

// itl is the gap between two tokens. No objective bounds it, but a column or a chart
// shows it where TPOT is not exported.
const itl model.Metric = "itl"

// distOf is the distribution of a metric, ITL among them.
func distOf(w *model.WorkflowView, metric model.Metric) *model.Dist {
	if metric == itl {
		return w.ITL
	}
	return w.Latency(metric)
}

func signalOf(metric model.Metric) model.Signal {
	if metric == itl {
		return model.ITL
	}
	return metric.Signal()
}

// metricTitle is the word of a metric on screen.
func metricTitle(metric model.Metric) string {
	if metric == itl {
		return model.ITL.Title()
	}
	return metric.Title()
}

// objectiveFor is the objective on a metric, if there is one.
func objectiveFor(w *model.WorkflowView, metric model.Metric) (model.ObjectiveView, bool) {
	for _, o := range w.Objectives {
		if o.Metric == metric {
			return o, true
		}
	}
	return model.ObjectiveView{}, false
}

// tokenMetric is the metric per token that the workflow has: TPOT where the
// servers export it, else ITL, which is another thing and is labelled so.
func tokenMetric(w *model.WorkflowView) model.Metric {
	if w.TPOT == nil && w.ITL != nil {
		return itl
	}
	return model.MetricTPOT
}

// WorkflowOrder lists the names of the workflows as the overview shows them: in
// the frame's order, worst first.
func WorkflowOrder(f *model.Frame) []string {
	names := make([]string, len(f.Workflows))
	for i := range f.Workflows {
		names[i] = f.Workflows[i].Name
	}
	return names
}

// chosen is the place of the workflow under the cursor, of the worst one without
// a choice, -1 when there is none.
func chosen(f *model.Frame, look Look) int {
	for i := range f.Workflows {
		if look.View.Workflow == "" || f.Workflows[i].Name == look.View.Workflow {
			return i
		}
	}
	return min(len(f.Workflows), 1) - 1
}

// chosenOne is the workflow under the cursor, nil when there is none.
func chosenOne(f *model.Frame, look Look) *model.WorkflowView { return WorkflowUnder(f, look.View) }

// WorkflowUnder is the workflow under the cursor, the worst without a choice, nil
// when there is none.
func WorkflowUnder(f *model.Frame, v View) *model.WorkflowView {
	if i := chosen(f, Look{View: v}); i >= 0 {
		return &f.Workflows[i]
	}
	return nil
}

// openedWorkflow is the workflow that was opened, and no other in its place.
func openedWorkflow(f *model.Frame, v View) *model.WorkflowView {
	if w := WorkflowUnder(f, v); w != nil && (v.Workflow == "" || w.Name == v.Workflow) {
		return w
	}
	return nil
}

// Known reports whether any target ever answered well: before that there is
// nothing to show but what is being tried.
func Known(f *model.Frame) bool {
	for i := range f.Targets {
		if !f.Targets[i].LastGoodAt.IsZero() {
			return true
		}
	}
	return len(f.Workflows) > 0
}

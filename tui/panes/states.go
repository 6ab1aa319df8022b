package panes

import (
	"fmt"
	"slices"

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
	undecided
	cannot
	asking
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
	role        themes.Role
	means       string // for the help
}

var conditionTable = [conditions]conditionInfo{
	down:      {"✕", "x", "down", themes.Breach, "its polls fail"},
	stalled:   {"■", "#", "STALLED", themes.Breach, "work, and none of it moves"},
	stale:     {"◌", "o", "no data", themes.Warn, "no good poll for 15 s"},
	breached:  {"▲", "!", "BREACHED", themes.Breach, "an objective is missed"},
	partly:    {"◐", "%", "part down", themes.Warn, "some targets are silent"},
	undecided: {"?", "?", "undecided", themes.Warn, "too few, or too coarse"},
	cannot:    {"-", "-", "cannot compute", themes.Muted, "not exported"},
	asking:    {"…", ".", "asking", themes.Muted, "no answer or window yet"},
	met:       {"✓", "+", "met", themes.OK, "its objectives are met"},
	up:        {"●", "*", "up", themes.OK, "answers"},
	quiet:     {"○", "_", "no traffic", themes.Muted, "nothing runs or waits"},
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
		return asking
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

// judge is what a workflow is in.
func judge(w *model.WorkflowView) condition {
	if w.Replicas.Fresh == 0 && w.Replicas.Total > 0 || w.State == model.Stalled {
		if c := stateCondition(w.State); c <= stale || c == asking {
			return c
		}
	}
	c := verdictOf(w)
	if c > partly && w.Replicas.Fresh < w.Replicas.Total {
		return partly
	}
	return c
}

func stateCondition(s model.State) condition {
	return conditionOf(&model.TargetView{State: s})
}

// verdictOf folds the verdicts of the objectives into one: a missed one
// decides, then an undecided one; what cannot be computed speaks last.
func verdictOf(w *model.WorkflowView) condition {
	worst := asking
	for _, o := range w.Objectives {
		switch c := objectiveCondition(w, o); {
		case c == breached:
			return breached
		case c == undecided, worst == undecided:
			worst = undecided
		case c == met, worst == met:
			worst = met
		case c == quiet, worst == quiet:
			worst = quiet
		case c == cannot:
			worst = cannot
		}
	}
	return worst
}

func objectiveCondition(w *model.WorkflowView, o model.ObjectiveView) condition {
	switch o.Verdict {
	case model.Missed:
		return breached
	case model.Undecided:
		return undecided
	case model.Met:
		return met
	case model.NoData:
		return quiet
	default:
		if o.Metric != "" && distOf(w, o.Metric) == nil && !slices.Contains(w.Missing, signalOf(o.Metric)) {
			return asking
		}
		return cannot
	}
}

// word is the workflow's state in words.
func word(w *model.WorkflowView, c condition) string {
	switch c {
	case partly:
		return fmt.Sprintf("%d of %d up", w.Replicas.Fresh, w.Replicas.Total)
	case down:
		return "no data" // a workflow is not down, its targets are
	default:
		return conditionTable[c].word
	}
}

// distOf is the distribution that an objective speaks of.
func distOf(w *model.WorkflowView, metric string) *model.Dist {
	switch metric {
	case "ttft":
		return w.TTFT
	case "tpot":
		return w.TPOT
	case "itl":
		return w.ITL
	case "e2e":
		return w.E2E
	default:
		return nil
	}
}

func signalOf(metric string) model.Signal { return model.Signal(metric + "_seconds") }

// metricTitle is the word of a metric on screen.
func metricTitle(metric string) string { return signalTitle(signalOf(metric)) }

// objectiveFor is the objective on a metric, if there is one.
func objectiveFor(w *model.WorkflowView, metric string) (model.ObjectiveView, bool) {
	for _, o := range w.Objectives {
		if o.Metric == metric {
			return o, true
		}
	}
	return model.ObjectiveView{}, false
}

// tokenMetric is the metric per token that the workflow has: TPOT where the
// servers export it, else ITL, which is another thing and is labelled so.
func tokenMetric(w *model.WorkflowView) string {
	if w.TPOT == nil && w.ITL != nil {
		return "itl"
	}
	return "tpot"
}

// ranked is a workflow with its place.
type ranked struct {
	w    *model.WorkflowView
	cond condition
}

// rank orders the workflows worst first; equals keep the frame's order.
func rank(f *model.Frame) []ranked {
	var count [conditions + 1]int
	conds := make([]condition, len(f.Workflows))
	for i := range f.Workflows {
		conds[i] = judge(&f.Workflows[i])
		count[conds[i]+1]++
	}
	for c := 1; c < len(count); c++ {
		count[c] += count[c-1]
	}
	out := make([]ranked, len(conds))
	for i, c := range conds {
		out[count[c]] = ranked{&f.Workflows[i], c}
		count[c]++
	}
	return out
}

// Ranking is the order of a frame's workflows, worst first: made once a frame,
// because there may be fifty thousand of them.
type Ranking struct {
	frame *model.Frame
	rows  []ranked
}

// NewRanking ranks the workflows of a frame.
func NewRanking(f *model.Frame) *Ranking { return &Ranking{f, rank(f)} }

// ranked is the frame's workflows, worst first.
func (k Look) ranked(f *model.Frame) []ranked {
	if k.Ranking != nil && k.Ranking.frame == f {
		return k.Ranking.rows
	}
	return rank(f)
}

// WorkflowOrder lists the names of the workflows as the overview shows them.
func WorkflowOrder(f *model.Frame) []string {
	order := rank(f)
	names := make([]string, len(order))
	for i, r := range order {
		names[i] = r.w.Name
	}
	return names
}

// chosen is the workflow under the cursor, the worst one without a choice, nil
// when there is none.
func chosen(f *model.Frame, order []ranked, look Look) *model.WorkflowView {
	for i := range f.Workflows {
		if look.View.Workflow != "" && f.Workflows[i].Name == look.View.Workflow {
			return &f.Workflows[i]
		}
	}
	if len(order) > 0 {
		return order[0].w
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

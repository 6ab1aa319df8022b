package panes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// Rule is a horizontal rule between two panes, with a word where there is one to
// say. It is the first to go where room is short.
type Rule struct{ Kind RuleKind }

// RuleKind says what stands in a rule.
type RuleKind uint8

// A plain rule; the one above the workflows, which says where their objectives
// come from; the one above the load, which says whose it is and over what; the one
// below it, which holds what a reader of its numbers must know.
const (
	Plain RuleKind = iota
	AboveWorkflows
	AboveLoad
	BelowLoad
)

// Name names the pane.
func (Rule) Name() string { return "rule" }

// Want is one line. The rule that notes come to stands longest, with and without
// them: nothing jumps when one comes.
func (r Rule) Want(f *model.Frame, _ int, _ Look) layout.Want {
	drop := 9
	switch {
	case r.Kind == BelowLoad, r.Kind == AboveWorkflows && hasOrigins(f):
		drop = 7
	case r.Kind == AboveLoad:
		drop = 8
	}
	return layout.Want{Min: 1, Ideal: 1, Max: 1, Drop: drop}
}

// Render draws the rule.
func (r Rule) Render(f *model.Frame, size layout.Size, look Look) string {
	switch {
	case r.Kind == AboveWorkflows:
		return look.rule(size.W, nil, origins(f)...)
	case r.Kind == AboveLoad:
		if w := chosenOne(f, look); w != nil {
			return look.rule(size.W, []seg{{themes.Strong, "LOAD"}, {themes.Muted, " " + look.foreign(w.Name, 24)}},
				say(1, themes.Muted, "rates over "+look.span(time.Duration(f.WindowS*float64(time.Second)))))
		}
	case r.Kind == BelowLoad:
		if w := chosenOne(f, look); w != nil {
			if notes := remarks(f, w); len(notes) > 0 {
				const around = 11 // the rule's own cells and the label
				return look.rule(size.W, []seg{{themes.Warn, "note "}, {themes.Text, look.sentence(strings.Join(notes, "; "), size.W-around)}})
			}
		}
	}
	return look.rule(size.W, nil)
}

// remarks is what to know about a workflow's numbers: that some of them lie across
// a restart, and what the fold noticed.
func remarks(f *model.Frame, w *model.WorkflowView) []string {
	var out []string
	for i := range f.Targets {
		t := &f.Targets[i]
		if slices.Contains(w.Targets, t.Name) && acrossRestart(f, t) {
			out = append(out, "figures span a restart at "+hms(t.RestartedAt))
			break
		}
	}
	return append(out, w.Notes...)
}

// acrossRestart reports whether a target restarted within the window.
func acrossRestart(f *model.Frame, t *model.TargetView) bool {
	return !t.RestartedAt.IsZero() && f.At.Sub(t.RestartedAt).Seconds() < f.WindowS
}

// hasOrigins reports whether origins says anything.
func hasOrigins(f *model.Frame) bool {
	return slices.ContainsFunc(f.Workflows, func(w model.WorkflowView) bool { return w.AssumedObjectives }) || lifetime(f)
}

// origins is what to know of the table's numbers: that some cover more than the
// window, and that nobody set some of the objectives.
func origins(f *model.Frame) []part {
	var out []part
	if lifetime(f) {
		out = append(out, say(1, themes.Warn, sinceStart+" since the server started"))
	}
	n := 0
	for i := range f.Workflows {
		if f.Workflows[i].AssumedObjectives {
			n++
		}
	}
	switch all := len(f.Workflows); {
	case n > 0 && n == all:
		out = append(out, say(2, themes.Muted, "objectives are assumed"))
	case n > 0:
		out = append(out, say(2, themes.Muted, fmt.Sprintf("objectives of %d of %d are assumed", n, all)))
	}
	return out
}

// lifetime reports whether a percentile covers more than the window.
func lifetime(f *model.Frame) bool {
	for i := range f.Workflows {
		w := &f.Workflows[i]
		for _, d := range []*model.Dist{w.TTFT, w.TPOT, w.ITL, w.E2E} {
			if d != nil && d.N > 0 && d.Basis == model.SinceStart {
				return true
			}
		}
	}
	return false
}

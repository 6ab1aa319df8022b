package panes

import (
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// budgets is a row for each workflow that has an error budget: how fast it goes
// and what is left.
func (s *sheet) budgets(f *model.Frame) {
	var rows []*model.WorkflowView
	n, longest := 0, 0
	for i := range f.Workflows {
		w := &f.Workflows[i]
		if w.Budget == nil {
			continue
		}
		n++
		if len(rows) < maxListed {
			rows = append(rows, w)
			longest = max(longest, cells(unit.Escape(w.Name, s.look.ASCII)))
		}
	}
	if n == 0 {
		return
	}
	s.rule("ERROR BUDGETS", say(1, themes.Muted, "burn 1 spends what is allowed"))
	t := fit(budgetColumns(longest, s.w), s.w-1)
	s.out = append(s.out, t.head(s.look))
	for _, w := range rows {
		s.out = append(s.out, t.row(w, of(w), false, s.look))
	}
	s.more(n - len(rows))
}

func budgetColumns(longest, w int) []column[*model.WorkflowView] {
	burn := func(title, topic string, drop int, of func(model.Burn) model.Reading) column[*model.WorkflowView] {
		return column[*model.WorkflowView]{title: title, min: 6, drop: drop, about: workflowAbout(topic), draw: func(r *model.WorkflowView, _ int, k Look) cell {
			return k.burnCell(of(r.Budget.Burn))
		}}
	}
	return quietRest([]column[*model.WorkflowView]{
		{title: "WORKFLOW", min: leastName(longest, w, 10), max: nameWidth(longest), left: true, about: workflowAbout("row.workflow"), draw: drawName},
		{title: "GOODPUT", min: 8, drop: 5, about: workflowAbout("goodput"), draw: func(r *model.WorkflowView, _ int, k Look) cell { return k.goodput(r) }},
		{title: "OF", min: 7, drop: 6, about: workflowAbout("target"), draw: func(r *model.WorkflowView, _ int, _ Look) cell {
			return cell{themes.Muted, unit.Promised(r.Promised.Share)}
		}},
		burn("2 MIN", "burn.2m", 4, func(b model.Burn) model.Reading { return b.M2 }),
		burn("5 MIN", "burn.5m", 0, func(b model.Burn) model.Reading { return b.M5 }),
		burn("30 MIN", "burn.30m", 3, func(b model.Burn) model.Reading { return b.M30 }),
		{title: "LEFT", min: 6, about: workflowAbout("budget"), draw: func(r *model.WorkflowView, _ int, k Look) cell { return k.left(r.Budget) }},
		{title: "GONE IN", min: 7, about: workflowAbout("budget.exhausted_in"), draw: drawGone},
		{title: "SEEN", min: 13, drop: 7, about: workflowAbout("budget.seen"), draw: drawSeen},
		{title: "BAD", min: 4, drop: 8, about: workflowAbout("budget.bad"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.count(r.Budget.Bad, w) }},
		{title: "ALLOWED", min: 7, drop: 8, about: workflowAbout("budget.allowed"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.count(r.Budget.Allowed, w) }},
		{title: "", min: 22, drop: 9, left: true, draw: func(r *model.WorkflowView, w int, k Look) cell {
			return cell{themes.Text, k.sentence(string(r.Budget.Text), w)}
		}},
	})
}

// spent reports whether nothing is left of a budget.
func spent(b *model.BudgetView) bool { return b.Remaining.OK() && b.Remaining.Value <= 0 }

// goneIn is when nothing will be left of a budget at the present burn. What lasts
// longer than its period lasts for good: what is older leaves the period.
func goneIn(b *model.BudgetView) model.Reading {
	if spent(b) || b.ExhaustedIn.Value > b.PeriodS {
		return model.Reading{}
	}
	return b.ExhaustedIn
}

// outlasts reports whether a budget is known to outlast its period at the present burn.
func outlasts(b *model.BudgetView) bool {
	return b != nil && b.Burn.M5.OK() && b.Remaining.OK() && !spent(b) && !goneIn(b).OK()
}

func drawGone(r *model.WorkflowView, w int, look Look) cell {
	b := r.Budget
	switch v, ok := goneIn(b).Get(); {
	case spent(b):
		return cell{themes.Breach, "gone"}
	case ok:
		return cell{themes.Text, unit.DurationShort(v)}
	case outlasts(b):
		return cell{themes.Muted, ">" + unit.Period(b.PeriodS)}
	default:
		return look.absent(model.Unknown, w)
	}
}

// drawSeen is how much of the period slotop was there to see.
func drawSeen(r *model.WorkflowView, _ int, look Look) cell {
	b := r.Budget
	return cell{themes.Muted, look.age(seconds(b.ObservedS)) + " of " + unit.Period(b.PeriodS)}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

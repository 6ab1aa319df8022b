package panes

import (
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Alert is one alert, opened: its times and numbers, the targets it speaks for,
// and what it did before.
type Alert struct{ wholeScreen }

// Name names the pane.
func (Alert) Name() string { return "alert" }

// Render draws the lines from View.Scroll on.
func (Alert) Render(f *model.Frame, size layout.Size, look Look) string {
	return scrolled(alertPage(f, size.W, look), look.View.Scroll, size, look)
}

// Scroll is how far the page can be scrolled.
func (Alert) Scroll(f *model.Frame, size layout.Size, look Look) int {
	return scrollable(len(alertPage(f, size.W, look)), size)
}

func alertPage(f *model.Frame, w int, look Look) []string {
	a := openedAlert(f, look.View)
	if a == nil {
		return []string{look.line(w).pad(1).put(themes.Muted, "this alert is over: esc goes back").String()}
	}
	s := &sheet{w: w, look: look}
	k := alertLookOf(a)
	title := []seg{{k.role, look.pick(k.mark, k.ascii) + " " + string(a.State)}, {themes.Strong, " " + look.foreign(a.Rule, 30)}}
	if about := subject(a.Workflow, a.Target, a.Members); about != "" {
		title = append(title, seg{themes.Text, " of "}, seg{themes.Strong, look.foreign(about, 40)})
	}
	s.out = append(s.out, look.rule(w, title, say(1, themes.Muted, "UTC")))
	s.prose("", themes.Text, a.Text)
	s.facts("severity", say(0, themes.Text, string(a.Severity)), say(0, themes.Muted, severityText(a)))
	s.facts("times", s.times(f, a)...)
	s.facts("", s.remarks(f, a)...)
	s.members(f, a)
	if i := slices.IndexFunc(f.Workflows, func(w model.WorkflowView) bool { return w.Name == string(a.Workflow) }); i >= 0 {
		s.goodput(f.Workflows[i].Name, f.Workflows[i].Goodput)
		s.objectives(&f.Workflows[i])
	}
	var own []model.AlertEvent
	for _, e := range f.AlertLog {
		if e.ID == a.ID {
			own = append(own, e)
		}
	}
	s.log(f, own, false)
	return s.out
}

// openedAlert is the alert that was opened, and no other in its place.
func openedAlert(f *model.Frame, v View) *model.AlertView {
	if a := AlertUnder(f, v); a != nil && a.ID == v.Alert {
		return a
	}
	return nil
}

func severityText(a *model.AlertView) string {
	switch {
	case a.Acknowledged:
		return "acknowledged: it no longer calls"
	case a.Severity == model.Page && a.Rule == "gpu-lost":
		return "what ran on it is gone"
	case a.Severity == model.Page:
		return "users are hurt"
	case a.Severity == model.Warn:
		return "needs a look"
	default:
		return "to be known"
	}
}

// members lists the targets that one alert speaks for, each with its state now.
func (s *sheet) members(f *model.Frame, a *model.AlertView) {
	if len(a.Members) == 0 {
		return
	}
	if memberWord(f, a) == "GPU" {
		s.lostGPUs(f, a)
		return
	}
	s.rule("TARGETS", say(1, themes.Muted, plural(len(a.Members), "target")))
	byName := make(map[string]*model.TargetView, len(f.Targets))
	for i := range f.Targets {
		byName[f.Targets[i].Name] = &f.Targets[i]
	}
	longest := 0
	for _, name := range a.Members {
		longest = max(longest, cells(unit.Escape(name, s.look.ASCII)))
	}
	wide := min(nameWidth(longest), max(s.w-24, 8))
	for _, name := range a.Members {
		l := s.look.line(s.w).pad(1)
		t := byName[name]
		if t == nil {
			s.out = append(s.out, l.pad(indent).put(themes.Gone, s.look.foreign(name, wide)).pad(indent+wide+2).put(themes.Muted, "no longer watched").String())
			continue
		}
		c := conditionOf(t)
		l.put(conditionTable[c].role, s.look.mark(c)).pad(indent).put(themes.Strong, s.look.foreign(name, wide)).
			pad(indent+wide+2).put(conditionTable[c].role, targetWord(c))
		if !t.Since.IsZero() {
			l.put(themes.Muted, " since "+when(t.Since, f.At))
		}
		if t.Fault != nil {
			l.put(themes.Text, "  "+t.Fault.Kind.Word())
		}
		s.out = append(s.out, l.String())
	}
}

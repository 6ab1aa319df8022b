package panes

import (
	"fmt"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Strip is one line of alerts: those that fire or are about to, as far as the
// headline does not say it already. Acknowledged ones are quiet.
type Strip struct{}

// Name names the pane.
func (Strip) Name() string { return "strip" }

// Want is one line where there is something to say. Below a cause it gives way to the
// chart that proves it.
func (Strip) Want(f *model.Frame, w int, _ Look) layout.Want {
	n, drop := 0, 2
	if len(stripAlerts(f)) > 0 || lately(f) != nil {
		n = 1
	}
	if explained(f) || maxHeadlines(f, w) > plainLines {
		drop = 6
	}
	return layout.Want{Min: n, Ideal: n, Max: n, Drop: drop}
}

// Render says the first alert in full and counts the others.
func (Strip) Render(f *model.Frame, size layout.Size, look Look) string {
	if size.H <= 0 {
		return ""
	}
	l := look.line(size.W - 1).pad(1)
	list := stripAlerts(f)
	if len(list) == 0 {
		if a := lately(f); a != nil {
			return l.parts(3, back(a, look)).String()
		}
		return ""
	}
	a := list[0]
	head := part{segs: alertHead(a, look)}
	if size.W >= narrow {
		head.segs = append(head.segs, seg{themes.Muted, ", since " + unit.ClockMinute(a.Since, look.ASCII)})
	}
	var rest []part
	if n := len(list) - 1; n > 0 {
		rest = append(rest, say(1, themes.Warn, fmt.Sprintf("+ %d more", n)))
	}
	room := l.max - l.w
	if len(rest) > 0 {
		room -= rest[0].width() + 3
	}
	return l.parts(3, append([]part{cutPart(head, room, look)}, rest...)...).String()
}

// cutPart shortens the longest segment of a part to make it fit.
func cutPart(p part, w int, look Look) part {
	over := p.width() - max(w, 8)
	if over <= 0 {
		return p
	}
	long := 0
	for i := range p.segs {
		if cells(p.segs[i].text) > cells(p.segs[long].text) {
			long = i
		}
	}
	p.segs[long].text = look.shorter(p.segs[long].text, max(cells(p.segs[long].text)-over, 1))
	return p
}

// active reports whether an alert fires or is about to and nobody has taken it.
func active(a *model.AlertView) bool {
	return (a.State == model.AlertFiring || a.State == model.AlertPending) && !a.Acknowledged
}

// Firing counts the alerts that fire, want something and that nobody has taken.
func Firing(f *model.Frame) int {
	n := 0
	for i := range f.Alerts {
		if a := &f.Alerts[i]; a.State == model.AlertFiring && !a.Acknowledged && a.Severity != model.Note {
			n++
		}
	}
	return n
}

// stripAlerts are the active ones that the headline does not say.
func stripAlerts(f *model.Frame) []*model.AlertView {
	var out []*model.AlertView
	for i := range f.Alerts {
		if a := &f.Alerts[i]; active(a) && a.Cause == "" && !told(f, a) {
			out = append(out, a)
		}
	}
	return out
}

// told reports whether the headline says what the alert says: that the workflow
// it names hurts or is about to, or targets whose trouble it counts. GPUs, and those
// that tell of them, are none of these.
func told(f *model.Frame, a *model.AlertView) bool {
	if len(f.Workflows) > 0 && string(a.Workflow) == f.Workflows[0].Name && a.Workflow != "" && of(&f.Workflows[0]) <= atRisk {
		return true
	}
	names := a.Members
	if len(names) == 0 && a.Target != "" {
		names = []string{string(a.Target)}
	}
	if len(names) == 0 || a.Workflow != "" || explained(f) || len(first(f, Look{})) >= plainLines {
		return false
	}
	counted := map[string]bool{}
	for _, t := range servers(f) {
		counted[t.Name] = conditionOf(t) <= stale
	}
	return !slices.ContainsFunc(names, func(n string) bool { return !counted[n] })
}

// lately is the page that was resolved last, for as long as that is news.
func lately(f *model.Frame) *model.AlertView {
	var last *model.AlertView
	for i := range f.Alerts {
		a := &f.Alerts[i]
		if a.State != model.AlertResolved || !Rings(a) || f.At.Sub(a.ResolvedAt) > news {
			continue
		}
		if last == nil || a.ResolvedAt.Mono > last.ResolvedAt.Mono {
			last = a
		}
	}
	return last
}

// news is how long a recovery stands on the overview.
const news = time.Minute

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
)

// matchText is a match in one row.
func matchText(m model.Match) string {
	var parts []string
	for _, own := range []struct{ key, pattern string }{
		{"workflow", m.Workflow}, {"model", m.Model}, {"adapter", m.Adapter}, {"target", m.Target},
	} {
		if own.pattern != "" {
			parts = append(parts, own.key+": "+scalar(own.pattern))
		}
	}
	if len(m.Labels) > 0 {
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
			labels = append(labels, scalar(name)+": "+scalar(m.Labels[name]))
		}
		parts = append(parts, "labels: {"+strings.Join(labels, ", ")+"}")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// promiseText is a promise in one row.
func promiseText(w *model.WorkflowSpec) string {
	var parts []string
	for _, o := range w.Objectives {
		parts = append(parts, string(o.Metric)+": "+secondsText(o.MaxS))
	}
	parts = append(parts, "objective: "+shareText(w.Share), "period: "+secondsText(w.PeriodS))
	if w.DeadlineS > 0 {
		parts = append(parts, "deadline: "+secondsText(w.DeadlineS))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// secondsText is a time in seconds as a configuration has it; whole days as such.
func secondsText(s float64) string {
	const day = 24 * time.Hour
	d := time.Duration(s * float64(time.Second))
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return spanText(d)
}

func shareText(share float64) string {
	return strings.ReplaceAll(unit.Promised(share), " ", "")
}

// alerts writes how alerts behave, and who is told. Of receivers the address is not
// shown, nor what a program is started with: either may hold a key.
func (p *showing) alerts(a *fileAlerts) {
	section := child(p.root, "alerts")
	origin := func(key string) string {
		if n := child(section, key); n != nil {
			return p.line(n)
		}
		return "default"
	}
	grace := defaultGrace
	if a.Grace != nil {
		grace = time.Duration(*a.Grace)
	}
	p.value("", "alerts", "", "")
	p.value("  ", "grace", spanText(grace), origin("grace"))
	if a.IdleClear != 0 {
		p.value("  ", "idle_clear", spanText(time.Duration(a.IdleClear)), origin("idle_clear"))
	}
	p.value("  ", "bell", fmt.Sprint(a.Bell == nil || *a.Bell), origin("bell"))
	p.value("  ", "title", fmt.Sprint(a.Title == nil || *a.Title), origin("title"))
	p.value("  ", "desktop", fmt.Sprint(a.Desktop), origin("desktop"))
	p.value("  ", "progress", fmt.Sprint(a.progress()), origin("progress"))
	p.value("  ", "dry_run", fmt.Sprint(a.DryRun), origin("dry_run"))
	places := rows(child(section, "rules"))
	for i := range a.Rules {
		if i == 0 {
			p.value("  ", "rules", "", "")
		}
		p.b.WriteString(besides("    - "+ruleText(&a.Rules[i]), p.line(places[i])))
	}
	places = rows(child(section, "send"))
	for i := range a.Send {
		if i == 0 {
			p.value("  ", "send", "", "")
		}
		p.b.WriteString(besides("    - "+senderText(&a.Send[i]), p.line(places[i])))
	}
}

// ruleText is a rule in one row.
func ruleText(r *fileRule) string {
	parts := []string{"name: " + scalar(r.Name), "signal: " + r.Signal}
	for _, bound := range []struct {
		key string
		v   *level
	}{{"over", r.Over}, {"under", r.Under}, {"clear", r.Clear}} {
		if bound.v != nil {
			parts = append(parts, fmt.Sprintf("%s: %g", bound.key, float64(*bound.v)))
		}
	}
	for _, t := range []struct {
		key string
		v   delay
	}{{"for", r.For}, {"hold", r.Hold}} {
		if t.v != 0 {
			parts = append(parts, t.key+": "+spanText(time.Duration(t.v)))
		}
	}
	if r.Workflow != "" {
		parts = append(parts, "workflow: "+scalar(r.Workflow))
	}
	if r.Target != "" {
		parts = append(parts, "target: "+scalar(r.Target))
	}
	if r.Severity != "" {
		parts = append(parts, "severity: "+string(r.Severity))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// hidden stands for what may hold a key.
const hidden = "<secret>"

// senderText is a receiver in one row.
func senderText(s *fileSender) string {
	var parts []string
	if s.Name != "" {
		parts = append(parts, "name: "+scalar(s.Name))
	}
	switch {
	case s.Exec != nil:
		arguments := ""
		if len(s.Exec) > 1 {
			arguments = ", " + hidden
		}
		parts = append(parts, "exec: ["+scalar(s.Exec[0])+arguments+"]")
	case s.Webhook != nil:
		parts = append(parts, "webhook: "+hidden)
	default:
		parts = append(parts, "alertmanager: "+hidden)
	}
	if s.Severity != "" {
		parts = append(parts, "severity: "+string(s.Severity))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

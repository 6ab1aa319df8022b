package report

import (
	"fmt"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// alerts are those that are not over, one a line or more, most urgent first.
func (p *page) alerts(alerts []model.AlertView) {
	if len(alerts) == 0 {
		return
	}
	p.line("")
	for i := range alerts {
		p.alert(&alerts[i], causeOf(&alerts[i], alerts))
	}
}

// causeOf names the alert that explains another: which rule, of whom.
func causeOf(a *model.AlertView, alerts []model.AlertView) string {
	for i := range alerts {
		if c := &alerts[i]; a.Cause != "" && c.ID == model.AlertID(a.Cause) {
			return strings.TrimSpace(c.Rule + " " + string(c.Workflow) + string(c.Target))
		}
	}
	return string(a.Cause)
}

func (p *page) alert(a *model.AlertView, cause string) {
	pieces := []string{strings.Join(p.words(string(a.Severity), string(a.State), a.Rule, string(a.Workflow), unsaid(a.Target, a.Text)), " ")}
	if !a.Since.IsZero() {
		pieces = append(pieces, "since "+p.zoned(a.Since)+" ("+unit.Duration(p.at.Sub(a.Since).Seconds())+" ago)")
	}
	if !a.ResolvedAt.IsZero() {
		pieces = append(pieces, "until "+p.zoned(a.ResolvedAt))
	}
	if a.Times > 1 {
		pieces = append(pieces, fmt.Sprintf("%d times", a.Times))
	}
	if a.Stale {
		pieces = append(pieces, "no new data")
	}
	if a.Acknowledged {
		pieces = append(pieces, "acknowledged")
	}
	if len(a.Members) > 0 {
		pieces = append(pieces, plural(len(a.Members), "target"))
	}
	if cause != "" {
		pieces = append(pieces, "because of "+p.safe(cause))
	}
	text := strings.Join(pieces, ", ")
	if a.Text != "" {
		text += ": " + p.safe(a.Text)
	}
	p.sentence("ALERT   ", text)
}

// unsaid is the target of an alert, "" where its sentence begins with it.
func unsaid(target model.Text, text string) string {
	if strings.HasPrefix(text, string(target)) {
		return ""
	}
	return string(target)
}

// words are the texts that are not empty, safe to print.
func (p *page) words(texts ...string) []string {
	var out []string
	for _, s := range texts {
		if s != "" {
			out = append(out, p.safe(s))
		}
	}
	return out
}

// zoned is a time of day with its zone.
func (p *page) zoned(t model.Instant) string { return unit.Clock(t, p.ascii) + " UTC" }

// cannotEvaluate lists what is neither well nor firing.
func (p *page) cannotEvaluate(rules []model.Unjudged) {
	if len(rules) == 0 {
		return
	}
	p.line("")
	for _, u := range rules {
		p.sentence("CANNOT EVALUATE  ", strings.Join(p.words(u.Rule, string(u.Workflow), string(u.Target)), " ")+": "+p.safe(u.Why))
	}
}

// maxLog is how many steps of alerts the text shows; the JSON has all.
const maxLog = 20

// history is what became of alerts, newest first; older steps that were dropped
// are only counted.
func (p *page) history(log []model.AlertEvent, dropped int) {
	if len(log) == 0 {
		return
	}
	p.line("")
	for _, e := range log[:min(len(log), maxLog)] {
		words := p.words(string(e.State), string(e.Severity), e.Rule, string(e.Workflow), unsaid(e.Target, e.Text))
		if e.Times > 1 {
			words = append(words, fmt.Sprintf("(%d times)", e.Times))
		}
		p.sentence("LOG     "+p.zoned(e.At)+"  ", strings.Join(words, " ")+": "+p.safe(e.Text))
	}
	if more := max(0, len(log)-maxLog) + dropped; more > 0 {
		p.line(fmt.Sprintf("LOG     %d more before", more))
	}
}

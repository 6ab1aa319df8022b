package report

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/paper"
	"slotop/model/story"
	"slotop/model/unit"
)

// maxMoments bounds the timeline.
const maxMoments = 150

// moment is a line of the timeline.
type moment struct {
	at   model.Instant
	what string
	who  string
	text string
	tone paper.Tone
}

// timeline is all that happened, in the order in which it did.
func (d *dossier) timeline() paper.Block {
	all := slices.Concat(d.breachMoments(), d.alertMoments(), d.findingMoments(), d.eventMoments(), d.gapMoments())
	slices.SortStableFunc(all, func(a, b moment) int { return int(a.at.Sub(b.at).Milliseconds()) })
	left := 0
	if n := len(all) - maxMoments; n > 0 {
		all, left = all[:maxMoments], n
	}
	t := paper.Table{Caption: "Times of day are UTC", Columns: []paper.Column{{Head: "Time"}, {Head: "What"}, {Head: "Who"}, {Head: "In words", Wide: true}}}
	for _, m := range all {
		t.Rows = append(t.Rows, paper.Row{Cells: []paper.Text{paper.T(d.time(m.at)), paper.Toned(m.what, m.tone), paper.T(m.who), paper.T(m.text)}})
	}
	body := []paper.Block{t}
	if len(all) == 0 {
		body = []paper.Block{paper.Para{Text: paper.T("Nothing happened that slotop marks.")}}
	}
	if left += d.s.Left.Events; left > 0 {
		body = append(body, paper.Para{Text: paper.Toned(unit.Integer(float64(left))+" later entries are left out.", paper.Quiet)})
	}
	return paper.Section{Title: "Timeline", Body: body}
}

func (d *dossier) breachMoments() (out []moment) {
	for i := range d.s.Breaches {
		b := &d.s.Breaches[i]
		text := ""
		if o := missedMost(&b.Worst); o != nil {
			text = o.Metric.Title() + " " + unit.Limit(o.MaxS) + " for " + unit.Promised(o.Target)
		}
		out = append(out, moment{b.From, "breach begins", b.Workflow, text, paper.Breach})
		if !b.Open {
			out = append(out, moment{b.To, "breach ends", b.Workflow, "after " + unit.Duration(b.Lasted().Seconds()), paper.Good})
		}
	}
	return out
}

func (d *dossier) alertMoments() (out []moment) {
	for i := range d.s.Alerts {
		e := &d.s.Alerts[i]
		if !e.Fired {
			continue
		}
		a := &e.Alert
		tone := paper.Warn
		if a.Severity == model.Page {
			tone = paper.Breach
		}
		who := strings.Join(words(string(a.Workflow), string(a.Target)), " ")
		out = append(out, moment{a.FiredAt, string(a.Severity) + " fires", who, a.Rule + ": " + e.Said, tone})
		if !e.Ended.IsZero() {
			out = append(out, moment{e.Ended, string(a.Severity) + " resolved", who, a.Rule, paper.Good})
		}
	}
	return out
}

func (d *dossier) findingMoments() (out []moment) {
	for i := range d.s.Findings {
		h := &d.s.Findings[i]
		if h.Finding.Layer != model.LayerCause {
			continue
		}
		who := strings.Join(words(string(h.Finding.Workflow), string(h.Finding.Target)), " ")
		out = append(out, moment{h.First(), "cause found", who, h.Finding.ID + " " + h.Said, paper.Plain})
		if !h.Open() {
			out = append(out, moment{h.Last(), "cause gone", who, h.Finding.ID + " " + h.Finding.Title, paper.Plain})
		}
	}
	return out
}

// eventWords are the events that no other source of the timeline tells.
var eventWords = []struct {
	kind model.EventKind
	word string
}{
	{model.EventRestart, "restart"}, {model.EventStage, "stage"}, {model.EventIncident, "incident begins"},
	{model.EventRecovery, "incident ends"}, {model.EventDeploy, "deployment"},
}

func (d *dossier) eventMoments() (out []moment) {
	for i := range d.s.Events {
		e := &d.s.Events[i]
		for _, row := range eventWords {
			if row.kind != e.Kind || e.Kind == model.EventStage && string(e.Target) == d.from.Whole {
				continue
			}
			m := moment{at: e.At, what: row.word, who: string(e.Workflow), text: string(e.Target)}
			if e.Kind == model.EventRestart {
				m.who, m.text, m.tone = string(e.Target), "its counters begin anew", paper.Warn
			}
			out = append(out, m)
		}
	}
	return out
}

func (d *dossier) gapMoments() (out []moment) {
	for i := range d.s.Gaps {
		g := &d.s.Gaps[i]
		out = append(out, moment{g.From, gapWord(g), g.Target, gapText(g), paper.Warn})
	}
	return out
}

func gapWord(g *story.Gap) string {
	switch {
	case g.Kind == story.GapClock:
		return "clock set"
	case g.Kind == story.GapPause:
		return "nothing polled"
	case g.Fault != "":
		return g.Fault.Word()
	default:
		return "silent"
	}
}

func gapText(g *story.Gap) string {
	if g.Kind == story.GapClock {
		return "the wall clock was set by " + unit.Duration(g.Lasted().Seconds())
	}
	text := "for " + lasted(g.Lasted().Seconds(), g.Open)
	if g.Why != "" {
		text += ": " + g.Why
	}
	return text
}

// maxAlertRows bounds the table of alerts.
const maxAlertRows = 60

// alertTable is every alert that fired, and how many only began to.
func (d *dossier) alertTable() []paper.Block {
	t := paper.Table{Caption: "Alerts that fired, oldest first", Columns: []paper.Column{
		{Head: "Rule"}, {Head: "Severity"}, {Head: "Who"}, {Head: "Pending"}, {Head: "Fired"}, {Head: "Resolved"}, {Head: "Fired for", Right: true}, {Head: "Times", Right: true},
		{Head: "At its worst", Wide: true},
	}}
	pending := 0
	for i := range d.s.Alerts {
		e := &d.s.Alerts[i]
		switch {
		case !e.Fired:
			pending++
		case len(t.Rows) < maxAlertRows:
			t.Rows = append(t.Rows, d.alertRow(e))
		}
	}
	if len(t.Rows) == 0 && pending == 0 {
		return nil
	}
	var body []paper.Block
	if len(t.Rows) > 0 {
		body = append(body, t)
	}
	if pending > 0 {
		body = append(body, paper.Para{Text: paper.Toned(fmt.Sprintf("%s began and did not last long enough to fire.", plural(pending, "alert")), paper.Quiet)})
	}
	if n := d.s.Left.Alerts; n > 0 {
		body = append(body, paper.Para{Text: paper.Toned(plural(n, "alert")+" more: there was no room to remember them.", paper.Quiet)})
	}
	return []paper.Block{paper.Section{Title: "Alerts", Body: body}}
}

func (d *dossier) alertRow(e *story.Episode) paper.Row {
	a := &e.Alert
	resolved := paper.Toned("still firing", paper.Breach)
	if !e.Ended.IsZero() {
		resolved = paper.T(d.time(e.Ended))
	}
	text := a.Text
	if v, ok := a.Peak.Get(); ok {
		text = "peak " + unit.Measured(v, a.Unit) + ": " + text
	}
	return paper.Row{Cells: []paper.Text{
		paper.T(a.Rule), paper.T(string(a.Severity)), paper.T(strings.Join(words(string(a.Workflow), string(a.Target)), " ")),
		paper.T(d.time(a.Since)), paper.T(d.time(a.FiredAt)), resolved,
		paper.T(lasted(e.Until(d.s.Last.At).Sub(a.FiredAt).Seconds(), e.Ended.IsZero())), paper.T(unit.Integer(float64(a.Times))),
		paper.T(text),
	}}
}

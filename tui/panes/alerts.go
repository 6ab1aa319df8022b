package panes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Alerts is what was found, every alert that is not inactive, most urgent first,
// what cannot be evaluated, the budgets, and what happened before.
type Alerts struct{ wholeScreen }

// Name names the pane.
func (Alerts) Name() string { return "alerts" }

// Render draws the lines around the cursor; View.Scroll goes on from there.
func (Alerts) Render(f *model.Frame, size layout.Size, look Look) string {
	s, at := alertLines(f, size.W, look)
	return scrolled(s.out, toCursor(s.out, at, size)+look.View.Scroll, size, look)
}

// Scroll is how far the page can be scrolled beyond its cursor.
func (Alerts) Scroll(f *model.Frame, size layout.Size, look Look) int {
	s, at := alertLines(f, size.W, look)
	return max(scrollable(len(s.out), size)-toCursor(s.out, at, size), 0)
}

// toCursor is how far a page must be scrolled to show all lines up to at.
func toCursor(all []string, at int, size layout.Size) int {
	if scrollable(len(all), size) == 0 {
		return 0
	}
	return max(at-(size.H-2), 0)
}

// alertLines is the whole page, and the last line of the row under the cursor.
func alertLines(f *model.Frame, w int, look Look) (s *sheet, at int) {
	s = &sheet{w: w, look: look}
	if diagnosed(f) {
		at = s.diagnoses(f)
	}
	s.out = append(s.out, look.rule(w, alertTitle(f, look), say(1, themes.Muted, "UTC")))
	under := AlertUnder(f, look.View)
	if FindingUnder(f, look.View) != nil {
		under = nil
	}
	from, to := aroundAlert(f, under)
	s.more(from)
	for i := range f.Alerts[from:to] {
		a := &f.Alerts[from+i]
		s.alert(f, a, a == under)
		if a == under {
			at = len(s.out) - 1
		}
	}
	s.more(len(f.Alerts) - to)
	if len(f.Alerts) == 0 {
		s.text(indent, themes.Muted, noAlert(f))
		s.howToAlert(f)
	}
	s.unjudged(f)
	s.budgets(f)
	s.deliveries(look.View.Outbox)
	s.happened(f)
	s.log(f, f.AlertLog, true)
	if f.LogDropped > 0 {
		s.text(indent, themes.Muted, unit.Integer(float64(f.LogDropped))+" older ones are no longer kept")
	}
	return s, at
}

// nearby is how many alerts on either side of the one under the cursor are drawn:
// more than any screen shows, and of thousands few enough for every key to answer.
const nearby = 150

// aroundAlert is which alerts are drawn, all of them where they are few.
func aroundAlert(f *model.Frame, under *model.AlertView) (from, to int) {
	at := slices.IndexFunc(f.Alerts, func(a model.AlertView) bool { return under != nil && a.ID == under.ID })
	return max(0, at-nearby), min(len(f.Alerts), max(at, 0)+nearby)
}

// alertTitle counts the alerts by state.
func alertTitle(f *model.Frame, look Look) []seg {
	counts := map[alertLook]int{}
	for i := range f.Alerts {
		counts[alertLookOf(&f.Alerts[i])]++
	}
	title := []seg{{themes.Strong, "ALERTS"}}
	for _, a := range alertLooks {
		if n := counts[a]; n > 0 {
			title = append(title, seg{themes.Text, "  "}, seg{a.role, look.pick(a.mark, a.ascii) + fmt.Sprintf("%d %s", n, a.word)})
		}
	}
	return title
}

// noAlert says what an empty list stands for.
func noAlert(f *model.Frame) string {
	text := "no alert"
	switch {
	case f.Rules == 0:
		text += ", and no rule watches yet"
	default:
		text += "; " + plural(f.Rules, "rule") + verb(f.Rules, " watches ", " watch ") + plural(len(f.Workflows), "workflow")
	}
	if n := len(f.Unjudged); n > 0 {
		text += fmt.Sprintf("; %d cannot be evaluated", n)
	}
	return text
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// alertLook is how a group of alerts shows: a mark and a word.
type alertLook struct {
	mark, ascii, word string
	role              themes.Role
}

// alertLooks lists them, most urgent first.
var alertLooks = [...]alertLook{
	{"▲", "!", "firing", themes.Breach},
	{"△", "^", "warning", themes.Warn},
	{"◆", "*", "noted", themes.Text},
	{"◇", "~", "pending", themes.Warn},
	{"?", "?", "unknown", themes.Muted},
	{"✓", "v", "resolved", themes.OK},
}

func alertLookOf(a *model.AlertView) alertLook {
	switch {
	case a.State == model.AlertFiring && a.Severity == model.Page:
		return alertLooks[0]
	case a.State == model.AlertFiring && a.Severity == model.Warn:
		return alertLooks[1]
	case a.State == model.AlertFiring:
		return alertLooks[2]
	case a.State == model.AlertPending:
		return alertLooks[3]
	case a.State == model.AlertResolved:
		return alertLooks[5]
	default:
		return alertLooks[4]
	}
}

// subject is whom an alert is about: a workflow, a target, or nobody alone.
func subject(workflow, target model.Text, members []string) string {
	switch {
	case workflow != "":
		return string(workflow)
	case target != "" && len(members) < 2:
		return string(target)
	default:
		return ""
	}
}

// alertHead is an alert in one line: its mark, whom it is about and what is so.
func alertHead(a *model.AlertView, look Look) []seg {
	k := alertLookOf(a)
	segs := []seg{{k.role, look.pick(k.mark, k.ascii) + " "}}
	if a.State == model.AlertPending {
		segs = append(segs, seg{k.role, k.word + ": "})
	}
	if name := subject(a.Workflow, a.Target, a.Members); name != "" && !strings.HasPrefix(a.Text, name) {
		segs = append(segs, seg{themes.Strong, look.foreign(name, 24)}, seg{themes.Text, ": "})
	}
	segs = append(segs, seg{themes.Text, look.sentence(a.Text, maxProse)})
	if a.Stale {
		segs = append(segs, seg{themes.Muted, ", nothing new known"})
	}
	return segs
}

// alert writes an alert: what it is and since when, its sentence, its numbers.
func (s *sheet) alert(f *model.Frame, a *model.AlertView, cursor bool) {
	k := alertLookOf(a)
	name, role, text := themes.Strong, k.role, ""
	if a.Acknowledged || a.State == model.AlertResolved {
		name = themes.Text
	}
	head := part{segs: []seg{{role, s.look.pick(k.mark, k.ascii) + " " + string(a.State)}}}
	who := part{segs: []seg{{themes.Muted, string(a.Severity) + " "}}}
	if about := subject(a.Workflow, a.Target, a.Members); about != "" {
		who.segs = append(who.segs, seg{name, s.look.foreign(about, 30)}, seg{themes.Text, " "})
	}
	who.segs = append(who.segs, seg{themes.Text, s.look.foreign(a.Rule, 24)})
	who = who.of("row.alert", string(a.ID))
	l := s.look.line(s.w - 1)
	if cursor {
		l.put(themes.Cursor, s.look.pick("▸", ">"))
	}
	left := []part{head, who}
	if a.Acknowledged {
		left = append(left, say(1, themes.Muted, "acknowledged"))
	}
	if s.w < narrow {
		s.out = append(s.out, l.pad(1).parts(2, left...).String())
		s.spread("", indent, s.times(f, a))
	} else {
		s.out = append(s.out, l.pad(1).ends(2, left, s.times(f, a)).String())
	}
	rest := s.remarks(f, a)
	if n := len(a.Members); n > 1 {
		rest = append(rest, say(0, themes.Text, plural(n, memberWord(f, a))+": enter lists them"))
	}
	role, text = themes.Text, a.Text
	if a.State == model.AlertUnknown && !a.LastAt.IsZero() {
		role, text = themes.Muted, "last known: "+a.Text
	}
	if all := append([]part{say(0, role, s.look.sentence(text, maxProse))}, rest...); s.w >= wideScreen && widthOf(all, 3) <= s.w-indent {
		s.spread("", indent, all) // the numbers need no line of their own
		return
	}
	s.text(indent, role, text)
	s.spread("", indent, rest)
}

// times is when an alert began, fired and was resolved. Where room is short the
// last step is enough.
func (s *sheet) times(f *model.Frame, a *model.AlertView) []part {
	var out []part
	drop := 3
	for _, t := range []struct {
		word string
		at   model.Instant
	}{{"since", a.Since}, {"fired", a.FiredAt}, {"resolved", a.ResolvedAt}} {
		if t.at.IsZero() {
			continue
		}
		out = append(out, part{segs: []seg{{themes.Muted, t.word + " "}, {themes.Text, when(t.at, f.At)}}, drop: drop}.of("alert.since", string(a.ID)))
		drop--
	}
	return out
}

// when is a time of day, with the date where it is not today's.
func when(i, now model.Instant) string {
	if y, m, d := i.Wall.UTC().Date(); i.IsZero() || now.Wall.UTC().Truncate(24*time.Hour).Equal(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)) {
		return hms(i)
	}
	return i.Wall.UTC().Format("01-02 15:04:05")
}

// remarks is an alert's numbers, and what else there is to know of it.
func (s *sheet) remarks(f *model.Frame, a *model.AlertView) []part {
	var out []part
	number := func(label, topic string, r model.Reading) {
		if v, ok := r.Get(); ok {
			out = append(out, part{segs: []seg{{themes.Muted, label + " "}, {themes.Text, unit.Measured(v, a.Unit)}}}.of(topic, string(a.ID)))
		}
	}
	now := "now"
	if a.Stale || a.State == model.AlertUnknown || a.State == model.AlertResolved {
		now = "last"
	}
	number(now, "alert.value", a.Value)
	number("worst", "alert.peak", a.Peak)
	number("limit", "alert.limit", a.Limit)
	if a.Times > 1 {
		out = append(out, say(0, themes.Text, fmt.Sprintf("fired %d times", a.Times)).of("alert.times", string(a.ID)))
	}
	switch {
	case a.LastAt.IsZero():
	case a.Stale:
		out = append(out, say(0, themes.Warn, "nothing new known since "+when(a.LastAt, f.At)))
	case a.State == model.AlertResolved, a.State == model.AlertFiring && f.At.Sub(a.LastAt) > settling:
		out = append(out, part{segs: []seg{{themes.Muted, "last true "}, {themes.Text, when(a.LastAt, f.At)}}})
	}
	if a.Cause != "" {
		out = append(out, part{segs: []seg{{themes.Muted, "because: "}, {themes.Text, s.look.shorter(unit.Escape(causeText(f, a), s.look.ASCII), max(s.w-indent-10, 20))}}})
	}
	return out
}

// settling is how long a condition may be over before an alert that still fires
// says so: it is held for a while.
const settling = 5 * time.Second

// causeText is the alert that explains another one: which it is, and its sentence.
func causeText(f *model.Frame, a *model.AlertView) string {
	for i := range f.Alerts {
		if c := &f.Alerts[i]; c.ID == model.AlertID(a.Cause) {
			if about := subject(c.Workflow, c.Target, c.Members); about != "" {
				return about + " " + c.Rule + ", " + c.Text
			}
			return c.Text
		}
	}
	return string(a.Cause)
}

// unjudged lists the rules and objectives that cannot be evaluated, and why.
func (s *sheet) unjudged(f *model.Frame) {
	if len(f.Unjudged) == 0 {
		return
	}
	s.rule("CANNOT EVALUATE", say(1, themes.Muted, fmt.Sprintf("%d of the rules and objectives", len(f.Unjudged))))
	for i := range f.Unjudged[:min(len(f.Unjudged), maxListed)] {
		u := &f.Unjudged[i]
		l := s.look.line(s.w).pad(indent)
		for _, name := range []string{string(u.Workflow), string(u.Target)} {
			if name != "" {
				l.put(themes.Strong, s.look.foreign(name, 30)).pad(l.w + 1)
			}
		}
		s.out = append(s.out, l.put(themes.Text, s.look.foreign(u.Rule, 24)).String())
		s.text(indent+2, themes.Muted, u.Why)
	}
	s.more(len(f.Unjudged) - maxListed)
}

// maxListed bounds a list of things of which there may be thousands.
const maxListed = 50

// more says how many entries of a list are not shown.
func (s *sheet) more(n int) {
	if n > 0 {
		s.out = append(s.out, s.look.line(s.w).pad(indent).put(themes.Muted, fmt.Sprintf("+ %d more", n)).String())
	}
}

// log lists the steps of alerts, newest first, and of which alerts where there are
// several.
func (s *sheet) log(f *model.Frame, events []model.AlertEvent, several bool) {
	if len(events) == 0 {
		return
	}
	s.rule("LOG", say(1, themes.Muted, "newest first"))
	for i := range events {
		e := &events[i]
		k := alertLookOf(&model.AlertView{State: e.State, Severity: e.Severity})
		l := s.look.line(s.w).pad(indent).put(themes.Muted, when(e.At, f.At)).pad(indent+10).
			put(k.role, s.look.pick(k.mark, k.ascii)+" "+string(e.State)).pad(indent + 21)
		if about := subject(e.Workflow, e.Target, nil); about != "" && several && !strings.HasPrefix(e.Text, about) {
			l.put(themes.Strong, s.look.foreign(about, 24)).pad(l.w + 1)
		}
		if e.Times > 1 {
			l.put(themes.Warn, fmt.Sprintf("(%d times) ", e.Times))
		}
		s.out = append(s.out, l.put(themes.Text, s.look.shorter(unit.Escape(e.Text, s.look.ASCII), s.w-l.w)).String())
	}
}

// AlertOrder lists the alerts as the screen shows them.
func AlertOrder(f *model.Frame) []model.AlertID {
	ids := make([]model.AlertID, len(f.Alerts))
	for i := range f.Alerts {
		ids[i] = f.Alerts[i].ID
	}
	return ids
}

// AlertUnder is the alert under the cursor, the first without a choice, nil when
// there is none or a finding was chosen.
func AlertUnder(f *model.Frame, v View) *model.AlertView {
	if v.Finding != "" && FindingUnder(f, v) != nil {
		return nil
	}
	i := slices.IndexFunc(f.Alerts, func(a model.AlertView) bool { return a.ID == v.Alert })
	if i < 0 {
		i = 0
	}
	if i >= len(f.Alerts) {
		return nil
	}
	return &f.Alerts[i]
}

// AlertText is an alert in one plain sentence: whom it is about and what is so. It
// is as foreign as its parts.
func AlertText(a *model.AlertView) string {
	if name := subject(a.Workflow, a.Target, a.Members); name != "" && !strings.HasPrefix(a.Text, name) {
		return name + ": " + a.Text
	}
	return a.Text
}

// Rings reports whether an alert is worth a bell: a page, or one that speaks for
// several targets at once.
func Rings(a *model.AlertView) bool { return a.Severity == model.Page || len(a.Members) > 1 }

// back is the line of a recovery.
func back(a *model.AlertView, look Look) part {
	k := alertLooks[5]
	began := a.FiredAt
	if began.IsZero() {
		began = a.Since
	}
	after := look.span(a.ResolvedAt.Sub(began).Truncate(time.Second))
	if n := len(a.Members); n > 1 {
		return part{segs: []seg{{k.role, look.pick(k.mark, k.ascii) + " "}, {themes.Text, fmt.Sprintf("%d back after %s: ", n, after)}, {themes.Muted, look.sentence(a.Text, maxProse)}}}
	}
	segs := alertHead(a, look)
	segs[0] = seg{k.role, look.pick(k.mark, k.ascii) + " resolved after " + after + ": "}
	return part{segs: segs}
}

package panes

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/themes"
)

// maxHappened is how many events are listed; keys lead to the others.
const maxHappened = 12

// happened lists the events, newest first, each with its letter on the charts, and says
// what of a file of annotations was not understood.
func (s *sheet) happened(f *model.Frame) {
	if len(f.Events) == 0 && s.look.View.Notes == "" {
		return
	}
	s.rule("EVENTS", say(1, themes.Muted, "newest first"))
	for i, e := range slices.Backward(f.Events) {
		if i < len(f.Events)-maxHappened {
			break
		}
		role := themes.Text
		if e.Kind == model.EventBreach {
			role = themes.Breach
		}
		l := s.look.line(s.w).pad(indent).put(themes.Muted, when(e.At, f.At)).pad(indent+15).
			put(themes.Strong, string(eventLetter(f, e))).pad(indent + 17)
		s.out = append(s.out, l.put(role, s.look.shorter(s.look.foreign(happening(e), maxProse), s.w-l.w)).String())
	}
	s.more(max(0, len(f.Events)-maxHappened) + f.EventsDropped)
	s.text(indent, themes.Warn, s.look.View.Notes)
}

// happening is an event in a few words. Names in it are as they came: who shows it
// escapes them.
func happening(e model.Event) string {
	what := ""
	switch e.Kind {
	case model.EventRestart:
		what = "restart of " + string(e.Target)
	case model.EventStage:
		what = "stage " + string(e.Target)
	case model.EventIncident:
		what = "incident " + string(e.Target)
	case model.EventRecovery:
		what = string(e.Target) + " is over"
	case model.EventBreach:
		what = string(e.Workflow) + " breached"
	case model.EventCleared:
		what = string(e.Workflow) + " no more breached"
	case model.EventDeploy:
		what = "deployment " + string(e.Target)
	}
	return strings.TrimSpace(what)
}

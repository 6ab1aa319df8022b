package alert

import (
	"container/list"

	"slotop/model"
)

const (
	// maxSteps bounds the log: more than a week of ten incidents a day.
	maxSteps = 500
	// maxStepsEach bounds one alert's part of it, so that a rule that flaps for
	// days pushes out its own past and nobody else's.
	maxStepsEach = 24
)

// steps is the log: what alerts entered, newest first. A step that an alert
// repeats within Shown is folded into its last one of that kind.
type steps struct {
	list      list.List // of *model.AlertEvent
	last      map[step]*list.Element
	each      map[model.AlertID]int
	forgotten int
	view      []model.AlertEvent // handed out; nil once something changed
}

// step is what makes two events alike.
type step struct {
	id    model.AlertID
	state model.AlertState
}

// add notes that an alert entered a state.
func (l *steps) add(e model.AlertEvent) {
	l.view = nil
	k := step{e.ID, e.State}
	if at := l.last[k]; at != nil {
		old := event(at)
		if elapsed(old.At.Mono, e.At.Mono) < Shown {
			e.Times = old.Times + 1
			*old = e
			l.list.MoveToFront(at)
			return
		}
	}
	e.Times = 1
	l.makeRoom(e.ID)
	l.each[e.ID]++
	l.last[k] = l.list.PushFront(&e)
}

// amend rewrites the text of an alert's latest step into a state.
func (l *steps) amend(id model.AlertID, state model.AlertState, text string) {
	if at := l.last[step{id, state}]; at != nil {
		l.view = nil
		event(at).Text = text
	}
}

func (l *steps) makeRoom(id model.AlertID) {
	at := l.list.Back()
	switch {
	case l.each[id] >= maxStepsEach:
		for event(at).ID != id {
			at = at.Prev()
		}
	case l.list.Len() < maxSteps:
		return
	}
	l.forget(at)
}

func (l *steps) forget(at *list.Element) {
	e := event(at)
	l.forgotten += e.Times
	l.list.Remove(at)
	if k := (step{e.ID, e.State}); l.last[k] == at {
		delete(l.last, k)
	}
	if l.each[e.ID]--; l.each[e.ID] == 0 {
		delete(l.each, e.ID)
	}
}

// events is the log, newest first. The slice is never written again.
func (l *steps) events() []model.AlertEvent {
	if l.view == nil {
		l.view = make([]model.AlertEvent, 0, l.list.Len())
		for at := l.list.Front(); at != nil; at = at.Next() {
			l.view = append(l.view, *event(at))
		}
	}
	return l.view
}

func event(at *list.Element) *model.AlertEvent { return at.Value.(*model.AlertEvent) }

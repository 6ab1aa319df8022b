package fleet

import (
	"slices"
	"strings"

	"slotop/model"
)

const (
	// maxListed bounds the events of a frame: a day of deployments and breaches of a
	// service that has a bad one.
	maxListed = 256
	// maxNote bounds what an annotation says, in bytes: more is no mark on a chart.
	maxNote = 256
)

// events are what happened, oldest first. Frames share the array: nothing in it is
// written again.
type events struct {
	list    []model.Event
	dropped int
}

// add puts an event in its place in time, unless it was told before. It reports
// whether it is new.
func (es *events) add(e model.Event, most int) bool {
	i := len(es.list)
	for i > 0 && es.list[i-1].At.Mono > e.At.Mono {
		i--
	}
	if slices.ContainsFunc(es.list, func(o model.Event) bool { return told(o, e) }) {
		return false
	}
	if i == len(es.list) {
		es.list = append(es.list, e) // behind what any frame has
	} else {
		es.list = slices.Concat(es.list[:i], []model.Event{e}, es.list[i:])
	}
	if more := len(es.list) - most; more > 0 {
		es.list = es.list[more:]
		es.dropped += more
	}
	return true
}

// told reports whether an annotation was given already: on a tape, and in the file
// that is given with it.
func told(a, b model.Event) bool {
	return a.Kind == model.EventDeploy && a.Kind == b.Kind && a.Target == b.Target && a.At.Wall.Equal(b.At.Wall)
}

// see is the list as a frame holds it.
func (es *events) see() []model.Event {
	return orEmpty(es.list[:len(es.list):len(es.list)])
}

// ofAll is what happened to all workflows: one that comes later has it on its charts.
func (es *events) ofAll() (out events) {
	for _, e := range es.list {
		if e.Workflow == "" && e.Kind != model.EventRestart {
			out.add(e, maxEvents)
		}
	}
	return out
}

// note lists an event that happened to all workflows.
func (f *Fleet) note(e model.Event) {
	if !f.events.add(e, maxListed) {
		return
	}
	for _, w := range f.flows {
		w.mark(e)
	}
}

// noteRestart lists a restart, and marks it on the charts of what the target serves.
func (f *Fleet) noteRestart(at model.Instant, t *target) {
	e := model.Event{At: at, Kind: model.EventRestart, Target: model.Text(t.spec.Name)}
	var serves []*workflow
	for w := range t.flows {
		if w != nil {
			serves = append(serves, w)
		}
	}
	if len(serves) == 1 {
		e.Workflow = model.Text(serves[0].name)
	}
	for _, w := range serves {
		w.mark(e)
	}
	f.events.add(e, maxListed)
}

// onNote lists somebody's word of a change, at the time at which that was.
func (f *Fleet) onNote(at model.Instant, n *model.Annotation) {
	then := at
	if !at.Wall.IsZero() && !n.At.IsZero() {
		then = at.Add(n.At.Sub(at.Wall))
	}
	text := strings.ToValidUTF8(n.Text[:min(len(n.Text), maxNote)], "")
	f.note(model.Event{At: then, Kind: model.EventDeploy, Target: model.Text(text)})
}

// turn notes whether the workflow has begun or ceased to miss an objective. Only what
// is known to be kept ends a breach: silence, a stall, or too few requests do not.
func (w *workflow) turn(v *model.WorkflowView, at model.Instant) {
	w.turned = nil
	switch {
	case v.Condition == model.IsMissed && !w.breached:
		w.turned = &model.Event{At: at, Kind: model.EventBreach, Workflow: model.Text(w.name)}
	case w.breached && w.keeps(v):
		w.turned = &model.Event{At: at, Kind: model.EventCleared, Workflow: model.Text(w.name)}
	default:
		return
	}
	w.breached = !w.breached
	w.mark(*w.turned)
}

// keeps reports whether nobody who is served misses anything.
func (w *workflow) keeps(v *model.WorkflowView) bool {
	if silent(v.Condition) || v.Condition == model.IsStalled {
		return false
	}
	is := w.verdict(v)
	return is == model.IsMet || is == model.IsQuiet && !busy(v)
}

// seeEvents lists what the workflows' views told, the worst first.
func (f *Fleet) seeEvents(fr *model.Frame) {
	for i := range fr.Workflows {
		if e := f.flows[fr.Workflows[i].Name].turned; e != nil {
			f.events.add(*e, maxListed)
		}
	}
	fr.Events, fr.EventsDropped = f.events.see(), f.events.dropped
}

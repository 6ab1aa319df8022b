package story

import (
	"cmp"
	"slices"

	"slotop/model"
)

// events gathers what happened at one instant. A frame lists its latest ones, so most
// of them are in many frames.
type events struct {
	all  []model.Event
	seen map[event]bool
	last []model.Event // of the frame before
	told int           // how many there ever were, those included that no frame held
}

type event struct {
	at     int64
	kind   model.EventKind
	who    model.Text
	target string
}

func (e *events) take(f *model.Frame) {
	if slices.Equal(f.Events, e.last) {
		return
	}
	e.last = f.Events
	e.told = f.EventsDropped + len(f.Events)
	for _, v := range f.Events {
		key := event{int64(v.At.Mono), v.Kind, v.Workflow, string(v.Target)}
		if e.seen[key] {
			continue
		}
		if len(e.all) >= maxEvents {
			return
		}
		if e.seen == nil {
			e.seen = map[event]bool{}
		}
		e.seen[key] = true
		e.all = append(e.all, v)
	}
}

// left is how many there was no room for.
func (e *events) left() int { return max(0, e.told-len(e.all)) }

// list is every event, the oldest first: an annotation may be told late.
func (e *events) list() []model.Event {
	all := slices.Clone(e.all)
	slices.SortStableFunc(all, func(a, b model.Event) int { return cmp.Compare(a.At.Mono, b.At.Mono) })
	return all
}

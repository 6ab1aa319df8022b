package story

import (
	"cmp"
	"slices"

	"slotop/model"
)

// Episode is one time that an alert was raised: from its condition's beginning to the
// end of it, whether it fired or not.
type Episode struct {
	Alert model.AlertView // as it was last seen raised: peak, times, and the sentence of the peak
	Said  string          // the sentence with which it fired
	Fired bool
	Ended model.Instant // when it resolved, or its condition passed; zero while it lasts
}

// Until is the end of the episode, or the given instant while it lasts.
func (e *Episode) Until(now model.Instant) model.Instant {
	if e.Ended.IsZero() {
		return now
	}
	return e.Ended
}

// episodes follows alerts from frame to frame.
type episodes struct {
	open map[model.AlertID]*Episode
	done []Episode
	left int
	out  map[model.AlertID]model.Instant // since when those of this frame last that there was no room for
}

func (e *episodes) take(f *model.Frame) {
	seen := map[model.AlertID]bool{}
	before := e.out
	e.out = nil
	for i := range f.Alerts {
		a := &f.Alerts[i]
		switch a.State {
		case model.AlertPending, model.AlertFiring:
			seen[a.ID] = true
			e.raise(a, f.At, before)
		case model.AlertResolved:
			seen[a.ID] = true
			e.resolve(a)
		case model.AlertInactive, model.AlertUnknown:
		}
	}
	for id, one := range e.open {
		if !seen[id] {
			e.end(id, one, f.At)
		}
	}
}

// raise notes an alert that is pending or firing. Another beginning is another episode.
// Before are those that were left out in the frame before: each is counted once.
func (e *episodes) raise(a *model.AlertView, at model.Instant, before map[model.AlertID]model.Instant) {
	one := e.open[a.ID]
	if one != nil && one.Alert.Since != a.Since {
		e.end(a.ID, one, at)
		one = nil
	}
	if one == nil {
		if len(e.open)+len(e.done) >= maxEpisodes {
			if since, known := before[a.ID]; !known || since != a.Since {
				e.left++
			}
			if e.out == nil {
				e.out = map[model.AlertID]model.Instant{}
			}
			e.out[a.ID] = a.Since
			return
		}
		if e.open == nil {
			e.open = map[model.AlertID]*Episode{}
		}
		one = &Episode{}
		e.open[a.ID] = one
	}
	text := one.Alert.Text
	if !one.Fired || worse(a.Peak, one.Alert.Peak) {
		text = a.Text // the sentence of the worst moment, or of the firing where none is worse
	}
	if !one.Fired {
		one.Said = a.Text
	}
	one.Alert = *a
	one.Alert.Text = text
	one.Fired = one.Fired || a.State == model.AlertFiring
}

// worse reports whether a peak is another than before: of a rule without values none is.
func worse(peak, before model.Reading) bool {
	return peak.OK() && (!before.OK() || peak.Value != before.Value)
}

func (e *episodes) resolve(a *model.AlertView) {
	if one := e.open[a.ID]; one != nil {
		one.Alert.ResolvedAt = a.ResolvedAt
		e.end(a.ID, one, a.ResolvedAt)
	}
}

func (e *episodes) end(id model.AlertID, one *Episode, at model.Instant) {
	one.Ended = at
	e.done = append(e.done, *one)
	delete(e.open, id)
}

// list is every episode, the oldest first.
func (e *episodes) list() []Episode {
	all := slices.Clone(e.done)
	for _, one := range e.open {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Episode) int {
		return cmp.Or(cmp.Compare(a.Alert.Since.Mono, b.Alert.Since.Mono), cmp.Compare(a.Alert.ID, b.Alert.ID))
	})
	return all
}

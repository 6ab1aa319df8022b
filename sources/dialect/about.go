package dialect

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/sources/expo"
)

// About is what the page says of its target, as of the last Read. The pointer
// stays the same until something in it changes.
func (pl *Plan) About(*expo.Page) *model.About {
	if pl.about != nil && pl.told == pl.state {
		return pl.about
	}
	d := pl.described.Load()
	if d == nil || d.of != pl.state {
		d = &description{pl.state, pl.describe()}
		pl.described.Store(d)
	}
	pl.about, pl.told = d.about, d.of
	return pl.about
}

func (pl *Plan) describe() *model.About {
	a := &model.About{
		Kind:    pl.dialect.kind,
		Engine:  pl.dialect.engine,
		Version: pl.version,
		Models:  pl.models,
		Notes:   slices.Clone(pl.notes),
	}
	for i := range pl.readings {
		if r := &pl.readings[i]; pl.state.found&(1<<i) != 0 {
			a.Meanings = append(a.Meanings, model.Meaning{
				Signal: r.signal, Metric: r.metric, Measures: r.way.Measures, AtFinish: r.way.AtFinish,
			})
		}
	}
	a.Missing = pl.missing()
	a.Notes = append(a.Notes, pl.pageNotes()...)
	return a
}

// gave reports whether a signal was found on the last page.
func (pl *Plan) gave(s model.Signal) bool {
	i := slices.IndexFunc(pl.readings, func(r reading) bool { return r.signal == s })
	return i >= 0 && pl.state.found&(1<<i) != 0
}

// missing are the signals the engine could export and does not here. One that
// appears with its first event is not missing before a request has finished.
func (pl *Plan) missing() []model.Signal {
	traffic := pl.gave(model.E2E) || pl.gave(model.Finished)
	gone := map[model.Signal]bool{}
	for _, a := range pl.absent {
		gone[a.signal] = a.missing(traffic)
	}
	for i := range pl.readings {
		if r := &pl.readings[i]; pl.state.found&(1<<i) == 0 {
			gone[r.signal] = r.missing(traffic)
		}
	}
	var all []model.Signal
	for _, info := range model.Signals {
		if gone[info.Signal] {
			all = append(all, info.Signal)
		}
	}
	return all
}

// pageNotes are the notes that depend on what the page shows.
func (pl *Plan) pageNotes() []string {
	var notes []string
	for i := range pl.readings {
		r := &pl.readings[i]
		if r.copies > 1 {
			notes = append(notes, fmt.Sprintf("%d process copies of %s, the largest is taken", r.copies, r.metric))
		}
		if pl.state.disagrees&(1<<i) != 0 {
			notes = append(notes, fmt.Sprintf("parallel ranks disagree on %s, the lowest rank is taken", r.metric))
		}
		if pl.state.cautioned&(1<<i) != 0 {
			notes = append(notes, r.way.Caution.Say)
		}
	}
	if pl.state.silent {
		notes = append(notes, fmt.Sprintf("engine step %s: not reported, requests are counted in front of it only", pl.silence.name))
	}
	var declared []string
	for _, a := range pl.absent {
		if a.declared {
			declared = append(declared, string(a.signal))
		}
	}
	if len(declared) > 0 {
		notes = append(notes, "exported, no event yet: "+strings.Join(declared, ", "))
	}
	return notes
}

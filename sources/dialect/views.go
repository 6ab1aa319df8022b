package dialect

import (
	"cmp"
	"math"
	"slices"

	"slotop/model"
	"slotop/sources/expo"
)

// View is how one dialect is read off a server that stores the pages of many targets.
type View struct {
	dialect  *Dialect
	speakers []*Dialect
	reads    []Read
}

// Views are the dialects of engines that speak on a server that stores metrics of
// the given names, of which the Questions have so many series. Several speak where
// several kinds of engines stand side by side. A choice names the one dialect to
// read, of any kind; others are the names of those that are left out.
func (s *Set) Views(names []string, series map[string]float64, choice string) (views []*View, others []string) {
	v := newInventory(names, series)
	for _, d := range s.dialects {
		if !v.holds(d.prefixes, d.detect) {
			continue
		}
		if choice != "" && d.engine != choice || choice == "" && d.Kind() != "" {
			others = append(others, d.engine)
			continue
		}
		if slices.ContainsFunc(views, func(o *View) bool { return o.speaks(d) }) {
			continue
		}
		view := d.view(v)
		if rival := slices.IndexFunc(views, view.shares); rival >= 0 {
			if len(view.reads) < 2*len(views[rival].reads) {
				continue
			}
			views = slices.Delete(views, rival, rival+1)
		}
		if len(view.reads) > 0 {
			views = append(views, view)
			view.take(v)
		}
	}
	return views, others
}

// speaks reports whether the view reads a dialect as well as its own.
func (v *View) speaks(d *Dialect) bool {
	return slices.ContainsFunc(v.speakers, func(o *Dialect) bool { return o.engine == d.engine })
}

// shares reports whether two views read names with the same beginning: they would
// read the same servers twice. The more telling one is kept, and of two that tell
// alike the more specific.
func (v *View) shares(other *View) bool {
	return slices.ContainsFunc(v.dialect.prefixes, func(prefix string) bool {
		return prefix != "" && slices.Contains(other.dialect.prefixes, prefix)
	})
}

// take marks what the view reads.
func (v *View) take(i *inventory) {
	for _, r := range v.reads {
		for _, name := range r.Names {
			i.taken[name] = i.taken[name] || !r.bare
		}
	}
}

func (d *Dialect) view(v *inventory) *View {
	view := &View{dialect: d.forMany()}
	view.dialect.also = nil
	for _, o := range d.also {
		if v.holds(o.prefixes, o.detect) {
			view.dialect.also = append(view.dialect.also, o.forMany())
		}
	}
	view.speakers = append(slices.Clone(view.dialect.also), view.dialect)
	view.hint(v)
	for _, info := range model.Signals {
		view.add(v, info.Signal)
	}
	for i := range view.reads {
		if r := &view.reads[i]; r.bare {
			r.Beside = view.Marker().Names[0]
		}
	}
	return view
}

// hint settles what is said of the version. The answers alone do not show it: names
// that tell of it need not be read.
func (v *View) hint(i *inventory) {
	say := ""
	for _, speaker := range v.speakers {
		for _, hint := range speaker.versions {
			if say == "" && i.holds(speaker.prefixes, hint.condition) {
				say = hint.Say
			}
		}
		speaker.versions = nil
	}
	if say != "" {
		anything := pattern{selector{open: true}}
		v.dialect.versions = []version{{say, condition{Any: []pattern{anything}}}}
	}
}

// jobLabel stands in for the model where an engine names none: its servers are told
// apart by who scrapes them.
const jobLabel = "job"

// forMany is the dialect as many servers speak it in chorus: what their engines do
// apart is added up.
func (d *Dialect) forMany() *Dialect {
	many := *d
	many.labels.Engine = nil
	many.labels.Model = cmp.Or(many.labels.Model, jobLabel)
	return &many
}

// add finds the first way of reading a signal that the server has.
func (v *View) add(i *inventory, signal model.Signal) {
	for _, d := range v.speakers {
		for w := range d.signals[signal] {
			way := &d.signals[signal][w]
			if way.Unless != nil && i.holds(d.prefixes, condition{Any: []pattern{*way.Unless}}) {
				continue
			}
			if reads, ok := d.readsOf(i, signal, way); ok {
				for _, r := range reads {
					v.merge(r)
				}
				return
			}
		}
	}
}

// merge adds a read, or widens one of the same series: what is asked for twice would
// stand on the page twice.
func (v *View) merge(r Read) {
	i := slices.IndexFunc(v.reads, func(o Read) bool { return slices.Equal(o.Names, r.Names) && !o.ms.excludes(r.ms) })
	if i < 0 {
		v.reads = append(v.reads, r)
		return
	}
	o := &v.reads[i]
	if o.Match != r.Match {
		o.Match, o.ms = "", nil
	}
	if r.Merge == Sum {
		o.Merge = Sum
	}
	for _, name := range r.By {
		o.keep(name)
	}
	o.Series = max(o.Series, r.Series)
	for _, s := range r.Signals {
		if !slices.Contains(o.Signals, s) {
			o.Signals = append(o.Signals, s)
		}
	}
}

// excludes reports whether no series can satisfy two lists of matchers.
func (ms matchers) excludes(others matchers) bool {
	return slices.ContainsFunc(ms, func(m matcher) bool {
		return m.re == nil && !m.not && slices.ContainsFunc(others, func(o matcher) bool {
			return o.re == nil && !o.not && o.label == m.label && o.value != m.value
		})
	})
}

// Reads are what the view has to be asked for.
func (v *View) Reads() []Read { return v.reads }

// Marker is the read of which every server of the view has a series, of those
// there are: a level that is there from the start.
func (v *View) Marker() *Read {
	best := 0
	for i := range v.reads {
		if v.reads[i].doubt() < v.reads[best].doubt() {
			best = i
		}
	}
	return &v.reads[best]
}

// doubt is how doubtful it is that each server has exactly one such series.
func (r *Read) doubt() int {
	switch {
	case r.bare || r.Native:
		return 5
	case r.Buckets:
		return 4
	case slices.Contains(r.Signals, model.Running):
		return 0
	case slices.Contains(r.Signals, model.Waiting):
		return 1
	case r.Kind == model.Gauge:
		return 2
	}
	return 3
}

// Engine is the name of the view's dialect.
func (v *View) Engine() string { return v.dialect.engine }

// Kind is what the dialect's pages are of, "" for engines.
func (v *View) Kind() string { return v.dialect.Kind() }

// ByJob reports whether the dialect names no model, so that the name under which the
// server scrapes its engines stands in for it.
func (v *View) ByJob() bool { return v.dialect.labels.Model == jobLabel }

// Plan says how a page is read on which the answers to the view's Reads stand and
// nothing else.
func (v *View) Plan(p *expo.Page) *Plan { return v.dialect.Compile(p) }

// Apart is the plan of a page whose rows are single servers, told apart by a label
// that the samples then have as their engine.
func (v *View) Apart(p *expo.Page, label string) *Plan {
	one := *v.dialect
	one.labels.Engine = []string{label}
	one.also = nil
	for _, o := range v.dialect.also {
		speaker := *o
		speaker.labels.Engine = []string{label}
		one.also = append(one.also, &speaker)
	}
	return one.Compile(p)
}

// ReadMany is Read of a page of sums. Where servers show a number in their labels,
// the page says how many show it: their numbers are added up.
func (pl *Plan) ReadMany(p *expo.Page, into []model.Sample) []model.Sample {
	first := len(into)
	into = pl.Read(p, into)
	for i := range pl.readings {
		r := &pl.readings[i]
		if len(r.way.Read) == 0 {
			continue
		}
		for j := range into[first:] {
			s := &into[first+j]
			at := slices.IndexFunc(r.rows, func(o row) bool { return s.Signal == r.signal && s.Labels == o.labels })
			if at >= 0 {
				s.Value = r.way.scaled(r.rows[at].counted(p))
			}
		}
	}
	return into
}

// counted adds up the constants of a row, each as often as the page says; NaN where
// it has none of them.
func (r *row) counted(p *expo.Page) float64 {
	total, found := 0.0, false
	for i := range r.terms[0].cells {
		c := &r.terms[0].cells[i]
		if n, ok := c.ranks[0].read(p); ok && !math.IsNaN(n) && !math.IsNaN(c.constant) {
			total, found = total+n*c.constant, true
		}
	}
	if !found {
		return math.NaN()
	}
	return total
}

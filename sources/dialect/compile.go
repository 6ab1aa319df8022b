package dialect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"slotop/model"
	"slotop/sources/expo"
)

// compiler turns a dialect and a page's series into a plan.
type compiler struct {
	*index
	fronts    []string // names the choice's front rows go by on this page
	whose     map[*Dialect]owners
	preferred []int    // rows that would have been taken, had they been on this page
	tooMany   []string // exposed names with so many series that they are not computed with
}

// Compile works out once how a target's pages are read: which of the exposed
// names is taken for each signal and which rows make one sample. It holds until
// the page's generation changes or new series appear on it.
func (d *Dialect) Compile(p *expo.Page) *Plan { return newPlan(d.layout(p), p) }

func (d *Dialect) layout(p *expo.Page) *layout {
	c := &compiler{index: newIndex(p), whose: map[*Dialect]owners{}}
	l := &layout{dialect: d, speakers: d.speakers(c.index)}
	c.fronts = c.frontNames(d)
	l.version = c.version(l.speakers)
	l.notes = c.staticNotes(l.speakers)
	for _, info := range model.Signals {
		r, known := c.signal(info, l.speakers)
		switch {
		case r != nil:
			l.readings = append(l.readings, *r)
		case known != nil:
			l.absent = append(l.absent, *known)
		}
	}
	c.addZeros(l)
	for _, speaker := range l.speakers {
		if l.gpus == nil {
			l.gpus = c.devices(speaker, l)
		}
	}
	if l.version == "" && l.gpus != nil {
		l.version = l.gpus.driver
	}
	if len(c.tooMany) > 0 {
		slices.Sort(c.tooMany)
		l.notes = append(l.notes, "too many series to compute with: "+strings.Join(slices.Compact(c.tooMany), ", "))
	}
	l.silence = c.silence(d)
	l.models = modelsOf(l.readings)
	l.preferred = c.preferred
	return l
}

// speakers are the dialects that have something to say about a page: those that
// d lets speak as well and that recognise it, then d itself.
func (d *Dialect) speakers(x *index) []*Dialect {
	var all []*Dialect
	for _, o := range d.also {
		if x.holds(o.prefixes, o.detect) {
			all = append(all, o)
		}
	}
	return append(all, d)
}

func (c *compiler) version(speakers []*Dialect) string {
	own := speakers[len(speakers)-1]
	for _, d := range speakers {
		v := c.versionOf(d)
		if v == "" {
			continue
		}
		if d != own {
			v = d.engine + " " + v
		}
		return v
	}
	return ""
}

// carries begins the note that names another engine whose metrics are on the page.
const carries = "the page also carries the metrics of "

func (c *compiler) staticNotes(speakers []*Dialect) []string {
	var notes []string
	own := speakers[len(speakers)-1]
	for _, d := range speakers {
		if d != own {
			notes = append(notes, carries+d.engine)
		}
		for _, n := range d.notes {
			if n.empty() || c.holds(d.prefixes, n.condition) {
				notes = append(notes, n.Say)
			}
		}
	}
	return notes
}

// absence is what to think of a signal that the page does not have.
type absence struct {
	signal   model.Signal
	expected bool // without an option or a certain version
	declared bool // its family is on the page, without a sample
	waits    bool // it appears with its first event, which may never come
	lazy     bool // it appears with the first request
}

// signal chooses how a signal is read. With nothing to read it says what is
// known of that; both are nil for a signal that nobody has to have.
func (c *compiler) signal(info model.SignalInfo, speakers []*Dialect) (*reading, *absence) {
	var gone, vague *reading // found, but not on this page; on it, but nobody can tell whose
	a := absence{signal: info.Signal}
	for _, d := range speakers {
		for i := range d.signals[info.Signal] {
			w := &d.signals[info.Signal][i]
			if w.Unless != nil && c.has(d.prefixes, w.Unless.selector) {
				continue
			}
			a.consider(d, w)
			r := c.read(info, d, w)
			if r == nil {
				a.declared = a.declared || c.isDeclared(d, w)
				continue
			}
			r.absence = absence{signal: info.Signal}
			r.consider(d, w)
			switch {
			case !r.onPage(c.page):
				gone = cmp.Or(gone, r)
			case !c.placeable(d, r):
				vague = cmp.Or(vague, r)
			default:
				return c.insteadOf(gone, r), nil
			}
		}
	}
	switch {
	case vague != nil:
		return c.insteadOf(gone, vague), nil
	case gone != nil:
		return gone, nil
	case a.expected || a.declared:
		return nil, &a
	}
	return nil, nil
}

// insteadOf is r, and remembers what would have been taken were it on the page.
func (c *compiler) insteadOf(gone, r *reading) *reading {
	if gone != nil && gone.anyRow() != none {
		c.preferred = append(c.preferred, gone.anyRow())
	}
	return r
}

func (a *absence) consider(d *Dialect, w *way) {
	a.waits = a.waits || d.lazy && w.Rare
	a.lazy = a.lazy || d.lazy
	a.expected = a.expected || w.Needs == ""
}

// missing reports whether a signal that is not on the page should be, given that
// a request has finished or not.
func (a *absence) missing(traffic bool) bool {
	return a.expected && !a.declared && !a.waits && (!a.lazy || traffic)
}

// isDeclared reports whether # TYPE lines without samples promise what a way needs.
func (c *compiler) isDeclared(d *Dialect, w *way) bool {
	return !slices.ContainsFunc(w.operands(), func(names []pattern) bool {
		return !slices.ContainsFunc(names, func(p pattern) bool {
			return len(p.matchers) == 0 && slices.ContainsFunc(d.under(w), func(prefix string) bool {
				name := prefix + p.name
				return c.declared[name] || c.declared[strings.TrimSuffix(name, "_total")]
			})
		})
	})
}

// under are the prefixes that the names of a way may have.
func (d *Dialect) under(w *way) []string {
	if w.Bare {
		return []string{""}
	}
	return d.prefixes
}

// read builds the reading of one way, nil where the page lacks something it needs.
func (c *compiler) read(info model.SignalInfo, d *Dialect, w *way) *reading {
	r := &reading{kind: info.Kind, way: w, largest: notAdditive(info.Signal)}
	b := builder{compiler: c, d: d, w: w, signal: info.Signal, kind: info.Kind}
	if t, from, name := b.tableOf(); t != nil {
		b.crowd(r, t, from, name)
		return r
	}
	ok := false
	switch {
	case w.Mean != nil:
		ok = b.mean(r)
	case w.Ranges != nil:
		ok = b.ranges(r)
	case info.Kind == model.Histogram:
		ok = b.histogram(r)
	default:
		ok = b.scalar(r)
	}
	if !ok {
		c.tooMany = append(c.tooMany, b.uncombined()...)
		return nil
	}
	r.copies = b.copies
	return r
}

// notAdditive are the levels of which two rows make the larger one, not a sum.
func notAdditive(s model.Signal) bool {
	switch s {
	case model.KVUsage, model.ReportedHitRatio, model.ReportedQueueMean, model.SpecAcceptLength, model.ProcessStart:
		return true
	}
	return false
}

// frontNames are the values of the choice's label that count requests on this
// page: the ensemble's name, for instance.
func (c *compiler) frontNames(d *Dialect) []string {
	if d.choose == nil {
		return nil
	}
	var names []string
	asked := map[string]bool{"": true}
	for i := range c.page.Series {
		v := label(c.page.Series[i].Labels, d.choose.Label)
		if asked[v] || !c.page.Seen[i] {
			continue
		}
		asked[v] = true
		if d.choose.Front.MatchString(v) {
			names = append(names, v)
		}
	}
	return names
}

// silence finds the rows that tell whether an engine step counts what passes
// through the ensemble in front of it.
func (c *compiler) silence(d *Dialect) silence {
	var s silence
	if d.choose == nil {
		return s
	}
	for _, prefix := range d.prefixes {
		for _, i := range c.byName[prefix+d.choose.Counts.name] {
			v := label(c.page.Series[i].Labels, d.choose.Label)
			switch {
			case d.choose.Front.MatchString(v):
				s.front = append(s.front, i)
			case d.choose.Step.MatchString(v):
				s.step = append(s.step, i)
				s.name = v
			}
		}
	}
	return s
}

func modelsOf(readings []reading) []string {
	names := map[string]bool{}
	for i := range readings {
		for j := range readings[i].rows {
			names[readings[i].rows[j].labels.Get(model.LabelModel)] = true
		}
		for j := range readings[i].hists {
			names[readings[i].hists[j].labels.Get(model.LabelModel)] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

package dialect

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"slotop/model"
)

// A server that stores the pages of many targets is not read line by line: it is
// asked for sums. This file says what to ask, of each dialect that speaks there,
// and views.go how the answers, laid out as one page, are read.

// Merge says how the values of many servers make one.
type Merge uint8

// Added up; the largest; or how many there are, of series whose value is in their
// labels.
const (
	Sum Merge = iota
	Max
	Count
)

// Read is one exposed metric that has to be asked for.
type Read struct {
	// Names are the sample names that its series may bear; where a server bears
	// several, the first counts. The answer stands on the page as Names[0].
	Names []string
	Kind  model.Kind
	// Buckets: Names are a classic histogram's bucket lines, told apart by le.
	// Native: they are histograms whose buckets are part of the value.
	Buckets, Native bool

	Except *float64 // a value that stands for none
	Merge  Merge    // of gauges; counters and histograms are added up
	Match  string   // matchers as in PromQL, without braces
	By     []string // labels that the answer must keep
	Within []string // labels of rows that repeat one value: the largest is taken first
	// Beside is a name of the dialect's own that only its servers bear, where programs
	// of other kinds bear Names too. Only theirs count.
	Beside string

	bare    bool // the names have no prefix
	ms      matchers
	Series  float64 // about how many there are, those of a histogram without its buckets
	Signals []model.Signal
}

// inventory is what a server stores.
type inventory struct {
	names  []string           // sorted
	series map[string]float64 // by question
	alive  map[string]bool    // names of which any question has series
	taken  map[string]bool    // names that another view reads
}

// Questions are selectors, as in PromQL, whose number of series decides how a
// server is read that stores metrics of the given names. There are none where no
// dialect knows any of the names.
func (s *Set) Questions(names []string) []string {
	v := inventory{names: slices.Sorted(slices.Values(names))}
	var asked []string
	for _, d := range s.dialects {
		for prefixes, p := range d.patterns {
			if p.open { // it holds where any name does that is asked for anyhow
				continue
			}
			for _, prefix := range prefixes {
				for name := range v.matching(prefix, p) {
					asked = append(asked, question(name, p.matchers))
				}
			}
		}
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// question is the selector to count. Of a histogram its _count lines are counted,
// one for twenty bucket lines.
func question(name string, ms matchers) string {
	if base, ok := strings.CutSuffix(name, bucketForm); ok {
		name = base + "_count"
	}
	return name + ms.promQL()
}

const bucketForm = "_bucket"

// patterns yields all that the dialect's reading depends on, with the prefixes that
// each may have.
func (d *Dialect) patterns(yield func(prefixes []string, s selector) bool) {
	for _, p := range d.conditions() {
		if !yield(d.prefixes, p.selector) {
			return
		}
	}
	for signal, ways := range d.signals {
		for i := range ways {
			for _, p := range slices.Concat(ways[i].operands()...) {
				for _, form := range formsOf(signal, &ways[i]) {
					one := p.selector
					one.name += form
					if !yield(d.under(&ways[i]), one) {
						return
					}
				}
			}
		}
	}
}

// conditions are the patterns that only have to be there, or not.
func (d *Dialect) conditions() []pattern {
	all := slices.Concat(d.detect.Any, d.detect.All, d.detect.None)
	for _, v := range d.versions {
		all = slices.Concat(all, v.Any, v.All, v.None)
	}
	if d.choose != nil {
		all = append(all, d.choose.Counts)
	}
	for _, ways := range d.signals {
		for i := range ways {
			if ways[i].Unless != nil {
				all = append(all, *ways[i].Unless)
			}
		}
	}
	return all
}

// formsOf are the endings that the series of a way's names may have: a histogram has
// buckets, or is one value.
func formsOf(signal model.Signal, w *way) []string {
	if w.Mean == nil && w.Ranges == nil && signalKind(signal) == model.Histogram {
		return []string{bucketForm, ""}
	}
	return []string{""}
}

func signalKind(signal model.Signal) model.Kind {
	for _, info := range model.Signals {
		if info.Signal == signal {
			return info.Kind
		}
	}
	return model.Gauge
}

// matching yields the names that a selector under a prefix may mean.
func (v *inventory) matching(prefix string, s selector) iter.Seq[string] {
	return func(yield func(string) bool) {
		name := prefix + s.name
		at, found := slices.BinarySearch(v.names, name)
		if !s.open {
			if found {
				yield(name)
			}
			return
		}
		for ; at < len(v.names) && strings.HasPrefix(v.names[at], name) && yield(v.names[at]); at++ {
		}
	}
}

func newInventory(names []string, series map[string]float64) *inventory {
	v := &inventory{slices.Sorted(slices.Values(names)), series, map[string]bool{}, map[string]bool{}}
	for q, n := range series {
		name, _, _ := strings.Cut(q, "{")
		v.alive[name] = v.alive[name] || n > 0
	}
	return v
}

// count is how many series a selector means that no other view reads. Of one that
// stands for many names it is only known whether there are any.
func (v *inventory) count(prefix string, s selector) float64 {
	n := 0.0
	for name := range v.matching(prefix, s) {
		switch {
		case v.taken[name]:
		case !s.open:
			n += v.series[question(name, s.matchers)]
		case v.alive[question(name, nil)]:
			n++
		}
	}
	return n
}

func (v *inventory) holds(prefixes []string, c condition) bool {
	has := func(p pattern) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return v.count(prefix, p.selector) > 0 })
	}
	lacks := func(p pattern) bool { return !has(p) }
	if c.empty() || len(c.Any) > 0 && !slices.ContainsFunc(c.Any, has) || slices.ContainsFunc(c.All, lacks) {
		return false
	}
	return !slices.ContainsFunc(c.None, has)
}

// readsOf is what a way needs; ok is false where the server lacks any of it.
func (d *Dialect) readsOf(v *inventory, signal model.Signal, w *way) (reads []Read, ok bool) {
	for _, names := range w.operands() {
		found := d.operand(v, signal, w, names)
		if len(found) == 0 {
			return nil, false
		}
		reads = append(reads, found...)
	}
	return reads, true
}

// operand is what is to be asked for one operand.
func (d *Dialect) operand(v *inventory, signal model.Signal, w *way, names []pattern) []Read {
	var all []Read
	for _, form := range formsOf(signal, w) {
		r := Read{
			Kind: signalKind(signal), Buckets: form == bucketForm, Merge: w.merge(signal, names),
			Except: w.Removed, bare: w.Bare, By: d.keptBy(signal, w), Signals: []model.Signal{signal},
		}
		switch {
		case r.Kind != model.Histogram:
		case w.Mean != nil || w.Ranges != nil:
			r.Kind = model.Counter
		default:
			r.Native = !r.Buckets
		}
		r.Within = d.repeated(r.Kind)
		r.find(v, d, w, names, form)
		if len(r.Names) == 0 {
			continue
		}
		all = append(all, r)
		if r.Buckets {
			all = append(all, r.sums())
		}
	}
	return all
}

// find looks which of the names the server has. Of scalars it is all of them: where
// an upgrade is half done some engines bear the new name and some the old. The
// bounds of a histogram may have changed with its name, and matchers go with one.
func (r *Read) find(v *inventory, d *Dialect, w *way, names []pattern, form string) {
	for _, p := range names {
		if len(r.Names) > 0 && (r.Kind == model.Histogram || len(p.matchers) > 0 || len(r.ms) > len(d.only)) {
			return
		}
		p.selector.name += form
		for _, prefix := range d.under(w) {
			if n := v.count(prefix, p.selector); n > 0 {
				r.Names, r.Series = append(r.Names, prefix+p.selector.name), r.Series+n
			}
		}
		r.ms = slices.Concat(p.matchers, d.only)
		r.Match = r.ms.inner()
		for _, m := range r.ms {
			r.keep(m.label)
		}
	}
}

func (r *Read) keep(label string) {
	if label != "" && !slices.Contains(r.By, label) {
		r.By = append(r.By, label)
	}
}

// sums are the lines beside a histogram's buckets. Its count is the last bucket.
func (r Read) sums() Read {
	r.Kind, r.Buckets = model.Counter, false
	names := make([]string, len(r.Names))
	for i, name := range r.Names {
		names[i] = strings.TrimSuffix(name, bucketForm) + "_sum"
	}
	r.Names, r.By = names, slices.Clone(r.By)
	return r
}

// merge says how the servers' values of an operand make one. What is multiplied with
// is a setting that all of them share.
func (w *way) merge(signal model.Signal, names []pattern) Merge {
	switch {
	case len(w.Read) > 0:
		return Count
	case notAdditive(signal), w.Times != nil && names[0].text == w.Times.text:
		return Max
	}
	return Sum
}

// keptBy are the labels that tell the samples of a signal apart.
func (d *Dialect) keptBy(signal model.Signal, w *way) []string {
	var r Read
	texts := []string{d.labels.Model, d.labels.Workflow, d.labels.Adapter}
	switch signal {
	case model.Finished:
		texts = append(texts, d.labels.Reason)
	case model.Failed, model.Cancelled:
		texts = append(texts, d.labels.Failure)
	}
	if w.Ranges != nil {
		texts = append(texts, w.Ranges.Label)
	}
	texts = append(texts, w.Weight)
	if len(w.Read) > 0 { // which of the labels there are shows only in the answer
		for i := range d.signals[signal] {
			texts = append(texts, d.signals[signal][i].Read...)
		}
	}
	if d.choose != nil {
		texts = append(texts, d.choose.Label)
	}
	for _, text := range texts {
		for name := range strings.SplitSeq(text, "|") {
			r.keep(name)
		}
	}
	for _, name := range d.keep {
		r.keep(name)
	}
	return r.By
}

// repeated are the labels in which rows repeat one value.
func (d *Dialect) repeated(kind model.Kind) []string {
	if kind == model.Gauge {
		return slices.Concat(d.labels.Ranks, d.labels.Copies)
	}
	return d.labels.Ranks
}

// promQL writes matchers as PromQL has them, "" for none.
func (ms matchers) promQL() string {
	if len(ms) == 0 {
		return ""
	}
	return "{" + ms.inner() + "}"
}

func (ms matchers) inner() string {
	texts := make([]string, len(ms))
	for i, m := range ms {
		op := "="
		switch {
		case m.re != nil && m.not:
			op = "!~"
		case m.re != nil:
			op = "=~"
		case m.not:
			op = "!="
		}
		texts[i] = m.label + op + strconv.Quote(m.value)
	}
	return strings.Join(texts, ",")
}

// Names are the beginnings of the names that the dialects know, and those names
// that have none of them.
func (s *Set) Names() (prefixes, names []string) {
	for _, d := range s.dialects {
		for under, p := range d.patterns {
			for _, prefix := range under {
				switch {
				case prefix != "":
					prefixes = append(prefixes, prefix)
				case p.open:
					prefixes = append(prefixes, p.name)
				default:
					names = append(names, p.name)
				}
			}
		}
	}
	slices.Sort(prefixes)
	slices.Sort(names)
	return slices.Compact(prefixes), slices.Compact(names)
}

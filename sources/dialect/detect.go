package dialect

import (
	"slices"
	"strings"

	"slotop/sources/expo"
)

// index finds a page's series by name.
type index struct {
	page     *expo.Page
	byName   map[string][]int
	crowds   map[string][]*expo.Crowd // by the sample names of their columns
	names    []string                 // of series, crowds and declared families, sorted
	declared map[string]bool          // without a sample
}

func newIndex(p *expo.Page) *index {
	x := &index{page: p, byName: make(map[string][]int, len(p.Series)), declared: map[string]bool{}}
	sampled := map[string]bool{}
	for i := range p.Series {
		name := p.Series[i].Name
		if x.byName[name] == nil {
			x.names = append(x.names, name)
		}
		x.byName[name] = append(x.byName[name], i)
		sampled[p.Series[i].Family] = true
	}
	for _, t := range p.Crowds {
		x.addCrowd(t, sampled)
	}
	for _, f := range p.Families {
		if !sampled[f.Name] {
			x.declared[f.Name] = true
			x.names = append(x.names, f.Name)
		}
	}
	x.addDotted()
	slices.Sort(x.names)
	return x
}

// addDotted makes names with dots known under the underscores that readers of
// older formats get to see, except where the page has those as well: the two are
// one metric, and must not be added.
func (x *index) addDotted() {
	for _, name := range x.names {
		if !strings.Contains(name, ".") {
			continue
		}
		plain := strings.ReplaceAll(name, ".", "_")
		if x.byName[plain] != nil || x.crowds[plain] != nil || x.declared[plain] {
			continue
		}
		x.names = append(x.names, plain)
		switch {
		case x.byName[name] != nil:
			x.byName[plain] = x.byName[name]
		case x.crowds[name] != nil:
			x.crowds[plain] = x.crowds[name]
		default:
			x.declared[plain] = true
		}
	}
}

func (x *index) addCrowd(t *expo.Crowd, sampled map[string]bool) {
	if x.crowds == nil {
		x.crowds = map[string][]*expo.Crowd{}
	}
	for i := range t.Columns {
		col := &t.Columns[i]
		sampled[col.Family] = true
		if known := x.crowds[col.Name]; !slices.Contains(known, t) {
			if len(known) == 0 && x.byName[col.Name] == nil {
				x.names = append(x.names, col.Name)
			}
			x.crowds[col.Name] = append(known, t)
		}
	}
}

// Detect finds the dialect of a page: of those whose condition holds the one with
// the highest priority. A Prometheus server's federation page bears the names of
// many engines and is the page of none.
func (s *Set) Detect(p *expo.Page) (*Dialect, bool) {
	from := originOf(p)
	if from == fromFederation {
		return nil, false
	}
	x := newIndex(p)
	for _, d := range s.dialects {
		if (from == fromServer || d.collected) && x.holds(d.prefixes, d.detect) {
			return d, true
		}
	}
	return nil, false
}

// origin is who wrote a page.
type origin uint8

const (
	fromServer     origin = iota // what it tells of
	fromFederation               // a Prometheus server that scraped others
	fromCollector                // an OpenTelemetry collector that others tell
)

// originOf tells by the labels job and instance of most series, which a Prometheus
// server gives to what it scraped: added up, they would count a server twice that
// two of its jobs scrape. A collector gives them to the services that it hears,
// each once, and unlike such a server's federation its page says types.
func originOf(p *expo.Page) origin {
	scraped := func(l []expo.Label) bool { return label(l, "job") != "" && label(l, "instance") != "" }
	n, all, typed := 0, len(p.Series), 0
	note := func(labels []expo.Label, t expo.Type, series int) {
		if scraped(labels) {
			if n += series; t != expo.Untyped {
				typed += series
			}
		}
	}
	for _, s := range p.Series {
		note(s.Labels, s.Type, 1)
	}
	for _, t := range p.Crowds {
		all += t.Rows() * len(t.Columns)
		if t.Rows() > 0 && len(t.Columns) > 0 { // a family's rows have the same names
			note(t.Labels(0, nil), t.Columns[0].Type, t.Rows()*len(t.Columns))
		}
	}
	switch {
	case 2*n <= all:
		return fromServer
	case 2*typed <= n:
		return fromFederation
	default:
		return fromCollector
	}
}

// holds reports whether the page satisfies a condition. An empty one holds nowhere.
func (x *index) holds(prefixes []string, c condition) bool {
	if c.empty() {
		return false
	}
	has := func(p pattern) bool { return x.has(prefixes, p.selector) }
	if len(c.Any) > 0 && !slices.ContainsFunc(c.Any, has) {
		return false
	}
	for _, p := range c.All {
		if !has(p) {
			return false
		}
	}
	return !slices.ContainsFunc(c.None, has)
}

// has reports whether a series on this page, or a family without samples,
// matches the selector under one of the prefixes.
func (x *index) has(prefixes []string, s selector) bool {
	for _, prefix := range prefixes {
		name := prefix + s.name
		if !s.open {
			if x.hasName(name, s.matchers) {
				return true
			}
			continue
		}
		at, _ := slices.BinarySearch(x.names, name)
		for ; at < len(x.names) && strings.HasPrefix(x.names[at], name); at++ {
			if x.hasName(x.names[at], s.matchers) {
				return true
			}
		}
	}
	return false
}

func (x *index) hasName(name string, ms matchers) bool {
	if len(ms) == 0 && x.declared[name] {
		return true
	}
	listed := slices.ContainsFunc(x.byName[name], func(i int) bool {
		return x.page.Seen[i] && ms.match(x.page.Series[i].Labels)
	})
	return listed || slices.ContainsFunc(x.crowds[name], func(t *expo.Crowd) bool {
		here, _ := findRow(t, name, func(*expo.Column) bool { return true }, ms)
		return here
	})
}

// versionOf is the text of the first version hint that holds.
func (x *index) versionOf(d *Dialect) string {
	for _, v := range d.versions {
		if x.holds(d.prefixes, v.condition) {
			return v.Say
		}
	}
	return ""
}

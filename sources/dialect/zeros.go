package dialect

import (
	"math"
	"slices"

	"slotop/model"
)

// outcomes are the counters whose rows appear with the first request that ends so.
var outcomes = []model.Signal{model.Failed, model.Cancelled, model.Retried}

// addZeros tells 0 of those whose requests a gateway counts and of whom it shows
// no failure: where the page has the counter's rows for others, the row of one who
// had none is missing because nothing happened. Where it has none at all, that may
// as well be another release, and nothing is known.
func (c *compiler) addZeros(l *layout) {
	if l.reading(model.Finished) == nil || l.dialect.kind != model.GatewayTarget || !l.dialect.lazy {
		return
	}
	for _, s := range outcomes {
		if r := l.reading(s); r != nil {
			r.addZeros(l.reading(model.Finished))
			continue
		}
		r := c.nothingYet(s, l.dialect)
		if r == nil {
			continue
		}
		if r.addZeros(l.reading(model.Finished)); len(r.rows) > 0 {
			l.readings = append(l.readings, *r)
			l.absent = slices.DeleteFunc(l.absent, func(a absence) bool { return a.signal == s })
		}
	}
	slices.SortStableFunc(l.readings, func(a, b reading) int { return placeOfSignal(a.signal) - placeOfSignal(b.signal) })
}

func (l *layout) reading(s model.Signal) *reading {
	i := slices.IndexFunc(l.readings, func(r reading) bool { return r.signal == s })
	if i < 0 {
		return nil
	}
	return &l.readings[i]
}

// nothingYet is a reading without rows of a signal whose family the page has, for
// other outcomes. What takes an option may be switched off.
func (c *compiler) nothingYet(s model.Signal, d *Dialect) *reading {
	for i := range d.signals[s] {
		w := &d.signals[s][i]
		if w.Needs != "" || w.Weight != "" {
			continue
		}
		b := builder{compiler: c, d: d, w: w, signal: s, kind: model.Counter}
		for _, n := range w.From {
			for _, prefix := range d.under(w) {
				if rows := b.pick(prefix+n.name, nil); slices.ContainsFunc(rows, b.tells) {
					return &reading{absence: absence{signal: s, lazy: d.lazy, waits: w.Rare}, kind: model.Counter, way: w, metric: prefix + n.text}
				}
			}
		}
	}
	return nil
}

// tells reports whether series i is on the page and says whose requests it counts.
func (b *builder) tells(i int) bool {
	k, _ := b.locate(b.page.Series[i].Labels)
	return b.page.Seen[i] && k.model+k.workflow != ""
}

// addZeros adds a row of 0 for each row of counted that the reading has no like of.
// Where one of its rows says nobody's name, the failures may be anybody's.
func (r *reading) addZeros(counted *reading) {
	if r.crowd != nil || counted.crowd != nil || r.way.Needs != "" {
		return
	}
	whose := func(l model.LabelSet) model.LabelSet { return model.Labels(withoutReason(l)...) }
	has := map[model.LabelSet]bool{}
	for i := range r.rows {
		if l := r.rows[i].labels; l.Get(model.LabelModel)+l.Get(model.LabelWorkflow) == "" {
			return
		}
		has[whose(r.rows[i].labels)] = true
	}
	for i := range counted.rows {
		row := &counted.rows[i]
		l := whose(row.labels)
		if !has[l] {
			has[l] = true
			r.rows = append(r.rows, zeroLike(l, row))
		}
	}
}

// zeroLike is a row of 0 that is there where any line of another row is. It is no
// sum of them: what they showed last is not its business.
func zeroLike(l model.LabelSet, other *row) row {
	var c cell
	for _, of := range other.terms[0].cells {
		c.ranks = append(c.ranks, of.ranks...)
	}
	return row{labels: l, terms: []term{{removed: math.NaN(), cells: []cell{c}}}}
}

func withoutReason(l model.LabelSet) []string {
	var pairs []string
	for name, value := range l.All {
		if name != model.LabelReason {
			pairs = append(pairs, name, value)
		}
	}
	return pairs
}

func placeOfSignal(s model.Signal) int {
	return slices.IndexFunc(model.Signals, func(info model.SignalInfo) bool { return info.Signal == s })
}

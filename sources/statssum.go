package sources

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"slotop/model"
)

// stats turns the stats documents of one target into batches.
type stats struct {
	reader  statsReader
	epoch   string
	started model.Stamp
	groups  map[string]*standing // by identity
	order   []*standing          // as they first came
	samples []model.Sample       // reused: a batch is valid until the next poll
	told    told
	about   *model.About
}

// standing is a group as it was last seen. One that is gone from the document
// stands still: its counts are part of sums that must not seem to begin anew.
type standing struct {
	*statsGroup
	gone bool
	by   [2]bool // reasons stand in for the total
	set  [2]bool // that is decided
}

// told is what a document made us say, to tell when that changes.
type told struct {
	gateway gatewayName
	models  string
	notes   string
	found   uint64 // signals, by their place among all
}

func newStats(keep []string) *stats {
	return &stats{reader: statsReader{labels: newLabels(keep)}, groups: map[string]*standing{}}
}

// errNoStats says that a text is something else than a stats document.
var errNoStats = errors.New("not a stats document")

// read is one poll's document, which is wiped.
func (s *stats) read(body []byte) (model.Batch, error) {
	doc, whole := s.reader.read(body)
	if !strings.HasPrefix(doc.schema, statsSchema) {
		return model.Batch{}, errNoStats
	}
	clear(body)
	switch {
	case len(body) > maxStats:
		return model.Batch{}, &FaultError{model.Oversized, fmt.Sprintf("the stats document is larger than %d bytes", maxStats)}
	case doc.schema != statsSchema+"1":
		return model.Batch{}, &FaultError{model.UnsupportedPage, "a stats document of another version: " + statsSchema + "1 can be read"}
	case !whole:
		return model.Batch{}, &FaultError{model.Malformed, "the stats document is not JSON to its end: it may have been cut off"}
	case doc.generated == 0:
		return model.Batch{}, &FaultError{model.Malformed, "the stats document has no generated_at"}
	case !doc.hasGroups:
		return model.Batch{}, &FaultError{model.Malformed, "the stats document has no groups"}
	}
	s.take(doc)
	batch := model.Batch{
		Samples: s.sum(doc), Reported: doc.windows(), Epoch: doc.epoch,
		Dropped: doc.dropped, BadLines: doc.nameless,
	}
	if doc.nameless > 0 {
		batch.FirstBad = fmt.Sprintf("%d of the groups are skipped: neither workflow nor model", doc.nameless)
	}
	batch.About = s.describe(doc)
	return batch, nil
}

// take keeps what the document says. After a restart, which another epoch or
// start shows, or any count that fell, what is gone will not come back.
func (s *stats) take(doc *statsDoc) {
	if doc.epoch != "" && doc.epoch != s.epoch || doc.started > s.started || s.fell(doc) {
		clear(s.groups)
		s.order = s.order[:0]
	}
	s.epoch, s.started = cmp.Or(doc.epoch, s.epoch), max(doc.started, s.started)
	for _, k := range s.order {
		k.gone = true
	}
	for _, g := range doc.groups {
		k := s.groups[g.id]
		if k == nil {
			k = &standing{}
			s.groups[g.id] = k
			s.order = append(s.order, k)
		}
		k.statsGroup, k.gone = g, false
		k.decide()
	}
	if len(s.order) > maxGroups {
		s.order = slices.DeleteFunc(s.order, func(k *standing) bool {
			if k.gone {
				delete(s.groups, k.id)
			}
			return k.gone
		})
	}
}

// fell reports whether a count is smaller than it was.
func (s *stats) fell(doc *statsDoc) bool {
	for _, g := range doc.groups {
		k := s.groups[g.id]
		for i := range g.totals {
			if k != nil && g.totals[i].n.OK() && k.totals[i].n.OK() && g.totals[i].n.Value < k.totals[i].n.Value {
				return true
			}
		}
	}
	return false
}

// decide says once whether reasons stand in for a total: where they add up to
// it when it first is not 0.
func (k *standing) decide() {
	for i, r := range statsReasons {
		total := k.totals[r.of].n
		if k.set[i] || !(total.Value > 0) && len(k.reasons[i]) == 0 {
			continue
		}
		k.by[i] = len(k.reasons[i]) > 0 && (!total.OK() || total == k.reasonSum(i))
		k.set[i] = true
	}
}

// reasonSum is what the reasons add up to.
func (k *standing) reasonSum(i int) model.Reading {
	sum := model.Of(0)
	for _, one := range k.reasons[i] {
		sum = sum.Plus(one.n)
	}
	return sum
}

// summing adds up samples of the same signal and labels.
type summing struct {
	samples []model.Sample
	at      map[sampleID]int
	whole   bool // no more samples are begun
}

type sampleID struct {
	signal model.Signal
	labels model.LabelSet
}

// add adds a value, where it is known.
func (s *summing) add(signal model.Signal, kind model.Kind, c counted) {
	if !c.n.OK() {
		return
	}
	if i, ok := s.at[sampleID{signal, c.labels}]; ok {
		s.samples[i].Value += c.n.Value
		return
	}
	s.put(model.Sample{Signal: signal, Labels: c.labels, Kind: kind, Value: c.n.Value})
}

func (s *summing) addHistogram(signal model.Signal, labels model.LabelSet, h *model.Buckets) {
	if h == nil {
		return
	}
	if i, ok := s.at[sampleID{signal, labels}]; ok {
		s.samples[i].Hist = addHistograms(s.samples[i].Hist, h)
		return
	}
	s.put(model.Sample{Signal: signal, Labels: labels, Kind: model.Histogram, Value: math.NaN(), Hist: h})
}

func (s *summing) put(sample model.Sample) {
	if s.whole {
		return
	}
	s.at[sampleID{sample.Signal, sample.Labels}] = len(s.samples)
	s.samples = append(s.samples, sample)
}

// sum makes samples of the document's groups, and of those that are gone where
// they are part of the same sums.
func (s *stats) sum(doc *statsDoc) []model.Sample {
	all := summing{samples: s.samples[:0], at: map[sampleID]int{}}
	for _, k := range s.order {
		if !k.gone {
			k.addLevels(&all)
			k.addCounts(&all)
		}
	}
	if doc.started > 0 {
		all.add(model.ProcessStart, model.Gauge, counted{n: model.Of(float64(doc.started) / 1e9)})
	}
	all.whole = true
	for _, k := range s.order {
		if k.gone {
			k.addCounts(&all)
		}
	}
	s.samples = all.samples
	return all.samples
}

func (k *standing) addLevels(all *summing) {
	for i, l := range statsLevels {
		all.add(l.signal, model.Gauge, counted{k.labels, k.levels[i]})
	}
}

func (k *standing) addCounts(all *summing) {
	for i, t := range statsTotals {
		for _, c := range k.counts(i) {
			all.add(t.signal, model.Counter, c)
		}
	}
	for i, l := range statsLatencies {
		all.addHistogram(l.signal, k.labels, k.latencies[i].hist)
	}
}

// counts are a total, or the reasons that stand in for it.
func (k *standing) counts(total int) []counted {
	for i, r := range statsReasons {
		if r.of == total && k.by[i] {
			return k.reasons[i]
		}
	}
	return k.totals[total : total+1]
}

// windows are the quantiles that the gateway worked out itself.
func (d *statsDoc) windows() (all []model.Reported) {
	for _, g := range d.groups {
		for i := range g.latencies {
			if w := g.latencies[i].window; w != nil {
				all = append(all, *w)
			}
		}
	}
	return all
}

// describe hands out the same pointer until something in it changes.
func (s *stats) describe(doc *statsDoc) *model.About {
	names := map[string]bool{}
	for _, g := range doc.groups {
		if g.model != "" && len(names) < maxModels {
			names[g.model] = true
		}
	}
	models := slices.Sorted(maps.Keys(names))
	notes := append(doc.gateway.notes(), s.doubts(doc)...)
	now := told{gateway: doc.gateway, models: strings.Join(models, "\xff"), notes: strings.Join(notes, "\xff")}
	found := map[model.Signal]bool{}
	for i := range s.samples {
		found[s.samples[i].Signal] = true
	}
	for i, info := range model.Signals {
		if found[info.Signal] {
			now.found |= 1 << i
		}
	}
	if s.about != nil && now == s.told {
		return s.about
	}
	s.told = now
	s.about = &model.About{Kind: model.GatewayTarget, Engine: doc.gateway.software, Version: doc.gateway.version, Models: models, Notes: notes}
	for _, m := range statsMeanings() {
		if found[m.Signal] {
			s.about.Meanings = append(s.about.Meanings, m)
			continue
		}
		s.about.Missing = append(s.about.Missing, m.Signal)
	}
	return s.about
}

// statsMeanings are the signals that a stats document can have, and where.
func statsMeanings() []model.Meaning {
	var all []model.Meaning
	for _, table := range []struct {
		in     string
		fields []statsField
	}{{"now", statsLevels}, {"total", statsTotals}, {"latency", statsLatencies}} {
		for _, f := range table.fields {
			metric := table.in + "." + f.name
			if n := len(all); n > 0 && all[n-1].Signal == f.signal {
				all[n-1].Metric += " + " + metric
				continue
			}
			all = append(all, model.Meaning{Signal: f.signal, Metric: metric})
		}
	}
	return all
}

// doubts say where the document contradicts itself. Nothing is put right.
func (s *stats) doubts(doc *statsDoc) []string {
	var apart, broken noted
	var by [2]noted
	for _, g := range doc.groups {
		apart.note(g, !g.addsUp())
		for i, r := range statsReasons {
			k := standing{statsGroup: g}
			sum := k.reasonSum(i)
			by[i].note(g, len(g.reasons[i]) > 0 && g.totals[r.of].n.OK() && sum.OK() && sum != g.totals[r.of].n)
		}
		broken.note(g, slices.ContainsFunc(g.latencies[:], func(l latency) bool { return l.broken }))
	}
	var notes []string
	if len(doc.groups) == 0 {
		notes = append(notes, "the gateway has no group of requests yet")
	}
	say := func(n noted, text string) {
		if n.n > 0 {
			notes = append(notes, text+n.where())
		}
	}
	say(apart, "what ended or is in flight does not add up to what was received")
	for i, r := range statsReasons {
		say(by[i], r.name+" does not add up to "+statsTotals[r.of].name)
	}
	say(broken, "a latency's buckets contradict themselves and are left out")
	if doc.dropped > 0 {
		notes = append(notes, fmt.Sprintf("%d groups or reasons more than can be read", doc.dropped))
	}
	return notes
}

// addsUp reports whether what was received is what ended and what is in flight,
// as far as all of it is known.
func (g *statsGroup) addsUp() bool {
	sum := g.inFlight
	for _, c := range g.totals[atEnds : atFailed+1] {
		sum = sum.Plus(c.n)
	}
	in := g.totals[atReceived].n
	return !sum.OK() || !in.OK() || sum == in
}

// noted counts groups and remembers the first.
type noted struct {
	n     int
	first string
}

func (n *noted) note(g *statsGroup, is bool) {
	if !is {
		return
	}
	if n.n++; n.n == 1 {
		n.first = g.name
	}
}

func (n *noted) where() string {
	if n.n == 1 {
		return " in " + n.first
	}
	return fmt.Sprintf(" in %d groups, such as %s", n.n, n.first)
}

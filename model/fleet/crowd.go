package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/hist"
	"slotop/model/slo"
)

// Gateways label latency by user, session or execution: a page may name tens of
// thousands of workflows, of which nobody reads more than the first few. Beyond
// maxWorkflows names the busiest get a row each and the others are poured
// together: of each series only what it showed last is kept, and what it gained
// goes into one common series. Totals stay exact.
const (
	// crowdRows is how many names of a crowd have a row of their own; more only
	// where the operator promised more of them something.
	crowdRows = 20
	// chooseEvery is how often, in pages, it is asked again who they are.
	chooseEvery = 32
	// memberPolls is for how many pages a poured series may be absent before it
	// is forgotten. One that comes back after that counts as new.
	memberPolls = 64
)

// crowd is who of a page's many names has a row. The zero crowd is none: all do.
type crowd struct {
	names   int // that the page told apart when it was looked at
	samples int // of that page
	named   map[string]bool
}

// ownName is what a sample calls its workflow, "" for one that names none.
func ownName(l model.LabelSet) string {
	return cmp.Or(l.Get(model.LabelWorkflow), l.Get(model.LabelModel))
}

// choose looks whether a page names too many workflows, and who is busiest. Pages
// repeat: it does so only when one has another size, and now and then. It reports
// whether others have rows now.
func (c *crowd) choose(b *model.Batch, poll int, promised func(name string) bool) (changed bool) {
	due := poll%chooseEvery == 0 || c.named == nil && len(b.Samples) != c.samples
	if !due || len(b.Samples) <= maxWorkflows && c.named == nil {
		return false
	}
	before := c.named
	defer func() { changed = !maps.Equal(before, c.named) }()
	c.samples = len(b.Samples)
	traffic := map[string]float64{}
	for i := range b.Samples {
		if name := ownName(b.Samples[i].Labels); name != "" {
			traffic[name] += requestsIn(&b.Samples[i])
		}
	}
	c.named = nil
	for name := range traffic {
		if promised(name) {
			traffic[name] = math.Inf(1) // whatever it sees, somebody waits for it
		}
	}
	if c.names = len(traffic); c.names > maxWorkflows {
		c.named = busiest(traffic)
	}
	return changed
}

// requestsIn is how many requests a sample has counted since its server started.
func requestsIn(s *model.Sample) float64 {
	switch {
	case s.Hist != nil && (s.Signal == model.TTFT || s.Signal == model.E2E):
		return s.Hist.N()
	case s.Signal == model.Finished || s.Signal == model.Started:
		return known(s.Value)
	default:
		return 0
	}
}

func busiest(traffic map[string]float64) map[string]bool {
	names := make([]string, 0, len(traffic))
	for name := range traffic {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(traffic[b], traffic[a]), strings.Compare(a, b))
	})
	named := make(map[string]bool, crowdRows)
	for i, name := range names {
		if i >= crowdRows && !math.IsInf(traffic[name], 1) || i >= maxWorkflows {
			break
		}
		named[name] = true
	}
	return named
}

// joins reports whether a series is poured into a common one.
func (c *crowd) joins(l model.LabelSet) bool {
	if c.named == nil {
		return false
	}
	name := ownName(l)
	return name != "" && !c.named[name]
}

// pooled is where a series that has no row of its own counts: in the workflow
// that the operator gave it to, or among the others.
func (t *target) pooled(l model.LabelSet, promise *slo.Set) (o slo.Origin, row string, ok bool) {
	if !t.crowd.joins(l) {
		return o, "", false
	}
	o = t.origin(l)
	if row, _ = promise.Find(o); row == ownName(l) {
		o, row = slo.Origin{Workflow: model.OtherName}, model.OtherName
	}
	return o, row, true
}

// note says that rows stand for many.
func (c *crowd) note() string {
	if c.named == nil {
		return ""
	}
	return fmt.Sprintf("%d workflows: grouped, the %d busiest have a row each", c.names, len(c.named))
}

// poolFor is the common series of those that count for one workflow and differ
// in nothing else that matters.
func (c *columns) poolFor(sl *slot, o slo.Origin, row string) *slot {
	k := key{sl.key.signal, model.Labels(model.LabelReason, sl.key.labels.Get(model.LabelReason), poolLabel, row)}
	if p := c.index[k]; p != nil {
		return p
	}
	p := c.add(k, sl.kind)
	if p != nil {
		p.isPool, p.origin = true, o
	}
	return p
}

// poolLabel keeps a common series apart from those of the page. No exposed label
// can be called that.
const poolLabel = "\x00pool"

// pour adds what a series gained to its pool's. One that is new counts whole, if
// it was born since the server was first read.
func (sl *slot) pour(c *columns, s *model.Sample, poll int, born bool, row *[]float64) {
	p := sl.pool
	sl.seen = poll
	if p.seen != poll {
		p.seen, p.level = poll, math.NaN()
	}
	switch {
	case s.Kind == model.Histogram && s.Hist != nil:
		sl.pourHist(c, s.Hist, born, row)
	case s.Kind == model.Counter && p.col >= 0:
		*row = grown(*row, c.width)
		p.poured = wide(p.poured, 1)
		p.poured[0] += sl.gain([]float64{credible(s.Value)}, born)[0]
		(*row)[p.col] = p.poured[0]
	case s.Kind == model.Gauge && s.Value >= 0 && s.Value <= beyond:
		p.level = joinedLevel(p.key.signal, p.level, s.Value)
	}
}

func joinedLevel(s model.Signal, sum, v float64) float64 {
	switch {
	case math.IsNaN(sum):
		return v
	case largestCounts(s):
		return max(sum, v)
	default:
		return sum + v
	}
}

func (sl *slot) pourHist(c *columns, b *model.Buckets, born bool, row *[]float64) {
	if _, err := hist.Of(b); b.Incomplete || err != nil {
		sl.pool.incomplete = true
		return
	}
	sp, ok := sl.pool.spanFor(c, b)
	if !ok {
		return
	}
	now := append(slices.Clone(b.Counts), math.NaN())
	if b.Sum.OK() {
		now[len(now)-1] = credible(b.Sum.Value)
	}
	*row = grown(*row, c.width)
	r := (*row)[sp.col : sp.col+sp.width()]
	at := &sl.pool.spans[len(sl.pool.spans)-1]
	at.poured = wide(at.poured, sp.width())
	for i, d := range sl.gain(now, born) {
		at.poured[i] += d
		r[i] = at.poured[i]
	}
}

// gain is what each number grew by since the last page: all of it after a
// restart.
func (sl *slot) gain(now []float64, born bool) []float64 {
	was := sl.before
	sl.before = append(sl.before[:0:0], now...)
	restarted := false
	for i := range was {
		restarted = restarted || len(was) != len(now) || now[i] < was[i]
	}
	for i := range now {
		switch {
		case math.IsNaN(now[i]):
			now[i] = 0
		case len(was) == 0 && !born:
			now[i] = 0
		case len(was) == len(now) && !restarted:
			now[i] -= known(was[i])
		}
	}
	return now
}

func wide(s []float64, n int) []float64 {
	if s == nil {
		return make([]float64, n)
	}
	return s
}

// dropMembers forgets the poured series that are long gone.
func (c *columns) dropMembers(poll int) {
	c.slots = slices.DeleteFunc(c.slots, func(sl *slot) bool {
		gone := sl.pool != nil && poll-sl.seen >= memberPolls
		if gone {
			delete(c.index, sl.key)
		}
		return gone
	})
}

// regroup gives up the series that no longer stand where they belong: those that
// get a row of their own, and those that lose it. They are found again on this
// page, and begin with it.
func (c *columns) regroup(g *crowd) {
	c.slots = slices.DeleteFunc(c.slots, func(sl *slot) bool {
		if sl.isPool || g.joins(sl.key.labels) == (sl.pool != nil) {
			return false
		}
		delete(c.index, sl.key)
		c.changed = true
		if sl.col >= 0 {
			c.lost++
		}
		for _, sp := range sl.spans {
			c.lost += sp.width()
		}
		return true
	})
	c.order = nil
}

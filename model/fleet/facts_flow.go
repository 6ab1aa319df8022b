package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/model/slo"
)

// story is what a workflow is compared by, beside the parts that its targets keep.
type story struct {
	noted []noted         // newest blocks, oldest first
	base  []diagnose.Sums // quiet blocks, oldest first
	edge  []diagnose.Sums // of its gateways, in the same blocks
	gaps  []diagnose.Gap  // of the quiet minutes
	calls calls           // single requests
	told  [2]slo.Counts   // of the ledgers of engines and gateways, when the open block began
	asked *inquiry        // of its pool
}

// noted is what only the workflow as a whole knows of a block.
type noted struct {
	at              int64
	judged, good    [2]float64 // of engines and of gateways
	running, queued float64    // in flight at its end, as single requests tell
	gap             diagnose.Gap
}

// closeBlock notes what was judged in the open block.
func (w *workflow) closeBlock(at int64) {
	nan := math.NaN()
	n := noted{at: at, running: nan, queued: nan}
	for i, side := range []*side{&w.engines, &w.edge} {
		gained := side.ledger.total.Since(&w.story.told[i])
		w.story.told[i] = side.ledger.total
		if n.judged[i], n.good[i] = nan, nan; side.read > 0 {
			b := w.guessed(side, &gained)
			n.judged[i], n.good[i] = b.N, max(0, b.N-b.Bad)
		}
	}
	if w.tellsFlight && w.reporting > 0 {
		n.running, n.queued = known(w.events.flight.Running().Value), known(w.events.flight.Queued.Value)
	}
	s := &w.story
	if s.noted = append(s.noted, n); len(s.noted) > mostRecent {
		s.noted = slices.Delete(s.noted, 0, len(s.noted)-mostRecent)
	}
}

func (s *story) find(at int64) *noted {
	i, ok := slices.BinarySearchFunc(s.noted, at, func(n noted, at int64) int { return int(n.at - at) })
	if !ok {
		return nil
	}
	return &s.noted[i]
}

// which picks targets of a workflow.
type which func(t *target) bool

// sumsAt is one block of a workflow: the work as its engines count it, the outcomes
// as who stands nearest to its users does. Not ok: who should tell of it does not.
func (w *workflow) sumsAt(at int64, tells which) (diagnose.Sums, bool) {
	n := w.story.find(at)
	out, ok := w.sideAt(at, func(t *target) bool { return t.computes() && tells(t) })
	if n != nil {
		judgeBlock(&out, ok, n, 0)
	}
	if edge, there := w.sideAt(at, func(t *target) bool { return t.atEdge && tells(t) }); there {
		if n != nil {
			judgeBlock(&edge, true, n, 1)
		}
		out, ok = fronted(out, ok, edge), true
	}
	if told, there := w.reportedAt(at, n); there {
		out, ok = fronted(out, ok, told), true
	}
	return out, ok
}

func judgeBlock(s *diagnose.Sums, ok bool, n *noted, side int) {
	if ok {
		s.Counts[diagnose.Judged], s.Counts[diagnose.Good] = n.judged[side], n.good[side]
	}
}

// outcomes are what users feel best where they are nearest.
var outcomes = []diagnose.Count{
	diagnose.Failed, diagnose.Cancelled, diagnose.GaveUpEarly, diagnose.Limited, diagnose.Retried, diagnose.Throttled, diagnose.Judged, diagnose.Good,
}

// fronted puts what stands in front of the engines before what they say themselves:
// all of it where there are none, else the outcomes, and whatever else only it tells.
func fronted(engines diagnose.Sums, ok bool, front diagnose.Sums) diagnose.Sums {
	if !ok {
		return front
	}
	// Rates of the two must be of the same stretch.
	front = scaled(front, engines.Seconds/front.Seconds, engines.Seconds/front.Seconds)
	for i := range engines.Counts {
		if math.IsNaN(engines.Counts[i]) {
			engines.Counts[i] = front.Counts[i]
		}
	}
	for _, c := range outcomes {
		if !math.IsNaN(front.Counts[c]) {
			engines.Counts[c] = front.Counts[c]
		}
	}
	for i := range engines.Measures {
		if math.IsNaN(engines.Measures[i].N) {
			engines.Measures[i] = front.Measures[i]
		}
	}
	return engines
}

// sideAt sums one block over targets of a workflow. Of many a few may be late, and the
// others stand for them; where that would be more than a fifth, the block is missing.
func (w *workflow) sideAt(at int64, tells which) (diagnose.Sums, bool) {
	var blocks []*diagnose.Sums
	expected, seconds := 0, 0.0
	for _, t := range w.targets {
		p := t.past.parts[w]
		if p == nil || !tells(t) {
			continue
		}
		s := p.find(at)
		if s == nil {
			if p.any && p.first < at && t.fresh() {
				expected++
			}
			continue
		}
		expected++
		blocks, seconds = append(blocks, s), seconds+s.Seconds
	}
	if len(blocks) == 0 || float64(len(blocks)) < mostTell*float64(expected) {
		return diagnose.Nothing(), false
	}
	seconds /= float64(len(blocks))
	out := diagnose.Nothing()
	for _, s := range blocks {
		by := seconds / s.Seconds * float64(expected) / float64(len(blocks))
		joinSums(&out, scaled(*s, by, 1), by)
	}
	out.Seconds = seconds
	return out, true
}

// mostTell is how many of those expected must tell of a block.
const mostTell = 0.8

// joinSums adds one target's block, of which counts were scaled by a factor. Levels add
// up too, except that of the cache: the fullest engine is the first to queue.
func joinSums(to *diagnose.Sums, s diagnose.Sums, by float64) {
	for i := range to.Counts {
		to.Counts[i] = plusKnown(to.Counts[i], s.Counts[i])
	}
	for i := range to.Measures {
		m := &to.Measures[i]
		switch add := s.Measures[i]; {
		case diagnose.Measure(i) < diagnose.RunningLevel:
			m.N, m.Sum = plusKnown(m.N, add.N), plusKnown(m.Sum, add.Sum)
		case !(add.N > 0):
		case !(m.N > 0):
			m.N, m.Sum = add.N/by, add.Sum/by
		case diagnose.Measure(i) == diagnose.KVLevel:
			if add.Value() > m.Value() {
				m.Sum = m.N * add.Value()
			}
		default:
			m.Sum += m.N * add.Value()
		}
	}
	to.KVMost = most(to.KVMost, s.KVMost)
	to.RunMost = plusKnown(to.RunMost, s.RunMost)
}

// reportedAt is one block as requests were reported one by one, by when they ended.
// That none ended is known of a workflow whose reporter answers.
func (w *workflow) reportedAt(at int64, n *noted) (diagnose.Sums, bool) {
	out := diagnose.Nothing()
	r := &w.events
	if !r.any || w.reporting == 0 || len(r.blocks) == 0 || at < blockOf(r.blocks[0].start) {
		return out, false
	}
	out.Seconds = diagnose.Block.Seconds()
	b := &reported{}
	start := time.Duration(at) * diagnose.Block
	if i, ok := slices.BinarySearchFunc(r.blocks, start, byStart); ok {
		b = r.blocks[i]
	}
	b.counted(&out)
	if before := w.story.find(at - 1); n != nil && before != nil {
		// Of those that began in the block some have not ended, and nobody counted them.
		if grown := n.running + n.queued - before.running - before.queued; !math.IsNaN(grown) {
			out.Counts[diagnose.Arrived] = max(0, out.Counts[diagnose.Ended]+grown)
		}
	}
	if n != nil && !math.IsNaN(n.running) {
		out.Measures[diagnose.RunningLevel] = diagnose.Mean{N: 1, Sum: n.running}
		out.Measures[diagnose.WaitingLevel] = diagnose.Mean{N: 1, Sum: n.queued}
		out.RunMost = n.running
	}
	return out, true
}

// counted writes what single requests of a stretch tell.
func (s *reported) counted(out *diagnose.Sums) {
	c := &s.counts
	for k, v := range map[diagnose.Count]float64{
		diagnose.Arrived: c.Ended(), diagnose.Ended: c.Ended(), diagnose.Failed: c.Failed, diagnose.Cancelled: c.Cancelled,
		diagnose.GaveUpEarly: s.early, diagnose.Limited: c.Truncated, diagnose.Retried: s.retries, diagnose.Throttled: c.Throttled,
		diagnose.Judged: c.Good + c.Bad, diagnose.Good: c.Good, diagnose.OutputTokens: s.output.Sum,
	} {
		out.Counts[k] = max(0, v)
	}
	if p := &s.prompts; p.n > 0 || c.Ended() == 0 {
		out.Counts[diagnose.PromptTokens] = p.tokens
		out.Measures[diagnose.PromptLength] = diagnose.Mean{N: p.n, Sum: p.tokens}
		if p.ofCached > 0 {
			out.Counts[diagnose.CachedTokens] = p.tokens * p.cached / p.ofCached
		}
	}
	out.Measures[diagnose.OutputLength] = diagnose.Mean{N: s.output.N, Sum: s.output.Sum}
	for m, at := range reportedMeasures {
		t := &s.times[at]
		out.Measures[m] = diagnose.Mean{N: t.N(), Sum: t.N() * known(t.Mean().Value)}
	}
}

// reportedMeasures says which of model.Metrics a measure is.
var reportedMeasures = map[diagnose.Measure]int{
	diagnose.TTFT: slices.Index(model.Metrics, model.MetricTTFT), diagnose.TPOT: slices.Index(model.Metrics, model.MetricTPOT),
	diagnose.E2E: e2eAt, diagnose.QueueTime: slices.Index(model.Metrics, model.MetricQueue),
}

package fleet

import (
	"math"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
)

// Which count, or which measure, of a block each signal is; -1 for none. Requests
// that ended are counted by their ends, so that they are not in the table.
var (
	countOf   = indexCounts()
	measureOf = indexMeasures()
)

func indexCounts() (of [numSignals]int) {
	for i := range of {
		of[i] = -1
	}
	for s, c := range map[model.Signal]diagnose.Count{
		model.Started: diagnose.Arrived, model.Failed: diagnose.Failed, model.Cancelled: diagnose.Cancelled,
		model.Retried: diagnose.Retried, model.PromptTokens: diagnose.PromptTokens, model.CachedTokens: diagnose.CachedTokens,
		model.OutputTokens: diagnose.OutputTokens, model.Preemptions: diagnose.Preemptions, model.SpecDrafts: diagnose.Drafts,
		model.SpecDraftTokens: diagnose.DraftTokens, model.SpecAccepted: diagnose.Accepted, model.StepTokens: diagnose.Steps,
	} {
		of[signalIndex[s]] = int(c)
	}
	return of
}

func indexMeasures() (of [numSignals]int) {
	for i := range of {
		of[i] = -1
	}
	for s, m := range map[model.Signal]diagnose.Measure{
		model.PromptLength: diagnose.PromptLength, model.OutputLength: diagnose.OutputLength, model.TTFT: diagnose.TTFT,
		model.Queue: diagnose.QueueTime, model.Prefill: diagnose.PrefillTime, model.Decode: diagnose.DecodeTime,
		model.TPOT: diagnose.TPOT, model.ITL: diagnose.ITL, model.E2E: diagnose.E2E,
	} {
		of[signalIndex[s]] = int(m)
	}
	return of
}

// The signals that a page is read for.
var (
	atRunning  = signalIndex[model.Running]
	atWaiting  = signalIndex[model.Waiting]
	atKV       = signalIndex[model.KVUsage]
	atCapacity = signalIndex[model.KVCapacity]
	atUsed     = signalIndex[model.KVUsedTokens]
	atMost     = signalIndex[model.MaxRunning]
	atFinished = signalIndex[model.Finished]
	atFailed   = signalIndex[model.Failed]
	atLeft     = signalIndex[model.Cancelled]
	atQueries  = signalIndex[model.PrefixQueries]
	atHits     = signalIndex[model.PrefixHits]
	atSteps    = signalIndex[model.StepTokens]
)

// page is the levels of one page, of a target or of its part in a workflow. What is
// not told is NaN.
type page struct {
	running, waiting float64
	fullest          float64 // the KV cache usage of the engine that has least room
	usage, usages    float64 // the sum over engines, and how many say
	capacity, used   float64 // tokens
	most             float64 // sequences, as configured
}

func newPage() page {
	nan := math.NaN()
	return page{running: nan, waiting: nan, fullest: nan, capacity: nan, used: nan, most: nan}
}

func (p *page) add(signal int, v float64) {
	switch signal {
	case atRunning:
		p.running = plusKnown(p.running, v)
	case atWaiting:
		p.waiting = plusKnown(p.waiting, v)
	case atKV:
		if p.usage, p.usages = p.usage+v, p.usages+1; !(p.fullest >= v) {
			p.fullest = v
		}
	case atCapacity:
		p.capacity = plusKnown(p.capacity, v)
	case atUsed:
		p.used = plusKnown(p.used, v)
	case atMost:
		p.most = plusKnown(p.most, v)
	}
}

// plusKnown adds what is known.
func plusKnown(sum, v float64) float64 {
	switch {
	case math.IsNaN(sum):
		return v
	case math.IsNaN(v):
		return sum
	default:
		return sum + v
	}
}

// gathering is what a part saw of the block that is open.
type gathering struct {
	page    page // of the present page
	levels  [diagnose.NumMeasures]diagnose.Mean
	kvMost  float64
	runMost float64
	waited  float64
	grown   float64 // by how many those that run or wait became more, over all pages

	sums          diagnose.Sums
	queries, hits float64
	finished      float64
	limited       float64
	reasons       bool // ends are told apart by reason
}

func newGathering() gathering {
	nan := math.NaN()
	return gathering{page: newPage(), kvMost: nan, runMost: nan, waited: nan}
}

// read takes in the levels of one page.
func (p *part) read(restarted bool) {
	g := &p.open
	readMean(&g.levels[diagnose.RunningLevel], g.page.running)
	readMean(&g.levels[diagnose.WaitingLevel], g.page.waiting)
	readMean(&g.levels[diagnose.KVLevel], g.page.fullest)
	g.kvMost, g.runMost, g.waited = most(g.kvMost, g.page.fullest), most(g.runMost, g.page.running), most(g.waited, g.page.waiting)
	flying := plusKnown(g.page.running, g.page.waiting)
	switch {
	case math.IsNaN(flying):
	case restarted && !math.IsNaN(p.flying):
		// What was in flight is lost: it ended with the process, and nobody counts it.
		g.grown += flying
	case !math.IsNaN(p.flying):
		g.grown += flying - p.flying
	}
	if !math.IsNaN(flying) {
		p.flying = flying
	}
	g.page = newPage()
}

// readMean adds a reading of a level, if it is told.
func readMean(m *diagnose.Mean, v float64) {
	if !math.IsNaN(v) {
		m.N++
		m.Sum += v
	}
}

func most(a, b float64) float64 {
	if a >= b || math.IsNaN(b) {
		return a
	}
	return b
}

// notePast takes in a page: its levels, and when it was.
func (t *target) notePast(at model.Instant, born, restarted bool, every time.Duration) {
	p := &t.past
	total := t.counters.Total()
	begins := p.from == nil || t.turns.doubt
	if begins {
		p.begin(total, at.Mono)
		if t.good == 1 && t.hasDoneNothing() {
			t.freshAt = at
		}
	}
	p.grow(total, born)
	for _, sl := range t.cols.slots {
		if sl.kind != model.Gauge || sl.seen != t.good || !(sl.level >= 0) || sl.pool != nil {
			continue
		}
		p.whole.open.page.add(sl.signal, sl.level)
		if sl.part != nil && sl.part != &p.whole {
			sl.part.open.page.add(sl.signal, sl.level)
		}
	}
	now := p.whole.open.page
	p.each(func(one *part) {
		one.read(restarted)
		one.arrives = one.arrives || begins && !math.IsNaN(one.flying)
	})
	if t.step() == 0 || t.still == 0 || at.Mono-p.last >= 2*t.step() {
		p.widest, p.last = max(p.widest, at.Mono-p.last), at.Mono
		t.noteStep(at, now, restarted, every)
	}
}

// hasDoneNothing reports whether no request has ended and no token was made since the
// process started, as far as the page counts any.
func (t *target) hasDoneNothing() bool {
	counts := false
	for _, sl := range t.cols.slots {
		if col := sl.countColumn(); col >= 0 && t.isProgress(sl.key.signal) {
			if known(t.row[col]) > 0 {
				return false
			}
			counts = true
		}
	}
	return counts
}

// closeBlock ends the target's open block, of which it then knows what it counted in
// it: nothing at all where it was not read.
func (t *target) closeBlock(at int64, every time.Duration) {
	p := &t.past
	if p.last <= p.fromAt || p.from == nil {
		return
	}
	total := t.counters.Total()
	p.each(func(one *part) { one.open.sums = diagnose.Nothing() })
	for _, sl := range t.cols.slots {
		if sl.pool != nil || sl.kind == model.Gauge {
			continue
		}
		n, sum, ok := sl.gained(p.from, total)
		if !ok || t.gone(sl, n) {
			continue
		}
		p.whole.open.count(sl, n, sum)
		if sl.part != nil && sl.part != &p.whole {
			sl.part.open.count(sl, n, sum)
		}
	}
	n, elapsed := p.spread(at, t.spacing(every)), p.last-p.fromAt
	if n == 1 && elapsed > diagnose.NowBlocks*diagnose.Block {
		p.each((*part).reopen) // what of a long gap is of now is not known
	} else {
		p.each(func(one *part) { one.close(at, n, elapsed.Seconds()) })
		t.addHeat(p.from, total, at, n)
	}
	p.from = append(p.from[:0], total...)
	p.fromAt, p.widest, p.closed = p.last, 0, at
}

// gained is what a sample counted since a row: of a histogram its observations and
// their sum. A counter that fell alone gained nothing.
func (sl *slot) gained(from, total []float64) (n, sum float64, ok bool) {
	since := func(col int) float64 {
		if col >= len(from) || col >= len(total) {
			return math.NaN()
		}
		return max(0, total[col]-from[col])
	}
	if sl.kind == model.Counter {
		if sl.col < 0 {
			return 0, 0, false
		}
		n = since(sl.col)
		return n, math.NaN(), !math.IsNaN(n)
	}
	sum = math.NaN()
	for _, sp := range sl.spans {
		d := since(sp.col + len(sp.bounds))
		if math.IsNaN(d) {
			continue
		}
		n, ok = n+d, true
		sum = plusKnown(sum, since(sp.col+len(sp.bounds)+1))
	}
	return n, sum, ok
}

// count adds what a sample counted.
func (g *gathering) count(sl *slot, n, sum float64) {
	s := &g.sums
	if c := countOf[sl.signal]; c >= 0 {
		s.Counts[c] = plusKnown(s.Counts[c], n)
	}
	if m := measureOf[sl.signal]; m >= 0 {
		s.Measures[m].N = plusKnown(s.Measures[m].N, n)
		s.Measures[m].Sum = plusKnown(s.Measures[m].Sum, sum)
	}
	switch sl.signal {
	case atFinished:
		s.Counts[diagnose.Ended] = plusKnown(s.Counts[diagnose.Ended], n)
		g.finished += n
		reason := sl.key.labels.Get(model.LabelReason)
		if g.reasons = g.reasons || reason != ""; reason == "length" {
			g.limited += n
		}
	case atFailed, atLeft:
		g.finished += n
	case atQueries:
		g.queries += n
	case atHits:
		g.hits += n
	}
}

// close completes a block and puts it in its place, or in its places where points lie
// farther apart than blocks.
func (p *part) close(at, n int64, elapsed float64) {
	g := &p.open
	s := &g.sums
	g.ends(s)
	if c := &s.Counts[diagnose.Arrived]; math.IsNaN(*c) {
		// What was asked for has ended, or there is more in flight than before.
		if *c = max(0, diagnose.Arrivals(g.grown, s.Counts[diagnose.Ended])); !p.arrives || math.IsNaN(p.flying) {
			*c = s.Measures[diagnose.TTFT].N // first tokens stand for starts
		}
	}
	if c := &s.Counts[diagnose.PromptTokens]; math.IsNaN(*c) {
		*c = s.Measures[diagnose.PromptLength].Sum
	}
	if c := &s.Counts[diagnose.CachedTokens]; math.IsNaN(*c) && g.queries > 0 {
		*c = s.Counts[diagnose.PromptTokens] * min(1, g.hits/g.queries)
	}
	for m := diagnose.RunningLevel; m <= diagnose.KVLevel; m++ {
		if g.levels[m].N > 0 {
			s.Measures[m] = g.levels[m]
		}
	}
	s.Seconds, s.KVMost, s.RunMost = elapsed, g.kvMost, g.runMost
	share := partOf(*s, float64(n))
	for i := at - n + 1; i <= at; i++ {
		p.add(i, share, g.waited)
	}
	p.reopen()
}

// reopen begins a block.
func (p *part) reopen() { p.open, p.arrives = newGathering(), !math.IsNaN(p.flying) }

// ends counts how many requests ended. Where no counter does, what is measured at the
// end of a request does.
func (g *gathering) ends(s *diagnose.Sums) {
	if !math.IsNaN(s.Counts[diagnose.Ended]) {
		s.Counts[diagnose.Ended] = g.finished
		if g.reasons {
			s.Counts[diagnose.Limited] = g.limited
		}
		return
	}
	for _, m := range []diagnose.Measure{diagnose.E2E, diagnose.TPOT} {
		if n := s.Measures[m].N; !math.IsNaN(n) {
			s.Counts[diagnose.Ended] = n + g.finished
			return
		}
	}
}

// partOf is one of n equal parts of what was counted.
func partOf(s diagnose.Sums, n float64) diagnose.Sums {
	return scaled(s, 1/n, 1/n)
}

// scaled is the sums with counts and seconds times a factor each.
func scaled(s diagnose.Sums, by, seconds float64) diagnose.Sums {
	if by == 1 && seconds == 1 {
		return s
	}
	s.Seconds *= seconds
	for i := range s.Counts {
		s.Counts[i] *= by
	}
	for i := range s.Measures {
		s.Measures[i].N *= by
		s.Measures[i].Sum *= by
	}
	return s
}

package fleet

import (
	"math"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/slo"
)

const (
	// maxStages bounds the stretches of a load test that are remembered.
	maxStages = 64
	// maxStageName bounds what a viewer may call one, in bytes.
	maxStageName = 64
)

// stages are the stretches between marks. The last one is open.
type stages struct {
	closed []model.StageView
	name   string
	from   model.Instant // zero without a mark

	looked  time.Duration // when the open one was looked at last
	unseen  time.Duration // of it, so far
	cuts    cuts
	batches map[string]*batches // by workflow, of the open one
	left    map[*side]*tally    // what targets counted in it that are watched no more
}

// onMark closes the open stage and begins another.
func (f *Fleet) onMark(at model.Instant, name string) {
	s := &f.stages
	if !s.from.IsZero() {
		done := s.open(f)
		done.To = at
		s.closed = append(s.closed[:len(s.closed):len(s.closed)], done)
		if more := len(s.closed) - maxStages; more > 0 {
			s.closed = s.closed[more:]
		}
	}
	s.name, s.from = strings.ToValidUTF8(name[:min(len(name), maxStageName)], ""), at
	s.looked, s.unseen, s.cuts, s.batches, s.left = at.Mono, 0, newCuts(at.Mono), map[string]*batches{}, nil
	for _, t := range f.targets {
		t.marked, t.markedAt = append(make([]float64, 0, t.cols.width), t.counters.Total()...), t.lastGood
	}
	for _, w := range f.flows {
		w.events.stage = &reported{start: at.Mono}
		w.engines.ledger.marked, w.edge.ledger.marked = w.engines.ledger.likely, w.edge.ledger.likely
	}
	f.note(model.Event{At: at, Kind: model.EventStage, Target: model.Text(s.name)})
}

// begun is what a workflow that comes now has reported of the open stage: nothing yet. Nil
// without a stage.
func (s *stages) begun() *reported {
	if s.from.IsZero() {
		return nil
	}
	return &reported{start: s.from.Mono}
}

// see lists the stages, the open one last.
func (s *stages) see(f *Fleet) []model.StageView {
	if s.from.IsZero() {
		return []model.StageView{}
	}
	s.watch(f)
	v := s.open(f)
	s.cut(f)
	return append(s.closed[:len(s.closed):len(s.closed)], v)
}

// watch adds up for how long something was not read: a target that tells nothing, or
// a stretch in which nobody asked.
func (s *stages) watch(f *Fleet) {
	passed := f.now - s.looked
	s.looked = f.now
	blind := passed > staleAfter(max(f.every, f.longestStep()))
	for _, t := range f.targets {
		switch t.kind() {
		case model.GPUTarget, model.ProbeTarget, model.FinderTarget:
		default:
			blind = blind || t.polls > 0 && !t.fresh()
		}
	}
	if blind {
		s.unseen += passed
	}
}

func (s *stages) open(f *Fleet) model.StageView {
	v := model.StageView{Name: s.name, From: s.from, Workflows: []model.StageWorkflow{}, UnseenS: s.unseen.Seconds()}
	sums := map[*side]*tally{}
	for _, t := range f.targets {
		t.addSince(t.marked, sums)
	}
	for side, gone := range s.left {
		if sums[side] == nil {
			sums[side] = &tally{}
		}
		sums[side].add(gone)
	}
	for _, w := range f.flows {
		if ty := sums[w.front()]; ty != nil || w.events.stage != nil {
			if s.batches[w.name] == nil {
				s.batches[w.name] = &batches{}
			}
			v.Workflows = append(v.Workflows, w.stageView(ty, s.batches[w.name], s.from, f.every))
		}
	}
	slices.SortFunc(v.Workflows, func(a, b model.StageWorkflow) int { return strings.Compare(a.Name, b.Name) })
	return v
}

// part keeps what a target counted in the open stage that is not watched any more: its
// levels are nobody's now.
func (s *stages) part(t *target) {
	if s.left == nil {
		s.left = map[*side]*tally{}
	}
	t.addSince(t.marked, s.left)
	for _, ty := range s.left {
		ty.level = [numSignals]model.Reading{}
	}
}

// countedFor is how long the counters of the workflow's targets were watched since a
// mark: from the page before it to the newest. A mark lies between two pages.
func (w *workflow) countedFor(from model.Instant) time.Duration {
	first, last := time.Duration(-1), time.Duration(-1)
	for _, t := range w.targets {
		if !t.markedAt.IsZero() {
			first = max(first, t.markedAt.Mono)
		}
		if !t.lastGood.IsZero() {
			last = max(last, t.lastGood.Mono)
		}
	}
	if first < 0 {
		first = from.Mono
	}
	if last <= first {
		last = w.now.Mono
	}
	return last - first
}

// addSince sums what the target counted since a row of its counters: that was so
// whatever became of the target since.
func (t *target) addSince(marked []float64, sums map[*side]*tally) {
	if marked == nil {
		return
	}
	window, elapsed, state := t.delta, t.elapsed, t.state
	defer func() { t.delta, t.elapsed, t.state = window, elapsed, state }()
	t.state = model.Up
	t.delta = make([]float64, t.cols.width)
	total := t.counters.Total()
	for i := range t.delta {
		t.delta[i] = math.NaN()
		if i < len(marked) {
			t.delta[i] = total[i] - marked[i]
		}
	}
	t.elapsed = time.Second
	for _, sl := range t.cols.slots {
		if sl.flow == nil {
			continue
		}
		side := sl.flow.sideOf(t)
		if sums[side] == nil {
			sums[side] = &tally{basis: model.OverWindow}
		}
		t.addSlot(sums[side], sl, true)
	}
}

// noteMarked gives series that came after the mark their beginning: zero for
// those born since, what they show first for the others.
func (t *target) noteMarked(born bool) {
	if t.marked == nil {
		return
	}
	t.marked = grown(t.marked, t.cols.width)
	for i, v := range t.counters.Total() {
		switch {
		case !math.IsNaN(t.marked[i]) || math.IsNaN(v):
		case born:
			t.marked[i] = 0
		default:
			t.marked[i] = v
		}
	}
}

// stageView is a workflow's figures since the mark, of the side that stands nearer
// to its users.
func (w *workflow) stageView(ty *tally, b *batches, from model.Instant, every time.Duration) model.StageWorkflow {
	v := model.StageWorkflow{
		Name: w.name, AssumedObjectives: w.spec.Assumed, Objectives: orEmpty(w.spec.Objectives),
		PrefixCacheHit: model.Missing(model.Unsupported),
	}
	span, now, elapsed := slo.Span{}, soFar{}, w.now.Sub(from)
	if ty != nil {
		span = w.span(ty, w.now.Sub(from), every)
		l := &w.front().ledger
		likely := l.likely.Less(l.marked)
		span.Guess = goodOf(likely)
		now = countedIn(ty, likely)
		elapsed = w.countedFor(from)
		v.Finished = requestCount(ty)
		v.TTFT, v.TPOT, v.E2E = ty.distOf(model.TTFT), ty.distOf(model.TPOT), ty.distOf(model.E2E)
	}
	if w.byRequests(w.now.Mono) && w.events.stage != nil {
		s := w.events.stage
		span, elapsed = exactly(s.counts), w.now.Sub(from)
		span.Untold = s.untold > 0
		now = s.soFar(now)
		v.Finished = model.Of(s.counts.Finished)
		v.TTFT, v.TPOT, v.E2E = s.dist(model.MetricTTFT), s.dist(model.MetricTPOT), s.dist(model.MetricE2E)
	} else if ty == nil {
		return v
	}
	span.ElapsedS = elapsed.Seconds()
	v.PerSecond, v.OutputPerSecond, v.PromptPerSecond = ratePer(v.Finished, elapsed), ratePer(now.output, elapsed), ratePer(now.prompt, elapsed)
	if now.looked > 0 {
		v.PrefixCacheHit = model.Of(min(1, now.hits/now.looked))
	}
	g := slo.Goodput(w.promised(span.Exported), span)
	v.Goodput = &g
	v.Sampled = b.sampled(&now)
	b.now = now
	return v
}

// ratePer is a count as a rate over a stretch.
func ratePer(n model.Reading, elapsed time.Duration) model.Reading {
	if !n.OK() {
		return n
	}
	return perSecond(n.Value, elapsed)
}

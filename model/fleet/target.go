package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/requests"
	"slotop/model/series"
	"slotop/model/slo"
)

// softFailures is how many timeouts or garbled pages in a row make a target
// down. A refusal does it at once: nobody is there.
const softFailures = 2

// target is all that is remembered of one polled thing.
type target struct {
	spec model.Target

	polls, failed, failedInRow int
	good                       int // polls that returned a page
	restarts                   int
	fault                      *model.Fault
	lastPoll, lastGood         model.Instant
	restartedAt                model.Instant
	coldUntil                  time.Duration // it warms up after a restart
	took                       time.Duration
	tookAt                     model.Instant
	skew                       model.Reading // seconds that its clock is ahead of ours
	badLines, refused          int
	firstBad                   string
	about                      *model.About

	state model.State
	since model.Instant
	still int           // good polls in a row in which no counter moved
	moved model.Instant // the last poll in which one did, or the first poll

	cols     columns
	crowd    crowd
	row      []float64 // the last page's counters as exposed, NaN where it lacks one
	counters series.Counters
	clean    bool // every page so far was read whole
	ring     *series.Ring
	start    float64           // Unix seconds at which the process says it started, NaN unknown
	starts   []float64         // what it said before
	atEdge   bool              // it stands in front of engines
	models   map[string]*tally // a gateway's TTFT by model
	atEnd    bool              // token counters move only when a request ends
	reach    time.Duration

	epochs     []string // that the reporter counted under before
	alternates bool     // several servers answer at this address in turn
	turns      turns
	epoch      string

	reported []model.Reported  // by itself, on its newest page
	follows  *requests.Tracker // of requests reported one by one; nil where none came
	// tellsFlight: it reports requests before they end. Access logs do not: how many
	// are in flight is then not known.
	tellsFlight bool
	reports     []*workflow  // that it reported requests of
	flight      model.Phases // where those requests stand
	probes      *reports     // what became of a probe's own; nil for every other target
	users       users
	marked      []float64     // every counter at the last mark; nil without one
	markedAt    model.Instant // of the page before it; zero where there was none
	busyAt1     bool          // requests ran already when it was first read

	place    place         // where it is, as far as its address says
	tells    []*telling    // of GPUs
	round    time.Duration // that its last readings of them took
	unplaced int           // of them, those without a place

	steps   *stepper // nil until it is an engine of which steps are known
	past    past
	freshAt model.Instant // of its first page, where that showed that it had just begun
	quiets  []quietGPU    // its devices in the quiet blocks
	flown   []flown       // requests that it reported, in the order of their ends

	flows   map[*workflow]*tally // this target's part of each workflow, nil of none
	sum     *tally               // of the target, where it has several parts
	delta   []float64
	gains   []float64 // of one histogram
	elapsed time.Duration
	dirty   bool // something came in since the last measure
	stale   bool // the last measure was made of stale data
	view    model.TargetView

	use *utilizer // of its accelerators; nil for what is no engine
}

func newTarget(spec model.Target, reach time.Duration) *target {
	t := &target{
		spec: spec, place: placeOf(spec), clean: true, dirty: true, start: math.NaN(),
		reach: reach,
		ring:  series.NewRing(0, reach),
		flows: map[*workflow]*tally{},
	}
	if t.isProbe() {
		t.probes = &reports{}
	}
	return t
}

// fail notes a poll that returned nothing. What is known stays known.
func (t *target) fail(at model.Instant, b *model.Batch) {
	t.polls++
	t.failed++
	t.failedInRow++
	t.lastPoll = at
	t.noteTook(at, b.Took)
	fault := *b.Fault
	t.fault = &fault
	t.dirty = true
}

// take folds in a page and reports whether the server restarted before it.
func (t *target) take(at model.Instant, b *model.Batch, f *Fleet) bool {
	t.polls++
	t.good++
	t.failedInRow, t.fault = 0, nil
	unseen := at.Sub(t.lastGood)
	t.lastPoll, t.lastGood = at, at
	t.noteTook(at, b.Took)
	t.badLines, t.firstBad = b.BadLines, b.FirstBad
	t.skew = skew(at, b)
	t.dirty = true

	regrouped := t.group(b, f.promise)
	t.row = grown(t.row[:0], t.cols.width)
	t.readSamples(b, t.good == 1 || t.clean && !regrouped)
	t.refused = b.Dropped + t.cols.dropped
	t.turns.doubt = false
	restarted := t.restarted(b.Epoch)
	t.noteMovement(at, restarted)
	born := t.accumulate(at, restarted, !regrouped)
	t.noteMarked(born)
	t.clean = t.clean && b.BadLines == 0 && b.Dropped == 0
	if keep := t.cols.forget(t.good); keep != nil {
		t.counters.Select(keep)
		t.ring.Select(keep)
		t.marked = selected(t.marked, keep)
		t.past.from = selected(t.past.from, keep)
	}
	if b.About != t.about || t.cols.changed {
		t.about, t.cols.changed = b.About, false
		t.assign(f.flowOf)
	}
	if t.good == 1 {
		t.busyAt1 = t.busy()
	}
	if restarted {
		t.restart(at, seconds(f.policy.GraceS))
	}
	t.notePast(at, born, restarted, f.every)
	// What may be another server's is told with the next page, if it is of the same.
	if !restarted && !t.turns.doubt {
		t.tellLedgers(born, unseen <= max(burnFast, 3*f.every) && !t.cold(at))
	}
	return restarted
}

// restart notes a restart. A server that has just started is slow for a while; one
// that starts again within that while does not warm up, it is broken.
func (t *target) restart(at model.Instant, grace time.Duration) {
	if t.restartedAt.IsZero() || at.Sub(t.restartedAt) >= grace {
		t.coldUntil = at.Mono + grace
	}
	t.restarts++
	t.restartedAt = at
}

func (t *target) cold(at model.Instant) bool { return at.Mono < t.coldUntil }

// group looks whether the page names too many workflows, and reports whether
// others have rows than before.
func (t *target) group(b *model.Batch, promise *slo.Set) bool {
	if !t.crowd.choose(b, t.good, promise.Names) {
		return false
	}
	t.cols.pooled = nil
	if t.crowd.named != nil {
		t.cols.pooled = func(l model.LabelSet) (slo.Origin, string, bool) { return t.pooled(l, promise) }
	}
	t.cols.regroup(&t.crowd)
	return true
}

// origin is where a series comes from, as far as its labels tell.
func (t *target) origin(l model.LabelSet) slo.Origin {
	return slo.Origin{
		Workflow: l.Get(model.LabelWorkflow), Model: l.Get(model.LabelModel),
		Adapter: l.Get(model.LabelAdapter), Target: t.spec.Name, Labels: l,
	}
}

func (t *target) readSamples(b *model.Batch, born bool) {
	t.cols.dropped = 0
	for i := range b.Samples {
		s := &b.Samples[i]
		switch sl := t.cols.find(i, s); {
		case sl == nil:
		case sl.pool != nil:
			sl.pour(&t.cols, s, t.good, born, &t.row)
		default:
			sl.put(&t.cols, s, t.good, &t.row)
		}
	}
	if len(t.cols.order) > len(b.Samples) {
		t.cols.order = t.cols.order[:len(b.Samples)]
	}
	t.row = grown(t.row, t.cols.width)
}

// selected is the columns of a row that stay, nil without a row.
func selected(row []float64, keep []int) []float64 {
	if row == nil {
		return nil
	}
	out := make([]float64, len(keep))
	for i, c := range keep {
		out[i] = math.NaN()
		if c < len(row) {
			out[i] = row[c]
		}
	}
	return out
}

// restarted decides once for the whole target: a process start that moved on, or
// counters that fell together, mean a new process behind every series.
func (t *target) restarted(epoch string) bool {
	fell := series.Restarted(t.counters.Last(), t.row)
	before := t.epochs
	if was := t.epoch; epoch != "" && epoch != was {
		t.epoch = epoch
		if was != "" {
			fell, t.epochs = true, remembered(before, was)
		}
		if slices.Contains(before, epoch) {
			t.start = t.processStart()
			t.several() // it counted under this epoch before: it cannot have begun since
			return false
		}
	}
	start := t.processStart()
	was := t.start
	if !math.IsNaN(start) {
		t.start = start
	}
	if math.IsNaN(start) || math.IsNaN(was) || math.Abs(start-was) <= startJitter {
		return t.fell(fell)
	}
	known := slices.Contains(t.starts, start)
	if t.starts = remembered(t.starts, was); known {
		t.several() // it was this process before: it cannot have started since
		return false
	}
	return start > was || fell
}

const (
	// startJitter is how far a start that a server computes from its clock may
	// wander, in seconds.
	startJitter = 5
	// maxStarts is how many earlier process starts and epochs are remembered.
	maxStarts = 8
)

// remembered is the latest of what was seen before, with one more.
func remembered[T comparable](seen []T, one T) []T {
	if slices.Contains(seen, one) {
		return seen
	}
	return append(slices.Clone(seen[max(0, len(seen)+1-maxStarts):]), one)
}

// processStart is the newest start any process behind the page gives.
func (t *target) processStart() float64 {
	start := math.NaN()
	for _, sl := range t.cols.slots {
		if sl.key.signal == model.ProcessStart && sl.seen == t.good && (sl.level > start || math.IsNaN(start)) {
			start = sl.level
		}
	}
	return start
}

// assign says which workflow each sample counts for: by the model it names, or
// the only model there is, or, where the page names none, the target itself.
func (t *target) assign(flowOf func(slo.Origin) *workflow) {
	only := t.onlyModel()
	flows := make(map[*workflow]*tally, len(t.flows))
	for _, sl := range t.cols.slots {
		if sl.flow = nil; sl.pool != nil {
			continue
		}
		o := t.origin(sl.key.labels)
		if o.Model = cmp.Or(o.Model, only); sl.isPool {
			o = sl.origin
		}
		if o.Model != "" || o.Workflow != "" {
			sl.flow = flowOf(o)
		}
		if flows[sl.flow] == nil {
			flows[sl.flow] = cmp.Or(t.flows[sl.flow], &tally{})
		}
		sl.share = flows[sl.flow]
	}
	t.flows = flows
	t.past.split(t.cols.slots, flows)
	t.atEnd, t.atEdge = t.countsAtEnd(), t.stands()
}

// onlyModel is the workflow of samples without a model label: "" where several
// models share the target, or where it tells workflows apart, because then nobody
// can tell whose they are, or where the page says nothing but when its process
// started: that serves nobody.
func (t *target) onlyModel() string {
	seen := map[string]bool{}
	serves := false
	for _, sl := range t.cols.slots {
		if sl.key.labels.Get(model.LabelWorkflow) != "" {
			return ""
		}
		serves = serves || sl.key.signal != model.ProcessStart
		if m := sl.key.labels.Get(model.LabelModel); m != "" {
			seen[m] = true
		}
	}
	if len(seen) == 0 && t.about != nil {
		for _, m := range t.about.Models {
			seen[m] = true
		}
	}
	switch {
	case !serves:
		return ""
	case len(seen) == 0:
		return t.spec.Name
	case len(seen) == 1:
		for m := range seen {
			return m
		}
	}
	return ""
}

// countsAtEnd reports whether no counter moves with every token, so that a long
// answer looks like no progress.
func (t *target) countsAtEnd() bool {
	for _, s := range []model.Signal{model.OutputTokens, model.ITL, model.StepTokens} {
		if t.exports(s) && !t.atFinish(s) {
			return false
		}
	}
	return true
}

func (t *target) atFinish(s model.Signal) bool {
	return t.about != nil && slices.ContainsFunc(t.about.Meanings, func(m model.Meaning) bool { return m.Signal == s && m.AtFinish })
}

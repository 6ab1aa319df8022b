package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/diagnose"
	"slotop/model/requests"
)

const (
	// mostCalls is how many single requests of the present, and of the baseline, a
	// workflow keeps: enough for a line through them, and few enough to try all pairs.
	mostCalls = 400
	// callsABlock is how many of a block are kept, so that those of the present are of
	// all of it, and quietCalls how many of a block of the baseline.
	callsABlock = mostCalls / diagnose.NowBlocks
	quietCalls  = mostCalls / diagnose.BaselineBlocks
	// callingFlows is how many workflows keep single requests.
	callingFlows = 50
	// mostSpans is how many ended requests of a reporter are remembered with when they
	// began and ended.
	mostSpans = 2048
)

// calls are single requests of a workflow.
type calls struct {
	any    bool
	recent []callBlock // oldest first
	base   []diagnose.Call
}

// callBlock are some of the requests that ended in one block: each that is a whole
// number of strides from the first.
type callBlock struct {
	at           int64
	list         []call
	stride, seen int
}

// call is a request and when its first token came.
type call struct {
	diagnose.Call
	first   time.Duration
	counted bool // those beside it are
}

// flown is when a request began and when it ended.
type flown struct{ from, to time.Duration }

// noteCall keeps a request that ended.
func (f *Fleet) noteCall(t *target, w *workflow, e *requests.Ended) {
	c := &w.story.calls
	if !c.any {
		if f.calling >= callingFlows {
			return
		}
		c.any = true
		f.calling++
	}
	if t.flown = append(t.flown, flown{e.Began(), e.At}); len(t.flown) > 2*mostSpans {
		t.flown = slices.Delete(t.flown, 0, len(t.flown)-mostSpans)
	}
	if b := c.block(blockOf(max(0, e.At))); b != nil {
		b.keep(callOf(e, f.started))
	}
}

// block is where requests that ended in a block are kept, nil where that is too long
// ago.
func (c *calls) block(at int64) *callBlock {
	i, found := slices.BinarySearchFunc(c.recent, at, func(b callBlock, at int64) int { return int(b.at - at) })
	if !found {
		if len(c.recent) >= mostRecent {
			if i == 0 {
				return nil
			}
			c.recent = slices.Delete(c.recent, 0, 1)
			i--
		}
		c.recent = slices.Insert(c.recent, i, callBlock{at: at, stride: 1})
	}
	return &c.recent[i]
}

// keep takes every stride-th request. Where they become too many, it takes half as
// many, so that what it has is of the whole block.
func (b *callBlock) keep(c call) {
	if b.seen++; (b.seen-1)%b.stride != 0 {
		return
	}
	if len(b.list) == callsABlock {
		b.list, b.stride = thinned(b.list, 2), 2*b.stride
		if (b.seen-1)%b.stride != 0 {
			return
		}
	}
	b.list = append(b.list, c)
}

// thinned is every n-th of a list.
func thinned[T any](list []T, n int) []T {
	out := list[:0]
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

func callOf(e *requests.Ended, started model.Instant) call {
	q, times := e.Request, e.Times()
	c := call{
		Call: diagnose.Call{
			At:   started.Add(e.At - started.Mono),
			TTFT: orNaN(times[ttftAt]), TPOT: orNaN(times[tpotAt]),
			Prompt: orNaN(q.InputTokens), Others: math.NaN(),
			Uncached: max(0, orNaN(q.InputTokens)-orNaN(q.CachedTokens)),
			Failed:   q.Outcome == model.RequestFailed,
		},
		first: e.At,
	}
	if whole, ok := model.Between(q.FirstToken, q.Completed).Get(); ok && !e.Backwards {
		c.first -= seconds(whole)
	}
	return c
}

var (
	ttftAt = reportedMeasures[diagnose.TTFT]
	tpotAt = reportedMeasures[diagnose.TPOT]
)

// orNaN is a reading's value, NaN without one.
func orNaN(r model.Reading) float64 {
	if v, ok := r.Get(); ok {
		return v
	}
	return math.NaN()
}

// countOthers says of the newest requests how many others of the pool were in flight
// when their first token came.
func (p *pool) countOthers(at model.Instant) {
	var from, to []time.Duration
	for _, t := range p.targets {
		for _, one := range t.flown {
			from, to = append(from, one.from), append(to, one.to)
		}
		if t.follows != nil && t.tellsFlight {
			t.follows.Each(at, func(r *model.Request, _ bool) { from = append(from, t.follows.When(r.Queued)) })
		}
	}
	slices.Sort(from)
	slices.Sort(to)
	for _, w := range p.flows {
		for i := range w.story.calls.recent {
			for k := range w.story.calls.recent[i].list {
				w.story.calls.recent[i].list[k].count(from, to)
			}
		}
	}
}

// count counts the requests that had begun and had not ended: all that began by then
// less those that ended before, and itself.
func (c *call) count(from, to []time.Duration) {
	if c.counted || math.IsNaN(c.TTFT) {
		return
	}
	began, _ := slices.BinarySearch(from, c.first+1)
	ended, _ := slices.BinarySearch(to, c.first)
	c.Others, c.counted = float64(max(0, began-ended-1)), true
}

// between are the requests that ended in blocks from first to last.
func (c *calls) between(first, last int64) []diagnose.Call {
	var out []diagnose.Call
	for _, b := range c.recent {
		if b.at < first || b.at > last {
			continue
		}
		for i := range b.list {
			out = append(out, b.list[i].Call)
		}
	}
	return out
}

// leave moves the requests of a block to the baseline, or drops them.
func (c *calls) leave(at int64, quiet bool) {
	for len(c.recent) > 0 && c.recent[0].at <= at {
		if b := &c.recent[0]; quiet && b.at == at {
			for _, one := range thinned(b.list, (len(b.list)+quietCalls-1)/quietCalls) {
				c.base = append(c.base, one.Call)
			}
		}
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	if more := len(c.base) - mostCalls; more > 0 {
		c.base = slices.Delete(c.base, 0, more)
	}
}

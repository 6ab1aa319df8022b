package fleet

import (
	"math"
	"slices"

	"slotop/model"
)

// accumulate adds the page to counters that do not fall with a restart and keeps
// them as a snapshot. It reports whether a series that is new on this page began
// with it; where the page was grouped anew it did not.
func (t *target) accumulate(at model.Instant, restarted, whole bool) (born bool) {
	// A series that appears on a later page started at zero, because servers
	// create labelled counters at their first event; unless a line of an earlier
	// page was lost: then it may be as old as any.
	born = whole && t.good > 1 && (t.clean || restarted)
	for _, sp := range t.cols.respanned {
		for i := range sp.width() {
			if v := t.row[sp.col+i]; !restarted && !math.IsNaN(v) {
				t.counters.Rebase(sp.col+i, v)
			}
		}
	}
	t.cols.respanned = t.cols.respanned[:0]
	t.counters.Adjust(t.row, restarted)
	t.ring.Grow(t.cols.width, born)
	for _, sl := range t.cols.slots {
		if sl.kind == model.Gauge && sl.col >= 0 && sl.pool == nil && sl.seen == t.good {
			t.counters.Set(sl.col, sl.level)
		}
	}
	t.ring.Push(at.Mono, t.counters.Total())
	return born
}

// progress is what moves only when work gets done. Look-ups, preemptions and
// rejections also rise while a wedged engine goes round in circles.
var progress = map[model.Signal]bool{
	model.OutputTokens: true, model.Finished: true, model.TTFT: true, model.ITL: true, model.TPOT: true,
	model.E2E: true, model.Decode: true, model.StepTokens: true,
}

// isProgress: prompt tokens are work done, except where a server counts what
// arrives: there they may count at arrival too.
func (t *target) isProgress(s model.Signal) bool {
	return progress[s] || s == model.PromptTokens && !t.exports(model.Started)
}

func (t *target) exports(s model.Signal) bool {
	return slices.ContainsFunc(t.cols.slots, func(sl *slot) bool { return sl.key.signal == s })
}

// progressed compares the page with what was counted before it: whether any work
// got done, and whether the page can tell at all.
func (t *target) progressed(restarted bool) (moved, tells bool) {
	last := t.counters.Last()
	for _, sl := range t.cols.slots {
		col := sl.countColumn()
		if col < 0 || sl.seen != t.good || !t.isProgress(sl.key.signal) || math.IsNaN(t.row[col]) {
			continue
		}
		tells = true
		before := 0.0
		if !restarted && col < len(last) && !math.IsNaN(last[col]) {
			before = last[col]
		}
		moved = moved || t.row[col] != before
	}
	return moved, tells
}

// countColumn is the column that counts a sample's events, -1 for a level.
func (sl *slot) countColumn() int {
	switch {
	case sl.kind == model.Counter:
		return sl.col
	case len(sl.spans) > 0:
		sp := sl.spans[len(sl.spans)-1]
		return sp.col + len(sp.bounds)
	default:
		return -1
	}
}

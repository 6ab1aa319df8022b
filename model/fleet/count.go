package fleet

import "slotop/model"

// accumulate adds the page to counters that never fall, keeps them as a snapshot
// and reports whether anything moved.
func (t *target) accumulate(at model.Instant, restarted bool) bool {
	// A series that appears on a later page started at zero, unless a line of an
	// earlier page was lost: then it may be as old as any.
	born := t.good > 1 && (t.clean || restarted)
	grew := t.counters.Adjust(t.row, restarted, born)
	for _, sl := range t.cols.slots {
		if sl.kind == model.Gauge && sl.col >= 0 && sl.seen == t.good {
			t.counters.Set(sl.col, sl.level)
		}
	}
	t.ring.Grow(t.cols.width, born)
	t.ring.Push(at.Mono, t.counters.Total())
	return grew && t.good > 1
}

package fleet

import (
	"time"

	"slotop/model"
	"slotop/model/series"
	"slotop/model/slo"
)

const (
	// ledgerReach is the longest window of an alert, and a poll to subtract from.
	ledgerReach = 6*time.Hour + 10*time.Minute
	// blockSpan is how long requests are taken to share their fate.
	blockSpan = 10 * time.Second
	// keptBlocks is a baseline, the pause behind it and the present minute.
	keptBlocks = 64
)

// ledger is the past of a workflow in counts: what its promises are judged by
// over minutes and hours. It never falls, whatever restarts.
type ledger struct {
	total  slo.Counts
	ring   *series.Ring
	row    [slo.Width]float64
	blocks []slo.Counts // of blockSpan each, oldest first; the last one is complete
	made   int          // blocks completed so far
	from   slo.Counts   // total when the present block began
	ends   time.Duration

	account account
}

// newLedger is a ledger that begins at zero now: whatever comes in counts.
func newLedger(now time.Duration) ledger {
	l := ledger{ring: series.NewRing(slo.Width, ledgerReach), ends: now + blockSpan}
	l.account.began = now
	l.ring.Push(now, l.row[:])
	return l
}

// note keeps the present total.
func (l *ledger) note(at time.Duration) {
	l.total.Row(l.row[:])
	l.ring.Push(at, l.row[:])
	if at >= l.ends+keptBlocks*blockSpan { // time jumped: nothing before is recent
		l.blocks, l.from, l.ends = nil, l.total, at+blockSpan
	}
	for ; at >= l.ends; l.ends += blockSpan {
		l.blocks = append(l.blocks, l.total.Since(&l.from))
		l.from = l.total
		l.made++
	}
	if more := len(l.blocks) - keptBlocks; more > 0 {
		l.blocks = append(l.blocks[:0:0], l.blocks[more:]...)
	}
}

// since is what was counted over the newest stretch of about w, and its length.
func (l *ledger) since(w time.Duration) (slo.Counts, time.Duration) {
	var gained [slo.Width]float64
	elapsed, ok := l.ring.Delta(w, gained[:])
	if !ok {
		return slo.Counts{}, 0
	}
	return slo.FromRow(gained[:]), elapsed
}

// recent is the newest n blocks that ended at least skip blocks ago, fewer where
// there are not so many.
func (l *ledger) recent(n, skip int) []slo.Counts {
	end := max(0, len(l.blocks)-skip)
	return l.blocks[max(0, end-n):end]
}

// termBlocks picks one metric's observations out of blocks.
func termBlocks(blocks []slo.Counts, m model.Metric) []slo.Block {
	out := make([]slo.Block, len(blocks))
	for i := range blocks {
		t := blocks[i].Term(m)
		out[i] = slo.Block{N: t.N, Sum: t.Sum}
	}
	return out
}

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
	row    [ledgerWidth]float64
	blocks []slo.Counts // of blockSpan each, oldest first; the last one is complete
	made   int          // blocks completed so far
	from   slo.Counts   // total when the present block began
	ends   time.Duration

	// closed is what was likely bad in the blocks so far, and likely the same with
	// the present one. Histograms do not tell what was met together; they allow the
	// best guess where nothing changed, which is over ten seconds and not over an
	// incident and the calm before it.
	closed, likely slo.Bad
	marked         slo.Bad // what was likely bad at the last mark

	account account
}

// ledgerWidth is the counts, and what was likely bad.
const ledgerWidth = slo.Width + 2

// newLedger is a ledger that begins at zero now: whatever comes in counts.
func newLedger(now time.Duration) ledger {
	l := ledger{ring: series.NewRing(ledgerWidth, ledgerReach), ends: now + blockSpan}
	l.account.began = now
	l.ring.Push(now, l.row[:])
	return l
}

// judge tells how many requests of a stretch were judged, and how many likely bad.
type judge func(*slo.Counts) slo.Bad

// note keeps the present total.
func (l *ledger) note(at time.Duration, of judge) {
	if at >= l.ends+keptBlocks*blockSpan { // time jumped: nothing before is recent
		l.close(of)
		l.blocks, l.ends = nil, at+blockSpan
	}
	for ; at >= l.ends; l.ends += blockSpan {
		l.blocks = append(l.blocks, l.close(of))
		l.made++
	}
	if more := len(l.blocks) - keptBlocks; more > 0 {
		l.blocks = append(l.blocks[:0:0], l.blocks[more:]...)
	}
	present := l.total.Since(&l.from)
	l.likely = l.closed.Plus(of(&present))
	l.total.Row(l.row[:slo.Width])
	l.row[slo.Width], l.row[slo.Width+1] = l.likely.N, l.likely.Bad
	l.ring.Push(at, l.row[:])
}

// close ends the present block and begins another.
func (l *ledger) close(of judge) slo.Counts {
	block := l.total.Since(&l.from)
	l.from = l.total
	l.closed = l.closed.Plus(of(&block))
	return block
}

// since is what was counted over the newest stretch of about w, and its length.
func (l *ledger) since(w time.Duration) (slo.Counts, time.Duration) {
	var gained [ledgerWidth]float64
	elapsed, ok := l.ring.Delta(w, gained[:])
	if !ok {
		return slo.Counts{}, 0
	}
	return slo.FromRow(gained[:slo.Width]), elapsed
}

// likelyIn is what was likely bad over the newest stretch of about w.
func (l *ledger) likelyIn(w time.Duration) slo.Bad {
	var gained [ledgerWidth]float64
	if _, ok := l.ring.Delta(w, gained[:]); !ok {
		return slo.Bad{}
	}
	n := gained[slo.Width]
	return slo.Bad{N: n, Bad: min(n, max(0, gained[slo.Width+1]))} // a block is guessed anew until it is complete
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

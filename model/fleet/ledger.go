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
	total slo.Counts
	// aside is what of the total is no news, because it happened while a server
	// warmed up or while nobody looked. It spends the error budget like the rest,
	// and says nothing of how things are now: alerts are about that.
	aside slo.Counts
	ring  *series.Ring
	row   [ledgerWidth]float64

	blocks          []slo.Counts // news of blockSpan each, oldest first; the last one is complete
	made            int          // blocks completed so far
	from, fromAside slo.Counts   // total and aside when the present block began
	ends            time.Duration

	// closed is what was likely bad in the blocks so far, and likely the same with
	// the present one. Histograms do not tell what was met together; they allow the
	// best guess where nothing changed, which is over ten seconds and not over an
	// incident and the calm before it.
	closed, likely slo.Bad
	marked         slo.Bad // what was likely bad at the last mark

	account account
}

// The row of a ledger: the total, what was likely bad, and what of the total is
// no news.
const (
	atLikely    = slo.Width
	atAside     = atLikely + 2
	ledgerWidth = atAside + slo.Width
)

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
	l.total.Row(l.row[:atLikely])
	l.row[atLikely], l.row[atLikely+1] = l.likely.N, l.likely.Bad
	l.aside.Row(l.row[atAside:])
	l.ring.Push(at, l.row[:])
}

// close ends the present block, begins another, and returns what was news in it.
func (l *ledger) close(of judge) slo.Counts {
	block, aside := l.total.Since(&l.from), l.aside.Since(&l.fromAside)
	l.from, l.fromAside = l.total, l.aside
	l.closed = l.closed.Plus(of(&block))
	return block.Since(&aside)
}

// all is what was counted over the newest stretch of about w, and its length.
func (l *ledger) all(w time.Duration) (slo.Counts, time.Duration) {
	var gained [ledgerWidth]float64
	elapsed, ok := l.ring.Delta(w, gained[:])
	if !ok {
		return slo.Counts{}, 0
	}
	return slo.FromRow(gained[:atLikely]), elapsed
}

// since is what of it was news.
func (l *ledger) since(w time.Duration) (slo.Counts, time.Duration) {
	var gained [ledgerWidth]float64
	elapsed, ok := l.ring.Delta(w, gained[:])
	if !ok {
		return slo.Counts{}, 0
	}
	c, aside := slo.FromRow(gained[:atLikely]), slo.FromRow(gained[atAside:])
	return c.Since(&aside), elapsed
}

// likelyIn is what was likely bad over the newest stretch of about w.
func (l *ledger) likelyIn(w time.Duration) slo.Bad {
	var gained [ledgerWidth]float64
	if _, ok := l.ring.Delta(w, gained[:]); !ok {
		return slo.Bad{}
	}
	n := gained[atLikely]
	return slo.Bad{N: n, Bad: min(n, max(0, gained[atLikely+1]))} // a block is guessed anew until it is complete
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

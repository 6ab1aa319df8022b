package fleet

import (
	"fmt"

	"slotop/model"
	"slotop/model/alert"
	"slotop/model/slo"
	"slotop/model/unit"
)

// How a workflow without objectives of its own is watched: the last minute
// against the six before it, with half a minute between them.
const (
	recentBlocks   = 6
	baselineBlocks = 35
	pauseBlocks    = 3
)

// steady remembers what a workflow's latencies were like before they changed.
type steady struct {
	blocks   int // how many the ledger had made when it was looked at last
	baseline [len(slo.Counts{}.Terms)][]slo.Block
	moved    [len(slo.Counts{}.Terms)]bool
	ratio    [len(slo.Counts{}.Terms)]float64 // 0: nothing recent is known
}

// look compares once for each new block. A baseline does not move on while its
// own alert fires: what has gone wrong must not become what is usual.
func (s *steady) look(l *ledger) {
	if l.made == s.blocks {
		return
	}
	s.blocks = l.made
	recent, before := l.recent(recentBlocks, 0), l.recent(baselineBlocks, recentBlocks+pauseBlocks)
	for i, m := range model.Metrics {
		if !s.moved[i] {
			s.baseline[i] = termBlocks(before, m)
		}
		now := termBlocks(recent, m)
		ratio, _, changed := slo.Changed(now, s.baseline[i], slo.Latency)
		if ratio == 0 && s.moved[i] { // too few to find a change by, enough to find its end
			ratio = meanOf(now) / meanOf(s.baseline[i])
			changed = ratio == 0 || ratio >= stillMoved
		}
		s.moved[i], s.ratio[i] = changed && (ratio == 0 || ratio > 1), ratio
	}
}

// stillMoved is how far above its baseline a latency that rose must come down.
const stillMoved = 1.3

// meanOf is the mean over blocks, 0 where they hold nothing.
func meanOf(blocks []slo.Block) float64 {
	var n, sum float64
	for _, b := range blocks {
		n, sum = n+b.N, sum+b.Sum
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// worst is the latency that moved furthest, -1 where none did.
func (s *steady) worst() int {
	worst := -1
	for i, moved := range s.moved {
		if moved && (worst < 0 || s.ratio[i] > s.ratio[worst]) {
			worst = i
		}
	}
	return worst
}

// changed says that a latency of a workflow nobody promised anything for has
// become worse than it was.
func (f *Fleet) changed(w *workflow, exact bool) alert.Observation {
	if !w.spec.Assumed {
		return alert.Observation{Rule: changedRule}
	}
	o := alert.Observation{Rule: changedRule, Truth: alert.No}
	w.steady.look(w.ledgerOf(exact))
	i := w.steady.worst()
	switch {
	case i < 0:
		return o
	case w.steady.ratio[i] == 0: // silence is not recovery
		o.Truth = alert.CannotTell
		return o
	}
	o.Truth, o.Value = alert.Yes, model.Of(w.steady.ratio[i])
	o.Text = fmt.Sprintf("%s is %s times what it was in the minutes before", model.Metrics[i].Title(), unit.Rate(w.steady.ratio[i]))
	return o
}

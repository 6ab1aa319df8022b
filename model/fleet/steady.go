package fleet

import (
	"fmt"
	"slices"

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
	ratio    [len(slo.Counts{}.Terms)]float64
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
		ratio, _, changed := slo.Changed(termBlocks(recent, m), s.baseline[i], slo.Latency)
		s.moved[i], s.ratio[i] = changed && ratio > 1, ratio
	}
}

// changed says that a latency of a workflow nobody promised anything for has
// become worse than it was.
func (f *Fleet) changed(w *workflow, exact bool) alert.Observation {
	if !w.spec.Assumed {
		return alert.Observation{Rule: changedRule}
	}
	o := alert.Observation{Rule: changedRule, Truth: alert.No}
	w.steady.look(w.ledgerOf(exact))
	i := slices.Index(w.steady.moved[:], true)
	if i < 0 {
		return o
	}
	o.Truth, o.Value = alert.Yes, model.Of(w.steady.ratio[i])
	o.Text = fmt.Sprintf("%s is %s times what it was in the minutes before", model.Metrics[i].Title(), unit.Rate(w.steady.ratio[i]))
	return o
}

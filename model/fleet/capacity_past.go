package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/capacity"
	"slotop/model/diagnose"
	"slotop/model/slo"
)

const (
	// fateBlocks is over how many blocks it is estimated how much requests share their
	// fate: six minutes.
	fateBlocks = 36
	// burnHour is over how long the worst burn is looked for.
	burnHour = time.Hour
	// leastHour is how much of it must be known.
	leastHour = 42 * time.Minute
)

// lived is what a workflow was seen to do at which rate of its pool.
type lived struct {
	through int64        // the newest block in it
	blocks  []slo.Counts // judged, oldest first; only what was good and bad is in them
	minutes []capacity.Minute
	knee    model.KneeView
	worst   model.Reading // burn over any hour so far
}

// remember takes in the blocks that ended since the last time. A minute ends every six
// blocks, for one workflow at another block than for the next, so that the work is
// spread.
func (r *poolRoom) remember() {
	for i, w := range r.pool.flows {
		l := &w.lived
		for at := max(l.through+1, r.last-diagnose.NowBlocks+1); at <= r.last; at++ {
			if s, ok := w.sumsAt(at, (*target).fresh); ok {
				l.note(s.Counts[diagnose.Good], s.Counts[diagnose.Judged])
			}
			if (at+int64(i))%diagnose.NowBlocks == 0 {
				now := r.flows[w]
				if at != r.last {
					now = w.minuteOf(at)
				}
				l.minute(r.rate, now, w.spec)
			}
		}
		l.through = max(l.through, r.last)
		l.burned(w, r.seen[w.name])
	}
}

func (l *lived) note(good, judged float64) {
	if math.IsNaN(good + judged) {
		return
	}
	if l.blocks = append(l.blocks, slo.Counts{Good: good, Bad: max(0, judged-good)}); len(l.blocks) > fateBlocks {
		l.blocks = slices.Delete(l.blocks, 0, len(l.blocks)-fateBlocks)
	}
}

// minute adds what a minute says, and looks for the knee again.
func (l *lived) minute(rate float64, of minute, spec *model.WorkflowSpec) {
	good, _ := of.count(diagnose.Good)
	judged, _ := of.count(diagnose.Judged)
	if !(judged > 0) || !(rate >= 0) || math.IsNaN(good) || spec.DeadlineS > 0 {
		return
	}
	fate, _ := slo.DesignEffect(l.blocks, func(c *slo.Counts) (float64, float64) { return c.Good, c.Good + c.Bad })
	l.minutes = append(l.minutes, capacity.Minute{
		Rate: float32(rate), Good: float32(min(good, judged)), Judged: float32(judged), Design: float32(max(1, fate)),
	})
	if len(l.minutes) > capacity.MaxMinutes {
		l.minutes = slices.Delete(l.minutes, 0, len(l.minutes)-capacity.MaxMinutes)
	}
	l.knee = capacity.Knee(l.minutes, spec.Share)
}

// burned notes how fast the last hour spent the error budget, where there is one.
func (l *lived) burned(w *workflow, v *model.WorkflowView) {
	if v == nil || v.Budget == nil {
		return
	}
	of := w.ledgerOf(w.judged.Exact)
	c, elapsed := of.since(burnHour)
	likely := of.likelyIn(burnHour)
	if w.judged.Exact {
		likely = judgedSingly(&c)
	}
	if elapsed < leastHour || likely.N == 0 {
		return
	}
	if burn := slo.Burn(likely.Share(), w.spec.Share); !l.worst.OK() || burn > l.worst.Value {
		l.worst = model.Of(burn)
	}
}

// past puts on the view what was seen over time.
func (r *poolRoom) past(v *model.CapacityView) {
	v.Knees = []model.KneeView{}
	for _, w := range r.pool.flows {
		l := &w.lived
		if len(l.minutes) > 0 {
			k := l.knee
			k.Workflow = w.name
			v.Knees = append(v.Knees, k)
			v.Observed = spanning(v.Observed, k.Observed)
		}
		if l.worst.OK() && (!v.WorstBurn.OK() || l.worst.Value > v.WorstBurn.Value) {
			v.WorstBurn = l.worst
		}
	}
}

// spanning is the range that holds both.
func spanning(a, b model.Range) model.Range {
	if !a.Lo.OK() || b.Lo.OK() && b.Lo.Value < a.Lo.Value {
		a.Lo = b.Lo
	}
	if !a.Hi.OK() || b.Hi.OK() && b.Hi.Value > a.Hi.Value {
		a.Hi = b.Hi
	}
	return a
}

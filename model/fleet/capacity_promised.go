package fleet

import (
	"math"
	"time"

	"slotop/model"
	"slotop/model/capacity"
	"slotop/model/diagnose"
	"slotop/model/hist"
	"slotop/model/sketch"
)

// presentMinute is how long the minute is that everything of now is taken from.
const presentMinute = diagnose.NowBlocks * diagnose.Block

// mostTails is how many engines are asked by how much a percentile is longer than the
// mean: they stand for the others, and asking a thousand takes milliseconds.
const mostTails = 64

// promised are the pool's objectives on TPOT, each with how much longer the promised
// percentile is than the mean now.
func (r *poolRoom) promised() []capacity.Promised {
	var out []capacity.Promised
	for _, w := range r.pool.flows {
		for _, o := range w.spec.Objectives {
			if o.Metric == model.MetricTPOT {
				out = append(out, capacity.Promised{Workflow: w.name, Max: o.MaxS, Over: r.tail(w)})
			}
		}
	}
	return out
}

// tail is a percentile of a workflow's TPOT over its mean in the present minute, that
// which it was promised: of requests that were reported one by one, else as its engines
// measured it. NaN where neither tells.
func (r *poolRoom) tail(w *workflow) float64 {
	if w.byRequests(r.at.Mono) {
		return w.events.tail(r.at.Mono, w.spec.Share)
	}
	var sum hist.Hist
	asked := 0
	for _, t := range w.targets {
		if asked < mostTails && t.computes() && t.fresh() && t.exports(model.TPOT) {
			r.row = grown(r.row[:0], t.cols.width)
			t.addTPOT(w, r.row, &sum)
			asked++
		}
	}
	if len(sum.Cum) == 0 {
		return math.NaN()
	}
	return orNaN(quantileOf(&sum, w.spec.Share)) / orNaN(sum.Mean())
}

// tail is the same of single reports.
func (r *reports) tail(now time.Duration, q float64) float64 {
	var all sketch.Sketch
	for _, b := range r.blocks {
		if b.start >= now-presentMinute {
			all.Merge(&b.times[tpotAt])
		}
	}
	if all.N() == 0 {
		return math.NaN()
	}
	return all.Quantile(q) / orNaN(all.Mean())
}

// addTPOT adds what the target measured of a workflow's TPOT in the present minute,
// which is not the viewer's window. Row is to work in.
func (t *target) addTPOT(w *workflow, row []float64, to *hist.Hist) {
	if _, ok := t.ring.Delta(presentMinute, row); !ok {
		return
	}
	for _, sl := range t.cols.slots {
		if sl.flow != w || sl.key.signal != model.TPOT || sl.pool != nil {
			continue
		}
		for _, sp := range sl.spans {
			h, ok := sp.increase(row)
			if h.Incomplete = sl.incomplete; ok && !to.Add(h) {
				*to, _ = hist.Merge(*to, h)
			}
		}
	}
}

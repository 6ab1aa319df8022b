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

// promised are the pool's objectives on TPOT, each with how much longer the promised
// percentile is than the mean now.
func (r *poolRoom) promised() []capacity.Promised {
	var out []capacity.Promised
	for _, w := range r.pool.flows {
		for _, o := range w.spec.Objectives {
			if o.Metric == model.MetricTPOT {
				out = append(out, capacity.Promised{Workflow: w.name, Max: o.MaxS, Over: w.tail(r.at.Mono, w.spec.Share)})
			}
		}
	}
	return out
}

// tail is a percentile of a workflow's TPOT over its mean in the present minute: of
// requests that were reported one by one, else as its engines measured it. NaN where
// neither tells.
func (w *workflow) tail(now time.Duration, q float64) float64 {
	if w.byRequests(now) {
		return w.events.tail(now, q)
	}
	var sum hist.Hist
	for _, t := range w.targets {
		if t.computes() && t.fresh() {
			t.addTPOT(w, &sum)
		}
	}
	if len(sum.Cum) == 0 {
		return math.NaN()
	}
	return orNaN(quantileOf(&sum, q)) / orNaN(sum.Mean())
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
// which is not the viewer's window.
func (t *target) addTPOT(w *workflow, to *hist.Hist) {
	if !t.exports(model.TPOT) {
		return
	}
	gained := make([]float64, t.cols.width)
	if _, ok := t.ring.Delta(presentMinute, gained); !ok {
		return
	}
	for _, sl := range t.cols.slots {
		if sl.flow != w || sl.key.signal != model.TPOT || sl.pool != nil {
			continue
		}
		for _, sp := range sl.spans {
			if h, ok := sp.increase(gained); ok && !to.Add(h) {
				*to, _ = hist.Merge(*to, h)
			}
		}
	}
}

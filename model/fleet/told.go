package fleet

import (
	"math"
	"slices"

	"slotop/model"
	"slotop/model/slo"
)

// tellLedgers adds what this page counted since the last one to the ledgers of
// the workflows: counts against the bounds that were promised, which need no
// buckets and so can be kept for hours. The first sight of a series is its
// beginning, not an increase, unless it was born on this page. News says that the
// page is of now: see ledger.put.
func (t *target) tellLedgers(born, news bool) {
	total := t.counters.Total()
	for _, sl := range t.cols.slots {
		if sl.flow == nil || sl.seen != t.good || sl.kind == model.Gauge && !isLevel(sl.key.signal) {
			continue
		}
		now, ok := sl.counted(total)
		if !ok {
			continue
		}
		var gained [4]float64
		if (sl.known || born) && !sl.anew {
			for i, v := range now {
				gained[i] = v - sl.told[i]
				if sl.kind != model.Gauge {
					gained[i] = max(0, gained[i]) // a counter that fell alone gains nothing
				}
			}
		}
		sl.told, sl.known, sl.anew = now, true, false
		l := &sl.flow.sideOf(t).ledger
		gain(&l.total, sl, gained)
		if !news {
			gain(&l.aside, sl, gained)
		}
	}
}

// counted is what a slot has counted so far, over all bounds it was ever shown
// with: a counter's value, or a histogram's observations, those surely and
// possibly within the bound that its workflow was promised, and their sum.
func (sl *slot) counted(total []float64) (c [4]float64, ok bool) {
	if sl.kind != model.Histogram {
		if sl.col < 0 || math.IsNaN(total[sl.col]) {
			return c, false
		}
		c[0] = total[sl.col]
		return c, true
	}
	limit := sl.flow.limitOf(sl.key.signal)
	for _, sp := range sl.spans {
		n := total[sp.col+len(sp.bounds)]
		if math.IsNaN(n) {
			continue
		}
		lo, hi := sp.around(total, limit)
		c[0] += n
		c[1] += lo
		c[2] += hi
		if s := total[sp.col+len(sp.bounds)+1]; !math.IsNaN(s) {
			c[3] += s
		}
		ok = true
	}
	return c, ok
}

// around is the interval of a span's count at x. A bucket that is not known, or
// no bound at all, says nothing.
func (sp span) around(total []float64, x float64) (lo, hi float64) {
	n := total[sp.col+len(sp.bounds)]
	i, exact := slices.BinarySearch(sp.bounds, x)
	hi = total[sp.col+i]
	switch {
	case exact:
		lo = hi
	case i > 0:
		lo = total[sp.col+i-1]
	}
	if math.IsNaN(lo) {
		lo = 0
	}
	if math.IsNaN(hi) {
		hi = n
	}
	return min(lo, n), min(hi, n)
}

// limitOf is the bound promised on what a signal measures, +Inf for none.
func (w *workflow) limitOf(s model.Signal) float64 {
	for _, o := range w.spec.Objectives {
		if o.Metric.Signal() == s {
			return o.MaxS
		}
	}
	return math.Inf(1)
}

// gain adds a slot's increase to counts.
func gain(c *slo.Counts, sl *slot, by [4]float64) {
	switch model.Signals[sl.signal].Signal {
	case model.Started:
		c.Started += by[0]
	case model.Finished:
		c.Finished += by[0]
		if sl.key.labels.Get(model.LabelReason) == "length" {
			c.Truncated += by[0]
		}
	case model.Failed:
		c.Failed += by[0]
	case model.Cancelled:
		c.Cancelled += by[0]
	case model.OutputTokens:
		c.Output += by[0]
	case model.Preemptions:
		c.Preempted += by[0]
	case model.Running:
		c.Grown += by[0]
	case model.Waiting:
		c.Queued += by[0]
	default:
		for _, m := range model.Metrics {
			if m.Signal() == sl.key.signal {
				c.Term(m).Add(slo.Term{N: by[0], Lo: by[1], Hi: by[2], Sum: by[3]})
			}
		}
	}
}

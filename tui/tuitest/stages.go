package tuitest

import (
	"math"

	"slotop/model"
)

// sampled is what a stage of n requests was counted on: latencies spread around their
// medians, over stretches that know a little of one another.
func sampled(n float64, w *model.StageWorkflow) *model.Sampled {
	return &model.Sampled{
		Batches: 12, BatchS: 12, Looked: n,
		Requests: model.Tally{N: n, Effect: 1.4}, Good: model.Tally{N: n, Effect: 1.4}, Output: model.Tally{N: 200 * n, Effect: 300},
		GoodEffect: 2, TTFT: counted(w.TTFT), TPOT: counted(w.TPOT), E2E: counted(w.E2E),
	}
}

// counted is a log-normal distribution through the median and the p95 of d, on edges a
// tenth apart.
func counted(d *model.Dist) model.Counted {
	if d == nil || !d.P50.Value.OK() || !d.P95.Value.OK() {
		return model.Counted{}
	}
	p95 := d.P95.Value.Value
	median := math.Log(min(d.P50.Value.Value, p95/1.05))
	sigma := (math.Log(p95) - median) / 1.645
	var c model.Counted
	for x := math.Exp(median) / 8; x < 8*p95; x *= 1.1 {
		share := (1 + math.Erf((math.Log(x)-median)/sigma/math.Sqrt2)) / 2
		c.Bounds, c.Counts, c.Effects = append(c.Bounds, x), append(c.Counts, math.Floor(d.N*share)), append(c.Effects, 1.5)
	}
	c.Counts = append(c.Counts, d.N)
	return c
}

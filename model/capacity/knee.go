package capacity

import (
	"cmp"
	"math"
	"slices"

	"slotop/model"
	"slotop/model/slo"
)

// Minute is a stretch of 60 s of a workflow.
type Minute struct {
	Rate float32 // requests a second of the pool
	// Good of the Judged requests kept the promise; where only histograms tell it, as
	// many as surely did. Design is how many requests are worth one independent one.
	Good, Judged, Design float32
}

// MaxMinutes bounds a history of minutes: a day.
const MaxMinutes = 1440

// rungs is how finely rates are told apart: minutes whose rates differ by less than
// a twentieth of the highest one are taken together, as one minute's requests are
// too few to be sure of a high share.
const rungs = 20

// z95 is the normal quantile of a two-sided interval of 95 %.
const z95 = 1.96

// Knee is the highest rate at which the promised share was surely kept: the lower
// end of Wilson's interval, on as many requests as are independent, is at least the
// target. Nothing is said beyond the rates that were seen. Reached says that at a
// higher one the promise was surely broken, Missed that it was so in a minute at no
// higher a rate.
func Knee(minutes []Minute, target float64) model.KneeView {
	v := model.KneeView{}
	seen := slices.DeleteFunc(slices.Clone(minutes), func(m Minute) bool { return !(m.Judged > 0) || !(m.Rate >= 0) })
	if v.Blocks = len(seen); v.Blocks == 0 {
		return v
	}
	slices.SortFunc(seen, func(a, b Minute) int {
		return cmp.Or(cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.Judged, b.Judged), cmp.Compare(a.Good, b.Good), cmp.Compare(a.Design, b.Design))
	})
	highest := seen[len(seen)-1].Rate
	v.Observed = model.Range{Lo: model.Of(float64(seen[0].Rate)), Hi: model.Of(float64(highest))}
	for left := seen; len(left) > 0; {
		n := rung(left, highest)
		switch lo, hi := evidence(left[:n]); {
		case lo >= target:
			v.Rate, v.Reached = model.Of(float64(left[n-1].Rate)), false
		case hi < target && v.Rate.OK():
			v.Reached = true
		}
		left = left[n:]
	}
	v.Missed = v.Rate.OK() && slices.ContainsFunc(seen, func(m Minute) bool {
		_, hi := evidence([]Minute{m})
		return float64(m.Rate) <= v.Rate.Value && hi < target
	})
	return v
}

// rung is how many of the minutes, which are sorted, have about the rate of the first.
func rung(sorted []Minute, highest float32) int {
	n := 1
	for n < len(sorted) && sorted[n].Rate-sorted[0].Rate < highest/rungs {
		n++
	}
	return n
}

// evidence is Wilson's interval of the share over minutes.
func evidence(minutes []Minute) (lo, hi float64) {
	var good, n float64
	for _, m := range minutes {
		d := math.Max(1, float64(m.Design))
		good, n = good+float64(m.Good)/d, n+float64(m.Judged)/d
	}
	return slo.Wilson(good, n, z95)
}

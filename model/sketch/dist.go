package sketch

import (
	"slotop/model"
	"slotop/model/hist"
)

// Dist is the summary that a frame shows. Lo and Hi are the order statistics
// that enclose the quantile with 95 % confidence, whatever the distribution,
// widened to their buckets where the sketch is not exact. Where the observations
// are too few for an upper one Hi is Unknown and Enough is false; the quantile
// itself is still the nearest rank.
func (s *Sketch) Dist(basis model.Basis) *model.Dist {
	return &model.Dist{
		N:     s.n,
		Mean:  s.Mean(),
		P50:   s.estimate(0.50),
		P90:   s.estimate(0.90),
		P95:   s.estimate(0.95),
		P99:   s.estimate(0.99),
		Basis: basis,
	}
}

func (s *Sketch) estimate(q float64) model.Estimate {
	if s.n == 0 {
		no := model.Missing(model.NoTraffic)
		return model.Estimate{Value: no, Lo: no, Hi: no}
	}
	e := model.Estimate{Value: model.Of(s.Quantile(q)), Seen: true}
	l, u := hist.Ranks(s.n, q)
	if l > 0 {
		_, lo, _ := s.at(l)
		e.Lo = model.Of(lo)
	}
	if u > 0 {
		_, _, hi := s.at(u)
		e.Hi = model.Of(hi)
	}
	e.Enough = l > 0 && u > 0
	return e
}

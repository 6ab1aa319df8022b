package fleet

import "slotop/model"

// total is the goodput of all workflows together: the share of everything that
// was judged. Its verdict is the worst of theirs.
func (f *Fleet) total(flows []model.WorkflowView) *model.GoodputView {
	sum := model.GoodputView{Verdict: model.NoData}
	var lo, hi, point float64
	worst := -1
	for i := range flows {
		g := flows[i].Goodput
		if at := verdictRank(g.Verdict); at > worst {
			worst, sum.Verdict = at, g.Verdict
		}
		if !g.Share.Lo.OK() || !g.Share.Hi.OK() {
			continue
		}
		sum.Basis = joined(sum.Basis, g.Basis)
		sum.N += g.N
		lo += g.Share.Lo.Value * g.N
		hi += g.Share.Hi.Value * g.N
		point += first(g.Share.Point, g.Share.Lo).Value * g.N
		sum.PerSecond = plus(sum.PerSecond, g.PerSecond)
		sum.OutputPerSecond = plus(sum.OutputPerSecond, g.OutputPerSecond)
		sum.Of = sumOf(sum.Of, g.Of)
	}
	if sum.N == 0 {
		return nil
	}
	sum.Share = model.Share{Lo: model.Of(lo / sum.N), Hi: model.Of(hi / sum.N), Point: model.Of(point / sum.N)}
	return &sum
}

// verdictRank orders verdicts, the worst highest.
func verdictRank(v model.Verdict) int {
	switch v {
	case model.Missed:
		return 4
	case model.Undecided:
		return 3
	case model.CannotCompute:
		return 2
	case model.Met:
		return 1
	default:
		return 0
	}
}

// joined is how several workflows were judged: histograms, as soon as one was.
func joined(a, b model.Judging) model.Judging {
	if a == model.ByHistograms || b == model.ByHistograms {
		return model.ByHistograms
	}
	return b
}

func plus(a, b model.Range) model.Range {
	return model.Range{Lo: sum(a.Lo, b.Lo), Hi: sum(a.Hi, b.Hi)}
}

func sumOf(a, b model.Denominator) model.Denominator {
	return model.Denominator{
		Judged: a.Judged + b.Judged, Finished: a.Finished + b.Finished, Failed: a.Failed + b.Failed,
		Cancelled: sum(a.Cancelled, b.Cancelled), Excluded: sum(a.Excluded, b.Excluded), Unaccounted: sum(a.Unaccounted, b.Unaccounted),
	}
}

package fleet

import (
	"cmp"

	"slotop/model"
)

// total is the goodput of all workflows together: of everything that was judged,
// what is good. Its verdict is the worst of theirs, and it has no target of its
// own.
func (f *Fleet) total(flows []model.WorkflowView) *model.GoodputView {
	sum := model.GoodputView{Verdict: model.NoData}
	worst, point, judged := -1, 0.0, 0
	for i := range flows {
		g := flows[i].Goodput
		if at := verdictRank(g.Verdict); at > worst {
			worst, sum.Verdict = at, g.Verdict
		}
		if !g.Share.Lo.OK() || !g.Share.Hi.OK() {
			continue
		}
		point += cmp.Or(g.Share.Point, g.Share.Lo).Value * g.N
		if judged++; judged == 1 {
			sum.Basis, sum.N, sum.Of, sum.Least, sum.Most = g.Basis, g.N, g.Of, g.Least, g.Most
			sum.PerSecond, sum.OutputPerSecond = g.PerSecond, g.OutputPerSecond
			continue
		}
		sum.Basis = joined(sum.Basis, g.Basis)
		sum.N += g.N
		sum.Least, sum.Most = added(sum.Least, g.Least), added(sum.Most, g.Most)
		sum.PerSecond = plus(sum.PerSecond, g.PerSecond)
		sum.OutputPerSecond = plus(sum.OutputPerSecond, g.OutputPerSecond)
		sum.Of = sumOf(sum.Of, g.Of)
	}
	if sum.N == 0 {
		return nil
	}
	lo, hi := sum.Least.Good/sum.Least.Of, sum.Most.Good/sum.Most.Of
	sum.Share = model.Share{Lo: model.Of(lo), Hi: model.Of(hi), Point: model.Of(min(hi, max(lo, point/sum.N)))}
	return &sum
}

func added(a, b model.Fraction) model.Fraction {
	return model.Fraction{Good: a.Good + b.Good, Of: a.Of + b.Of}
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

// plus adds rates: at least what is known of either, at most what is known of both.
func plus(a, b model.Range) model.Range {
	return model.Range{Lo: sum(a.Lo, b.Lo), Hi: a.Hi.Plus(b.Hi)}
}

func sumOf(a, b model.Denominator) model.Denominator {
	return model.Denominator{
		Judged: a.Judged + b.Judged, Finished: a.Finished.Plus(b.Finished), Failed: a.Failed + b.Failed,
		Cancelled: a.Cancelled.Plus(b.Cancelled), Excluded: a.Excluded.Plus(b.Excluded), Unaccounted: a.Unaccounted.Plus(b.Unaccounted),
		Unmeasured: a.Unmeasured.Plus(b.Unmeasured),
	}
}

package slo

import (
	"fmt"
	"strings"

	"slotop/model"
)

// Goodput is the share of the requests that ended in the span and met all that
// was promised, and their rate. One by one it is exact, but for requests of
// which something was not measured. From histograms it is what the bounds allow:
// the truth lies within.
func Goodput(spec *model.WorkflowSpec, s Span) model.GoodputView {
	v := model.GoodputView{Target: model.Of(spec.Share), Basis: model.ByHistograms, Of: s.denominator()}
	if s.Exact {
		v.Basis = model.ByRequests
		s.exact(&v)
		return v
	}
	finished, ok := s.finished()
	if !ok {
		v.Verdict, v.Why = model.CannotCompute, "no finish counts"
		return v
	}
	v.Of.Finished = model.Of(finished)
	s.estimate(&v, boundsOf(spec, &s, finished))
	return v
}

func (s *Span) denominator() model.Denominator {
	d := model.Denominator{Failed: s.Failed, Unaccounted: s.Unaccounted}
	if s.Ends || s.Exact {
		d.Finished, d.Cancelled = model.Of(s.Finished), model.Of(s.Cancelled)
	}
	if s.Exact || s.Ends && s.Cancelled == 0 {
		d.Excluded = model.Of(s.Excluded)
	}
	return d
}

// finished is how many requests ended with an answer: counted, or, where no end
// of any kind was, as many as were measured at their end.
func (s *Span) finished() (n float64, ok bool) {
	if s.Ends && s.Finished+s.Failed+s.Cancelled > 0 {
		return s.Finished, true
	}
	for _, m := range []model.Metric{model.MetricE2E, model.MetricTPOT} {
		if i := index(m); s.Exported[i] {
			n, ok = max(n, s.Terms[i].N), true
		}
	}
	return n, ok || s.Ends
}

// exact fills the view from requests that were judged one by one. Of those with
// an answer that could not be judged each may have been either.
func (s *Span) exact(v *model.GoodputView) {
	v.N = s.Good + s.Bad
	v.Of.Judged = v.N
	unknown := max(0, s.Finished+s.Failed+s.Cancelled-s.Excluded-v.N)
	v.Of.Unmeasured = model.Of(unknown)
	all := v.N + unknown
	if users := s.UserGood + s.UserBad; users > 0 {
		v.UserShare = share(s.UserGood/users, s.UserGood/users, s.UserGood/users)
	}
	switch {
	case all == 0:
		noData(v)
		return
	case v.N == 0:
		v.Verdict, v.Why = model.CannotCompute, "what was promised was not measured of any request"
		return
	}
	v.Least, v.Most = model.Fraction{Good: s.Good, Of: all}, model.Fraction{Good: s.Good + unknown, Of: all}
	v.Share = share(s.Good/all, (s.Good+unknown)/all, s.Good/v.N)
	v.PerSecond = s.perSecond(s.Good, s.Good+unknown)
	v.OutputPerSecond = s.perSecond(s.GoodOutput, s.GoodOutput)
	if unknown > 0 {
		v.OutputPerSecond.Hi = s.perSecond(0, s.Output).Hi
	}
	if s.Untold {
		v.OutputPerSecond.Hi = model.Reading{}
	}
	settle(v, interval{s.Good, s.Good, s.Good})
}

// estimate fills the view from what histograms allow. A cancelled request may be
// excluded, bad, or good until its client left: the lower end counts all as bad,
// the upper end as many as possible as good.
func (s *Span) estimate(v *model.GoodputView, b bounds) {
	v.N = b.finished + s.Failed
	v.Of.Judged = v.N
	blind := len(b.missing) > 0
	switch {
	case v.N == 0 && blind:
		v.Verdict, v.Why = model.CannotCompute, notExported(b.missing)
		return
	case v.N == 0 && s.Cancelled > 0:
		v.Verdict = model.Undecided
		v.Why = model.Text(fmt.Sprintf("all of %.0f were cancelled, and why is not counted", s.Cancelled))
		return
	case v.N == 0:
		noData(v)
		return
	}
	if guess, ok := s.Guess.Get(); ok {
		b.good = between(b.good.lo, b.good.hi, guess*v.N)
	}
	v.Least = model.Fraction{Good: b.good.lo, Of: v.N + s.Cancelled}
	v.Most = model.Fraction{Good: b.good.hi + b.left, Of: v.N + b.left}
	lo, hi := v.Least.Good/v.Least.Of, v.Most.Good/v.Most.Of
	v.Share = share(lo, hi, min(hi, b.good.guess/v.N))
	v.PerSecond = s.perSecond(b.good.lo, b.good.hi+b.left)
	v.OutputPerSecond = s.output(b)
	if !b.atEdges && lo != hi {
		v.Share.Point = model.Reading{} // a product of guesses is none
	}
	settle(v, b.good)
	if blind {
		s.blindly(v, b.missing)
	}
}

// blindly leaves of a view what is so whatever the metrics that are not exported
// would say: that the target is out of reach.
func (s *Span) blindly(v *model.GoodputView, missing []model.Metric) {
	if v.Verdict != model.Missed {
		v.Verdict, v.Why = model.CannotCompute, notExported(missing)
		v.Share, v.PerSecond, v.Sample = model.Share{}, model.Range{}, model.Range{}
	}
	v.Share.Lo, v.Share.Point, v.PerSecond.Lo = model.Reading{}, model.Reading{}, model.Reading{}
	v.OutputPerSecond = model.Range{}
}

func notExported(metrics []model.Metric) model.Text {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Title()
	}
	verb := " is"
	if len(names) > 1 {
		verb = " are"
	}
	return model.Text(strings.Join(names, " and ") + verb + " not exported")
}

func noData(v *model.GoodputView) {
	v.Verdict = model.NoData
	v.Share = noTraffic()
}

func noTraffic() model.Share {
	no := model.Missing(model.NoTraffic)
	return model.Share{Lo: no, Hi: no, Point: no}
}

func share(lo, hi, point float64) model.Share {
	return model.Share{Lo: model.Of(lo), Hi: model.Of(hi), Point: model.Of(point)}
}

// perSecond is a count as a rate, unknown where no time passed.
func (s *Span) perSecond(lo, hi float64) model.Range {
	return model.Range{Lo: model.Of(lo / s.ElapsedS), Hi: model.Of(hi / s.ElapsedS)}
}

// output is the rate of output tokens of good requests that finished.
func (s *Span) output(b bounds) model.Range {
	if s.Lengths == nil || s.Lengths.N() == 0 {
		return model.Range{}
	}
	n := s.Lengths.N()
	unmeasured := max(0, b.finished-n)
	lo, hi := max(0, b.good.lo-unmeasured), min(n, b.good.hi)
	tokens := GoodOutput(s.Lengths, share(lo/n, hi/n, hi/n))
	if !tokens.Lo.OK() {
		return model.Range{}
	}
	return s.perSecond(tokens.Lo.Value, tokens.Hi.Value)
}

// settle gives the view its verdict, and what it rests on where requests are
// few.
func settle(v *model.GoodputView, good interval) {
	lo, hi := v.Share.Lo.Value, v.Share.Hi.Value
	r := rule(lo, hi, good.guess/v.N, v.N, v.Target.Value)
	v.Verdict, v.Sample = r.verdict, r.sample
	if r.verdict != model.Undecided {
		return
	}
	why := "the bounds of the share lie on both sides of what was promised"
	if r.few {
		why = badOf(v.N-good.hi, v.N-good.lo, v.N) + ", too few to judge"
	}
	v.Why = model.Text(why)
}

// badOf is "1 of 2 bad", or "1–2 of 3 bad" where it is not known how many.
func badOf(lo, hi, n float64) string {
	if l, h := fmt.Sprintf("%.0f", lo), fmt.Sprintf("%.0f", hi); l != h {
		return fmt.Sprintf("%s to %s of %.0f bad", l, h, n)
	}
	return fmt.Sprintf("%.0f of %.0f bad", lo, n)
}

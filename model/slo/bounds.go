package slo

import (
	"slotop/model"
	"slotop/model/hist"
)

// interval is a count of requests known to lie between two others. guess lies
// within, and rests on bounds being met independently of each other.
type interval struct{ lo, hi, guess float64 }

func between(lo, hi, guess float64) interval {
	hi = max(lo, hi)
	return interval{lo, hi, min(hi, max(lo, guess))}
}

// bounds is what histograms allow for the requests that finished in a window.
type bounds struct {
	finished float64
	good     interval // of the finished
	left     float64  // cancelled that may have been good until then
	atEdges  bool     // every bound is a bucket edge
	missing  []model.Metric
}

// boundsOf is the Fréchet–Hoeffding interval of the finished requests that met
// all terms, given how many met each: at least the sum of those less what all
// but one could miss, at most the smallest of them.
func boundsOf(spec *model.WorkflowSpec, s *Span, finished float64) bounds {
	b := bounds{finished: finished, atEdges: true}
	lo, hi, guess := finished, finished, finished
	for _, want := range spec.Objectives {
		i := index(want.Metric)
		t := interval{0, finished, finished}
		if s.Exported[i] {
			t = s.within(want, finished, spec.OneTokenBad)
			b.atEdges = b.atEdges && s.Terms[i].Lo == s.Terms[i].Hi
		} else {
			b.missing = append(b.missing, want.Metric)
		}
		lo += t.lo - finished
		hi = min(hi, t.hi)
		if finished > 0 {
			guess *= t.guess / finished
		}
	}
	if spec.TruncatedBad && finished > 0 {
		lo -= s.Truncated
		hi = min(hi, finished-s.Truncated)
		guess *= max(0, 1-s.Truncated/finished)
	}
	b.good = between(max(0, lo), max(0, hi), guess)
	b.left = s.leftGood(spec, b.good.hi)
	return b
}

// within bounds how many of the finished met one bound.
func (s *Span) within(want model.Objective, finished float64, oneTokenBad bool) interval {
	i := index(want.Metric)
	t, p := s.Terms[i], s.Terms[i].guessShare()
	if want.Metric == model.MetricTTFT {
		lo, hi := s.firstTokens(t, finished)
		return between(lo, hi, finished*p)
	}
	others := s.othersMeasured(t, finished)
	surely, beyond := max(0, t.Lo-others), max(0, t.N-t.Hi-others)
	seen := min(finished, t.N)
	if want.Metric != model.MetricTPOT {
		hi := finished - beyond // those not measured may be anything
		if t.N >= finished {
			hi = min(finished, t.Hi)
		}
		return between(surely, hi, finished*p)
	}
	// An answer of one token has no TPOT, and nothing to hold against it.
	odd := s.oddlyMissing(finished - t.N + others)
	if oneTokenBad {
		return between(surely, min(finished, t.Hi+odd), seen*p)
	}
	return between(max(0, finished-(t.N-t.Lo)-odd), finished-beyond, finished-seen*(1-p))
}

// oddlyMissing is how many of the answers without a TPOT are longer than one
// token: of some servers, perhaps, only the others measure it.
func (s *Span) oddlyMissing(unmeasured float64) float64 {
	if s.Lengths == nil || s.Lengths.N() == 0 {
		return 0
	}
	_, short := hist.MergeBounds([]hist.Hist{*s.Lengths}, 1)
	return max(0, unmeasured-short)
}

// firstTokens bounds the finished whose first token came in time. First tokens
// are counted when they come, not when their request ends: some in the window
// belong to requests that had not ended by then, and some of the requests had
// theirs before it.
func (s *Span) firstTokens(t Term, finished float64) (lo, hi float64) {
	if s.Began == nil {
		if t.N == 0 {
			return 0, finished
		}
		// No more of them can have been late than first tokens were.
		return finished * t.Lo / t.N, max(finished*t.Hi/t.N, finished-(t.N-t.Hi))
	}
	b := s.Began
	lo, hi = max(0, finished-(b.N-b.Lo)), finished
	if s.LateClock {
		lo = finished * t.Lo / max(1, t.N)
	}
	if b.N >= finished {
		hi = min(hi, b.Hi) // else some finished without a first token that was seen
	}
	elsewhere := s.InFlight + s.Failed + s.Cancelled + max(0, s.Unaccounted.Value)
	return lo, min(hi, finished-max(0, t.N-t.Hi-elsewhere))
}

// othersMeasured is how many of those measured at their end may not be among the
// finished: some engines measure what was cancelled or failed as well. End to end
// is measured for every request that finishes, so there the surplus tells.
func (s *Span) othersMeasured(t Term, finished float64) float64 {
	others := s.Failed + s.Cancelled
	if i := index(model.MetricE2E); s.Exported[i] {
		others = max(0, s.Terms[i].N-finished)
	}
	return max(others, t.N-finished)
}

// leftGood is how many of the cancelled may count as good: they do where what
// they saw until they left was in time, so one of them must have had a bound on
// something that comes before the end, and a first token in time where one was
// promised.
func (s *Span) leftGood(spec *model.WorkflowSpec, good float64) float64 {
	left := 0.0
	for _, want := range spec.Objectives {
		if want.Metric != model.MetricE2E {
			left = s.Cancelled
		}
	}
	for _, want := range spec.Objectives {
		if want.Metric == model.MetricTTFT && s.Began != nil && s.Began.N >= s.Finished {
			left = min(left, max(0, s.Began.Hi-good))
		}
	}
	return min(left, s.leftStreaming())
}

// leftStreaming is how many of the cancelled may have had a first token: what
// began to stream, and neither ended nor streams on. Requests that were preempted
// stream on where nobody sees it, and a few of the running have no token yet.
func (s *Span) leftStreaming() float64 {
	if !s.Flows {
		return s.Cancelled
	}
	began := s.Term(model.MetricTTFT).N
	return min(s.Cancelled, max(0, began-s.Finished-s.Grown)+s.Preempted+max(minPrefilling, s.InFlight/prefilling))
}

// How many of the running may be before their first token: one in ten, and five
// at least. A step computes the prompts of a few requests at a time.
const (
	prefilling    = 10
	minPrefilling = 5
)

// guessShare is the share of those measured that are guessed within a bound:
// as the span says, else with half of those in its bucket. Of nothing measured
// half is a guess as good as any.
func (t Term) guessShare() float64 {
	switch {
	case t.N == 0:
		return 0.5
	case t.Point.OK():
		return t.Point.Value / t.N
	default:
		return (t.Lo + t.Hi) / 2 / t.N
	}
}

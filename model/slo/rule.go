package slo

import "slotop/model"

// Few is the number of requests below which a share is given as a count, and no
// promise is called kept or broken.
const Few = 20

// wide is the half-width of a sample's interval above which the verdict rests on
// that interval instead of on the share seen.
const wide = 0.10

// ruling is a verdict and what it rests on.
type ruling struct {
	verdict model.Verdict
	sample  model.Range // set where the verdict rests on it
	few     bool        // undecided because requests are few
}

// rule holds a share of n requests, known to lie between lo and hi, against a
// target.
func rule(lo, hi, guess, n, target float64) ruling {
	least, most := Wilson(guess*n, n, z95)
	if n >= Few && (most-least)/2 <= wide {
		return ruling{verdict: compare(lo, hi, target)}
	}
	least, _ = Wilson(lo*n, n, z95)
	_, most = Wilson(hi*n, n, z95)
	r := ruling{verdict: model.Undecided, sample: model.Range{Lo: model.Of(least), Hi: model.Of(most)}}
	if n >= Few {
		r.verdict = compare(least, most, target)
	}
	r.few = r.verdict == model.Undecided
	return r
}

// noise is by how much of itself a share may be too small because the counts that it
// was made of were worked out, as those of a Prometheus server are.
const noise = 1e-12

func compare(lo, hi, target float64) model.Verdict {
	target *= 1 - noise
	switch {
	case lo >= target:
		return model.Met
	case hi < target:
		return model.Missed
	default:
		return model.Undecided
	}
}

// Objectives is each bound of a workflow for itself: the share of the requests
// measured that were within it. The share is exact where the bound is a bucket
// edge or requests were judged one by one.
func Objectives(spec *model.WorkflowSpec, s Span) []model.ObjectiveView {
	views := make([]model.ObjectiveView, len(spec.Objectives))
	for k, want := range spec.Objectives {
		views[k] = s.objective(want, spec.Share)
	}
	return views
}

func (s *Span) objective(want model.Objective, target float64) model.ObjectiveView {
	i := index(want.Metric)
	t := s.Terms[i]
	v := model.ObjectiveView{Metric: want.Metric, MaxS: want.MaxS, N: t.N, Target: target}
	switch {
	case !s.Exact && !s.Exported[i]:
		v.Verdict = model.CannotCompute
		return v
	case t.N == 0:
		v.Verdict, v.Share = model.NoData, noTraffic()
		return v
	}
	v.Share = share(t.Lo/t.N, t.Hi/t.N, t.guessShare())
	if t.Lo != t.Hi && !t.Point.OK() {
		v.Share.Point = model.Reading{}
	}
	v.Verdict = rule(t.Lo/t.N, t.Hi/t.N, t.guessShare(), t.N, target).verdict
	return v
}

// counted is how many of a stretch's requests were judged, and how many of them
// are good: the best guess where only histograms exist.
func counted(spec *model.WorkflowSpec, c *Counts) (good, n float64) {
	if n := c.Good + c.Bad; n > 0 {
		return c.Good, n
	}
	s := Span{Counts: *c, Ends: c.Finished > 0}
	for i := range s.Exported {
		s.Exported[i] = true
	}
	finished, _ := s.finished()
	return boundsOf(spec, &s, finished).good.guess, finished + c.Failed
}

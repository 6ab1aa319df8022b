package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slotop/model"
	"slotop/model/slo"
	"slotop/model/unit"
)

// degree is how badly a workflow is hurt, worst highest.
type degree int

const (
	slower degree = iota // than in the baseline
	atRisk               // a request that comes now will wait longer than promised
	breach               // fewer were good than promised, beyond chance
)

// hurt is one thing that users of a workflow feel.
type hurt struct {
	flow   *Flow
	metric model.Metric
	degree degree
	size   float64 // within a degree
	n      float64
	text   string
}

const (
	// clustered is the design effect of a minute: requests in it share their fate,
	// so that so many of them are worth one.
	clustered = 4
	sure      = 1.96 // standard deviations of a two-sided 95 % interval
	// leastRecovered is how many requests say that it is over.
	leastRecovered = 10
	// nearBound is the part of a bound from which a latency that grew is felt.
	nearBound = 0.25
)

// symptoms is what users feel, the worst first.
func (s *scene) symptoms() []hurt {
	var out []hurt
	for i := range s.f.Flows {
		w := &s.f.Flows[i]
		for _, feel := range []func(*Flow) (hurt, bool){s.breached, s.predicted, s.slowed} {
			if h, felt := feel(w); felt {
				out = append(out, h)
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b hurt) int {
		return cmp.Or(cmp.Compare(b.degree, a.degree), cmp.Compare(b.size, a.size))
	})
	return out
}

// target is the share that was promised.
func (f *Flow) target() float64 {
	if f.Spec == nil || f.Spec.Share == 0 {
		return model.DefaultShare
	}
	return f.Spec.Share
}

// breached: fewer requests were good than promised, by the upper end of the
// interval that neighbours' shared fate leaves.
func (s *scene) breached(w *Flow) (hurt, bool) {
	goodput, judged := share(w.Now, Good, Judged)
	if !(judged > 0) {
		return hurt{}, false
	}
	_, hi := slo.Wilson(goodput*judged/clustered, judged/clustered, sure)
	ease := s.ease("hurt " + w.Name)
	if !(1-hi > ease*(1-w.target())) || ease < 1 && w.recovered() {
		return hurt{}, false
	}
	h := hurt{flow: w, degree: breach, size: w.target() - goodput, n: judged}
	h.metric, h.text = w.worstTerm()
	if h.text == "" {
		h.text = fmt.Sprintf("%s: %s of %s met every objective", w.Name, unit.Integer(math.Round(goodput*judged)), unit.Integer(judged))
	}
	return h, true
}

// recovered reports whether the newest half minute is as good as promised.
func (f *Flow) recovered() bool {
	goodput, judged := share(last(f.Now, littleBlocks), Good, Judged)
	return judged >= leastRecovered && goodput >= f.target()
}

// worstTerm is the bound that fewest met, in words.
func (f *Flow) worstTerm() (model.Metric, string) {
	var worst *model.ObjectiveView
	for i := range f.Terms {
		t := &f.Terms[i]
		if t.N > 0 && t.Share.Point.OK() && (worst == nil || t.Share.Point.Value < worst.Share.Point.Value) {
			worst = t
		}
	}
	if worst == nil {
		return "", ""
	}
	return worst.Metric, fmt.Sprintf("%s %s: %s met %s", f.Name, worst.Metric.Title(), of(worst), unit.Limit(worst.MaxS))
}

// decided is the width of a share up to which it is told as a count.
const decided = 0.02

func of(t *model.ObjectiveView) string {
	if !(t.Share.Hi.Value-t.Share.Lo.Value <= decided) {
		return unit.Share(t.Share, false) + " of " + unit.Integer(t.N)
	}
	return unit.Integer(math.Round(t.Share.Point.Value*t.N)) + " of " + unit.Integer(t.N)
}

// bound is the bound of a metric, 0 where none was promised.
func (f *Flow) bound(m model.Metric) float64 {
	if f.Spec == nil {
		return 0
	}
	for _, o := range f.Spec.Objectives {
		if o.Metric == m {
			return o.MaxS
		}
	}
	return 0
}

// predicted: a request that comes now waits longer than promised.
func (s *scene) predicted(w *Flow) (hurt, bool) {
	bound := w.bound(model.MetricTTFT)
	if bound == 0 || !(s.wait > s.ease("hurt "+w.Name)*bound) || !s.queued() {
		return hurt{}, false
	}
	return hurt{
		flow: w, metric: model.MetricTTFT, degree: atRisk, size: s.wait / bound, n: w.requests(),
		text: fmt.Sprintf("%s TTFT: a new request waits ≈ %s, promised %s", w.Name, unit.Duration(s.wait), unit.Limit(bound)),
	}, true
}

// queued reports whether more than one waits.
func (s *scene) queued() bool {
	waiting := 0.0
	for i := range s.f.Engines {
		waiting += s.f.Engines[i].Waiting.Mean.Value
	}
	return waiting > leastWaiting
}

// requests is how many of the present are known of.
func (f *Flow) requests() float64 {
	n, _ := counted(f.Now, Ended)
	return n
}

// felt are the latencies of which a change is a symptom.
var felt = []struct {
	metric  model.Metric
	measure Measure
}{
	{model.MetricTTFT, TTFT},
	{model.MetricTPOT, TPOT},
	{model.MetricE2E, E2E},
}

// minds reports whether users of the workflow mind a latency: one that was promised,
// any where nothing was, and always the whole.
func (f *Flow) minds(m model.Metric) bool {
	return f.Spec == nil || len(f.Spec.Objectives) == 0 || m == model.MetricE2E || f.bound(m) > 0
}

// slowed: a latency grew beyond chance, and is not far below what was promised. The
// one that grew most is told.
func (s *scene) slowed(w *Flow) (hurt, bool) {
	worst := hurt{flow: w, degree: slower}
	for _, l := range felt {
		m := moved(w.Now, w.Before, l.measure)
		grew := m.up || s.held != nil && s.held("hurt "+w.Name) && math.Log(m.ratio) > leave*math.Log(1.3)
		if !grew || !w.minds(l.metric) || m.now < nearBound*w.bound(l.metric) || m.ratio < worst.size {
			continue
		}
		worst.metric, worst.size, worst.n = l.metric, m.ratio, m.n
		worst.text = fmt.Sprintf("%s %s: %s → %s", w.Name, l.metric.Title(), unit.Duration(m.before), unit.Duration(m.now))
	}
	return worst, worst.size > 0
}

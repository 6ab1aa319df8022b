package compare

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/slo"
)

// Unit says what a figure's values are.
type Unit string

// The units: seconds, a number per second, a share 0–1.
const (
	Seconds   Unit = "seconds"
	PerSecond Unit = "per_second"
	Share     Unit = "ratio"
)

// Figure is one number of a stage.
type Figure struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	Unit  Unit   `json:"unit"`
	Up    Sense  `json:"-"` // what more of it is

	of     func(*model.StageWorkflow) sampled
	counts bool // is about what was asked for as much as about the answers: needs no requests on one side
}

// sampled is what a figure rests on: one of a rate, a share or a quantile.
type sampled struct {
	point, lo, hi model.Reading // as the stage shows it
	n             float64       // requests, or tokens of prompts, that it was counted on
	effect        float64
	q             float64 // of a quantile
	counted       *model.Counted
	seen          model.Estimate
}

// Figures are what is compared, in the order in which they are shown.
var Figures = []Figure{
	{Key: "requests_per_second", Title: "requests/s", Unit: PerSecond, counts: true, of: func(w *model.StageWorkflow) sampled {
		return rateOf(w.PerSecond, w.Sampled.Requests)
	}},
	{Key: "output_per_second", Title: "output tok/s", Unit: PerSecond, counts: true, of: func(w *model.StageWorkflow) sampled {
		return rateOf(w.OutputPerSecond, w.Sampled.Output)
	}},
	{Key: "prompt_per_second", Title: "prompt tok/s", Unit: PerSecond, counts: true, of: func(w *model.StageWorkflow) sampled {
		return rateOf(w.PromptPerSecond, w.Sampled.Prompt)
	}},
	{Key: "ttft.p50", Title: "TTFT p50", Unit: Seconds, Up: Worse, of: quantile(ttft, 0)},
	{Key: "ttft.p95", Title: "TTFT p95", Unit: Seconds, Up: Worse, of: quantile(ttft, 1)},
	{Key: "ttft.p99", Title: "TTFT p99", Unit: Seconds, Up: Worse, of: quantile(ttft, 2)},
	{Key: "tpot.p50", Title: "TPOT p50", Unit: Seconds, Up: Worse, of: quantile(tpot, 0)},
	{Key: "tpot.p95", Title: "TPOT p95", Unit: Seconds, Up: Worse, of: quantile(tpot, 1)},
	{Key: "e2e.p95", Title: "E2E p95", Unit: Seconds, Up: Worse, of: quantile(e2e, 1)},
	{Key: "goodput", Title: "goodput", Unit: Share, Up: Better, of: goodput},
	{Key: "good_per_second", Title: "good req/s", Unit: PerSecond, Up: Better, counts: true, of: goodRate},
	{Key: "prefix_cache_hit", Title: "cache hits", Unit: Share, Up: Better, of: func(w *model.StageWorkflow) sampled {
		r := w.PrefixCacheHit
		return sampled{point: r, lo: r, hi: r, n: w.Sampled.Looked, effect: w.Sampled.HitEffect}
	}},
}

func ttft(w *model.StageWorkflow) (*model.Dist, *model.Counted) { return w.TTFT, &w.Sampled.TTFT }
func tpot(w *model.StageWorkflow) (*model.Dist, *model.Counted) { return w.TPOT, &w.Sampled.TPOT }
func e2e(w *model.StageWorkflow) (*model.Dist, *model.Counted)  { return w.E2E, &w.Sampled.E2E }

func rateOf(r model.Reading, t model.Tally) sampled {
	return sampled{point: r, lo: r, hi: r, n: t.N, effect: t.Effect}
}

// quantile is the i-th of the percentiles that are compared: p50, p95, p99.
func quantile(of func(*model.StageWorkflow) (*model.Dist, *model.Counted), i int) func(*model.StageWorkflow) sampled {
	return func(w *model.StageWorkflow) sampled {
		d, c := of(w)
		if d == nil {
			return sampled{}
		}
		e := [...]model.Estimate{d.P50, d.P95, d.P99}[i]
		s := sampled{point: e.Value, n: d.N, q: [...]float64{0.50, 0.95, 0.99}[i], counted: c, seen: e}
		s.lo, s.hi = bracket(c, s.q)
		return s
	}
}

func goodput(w *model.StageWorkflow) sampled {
	g := w.Goodput
	if g == nil {
		return sampled{}
	}
	return sampled{point: g.Share.Point, lo: g.Share.Lo, hi: g.Share.Hi, n: g.N, effect: w.Sampled.GoodEffect}
}

func goodRate(w *model.StageWorkflow) sampled {
	g := w.Goodput
	if g == nil || !g.PerSecond.Hi.OK() {
		return sampled{}
	}
	s := sampled{lo: g.PerSecond.Lo, hi: g.PerSecond.Hi, n: g.N, effect: w.Sampled.Good.Effect}
	if p := g.Share.Point; p.OK() && w.PerSecond.OK() && g.Of.Finished.OK() && g.Of.Finished.Value > 0 {
		s.point = model.Of(min(s.hi.Value, max(s.lo.Value, p.Value*g.N/g.Of.Finished.Value*w.PerSecond.Value)))
	}
	return s
}

// leastRequests are needed for a comparison, on either side.
const leastRequests = 30

// obstacle is why a row cannot be judged whatever its numbers are, "" where it can.
func (f *Figure) obstacle(a, b *model.StageWorkflow, r *Row) string {
	for _, side := range []struct {
		w    *model.StageWorkflow
		v    Value
		name string
	}{{a, r.A, "A"}, {b, r.B, "B"}} {
		switch s := side.w.Sampled; {
		case !side.v.known():
			return "not known of " + side.name
		case s.Batches < leastBatches:
			return fmt.Sprintf("%s is shorter than %d stretches of %.0f s", side.name, leastBatches, math.Max(leastBatchS, s.BatchS))
		}
	}
	few := func(w *model.StageWorkflow) bool { return w.Sampled.Requests.N < leastRequests }
	if few(a) && few(b) || !f.counts && (few(a) || few(b)) {
		return fmt.Sprintf("fewer than %d requests", leastRequests)
	}
	if f.promised() && !samePromise(a, b) {
		return "promised were different things"
	}
	return ""
}

// leastBatches is how many stretches of a stage must have been told apart.
const leastBatches = 3

// leastBatchS is how long one is where there is none yet, in seconds.
const leastBatchS = 5

func (f *Figure) promised() bool { return f.Key == "goodput" || f.Key == "good_per_second" }

// value is the figure in one stage, with its 95 % interval.
func (f *Figure) value(w *model.StageWorkflow, lasted float64) Value {
	s := f.of(w)
	v := Value{Point: s.point, N: model.Of(s.n), Seen: s.seen}
	if s.n == 0 && !s.point.OK() {
		v.N = model.Reading{}
		if !s.lo.OK() && !s.hi.OK() {
			return v
		}
	}
	df := freedom(w)
	e := effective(s, df, risk95)
	switch {
	case f.Unit == Share:
		v.Share = model.Share{Lo: s.lo, Hi: s.hi, Point: s.point}
		v.Lo, v.Hi = shareInterval(s, e, risk95)
	case s.counted != nil:
		v.Lo, v.Hi = quantileInterval(s, df, risk95)
	default:
		v.Lo, v.Hi = rateInterval(s, e, lasted, risk95)
	}
	return v
}

// risk95 is what an interval of 95 % leaves.
const risk95 = 0.05

// spans are how many seconds the stages lasted.
type spans struct{ a, b float64 }

// change is the interval of b against a that misses the truth with a chance of risk.
func (f *Figure) change(a, b *model.StageWorkflow, lasted spans, risk float64) interval {
	sa, sb := f.of(a), f.of(b)
	// Where all were alike nothing is seen of how they share their fate: the other
	// side's word is taken.
	if sa.effect == 0 {
		sa.effect = sb.effect
	}
	if sb.effect == 0 {
		sb.effect = sa.effect
	}
	df := 4 / (1/freedom(a) + 1/freedom(b)) // Welch, of two that vary alike
	ea, eb := effective(sa, df, risk), effective(sb, df, risk)
	switch {
	case f.Unit == Share:
		return newcombe(sa, sb, ea, eb, risk)
	case sa.counted != nil:
		return ofQuantiles(sa, sb, df, risk)
	default:
		return ofRates(sa, sb, ea, eb, lasted, risk)
	}
}

// freedom is the degrees of freedom that the stretches of a stage leave.
func freedom(w *model.StageWorkflow) float64 { return float64(w.Sampled.Batches - 1) }

func samePromise(a, b *model.StageWorkflow) bool {
	if len(a.Objectives) != len(b.Objectives) || a.Goodput == nil || b.Goodput == nil {
		return false
	}
	for i, o := range a.Objectives {
		if o != b.Objectives[i] {
			return false
		}
	}
	return true
}

// shareInterval is Wilson's, on as many requests as are independent.
func shareInterval(s sampled, n, risk float64) (lo, hi model.Reading) {
	z := normal(risk)
	if s.lo.OK() {
		l, _ := slo.Wilson(s.lo.Value*n, n, z)
		lo = model.Of(l)
	}
	if s.hi.OK() {
		_, h := slo.Wilson(s.hi.Value*n, n, z)
		hi = model.Of(h)
	}
	return lo, hi
}

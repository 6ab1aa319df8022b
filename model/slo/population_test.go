package slo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"slotop/model"
	"slotop/model/hist"
)

// life is one request as it really was, times in seconds.
type life struct {
	came, first, end float64 // first is +Inf where there was no token
	queue            float64
	tokens           float64
	outcome          model.Outcome
	reason           string
	lost             bool // the server counts its end nowhere
	unpaced          bool // the server measures no TPOT: it is of an older kind
}

func (l life) started() bool { return l.first <= l.end }

func (l life) answered() bool {
	return l.outcome == model.Completed || l.outcome == model.OutputLimited
}

func (l life) observed() Observed {
	o := Observed{Outcome: l.outcome, Reason: l.reason, OutputTokens: model.Of(l.tokens), Stream: model.Streamed,
		WaitedS: model.Of(l.end - l.came), HadToken: l.started()}
	o.Times[index(model.MetricE2E)] = model.Of(l.end - l.came)
	if l.started() {
		o.Times[index(model.MetricTTFT)] = model.Of(l.first - l.came)
		o.Times[index(model.MetricQueue)] = model.Of(l.queue)
		if l.tokens > 1 {
			o.Times[index(model.MetricTPOT)] = model.Of((l.end - l.first) / (l.tokens - 1))
		}
	}
	return o
}

// server is how one engine counts, and what was promised of it.
type server struct {
	spec            model.WorkflowSpec
	edges           []float64
	measuresAborted bool // what was cancelled or failed is measured as it ends
	exportsE2E      bool
	countsFlow      bool
	lengths         []float64
}

func newServer(r *rand.Rand) server {
	s := server{edges: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, measuresAborted: r.IntN(2) == 0,
		exportsE2E: r.IntN(3) > 0, countsFlow: r.IntN(2) == 0, lengths: []float64{1, 2, 5, 10, 20, 50, 100, 200}}
	s.spec = model.WorkflowSpec{Share: .5 + r.Float64()/2, OneTokenBad: r.IntN(3) == 0, TruncatedBad: r.IntN(3) == 0}
	bounds := map[model.Metric]float64{model.MetricTTFT: .5, model.MetricTPOT: .05, model.MetricE2E: 2.5, model.MetricQueue: .25}
	for _, m := range model.Metrics {
		at, known := bounds[m]
		if !known || r.IntN(2) == 0 || m == model.MetricE2E && !s.exportsE2E {
			continue
		}
		if r.IntN(2) == 0 {
			at *= .5 + r.Float64() // mostly between two edges
		}
		s.spec.Objectives = append(s.spec.Objectives, model.Objective{Metric: m, MaxS: at})
	}
	return s
}

// live makes up requests over ten seconds or so: quiet, then an incident, clients
// that leave, answers of one token, failures and losses.
func live(r *rand.Rand, n int) []life {
	slow, patience := math.Exp(2*r.Float64()-1), .5+10*r.Float64()
	cancels, failures, losses, cuts := r.Float64()/3, r.Float64()/5, r.Float64()/10, r.Float64()/3
	if r.IntN(3) == 0 {
		cancels, failures, losses = 0, 0, 0
	}
	older := max(0, r.Float64()-.5)
	lives := make([]life, n)
	for i := range lives {
		l := life{came: 10 * r.Float64(), outcome: model.Completed, tokens: math.Floor(math.Exp(4 * r.Float64()))}
		pace := slow
		if l.came > 6 {
			pace *= 4
		}
		l.queue = pace * .1 * r.ExpFloat64()
		l.first = l.came + l.queue + pace*.2*r.ExpFloat64()
		l.end = l.first + (l.tokens-1)*pace*.04*(.5+r.Float64())
		if r.Float64() < cuts {
			l.outcome = model.OutputLimited
		}
		if r.Float64() < cancels {
			l = l.cut(l.came+patience*r.Float64(), model.RequestCancelled)
			l.reason = []string{"client_disconnect", "user", "", "deadline", "preempted"}[r.IntN(5)]
		} else if r.Float64() < failures {
			l = l.cut(l.came+patience*r.Float64(), model.RequestFailed)
		}
		l.lost = r.Float64() < losses
		l.unpaced = r.Float64() < older
		lives[i] = l
	}
	return lives
}

// cut ends a life early.
func (l life) cut(at float64, how model.Outcome) life {
	if at >= l.end {
		return l
	}
	if at < l.first {
		l.tokens, l.first = 0, math.Inf(1)
	} else {
		l.tokens = 1 + math.Floor((l.tokens-1)*(at-l.first)/(l.end-l.first))
	}
	l.end, l.outcome = at, how
	return l
}

// tell counts a value against a bound as the buckets allow.
func (s server) tell(t *Term, bound, v float64) {
	lower := func(x float64) float64 {
		i, exact := slices.BinarySearch(s.edges, x)
		switch {
		case exact:
			return x
		case i == 0:
			return 0
		}
		return s.edges[i-1]
	}
	upper := func(x float64) float64 {
		if i, _ := slices.BinarySearch(s.edges, x); i < len(s.edges) {
			return s.edges[i]
		}
		return math.Inf(1)
	}
	one := Term{N: 1, Sum: v}
	if v <= lower(bound) {
		one.Lo = 1
	}
	if v <= upper(bound) {
		one.Hi = 1
	}
	t.Add(one)
}

func (s server) bound(m model.Metric) float64 {
	for _, o := range s.spec.Objectives {
		if o.Metric == m {
			return o.MaxS
		}
	}
	return math.Inf(1)
}

// scrape reduces the lives to what the server would have counted in (from, to].
func (s server) scrape(lives []life, from, to float64) Span {
	span := Span{ElapsedS: to - from, Ends: true, Began: &Term{}, Flows: s.countsFlow}
	for i, m := range model.Metrics {
		span.Exported[i] = m.Signal() != "" && (m != model.MetricE2E || s.exportsE2E)
	}
	longest, lost := 0.0, 0.0
	for _, l := range lives {
		if l.started() {
			longest = max(longest, l.end-l.first)
		}
	}
	var answers []float64
	for _, l := range lives {
		s.tellFirst(&span, l, from, to, longest)
		if !(l.end > from && l.end <= to) {
			continue
		}
		if l.lost {
			lost++
			continue
		}
		s.tellEnd(&span, l)
		if l.answered() {
			answers = append(answers, l.tokens)
		}
	}
	span.Unaccounted = model.Of(lost)
	span.Lengths = s.histogram(answers)
	return span
}

func (s server) tellFirst(span *Span, l life, from, to, longest float64) {
	if !l.started() || l.first > to {
		return
	}
	bound := s.bound(model.MetricTTFT)
	if l.first > from {
		s.tell(span.Term(model.MetricTTFT), bound, l.first-l.came)
	}
	if l.first >= from-longest {
		s.tell(span.Began, bound, l.first-l.came)
	}
	if l.end > to {
		span.InFlight++ // as a gauge counts: whenever its first token came
		span.Grown++
	}
	if l.first <= from && l.end > from {
		span.Grown--
	}
}

func (s server) tellEnd(span *Span, l life) {
	switch l.outcome {
	case model.RequestCancelled:
		span.Cancelled++
	case model.RequestFailed:
		span.Failed++
	case model.OutputLimited:
		span.Truncated++
		span.Finished++
	default:
		span.Finished++
	}
	if !l.answered() && !s.measuresAborted {
		return
	}
	o := l.observed()
	for i, m := range model.Metrics {
		if l.unpaced && m == model.MetricTPOT {
			continue
		}
		if v, ok := o.Times[i].Get(); ok && m != model.MetricTTFT && span.Exported[i] {
			s.tell(&span.Terms[i], s.bound(m), v)
		}
	}
}

func (s server) histogram(values []float64) *hist.Hist {
	h := hist.Hist{Bounds: s.lengths, Cum: make([]float64, len(s.lengths)+1)}
	sum := 0.0
	for _, v := range values {
		sum += v
		for i := range h.Cum {
			if i == len(s.lengths) || v <= s.lengths[i] {
				h.Cum[i]++
			}
		}
	}
	h.Sum = model.Of(sum)
	return &h
}

// judged is the same window from the requests themselves.
func (s server) judged(lives []life, from, to float64) Span {
	span := Span{ElapsedS: to - from, Ends: true, Exact: true}
	for _, l := range lives {
		if l.lost || !(l.end > from && l.end <= to) {
			continue
		}
		switch l.outcome {
		case model.RequestCancelled:
			span.Cancelled++
		case model.RequestFailed:
			span.Failed++
		default:
			span.Finished++
			span.Output += l.tokens
		}
		switch Judge(&s.spec, l.observed()).Verdict {
		case IsGood:
			span.Good++
			if l.answered() {
				span.GoodOutput += l.tokens
			}
		case IsBad:
			span.Bad++
		case IsExcluded:
			span.Excluded++
		}
	}
	return span
}

// window is one window of one made-up service, both ways.
func window(seed uint64, n int) (s server, histograms, requests Span) {
	r := rand.New(rand.NewPCG(seed, 1))
	s = newServer(r)
	lives := live(r, n)
	from := 12 * r.Float64()
	to := from + .5 + 12*r.Float64()
	return s, s.scrape(lives, from, to), s.judged(lives, from, to)
}

// holds checks that what histograms allow contains what was, and gives the width.
func holds(t *testing.T, seed uint64, n int) (width float64) {
	t.Helper()
	s, histograms, requests := window(seed, n)
	v, exact := Goodput(&s.spec, histograms), Goodput(&s.spec, requests)
	if exact.Share.Lo != exact.Share.Hi {
		t.Fatalf("seed %d: not exact: %+v", seed, exact)
	}
	inside := func(what string, lo, hi, truth model.Reading) {
		if !truth.OK() || !lo.OK() || !hi.OK() {
			return
		}
		if slack := 1e-9 * (1 + truth.Value); lo.Value > truth.Value+slack || hi.Value < truth.Value-slack {
			t.Errorf("seed %d n %d: %s %v is outside %v to %v\n%+v\nof %+v\nspec %+v",
				seed, n, what, truth.Value, lo.Value, hi.Value, v, histograms, s.spec)
		}
	}
	inside("share", v.Share.Lo, v.Share.Hi, exact.Share.Point)
	inside("rate", v.PerSecond.Lo, v.PerSecond.Hi, exact.PerSecond.Lo)
	inside("tokens", v.OutputPerSecond.Lo, v.OutputPerSecond.Hi, exact.OutputPerSecond.Lo)
	inside("point", v.Share.Lo, v.Share.Hi, v.Share.Point)
	if exact.N >= Few && (v.Verdict == model.Met && exact.Share.Point.Value < s.spec.Share ||
		v.Verdict == model.Missed && exact.Share.Point.Value >= s.spec.Share) {
		t.Errorf("seed %d: %s, but exactly %v for %v", seed, v.Verdict, exact.Share.Point.Value, s.spec.Share)
	}
	surely, likely := BadOf(&s.spec, histograms)
	if surely.Bad > requests.Bad+1e-9 || surely.Bad > likely.Bad+1e-9 {
		t.Errorf("seed %d: surely %v bad, likely %v, really %v", seed, surely, likely, requests.Bad)
	}
	if !v.Share.Lo.OK() || !v.Share.Hi.OK() {
		return math.NaN()
	}
	return v.Share.Hi.Value - v.Share.Lo.Value
}

func TestBoundsHoldTheTruth(t *testing.T) {
	var widths []float64
	for seed := range uint64(4000) {
		if w := holds(t, seed, 1+int(seed)%300); !math.IsNaN(w) {
			widths = append(widths, w)
		}
		if t.Failed() {
			return
		}
	}
	slices.Sort(widths)
	at := func(q float64) float64 { return widths[int(q*float64(len(widths)-1))] }
	t.Logf("%d windows, width of the share: median %.2f, p90 %.2f", len(widths), at(.5), at(.9))
	if at(.1) > .05 {
		t.Errorf("nine in ten intervals are wider than %.2f: they say nothing", at(.1))
	}
}

func FuzzBounds(f *testing.F) {
	f.Add(uint64(1), uint16(50))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) { holds(t, seed, int(n%1000)) })
}

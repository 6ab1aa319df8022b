package fleet

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/requests"
	"slotop/model/sketch"
	"slotop/model/slo"
)

// maxCauses bounds the reasons that one stretch tells apart.
const maxCauses = 32

// reported sums up requests that ended within one stretch of time.
type reported struct {
	start       time.Duration
	counts      slo.Counts
	times       [len(slo.Counts{}.Terms)]sketch.Sketch // by model.Metrics, of requests that were answered
	response    sketch.Sketch                          // from a load generator's schedule
	output      model.Known
	untold      float64 // answers of which it is not known how many tokens they had
	prompts     prompts
	answers     float64 // requests that said when the answer proper began
	retries     float64
	early       float64 // of the cancelled, before their first token
	failedBy    map[string]float64
	cancelledBy map[string]float64
	load        sendings
	wasted      wastes
}

// add counts one request: what became of it, whether it kept its promises, and
// its times where it was answered.
func (s *reported) add(spec *model.WorkflowSpec, e *requests.Ended) slo.Judgement {
	q := e.Request
	times := e.Times()
	felt := times
	if r := e.Response(); r.OK() {
		felt[e2eAt] = r // the plan's clock started it
	}
	j := slo.Judge(spec, slo.Observed{
		Times: felt, Outcome: q.Outcome, Reason: q.Reason, Status: q.Status, OutputTokens: q.OutputTokens,
		Stream: q.Stream, WaitedS: e.WaitedS(), HadToken: q.FirstToken != 0,
	})
	s.outcome(q)
	s.judged(j, q)
	for i, v := range felt {
		s.term(i, v, j.Terms[i])
	}
	s.measure(e, times)
	s.usage(q)
	s.retries += retriesOf(e)
	s.load.add(q, e)
	s.wasted.add(q)
	return j
}

var e2eAt = slices.Index(model.Metrics, model.MetricE2E)

// measure takes the times of a request: none of one that failed, and of one that
// was cut short not how long it took, which is no length of an answer.
func (s *reported) measure(e *requests.Ended, times [len(slo.Counts{}.Terms)]model.Reading) {
	outcome := e.Request.Outcome
	if outcome == model.RequestFailed {
		return
	}
	for i, v := range times {
		if v.OK() && (i != e2eAt || outcome != model.RequestCancelled) {
			s.times[i].Add(v.Value)
		}
	}
	if r := e.Response(); r.OK() && outcome != model.RequestCancelled {
		s.response.Add(r.Value)
	}
}

// retriesOf is how many tries a request was besides its user's first: all of its
// own, or itself where each try is a request.
func retriesOf(e *requests.Ended) float64 {
	if e.Request.RetryOf != "" {
		return 1
	}
	return float64(max(0, e.Tries-1))
}

func (s *reported) outcome(q *model.Request) {
	c := &s.counts
	switch q.Outcome {
	case model.OutputLimited:
		c.Truncated++
		c.Finished++
	case model.RequestCancelled:
		c.Cancelled++
		if q.FirstToken == 0 {
			s.early++
		}
		count(&s.cancelledBy, causeOf(q))
	case model.RequestFailed:
		c.Failed++
		count(&s.failedBy, causeOf(q))
		if throttled(q) {
			c.Throttled++
		}
	default:
		c.Finished++
	}
}

// Statuses of a service that refuses a request for its rate: the standard one, and that
// of hosted services that are overloaded.
const (
	tooManyRequests = 429
	overloaded      = 529
)

func throttled(q *model.Request) bool {
	return q.Status == tooManyRequests || q.Status == overloaded || q.Reason == "rate_limited"
}

// causeOf is the reason as people search for it: the status, and the word.
func causeOf(q *model.Request) string {
	status := ""
	if q.Outcome == model.RequestFailed && q.Status > 0 {
		status = strconv.Itoa(q.Status)
	}
	return cmp.Or(strings.TrimSpace(status+" "+q.Reason), "not said")
}

func count(by *map[string]float64, cause string) {
	if *by == nil {
		*by = map[string]float64{}
	}
	if _, known := (*by)[cause]; !known && len(*by) >= maxCauses {
		cause = model.OtherName
	}
	(*by)[cause]++
}

func (s *reported) judged(j slo.Judgement, q *model.Request) {
	c := &s.counts
	switch j.Verdict {
	case slo.IsGood:
		c.Good++
		if q.OutputTokens.OK() && q.Outcome != model.RequestCancelled {
			c.GoodOutput += q.OutputTokens.Value
		}
	case slo.IsBad:
		c.Bad++
	case slo.IsExcluded:
		c.Excluded++
	}
}

func (s *reported) term(i int, v model.Reading, p slo.Pass) {
	if p == slo.NotApplicable || !v.OK() {
		return
	}
	t := slo.Term{N: 1, Sum: v.Value}
	if p == slo.Within {
		t.Lo, t.Hi = 1, 1
	}
	s.counts.Terms[i].Add(t)
}

// prompts sums up what requests said of their prompts: of how many requests, their
// tokens, and how many of the tokens of those that said so came from a cache.
type prompts struct{ n, tokens, cached, ofCached float64 }

func (p *prompts) add(q *model.Request) {
	if !q.InputTokens.OK() {
		return
	}
	p.n, p.tokens = p.n+1, p.tokens+q.InputTokens.Value
	if q.CachedTokens.OK() {
		p.cached, p.ofCached = p.cached+q.CachedTokens.Value, p.ofCached+q.InputTokens.Value
	}
}

func (p *prompts) merge(o prompts) {
	p.n, p.tokens, p.cached, p.ofCached = p.n+o.n, p.tokens+o.tokens, p.cached+o.cached, p.ofCached+o.ofCached
}

func (s *reported) usage(q *model.Request) {
	s.prompts.add(q)
	if q.FirstAnswer != 0 {
		s.answers++
	}
	if q.Outcome == model.RequestFailed {
		return // nothing was generated for anybody
	}
	if !q.OutputTokens.OK() {
		s.output.Unknown++
		if q.Outcome != model.RequestCancelled {
			s.untold++
		}
		return
	}
	s.output.N++
	s.output.Sum += q.OutputTokens.Value
	s.counts.Output += q.OutputTokens.Value
}

func (s *reported) merge(o *reported) {
	s.counts.Add(&o.counts)
	for i := range s.times {
		s.times[i].Merge(&o.times[i])
	}
	s.response.Merge(&o.response)
	s.output.Sum += o.output.Sum
	s.output.N += o.output.N
	s.output.Unknown += o.output.Unknown
	s.untold += o.untold
	s.prompts.merge(o.prompts)
	s.answers += o.answers
	s.retries += o.retries
	s.early += o.early
	addCauses(&s.failedBy, o.failedBy)
	addCauses(&s.cancelledBy, o.cancelledBy)
	s.load.merge(&o.load)
	s.wasted.merge(&o.wasted)
}

func addCauses(to *map[string]float64, from map[string]float64) {
	for cause, n := range from {
		if *to == nil {
			*to = map[string]float64{}
		}
		(*to)[cause] += n
	}
}

// causes lists what ended requests, most frequent first.
func causes(by map[string]float64) []model.Cause {
	out := make([]model.Cause, 0, len(by))
	for reason, n := range by {
		out = append(out, model.Cause{Reason: reason, N: n})
	}
	slices.SortFunc(out, func(a, b model.Cause) int {
		if a.N != b.N {
			return int(b.N - a.N)
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	return out
}

func (s *reported) dist(m model.Metric) *model.Dist {
	return s.times[slices.Index(model.Metrics, m)].Dist(model.FromEvents)
}

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

const (
	// forgetEvents is how long a workflow that only reports named is kept at least.
	forgetEvents = MaxWindow
	// maxCauses bounds the reasons that one stretch tells apart.
	maxCauses = 32
	// cheap is how many values are summed up anew at every tick; more than that
	// only once a second.
	cheap = 5000
)

// reports is what a workflow knows from requests that were reported one by one,
// in blocks by the time at which the requests ended.
type reports struct {
	ledger ledger
	keep   time.Duration // how long after the last one they count
	blocks []*reported   // oldest first
	last   time.Duration
	any    bool
	flight model.Phases
	came   float64 // of those in flight, within the window

	sum    reported // of the window, kept while nothing changes
	sumAt  time.Duration
	sumOf  time.Duration // the beginning of it
	sumNew bool          // something ended since
	stage  *reported     // since the last mark, nil without one
}

// reported sums up requests that ended within one stretch of time.
type reported struct {
	start       time.Duration
	counts      slo.Counts
	times       [len(slo.Counts{}.Terms)]sketch.Sketch // by model.Metrics, of requests that were answered
	response    sketch.Sketch                          // from a load generator's schedule
	output      model.Known
	prompts     prompts
	answers     float64 // requests that said when the answer proper began
	retries     float64
	failedBy    map[string]float64
	cancelledBy map[string]float64
	load        sendings
}

// sendings compares a load generator's plan with what it did.
type sendings struct {
	n                      float64
	planned, lastPlanned   model.Stamp
	sent, lastSent, newest model.Stamp
	behind                 model.Reading // of the request planned last
}

// recent reports whether any came lately.
func (r *reports) recent(now time.Duration) bool { return r.any && now-r.last <= r.keep }

// onRequests takes the reports of a batch.
func (f *Fleet) onRequests(at model.Instant, t *target, b *model.Batch) {
	if t.follows == nil {
		if len(b.Requests) == 0 {
			return
		}
		t.follows = requests.New(f.silence())
	}
	t.follows.Take(at, b, func(e requests.Ended) {
		w := f.flowOf(originOf(e.Request, t))
		t.carries(w)
		w.ended(&e, f.whenSaid(at.Mono, e.At), at.Mono, &t.users)
	})
	for i := range b.Requests {
		w := f.flowOf(originOf(&b.Requests[i], t))
		t.carries(w)
		w.events.last, w.events.any = at.Mono, true
	}
}

// said is what the end of a request is when it is reported.
type said uint8

const (
	news    said = iota
	late         // it was held up for minutes: it spends the budget and pages nobody
	longAgo      // it was over before anybody looked
)

func (f *Fleet) whenSaid(now, ended time.Duration) said {
	switch {
	case ended < f.started.Mono:
		return longAgo
	case now-ended > max(burnMain, 3*f.every):
		return late
	default:
		return news
	}
}

func (f *Fleet) silence() time.Duration {
	s := cmp.Or(f.policy.SilentAfterS, model.DefaultSilence)
	return time.Duration(s * float64(time.Second))
}

func originOf(r *model.Request, t *target) slo.Origin {
	return slo.Origin{
		Workflow: r.Workflow, Model: r.Model, Adapter: r.Labels.Get(model.LabelAdapter),
		Target: t.spec.Name, Labels: r.Labels,
	}
}

func (t *target) carries(w *workflow) {
	if !slices.Contains(t.reports, w) {
		t.reports = append(t.reports, w)
	}
}

// inFlight counts the requests of all targets by workflow and phase.
func (f *Fleet) inFlight(at model.Instant) {
	for _, w := range f.flows {
		w.events.flight, w.events.came = model.Phases{}, 0
	}
	from := windowStart(f.window, at.Mono)
	for _, t := range f.targets {
		if t.follows == nil {
			continue
		}
		t.flight = model.Phases{}
		t.follows.Each(at, func(r *model.Request, unknown bool) {
			countIn(&t.flight, r.Phase, unknown)
			w := f.flowIf(originOf(r, t))
			if w == nil {
				return
			}
			countIn(&w.events.flight, r.Phase, unknown || !t.fresh())
			if t.follows.When(r.Queued) >= from {
				w.events.came++
			}
		})
	}
}

// countIn counts a request in flight by its phase.
func countIn(c *model.Phases, p model.Phase, unknown bool) {
	n := phaseOf(c, p, unknown)
	*n = model.Of(n.Value + 1)
}

// phaseOf is the count that a request in flight belongs to.
func phaseOf(c *model.Phases, p model.Phase, unknown bool) *model.Reading {
	if unknown {
		return &c.Unknown
	}
	switch p {
	case model.PhaseQueued:
		return &c.Queued
	case model.PhasePreparing:
		return &c.PreparingContext
	case model.PhaseAtModel:
		return &c.WaitingForModel
	case model.PhaseStreaming:
		return &c.Streaming
	case model.PhaseToolCall:
		return &c.ToolCall
	case model.PhaseRetrying:
		return &c.Retrying
	default:
		return &c.Other
	}
}

// ended counts a request that came to its end. What ended before anybody looked
// is history: shown where a window reaches back to it, and no news.
func (w *workflow) ended(e *requests.Ended, as said, now time.Duration, users *users) {
	r := &w.events
	r.last, r.any, r.sumNew = now, true, true
	one := &reported{}
	j := one.add(w.spec, e)
	earlier, retracts := users.count(&one.counts, e, j)
	if as != longAgo {
		r.ledger.total.Add(&one.counts)
	}
	if as == late {
		r.ledger.aside.Add(&one.counts)
	}
	r.put(e.At, now, one)
	r.put(e.Began(), now, &reported{counts: slo.Counts{Started: 1}})
	if retracts {
		r.put(earlier, now, &reported{counts: slo.Counts{UserBad: -1}})
	}
}

// put adds to what happened at a time.
func (r *reports) put(at, now time.Duration, one *reported) {
	if b := r.block(at, now); b != nil {
		b.merge(one)
	}
	if r.stage != nil && at >= r.stage.start {
		r.stage.merge(one)
	}
}

// block is the stretch of a time, nil where that is longer ago than anybody can ask.
func (r *reports) block(at, now time.Duration) *reported {
	start := at - at%blockSpan
	oldest := now - MaxWindow - 2*blockSpan
	for len(r.blocks) > 0 && r.blocks[0].start < oldest {
		r.blocks = r.blocks[1:]
	}
	if start < oldest {
		return nil
	}
	i, found := slices.BinarySearchFunc(r.blocks, start, func(b *reported, at time.Duration) int { return int(b.start - at) })
	if !found {
		r.blocks = slices.Insert(r.blocks, i, &reported{start: start})
	}
	return r.blocks[i]
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

const tooManyRequests = 429

func throttled(q *model.Request) bool {
	return q.Status == tooManyRequests || q.Reason == "rate_limited"
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
		return
	}
	s.output.N++
	s.output.Sum += q.OutputTokens.Value
	s.counts.Output += q.OutputTokens.Value
}

func (l *sendings) add(q *model.Request, e *requests.Ended) {
	if q.Scheduled == 0 || e.First == 0 {
		return
	}
	l.merge(&sendings{
		n: 1, planned: q.Scheduled, lastPlanned: q.Scheduled, sent: e.First, lastSent: e.First,
		newest: q.Scheduled, behind: model.Between(q.Scheduled, e.First),
	})
}

func (l *sendings) merge(o *sendings) {
	if o.n == 0 {
		return
	}
	if l.n == 0 {
		*l = *o
		return
	}
	if o.newest >= l.newest {
		l.newest, l.behind = o.newest, o.behind
	}
	l.n += o.n
	l.planned, l.lastPlanned = min(l.planned, o.planned), max(l.lastPlanned, o.lastPlanned)
	l.sent, l.lastSent = min(l.sent, o.sent), max(l.lastSent, o.lastSent)
}

// see is nil where no schedule is known.
func (l *sendings) see() *model.LoadView {
	if l.n == 0 {
		return nil
	}
	return &model.LoadView{
		OfferedPerSecond: l.rate(l.planned, l.lastPlanned), SentPerSecond: l.rate(l.sent, l.lastSent), BehindS: l.behind,
	}
}

func (l *sendings) rate(from, to model.Stamp) model.Reading {
	if l.n < 2 || to <= from {
		return model.Reading{}
	}
	return model.Of((l.n - 1) / model.Between(from, to).Value)
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
	s.prompts.merge(o.prompts)
	s.answers += o.answers
	s.retries += o.retries
	addCauses(&s.failedBy, o.failedBy)
	addCauses(&s.cancelledBy, o.cancelledBy)
	s.load.merge(&o.load)
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

// windowStart is where the block begins in which a window does.
func windowStart(window, now time.Duration) time.Duration {
	from := max(0, now-window)
	return from - from%blockSpan
}

// over sums the blocks of a window: whole ones, so that it reaches back for up
// to a block more than asked. It returns the beginning too.
func (r *reports) over(window, now time.Duration) (*reported, time.Duration) {
	from := windowStart(window, now)
	same := from == r.sumOf && !r.sumNew
	if same || r.sumNew && r.sum.counts.Ended() > cheap && now-r.sumAt < time.Second && r.sumOf == from {
		return &r.sum, from
	}
	r.sum = reported{}
	for _, b := range r.blocks {
		if b.start >= from {
			r.sum.merge(b)
		}
	}
	r.sumAt, r.sumOf, r.sumNew = now, from, false
	return &r.sum, from
}

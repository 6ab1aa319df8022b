package fleet

import (
	"fmt"
	"math"

	"slotop/model"
	"slotop/model/hist"
)

// The objectives a workflow has until somebody sets its own: both bounds are
// bucket edges of the common engines, so that their shares are exact.
const (
	assumedTTFT  = 1.0   // seconds
	assumedTPOT  = 0.050 // seconds
	assumedShare = 0.95
	// fewRequests: below it a share is a handful of requests, not evidence.
	fewRequests = 20
)

// workflow is a named class of requests, summed over the targets that serve it.
type workflow struct {
	name    string
	sum     tally
	lone    tally // targets with a single page: since start
	targets []*target
	fresh   int
	is, was began   // the condition now, and the last one that was no silence
	weight  float64 // how much it hurts within its condition
	history *history
}

// began is a condition with its beginning.
type began struct {
	model.Condition
	since model.Instant
}

// enter notes the condition. Silence resolves nothing: what was so before it, and
// is so after it, has been so all along.
func (w *workflow) enter(c model.Condition, at model.Instant) {
	if c == w.is.Condition {
		return
	}
	if !silent(w.is.Condition) {
		w.was = w.is
	}
	w.is = began{c, at}
	if c == w.was.Condition {
		w.is = w.was
	}
}

func silent(c model.Condition) bool {
	return c == model.IsDown || c == model.IsStale || c == model.IsStarting
}

func newWorkflow(name string, rank int) *workflow {
	return &workflow{name: name, history: newHistory(rank)}
}

func (w *workflow) begin() {
	w.sum.reset()
	w.lone.reset()
	w.targets, w.fresh = w.targets[:0], 0
}

// join adds a target's share. Counts since start and counts of a window are
// different things: the former are used only while there is nothing else.
func (w *workflow) join(t *target, ty *tally) {
	w.targets = append(w.targets, t)
	if t.fresh() {
		w.fresh++
	}
	if ty.basis == model.SinceStart {
		w.lone.add(ty)
		return
	}
	w.sum.add(ty)
}

// tally is what the view is made of. Levels count from every target.
func (w *workflow) tally() *tally {
	if w.sum.basis == "" {
		return &w.lone
	}
	for i := range w.lone.level {
		w.sum.absent[i] = w.sum.absent[i] && (w.lone.basis == "" || w.lone.absent[i])
		if w.lone.exported[i] {
			w.sum.exported[i] = true
			w.sum.addLevel(i, w.lone.level[i])
		}
	}
	return &w.sum
}

func (w *workflow) see(at model.Instant) model.WorkflowView {
	ty := w.tally()
	v := model.WorkflowView{
		Name:              w.name,
		AssumedObjectives: true,
		Requests:          requests(ty),
		Tokens: model.Tokens{
			PromptPerSecond:   ty.rateOf(model.PromptTokens),
			OutputPerSecond:   ty.rateOf(model.OutputTokens),
			CachedPromptShare: windowRatio(ty, model.CachedTokens, model.PromptTokens),
		},
		TTFT: ty.distOf(model.TTFT), TPOT: ty.distOf(model.TPOT), ITL: ty.distOf(model.ITL),
		E2E: ty.distOf(model.E2E), Queue: ty.distOf(model.Queue),
		Prefill: ty.distOf(model.Prefill), Decode: ty.distOf(model.Decode),
		KVCacheUsage:      ty.levelOf(model.KVUsage),
		PrefixCacheHit:    prefixHit(ty),
		PreemptionsPerSec: ty.rateOf(model.Preemptions),
		Targets:           make([]string, 0, len(w.targets)),
		Replicas:          model.Replicas{Fresh: w.fresh, Total: len(w.targets)},
		Missing:           []model.Signal{},
		State:             w.state(),
	}
	v.Objectives = []model.ObjectiveView{
		w.objective(ty, model.TTFT, model.MetricTTFT, assumedTTFT),
		w.objective(ty, model.TPOT, model.MetricTPOT, assumedTPOT),
	}
	for _, t := range w.targets {
		v.Targets = append(v.Targets, t.spec.Name)
	}
	v.Missing = ty.missing()
	v.Notes = w.notes(ty)
	v.Condition = w.condition(&v)
	w.enter(v.Condition, at)
	v.Since = w.is.since
	w.weigh(&v)
	return v
}

// requests counts what was asked for, what came of it, and what nobody can
// account for. First tokens stand for starts where the server counts no starts.
func requests(ty *tally) model.Requests {
	r := model.Requests{
		Started:   ty.countOf(model.Started),
		Finished:  ty.countOf(model.Finished),
		PerSecond: requestRate(ty),
		Running:   ty.levelOf(model.Running),
		Waiting:   ty.levelOf(model.Waiting),
		Failed:    ty.outcome(model.Failed),
		Cancelled: ty.outcome(model.Cancelled),
		Basis:     ty.basis,
	}
	if !ty.has(model.Started) {
		r.Started = ty.countIn(model.TTFT)
	}
	r.Unaccounted = unaccounted(ty, r)
	return r
}

// unaccounted is started − finished − the growth of what runs: requests that
// were cancelled or lost and appear in no counter.
func unaccounted(ty *tally, r model.Requests) model.Reading {
	running := ty.countOf(model.Running)
	if !r.Started.OK() || !r.Finished.OK() || !running.OK() {
		return model.Reading{}
	}
	gone := known(r.Failed.Value) + known(r.Cancelled.Value)
	return model.Of(max(0, r.Started.Value-r.Finished.Value-gone-running.Value))
}

// windowRatio is a/b over the window. Since a server's start such a share says
// nothing about now and hides that a cache has just stopped working.
func windowRatio(ty *tally, a, b model.Signal) model.Reading {
	if ty.basis == model.SinceStart && ty.has(a) {
		return model.Reading{}
	}
	return ratio(ty.countOf(a), ty.countOf(b))
}

// prefixHit prefers cached prompt tokens over look-ups: some releases repeat a
// waiting request's look-up at every scheduling attempt.
func prefixHit(ty *tally) model.Reading {
	if ty.has(model.CachedTokens) && ty.has(model.PromptTokens) {
		return windowRatio(ty, model.CachedTokens, model.PromptTokens)
	}
	return windowRatio(ty, model.PrefixHits, model.PrefixQueries)
}

func (w *workflow) objective(ty *tally, s model.Signal, metric model.Metric, max float64) model.ObjectiveView {
	o := model.ObjectiveView{Metric: metric, MaxS: max, Target: assumedShare, Verdict: model.CannotCompute}
	i := signalIndex[s]
	h, known := ty.of(i)
	if !known {
		if ty.exported[i] {
			o.Verdict = model.Undecided // nothing fresh is known: not the same as no request
		}
		return o
	}
	if h.N() == 0 {
		o.Verdict = model.NoData
		return o
	}
	if ty.basis == model.SinceStart {
		o.Verdict = model.Undecided // objectives are of the window
		return o
	}
	o.Share = w.shareAtMost(s, h, max)
	if s == model.TTFT && ttftLeavesOut(ty) != "" {
		e2e, _ := ty.of(signalIndex[model.E2E])
		o.Share = sureOf(o.Share, e2e.ShareAtMost(max))
	}
	o.Verdict = verdict(o.Share, h.N())
	return o
}

// shareAtMost is the share of observations at or below x. Replicas whose buckets
// differ keep only the common ones when they are merged; here each is asked with
// all of its own.
func (w *workflow) shareAtMost(s model.Signal, merged *hist.Hist, x float64) model.Share {
	if merged.Fidelity != model.Coarse {
		return merged.ShareAtMost(x)
	}
	var each []hist.Hist
	n := 0.0
	for _, t := range w.targets {
		ty := t.flows[w.name]
		if h, known := ty.of(signalIndex[s]); known && t.fresh() && ty.basis == model.OverWindow {
			each, n = append(each, *h), n+h.N()
		}
	}
	lo, hi := hist.MergeBounds(each, x)
	return model.Share{Lo: model.Of(lo / n), Hi: model.Of(hi / n)}
}

// sureOf is the share of first tokens in time where the TTFT clock starts late:
// what it gives is the most there can be, and whoever had the whole answer in
// time is the least.
func sureOf(ttft, e2e model.Share) model.Share {
	ttft.Point = model.Reading{}
	ttft.Lo = e2e.Lo
	if lo, ok := e2e.Lo.Get(); ok {
		ttft.Lo = model.Of(min(lo, ttft.Hi.Value))
	}
	return ttft
}

func verdict(s model.Share, n float64) model.Verdict {
	lo, hi := s.Lo.Value, s.Hi.Value
	switch {
	case !s.Lo.OK() || !s.Hi.OK():
		return model.CannotCompute
	case n < fewRequests:
		return model.Undecided
	case lo >= assumedShare:
		return model.Met
	case hi < assumedShare:
		return model.Missed
	default:
		return model.Undecided
	}
}

// state is the worst a user of the workflow meets: with one replica of several
// down it is still served.
func (w *workflow) state() model.State {
	var worstFresh, worst model.State
	worstFresh, worst = model.Idle, ""
	for i, t := range w.targets {
		if i == 0 || t.state.Rank() > worst.Rank() {
			worst = t.state
		}
		if t.fresh() && t.state.Rank() > worstFresh.Rank() {
			worstFresh = t.state
		}
	}
	if w.fresh == 0 {
		return worst
	}
	return worstFresh
}

// condition folds what is known of a workflow into one word.
func (w *workflow) condition(v *model.WorkflowView) model.Condition {
	if w.fresh == 0 {
		return silence[v.State]
	}
	worst := verdicts(v.Objectives)
	switch {
	case v.State == model.Stalled:
		return model.IsStalled
	case v.Requests.Basis == model.SinceStart && worst != model.IsBlind:
		return model.IsStarting
	case worst == model.IsMissed:
		return worst
	case w.fresh < len(w.targets):
		return model.IsPartial
	case worst == model.IsQuiet && busy(v):
		return model.IsUndecided // requests run, none came to its end yet
	default:
		return worst
	}
}

// settled is how far a weight must move before the row may change its place:
// rows that jump cannot be read.
const settled = 1.5

// weigh says how much a workflow hurts beside others in the same condition: by
// the requests a second that miss an objective, or, where all is well, by how
// near it is to missing one.
func (w *workflow) weigh(v *model.WorkflowView) {
	now := 0.0
	for _, o := range v.Objectives {
		if v.Condition == model.IsMet {
			now = max(now, nearness(v, o))
		} else if o.Share.Hi.OK() {
			now = max(now, v.Requests.PerSecond.Value*(1-o.Share.Hi.Value))
		}
	}
	if now > w.weight*settled || now < w.weight/settled {
		w.weight = now
	}
}

// nearness is p95 over the bound.
func nearness(v *model.WorkflowView, o model.ObjectiveView) float64 {
	d := v.TTFT
	if o.Metric == model.MetricTPOT {
		d = v.TPOT
	}
	if d == nil {
		return 0
	}
	if d.P95.Open {
		return d.P95.Lo.Value / o.MaxS
	}
	return d.P95.Value.Value / o.MaxS
}

// silence is the condition of a workflow none of whose targets is fresh.
var silence = map[model.State]model.Condition{
	model.Down: model.IsDown, model.StaleAt: model.IsStale, "": model.IsStarting,
}

// verdicts is the objectives' common word: a missed one decides, then an
// undecided one, then a met one. What cannot be computed speaks last.
func verdicts(objectives []model.ObjectiveView) model.Condition {
	for _, v := range verdictOrder {
		for _, o := range objectives {
			if o.Verdict == v.verdict {
				return v.condition
			}
		}
	}
	return model.IsBlind
}

var verdictOrder = [...]struct {
	verdict   model.Verdict
	condition model.Condition
}{
	{model.Missed, model.IsMissed},
	{model.Undecided, model.IsUndecided},
	{model.Met, model.IsMet},
	{model.NoData, model.IsQuiet},
}

// busy reports whether the workflow is serving anybody.
func busy(v *model.WorkflowView) bool {
	return v.Requests.Running.Value > 0 || v.Requests.Waiting.Value > 0 || v.Tokens.OutputPerSecond.Value > 0
}

// notes say what a reader of the workflow's numbers must know.
func (w *workflow) notes(ty *tally) []string {
	out := []string{}
	if w.fresh < len(w.targets) {
		out = append(out, fmt.Sprintf("totals cover %d of %d targets", w.fresh, len(w.targets)))
	}
	if ty.coarse() {
		out = append(out, "replicas or releases differ in buckets: percentiles use the common ones")
	}
	if ty.partial {
		out = append(out, "a histogram lost a bucket line: no percentile from it")
	}
	if ty.repaired {
		out = append(out, "bucket counts were not monotone and were repaired")
	}
	if ty.exported[signalIndex[model.PrefixHits]] && ty.hits == 0 && ty.looked > 0 {
		out = append(out, "prefix cache hits: the counter never moved")
	}
	if p := ty.countOf(model.Preemptions); p.OK() && p.Value > 0 && prefixHit(ty).OK() {
		out = append(out, "preemptions in the window: recomputed prompts may count as prefix hits")
	}
	if n := ttftLeavesOut(ty); n != "" {
		out = append(out, n)
	}
	return out
}

// ttftLeavesOut compares TTFT with what the other clocks of the same requests
// say. Some servers start the TTFT clock only when a request leaves the queue.
func ttftLeavesOut(ty *tally) string {
	ttft, e2e, decode := ty.meanOf(model.TTFT), ty.meanOf(model.E2E), ty.meanOf(model.Decode)
	finished, _ := ty.of(signalIndex[model.E2E])
	if math.IsNaN(ttft+e2e+decode) || finished.N() < fewRequests {
		return ""
	}
	rest := e2e - decode
	if rest < 2*ttft || rest-ttft < 0.1 {
		return ""
	}
	return fmt.Sprintf("TTFT here leaves out waiting: mean %.2f s, but E2E − decode is %.2f s", ttft, rest)
}

func (t *tally) meanOf(s model.Signal) float64 {
	h, known := t.of(signalIndex[s])
	if !known {
		return math.NaN()
	}
	v, ok := h.Mean().Get()
	if !ok {
		return math.NaN()
	}
	return v
}

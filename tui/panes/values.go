package panes

import (
	"strings"

	"slotop/model"
)

// This file finds the exact value behind a number on the screen.

// value is what is known of a number: a reading, an estimate, a share or a range. What
// it is no such thing of is zero.
type value struct {
	r     model.Reading
	e     model.Estimate
	share model.Share
	rng   model.Range
	dist  *model.Dist
	good  *model.GoodputView
	bound *model.ObjectiveView
	known bool // its topic is one that this file knows where to look up
}

// valueOf looks a topic up with its owner.
func valueOf(o owner, topic string) value {
	head, suffix, _ := strings.Cut(topic, ".")
	if d, ok := o.distOf(head); ok {
		return o.ofDist(d, head, suffix)
	}
	if v, ok := o.ofGoodput(topic); ok {
		return v
	}
	if m, ok := model.DeviceMetricNamed(topic); ok && o.d != nil {
		return value{r: o.d.Values[m].Reading, known: true}
	}
	for _, table := range []map[string]model.Reading{o.ofWorkflow(), o.ofStage(), o.ofEngine(), o.ofTarget(), o.ofUse(), o.ofPool(), o.ofAlert(), o.ofFactor(), o.ofFrame()} {
		if r, ok := table[topic]; ok {
			return value{r: r, known: true}
		}
	}
	if rng, ok := o.ofRange(topic); ok {
		return value{rng: rng, known: true}
	}
	return value{}
}

// distOf is a latency of the owner.
func (o owner) distOf(head string) (*model.Dist, bool) {
	var all map[string]*model.Dist
	switch {
	case o.sw != nil:
		all = map[string]*model.Dist{"ttft": o.sw.TTFT, "tpot": o.sw.TPOT, "e2e": o.sw.E2E}
	case o.w != nil:
		all = map[string]*model.Dist{"ttft": o.w.TTFT, "tpot": o.w.TPOT, "itl": o.w.ITL, "e2e": o.w.E2E, "queue": o.w.Queue, "prefill": o.w.Prefill,
			"decode": o.w.Decode, "first_answer": o.w.FirstAnswer, "response": o.w.Response}
		if o.w.Worst != nil {
			all["worst_replica"] = o.w.Worst.Latency
		}
	case o.t != nil && o.t.Probe != nil:
		p := o.t.Probe
		all = map[string]*model.Dist{"ttft": p.TTFT, "tpot": p.TPOT, "e2e": p.E2E, "first_answer": p.FirstAnswer}
	case o.t != nil:
		all = map[string]*model.Dist{"ttft": o.t.TTFT, "tpot": o.t.TPOT, "itl": o.t.ITL}
	}
	d, ok := all[head]
	return d, ok
}

// metrics are the latencies that objectives speak of.
var metrics = map[string]model.Metric{
	"ttft": model.MetricTTFT, "tpot": model.MetricTPOT, "e2e": model.MetricE2E, "queue": model.MetricQueue, "first_answer": model.MetricFirstAnswer,
}

func (o owner) ofDist(d *model.Dist, head, suffix string) value {
	v := value{dist: d, known: true}
	if o.w != nil {
		if b, ok := objectiveFor(o.w, metrics[head]); ok {
			v.bound = &b
		}
	}
	switch suffix {
	case "max", "share":
		if v.bound == nil {
			return v
		}
		if v.r = model.Of(v.bound.MaxS); suffix == "share" {
			v.r, v.share = model.Reading{}, v.bound.Share
		}
		return v
	}
	if d == nil {
		return v
	}
	switch suffix {
	case "p50":
		v.e = d.P50
	case "p90":
		v.e = d.P90
	case "p99":
		v.e = d.P99
	case "mean":
		v.r = meanOf(d)
	case "n":
		v.r = model.Of(d.N)
	default:
		v.e = d.P95
	}
	return v
}

// ofGoodput is what is known of the share that kept its promise.
func (o owner) ofGoodput(topic string) (value, bool) {
	head, suffix, _ := strings.Cut(topic, ".")
	if head != "goodput" && topic != "target" {
		return value{}, false
	}
	g := o.f.Goodput
	switch {
	case o.sw != nil:
		g = o.sw.Goodput
	case o.w != nil:
		g = o.w.Goodput
	}
	v := value{good: g, known: true}
	if g == nil {
		return v, true
	}
	switch suffix {
	case "rate":
		v.rng = g.PerSecond
	case "output":
		v.rng = g.OutputPerSecond
	case "sample":
		v.rng = g.Sample
	case "user":
		v.share = g.UserShare
	case "n":
		v.r = model.Of(g.N)
	case "evidence":
		if g.Evidence != nil {
			v.rng = model.Range{Lo: g.Evidence.Lo, Hi: g.Evidence.Hi}
		}
	default:
		v.share = g.Share
	}
	if topic == "target" {
		v.share, v.r = model.Share{}, g.Target
	}
	return v, true
}

func (o owner) ofWorkflow() map[string]model.Reading {
	w := o.w
	if w == nil || o.sw != nil {
		return nil
	}
	r := &w.Requests
	out := map[string]model.Reading{
		"requests_per_second": r.PerSecond, "running": r.Running, "waiting": r.Waiting, "requests.started": r.Started, "requests.finished": r.Finished,
		"requests.failed": r.Failed, "requests.cancelled": r.Cancelled, "requests.unaccounted": r.Unaccounted, "requests.output_limit": r.OutputLimit,
		"requests.whole": less(r.Finished, r.OutputLimit), "requests.failed_otherwise": less(r.Failed, r.Throttled),
		"requests.throttled": r.Throttled, "requests.retries": r.Retries,
		"output_per_second": w.Tokens.OutputPerSecond, "prompt_per_second": w.Tokens.PromptPerSecond, "cached_prompt_share": w.Tokens.CachedPromptShare,
		"cached_per_second": cachedRate(w),
		"kv_cache_usage":    w.KVCacheUsage, "prefix_cache_hit": w.PrefixCacheHit, "preemptions": w.PreemptionsPerSec, "wait_now": w.WaitNow, "breach_in": w.BreachIn,
	}
	if t := w.Tokens.Output; t != nil {
		out["output_tokens"] = model.Of(t.Sum)
	}
	if w.Outside != nil {
		out["outside"] = w.Outside.Mean
	}
	if b := w.Budget; b != nil {
		out["burn"], out["burn.2m"], out["burn.5m"], out["burn.30m"] = b.Burn.M5, b.Burn.M2, b.Burn.M5, b.Burn.M30
		out["budget"], out["budget.allowed"], out["budget.bad"], out["budget.exhausted_in"] = b.Remaining, b.Allowed, b.Bad, b.ExhaustedIn
		out["budget.seen"] = model.Of(b.ObservedS)
	}
	if p := w.Phases; p != nil {
		for key, n := range map[string]model.Reading{"queued": p.Queued, "preparing_context": p.PreparingContext, "waiting_for_model": p.WaitingForModel,
			"streaming": p.Streaming, "tool_call": p.ToolCall, "retrying": p.Retrying, "other": p.Other, "unknown": p.Unknown} {
			out["phase."+key] = n
		}
	}
	if l := w.Load; l != nil {
		out["offered_per_second"], out["sent_per_second"], out["behind"] = l.OfferedPerSecond, l.SentPerSecond, l.BehindS
	}
	if d := w.Deadline; d != nil {
		out["deadline"] = d.NeedsS
	}
	return out
}

func (o owner) ofStage() map[string]model.Reading {
	if o.sw == nil {
		return nil
	}
	return map[string]model.Reading{
		"requests.finished": o.sw.Finished, "requests_per_second": o.sw.PerSecond, "output_per_second": o.sw.OutputPerSecond,
		"prompt_per_second": o.sw.PromptPerSecond, "prefix_cache_hit": o.sw.PrefixCacheHit,
		"stage": model.Of(o.stageSeconds()),
	}
}

// stageSeconds is how long a stage lasted, so far where it is open.
func (o owner) stageSeconds() float64 {
	to := o.stage.To
	if to.IsZero() {
		to = o.f.At
	}
	return to.Sub(o.stage.From).Seconds()
}

func (o owner) ofEngine() map[string]model.Reading {
	if o.e == nil {
		return nil
	}
	return map[string]model.Reading{"running": o.e.Running, "waiting": o.e.Waiting, "kv_cache_usage": o.e.KVCacheUsage}
}

func (o owner) ofTarget() map[string]model.Reading {
	t := o.t
	if t == nil {
		return nil
	}
	out := map[string]model.Reading{
		"running": t.Running, "waiting": t.Waiting, "kv_cache_usage": t.KVCacheUsage, "requests_per_second": t.RequestsPerSecond,
		"output_per_second": t.OutputPerSecond, "reported_output": t.ReportedOutput, "preemptions": t.PreemptionsPerSec,
		"took": t.TookS, "polls": countOf(t.Polls), "failed_polls": countOf(t.FailedPolls), "bad_lines": countOf(t.BadLines),
		"dropped_series": countOf(t.Dropped), "restarts": countOf(t.Restarts), "clock_skew": t.SkewS, "step_s": t.StepS,
		"replicas.behind": countOf(t.Replicas.Total),
	}
	if p := t.Probe; p != nil {
		out["probe.ended"], out["probe.failed"] = model.Of(p.Ended), model.Of(p.Failed)
	}
	return out
}

// countOf is a number of things that is always known.
func countOf(n int) model.Reading { return model.Of(float64(n)) }

func (o owner) ofUse() map[string]model.Reading {
	u := o.u
	if u == nil {
		return nil
	}
	out := map[string]model.Reading{
		"mfu": u.MFU, "mbu": u.MBU, "intensity": u.Intensity, "ridge": u.Ridge, "peak_flops": u.PeakFLOPs, "peak_bytes": u.PeakBytes, "gpus": u.GPUs,
		"busy": u.Busy,
	}
	for _, m := range u.Measures {
		if o.part == "" || string(m.Basis) == o.part {
			out["compute"], out["bandwidth"], out["flops"], out["bytes"] = m.Compute, m.Bandwidth, m.FLOPs, m.Bytes
			break
		}
	}
	if s := u.Step; s != nil {
		for key, r := range map[string]model.Reading{"step": s.Seconds, "step.fixed": s.Fixed, "step.kv": s.KV, "step.prefill": s.Prefill,
			"step.sequences": s.Sequences, "step.unexplained": s.Unexplained, "step.residual": s.Residual, "step.floor": s.Floor, "step.samples": countOf(s.Samples)} {
			out[key] = r
		}
	}
	return out
}

func (o owner) ofPool() map[string]model.Reading {
	c := o.c
	if c == nil {
		return nil
	}
	out := map[string]model.Reading{
		"load": c.Load, "pool.rate": c.Rate, "requests_per_second": c.Rate, "machine_s_per_request": c.PerCall, "max_requests_per_second": c.MaxRate,
		"kv_requests_per_second": c.KVRate, "at_objective_per_second": c.SLORate, "headroom": c.Headroom, "more_requests_per_second": c.More,
		"replicas": countOf(c.Replicas.Ready), "replicas.needed": c.Replicas.Needed, "replicas.then": c.Replicas.Then, "forecast": c.Replicas.Forecast,
		"worst_burn": c.WorstBurn,
	}
	if e := c.Expected; e != nil {
		out["expected.tpot"], out["expected.running"], out["expected.kv"], out["expected.fit"] = e.TPOT, e.Running, e.KVUse, e.Fit
	}
	if v := c.Cost; v != nil {
		out["cost.per_hour"], out["cost.per_million"] = v.PerHour, v.PerMillion
	}
	if v := c.Energy; v != nil {
		out["energy.power"], out["energy.tokens_per_joule"], out["energy.wh_per_million"] = v.PowerW, v.TokensPerJoule, v.WhPerMillion
	}
	for _, l := range c.Levers {
		if l.Change == o.part {
			out["lever.rate"], out["lever.load"] = l.Rate, l.Load
		}
	}
	for _, w := range c.Waste {
		if w.Kind == o.part {
			out["waste"], out["waste.tokens"], out["waste.n"] = w.Share, w.Tokens, w.N
		}
	}
	for _, k := range c.Knees {
		if k.Workflow == o.part {
			out["knee"] = k.Rate
		}
	}
	return out
}

func (o owner) ofAlert() map[string]model.Reading {
	if o.a == nil {
		return nil
	}
	return map[string]model.Reading{"alert.value": o.a.Value, "alert.peak": o.a.Peak, "alert.limit": o.a.Limit, "alert.times": countOf(o.a.Times)}
}

// ofFactor is a factor of a diagnosis, which the part names.
func (o owner) ofFactor() map[string]model.Reading {
	if o.found != nil {
		return map[string]model.Reading{"finding.n": o.found.N}
	}
	if o.g == nil {
		return nil
	}
	for _, v := range o.g.Factors {
		if string(v.Factor) == o.part {
			return map[string]model.Reading{"factor.before": v.Before, "factor.now": v.Now, "factor.ratio": v.Ratio, "factor.work": v.Work}
		}
	}
	return nil
}

func (o owner) ofFrame() map[string]model.Reading {
	f := o.f
	out := map[string]model.Reading{
		"window": model.Of(f.WindowS), "covered": f.CoveredS, "rules": countOf(f.Rules), "alerts": countOf(len(f.Alerts)),
	}
	if s := f.DeviceSum; s != nil && o.d == nil && o.u == nil {
		out["busy"], out["power_w"], out["memory_used"], out["memory_total"], out["round"] = s.Busy, s.PowerW, s.Used, s.Memory, s.TookS
		out["devices"], out["bad_samples"] = countOf(s.Present), countOf(s.Bad)
	}
	return out
}

// ofRange is what is known as an interval only.
func (o owner) ofRange(topic string) (model.Range, bool) {
	switch {
	case o.c == nil:
	case topic == "observed":
		return o.c.Observed, true
	case topic == "cost.per_million_good" && o.c.Cost != nil:
		return o.c.Cost.PerMillionGood, true
	case topic == "energy.good_per_joule" && o.c.Energy != nil:
		return o.c.Energy.GoodPerJoule, true
	}
	return model.Range{}, false
}

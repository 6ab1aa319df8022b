package panes

import (
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// This file says how long a request will wait that arrives now, how full the cache is
// and what fills it.

// loadFacts is three lines: the wait, the cache, and what fills it.
func loadFacts(f *model.Frame, w *model.WorkflowView, width int, look Look) []string {
	fact := func(label string, ps []part) string {
		return look.line(width).pad(1).put(themes.Muted, label).pad(labelW+1).parts(2, ps...).String()
	}
	return []string{
		fact("wait now", waitParts(w, width >= threeWide, look)),
		fact("cache", cacheParts(w, look)),
		fact("filled by", fillParts(f, w, width >= threeWide, look)),
	}
}

// waitParts is the wait of a request that arrives now, against what was promised, and
// what that stands on; or why it is not known.
func waitParts(w *model.WorkflowView, long bool, look Look) []part {
	wait, ok := w.WaitNow.Get()
	if !ok {
		return []part{say(0, themes.Warn, "not known"), say(1, themes.Muted, whyNoWait(w))}
	}
	if wait == 0 {
		return []part{
			part{segs: []seg{{themes.Text, "none"}}}.of("wait_now", w.Name),
			say(1, themes.Muted, "nothing waits: what comes is taken at once"),
		}
	}
	against, role := againstPromise(w, wait, long, look)
	out := []part{
		part{segs: []seg{{role, look.pick("≈ ", "~ ") + unit.Duration(wait)}}}.of("wait_now", w.Name),
		part{segs: []seg{{role, against}}, drop: 1}.of("breach_in", w.Name),
	}
	waiting, _ := w.Requests.Waiting.Get()
	stands := samples(waiting) + " waiting " + look.pick("÷", "/") + " " + unit.Rate(waiting/wait) + " first tokens/s"
	out = append(out, say(2, themes.Muted, stands))
	if long {
		out = append(out, say(3, themes.Muted, "of the last 30 s (Little's law)"))
	}
	return out
}

// againstPromise holds the wait against the objective on TTFT.
func againstPromise(w *model.WorkflowView, wait float64, long bool, look Look) (string, themes.Role) {
	o, bounded := objectiveFor(w, model.MetricTTFT)
	promised := ""
	if long {
		promised = " promised"
	}
	in, growing := w.BreachIn.Get()
	switch {
	case !bounded && long:
		return "no objective on TTFT", themes.Text
	case !bounded:
		return "", themes.Text
	case wait > o.MaxS:
		return "over " + unit.Limit(o.MaxS) + promised, themes.Breach
	case growing:
		return "over " + unit.Limit(o.MaxS) + promised + " in " + unit.Duration(in) + " at this pace", themes.Warn
	default:
		return "within " + unit.Limit(o.MaxS) + promised, themes.Text
	}
}

// whyNoWait says what Little's law lacks.
func whyNoWait(w *model.WorkflowView) string {
	switch {
	case !w.Requests.Waiting.OK() && slices.Contains(w.Missing, model.Waiting):
		return "its servers do not export what waits"
	case w.Requests.Waiting.State == model.Stale || of(w) == down || of(w) == stale:
		return "no target of it answers"
	case !w.Requests.Waiting.OK():
		return "nobody tells what waits"
	case of(w) == starting:
		return "first tokens of 30 s are needed"
	case w.Requests.Waiting.Value > 0:
		return samples(w.Requests.Waiting.Value) + " wait and none got a token in 30 s"
	default:
		return "nobody counts first tokens"
	}
}

// cacheParts is the cache of the fullest engine, and what is thrown out of it and found
// in it.
func cacheParts(w *model.WorkflowView, look Look) []part {
	kv := look.meter(w.KVCacheUsage)
	kv.drop = 0
	out := []part{
		kv.of("kv_cache_usage", w.Name),
		look.measure(1, "preempted", look.alarmed(look.settled(w, look.rate(w.PreemptionsPerSec, 5)), w.PreemptionsPerSec), "/s").of("preemptions", w.Name),
		look.measure(2, "prefix hits", look.settled(w, look.reading(w.PrefixCacheHit, 6, unit.Ratio)), "").of("prefix_cache_hit", w.Name),
	}
	if v, ok := cachedRate(w).Get(); ok {
		out = append(out, part{segs: []seg{{themes.Muted, "cached "}, {themes.Text, unit.Rate(v)}, {themes.Muted, " tok/s"}}, drop: 3}.of("cached_per_second", w.Name))
	}
	return out
}

// cachedRate is how many prompt tokens a second came from a cache.
func cachedRate(w *model.WorkflowView) model.Reading {
	share, ok := w.Tokens.CachedPromptShare.Get()
	prompt, known := w.Tokens.PromptPerSecond.Get()
	if !ok || !known {
		return model.Reading{}
	}
	return model.Of(share * prompt)
}

// alarmed shows a number that should be 0.
func (k Look) alarmed(c cell, r model.Reading) cell {
	if r.OK() && r.Value > 0 {
		c.role = themes.Warn
	}
	return c
}

// fillParts is what fills the cache: so many sequences, each with its context.
func fillParts(f *model.Frame, w *model.WorkflowView, long bool, look Look) []part {
	c := poolOf(f, w)
	if c == nil || c.Expected == nil || !c.Expected.Context.OK() {
		return []part{say(0, themes.Muted, "not known"), say(1, themes.Muted, whyNoFill(f, w, c, look))}
	}
	context := c.Expected.Context.Value // tokens of a sequence
	running := 0.0
	for i := range f.Targets {
		if slices.Contains(c.Targets, f.Targets[i].Name) {
			running += f.Targets[i].Running.Value
		}
	}
	held := samples(running) + " running " + look.pick("×", "x") + " " + unit.Count(context) + " tokens"
	out := []part{say(0, themes.Text, held)}
	if fit, ok := c.Expected.Fit.Get(); ok {
		out = append(out, say(1, themes.Text, "of "+unit.Count(fit*context)+" in all"), say(2, themes.Muted, unit.Integer(fit)+" of this mix fit"))
	}
	if long && len(c.Targets) > 1 {
		out = append(out, say(3, themes.Muted, "on "+plural(len(c.Targets), "engine")+", all workflows"))
	}
	return out
}

// whyNoFill says what is missing of the cache's size and what a sequence holds.
func whyNoFill(f *model.Frame, w *model.WorkflowView, c *model.CapacityView, look Look) string {
	read := slices.ContainsFunc(f.Targets, func(t model.TargetView) bool {
		return t.Kind == model.EngineTarget && slices.Contains(w.Targets, t.Name)
	})
	switch {
	case of(w) == down || of(w) == stale:
		return "no target of it answers"
	case c == nil && !read:
		return "no engine of it is read: only engines tell contexts"
	case c == nil:
		return "it takes a minute of traffic to tell the contexts"
	case c.Why != "":
		return look.sentence(string(c.Why), 60)
	default:
		return "the size of the cache or the context of a sequence is not told"
	}
}

// poolOf is the pool that carries a workflow, nil where none is known.
func poolOf(f *model.Frame, w *model.WorkflowView) *model.CapacityView {
	for i := range f.Capacity {
		if slices.Contains(f.Capacity[i].Workflows, w.Name) {
			return &f.Capacity[i]
		}
	}
	return nil
}

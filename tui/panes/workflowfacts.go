package panes

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
)

// objectives is a row for each objective: how many requests kept to it, and which
// bound would have been exact where it lies inside a bucket.
func (s *sheet) objectives(w *model.WorkflowView) {
	if len(w.Objectives) == 0 {
		return
	}
	s.rule("OBJECTIVES")
	k := s.look
	for _, o := range w.Objectives {
		ps := []part{
			say(0, themes.Text, "within "+unit.Limit(o.MaxS)).of(string(o.Metric)+".max", w.Name),
			part{segs: []seg{{verdictRole(o.Verdict), k.within(o)}, {themes.Text, " met"}}}.of(string(o.Metric)+".share", w.Name),
			say(0, themes.Muted, "objective "+unit.Promised(o.Target)).of("target", w.Name),
			{segs: []seg{{verdictRole(o.Verdict), verdictWord(o.Verdict)}}},
		}
		if !o.Share.Lo.OK() {
			ps = []part{ps[0], say(0, themes.Muted, whyNone(w, o))}
		}
		if lo, hi := o.Bounds.Lo, o.Bounds.Hi; lo.OK() || hi.OK() {
			ps = append(ps, say(0, themes.Warn, "inside a bucket: "+orList(lo, hi)+" would be exact"))
		}
		s.facts(o.Metric.Title(), ps...)
	}
}

// whyNone says why nothing is known of an objective.
func whyNone(w *model.WorkflowView, o model.ObjectiveView) string {
	switch {
	case o.Verdict == model.NoData:
		return "no traffic"
	case slices.Contains(w.Missing, o.Metric.Signal()):
		return "not exported by its servers"
	default:
		return "nothing is known of it"
	}
}

func orList(bounds ...model.Reading) string {
	var out []string
	for _, b := range bounds {
		if v, ok := b.Get(); ok {
			out = append(out, unit.Limit(v))
		}
	}
	return strings.Join(out, " or ")
}

// measured is a latency of a workflow with its title.
type measured struct {
	title  string
	dist   *model.Dist
	signal model.Signal // "": only events tell it, and without one it is left out
}

func latencies(w *model.WorkflowView) []measured {
	return []measured{
		{"TTFT", w.TTFT, model.TTFT}, {"first answer", w.FirstAnswer, ""}, {"TPOT", w.TPOT, model.TPOT}, {"ITL", w.ITL, model.ITL},
		{"E2E", w.E2E, model.E2E}, {"response", w.Response, ""},
		{"queue", w.Queue, model.Queue}, {"prefill", w.Prefill, model.Prefill}, {"decode", w.Decode, model.Decode},
	}
}

// percentiles is every latency with its brackets.
func (s *sheet) percentiles(f *model.Frame, w *model.WorkflowView) {
	s.rule("LATENCY", say(1, themes.Muted, window(f, s.look)))
	for _, m := range latencies(w) {
		if m.signal == "" && m.dist == nil {
			continue
		}
		s.latency(m.title, w.Name, m.dist, m.signal != "" && slices.Contains(w.Missing, m.signal))
	}
	split := splitOf(w)
	if text := split.takes(w); text != "" {
		s.facts("", say(0, themes.Text, text), say(0, themes.Muted, "n "+samples(split.n)).of("e2e.n", w.Name))
	}
	s.outside(w)
}

// latency is a distribution in full: percentiles with their brackets, how many
// observations, and over what.
func (s *sheet) latency(title, of string, d *model.Dist, missing bool) {
	topic := latencyTopics[title]
	switch {
	case d == nil && missing:
		s.facts(title, say(0, themes.Muted, "not exported").of(topic+".p95", of))
		return
	case d == nil:
		s.facts(title, say(0, themes.Muted, "no data").of(topic+".p95", of))
		return
	case d.N == 0:
		s.facts(title, say(0, themes.Muted, "no samples").of(topic+".p95", of))
		return
	}
	k := s.look
	var ps []part
	for _, q := range []struct {
		key, label string
		e          model.Estimate
	}{{"p50", "p50", d.P50}, {"p95", "p95", d.P95}, {"p99", p99Label(d), d.P99}} {
		if !q.e.Exists() {
			continue
		}
		text, role := k.estimateLong(q.e), themes.Text
		if !q.e.Enough {
			text, role = text+tooFew, themes.Muted
		}
		ps = append(ps, part{segs: []seg{{themes.Muted, q.label + " "}, {role, text}}}.of(topic+"."+q.key, of))
	}
	ps = append(ps, say(0, themes.Muted, "n "+samples(d.N)).of(topic+".n", of))
	if m, ok := d.Mean.Get(); ok {
		ps = append(ps, part{segs: []seg{{themes.Muted, "mean "}, {themes.Text, unit.Precise(m)}}}.of(topic+".mean", of))
	}
	if d.Basis == model.SinceStart {
		ps = append(ps, say(0, themes.Warn, "since the server started"))
	}
	if d.Fidelity == model.Coarse {
		ps = append(ps, say(0, themes.Muted, "common buckets only"))
	}
	s.facts(title, ps...)
}

// latencyTopics are the titles of the latencies in the glossary.
var latencyTopics = map[string]string{
	"TTFT": "ttft", "first answer": "first_answer", "TPOT": "tpot", "ITL": "itl", "E2E": "e2e", "E2E latency": "e2e", "response": "response",
	"queue": "queue", "prefill": "prefill", "decode": "decode",
}

// p99Label: of fewer than a hundred the 99th percentile is the largest.
func p99Label(d *model.Dist) string {
	if d.N < 100 {
		return "max of " + samples(d.N)
	}
	return "p99"
}

// requests is what became of them, their tokens, what is in flight and what was
// meant to be sent.
func (s *sheet) requests(f *model.Frame, w *model.WorkflowView) {
	k, r := s.look, &w.Requests
	s.rule("REQUESTS", say(1, themes.Muted, window(f, k)))
	count := func(label, topic string, n model.Reading) part {
		return k.measure(0, label, k.settled(w, k.reading(n, 12, samples)), "").of("requests."+topic, w.Name)
	}
	s.facts("ended", count("finished", "finished", r.Finished), count("failed", "failed", r.Failed), count("cancelled", "cancelled", r.Cancelled), count("unaccounted", "unaccounted", r.Unaccounted),
		k.measure(0, "rate", k.settled(w, k.rate(r.PerSecond, 12)), "/s").of("requests_per_second", w.Name))
	s.causes("failed", w.Name, r.FailedBy, r)
	s.causes("cancelled", w.Name, r.CancelledBy, r)
	if r.OutputLimit.OK() || r.Retries.OK() {
		s.facts("", count("cut at the output limit", "output_limit", r.OutputLimit), count("retries", "retries", r.Retries))
	}
	s.inFlight(w)
	s.tokens(w)
	s.load(w)
}

// causes is why requests ended badly, each with its share of all that ended: 429:
// 9 of 45, 20.0 %.
func (s *sheet) causes(label, of string, all []model.Cause, r *model.Requests) {
	if len(all) == 0 {
		return
	}
	ended, known := 0.0, true
	for _, n := range []model.Reading{r.Finished, r.Failed, r.Cancelled} {
		v, ok := n.Get()
		ended, known = ended+v, known && ok
	}
	var ps []part
	for _, c := range all[:min(len(all), maxCauses)] {
		text := s.look.foreign(c.Reason, 40) + ": " + samples(c.N)
		if known && ended > 0 {
			text += " of " + samples(ended) + ", " + unit.Ratio(c.N/ended)
		}
		ps = append(ps, say(0, themes.Text, text).of("requests."+label, of))
	}
	if n := len(all) - maxCauses; n > 0 {
		ps = append(ps, say(0, themes.Muted, "+ "+unit.Integer(float64(n))+" more reasons"))
	}
	s.facts(label, ps...)
}

// maxCauses bounds the reasons that are listed.
const maxCauses = 8

// inFlight is where requests stand now.
func (s *sheet) inFlight(w *model.WorkflowView) {
	k := s.look
	ps := []part{k.measure(0, "running", k.count(w.Requests.Running, 12), "").of("running", w.Name), k.measure(0, "waiting", k.count(w.Requests.Waiting, 12), "").of("waiting", w.Name)}
	if p := w.Phases; p != nil {
		ps = nil
		for _, x := range []struct {
			key, word string
			n         model.Reading
			quiet     bool // left out at 0
		}{
			{"queued", "queued", p.Queued, false}, {"preparing_context", "preparing context", p.PreparingContext, false},
			{"waiting_for_model", "waiting for the model", p.WaitingForModel, false}, {"streaming", "streaming", p.Streaming, false},
			{"tool_call", "tool call", p.ToolCall, true}, {"retrying", "retrying", p.Retrying, true}, {"other", "other", p.Other, true}, {"unknown", "unknown", p.Unknown, true},
		} {
			if v, ok := x.n.Get(); x.quiet && (!ok || v == 0) {
				continue
			}
			c := k.count(x.n, 12)
			if x.word == "unknown" {
				c.role = themes.Warn
			}
			ps = append(ps, k.measure(0, x.word, c, "").of("phase."+x.key, w.Name))
		}
	}
	s.facts("in flight", ps...)
}

// tokens is the rates, and of the output what only some requests told.
func (s *sheet) tokens(w *model.WorkflowView) {
	k := s.look
	ps := []part{k.measure(0, "output", k.settled(w, k.rate(w.Tokens.OutputPerSecond, 12)), " tok/s").of("output_per_second", w.Name),
		k.measure(0, "prompt", k.settled(w, k.rate(w.Tokens.PromptPerSecond, 12)), " tok/s").of("prompt_per_second", w.Name)}
	if o := w.Tokens.Output; o != nil {
		switch {
		case o.Unknown > 0:
			ps = append(ps, say(0, themes.Warn, "output at least "+unit.Integer(o.Sum)+" tokens, "+samples(o.Unknown)+" of "+samples(o.N+o.Unknown)+" unknown").of("output_tokens", w.Name))
		default:
			ps = append(ps, say(0, themes.Text, "output "+unit.Integer(o.Sum)+" tokens, n "+samples(o.N)).of("output_tokens", w.Name))
		}
	}
	ps = append(ps, k.measure(0, "cached prompt", k.settled(w, k.ratio(w.Tokens.CachedPromptShare, 12)), "").of("cached_prompt_share", w.Name))
	s.facts("tokens", ps...)
}

// load compares a generator's schedule with what it sent; without a schedule the
// client's own delay is in no figure, which events alone cannot tell.
func (s *sheet) load(w *model.WorkflowView) {
	k := s.look
	if l := w.Load; l != nil {
		behind := k.reading(l.BehindS, 12, unit.Duration)
		if v, ok := l.BehindS.Get(); ok && v > 0 {
			behind.role = themes.Warn
		}
		s.facts("generator", k.measure(0, "offered", k.rate(l.OfferedPerSecond, 12), " req/s").of("offered_per_second", w.Name), k.measure(0, "sent", k.rate(l.SentPerSecond, 12), " req/s").of("sent_per_second", w.Name),
			k.measure(0, "behind by", behind, "").of("behind", w.Name))
		return
	}
	if w.TTFT != nil && w.TTFT.Basis == model.FromEvents {
		s.facts("generator", say(0, themes.Muted, "no schedule: client delay not included"))
	}
}

// carriers is the targets that serve the workflow, worst first, and what is to
// know of its numbers.
func (s *sheet) carriers(f *model.Frame, w *model.WorkflowView) {
	if notes := remarks(f, w); len(notes) > 0 {
		s.rule("NOTES")
		for _, n := range notes {
			s.text(indent, themes.Text, n)
		}
	}
	if len(w.Missing) > 0 {
		var titles []string
		for _, m := range w.Missing {
			titles = append(titles, m.Title())
		}
		s.rule("NOT EXPORTED")
		s.text(indent, themes.Muted, strings.Join(titles, ", "))
	}
	var rows []*model.TargetView
	for _, t := range targetOrder(f, "", ByState) {
		if slices.Contains(w.Targets, t.Name) {
			rows = append(rows, t)
		}
	}
	if len(rows) == 0 {
		return
	}
	s.rule("TARGETS", say(1, themes.Muted, unit.Integer(float64(w.Replicas.Fresh))+" of "+plural(w.Replicas.Total, "target")+" fresh"))
	shown := rows[:min(len(rows), maxListed)]
	t := fit(targetColumns(f, shown, s.w, 2, s.look), s.w-1)
	s.out = append(s.out, t.head(s.look))
	for _, v := range shown {
		s.out = append(s.out, t.row(rowOf(v, f), conditionOf(v), false, s.look))
	}
	s.more(len(rows) - len(shown))
}

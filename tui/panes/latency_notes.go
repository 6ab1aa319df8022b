package panes

import (
	"fmt"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// This file says what to know of the figures of the latency screen: why there are none,
// and how to read them.

// latencyNotes is what to know, the most needed first. A small screen keeps to what
// makes the figures another thing than they seem.
func latencyNotes(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	s := &sheet{w: size.W, look: look}
	metric := latencyMetrics[charted(look.View)]
	if why := noLatency(f, w, metric, look); why != "" {
		s.text(indent, themes.Warn, why)
	}
	for _, r := range w.Reported {
		if distOf(w, metric) == nil && r.Signal == signalOf(metric) && len(s.out) < maxReported {
			s.out = append(s.out, reportedLine(r, size.W, look))
		}
	}
	if size.H < latencyNoteH {
		return s.out
	}
	if o, ok := objectiveFor(w, metric); ok && (o.Bounds.Lo.OK() || o.Bounds.Hi.OK()) {
		s.text(indent, themes.Muted, "the objective lies inside a bucket, so the share is an interval: "+orList(o.Bounds.Lo, o.Bounds.Hi)+" would be exact")
	}
	if text := readingSpeed(w, look); text != "" {
		s.text(indent, themes.Muted, text)
	}
	return s.out
}

// maxReported bounds the summaries of others.
const maxReported = 3

// noLatency says why a latency has no figures or no chart, and what would change that;
// "" where it has both.
func noLatency(f *model.Frame, w *model.WorkflowView, metric model.Metric, look Look) string {
	d := distOf(w, metric)
	name := metricTitle(metric)
	switch {
	case d == nil && slices.Contains(w.Missing, signalOf(metric)):
		return notExported(f, w, metric, look)
	case d == nil && of(w) <= stale:
		return "" // the title says that nobody answers
	case d == nil:
		return name + " is not known: no target of it has told one yet"
	case d.N == 0:
		return "no sample: no request " + sampled(metric) + " in the last " + Look{}.span(seconds(f.WindowS))
	case d.Basis == model.SinceStart:
		return sinceStart + " counted since the server started, which has no place on a time axis: from the second poll on there is a window"
	default:
		return ""
	}
}

// sampled is what a request does when a latency is observed of it.
func sampled(metric model.Metric) string {
	switch metric {
	case model.MetricTTFT:
		return "got its first token"
	case itl:
		return "got another token"
	default:
		return "ended"
	}
}

// notExported names a server that keeps a latency to itself, and what would make it tell.
func notExported(f *model.Frame, w *model.WorkflowView, metric model.Metric, look Look) string {
	text := metricTitle(metric) + " is not exported"
	for i := range f.Targets {
		t := &f.Targets[i]
		if !slices.Contains(w.Targets, t.Name) || !slices.Contains(t.Missing, signalOf(metric)) {
			continue
		}
		who := strings.TrimSpace(string(t.Engine) + " " + string(t.Version))
		if who == "" {
			who = t.Kind
		}
		text += fmt.Sprintf(" by %s (%s): ", t.Name, who)
		if look.View.Enables != nil {
			if how := (*look.View.Enables)(t, signalOf(metric)); how != "" {
				return text + how
			}
		}
		return text + "slotop doctor " + t.Name + " says what would"
	}
	return text + " by its servers: slotop doctor says which flag or version would tell it"
}

// reportedLine is a latency as its reporter sums it up: it has no buckets, and is
// compared with nothing.
func reportedLine(r model.ReportedView, w int, look Look) string {
	ps := []part{{segs: []seg{{themes.Text, look.foreign(r.Target, 30)}, {themes.Muted, " reports " + r.Signal.Title()}}}}
	for _, q := range r.Quantiles {
		ps = append(ps, part{segs: []seg{{themes.Muted, "p" + unit.Number(100*q.Q) + " "}, {themes.Text, unit.Duration(q.S)}}, drop: 1}.of("reported", r.Target))
	}
	if v, ok := r.Count.Get(); ok {
		ps = append(ps, say(2, themes.Muted, "n "+samples(v)))
	}
	own := "over a time of its own"
	if v, ok := r.WindowS.Get(); ok {
		own = "over its own " + look.span(seconds(v))
	}
	return look.line(w).pad(indent).parts(2, append(ps, say(3, themes.Muted, own))...).String()
}

// The reading speeds of English, in words a minute (Brysbaert 2019: most adults read
// between the ends), and how many words a token is.
const (
	wordsPerToken = 0.75
	readsMean     = 238.0
	readsFrom     = 175
	readsTo       = 300
)

// readingSpeed says how fast people are served words that they read; "" where nobody
// reads them, or it is not known.
func readingSpeed(w *model.WorkflowView, look Look) string {
	if w.Promised.Reader != model.ReaderHuman || w.TPOT == nil || w.TPOT.Basis == model.SinceStart {
		return ""
	}
	s, ok := w.TPOT.P50.Value.Get()
	if !ok || s <= 0 {
		return ""
	}
	words := 60 / s * wordsPerToken
	return fmt.Sprintf("read by people: TPOT p50 is about %s words/min at %s words a token, %s%s what they read: %s, most %d%s%d",
		unit.Integer(roundTo(words, 10)), unit.Number(wordsPerToken), unit.Number(words/readsMean), look.pick("×", "x"),
		unit.Integer(readsMean), readsFrom, look.pick("–", "-"), readsTo)
}

// roundTo is v in whole steps.
func roundTo(v, step float64) float64 { return float64(int(v/step+0.5)) * step }

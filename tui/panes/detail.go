package panes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Detail is one target, opened: how it answers, its engines, and for each number
// which exposed name it was read from and what that measures.
type Detail struct{ wholeScreen }

// Name names the pane.
func (Detail) Name() string { return "detail" }

// Render draws the lines from View.Scroll on.
func (Detail) Render(f *model.Frame, size layout.Size, look Look) string {
	t := opened(f, look.View.Target)
	if t == nil {
		return look.line(size.W).pad(1).put(themes.Muted, "this target is no longer watched: esc goes back").String()
	}
	return scrolled(detailLines(f, t, size.W, look), look.View.Scroll, size, look)
}

// Scroll is how far the opened target can be scrolled.
func (Detail) Scroll(f *model.Frame, size layout.Size, look Look) int {
	t := opened(f, look.View.Target)
	if t == nil {
		return 0
	}
	return scrollable(len(detailLines(f, t, size.W, look)), size)
}

func opened(f *model.Frame, id model.TargetID) *model.TargetView {
	for i := range f.Targets {
		if f.Targets[i].ID == id {
			return &f.Targets[i]
		}
	}
	return nil
}

func detailLines(f *model.Frame, t *model.TargetView, w int, look Look) []string {
	s := &sheet{w: w, look: look}
	s.out = append(s.out, look.rule(w, detailTitle(f, t, look)))
	s.polls(f, t)
	switch {
	case t.Probe != nil:
		s.probed(t)
	case t.Kind != model.GPUTarget && t.Kind != model.FinderTarget:
		s.numbers(f, t)
	}
	s.engines(t)
	s.gpusOf(f, t)
	s.notes(f, t)
	s.signals(t)
	return s.out
}

// detailTitle names a target and says how it is, since when.
func detailTitle(f *model.Frame, t *model.TargetView, look Look) []seg {
	c := conditionOf(t)
	title := []seg{
		{conditionTable[c].role, look.mark(c) + " "}, {themes.Strong, look.foreign(t.Name, 40)},
		{conditionTable[c].role, " " + targetWord(c)},
	}
	if !t.Since.IsZero() {
		title = append(title, seg{themes.Muted, " for " + look.span(f.At.Sub(t.Since).Truncate(time.Second)) + ", since " + hms(t.Since) + " UTC"})
	}
	return title
}

// polls says how the target answers.
func (s *sheet) polls(f *model.Frame, t *model.TargetView) {
	if t.Fault != nil {
		s.prose("fault", themes.Breach, t.Fault.Kind.Word()+": "+t.Fault.Detail)
	}
	s.prose("address", themes.Text, string(t.ID))
	label, engine := kindLabel(t.Kind)
	if t.Engine != "" {
		engine = engineText(t)
	}
	s.fact(label, say(0, themes.Text, s.look.foreign(engine, s.w)))
	s.passedOn(t)
	if len(t.Models) > 0 {
		s.prose("models", themes.Text, strings.Join(t.Models, ", "))
	}
	id := string(t.ID)
	good := say(1, themes.Muted, "no good one yet")
	if !t.LastGoodAt.IsZero() {
		good = say(1, themes.Muted, "last good "+hms(t.LastGoodAt)+", "+s.look.age(f.At.Sub(t.LastGoodAt))+" ago").of("last_good", id)
	}
	failed := say(0, themes.Muted, "none failed")
	if t.FailedPolls > 0 {
		failed = say(0, themes.Warn, unit.Count(float64(t.FailedPolls))+" failed").of("failed_polls", id)
	}
	polls := []part{say(0, themes.Text, unit.Count(float64(t.Polls))).of("polls", id), failed, good}
	if t.Kind != model.ProbeTarget { // its requests run beside the polls
		polls = append(polls, say(2, themes.Muted, "took "+s.look.took(t.TookS, 12).text).of("took", id))
	}
	s.fact("polls", polls...)
	if t.Restarts > 0 {
		s.fact("restarts", say(0, themes.Warn, unit.Count(float64(t.Restarts))).of("restarts", id), say(0, themes.Muted, "last at "+hms(t.RestartedAt)+" UTC"))
	}
	if t.BadLines > 0 {
		s.prose("bad lines", themes.Warn, plural(t.BadLines, "line")+" skipped, the first: "+string(t.FirstBad))
	}
	if t.Dropped > 0 {
		s.prose("dropped", themes.Warn, fmt.Sprintf("%d series beyond the limit", t.Dropped))
	}
}

// kindLabel names what a target is, and what stands there while it does not say.
func kindLabel(kind string) (label, unsaid string) {
	switch kind {
	case model.GatewayTarget:
		return "gateway", "says nothing of itself"
	case model.PrometheusTarget:
		return "server", "a Prometheus-compatible server"
	case model.GPUTarget:
		return "GPUs", "says nothing of itself"
	case model.ProbeTarget:
		return "probe", "sends requests of its own"
	case model.FinderTarget:
		return "finds", "other targets"
	default:
		return "engine", "not recognised"
	}
}

// passedOn says how old and of how many servers the numbers are of a target that
// passes on what it read, and whose clock it is.
func (s *sheet) passedOn(t *model.TargetView) {
	if step, ok := t.StepS.Get(); ok && t.Kind != model.FinderTarget {
		s.fact("new values", say(0, themes.Text, "every "+unit.Duration(step)).of("step_s", string(t.ID)), say(1, themes.Muted, "a window holds four of them at least"))
	}
	if r := t.Replicas; r.Total > 0 {
		role := themes.Text
		if r.Fresh < r.Total {
			role = themes.Warn
		}
		s.fact("replicas", say(0, role, unit.Count(float64(r.Fresh))+" of "+unit.Count(float64(r.Total))+" answer").of("replicas.behind", string(t.ID)))
	}
	if v, ok := t.SkewS.Get(); ok && math.Abs(v) >= tellSkew {
		way := " ahead of ours"
		if v < 0 {
			way = " behind ours"
		}
		s.fact("clock", say(0, themes.Warn, unit.Duration(math.Abs(v))+way).of("clock_skew", string(t.ID)), say(1, themes.Muted, "its dates are off by as much"))
	}
}

// tellSkew is the difference of two clocks, in seconds, from which it is told: less
// moves nobody's reading of a chart.
const tellSkew = 2

// numbers is what the target reads now, in full: bracket, n and basis. Of one that no
// longer answers it is what was read last.
func (s *sheet) numbers(f *model.Frame, t *model.TargetView) {
	k, id := s.look, string(t.ID)
	title, span := "NOW", []part{say(2, themes.Muted, window(f, k))}
	if c := conditionOf(t); (c == down || c == stale) && !t.LastGoodAt.IsZero() {
		title, span[0] = "LAST KNOWN", say(2, themes.Warn, "read at "+hms(t.LastGoodAt)+" UTC")
	}
	if acrossRestart(f, t) {
		span = append(span, say(1, themes.Warn, "figures span a restart at "+hms(t.RestartedAt)))
	}
	s.rule(title, span...)
	s.fact("requests", k.measure(0, "running", k.count(t.Running, 12), "").of("running", id), k.measure(0, "waiting", k.count(t.Waiting, 12), "").of("waiting", id),
		k.measure(1, "finished", k.rate(t.RequestsPerSecond, 12), "/s").of("requests_per_second", id), k.measure(2, "preempted", k.rate(t.PreemptionsPerSec, 12), "/s").of("preemptions", id))
	flow := []part{k.measure(0, "output", k.rate(t.OutputPerSecond, 12), " tok/s").of("output_per_second", id)}
	if t.ReportedOutput.OK() {
		flow = append(flow, k.measure(1, "the engine reports", k.rate(t.ReportedOutput, 12), " tok/s").of("reported_output", id))
	}
	s.fact("tokens", flow...)
	s.fact("cache", k.meter(t.KVCacheUsage).of("kv_cache_usage", id))
	for _, d := range []struct {
		signal model.Signal
		dist   *model.Dist
	}{{model.TTFT, t.TTFT}, {model.TPOT, t.TPOT}, {model.ITL, t.ITL}} {
		s.latency(d.signal.Title(), id, d.dist, slices.Contains(t.Missing, d.signal))
	}
}

// engines is a row for each data-parallel engine behind the target, and which of them
// carries more than its share. One alone is the target.
func (s *sheet) engines(t *model.TargetView) {
	if len(t.Engines) < 2 {
		return
	}
	k := s.look
	s.rule("ENGINES", say(0, themes.Muted, plural(len(t.Engines), "data-parallel engine")))
	too := imbalances(ranksOf(t), k)
	for _, u := range too {
		s.prose("uneven", themes.Warn, "engine "+u.name+" "+strings.Join(u.facts, "; "))
	}
	for _, e := range fullestFirst(t.Engines) {
		s.fact(k.foreign(e.ID, labelW-1),
			k.measure(0, "running", k.count(e.Running, 12), "").of("running", t.Name),
			k.measure(0, "waiting", k.count(e.Waiting, 12), "").of("waiting", t.Name),
			k.meter(e.KVCacheUsage).of("kv_cache_usage", t.Name))
	}
}

// notes is what was noticed about the target and about the workflows it serves.
func (s *sheet) notes(f *model.Frame, t *model.TargetView) {
	notes := slices.Clone(t.Notes)
	for i := range f.Workflows {
		w := &f.Workflows[i]
		if len(w.Notes) == 0 || len(notes) >= maxNotes || !slices.Contains(w.Targets, t.Name) {
			continue
		}
		for _, n := range w.Notes {
			notes = append(notes, w.Name+": "+n)
		}
	}
	if len(notes) == 0 {
		return
	}
	s.rule("NOTES")
	for _, n := range notes {
		s.prose("", themes.Text, n)
	}
}

// maxNotes bounds how many notes are collected from workflows: a target may serve
// thousands.
const maxNotes = 12

// signals lists what was read from where, what it measures when that is not
// what its name says, and what this target could export and does not.
func (s *sheet) signals(t *model.TargetView) {
	if len(t.Meanings) > 0 {
		s.rule("READ FROM")
	}
	w := signalColumn
	if s.w < narrow {
		w = labelW
	}
	for _, m := range t.Meanings {
		l := s.look.line(s.w).pad(1).put(themes.Muted, s.look.cut(m.Signal.Title(), w-1)).pad(w + 1)
		s.out = append(s.out, l.put(themes.Text, s.look.foreign(m.Metric, s.w-w-1)).String())
		for _, line := range wrap(s.look.sentence(measures(m), maxProse), s.w-w-3) {
			if line != "" {
				s.out = append(s.out, s.look.line(s.w).pad(w+3).put(themes.Warn, line).String())
			}
		}
	}
	if len(t.Missing) > 0 {
		s.rule("NOT EXPORTED")
		var titles []string
		for _, m := range t.Missing {
			titles = append(titles, m.Title())
		}
		s.prose("", themes.Muted, strings.Join(titles, ", "))
	}
}

const signalColumn = 26

// measures says what a number is when it is not what its title says.
func measures(m model.Meaning) string {
	if m.AtFinish && m.Measures == "" {
		return "moves only when a request ends"
	}
	if m.AtFinish {
		return m.Measures + "; moves only when a request ends"
	}
	return m.Measures
}

package panes

import (
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Workflow is one workflow, opened: what was promised, how much of it is kept,
// and every number behind that.
type Workflow struct{ wholeScreen }

// Name names the pane.
func (Workflow) Name() string { return "workflow" }

// Render draws the lines from View.Scroll on, with the charts between them or, on
// a wide screen, beside them.
func (Workflow) Render(f *model.Frame, size layout.Size, look Look) string {
	w := openedWorkflow(f, look.View)
	if w == nil {
		return look.line(size.W).pad(1).put(themes.Muted, "this workflow is no longer served: esc goes back").String()
	}
	text, side := besideCharts(size)
	left := scrolled(workflowPage(f, w, text.W, side.W == 0, look), look.View.Scroll, text, look)
	if side.W == 0 {
		return left
	}
	return lines(size.H, sideBySide(strings.Split(left, "\n"), stacked(f, w, side, look), size.H, text.W+chartGap, look)...)
}

// Scroll is how far the page can be scrolled.
func (Workflow) Scroll(f *model.Frame, size layout.Size, look Look) int {
	w := openedWorkflow(f, look.View)
	if w == nil {
		return 0
	}
	text, side := besideCharts(size)
	return scrollable(len(workflowPage(f, w, text.W, side.W == 0, look)), text)
}

// maxText is the width beyond which a page of text is hard to read.
const maxText = 104

// besideCharts divides a screen that is wide enough into text and charts.
func besideCharts(size layout.Size) (text, side layout.Size) {
	if size.W < maxText+chartGap+chartMinW || size.H < chartMinH {
		return size, layout.Size{}
	}
	return layout.Size{W: maxText, H: size.H}, layout.Size{W: min(size.W-maxText-chartGap, chartMaxW), H: size.H}
}

// sideBySide joins two columns of lines.
func sideBySide(left, right []string, h, x int, look Look) []string {
	out := make([]string, 0, h)
	for y := range max(len(left), len(right)) {
		l := look.line(x)
		if y < len(left) {
			l.b.WriteString(left[y])
			l.w = unit.Width(left[y]) // it carries styles
		}
		if y < len(right) {
			l.pad(x).b.WriteString(right[y])
		}
		out = append(out, l.String())
	}
	return out
}

// stacked is a workflow's charts under one another.
func stacked(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	all := graphs(f, w)
	wants := make([]layout.Want, len(all))
	for i := range all {
		wants[i] = layout.Want{Min: chartMinH, Max: chartMaxH, Drop: i + 1}
	}
	var out []string
	for i, r := range layout.Rows(layout.Rect{W: size.W, H: size.H}, wants) {
		if r.H >= chartMinH {
			out = append(out, strings.Split(all[i].draw(r.Size(), look), "\n")...)
		}
	}
	return out
}

// workflowPage is all lines of the page, with the charts among them where they do
// not stand beside it.
func workflowPage(f *model.Frame, w *model.WorkflowView, width int, charts bool, look Look) []string {
	s := &sheet{w: width, look: look}
	title := title(f, w, look)[0].segs
	var since []part
	if !w.Since.IsZero() {
		since = append(since, say(1, themes.Muted, "since "+when(w.Since, f.At)+" UTC"))
	}
	s.out = append(s.out, look.rule(s.w, title, since...))
	s.kept(w)
	s.objectives(w)
	s.budget(w)
	if charts {
		s.charts(f, w)
	}
	s.percentiles(f, w)
	s.stages(f, w)
	s.requests(f, w)
	s.carriers(f, w)
	return s.out
}

// charts adds the charts, next to one another where there is room.
func (s *sheet) charts(f *model.Frame, w *model.WorkflowView) {
	if s.w < chartLeastW {
		return
	}
	across := max((s.w+chartGap)/(chartMinW+chartGap), 1)
	for _, row := range grid(graphs(f, w), across, 4) {
		r := layout.Rect{W: s.w, H: pageChartH}
		cols := layout.Columns(r, chartGap, layout.Even(across, min(chartMinW, s.w), chartMaxW))
		s.out = append(s.out, beside(row, cols, s.look)...)
	}
}

// The height of a chart within a page, and the width below which there is none.
const (
	pageChartH  = 9
	chartLeastW = 40
)

// kept is what was promised, by whom, and how much of it is kept.
func (s *sheet) kept(w *model.WorkflowView) {
	p := w.Promised
	promise := []part{say(0, themes.Muted, "no objective")}
	if len(w.Objectives) > 0 {
		promise = []part{say(0, themes.Text, unit.Promised(p.Share)+" of requests within all of").of("target", w.Name)}
		for _, o := range w.Objectives {
			promise = append(promise, say(0, themes.Strong, o.Metric.Title()+" "+unit.Limit(o.MaxS)).of(string(o.Metric)+".max", w.Name))
		}
	}
	switch {
	case w.AssumedObjectives:
		promise = append(promise, say(0, themes.Warn, "assumed: nobody set them, they never page"))
	case len(w.Objectives) > 0:
		promise = append(promise, say(0, themes.Muted, "as configured"))
	}
	if p.PeriodS > 0 {
		promise = append(promise, say(0, themes.Muted, "over "+unit.Period(p.PeriodS)))
	}
	if p.Reader != model.ReaderUnknown {
		promise = append(promise, say(0, themes.Muted, "read by a "+string(p.Reader)))
	}
	if p.TruncatedBad {
		promise = append(promise, say(0, themes.Muted, "an answer cut at its output limit is bad"))
	}
	s.facts("promise", promise...)
	s.goodput(w.Name, w.Goodput)
	s.deadline(w.Name, w.Deadline)
}

// goodput is the share and the rate, of which requests, and how far it goes as
// evidence.
func (s *sheet) goodput(name string, g *model.GoodputView) {
	k := s.look
	if g == nil {
		return
	}
	word := seg{verdictRole(g.Verdict), verdictWord(g.Verdict)}
	share := []part{{segs: []seg{word}}}
	if g.Share.Lo.OK() {
		share[0].segs = []seg{seg(k.goodputOf(g, true)), {themes.Text, " "}, word}
	}
	share[0] = share[0].of("goodput", name)
	if r, ok := k.between(g.PerSecond, unit.Rate); ok {
		share = append(share, say(0, themes.Text, r+" good requests/s").of("goodput.rate", name))
	}
	if r, ok := k.between(g.OutputPerSecond, unit.Rate); ok {
		share = append(share, say(0, themes.Text, r+" good output tok/s").of("goodput.output", name))
	}
	s.facts("goodput", share...)
	if g.Why != "" {
		s.prose("", themes.Warn, string(g.Why))
	}
	if g.N > 0 {
		of := "of " + samples(g.N) + " judged: " + judged(g.Of)
		if unsettled(g.Of) {
			of = "of " + judged(g.Of)
		}
		s.facts("", append([]part{say(0, themes.Muted, of).of("goodput.n", name)}, k.leftOut(g.Of)...)...)
	}
	s.facts("", k.evidence(name, g)...)
}

// leftOut is the requests that a goodput does not judge.
func (k Look) leftOut(d model.Denominator) []part {
	var out []part
	if v, ok := d.Excluded.Get(); ok && v >= 1 {
		out = append(out, say(0, themes.Muted, samples(v)+" cancelled not counted"))
	}
	if v, ok := d.Unmeasured.Get(); ok && v >= 1 {
		out = append(out, say(0, themes.Warn, samples(v)+" not measured"))
	}
	if v, ok := d.Unaccounted.Get(); ok && v >= 1 {
		out = append(out, say(0, themes.Warn, samples(v)+" in no counter"))
	}
	return out
}

// evidence is what a goodput rests on.
func (k Look) evidence(name string, g *model.GoodputView) []part {
	var out []part
	switch {
	case g.Basis == model.ByRequests:
		out = append(out, say(0, themes.Muted, "judged one by one"))
	case g.Share.Lo.OK():
		out = append(out, say(0, themes.Muted, "from histograms: each objective is known alone, not together"))
	}
	if g.Sample.Lo.OK() && g.Sample.Hi.OK() {
		out = append(out, say(0, themes.Muted, "n "+samples(g.N)+" leaves "+k.percents(g.Sample)).of("goodput.sample", name))
	}
	if e := g.Evidence; e != nil {
		text := "as evidence for the service " + k.percents(model.Range{Lo: e.Lo, Hi: e.Hi})
		if e.DesignEffect > 1 {
			text += ": " + unit.Number(e.DesignEffect) + " requests that share their fate count as one"
		}
		out = append(out, say(0, themes.Muted, text).of("goodput.evidence", name))
	}
	if g.UserShare.Lo.OK() {
		out = append(out, say(0, themes.Muted, "by user, best attempt "+k.share(g.UserShare)).of("goodput.user", name))
	}
	return out
}

// percents is a range of shares.
func (k Look) percents(r model.Range) string {
	return k.share(model.Share{Lo: r.Lo, Hi: r.Hi})
}

// between is a range of rates: one number where both ends read the same.
func (k Look) between(r model.Range, format func(float64) string) (string, bool) {
	if !r.Lo.OK() || !r.Hi.OK() {
		return "", false
	}
	lo, hi := format(r.Lo.Value), format(r.Hi.Value)
	if lo == hi {
		return lo, true
	}
	return lo + k.pick("–", "-") + hi, true
}

// deadline is a job that must be done by a time.
func (s *sheet) deadline(name string, d *model.DeadlineView) {
	if d == nil {
		return
	}
	k := s.look
	ps := []part{{segs: []seg{{themes.Text, "within " + unit.Period(d.DeadlineS) + " of " + hms(d.Began) + " "}, {verdictRole(d.Verdict), verdictWord(d.Verdict)}}}}
	for _, x := range []struct {
		label string
		r     model.Reading
		show  func(float64) string
		unit  string
	}{
		{"left", d.LeftS, unit.Duration, ""}, {"needs", d.NeedsS, unit.Duration, ""},
		{"remaining", d.Remaining, samples, " requests"}, {"at", d.PerSecond, unit.Rate, "/s"},
	} {
		ps = append(ps, k.measure(0, x.label, k.reading(x.r, 12, x.show), x.unit).of("deadline", name))
	}
	s.facts("deadline", ps...)
}

// budget is how fast the error budget goes and what is left of it.
func (s *sheet) budget(w *model.WorkflowView) {
	b, k := w.Budget, s.look
	if b == nil {
		return
	}
	s.rule("ERROR BUDGET", say(1, themes.Muted, "seen "+k.span(seconds(b.ObservedS).Truncate(time.Second))+" of "+unit.Period(b.PeriodS)))
	s.facts("burn", k.measure(0, "2 min", k.times(b.Burn.M2), "").of("burn.2m", w.Name), k.measure(0, "5 min", k.times(b.Burn.M5), "").of("burn.5m", w.Name),
		k.measure(0, "30 min", k.times(b.Burn.M30), "").of("burn.30m", w.Name), say(0, themes.Muted, "1 spends what is allowed"))
	var left []part
	switch {
	case spent(b):
		left = append(left, part{segs: []seg{seg(k.left(b))}}.of("budget", w.Name))
	case b.Remaining.OK():
		left = append(left, part{segs: []seg{seg(k.left(b)), {themes.Muted, " left"}}}.of("budget", w.Name))
	}
	if v, ok := b.Bad.Get(); ok {
		text := samples(v) + " bad"
		if a, ok := b.Allowed.Get(); ok {
			text += " of " + samples(a) + " allowed"
		}
		left = append(left, say(0, themes.Text, text).of("budget.bad", w.Name))
	}
	if v, ok := goneIn(b).Get(); ok {
		left = append(left, say(0, themes.Text, "gone in "+unit.Duration(v)+" at this burn").of("budget.exhausted_in", w.Name))
	}
	s.facts("budget", left...)
	if b.Text != "" {
		s.prose("", themes.Text, string(b.Text))
	}
}

package panes

import (
	"math"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Charts draws the past of the chosen workflow, and where there is room that of
// the others on the same time axis.
type Charts struct{}

// Name names the pane.
func (Charts) Name() string { return "charts" }

// What a chart needs, with the rule above it.
const (
	chartMinH = chart.MinH + 1
	chartMaxH = 14
	chartMinW = 46
	chartMaxW = 100
	chartGap  = 2
)

// Want grows with the screen, by whole rows of charts.
func (Charts) Want(f *model.Frame, _ int, _ Look) layout.Want {
	if len(f.Workflows) == 0 {
		return layout.Want{}
	}
	return layout.Want{Min: chartMinH + 2, Ideal: chartMinH + 2, Max: 6 * chartMaxH, Drop: 5}
}

// graph is one chart: which workflow and which of its tracks.
type graph struct {
	f    *model.Frame
	w    *model.WorkflowView
	kind graphKind

	of     model.Metric  // of graphLatency
	tail   bool          // with the 99th percentile
	span   time.Duration // shown in all; 0: what there is of it
	shared bool          // the times of day stand under a chart below

	marked  bool   // the workflow's condition stands before the title
	plain   bool   // lines alone: legend and bracket stand elsewhere
	remarks []part // at the right of the title
}

type graphKind uint8

const (
	graphTTFT graphKind = iota
	graphToken
	graphFlow
	graphLoad
	graphGoodput
	graphLatency // of any metric
)

// Render draws the chosen workflow's charts under one another, and where there is room
// for two next to one another a row for each workflow.
func (Charts) Render(f *model.Frame, size layout.Size, look Look) string {
	w := chosenOne(f, look)
	if w == nil || size.H < chartMinH {
		return ""
	}
	if size.W >= multiplesMinW {
		return lines(size.H, multiples(f, w, size, look)...)
	}
	all := graphs(f, w)
	all = all[:min(len(all), 3, size.H/chartMinH)]
	wants := make([]layout.Want, len(all))
	for i := range all {
		wants[i] = layout.Want{Min: chartMinH, Max: chartMaxH}
	}
	var out []string
	for i, r := range layout.Rows(layout.Rect{W: min(size.W, chartMaxW), H: size.H}, wants) {
		out = append(out, strings.Split(all[i].draw(r.Size(), look), "\n")...)
	}
	return lines(size.H, out...)
}

// graphs is what can be drawn of a workflow, most important first: a latency that
// its servers do not export has no chart.
func graphs(f *model.Frame, w *model.WorkflowView) []graph {
	var out []graph
	if !slices.Contains(w.Missing, model.TTFT) || w.TTFT != nil {
		out = append(out, graph{f: f, w: w, kind: graphTTFT})
	}
	if !slices.Contains(w.Missing, model.TPOT) || w.TPOT != nil || w.ITL != nil {
		out = append(out, graph{f: f, w: w, kind: graphToken})
	}
	if w.Goodput != nil && w.History != nil && len(w.History.Goodput) > 0 {
		out = append(out, graph{f: f, w: w, kind: graphGoodput})
	}
	return append(out, graph{f: f, w: w, kind: graphFlow}, graph{f: f, w: w, kind: graphLoad})
}

// grid places graphs in rows, as many as there is room for.
func grid(all []graph, across, down int) [][]graph {
	var out [][]graph
	for len(all) > 0 && len(out) < down {
		n := min(across, len(all))
		out, all = append(out, all[:n]), all[n:]
	}
	return out
}

// beside draws charts next to one another.
func beside(row []graph, cols []layout.Rect, look Look) []string {
	var out []string
	for i, g := range row {
		if cols[i].Empty() || cols[i].W < chartMinW && i > 0 {
			continue
		}
		drawn := strings.Split(g.draw(cols[i].Size(), look), "\n")
		if i == 0 {
			out = drawn
			continue
		}
		for y := range out {
			before := look.line(cols[i].X)
			before.b.WriteString(out[y])
			before.w = unit.Width(out[y]) // it carries styles
			out[y] = before.pad(cols[i].X).b.String() + drawn[y]
		}
	}
	return out
}

// draw is a rule with the chart's title over the chart.
func (g graph) draw(size layout.Size, look Look) string {
	p := g.plot(look)
	p.W, p.H = size.W, size.H-1
	legend := append(g.remarks, g.legend(look)...)
	rule := look.rule(size.W, g.title(size.W-widthOf(legend, 2), look), legend...)
	if p.Step <= 0 {
		return rule + "\n" + look.line(size.W).pad(indent).put(themes.Muted, "no history yet").String() + strings.Repeat("\n", max(size.H-2, 0))
	}
	drawn := look.pointable(strings.Split(p.Render(), "\n"), g.f, size.W, p.TagWidth, p.Span, g.w.History.End, g.numbers(p))
	return rule + "\n" + strings.Join(drawn, "\n")
}

// numbers says what the numbers at the right of the chart are, by how they read.
func (g graph) numbers(p chart.Plot) map[string]About {
	out := map[string]About{}
	topics := g.tagTopics(len(p.Tags))
	for i, t := range p.Tags {
		if i < len(topics) {
			out[t.Text] = About{topics[i], g.w.Name}
		}
	}
	return out
}

// tagTopics are the topics of n tags, in their order.
func (g graph) tagTopics(n int) []string {
	switch g.kind {
	case graphFlow:
		return []string{"output_per_second"}
	case graphLoad:
		return []string{"waiting", "running"}
	case graphGoodput:
		return []string{"target", "goodput"}
	}
	m := string(g.metric())
	topics := []string{m + ".p95", m + ".p50", m + ".p99"}
	if _, bounded := objectiveFor(g.w, g.metric()); bounded {
		topics = append([]string{m + ".max"}, topics...)
	}
	return topics[:min(n, len(topics))]
}

func (g graph) metric() model.Metric {
	switch g.kind {
	case graphTTFT:
		return model.MetricTTFT
	case graphToken:
		return tokenMetric(g.w)
	default:
		return g.of
	}
}

// title is what is drawn and whose it is; the name gives way to the legend.
func (g graph) title(w int, look Look) []seg {
	const around = 11 // the rule's own cells, and the blanks between
	what := g.what()
	c := of(g.w)
	if g.marked {
		return []seg{{conditionTable[c].role, look.mark(c) + " "}, {themes.Strong, what}, {themes.Muted, " " + look.foreign(g.w.Name, min(max(w-cells(what)-around-2, 8), 30))}}
	}
	return []seg{{themes.Strong, what}, {themes.Muted, " " + look.foreign(g.w.Name, min(max(w-cells(what)-around, 8), 24))}}
}

// what is drawn, in one word.
func (g graph) what() string {
	switch g.kind {
	case graphFlow:
		return "OUTPUT tok/s"
	case graphLoad:
		return "REQUESTS"
	case graphGoodput:
		return "GOODPUT"
	default:
		return metricTitle(g.metric())
	}
}

// legend says what the lines are. It uses the lines' own look, so it works
// without colour too.
func (g graph) legend(look Look) []part {
	if g.plain {
		return nil
	}
	line := func(role themes.Role, unicode, ascii, text string) part {
		return part{segs: []seg{{role, look.pick(unicode, ascii)}, {themes.Muted, " " + text}}, drop: 1}
	}
	switch g.kind {
	case graphFlow:
		return nil
	case graphGoodput:
		if s := g.w.Goodput.Share; s.Hi.Value > s.Lo.Value {
			return []part{line(themes.High, "⠤⠤", "##", "best guess")}
		}
		return nil
	case graphLoad:
		return []part{line(themes.High, "⠤⠤", "##", "waiting"), line(themes.Low, "⠄⠄", "..", "running")}
	default:
		out := []part{line(themes.High, "⠤⠤", "##", "p95"), line(themes.Low, "⠄⠄", "..", "p50")}
		if g.tail {
			out = append([]part{line(themes.Muted, "⠄ ⠄", "''", "p99")}, out...)
		}
		if g.h() != nil && wide(g.track()) {
			out = append(out, line(themes.Band, "⠅⠅", "::", "p95 range"))
		}
		return out
	}
}

func (g graph) h() *model.History { return g.w.History }

func (g graph) track() model.Track {
	switch g.metric() {
	case model.MetricTTFT:
		return g.w.History.TTFT
	case itl:
		return g.w.History.ITL
	case model.MetricE2E:
		return g.w.History.E2E
	default:
		return g.w.History.TPOT
	}
}

// wide reports whether the bracket of the newest p95 is worth a band.
func wide(t model.Track) bool {
	n := len(t.LoP95)
	if n == 0 || len(t.HiP95) != n {
		return false
	}
	lo, hi := float64(t.LoP95[n-1]), float64(t.HiP95[n-1])
	return hi > lo*narrowBracket
}

// narrowBracket is the ratio of a bracket's ends up to which a line is enough.
const narrowBracket = 1.2

// plot fills in everything but the size.
func (g graph) plot(look Look) chart.Plot {
	h := g.h()
	if h == nil {
		return chart.Plot{}
	}
	p := chart.Plot{
		Empty: "no data in this time",
		Step:  h.Step, End: h.End.Wall.UTC(), Since: h.End.Mono,
		Span: g.spanned(), Shared: g.shared,
		TagWidth: g.tagRoom(), Format: look.axis(g.kind),
		Label: look.ink(themes.Muted), Rule: look.ink(themes.Rule),
		ObjectiveInk: look.ink(themes.Objective), MarkInk: look.ink(themes.Event),
		ASCII: look.ASCII,
	}
	for _, e := range h.Events {
		p.Marks = append(p.Marks, chart.Mark{Before: h.End.Sub(e.At), Letter: eventLetter(g.f, e)})
	}
	switch g.kind {
	case graphFlow:
		p.Lines = []chart.Line{{Values: h.Output, Ink: look.ink(themes.Low), Letter: '#'}}
		p.Tags = []chart.Tag{g.tag(h.Output, look.axis(g.kind), themes.Text, look)}
	case graphLoad:
		p.Lines = []chart.Line{
			{Values: h.Running, Ink: look.ink(themes.Low), Letter: '.', Dotted: true},
			{Values: h.Waiting, Ink: look.ink(themes.High), Letter: '#'},
		}
		p.Tags = []chart.Tag{
			g.tag(h.Waiting, look.axis(g.kind), themes.High, look),
			g.tag(h.Running, look.axis(g.kind), themes.Low, look),
		}
	case graphGoodput:
		g.goodput(&p, look)
	default:
		g.latency(&p, look)
	}
	return p
}

// spanned is how much of the past is shown.
func (g graph) spanned() time.Duration {
	if g.span > 0 {
		return g.span
	}
	return chart.SpanFor(covered(g.h(), longestIn(g.f)))
}

// goodput adds the share that was kept, against the share that was promised.
func (g graph) goodput(p *chart.Plot, look Look) {
	target := g.w.Goodput.Target.Value
	p.Most, p.Objective = 1, target
	p.Lines = []chart.Line{{
		Values: g.w.History.Goodput, Ink: look.ink(themes.High), Over: look.ink(themes.Over), Limit: target, Under: true, Letter: '#',
	}}
	role := verdictRole(g.w.Goodput.Verdict)
	if role == themes.Breach {
		role = themes.Over
	}
	p.Tags = []chart.Tag{
		{Value: target, Text: "SLO " + unit.Promised(target), Ink: look.ink(themes.Objective)},
		g.tag(g.w.History.Goodput, func(float64) string { return look.share(g.w.Goodput.Share) }, role, look),
	}
}

// latency adds the percentiles, the bracket and the objective.
func (g graph) latency(p *chart.Plot, look Look) {
	t := g.track()
	p.Empty = "no samples in this time"
	if distOf(g.w, g.metric()) == nil && slices.Contains(g.w.Missing, signalOf(g.metric())) {
		p.Empty = "not exported"
	}
	o, bounded := objectiveFor(g.w, g.metric())
	high := chart.Line{Values: t.P95, Ink: look.ink(themes.High), Over: look.ink(themes.Over), Letter: '#'}
	if bounded {
		high.Limit = o.MaxS
		p.Objective = o.MaxS
		p.Tags = append(p.Tags, chart.Tag{Value: o.MaxS, Text: "SLO " + unit.Limit(o.MaxS), Ink: look.ink(themes.Objective)})
	}
	low := chart.Line{Values: t.P50, Ink: look.ink(themes.Low), Letter: '.', Dotted: true}
	if g.plain {
		low.Ink = high.Ink // in few rows the two share their cells: dots tell them apart
	}
	p.Lines = []chart.Line{low, high}
	if g.tail {
		p.Lines = append([]chart.Line{{Values: t.P99, Ink: look.ink(themes.Muted), Letter: '\'', Sparse: true, Faint: true}}, p.Lines...)
	}
	if !g.plain {
		p.Band = &chart.Band{Lo: banded(t.LoP95, t), Hi: t.HiP95, Ink: look.ink(themes.Band)}
	}
	if d := distOf(g.w, g.metric()); d != nil {
		g.quantileTags(p, d, t, low.Ink, bounded && o.Verdict == model.Missed, look)
	}
}

// quantileTags adds the present percentiles, at the ends of their lines.
func (g graph) quantileTags(p *chart.Plot, d *model.Dist, t model.Track, low chart.Ink, missed bool, look Look) {
	role, room := themes.High, g.tagRoom()-1
	if missed {
		role = themes.Over
	}
	if g.tail {
		room -= len("p95 ")
	}
	mid := look.quantileTag(d.P50, room, t.P50, themes.Low)
	mid.Ink = low
	p.Tags = append(p.Tags, look.quantileTag(d.P95, room, t.P95, role), mid)
	if !g.tail {
		return
	}
	p.Tags = append(p.Tags, look.quantileTag(d.P99, room, t.P99, themes.Muted))
	for i, name := range []string{"p99", "p50", "p95"} { // of three numbers each says which it is
		tag := &p.Tags[len(p.Tags)-1-i]
		tag.Text = name + " " + tag.Text
	}
}

// tagRoom is the room at the right of a chart; of three percentiles each says its name.
func (g graph) tagRoom() int {
	if g.tail {
		return tagCells + len("p95 ") - 2
	}
	return tagCells
}

// banded leaves out the brackets that are as narrow as a line.
func banded(lo []float32, t model.Track) []float32 {
	out := make([]float32, len(lo))
	for i, l := range lo {
		out[i] = l
		if i < len(t.HiP95) && float64(t.HiP95[i]) <= float64(l)*narrowBracket {
			out[i] = float32(math.NaN())
		}
	}
	return out
}

// quantileTag is a line's present value, at its end.
func (k Look) quantileTag(e model.Estimate, room int, values []float32, role themes.Role) chart.Tag {
	if len(values) == 0 || !e.Exists() {
		return chart.Tag{Value: math.NaN()}
	}
	return chart.Tag{Value: float64(values[len(values)-1]), Text: unit.EstimateIn(e, room, k.ASCII), Ink: k.ink(role)}
}

func (g graph) tag(values []float32, format func(float64) string, role themes.Role, look Look) chart.Tag {
	if len(values) == 0 || math.IsNaN(float64(values[len(values)-1])) {
		return chart.Tag{Value: math.NaN()}
	}
	v := float64(values[len(values)-1])
	return chart.Tag{Value: v, Text: format(v), Ink: look.ink(role)}
}

// axis formats the values of a chart.
func (k Look) axis(kind graphKind) func(float64) string {
	switch kind {
	case graphFlow, graphLoad:
		return unit.Count
	case graphGoodput:
		return unit.Percent
	default:
		return unit.Limit
	}
}

// eventLetter marks an event on the axis: a restart, or the stage that it began.
func eventLetter(f *model.Frame, e model.Event) rune {
	switch e.Kind {
	case model.EventRestart:
		return 'R'
	case model.EventIncident, model.EventBreach:
		return '!'
	case model.EventRecovery, model.EventCleared:
		return '+'
	case model.EventDeploy:
		return 'D'
	}
	i := slices.IndexFunc(f.Stages, func(s model.StageView) bool { return s.From.Mono == e.At.Mono })
	if i < 0 {
		i = len(stageLetters)
	}
	return stageLetter(i)
}

// covered is how far back the history reaches, up to most: leading gaps do not count.
func covered(h *model.History, most time.Duration) time.Duration {
	first := len(h.Output)
	for _, v := range [][]float32{h.TTFT.P95, h.Output, h.Running, h.Waiting} {
		for i := range v {
			if i >= first {
				break
			}
			if !math.IsNaN(float64(v[i])) {
				first = i
				break
			}
		}
	}
	return min(time.Duration(len(h.Output)-first)*h.Step, most)
}

// tagCells is the room at the right of a chart: "SLO 500 ms" and a blank.
const tagCells = 11

// How much of the past a chart shows at most. Of what is polled each second more
// would hide in a cell what happened in the last minutes; a server that scrapes less
// often has less to hide, and tells the hour before anybody looked.
const (
	longestPolled  = 15 * time.Minute
	longestScraped = time.Hour
)

// longestIn is how much of the past the charts of a frame show at most.
func longestIn(f *model.Frame) time.Duration {
	for i := range f.Targets {
		if t := &f.Targets[i]; t.Kind == model.PrometheusTarget && t.StepS.OK() {
			return longestScraped
		}
	}
	return longestPolled
}

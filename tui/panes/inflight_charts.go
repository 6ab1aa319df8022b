package panes

import (
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/glossary"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// loadChart is one chart of the screen of the requests under way.
type loadChart struct {
	title  string
	format func(float64) string // of the axis
	tag    func(float64) string // of the present value; nil: as on the axis
	lines  func(h *model.History, look Look) []chart.Line
	legend func(w *model.WorkflowView, look Look) []part
	topics []string // of the present values at its right, the last line first
	level  float64  // drawn as a dashed line; 0: none
	most   float64  // of the scale; 0: of the values
}

// loadChartTable is the charts, the most telling first.
var loadChartTable = [...]loadChart{
	{title: "WAITING, RUNNING", topics: []string{"waiting", "running"}, format: unit.Count, lines: func(h *model.History, look Look) []chart.Line {
		return []chart.Line{
			{Values: h.Running, Ink: look.ink(themes.Low), Letter: '.', Dotted: true},
			{Values: h.Waiting, Ink: look.ink(themes.High), Letter: '#'},
		}
	}, legend: func(_ *model.WorkflowView, look Look) []part {
		return []part{inkOf(look, themes.High, "⠤⠤", "##", "waiting", 1), inkOf(look, themes.Low, "⠄⠄", "..", "running", 2)}
	}},
	{title: "KV CACHE", topics: []string{"kv_cache_usage"}, format: unit.Percent, level: kvNearlyFull, most: 1, lines: func(h *model.History, look Look) []chart.Line {
		return []chart.Line{{Values: h.KV, Ink: look.ink(themes.High), Over: look.ink(themes.Over), Limit: kvNearlyFull, Letter: '#'}}
	}, legend: func(w *model.WorkflowView, look Look) []part {
		text := "preempts from " + unit.Percent(kvNearlyFull)
		if !w.PreemptionsPerSec.OK() {
			text = "full from " + unit.Percent(kvNearlyFull)
		}
		return []part{inkOf(look, themes.Objective, "┄┄", "--", text, 1)}
	}},
	{title: "PREEMPTIONS /s", topics: []string{"preemptions"}, format: unit.Rate, lines: func(h *model.History, look Look) []chart.Line {
		return []chart.Line{{Values: h.Preemptions, Ink: look.ink(themes.High), Letter: '#'}}
	}},
	{title: "PREFIX HITS", topics: []string{"prefix_cache_hit"}, format: unit.Percent, most: 1, lines: func(h *model.History, look Look) []chart.Line {
		return []chart.Line{{Values: h.PrefixHit, Ink: look.ink(themes.Low), Letter: '#'}}
	}, legend: func(_ *model.WorkflowView, _ Look) []part { return []part{say(1, themes.Muted, "of prompt tokens")} }},
	{title: "QUEUE TIME", topics: []string{"queue.mean"}, format: unit.Limit, tag: unit.DurationShort, lines: func(h *model.History, look Look) []chart.Line {
		return []chart.Line{{Values: h.Queue, Ink: look.ink(themes.High), Letter: '#'}}
	}, legend: func(_ *model.WorkflowView, _ Look) []part {
		return []part{say(1, themes.Muted, "mean of those who got through: late")}
	}},
	{title: "REQUESTS ENDED /s", topics: []string{"requests_per_second"}, format: unit.Rate, lines: func(h *model.History, look Look) []chart.Line {
		return []chart.Line{{Values: h.Requests, Ink: look.ink(themes.Low), Letter: '#'}}
	}},
}

// inkOf says what a line of a chart is, in its own look.
func inkOf(look Look, role themes.Role, unicode, ascii, text string, drop int) part {
	return part{segs: []seg{{role, look.pick(unicode, ascii)}, {themes.Muted, " " + text}}, drop: drop}
}

// loadCharts is so many rows of charts, two in a row where there is room.
func loadCharts(f *model.Frame, w *model.WorkflowView, size layout.Size, rows int, look Look) []string {
	across := 1
	if size.W >= twoChartsW {
		across = 2
	}
	wants := make([]layout.Want, rows)
	for i := range wants {
		wants[i] = layout.Want{Min: loadChartMin, Max: loadChartMax}
	}
	cols := layout.Columns(layout.Rect{W: size.W, H: size.H}, chartGap, layout.Even(across, 1, chartMaxW))
	var out []string
	for i, r := range layout.Rows(layout.Rect{W: size.W, H: size.H}, wants) {
		if r.H < chartMinH {
			continue
		}
		var row []string
		for j := range across {
			drawn := loadChartTable[i*across+j].draw(f, w, layout.Size{W: cols[j].W, H: r.H}, look)
			if j == 0 {
				row = drawn
				continue
			}
			row = sideBySide(row, drawn, r.H, cols[j].X, look)
		}
		out = append(out, row...)
	}
	return out
}

// loadTagCells is the room at the right of a chart, for its present values.
const loadTagCells = 7

// draw is a rule with the chart's title over the chart.
func (c loadChart) draw(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	var legend []part
	if c.legend != nil {
		legend = c.legend(w, look)
	}
	out := []string{look.rule(size.W, []seg{{themes.Strong, c.title}}, legend...)}
	h := w.History
	if h == nil || h.Step <= 0 {
		return append(out, look.line(size.W).pad(indent).put(themes.Muted, "no history yet").String())
	}
	p := chart.Plot{
		W: size.W, H: size.H - 1, Empty: c.empty(w),
		Step: h.Step, End: h.End.Wall.UTC(), Since: h.End.Mono, Span: chart.SpanFor(covered(h, longestIn(f))),
		TagWidth: loadTagCells, Format: c.format, Objective: c.level, Most: c.most, Lines: c.lines(h, look),
		Label: look.ink(themes.Muted), Rule: look.ink(themes.Rule), ObjectiveInk: look.ink(themes.Objective), MarkInk: look.ink(themes.Event),
		ASCII: look.ASCII,
	}
	for _, e := range h.Events {
		p.Marks = append(p.Marks, chart.Mark{Before: h.End.Sub(e.At), Letter: eventLetter(f, e)})
	}
	tag := c.tag
	if tag == nil {
		tag = c.format
	}
	for i := len(p.Lines) - 1; i >= 0; i-- {
		p.Tags = append(p.Tags, lastOf(p.Lines[i], tag))
	}
	numbers := map[string]About{}
	for i, t := range p.Tags {
		numbers[t.Text] = About{c.topics[i], w.Name}
	}
	return append(out, look.pointable(strings.Split(p.Render(), "\n"), f, size.W, p.TagWidth, p.Span, h.End, numbers)...)
}

// empty is said of a chart without a value.
func (c loadChart) empty(w *model.WorkflowView) string {
	t, _ := glossary.Find(c.topics[0])
	if slices.ContainsFunc(t.Signals, func(s model.Signal) bool { return slices.Contains(w.Missing, s) }) {
		return "not exported"
	}
	return "no data in this time"
}

// lastOf is the present value of a line, at its end.
func lastOf(l chart.Line, format func(float64) string) chart.Tag {
	n := len(l.Values)
	if n == 0 || math.IsNaN(float64(l.Values[n-1])) {
		return chart.Tag{Value: math.NaN()}
	}
	v := float64(l.Values[n-1])
	ink := l.Ink
	if l.Limit > 0 && v > l.Limit {
		ink = l.Over
	}
	return chart.Tag{Value: v, Text: format(v), Ink: ink}
}

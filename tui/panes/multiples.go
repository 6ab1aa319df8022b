package panes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/layout"
)

// This file is the charts of an overview that is wide enough to compare: a row for each
// workflow, its TTFT and its time per token, all on one time axis, and on a very wide
// screen the chosen one's phases and the roofline below which it runs.

// The sizes of the small charts.
const (
	multiplesMinW = 2*chartMinW + chartGap
	threeColumnsW = 3*chartMinW + 2*chartGap + 20 // from here on a column stands beside them
	multipleMinH  = 5                             // with its rule; the lowest has the times of day as well
	multipleLowH  = 4                             // where all fit so
	multipleMaxH  = 24
	heatRowH      = 12
)

// multiples is a row of two charts for each workflow, the chosen one first and then the
// worst, as many as fit; the last row counts the others.
func multiples(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	across := 2
	if size.W >= threeColumnsW {
		across = 3
	}
	wide := min((size.W-(across-1)*chartGap)/across, chartMaxW) // all alike: an instant has the same place in each
	cols := layout.Columns(layout.Rect{W: size.W, H: size.H}, chartGap, layout.Even(across, wide, wide))
	rows := multipleRows(f, w, size.H, across < 3)
	heats := heatRow(f, w, rows, size.H)
	wants := make([]layout.Want, len(rows), len(rows)+1)
	for i := range rows {
		wants[i] = layout.Want{Min: multipleLowH, Ideal: multipleMinH, Max: multipleMaxH}
	}
	wants[len(rows)-1].Min++
	if heats != nil {
		wants = append(wants, layout.Want{Min: heatRowH, Ideal: heatRowH, Max: multipleMaxH})
	}
	var out []string
	for i, r := range layout.Rows(layout.Rect{W: size.W, H: size.H}, wants) {
		if i == len(rows) {
			room := layout.Size{W: wide, H: r.H}
			out = append(out, sideBySide(heats[0].drawHeat(room, look), heats[1].drawHeat(room, look), r.H, cols[1].X, look)...)
			continue
		}
		pair := []layout.Rect{cols[0], cols[1]}
		pair[0].H, pair[1].H = r.H, r.H
		out = append(out, beside(rows[i], pair, look)...)
	}
	if across < 3 {
		return out
	}
	return sideBySide(out, sideColumn(f, w, rows[0][0].span, layout.Size{W: cols[2].W, H: len(out)}, look), size.H, cols[2].X, look)
}

// multipleRows chooses the workflows and makes their charts, on one time axis. With
// fill, room that no workflow needs goes to the chosen one's goodput and load.
func multipleRows(f *model.Frame, w *model.WorkflowView, h int, fill bool) [][]graph {
	order := []*model.WorkflowView{w}
	for i := range f.Workflows {
		if other := &f.Workflows[i]; other != w && timed(other) {
			order = append(order, other)
		}
	}
	fit := max((h-1)/multipleMinH, 1)
	if len(order) > fit && len(order) <= (h-1)/multipleLowH {
		fit = len(order)
	}
	more := len(f.Workflows) - min(len(order), fit)
	order = order[:min(len(order), fit)]
	span := time.Duration(0)
	for _, o := range order {
		if o.History != nil {
			span = max(span, graph{f: f, w: o}.spanned())
		}
	}
	var rows [][]graph
	for _, o := range order {
		rows = append(rows, pairOf(f, o))
	}
	if rest := restOf(f, w); fill && len(rows)*chartMaxH/2 < h && len(rows) < fit && len(rest) == 2 {
		rows = append(rows, rest)
	}
	for i, row := range rows {
		for j := range row {
			g := &row[j]
			g.span, g.shared, g.marked, g.plain = span, i < len(rows)-1, true, i > 0 && g.kind <= graphToken
		}
	}
	if last := rows[len(rows)-1]; more > 0 {
		last[len(last)-1].remarks = []part{say(0, themes.Muted, fmt.Sprintf("+ %d more", more))}
	}
	return rows
}

// heatRow is how the chosen workflow's first token and its tokens were spread, where the
// rows of charts leave a tall screen room for it.
func heatRow(f *model.Frame, w *model.WorkflowView, rows [][]graph, h int) []spreading {
	if h < len(rows)*chartMaxH+heatRowH || w.History == nil || w.History.HeatTTFT == nil || w.History.HeatTPOT == nil {
		return nil
	}
	out := []spreading{spread(f, w, model.MetricTTFT, false), spread(f, w, model.MetricTPOT, false)}
	for i := range out {
		out[i].span, out[i].marked, out[i].tail = rows[0][0].span, true, false
	}
	for _, row := range rows {
		for i := range row {
			row[i].shared = true
		}
	}
	return out
}

// timed reports whether a workflow has anything for its two charts.
func timed(w *model.WorkflowView) bool {
	return w.History != nil && (w.TTFT != nil || w.TPOT != nil || w.ITL != nil || len(w.Missing) == 0)
}

// pairOf is the first token and the tokens after it; what its servers do not export has
// no empty chart, but the next that there is.
func pairOf(f *model.Frame, w *model.WorkflowView) []graph { return graphs(f, w)[:2] }

// restOf is what else can be drawn of a workflow: how much of the promise was kept, and
// what came in.
func restOf(f *model.Frame, w *model.WorkflowView) []graph {
	all := graphs(f, w)[2:]
	return all[:min(len(all), 2)]
}

// sideColumn is the chosen workflow's phases, and under which roof its engine runs; what
// is not known gives its room to the goodput.
func sideColumn(f *model.Frame, w *model.WorkflowView, span time.Duration, size layout.Size, look Look) []string {
	type part struct {
		want layout.Want
		draw func(s layout.Size, lowest bool) []string
	}
	var parts []part
	g := graph{f: f, w: w, kind: graphLatency, of: model.MetricE2E, span: span}
	if w.History != nil && stackable(w.History) {
		parts = append(parts, part{
			layout.Want{Min: stackMinH + 1, Ideal: 8, Max: chartMaxH},
			func(s layout.Size, _ bool) []string { return g.drawPhases(s, false, look) },
		})
	}
	if u := utilizationFor(f, w); u != nil && plottable(u) {
		parts = append(parts, part{
			layout.Want{Min: sideRoofH, Ideal: sideRoofH + 4, Max: sideRoofMaxH, Drop: 1},
			func(s layout.Size, _ bool) []string { return roofWithVerdict(f, u, s, look) },
		})
	}
	for i, rest := range restOf(f, w) {
		rest.span = span
		parts = append(parts, part{
			layout.Want{Min: multipleMinH + 1, Ideal: multipleMinH + 2, Max: chartMaxH, Drop: 2 + i},
			func(s layout.Size, lowest bool) []string {
				rest.shared = !lowest
				return strings.Split(rest.draw(s, look), "\n")
			},
		})
	}
	wants := make([]layout.Want, len(parts))
	for i, p := range parts {
		wants[i] = p.want
	}
	rects := layout.Rows(layout.Rect{W: size.W, H: size.H}, wants)
	var out []string
	for i, r := range rects {
		if r.H > 0 {
			below := slices.ContainsFunc(rects[i+1:], func(b layout.Rect) bool { return b.H > 0 })
			out = append(out, parts[i].draw(r.Size(), !below)...)
		}
	}
	return out
}

// The least height of a roofline with its rule and its sentence, and the most that it
// takes from the charts beside it.
const (
	sideRoofH    = 9
	sideRoofMaxH = 18
)

// utilizationFor is the utilization of an engine that serves a workflow, in the pool
// that was found the worst of those that do.
func utilizationFor(f *model.Frame, w *model.WorkflowView) *model.UtilizationView {
	in := func(targets []string) int {
		return slices.IndexFunc(f.Utilization, func(u model.UtilizationView) bool { return slices.Contains(targets, u.Target) })
	}
	for _, d := range f.Diagnoses {
		if i := in(d.Targets); i >= 0 && slices.Contains(d.Workflows, w.Name) {
			return &f.Utilization[i]
		}
	}
	if i := in(w.Targets); i >= 0 {
		return &f.Utilization[i]
	}
	return nil
}

// roofWithVerdict is a roofline and what it comes to.
func roofWithVerdict(f *model.Frame, u *model.UtilizationView, size layout.Size, look Look) []string {
	said := look.folded(look.sentence(look.sentenceOf(u), maxProse), size.W-1, 2)
	out := drawRoof(f, u, layout.Size{W: size.W, H: size.H - len(said)}, look)
	for _, l := range said {
		out = append(out, look.line(size.W).pad(1).put(boundRole(u), l).String())
	}
	return out
}

package panes

import (
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Latency is the screen of one workflow's latencies: how long do its users wait, for
// which phase, and how is that spread? All its charts stand on one time axis.
type Latency struct{ wholeScreen }

// Name names the pane.
func (Latency) Name() string { return "latency" }

// latencyMetrics are what the screen can chart, in the order in which a key steps
// through them.
var latencyMetrics = []model.Metric{model.MetricTTFT, model.MetricTPOT, itl, model.MetricE2E}

// NextMetric is the latency that a key leads to from the charted one, and its word.
func NextMetric(v View) (model.Metric, string) {
	next := latencyMetrics[(charted(v)+1)%len(latencyMetrics)]
	return next, metricTitle(next)
}

// charted is the place of the charted latency among the metrics.
func charted(v View) int { return max(slices.Index(latencyMetrics, v.Metric), 0) }

// The sizes from which there is more on the screen.
const (
	latencyLongW = 112 // percentiles with their brackets
	latencyTwoW  = 160 // two latencies next to one another
	latencyFullH = 14  // all latencies, not the charted one alone
	latencyNoteH = 26  // remarks that nothing depends on
)

// Render draws the figures, and the charts below them.
func (Latency) Render(f *model.Frame, size layout.Size, look Look) string {
	w := chosenOne(f, look)
	if w == nil {
		return lines(size.H, noWorkflow(f, size.W, look)...)
	}
	out := latencyFigures(f, w, size, look)
	if len(out) > size.H {
		return lines(size.H, out...)
	}
	room := layout.Size{W: size.W, H: size.H - len(out)}
	return lines(size.H, append(out, latencyCharts(f, w, room, look)...)...)
}

// latencyCharts divides the room: on a wide screen two latencies stand next to one
// another, over the phases and a third.
func latencyCharts(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	at := charted(look.View)
	metric := latencyMetrics[at]
	if size.W < latencyTwoW {
		return latencyColumn(size, look, spread(f, w, metric, true))
	}
	other := latencyMetrics[(at+1)%len(latencyMetrics)]
	third := latencyMetrics[(at+3)%len(latencyMetrics)] // TTFT and TPOT leave E2E
	wide := min((size.W-chartGap)/2, chartMaxW)
	cols := layout.Columns(layout.Rect{W: size.W, H: size.H}, chartGap, layout.Even(2, wide, wide))
	left := latencyColumn(cols[0].Size(), look, spread(f, w, metric, true))
	below := spread(f, w, other, false)
	below.third = &graph{f: f, w: w, kind: graphLatency, of: third, tail: true}
	right := latencyColumn(cols[1].Size(), look, below)
	return sideBySide(left, right, size.H, cols[1].X, look)
}

// spreading is what one column of charts shows: a latency over time, the phases or
// another latency, and how the first was spread.
type spreading struct {
	graph
	heat   *model.Heat
	phases bool
	third  *graph // where there are no phases
}

func spread(f *model.Frame, w *model.WorkflowView, metric model.Metric, phases bool) spreading {
	s := spreading{graph: graph{f: f, w: w, kind: graphLatency, of: metric, tail: true}}
	if h := w.History; h != nil {
		s.heat, s.phases = heatOf(h, metric), phases && stackable(h)
	}
	return s
}

// heatOf is how a metric was spread, nil where it is not known.
func heatOf(h *model.History, metric model.Metric) *model.Heat {
	switch metric {
	case model.MetricTTFT:
		return h.HeatTTFT
	case model.MetricTPOT:
		return h.HeatTPOT
	case model.MetricE2E:
		return h.HeatE2E
	default:
		return nil
	}
}

// The least heights of the charts with the rules above them; what shares the time axis
// below it needs a row less.
const (
	latencyMinH = chart.MinH + 1
	stackMinH   = chart.MinH
	heatMinH    = chart.MinHeatH + 2
	roomyH      = 22 // from here on the first chart is more than a strip
)

// latencyColumn draws charts under one another, the lowest with the times of day.
func latencyColumn(size layout.Size, look Look, s spreading) []string {
	chartH := latencyMinH + 1
	if size.H >= roomyH {
		chartH = 11
	}
	wants := []layout.Want{
		{Min: latencyMinH + 1, Ideal: chartH, Max: 22},
		{Drop: 3}, {Drop: 4},
		{Drop: 2},
	}
	if s.phases {
		wants[1] = layout.Want{Min: 1, Max: 1, Drop: 3}
		wants[2] = layout.Want{Min: stackMinH, Ideal: 7, Max: 10, Drop: 4}
	}
	if s.third != nil {
		wants[2] = layout.Want{Min: latencyMinH, Ideal: 8, Max: 13, Drop: 4}
	}
	if s.heat == nil && wants[2].Min > 0 {
		wants[2].Min++ // it has the times of day then
	}
	if s.heat != nil {
		wants[3] = layout.Want{Min: heatMinH, Ideal: heatMinH + 3, Max: 24, Drop: 2}
	}
	rects := layout.Rows(layout.Rect{W: size.W, H: size.H}, wants)
	lowest := 0
	for _, i := range []int{2, 3} {
		if rects[i].H > 0 {
			lowest = i
		}
	}
	s.shared = lowest > 0
	out := strings.Split(s.draw(rects[0].Size(), look), "\n")
	if rects[1].H > 0 {
		out = append(out, splitOf(s.w).line(s.w, size.W-1, look))
	}
	switch {
	case rects[2].H > 0 && s.third != nil:
		s.third.shared = lowest > 2
		out = append(out, strings.Split(s.third.draw(rects[2].Size(), look), "\n")...)
	case rects[2].H > 0:
		out = append(out, s.drawPhases(rects[2].Size(), lowest > 2, look)...)
	}
	if rects[3].H > 0 {
		out = append(out, s.drawHeat(rects[3].Size(), look)...)
	}
	return out
}

// behindOf is how long before the end of a history something else ends: 0 and more.
func behindOf(h *model.History, end model.Instant) time.Duration { return max(h.End.Sub(end), 0) }

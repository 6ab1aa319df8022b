package panes

import (
	"fmt"
	"slices"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Workflows is the table of workflows, worst first.
type Workflows struct{}

// Name names the pane.
func (Workflows) Name() string { return "workflows" }

// Want is a title line and a row for each workflow, at least one.
func (Workflows) Want(f *model.Frame, _ int, _ Look) layout.Want {
	n := len(f.Workflows)
	return layout.Want{Min: min(n, 4) + 1, Ideal: min(n, 6) + 1, Max: min(n, 20) + 1}
}

// Render draws as many rows as there is room for, and says how many are left.
func (Workflows) Render(f *model.Frame, size layout.Size, look Look) string {
	if size.H <= 0 {
		return ""
	}
	at := chosen(f, look)
	from, to, more := visible(len(f.Workflows), at, size.H-1)
	t := fit(workflowColumns(f, f.Workflows[from:to], size.W, look), size.W-1)
	out := []string{t.head(look)}
	for i := from; i < to; i++ {
		w := &f.Workflows[i]
		out = append(out, t.row(w, of(w), i == at && look.View.Workflow != "", look))
	}
	if more > 0 {
		out = append(out, look.line(size.W).pad(indent).put(themes.Muted, fmt.Sprintf("+ %d more", more)).String())
	}
	return lines(size.H, out...)
}

// visible chooses which of n rows to show in h lines so that the row at the
// cursor is among them. When not all fit, the last line says how many do not.
func visible(n, at, h int) (from, to, more int) {
	if n <= h {
		return 0, n, 0
	}
	rows := max(h-1, 0)
	from = min(max(at-rows/2, 0), n-rows)
	return from, from + rows, n - rows
}

// workflowColumns is the table's columns for the rows shown: the metric per token
// is what the frame's workflows have.
func workflowColumns(f *model.Frame, shown []model.WorkflowView, w int, look Look) []column[*model.WorkflowView] {
	tpot, itl := workflowTokens(f)
	token, tokenW := tokenTitle(tpot, itl, w)
	longest, span := 0, trendSpan(f, shown)
	for i := range shown {
		longest = max(longest, cells(unit.Escape(shown[i].Name, look.ASCII)))
	}
	state := 0
	if w < narrow {
		state = 11 // the mark before the name says it too
	}
	return quietRest([]column[*model.WorkflowView]{
		{title: "WORKFLOW", min: leastName(longest, w, 10), max: nameWidth(longest), left: true, about: workflowAbout("row.workflow"), draw: drawName},
		{title: "STATE", min: 9, max: 10, drop: state, left: true, about: workflowAbout("condition"), draw: drawState},
		{title: "REQ/S", min: 5, drop: 6, about: workflowAbout("requests_per_second"), draw: func(r *model.WorkflowView, w int, k Look) cell {
			return k.rate(r.Requests.PerSecond, w)
		}},
		{title: "TTFT p95", min: quantileW(w), near: true, about: workflowAbout("ttft.p95"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.against(r, model.MetricTTFT, w) }},
		{title: "SLO", min: 6, near: true, drop: 3, about: workflowAbout("ttft.max"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.bound(r, model.MetricTTFT) }},
		{title: token, min: tokenW, about: tokenAbout(".p95"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.token(r, w, token) }},
		{title: "SLO", min: 6, near: true, drop: 3, about: tokenAbout(".max"), draw: func(r *model.WorkflowView, _ int, k Look) cell { return k.bound(r, tokenMetric(r)) }},
		{title: "GOODPUT", min: 8, about: workflowAbout("goodput"), draw: func(r *model.WorkflowView, _ int, k Look) cell { return k.goodput(r) }},
		{title: "BURN", min: 4, near: true, drop: 4, about: workflowAbout("burn.5m"), draw: func(r *model.WorkflowView, _ int, k Look) cell { return k.burn(r.Budget) }},
		{title: "LEFT", min: 6, drop: 7, about: workflowAbout("budget"), draw: func(r *model.WorkflowView, _ int, k Look) cell { return k.left(r.Budget) }},
		{title: "SINCE", min: 5, drop: 5, left: true, about: workflowAbout("condition"), draw: drawSince},
		{title: "TTFT p95, " + look.span(span), min: 16, max: 24, drop: 8, left: true, draw: func(r *model.WorkflowView, w int, k Look) cell {
			return drawTrend(r, w, span, k)
		}},
		{title: "n", min: 6, drop: 9, about: samplesAbout, draw: drawN},
		{title: "RUN", min: 5, drop: 11, about: workflowAbout("running"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.count(r.Requests.Running, w) }},
		{title: "WAIT", min: 5, drop: 10, about: workflowAbout("waiting"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.count(r.Requests.Waiting, w) }},
		{title: "KV", min: 5, drop: 12, about: workflowAbout("kv_cache_usage"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.ratio(r.KVCacheUsage, w) }},
		{title: "OUT tok/s", min: 9, drop: 11, about: workflowAbout("output_per_second"), draw: func(r *model.WorkflowView, w int, k Look) cell {
			return k.rate(r.Tokens.OutputPerSecond, w)
		}},
		{title: "E2E p95", min: 8, drop: 13, about: workflowAbout("e2e.p95"), draw: func(r *model.WorkflowView, w int, k Look) cell { return k.against(r, model.MetricE2E, w) }},
		{title: "HIT", min: 5, drop: 13, about: workflowAbout("prefix_cache_hit"), draw: func(r *model.WorkflowView, w int, k Look) cell {
			return k.settled(r, k.ratio(r.PrefixCacheHit, w))
		}},
	})
}

// workflowAbout says what a column holds of its row's workflow.
func workflowAbout(topic string) func(*model.WorkflowView) About {
	return func(r *model.WorkflowView) About { return About{topic, r.Name} }
}

// tokenAbout is the same of the metric per token that the workflow has.
func tokenAbout(suffix string) func(*model.WorkflowView) About {
	return func(r *model.WorkflowView) About { return About{string(tokenMetric(r)) + suffix, r.Name} }
}

// samplesAbout is the latency that the count of observations is of.
func samplesAbout(r *model.WorkflowView) About {
	if r.TTFT == nil {
		return tokenAbout(".n")(r)
	}
	return About{"ttft.n", r.Name}
}

// quietRest sets back the row of what no workflow matches: nobody promised it
// anything.
func quietRest(cols []column[*model.WorkflowView]) []column[*model.WorkflowView] {
	for i := range cols {
		draw := cols[i].draw
		cols[i].draw = func(r *model.WorkflowView, w int, k Look) cell {
			c := draw(r, w, k)
			if r.Name == model.OtherName && (c.role == themes.Text || c.role == themes.Strong) {
				c.role = themes.Muted
			}
			return c
		}
	}
	return cols
}

func drawName(r *model.WorkflowView, w int, k Look) cell {
	return cell{themes.Strong, k.foreign(r.Name, w)}
}

// tokenTitle is the title of the column of the metric per token, and the width
// it needs: where both metrics are in it, each value of ITL says so.
func tokenTitle(tpot, itl bool, screen int) (title string, w int) {
	switch {
	case tpot && itl && screen < narrow:
		return "TPOT/ITL", quantileW(screen)
	case tpot && itl:
		return "TPOT/ITL p95", quantileW(screen) + 4
	case itl:
		return "ITL p95", quantileW(screen)
	default:
		return "TPOT p95", quantileW(screen)
	}
}

// quantileW is the width of a percentile, on a wide screen with room for a sign
// behind it or for its bracket in full.
func quantileW(screen int) int {
	if screen < wideScreen {
		return 8
	}
	return roomyQuantile
}

// wideScreen is the width from which a screen has room to spare.
const wideScreen = 110

func workflowTokens(f *model.Frame) (tpot, itl bool) {
	for i := range f.Workflows {
		w := &f.Workflows[i]
		tpot = tpot || w.TPOT != nil
		itl = itl || w.TPOT == nil && w.ITL != nil
	}
	return tpot, itl
}

func drawState(r *model.WorkflowView, w int, look Look) cell {
	return cell{conditionTable[of(r)].role, look.cut(word(r, w), w)}
}

func drawSince(r *model.WorkflowView, _ int, look Look) cell {
	if c := of(r); r.Since.IsZero() || c == met || c == quiet {
		return cell{}
	}
	return cell{themes.Muted, unit.ClockMinute(r.Since, look.ASCII)}
}

// trendSpan is how much of the past the rows have, in the steps of a time axis.
func trendSpan(f *model.Frame, shown []model.WorkflowView) time.Duration {
	var most time.Duration
	longest := longestIn(f)
	for i := range shown {
		if h := shown[i].History; h != nil {
			most = max(most, covered(h, longest))
		}
	}
	return min(chart.SpanFor(most), longest)
}

// trendTau smooths the trend: at its size only what lasts can be seen.
const trendTau = 30 * time.Second

// drawTrend is the course of the p95 over that span: it shows at a glance which
// rows moved. What is older than a row's history stays blank.
func drawTrend(r *model.WorkflowView, w int, span time.Duration, look Look) cell {
	if r.History == nil || r.History.Step <= 0 {
		return cell{}
	}
	room := w
	values, n := r.History.TTFT.P95, int(span/r.History.Step)
	values = chart.Smooth(values[max(len(values)-n, 0):], r.History.Step, trendTau)
	if len(values) < n {
		w = w * len(values) / n
	}
	most := chart.Largest(values)
	if o, ok := objectiveFor(r, model.MetricTTFT); ok {
		most = max(most, o.MaxS) // far below its objective a line lies low
	}
	return cell{themes.Low, spaces(room-w) + chart.Spark(values, w, most, look.ASCII)}
}

func drawN(r *model.WorkflowView, w int, look Look) cell {
	d := r.TTFT
	if of(r) == starting {
		return cell{themes.Muted, unit.None(look.ASCII)}
	}
	if d == nil {
		d = distOf(r, tokenMetric(r))
	}
	if d == nil {
		return cell{themes.Muted, unit.None(look.ASCII)}
	}
	return cell{themes.Muted, look.cut(samples(d.N), w)}
}

// begun leaves out a distribution that is empty because there was no window yet.
func begun(d *model.Dist, window bool) *model.Dist {
	if d != nil && d.N == 0 && !window {
		return nil
	}
	return d
}

// against is a workflow's p95 in the role of its verdict.
func (k Look) against(w *model.WorkflowView, metric model.Metric, width int) cell {
	c := k.quantile(begun(distOf(w, metric), of(w) != starting), slices.Contains(w.Missing, signalOf(metric)), width)
	if o, ok := objectiveFor(w, metric); ok && o.Verdict == model.Missed {
		c.role = themes.Breach
	}
	return c
}

// token is the metric per token; in a column of both it says when it is ITL.
func (k Look) token(w *model.WorkflowView, width int, title string) cell {
	metric := tokenMetric(w)
	c := k.against(w, metric, width)
	if metric == itl {
		c.text = markITL(c.text, title)
	}
	return c
}

// markITL writes which metric a value is where its title leaves it open.
func markITL(text, title string) string {
	switch title {
	case "TPOT/ITL p95":
		return "ITL " + text
	case "TPOT/ITL":
		return "i" + text
	default:
		return text
	}
}

// bound is the objective on a metric.
func (k Look) bound(w *model.WorkflowView, metric model.Metric) cell {
	o, ok := objectiveFor(w, metric)
	if !ok {
		return cell{themes.Muted, unit.None(k.ASCII)}
	}
	return cell{themes.Muted, unit.Limit(o.MaxS)}
}

package panes

import (
	"fmt"
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// This file is the figures of the latency screen: each latency's percentiles, what they
// rest on, and how much of it was within its objective.

// latencyRow is one latency of a workflow.
type latencyRow struct {
	w       *model.WorkflowView
	metric  model.Metric
	bracket bool // the brackets of the percentiles, not the percentiles

	// Of what is no metric of the screen: its title, its distribution and the signal
	// that would tell it.
	title string
	other *model.Dist
	lacks model.Signal
}

func (r latencyRow) dist() *model.Dist {
	if r.title != "" {
		return r.other
	}
	return distOf(r.w, r.metric)
}

func (r latencyRow) missing() bool {
	if r.title != "" {
		return slices.Contains(r.w.Missing, r.lacks)
	}
	return slices.Contains(r.w.Missing, signalOf(r.metric))
}

// latencyFigures is whose latencies these are, the table and what to know of it.
func latencyFigures(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	out := []string{latencyTitle(f, w, size.W, look)}
	at := charted(look.View)
	var rows []latencyRow
	for i, m := range latencyMetrics {
		if i == at || size.H >= latencyFullH {
			rows = append(rows, latencyRow{w: w, metric: m})
		}
		if r := (latencyRow{w: w, metric: m, bracket: true}); i == at && size.W < latencyLongW && size.H >= latencyFullH && r.wide() {
			rows = append(rows, r)
		}
	}
	table := latencyTable(rows, latencyMetrics[at], min(size.W, latencyTableW), look)
	if size.W >= latencyTableW+phaseTableW {
		table = sideBySide(table, phaseTable(w, phaseTableW, look), len(table), latencyTableW+chartGap, look)
	}
	return append(append(out, table...), latencyNotes(f, w, size, look)...)
}

// The widths of the two tables that stand next to one another on a very wide screen.
const (
	latencyTableW = 122
	phaseTableW   = 70
)

// latencyTable is a row for each latency, the charted one with the cursor's sign.
func latencyTable(rows []latencyRow, at model.Metric, w int, look Look) []string {
	t := fit(latencyColumns(w), w-1)
	out := []string{t.head(look)}
	for _, r := range rows {
		l := look.line(w)
		if r.metric == at && !r.bracket {
			l.put(themes.Cursor, look.pick("▸", ">"))
		}
		out = append(out, t.fill(l.pad(indent), r, look))
	}
	return out
}

// phaseTable is the phases that a request passes, and what only events tell.
func phaseTable(w *model.WorkflowView, width int, look Look) []string {
	var rows []latencyRow
	for _, m := range latencies(w) {
		if topic, ok := phaseTopics[m.title]; ok && (m.dist != nil || m.signal != "") {
			rows = append(rows, latencyRow{w: w, metric: topic, other: m.dist, title: m.title, lacks: m.signal})
		}
	}
	t := fit(phaseColumns(), width)
	out := []string{t.head(look)}
	for _, r := range rows {
		out = append(out, t.fill(look.line(width).pad(indent), r, look))
	}
	return out
}

// phaseTopics are the latencies that no chart of the screen shows, by their topics.
var phaseTopics = map[string]model.Metric{
	"queue": model.MetricQueue, "prefill": "prefill", "decode": "decode", "first answer": model.MetricFirstAnswer, "response": "response",
}

func phaseColumns() []column[latencyRow] {
	cols := latencyColumns(narrow)
	cols[0].title = "PHASE"
	cols[0].min = 12
	return cols[:len(cols)-2] // nobody promises a phase
}

// latencyTitle is whose latencies these are, and how to get to the others'.
func latencyTitle(f *model.Frame, w *model.WorkflowView, width int, look Look) string {
	var others []part
	if n := len(f.Workflows); n > 1 {
		text := fmt.Sprintf("%d of %d workflows", chosen(f, look)+1, n)
		if width < narrow {
			text = fmt.Sprintf("%d of %d", chosen(f, look)+1, n)
		}
		others = append(others, say(2, themes.Muted, text), say(1, themes.Muted, look.pick("↑↓", "up/down")))
	}
	others = append(others, say(3, themes.Muted, window(f, look)))
	title := title(f, w, look)[0].segs
	if width < narrow {
		title = title[:2]
		title[1].text = look.foreign(w.Name, width/2)
	}
	return look.rule(width, title, others...)
}

// wide reports whether a percentile is a guess between two bounds.
func (r latencyRow) wide() bool {
	d := r.dist()
	if d == nil || d.N == 0 {
		return false
	}
	return slices.ContainsFunc([]model.Estimate{d.P50, d.P90, d.P95, d.P99}, func(e model.Estimate) bool {
		return !e.Seen && e.Lo.OK() && (!e.Hi.OK() || e.Hi.Value > e.Lo.Value*narrowBracket)
	})
}

func latencyColumns(w int) []column[latencyRow] {
	quantile := 8
	if w >= latencyLongW {
		quantile = min((w-52)/4, 18) // what the other columns leave
	}
	cols := []column[latencyRow]{{title: "LATENCY", min: 7, left: true, draw: func(r latencyRow, _ int, k Look) cell {
		if r.bracket {
			return cell{themes.Muted, "between"}
		}
		if r.title != "" {
			return cell{themes.Text, r.title}
		}
		return cell{themes.Strong, metricShort(r.metric)}
	}}}
	for _, q := range []struct {
		name string
		drop int
		of   func(*model.Dist) model.Estimate
	}{{"p50", 0, p50}, {"p90", 6, p90}, {"p95", 0, p95}, {"p99", 2, p99}} {
		cols = append(cols, column[latencyRow]{
			title: q.name, min: quantile, drop: q.drop, near: w < latencyLongW,
			draw: func(r latencyRow, w int, k Look) cell { return k.latencyQuantile(r, w, q.of) },
			about: func(r latencyRow) About {
				if r.bracket {
					return About{}
				}
				return About{string(r.metric) + "." + q.name, r.w.Name}
			},
		})
	}
	figure := func(topic string, c column[latencyRow]) column[latencyRow] {
		draw := c.draw
		c.draw = func(r latencyRow, w int, k Look) cell {
			if r.bracket {
				return cell{}
			}
			return draw(r, w, k)
		}
		c.about = func(r latencyRow) About {
			if r.bracket {
				return About{}
			}
			return About{string(r.metric) + "." + topic, r.w.Name}
		}
		return c
	}
	return append(cols,
		figure("mean", column[latencyRow]{title: "mean", min: 7, drop: 5, draw: func(r latencyRow, w int, k Look) cell {
			return k.settled(r.w, k.reading(meanOf(r.dist()), w, unit.Precise))
		}}),
		figure("n", column[latencyRow]{title: "n", min: 5, near: true, drop: 4, draw: func(r latencyRow, w int, k Look) cell {
			if d := r.dist(); d != nil {
				return cell{themes.Muted, samples(d.N)}
			}
			return cell{}
		}}),
		figure("max", column[latencyRow]{title: "SLO", min: 6, near: true, drop: 3, draw: func(r latencyRow, _ int, k Look) cell { return k.bound(r.w, r.metric) }}),
		figure("share", column[latencyRow]{title: "WITHIN", min: 10, near: true, drop: 3, draw: drawWithin}),
	)
}

// metricShort is a metric in at most 5 cells.
func metricShort(m model.Metric) string {
	if m == model.MetricE2E {
		return "E2E"
	}
	return metricTitle(m)
}

// latencyQuantile is a percentile with its bracket where that fits, and in the row of
// brackets the bracket alone.
func (k Look) latencyQuantile(r latencyRow, w int, which func(*model.Dist) model.Estimate) cell {
	d := r.dist()
	if d == nil {
		if r.missing() {
			return k.absent(model.Unsupported, w)
		}
		return k.settled(r.w, k.absent(model.Unknown, w))
	}
	c := k.quantileOf(d, w, which)
	e := which(d)
	if d.N == 0 || !e.Exists() {
		return c
	}
	if r.bracket {
		return cell{themes.Muted, k.bracket(e)}
	}
	long := k.estimateLong(e)
	if !e.Enough {
		long += tooFew
	}
	if cells(long) <= w && d.Basis != model.SinceStart {
		c.text = long
	}
	return c
}

// bracket is between what a percentile lies, in 8 cells; blank where that is no wider
// than a number, or known by one end and said already.
func (k Look) bracket(e model.Estimate) string {
	if e.Seen || !e.Lo.OK() || e.Open || !e.Hi.OK() || e.Hi.Value <= e.Lo.Value*narrowBracket {
		return ""
	}
	e.Value = model.Reading{}
	return k.estimate(e)
}

// drawWithin is the share of requests within the objective; a mark says that it is
// missed, so that no colour has to.
func drawWithin(r latencyRow, _ int, k Look) cell {
	o, ok := objectiveFor(r.w, r.metric)
	if !ok {
		return cell{}
	}
	if !o.Share.Lo.OK() {
		return k.settled(r.w, k.absent(o.Share.Lo.State, 8))
	}
	c := cell{verdictRole(o.Verdict), k.share(o.Share)}
	if o.Verdict == model.Missed {
		c.text = k.mark(breached) + " " + c.text
	}
	return c
}

func p90(d *model.Dist) model.Estimate { return d.P90 }
func p99(d *model.Dist) model.Estimate { return d.P99 }

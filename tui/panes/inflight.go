package panes

import (
	"cmp"
	"fmt"
	"slices"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Inflight is the screen of the requests that are under way: what waits, what runs, how
// they ended, how long a request will wait that arrives now, and what fills the cache.
type Inflight struct{ wholeScreen }

// Name names the pane.
func (Inflight) Name() string { return "inflight" }

// Render draws the load of the chosen workflow and of what carries it.
func (Inflight) Render(f *model.Frame, size layout.Size, look Look) string {
	w := chosenOne(f, look)
	switch {
	case size.H <= 0:
		return ""
	case w == nil:
		return lines(size.H, noWorkflow(f, size.W, look)...)
	case size.W < narrow:
		return lines(size.H, narrowLoad(f, w, size, look)...)
	}
	blocks := loadBlocks(f, w, size, look)
	wants := make([]layout.Want, len(blocks))
	for i, b := range blocks {
		wants[i] = b.want
	}
	var out []string
	for i, r := range layout.Rows(layout.Rect{W: size.W, H: size.H}, wants) {
		if !r.Empty() {
			out = append(out, blocks[i].draw(r.Size())...)
		}
	}
	return lines(size.H, out...)
}

// block is one part of the screen, of at most as many lines as it is given.
type block struct {
	want layout.Want
	draw func(layout.Size) []string
}

// What the blocks need. Two charts stand beside one another from this width on; a second
// row of charts and the table of workflows need a tall screen, a third row a taller one.
const (
	twoChartsW   = 76
	tallScreen   = 34
	tallestH     = 50
	loadChartMin = 6
	loadChartMax = 26
	threeTablesW = 160
	mostFlows    = 8 // rows of the table of workflows
)

// loadBlocks is the screen from top to bottom.
func loadBlocks(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []block {
	out := []block{
		{layout.Fixed(1), func(s layout.Size) []string { return []string{loadTitle(f, w, s.W, look)} }},
		{layout.Fixed(3), func(s layout.Size) []string { return loadFacts(f, w, s.W, look) }},
	}
	if flows := min(len(f.Workflows), mostFlows) + 1; flows > 2 && size.W < threeTablesW && size.H >= tallScreen {
		out = append(out, block{layout.Want{Min: 2, Ideal: flows, Max: flows, Drop: 2}, func(s layout.Size) []string { return flowRows(f, s, look) }})
	}
	out = append(out, tableBlocks(f, w, size, look)...)
	rows := chartRows(size.H)
	carry := carriers(f, w)
	return append(out,
		block{layout.Want{Min: rows * loadChartMin, Ideal: rows * (loadChartMin + 1), Max: rows * loadChartMax, Drop: 1}, func(s layout.Size) []string {
			return loadCharts(f, w, s, rows, look)
		}},
		block{layout.Want{Min: 2, Ideal: min(len(carry), 4) + 1, Max: len(carry) + 1}, func(s layout.Size) []string {
			return carrierRows(f, carry, s, look)
		}})
}

// chartRows is how many rows of charts a screen of h lines has.
func chartRows(h int) int {
	switch {
	case h >= tallestH:
		return 3
	case h >= tallScreen:
		return 2
	default:
		return 1
	}
}

// tableBlocks is the two tables of requests: beside one another where there is room, else
// one below the other.
func tableBlocks(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []block {
	standing, ended := standingRows(w), endedRows(f, w)
	if size.W < twoChartsW {
		return []block{
			{layout.Fixed(len(standing) + 1), func(s layout.Size) []string { return tallies(inFlightTitle(w), standing, s.W, false, look) }},
			{layout.Want{Min: len(ended) + 1, Drop: 2}, func(s layout.Size) []string {
				return tallies([]seg{{themes.Strong, "ENDED"}}, ended, s.W, true, look, endedRemarks(f, w, look)...)
			}},
		}
	}
	h := max(len(standing), len(ended)) + 1
	if size.W >= threeTablesW && len(f.Workflows) > 1 {
		h = max(h, min(len(f.Workflows), mostFlows)+1)
	}
	return []block{{layout.Fixed(h), func(s layout.Size) []string { return loadTables(f, w, standing, ended, s, look) }}}
}

// loadTitle is whose load it is and which of how many that is.
func loadTitle(f *model.Frame, w *model.WorkflowView, width int, look Look) string {
	c := of(w)
	name := look.foreign(w.Name, max(width-40, 8))
	title := []seg{{conditionTable[c].role, look.mark(c) + " "}, {themes.Strong, name}, {conditionTable[c].role, " " + word(w, 20)}}
	return look.rule(width, title, whichOf(f, look), say(2, themes.Muted, "ended in "+look.window(f)))
}

// whichOf is the place of the chosen workflow among the others.
func whichOf(f *model.Frame, look Look) part {
	if len(f.Workflows) < 2 {
		return part{}
	}
	return say(1, themes.Muted, fmt.Sprintf("workflow %d of %d ", chosen(f, look)+1, len(f.Workflows))+look.pick("↑↓", "up/down"))
}

// loadTables is the requests in flight beside those that ended, and beside both the
// workflows where that is wide enough.
func loadTables(f *model.Frame, w *model.WorkflowView, standing, ended []tally, size layout.Size, look Look) []string {
	room := layout.Rect{W: size.W, H: size.H}
	wants := []layout.Want{{Min: 36, Max: 52}, {Min: 38, Max: 80}}
	three := size.W >= threeTablesW && len(f.Workflows) > 1
	if three {
		wants = append(wants, layout.Want{Min: 60, Max: 66})
	}
	cols := layout.Columns(room, chartGap, wants)
	left := tallies(inFlightTitle(w), standing, cols[0].W, false, look)
	if w.Phases == nil {
		left = append(left, untoldPhases(cols[0].W, look)...)
	}
	right := tallies([]seg{{themes.Strong, "ENDED"}}, ended, cols[1].W, true, look, endedRemarks(f, w, look)...)
	out := sideBySide(left, right, size.H, cols[1].X, look)
	if three {
		out = sideBySide(out, flowRows(f, layout.Size{W: cols[2].W, H: size.H}, look), size.H, cols[2].X, look)
	}
	return out
}

// narrowLoad is the most telling of it on a small screen, one thing a line.
func narrowLoad(f *model.Frame, w *model.WorkflowView, size layout.Size, look Look) []string {
	c := of(w)
	name := []part{{segs: []seg{{conditionTable[c].role, look.mark(c) + " "}, {themes.Strong, look.foreign(w.Name, max(size.W-22, 8))}, {conditionTable[c].role, " " + word(w, 10)}}}}
	if n := len(f.Workflows); n > 1 {
		name = append(name, say(1, themes.Muted, fmt.Sprintf("%d/%d", chosen(f, look)+1, n)))
	}
	out := []string{
		look.line(size.W).pad(1).parts(2, name...).String(),
		look.line(size.W).pad(1).parts(1, append([]part{say(0, themes.Muted, "wait now")}, waitParts(w, false, look)...)...).String(),
		look.line(size.W).pad(1).parts(2, briefTally(standingRows(w), look)...).String(),
		look.line(size.W).pad(1).parts(2, look.meter(w.KVCacheUsage).of("kv_cache_usage", w.Name),
			look.measure(1, "preempted", look.settled(w, look.rate(w.PreemptionsPerSec, 5)), "/s").of("preemptions", w.Name)).String(),
		look.line(size.W).pad(1).parts(2, briefTally(endedRows(f, w), look)...).String(),
	}
	carry := carriers(f, w)
	return append(out, carrierRows(f, carry, layout.Size{W: size.W, H: max(size.H-len(out), 0)}, look)...)
}

// briefTally is the rows of which there are any, the most first, as words; all that
// there is no room for is left out from the end.
func briefTally(rows []tally, look Look) []part {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b tally) int { return cmp.Compare(b.n.Value, a.n.Value) })
	var out []part
	for i, r := range rows {
		if v, ok := r.n.Get(); ok && v > 0 {
			out = append(out, part{segs: []seg{{themes.Muted, r.name + " "}, {r.ink(), samples(v)}}, drop: 1 + i}.of(r.topic, r.of))
		}
	}
	if len(out) == 0 {
		return []part{say(0, themes.Muted, "nothing in "+rows[0].what)}
	}
	out[0].drop = 0
	return out
}

// window is the length of the frame's window.
func (k Look) window(f *model.Frame) string { return unit.Limit(f.WindowS) }

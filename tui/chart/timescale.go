package chart

import (
	"time"
)

// timescale says in which column an instant lies. Columns are counted from the
// beginning of the clock: a second later nothing moves, until a whole cell has passed.
type timescale struct {
	w     int           // cells
	per   time.Duration // a column of dots
	last  int64         // index of the last column of dots since the clock began
	since time.Duration // the last point on that clock
}

// timescaleOf places a span that ends at since in w cells.
func timescaleOf(w int, span, since time.Duration) timescale {
	per := max(span/time.Duration(w*dotsAcross), 1)
	cell := int64(per) * dotsAcross
	return timescale{w: w, per: per, since: since, last: (int64(since)/cell)*dotsAcross + dotsAcross - 1}
}

// column is the column of dots of an instant that long before the end.
func (t timescale) column(before time.Duration) int {
	at := int64(t.since) - int64(before)
	idx := at / int64(t.per)
	if at < 0 {
		idx--
	}
	return t.w*dotsAcross - 1 - int(t.last-idx)
}

// cell is the column of cells of that instant, -1 where it lies before the first.
func (t timescale) cell(before time.Duration) int { return floorCell(t.column(before)) }

func floorCell(column int) int {
	if column < 0 {
		return -1
	}
	return column / dotsAcross
}

// footing is the time axis under a chart, with the letters of the marks on it and the
// times of day below.
type footing struct {
	timescale
	c      *cells
	x0, y  int // of its first cell
	end    time.Time
	span   time.Duration
	known  []bool // by column of cells; elsewhere the axis is dashed
	marks  []Mark
	times  bool // it has ticks: without them no time seems to pass
	shared bool // ticks and times of day stand under a chart below

	label, rule, mark Ink
	ascii             bool
}

// draw writes the axis. A gap is seen even under a line that lies at 0. What shares the
// times of another chart has a plain line, which stands still while time passes.
func (a footing) draw() {
	line, gap, tick := '─', '╌', '┬'
	if a.ascii {
		line, gap, tick = '-', '.', '+'
	}
	for x := range a.w {
		r := line
		if !a.known[x] && !a.shared {
			r = gap
		}
		a.c.set(a.x0+x, a.y, r, a.rule)
	}
	if a.shared {
		return
	}
	if a.times {
		a.ticks(tick)
	}
	for _, m := range a.marks {
		if x := a.cell(m.Before); x >= 0 && x < a.w {
			a.c.set(a.x0+x, a.y, m.Letter, a.mark)
		}
	}
}

// ticks writes the ticks and the times of day.
func (a footing) ticks(tick rune) {
	every := tickSpan(a.per * dotsAcross * 10) // room for 00:00 and air
	if every < time.Minute {
		every = tickSpan(a.per * dotsAcross * 13) // for 00:00:00
	}
	free := 0
	first := a.end.Add(-a.span).Truncate(every)
	for t := first; !t.After(a.end); t = t.Add(every) {
		x := a.cell(a.end.Sub(t))
		text := clock(t, every)
		from := min(max(x-len(text)/2, 0), a.w-len(text))
		if x < 0 || from < free {
			continue
		}
		a.c.set(a.x0+x, a.y, tick, a.rule)
		a.c.text(a.x0+from, a.y+1, text, a.label)
		free = from + len(text) + 1
	}
}

// uprights draws a thin rule for each mark, behind whatever is drawn. Its letter stands
// on the axis; above a plain one it heads the rule.
func (a footing) uprights(h int) {
	rule := '┊'
	if a.ascii {
		rule = '|'
	}
	for _, m := range a.marks {
		x := a.cell(m.Before)
		if x < 0 || x >= a.w {
			continue
		}
		sign := rule
		if a.shared {
			sign = m.Letter
		}
		for y := a.y - h; y < a.y; y++ {
			if at := a.c.at(a.x0+x, y); at == ' ' || at == rule {
				a.c.set(a.x0+x, y, sign, a.mark)
				sign = rule
			}
		}
	}
}

// axisRowsOf is how many rows a time axis takes.
func axisRowsOf(shared bool) int {
	if shared {
		return axisRows - 1
	}
	return axisRows
}

package paper

import (
	"math"
	"time"
)

// Chart is values over time.
type Chart struct {
	From, To time.Time // of the axis: the first point and the last
	Lines    []Line    // the most important first; at most three
	Format   func(float64) string
	Limit    float64 // what was promised, drawn as a dashed line; 0: nothing
	Promise  string  // in words
	Top      float64 // the highest that can be, such as 1 of a share; 0: as high as the values
	Wide     bool    // values may differ by powers of ten: then so does the axis
	Marks    []Mark
	Gaps     []Stretch // without data
	Spans    []Stretch // in which a promise was broken
}

// Line is a series with a point at equal distances from the chart's From to its To.
// NaN is a gap.
type Line struct {
	Name   string
	Y      []float64
	Lo, Hi []float64 // what Y lies between, nil for none; +Inf is beyond what can be told
	Band   string    // what the interval is called
}

// Mark is something that happened, with a letter that stands for its kind.
type Mark struct {
	At     time.Time
	Letter string
	Text   string // what the letter stands for
}

// Stretch is a part of the time axis.
type Stretch struct{ From, To time.Time }

// The heights of a chart in pixels: of the field and of what stands over and under it.
const (
	chartField = 150
	chartOver  = 18
	chartUnder = 20
)

// frame is the part of a chart between its edges.
type frame struct {
	from time.Time
	x, y scale
}

func (ch *Chart) draw(c *canvas) {
	c.height = chartOver + chartField + chartUnder
	y, ticks := ch.scale()
	f := frame{from: ch.From, x: overTime(ch.From, ch.To), y: y}
	for _, s := range ch.Spans {
		f.shade(c, "span", s)
	}
	for _, g := range ch.Gaps {
		f.shade(c, "gap", g)
	}
	for _, t := range ticks {
		at := f.y.at(t)
		c.line("grid", 0, at, 100, at)
		c.beside(at+4, ch.Format(t))
	}
	times(c, ch.From, ch.To, chartOver+chartField)
	ch.strokes(c, f)
	if ch.Limit > 0 {
		at := f.y.at(ch.Limit)
		c.line("limitline", 0, at, 100, at)
		c.text("limit", 100, at+ch.aside(f, at), "end", ch.Promise)
	}
	ch.marks(c, f)
}

// aside is how far from the objective's line its name stands: over it, or under it where
// the end of the first line would run through the name.
func (ch *Chart) aside(f frame, at float64) float64 {
	const over, under, room = -5, 14, 18
	if len(ch.Lines) == 0 {
		return over
	}
	ys := ch.drawn(&ch.Lines[0])
	for _, v := range ys[len(ys)*7/8:] {
		if y := f.y.at(v); y <= at && y > at-room {
			return under
		}
	}
	return over
}

// overTime maps seconds since from to percent.
func overTime(from, to time.Time) scale {
	span := to.Sub(from).Seconds()
	if span <= 0 {
		span = 1
	}
	return scale{from: 0, to: span, a: 0, b: 100}
}

func (f frame) shade(c *canvas, class string, s Stretch) {
	a, b := f.x.at(s.From.Sub(f.from).Seconds()), f.x.at(s.To.Sub(f.from).Seconds())
	c.rect(class, a, chartOver, max(b-a, 0.3), chartField)
}

// times writes the axis and the times of day under a field that ends at y.
func times(c *canvas, from, to time.Time, y float64) {
	c.line("axis", 0, y, 100, y)
	x := overTime(from, to)
	ticks, layout := timeTicks(from, to)
	for _, t := range ticks {
		at := x.at(t.Sub(from).Seconds())
		c.line("axis", at, y, at, y+4)
		anchor := "middle"
		switch {
		case at < 5:
			anchor = "start"
		case at > 95:
			anchor = "end"
		}
		c.text("", at, y+17, anchor, t.UTC().Format(midnight(t, layout, to.Sub(from))))
	}
}

// midnight is how a time of day is written: of several days, each begins with its date.
func midnight(t time.Time, layout string, span time.Duration) string {
	if span > 24*time.Hour && t.UTC().Truncate(24*time.Hour).Equal(t) {
		return "Jan 2"
	}
	return layout
}

// extent is the least above 0 and the most of what is drawn.
func (ch *Chart) extent() (least, most float64) {
	least, most = math.Inf(1), ch.Limit
	if ch.Limit > 0 {
		least = ch.Limit
	}
	see := func(v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		most = max(most, v)
		if v > 0 {
			least = min(least, v)
		}
	}
	for _, l := range ch.Lines {
		for i := range l.Y {
			see(l.Y[i])
			if l.Hi != nil && !math.IsInf(l.Hi[i], 1) {
				see(l.Hi[i])
			}
			if l.Lo != nil && math.IsNaN(l.Y[i]) {
				see(l.Lo[i])
			}
		}
	}
	return least, most
}

// logFrom is by how much values must differ for an axis by powers of ten.
const logFrom = 20

func (ch *Chart) scale() (scale, []float64) {
	const a, b = chartOver + chartField, chartOver
	least, most := ch.extent()
	if ch.Wide && least > 0 && most/least >= logFrom && !math.IsInf(least, 1) {
		return decades(least, most, a, b)
	}
	if ch.Top > 0 {
		most = ch.Top
	}
	return linear(most, a, b)
}

// strokes draws bands and lines, the most important on top.
func (ch *Chart) strokes(c *canvas, f frame) {
	c.open()
	defer c.close()
	for i := len(ch.Lines) - 1; i >= 0; i-- {
		l := &ch.Lines[i]
		xs := evenly(len(l.Y))
		if l.Lo != nil {
			c.path("band", area(xs, f.y.all(l.Lo), f.y.all(beyond(l.Hi, f.y.to))))
		}
		c.path("line s"+string(rune('0'+min(i, 2))), trace(xs, f.y.all(ch.drawn(l))))
	}
}

// drawn is a line's points; where only the least is known, that.
func (ch *Chart) drawn(l *Line) []float64 {
	out := make([]float64, len(l.Y))
	for i, v := range l.Y {
		out[i] = v
		if math.IsNaN(v) && l.Lo != nil && math.IsInf(l.Hi[i], 1) {
			out[i] = l.Lo[i]
		}
	}
	return out
}

func beyond(hi []float64, top float64) []float64 {
	out := make([]float64, len(hi))
	for i, v := range hi {
		out[i] = min(v, top)
	}
	return out
}

// evenly is n places across the stretched field.
func evenly(n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		if n > 1 {
			xs[i] = fieldWidth * float64(i) / float64(n-1)
		}
	}
	return xs
}

// marks draws a rule for each mark, with its letter over the field. Letters that would
// stand on one another are left out: the rules are enough.
func (ch *Chart) marks(c *canvas, f frame) {
	last := math.Inf(-1)
	for _, m := range ch.Marks {
		at := f.x.at(m.At.Sub(ch.From).Seconds())
		c.line("markline", at, chartOver-2, at, chartOver+chartField)
		if at-last >= 4 {
			c.text("mark", at, chartOver-6, "middle", m.Letter)
			last = at
		}
	}
}

func (ch *Chart) legend() []entry {
	var out []entry
	for i, l := range ch.Lines {
		out = append(out, entry{"line s" + string(rune('0'+min(i, 2))), "line", l.Name})
		if l.Band != "" {
			out = append(out, entry{"band", "cell", l.Band})
		}
	}
	if ch.Limit > 0 {
		out = append(out, entry{"limitline", "line", "objective"})
	}
	if len(ch.Spans) > 0 {
		out = append(out, entry{"span", "cell", "breached"})
	}
	if len(ch.Gaps) > 0 {
		out = append(out, entry{"gap", "cell", "no data"})
	}
	seen := map[string]bool{}
	for _, m := range ch.Marks {
		if !seen[m.Letter] {
			seen[m.Letter] = true
			out = append(out, entry{"", "none", m.Letter + " " + m.Text})
		}
	}
	return out
}

func (ch *Chart) sparks() []spark {
	var out []spark
	for i := range ch.Lines {
		l := &ch.Lines[i]
		out = append(out, spark{l.Name, ch.drawn(l)})
	}
	return out
}

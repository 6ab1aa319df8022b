package chart

import (
	"math"
	"time"
)

// Stack is parts that add up, one on top of another over time. All values share one
// grid: point i of n lies (n-1-i)·Step before End.
type Stack struct {
	W, H int

	Parts    []Part // the lowest first
	Tags     []Tag
	TagWidth int
	Marks    []Mark
	Empty    string // said where no part has a value in the span
	Shared   bool   // times and ticks stand under a chart below: the axis takes one row

	Step   time.Duration
	Span   time.Duration // shown in all
	End    time.Time     // time of day of the last point, in the zone to show
	Since  time.Duration // the last point on a clock that nobody sets: it keeps columns still
	Format func(float64) string

	Label, Rule, MarkInk Ink
	ASCII                bool
}

// Part is one of the parts. NaN is a gap: what is not known is not 0, and where no
// part is known there is nothing.
type Part struct {
	Values      []float32
	Fill, ASCII rune
	Ink         Ink
}

// stacking is a stack being drawn.
type stacking struct {
	plotting
	parts []Part
	heaps [][]float64 // by cell column, what each part reaches up to; nil: a gap
}

// Render draws the stack in exactly W × H cells; where that is too small, it is blank.
func (s Stack) Render() string {
	c := newCells(max(s.W, 0), max(s.H, 0))
	g := &stacking{parts: s.Parts, plotting: plotting{
		Plot: Plot{
			Tags: s.Tags, TagWidth: s.TagWidth, Marks: s.Marks, Empty: s.Empty, Shared: s.Shared, Step: s.Step, Span: s.Span, End: s.End, Since: s.Since,
			Format: s.Format, Label: s.Label, Rule: s.Rule, MarkInk: s.MarkInk, ASCII: s.ASCII,
		},
		c: c, x0: gutter + 1, w: s.W - gutter - 1 - s.TagWidth, h: s.H - axisRowsOf(s.Shared),
	}}
	if g.w < minPlotW || g.h < minPlotH || s.Step <= 0 || s.Span <= 0 {
		return c.String()
	}
	g.timescale = timescaleOf(g.w, s.Span, s.Since)
	for _, p := range s.Parts { // the axis is whole where any part is known
		g.Lines = append(g.Lines, Line{Values: p.Values})
	}
	g.gather()
	g.scale = scaleTo(g.tallest(), g.h)
	g.fill()
	g.foot().uprights(g.h)
	g.axes()
	g.tags()
	return c.String()
}

// gather keeps of the points of a cell the one with the largest sum, whole: parts of
// different points do not add up. A point holds until the next.
func (g *stacking) gather() {
	g.heaps = make([][]float64, g.w)
	n := 0
	for _, p := range g.parts {
		n = max(n, len(g.shown(p.Values)))
	}
	before := false
	for i := range n {
		heap, known := g.heap(i, n)
		joined := known && before
		before = known
		if !known {
			continue
		}
		to := floorCell(g.point(i, n))
		from := to
		if joined {
			from = min(floorCell(g.point(i-1, n))+1, to)
		}
		for x := max(from, 0); x <= to && x < g.w; x++ {
			if old := g.heaps[x]; old == nil || old[len(old)-1] < heap[len(heap)-1] {
				g.heaps[x] = heap
			}
		}
	}
}

// heap is what each part of point i of n reaches up to. What is unknown of it adds
// nothing; a point of which nothing is known is a gap.
func (g *stacking) heap(i, n int) (heap []float64, known bool) {
	heap = make([]float64, len(g.parts))
	sum := 0.0
	for j, p := range g.parts {
		values := g.shown(p.Values)
		if k := i - (n - len(values)); k >= 0 {
			if v := float64(values[k]); !math.IsNaN(v) {
				known = true
				sum += min(max(v, 0), maxTop)
			}
		}
		heap[j] = sum
	}
	return heap, known
}

func (g *stacking) tallest() float64 {
	most := 0.0
	for _, h := range g.heaps {
		if h != nil {
			most = max(most, h[len(h)-1])
		}
	}
	return most
}

// fill gives each cell to the part that lies at its middle. What is there but does
// not reach the middle of the lowest row is a low mark of its largest part.
func (g *stacking) fill() {
	for x, heap := range g.heaps {
		if heap == nil || heap[len(heap)-1] <= 0 {
			continue
		}
		for y := range g.h {
			at := (float64(y) + 0.5) / float64(g.h) * g.scale.top
			for j, upTo := range heap {
				if at <= upTo {
					g.c.set(g.x0+x, g.h-1-y, g.sign(j), g.parts[j].Ink)
					break
				}
			}
		}
		if g.c.at(g.x0+x, g.h-1) == ' ' {
			low := '▁'
			if g.ASCII {
				low = '_'
			}
			g.c.set(g.x0+x, g.h-1, low, g.parts[largest(heap)].Ink)
		}
	}
}

func (g *stacking) sign(j int) rune {
	if g.ASCII {
		return g.parts[j].ASCII
	}
	return g.parts[j].Fill
}

// largest is the part of a heap that is largest.
func largest(heap []float64) int {
	at, most, before := 0, -1.0, 0.0
	for j, upTo := range heap {
		if upTo-before > most {
			at, most = j, upTo-before
		}
		before = upTo
	}
	return at
}

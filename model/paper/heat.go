package paper

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Heat is how values were spread over time: a column a stretch, a row a bucket.
type Heat struct {
	From, To time.Time // the beginning of the first column, the end of the last
	Bounds   []float64 // ascending upper edges; a last bucket lies beyond them
	Counts   [][]float64
	Format   func(float64) string
	Limit    float64 // what was promised; 0: nothing
	Promise  string
}

// shades are the shares of a column's requests from which a cell is darker.
var shades = []float64{0, 0.02, 0.1, 0.25, 0.5}

// The height of a heat map in rows and pixels: few buckets get taller rows.
const (
	heatRows    = 18
	leastRow    = 11
	mostRow     = 22
	roomForText = 14
)

// rowHeight is how tall a row is where there are so many.
func rowHeight(rows int) int { return min(max(chartField/rows, leastRow), mostRow) }

func (h *Heat) draw(c *canvas) {
	lo, hi := h.used()
	rows := hi - lo + 1
	tall := rowHeight(rows)
	height := float64(rows * tall)
	c.height = chartOver + rows*tall + chartUnder
	bottom := chartOver + height
	row := func(bucket int) float64 { return bottom - float64((bucket-lo+1)*tall) }
	c.open()
	for s := range shades {
		c.path("h"+string(rune('1'+s)), h.cells(s, lo, hi, row, tall-1))
	}
	c.close()
	every := (roomForText + tall - 1) / tall
	for b := lo; b <= hi; b += every {
		if b < len(h.Bounds) {
			c.line("grid", 0, row(b), 100, row(b))
			c.beside(row(b)+4, h.Format(h.Bounds[b]))
		}
	}
	times(c, h.From, h.To, bottom)
	h.rule(c, lo, hi, row, tall)
}

// rule draws the objective between the buckets it lies between.
func (h *Heat) rule(c *canvas, lo, hi int, row func(int) float64, tall int) {
	if h.Limit <= 0 {
		return
	}
	b := 0
	for b < len(h.Bounds) && h.Bounds[b] < h.Limit*(1-1e-9) {
		b++
	}
	if b < lo || b > hi {
		return
	}
	at := row(b)
	if b < len(h.Bounds) && h.Bounds[b] > h.Limit*(1+1e-9) {
		at += float64(tall) / 2 // it lies within the bucket
	}
	c.line("limitline", 0, at, 100, at)
	c.text("limit", 100, at-4, "end", h.Promise)
}

// used is the lowest and the highest bucket that ever held something, the objective's
// among them.
func (h *Heat) used() (lo, hi int) {
	lo, hi = len(h.Bounds), 0
	for _, col := range h.Counts {
		for b, n := range col {
			if n > 0 {
				lo, hi = min(lo, b), max(hi, b)
			}
		}
	}
	for b, edge := range h.Bounds {
		if h.Limit > 0 && edge >= h.Limit*(1-1e-9) {
			lo, hi = min(lo, b), max(hi, b)
			break
		}
	}
	lo = max(0, min(lo, hi)-1)
	return max(lo, hi-heatRows+1), hi
}

// cells are the cells of one shade, those beside one another as one.
func (h *Heat) cells(shade, lo, hi int, row func(int) float64, tall int) string {
	var b strings.Builder
	width := fieldWidth / float64(len(h.Counts))
	for bucket := lo; bucket <= hi; bucket++ {
		for i := 0; i < len(h.Counts); {
			if h.shadeOf(i, bucket, lo) != shade {
				i++
				continue
			}
			j := i
			for j < len(h.Counts) && h.shadeOf(j, bucket, lo) == shade {
				j++
			}
			fmt.Fprintf(&b, "M%s %sh%sv%dh-%sz", coord(float64(i)*width), coord(row(bucket)), coord(float64(j-i)*width), tall, coord(float64(j-i)*width))
			i = j
		}
	}
	return b.String()
}

// shadeOf is the shade of a cell, -1 where it is empty. The lowest row holds all that
// is below it.
func (h *Heat) shadeOf(column, bucket, lo int) int {
	col := h.Counts[column]
	if bucket >= len(col) {
		return -1
	}
	sum, n := 0.0, col[bucket]
	for b, v := range col {
		sum += v
		if bucket == lo && b < lo {
			n += v
		}
	}
	if n <= 0 {
		return -1
	}
	s := 0
	for i, from := range shades {
		if n/sum >= from {
			s = i
		}
	}
	return s
}

func (h *Heat) legend() []entry {
	var out []entry
	for i, from := range shades {
		text := fmt.Sprintf("from %.0f %%", 100*from)
		if i == 0 {
			text = fmt.Sprintf("under %.0f %%", 100*shades[1])
		}
		if i == len(shades)-1 {
			text += " of the requests"
		}
		out = append(out, entry{"h" + string(rune('1'+i)), "cell", text})
	}
	if h.Limit > 0 {
		out = append(out, entry{"limitline", "line", "objective"})
	}
	return out
}

// sparks shows how many requests there were.
func (h *Heat) sparks() []spark {
	sums := make([]float64, len(h.Counts))
	for i, col := range h.Counts {
		if col == nil {
			sums[i] = math.NaN()
			continue
		}
		for _, n := range col {
			sums[i] += n
		}
	}
	return []spark{{"requests", sums}}
}

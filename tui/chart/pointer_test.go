package chart

import (
	"testing"
	"time"
)

// TestAxisAgreesWithTheDrawing: the instant of a cell lies in that cell.
func TestAxisAgreesWithTheDrawing(t *testing.T) {
	for _, since := range []time.Duration{0, time.Second, 17*time.Minute + 3*time.Second, 300 * time.Hour} {
		for _, w := range []int{46, 80, 101, 200} {
			span := 15 * time.Minute
			x0, n, first, last := Axis(w, 11, span, since)
			if x0 != gutter+1 || n != w-gutter-1-11 {
				t.Fatalf("the axis of %d cells has %d from %d", w, n, x0)
			}
			s := timescaleOf(n, span, since)
			if got := s.cell(first); got != 0 {
				t.Errorf("w %d since %s: the first cell's instant lies in cell %d", w, since, got)
			}
			if got := s.cell(last); got != n-1 && last > 0 {
				t.Errorf("w %d since %s: the last cell's instant lies in cell %d of %d", w, since, got, n)
			}
			for x := range n {
				ago := first + (last-first)*time.Duration(x)/time.Duration(n-1)
				if got := s.cell(ago); got < x-1 || got > x+1 {
					t.Errorf("w %d since %s: cell %d leads to cell %d", w, since, x, got)
				}
			}
		}
	}
	if _, n, _, _ := Axis(20, 11, time.Minute, 0); n != 0 {
		t.Errorf("a chart without room has an axis of %d cells", n)
	}
}

package series

import (
	"math"
	"testing"
)

var nan = math.NaN()

// equal treats NaN as equal to NaN.
func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

func TestRestarted(t *testing.T) {
	for _, tt := range []struct {
		name      string
		last, row []float64
		want      bool
	}{
		{"growth", []float64{1, 2}, []float64{1, 3}, false},
		{"standing still", []float64{1, 2}, []float64{1, 2}, false},
		{"half of two", []float64{10, 1680}, []float64{12, 35}, true},
		{"all to zero", []float64{1, 7}, []float64{0, 0}, true},
		{"one alone of many", []float64{1e9, 500, 5, 80}, []float64{1e9 + 100, 501, 4, 81}, false},
		{"one alone while nothing else moves", []float64{1e9, 500, 5}, []float64{1e9, 500, 4}, false},
		{"most fell, a young one passed its old value", []float64{1e9, 500, 5}, []float64{100, 3, 6}, true},
		{"rounding", []float64{1e6}, []float64{1e6 - 1e-7}, false},
		{"just above rounding", []float64{1e6}, []float64{1e6 - 1e-5}, true},
		{"absent now", []float64{5}, []float64{nan}, false},
		{"absent before", []float64{nan}, []float64{1}, false},
		{"never counted", []float64{0, 0}, []float64{0, 3}, false},
		{"new column", []float64{5}, []float64{5, 0}, false},
		{"nothing", nil, nil, false},
	} {
		if got := Restarted(tt.last, tt.row); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// Previous {le 0.1: 10, count 1680}, current {le 0.1: 12, count 35}: the new
// process counted 12 and 35. Judged column by column it would be 2 and 35.
func TestCountersRestartTogether(t *testing.T) {
	var c Counters
	c.Adjust([]float64{10, 1680}, false)
	row := []float64{12, 35}
	c.Adjust(row, Restarted(c.Last(), row))
	if !equal(c.Total(), []float64{22, 1715}) {
		t.Errorf("totals %v", c.Total())
	}
}

func TestCounters(t *testing.T) {
	steps := []struct {
		name      string
		row       []float64
		restarted bool
		want      []float64
	}{
		{"first page", []float64{100, 5}, false, []float64{100, 5}},
		{"growth", []float64{130, 5}, false, []float64{130, 5}},
		{"a column comes", []float64{130, 5, 2}, false, []float64{130, 5, 2}},
		{"a line is lost and holds", []float64{140, nan, 2}, false, []float64{140, 5, 2}},
		{"and back", []float64{140, 7, 3}, false, []float64{140, 7, 3}},
		{"restart, two columns are not there yet", []float64{10, nan, nan}, true, []float64{150, 7, 3}},
		{"they come: all they show is new", []float64{20, 1, 4}, false, []float64{160, 8, 7}},
		{"two restarts in a row", []float64{1, 1, 1}, true, []float64{161, 9, 8}},
		{"each adds up", []float64{1, 1, 1}, true, []float64{162, 10, 9}},
		{"one alone falls", []float64{2, 0, 1}, false, []float64{163, 9, 9}},
		{"a wild value", []float64{1e18, 0, 1}, false, []float64{161 + 1e18, 9, 9}},
		{"leaves no trace", []float64{4, 0, 1}, false, []float64{165, 9, 9}},
	}
	var c Counters
	for _, s := range steps {
		if c.Adjust(s.row, s.restarted); !equal(c.Total(), s.want) {
			t.Fatalf("%s: %v, want %v", s.name, c.Total(), s.want)
		}
	}
	c.Rebase(0, 5)
	c.Set(1, 77)
	if c.Adjust([]float64{9, nan, 1}, false); !equal(c.Total(), []float64{169, 77, 9}) {
		t.Errorf("rebased %v", c.Total())
	}
	c.Select([]int{2, 0})
	if !equal(c.Total(), []float64{9, 169}) || !equal(c.Last(), []float64{1, 9}) {
		t.Errorf("selected %v, last %v", c.Total(), c.Last())
	}
}

// A counter that restarts with all the others never falls.
func FuzzCounters(f *testing.F) {
	f.Add([]byte{1, 3, 4, 0, 255, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Counters
		high := 0.0
		for _, b := range data {
			row := []float64{float64(b), 2 * float64(b)}
			if b == 255 {
				row = []float64{nan, nan}
			}
			c.Adjust(row, Restarted(c.Last(), row))
			v := c.Total()
			if v[0] < high || 2*v[0] != v[1] && !math.IsNaN(v[0]) {
				t.Fatalf("%v after %v", v, high)
			}
			if !math.IsNaN(v[0]) {
				high = v[0]
			}
		}
	})
}

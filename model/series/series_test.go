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

func TestFell(t *testing.T) {
	for _, tt := range []struct {
		name      string
		prev, cur []float64
		want      bool
	}{
		{"growth", []float64{1, 2}, []float64{1, 3}, false},
		{"standing still", []float64{1, 2}, []float64{1, 2}, false},
		{"one of many", []float64{10, 1680}, []float64{12, 35}, true},
		{"to zero", []float64{1}, []float64{0}, true},
		{"rounding", []float64{1e6}, []float64{1e6 - 1e-7}, false},
		{"just above rounding", []float64{1e6}, []float64{1e6 - 1e-5}, true},
		{"absent now", []float64{5}, []float64{nan}, false},
		{"absent before", []float64{nan}, []float64{1}, false},
		{"new column", []float64{5}, []float64{5, 0}, false},
		{"lost column", []float64{5, 9}, []float64{5}, false},
		{"nothing", nil, nil, false},
	} {
		if got := Fell(tt.prev, tt.cur); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// Previous {le 0.1: 10, count 1680}, current {le 0.1: 12, count 35}: the new
// process counted 12 and 35. Judged column by column it would be 2 and 35.
func TestCountersRestartTogether(t *testing.T) {
	var c Counters
	c.Adjust([]float64{10, 1680}, false, false)
	cur := []float64{12, 35}
	c.Adjust(cur, Fell(c.Last(), cur), false)
	if !equal(c.Total(), []float64{22, 1715}) {
		t.Errorf("totals %v", c.Total())
	}
}

func TestCounters(t *testing.T) {
	steps := []struct {
		name            string
		row             []float64
		restarted, born bool
		want            []float64
		grew            bool
	}{
		{"first page", []float64{100, 5}, false, false, []float64{100, 5}, false},
		{"growth", []float64{130, 5}, false, true, []float64{130, 5}, true},
		{"a column comes into being", []float64{130, 5, 2}, false, true, []float64{130, 5, 2}, true},
		{"nothing moves", []float64{130, 5, 2}, false, true, []float64{130, 5, 2}, false},
		{"a line is lost and holds", []float64{140, nan, 2}, false, true, []float64{140, 5, 2}, true},
		{"and back", []float64{140, 7, 3}, false, true, []float64{140, 7, 3}, true},
		{"a column whose past nobody knows", []float64{140, 7, 3, 9000}, false, false, []float64{140, 7, 3, 9000}, false},
		{"restart, two columns are not there yet", []float64{10, nan, nan, 1}, true, false, []float64{150, 7, 3, 9001}, true},
		{"they come: all they show is new", []float64{20, 1, 4, 1}, false, false, []float64{160, 8, 7, 9001}, true},
		{"two restarts in a row", []float64{1, 1, 1, 1}, true, false, []float64{161, 9, 8, 9002}, true},
		{"each adds up", []float64{1, 1, 1, 1}, true, false, []float64{162, 10, 9, 9003}, true},
		{"rounding noise is no increase", []float64{1 - 1e-15, 1, 1, 1}, false, false, []float64{162, 10, 9, 9003}, false},
	}
	var c Counters
	for _, s := range steps {
		if grew := c.Adjust(s.row, s.restarted, s.born); !equal(c.Total(), s.want) || grew != s.grew {
			t.Fatalf("%s: %v (grew %v), want %v", s.name, c.Total(), grew, s.want)
		}
	}
	c.Set(1, 77)
	c.Select([]int{3, 1})
	if !equal(c.Total(), []float64{9003, 77}) || !equal(c.Last(), []float64{1, 1}) {
		t.Errorf("selected %v, last %v", c.Total(), c.Last())
	}
}

// Whatever the server shows, the adjusted row does not fall where restarts are
// taken from Fell.
func FuzzCounters(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 0, 5, 255, 255, 7, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Counters
		row, high := []float64{nan, nan}, []float64{0, 0}
		for ; len(data) >= 2; data = data[2:] {
			for i := range row {
				if row[i] = float64(data[i]); data[i] == 255 {
					row[i] = nan
				}
			}
			c.Adjust(row, Fell(c.Last(), row), data[0]%2 == 0)
			for i, v := range c.Total() {
				if v < high[i] {
					t.Fatalf("column %d fell from %v to %v", i, high[i], v)
				}
				if !math.IsNaN(v) {
					high[i] = v
				}
			}
		}
	})
}

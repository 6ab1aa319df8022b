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
	prev, cur := []float64{10, 1680}, []float64{12, 35}
	before, after := make([]float64, 2), make([]float64, 2)
	c.Adjust(before, prev, false)
	c.Adjust(after, cur, Fell(prev, cur))
	if after[0]-before[0] != 12 || after[1]-before[1] != 35 {
		t.Errorf("increase %v, %v", after[0]-before[0], after[1]-before[1])
	}
}

func TestCounters(t *testing.T) {
	steps := []struct {
		name      string
		raw       []float64
		restarted bool
		want      []float64
	}{
		{"first page", []float64{100, 5}, false, []float64{100, 5}},
		{"growth", []float64{130, 5}, false, []float64{130, 5}},
		{"a column comes", []float64{130, 5, 2}, false, []float64{130, 5, 2}},
		{"a line is lost", []float64{140, nan, 2}, false, []float64{140, nan, 2}},
		{"and back", []float64{140, 7, 3}, false, []float64{140, 7, 3}},
		{"restart, the born column is not there yet", []float64{10, nan, nan}, true, []float64{150, nan, 3}},
		{"they come", []float64{20, 1, nan}, false, []float64{160, 8, 3}},
		{"first event", []float64{20, 1, 4}, false, []float64{160, 8, 7}},
		{"a born column that was seen is lost", []float64{20, 1, nan}, false, []float64{160, 8, nan}},
		{"two restarts in a row", []float64{1, 1, 1}, true, []float64{161, 9, 8}},
		{"each adds up", []float64{1, 1, 1}, true, []float64{162, 10, 9}},
	}
	var c Counters
	c.Born(2)
	for _, s := range steps {
		got := make([]float64, len(s.raw))
		c.Adjust(got, s.raw, s.restarted)
		if !equal(got, s.want) {
			t.Fatalf("%s: %v, want %v", s.name, got, s.want)
		}
	}
}

// Whatever the server shows, the adjusted row does not fall where restarts are
// taken from Fell.
func FuzzCounters(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 0, 5, 255, 255, 7, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Counters
		raw, prev := []float64{nan, nan}, []float64{nan, nan}
		high, got := []float64{0, 0}, make([]float64, 2)
		for len(data) >= 2 {
			for i := range raw {
				if raw[i] = float64(data[i]); data[i] == 255 {
					raw[i] = nan
				}
			}
			c.Adjust(got, raw, Fell(prev, raw))
			for i, v := range got {
				if v < high[i] {
					t.Fatalf("column %d fell from %v to %v", i, high[i], v)
				}
				if !math.IsNaN(v) {
					high[i] = v
				}
				// A lost line hides what the column showed before it.
				if !math.IsNaN(raw[i]) {
					prev[i] = raw[i]
				}
			}
			data = data[2:]
		}
	})
}

package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows come back to the last bit, the longest runs and shorter reads included.
func TestRowsComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	steps := []float64{0, 0, 0, 0, 1, 7, 300, 1 << 40, -2, 0.25, 1e300, math.Inf(1), nan}
	const width = 100
	var c code
	for range width {
		c.column(false)
	}
	row := make([]float64, width)
	var rows [][]float64
	var texts []*packed
	for range 200 {
		step := 0.0
		for i := range row {
			if rng.IntN(12) == 0 {
				step = steps[rng.IntN(len(steps)-rng.IntN(5))]
			}
			if row[i] += step; math.IsNaN(row[i]) && rng.IntN(2) == 0 {
				row[i] = float64(rng.IntN(5))
			}
		}
		rows, texts = append(rows, slices.Clone(row)), append(texts, c.pack(row, &packed{}))
	}
	for k, want := range rows {
		for _, n := range []int{width, rng.IntN(width)} {
			got := make([]float64, n)
			if c.unpack(got, texts[k]); !equal(got, want[:n]) {
				t.Fatalf("row %d, %d columns:\n%v\nwant\n%v", k, n, got, want[:n])
			}
		}
	}
}

package sources

import (
	"math"
	"slices"
	"testing"
	"time"

	prommodel "github.com/prometheus/common/model"

	"slotop/sources/dialect"
)

// The buckets of a histogram rise from bound to bound, whatever came of each of them:
// servers are asked for sums whose parts were scraped one after the other. A count
// that is no number, or beyond all, is none.
func TestBucketsRise(t *testing.T) {
	answer := func(counts map[string]float64) prommodel.Vector {
		var v prommodel.Vector
		for le, n := range counts {
			v = append(v, &prommodel.Sample{Metric: prommodel.Metric{"le": prommodel.LabelValue(le)}, Value: prommodel.SampleValue(n)})
		}
		return v
	}
	for name, c := range map[string]struct {
		answer map[string]float64
		want   []float64
	}{
		"as they are":     {map[string]float64{"0.1": 3, "0.5": 5, "+Inf": 9}, []float64{3, 5, 9}},
		"one is too low":  {map[string]float64{"0.1": 6, "0.5": 5, "+Inf": 9}, []float64{6, 6, 9}},
		"the last is":     {map[string]float64{"0.1": 3, "0.5": 9, "+Inf": 8}, []float64{3, 9, 9}},
		"one is unknown":  {map[string]float64{"0.1": 3, "0.5": math.NaN(), "+Inf": 9}, []float64{3, 9}},
		"one is infinite": {map[string]float64{"0.1": math.Inf(1), "0.5": 5, "+Inf": 9}, []float64{5, 9}},
	} {
		track := &track{read: dialect.Read{Names: []string{"x_bucket"}, Buckets: true}, on: newSeen(nil)}
		start := time.Unix(1_800_000_000, 0)
		track.begin(start)
		track.start()
		for _, s := range answer(c.answer) {
			track.note(s)
		}
		track.take(start.Add(time.Minute), track.got, 1)
		track.showCounts(start.Add(time.Minute))
		lines := make([]int, 0, len(track.order))
		for _, row := range track.order {
			lines = append(lines, track.rows[row].line)
		}
		var got []float64
		for _, line := range lines {
			if track.on.page.Seen[line] {
				got = append(got, track.on.page.Values[line])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

package story

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"slotop/model"
)

var nan = math.NaN()

func narrow(values ...float64) *Series {
	s := &Series{Keep: KeepHighest}
	for _, v := range values {
		s.push(Point{v, nan, nan, nan})
	}
	return s
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// Merging keeps one of the points, and which is as the series says; a gap gives way to
// what is known.
func TestHalve(t *testing.T) {
	for _, tt := range []struct {
		keep     Keep
		in, want []float64
	}{
		{KeepHighest, []float64{1, 5, 2, 3, 4}, []float64{1, 5, 4}},
		{KeepLowest, []float64{1, 5, 2, 3, 4}, []float64{1, 2, 3}},
		{KeepLast, []float64{1, 5, 2, 3, 4}, []float64{1, 2, 4}},
		{KeepLast, []float64{1, 5, nan, 3}, []float64{1, 5, 3}},
		{KeepHighest, []float64{nan, nan, nan, nan, 7}, []float64{nan, nan, 7}},
		{KeepLowest, []float64{nan, 0}, []float64{nan, 0}},
		{KeepHighest, nil, nil},
		{KeepHighest, []float64{2}, []float64{2}},
		{KeepHighest, []float64{2, 3}, []float64{2, 3}},
	} {
		s := narrow(tt.in...)
		s.Keep = tt.keep
		if s.Len() > 0 {
			s.halve()
		}
		if !same(s.value, tt.want) {
			t.Errorf("%s of %v: %v, want %v", tt.keep, tt.in, s.value, tt.want)
		}
	}
}

// An interval stays with the value that it is of. A value that is beyond what can be
// told counts as the least that it can be.
func TestHalveIntervals(t *testing.T) {
	s := &Series{Keep: KeepHighest, Wide: true}
	for _, p := range []Point{nowhere, {5, 4, 6, 10}, {nan, 10, math.Inf(1), 3}, {7, 6, 8, 1}, {9, 8, 10, 2}} {
		s.push(p)
	}
	s.halve()
	if got := s.At(1); got.Lo != 10 || !math.IsInf(got.Hi, 1) || got.N != 3 || !math.IsNaN(got.Value) {
		t.Errorf("of 5 and > 10 stays %+v", got)
	}
	if got := s.At(2); got != (Point{9, 8, 10, 2}) {
		t.Errorf("of 7 and 9 stays %+v", got)
	}
}

// However often points are merged, each that is left is one that came in, and the
// worst of all is among them: nothing is averaged and no peak is lost.
func TestMergingKeepsThePeak(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := narrow()
		s.Keep = []Keep{KeepHighest, KeepLowest}[random.IntN(2)]
		var in []float64
		for range random.IntN(300) + 1 {
			v := math.Round(random.Float64() * 1000)
			if random.IntN(5) == 0 {
				v = nan
			}
			in = append(in, v)
			s.push(Point{v, nan, nan, nan})
		}
		_, before, known := s.Extreme()
		for range random.IntN(6) {
			s.halve()
		}
		merged, every := s.Merged(0, s.Len(), 1+random.IntN(40))
		for _, p := range merged {
			if p.Known() && !slices.Contains(in, p.Value) {
				t.Fatalf("%v was never measured", p.Value)
			}
		}
		_, after, still := s.Extreme()
		if still != known || known && after.Value != before.Value || every < 1 {
			t.Fatalf("%s of %v was %v and is %v", s.Keep, in, before.Value, after.Value)
		}
	}
}

func TestMerged(t *testing.T) {
	s := narrow(1, 2, 3, 9, nan, nan, 4)
	if points, every := s.Merged(2, 5, 2); len(points) != 2 || points[0].Value != 9 || points[1].Known() || every != 2 {
		t.Errorf("of the third to the fifth: %v of %d each", points, every)
	}
	for _, tt := range []struct {
		n     int
		want  []float64
		every int
	}{
		{100, []float64{1, 2, 3, 9, nan, nan, 4}, 1},
		{4, []float64{2, 9, nan, 4}, 2},
		{1, []float64{9}, 7},
		{0, []float64{9}, 7},
	} {
		points, every := s.Merged(0, 99, tt.n)
		got := make([]float64, len(points))
		for i, p := range points {
			got[i] = p.Value
		}
		if !same(got, tt.want) || every != tt.every {
			t.Errorf("in %d points: %v of %d each, want %v of %d", tt.n, got, every, tt.want, tt.every)
		}
	}
}

// Columns are added up; of other buckets they begin anew.
func TestHeat(t *testing.T) {
	at := func(columns int) model.Instant { return second(10 * columns) }
	var h heat
	bounds := []float64{1, 2}
	h.take(&model.Heat{Step: ten, End: at(2), Bounds: bounds, Counts: [][]float32{{1, 0, 0}, {0, 2, 0}}})
	h.take(&model.Heat{Step: ten, End: at(2), Bounds: bounds, Counts: [][]float32{{1, 0, 0}, {0, 2, 0}}}) // nothing new
	h.take(&model.Heat{Step: ten, End: at(4), Bounds: bounds, Counts: [][]float32{{0, 2, 0}, nil, {0, 0, 3}}})
	v := h.view()
	if len(v.Counts) != 4 || v.Counts[2] != nil || v.Counts[3][2] != 3 || v.End != at(4) {
		t.Errorf("%+v", v)
	}
	for i := 5; i < 5+3*maxColumns; i++ {
		h.take(&model.Heat{Step: ten, End: at(i), Bounds: bounds, Counts: [][]float32{{1, 1, 1}}})
	}
	v = h.view()
	sum := float32(0)
	for _, col := range v.Counts {
		for _, n := range col {
			sum += n
		}
	}
	if len(v.Counts) > maxColumns || sum != 6+9*maxColumns || v.Step != 4*ten {
		t.Errorf("%d columns of %v with %v requests", len(v.Counts), v.Step, sum)
	}
	if end := v.End.Sub(h.end); end < 0 || end >= v.Step {
		t.Errorf("the last column ends %v after what is known", end)
	}
	h.take(&model.Heat{Step: ten, End: at(6000), Bounds: []float64{5}, Counts: [][]float32{{4, 4}}})
	if v = h.view(); len(v.Counts) != 1 || v.Counts[0][0] != 4 {
		t.Errorf("of other buckets: %+v", v)
	}
}

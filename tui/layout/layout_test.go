package layout

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

func heights(rs []Rect) []int {
	out := make([]int, len(rs))
	for i, r := range rs {
		out[i] = r.H
	}
	return out
}

func TestRows(t *testing.T) {
	tests := []struct {
		name  string
		h     int
		wants []Want
		want  []int
	}{
		{"fixed rows keep their height", 10, []Want{Fixed(1), Fixed(2)}, []int{1, 2}},
		{"what is left grows evenly", 10, []Want{Fixed(1), {Min: 2, Max: 99}, {Min: 2, Max: 99}}, []int{1, 5, 4}},
		{"ideal comes before growing", 10, []Want{{Min: 1, Max: 99}, {Min: 1, Ideal: 6, Max: 6}}, []int{4, 6}},
		{"a maximum is kept", 30, []Want{{Min: 1, Max: 4}, {Min: 1, Max: 8}}, []int{4, 8}},
		{"the highest drop goes first", 5, []Want{Fixed(2), {Min: 3, Drop: 1}, {Min: 3, Drop: 2}}, []int{2, 3, 0}},
		{"a dropped part does not grow", 3, []Want{Fixed(2), {Min: 3, Ideal: 5, Max: 9, Drop: 1}}, []int{2, 0}},
		{"parts that stay shrink from the end", 3, []Want{Fixed(2), Fixed(2)}, []int{2, 1}},
		{"nothing fits into nothing", 0, []Want{Fixed(2), Fixed(2)}, []int{0, 0}},
		{"a negative height is nothing", -3, []Want{Fixed(2)}, []int{0}},
		{"an empty part may grow", 4, []Want{{Max: 3}, Fixed(1)}, []int{3, 1}},
	}
	for _, tc := range tests {
		if got := heights(Rows(Rect{0, 0, 10, tc.h}, tc.wants)); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestColumns(t *testing.T) {
	got := Columns(Rect{2, 1, 20, 5}, 2, Even(2, 5, 40))
	want := []Rect{{2, 1, 9, 5}, {13, 1, 9, 5}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	one := Columns(Rect{0, 0, 8, 5}, 2, Even(2, 5, 40))
	if one[0].W != 8 || !one[1].Empty() {
		t.Errorf("room for one column only: got %v", one)
	}
	if capped := Columns(Rect{0, 0, 300, 5}, 2, Even(2, 5, 40)); capped[0].W != 40 || capped[1].W != 40 {
		t.Errorf("columns stretch: %v", capped)
	}
}

// TestTiling draws random demands: rectangles follow one another without
// overlap, stay inside, and never exceed their maximum.
func TestTiling(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 5000 {
		r := Rect{rng.IntN(5), rng.IntN(5), rng.IntN(80), rng.IntN(60) - 5}
		wants := make([]Want, rng.IntN(8))
		for i := range wants {
			wants[i] = Want{rng.IntN(9) - 1, rng.IntN(12), rng.IntN(30), rng.IntN(4)}
		}
		y := r.Y
		for i, got := range Rows(r, wants) {
			if got.Y != y || got.H < 0 || got.X != r.X || got.W != r.W {
				t.Fatalf("seed %d: row %d of %v in %v is %v, want y %d", seed, i, wants, r, got, y)
			}
			if got.H > wants[i].tidy().Max {
				t.Fatalf("seed %d: row %d of %v is %d high", seed, i, wants, got.H)
			}
			y += got.H
		}
		if y > r.Y+max(r.H, 0) {
			t.Fatalf("seed %d: %v leaves %v", seed, wants, r)
		}
		x := r.X
		for i, got := range Columns(r, 2, wants) {
			if got.W < 0 || got.X < x || got.X+got.W > r.X+max(r.W, 0)+2 {
				t.Fatalf("seed %d: column %d of %v in %v is %v", seed, i, wants, r, got)
			}
			x = got.X + got.W
		}
	}
}

package series

import (
	"math"
	"slices"
	"testing"
)

func TestTrack(t *testing.T) {
	tr := NewTrack(5)
	if tr.Len() != 0 || len(tr.Tail(3)) != 0 {
		t.Error("a new track has points")
	}
	for i := range 12 {
		tr.Append(float32(i))
		if want := min(i+1, 5); tr.Len() != want || len(tr.Tail(99)) != want {
			t.Errorf("after %d points: %d, tail %v", i+1, tr.Len(), tr.Tail(99))
		}
	}
	if got := tr.Tail(3); !slices.Equal(got, []float32{9, 10, 11}) {
		t.Errorf("tail %v", got)
	}
	tr.Append(float32(math.NaN()))
	if got := tr.Tail(2); got[0] != 11 || !math.IsNaN(float64(got[1])) {
		t.Errorf("gap: %v", got)
	}
	if len(tr.Tail(-1)) != 0 || len(tr.Tail(0)) != 0 {
		t.Error("a tail of nothing has points")
	}
}

// Readers keep tails for ever: nothing the track does later may show in them,
// and nothing they append may show in the track.
func TestTailsAreNeverRewritten(t *testing.T) {
	for _, limit := range []int{1, 2, 7, 64, 300} {
		tr := NewTrack(limit)
		var tails, copies [][]float32
		for i := range 1000 {
			tr.Append(float32(i))
			tail := tr.Tail(limit)
			if tail[len(tail)-1] != float32(i) {
				t.Fatalf("limit %d: newest is %v after %d", limit, tail[len(tail)-1], i)
			}
			tails, copies = append(tails, tail), append(copies, slices.Clone(tail))
			_ = append(tail, -1)
		}
		for i := range tails {
			if !slices.Equal(tails[i], copies[i]) {
				t.Fatalf("limit %d: tail %d was rewritten", limit, i)
			}
		}
		if room := cap(tr.points); room > max(64, limit+limit/4+1) {
			t.Errorf("limit %d: room for %d points", limit, room)
		}
	}
}

// A frame is read on another goroutine while the track goes on; run with -race.
func TestTailIsReadWhileTheTrackGrows(t *testing.T) {
	tr := NewTrack(100)
	for i := range 90 {
		tr.Append(float32(i))
	}
	tail := tr.Tail(50)
	done := make(chan float32)
	go func() {
		var sum float32
		for range 100 {
			for _, v := range tail {
				sum += v
			}
		}
		done <- sum
	}()
	for i := range 500 {
		tr.Append(float32(i))
	}
	if got := <-done; got != 100*50*(40+89)/2 {
		t.Errorf("sum %v", got)
	}
}

func BenchmarkTrackAppend(b *testing.B) {
	tr := NewTrack(1800)
	b.ReportAllocs()
	for b.Loop() {
		tr.Append(1)
	}
}

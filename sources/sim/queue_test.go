package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQueueAgainstASlice(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 0))
	var q queue
	var want []*request
	for i := range 20000 {
		r := &request{id: int64(i)}
		switch op := random.IntN(5); {
		case op < 2:
			q.pushBack(r)
			want = append(want, r)
		case op == 2:
			q.pushFront(r)
			want = slices.Insert(want, 0, r)
		case len(want) > 0:
			if q.first() != want[0] || q.popFront() != want[0] {
				t.Fatalf("step %d: wrong head", i)
			}
			want = want[1:]
		}
		if q.len() != len(want) {
			t.Fatalf("step %d: length %d, want %d", i, q.len(), len(want))
		}
		if n := len(want); n > 0 && q.at(n-1) != want[n-1] {
			t.Fatalf("step %d: wrong tail", i)
		}
	}
}

package sketch

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"slotop/model"
)

func BenchmarkAdd(b *testing.B) {
	values := logNormal(rand.New(rand.NewPCG(10, 10)), 1<<16)
	for name, n := range map[string]int{"exact": maxExact, "buckets": 1 << 16} {
		b.Run(name, func(b *testing.B) {
			var s Sketch
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%n == 0 {
					s = Sketch{}
				}
				s.Add(values[i%n])
			}
		})
	}
}

// The work of one workflow at one tick: a minute, which is up to seven blocks,
// five metrics, and their quantiles.
func BenchmarkWindow(b *testing.B) {
	for name, perBlock := range map[string]int{"100": 100, "2000": 2000, "20000": 20_000} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(11, 11))
			var blocks [7][5]Sketch
			for i := range blocks {
				for m := range blocks[i] {
					blocks[i][m].Merge(of(logNormal(r, perBlock)...))
				}
			}
			var sums [5]Sketch
			b.ReportAllocs()
			for b.Loop() {
				for m := range sums {
					sums[m] = Sketch{}
					for i := range blocks {
						sums[m].Merge(&blocks[i][m])
					}
					sums[m].Dist(model.FromEvents)
				}
			}
		})
	}
}

// Sizes are part of the bargain: an empty sketch is a few words, a full one has
// its values, and a rough one less than those.
func TestSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	if n := unsafe.Sizeof(Sketch{}); n > 104 {
		t.Errorf("an empty sketch takes %d bytes", n)
	}
	if s := of(logNormal(r, maxExact)...); 8*cap(s.values) > 20<<10 {
		t.Errorf("%d bytes of values", 8*cap(s.values))
	}
	grown := testing.AllocsPerRun(1, func() { of(logNormal(r, 10*maxExact)...) })
	if s := of(logNormal(r, 10*maxExact)...); s.values != nil || grown > 100 {
		t.Errorf("a rough sketch keeps %d values, %v allocations", cap(s.values), grown)
	}
}

package fleet

import (
	"fmt"
	"testing"
	"time"

	"slotop/model"
)

// BenchmarkDiagnosis is what blocks, samples and the diagnosis cost of each engine and
// frame, polled and ticked once a second: the budget is 0.2 ms. Blocks are closed and
// pools asked at every tenth tick; the figure is the mean over all.
func BenchmarkDiagnosis(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			list, names := servers(n)
			bench := newBench(b, time.Second, names...)
			poll := func(i int) {
				for _, s := range list {
					s.move(i)
					bench.f.Step(model.Input{At: bench.at, Batch: &model.Batch{Target: s.id, Samples: s.samples, About: about}})
				}
			}
			round := func(i int) {
				poll(i)
				bench.tick()
				bench.pass(time.Second)
			}
			for i := range 600 {
				round(i)
			}
			var spent time.Duration
			b.ResetTimer()
			for i := range b.N {
				poll(i)
				fr := bench.tick()
				began := time.Now()
				bench.f.asked, bench.f.block = -1, bench.f.block+1
				for _, t := range bench.f.targets {
					t.closeBlock(bench.f.block-1, bench.f.every)
				}
				for _, w := range bench.f.flows {
					w.closeBlock(bench.f.block - 1)
				}
				bench.f.diagnose(fr)
				spent += time.Since(began)
				bench.pass(10 * time.Second)
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/float64(n)/10, "ns/engine·frame")
		})
	}
}

package requests

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"slotop/model"
)

// A day of requests after another, five reports each.
func BenchmarkTake(b *testing.B) {
	reports := stream(rand.New(rand.NewPCG(5, 5)), 2000)
	batches := slices.Collect(slices.Chunk(reports, 50))
	ids := make([]string, len(reports))
	for i, r := range reports {
		ids[i] = r.ID
	}
	tr := New(time.Minute)
	var batch model.Batch
	b.ReportAllocs()
	round := 0
	for b.Loop() {
		for i, chunk := range batches {
			batch.Requests = chunk
			tr.Take(at(float64(1000*round+i)), &batch, func(Ended) {})
		}
		round++
		b.StopTimer()
		for i := range reports { // the next day: other requests
			reports[i].ID = strconv.Itoa(round) + ids[i]
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(reports)), "ns/report")
}

func BenchmarkEach(b *testing.B) {
	tr := New(time.Minute)
	for i := range 10_000 {
		take(tr, 1, state(strconv.Itoa(i), 1, model.PhaseStreaming))
	}
	b.ReportAllocs()
	for b.Loop() {
		tr.Each(at(2), func(*model.Request, bool) {})
	}
}

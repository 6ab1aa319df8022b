package sim

import (
	"testing"
	"time"
)

// benchmarkScenario runs the demo's service with a page per replica and virtual
// second, and reports how much faster than real time that goes.
func benchmarkScenario(b *testing.B, id string, from time.Duration) {
	s := service(b, Options{Seed: 1, Scenario: id})
	s.Advance(from)
	page := make([]byte, 0, 256<<10)
	b.ReportAllocs()
	for b.Loop() {
		s.Advance(s.Now() + time.Second)
		for _, r := range s.replicas {
			page, _ = r.Page(page[:0])
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "×realtime")
}

func BenchmarkSteady(b *testing.B)   { benchmarkScenario(b, "S0", 60*time.Second) }
func BenchmarkOverload(b *testing.B) { benchmarkScenario(b, "S1", 660*time.Second) }

func BenchmarkPage(b *testing.B) {
	s := service(b, Options{Seed: 1})
	s.Advance(300 * time.Second)
	r := s.Replicas()[0]
	page := make([]byte, 0, 256<<10)
	b.ReportAllocs()
	for b.Loop() {
		page, _ = r.Page(page[:0])
	}
	b.ReportMetric(float64(len(page)), "bytes/page")
}

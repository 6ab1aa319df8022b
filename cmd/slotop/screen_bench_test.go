package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

// BenchmarkScreen is what a screen of 120 by 40 on which everything moves costs at one,
// four and ten frames a second, through a pseudo-terminal. Budgets: 5.5 KB a frame, and
// 1 % of a core at one frame a second; the polls that bring the frames are in it.
func BenchmarkScreen(b *testing.B) {
	for _, bc := range []struct {
		name    string
		every   string
		engines int
	}{
		{"1-per-second", "1s", 1},
		{"4-per-second", "250ms", 1},
		{"10-per-second", "200ms", 3}, // a tenth of a second apart at most, by their offsets
	} {
		b.Run(bc.name, func(b *testing.B) {
			args := []string{"--every", bc.every}
			for range bc.engines {
				server := newEngine(b)
				server.racing()
				args = append(args, server.address())
			}
			s := startWith(b, setup{cols: 120, rows: 40}, args...)
			s.shows("tok/s")
			<-time.After(5 * time.Second) // beyond the rescaling of a young chart
			mark, from, before := s.mark(), time.Now(), must(s.usage())
			<-time.After(time.Duration(max(b.N, 10)) * time.Second)
			took, raw := time.Since(from).Seconds(), s.bytes(mark)
			after, rss := s.usage()
			drawn := float64(strings.Count(raw, "\x1b[?2026h"))
			b.ReportMetric(drawn/took, "frames/s")
			b.ReportMetric(float64(len(raw))/math.Max(drawn, 1), "B/frame")
			b.ReportMetric(float64(longestFrame(raw)), "B-most/frame")
			b.ReportMetric(100*(after-before).Seconds()/took, "%cpu")
			b.ReportMetric(1e3*(after-before).Seconds()/math.Max(drawn, 1), "ms-cpu/frame")
			b.ReportMetric(rss, "MB-rss")
			b.ReportMetric(0, "ns/op")
			s.press("q")
			s.exits(time.Now())
		})
	}
}

package alert

import (
	"fmt"
	"testing"
	"time"

	"slotop/model"
)

// observations are 1,000 of ten rules on a hundred targets; of each hundred the
// first firing are beyond the limit.
func observations(firing int) []Observation {
	var out []Observation
	for r := range 10 {
		rule := Rule{Name: fmt.Sprint("rule-", r), Severity: model.Page, Limit: 1, Clear: 0.9, Hold: time.Minute}
		for i := range 100 {
			o := Observation{Rule: rule, Target: fmt.Sprintf("gpu-%03d", i), Compare: true, Value: model.Of(0.5), Text: "p95 TTFT 0.5 s"}
			if i < firing {
				o.Value = model.Of(2)
			}
			out = append(out, o)
		}
	}
	return out
}

// BenchmarkTick is one tick of 1,000 observations, grouped by rule, up to the
// list and the log.
func BenchmarkTick(b *testing.B) {
	for _, bb := range []struct {
		name   string
		firing int
		group  bool
	}{{"calm", 0, true}, {"10_firing", 1, true}, {"1000_grouped", 100, true}, {"1000_firing", 100, false}} {
		b.Run(bb.name, func(b *testing.B) {
			each, book := observations(bb.firing), NewBook()
			text := func(c Crowd) string { return "many of them" }
			now := time.Duration(0)
			tick := func() {
				at := after(now)
				now += time.Second
				for r := 0; r < len(each); r += 100 {
					of := each[r : r+100]
					if bb.group {
						of = book.Group(of, text, at)
					}
					for _, o := range of {
						book.Observe(o, at)
					}
				}
				book.Settle(at)
				book.Alerts(at)
				book.Log()
			}
			tick()
			b.ReportAllocs()
			for b.Loop() {
				tick()
			}
		})
	}
}

// A calm tick of whatever size costs no memory.
func TestCalmTickAllocatesNothing(t *testing.T) {
	each, book := observations(0), NewBook()
	now := time.Duration(0)
	got := testing.AllocsPerRun(20, func() {
		at := after(now)
		now += time.Second
		for _, o := range book.Group(each[:100], nil, at) {
			book.Observe(o, at)
		}
		for _, o := range each[100:] {
			book.Observe(o, at)
		}
		book.Settle(at)
	})
	if got != 0 {
		t.Errorf("%g allocations, want none", got)
	}
}

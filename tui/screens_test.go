package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/tuitest"
)

func TestScreensGolden(t *testing.T) {
	screens := []struct {
		name  string
		frame *model.Frame
		keys  []string
		ascii bool
	}{
		{"overview-breach", tuitest.Breach(), nil, false},
		{"overview-breach-ascii", tuitest.Breach(), nil, true},
		{"overview-calm", tuitest.Calm(), nil, false},
		{"overview-stale", tuitest.Stale(), nil, false},
		{"overview-mixed", tuitest.Mixed(), nil, false},
		{"overview-first", tuitest.First(), nil, false},
		{"overview-huge", tuitest.Huge(), nil, false},
		{"overview-loadtest", tuitest.LoadTest(), nil, false},
		{"overview-switch", tuitest.Switch(), nil, false},
		{"workflow-breach", tuitest.Breach(), []string{"enter"}, false},
		{"workflow-loadtest", tuitest.LoadTest(), []string{"enter"}, true},
		{"alerts-breach", tuitest.Breach(), []string{"6"}, false},
		{"alerts-mixed", tuitest.Mixed(), []string{"6", "down", "down"}, false},
		{"alerts-calm", tuitest.Calm(), []string{"6"}, false},
		{"alerts-switch", tuitest.Switch(), []string{"6"}, true},
		{"alert", tuitest.Switch(), []string{"6", "enter"}, false},
		{"stage", tuitest.LoadTest(), []string{"m"}, false},
		{"waiting", tuitest.Empty(), nil, false},
		{"fleet-mixed", tuitest.Mixed(), []string{"5"}, false},
		{"fleet-huge", tuitest.Huge(), []string{"5", "end"}, false},
		{"overview-arrivals", tuitest.Arrivals(), nil, false},
		{"overview-throttled-ascii", tuitest.Throttled(), nil, true},
		{"overview-bulk", tuitest.Bulk(), nil, false},
		{"overview-untold", tuitest.Untold(), nil, false},
		{"overview-unexplained", tuitest.Unexplained(), nil, false},
		{"overview-provider", tuitest.Provider(), nil, false},
		{"overview-seen", tuitest.Seen(), nil, false},
		{"overview-longnames", tuitest.LongNames(), nil, false},
		{"findings-arrivals", tuitest.Arrivals(), []string{"6"}, false},
		{"findings-bulk-ascii", tuitest.Bulk(), []string{"6", "down"}, true},
		{"findings-many", tuitest.ManyFindings(), []string{"6", "pgdown"}, false},
		{"finding", tuitest.Arrivals(), []string{"6", "enter"}, false},
		{"finding-longnames", tuitest.LongNames(), []string{"6", "enter"}, false},
		{"overview-gpus", tuitest.GPUs(), nil, false},
		{"gpus", tuitest.GPUs(), []string{"4"}, false},
		{"gpus-ascii", tuitest.GPUs(), []string{"4", "end"}, true},
		{"gpus-none", tuitest.Calm(), []string{"4"}, false},
		{"gpus-many", tuitest.ManyGPUs(8), []string{"4", "pgdown"}, false},
		{"gpu", tuitest.GPUs(), []string{"4", "down", "enter"}, false},
		{"onlygpus", tuitest.OnlyGPUs(), nil, false},
		{"target", tuitest.Mixed(), []string{"5", "enter"}, false},
		{"help", tuitest.Calm(), []string{"?"}, false},
	}
	for _, s := range screens {
		var b strings.Builder
		for _, size := range tuitest.Sizes {
			h := newHarness(t, s.frame, func(o *Options) {
				o.ASCII, o.Ack, o.Mark = s.ascii, func(model.AlertID) {}, func(string) {}
			})
			h.resize(size.W, size.H)
			h.press(s.keys...)
			got := h.View().Content
			tuitest.Fits(t, fmt.Sprintf("%s at %d×%d", s.name, size.W, size.H), got, size.W, size.H)
			fmt.Fprintf(&b, "== %d×%d\n%s\n", size.W, size.H, ansi.Strip(got))
		}
		tuitest.Golden(t, s.name, b.String())
	}
}

// TestEverySize draws each screen on every kind of frame from nothing to a wall.
func TestEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	for _, nf := range append(tuitest.All(), tuitest.Findings()...) {
		h := newHarness(t, nf.Frame, nil)
		for _, keys := range [][]string{{"1"}, {"enter"}, {"pgdown"}, {"4"}, {"down", "enter"}, {"end"}, {"5"}, {"enter"}, {"6"}, {"enter"}, {"esc", "end"}, {"?"}} {
			h.press(keys...)
			for _, w := range []int{0, 1, 10, 39, 40, 57, 80, 131, 300} {
				for _, hh := range []int{0, 1, 9, 10, 13, 24, 33, 100} {
					h.resize(w, hh)
					tuitest.Fits(t, fmt.Sprintf("%s %v at %d×%d", nf.Name, keys, w, hh), h.View().Content, w, max(hh, 1))
				}
			}
		}
	}
}

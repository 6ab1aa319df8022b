package tui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/model"
	"slotop/themes"
	"slotop/tui/tuitest"
)

func benchModel(b *testing.B, latest func() *model.Frame) *Model {
	b.Helper()
	set, err := themes.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	m, err := New(Options{
		Latest: latest, Tick: func(time.Duration) tea.Cmd { return nil },
		Window: func(time.Duration) {}, Themes: set, Theme: "dark",
	})
	if err != nil {
		b.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	return m
}

// BenchmarkView is a refresh at 120×40: with every number moved, with nothing
// new, and with fifty thousand workflows or a thousand targets.
func BenchmarkView(b *testing.B) {
	frames := make([]*model.Frame, 8)
	for i := range frames {
		frames[i] = nextSecond(i)
	}
	many := []*model.Frame{tuitest.Fleet(50_000, 3), tuitest.Fleet(50_000, 3)}
	fleet := []*model.Frame{tuitest.Fleet(20, 1000), tuitest.Fleet(20, 1000)}
	use := []*model.Frame{tuitest.CalmUse(), tuitest.TrafficUse(), tuitest.ThrottledUse()}
	engines := []*model.Frame{tuitest.ManyUse(), tuitest.ManyUse()}
	for _, bench := range []struct {
		name   string
		frames []*model.Frame
		key    string
	}{
		{"everything-moved", frames, "1"}, {"nothing-moved", frames[:1], "1"},
		{"50000-workflows", many, "1"}, {"1000-targets", fleet, "5"}, {"2500-alerts", []*model.Frame{alarming(2500), alarming(2500)}, "6"},
		{"latency", frames, "2"}, {"utilization", use, "4"}, {"14-engines", engines, "4"}, {"capacity", use, "7"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			i := 0
			m := benchModel(b, func() *model.Frame { return bench.frames[i%len(bench.frames)] })
			m.Update(keyNamed(bench.key))
			at := time.Unix(0, 0)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				at = at.Add(time.Second)
				m.cameAt = at
				m.Update(TickMsg{At: at})
				n += len(m.View().Content)
			}
			b.ReportMetric(float64(n)/float64(b.N), "bytes/frame")
		})
	}
}

// alarming is a frame with that many alerts.
func alarming(n int) *model.Frame {
	f := *tuitest.Breach()
	alerts := make([]model.AlertView, n)
	for i := range alerts {
		alerts[i] = f.Alerts[0]
		alerts[i].ID = model.AlertID(fmt.Sprint("rule||", i))
	}
	f.Alerts = alerts
	return &f
}

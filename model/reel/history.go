package reel

import (
	"slices"
	"time"

	"slotop/model"
)

// until is a history as it was at an earlier instant: the points after it are left
// out. Slices are shared.
func until(h *model.History, at model.Instant) *model.History {
	c := *h
	n := points(at, h.End, h.Step)
	if n <= 0 {
		return &c
	}
	c.End = h.End.Add(-time.Duration(n) * h.Step)
	for _, t := range []*model.Track{&c.TTFT, &c.TPOT, &c.ITL, &c.E2E} {
		for _, s := range []*[]float32{&t.P50, &t.P95, &t.LoP95, &t.HiP95, &t.P99} {
			*s = less(*s, n)
		}
	}
	for _, s := range []*[]float32{
		&c.Goodput, &c.GoodputLo, &c.GoodputHi, &c.Requests, &c.Output, &c.Running, &c.Waiting, &c.KV,
		&c.Preemptions, &c.PrefixHit, &c.Queue, &c.Prefill, &c.Decode,
	} {
		*s = less(*s, n)
	}
	for _, m := range []**model.Heat{&c.HeatTTFT, &c.HeatTPOT, &c.HeatE2E} {
		*m = cooler(*m, at)
	}
	c.Events = before(h.Events, at)
	return &c
}

// points is how many points of a grid lie after an instant: the point at or just
// before it stays.
func points(at, end model.Instant, step time.Duration) int {
	if step <= 0 || at.Mono >= end.Mono {
		return 0
	}
	return int((end.Sub(at) + step - 1) / step)
}

func less(s []float32, n int) []float32 {
	n = max(len(s)-n, 0)
	return s[:n:n]
}

// cooler is a heat map without the columns after an instant, nil where nothing was known
// then.
func cooler(m *model.Heat, at model.Instant) *model.Heat {
	if m == nil {
		return nil
	}
	c := *m
	n := points(at, m.End, m.Step)
	c.End = m.End.Add(-time.Duration(n) * m.Step)
	n = max(len(m.Counts)-n, 0)
	c.Counts = m.Counts[:n:n]
	if !slices.ContainsFunc(c.Counts, func(column []float32) bool { return column != nil }) {
		return nil
	}
	return &c
}

// before is the events up to an instant.
func before(events []model.Event, at model.Instant) []model.Event {
	n := len(events)
	for n > 0 && events[n-1].At.Mono > at.Mono {
		n--
	}
	return events[:n:n]
}

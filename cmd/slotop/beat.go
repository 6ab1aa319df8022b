package main

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/tui"
)

// frameGap is the mean time between two new pictures at least: more than ten a
// second nobody reads, and a slow link cannot carry them. burst is how many may
// come at once after a rest: the empty picture at the start must not delay the
// first numbers.
const (
	frameGap = 100 * time.Millisecond
	burst    = 3
)

// idleGap is the time between ticks while nothing is new: what the screen shows
// of itself, such as an age in seconds, needs no more. It is a little more than a
// second: polled each second, nothing is drawn twice.
const idleGap = 1050 * time.Millisecond

// beat makes the screen's ticks. A new frame after a rest is shown at once, so
// that no wait for numbers is rounded up to a tick. Only one tick is under way
// at a time: the screen asks for the next on each.
type beat struct {
	news <-chan struct{}
	next time.Time // when the next new frame may be shown
}

// tick is what the screen asks its ticks of.
func (b *beat) tick(d time.Duration) tea.Cmd {
	return func() tea.Msg {
		fresh := b.wait(d)
		select {
		case <-b.news:
			fresh = true
		default:
		}
		now := time.Now()
		if fresh {
			b.next = latest(b.next, now.Add(-(burst-1)*frameGap)).Add(frameGap)
		}
		return tui.TickMsg{At: now}
	}
}

// wait waits for news, and until they may be shown; where the screen asks for a long
// wait for that: it is not seen. A wake-up without news costs as much as one with it.
func (b *beat) wait(d time.Duration) (fresh bool) {
	if d > frameGap {
		time.Sleep(d)
		return false
	}
	idle := time.NewTimer(idleGap)
	defer idle.Stop()
	select {
	case <-idle.C:
		return false
	case <-b.news:
		time.Sleep(time.Until(b.next))
		return true
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

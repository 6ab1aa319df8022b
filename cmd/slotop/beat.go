package main

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"slotop/tui"
)

// frameGap is the least time between two new pictures: more than ten a second
// nobody reads, and a slow link cannot carry them.
const frameGap = 100 * time.Millisecond

// beat makes the screen's ticks. A new frame after a while without one is shown
// at once, so that the wait for the first numbers is not rounded up to a tick.
// Only one tick is under way at a time: the screen asks for the next on each.
type beat struct {
	news  <-chan struct{}
	shown time.Time // when a new frame was last shown
}

// tick is what the screen asks its ticks of.
func (b *beat) tick(d time.Duration) tea.Cmd {
	return func() tea.Msg {
		b.wait(d)
		now := time.Now()
		select {
		case <-b.news:
			b.shown = now
		default:
		}
		return tui.TickMsg{At: now}
	}
}

// wait waits for d, or for less when there is news. An unseen screen asks for
// long waits and gets them.
func (b *beat) wait(d time.Duration) {
	end := time.NewTimer(d)
	defer end.Stop()
	if d > frameGap {
		<-end.C
		return
	}
	rest := time.NewTimer(frameGap - time.Since(b.shown))
	defer rest.Stop()
	select {
	case <-end.C:
		return
	case <-rest.C:
	}
	select {
	case <-end.C:
	case <-b.news:
		b.shown = time.Now()
	}
}

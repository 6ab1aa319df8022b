package main

import (
	"sync"
	"time"

	"slotop/model"
	"slotop/model/reel"
	"slotop/tui"
)

// What a live screen can go back to: every poll of the last minutes, and one frame in
// ten seconds of the hour before, as long as the weight allows.
const (
	pastDense = 3 * time.Minute
	pastGap   = 10 * time.Second
	pastReach = time.Hour
)

// pastWeight bounds the bytes of the past over a number of targets. A packed frame of
// one engine has 2 KB, one of a hundred 15 KB: all that is kept of an hour fits. Of a
// thousand it does not, and what is long ago lies further apart.
func pastWeight(targets int) int {
	return min(pastLeast+targets*pastEach, pastMost)
}

const (
	pastLeast = 3 << 20
	pastEach  = 32 << 10
	pastMost  = 20 << 20
)

// footage is the past of one collector, for all who watch it. It has a lock of its own:
// a viewer who goes back does not wait for the fold.
type footage struct {
	mu   sync.Mutex
	reel *reel.Reel
}

var _ tui.Past = (*footage)(nil)

func newFootage(targets int, every time.Duration) *footage {
	return &footage{reel: reel.New(reel.Config{Least: every, Dense: pastDense, Gap: pastGap, Reach: pastReach, Weight: pastWeight(targets)})}
}

func (p *footage) add(f *model.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reel.Add(f)
}

// Step implements tui.Past.
func (p *footage) Step(from *model.Frame, by int) *model.Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reel.Step(from.At, by)
}

// Near implements tui.Past.
func (p *footage) Near(at model.Instant) *model.Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reel.Near(at)
}

// Since implements tui.Past.
func (p *footage) Since(at model.Instant) *model.Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reel.Since(at)
}

// Span implements tui.Past.
func (p *footage) Span() (from, to model.Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reel.Span()
}

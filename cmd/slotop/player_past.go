package main

import (
	"context"
	"math"
	"time"

	"slotop/model"
	"slotop/model/reel"
	"slotop/tui"
)

// What a replay can go back to without folding again. It is one person's, who looks at
// one recording: it may weigh more than a live screen's past, and reaches to the
// beginning of the tape, however long ago that is.
const (
	playedDense  = 3 * time.Minute
	playedGap    = 10 * time.Second
	playedWeight = 64 << 20
)

func newPlayed() *reel.Reel {
	return reel.New(reel.Config{Dense: playedDense, Gap: playedGap, Weight: playedWeight})
}

// cheapRefold is how many inputs are folded again from the start of a tape for a frame
// that the reel has no more: that takes some seconds at most. Beyond that the nearest
// frame of the reel is shown.
const cheapRefold = 10_000

// frame is the frame that is looked at, nil before the first.
func (c *cursor) frame() *model.Frame {
	if c.shown != nil {
		return c.shown
	}
	return c.core.box.latest()
}

// place is the time that is looked at.
func (c *cursor) place() time.Duration {
	if c.shown != nil {
		return c.shown.At.Mono
	}
	return c.at
}

// show looks at a frame of the reel; the last one is that of the fold itself, or stands
// for it: where the tape's clock stood, the reel took none of the later frames.
func (c *cursor) show(f *model.Frame) {
	if _, newest := c.reel.Span(); f.At.Mono >= newest.Mono {
		f = nil
	}
	c.shown = f
}

// instant is a time on the tape's own clock.
func instant(at time.Duration) model.Instant { return model.Instant{Mono: at} }

// due is how long after the place the next frame, or input, comes.
func (c *cursor) due() (after time.Duration, ok bool) {
	switch {
	case c.shown != nil:
		return c.reel.Step(c.shown.At, 1).At.Sub(c.shown.At), true
	case c.next != nil:
		return c.next.At.Mono - c.at, true
	}
	return 0, false
}

// goOn plays what has fallen due.
func (p *player) goOn(cur *cursor) error {
	if cur.shown == nil {
		return cur.fold(cur.next.At.Mono)
	}
	return p.forward(cur)
}

// passing tells of the way on a long one, and whether to go on.
func (p *player) passing(ctx context.Context, cur *cursor) error {
	p.update(func(pl *place) { pl.at, pl.going = cur.at-cur.start, true })
	if p.other.Load() > 0 {
		return errElsewhere
	}
	return ctx.Err()
}

// tell hands a word to the viewer.
func (p *player) tell(word string) {
	p.update(func(pl *place) { pl.word, pl.words = word, pl.words+1 })
}

// isCheap reports whether the tape may be folded again up to a time.
func (p *player) isCheap(cur *cursor, until time.Duration) bool {
	whole := (cur.at - cur.start).Seconds()
	return whole <= 0 || float64(cur.folded)*(until-cur.start).Seconds()/whole <= float64(p.cheap)
}

// refold folds the tape again from the start, up to and including a time.
func (p *player) refold(cur *cursor, until time.Duration) error {
	if err := p.restart(cur); err != nil {
		return err
	}
	if err := cur.fold(max(until, cur.start)); err != nil || cur.core.box.latest() != nil {
		return err
	}
	return cur.foldToTick()
}

// Step pauses and goes that many frames on, or back.
func (p *player) Step(frames int) {
	p.order(func(cur *cursor) (err error) {
		p.update(func(pl *place) { pl.paused = true })
		for ; frames > 0 && err == nil; frames-- {
			if cur.shown == nil && cur.next == nil {
				p.tell("the recording ends here")
				return nil
			}
			err = p.forward(cur)
		}
		for ; frames < 0 && err == nil; frames++ {
			err = p.back(cur)
		}
		return err
	})
}

// forward goes to the next frame.
func (p *player) forward(cur *cursor) error {
	if cur.shown == nil {
		return cur.foldToTick()
	}
	at := cur.shown.At
	if _, exact := cur.reel.Until(at.Add(1)); !exact && p.isCheap(cur, at.Mono) {
		if err := p.refold(cur, at.Mono); err != nil {
			return err
		}
		return cur.foldToTick()
	}
	cur.show(cur.reel.Step(at, 1))
	return nil
}

// back goes to the frame before.
func (p *player) back(cur *cursor) error {
	now := cur.frame()
	if now == nil {
		return nil
	}
	before := instant(now.At.Mono - 1)
	f, exact := cur.reel.Until(before)
	if f != nil && !exact && p.isCheap(cur, now.At.Mono) {
		if err := p.refold(cur, now.At.Mono); err != nil {
			return err
		}
		f, _ = cur.reel.Until(before)
	}
	if f == nil {
		p.tell("the recording begins here")
		return nil
	}
	cur.show(f)
	return nil
}

// Seek goes to a time since the first input.
func (p *player) Seek(to time.Duration) {
	p.instead(func(cur *cursor) error {
		if to > 0 && to >= p.now().total {
			return p.seek(cur, math.MaxInt64) // what a damaged index does not tell of is there as well
		}
		return p.seek(cur, cur.start+to)
	})
}

// Jump goes as far on, or back, from where the orders before it led.
func (p *player) Jump(by time.Duration) {
	p.order(func(cur *cursor) error { return p.seek(cur, cur.place()+by) })
}

// seek goes to the last frame up to a time on the tape's own clock, and to the first
// frame where there is none before it.
func (p *player) seek(cur *cursor, to time.Duration) error {
	first, _ := cur.reel.Span()
	switch {
	case cur.core.box.latest() == nil:
		if err := cur.fold(to); err != nil || cur.core.box.latest() != nil {
			return err
		}
		return cur.foldToTick()
	case to >= cur.at:
		cur.shown = nil
		return cur.fold(to)
	case to >= cur.core.box.latest().At.Mono:
		cur.shown = nil
		return nil
	case to < first.Mono:
		to = first.Mono
	}
	f, exact := cur.reel.Until(instant(to))
	if !exact && p.isCheap(cur, to) {
		return p.refold(cur, to)
	}
	cur.show(f)
	return nil
}

// Event pauses at the next event, or the one before. One that is not known yet is
// looked for by folding on, until another order comes.
func (p *player) Event(by int) {
	p.order(func(cur *cursor) error {
		p.update(func(pl *place) { pl.paused = true })
		now := cur.frame()
		if now == nil {
			return nil
		}
		f := tui.EventFrame(cur.core.box.latest().Events, now.At, by, cur.reel)
		if f == nil && by > 0 {
			cur.shown = nil
			found, err := p.foldToEvent(cur)
			if err != nil {
				return err
			}
			f = found
		}
		switch {
		case f != nil:
			cur.show(f)
			p.tell(tui.Happened(cur.core.box.latest().Events, cur.reel.Step(f.At, -1), f))
		case by < 0:
			p.tell("no event before this")
		case cur.next == nil:
			p.tell("no event after this: the recording ends here")
		}
		return nil
	})
}

// foldToEvent folds until something happens: the frame that knows of it, or nil.
func (p *player) foldToEvent(cur *cursor) (*model.Frame, error) {
	for cur.next != nil && len(p.orders) == 0 {
		before := cur.core.box.latest()
		if err := cur.foldToTick(); err != nil {
			return nil, err
		}
		if f := cur.core.box.latest(); tui.Happened(f.Events, before, f) != "" {
			return f, nil
		}
	}
	return nil, nil
}

// Events implements tui.Replay.
func (p *player) Events() []model.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.events
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/tape"
	"slotop/tui"
)

// Bounds of the replay speed, in times real time.
const (
	minSpeed = 0.1
	maxSpeed = 1000
)

// player plays a tape through a fold at the viewer's pace. Going back means
// folding again from the start: the fold is fast, and there is no second way to
// get at a frame that could disagree with the first.
type player struct {
	open   func() (io.ReadCloser, error)
	window time.Duration // the viewer's, 0 for the recorded one
	policy judging
	box    *mailbox
	orders chan func(*cursor) error

	mu    sync.Mutex
	place place
}

// judging chooses what a tape is judged by, given what it was recorded with; nil
// keeps that.
type judging func(recorded model.Policy) (model.Policy, error)

// judging is what a tape is judged by under these settings.
func (a *app) judging(s settings) judging {
	return func(recorded model.Policy) (model.Policy, error) { return a.tapePolicy(s.file, recorded) }
}

// place is where the replay stands.
type place struct {
	at, total time.Duration // since the first input
	speed     float64
	paused    bool
	ended     bool
	trouble   *tape.DamageError // what was lost up to here
}

func newPlayer(open func() (io.ReadCloser, error), window time.Duration, policy judging, speed float64, box *mailbox) *player {
	return &player{
		open: open, window: window, policy: policy, box: box, orders: make(chan func(*cursor) error, 16),
		place: place{speed: min(max(speed, minSpeed), maxSpeed)},
	}
}

// cursor is a position on the tape with the fold that led there.
type cursor struct {
	file   io.Closer
	reader *tape.Reader
	core   *core
	next   *model.Input // read, not yet folded
	start  time.Duration
	at     time.Duration

	frame, before time.Duration // the ticks of this frame and of the one before it
}

// rewind opens the tape and stands before its first input.
func (p *player) rewind() (*cursor, error) {
	file, err := p.open()
	if err != nil {
		return nil, err
	}
	r, err := tape.NewReader(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	h := r.Header()
	window := cmp.Or(p.window, h.Window)
	policy := h.Policy
	if p.policy != nil {
		if policy, err = p.policy(h.Policy); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	c, err := newCore(fleet.Config{Targets: h.Targets, Every: h.Every, Window: window, Policy: policy})
	if err != nil {
		r.Close()
		return nil, errors.Join(fmt.Errorf("tape: %w", err), file.Close())
	}
	cur := &cursor{file: file, reader: r, core: c}
	if err := cur.read(); err != nil {
		return nil, errors.Join(err, cur.close())
	}
	if cur.next != nil {
		cur.start = cur.next.At.Mono
		cur.at, cur.frame, cur.before = cur.start, cur.start, cur.start
	}
	return cur, nil
}

func (c *cursor) close() error {
	c.reader.Close()
	return c.file.Close()
}

// read fetches the next input; at the end of the tape next is nil.
func (c *cursor) read() error {
	in, err := c.reader.Next()
	switch {
	case err == nil:
		c.next = &in
		return nil
	case errors.Is(err, io.EOF):
		c.next = nil
		return nil
	default:
		c.next = nil
		return err
	}
}

// take folds the next input.
func (c *cursor) take() error {
	c.at = c.next.At.Mono
	if c.next.IsTick() {
		c.before, c.frame = c.frame, c.at
	}
	c.core.take(*c.next)
	return c.read()
}

// fold takes the inputs up to and including a time.
func (c *cursor) fold(until time.Duration) error {
	for c.next != nil && c.next.At.Mono <= until {
		if err := c.take(); err != nil {
			return err
		}
	}
	return nil
}

// foldToTick takes inputs up to and including the next tick, of which a frame comes.
func (c *cursor) foldToTick() error {
	for c.next != nil {
		tick := c.next.IsTick()
		if err := c.take(); err != nil || tick {
			return err
		}
	}
	return nil
}

// run plays until ctx ends.
func (p *player) run(ctx context.Context, total time.Duration) error {
	cur, err := p.rewind()
	if err != nil {
		return err
	}
	defer func() { _ = cur.close() }()
	p.update(func(pl *place) { pl.total = total })
	for ctx.Err() == nil {
		if err := p.turn(ctx, cur); err != nil {
			var damage *tape.DamageError
			if !errors.As(err, &damage) {
				return err
			}
		}
		p.publish(cur)
	}
	return nil
}

// turn waits for the next input to fall due, or for the viewer.
func (p *player) turn(ctx context.Context, cur *cursor) error {
	now := p.now()
	if now.paused || cur.next == nil {
		select {
		case <-ctx.Done():
			return nil
		case order := <-p.orders:
			return order(cur)
		}
	}
	due := time.NewTimer(time.Duration(float64(cur.next.At.Mono-cur.at) / now.speed))
	defer due.Stop()
	select {
	case <-ctx.Done():
		return nil
	case order := <-p.orders:
		return order(cur)
	case <-due.C:
		return cur.fold(cur.next.At.Mono)
	}
}

func (p *player) publish(cur *cursor) {
	if f := cur.core.box.latest(); f != nil {
		p.box.put(f)
	}
	p.update(func(pl *place) {
		pl.at = cur.at - cur.start
		if lost := cur.reader.Lost(); lost != nil {
			pl.trouble = lost
		}
		pl.ended = cur.next == nil
	})
}

func (p *player) now() place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.place
}

func (p *player) update(f func(*place)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.place)
}

// order hands the viewer's wish to the playing goroutine and does not wait for
// it. Keys pressed faster than they can be done are dropped.
func (p *player) order(o func(*cursor) error) {
	select {
	case p.orders <- o:
	default:
	}
}

// Pause stops or resumes.
func (p *player) Pause(paused bool) {
	p.order(func(*cursor) error {
		p.update(func(pl *place) { pl.paused = paused })
		return nil
	})
}

// Step pauses and goes that many frames on, or back.
func (p *player) Step(frames int) {
	p.order(func(cur *cursor) error {
		p.update(func(pl *place) { pl.paused = true })
		for ; frames > 0; frames-- {
			if err := cur.foldToTick(); err != nil {
				return err
			}
		}
		for ; frames < 0; frames++ {
			if err := p.seek(cur, cur.before); err != nil {
				return err
			}
		}
		return nil
	})
}

// Seek goes to a time since the first input.
func (p *player) Seek(to time.Duration) {
	p.order(func(cur *cursor) error { return p.seek(cur, cur.start+to) })
}

// Jump goes as far on, or back, from where the orders before it led.
func (p *player) Jump(by time.Duration) {
	p.order(func(cur *cursor) error { return p.seek(cur, cur.at+by) })
}

// seek folds up to a time on the tape's own clock, and to the first frame where
// there is none before it.
func (p *player) seek(cur *cursor, to time.Duration) error {
	if to < cur.at {
		if err := p.restart(cur); err != nil {
			return err
		}
	}
	if err := cur.fold(max(to, cur.start)); err != nil || cur.core.box.latest() != nil {
		return err
	}
	return cur.foldToTick()
}

// restart puts cur before the first input.
func (p *player) restart(cur *cursor) error {
	again, err := p.rewind()
	if err != nil {
		return err
	}
	_ = cur.close()
	*cur = *again
	return nil
}

// Speed sets the speed, in times real time.
func (p *player) Speed(factor float64) {
	p.order(func(*cursor) error {
		p.update(func(pl *place) { pl.speed = min(max(factor, minSpeed), maxSpeed) })
		return nil
	})
}

// Position is where the replay stands.
func (p *player) Position() tui.Position {
	pl := p.now()
	return tui.Position{At: pl.at, Length: pl.total, Speed: pl.speed, Paused: pl.paused, Ended: pl.ended, Damaged: pl.trouble != nil}
}

// setWindow folds again with another window, up to where the replay stands.
func (p *player) setWindow(w time.Duration) {
	p.order(func(cur *cursor) error {
		p.window = w
		at := cur.at
		if err := p.restart(cur); err != nil {
			return err
		}
		return cur.fold(at)
	})
}

// openTape opens a recording. A name that leads nowhere is the caller's mistake.
func openTape(path string) (io.ReadCloser, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, usageError(fmt.Errorf("open the tape: %w", err))
	}
	return f, nil
}

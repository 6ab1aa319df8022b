package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/reel"
	"slotop/model/tape"
	"slotop/tui"
)

// Bounds of the replay speed, in times real time.
const (
	minSpeed = 0.1
	maxSpeed = 1000
)

// player plays a tape through a fold at the viewer's pace. What was played lies on a
// reel, and going back shows a frame of it. Where the reel has thinned out and the tape
// is short, it is folded again from the start instead: either way it is a frame that the
// fold made, and none could disagree with it.
type player struct {
	open   func() (io.ReadCloser, error)
	window time.Duration // the viewer's, 0 for the recorded one
	policy judging
	box    *mailbox
	orders chan func(*cursor) error
	cheap  int          // how many inputs may be folded again for a frame that the reel lacks
	other  atomic.Int32 // orders that wait and lead elsewhere: a long way to before them is broken off

	mu     sync.Mutex
	place  place
	events []model.Event // as far as the tape was folded
	folded int           // inputs in all
	before int           // inputs before it was folded anew the last time
}

// judging is how a tape is folded where that is not only as it was recorded; nil: as it
// was.
type judging = *terms

type terms struct {
	policy func(recorded model.Policy) (model.Policy, error)
	notes  []model.Annotation // beside those on the tape
}

// over is what a tape is judged by, given what it was recorded with.
func (t *terms) over(recorded model.Policy) (model.Policy, error) {
	if t == nil {
		return recorded, nil
	}
	return t.policy(recorded)
}

// judging is how a tape is folded under these settings.
func (a *app) judging(s settings) judging {
	return &terms{
		policy: func(recorded model.Policy) (model.Policy, error) { return a.tapePolicy(s.file, recorded) },
		notes:  s.notes.all(),
	}
}

// place is where the replay stands.
type place struct {
	at, total time.Duration // since the first input
	speed     float64
	paused    bool
	ended     bool
	going     bool              // to where an order leads
	trouble   *tape.DamageError // what was lost up to here
	word      string            // what the last order that came to nothing, or to an event, has to say
	words     int
}

func newPlayer(open func() (io.ReadCloser, error), window time.Duration, policy judging, speed float64, box *mailbox) *player {
	return &player{
		open: open, window: window, policy: policy, box: box, orders: make(chan func(*cursor) error, 16), cheap: cheapRefold,
		place: place{speed: min(max(speed, minSpeed), maxSpeed)},
	}
}

// cursor is a position on the tape with the fold that led there.
type cursor struct {
	file   io.Closer
	reader *tape.Reader
	notes  amid
	core   *core
	next   *model.Input // read, not yet folded
	start  time.Duration
	at     time.Duration
	folded int // inputs

	reel  *reel.Reel   // the frames that were folded
	shown *model.Frame // that is looked at where it is not the last one folded
	pass  func() error // asked now and then on a long way
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
	policy, err := p.policy.over(h.Policy)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	c, err := newCore(fleet.Config{Targets: h.Targets, Every: h.Every, Window: window, Policy: policy})
	if err != nil {
		r.Close()
		return nil, errors.Join(fmt.Errorf("tape: %w", err), file.Close())
	}
	cur := &cursor{file: file, reader: r, core: c, reel: newPlayed(), pass: func() error { return nil }}
	if p.policy != nil {
		cur.notes.left = p.policy.notes
	}
	if err := cur.read(); err != nil {
		return nil, errors.Join(err, cur.close())
	}
	if cur.next != nil {
		cur.start = cur.next.At.Mono
		cur.at = cur.start
	}
	return cur, nil
}

func (c *cursor) close() error {
	c.reader.Close()
	return c.file.Close()
}

// read fetches the next input; at the end of the tape next is nil.
func (c *cursor) read() error {
	in, err := c.notes.next(c.reader.Next)
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
	tick := c.next.IsTick()
	c.core.take(*c.next)
	if tick {
		c.reel.Add(c.core.box.latest())
	}
	c.folded++
	if err := c.read(); err != nil || c.folded%passEvery > 0 {
		return err
	}
	return c.pass()
}

// passEvery is after how many inputs it is looked up from folding: some tenths of a
// second.
const passEvery = 512

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

// run plays until ctx ends. The tape's last input is at the time given, as far as its
// index tells: what was lost at the beginning is not part of the length.
func (p *player) run(ctx context.Context, last time.Duration) error {
	cur, err := p.rewind()
	if err != nil {
		return err
	}
	defer func() { _ = cur.close() }()
	p.update(func(pl *place) { pl.total = max(last-cur.start, 0) })
	for ctx.Err() == nil {
		cur.pass = func() error { return p.passing(ctx, cur) }
		if err := p.turn(ctx, cur); err != nil {
			var damage *tape.DamageError
			if ctx.Err() == nil && !errors.As(err, &damage) && !errors.Is(err, errElsewhere) {
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
	next, ok := cur.due()
	if now.paused || !ok {
		select {
		case <-ctx.Done():
			return nil
		case order := <-p.orders:
			return order(cur)
		}
	}
	due := time.NewTimer(time.Duration(float64(next) / now.speed))
	defer due.Stop()
	select {
	case <-ctx.Done():
		return nil
	case order := <-p.orders:
		return order(cur)
	case <-due.C:
		return p.goOn(cur)
	}
}

func (p *player) publish(cur *cursor) {
	if f := cur.frame(); f != nil {
		p.box.put(f)
	}
	p.update(func(pl *place) {
		pl.at, pl.going = cur.place()-cur.start, false
		if lost := cur.reader.Lost(); lost != nil {
			pl.trouble = lost
		}
		pl.ended = cur.next == nil && cur.shown == nil
		if known := max(cur.at-cur.start, 0); pl.ended || known > pl.total {
			pl.total = known // an index of a damaged tape knows of more, or of less, than can be read
		}
		if f := cur.core.box.latest(); f != nil {
			p.events = f.Events
		}
		p.folded = p.before + cur.folded
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
func (p *player) order(o func(*cursor) error) (taken bool) {
	select {
	case p.orders <- o:
		return true
	default:
		return false
	}
}

// errElsewhere ends a way to a place where nobody wants to go any more.
var errElsewhere = errors.New("another order leads elsewhere")

// instead is an order that does not depend on where those before it lead: it does not
// wait until they are there.
func (p *player) instead(o func(*cursor) error) {
	p.other.Add(1)
	if !p.order(func(cur *cursor) error {
		p.other.Add(-1)
		return o(cur)
	}) {
		p.other.Add(-1)
	}
}

// Pause stops or resumes.
func (p *player) Pause(paused bool) {
	p.instead(func(*cursor) error {
		p.update(func(pl *place) { pl.paused = paused })
		return nil
	})
}

// restart puts cur before the first input.
func (p *player) restart(cur *cursor) error {
	again, err := p.rewind()
	if err != nil {
		return err
	}
	_ = cur.close()
	p.before += cur.folded
	again.pass = cur.pass
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
	return tui.Position{
		At: pl.at, Length: pl.total, Speed: pl.speed, Paused: pl.paused, Ended: pl.ended, Going: pl.going,
		Damaged: pl.trouble != nil, Word: pl.word, Words: pl.words,
	}
}

// setWindow folds again with another window, up to where the replay stands.
func (p *player) setWindow(w time.Duration) {
	p.order(func(cur *cursor) error {
		p.window = w
		return p.refold(cur, cur.place())
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

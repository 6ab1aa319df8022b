package main

import (
	"sync"
	"sync/atomic"
	"time"

	"slotop/model"
	"slotop/model/fleet"
)

// core takes inputs one at a time into the fold, and the frame that comes of it
// into the mailbox. It is the one place where the scheduler and the viewer's
// choices meet, so it is the one place with a lock.
type core struct {
	mu   sync.Mutex
	fold *fleet.Fleet
	box  *mailbox
	hear func(*model.Frame) // gets every frame and does not wait; nil: nobody
	kept *footage           // what viewers can go back to, the past that was recalled included; nil: nothing
	last model.Instant
	past bool         // what comes in is the past: it is remembered, and not shown
	told atomic.Int64 // how much of the past came in, in thousandths; 0: none is coming
}

// newCore builds the fold.
func newCore(c fleet.Config) (*core, error) {
	f, err := fleet.New(c)
	if err != nil {
		return nil, err
	}
	return &core{fold: f, box: newMailbox()}, nil
}

// take is what sources emit to.
func (c *core) take(in model.Input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step(in)
}

func (c *core) step(in model.Input) {
	c.last = in.At
	f := c.fold.Step(in)
	if f != nil && c.kept != nil {
		c.kept.add(f)
	}
	if f != nil && !c.past {
		c.box.put(f)
		if c.hear != nil {
			c.hear(f)
		}
	}
}

// hush says whether what comes in is the past.
func (c *core) hush(past bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past = past
}

// setWindow is the viewer's choice of another window. It is an input like any
// other, and shown without waiting for the next poll.
func (c *core) setWindow(w time.Duration) { c.say(model.Input{Window: w}) }

// acknowledge is the viewer's word that an alert is seen, or that it is not.
func (c *core) acknowledge(id model.AlertID) { c.say(model.Input{Ack: id}) }

// mark begins a stage of a load test.
func (c *core) mark(name string) { c.say(model.Input{Mark: name}) }

// say is an input of the viewer's, shown without waiting for the next poll.
func (c *core) say(in model.Input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.IsZero() {
		return
	}
	in.At = c.last
	c.step(in)
	c.step(model.Input{At: c.last})
}

// mailbox holds the newest frame only: a slow terminal skips frames, it never
// delays a poll.
type mailbox struct {
	frame atomic.Pointer[model.Frame]
	news  chan struct{} // something is new; nil where nobody waits for it
}

func newMailbox() *mailbox { return &mailbox{news: make(chan struct{}, 1)} }

func (b *mailbox) put(f *model.Frame) {
	b.frame.Store(f)
	select {
	case b.news <- struct{}{}:
	default:
	}
}

func (b *mailbox) latest() *model.Frame { return b.frame.Load() }

// settled reports whether every target of the frame has the given number of
// good polls, or has failed as often without one.
func settled(f *model.Frame, polls int) bool {
	if f == nil || len(f.Targets) == 0 {
		return false
	}
	for i := range f.Targets {
		t := &f.Targets[i]
		good := t.Polls - t.FailedPolls
		if good < polls && (good > 0 || t.FailedPolls < polls) {
			return false
		}
	}
	return true
}

// anyGood reports whether any target ever answered well.
func anyGood(f *model.Frame) bool {
	for i := range f.Targets {
		if f.Targets[i].Polls > f.Targets[i].FailedPolls {
			return true
		}
	}
	return false
}

// pollInterval is the interval for a number of targets: a second for what one
// person watches, longer where a second would make the watcher the load.
func pollInterval(targets int) time.Duration {
	switch {
	case targets <= 20:
		return time.Second
	case targets <= 200:
		return 2 * time.Second
	default:
		return 5 * time.Second
	}
}

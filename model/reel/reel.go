// Package reel keeps frames of the past: each of the last minutes, and further back
// fewer, as many as its bound on memory allows. It makes no frames, reads no clock and
// has one caller at a time.
package reel

import (
	"slices"
	"sort"
	"time"

	"slotop/model"
)

// Config says what a reel keeps.
type Config struct {
	Least  time.Duration // between two frames: of those that come faster each replaces the one before
	Dense  time.Duration // how far back every frame is kept
	Gap    time.Duration // between two frames before that
	Reach  time.Duration // older frames go; 0: none goes for its age
	Weight int           // bytes that the packed frames may take; the oldest stays whatever it takes
}

// Reel keeps frames in the order of their instants. What it hands out is never written
// to.
type Reel struct {
	config Config
	takes  []take
	sparse int // so many of the takes, from the oldest on, lie before the dense part
	packed int // and so many are packed
	weight int // bytes of those
	press  press
}

// take is a frame that is kept.
type take struct {
	at     model.Instant
	frame  *model.Frame // nil: it is packed
	packed []byte
	event  bool // something happened since the frame before it: viewers jump here
	cut    bool // frames between the one before it and this one are gone
}

// New makes an empty reel.
func New(c Config) *Reel { return &Reel{config: c, press: newPress()} }

// Add takes the next frame. A frame that is not newer than the last is not taken.
func (r *Reel) Add(f *model.Frame) {
	n := len(r.takes)
	if n > 0 && f.At.Mono <= r.takes[n-1].at.Mono {
		return
	}
	t := take{at: f.At, frame: f, event: n > 0 && eventful(r.takes[n-1].frame, f)}
	r.takes = append(r.takes, t)
	if n > 1 && !r.takes[n-1].event && f.At.Sub(r.takes[n-2].at) < r.config.Least {
		r.remove(n - 1)
	}
	r.forget()
	r.thin()
	r.pack()
	r.lighten()
}

// open is how many frames, the newest, are not packed: the newest is what everybody
// looks at, and the one before it may yet be replaced.
const open = 2

// pack writes frames as bytes once they will stay: so they weigh a fraction.
func (r *Reel) pack() {
	for ; r.packed < len(r.takes)-open; r.packed++ {
		t := &r.takes[r.packed]
		t.packed, t.frame = r.press.pack(bare(t.frame)), nil
		r.weight += len(t.packed)
	}
}

// eventful reports whether something happened after one frame and up to the next.
func eventful(before, f *model.Frame) bool {
	return slices.ContainsFunc(f.Events, func(e model.Event) bool { return e.At.Mono > before.At.Mono })
}

// remove takes a frame out; the one after it then follows a cut.
func (r *Reel) remove(i int) {
	r.weight -= len(r.takes[i].packed)
	r.takes = slices.Delete(r.takes, i, i+1)
	if i < len(r.takes) {
		r.takes[i].cut = true
	}
	if i < r.sparse {
		r.sparse--
	}
	if i < r.packed {
		r.packed--
	}
}

// forget drops what lies beyond the reach.
func (r *Reel) forget() {
	for r.config.Reach > 0 && len(r.takes) > 1 && r.ageOf(0) > r.config.Reach {
		r.remove(0)
	}
}

func (r *Reel) ageOf(i int) time.Duration {
	return r.takes[len(r.takes)-1].at.Sub(r.takes[i].at)
}

// thin looks at each frame once, when it leaves the dense part: it stays where it is
// the first in a while, or where something happened.
func (r *Reel) thin() {
	for r.sparse < len(r.takes)-1 && r.ageOf(r.sparse) > r.config.Dense {
		i := r.sparse
		t := &r.takes[i]
		if i > 0 && !t.event && t.at.Sub(r.takes[i-1].at) < r.config.Gap {
			r.remove(i)
			continue
		}
		r.sparse++
	}
}

// bare is a frame without its charts' past. That of the newest frame holds the same
// points: keeping those of an hour ago alive would cost a multiple of them.
func bare(f *model.Frame) *model.Frame {
	c := *f
	c.Workflows = slices.Clone(f.Workflows)
	for i := range c.Workflows {
		c.Workflows[i].History = nil
	}
	return &c
}

// keptForEvent is how much wider the hole must be that a frame leaves where something
// happened, compared with one where nothing did.
const keptForEvent = 16

// lighten drops frames until the others weigh no more than they may, each time the one
// that leaves the smallest hole for its age: what is long ago is looked for less
// exactly.
func (r *Reel) lighten() {
	for r.weight > r.config.Weight && r.packed > 1 {
		least, at := 0.0, 0
		for i := 1; i < r.packed; i++ {
			hole := r.takes[i+1].at.Sub(r.takes[i-1].at).Seconds() / (r.ageOf(i) + time.Second).Seconds()
			if r.takes[i].event {
				hole *= keptForEvent
			}
			if at == 0 || hole < least {
				least, at = hole, i
			}
		}
		r.remove(at)
	}
}

// Span is when the oldest and the newest frame are of; two zero instants while there
// is none.
func (r *Reel) Span() (from, to model.Instant) {
	if len(r.takes) == 0 {
		return model.Instant{}, model.Instant{}
	}
	return r.takes[0].at, r.takes[len(r.takes)-1].at
}

// after is the position of the first frame that is later than an instant.
func (r *Reel) after(at time.Duration) int {
	return sort.Search(len(r.takes), func(i int) bool { return r.takes[i].at.Mono > at })
}

// Step is the frame that lies that many kept frames after an instant, or before it
// when by is negative; nil where there is none, and when by is 0.
func (r *Reel) Step(at model.Instant, by int) *model.Frame {
	i := r.after(at.Mono) // of the first later one
	switch {
	case by == 0:
		return nil
	case by > 0:
		i += by - 1
	case i > 0 && r.takes[i-1].at.Mono == at.Mono:
		i += by - 1
	default:
		i += by
	}
	return r.frame(i)
}

// Near is the frame nearest to an instant, the earlier of two that are as near; nil
// while there is none.
func (r *Reel) Near(at model.Instant) *model.Frame {
	i := r.after(at.Mono)
	if i == len(r.takes) || i > 0 && at.Sub(r.takes[i-1].at) <= r.takes[i].at.Sub(at) {
		i--
	}
	return r.frame(i)
}

// Since is the first frame that is not earlier than an instant; nil where there is none.
func (r *Reel) Since(at model.Instant) *model.Frame { return r.frame(r.after(at.Mono - 1)) }

// Until is the last frame that is not later than an instant, nil where there is none.
// It is exact where no frame is missing between it and the one after it.
func (r *Reel) Until(at model.Instant) (f *model.Frame, exact bool) {
	i := r.after(at.Mono)
	if i == 0 {
		return nil, false
	}
	exact = r.takes[i-1].at.Mono == at.Mono || i < len(r.takes) && !r.takes[i].cut
	return r.frame(i - 1), exact
}

// frame is the i-th frame with its charts' past, nil where there is none.
func (r *Reel) frame(i int) *model.Frame {
	if i < 0 || i >= len(r.takes) {
		return nil
	}
	if f := r.takes[i].frame; f != nil {
		return f
	}
	return hang(r.press.unpack(r.takes[i].packed), r.newest())
}

// newest is the newest frame: it is never packed.
func (r *Reel) newest() *model.Frame { return r.takes[len(r.takes)-1].frame }

// hang gives a frame the past that its charts had, as far as the newest frame still
// knows it.
func hang(f, newest *model.Frame) *model.Frame {
	past := make(map[string]*model.History, len(newest.Workflows))
	for i := range newest.Workflows {
		past[newest.Workflows[i].Name] = newest.Workflows[i].History
	}
	for i := range f.Workflows {
		if h := past[f.Workflows[i].Name]; h != nil {
			f.Workflows[i].History = until(h, f.At)
		}
	}
	return f
}

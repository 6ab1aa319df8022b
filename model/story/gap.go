package story

import (
	"cmp"
	"slices"
	"time"

	"slotop/model"
)

// Gap is a stretch of which something is not known.
type Gap struct {
	Target   string // that told nothing; "": all of them
	From, To model.Instant
	Open     bool // it lasts at the end of the story
	Kind     GapKind
	Why      string // as the target's fault says
	Fault    model.FaultKind
}

// GapKind says what kind of a gap it is.
type GapKind string

// The kinds. A silent target does not answer, or says nothing new; in a pause nothing
// was polled at all; at a clock step the wall clock was set, and no data is missing.
const (
	GapSilent GapKind = "silent"
	GapPause  GapKind = "pause"
	GapClock  GapKind = "clock"
)

// Lasted is how long the gap is. Of a step of the clock it is by how much it was set,
// below 0 where that was backwards.
func (g *Gap) Lasted() time.Duration {
	if g.Kind == GapClock {
		return g.To.Wall.Sub(g.From.Wall) - g.To.Sub(g.From)
	}
	return g.To.Sub(g.From)
}

// clockStep is by how much the two clocks may part between two frames before it is
// told: what a clock is slewed by is less.
const clockStep = 2 * time.Second

type gaps struct {
	open map[string]*Gap
	done []Gap
	left int
	out  map[string]bool // silent targets that there is no room for, each counted once
}

func (g *gaps) take(f, before *model.Frame, poll time.Duration) {
	if before != nil {
		g.between(f, before, poll)
	}
	for i := range f.Targets {
		g.target(&f.Targets[i], f.At)
	}
}

// between compares a frame's stamp with that of the one before.
func (g *gaps) between(f, before *model.Frame, poll time.Duration) {
	passed := f.At.Sub(before.At)
	if passed > late(poll) {
		g.add(Gap{From: before.At, To: f.At, Kind: GapPause})
	}
	if step := f.At.Wall.Sub(before.At.Wall) - passed; step > clockStep || step < -clockStep {
		g.add(Gap{From: before.At, To: f.At, Kind: GapClock})
	}
}

func (g *gaps) target(t *model.TargetView, at model.Instant) {
	one := g.open[t.Name]
	if t.State != model.Down && t.State != model.StaleAt {
		if one != nil {
			one.To, one.Open = at, false
			g.add(*one)
			delete(g.open, t.Name)
		}
		delete(g.out, t.Name)
		return
	}
	if one == nil {
		if len(g.open) >= maxGaps {
			if !g.out[t.Name] && len(g.out) < maxPolls {
				if g.out == nil {
					g.out = map[string]bool{}
				}
				g.out[t.Name] = true
				g.left++
			}
			return
		}
		from := at
		switch {
		case !t.LastGoodAt.IsZero():
			from = t.LastGoodAt
		case !t.Since.IsZero():
			from = t.Since
		}
		if g.open == nil {
			g.open = map[string]*Gap{}
		}
		one = &Gap{Target: t.Name, From: from, Open: true, Kind: GapSilent}
		g.open[t.Name] = one
	}
	one.To = at
	if t.Fault != nil {
		one.Fault, one.Why = t.Fault.Kind, t.Fault.Detail
	}
}

func (g *gaps) add(one Gap) {
	if len(g.done) >= maxGaps {
		g.left++
		return
	}
	g.done = append(g.done, one)
}

func (g *gaps) list() []Gap {
	all := slices.Clone(g.done)
	for _, one := range g.open {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.From.Mono, b.From.Mono), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// Polls is how well one target answered over the story.
type Polls struct {
	Target   string
	All      int // that ended
	Failed   int
	Restarts int
	BadLines int // in the last good page
	Dropped  int // series refused by a limit, in the last good page
}

// polls is what the last frame counts less what the first had counted already. Of
// those that were all well, there may be too many to list.
func polls(first, last *model.Frame) (all []Polls, left int) {
	if last == nil {
		return nil, 0
	}
	before := make(map[string]*model.TargetView, len(first.Targets))
	for i := range first.Targets {
		before[first.Targets[i].Name] = &first.Targets[i]
	}
	for i := range last.Targets {
		t := &last.Targets[i]
		if len(all) >= maxPolls {
			left++
			continue
		}
		p := Polls{Target: t.Name, All: t.Polls, Failed: t.FailedPolls, Restarts: t.Restarts, BadLines: t.BadLines, Dropped: t.Dropped}
		if b := before[t.Name]; b != nil && last != first && b.Restarts <= t.Restarts {
			p.Restarts -= b.Restarts
		}
		all = append(all, p)
	}
	return all, left
}

package fleet

import (
	"math"
	"slices"
	"time"

	"slotop/model/diagnose"
)

// This file and blocks_count keep what every target saw, and its part in every
// workflow, in blocks of ten seconds that all share: what the diagnosis compares. A
// block in which a target was not read is missing for it, and is not zero.

// mostRecent bounds the blocks that wait to become part of a baseline or to be
// forgotten: the present, the pause, and the longest lag of a target that passes on
// what it reads.
const mostRecent = diagnose.NowBlocks + diagnose.PauseBlocks + mostLag + 1

// mostLag is for how many blocks one waits at most for a target that tells in steps.
const mostLag = 18

// blockOf is the block in which a time is.
func blockOf(at time.Duration) int64 { return int64(at / diagnose.Block) }

// part is the newest blocks of a target, or of its part in one workflow, oldest
// first.
type part struct {
	at      []int64 // their places on the grid, without those that are missing
	sums    []diagnose.Sums
	waited  []float64 // the most that were seen waiting
	first   int64     // of all blocks it ever had
	any     bool
	open    gathering
	flying  float64 // that ran and waited on the newest page, NaN not told
	arrives bool    // flying was told at the beginning of the open block too
}

// add appends a block; of more than can matter the oldest goes.
func (p *part) add(at int64, s diagnose.Sums, waited float64) {
	if !p.any {
		p.first, p.any = at, true
	}
	if n := len(p.at); n > 0 && at <= p.at[n-1] {
		return
	}
	p.at, p.sums, p.waited = append(p.at, at), append(p.sums, s), append(p.waited, waited)
	if len(p.at) > mostRecent {
		p.drop(len(p.at) - mostRecent)
	}
}

func (p *part) drop(n int) {
	p.at = slices.Delete(p.at, 0, n)
	p.sums = slices.Delete(p.sums, 0, n)
	p.waited = slices.Delete(p.waited, 0, n)
}

// forget drops the blocks up to and with one.
func (p *part) forget(through int64) {
	n, _ := slices.BinarySearch(p.at, through+1)
	if n > 0 {
		p.drop(n)
	}
}

// find is one block, nil where it is missing.
func (p *part) find(at int64) *diagnose.Sums {
	if i, ok := slices.BinarySearch(p.at, at); ok {
		return &p.sums[i]
	}
	return nil
}

// between are the places from first to last that it has blocks of.
func (p *part) between(first, last int64) (from, to int) {
	from, _ = slices.BinarySearch(p.at, first)
	to, _ = slices.BinarySearch(p.at, last+1)
	return from, to
}

// clone is a part with the same blocks that goes on by itself.
func (p *part) clone() *part {
	c := *p
	c.at, c.sums, c.waited = slices.Clone(p.at), slices.Clone(p.sums), slices.Clone(p.waited)
	return &c
}

// past is what a target saw.
type past struct {
	from   []float64     // its counters at the end of its last block, nil: they begin with the next page
	fromAt time.Duration // when that was
	last   time.Duration // when it told something new last
	widest time.Duration // the longest time between two such since
	closed int64         // its newest block, or the one before its first page

	whole part
	parts map[*workflow]*part // of a target with one workflow: its whole
	base  []diagnose.Sums     // of the whole, oldest first
}

// split says which part of the target's past each sample counts for.
func (p *past) split(slots []*slot, flows map[*workflow]*tally) {
	parts := make(map[*workflow]*part, len(flows))
	for w := range flows {
		switch old := p.parts[w]; {
		case w == nil:
		case len(flows) == 1:
			parts[w] = &p.whole
		case old == nil:
			parts[w] = &part{flying: math.NaN(), open: newGathering()}
		case old == &p.whole:
			parts[w] = old.clone()
		default:
			parts[w] = old
		}
	}
	p.parts = parts
	for _, sl := range slots {
		sl.part = parts[sl.flow]
	}
}

// each calls f for every part of the past once.
func (p *past) each(f func(*part)) {
	f(&p.whole)
	for _, one := range p.parts {
		if one != &p.whole {
			f(one)
		}
	}
}

// begin forgets what was counted before the present page: it has nothing in common
// with it.
func (p *past) begin(total []float64, at time.Duration) {
	p.from = append(p.from[:0], total...)
	p.fromAt, p.last, p.widest, p.closed = at, at, 0, blockOf(at)-1
	p.each(func(one *part) { one.open, one.flying, one.arrives = newGathering(), math.NaN(), false })
}

// grow gives series that are new on the present page their beginning: zero for those
// born since the page before it, what they show first for the others.
func (p *past) grow(total []float64, born bool) {
	p.from = grown(p.from, len(total))
	for i, v := range total {
		switch {
		case !math.IsNaN(p.from[i]) || math.IsNaN(v):
		case born:
			p.from[i] = 0
		default:
			p.from[i] = v
		}
	}
}

// spacing is how far apart the points are that a target tells of.
func (t *target) spacing(every time.Duration) time.Duration { return max(every, t.step()) }

// patient is for how many blocks a target of that spacing may tell nothing new
// without being late.
func patient(spacing time.Duration) int64 {
	return min(mostLag, int64((2*spacing-1)/diagnose.Block))
}

// spread is how many blocks an increase belongs to: those that a regular reader has
// missed only because its points lie farther apart than blocks. After a gap it is one:
// when it happened is not known.
func (p *past) spread(at int64, spacing time.Duration) int64 {
	if p.widest > 2*spacing {
		return 1
	}
	return min(max(1, at-p.closed), mostRecent)
}

// closeBlocks ends the present block once the time of the next one has come: before
// anything of it is taken in.
func (f *Fleet) closeBlocks(now time.Duration) {
	next := blockOf(now)
	if next <= f.block {
		return
	}
	for _, t := range f.targets {
		t.closeBlock(f.block, f.every)
	}
	for _, w := range f.flows {
		w.closeBlock(f.block)
		if w.reporting > 0 {
			w.quiet(f.block)
		}
	}
	f.devices.closeBlock(f.block)
	f.block = next
}

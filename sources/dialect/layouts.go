package dialect

import (
	"hash/maphash"
	"slices"
	"sync"

	"slotop/sources/expo"
)

// layouts are kept for the next target with the same series: the replicas of a
// service are read alike, and working that out takes longer than a poll.
type layouts struct {
	mu     sync.Mutex
	known  map[uint64]known
	series int // of all pages
}

// known is a layout with the pages it holds for.
type known struct {
	series   []*expo.Series
	families []expo.Family
	layout   *layout // nil where no dialect claims the page
}

// What is kept is bounded: a fleet in which no two pages are alike has nothing to
// share, and a page that shows another user at each poll is never the same again.
// When there is too much of it, all is let go.
const (
	maxLayouts = 64
	maxKept    = 1 << 16 // series in all: they take 20 MB once their scanner has forgotten them
)

// Plan detects the dialect of a page and compiles it, or takes what the same
// series led to before. It is nil where no dialect claims the page.
func (s *Set) Plan(p *expo.Page) *Plan {
	l := s.layout(p)
	if l == nil {
		return nil
	}
	return newPlan(l, p)
}

func (s *Set) layout(p *expo.Page) *layout {
	if p.Bad > 0 || len(p.Crowds) > 0 || slices.Contains(p.Seen, false) {
		return s.newLayout(p) // it depends on what is away, or knows the rows of one target
	}
	key := keyOf(p)
	if k, ok := s.layouts.find(key); ok && slices.Equal(k.series, p.Series) && slices.Equal(k.families, p.Families) {
		return k.layout
	}
	// Not under the lock: pages that are not alike need not wait for each other.
	l := s.newLayout(p)
	s.layouts.keep(key, known{slices.Clone(p.Series), slices.Clone(p.Families), l})
	return l
}

func (l *layouts) find(key uint64) (known, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.known[key]
	return k, ok
}

func (l *layouts) keep(key uint64, k known) {
	n := len(k.series)
	if n > maxKept {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known) >= maxLayouts || l.series+n > maxKept {
		l.known, l.series = map[uint64]known{}, 0
	}
	l.series += n - len(l.known[key].series)
	l.known[key] = k
}

func (l *layouts) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.series = nil, 0
}

func (s *Set) newLayout(p *expo.Page) *layout {
	d, ok := s.Detect(p)
	if !ok {
		return nil
	}
	return d.layout(p)
}

var seed = maphash.MakeSeed()

// keyOf tells pages apart by their series: those that are equal are one object,
// where targets share them at all.
func keyOf(p *expo.Page) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range p.Series {
		maphash.WriteComparable(&h, s)
	}
	for _, f := range p.Families {
		maphash.WriteComparable(&h, f)
	}
	return h.Sum64()
}

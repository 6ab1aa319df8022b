package expo

import (
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Lines is what the scanners of many targets share. The replicas of a service
// write the same lines but for their numbers, so each is understood and kept
// only once. Several goroutines may use it. A nil *Lines shares nothing.
type Lines struct {
	mu       sync.RWMutex
	known    map[string]*line
	cost     int
	scanners int
}

// Lines that no target has any more are not told from the others: when there
// are too many, all are let go, and those in use come back with the next target.
const (
	maxCost  = 8 << 20
	lineCost = 256 // what a line takes beside its text, about
)

// round is how many scanners ask for a verdict on the same poll of their
// targets: a thousand at once would delay each other's first page by seconds.
const round = 32

// NewScanner returns a scanner for one target that shares lines with the others.
func (l *Lines) NewScanner(lim Limits) *Scanner {
	s := NewScanner(lim)
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.lines, s.turn = l, 1+l.scanners/round
		l.scanners++
	}
	return s
}

func (l *Lines) find(text []byte) *line {
	if l == nil {
		return nil
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.known[string(text)]
}

// add keeps a line for all, or returns the one that came first.
func (l *Lines) add(ln *line) *line {
	if l == nil {
		return ln
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.known[ln.text]; first != nil {
		return first
	}
	if l.cost += len(ln.text) + lineCost; l.known == nil || l.cost > maxCost {
		l.known, l.cost = map[string]*line{}, len(ln.text)+lineCost
	}
	l.known[ln.text] = ln
	return ln
}

// line is the beginning of a line that was understood: everything up to the
// value of a sample, or a whole # TYPE line. Nobody writes to it any more.
type line struct {
	text     string
	name     string // of the sample, or of the family declared
	declares bool   // it is a # TYPE line
	typ      Type   // that it declares
	open     bool   // the text ends in a name that could go on, see sampleLine

	labels   []Label // in page order, le among them
	identity uint64  // hash of name and labels
	series   atomic.Pointer[Series]
}

// understood is the sample line that was just parsed. Its parts are parts of
// one string, wherever nothing had to be decoded.
func (s *sampleLine) understood() *line {
	text := string(s.line[:s.prefix])
	ln := &line{text: text, open: s.prefixOpen}
	ln.name, ln.labels = s.decode(text)
	ln.identity = identity(ln.name, ln.labels)
	return ln
}

// as is the line's series where the page declares this family for it. It is
// nearly always the same one, which is then shared.
func (ln *line) as(family string, typ Type) *Series {
	if s := ln.series.Load(); s != nil && s.Type == typ && s.Family == family {
		return s
	}
	s := &Series{Name: ln.name, Family: family, Type: typ, Labels: ln.labels, Le: math.NaN()}
	if typ == Histogram && strings.HasSuffix(ln.name, "_bucket") {
		s.takeBound()
	}
	ln.series.CompareAndSwap(nil, s)
	return s
}

// takeBound moves a number in the le label to Le.
func (s *Series) takeBound() {
	i := slices.IndexFunc(s.Labels, func(l Label) bool { return l.Name == "le" })
	if i < 0 {
		return
	}
	le, err := strconv.ParseFloat(s.Labels[i].Value, 64)
	if err != nil || math.IsNaN(le) {
		return
	}
	s.Le = le
	last := len(s.Labels) - 1
	switch i { // the line keeps its labels, so they are copied where need be
	case 0:
		s.Labels = s.Labels[1:]
	case last:
		s.Labels = s.Labels[:last:last]
	default:
		s.Labels = slices.Concat(s.Labels[:i], s.Labels[i+1:])
	}
}

// sameSeries is whether two lines are spellings of one series.
func (ln *line) sameSeries(other *line) bool {
	return ln == other || ln.name == other.name && sameLabels(ln.labels, other.labels)
}

func sameLabels(a, b []Label) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(l Label) bool { return !slices.Contains(b, l) })
}

var seed = maphash.MakeSeed()

// identity hashes a name and labels in whatever order.
func identity(name string, labels []Label) uint64 {
	sum := maphash.String(seed, name)
	for _, l := range labels {
		// The product keeps {a="x",b="y"} and {a="y",b="x"} apart.
		sum += maphash.String(seed, l.Name) * (maphash.String(seed, l.Value) | 1)
	}
	return sum
}

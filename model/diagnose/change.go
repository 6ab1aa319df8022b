package diagnose

import (
	"math"

	"slotop/model/slo"
)

// Total is the sum of blocks. What only some of them tell is the sum of those; Rate
// would be wrong for it, so rates are asked of the blocks.
func Total(blocks []Sums) Sums {
	t := Nothing()
	for i := range blocks {
		t.add(&blocks[i], either)
	}
	return t
}

// either is a sum in which what is not known adds nothing.
func either(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}

// both is a sum that is unknown where one side is.
func both(a, b float64) float64 { return a + b }

func (s *Sums) add(o *Sums, plus func(a, b float64) float64) {
	s.Seconds += o.Seconds
	s.addFigures(o, plus)
}

func (s *Sums) addFigures(o *Sums, plus func(a, b float64) float64) {
	for i := range s.Counts {
		s.Counts[i] = plus(s.Counts[i], o.Counts[i])
	}
	for i := range s.Measures {
		s.Measures[i].N = plus(s.Measures[i].N, o.Measures[i].N)
		s.Measures[i].Sum = plus(s.Measures[i].Sum, o.Measures[i].Sum)
	}
	s.KVMost = most(s.KVMost, o.KVMost)
	s.RunMost = most(s.RunMost, o.RunMost)
}

// most is the larger of what is known.
func most(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// rate is a count a second over the blocks that tell it, NaN where none does.
func rate(blocks []Sums, c Count) float64 {
	n, seconds := counted(blocks, c)
	return n / seconds
}

// counted is a count and the seconds over which it was counted; 0 and 0 of nothing.
func counted(blocks []Sums, c Count) (n, seconds float64) {
	for i := range blocks {
		if v := blocks[i].Counts[c]; !math.IsNaN(v) {
			n, seconds = n+v, seconds+blocks[i].Seconds
		}
	}
	return n, seconds
}

// share is one count over another, over the blocks that tell both.
func share(blocks []Sums, part, whole Count) (ratio, n float64) {
	p, w := 0.0, 0.0
	for i := range blocks {
		a, b := blocks[i].Counts[part], blocks[i].Counts[whole]
		if !math.IsNaN(a + b) {
			p, w = p+a, w+b
		}
	}
	return p / w, w
}

// hits is which share of the prompt tokens came from a cache, at most 1: look-ups are
// counted before their prompts are, and again after a preemption.
func hits(blocks []Sums) (ratio, n float64) {
	ratio, n = share(blocks, CachedTokens, PromptTokens)
	return min(ratio, 1), n
}

// mean is a measure's mean over the blocks that tell it.
func mean(blocks []Sums, m Measure) Mean {
	out := Mean{}
	for i := range blocks {
		if v := blocks[i].Measures[m]; !math.IsNaN(v.N + v.Sum) {
			out.N, out.Sum = out.N+v.N, out.Sum+v.Sum
		}
	}
	return out
}

// shift is how a mean moved from the baseline to now.
type shift struct {
	before, now, ratio, t float64
	n                     float64 // observed now
	up                    bool    // by more than chance, and enough to matter
}

// moved compares a latency's blocks: up only where the ratio of the means and the
// block-wise Welch t of their logarithms are both large enough.
func moved(now, before []Sums, m Measure) shift {
	a, b := mean(now, m), mean(before, m)
	s := shift{before: b.Value(), now: a.Value(), n: a.N}
	s.ratio = s.now / s.before
	ratio, t, changed := slo.Changed(ofMeasure(now, m), ofMeasure(before, m), slo.Latency)
	s.t = t
	s.up = changed && ratio > 1 && s.ratio > 1
	return s
}

func ofMeasure(blocks []Sums, m Measure) []slo.Block {
	out := make([]slo.Block, len(blocks))
	for i := range blocks {
		out[i] = slo.Block{N: blocks[i].Measures[m].N, Sum: blocks[i].Measures[m].Sum}
	}
	return out
}

// merged adds the blocks of several members of a pool, the newest to the newest.
// A member without a block of that age adds nothing to it: it was not there.
func merged(members [][]Sums) []Sums {
	longest := 0
	for _, m := range members {
		longest = max(longest, len(m))
	}
	out := make([]Sums, longest)
	seen := make([]bool, longest)
	for _, m := range members {
		for i := range m {
			at := longest - len(m) + i
			if !seen[at] {
				seen[at], out[at] = true, m[i]
				continue
			}
			out[at].addFigures(&m[i], both)
		}
	}
	return out
}

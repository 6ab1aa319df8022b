package slo

import "math"

// Block is what ten seconds say of a quantity.
type Block struct {
	N   float64 // requests; for a rate, seconds
	Sum float64 // of their values; for a rate, requests
}

// Quantity is what a block measures.
type Quantity uint8

// The quantities. A latency must move more than a length or a rate to count.
const (
	Latency Quantity = iota
	Length
	Rate
)

const (
	minRatioLatency = 1.3
	minRatio        = 1.2
	minT            = 3.5 // of block means: shared fate is in their spread
	minCompared     = 3   // blocks on either side
	minRequests     = 30  // requests on either side
)

// Changed compares the recent blocks of a quantity with earlier ones by the
// means of their logarithms (Welch). ratio is recent over baseline. It changed
// where the ratio, either way, and t are large enough; a caller should want that
// twice in a row. Blocks without a value are left out; below three blocks or
// thirty requests on a side nothing is known and all is 0.
func Changed(recent, baseline []Block, q Quantity) (ratio, t float64, changed bool) {
	a, b := logMeans(recent, q), logMeans(baseline, q)
	if !a.enough() || !b.enough() {
		return 0, 0, false
	}
	difference := a.mean - b.mean
	if difference != 0 {
		t = difference / math.Sqrt(a.variance/a.blocks+b.variance/b.blocks)
	}
	least := minRatio
	if q == Latency {
		least = minRatioLatency
	}
	return math.Exp(difference), t, math.Abs(difference) >= math.Log(least) && math.Abs(t) >= minT
}

// side is one side of a comparison.
type side struct{ blocks, requests, mean, variance float64 }

func (s side) enough() bool { return s.blocks >= minCompared && s.requests >= minRequests }

func logMeans(blocks []Block, q Quantity) side {
	var s side
	squares := 0.0
	for _, b := range blocks {
		v := b.Sum / b.N
		if !(v > 0) || math.IsInf(v, 1) {
			continue
		}
		s.blocks++
		if q == Rate {
			s.requests += b.Sum
		} else {
			s.requests += b.N
		}
		// Welford: the running mean and the squares around it.
		d := math.Log(v) - s.mean
		s.mean += d / s.blocks
		squares += d * (math.Log(v) - s.mean)
	}
	if s.blocks > 1 {
		s.variance = squares / (s.blocks - 1)
	}
	return s
}

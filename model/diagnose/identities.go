package diagnose

import "math"

// Arrivals is how many requests came over a stretch, from what engines do export: by
// how many those in flight (running and waiting) became more, and all that ended
// (cancelled ones too). Exact, as a request is in flight or has ended.
func Arrivals(grown, ended float64) float64 { return grown + ended }

// LogMean is the logarithmic mean (a−b)/ln(a/b) of two positive numbers, a where
// they are equal. NaN where one is not above 0.
func LogMean(a, b float64) float64 {
	switch {
	case !(a > 0) || !(b > 0):
		return math.NaN()
	case math.Abs(a-b) < 1e-12*a:
		return a
	}
	return (a - b) / math.Log(a/b)
}

// Contributions is by how much each factor of a product changed it, in the unit of
// the product. They add up to its change exactly, whatever their order (LMDI: Ang,
// Energy Policy 2005). NaN where a factor is not above 0.
func Contributions(before, now []float64) []float64 {
	y0, y1 := product(before), product(now)
	out := make([]float64, len(before))
	for i := range out {
		out[i] = LogMean(y1, y0) * math.Log(now[i]/before[i])
	}
	return out
}

func product(factors []float64) float64 {
	p := 1.0
	for _, f := range factors {
		p *= f
	}
	return p
}

// Weights is what share of the change of a sum's logarithm each of its terms
// carries of its own: by the logarithmic means of the terms over that of the sum.
// A term that grew e-fold adds its weight to the logarithm of the sum.
func Weights(before, now []float64) []float64 {
	all := LogMean(sum(now), sum(before))
	out := make([]float64, len(before))
	for i := range out {
		if before[i] == 0 && now[i] == 0 {
			continue
		}
		out[i] = LogMean(now[i], before[i]) / all
	}
	return out
}

func sum(terms []float64) float64 {
	s := 0.0
	for _, t := range terms {
		s += t
	}
	return s
}

// steadyQueue is by how much of the requests of a window the queue may grow or
// shrink for the phases of a request to be told from one another.
const steadyQueue = 0.10

// Parts is a change of mean TTFT and what of it each phase made, in seconds.
type Parts struct{ TTFT, Queue, Prefill, Rest float64 }

// SplitTTFT says which phase made TTFT grow: means of phases add up. It holds only
// while the queue stands still: TTFT is observed at the first token, and queue and
// prefill time when a request ends, so that in a growing queue they are of other
// requests. ok is false there, and where a phase is not known.
func SplitTTFT(before, now *Sums, queueGrew float64) (p Parts, ok bool) {
	delta := func(m Measure) float64 { return now.Measures[m].Value() - before.Measures[m].Value() }
	p = Parts{TTFT: delta(TTFT), Queue: delta(QueueTime), Prefill: delta(PrefillTime)}
	p.Rest = p.TTFT - p.Queue - p.Prefill
	steady := math.Abs(queueGrew) < steadyQueue*now.Measures[TTFT].N
	return p, steady && !math.IsNaN(p.Rest)
}

// Ending is a change of mean E2E time and what of it came of waiting for the first
// token, of longer answers, and of slower tokens, in seconds.
type Ending struct{ E2E, TTFT, Length, Pace float64 }

// SplitE2E tells longer answers from slower tokens: E2E is TTFT and (N−1)·TPOT, TPOT
// weighted by tokens, and the product is split by logarithmic means. ok is false
// where something is not known.
func SplitE2E(before, now *Sums) (e Ending, ok bool) {
	n0, pace0 := lengthAndPace(before)
	n1, pace1 := lengthAndPace(now)
	parts := Contributions([]float64{n0, pace0}, []float64{n1, pace1})
	e = Ending{
		TTFT:   now.Measures[TTFT].Value() - before.Measures[TTFT].Value(),
		Length: parts[0],
		Pace:   parts[1],
	}
	e.E2E = e.TTFT + e.Length + e.Pace
	return e, !math.IsNaN(e.E2E)
}

// lengthAndPace is the mean number of tokens after the first and the mean time of
// one of them, weighted by tokens where decode time is known.
func lengthAndPace(s *Sums) (n, pace float64) {
	n = s.Measures[OutputLength].Value() - 1
	if decode := s.Measures[DecodeTime].Value(); !math.IsNaN(decode) {
		return n, decode / n
	}
	return n, s.Measures[TPOT].Value()
}

// acceptance is the chance alpha with which a step of draft length k yields so many
// tokens: Gain turned round. NaN where no chance does.
func acceptance(tokens, k float64) float64 {
	if !(tokens >= 1) || !(tokens < k+1) {
		return math.NaN()
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		if mid := (lo + hi) / 2; Gain(mid, int(math.Round(k))) < tokens {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Gain is how many tokens a step of speculative decoding yields with draft length k
// and a chance alpha that a drafted token is accepted after accepted ones:
// (1−α^(k+1))/(1−α) (Leviathan et al., ICML 2023).
func Gain(alpha float64, k int) float64 {
	if alpha == 1 {
		return float64(k) + 1
	}
	return (1 - math.Pow(alpha, float64(k)+1)) / (1 - alpha)
}

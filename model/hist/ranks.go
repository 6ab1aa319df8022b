package hist

import "math"

// Two-sided 95 %: each tail may hold this much.
const tail = 0.025

// exactRanks is the sample size up to which ranks are counted out. Above it the
// normal approximation is off by less than a rank in a thousand.
const exactRanks = 1 << 20

// Ranks are the order statistics, counted from 1, that enclose the q-quantile
// with 95 % confidence whatever the distribution. A limit that n observations
// cannot give is 0.
func Ranks(n, q float64) (lo, hi float64) {
	return RanksAt(n, q, tail)
}

// RanksAt are the same where each limit may be missed with a chance of beyond, which
// lies between 0 and 0.5.
func RanksAt(n, q, beyond float64) (lo, hi float64) {
	n = math.Floor(n)
	lo = lowerRank(n, q, beyond)
	if mirrored := lowerRank(n, 1-q, beyond); mirrored > 0 {
		hi = n + 1 - mirrored
	}
	return lo, hi
}

// enough reports whether both limits of Ranks exist.
func enough(n, q float64) bool {
	return math.Pow(max(q, 1-q), n) <= tail // the likelier side binds
}

// lowerRank is the largest l with P(X ≤ l−1) ≤ beyond for X ~ Bin(n, q), or 0.
func lowerRank(n, q, beyond float64) float64 {
	if n < 1 || !(q > 0 && q < 1) {
		return 0
	}
	mean, sigma := n*q, math.Sqrt(n*q*(1-q))
	if n > exactRanks {
		return math.Floor(mean - math.Sqrt2*math.Erfinv(1-2*beyond)*sigma)
	}
	// What lies ten deviations down adds nothing that a float64 could show.
	k := max(0, math.Floor(mean-10*sigma-10))
	p := math.Exp(logBinomial(n, k) + k*math.Log(q) + (n-k)*math.Log1p(-q))
	for cdf := p; cdf <= beyond; cdf += p {
		p *= (n - k) / (k + 1) * q / (1 - q)
		k++
	}
	return k
}

func logBinomial(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

package slo

import (
	"math"

	"slotop/model"
)

// Normal quantiles: a two-sided interval of 95 %, and one side of it.
const (
	z95      = 1.96
	oneSided = 1.645
)

// Wilson is Wilson's score interval of a share that was seen as good of n. Both
// ends are shares, 0–1; of nothing seen nothing is known.
func Wilson(good, n, z float64) (lo, hi float64) {
	if !(n > 0) {
		return 0, 1
	}
	p := min(1, max(0, good/n))
	z2 := z * z / n
	centre := (p + z2/2) / (1 + z2)
	half := z * math.Sqrt(p*(1-p)/n+z2/(4*n)) / (1 + z2)
	lo, hi = max(0, centre-half), min(1, centre+half)
	if p == 0 {
		lo = 0 // and not what rounding leaves of it
	}
	if p == 1 {
		hi = 1
	}
	return lo, hi
}

// certainty is 1 minus the confidence with which certify vouches.
const certainty = 0.01

// certify is the smallest number of requests of which bad may miss a bound while
// a share of at least p meets it with 99 % confidence: the early stopping rule
// of MLPerf, by which its presets are meant. p lies between 0 and 1. Verdicts do
// not ask for so much: they speak of the window alone.
func certify(p float64, bad int) int {
	lo, hi := bad, bad+1 // too few, perhaps enough
	for binCDF(bad, hi, 1-p) > certainty {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; binCDF(bad, mid, 1-p) > certainty {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// binCDF is the chance of at most k of n, each with chance q.
func binCDF(k, n int, q float64) float64 {
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(q) + float64(n-i)*math.Log1p(-q))
	}
	return sum
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// minBlocks is how many blocks of ten seconds say how alike neighbours are.
const minBlocks = 12

// DesignEffect is how many times more the share of good requests varies from
// block to block than it would if requests did not share their fate:
// Σ n_b (p_b − p)² / ((k − 1) p (1 − p)), which for blocks of one size is the
// variance of their shares times that size over p(1 − p). At least 1. counted
// gives a block's good and judged requests; blocks without any are left out.
// ok is false below twelve blocks.
func DesignEffect(blocks []Counts, counted func(*Counts) (good, n float64)) (d float64, ok bool) {
	var good, n, squares float64
	k := 0
	for i := range blocks {
		if g, m := counted(&blocks[i]); m > 0 {
			good, n, squares, k = good+g, n+m, squares+g*g/m, k+1
		}
	}
	if k < minBlocks {
		return 0, false
	}
	p := good / n
	if p <= 0 || p >= 1 {
		return 1, true
	}
	between := squares - good*p // Σ n_b (p_b − p)²
	return max(1, between/(float64(k-1)*p*(1-p))), true
}

// Evidence is what a share of n requests says of the service rather than of their
// window: Wilson's interval on as many requests as are independent, judged by
// blocks of ten seconds. Where the share lies between two ends it is as wide on
// both sides of them. Nil below twelve blocks with requests.
func Evidence(share model.Share, n float64, blocks []Counts, spec *model.WorkflowSpec) *model.EvidenceView {
	d, ok := DesignEffect(blocks, func(c *Counts) (float64, float64) { return counted(spec, c) })
	if !ok || !(n > 0) {
		return nil
	}
	lo, _ := Wilson(share.Lo.Value*n/d, n/d, z95)
	_, hi := Wilson(share.Hi.Value*n/d, n/d, z95)
	return &model.EvidenceView{Lo: model.Of(lo), Hi: model.Of(hi), DesignEffect: d}
}

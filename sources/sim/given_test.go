package sim

import "math"

// h100FP8 is the same with weights and linear layers in FP8; the KV cache stays BF16.
func h100FP8() Machine {
	m := H100()
	m.WeightBytes /= 2
	m.PeakFLOPs = 1979e12
	m.GEMM = 0.40
	return m
}

// fixed is the distribution of requests that all have n tokens.
func fixed(n int) Lengths { return Lengths{Mu: math.Log(float64(n))} }

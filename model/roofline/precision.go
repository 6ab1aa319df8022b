package roofline

import (
	"math"
	"strings"
)

// Precision is what a model multiplies in, which decides the peak that applies. How
// its weights are stored is another matter: formats that are for storage only are
// widened first and multiply in 16 bit.
type Precision string

// The precisions. FP4 is 4-bit floating point on both sides (MXFP4, NVFP4), Int4
// integer weights with 16-bit activations (AWQ, GPTQ), for storage only everywhere.
const (
	BF16 Precision = "bf16"
	FP16 Precision = "fp16"
	FP8  Precision = "fp8"
	FP4  Precision = "fp4"
	INT8 Precision = "int8"
	Int4 Precision = "int4"
)

// PrecisionNamed reads a precision as people and checkpoints write it.
func PrecisionNamed(s string) (Precision, bool) {
	switch strings.ToLower(s) {
	case "bf16", "bfloat16":
		return BF16, true
	case "fp16", "float16", "half":
		return FP16, true
	case "fp8", "w8a8-fp8", "e4m3", "e5m2":
		return FP8, true
	case "fp4", "nvfp4", "mxfp4":
		return FP4, true
	case "int8", "w8a8":
		return INT8, true
	case "int4", "w4a16":
		return Int4, true
	default:
		return "", false
	}
}

// Bytes is how many bytes a weight takes in it, the scales of groups included:
// 4-bit integers in groups of 128 take about 4.4 bits, 4-bit floats 4.25.
func (p Precision) Bytes() float64 {
	switch p {
	case FP8, INT8:
		return 1
	case FP4:
		return 4.25 / 8
	case Int4:
		return 0.55
	default:
		return 2
	}
}

// Peak is the FLOP/s of one device for work in a precision, and the precision whose
// peak that is: what the device cannot multiply natively is widened to 16 bit, and
// what has no BF16 works in FP16.
func (p *Peaks) Peak(want Precision) (flops float64, in Precision) {
	if want == Int4 {
		want = BF16
	}
	for _, try := range []Precision{want, BF16, FP16} {
		if v, known := p.dense[try]; known {
			return v, try
		}
	}
	return math.NaN(), want
}

package sim

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func hypot(a, b float64) float64 { return math.Sqrt(product(a, a) + product(b, b)) }

// product is a·b, rounded before anything is added to it. The compiler may fuse a
// plain product and sum on some processors, and then a seed would not mean the same
// pages everywhere.
func product(a, b float64) float64 { return float64(a * b) }

// appendNumber writes v as the Python client does: repr(v), with an exponent from
// a million up in the client's own spelling ("1e+06", but "2.5e+010").
func appendNumber(dst []byte, v float64) []byte {
	switch {
	case v == 0:
		return append(dst, "0.0"...)
	case math.IsInf(v, 1):
		return append(dst, "+Inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-Inf"...)
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	}
	if abs := math.Abs(v); abs < 1e-4 || abs >= 1e16 {
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	start := len(dst)
	if v == math.Trunc(v) {
		dst = append(strconv.AppendInt(dst, int64(v), 10), ".0"...)
	} else {
		dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	if v < 1e6 {
		return dst
	}
	return scientific(dst, start)
}

// scientific rewrites the plain decimal at dst[start:] with its point after the
// first digit, and appends the exponent.
func scientific(dst []byte, start int) []byte {
	text := dst[start:]
	dot := bytes.IndexByte(text, '.')
	copy(text[2:dot+1], text[1:dot])
	text[1] = '.'
	end := len(dst)
	for dst[end-1] == '0' || dst[end-1] == '.' {
		end--
	}
	dst = append(dst[:end], "e+0"...)
	return strconv.AppendInt(dst, int64(dot-1), 10)
}

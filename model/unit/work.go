package unit

import "math"

// This file writes work and what it costs: floating point operations, bandwidth as
// data sheets give it, energy and money.

// FLOPs is a rate of floating point operations in TFLOP/s, as data sheets give
// peaks, with three digits: 989 TFLOP/s, 22.4 TFLOP/s. Far below one it is in
// GFLOP/s.
func FLOPs(perSecond float64) string {
	return signed(perSecond, func(v float64) string {
		if v > 0 && v < 0.1e12 {
			return Number(v/1e9) + " GFLOP/s"
		}
		return Number(v/1e12) + " TFLOP/s"
	})
}

// Bandwidth is bytes a second in powers of ten, as data sheets give it: 3.35 TB/s,
// 864 GB/s.
func Bandwidth(perSecond float64) string {
	return signed(perSecond, func(v float64) string {
		if math.Round(v/1e9) < 1000 {
			return Number(v/1e9) + " GB/s"
		}
		return Number(v/1e12) + " TB/s"
	})
}

// Intensity is arithmetic intensity: 295 FLOP/B.
func Intensity(flopsPerByte float64) string { return Number(flopsPerByte) + " FLOP/B" }

// Milliseconds is a time in milliseconds with one decimal, whatever its size, so that
// parts of one whole can stand under one another: 6.8 ms, -0.1 ms, 122.4 ms.
func Milliseconds(seconds float64) string {
	return signed(seconds, func(v float64) string { return fixed(1000*v, 1) + " ms" })
}

// Multiple is a ratio that is spoken as a multiple, with two decimals: 1.07×.
func Multiple(r float64, ascii bool) string {
	sign := "×"
	if ascii {
		sign = "x"
	}
	return signed(r, func(v float64) string { return fixed(v, 2) + sign })
}

// Money is an amount with its currency before it: $0.362, $26.40, $1280. Three
// digits, and always cents from one on.
func Money(currency string, v float64) string {
	return signed(v, func(v float64) string {
		switch {
		case v == 0 || rounded(v, 2) >= 100:
			return currency + fixed(v, 0)
		case rounded(v, 3) >= 1:
			return currency + fixed(v, 2)
		case v < 0.0005:
			return "<" + currency + "0.001"
		default:
			return currency + fixed(v, 3)
		}
	})
}

// WattHours is an amount of energy in watt-hours, kilowatt-hours from a thousand on:
// 50.7 Wh, 1.2 kWh.
func WattHours(wh float64) string {
	return signed(wh, func(v float64) string {
		if rounded(v, 0) < 1000 {
			return Number(v) + " Wh"
		}
		return scaled(v, 1000, []string{" kWh", " MWh", " GWh"})
	})
}

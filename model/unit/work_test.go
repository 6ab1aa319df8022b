package unit

import (
	"math"
	"testing"
)

func TestWork(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{FLOPs(989.4e12), "989 TFLOP/s"}, {FLOPs(1979e12), "1979 TFLOP/s"}, {FLOPs(22.4e12), "22.4 TFLOP/s"}, {FLOPs(0.05e12), "50 GFLOP/s"},
		{FLOPs(0), "0 TFLOP/s"}, {FLOPs(math.NaN()), "n/a"}, {FLOPs(math.Inf(1)), "n/a"},
		{Bandwidth(3.35e12), "3.35 TB/s"}, {Bandwidth(864e9), "864 GB/s"}, {Bandwidth(999.9e9), "1 TB/s"}, {Bandwidth(math.NaN()), "n/a"},
		{Intensity(295.3), "295 FLOP/B"}, {Intensity(1.5), "1.5 FLOP/B"},
		{Milliseconds(0.0068), "6.8 ms"}, {Milliseconds(-0.0001), "-0.1 ms"}, {Milliseconds(0.1224), "122.4 ms"}, {Milliseconds(-0.00001), "0.0 ms"},
		{Multiple(1.07, false), "1.07×"}, {Multiple(1.96, true), "1.96x"},
		{Money("$", 0.362), "$0.362"}, {Money("$", 26.4), "$26.40"}, {Money("$", 1280), "$1280"}, {Money("€", 0), "€0"}, {Money("$", 0.0001), "<$0.001"},
		{Money("$", math.Inf(1)), "n/a"},
		{WattHours(50.7), "50.7 Wh"}, {WattHours(1234), "1.2 kWh"}, {WattHours(3e6), "3.0 MWh"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

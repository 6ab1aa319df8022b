package unit

import (
	"math"
	"testing"
)

func TestDeviceUnits(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct{ got, want string }{
		{Watts(480.4), "480 W"}, {Watts(0), "0 W"}, {Watts(999.6), "1.0 kW"}, {Watts(3410), "3.4 kW"}, {Watts(2.2e6), "2.2 MW"}, {Watts(math.NaN()), "n/a"},
		{WattsOf(480.4, 700), "480/700 W"}, {WattsOf(math.Inf(1), 700), "n/a"},
		{Hertz(1980e6), "1980 MHz"}, {Hertz(0), "0 MHz"}, {Hertz(10.5e9), "10500 MHz"},
		{HertzOf(1410e6, 1980e6), "1410/1980 MHz"}, {HertzOf(math.NaN(), 1), "n/a"}, {Celsius(61.4, false), "61 °C"}, {Celsius(-3, true), "-3 C"},
		{BytesOf(68.4*gib, 80*gib), "68/80 GiB"}, {BytesOf(1.5*gib, 8*gib), "1.5/8.0 GiB"}, {BytesOf(0, 512<<20), "0/512 MiB"}, {BytesOf(0.4*gib, 80*gib), "<1/80 GiB"}, {BytesOf(1<<20, 8*gib), "<0.1/8.0 GiB"},
		{BytesOf(479*gib, 1.9*1024*gib), "0.5/1.9 TiB"}, {BytesOf(1, math.NaN()), "n/a"},
		{Joules(12), "12 J"}, {Joules(3.6e6), "3.6 MJ"}, {Joules(999999), "1.0 MJ"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// h100 is a roofline of an H100 in BF16 with a point that came up from little load.
func h100() Roofline {
	r := Roofline{
		W: 44, H: 12, Peak: 989.4, Bandwidth: 3.35, UnitX: "FLOP/B", UnitY: "TFLOP/s", PeakText: "peaks: table A", TrailText: "last 10 min", RidgeText: "ridge 295", Empty: "nothing is known",
		FormatX: func(v float64) string { return fmt.Sprintf("%.4g", v) },
		FormatY: func(v float64) string { return fmt.Sprintf("%.3g", v) },
	}
	for i := range 60 {
		f := float64(i) / 59
		r.Trail = append(r.Trail, XY{8 + 32*f, 10 + 90*f})
	}
	r.Trail[7] = XY{math.NaN(), 3}
	r.Spots = []Spot{{XY{600, 400}, 'P', Ink{}, "prefill"}, {XY{12, 30}, 'D', Ink{}, "decode"}, {XY{40, 100}, '●', Ink{}, "now"}}
	return r
}

func TestRooflineGolden(t *testing.T) {
	plain := h100()
	ascii := h100()
	ascii.ASCII = true
	ascii.Spots[2].Sign = '*'
	high := h100()
	high.W, high.H = 80, 20
	above := h100()
	above.Spots = append(above.Spots, Spot{XY: XY{100, 3000}, Sign: '●'})
	bare := h100()
	bare.Peak = 0
	for _, tc := range []struct {
		name string
		plot Roofline
	}{
		{"roofline", plain}, {"roofline-ascii", ascii}, {"roofline-large", high}, {"roofline-above", above}, {"roofline-no-roof", bare},
		{"roofline-empty", Roofline{W: 44, H: 8, Empty: "nothing is known"}},
	} {
		golden(t, tc.name, tc.plot.Render())
	}
}

// Whatever comes in, the drawing keeps its size, and no axis needs more than its
// decades.
func TestRooflineEverySize(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 5e-324, 1e-9, 1, 1e300}
	for w := range 46 {
		for h := range 16 {
			for _, v := range odd {
				r := h100()
				r.W, r.H, r.ASCII = w, h, h%2 == 0
				r.Peak, r.Spots[0].Y, r.Trail[3].X = v, v, v
				check(t, fmt.Sprintf("%d×%d %v", w, h, v), r.Render(), w, h)
				r = h100()
				r.W, r.H, r.Bandwidth, r.Trail, r.Spots[1].XY = w, h, v, nil, XY{v, v}
				check(t, fmt.Sprintf("%d×%d bandwidth %v", w, h, v), r.Render(), w, h)
			}
		}
	}
}

// The point lies where its numbers say: on the slope left of the ridge, on the flat
// part right of it, and a point at the roof is never below a point under it.
func TestRooflinePlaces(t *testing.T) {
	row := func(p XY) int {
		r := h100()
		r.W, r.H, r.Trail, r.Spots = 60, 20, nil, []Spot{{XY: p, Sign: '@'}}
		for y, l := range strings.Split(r.Render(), "\n") {
			if strings.Contains(l, "@") {
				return y
			}
		}
		return -1
	}
	last := -1
	for _, f := range []float64{0.9, 0.5, 0.2, 0.05} {
		y := row(XY{100, 335 * f})
		if y < last || y < 0 {
			t.Errorf("at %v of the roof in row %d, the one above in row %d", f, y, last)
		}
		last = y
	}
	if row(XY{1000, 989}) != row(XY{500, 989}) {
		t.Error("the roof is not flat beyond the ridge")
	}
}

func BenchmarkRoofline(b *testing.B) {
	r := h100()
	for range 540 {
		r.Trail = append(r.Trail, XY{30, 90})
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Render()
	}
}

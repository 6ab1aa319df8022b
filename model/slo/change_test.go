package slo

import (
	"math"
	"math/rand/v2"
	"testing"
)

func blocks(n int, each, value, spread float64) []Block {
	out := make([]Block, n)
	for i := range out {
		v := value * (1 + spread*float64(i%3-1)) // as often above as below
		out[i] = Block{N: each, Sum: each * v}
	}
	return out
}

func TestChanged(t *testing.T) {
	for _, tt := range []struct {
		name             string
		recent, baseline []Block
		q                Quantity
		ratio            float64
		changed          bool
	}{
		{"the same", blocks(6, 50, .2, .1), blocks(36, 50, .2, .1), Latency, 1, false},
		{"half as much again", blocks(6, 50, .3, .05), blocks(36, 50, .2, .05), Latency, 1.5, true},
		{"better counts as well", blocks(6, 50, .1, .05), blocks(36, 50, .2, .05), Latency, .5, true},
		{"surely, but by a quarter", blocks(6, 50, .25, .01), blocks(36, 50, .2, .01), Latency, 1.25, false},
		{"a quarter is enough for a length", blocks(6, 50, 250, .01), blocks(36, 50, 200, .01), Length, 1.25, true},
		{"much, but not surely", blocks(6, 50, .3, .6), blocks(36, 50, .2, .6), Latency, 1.5, false},
		{"two blocks", blocks(2, 50, .4, 0), blocks(36, 50, .2, .1), Latency, 0, false},
		{"29 requests", blocks(6, 29./6, .4, .1), blocks(36, 50, .2, .1), Latency, 0, false},
		{"a baseline of two", blocks(6, 50, .4, .1), blocks(2, 50, .2, .1), Latency, 0, false},
		{"a rate counts its requests", blocks(6, 10, .4, .1), blocks(36, 10, .2, .1), Rate, 0, false},
		{"a rate doubles", blocks(6, 10, 4, .1), blocks(36, 10, 2, .1), Rate, 2, true},
		{"nothing at all", nil, nil, Latency, 0, false},
		{"blocks without requests are left out", append(blocks(6, 50, .3, .05), Block{}, Block{}), blocks(36, 50, .2, .05), Latency, 1.5, true},
		{"no spread", blocks(6, 50, .3, 0), blocks(36, 50, .2, 0), Latency, 1.5, true},
	} {
		ratio, stat, changed := Changed(tt.recent, tt.baseline, tt.q)
		if changed != tt.changed || math.Abs(ratio-tt.ratio) > .01 {
			t.Errorf("%s: ratio %.3f, t %.1f, %v", tt.name, ratio, stat, changed)
		}
	}
}

// The statistic is Welch's, on logarithms of block means.
func TestChangedStatistic(t *testing.T) {
	at := func(logs ...float64) []Block {
		out := make([]Block, len(logs))
		for i, l := range logs {
			out[i] = Block{N: 100, Sum: 100 * math.Exp(l)}
		}
		return out
	}
	// Means 1 and 0, variances 1 and 4, three and five blocks.
	ratio, stat, _ := Changed(at(0, 1, 2), at(-2, -2, 0, 2, 2), Latency)
	near(t, "ratio", ratio, math.E, 1e-9)
	near(t, "t", stat, 1/math.Sqrt(1./3+4./5), 1e-9)
}

// Even by blocks a nominal 5 % is 8 to 17 % in steady state, because neighbours
// are alike. With the effect sizes and twice in a row nothing may be left of it.
func TestChangedIsQuietInSteadyState(t *testing.T) {
	const seed, windows = 11, 2000
	r := rand.New(rand.NewPCG(seed, 0))
	history := make([]Block, 0, windows+50)
	level := 0.0
	for range windows + 50 {
		level = .2*level + .12*r.NormFloat64() // neighbours are alike
		history = append(history, Block{N: 60, Sum: 60 * .2 * math.Exp(level)})
	}
	raised, naive, last := 0, 0, false
	for i := range windows {
		baseline, recent := history[i:i+35], history[i+38:i+44]
		_, stat, changed := Changed(recent, baseline, Latency)
		if changed && last {
			raised++
		}
		if last = changed; math.Abs(stat) > 1.96 {
			naive++
		}
	}
	t.Logf("seed %d: %d of %d windows, by t alone %d", seed, raised, windows, naive)
	if raised > 0 {
		t.Errorf("%d false causes in %d quiet windows", raised, windows)
	}
	if share := float64(naive) / windows; share < .08 || share > .17 {
		t.Errorf("by t alone %.2f of the windows: they are not those of the reference", share)
	}
}

package slo

import (
	"math"
	"testing"

	"slotop/model"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestWilson(t *testing.T) {
	for _, tt := range []struct{ good, n, lo, hi float64 }{
		{0, 10, 0, .2775},
		{9, 10, .5958, .9821},
		{10, 10, .7225, 1},
		{18, 20, .6990, .9721},
		{20, 20, .8389, 1},
		{95, 100, .8882, .9785},
		{228, 240, .9147, .9712},
		{950, 1000, .9347, .9619},
		{57, 60, .8630, .9829}, // 228 of 240 that share their fate by fours
		{0, 0, 0, 1},           // of nothing seen nothing is known
		{11, 10, .7225, 1},     // counts that are out of step by one
	} {
		lo, hi := Wilson(tt.good, tt.n, z95)
		near(t, "lower end", lo, tt.lo, 6e-5)
		near(t, "upper end", hi, tt.hi, 6e-5)
	}
}

func FuzzWilson(f *testing.F) {
	f.Add(18.0, 20.0)
	f.Fuzz(func(t *testing.T, good, n float64) {
		lo, hi := Wilson(good, n, z95)
		if !(lo >= 0 && hi <= 1 && lo <= hi) {
			t.Errorf("%v of %v: %v to %v", good, n, lo, hi)
		}
	})
}

func TestCertify(t *testing.T) {
	for p, want := range map[float64]map[int]int{
		.90: {0: 44, 1: 64, 2: 81, 5: 127},
		.95: {0: 90, 1: 130, 2: 165, 5: 259},
		.99: {0: 459, 1: 662, 2: 838, 5: 1307},
	} {
		for bad, n := range want {
			if got := certify(p, bad); got != n {
				t.Errorf("%v with %d bad: %d requests, want %d", p, bad, got, n)
			}
		}
	}
}

// blocksOf are ten-second blocks of 20 requests, with so many good ones.
func blocksOf(good ...float64) []Counts {
	blocks := make([]Counts, len(good))
	for i, g := range good {
		blocks[i] = Counts{Good: g, Bad: 20 - g}
	}
	return blocks
}

func TestDesignEffect(t *testing.T) {
	judged := func(c *Counts) (float64, float64) { return c.Good, c.Good + c.Bad }
	alike := blocksOf(19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19, 19)
	for _, tt := range []struct {
		name   string
		blocks []Counts
		d      float64
		ok     bool
	}{
		{"eleven blocks", alike[1:], 0, false},
		{"an empty block is none", append(alike[1:], Counts{}), 0, false},
		{"alike: never below 1", alike, 1, true},
		{"all good", blocksOf(20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20), 1, true},
		{"all bad", blocksOf(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 1, true},
		// The variance of the shares, 12/11 × 0.0125, times 20 over .95 × .05.
		{"one bad block in four", blocksOf(20, 20, 20, 16, 20, 20, 20, 16, 20, 20, 20, 16), .09 / 11 * 20 / (.95 * .05), true},
	} {
		d, ok := DesignEffect(tt.blocks, judged)
		near(t, tt.name, d, tt.d, 1e-9)
		if ok != tt.ok {
			t.Errorf("%s: %v", tt.name, ok)
		}
	}
}

func TestEvidence(t *testing.T) {
	spec := &model.WorkflowSpec{Share: .95, Objectives: []model.Objective{ttft(.5), tpot(.05)}}
	// 228 of 240 good in twelve blocks of twenty, whose shares vary four times as
	// much as those of independent requests would: Σ (g_b − 19)² = 20 × 11 × 4 × .95 × .05.
	y := math.Sqrt((41.8 - 36) / 2)
	blocks := blocksOf(20, 20, 20, 20, 20, 20, 20, 20, 20, 16-y, 16, 16+y)
	exactly := model.Share{Lo: model.Of(.95), Hi: model.Of(.95)}
	e := Evidence(exactly, 240, blocks, spec)
	if e == nil {
		t.Fatal("twelve blocks are no evidence")
	}
	near(t, "design effect", e.DesignEffect, 4, 1e-9)
	near(t, "lower end", e.Lo.Value, .8630, 6e-5)
	near(t, "upper end", e.Hi.Value, .9829, 6e-5)
	if e := Evidence(exactly, 240, blocks[1:], spec); e != nil {
		t.Errorf("evidence from eleven blocks: %+v", e)
	}

	// What lies between two ends is known no better than either of them.
	wide := Evidence(model.Share{Lo: model.Of(.5), Hi: model.Of(.95), Point: model.Of(.7)}, 240, blocks, spec)
	if wide.Lo.Value >= .5 || wide.Hi.Value != e.Hi.Value {
		t.Errorf("evidence of a share between 50 and 95 %%: %+v", wide)
	}

	// From histograms a block counts by the best guess: 20 finished, of which 19
	// and 19 met the bounds, or all.
	var unjudged []Counts
	for i := range 12 {
		c := Counts{Finished: 20}
		met := 20 - float64(i%2)
		*c.Term(model.MetricTTFT) = Term{N: 20, Lo: met, Hi: met}
		*c.Term(model.MetricTPOT) = Term{N: 20, Lo: met, Hi: met}
		unjudged = append(unjudged, c)
	}
	good, n := counted(spec, &unjudged[1])
	near(t, "good by guess", good, 20*.95*.95, 1e-9)
	near(t, "judged", n, 20, 0)
	p := (1 + .95*.95) / 2 // every second block has all
	if e := Evidence(exactly, 240, unjudged, spec); e == nil {
		t.Error("blocks of histograms are no evidence")
	} else {
		near(t, "design effect of guesses", e.DesignEffect, 12*20*(1-p)*(1-p)/(11*p*(1-p)), 1e-9)
	}
}

package slo

import (
	"testing"

	"slotop/model"
	"slotop/model/hist"
)

func TestGoodOutput(t *testing.T) {
	// Ten answers: four of up to 10 tokens, four of 10 to 100, two longer; 500 in all.
	lengths := func(sum model.Reading) *hist.Hist {
		return &hist.Hist{Bounds: []float64{10, 100}, Cum: []float64{4, 8, 10}, Sum: sum}
	}
	closed := &hist.Hist{Bounds: []float64{10, 100}, Cum: []float64{4, 10, 10}, Sum: model.Of(500)}
	for _, tt := range []struct {
		name   string
		h      *hist.Hist
		share  model.Share
		lo, hi float64
	}{
		{"all good", lengths(model.Of(500)), share(1, 1, 1), 500, 500},
		{"none good", lengths(model.Of(500)), share(0, 0, 0), 0, 0},
		// The six shortest have 0 + 2 × 10; without the four shortest are 0.
		{"six of ten", lengths(model.Of(500)), share(.6, .6, .6), 20, 500},
		// Without the four longest, 400 at most, 100 remain.
		{"no answer beyond", closed, share(.6, .6, .6), 100, 500},
		// The four longest have 400 at most, the six shortest 20 at least.
		{"four of ten", closed, share(.4, .4, .4), 0, 400},
		{"few to most", closed, share(.2, .9, .5), 0, 500},
		{"nine of ten", closed, share(.9, .9, .9), 400, 500},
		{"one of ten", closed, share(.1, .1, .1), 0, 100},
	} {
		r := GoodOutput(tt.h, tt.share)
		near(t, tt.name+" lo", r.Lo.Value, tt.lo, 1e-9)
		near(t, tt.name+" hi", r.Hi.Value, tt.hi, 1e-9)
	}
	for name, r := range map[string]model.Range{
		"no histogram":     GoodOutput(nil, share(.5, .5, .5)),
		"no sum":           GoodOutput(lengths(model.Reading{}), share(.5, .5, .5)),
		"no share":         GoodOutput(closed, model.Share{Hi: model.Of(.5)}),
		"no buckets":       GoodOutput(&hist.Hist{Cum: []float64{10}, Sum: model.Of(500)}, share(.5, .5, .5)),
		"a bucket is lost": GoodOutput(&hist.Hist{Bounds: []float64{10}, Cum: []float64{4, 10}, Sum: model.Of(500), Incomplete: true}, share(.5, .5, .5)),
	} {
		if r != (model.Range{}) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

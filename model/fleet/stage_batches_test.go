package fleet

import (
	"math"
	"testing"
	"time"

	"slotop/model"
)

// cutInto is batches of counts, and of how many of them were good, ten seconds each.
func cutInto(n, good []float64) *batches {
	b := &batches{cuts: []soFar{{}}}
	c := soFar{}
	for i := range n {
		c.at += 10 * time.Second
		c.requests, c.judged, c.good = c.requests+n[i], c.judged+n[i], c.good+good[i]
		b.cuts = append(b.cuts, c)
	}
	return b
}

// The index of dispersion and the design effect, worked out by hand.
func TestBatchesSpread(t *testing.T) {
	requests := func(c *soFar) float64 { return c.requests }
	good := func(c *soFar) float64 { return c.good }
	length := func(c *soFar) float64 { return c.at.Seconds() }
	for _, tt := range []struct {
		n, good            []float64
		dispersion, effect float64
	}{
		// mean 20, squares 200 of 4 less 1, over 20
		{[]float64{10, 20, 20, 30}, []float64{10, 20, 20, 30}, 200.0 / 3 / 20, 0},
		// p = 0.5: 20 · (0.25² + 0.25²) · 2 over 3 · 0.25
		{[]float64{20, 20, 20, 20}, []float64{5, 15, 5, 15}, 1, 4 * 20 * 0.0625 / (3 * 0.25)},
		{[]float64{20, 20, 20}, []float64{10, 10, 10}, 1, 1}, // never below 1
		{[]float64{20, 20}, []float64{10, 5}, 0, 0},          // too few to tell
		{[]float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}, 0, 0},
	} {
		b := cutInto(tt.n, tt.good)
		if got := b.dispersion(requests, length); math.Abs(got-tt.dispersion) > 1e-9 {
			t.Errorf("%v vary %v times as much, want %v", tt.n, got, tt.dispersion)
		}
		if got := b.effect(good, requests); math.Abs(got-tt.effect) > 1e-9 {
			t.Errorf("%v of %v: effect %v, want %v", tt.good, tt.n, got, tt.effect)
		}
	}
}

// However long a stage lasts, it is cut into so many stretches that tell something, and
// not more.
func TestStretches(t *testing.T) {
	b := newBench(t, time.Second, "a")
	n := 0.0
	page := func() []model.Sample {
		n += 20
		return []model.Sample{
			counter(model.Finished, n), counter(model.OutputTokens, 100*n),
			histogram(model.TTFT, []float64{0.5, 1}, []float64{n / 2, n, n}, n),
		}
	}
	b.round(page()...)
	b.mark("long")
	for i := 1; i <= 2000; i++ {
		f := b.round(page()...)
		s := f.Stages[0].Workflows[0].Sampled
		if s.Batches > mostBatches || i > 200 && s.Batches < mostBatches/2-1 || s.BatchS > 0 && s.BatchS < leastBatch.Seconds() {
			t.Fatalf("after %d s %d stretches of %v s", i, s.Batches, s.BatchS)
		}
		if i == 60 && (s.Batches < 10 || s.BatchS != 5) {
			t.Errorf("of a minute %d stretches of %v s", s.Batches, s.BatchS)
		}
		if s.Requests.N != 20*float64(i) || s.TTFT.Counts[2] != s.Requests.N {
			t.Fatalf("after %d s %v requests, %v of them measured", i, s.Requests.N, s.TTFT.Counts)
		}
		if s.Batches > leastBatches && (s.Requests.Effect != 1 || s.TTFT.Effects[0] != 1 || s.TTFT.Effects[1] != 0) {
			t.Fatalf("what never varies varies: %+v", s)
		}
	}
}

// What a target counted in a stage stays counted when it falls silent, and for how long
// it was silent is told.
func TestStageOfASilentTarget(t *testing.T) {
	b := newBench(t, time.Second, "a", "b")
	n := 0.0
	both := func(alsoB bool) *model.Frame {
		n += 10
		if alsoB {
			b.poll("b", counter(model.Finished, n))
		}
		return b.round(counter(model.Finished, n))
	}
	both(true)
	b.mark("one")
	for range 30 {
		both(true)
	}
	before := both(true).Stages[0]
	if before.UnseenS != 0 {
		t.Errorf("%v s were not seen", before.UnseenS)
	}
	var after model.StageView
	for range 60 {
		after = both(false).Stages[0]
	}
	was, is := before.Workflows[0].Finished.Value, after.Workflows[0].Finished.Value
	if is != was+600 {
		t.Errorf("%v requests became %v in 60 s of 10 each", was, is)
	}
	if after.UnseenS < 30 || after.UnseenS > 60 {
		t.Errorf("%v s of 60 were not seen", after.UnseenS)
	}
}

// A time in which nobody asked was not seen.
func TestStageWithAGap(t *testing.T) {
	b := newBench(t, time.Second, "a")
	b.round(counter(model.Finished, 1))
	b.mark("one")
	b.round(counter(model.Finished, 2))
	b.pass(10 * time.Minute)
	f := b.round(counter(model.Finished, 3))
	if s := f.Stages[0].UnseenS; s < 590 || s > 610 {
		t.Errorf("%v s were not seen", s)
	}
}

// Requests that were reported one by one are counted on fine edges.
func TestSampledReports(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, ttftHalf), "a")
	b.tick()
	b.mark("one")
	for i := range 120 {
		b.pass(time.Second)
		b.report(b.done(string(rune('a'+i%26))+string(rune('a'+i/26)), 0.3, 1, 10))
		b.tick()
	}
	s := b.tick().Stages[0].Workflows[0].Sampled
	at := len(s.TTFT.Counts) - 1
	if s.Requests.N != 120 || s.TTFT.Counts[at] != 120 || s.GoodEffect != 0 {
		t.Errorf("%+v", s)
	}
	for i, x := range s.TTFT.Bounds {
		want := 0.0
		if x >= 0.3 {
			want = 120
		}
		if s.TTFT.Counts[i] != want {
			t.Errorf("%v at or below %v", s.TTFT.Counts[i], x)
		}
	}
}

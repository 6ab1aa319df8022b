package fleet

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"slotop/model"
)

// replica is an engine that observes TTFT, and forgets what it saw when it restarts.
type replica struct {
	bounds []float64
	seen   []float64 // by this process
	start  float64
}

var (
	fineEdges  = []float64{.1, .25, .5, 1, 2.5, 5, 10}
	otherEdges = []float64{.1, .2, .5, 1, 2, 5, 20}
)

func (r *replica) page() []model.Sample {
	counts := make([]float64, len(r.bounds)+1)
	total := 0.0
	for _, v := range r.seen {
		i, _ := slices.BinarySearch(r.bounds, v)
		for ; i < len(counts); i++ {
			counts[i]++
		}
		total += v
	}
	n := float64(len(r.seen))
	return []model.Sample{
		gauge(model.ProcessStart, r.start), gauge(model.Running, 1), counter(model.Finished, n),
		histogram(model.TTFT, r.bounds, counts, total),
	}
}

// What the columns hold together is what the histograms counted, at every bound that
// all of them have, whatever restarts, changes its buckets or is not read for a while.
func TestHeatSumsToTheIncrease(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		b := newBench(t, time.Second, "a", "b")
		replicas := []*replica{{bounds: fineEdges, start: 1}, {bounds: fineEdges, start: 1}}
		if seed%2 == 1 {
			replicas[1].bounds = otherEdges
		}
		var counted []float64 // in closed blocks
		var open []float64
		block := int64(0)
		for i := range 400 {
			if now := blockOf(b.at.Mono); now > block {
				counted, open, block = append(counted, open...), nil, now
			}
			for k, r := range replicas {
				switch p := rng.IntN(100); {
				case p < 10 && i > 0:
					continue // not read
				case p < 12:
					r.seen, r.start = nil, r.start+100
				case p == 13 && seed%4 == 3:
					r.seen, r.start, r.bounds = nil, r.start+100, [][]float64{fineEdges, otherEdges}[rng.IntN(2)]
				}
				before := len(r.seen)
				for range rng.IntN(4) {
					r.seen = append(r.seen, []float64{.05, .3, .5, .7, 3, 7, 15, 40}[rng.IntN(8)])
				}
				if i > 0 {
					open = append(open, r.seen[before:]...)
				}
				b.poll([]string{"a", "b"}[k], r.page()...)
			}
			b.tick()
			b.pass(time.Second)
		}
		h := workflowNamed(t, b.tick(), "chat").History.HeatTTFT
		if blockOf(b.at.Mono) > block {
			counted = append(counted, open...)
		}
		if len(h.Counts) != 40 || len(h.Bounds) < 3 {
			t.Fatalf("seed %d: %d columns on %v", seed, len(h.Counts), h.Bounds)
		}
		below := 0.0
		for i, bound := range append(slices.Clone(h.Bounds), 1e9) {
			want := 0.0
			for _, v := range counted {
				if v <= bound {
					want++
				}
			}
			for _, c := range h.Counts {
				if c != nil {
					below += float64(c[i])
				}
			}
			if below != want {
				t.Errorf("seed %d: %v at or below %v, counted %v", seed, below, bound, want)
			}
		}
	}
}

// heatAfter polls "a" for so long and returns the heat.
func heatAfter(t *testing.T, b *bench, r *replica, d time.Duration) *model.Heat {
	t.Helper()
	var f *model.Frame
	for end := b.at.Mono + d; b.at.Mono < end; {
		r.seen = append(r.seen, 0.3)
		f = b.round(r.page()...)
	}
	return workflowNamed(t, f, "chat").History.HeatTTFT
}

// totals are the columns' sums, -1 for a gap.
func totals(h *model.Heat) []float32 {
	var out []float32
	for _, c := range h.Counts {
		n := float32(0)
		for _, v := range c {
			n += v
		}
		if c == nil {
			n = -1
		}
		out = append(out, n)
	}
	return out
}

func TestHeatHasGaps(t *testing.T) {
	b := newBench(t, time.Second, "a")
	r := &replica{bounds: fineEdges, start: 1}
	if h := heatAfter(t, b, r, 9*time.Second); h != nil {
		t.Errorf("a heat before the first block is over: %+v", h)
	}
	h := heatAfter(t, b, r, 12*time.Second)
	if got, want := totals(h), []float32{9, 10}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if end := b.at.Mono - b.at.Mono%(10*time.Second); h.End.Mono != end || h.Step != 10*time.Second {
		t.Errorf("ends at %v in steps of %v, want %v", h.End.Mono, h.Step, end)
	}
	for range 20 {
		b.fail("a", model.Refused)
		b.tick()
		b.pass(time.Second)
	}
	h = heatAfter(t, b, r, 20*time.Second) // the first page counts since the last one
	if got, want := totals(h), []float32{9, 10, 1, -1, 9, 10}; !slices.Equal(got[:5], want[:5]) {
		t.Errorf("got %v, want %v", got, want)
	}
	idle := workflowNamed(t, b.round(r.page()...), "chat")
	for range 20 {
		idle = workflowNamed(t, b.round(r.page()...), "chat")
	}
	if got := totals(idle.History.HeatTTFT); got[len(got)-1] != 0 {
		t.Errorf("no traffic is not zero: %v", got)
	}
	b.pass(3 * time.Hour) // the machine slept
	h = heatAfter(t, b, r, 25*time.Second)
	if got := totals(h); len(got) != chartedColumns || !slices.Equal(got[len(got)-3:], []float32{-1, -1, 10}) {
		t.Errorf("%d columns, the last %v: what of so long a gap is of now is not known", len(got), got[len(got)-3:])
	}
}

// A histogram that lost its bucket lines says how many there were and not where: the
// block is a gap, and so is the one in which it is whole again.
func TestHeatOfIncompleteHistograms(t *testing.T) {
	b := newBench(t, time.Second, "a")
	r := &replica{bounds: fineEdges, start: 1}
	heatAfter(t, b, r, 20*time.Second)
	for range 10 {
		r.seen = append(r.seen, 0.3)
		page := r.page()
		page[3].Hist.Incomplete = true
		b.round(page...)
	}
	if got, want := totals(heatAfter(t, b, r, 30*time.Second)), []float32{9, 10, -1, -1, 10}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What a frame holds stays as it is: also where a server that is read in steps tells
// of blocks that were shown already, and where bounds change.
func TestHeatOfOldFramesStays(t *testing.T) {
	b := newBench(t, time.Second, "a")
	stepped := &model.About{Engine: "test", StepS: 30}
	r := &replica{bounds: fineEdges, start: 1}
	type kept struct{ got, was *model.Heat }
	var frames []kept
	page := r.page()
	for i := range 4000 {
		r.seen = append(r.seen[max(0, len(r.seen)-5000):], 0.3)
		if i%30 == 0 {
			page = r.page()
		}
		if i == 2000 {
			r.bounds, r.start, r.seen = otherEdges, 2, nil
		}
		b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", Samples: page, About: stepped}})
		h := workflowNamed(t, b.tick(), "chat").History.HeatTTFT
		if i%50 == 0 && h != nil {
			frames = append(frames, kept{h, copied(h)})
		}
		b.pass(time.Second)
	}
	for i, f := range frames {
		if !reflect.DeepEqual(f.got, f.was) {
			t.Fatalf("frame %d changed: %v, was %v", i, totals(f.got), totals(f.was))
		}
	}
	last := frames[len(frames)-1].got
	if got := totals(last); len(got) != chartedColumns || !slices.Contains(got, 10) {
		t.Errorf("%d columns: %v", len(got), got)
	}
	if want := inBoth(fineEdges, otherEdges); !slices.Equal(last.Bounds, want) {
		t.Errorf("on %v, want %v", last.Bounds, want)
	}
}

func copied(h *model.Heat) *model.Heat {
	c := *h
	c.Bounds, c.Counts = slices.Clone(h.Bounds), nil
	for _, col := range h.Counts {
		c.Counts = append(c.Counts, slices.Clone(col))
	}
	return &c
}

// Once the columns with other buckets are an hour old, those that remain are shown
// with all of theirs.
func TestHeatIsFineAgain(t *testing.T) {
	b := newBench(t, 10*time.Second, "a")
	r := &replica{bounds: otherEdges, start: 1}
	heatAfter(t, b, r, time.Minute)
	r.bounds, r.start, r.seen = fineEdges, 2, nil
	if h := heatAfter(t, b, r, time.Minute); len(h.Bounds) != 4 {
		t.Errorf("on %v", h.Bounds)
	}
	if h := heatAfter(t, b, r, 61*time.Minute); !slices.Equal(h.Bounds, fineEdges) {
		t.Errorf("on %v", h.Bounds)
	}
}

// A page may have more buckets than any screen has lines.
func TestHeatIsBounded(t *testing.T) {
	var many []float64
	for i := range 1000 {
		many = append(many, float64(i+1)/100)
	}
	b := newBench(t, time.Second, "a")
	h := heatAfter(t, b, &replica{bounds: many, start: 1}, 21*time.Second)
	if len(h.Bounds) != maxHeatBounds || h.Bounds[maxHeatBounds-1] != 10 || totals(h)[1] != 10 {
		t.Errorf("%d bounds to %v, %v", len(h.Bounds), h.Bounds[len(h.Bounds)-1], totals(h))
	}
}

// Requests that are reported by themselves stand where they ended, also those told
// late, and the promised bound is an edge.
func TestHeatOfReports(t *testing.T) {
	b := promised(t, time.Second, chatPolicy(0.9, model.Objective{Metric: model.MetricTTFT, MaxS: 0.4}), "a")
	var late []model.Request
	var f *model.Frame
	for i := range 41 {
		if i >= 10 && i < 20 {
			late = append(late, b.done("late"+strconv.Itoa(i), 0.45, 2, 10))
			b.report()
		} else if i < 30 {
			b.report(append(late, b.done(strconv.Itoa(i), 0.35, 1, 10))...)
			late = nil
		} else {
			b.report()
		}
		f = b.tick()
		b.pass(time.Second)
	}
	h := workflowNamed(t, f, "chat").History
	if got, want := totals(h.HeatTTFT), []float32{10, 10, 10, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	edge := slices.Index(h.HeatTTFT.Bounds, 0.4)
	if edge < 0 || h.HeatTTFT.Counts[0][edge] != 10 || h.HeatTTFT.Counts[1][edge+1] != 10 {
		t.Errorf("the bound is edge %d of %v: %v", edge, h.HeatTTFT.Bounds, h.HeatTTFT.Counts[:2])
	}
	if h.HeatE2E == nil || h.HeatTPOT == nil {
		t.Error("no E2E, or no TPOT")
	}
}

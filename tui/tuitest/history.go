package tuitest

import (
	"math"
	"time"

	"slotop/model"
)

// shape is the course of a workflow's latency over the last quarter of an hour,
// as a factor of its present value.
type shape func(x float64) float64 // x from 0, the oldest point, to 1

func shapeCalm(x float64) float64 { return 0.8 + 0.2*wave(x) }

// shapeBreach is calm until four minutes before the end, with a gap and a
// restart before that.
func shapeBreach(x float64) float64 {
	switch {
	case x > 0.40 && x < 0.44:
		return math.NaN()
	case x < 0.72:
		return 0.04 + 0.01*wave(x)
	default:
		return 0.05 + 0.95*math.Min((x-0.72)/0.2, 1)
	}
}

// shapeLost ends twenty seconds before now.
func shapeLost(x float64) float64 {
	if x > 0.978 {
		return math.NaN()
	}
	return shapeCalm(x)
}

// wave is a smooth irregular course between 0 and 1.
func wave(x float64) float64 {
	return 0.5 + 0.3*math.Sin(37*x) + 0.2*math.Sin(91*x+1)
}

// past is a history of 900 points at one second, whose goodput was 99 % until four
// minutes before the end.
func past(ttft, tpot, perSecond, good float64, s shape) *model.History {
	const n = 900
	h := &model.History{Step: time.Second, End: At}
	track := func(v, narrow float64) model.Track {
		var t model.Track
		for i := range n {
			f := v * s(float64(i)/(n-1))
			t.P50 = append(t.P50, float32(f*0.42))
			t.P95 = append(t.P95, float32(f))
			lo, hi := f/narrow, f*narrow
			if f > 0.999*v && v > 5 {
				hi = math.Inf(1)
			}
			t.LoP95, t.HiP95 = append(t.LoP95, float32(lo)), append(t.HiP95, float32(hi))
			t.P99 = append(t.P99, float32(f*tailOf))
		}
		return t
	}
	h.TTFT, h.TPOT, h.ITL, h.E2E = track(ttft, 1.35), track(tpot, 1.05), track(tpot*1.2, 1.3), track(ttft+tpot*300, 1.4)
	h.HeatTTFT = heat(h.TTFT, perSecond, secondsBounds)
	h.HeatTPOT = heat(h.TPOT, perSecond, tokenBounds)
	h.HeatE2E = heat(h.E2E, perSecond, secondsBounds)
	for i := range n {
		x := float64(i) / (n - 1)
		f := s(x)
		gap := f - f // NaN where the latency is
		level := 0.8 + 0.2*wave(x+0.3) + gap
		h.Requests = append(h.Requests, float32(perSecond*level))
		h.Goodput = append(h.Goodput, float32(0.99+(good-0.99)*min(max((x-0.72)/0.08, 0), 1)-0.01*wave(x)*good+gap))
		g, apart := h.Goodput[i], float32(0.02*(1-good)+0.004)
		h.GoodputLo, h.GoodputHi = append(h.GoodputLo, max(g-apart, 0+float32(gap))), append(h.GoodputHi, min(g+apart, 1+float32(gap)))
		h.Preemptions = append(h.Preemptions, float32(math.Max(f-0.2, 0)*1.04*(1-good)))
		h.PrefixHit = append(h.PrefixHit, float32(0.7+0.05*wave(x)+gap))
		h.Output = append(h.Output, float32(perSecond*210*level))
		h.Running = append(h.Running, float32(math.Round(perSecond*3*level)))
		h.Waiting = append(h.Waiting, float32(math.Round(perSecond*12*math.Max(f-0.2, 0))))
		h.KV = append(h.KV, float32(math.Min(f, 0.99)))
	}
	h.Events = []model.Event{{At: ago(510 * time.Second), Kind: model.EventRestart, Target: "vllm-1:8000"}}
	return h
}

// tailOf is the 99th percentile over the 95th.
const tailOf = 1.45

// The buckets of vLLM's histograms, in seconds.
var (
	secondsBounds = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tokenBounds   = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
)

// heatStep is the width of a column.
const heatStep = 10 * time.Second

// heat is what a log-normal with the percentiles of a track leaves in the buckets.
func heat(t model.Track, perSecond float64, bounds []float64) *model.Heat {
	h := &model.Heat{Step: heatStep, End: At, Bounds: bounds}
	per := int(heatStep / time.Second)
	for i := per - 1; i < len(t.P50); i += per {
		mid, high := float64(t.P50[i]), float64(t.P95[i])
		if math.IsNaN(mid) {
			h.Counts = append(h.Counts, nil)
			continue
		}
		sigma := math.Log(high/mid) / 1.645
		col := make([]float32, len(bounds)+1)
		before := 0.0
		for b := range col {
			share := 1.0
			if b < len(bounds) {
				share = 0.5 * math.Erfc(-math.Log(bounds[b]/mid)/sigma/math.Sqrt2)
			}
			col[b] = float32(math.Round((share - before) * perSecond * float64(per)))
			before = share
		}
		h.Counts = append(h.Counts, col)
	}
	return h
}

// mean gives a history the phases of the mean request, which end at the given ones and
// were as much shorter before as the latency was. Nobody waited while it was low.
func mean(h *model.History, queue, prefill, decode float64) {
	last := h.TTFT.P95[len(h.TTFT.P95)-1]
	for _, v := range h.TTFT.P95 {
		r := float64(v / last)
		wait := r - r // NaN where the latency is
		if r > 0.1 {
			wait = r * (r - 0.1) / 0.9
		}
		h.Queue = append(h.Queue, float32(queue*wait))
		h.Prefill = append(h.Prefill, float32(prefill*(0.4+0.6*r)))
		h.Decode = append(h.Decode, float32(decode*(0.6+0.4*r)))
	}
}

// Later is the history i seconds on, with the same course repeated.
func Later(h *model.History, i int) *model.History {
	out := *h
	out.End = h.End.Add(time.Duration(i) * time.Second)
	turn := func(v []float32) []float32 {
		k := i % max(len(v), 1)
		return append(append([]float32{}, v[k:]...), v[:k]...)
	}
	for _, t := range []*model.Track{&out.TTFT, &out.TPOT, &out.ITL, &out.E2E} {
		t.P50, t.P95, t.LoP95, t.HiP95, t.P99 = turn(t.P50), turn(t.P95), turn(t.LoP95), turn(t.HiP95), turn(t.P99)
	}
	for _, v := range []*[]float32{
		&out.Goodput, &out.Requests, &out.Output, &out.Running, &out.Waiting, &out.KV,
		&out.GoodputLo, &out.GoodputHi, &out.Preemptions, &out.PrefixHit, &out.Queue, &out.Prefill, &out.Decode,
	} {
		*v = turn(*v)
	}
	for _, heat := range []**model.Heat{&out.HeatTTFT, &out.HeatTPOT, &out.HeatE2E} {
		moved := **heat
		k := int(time.Duration(i)*time.Second/moved.Step) % max(len(moved.Counts), 1)
		moved.End = moved.End.Add(time.Duration(k) * moved.Step)
		moved.Counts = append(append([][]float32{}, moved.Counts[k:]...), moved.Counts[:k]...)
		*heat = &moved
	}
	return &out
}

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
		}
		return t
	}
	h.TTFT, h.TPOT, h.ITL = track(ttft, 1.35), track(tpot, 1.05), track(tpot*1.2, 1.3)
	for i := range n {
		x := float64(i) / (n - 1)
		f := s(x)
		gap := f - f // NaN where the latency is
		level := 0.8 + 0.2*wave(x+0.3) + gap
		h.Requests = append(h.Requests, float32(perSecond*level))
		h.Goodput = append(h.Goodput, float32(0.99+(good-0.99)*min(max((x-0.72)/0.08, 0), 1)-0.01*wave(x)*good+gap))
		h.Output = append(h.Output, float32(perSecond*210*level))
		h.Running = append(h.Running, float32(math.Round(perSecond*3*level)))
		h.Waiting = append(h.Waiting, float32(math.Round(perSecond*12*math.Max(f-0.2, 0))))
		h.KV = append(h.KV, float32(math.Min(f, 0.99)))
	}
	h.Events = []model.Event{{At: ago(510 * time.Second), Kind: model.EventRestart, Target: "vllm-1:8000"}}
	return h
}

// Later is the history i seconds on, with the same course repeated.
func Later(h *model.History, i int) *model.History {
	out := *h
	out.End = h.End.Add(time.Duration(i) * time.Second)
	turn := func(v []float32) []float32 {
		k := i % max(len(v), 1)
		return append(append([]float32{}, v[k:]...), v[:k]...)
	}
	for _, t := range []*model.Track{&out.TTFT, &out.TPOT, &out.ITL} {
		t.P50, t.P95, t.LoP95, t.HiP95 = turn(t.P50), turn(t.P95), turn(t.LoP95), turn(t.HiP95)
	}
	for _, v := range []*[]float32{&out.Goodput, &out.Requests, &out.Output, &out.Running, &out.Waiting, &out.KV} {
		*v = turn(*v)
	}
	return &out
}

package diagnose

import (
	"math"
	"time"

	"slotop/model"
	"slotop/model/steptime"
)

// load is what one workflow does in a second, and how it fares.
type load struct {
	rate, prompt, hit, output float64
	ttft, tpot, good          float64
	queue, prefill            float64
}

var (
	chatLoad  = load{rate: 8, prompt: 1600, hit: 0.7, output: 200, ttft: 0.06, tpot: 0.014, good: 0.99, queue: 0.01, prefill: 0.04}
	batchLoad = load{rate: 0.8, prompt: 800, hit: 0.3, output: 400, ttft: 0.06, tpot: 0.014, good: 1, queue: 0.01, prefill: 0.04}
)

// block is ten seconds of a load; i makes neighbours differ a little, as they do.
func (l load) block(i int) Sums {
	s := Nothing()
	wobble := 1 + 0.05*math.Sin(float64(i)*2.4)
	s.Seconds = Block.Seconds()
	n := l.rate * s.Seconds * wobble
	for c, v := range map[Count]float64{
		Arrived: n, Ended: n, Failed: 0, Cancelled: 0, GaveUpEarly: 0, Limited: 0, Retried: 0, Throttled: 0,
		Judged: n, Good: n * l.good,
		PromptTokens: n * l.prompt, CachedTokens: n * l.prompt * l.hit, OutputTokens: n * l.output, Preemptions: 0,
	} {
		s.Counts[c] = v
	}
	for m, v := range map[Measure]float64{
		PromptLength: l.prompt, OutputLength: l.output, TTFT: l.ttft, QueueTime: l.queue, PrefillTime: l.prefill,
		TPOT: l.tpot, E2E: l.ttft + (l.output-1)*l.tpot, DecodeTime: (l.output - 1) * l.tpot,
	} {
		s.Measures[m] = Mean{n, n * v * (1 + 0.02*math.Sin(float64(i)*1.7))}
	}
	s.Measures[ITL] = Mean{n * l.output, n * l.output * l.tpot}
	return s
}

func (l load) blocks(n int) []Sums {
	out := make([]Sums, n)
	for i := range out {
		out[i] = l.block(i)
	}
	return out
}

func promised(name string, reader model.Reader, share float64, o ...model.Objective) *model.WorkflowSpec {
	return &model.WorkflowSpec{Name: name, Share: share, Reader: reader, Objectives: o}
}

var (
	chatSpec  = promised("chat", model.ReaderHuman, 0.95, model.Objective{Metric: model.MetricTTFT, MaxS: 0.5}, model.Objective{Metric: model.MetricTPOT, MaxS: 0.05})
	batchSpec = promised("batch", model.ReaderProgram, 0.99, model.Objective{Metric: model.MetricE2E, MaxS: 1200})
)

// steady is one engine with two workflows, of which nothing is wrong.
func steady() *Facts {
	f := &Facts{
		Pool: "batch, chat", Settled: true,
		At:         model.Instant{Wall: time.Unix(720, 0).UTC(), Mono: 720 * time.Second},
		BaselineTo: model.Instant{Wall: time.Unix(590, 0).UTC(), Mono: 590 * time.Second},
	}
	f.Flows = []Flow{flow("batch", batchSpec, batchLoad), flow("chat", chatSpec, chatLoad)}
	f.Engines = []Engine{engine("vllm-0")}
	serve(f)
	return f
}

func flow(name string, spec *model.WorkflowSpec, l load) Flow {
	w := Flow{Name: name, Spec: spec, Now: l.blocks(NowBlocks), Before: l.blocks(BaselineBlocks)}
	w.Gap = Gap{P50: model.Of(0.012), P95: model.Of(0.03), P99: model.Of(0.05), Longest: model.Of(0.1)}
	w.GapBefore = w.Gap
	return w
}

func engine(name string) Engine {
	return Engine{
		Name:    name,
		Running: level(28, 40), RunningBefore: level(28, 45), Waiting: level(0, 1), WaitingBefore: level(0, 1),
		KV: level(0.14, 0.2), KVBefore: level(0.14, 0.2),
		KVCapacity: model.Of(438000), KVCapacityBefore: model.Of(438000), Prefix: true, Age: model.Of(7200),
		Step: Step{
			Fit:      &steptime.Fit{Fixed: 6.8e-3, PerKVToken: 0.0654e-6, PerPrefill: 27.6e-6, Samples: 60, Span: 3},
			Base:     steptime.Sample{Seconds: 350, Step: 0.0137, Sequences: 28, KVTokens: 53800, Prefill: 100, Prompt: 1600},
			Now:      steptime.Sample{Seconds: 60, Step: 0.0137, Sequences: 28, KVTokens: 53800, Prefill: 100, Prompt: 1600},
			Residual: model.Of(1.0), Short: model.Of(1.0), Long: model.Of(1.0),
		},
	}
}

func level(mean, most float64) Level { return Level{model.Of(mean), model.Of(most)} }

// serve gives the first engine what its workflows tell, and the level of its queue.
func serve(f *Facts) {
	for i := range f.Engines {
		e := &f.Engines[i]
		e.Now, e.Before = joined(f.Flows, flowBlocks).now, joined(f.Flows, flowBlocks).before
		part := 1 / float64(len(f.Engines))
		for _, blocks := range [][]Sums{e.Now, e.Before} {
			for j := range blocks {
				for c := range blocks[j].Counts {
					blocks[j].Counts[c] *= part
				}
				for m := range blocks[j].Measures {
					blocks[j].Measures[m].N *= part
					blocks[j].Measures[m].Sum *= part
				}
			}
		}
		e.queue(value(e.Waiting.Mean), value(e.Waiting.Mean))
		e.runs()
	}
}

// queue makes the engine's queue go from one length to another over the present.
func (e *Engine) queue(from, to float64) {
	for i := range e.Now {
		v := from + (to-from)*float64(i)/float64(len(e.Now)-1)
		e.Now[i].Measures[WaitingLevel] = Mean{10, 10 * v}
	}
	e.Waiting = level((from+to)/2, max(from, to))
}

func (e *Engine) runs() {
	for i := range e.Now {
		e.Now[i].Measures[RunningLevel] = Mean{10, 10 * value(e.Running.Mean)}
		e.Now[i].KVMost = value(e.KV.Most)
	}
}

// now sets the present of a workflow.
func now(f *Facts, name string, l load) {
	for i := range f.Flows {
		if f.Flows[i].Name == name {
			f.Flows[i].Now = l.blocks(NowBlocks)
		}
	}
	serve(f)
}

func (f *Facts) flow(name string) *Flow {
	for i := range f.Flows {
		if f.Flows[i].Name == name {
			return &f.Flows[i]
		}
	}
	return nil
}

// count sets a count of every block of a workflow's present, as a share of another.
func count(w *Flow, c Count, part float64, of Count) {
	for i := range w.Now {
		w.Now[i].Counts[c] = part * w.Now[i].Counts[of]
	}
}

// slowChat is chat as it fares in a jam: its first tokens and its tokens are late.
func slowChat(l load) load {
	l.ttft, l.tpot, l.good, l.queue = 7, 0.06, 0.05, 6.8
	return l
}

// jam fills the engine's KV cache.
func jam(f *Facts) {
	e := &f.Engines[0]
	e.KV, e.Running = level(0.99, 1), level(228, 240)
	e.queue(190, 220)
	e.runs()
	e.Step.Now = steptime.Sample{Seconds: 60, Step: 0.0615, Sequences: 228, KVTokens: 430000, Prefill: 900, Prompt: 1600}
	e.Step.Residual, e.Step.Short, e.Step.Long = model.Of(1.07), model.Of(1.07), model.Of(1.07)
	for i := range e.Now {
		e.Now[i].Counts[Preemptions] = 10
	}
}

// surge is chat ×3.6 and a full KV cache.
func surge() *Facts {
	f := steady()
	l := slowChat(chatLoad)
	l.rate *= 3.85
	now(f, "chat", l)
	jam(f)
	f.flow("chat").Terms = []model.ObjectiveView{{
		Metric: model.MetricTTFT, MaxS: 0.5, N: 1892, Target: 0.95,
		Share: model.Share{Lo: model.Of(1 / 1892.0), Hi: model.Of(1 / 1892.0), Point: model.Of(1 / 1892.0)},
	}}
	return f
}

// hosted is a pool that only clients speak of.
func hosted() *Facts {
	f := steady()
	f.Engines = nil
	for i := range f.Flows {
		w := &f.Flows[i]
		w.CallsBefore, w.Calls = calls(0.25, 40e-6, 0.014, 0, 120), calls(0.25, 40e-6, 0.014, 0, 120)
	}
	return f
}

// calls are requests whose TTFT is a line over the prompt, and whose TPOT grows with
// the number of others.
func calls(intercept, slope, tpot, perOther float64, n int) []Call {
	out := make([]Call, n)
	for i := range out {
		prompt := 200 + float64((i*37)%100)*30
		others := float64(5 + (i*13)%20)
		jitter := float64((i*7)%11-5) / 5
		out[i] = Call{
			Prompt: prompt, Uncached: prompt, Others: others,
			TTFT: intercept + slope*prompt + 0.003*jitter, TPOT: tpot + perOther*others + 0.002*jitter,
		}
	}
	return out
}

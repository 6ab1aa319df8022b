package diagnose

import (
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/steptime"
)

// ruleCase is facts on which a rule speaks, and what contradicts it: each changes
// those facts so that it is silent.
type ruleCase struct {
	facts      func() *Facts
	contradict map[string]func(*Facts)
	cause      string // of what it says, a part
}

// confirm asks a new case two times, as a finding needs.
func confirm(f *Facts) (model.DiagnosisView, []model.FindingView) {
	var c Case
	c.Evaluate(f)
	return c.Evaluate(f)
}

func found(findings []model.FindingView, id string) *model.FindingView {
	for i := range findings {
		if findings[i].ID == id {
			return &findings[i]
		}
	}
	return nil
}

// with is steady facts with one thing done to them.
func with(change func(*Facts)) func() *Facts {
	return func() *Facts {
		f := steady()
		change(f)
		return f
	}
}

// but is facts with one thing more.
func but(facts func() *Facts, change func(*Facts)) func() *Facts {
	return func() *Facts {
		f := facts()
		change(f)
		return f
	}
}

func misses(f *Facts, name string) { // its users get too little
	w := f.flow(name)
	count(w, Good, 0.5, Judged)
}

// cold is chat without its prefix cache.
func cold(f *Facts) {
	l := chatLoad
	l.hit, l.ttft, l.tpot, l.prefill = 0, 0.16, 0.03, 0.14
	now(f, "chat", l)
}

// longPrompts is chat with prompts twice as long.
func longPrompts(f *Facts) {
	l := slowChat(chatLoad)
	l.prompt *= 2
	now(f, "chat", l)
}

// docs is a client with long prompts that came after the baseline.
func docs(f *Facts) {
	now(f, "chat", slowChat(chatLoad))
	f.Flows = append(f.Flows, Flow{Name: "docs", Spec: promised("docs", model.ReaderProgram, 0.9, model.Objective{Metric: model.MetricTTFT, MaxS: 10}), New: true,
		Now: load{rate: 0.9, prompt: 20000, output: 200, ttft: 7, tpot: 0.06, good: 1}.blocks(NowBlocks)})
	serve(f)
}

func batched(f *Facts) {
	l := chatLoad
	l.ttft, l.prefill, l.good = 0.4, 0.38, 0.5
	now(f, "chat", l)
	e := &f.Engines[0]
	e.Budget = model.Of(2048)
	e.Step.Now.Prefill = 1800
}

func silent(f *Facts) {
	now(f, "chat", slowChat(chatLoad))
	f.Silent, f.Awaited = 1, 1
}

func frontEnd(f *Facts) {
	l := chatLoad
	l.ttft, l.good = 0.7, 0.2
	now(f, "chat", l)
}

func capped(f *Facts) {
	now(f, "chat", slowChat(chatLoad))
	e := &f.Engines[0]
	e.Running, e.KV = level(24, 24), level(0.12, 0.15)
	e.queue(40, 62)
	e.runs()
}

func gateway(f *Facts) {
	w := f.flow("chat")
	w.Outside, w.OutsideBefore = model.Of(0.45), model.Of(0.002)
	misses(f, "chat")
}

// crowded is chat with more sequences a step, which the load explains.
func crowded(f *Facts) {
	l := chatLoad
	l.tpot, l.good = 0.035, 0.6
	now(f, "chat", l)
	e := &f.Engines[0]
	e.Running = level(100, 120)
	e.Step.Now = steptime.Sample{Seconds: 60, Step: 0.033, Sequences: 100, KVTokens: 300000, Prefill: 130, Prompt: 1600}
}

func deepContexts(f *Facts) {
	l := chatLoad
	l.tpot, l.good = 0.03, 0.7
	now(f, "chat", l)
	e := &f.Engines[0]
	e.Step.Now = steptime.Sample{Seconds: 60, Step: 0.02, Sequences: 28, KVTokens: 160000, Prefill: 100, Prompt: 1600}
}

func interfered(f *Facts) {
	l := chatLoad
	l.tpot, l.good = 0.039, 0.73
	now(f, "chat", l)
	f.Engines[0].Step.Now.Prefill = 600
	f.flow("chat").Gap = Gap{P50: model.Of(0.015), P95: model.Of(0.12), P99: model.Of(0.33), Longest: model.Of(0.58)}
}

// slow is an engine whose steps take twice what their load explains.
func slow(f *Facts) {
	l := chatLoad
	l.tpot, l.good = 0.06, 0.1
	now(f, "chat", l)
	s := &f.Engines[0].Step
	s.Residual, s.Short, s.Long = model.Of(1.98), model.Of(1.98), model.Of(1.97)
}

func gpu(clock, sm, power float64) GPU {
	return GPU{
		Name: "GPU 0", SM: Shift{model.Of(0.8), model.Of(sm)}, Power: Shift{model.Of(500), model.Of(power)},
		Clock: Shift{model.Of(1.98e9), model.Of(clock)}, Throttled: Shift{model.Of(0), model.Of(0)},
	}
}

func onGPU(g GPU) func(*Facts) {
	return func(f *Facts) {
		slow(f)
		f.Engines[0].GPUs = []GPU{g}
	}
}

func drafts(f *Facts, accepted0, accepted1, gap float64) {
	l := chatLoad
	l.tpot, l.good = 0.0205, 0.98
	now(f, "chat", l)
	e := &f.Engines[0]
	for at, blocks := range [][]Sums{e.Before, e.Now} {
		for i := range blocks {
			n := blocks[i].Counts[OutputTokens] / 3
			blocks[i].Counts[Drafts], blocks[i].Counts[DraftTokens] = n, 4*n
			blocks[i].Counts[Accepted] = n * []float64{accepted0, accepted1}[at]
			blocks[i].Measures[ITL] = Mean{n, n * []float64{0.045, gap}[at]}
		}
	}
}

func changedAt(f *Facts, what string) {
	f.Engines[0].Changes = []Change{{At: model.Instant{Wall: time.Unix(600, 0).UTC(), Mono: 600 * time.Second}, What: what}}
}

func longAnswers(f *Facts) {
	l := chatLoad
	l.output = 440
	now(f, "chat", l)
}

func retrying(f *Facts) {
	*f = *surge()
	count(f.flow("chat"), Retried, 0.4, Arrived)
}

func offline(f *Facts) {
	l := batchLoad
	l.rate *= 10
	now(f, "batch", l)
	now(f, "chat", slowChat(chatLoad))
	jam(f)
}

func provider1(f *Facts) {
	*f = *hosted()
	w := f.flow("chat")
	w.Calls = calls(0.65, 40e-6, 0.014, 0, 120)
	l := chatLoad
	l.ttft, l.good = 0.66, 0.03
	w.Now = l.blocks(NowBlocks)
}

func provider2(f *Facts) {
	*f = *hosted()
	w := f.flow("chat")
	w.Calls = calls(0.25, 160e-6, 0.014, 0, 120)
	l := chatLoad
	l.ttft, l.good = 0.6, 0.3
	w.Now = l.blocks(NowBlocks)
}

func provider3(perOther, sent float64) func(*Facts) {
	return func(f *Facts) {
		*f = *hosted()
		w := f.flow("chat")
		w.Calls = calls(0.25, 40e-6, 0.03, perOther, 120)
		l := chatLoad
		l.tpot, l.rate = 0.03, sent*l.rate
		w.Now = l.blocks(NowBlocks)
	}
}

func refusals(f *Facts) {
	*f = *hosted()
	count(f.flow("chat"), Throttled, 0.1, Ended)
}

// Slow tokens keep more requests in flight without anybody sending more: that is
// the provider's doing, and not one's own.
func TestWhoStaysLongerIsNotMoreSent(t *testing.T) {
	f := with(provider3(2e-3, 1))()
	var c Case
	c.Evaluate(f)
	_, findings := c.Evaluate(f)
	if found(findings, "P3") == nil || found(findings, "P4") != nil {
		t.Errorf("found %s", ids(findings))
	}
}

// seen adds an engine to a pool that had none: then nothing is claimed of a provider.
func seen(f *Facts) { f.Engines = []Engine{engine("vllm-0")}; serve(f) }

var ruleCases = map[string]ruleCase{
	"T1": {facts: surge, cause: "arrivals ×3.5", contradict: map[string]func(*Facts){
		"flat arrivals": func(f *Facts) { now(f, "chat", slowChat(chatLoad)) },
		"nobody hurt and nothing full": func(f *Facts) {
			l := chatLoad
			l.rate *= 3.85
			g := steady()
			now(g, "chat", l)
			*f = *g
		},
	}},
	"T2": {facts: with(longPrompts), cause: "prompts ×", contradict: map[string]func(*Facts){
		"flat within each workflow": func(f *Facts) { *f = *with(docs)() },
	}},
	"T3": {facts: with(docs), cause: "more docs traffic: ", contradict: map[string]func(*Facts){
		"its rate is flat": func(f *Facts) {
			w := f.flow("docs")
			w.New, w.Before = false, w.Now
		},
		"a workflow's own value moved": func(f *Facts) { *f = *with(longPrompts)() },
	}},
	"T4": {facts: with(cold), cause: "cache misses ×3", contradict: map[string]func(*Facts){
		"KV cache nearly full":             func(f *Facts) { f.Engines[0].KV = level(0.95, 0.99) },
		"look-ups counted while they wait": func(f *Facts) { f.Engines[0].Prefix = false; f.Engines[0].queue(5, 6) },
	}},
	"T5": {facts: with(batched), cause: "prefills of several prompts", contradict: map[string]func(*Facts){
		"queueing makes most of it": func(f *Facts) {
			l := chatLoad
			l.ttft, l.prefill, l.queue, l.good = 0.9, 0.38, 0.5, 0.5
			now(f, "chat", l)
		},
		"the queue grows": func(f *Facts) { f.Engines[0].queue(0, 200) },
	}},
	"T6": {facts: surge, contradict: map[string]func(*Facts){
		"no preemptions": func(f *Facts) {
			for i := range f.Engines[0].Now {
				f.Engines[0].Now[i].Counts[Preemptions] = 0
			}
		},
	}},
	"T7": {facts: with(silent), cause: "cold start: 1 of 2", contradict: map[string]func(*Facts){
		"all answer and none is young": func(f *Facts) { f.Silent, f.Awaited = 0, 0 },
		"it was never there, and little is felt": func(f *Facts) {
			l := chatLoad
			l.tpot = 0.03
			now(f, "chat", l)
		},
	}},
	"T8": {facts: with(frontEnd), cause: "the front end adds", contradict: map[string]func(*Facts){
		"those that wait tell of a longer queue": func(f *Facts) { f.Engines[0].queue(5, 6) },
		"the queue grows":                        func(f *Facts) { f.Engines[0].queue(0, 200) },
		"prefill makes it": func(f *Facts) {
			l := chatLoad
			l.ttft, l.prefill, l.good = 0.7, 0.66, 0.2
			now(f, "chat", l)
		},
	}},
	"T9": {facts: with(capped), cause: "at most 24", contradict: map[string]func(*Facts){
		"KV cache full":     jam,
		"it comes and goes": func(f *Facts) { f.Engines[0].Running = level(24, 33) },
	}},
	"T10": {facts: with(gateway), cause: "outside the engine", contradict: map[string]func(*Facts){
		"the engine is slower too": func(f *Facts) { now(f, "chat", slowChat(chatLoad)) },
	}},
	"D1": {facts: with(crowded), cause: "share the memory bandwidth", contradict: map[string]func(*Facts){
		"steps take longer than explained": func(f *Facts) { f.Engines[0].Step.Residual = model.Of(1.6) },
	}},
	"D2": {facts: with(deepContexts), cause: "contexts ×", contradict: map[string]func(*Facts){
		"contexts are flat":  func(f *Facts) { f.Engines[0].Step.Now.KVTokens = 54000 },
		"more sequences run": func(f *Facts) { f.Engines[0].Step.Now.Sequences = 60 },
	}},
	"D3": {facts: with(interfered), cause: "long prefills", contradict: map[string]func(*Facts){
		"gaps are flat": func(f *Facts) { f.flow("chat").Gap = f.flow("chat").GapBefore },
	}},
	"D4": {facts: with(onGPU(gpu(0.89e9, 0.9, 260))), cause: "throttled GPU: steps 1.98×", contradict: map[string]func(*Facts){
		"clocks are normal":    func(f *Facts) { f.Engines[0].GPUs[0].Clock.Now = model.Of(1.98e9) },
		"the load explains it": func(f *Facts) { f.Engines[0].Step.Residual = model.Of(1.05) },
	}},
	"D5": {facts: with(onGPU(gpu(1.98e9, 0.45, 380))), cause: "slow host: steps 1.98×", contradict: map[string]func(*Facts){
		"activity is up":    func(f *Facts) { f.Engines[0].GPUs[0].SM.Now = model.Of(0.95) },
		"its clock is down": func(f *Facts) { f.Engines[0].GPUs[0].Clock.Now = model.Of(0.9e9) },
	}},
	"D6": {facts: with(func(f *Facts) { drafts(f, 2.36, 1.31, 0.045) }), cause: "tokens a step 3.36 → 2.31", contradict: map[string]func(*Facts){
		"acceptance is flat": func(f *Facts) { drafts(f, 2.36, 2.36, 0.045) },
		"the gaps grew":      func(f *Facts) { drafts(f, 2.36, 1.31, 0.08) },
	}},
	"D7": {facts: but(surge, func(f *Facts) { f.flow("chat").Gap.Longest = model.Of(1.5) }), cause: "streams freeze", contradict: map[string]func(*Facts){
		"no preemptions": func(f *Facts) {
			for i := range f.Engines[0].Now {
				f.Engines[0].Now[i].Counts[Preemptions] = 0
			}
		},
	}},
	"D8": {facts: with(func(f *Facts) { slow(f); changedAt(f, "version 0.11 → 0.12") }), cause: "version 0.11 → 0.12: tokens ×4", contradict: map[string]func(*Facts){
		"nothing was changed":  func(f *Facts) { f.Engines[0].Changes = nil },
		"the change is old":    func(f *Facts) { f.Engines[0].Changes[0].At = model.Instant{Mono: time.Second} },
		"the load grew":        func(f *Facts) { *f = *but(surge, func(f *Facts) { changedAt(f, "restarted") })() },
		"the load explains it": func(f *Facts) { f.Engines[0].Step.Residual = model.Of(1.05) },
		"a backlog drains":     func(f *Facts) { f.Engines[0].queue(200, 20) },
		"the GPU is slowed":    func(f *Facts) { f.Engines[0].GPUs = []GPU{gpu(0.89e9, 0.9, 260)} },
		"another engine is as slow, unchanged": func(f *Facts) {
			other := engine("vllm-1")
			other.Step.Residual = model.Of(1.98)
			f.Engines = append(f.Engines, other)
			serve(f)
		},
		"its KV pool is too small": func(f *Facts) {
			jam(f)
			f.Engines[0].KVCapacity, f.Engines[0].Step.Residual = model.Of(45000), model.Reading{}
		},
	}},
	"D9": {facts: with(onGPU(gpu(1.98e9, 0.95, 600))), cause: "something else on the GPU", contradict: map[string]func(*Facts){
		"activity is flat":  func(f *Facts) { f.Engines[0].GPUs[0].SM.Now = model.Of(0.8) },
		"its clock is down": func(f *Facts) { f.Engines[0].GPUs[0].Clock.Now = model.Of(0.9e9) },
	}},
	"D10": {facts: with(slow), cause: "GPU or host: steps 1.98×", contradict: map[string]func(*Facts){
		"its clock decides":    func(f *Facts) { f.Engines[0].GPUs = []GPU{gpu(0.9e9, 0.9, 300)} },
		"its activity decides": func(f *Facts) { f.Engines[0].GPUs = []GPU{gpu(1.98e9, 0.4, 300)} },
	}},
	"E1": {facts: with(longAnswers), cause: "answers ×", contradict: map[string]func(*Facts){
		"tokens got slower instead": func(f *Facts) {
			l := chatLoad
			l.tpot = 0.04
			now(f, "chat", l)
		},
		"only the mix changed": func(f *Facts) {
			now(f, "chat", chatLoad)
			l := batchLoad
			l.rate, l.output = 9, 400
			f.flow("batch").Now = l.blocks(NowBlocks)
			misses(f, "chat")
			serve(f)
		},
	}},
	"E2": {facts: with(func(f *Facts) {
		f.flow("chat").Turns, f.flow("chat").Took = Shift{model.Of(3), model.Of(6)}, Shift{model.Of(10), model.Of(20)}
	}), cause: "calls a piece of work ×2", contradict: map[string]func(*Facts){
		"as many are made": func(f *Facts) { f.flow("chat").Turns.Now = model.Of(3) },
		"calls are slower": func(f *Facts) {
			l := chatLoad
			l.tpot = 0.03
			now(f, "chat", l)
		},
	}},
	"E3": {facts: with(retrying), cause: "retries are 39 %", contradict: map[string]func(*Facts){
		"arrivals are flat": func(f *Facts) {
			now(f, "chat", slowChat(chatLoad))
			count(f.flow("chat"), Retried, 0.4, Arrived)
		},
		"as many retried before": func(f *Facts) {
			for i := range f.Flows {
				for j := range f.Flows[i].Before {
					f.Flows[i].Before[j].Counts[Retried] = 0.4 * f.Flows[i].Before[j].Counts[Arrived]
				}
			}
		},
	}},
	"E4": {facts: with(func(f *Facts) { count(f.flow("chat"), Limited, 0.12, Ended) }), cause: "reach their limit", contradict: map[string]func(*Facts){
		"as many were cut before": func(f *Facts) {
			w := f.flow("chat")
			for i := range w.Before {
				w.Before[i].Counts[Limited] = 0.12 * w.Before[i].Counts[Ended]
			}
		},
	}},
	"E5": {facts: with(func(f *Facts) {
		count(f.flow("chat"), Cancelled, 0.3, Ended)
		count(f.flow("chat"), GaveUpEarly, 0.9, Cancelled)
	}), cause: "too long for the first token", contradict: map[string]func(*Facts){
		"as many gave up before": func(f *Facts) {
			w := f.flow("chat")
			for i := range w.Before {
				w.Before[i].Counts[Cancelled] = 0.2 * w.Before[i].Counts[Ended]
			}
		},
	}},
	"E6": {facts: with(offline), cause: "at the cost of chat", contradict: map[string]func(*Facts){
		"goodput is flat":                 func(f *Facts) { now(f, "chat", chatLoad) },
		"those who lose bring the tokens": func(f *Facts) { *f = *surge() },
		"a backlog drains": func(f *Facts) {
			l := slowChat(chatLoad)
			l.output *= 1.15
			now(f, "batch", batchLoad)
			now(f, "chat", l)
			f.Engines[0].queue(200, 20)
		},
	}},
	"E7": {facts: with(offline), cause: "batch is 6", contradict: map[string]func(*Facts){
		"it promises a first token":   func(f *Facts) { f.flow("batch").Spec = chatSpec },
		"it makes little of the work": func(f *Facts) { now(f, "batch", batchLoad) },
		"nobody interactive is hurt":  func(f *Facts) { now(f, "chat", chatLoad); f.Engines[0].queue(0, 0) },
	}},
	"E8": {facts: with(func(f *Facts) {
		frontEnd(f)
		l := chatLoad
		l.good = 0.3
		f.flow("chat").Before = l.blocks(BaselineBlocks)
		f.flow("chat").Terms = []model.ObjectiveView{{Metric: model.MetricTTFT, MaxS: 0.5, N: 480, Share: model.Share{Point: model.Of(0.2), Lo: model.Of(0.2), Hi: model.Of(0.2)}}}
	}), cause: "faster than anyone reads", contradict: map[string]func(*Facts){
		"a program reads": func(f *Facts) {
			spec := *chatSpec
			spec.Reader = model.ReaderProgram
			f.flow("chat").Spec = &spec
		},
		"TTFT is met":       func(f *Facts) { f.flow("chat").Terms[0].Metric = model.MetricTPOT },
		"it was met before": func(f *Facts) { f.flow("chat").Before = chatLoad.blocks(BaselineBlocks) },
	}},
	"E9": {facts: with(func(f *Facts) { misses(f, "chat") }), cause: "the means are as they were", contradict: map[string]func(*Facts){
		"a mean moved":      frontEnd,
		"something is full": jam,
	}},
	"C1": {facts: with(func(f *Facts) { now(f, "chat", slowChat(chatLoad)); jam(f); f.Engines[0].KVCapacity = model.Of(45000) }), cause: "KV pool 438k → 45k tokens", contradict: map[string]func(*Facts){
		"a factor of the load moved": func(f *Facts) { *f = *surge() },
		"the queue shrinks":          func(f *Facts) { f.Engines[0].KVCapacity = model.Of(438000); f.Engines[0].queue(200, 20) },
		"an engine is missing":       func(f *Facts) { f.Engines[0].KVCapacity = model.Of(438000); f.Silent = 1 },
	}},
	"B1": {facts: but(surge, func(f *Facts) {
		e := &f.Engines[0]
		e.KV = level(0.5, 0.6)
		for i := range e.Now {
			e.Now[i].Counts[Preemptions], e.Now[i].KVMost = 0, 0.6
		}
		e.Running = level(150, 240)
	}), contradict: map[string]func(*Facts){
		"nothing waits": func(f *Facts) { f.Engines[0].queue(0, 0) },
	}},
	"B2": {facts: with(func(f *Facts) { now(f, "chat", slowChat(chatLoad)); f.Engines[0].queue(200, 20) }), cause: "a backlog drains: 110 → 20", contradict: map[string]func(*Facts){
		"the queue grows":      func(f *Facts) { f.Engines[0].queue(20, 200) },
		"a factor is still up": func(f *Facts) { *f = *surge(); f.Engines[0].queue(200, 20) },
	}},
	"P1": {facts: with(provider1), cause: "the provider adds", contradict: map[string]func(*Facts){
		"the slope grew too": func(f *Facts) { f.flow("chat").Calls = calls(0.65, 160e-6, 0.014, 0, 120) },
		"engines are seen":   seen,
	}},
	"P2": {facts: with(provider2), cause: "a prompt token costs ×3.9", contradict: map[string]func(*Facts){
		"the slope is flat": func(f *Facts) { f.flow("chat").Calls = calls(0.5, 40e-6, 0.014, 0, 120) },
		"engines are seen":  seen,
	}},
	"P3": {facts: with(provider3(0, 1)), cause: "tokens come ×2", contradict: map[string]func(*Facts){
		"it goes with own concurrency": provider3(2e-3, 1.5),
		"engines are seen":             seen,
	}},
	"P4": {facts: with(provider3(2e-3, 1.5)), cause: "with own concurrency", contradict: map[string]func(*Facts){
		"it does not":      provider3(0, 1.5),
		"as many are sent": provider3(2e-3, 1),
		"engines are seen": seen,
	}},
	"P5": {facts: with(refusals), cause: "refuses", contradict: map[string]func(*Facts){
		"as many were refused before": func(f *Facts) {
			w := f.flow("chat")
			for i := range w.Before {
				w.Before[i].Counts[Throttled] = 0.1 * w.Before[i].Counts[Ended]
			}
		},
		"engines are seen": seen,
	}},
}

// Every rule speaks on its evidence, and is silent where it is contradicted.
func TestRules(t *testing.T) {
	for i := range rules {
		r := &rules[i]
		c, there := ruleCases[r.id]
		if !there || len(c.contradict) == 0 {
			t.Errorf("%s has no case of its evidence and of its contradiction", r.id)
			continue
		}
		_, findings := confirm(c.facts())
		v := found(findings, r.id)
		if v == nil {
			t.Errorf("%s says nothing on its evidence; said: %s", r.id, ids(findings))
			continue
		}
		if !strings.Contains(string(v.Cause), c.cause) {
			t.Errorf("%s says %q, want %q in it", r.id, v.Cause, c.cause)
		}
		if len(v.Try) == 0 || len(v.Against) == 0 || len(v.Evidence) == 0 {
			t.Errorf("%s: try %q, against %q, evidence %q", r.id, v.Try, v.Against, v.Evidence)
		}
		for name, contradict := range c.contradict {
			f := c.facts()
			contradict(f)
			if _, findings := confirm(f); found(findings, r.id) != nil {
				t.Errorf("%s speaks although %s", r.id, name)
			}
		}
	}
	if len(ruleCases) != len(rules) {
		t.Errorf("%d cases for %d rules", len(ruleCases), len(rules))
	}
}

func ids(findings []model.FindingView) string {
	var out []string
	for i := range findings {
		out = append(out, findings[i].ID)
	}
	return strings.Join(out, " ")
}

// A rule's row says everything, and no two have one id.
func TestRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		if r.id == "" || r.title == "" || r.layer == "" || r.when == "" || r.against == "" || len(r.try) == 0 || r.says == nil || seen[r.id] {
			t.Errorf("row %d, %q", i, r.id)
		}
		seen[r.id] = true
	}
}

// Of a service that only clients speak of nothing is said about engines and GPUs.
func TestHostedNeverNamesAGPU(t *testing.T) {
	for name, change := range map[string]func(*Facts){
		"queues": provider1, "prefill": provider2, "loaded": provider3(0, 1), "tier": provider3(2e-3, 1.5), "quota": refusals,
	} {
		f := steady()
		change(f)
		now(f, "batch", batchLoad)
		l := chatLoad
		l.rate *= 3
		before := f.flow("chat").Now
		f.flow("chat").Now = append(l.blocks(NowBlocks)[:1], before[1:]...)
		v, findings := confirm(f)
		if v.Residual.OK() {
			t.Errorf("%s: a residual of a service that nobody sees", name)
		}
		for i := range findings {
			x := &findings[i]
			if x.ID[0] != 'P' && x.ID[0] != 'E' {
				t.Errorf("%s: %s", name, x.ID)
			}
			all := strings.Join(append(append(append([]string{x.Title, string(x.Cause), string(x.Binding)}, x.Evidence...), x.Not...), x.Try...), " ")
			for _, word := range []string{"GPU", "KV", "sequences", "throttl", "host", "prefix cache"} {
				if strings.Contains(all, word) {
					t.Errorf("%s: %s speaks of %q: %s", name, x.ID, word, all)
				}
			}
		}
	}
}

// A young engine whose first tokens are late, among older ones, starts cold.
func TestYoungEngineAmongOld(t *testing.T) {
	f := steady()
	f.Engines = []Engine{engine("old"), engine("young")}
	misses(f, "chat")
	serve(f)
	young := &f.Engines[1]
	young.Age = model.Of(200)
	for i := range young.Now {
		young.Now[i].Measures[TTFT].Sum *= 5
	}
	_, findings := confirm(f)
	if v := found(findings, "T7"); v == nil || v.Target != "young" {
		t.Errorf("%s: %+v", ids(findings), v)
	}
	young.Age = model.Of(4000)
	if _, findings := confirm(f); found(findings, "T7") != nil {
		t.Error("of an old engine too")
	}
}

// What is told of the prompt's slopes needs single requests.
func TestSlopesOfACollapse(t *testing.T) {
	f := steady()
	cold(f)
	w := f.flow("chat")
	w.CallsBefore, w.Calls = calls(0.018, 11.5e-6, 0.014, 0, 120), calls(0.064, 41.6e-6, 0.03, 0, 120)
	_, findings := confirm(f)
	v := found(findings, "T4")
	if v == nil || !strings.Contains(strings.Join(v.Evidence, "; "), "TTFT a prompt token 11") {
		t.Errorf("%+v", v)
	}
	if math.IsNaN(v.Factor.Ratio.Value) {
		t.Error("no ratio")
	}
}

// Steps that were learned at loads much alike say so where they are held against it.
func TestStepsLearnedAtOneLoad(t *testing.T) {
	f := steady()
	onGPU(gpu(0.89e9, 0.9, 260))(f)
	for span, want := range map[float64]bool{3: false, 1.4: true} {
		f.Engines[0].Step.Fit.Span = span
		_, findings := confirm(f)
		v := found(findings, "D4")
		if v == nil || strings.Contains(strings.Join(v.Against, "; "), "its steps were learned at loads that differ by ×1.40 only") != want {
			t.Errorf("a range of %v: %+v", span, v)
		}
	}
}

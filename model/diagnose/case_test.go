package diagnose

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// The whole of one finding, as it is read: symptom, cause, binding, and what next.
func TestASurgeInWords(t *testing.T) {
	v, findings := confirm(surge())
	want := "arrivals ×3.58, all chat · KV cache full, 1.0 preemptions/s"
	if v.Sentence != want || v.State != model.Diagnosed || v.Binds != model.BindsKV {
		t.Errorf("%s, %s, %q\nwant %q", v.State, v.Binds, v.Sentence, want)
	}
	x := findings[0]
	if x.ID != "T1" || x.Workflow != "chat" || x.Confidence != model.HighConfidence || x.Factor == nil || x.Factor.Factor != model.FactorArrivals {
		t.Errorf("%+v", x)
	}
	for _, c := range []struct{ what, got, want string }{
		{"symptom", string(x.Symptom), "chat TTFT: 1 of 1892 met 500 ms"},
		{"evidence", x.Evidence[0], "arrivals 8.8 → 31.5 /s (+258 % work)"},
		{"not", x.Not[0], "the GPU: a step takes 1.07× of what the load explains"},
		{"try", strings.Join(x.Try, "; "), "add a replica: load factor "},
		{"try", strings.Join(x.Try, "; "), "; cap chat at "},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s %q, want %q in it", c.what, c.got, c.want)
		}
	}
	if width := len([]rune(v.Sentence)); width > 70 {
		t.Errorf("%d cells", width)
	}
	if !slices.IsSortedFunc(findings, func(a, b model.FindingView) int { return a.Layer.Rank() - b.Layer.Rank() }) {
		t.Errorf("order %s", ids(findings))
	}
}

func TestNothingIsWrong(t *testing.T) {
	v, findings := confirm(steady())
	if v.State != model.NoFinding || len(findings) != 0 || !strings.HasPrefix(v.Sentence, "nothing moved: arrivals ×1.0") {
		t.Errorf("%s %q, findings %s", v.State, v.Sentence, ids(findings))
	}
	if v.Binds != model.BindsNothing || !v.Residual.OK() || v.BaselineS.Value != 350 {
		t.Errorf("%+v", v)
	}
}

// Between the bands neither the load nor the machine is blamed, and that is said.
func TestBetweenTheBands(t *testing.T) {
	for residual, want := range map[float64]bool{1.07: false, 1.2: true, 1.98: false} {
		f := steady()
		f.Engines[0].Step.Residual = model.Of(residual)
		v, _ := confirm(f)
		if said := strings.Contains(string(v.Why), "neither surely the load nor the machine"); said != want {
			t.Errorf("residual %v: %q", residual, v.Why)
		}
	}
}

// It takes two evaluations, and the baseline stands still from the first.
func TestOnceIsNotEnough(t *testing.T) {
	var c Case
	c.Evaluate(steady())
	if c.Disturbed() {
		t.Fatal("disturbed by nothing")
	}
	f := surge()
	v, findings := c.Evaluate(f)
	if len(findings) != 0 || v.State != model.NoFinding || !c.Disturbed() {
		t.Errorf("after one: %s, disturbed %v", ids(findings), c.Disturbed())
	}
	g := surge()
	g.At = g.At.Add(Block)
	_, findings = c.Evaluate(g)
	if len(findings) == 0 || findings[0].Since != f.At {
		t.Fatalf("after two: %+v", findings)
	}
	g = surge()
	g.At = g.At.Add(2 * Block)
	if _, again := c.Evaluate(g); again[0].Since != f.At {
		t.Errorf("since %v, want %v", again[0].Since, f.At)
	}
	late := with(func(f *Facts) { now(f, "chat", slowChat(chatLoad)) })
	if _, still := c.Evaluate(late()); found(still, "T1") == nil {
		t.Error("gone at the first look that does not see it, while it is felt")
	}
	c.Evaluate(surge())
	if _, gone := c.Evaluate(steady()); len(gone) != 0 || c.Disturbed() {
		t.Errorf("after it: %s, disturbed %v", ids(gone), c.Disturbed())
	}
}

// What came at a threshold goes at 0.8 of it.
func TestLeavesLowerThanItCame(t *testing.T) {
	at := func(r float64) *Facts {
		f := steady()
		slow(f)
		f.Engines[0].Step.Residual = model.Of(r)
		return f
	}
	var c Case
	for i, step := range []struct {
		r    float64
		want bool
	}{{1.26, false}, {1.26, false}, {1.32, false}, {1.32, true}, {1.25, true}, {1.22, true}, {1.32, true}, {1.22, true}, {1.22, false}, {1.26, false}, {1.26, false}} {
		if _, findings := c.Evaluate(at(step.r)); (found(findings, "D10") != nil) != step.want {
			t.Errorf("step %d, r %v: %s", i, step.r, ids(findings))
		}
	}
}

// Silence resolves nothing: neither that of all, nor that of one signal, for as long
// as anyone may hope that it comes back.
func TestSilenceIsNoRecovery(t *testing.T) {
	for name, silence := range map[string]func(*Facts){
		"no engine answers":   func(f *Facts) { f.Engines, f.Silent = nil, 1 },
		"too little is known": func(f *Facts) { f.Settled = false },
	} {
		var c Case
		c.Evaluate(surge())
		_, before := c.Evaluate(surge())
		f := surge()
		silence(f)
		for i := range patience {
			v, findings := c.Evaluate(f)
			if v.State != model.CannotTell || v.Why == "" || ids(findings) != ids(before) || !c.Disturbed() {
				t.Fatalf("%s, %d: %s %q, %s, disturbed %v", name, i, v.State, v.Why, ids(findings), c.Disturbed())
			}
		}
		if _, findings := c.Evaluate(f); len(findings) != 0 {
			t.Errorf("%s: stands for ever: %s", name, ids(findings))
		}
	}
	var c Case
	slowly := with(slow)
	c.Evaluate(slowly())
	c.Evaluate(slowly())
	f := slowly()
	f.Engines[0].Step.Residual = model.Reading{}
	if _, findings := c.Evaluate(f); found(findings, "D10") == nil {
		t.Errorf("an unknown residual resolved it: %s", ids(findings))
	}
}

// Where an engine falls silent its requests are missing, which is no fall of traffic.
func TestALostEngineTakesNoCauseAlong(t *testing.T) {
	two := func() *Facts {
		f := surge()
		f.Engines = append(f.Engines, engine("vllm-1"))
		serve(f)
		jam(f)
		return f
	}
	var c Case
	c.Evaluate(two())
	c.Evaluate(two())
	f := two()
	f.Engines, f.Silent = f.Engines[:1], 1
	l := slowChat(chatLoad)
	l.rate *= 1.05
	f.flow("chat").Now = l.blocks(NowBlocks)
	if _, findings := c.Evaluate(f); found(findings, "T1") == nil {
		t.Errorf("%s", ids(findings))
	}
}

// Without a baseline only what is seen now is said, and with little confidence.
func TestWithoutABaseline(t *testing.T) {
	f := surge()
	for i := range f.Flows {
		f.Flows[i].Before = f.Flows[i].Before[:3]
	}
	f.Engines[0].Before = f.Engines[0].Before[:3]
	v, findings := confirm(f)
	if !strings.HasPrefix(string(v.Why), "no baseline yet: 3 of 6") || found(findings, "T6") == nil || found(findings, "T1") != nil {
		t.Errorf("%q: %s", v.Why, ids(findings))
	}
	for i := range findings {
		if findings[i].Confidence != model.LowConfidence {
			t.Errorf("%s is %s", findings[i].ID, findings[i].Confidence)
		}
	}
	calm := steady()
	for i := range calm.Flows {
		calm.Flows[i].Before = nil
	}
	calm.Engines[0].Before = nil
	if v, _ := confirm(calm); v.State != model.CannotTell || !strings.HasPrefix(v.Sentence, "cannot tell: no baseline yet") {
		t.Errorf("%s %q", v.State, v.Sentence)
	}
}

// Too few requests, now or in the baseline, are said, and are another thing than
// requests that nobody counts or a minute of which nobody told.
func TestTooFewRequests(t *testing.T) {
	rare := chatLoad
	rare.rate = 0.02
	for want, change := range map[string]func(w *Flow){
		"too few requests: 2 in 1 min":                  func(w *Flow) { w.Now = rare.blocks(NowBlocks) },
		"too few requests to compare with: 14 in 350 s": func(w *Flow) { w.Before = rare.blocks(BaselineBlocks) },
		"nobody tells how many requests arrive":         func(w *Flow) { w.Now = make([]Sums, NowBlocks); untold(w.Now) },
		"nothing was told of the last 1 min":            func(w *Flow) { w.Now = nil },
	} {
		f := steady()
		for i := range f.Flows {
			change(&f.Flows[i])
		}
		serve(f)
		if v, _ := confirm(f); v.State != model.CannotTell || !strings.Contains(v.Sentence, want) {
			t.Errorf("%s: %s %q", want, v.State, v.Sentence)
		}
	}
}

func untold(blocks []Sums) {
	for i := range blocks {
		blocks[i] = Nothing()
		blocks[i].Seconds = Block.Seconds()
	}
}

// A broken promise that nothing explains is said to be unexplained.
func TestUnexplained(t *testing.T) {
	f := steady()
	l := chatLoad
	l.ttft, l.queue, l.good = 0.8, math.NaN(), 0.2
	now(f, "chat", l)
	v, findings := confirm(f)
	if v.State != model.CannotTell || !strings.HasPrefix(v.Sentence, "cannot tell why: chat") {
		t.Errorf("%s %q, %s", v.State, v.Sentence, ids(findings))
	}
}

// What moved and hurts nobody is no finding, and becomes the normal in time.
func TestHarmlessMovesBecomeNormal(t *testing.T) {
	var c Case
	f := steady()
	l := chatLoad
	l.rate *= 1.5
	now(f, "chat", l)
	for i := range settledIn + 1 {
		v, findings := c.Evaluate(f)
		if len(findings) != 0 || !strings.HasPrefix(v.Sentence, "nobody is hurt: arrivals ×1.4") {
			t.Fatalf("%d: %s %q", i, ids(findings), v.Sentence)
		}
		if want := i < settledIn; c.Disturbed() != want {
			t.Fatalf("%d: disturbed %v", i, c.Disturbed())
		}
	}
}

// Chance alone raises nothing in 1,000 evaluations of Poisson traffic of exponential
// lengths.
func TestChanceRaisesNothing(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 7))
		flows := []Flow{{Name: "batch", Spec: batchSpec}, {Name: "chat", Spec: chatSpec}}
		loads := []load{batchLoad, chatLoad}
		history := make([][]Sums, 2)
		var c Case
		for at := range 1000 {
			for i, l := range loads {
				history[i] = append(history[i], randomBlock(rng, l))
				h := history[i]
				flows[i].Now = h[max(0, len(h)-NowBlocks):]
				flows[i].Before = h[max(0, len(h)-NowBlocks-PauseBlocks-BaselineBlocks):max(0, len(h)-NowBlocks-PauseBlocks)]
			}
			f := &Facts{Pool: "p", Settled: at >= NowBlocks, At: model.Instant{Mono: time.Duration(at) * Block}, Flows: slices.Clone(flows), Engines: []Engine{engine("a")}}
			serve(f)
			if _, findings := c.Evaluate(f); len(findings) > 0 {
				t.Fatalf("seed %d, evaluation %d: %s %s", seed, at, ids(findings), findings[0].Cause)
			}
		}
	}
}

func randomBlock(rng *rand.Rand, l load) Sums {
	s := l.block(0)
	n := 0.0
	for range 1000 {
		if rng.Float64() < l.rate*s.Seconds/1000 {
			n++
		}
	}
	for i := range s.Counts {
		s.Counts[i] *= 0
	}
	var prompt, output, cached float64
	for range int(n) {
		p := l.prompt * rng.ExpFloat64()
		prompt, output, cached = prompt+p, output+l.output*rng.ExpFloat64(), cached+p*min(1, l.hit*(0.7+0.6*rng.Float64()))
	}
	for c, v := range map[Count]float64{Arrived: n, Ended: n, Judged: n, Good: math.Round(n * l.good), PromptTokens: prompt, CachedTokens: cached, OutputTokens: output} {
		s.Counts[c] = v
	}
	s.Measures[PromptLength], s.Measures[OutputLength] = Mean{n, prompt}, Mean{n, output}
	for _, m := range []Measure{TTFT, QueueTime, PrefillTime, TPOT, E2E, DecodeTime} {
		mean := s.Measures[m].Value()
		s.Measures[m] = Mean{n, n * mean * (0.9 + 0.2*rng.Float64())}
	}
	return s
}

// The same facts give the same answer to the byte.
func TestDeterministic(t *testing.T) {
	for id, c := range ruleCases {
		one, _ := json.Marshal(both2(confirm(c.facts())))
		for range 3 {
			if two, _ := json.Marshal(both2(confirm(c.facts()))); string(two) != string(one) {
				t.Fatalf("%s:\n%s\n%s", id, one, two)
			}
		}
	}
}

func both2(v model.DiagnosisView, f []model.FindingView) any { return []any{v, f} }

// Facts of any shape are answered: no panic, no number that is none, no list that
// is null.
func FuzzEvaluate(f *testing.F) {
	for i := range 8 {
		f.Add(uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, holes uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		names := make([]string, 0, len(ruleCases))
		for id := range ruleCases {
			names = append(names, id)
		}
		slices.Sort(names)
		var c Case
		for range 4 {
			facts := ruleCases[names[rng.IntN(len(names))]].facts()
			punch(rng, facts, float64(holes)/255)
			v, findings := c.Evaluate(facts)
			text, err := json.Marshal(both2(v, findings))
			if err != nil {
				t.Fatal(err)
			}
			if len(findings) > mostTold || strings.Contains(string(text), "NaN") || strings.Contains(string(text), "n/a") {
				t.Fatalf("%d findings: %s", len(findings), text)
			}
			for i := range findings {
				if x := &findings[i]; x.Evidence == nil || x.Against == nil || x.Not == nil || x.Try == nil {
					t.Fatalf("%+v", x)
				}
			}
		}
	})
}

// punch takes away a part of what is known.
func punch(rng *rand.Rand, f *Facts, part float64) {
	hole := func() bool { return rng.Float64() < part }
	nan := math.NaN()
	sums := func(blocks []Sums) {
		for i := range blocks {
			for c := range blocks[i].Counts {
				if hole() {
					blocks[i].Counts[c] = []float64{nan, 0}[rng.IntN(2)]
				}
			}
			for m := range blocks[i].Measures {
				if hole() {
					blocks[i].Measures[m] = []Mean{{nan, nan}, {0, 0}}[rng.IntN(2)]
				}
			}
		}
	}
	for i := range f.Flows {
		w := &f.Flows[i]
		sums(w.Now)
		sums(w.Before)
		if hole() {
			w.Spec = nil
		}
		if hole() {
			w.Now = w.Now[:rng.IntN(len(w.Now)+1)]
		}
	}
	if hole() {
		f.Engines, f.Behind = nil, []string{"", "others"}[rng.IntN(2)]
	}
	for i := range f.Engines {
		e := &f.Engines[i]
		sums(e.Now)
		sums(e.Before)
		if hole() {
			e.Running, e.RunningBefore = Level{}, Level{}
		}
		if hole() {
			e.Waiting, e.WaitingBefore = Level{}, Level{}
		}
		if hole() {
			e.KV, e.KVBefore = Level{}, Level{}
		}
		if hole() {
			e.Step = Step{Why: "no step counter"}
		}
		if hole() {
			e.Step.Base.Sequences, e.Step.Now.Prefill = nan, nan
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	var c Case
	f := surge()
	b.ReportAllocs()
	for b.Loop() {
		c.Evaluate(f)
	}
}

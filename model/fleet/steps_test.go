package fleet

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

// foldDemo plays a scenario of the simulated service and hands out each frame with the
// fold that made it.
func foldDemo(t testing.TB, target string, every, length time.Duration, see func(*Fleet, *model.Frame)) {
	t.Helper()
	opened, err := sources.Resolve(context.Background(), []string{target}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	targets := make([]model.Target, len(opened))
	for i := range opened {
		targets[i] = opened[i].Target
	}
	f, err := New(Config{Targets: targets, Every: every, Policy: demoPolicy})
	if err != nil {
		t.Fatal(err)
	}
	err = sources.Play(context.Background(), opened, sources.PlayOptions{Every: every, For: length}, func(in model.Input) {
		if fr := f.Step(in); fr != nil {
			see(f, fr)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a step costs is learned from the pages of a quiet service: the time that
// weights and launches take, a thousand tokens in the KV cache, and a token of prefill.
// Those of the simulated machine are 7.0, 0.060 and 0.0282 ms in theory.
func TestStepsOfAQuietService(t *testing.T) {
	foldDemo(t, "demo:S0?seed=1", time.Second, 600*time.Second, func(f *Fleet, fr *model.Frame) {
		if fr.At.Mono != 600*time.Second {
			return
		}
		for _, one := range f.targets {
			fit, why := one.stepFit()
			if one.steps == nil {
				continue
			}
			if fit == nil || why != "" {
				t.Fatalf("%s: no fit: %s", one.spec.Name, why)
			}
			for _, c := range []struct {
				what            string
				got, low, above float64
			}{
				{"fixed, ms", fit.Fixed * 1e3, 6.5, 7.1},
				{"1000 KV tokens, ms", fit.PerKVToken * 1e6, 0.052, 0.070},
				{"prefill token, ms", fit.PerPrefill * 1e3, 0.026, 0.033},
				{"sequence, µs", fit.PerSequence * 1e6, 0, 12},
				{"relative error", fit.Error, 0, 0.03},
				{"span", fit.Span, 1.5, 4},
				{"samples", float64(fit.Samples), 80, 120},
			} {
				if !(c.got >= c.low && c.got <= c.above) {
					t.Errorf("%s, %s: %g, not within %g and %g", one.spec.Name, c.what, c.got, c.low, c.above)
				}
			}
			if r := one.steps.residual; !r.OK() || math.Abs(r.Value-1) > 0.03 {
				t.Errorf("%s: residual %v", one.spec.Name, r)
			}
		}
	})
}

// More load is explained, a slower machine and a slower host are not.
func TestResidualsOfIncidents(t *testing.T) {
	for _, tt := range []struct {
		scenario  string
		low, high float64
	}{{"S1", 0.95, 1.15}, {"S3b", 0.9, 1.15}, {"S4", 1.7, 2.3}, {"S5", 0.93, 1.1}, {"S10", 1.6, 2.1}} {
		t.Run(tt.scenario, func(t *testing.T) {
			foldDemo(t, "demo:"+tt.scenario+"?seed=2", time.Second, 720*time.Second, func(f *Fleet, fr *model.Frame) {
				if fr.At.Mono != 720*time.Second {
					return
				}
				for _, one := range f.targets {
					if one.steps == nil {
						continue
					}
					r, ok := one.steps.residual.Get()
					if !ok || r < tt.low || r > tt.high {
						t.Errorf("%s: %.3f (%v), want %.2f to %.2f", one.spec.Name, r, ok, tt.low, tt.high)
					}
				}
			})
		})
	}
}

// machine is an engine whose steps follow a formula.
type machine struct {
	running, usage, capacity      float64
	prompt, cached, output, steps float64
	slower                        float64
	version                       string
	noCounter, noCached, noHits   bool
	queries, hits, gaps, gapTime  float64
	firsts, tokens, calls         float64
}

// work lets an engine run for some seconds with so many sequences and prompts a second.
func (m *machine) work(s, running, prompts float64) {
	m.calls++
	m.running, m.usage = running, (1800+500*math.Sin(m.calls/9))*running/m.capacity
	prefill := prompts * 500 // of 1,500 tokens 1,000 come from the cache
	// Prefill tokens a step depend on how long a step is: t = k·(a + c·prefill·t).
	k := 1 + m.slower
	step := k * (6.8e-3 + 65e-9*m.usage*m.capacity) / (1 - k*27.6e-6*prefill)
	n := s / step
	m.steps += n
	m.prompt, m.cached, m.firsts = m.prompt+1500*prompts*s, m.cached+1000*prompts*s, m.firsts+prompts*s
	m.queries, m.hits = m.queries+3000*prompts*s, m.hits+2000*prompts*s
	m.output += running * n
	m.tokens += running*n + 1500*prompts*s
	m.gaps, m.gapTime = m.gaps+running*n, m.gapTime+running*s
}

func (m *machine) page() []model.Sample {
	out := []model.Sample{
		gauge(model.Running, m.running), gauge(model.Waiting, 0), gauge(model.KVUsage, m.usage),
		counter(model.PromptTokens, m.prompt), counter(model.OutputTokens, m.output),
		histogram(model.TTFT, []float64{1}, []float64{m.firsts, m.firsts}, m.firsts/10),
		histogram(model.ITL, []float64{1}, []float64{m.gaps, m.gaps}, m.gapTime),
	}
	if m.capacity > 1 {
		out = append(out, gauge(model.KVCapacity, m.capacity))
	}
	if !m.noCounter {
		out = append(out, histogram(model.StepTokens, []float64{1e5}, []float64{m.steps, m.steps}, m.tokens))
	}
	if !m.noCached {
		out = append(out, counter(model.CachedTokens, m.cached))
	} else if !m.noHits {
		out = append(out, counter(model.PrefixQueries, m.queries), counter(model.PrefixHits, m.hits))
	}
	return out
}

// run lets the machine work under a load that varies, polled every five seconds.
func (m *machine) run(b *bench, seconds int) {
	for i := 0; i < seconds; i += 5 {
		m.poll(b)
		phase := float64(b.at.Mono/time.Second) / 70
		m.work(5, 20+10*math.Sin(phase), 6+4*math.Cos(1.7*phase))
	}
}

func (m *machine) poll(b *bench) {
	b.f.Step(model.Input{At: b.at, Batch: &model.Batch{Target: "a", Samples: m.page(), About: &model.About{Engine: "test", Version: m.version}}})
	b.tick()
	b.pass(5 * time.Second)
}

func newMachine() *machine { return &machine{capacity: 438e3, version: "1.0"} }

// Each way to know steps and computed prompt tokens gives the same coefficients.
func TestStepsByWhatIsExported(t *testing.T) {
	for name, set := range map[string]func(m *machine){
		"all":                  func(*machine) {},
		"cache look-ups":       func(m *machine) { m.noCached = true },
		"gaps between tokens":  func(m *machine) { m.noCounter = true },
		"tokens of a step":     func(m *machine) { m.noCached, m.noHits = true, true },
		"no size of the cache": func(m *machine) { m.capacity = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b, m := newBench(t, 5*time.Second, "a"), newMachine()
			set(m)
			m.run(b, 900)
			fit, why := b.f.targets[0].stepFit()
			if fit == nil {
				t.Fatal(why)
			}
			prefill := 27.6e-6
			if m.noCached && m.noHits {
				prefill /= 3 // whole prompts are counted
			}
			near3 := func(what string, got, want float64) {
				if math.Abs(got-want) > 0.08*want {
					t.Errorf("%s: %g, want %g", what, got, want)
				}
			}
			if m.capacity > 1 {
				near3("per KV token", fit.PerKVToken, 65e-9)
			} else if !fit.ByShare || !strings.Contains(why, "share in use") {
				t.Errorf("%+v: %q", fit, why)
			}
			near3("fixed", fit.Fixed, 6.8e-3)
			near3("per prefill token", fit.PerPrefill, prefill)
			if fit.ByGap != m.noCounter {
				t.Errorf("by gap: %v", fit.ByGap)
			}
		})
	}
}

func TestNoStepsNoFit(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	for range 40 {
		b.round(gauge(model.Running, 1), counter(model.OutputTokens, float64(b.at.Mono)))
	}
	if fit, why := b.f.targets[0].stepFit(); fit != nil || why != "it counts neither steps nor the gaps between tokens" {
		t.Errorf("%+v: %q", fit, why)
	}
	if s := b.f.targets[0].stepNow(); !math.IsNaN(s.Step) {
		t.Errorf("%+v", s)
	}
}

// While nothing runs, time passes and no step is long.
func TestIdleTimeIsNoStep(t *testing.T) {
	b, m := newBench(t, 5*time.Second, "a"), newMachine()
	for i := range 60 {
		m.poll(b)
		if i%5 == 4 {
			m.running, m.usage = 0, 0 // for a while
			continue
		}
		m.work(5, 20+float64(i%7), 5)
	}
	s := b.f.targets[0].steps
	for _, one := range append(s.base, s.recent...) {
		if one.Step > 0.03 || one.Sequences < 10 {
			t.Errorf("a sample of %+v", one)
		}
	}
	if len(s.base) == 0 {
		t.Error("no sample at all")
	}
}

// A restart, another version and another size of the cache begin anew, and what was
// known before is kept beside.
func TestLearnsAnew(t *testing.T) {
	for name, do := range map[string]func(m *machine){
		"restarted": func(m *machine) {
			m.steps, m.prompt, m.cached, m.output, m.firsts, m.gaps, m.gapTime, m.tokens = 0, 0, 0, 0, 0, 0, 0, 0
		},
		"version 1.0 → 1.1":          func(m *machine) { m.version = "1.1" },
		"KV pool 438k → 200k tokens": func(m *machine) { m.capacity = 200e3 },
	} {
		t.Run(name, func(t *testing.T) {
			b, m := newBench(t, 5*time.Second, "a"), newMachine()
			m.run(b, 300)
			s := b.f.targets[0].steps
			was := s.fit
			do(m)
			m.slower = 0.5
			m.run(b, 30)
			if s.fit != nil || s.before != was || len(s.changes) != 1 || s.changes[0].What != name {
				t.Fatalf("fit %v, before %v, changes %+v", s.fit, s.before, s.changes)
			}
			if !strings.Contains(s.why, "needs 12 samples and has ") {
				t.Errorf("why: %q", s.why)
			}
			m.run(b, 60)
			if s.fit == nil || s.early != true || math.Abs(s.fit.Fixed/was.Fixed-1.5) > 0.25 {
				t.Fatalf("anew: %+v, before %+v", s.fit, was)
			}
			if r, ok := s.residual.Get(); !ok || math.Abs(r-1.5) > 0.1 {
				t.Errorf("against what was known before: %v", s.residual)
			}
			s.anew()
			if v := b.f.targets[0].splitStep(); v.Seconds.OK() || v.Why != noSteps {
				t.Errorf("the step of before stands: %+v", v)
			}
		})
	}
}

// The KV pool of the baseline is that of the time of its blocks, also where one of them
// is taken up after the pool changed.
func TestThePoolOfTheBaseline(t *testing.T) {
	b, m := newBench(t, 5*time.Second, "a"), newMachine()
	m.run(b, 300)
	m.capacity = 45e3
	for i, want := range []float64{438e3, 438e3, 45e3} {
		if m.run(b, 40); b.f.targets[0].steps.capWas != want {
			t.Errorf("%d s after: %v, want %v", 40*(i+1), b.f.targets[0].steps.capWas, want)
		}
	}
}

// A slower machine does not become its own baseline.
func TestSlowStepsAreNotLearned(t *testing.T) {
	b, m := newBench(t, 5*time.Second, "a"), newMachine()
	m.run(b, 500)
	s := b.f.targets[0].steps
	fixed := s.fit.Fixed
	m.slower = 1
	m.run(b, 300)
	if math.Abs(s.fit.Fixed/fixed-1) > 0.02 {
		t.Errorf("fixed %g became %g", fixed, s.fit.Fixed)
	}
	if r, ok := s.residual.Get(); !ok || math.Abs(r-2) > 0.1 {
		t.Errorf("residual %v", s.residual)
	}
}

// A gap in the pages is no long step, and no reset.
func TestGapBetweenSamples(t *testing.T) {
	b, m := newBench(t, 5*time.Second, "a"), newMachine()
	m.run(b, 200)
	b.pass(40 * time.Second)
	m.work(40, 20, 5)
	m.run(b, 60)
	for _, one := range b.f.targets[0].steps.recent {
		if one.Seconds > 6 {
			t.Errorf("a sample over the gap: %+v", one)
		}
	}
}

// Engines that step side by side behind one page take as long for a step as each does.
func TestStepsOfRanks(t *testing.T) {
	b := newBench(t, 5*time.Second, "a")
	steps := 0.0
	for range 30 {
		var page []model.Sample
		for _, id := range []string{"0", "1"} {
			l := model.Labels(model.LabelModel, "chat", model.LabelEngine, id)
			page = append(page,
				model.Sample{Signal: model.Running, Labels: l, Value: 20}, model.Sample{Signal: model.KVUsage, Labels: l, Value: 0.1},
				model.Sample{Signal: model.KVCapacity, Labels: l, Value: 400e3},
				model.Sample{Signal: model.StepTokens, Labels: l, Kind: model.Histogram, Hist: &model.Buckets{Counts: []float64{steps}, Sum: model.Of(steps * 20)}},
				model.Sample{Signal: model.OutputTokens, Labels: l, Kind: model.Counter, Value: steps * 20},
			)
		}
		b.round(page...)
		steps += 250 // in five seconds, each
	}
	s := b.f.targets[0].stepNow()
	if math.Abs(s.Step-0.02) > 1e-9 || s.Sequences != 20 || math.Abs(s.KVTokens-40e3) > 1e-6 {
		t.Errorf("%+v", s)
	}
}

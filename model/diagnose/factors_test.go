package diagnose

import (
	"math"
	"testing"

	"slotop/model"
)

func factorsOf(f *Facts) []model.FactorView { return views(newScene(f, memory{}).factors) }

func factorNamed(t *testing.T, f *Facts, name model.Factor) model.FactorView {
	t.Helper()
	for _, v := range factorsOf(f) {
		if v.Factor == name {
			return v
		}
	}
	t.Fatalf("no factor %s", name)
	return model.FactorView{}
}

func TestNothingMoves(t *testing.T) {
	for _, f := range factorsOf(steady()) {
		if f.Moved || f.Who != "" || f.Mix {
			t.Errorf("%+v", f)
		}
	}
}

func TestArrivalsOfOne(t *testing.T) {
	f := factorNamed(t, surge(), model.FactorArrivals)
	near(t, "ratio", f.Ratio.Value, (8*3.85+0.8)/8.8, 0.02)
	near(t, "work", f.Work.Value, f.Ratio.Value-1, 1e-9)
	near(t, "share", f.WhoShare.Value, 1, 1e-9)
	if !f.Moved || f.Who != "chat" || f.Mix {
		t.Errorf("%+v", f)
	}
}

// The parts of the work multiply to the change of the whole.
func TestWorkAddsUp(t *testing.T) {
	f := steady()
	l := chatLoad
	l.rate, l.prompt, l.hit, l.output = 12, 2400, 0.2, 350
	now(f, "chat", l)
	s := newScene(f, memory{})
	logs := 0.0
	for i := range s.factors {
		if s.factors[i].Factor != model.FactorResidual {
			logs += s.factors[i].log
		}
	}
	work := func(rate, prompt, miss, output float64) float64 {
		c := s.price(1, 1, true)
		return rate * (prompt*miss*c.prefill + output*c.decode)
	}
	of := func(name model.Factor) (before, now float64) {
		v := s.factor(name)
		return v.Before.Value, v.Now.Value
	}
	r0, r1 := of(model.FactorArrivals)
	p0, p1 := of(model.FactorPrompt)
	m0, m1 := of(model.FactorMiss)
	n0, n1 := of(model.FactorOutput)
	near(t, "log of work", logs, math.Log(work(r1, p1, m1, n1)/work(r0, p0, m0, n0)), 1e-9)
	for i := 1; i < len(s.factors); i++ {
		if weight(&s.factors[i]) > weight(&s.factors[i-1]) {
			t.Errorf("%s before %s", s.factors[i-1].Factor, s.factors[i].Factor)
		}
	}
}

func TestOwnChangeIsNoMix(t *testing.T) {
	f := steady()
	l := chatLoad
	l.hit = 0
	now(f, "chat", l)
	v := factorNamed(t, f, model.FactorMiss)
	if !v.Moved || v.Mix || v.Who != "chat" {
		t.Errorf("%+v", v)
	}
}

func TestMixIsNoOwnChange(t *testing.T) {
	f := steady()
	f.Flows = append(f.Flows, Flow{Name: "docs", Spec: batchSpec, New: true, Now: load{rate: 0.9, prompt: 20000, output: 200, ttft: 1, tpot: 0.03, good: 1}.blocks(NowBlocks)})
	serve(f)
	for _, name := range []model.Factor{model.FactorPrompt, model.FactorMiss} {
		if v := factorNamed(t, f, name); !v.Moved || !v.Mix || v.Who != "docs" {
			t.Errorf("%+v", v)
		}
	}
	if v := factorNamed(t, f, model.FactorArrivals); v.Moved {
		t.Errorf("%+v", v)
	}
}

// Just after a slowdown the short answers end first.
func TestSurvivorsTellNothingOfLengths(t *testing.T) {
	f := steady()
	l := chatLoad
	l.output = 120
	now(f, "chat", l)
	if v := factorNamed(t, f, model.FactorOutput); !v.Moved || !(v.Ratio.Value < 0.8) {
		t.Fatalf("with a steady load: %+v", v)
	}
	for name, grow := range map[string]func(*Engine){
		"running": func(e *Engine) { e.Running = level(60, 70) },
		"waiting": func(e *Engine) { e.Waiting = level(20, 40) },
	} {
		f := steady()
		now(f, "chat", l)
		grow(&f.Engines[0])
		if v := factorNamed(t, f, model.FactorOutput); v.Moved || v.Ratio.OK() {
			t.Errorf("while %s grows: %+v", name, v)
		}
	}
}

func TestChanceIsNoMove(t *testing.T) {
	f := steady()
	for i := range f.Flows { // 1 request in 20 s: 35 in the baseline's time, few now
		l := chatLoad
		l.rate = 0.05
		f.Flows[i].Before = l.blocks(BaselineBlocks)
		l.rate = 0.09
		f.Flows[i].Now = l.blocks(NowBlocks)
	}
	serve(f)
	if v := factorNamed(t, f, model.FactorArrivals); v.Moved {
		t.Errorf("%+v", v)
	}
}

func TestWithoutStepsBothPhasesWeighTheSame(t *testing.T) {
	f := steady()
	f.Engines[0].Step = Step{Why: "it counts neither steps nor gaps"}
	l := chatLoad
	l.output = 400
	now(f, "chat", l)
	s := newScene(f, memory{})
	v := s.factor(model.FactorOutput)
	near(t, "weight", v.log/v.own, Weights([]float64{1, 1}, []float64{s.factor(model.FactorPrompt).Now.Value * s.factor(model.FactorMiss).Now.Value /
		(s.factor(model.FactorPrompt).Before.Value * s.factor(model.FactorMiss).Before.Value), v.Ratio.Value})[1], 1e-9)
	if d, _ := (&Case{}).Evaluate(f); d.Why == "" {
		t.Error("nothing is said of the missing step times")
	}
}

// One slow engine of four is found, although the mean hides it.
func TestOneSlowEngine(t *testing.T) {
	f := steady()
	f.Engines = []Engine{engine("a"), engine("b"), engine("c"), engine("d")}
	serve(f)
	f.Engines[2].Step.Residual = model.Of(1.9)
	v := factorNamed(t, f, model.FactorResidual)
	if !v.Moved || v.Who != "c" {
		t.Errorf("%+v", v)
	}
	f.Engines[2].Age = model.Of(30) // it warms up
	if v := factorNamed(t, f, model.FactorResidual); v.Moved {
		t.Errorf("while warming up: %+v", v)
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	f := steady()
	for i := range f.Flows {
		w := &f.Flows[i]
		for _, blocks := range [][]Sums{w.Now, w.Before} {
			for j := range blocks {
				blocks[j] = Nothing()
				blocks[j].Seconds = 10
			}
		}
	}
	f.Engines[0].Now, f.Engines[0].Before = f.Flows[0].Now, f.Flows[0].Before
	f.Engines[0].Step = Step{}
	for _, v := range factorsOf(f) {
		if v.Ratio.OK() || v.Work.OK() || v.Moved {
			t.Errorf("%+v", v)
		}
	}
}

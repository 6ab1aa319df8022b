package capacity

import (
	"fmt"
	"math"
	"testing"

	"slotop/model"
	"slotop/model/steptime"
)

var nan = math.NaN()

// example is an 8B model on one H100 SXM under mixed traffic.
func example() Machine {
	return Machine{
		Fit: steptime.Fit{Fixed: 6.82e-3, PerKVToken: 0.0654e-6, PerPrefill: 27.6e-6},
		Mix: Mix{Prompt: 1812, Uncached: 828, Output: 221, Context: 1922},
		KV:  438e3, Cap: 256,
	}
}

// near compares with a figure that was printed with a few digits: half of the last.
func near(t *testing.T, what string, got, want, half float64) {
	t.Helper()
	if !(math.Abs(got-want) <= half*1.0001) {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, half)
	}
}

// TestExample is the worked example of the load factor.
func TestExample(t *testing.T) {
	m, rate := example(), 9.3
	near(t, "s, ms", 1e3*m.PerRequest(), 50.6, 0.05)
	near(t, "ρ", m.Load(rate), 0.471, 0.0005)
	near(t, "TPOT, ms", 1e3*m.TPOT(rate), 12.9, 0.05)
	near(t, "running", m.Running(rate), 26.5, 0.05)
	near(t, "λ∞", m.MaxRate(), 19.7, 0.07)
	near(t, "λ_KV", m.KVRate(), 17.5, 0.05)
	near(t, "λ at 25 ms", m.RateAt(25e-3), 14.4, 0.05)
	near(t, "sequences that fit", m.Sequences(), 228, 0.5)
	near(t, "KV use", m.KVUse(rate), 26.5*1922/438e3, 0.001)
	near(t, "headroom", m.Headroom(rate), 0.7/0.471-1, 0.005)
	near(t, "more requests a second", m.PlannedRate()-rate, 4.5, 0.05)
	near(t, "replicas", m.Replicas(rate), 1, 0)
	if !m.Known() {
		t.Error("it is known")
	}
}

// TestTPOTOverLoad: what the formula gives at the loads that were simulated. It is
// within 10 % up to 0.65 and too low above.
func TestTPOTOverLoad(t *testing.T) {
	m := example()
	for _, row := range []struct{ rho, model, simulated float64 }{
		{0.42, 11.9, 12.5}, {0.57, 15.8, 16.7}, {0.64, 18.9, 20.7}, {0.72, 23.9, 28.0}, {0.76, 28.4, 37.9},
	} {
		got := 1e3 * m.TPOT(row.rho/m.PerRequest())
		near(t, fmt.Sprintf("TPOT at ρ %v, ms", row.rho), got, row.model, 0.025*row.model) // ρ has two digits
		switch off := row.simulated/got - 1; {
		case row.rho <= 0.65 && math.Abs(off) > 0.11:
			t.Errorf("ρ %v: %v off", row.rho, off)
		case row.rho > 0.7 && off < 0.1:
			t.Errorf("ρ %v: not optimistic, %v", row.rho, off)
		}
	}
	for _, rho := range []float64{1, 1.46} {
		if tpot := m.TPOT(rho / m.PerRequest()); !math.IsInf(tpot, 1) {
			t.Errorf("ρ %v: TPOT %v", rho, tpot)
		}
	}
}

// TestReplicas: a load of 1.46 wants three machines, and two share it at 0.73, which
// is beyond the planning limit.
func TestReplicas(t *testing.T) {
	m := example()
	rate := 1.46 / m.PerRequest()
	near(t, "replicas", m.Replicas(rate), 3, 0)
	near(t, "load of two", m.Load(rate/2), 0.73, 1e-9)
	near(t, "just full", m.Replicas(2*m.PlannedRate()), 2, 0)
	near(t, "no traffic", m.Replicas(0), 1, 0)
	tight := m
	tight.KV = 45e3
	near(t, "replicas for the KV cache", tight.KVReplicas(9.3), math.Ceil(9.3/tight.KVRate()), 0)
	if tight.KVReplicas(9.3) <= tight.Replicas(9.3) {
		t.Error("a small KV cache does not decide")
	}
	tight.KV = nan
	if n := tight.KVReplicas(9.3); !math.IsNaN(n) {
		t.Errorf("an unknown KV cache wants %v replicas", n)
	}
}

// TestRatesAgree: at each ceiling the thing it speaks of is just full.
func TestRatesAgree(t *testing.T) {
	m := example()
	m.Fit.PerSequence, m.Fit.PerAttention = 4e-6, 1e-9
	near(t, "KV use", m.KVUse(m.KVRate()), 1, 1e-9)
	near(t, "running", m.Running(m.CapRate()), 256, 1e-6)
	near(t, "TPOT", m.TPOT(m.RateAt(0.02)), 0.02, 1e-12)
	near(t, "load", m.Load(m.PlannedRate()), model.PlanningLimit, 1e-12)
	// What the load factor stands for: the step explains itself.
	rate := 7.0
	tpot, running := m.TPOT(rate), m.Running(rate)
	step := m.Fit.Explain(steptime.Sample{Sequences: running, KVTokens: running * m.Mix.Context, Prefill: rate * tpot * m.Mix.Uncached, Prompt: m.Mix.Prompt})
	near(t, "step", step.Total(), tpot, 1e-12)
	if m.FirstToken(rate) <= tpot {
		t.Error("a prompt costs nothing")
	}
	if r := m.RateAt(m.Fit.Fixed / 2); r != 0 {
		t.Errorf("rate at a TPOT that is never reached: %v", r)
	}
}

func TestCeilings(t *testing.T) {
	m := example()
	for _, tc := range []struct {
		name     string
		change   func(*Machine)
		promised []Promised
		binds    model.Binding
		rate     float64
		flow     string
	}{
		{"as it is", func(*Machine) {}, nil, model.BindsKV, 17.5, ""},
		{"a TPOT of 25 ms in the mean", func(*Machine) {}, []Promised{{"batch", 0.1, 1.6}, {"chat", 0.025, 1}}, model.BindsObjective, 14.4, "chat"},
		{"of a percentile", func(*Machine) {}, []Promised{{"chat", 0.05, 2}}, model.BindsObjective, 14.4, "chat"},
		{"a small cap", func(m *Machine) { m.Cap = 24 }, nil, model.BindsCap, 24 / (221*6.82e-3 + 24*50.63e-3), ""},
		{"nothing else is known", func(m *Machine) { m.Cap, m.KV = nan, nan }, []Promised{{"chat", 0.05, nan}}, model.BindsQueue, 19.75, ""},
	} {
		one := m
		tc.change(&one)
		first := one.Ceilings(tc.promised)[0]
		if first.Binds != tc.binds || first.Name != tc.flow || math.Abs(first.Rate-tc.rate) > 0.06 {
			t.Errorf("%s: %+v", tc.name, first)
		}
	}
}

// TestUnknown: without a fit, or without what counts of the mix, nothing is told.
func TestUnknown(t *testing.T) {
	for name, change := range map[string]func(*Machine){
		"no fit":      func(m *Machine) { m.Fit = steptime.Fit{} },
		"only fixed":  func(m *Machine) { m.Fit = steptime.Fit{Fixed: 7e-3} },
		"no output":   func(m *Machine) { m.Mix.Output = nan },
		"no prompt":   func(m *Machine) { m.Mix.Uncached = nan },
		"no fixed":    func(m *Machine) { m.Fit.Fixed = 0 },
		"no requests": func(m *Machine) { m.Mix = Mix{} },
	} {
		m := example()
		change(&m)
		if m.Known() {
			t.Errorf("%s: s %v", name, m.PerRequest())
		}
	}
	// What costs nothing need not be known.
	m := example()
	m.Fit.PerKVToken, m.Mix.Context = 0, nan
	if !m.Known() {
		t.Error("a context that costs nothing")
	}
}

// TestLevers: ten points of hits are worth a tenth of the prompt, and no more than
// there are misses.
func TestLevers(t *testing.T) {
	m, rate := example(), 9.3
	all := map[string]Lever{}
	for _, l := range m.Levers(false) {
		all[l.Change] = l
	}
	hits := all["prefix hits +10 points"]
	near(t, "Δs of hits", hits.Then.PerRequest()-m.PerRequest(), -0.1*1812*27.6e-6, 1e-12)
	near(t, "Δs of 8 bits", all["KV cache in 8 bits"].Then.PerRequest()-m.PerRequest(), -0.0654e-6/2*1922*221, 1e-12)
	near(t, "Δs of half the output", all["answers half as long"].Then.PerRequest()-m.PerRequest(), -0.0654e-6*1922*221/2, 1e-12)
	v := hits.View(m, 2, rate)
	near(t, "more", v.Rate.Value, 2*model.PlanningLimit*(1/hits.Then.PerRequest()-1/m.PerRequest()), 1e-9)
	if v.Load.Value >= m.Load(rate) || !v.Load.OK() {
		t.Errorf("load then %v", v.Load)
	}
	if n := len(m.Levers(true)); n != 2 {
		t.Errorf("%d levers where the cache is in 8 bits already", n)
	}
	m.Mix.Uncached = 10
	near(t, "few misses", m.Levers(true)[0].Then.Mix.Uncached, 0, 0)
	m.Mix.Uncached = 0
	if n := len(m.Levers(true)); n != 1 {
		t.Errorf("%d levers without misses", n)
	}
}

// TestCost is the table at $3.24 an hour: throughput and value part at the knee.
func TestCost(t *testing.T) {
	for _, row := range []struct{ tokens, good, all, goodOnly float64 }{
		{2489, 0.994, 0.362, 0.364}, {3288, 0.936, 0.274, 0.292}, {3665, 0.533, 0.246, 0.461},
	} {
		all := PerMillion(3.24, row.tokens)
		near(t, "a million", all, row.all, 0.0005)
		exact := model.Range{Lo: model.Of(row.good), Hi: model.Of(row.good)}
		cost := GoodCost(all, exact)
		near(t, "a good million", cost.Lo.Value, row.goodOnly, 0.0006)
		near(t, "a good million", cost.Hi.Value, row.goodOnly, 0.0006)
	}
	part := GoodCost(2, model.Range{Lo: model.Of(0.5), Hi: model.Of(0.8)})
	near(t, "at least", part.Lo.Value, 2.5, 1e-12)
	near(t, "at most", part.Hi.Value, 4, 1e-12)
	if none := GoodCost(2, model.Range{Lo: model.Of(0), Hi: model.Of(0.8)}); none.Hi.OK() {
		t.Errorf("where perhaps none is good: %v", none.Hi)
	}
	if none := GoodCost(2, model.Range{}); none.Lo.OK() || none.Hi.OK() {
		t.Errorf("unknown: %v", none)
	}
}

func TestEnergy(t *testing.T) {
	perJoule := PerJoule(3288, 600)
	near(t, "tokens per joule", perJoule, 5.48, 0.005)
	near(t, "Wh per million", WhPerMillion(perJoule), 50.7, 0.05)
	good := GoodPerJoule(perJoule, model.Range{Lo: model.Of(0.936), Hi: model.Of(0.936)})
	near(t, "good tokens per joule", good.Lo.Value, 5.13, 0.005)
	if none := GoodPerJoule(perJoule, model.Range{}); none.Lo.OK() {
		t.Errorf("unknown: %v", none)
	}
}

package sim

import (
	"slices"
	"testing"
	"time"
)

// The windows in which an incident and its baseline are judged, and the block in
// which the step-time model counts.
const (
	baselineFrom, baselineTo = 240 * time.Second, 590 * time.Second
	incidentFrom, incidentTo = 660 * time.Second, 720 * time.Second
	block                    = 5 * time.Second
)

// blocks watches a stretch of time five seconds at a time.
func (m *meter) blocks(from, to time.Duration) []span {
	var out []span
	for t := from; t < to; t += block {
		out = append(out, m.watch(t, t+block))
	}
	return out
}

// regressors are what a monitor can see of a block: the time of a step, and the
// cached tokens and prefill tokens in it.
func (s span) regressors() (step float64, x [3]float64) {
	return 1 / s.steps, [3]float64{1, s.usage * 438000, s.prefill / s.steps}
}

// fit is the least-squares fit of step = b0 + b2·KV tokens + b3·prefill tokens,
// each block weighted by 1/step².
func fit(blocks []span) (b [3]float64) {
	var a [3][4]float64
	for _, s := range blocks {
		step, x := s.regressors()
		for i := range 3 {
			for j := range 3 {
				a[i][j] += x[i] * x[j] / step / step
			}
			a[i][3] += x[i] / step
		}
	}
	for i := range 3 { // Gauss, without pivoting: the matrix is positive definite
		for k := i + 1; k < 3; k++ {
			f := a[k][i] / a[i][i]
			for j := i; j < 4; j++ {
				a[k][j] -= f * a[i][j]
			}
		}
	}
	for i := 2; i >= 0; i-- {
		b[i] = a[i][3]
		for j := i + 1; j < 3; j++ {
			b[i] -= a[i][j] * b[j]
		}
		b[i] /= a[i][i]
	}
	return b
}

// residual is the mean observed step time over the mean predicted one.
func residual(b [3]float64, blocks []span) float64 {
	var observed, predicted float64
	for _, s := range blocks {
		step, x := s.regressors()
		observed += step
		predicted += b[0] + b[1]*x[1] + b[2]*x[2]
	}
	return observed / predicted
}

// average is the mean of f over the blocks.
func average(blocks []span, f func(span) float64) float64 {
	var sum float64
	for _, s := range blocks {
		sum += f(s)
	}
	return sum / float64(len(blocks))
}

// together is all requests that ended in the blocks.
func together(blocks []span) span {
	var out span
	for _, s := range blocks {
		out.ended = append(out.ended, s.ended...)
	}
	return out
}

// figures are what section by section is published of an incident, of one replica.
type figures struct {
	ttft, tpot, running, waiting, usage, steps, output, mbu, preemptions float64
	aborts, goodput, residual, b0, b2, b3                                float64
}

func figure(blocks []span, b [3]float64) figures {
	all := together(blocks)
	return figures{
		ttft:        mean(all.answered("", ttftOf)),
		tpot:        mean(all.answered("", tpotOf)),
		running:     average(blocks, func(s span) float64 { return s.running }),
		waiting:     average(blocks, func(s span) float64 { return s.waiting }),
		usage:       average(blocks, func(s span) float64 { return s.usage }),
		steps:       average(blocks, func(s span) float64 { return s.steps }),
		output:      average(blocks, func(s span) float64 { return s.output }),
		mbu:         average(blocks, func(s span) float64 { return s.mbu }),
		preemptions: average(blocks, func(s span) float64 { return s.preemptions }),
		aborts:      all.share(Aborted),
		goodput:     all.goodput("chat", 500*time.Millisecond, 50*time.Millisecond),
		residual:    residual(b, blocks),
		b0:          b[0], b2: b[1], b3: b[2],
	}
}

func (f *figures) add(o figures) {
	for _, p := range []struct {
		to *float64
		v  float64
	}{
		{&f.ttft, o.ttft}, {&f.tpot, o.tpot}, {&f.running, o.running}, {&f.waiting, o.waiting},
		{&f.usage, o.usage}, {&f.steps, o.steps}, {&f.output, o.output}, {&f.mbu, o.mbu},
		{&f.preemptions, o.preemptions}, {&f.aborts, o.aborts}, {&f.goodput, o.goodput},
		{&f.residual, o.residual}, {&f.b0, o.b0}, {&f.b2, o.b2}, {&f.b3, o.b3},
	} {
		*p.to += p.v / seeds
	}
}

// measure runs an incident on one replica, as published, over four seeds.
func measure(t *testing.T, id string) (before, during figures) {
	t.Helper()
	published(t)
	for seed := uint64(1); seed <= seeds; seed++ {
		m := &meter{sim: service(t, Options{Seed: seed, Replicas: 1, Scenario: id})}
		baseline := m.blocks(baselineFrom, baselineTo)
		b := fit(baseline)
		before.add(figure(baseline, b))
		during.add(figure(m.blocks(incidentFrom, incidentTo), b))
	}
	return before, during
}

// magnitude is the tolerance that the published magnitudes come with.
const magnitude = 0.30

func TestSteady(t *testing.T) {
	before, during := measure(t, "S0")
	near(t, "TTFT s", before.ttft, 0.07, magnitude)
	near(t, "TPOT s", before.tpot, 0.013, magnitude)
	near(t, "running", before.running, 27, magnitude)
	near(t, "steps/s", before.steps, 77, magnitude)
	near(t, "MBU", before.mbu, 0.50, magnitude)
	near(t, "fixed part of a step, ms", before.b0*1e3, 6.8, 0.05)
	near(t, "ms per 1000 cached tokens", before.b2*1e6, 0.065, 0.10)
	near(t, "ms per prefill token", before.b3*1e3, 0.0276, 0.05)
	near(t, "step residual", during.residual, 1.00, 0.03)
}

func TestTrafficSurge(t *testing.T) {
	before, during := measure(t, "S1")
	near(t, "TTFT s", during.ttft, 7, magnitude)
	near(t, "TPOT s", during.tpot, 0.064, magnitude)
	near(t, "waiting", during.waiting, 208, magnitude)
	near(t, "KV usage", during.usage, 0.99, 0.02)
	near(t, "abort share", during.aborts, 0.45, 0.15)
	near(t, "output gain", during.output/before.output, 1.80, magnitude)
	near(t, "preemptions/s", during.preemptions, 1.0, magnitude)
	near(t, "step residual", during.residual, 1.07, 0.05)
	if during.goodput > 0.01 {
		t.Errorf("chat goodput %.3f, published 0", during.goodput)
	}
}

func TestThrottledGPU(t *testing.T) {
	before, during := measure(t, "S4")
	near(t, "TPOT s", during.tpot, 0.122, magnitude)
	near(t, "KV usage", during.usage, 0.99, 0.15)
	near(t, "MBU before", before.mbu, 0.50, 0.05)
	near(t, "MBU", during.mbu, 0.17, magnitude)
	near(t, "step residual", during.residual, 1.98, 0.08)
}

// TestColdStart looks at the times that are published: the first token of those
// who waited grows until the second replica is there, and then it is over.
func TestColdStart(t *testing.T) {
	published(t)
	var at90, at150, at270, outputBefore, outputAfter float64
	for seed := uint64(1); seed <= seeds; seed++ {
		m := &meter{sim: service(t, Options{Seed: seed, Scenario: "S6"})}
		around := func(after time.Duration) span {
			return m.watch(quiet+after-15*time.Second, quiet+after+15*time.Second)
		}
		at90 += around(90*time.Second).ttft / seeds
		late := around(150 * time.Second)
		at150 += late.ttft / seeds
		outputBefore += late.output / seeds
		outputAfter += m.watch(quiet+185*time.Second, quiet+215*time.Second).output / seeds
		at270 += around(270*time.Second).ttft / seeds
	}
	near(t, "TTFT at +90 s", at90, 13, magnitude)
	near(t, "TTFT at +150 s", at150, 28, magnitude)
	near(t, "output tok/s before", outputBefore, 3700, magnitude)
	near(t, "output tok/s after", outputAfter, 7900, magnitude)
	if at270 > 0.15 {
		t.Errorf("TTFT at +270 s: %.2f s, published 0.05 s", at270)
	}
}

func TestStandbyAnswersNothingUntilItIsReady(t *testing.T) {
	for at, ready := range map[time.Duration]bool{0: false, 239 * time.Second: false, 240 * time.Second: true} {
		s := service(t, Options{Seed: 1, Scenario: "S6", At: 60 * time.Second})
		s.Advance(at)
		second := s.Replicas()[1]
		page, err := second.Page(nil)
		if second.Ready() != ready || (err == nil) != ready || (len(page) > 0) != ready {
			t.Errorf("at %v: ready %v, error %v, %d bytes", at, second.Ready(), err, len(page))
		}
	}
}

func TestTheTableOfIncidents(t *testing.T) {
	seen := map[string]bool{}
	for _, sc := range Scenarios {
		if sc.ID == "" || sc.Name == "" || sc.Sentence == "" || seen[sc.ID] {
			t.Errorf("%+v", sc)
		}
		seen[sc.ID] = true
		if len(sc.Shifts) > 0 && sc.At != quiet {
			t.Errorf("%s starts at %v, without a baseline", sc.ID, sc.At)
		}
		for _, shift := range sc.Shifts {
			if shift.Workflow != "" && !sc.serves(shift.Workflow) {
				t.Errorf("%s shifts %q, which nobody serves", sc.ID, shift.Workflow)
			}
		}
	}
}

func (s Scenario) serves(name string) bool {
	return slices.ContainsFunc(slices.Concat(DemoWorkflows(), s.Comers), func(w Workflow) bool { return w.Name == name })
}

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

// figures are what is published of an incident, of one replica, by name: times in
// seconds, rates a second.
type figures map[string]float64

func figure(blocks []span, b [3]float64) figures {
	all := together(blocks)
	each := func(f func(span) float64) float64 { return average(blocks, f) }
	return figures{
		"TTFT":          mean(all.answered("", ttftOf)),
		"TTFT at first": firstTTFT(blocks), // of those who wait for the rest still, too
		"TPOT":          mean(all.answered("", tpotOf)),
		"chat E2E":      mean(all.answered("chat", e2eOf)),
		"gap":           each(func(s span) float64 { return s.gap }),
		"worst gap":     quantile(all.answered("", worstOf), 0.95), // of a request
		"running":       each(func(s span) float64 { return s.running }),
		"waiting":       each(func(s span) float64 { return s.waiting }),
		"KV usage":      each(func(s span) float64 { return s.usage }),
		"steps":         each(func(s span) float64 { return s.steps }),
		"output":        each(func(s span) float64 { return s.output }),
		"MBU":           each(func(s span) float64 { return s.mbu }),
		"preemptions":   each(func(s span) float64 { return s.preemptions }),
		"computed":      each(func(s span) float64 { return s.prefill }) / each(func(s span) float64 { return s.firsts }),
		"abort share":   all.share(Aborted),
		"chat goodput":  all.goodput("chat", 500*time.Millisecond, 50*time.Millisecond),
		"residual":      residual(b, blocks),
		"b0":            b[0], "b2": b[1], "b3": b[2],
	}
}

func firstTTFT(blocks []span) float64 {
	var sum, n float64
	for _, s := range blocks {
		if s.firsts > 0 {
			sum, n = sum+s.ttft*s.firsts, n+s.firsts
		}
	}
	return sum / n
}

func worstOf(e Event) (time.Duration, bool) { return e.WorstGap, e.OutputTokens > 1 }

func e2eOf(e Event) (time.Duration, bool) { return e.Finish - e.Received, true }

// measure runs an incident on one replica, as published, over four seeds, and takes
// the median of each figure: near saturation one unlucky run outweighs all others in
// a mean.
func measure(t *testing.T, id string) (was, is figures) {
	t.Helper()
	var quiet, loud []figures
	for seed := uint64(1); seed <= seeds; seed++ {
		m := &meter{sim: service(t, Options{Seed: seed, Replicas: 1, Scenario: id})}
		baseline := m.blocks(baselineFrom, baselineTo)
		b := fit(baseline)
		quiet = append(quiet, figure(baseline, b))
		loud = append(loud, figure(m.blocks(incidentFrom, incidentTo), b))
	}
	return median(quiet), median(loud)
}

func median(runs []figures) figures {
	out := figures{}
	for name := range runs[0] {
		var values []float64
		for _, r := range runs {
			values = append(values, r[name])
		}
		slices.Sort(values)
		n := len(values)
		out[name] = (values[(n-1)/2] + values[n/2]) / 2
	}
	return out
}

// magnitude is the tolerance that the published magnitudes come with.
const magnitude = 0.30

// figureOf is one figure of an incident: before it or during it, or by how many
// times it grew, and its tolerance where that is not the usual one.
type figureOf struct {
	name   string
	when   when
	want   float64
	within float64
}

type when uint8

const (
	during when = iota
	before
	times
)

// TestIncidents compares each incident with what is published of it. The mean TTFT of
// S9 is not compared: this close to saturation it lies between 0.2 and 2.2 s over the
// seeds.
func TestIncidents(t *testing.T) {
	for _, c := range []struct {
		id      string
		figures []figureOf
	}{
		{"S0", []figureOf{
			{"TTFT", before, 0.07, 0}, {"TPOT", before, 0.013, 0}, {"running", before, 27, 0}, {"steps", before, 77, 0},
			{"MBU", before, 0.50, 0}, {"worst gap", before, 0.093, 0}, {"b0", before, 6.8e-3, 0.05}, {"b2", before, 0.065e-6, 0.10},
			{"b3", before, 27.6e-6, 0.05}, {"residual", during, 1, 0.03}}},
		{"S1", []figureOf{
			{"TTFT", during, 7, 0}, {"TPOT", during, 0.064, 0}, {"waiting", during, 208, 0}, {"KV usage", during, 0.99, 0.02},
			{"abort share", during, 0.45, 0.15}, {"output", times, 1.8, 0}, {"preemptions", during, 1, 0}, {"residual", during, 1.07, 0.05}}},
		{"S2", []figureOf{
			{"TTFT", during, 28, 0}, {"TPOT", during, 0.097, 0}, {"output", times, 0.70, 0}, {"worst gap", during, 0.168, 0},
			{"KV usage", during, 0.95, 0.05}, {"residual", during, 1.24, 0.1}}},
		{"S3", []figureOf{
			{"KV usage", during, 1, 0.02}, {"preemptions", during, 3.6, 0}, {"worst gap", during, 1, 0.5}, {"TTFT at first", during, 46, 0},
			{"residual", during, 1.01, 0.15}}},
		{"S3b", []figureOf{
			{"preemptions", during, 4.5, 0}, {"running", before, 28, 0}, {"running", during, 21, 0}, {"waiting", during, 420, 0},
			{"KV usage", during, 0.98, 0.03}}},
		{"S4", []figureOf{
			{"TPOT", during, 0.122, 0}, {"KV usage", during, 0.99, 0.15}, {"MBU", before, 0.50, 0.05}, {"MBU", during, 0.17, 0},
			{"residual", during, 1.98, 0.08}}},
		{"S5", []figureOf{
			{"computed", before, 828, 0}, {"computed", during, 1716, 0}, {"TTFT", times, 2.45, 0}, {"TPOT", before, 0.013, 0},
			{"TPOT", during, 0.033, 0.3}, {"chat goodput", during, 0.8, 0.25}, {"residual", during, 1.01, 0.04}}},
		{"S7", []figureOf{
			{"output", before, 2044, 0}, {"output", times, 2.27, 0}, {"TPOT", during, 0.056, 0}, {"worst gap", during, 0.496, 0}}},
		{"S9", []figureOf{{"TPOT", during, 0.039, 0}, {"worst gap", during, 0.58, 0}, {"chat goodput", during, 0.73, 0}}},
		{"S10", []figureOf{
			{"TPOT", during, 0.088, 0}, {"MBU", during, 0.19, 0}, {"KV usage", during, 0.81, 0}, {"residual", during, 1.87, 0.05}}},
		{"S11", []figureOf{{"TPOT", times, 1.46, 0.1}, {"gap", times, 1, 0.1}}},
		{"S12", []figureOf{
			{"waiting", during, 620, 0}, {"output", times, 2.8, 0}, {"running", during, 256, 0.01}, {"KV usage", during, 0.74, 0.1}}},
		{"S13", []figureOf{
			{"chat E2E", before, 3, 0}, {"chat E2E", during, 10.5, 0}, {"TPOT", during, 0.026, 0}, {"chat goodput", during, 0.96, 0.06}}},
		{"S14", []figureOf{
			{"TTFT", during, 6.5, 0}, {"waiting", during, 62, 0}, {"running", during, 24, 0.001}, {"KV usage", during, 0.12, 0.15},
			{"gap", times, 1, 0.15}, {"residual", during, 1, 0.05}}},
	} {
		t.Run(c.id, func(t *testing.T) {
			if c.id != "S5" && c.id != "S14" {
				published(t)
			}
			was, is := measure(t, c.id)
			for _, f := range c.figures {
				got := is[f.name]
				switch f.when {
				case before:
					got = was[f.name]
				case times:
					got /= was[f.name]
				}
				near(t, f.name, got, f.want, defaulted(f.within, magnitude))
			}
		})
	}
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

package diagnose

import (
	"math"

	"slotop/model"
	"slotop/model/slo"
)

// scene is facts and what follows from them, worked out once for all rules. Nobody
// writes to it after newScene.
type scene struct {
	f *Facts
	memory
	flows   side     // of all workflows together
	engines side     // of all engines together
	factors []factor // the largest first
	bound   bound
	hurts   []hurt // the worst first
	wait    float64
}

// leave is what is left of a threshold for what stands already: what came at x goes
// at 0.8 x.
const leave = 0.8

// memory is what earlier evaluations know.
type memory struct {
	held   func(key string) bool // stood at the last one; nil: nothing did
	again  func(key string) bool // was true then; nil: nothing was
	patchy bool                  // an engine that counted arrivals fell silent within the present
}

func newScene(f *Facts, m memory) *scene {
	s := &scene{f: f, memory: m}
	s.flows, s.engines = joined(f.Flows, flowBlocks), joined(f.Engines, engineBlocks)
	s.wait = s.waits()
	s.bound = s.binds()
	s.factors = s.accounts()
	s.hurts = s.symptoms()
	return s
}

func flowBlocks(f *Flow) (now, before []Sums)     { return f.Now, f.Before }
func engineBlocks(e *Engine) (now, before []Sums) { return e.Now, e.Before }

func joined[T any](members []T, of func(*T) (now, before []Sums)) side {
	var now, before [][]Sums
	for i := range members {
		n, b := of(&members[i])
		now, before = append(now, n), append(before, b)
	}
	return side{merged(now), merged(before)}
}

// ease is 1 for what does not stand yet, and less for what does.
func (s *scene) ease(key string) float64 {
	if s.held != nil && s.held(key) {
		return leave
	}
	return 1
}

// compares reports whether there is enough quiet time to compare with.
func (s *scene) compares() bool { return s.quiet() >= LeastBaseline }

// quiet is how many blocks the baseline has.
func (s *scene) quiet() int { return max(len(s.flows.before), len(s.engines.before)) }

// side is what the workflows tell, or the engines where the workflows do not.
func (s *scene) side(tells func(side) bool) side {
	if tells(s.flows) || !tells(s.engines) {
		return s.flows
	}
	return s.engines
}

func (s *scene) tellsRates(x side) bool { return rate(x.now, Arrived) >= 0 }

func (s *scene) tellsPrompts(x side) bool { return mean(x.now, PromptLength).N > 0 }

func (s *scene) tellsOutputs(x side) bool { return mean(x.now, OutputLength).N > 0 }

func (s *scene) tellsMisses(x side) bool {
	_, n := share(x.now, CachedTokens, PromptTokens)
	return n > 0
}

// factor is the one of that name, nil where it was not looked at.
func (s *scene) factor(name model.Factor) *factor {
	for i := range s.factors {
		if s.factors[i].Factor == name {
			return &s.factors[i]
		}
	}
	return nil
}

// grew is the factors whose change added work, machine and all.
func (s *scene) grew() bool {
	for i := range s.factors {
		if s.factors[i].up() {
			return true
		}
	}
	return false
}

// matters reports whether anything is felt or limited: what moved without that is
// listed, and is no finding.
func (s *scene) matters() bool { return len(s.hurts) > 0 || s.bound.binds != model.BindsNothing }

// hosted reports whether nothing but clients speak: then nothing may be said of
// engines and GPUs.
func (s *scene) hosted() bool { return len(s.f.Engines) == 0 && s.f.Silent == 0 && s.f.Behind == "" }

// littleBlocks is over how many blocks Little's wait is taken.
const littleBlocks = 3

// waits is how long a request that comes now waits for its first token, by Little's
// law over the newest half minute: all that wait over the rate of first tokens. NaN
// unknown.
func (s *scene) waits() float64 {
	waiting, tokens := 0.0, 0.0
	for i := range s.f.Engines {
		newest := last(s.f.Engines[i].Now, littleBlocks)
		level := mean(newest, WaitingLevel).Value()
		if math.IsNaN(level) {
			continue
		}
		n, seconds := observed(newest, TTFT)
		waiting, tokens = waiting+level, tokens+n/seconds
	}
	return value(slo.LittleWait(model.Of(waiting), model.Of(tokens)))
}

func last(blocks []Sums, n int) []Sums { return blocks[max(0, len(blocks)-n):] }

// observed is how many of a measure were seen, and over how many seconds.
func observed(blocks []Sums, m Measure) (n, seconds float64) {
	for i := range blocks {
		if v := blocks[i].Measures[m].N; !math.IsNaN(v) {
			n, seconds = n+v, seconds+blocks[i].Seconds
		}
	}
	return n, seconds
}

// queueGrew is by how many requests the queue grew over the present, NaN unknown.
func queueGrew(blocks []Sums) float64 {
	if len(blocks) < 2 {
		return math.NaN()
	}
	return blocks[len(blocks)-1].Measures[WaitingLevel].Value() - blocks[0].Measures[WaitingLevel].Value()
}

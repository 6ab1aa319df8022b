// Package capacity says how much room engines have: how full they are, what binds
// first as the rate grows, how many replicas a rate needs, and what tokens cost.
// It is arithmetic on what a step was learned to cost and on what requests ask for.
// It is a model of the mean, and optimistic beyond model.PlanningLimit, where
// fluctuations rule; it knows no history but the one it is handed.
//
// In the steady state an engine with B running sequences, each with a context of c
// tokens, that gets λ requests a second of U prompt tokens to compute and N output
// tokens, has steps of
//
//	t = b0 + b1·B + b2·B·c + b3·λ·U·t,  B = λ·N·t (Little's law),
//
// so that t = b0/(1 − λ·s) with s = b3·U + (b1 + b2·c)·N: seconds of machine that a
// request needs. λ·s is the load factor ρ.
package capacity

import (
	"math"

	"slotop/model"
	"slotop/model/steptime"
)

// Mix is what the mean request asks for, in tokens.
type Mix struct {
	Prompt   float64 // P, whole
	Uncached float64 // U, to be computed: P·(1 − hit share)
	Output   float64 // N
	Context  float64 // c, of a running sequence
}

// Machine is one replica under a mix.
type Machine struct {
	Fit steptime.Fit
	Mix Mix
	KV  float64 // capacity of its KV cache in tokens; NaN unknown
	Cap float64 // the most sequences that it runs; NaN unknown
}

// Known reports whether the load factor can be told: whether steps grow with
// anything that requests bring, and all that counts of the mix is known.
func (m Machine) Known() bool {
	s := m.PerRequest()
	return s > 0 && !math.IsInf(s, 0) && m.Fit.Fixed > 0
}

// PerRequest is s, in seconds of machine for one request.
func (m Machine) PerRequest() float64 { return m.prefill() + m.decode() }

// prefill is the part of s that computing the prompt takes.
func (m Machine) prefill() float64 {
	return part(m.Fit.PerPrefill, m.Mix.Uncached) + part(m.Fit.PerAttention, m.Mix.Uncached*m.Mix.Prompt)
}

// decode is the part of s that the output's tokens take.
func (m Machine) decode() float64 {
	return part(m.Fit.PerSequence, m.Mix.Output) + part(m.Fit.PerKVToken, m.Mix.Context*m.Mix.Output)
}

// part is a coefficient times what it is of; what costs nothing need not be known.
func part(coefficient, of float64) float64 {
	if coefficient == 0 {
		return 0
	}
	return coefficient * of
}

// Load is the load factor at a rate, in requests a second of this replica: from 1 on
// the queue never ends.
func (m Machine) Load(rate float64) float64 { return rate * m.PerRequest() }

// TPOT is the mean time per output token at a rate, in seconds; +Inf where the
// queue never ends.
func (m Machine) TPOT(rate float64) float64 {
	rho := m.Load(rate)
	if rho >= 1 {
		return math.Inf(1)
	}
	return m.Fit.Fixed / (1 - rho)
}

// Running is how many sequences run at a rate, by Little's law.
func (m Machine) Running(rate float64) float64 { return rate * m.Mix.Output * m.TPOT(rate) }

// KVUse is how full the KV cache is at a rate; above 1 it does not suffice.
func (m Machine) KVUse(rate float64) float64 { return m.Running(rate) * m.Mix.Context / m.KV }

// FirstToken is the mean time to the first token at a rate, in seconds, of a request
// that does not queue: the step in which it arrives, and the computing of its prompt.
func (m Machine) FirstToken(rate float64) float64 { return m.TPOT(rate) + m.prefill() }

// MaxRate is λ∞, the rate in requests a second at which the queue never ends.
func (m Machine) MaxRate() float64 { return 1 / m.PerRequest() }

// PlannedRate is the rate at the planning limit.
func (m Machine) PlannedRate() float64 { return model.PlanningLimit / m.PerRequest() }

// KVRate is the rate at which the KV cache is full: K/(N·c·b0 + K·s).
func (m Machine) KVRate() float64 {
	return m.KV / (m.Mix.Output*m.Mix.Context*m.Fit.Fixed + m.KV*m.PerRequest())
}

// Sequences is how many sequences fit in the KV cache.
func (m Machine) Sequences() float64 { return m.KV / m.Mix.Context }

// CapRate is the rate at which as many sequences run as may.
func (m Machine) CapRate() float64 {
	return m.Cap / (m.Mix.Output*m.Fit.Fixed + m.Cap*m.PerRequest())
}

// RateAt is the rate at which TPOT is tau seconds in the mean: (1 − b0/τ)/s; 0 where
// it is never so short. For a bound on a percentile divide it by how much longer
// that percentile is than the mean.
func (m Machine) RateAt(tau float64) float64 {
	return max(0, (1-m.Fit.Fixed/tau)/m.PerRequest())
}

// Headroom is how much the rate may grow up to the planning limit, as a share of
// the present rate: 0.7/ρ − 1. Below 0 it is beyond.
func (m Machine) Headroom(rate float64) float64 { return model.PlanningLimit/m.Load(rate) - 1 }

// Replicas is how many such machines carry a rate, ⌈λ·s/0.7⌉, at least one; NaN for
// a rate that is none.
func (m Machine) Replicas(rate float64) float64 { return needed(rate / m.PlannedRate()) }

// KVReplicas is how many are needed for their KV caches to hold what runs; NaN
// where the capacity is not known.
func (m Machine) KVReplicas(rate float64) float64 { return needed(rate / m.KVRate()) }

// needed rounds up, but for what arithmetic adds to a whole number.
func needed(n float64) float64 { return math.Max(1, math.Ceil(n-1e-9)) }

package steptime

import (
	"math"

	"slotop/model"
)

// Split is what a step's time is made of, in seconds, none below 0; NaN where the
// sample does not tell what it takes.
type Split struct {
	Fixed     float64 // weights and launches
	Sequences float64 // host work for each sequence
	KV        float64 // reading the KV cache
	Prefill   float64 // computing prompts, attention over long ones included
}

// Total is the whole time, NaN where a part is not known.
func (s Split) Total() float64 { return s.Fixed + s.Sequences + s.KV + s.Prefill }

// Explain splits the time that a step of this load takes by what was learned.
func (f Fit) Explain(s Sample) Split {
	return Split{
		Fixed:     f.Fixed,
		Sequences: times(f.PerSequence, s.Sequences),
		KV:        times(f.PerKVToken, s.KVTokens),
		Prefill:   times(f.PerPrefill, s.Prefill) + times(f.PerAttention, s.Prefill*s.Prompt),
	}
}

// times is a product in which a coefficient of 0 makes an unknown load irrelevant.
func times(coefficient, x float64) float64 {
	if coefficient == 0 {
		return 0
	}
	return coefficient * max(0, x)
}

// leastOfRatio is how many samples a residual needs, unless they are of leastSpan,
// in seconds, together: a few steps alone are chance.
const (
	leastOfRatio = 3
	leastSpan    = 45
)

// Residual is how much longer steps took than their load explains: the mean observed
// time over the mean explained one, each sample counting by its length. Not ok: fewer
// than three samples tell, of less than 45 s together.
func (f Fit) Residual(samples []Sample) (ratio float64, ok bool) {
	n, span, observed, explained := 0, 0.0, 0.0, 0.0
	for _, s := range samples {
		t, weight := f.Explain(s).Total(), s.Seconds
		if !(t > 0) || !(s.Step > 0) || !(weight > 0) {
			continue
		}
		n, span = n+1, span+weight
		observed += s.Step * weight
		explained += t * weight
	}
	if n < leastOfRatio && span < leastSpan {
		return 0, false
	}
	ratio = observed / explained
	return ratio, ratio > 0 && !math.IsInf(ratio, 0)
}

// Verdict is what a residual means.
type Verdict uint8

// The verdicts.
const (
	Unknown   Verdict = iota
	Explained         // the load explains the time
	Between           // neither is shown, and that is said
	Slower            // the machine is slower than its own baseline
)

// Judge puts a residual into its band.
func Judge(ratio float64) Verdict {
	switch {
	case !(ratio > 0):
		return Unknown
	case ratio < model.ResidualExplained:
		return Explained
	case ratio < model.ResidualSlower:
		return Between
	default:
		return Slower
	}
}

// Mean is the mean step of several samples, each counting by its length; NaN where
// none tells. At is that of the newest.
func Mean(samples []Sample) Sample {
	var m Sample
	var step, sequences, kv, prefill, prompt mean
	for _, s := range samples {
		if s.At.Mono >= m.At.Mono {
			m.At = s.At
		}
		if !(s.Seconds > 0) {
			continue
		}
		m.Seconds += s.Seconds
		m.Steps += s.Steps
		step.add(s.Step, s.Seconds)
		sequences.add(s.Sequences, s.Seconds)
		kv.add(s.KVTokens, s.Seconds)
		prefill.add(s.Prefill, s.Seconds)
		prompt.add(s.Prompt, s.Seconds)
	}
	m.Step, m.Sequences, m.KVTokens = step.value(), sequences.value(), kv.value()
	m.Prefill, m.Prompt = prefill.value(), prompt.value()
	return m
}

// mean is a weighted mean of what is known.
type mean struct{ sum, weight float64 }

func (m *mean) add(v, weight float64) {
	if !math.IsNaN(v) {
		m.sum += v * weight
		m.weight += weight
	}
}

func (m *mean) value() float64 { return m.sum / m.weight }

package fleet

import (
	"math"

	"slotop/model/steptime"
)

// stepper learns what a step of one engine costs.
type stepper struct {
	fit *steptime.Fit
	why string
	now steptime.Sample
}

// stepFit is what was learned of the target's steps, nil with the reason, as a
// sentence, where nothing was yet. Nobody writes to it.
func (t *target) stepFit() (*steptime.Fit, string) {
	if t.steps == nil {
		return nil, "no step was seen yet"
	}
	return t.steps.fit, t.steps.why
}

// stepNow is the mean step of the present minute; NaN where nobody says it.
func (t *target) stepNow() steptime.Sample {
	if t.steps == nil {
		return unknownStep()
	}
	return t.steps.now
}

func unknownStep() steptime.Sample {
	nan := math.NaN()
	return steptime.Sample{Seconds: nan, Step: nan, Sequences: nan, KVTokens: nan, Prefill: nan, Prompt: nan}
}

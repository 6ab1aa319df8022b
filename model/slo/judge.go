package slo

import "slotop/model"

// Observed is what is known of one request that has ended.
type Observed struct {
	Times        [numMetrics]model.Reading // seconds, in the order of model.Metrics
	Outcome      model.Outcome
	Reason       string // of a cancellation
	Status       int    // HTTP status given to the client, 0 unknown
	OutputTokens model.Reading
	Stream       model.Streaming
	WaitedS      model.Reading // from its coming to its end
	HadToken     bool          // a first token was seen
}

// Kind is what a request counts as.
type Kind uint8

// The kinds. IsUnknown ended with an answer, but something that was promised of
// it was not measured: it is in no share and widens its interval. IsExcluded left
// for reasons that are not the service's.
const (
	IsUnknown Kind = iota
	IsGood
	IsBad
	IsExcluded
)

// Pass is how a request stands to one metric of its objectives.
type Pass uint8

// NotApplicable also is what nothing was promised of. Unmeasured may be either.
const (
	NotApplicable Pass = iota
	Within
	Beyond
	Unmeasured
)

// Judgement is a request's verdict and how it came about.
type Judgement struct {
	Verdict Kind
	Terms   [numMetrics]Pass
}

// The reasons of a cancellation that are not the client's. A deadline cut a
// request that took too long; the others are the service's own doing.
var notTheClients = map[string]bool{"deadline": true, "preempted": true, "shutdown": true}

// Judge holds one request against its workflow's objectives. A failure, a
// rejection and a cut by a deadline are bad. An answer is good if all terms hold
// that apply to it. Where the client left, it counts on what it saw until then:
// bad if it had waited longer than the bound on what it waited for, excluded if
// nothing can be said.
func Judge(spec *model.WorkflowSpec, o Observed) Judgement {
	switch o.end() {
	case ended:
		return judgeAnswer(spec, o)
	case left:
		return judgeLeft(spec, o)
	case broke:
		return Judgement{Verdict: IsBad}
	default:
		return Judgement{}
	}
}

// end is how a request ended, in the few ways that judging tells apart.
type end uint8

const (
	unclear end = iota
	ended
	left
	broke
)

// statusLeft is nginx's status for a client that closed the connection.
const statusLeft = 499

func (o *Observed) end() end {
	switch o.Outcome {
	case model.Completed, model.OutputLimited:
		return ended
	case model.RequestFailed:
		return broke
	case model.RequestCancelled:
		if notTheClients[o.Reason] {
			return broke
		}
		return left
	}
	switch {
	case o.Status == statusLeft:
		return left
	case o.Status >= 400:
		return broke
	case o.Status >= 200:
		return ended
	default:
		return unclear
	}
}

func judgeAnswer(spec *model.WorkflowSpec, o Observed) Judgement {
	j := Judgement{Verdict: IsGood}
	if !o.Times[index(model.MetricFirstAnswer)].OK() && o.Outcome != model.OutputLimited {
		// Without reasoning before it the answer begins with the first token. One
		// that was cut at its limit may have been cut while it still reasoned.
		o.Times[index(model.MetricFirstAnswer)] = o.Times[index(model.MetricTTFT)]
	}
	for _, want := range spec.Objectives {
		i := index(want.Metric)
		j.Terms[i] = o.pass(want, spec.OneTokenBad)
		switch {
		case j.Terms[i] == Beyond:
			j.Verdict = IsBad
		case j.Terms[i] == Unmeasured && j.Verdict == IsGood:
			j.Verdict = IsUnknown
		}
	}
	if spec.TruncatedBad && o.Outcome == model.OutputLimited {
		j.Verdict = IsBad
	}
	return j
}

// pass holds an answer against one bound.
func (o *Observed) pass(want model.Objective, oneTokenBad bool) Pass {
	if o.Stream == model.Unary && ofStreams(want.Metric) {
		return NotApplicable
	}
	if n, ok := o.OutputTokens.Get(); ok && n < 2 && want.Metric == model.MetricTPOT {
		if oneTokenBad {
			return Beyond
		}
		return NotApplicable
	}
	if p := o.measured(want); p != Unmeasured {
		return p
	}
	// No part of a request takes longer than the whole.
	if whole, ok := o.Times[index(model.MetricE2E)].Get(); ok && whole <= want.MaxS {
		return Within
	}
	return Unmeasured
}

func (o *Observed) measured(want model.Objective) Pass {
	v, ok := o.Times[index(want.Metric)].Get()
	switch {
	case !ok:
		return Unmeasured
	case v <= want.MaxS:
		return Within
	default:
		return Beyond
	}
}

// ofStreams reports whether only a client that reads a stream can feel the metric.
func ofStreams(m model.Metric) bool {
	return m == model.MetricTTFT || m == model.MetricFirstAnswer || m == model.MetricTPOT
}

// judgeLeft judges a request whose client left before its end.
func judgeLeft(spec *model.WorkflowSpec, o Observed) Judgement {
	j := Judgement{Verdict: IsExcluded}
	for _, want := range spec.Objectives {
		i := index(want.Metric)
		j.Terms[i] = o.passLeft(want)
		switch {
		case j.Terms[i] == Beyond:
			j.Verdict = IsBad
		case j.Terms[i] == Within && o.HadToken && j.Verdict == IsExcluded:
			j.Verdict = IsGood
		}
	}
	return j
}

// passLeft holds what was seen of a request until its client left against one
// bound. How long the whole would have taken nobody knows.
func (o *Observed) passLeft(want model.Objective) Pass {
	m := want.Metric
	if m == model.MetricE2E || o.Stream == model.Unary && ofStreams(m) {
		return NotApplicable
	}
	if p := o.measured(want); p != Unmeasured {
		return p
	}
	first := m == model.MetricTTFT || m == model.MetricFirstAnswer
	if waited, ok := o.WaitedS.Get(); ok && first && !o.HadToken && waited > want.MaxS {
		return Beyond
	}
	return NotApplicable
}

package slo

import "slotop/model"

// Budget is the error budget of a period. It counts requests, not minutes, so
// that quiet hours weigh as little as they should.
type Budget struct {
	Target  float64 // 0–1
	PeriodS float64
	N, Bad  float64 // requests seen so far in the period, and the bad ones
}

// Allowed is how many of the requests seen may be bad.
func (b Budget) Allowed() float64 { return (1 - b.Target) * b.N }

// Remaining is the share of the budget that is left, below 0 where it is
// overspent. Unknown before the first request.
func (b Budget) Remaining() model.Reading {
	if b.N == 0 {
		return model.Missing(model.NoTraffic)
	}
	return model.Of(1 - b.Bad/b.Allowed())
}

// ExhaustedIn is the time in seconds until nothing is left at the present burn
// rate. Unknown where nothing burns.
func (b Budget) ExhaustedIn(burn model.Reading) model.Reading {
	left := b.Remaining()
	if !left.OK() || !burn.OK() || burn.Value <= 0 {
		return model.Reading{}
	}
	return model.Of(max(0, left.Value) * b.PeriodS / burn.Value)
}

// Deadline predicts whether a job is done in time: whether the requests that
// remain take, at the present rate, no longer than the seconds left. needs is
// unknown where nothing moves. A burn rate would say nothing of such a workflow.
func Deadline(remaining, perSecond, leftS model.Reading) (needs model.Reading, verdict model.Verdict) {
	needs = LittleWait(remaining, perSecond)
	switch {
	case !remaining.OK() || !leftS.OK() || remaining.Value > 0 && !perSecond.OK():
		return needs, model.CannotCompute
	case needs.OK() && needs.Value <= leftS.Value:
		return needs, model.Met
	default:
		return needs, model.Missed
	}
}

// LittleWait is how long a request that comes now waits for its first token, by
// Little's law: those waiting before it over the rate of first tokens, in
// seconds. It is what a latency histogram will say later. Unknown where some
// wait and none gets a token.
func LittleWait(waiting, perSecond model.Reading) model.Reading {
	switch {
	case !waiting.OK():
		return waiting
	case waiting.Value == 0:
		return waiting
	case !perSecond.OK():
		return perSecond
	case perSecond.Value <= 0:
		return model.Reading{}
	}
	return model.Of(waiting.Value / perSecond.Value)
}

// TimeToBreach is how long until a request that comes waits longer than bound
// for its first token, in seconds, with so many waiting, arrivals and first
// tokens per second: (bound·served − waiting)/(arrivals − served), and 0 where
// it does already. Unknown where the queue does not grow.
func TimeToBreach(waiting, arrivals, served, bound float64) model.Reading {
	short := bound*served - waiting
	switch {
	case short < 0:
		return model.Of(0)
	case arrivals <= served:
		return model.Reading{}
	}
	return model.Of(short / (arrivals - served))
}

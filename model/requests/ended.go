package requests

import (
	"time"

	"slotop/model"
)

// Ended is a request at its end.
type Ended struct {
	Request *model.Request
	// At is when it ended on the monotonic clock of the inputs, with the skew
	// between the reporter's clock and ours removed; never later than the report
	// arrived, and negative where it ended before the first input.
	At time.Duration
	// First is when the first try of this user was received, on the reporter's
	// clock; 0 where no try says.
	First model.Stamp
	// Tries is how many tries there were, this one included.
	Tries int
	// Backwards: its times contradict each other. It counts, but has no latency.
	Backwards bool
	// Retracts: an earlier try of this user has been handed out as the user's
	// last one, and was not. Two retries of the same try are two users.
	Retracts bool
	// Superseded: a later try of this user has been handed out already, so that
	// this one is not the user's last. Users are the ended that are not
	// superseded, less those that retract.
	Superseded bool
}

// Places in the order of model.Metrics.
const (
	ttft = iota
	firstAnswer
	tpot
	e2e
	queue
	numMetrics
)

// Times is the latencies in seconds in the order of model.Metrics. From First:
// ttft, first_answer and e2e, which is what the user felt over all tries. TPOT is
// (completed − first token) / (output tokens − 1) from two tokens on, queue is
// admitted − received of this try. What was not reported or does not apply is
// Unknown: without a stream ttft, first_answer and tpot, and tpot of an answer
// that came in one piece. An answer completed without a first_answer of its own
// had no reasoning before it, so that its first token is the answer's.
func (e *Ended) Times() (m [numMetrics]model.Reading) {
	if e.Backwards {
		return m
	}
	r := e.Request
	m[e2e] = model.Between(e.First, r.Completed)
	m[queue] = model.Between(r.Queued, r.Admitted)
	if r.Stream == model.Unary {
		return m
	}
	m[ttft] = model.Between(e.First, r.FirstToken)
	m[firstAnswer] = model.Between(e.First, r.FirstAnswer)
	if r.FirstAnswer == 0 && r.Outcome == model.Completed {
		m[firstAnswer] = m[ttft]
	}
	m[tpot] = perToken(r)
	return m
}

// perToken is the time per output token after the first.
func perToken(r *model.Request) model.Reading {
	n, known := r.OutputTokens.Get()
	if !known || n < 2 || r.FirstToken == r.Completed || r.OutputChunks.OK() && r.OutputChunks.Value < 2 {
		return model.Reading{}
	}
	whole, known := model.Between(r.FirstToken, r.Completed).Get()
	if !known {
		return model.Reading{}
	}
	return model.Of(whole / (n - 1))
}

// Began is when this try was received, on the clock of At; At where it does not
// say.
func (e *Ended) Began() time.Duration {
	took := e.between(e.Request.Queued, endOf(e))
	return e.At - time.Duration(took.Value*float64(time.Second))
}

// Response is how long the answer took, in seconds, from when a load generator
// meant to send the request; Unknown without a schedule.
func (e *Ended) Response() model.Reading {
	return e.between(e.Request.Scheduled, e.Request.Completed)
}

// WaitedS is how long a request that ended without a first token had waited for
// one, in seconds from First; Unknown where there was a token.
func (e *Ended) WaitedS() model.Reading {
	if e.Request.FirstToken != 0 {
		return model.Reading{}
	}
	return e.between(e.First, endOf(e))
}

func (e *Ended) between(a, b model.Stamp) model.Reading {
	if e.Backwards {
		return model.Reading{}
	}
	return model.Between(a, b)
}

// endOf is when the request ended on the reporter's clock: as it says, else when
// it was said. Times that contradict each other say nothing.
func endOf(e *Ended) model.Stamp {
	if e.Request.Completed == 0 || e.Backwards {
		return e.Request.At
	}
	return e.Request.Completed
}

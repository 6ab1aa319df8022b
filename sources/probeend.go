package sources

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"slotop/model"
)

// The reasons for which a probe's request fails besides those of the event schema.
const (
	cutOff      = "stream_cut"  // the answer ended before its end
	unreachable = "unreachable" // there was no answer at all
	notOpenAI   = "not_openai"  // an answer of another form
)

// ended is a request as it ended, without what its answer told.
func (p *sender) ended(s *sending, outcome model.Outcome, reason string, at time.Time) model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := model.Request{
		ID: s.id, Workflow: model.ProbeTarget, Model: p.model, Phase: model.PhaseDone, Outcome: outcome, Reason: reason,
		Stream: model.Streamed, Queued: model.StampOf(s.began), FirstToken: stampAfter(s.began, s.first), Completed: stampAfter(s.began, at),
	}
	r.At = r.Completed
	return r
}

// stampAfter is the stamp of a later time by the clock that never jumps; 0 where
// there is none.
func stampAfter(began, at time.Time) model.Stamp {
	if at.IsZero() {
		return 0
	}
	return model.StampOf(began) + model.Stamp(at.Sub(began))
}

// underway is a request that has not ended.
func (p *sender) underway(s *sending) model.Request {
	r := p.ended(s, "", "", p.now())
	r.Completed, r.Phase = 0, model.PhaseAtModel
	if r.FirstToken != 0 {
		r.Phase = model.PhaseStreaming
	}
	return r
}

// lost is a request that got no answer.
func (p *sender) lost(ctx context.Context, s *sending, err error) probeResult {
	if called, ok := p.calledOff(ctx, s); ok {
		return called
	}
	fault := requestFault(err, p.request, p.sent)
	if f := (*FaultError)(nil); errors.As(fault, &f) && f.Kind == model.Timeout {
		return probeResult{request: p.ended(s, model.RequestFailed, "timeout", p.now()), note: f.Detail}
	}
	return probeResult{request: p.ended(s, model.RequestFailed, unreachable, p.now()), fault: fault}
}

// calledOff is a request that we ended, if we did.
func (p *sender) calledOff(ctx context.Context, s *sending) (probeResult, bool) {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return probeResult{}, false
	case errors.Is(cause, errTooLong):
		return probeResult{
			request: p.ended(s, model.RequestFailed, "timeout", p.now()),
			note:    fmt.Sprintf("no whole answer within %v", p.set.timeout),
		}, true
	default:
		return probeResult{request: p.ended(s, model.RequestCancelled, "shutdown", p.now())}, true
	}
}

// refused is a request that was answered with another status than 200. One that
// can only be put right by a person is a fault of the target.
func (p *sender) refused(s *sending, response *http.Response, body []byte) probeResult {
	code := response.StatusCode
	r := probeResult{request: p.ended(s, model.RequestFailed, reasonOf(code), p.now())}
	r.request.Status = code
	says := ""
	var a answerText
	if a.message(body); a.failWords != "" {
		says = ": " + p.sent.excerpt(a.failWords)
	}
	switch kindOfStatus(code) {
	case model.Denied:
		r.fault = p.denied(response.Request.URL.Path)
	case model.NotFound:
		r.fault = &FaultError{model.NotFound, fmt.Sprintf("%d at %s%s: check the path and the model's name %s; a model without a chat template needs api=completions",
			code, p.sent.excerpt(response.Request.URL.Path), says, p.sent.excerpt(p.model))}
	case model.Redirected:
		r.fault = &FaultError{model.Redirected, fmt.Sprintf("%d at %s: give the address that it leads to", code, p.sent.excerpt(response.Request.URL.Path))}
	default:
		r.note = fmt.Sprintf("answered %d%s", code, says)
	}
	return r
}

// reasonOf is the word of the event schema for a status.
func reasonOf(code int) string {
	switch {
	case code == http.StatusTooManyRequests:
		return "rate_limited"
	case code == http.StatusRequestTimeout:
		return "timeout"
	case code >= 500:
		return "upstream_5xx"
	case code >= 400:
		return "upstream_4xx"
	default:
		return "internal"
	}
}

// answered is a request whose answer began, and how it ended.
func (p *sender) answered(ctx context.Context, s *sending, a *answerText, err error) probeResult {
	outcome, reason, note := outcomeOf(a, err)
	r := probeResult{note: note}
	if called, ok := p.calledOff(ctx, s); ok && err != nil {
		r = called
		outcome, reason = called.request.Outcome, called.request.Reason
	}
	r.request = p.ended(s, outcome, reason, a.at)
	r.request.Status = http.StatusOK
	r.request.InputTokens, r.request.OutputTokens, r.request.CachedTokens = a.input, a.output, a.cached
	if a.unary { // all of it came at once: there is no first token
		r.request.Stream = model.Unary
	} else {
		r.request.FirstAnswer = stampAfter(s.began, a.reply)
		r.request.OutputChunks = model.Of(float64(a.chunks))
		r.gaps = a.gaps
	}
	if reason == notOpenAI {
		r.fault = &FaultError{model.NotMetrics, "no answer as OpenAI's at " + p.sent.excerpt(p.request.URL.Path) + ": check the path, usually /v1"}
	}
	if a.failWords != "" {
		r.note = "answered 200 and then: " + p.sent.excerpt(a.failWords)
	}
	return r
}

// outcomeOf is how an answer ended, and what is to be said of it.
func outcomeOf(a *answerText, err error) (outcome model.Outcome, reason, note string) {
	switch {
	case a.failed:
		reason = "internal"
		if a.failCode >= 400 {
			reason = reasonOf(a.failCode)
		}
		return model.RequestFailed, reason, ""
	case errors.Is(err, errAnswerTooLong):
		return model.RequestFailed, "internal", err.Error()
	case err != nil:
		return model.RequestFailed, cutOff, "the connection was lost in the middle of an answer"
	case !a.openAI:
		return model.RequestFailed, notOpenAI, ""
	case a.finish == "content_filter":
		return model.RequestFailed, a.finish, ""
	case a.finish == "" && !a.done && !a.unary:
		return model.RequestFailed, cutOff, "the stream ended without finish_reason and [DONE]"
	case a.unary:
		note = "it answers without a stream: TTFT and TPOT cannot be known"
	case !a.done:
		note = "its streams end without [DONE]"
	case !a.output.OK():
		note = "it sends no usage: how many tokens it made, and so TPOT, is not known"
	}
	if a.finish == "length" {
		return model.OutputLimited, "", note
	}
	return model.Completed, "", note
}

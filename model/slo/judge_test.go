package slo

import (
	"testing"

	"slotop/model"
)

// times are metrics and seconds, in pairs.
func times(pairs ...any) (t [numMetrics]model.Reading) {
	for i := 0; i < len(pairs); i += 2 {
		t[index(pairs[i].(model.Metric))] = model.Of(pairs[i+1].(float64))
	}
	return t
}

func TestJudge(t *testing.T) {
	const (
		first  = model.MetricTTFT
		answer = model.MetricFirstAnswer
		pace   = model.MetricTPOT
		whole  = model.MetricE2E
		queue  = model.MetricQueue
	)
	chat := model.WorkflowSpec{Objectives: []model.Objective{ttft(.5), tpot(.05)}}
	strict := chat
	strict.OneTokenBad, strict.TruncatedBad = true, true
	job := model.WorkflowSpec{Objectives: []model.Objective{e2e(120)}}
	thinking := model.WorkflowSpec{Objectives: []model.Objective{{Metric: answer, MaxS: 5}}}
	queued := model.WorkflowSpec{Objectives: []model.Objective{{Metric: queue, MaxS: .25}}}
	nothing := model.WorkflowSpec{}
	many, one, none := model.Of(100), model.Of(1), model.Reading{}
	fine := times(first, .4, pace, .04, whole, 4.4)

	for _, tt := range []struct {
		name string
		spec model.WorkflowSpec
		o    Observed
		want Kind
	}{
		{"all terms hold", chat, Observed{Outcome: model.Completed, Times: fine, OutputTokens: many}, IsGood},
		{"to the edge", chat, Observed{Outcome: model.Completed, Times: times(first, .5, pace, .05), OutputTokens: many}, IsGood},
		{"late", chat, Observed{Outcome: model.Completed, Times: times(first, .6, pace, .04), OutputTokens: many}, IsBad},
		{"slow", chat, Observed{Outcome: model.Completed, Times: times(first, .4, pace, .06), OutputTokens: many}, IsBad},
		{"nothing promised", nothing, Observed{Outcome: model.Completed}, IsGood},

		{"failed", chat, Observed{Outcome: model.RequestFailed, Times: fine, OutputTokens: many}, IsBad},
		{"refused for its rate", chat, Observed{Outcome: model.RequestFailed, Status: 429, Times: times(whole, .01)}, IsBad},
		{"the outcome only by status", chat, Observed{Status: 503}, IsBad},
		{"fine by status", chat, Observed{Status: 200, Times: fine, OutputTokens: many}, IsGood},
		{"left by status", chat, Observed{Status: 499, WaitedS: model.Of(.1)}, IsExcluded},
		{"no outcome at all", chat, Observed{Times: fine, OutputTokens: many}, IsUnknown},

		{"one token has no TPOT", chat, Observed{Outcome: model.Completed, Times: times(first, .4, whole, .4), OutputTokens: one}, IsGood},
		{"one late token", chat, Observed{Outcome: model.Completed, Times: times(first, .6, whole, .6), OutputTokens: one}, IsBad},
		{"one token, declared bad", strict, Observed{Outcome: model.Completed, Times: times(first, .4, whole, .4), OutputTokens: one}, IsBad},
		{"cut at the limit", chat, Observed{Outcome: model.OutputLimited, Times: fine, OutputTokens: many}, IsGood},
		{"cut, declared bad", strict, Observed{Outcome: model.OutputLimited, Times: fine, OutputTokens: many}, IsBad},
		{"cut by the client's choice of words", strict, Observed{Outcome: model.Completed, Times: fine, OutputTokens: many}, IsGood},

		{"no stream: neither applies", chat, Observed{Outcome: model.Completed, Stream: model.Unary, Times: times(whole, 9.), OutputTokens: many}, IsGood},
		{"no stream: the whole applies", job, Observed{Outcome: model.Completed, Stream: model.Unary, Times: times(whole, 121.)}, IsBad},
		{"first token not measured", chat, Observed{Outcome: model.Completed, Times: times(pace, .04, whole, 4.4), OutputTokens: many}, IsUnknown},
		{"not measured, but too slow anyhow", chat, Observed{Outcome: model.Completed, Times: times(pace, .06), OutputTokens: many}, IsBad},
		{"not measured, but the whole was quick", chat, Observed{Outcome: model.Completed, Times: times(pace, .04, whole, .45), OutputTokens: many}, IsGood},
		{"tokens not counted", chat, Observed{Outcome: model.Completed, Times: times(first, .4, whole, 4.4)}, IsUnknown},
		{"nothing measured", job, Observed{Outcome: model.Completed}, IsUnknown},

		{"first answer after thinking", thinking, Observed{Outcome: model.Completed, Times: times(first, .4, answer, 6.)}, IsBad},
		{"without thinking it is the first token", thinking, Observed{Outcome: model.Completed, Times: times(first, .4)}, IsGood},
		{"cut at its limit, perhaps while thinking", thinking, Observed{Outcome: model.OutputLimited, Times: times(first, .4)}, IsUnknown},
		{"cut at its limit after an answer began", thinking, Observed{Outcome: model.OutputLimited, Times: times(first, .4, answer, 2.)}, IsGood},
		{"queue", queued, Observed{Outcome: model.Completed, Times: times(queue, .3)}, IsBad},

		{"left early", chat, Observed{Outcome: model.RequestCancelled, Reason: "user", WaitedS: model.Of(.3)}, IsExcluded},
		{"left after waiting too long", chat, Observed{Outcome: model.RequestCancelled, WaitedS: model.Of(.6)}, IsBad},
		{"left, nobody knows when", chat, Observed{Outcome: model.RequestCancelled, WaitedS: none}, IsExcluded},
		{"left while thinking", thinking, Observed{Outcome: model.RequestCancelled, HadToken: true, Times: times(first, .4), WaitedS: model.Of(20)}, IsExcluded},
		{"left before any thought", thinking, Observed{Outcome: model.RequestCancelled, WaitedS: model.Of(20)}, IsBad},
		{"left a good stream", chat, Observed{Outcome: model.RequestCancelled, HadToken: true, Times: times(first, .4, pace, .04), WaitedS: model.Of(2)}, IsGood},
		{"left a slow stream", chat, Observed{Outcome: model.RequestCancelled, HadToken: true, Times: times(first, .4, pace, .06), WaitedS: model.Of(2)}, IsBad},
		{"left after one token", strict, Observed{Outcome: model.RequestCancelled, HadToken: true, Times: times(first, .4), OutputTokens: one}, IsGood},
		{"left: the whole is not judged", job, Observed{Outcome: model.RequestCancelled, HadToken: true, Times: times(whole, 300.), WaitedS: model.Of(300)}, IsExcluded},
		{"left without a stream", chat, Observed{Outcome: model.RequestCancelled, Stream: model.Unary, WaitedS: model.Of(9)}, IsExcluded},
		{"left the queue", queued, Observed{Outcome: model.RequestCancelled, Times: times(queue, .3)}, IsBad},
		{"left after the queue, before a token", queued, Observed{Outcome: model.RequestCancelled, Times: times(queue, .1)}, IsExcluded},
		{"cut by a deadline", chat, Observed{Outcome: model.RequestCancelled, Reason: "deadline", HadToken: true, Times: fine}, IsBad},
		{"cut by the service", chat, Observed{Outcome: model.RequestCancelled, Reason: "shutdown", WaitedS: model.Of(.1)}, IsBad},
	} {
		if got := Judge(&tt.spec, tt.o); got.Verdict != tt.want {
			t.Errorf("%s: %+v, want %d", tt.name, got, tt.want)
		}
	}
}

func TestJudgeTerms(t *testing.T) {
	spec := model.WorkflowSpec{Objectives: []model.Objective{ttft(.5), tpot(.05), e2e(3)}}
	j := Judge(&spec, Observed{Outcome: model.Completed, Times: times(model.MetricTTFT, .4, model.MetricE2E, 4.), OutputTokens: model.Of(90)})
	want := [numMetrics]Pass{Within, NotApplicable, Unmeasured, Beyond, NotApplicable}
	if j.Terms != want || j.Verdict != IsBad {
		t.Errorf("%+v, want terms %v", j, want)
	}
}

// A request that succeeds at its third try is judged from the first: OC-22.
func TestOC22RetriedRequestIsTimedFromItsFirstTry(t *testing.T) {
	spec := model.WorkflowSpec{Objectives: []model.Objective{ttft(2)}}
	fromFirst := Judge(&spec, Observed{Outcome: model.Completed, Times: times(model.MetricTTFT, 5.4)})
	fromLast := Judge(&spec, Observed{Outcome: model.Completed, Times: times(model.MetricTTFT, 1.4)})
	refused := Judge(&spec, Observed{Outcome: model.RequestFailed, Status: 429, Times: times(model.MetricE2E, .01)})
	if fromFirst.Verdict != IsBad || fromLast.Verdict != IsGood {
		t.Errorf("TTFT 5.4 s: %d, 1.4 s: %d", fromFirst.Verdict, fromLast.Verdict)
	}
	if refused.Verdict != IsBad || refused.Terms != [numMetrics]Pass{} {
		t.Errorf("a refusal is %+v: it has no part in any latency", refused)
	}
}

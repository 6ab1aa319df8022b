package requests

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// event is a line of the event schema, as far as this package looks at it.
type event struct {
	Seq                        uint64
	At                         time.Time
	ID, Phase, Workflow, Model string
	Outcome, Reason            string
	QueuedAt                   time.Time `json:"queued_at"`
	AdmittedAt                 time.Time `json:"admitted_at"`
	ContextReadyAt             time.Time `json:"context_ready_at"`
	FirstTokenAt               time.Time `json:"first_token_at"`
	CompletedAt                time.Time `json:"completed_at"`
	Stream                     *bool
	Status, Attempt, Retries   int
	OutputTokens               *float64 `json:"output_tokens"`
}

func (e event) request() model.Request {
	r := model.Request{
		ID: e.ID, Seq: e.Seq, At: model.StampOf(e.At), Workflow: e.Workflow, Model: e.Model,
		Phase: model.Phase(e.Phase), Outcome: model.Outcome(e.Outcome), Reason: e.Reason,
		Queued: model.StampOf(e.QueuedAt), Admitted: model.StampOf(e.AdmittedAt), ContextDone: model.StampOf(e.ContextReadyAt),
		FirstToken: model.StampOf(e.FirstTokenAt), Completed: model.StampOf(e.CompletedAt),
		Status: e.Status, Attempt: e.Attempt, Retries: e.Retries,
	}
	if e.OutputTokens != nil {
		r.OutputTokens = model.Of(*e.OutputTokens)
	}
	if e.Stream != nil {
		r.Stream = model.Unary
		if *e.Stream {
			r.Stream = model.Streamed
		}
	}
	return r
}

func corpus(t *testing.T) (out []model.Request) {
	t.Helper()
	for line := range bytes.Lines(shared.File(t, "corpus/gateways/proposed/events.jsonl")) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e.request())
	}
	return out
}

// What every request of the corpus comes to, in the order in which they end.
var corpusEnds = []struct {
	id      string
	ended   float64 // seconds after noon
	outcome model.Outcome
	reason  string
	tries   int
	times   [numMetrics]model.Reading
	waited  model.Reading
}{
	{"r-0001", 2.511, model.Completed, "", 1, [numMetrics]model.Reading{n(.291), n(.291), n(2.21 / 106), n(2.501), n(.021)}, none},
	{"r-0007", 3.002, model.RequestFailed, "rejected", 1, [numMetrics]model.Reading{e2e: n(.002)}, n(.002)},
	{"r-0003", 3.9, model.RequestCancelled, "client_disconnect", 1, [numMetrics]model.Reading{ttft: n(.4), tpot: n(2.5 / 130), e2e: n(2.9), queue: n(.001)}, none},
	{"r-0008", 5.2, model.Completed, "", 1, [numMetrics]model.Reading{n(.2), n(.2), none, n(.2), n(0)}, none}, // one token
	{"r-0002", 11.2, model.OutputLimited, "", 1, [numMetrics]model.Reading{ttft: n(.4), tpot: n(10.6 / 511), e2e: n(11), queue: n(.001)}, none},
	{"r-0005", 12, model.RequestFailed, "upstream_5xx", 3, [numMetrics]model.Reading{e2e: n(10), queue: n(.1)}, n(10)}, // all three tries
	{"r-0006", 21, model.Completed, "", 2, [numMetrics]model.Reading{e2e: n(18.5), queue: n(3.5)}, n(18.5)},            // no stream
	{"r-0004", 31.1, model.RequestCancelled, "deadline", 1, [numMetrics]model.Reading{e2e: n(30)}, n(30)},
}

func TestCorpus(t *testing.T) {
	const delivery = .05
	tr := New(time.Minute)
	var got []Ended
	for _, r := range corpus(t) {
		got = append(got, take(tr, float64(r.At-stamp(0))/1e9+delivery, r)...)
	}
	if len(got) != len(corpusEnds) {
		t.Fatalf("%d ended, want %d", len(got), len(corpusEnds))
	}
	for i, want := range corpusEnds {
		e := &got[i]
		if r := e.Request; r.ID != want.id || r.Outcome != want.outcome || r.Reason != want.reason {
			t.Errorf("%s %s %s, want %+v", r.ID, r.Outcome, r.Reason, want)
		}
		if e.Tries != want.tries || e.First != e.Request.Queued || e.Backwards || e.Retracts || e.Superseded {
			t.Errorf("%s: %+v", want.id, e)
		}
		for m, v := range e.Times() {
			if !same(v, want.times[m]) {
				t.Errorf("%s: %s %+v, want %+v", want.id, model.Metrics[m], v, want.times[m])
			}
		}
		if !same(e.WaitedS(), want.waited) {
			t.Errorf("%s: waited %+v, want %+v", want.id, e.WaitedS(), want.waited)
		}
		if late := e.At - at(want.ended).Mono; late < 0 || late > 51*time.Millisecond {
			t.Errorf("%s: ended at %v, want %v s", want.id, e.At, want.ended)
		}
	}
	// Still running: one in a tool call, one in a phase of which we never heard.
	expectFlight(t, tr, 32, running{"r-0009", model.PhaseToolCall, false}, running{"r-0010", "speculating", false})
	expectStats(t, tr, Stats{Reports: 23, Ended: 8, InFlight: 2})
}

// The same stream with the gap of its SSE form: what ran is unknown until it is
// seen again, and nothing that ended later is lost.
func TestCorpusWithAGap(t *testing.T) {
	tr := New(time.Minute)
	var got []Ended
	for _, r := range corpus(t) {
		b := model.Batch{Requests: []model.Request{r}}
		if r.Seq >= 18207 && r.Seq <= 18210 {
			continue
		}
		if r.Seq == 18211 {
			takeBatch(tr, 1.4, &model.Batch{Lost: 4})
			expectFlight(t, tr, 1.4, running{"r-0001", model.PhaseStreaming, true}, running{"r-0002", model.PhaseStreaming, true})
		}
		got = append(got, takeBatch(tr, float64(r.At-stamp(0))/1e9, &b)...)
	}
	if len(got) != len(corpusEnds) {
		t.Errorf("%d ended, want %d", len(got), len(corpusEnds))
	}
	expectStats(t, tr, Stats{Reports: 19, Ended: 8, InFlight: 2, Lost: 4, Skipped: 4})
}

package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"slotop/model"
)

// line is a request's state in the schema llm-gateway-events/1.
type line struct {
	V     int         `json:"v"`
	Seq   uint64      `json:"seq"`
	At    moment      `json:"at"`
	ID    string      `json:"id"`
	Phase model.Phase `json:"phase"`

	Workflow string `json:"workflow"`
	Model    string `json:"model"`
	Instance string `json:"instance,omitempty"`
	Stream   bool   `json:"stream"`

	QueuedAt     moment `json:"queued_at"`
	AdmittedAt   moment `json:"admitted_at,omitzero"`
	FirstTokenAt moment `json:"first_token_at,omitzero"`
	CompletedAt  moment `json:"completed_at,omitzero"`

	InputTokens  model.Reading `json:"input_tokens,omitzero"`
	CachedTokens model.Reading `json:"cached_input_tokens,omitzero"`
	OutputTokens model.Reading `json:"output_tokens,omitzero"`

	Outcome model.Outcome `json:"outcome,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Status  int           `json:"status,omitempty"`
	Attempt int           `json:"attempt"`
	Retries int           `json:"retries"`
	RetryOf string        `json:"retry_of,omitempty"`
}

// moment is a stamp, written to the nanosecond.
type moment model.Stamp

// MarshalJSON writes RFC 3339.
func (m moment) MarshalJSON() ([]byte, error) { return json.Marshal(model.Stamp(m).Time()) }

// WriteEvents runs a service for a while and writes what its gateway reports, one
// JSON object a line.
func WriteEvents(w io.Writer, o Options, until time.Duration) error {
	s, err := New(o)
	if err != nil {
		return err
	}
	g := s.Gateway()
	out := json.NewEncoder(w)
	var reports []model.Request
	for s.now < until {
		s.Advance(min(until, s.now+time.Second))
		reports, _ = g.Reports(s.options.Start, reports[:0])
		for i := range reports {
			if err := out.Encode(lineOf(&reports[i])); err != nil {
				return fmt.Errorf("write events: %w", err)
			}
		}
	}
	return nil
}

func lineOf(r *model.Request) line {
	return line{
		V: 1, Seq: r.Seq, At: moment(r.At), ID: r.ID, Phase: r.Phase,
		Workflow: r.Workflow, Model: r.Model, Instance: r.Instance, Stream: r.Stream == model.Streamed,
		QueuedAt: moment(r.Queued), AdmittedAt: moment(r.Admitted),
		FirstTokenAt: moment(r.FirstToken), CompletedAt: moment(r.Completed),
		InputTokens: r.InputTokens, CachedTokens: r.CachedTokens, OutputTokens: r.OutputTokens,
		Outcome: r.Outcome, Reason: r.Reason, Status: r.Status,
		Attempt: r.Attempt, Retries: r.Retries, RetryOf: r.RetryOf,
	}
}

package sources

import (
	"bytes"
	"strconv"

	"slotop/model"
)

// dynamoTrace is the schema that every line of Dynamo's request trace names.
const dynamoTrace = "dynamo.request.trace.v1"

// What is passed over of a trace.
const (
	payloadRows = "rows with payloads"
	toolRows    = "rows of tool calls"
)

// dynamo reads a line of a request trace. It is written when a request has ended; of
// one that was cancelled the tokens so far are told. Without an agent's headers a row
// says neither the model nor how it ended. Rows of payloads hold prompts and answers,
// and are a switch of their own: they are passed over.
func (r *recordReader) dynamo() string {
	r.begin("dynamo-frontend")
	m := &r.m
	kind, said := "", model.Stamp(0)
	times := dynamoTimes{}
	r.object(func(name []byte) {
		switch string(name) {
		case "event_type":
			kind = r.name()
		case "event_time_unix_ms":
			said = r.instant()
		case "agent_context":
			r.object(r.dynamoAgent)
		case "request":
			r.object(func(name []byte) { r.dynamoRequest(&times, name) })
		}
	})
	switch kind {
	case "request_end":
	case "request_payload":
		r.pass(payloadRows)
		return ""
	case "tool_start", "tool_end", "tool_error":
		r.pass(toolRows)
		return ""
	default:
		return "a row of a kind that is not known"
	}
	m.Phase, m.Admitted, m.FirstToken = model.PhaseDone, after(m.Queued, times.waited), after(m.Queued, times.first)
	if m.Completed = after(m.Queued, times.whole); m.Completed == 0 {
		m.Completed = said
	}
	m.At = max(m.Completed, said)
	if m.Outcome == "" {
		m.aside = "some rows of Dynamo's trace do not say how the request ended: those stay unknown"
	}
	return r.judge()
}

// dynamoTimes are milliseconds from when the request was received.
type dynamoTimes struct{ waited, first, whole model.Reading }

func (r *recordReader) dynamoRequest(times *dynamoTimes, name []byte) {
	m := &r.m
	switch string(name) {
	case "request_id":
		m.ID = r.id()
	case "model":
		m.Model = r.name()
	case "input_tokens":
		m.InputTokens = r.count()
	case "output_tokens":
		m.OutputTokens = r.count()
	case "cached_tokens":
		m.CachedTokens = r.count()
	case "request_received_ms":
		m.Queued = r.instant()
	case "prefill_wait_time_ms":
		times.waited = r.lapse()
	case "ttft_ms":
		times.first = r.lapse()
	case "total_time_ms":
		times.whole = r.lapse()
	case "worker":
		r.object(func(name []byte) {
			if n, ok := uint64(0), false; string(name) == "decode_worker_id" && r.t.isNumber() {
				if n, ok = r.t.whole(); ok {
					m.Instance = r.names.of(strconv.AppendUint(r.buf[:0], n, 10))
				}
			}
		})
	case "finish_reason_metadata":
		r.dynamoFinish()
	}
}

// dynamoFinish reads why the answer ended. Its shape varies with the backend: a word,
// an object, or one for each of several choices.
func (r *recordReader) dynamoFinish() {
	if r.t.peek() == '"' {
		r.m.finish(r.name())
		return
	}
	r.object(func(name []byte) {
		switch string(name) {
		case "finish_reason":
			r.m.finish(r.name())
		case "choices":
			if r.t.peek() != '[' {
				return
			}
			for range r.t.items {
				r.object(func(name []byte) {
					if string(name) == "finish_reason" {
						r.m.finish(r.name())
					}
				})
			}
		}
	})
}

// dynamoAgent reads whose request it was: a session is named workflow:number by most
// harnesses. A session that is named by a number alone is nobody's workflow.
func (r *recordReader) dynamoAgent(name []byte) {
	switch string(name) {
	case "session_id", "trajectory_id":
		id, _, cut := bytes.Cut(r.text(), []byte(":"))
		if len(id) > 0 && (cut || !isNumbering(id)) {
			r.m.Workflow = r.names.of(id)
		}
	default:
		r.labelOf(name)
	}
}

// isNumbering reports whether an ID is one that programs make: long, of hexadecimal
// digits and dashes.
func isNumbering(id []byte) bool {
	const made = 16
	for _, c := range id {
		if !isDigit(c) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') && c != '-' {
			return false
		}
	}
	return len(id) >= made
}

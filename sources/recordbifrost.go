package sources

import (
	"net/url"
	"strconv"
	"time"

	"slotop/model"
)

// Bifrost keeps a log of requests: /api/logs. Its rows say when a request came and
// how long it took, never when its first token did. Some versions write a row when a
// request begins, as processing, and complete it; others write it at the end. A
// fallback to another model is a row of its own, whose parent is the first try.
var bifrostLog = logFormat{
	software: "bifrost",
	needs:    "Bifrost with its log store on",
	cannot:   "Bifrost's log does not say when the first token came: TTFT and TPOT stay unknown",
	paths:    []string{"/api/logs"},
	perPage:  100, // rows with contents in them may be large
	query:    bifrostQuery,
	row:      (*recordReader).bifrost,
	wanted:   bifrostWanted,
	list:     "logs",
	by:       func(r *model.Request) model.Stamp { return r.Queued },
	windowed: true,
	dropped:  "/dropped",
}

func bifrostQuery(_ string, w window, page, size int) url.Values {
	return url.Values{
		"start_time": {w.from.Time().Format(time.RFC3339Nano)}, "end_time": {w.to.Time().Format(time.RFC3339Nano)},
		"limit": {strconv.Itoa(size)}, "offset": {strconv.Itoa((page - 1) * size)},
		"sort_by": {"timestamp"}, "order": {"desc"},
	}
}

// bifrostWanted is what is read of an answer. Not content_summary, input_history,
// output_message, raw_request and their like, nor the message of an error.
func bifrostWanted(own map[string]*wanted) *wanted {
	row := map[string]*wanted{
		"id": aName, "parent_request_id": aName, "timestamp": aName, "provider": aName, "model": aName,
		"number_of_retries": aCount, "fallback_index": aCount, "selected_key_name": aName,
		"virtual_key_name": aName, "team_name": aName, "customer_name": aName, "business_unit_name": aName, "user_name": aName,
		"routing_rule_name": aName, "alias": aName,
		"status": aName, "stream": aName, "latency": aCount, "stop_reason": aName, "metadata": {fields: own},
		"token_usage": {fields: map[string]*wanted{
			"prompt_tokens": aCount, "completion_tokens": aCount,
			"prompt_tokens_details": {fields: map[string]*wanted{"cached_tokens": aCount, "cached_read_tokens": aCount}},
		}},
		"error_details": {fields: map[string]*wanted{
			"is_bifrost_error": aName, "status_code": aCount, "type": aName, "error": {fields: map[string]*wanted{"type": aName}},
		}},
	}
	return &wanted{fields: map[string]*wanted{
		"logs": {fields: row}, "pagination": {fields: map[string]*wanted{"total_count": aCount}}, "dropped_requests": aCount,
	}}
}

type bifrostRow struct {
	provider, key, parent string
	took                  model.Reading
	status, stop, problem string
	code, fallback        int
	own                   bool // the error is the gateway's
}

// bifrost reads a row.
func (r *recordReader) bifrost() string {
	r.begin("bifrost")
	var row bifrostRow
	r.object(func(name []byte) { r.bifrostField(&row, name) })
	m := &r.m
	m.Instance = r.joined(row.provider, row.key)
	m.Retries += row.fallback
	if row.fallback > 0 {
		m.RetryOf = row.parent
	}
	if row.status == "processing" {
		m.Phase, m.At = model.PhaseAtModel, m.Queued
		return r.judge()
	}
	m.Phase, m.Completed = model.PhaseDone, after(m.Queued, row.took)
	m.At = max(m.Queued, m.Completed)
	switch row.status {
	case "success":
		m.Outcome = model.Completed
		m.finish(row.stop)
	case "cancelled", "canceled":
		m.Outcome, m.Reason = model.RequestCancelled, "client_disconnect"
	default:
		m.Status = row.code
		m.Outcome, m.Reason = row.failure()
	}
	return r.judge()
}

// failure is why a request failed.
func (row *bifrostRow) failure() (model.Outcome, string) {
	if outcome, reason := ends(row.code); row.code >= 400 {
		return outcome, reason
	}
	switch row.problem {
	case "request_cancelled":
		return model.RequestCancelled, "client_disconnect"
	case "request_timed_out", "timeout":
		return model.RequestFailed, "timeout"
	}
	if row.own {
		return model.RequestFailed, "internal"
	}
	return model.RequestFailed, "upstream_5xx"
}

func (r *recordReader) bifrostField(row *bifrostRow, name []byte) {
	m := &r.m
	switch string(name) {
	case "id":
		m.ID = r.id()
	case "parent_request_id":
		row.parent = r.id()
	case "timestamp":
		m.Queued = r.stamp()
	case "provider":
		row.provider = r.name()
	case "selected_key_name":
		row.key = r.name()
	case "model":
		m.Model = r.name()
	case "virtual_key_name":
		m.Workflow = r.name()
		r.label("virtual_key_name", m.Workflow)
	case "team_name", "customer_name", "business_unit_name", "user_name", "routing_rule_name", "alias":
		r.labelOf(name)
	case "metadata":
		r.object(r.labelOf)
	case "number_of_retries":
		m.Retries = r.small()
	case "fallback_index":
		row.fallback = r.small()
	case "status":
		row.status = r.name()
	case "stream":
		m.Stream = r.streamed()
	case "latency":
		row.took = r.lapse()
	case "stop_reason":
		row.stop = r.name()
	case "token_usage":
		r.object(r.usage)
	case "error_details":
		r.object(func(name []byte) { r.bifrostError(row, name) })
	}
}

// usage reads what the common APIs say of a request's tokens.
func (r *recordReader) usage(name []byte) {
	switch string(name) {
	case "prompt_tokens":
		r.m.InputTokens = r.count()
	case "completion_tokens":
		r.m.OutputTokens = r.count()
	case "prompt_tokens_details":
		r.object(r.cached)
	}
}

func (r *recordReader) bifrostError(row *bifrostRow, name []byte) {
	switch string(name) {
	case "status_code":
		row.code = r.small()
	case "is_bifrost_error":
		row.own, _ = r.truth()
	case "type":
		row.problem = first(r.name(), row.problem)
	case "error":
		r.object(func(name []byte) {
			if string(name) == "type" {
				row.problem = first(row.problem, r.name())
			}
		})
	}
}

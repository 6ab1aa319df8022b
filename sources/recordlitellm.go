package sources

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"slotop/model"
)

// LiteLLM writes a row for each request into its database, some seconds after the
// end of the request: /spend/logs/v2, before that /spend/logs/ui, both in pages, and
// /spend/logs, a bare list of whole days. Times are UTC. Without a stream
// completionStartTime is endTime; why the model stopped is not written. Tokens that
// the backend did not tell are written as 0.
var litellmLog = logFormat{
	software: "litellm",
	needs:    "LiteLLM with a database, and an admin's key",
	cannot:   "LiteLLM writes neither when a request waits nor why its answer ended: the queue and answers cut at their limit stay unknown",
	paths:    []string{"/spend/logs/v2", "/spend/logs/ui", litellmDays},
	perPage:  100, // the most it gives
	query:    litellmQuery,
	row:      (*recordReader).litellm,
	wanted:   litellmWanted,
	list:     "data",
	by:       func(r *model.Request) model.Stamp { return r.Queued },
	windowed: true,
}

// litellmDays has no pages: it gives the rows of whole days.
const litellmDays = "/spend/logs"

func litellmQuery(path string, w window, page, size int) url.Values {
	if path == litellmDays {
		// Without dates it answers with the whole table.
		return url.Values{
			"start_date": {w.from.Time().Format("2006-01-02")}, "end_date": {w.to.Time().Format("2006-01-02")}, "summarize": {"false"},
		}
	}
	const date = "2006-01-02 15:04:05"
	return url.Values{
		"start_date": {w.from.Time().Format(date)}, "end_date": {w.to.Time().Format(date)},
		"page": {strconv.Itoa(page)}, "page_size": {strconv.Itoa(size)},
		"sort_by": {"startTime"}, "sort_order": {"desc"},
	}
}

// litellmWanted is what is read of an answer. Not messages, response and
// proxy_server_request.
func litellmWanted(own map[string]*wanted) *wanted {
	free := &wanted{fields: own}
	row := map[string]*wanted{
		"request_id": aName, "startTime": aName, "endTime": aName, "completionStartTime": aName, "status": aName,
		"model": aName, "model_group": aName, "model_id": aName, "api_base": aName, "prompt_tokens": aCount, "completion_tokens": aCount,
		"team_id": aName, "end_user": aName, "user": aName, "session_id": aName, "request_tags": aText,
		"metadata": {text: maxInner, fields: map[string]*wanted{
			"user_api_key_alias": aName, "user_api_key_team_alias": aName, "status": aName,
			"usage_object": {fields: map[string]*wanted{
				"prompt_tokens_details":   {fields: map[string]*wanted{"cached_tokens": aCount}},
				"cache_read_input_tokens": aCount,
			}},
			"error_information":  {fields: map[string]*wanted{"error_code": aName, "error_class": aName}},
			"requester_metadata": free, "spend_logs_metadata": free,
		}},
	}
	all := map[string]*wanted{"data": {fields: row}, "total": aCount, "total_is_capped": aName}
	for name, k := range row {
		all[name] = k // of the rows of a bare list
	}
	return &wanted{fields: all}
}

// litellmRow is what decides what a row means.
type litellmRow struct {
	group, deployment, id, server string
	began, first, ended           model.Stamp
	input, output                 model.Reading
	status, class                 string
	code                          int
	tag, key, team                string
}

// litellm reads a row.
func (r *recordReader) litellm() string {
	r.begin("litellm")
	var row litellmRow
	r.object(func(name []byte) { r.litellmField(&row, name) })
	m := &r.m
	if m.ID == "" {
		return "no single request but a sum: this version of LiteLLM has no list of requests by date"
	}
	m.Workflow, m.Model, m.Instance = first(row.tag, row.key, row.team), first(row.group, row.deployment), first(row.server, row.id)
	r.label("api_key_alias", row.key)
	r.label("team_alias", row.team)
	m.Phase, m.At, m.Queued, m.Completed = model.PhaseDone, max(row.ended, row.began), row.began, row.ended
	if row.first != row.ended {
		m.FirstToken = row.first
	}
	if row.input.Value+row.output.Value > 0 {
		m.InputTokens, m.OutputTokens = row.input, row.output
	}
	m.Outcome = model.Completed
	if strings.HasPrefix(row.status, "fail") {
		m.Status = row.code
		m.Outcome, m.Reason = litellmFailure(row.code, row.class)
		m.FirstToken = 0 // of what it had not got
	}
	return r.judge()
}

// litellmFailure is why a request failed: by its code, else by the name of the
// exception.
func litellmFailure(code int, class string) (model.Outcome, string) {
	if outcome, reason := ends(code); code >= 400 {
		if strings.Contains(class, "ContentPolicy") {
			reason = "content_filter"
		}
		return outcome, reason
	}
	for _, c := range []struct{ part, reason string }{
		{"Timeout", "timeout"}, {"RateLimit", "rejected"}, {"Budget", "rejected"}, {"ContentPolicy", "content_filter"},
		{"Unavailable", "upstream_5xx"}, {"InternalServer", "upstream_5xx"}, {"Connection", "upstream_5xx"}, {"Gateway", "upstream_5xx"},
		{"BadRequest", "upstream_4xx"}, {"Authentication", "upstream_4xx"}, {"NotFound", "upstream_4xx"}, {"ContextWindow", "upstream_4xx"},
	} {
		if strings.Contains(class, c.part) {
			return model.RequestFailed, c.reason
		}
	}
	return model.RequestFailed, "internal"
}

// first is the first of some names that there is.
func first(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}

func (r *recordReader) litellmField(row *litellmRow, name []byte) {
	switch string(name) {
	case "request_id":
		r.m.ID = r.id()
	case "startTime":
		row.began = r.stamp()
	case "endTime":
		row.ended = r.stamp()
	case "completionStartTime":
		row.first = r.stamp()
	case "status":
		row.status = r.name()
	case "model":
		row.deployment = r.name()
	case "model_group":
		row.group = r.name()
	case "model_id":
		row.id = r.name()
	case "api_base":
		row.server = r.host()
	case "prompt_tokens":
		row.input = r.count()
	case "completion_tokens":
		row.output = r.count()
	case "request_tags":
		r.within(func() { r.litellmTags(row) })
	case "metadata":
		r.within(func() { r.object(func(name []byte) { r.litellmMetadata(row, name) }) })
	case "team_id", "end_user", "user", "session_id":
		r.labelOf(name)
	}
}

// litellmTags reads tags: those of the form name:value are labels.
func (r *recordReader) litellmTags(row *litellmRow) {
	if r.t.peek() != '[' {
		return
	}
	for range r.t.items {
		name, value, found := bytes.Cut(r.text(), []byte(":"))
		if !found || len(value) == 0 {
			continue
		}
		if string(name) == "workflow" {
			row.tag = r.names.of(bytes.TrimSpace(value))
		}
		if r.wants(name) {
			r.label(string(name), r.names.of(bytes.TrimSpace(value)))
		}
	}
}

func (r *recordReader) litellmMetadata(row *litellmRow, name []byte) {
	switch string(name) {
	case "user_api_key_alias":
		row.key = r.name()
	case "user_api_key_team_alias":
		row.team = r.name()
	case "status":
		if status := r.name(); row.status == "" {
			row.status = status
		}
	case "requester_metadata", "spend_logs_metadata":
		r.object(r.labelOf)
	case "error_information":
		r.object(func(name []byte) {
			switch string(name) {
			case "error_code":
				row.code = r.small()
			case "error_class":
				row.class = r.name()
			}
		})
	case "usage_object":
		r.object(func(name []byte) {
			switch string(name) {
			case "prompt_tokens_details":
				r.object(r.cached)
			case "cache_read_input_tokens":
				r.cached(name)
			}
		})
	}
}

// cached reads how many tokens of a prompt were found in a cache, under whichever of
// its names.
func (r *recordReader) cached(name []byte) {
	switch string(name) {
	case "cached_tokens", "cached_read_tokens", "cache_read_input_tokens":
		if n := r.count(); n.OK() {
			r.m.CachedTokens = n
		}
	}
}

package sources

import (
	"bytes"
	"strings"

	"slotop/model"
)

// otherTraffic is what is passed over of an access log.
const otherTraffic = "lines of other traffic"

// access is what the access logs of Envoy, and of Higress, which is one, say of a
// request. The operator chooses the keys; these are the documented ones.
type access struct {
	began              model.Stamp
	took, first, whole model.Reading // milliseconds from began
	flags, route       string
	gen                bool // it is of a request to a model
}

// envoy reads a line of Envoy AI Gateway's access log. Durations are milliseconds. The
// time to the first token is told where token_latency_ttft of io.envoy.ai_gateway is
// put under a key that ends so.
func (r *recordReader) envoy() string {
	r.begin("envoy-ai-gateway")
	var a access
	r.object(func(name []byte) { r.accessField(&a, name) })
	if !a.gen {
		r.pass(otherTraffic)
		return ""
	}
	r.access(&a)
	return r.judge()
}

// access completes a request from its line.
func (r *recordReader) access(a *access) {
	m := &r.m
	if m.Workflow == "" {
		m.Workflow = a.route
	}
	if !a.whole.OK() {
		a.whole = a.took
	}
	m.Phase, m.Queued = model.PhaseDone, a.began
	m.FirstToken, m.Completed = after(a.began, a.first), after(a.began, a.whole)
	m.At = max(m.Queued, m.Completed)
	if outcome, reason := ends(m.Status); outcome != "" {
		m.Outcome, m.Reason = outcome, reason
	}
	if outcome, reason := flagged(a.flags); outcome == model.RequestCancelled || outcome != "" && m.Status < 400 {
		m.Outcome, m.Reason = outcome, reason
	}
	r.mint()
}

// flagged is what Envoy's response flags say of the end of a request, "" where they
// say nothing of it. DC: the client closed the connection.
func flagged(flags string) (outcome model.Outcome, reason string) {
	for flag := range strings.SplitSeq(flags, ",") {
		switch flag {
		case "DC", "DownstreamConnectionTermination", "DR", "DownstreamRemoteReset":
			return model.RequestCancelled, "client_disconnect"
		case "UT", "SI", "DT", "UMSDR":
			return model.RequestFailed, "timeout"
		case "RL", "UO", "OM":
			return model.RequestFailed, "rejected"
		case "UF", "UH", "UC", "UR", "LR", "UPE", "NC":
			return model.RequestFailed, "upstream_5xx"
		}
	}
	return "", ""
}

// accessField reads a field of a line.
func (r *recordReader) accessField(a *access, name []byte) {
	m := &r.m
	switch string(name) {
	case "start_time":
		a.began = r.stamp()
	case "duration":
		a.took = r.lapse()
	case "response_code":
		m.Status = r.small()
	case "response_flags":
		a.flags = r.name()
	case "x-request-id", "request_id", "x_request_id":
		if id := r.id(); id != "" {
			m.ID = id
		}
	case "upstream_host":
		m.Instance = r.name()
	case "route_name":
		a.route = r.name()
		r.label("route_name", a.route)
	case "gen_ai.request.model":
		m.Model = r.name()
		a.gen = a.gen || m.Model != ""
	case "gen_ai.usage.input_tokens":
		m.InputTokens = r.count()
		a.gen = a.gen || m.InputTokens.OK()
	case "gen_ai.usage.output_tokens":
		m.OutputTokens = r.count()
		a.gen = a.gen || m.OutputTokens.OK()
	case "gen_ai.usage.cached_input_tokens":
		m.CachedTokens = r.count()
	default:
		if bytes.HasSuffix(name, []byte("token_latency_ttft")) || bytes.HasSuffix(name, []byte("time_to_first_token")) {
			a.first = r.lapse()
			return
		}
		r.labelOf(name)
	}
}

// higress reads a line of Higress' access log. What the ai-statistics plugin has to
// say is a JSON text in a string, ai_log, with its numbers as strings, durations in
// milliseconds. The time is that of the line it stands in.
func (r *recordReader) higress() string {
	r.begin("higress")
	var a access
	r.object(func(name []byte) {
		if string(name) != "ai_log" {
			r.accessField(&a, name)
			return
		}
		whole := r.within(func() { r.object(func(name []byte) { r.higressField(&a, name) }) })
		if a.gen && !whole {
			r.why = "its ai_log is not JSON"
		}
	})
	switch {
	case !a.gen:
		r.pass(otherTraffic)
		return ""
	case a.began == 0:
		return "it has no time: put start_time into the access log's format"
	}
	if r.m.Status == 0 {
		r.m.Outcome = model.Completed // it was answered: without that there is no such log
	}
	r.access(&a)
	return r.judge()
}

func (r *recordReader) higressField(a *access, name []byte) {
	m := &r.m
	switch string(bytes.TrimPrefix(name, []byte("ai_"))) {
	case "model":
		m.Model, a.gen = r.name(), true
	case "input_token":
		m.InputTokens, a.gen = r.count(), true
	case "output_token":
		m.OutputTokens = r.count()
	case "llm_first_token_duration":
		a.first = r.lapse()
	case "llm_service_duration":
		a.whole = r.lapse()
	case "consumer":
		m.Workflow = r.name()
		r.label("ai_consumer", m.Workflow)
	case "route":
		a.route = r.name()
		r.label("ai_route", a.route)
	case "cluster":
		m.Instance = r.name()
	case "response_type":
		switch r.name() {
		case "stream":
			m.Stream = model.Streamed
		case "normal":
			m.Stream = model.Unary
		}
	default:
		r.labelOf(name)
	}
}

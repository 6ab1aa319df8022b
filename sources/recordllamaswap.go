package sources

import (
	"net/url"
	"strconv"
	"strings"

	"slotop/model"
)

// llama-swap keeps the requests it has passed on: /api/metrics/activity, in pages, and
// /api/metrics, all of them, in older versions. A row's timestamp is the end of the
// request, in newer versions without a fraction; its id begins anew with the process.
// Where the figures are llama-server's own, input_tokens leaves out what came from the
// cache. -1 is unknown.
var llamaswapLog = logFormat{
	software: "llama-swap",
	needs:    "llama-swap",
	cannot:   "llama-swap does not keep when the first token came: TTFT and TPOT stay unknown",
	paths:    []string{"/api/metrics/activity", "/api/metrics"},
	perPage:  200,
	query: func(_ string, _ window, page, size int) url.Values {
		return url.Values{"page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(size)}}
	},
	row:    (*recordReader).llamaswap,
	wanted: llamaswapWanted,
	list:   "data",
	by:     func(r *model.Request) model.Stamp { return r.Completed },
}

func llamaswapWanted(own map[string]*wanted) *wanted {
	row := map[string]*wanted{
		"id": aName, "timestamp": aName, "model": aName, "resp_content_type": aName, "resp_status_code": aCount,
		"duration_ms": aCount, "metadata": {fields: own},
		"tokens": {fields: map[string]*wanted{
			"cache_tokens": aCount, "input_tokens": aCount, "output_tokens": aCount, "prompt_per_second": aCount,
		}},
	}
	all := map[string]*wanted{"data": {fields: row}}
	for name, k := range row {
		all[name] = k // of the rows of a bare list
	}
	return &wanted{fields: all}
}

// llamaswap reads a row.
func (r *recordReader) llamaswap() string {
	r.begin("llama-swap")
	m := &r.m
	id, took, pace := "", model.Reading{}, model.Reading{}
	r.object(func(name []byte) {
		switch string(name) {
		case "id":
			if n, ok := r.number(); ok {
				id = strconv.FormatFloat(n, 'f', -1, 64)
			}
		case "timestamp":
			m.Completed = r.stamp()
		case "model":
			m.Model = r.name()
		case "resp_content_type":
			if kind := r.name(); strings.HasPrefix(kind, "text/event-stream") {
				m.Stream = model.Streamed
			} else if kind != "" {
				m.Stream = model.Unary
			}
		case "resp_status_code":
			m.Status = r.small()
		case "duration_ms":
			took = r.lapse()
		case "metadata":
			r.object(r.labelOf)
		case "tokens":
			r.object(func(name []byte) { r.llamaswapTokens(&pace, name) })
		}
	})
	if pace.OK() && m.InputTokens.OK() && m.CachedTokens.OK() {
		m.InputTokens = m.InputTokens.Plus(m.CachedTokens)
	}
	if m.InputTokens.Value+m.OutputTokens.Value == 0 { // it could not read the answer
		m.InputTokens, m.OutputTokens = model.Reading{}, model.Reading{}
	}
	if id != "" && m.Completed != 0 {
		m.ID = id + "@" + m.Completed.Time().Format("20060102T150405.999999999")
	}
	m.Phase, m.At = model.PhaseDone, m.Completed
	if took.OK() && model.Stamp(took.Value*1e6) < m.Completed {
		m.Queued = m.Completed - model.Stamp(took.Value*1e6)
	}
	m.Outcome, m.Reason = ends(m.Status)
	return r.judge()
}

// llamaswapPage is handed an event of the stream that llama-swap's own page reads. It
// tells of requests under way, but not when or how they end.
func (r *recordReader) llamaswapPage() string {
	r.begin("llama-swap")
	r.t.skip()
	return "llama-swap's stream for its own page does not say how requests end: give events+http://HOST:PORT/api/metrics/activity"
}

func (r *recordReader) llamaswapTokens(pace *model.Reading, name []byte) {
	m := &r.m
	switch string(name) {
	case "input_tokens":
		m.InputTokens = r.count()
	case "output_tokens":
		m.OutputTokens = r.count()
	case "cache_tokens":
		m.CachedTokens = r.count()
	case "prompt_per_second":
		if v, ok := r.number(); ok && v >= 0 {
			*pace = model.Of(v)
		}
	}
}

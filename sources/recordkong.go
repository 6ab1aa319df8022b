package sources

import "slotop/model"

// kong reads a line of one of Kong's log plugins, with logging.log_statistics of the
// ai-proxy on. Times are milliseconds. time_per_token is the whole latency by the
// tokens, and no TPOT: it is not read. ai.….payload holds prompts.
func (r *recordReader) kong() string {
	r.begin("kong")
	m := &r.m
	route, consumer, whole, isAI := "", "", model.Reading{}, false
	r.object(func(name []byte) {
		switch string(name) {
		case "started_at":
			m.Queued = r.instant()
		case "request":
			r.object(func(name []byte) {
				if string(name) == "id" {
					m.ID = r.id()
				}
			})
		case "response":
			r.object(func(name []byte) {
				if string(name) == "status" {
					m.Status = r.small()
				}
			})
		case "latencies":
			r.object(func(name []byte) {
				if string(name) == "request" {
					whole = r.lapse()
				}
			})
		case "route":
			route = r.part("name")
			r.label("route", route)
		case "consumer":
			consumer = r.part("username")
			r.label("consumer", consumer)
		case "service":
			r.label("service", r.part("name"))
		case "ai":
			r.object(func([]byte) { isAI = r.object(r.kongPlugin) || isAI })
		}
	})
	if !isAI {
		r.pass(otherTraffic)
		return ""
	}
	m.Workflow = first(route, consumer)
	m.Phase, m.Completed = model.PhaseDone, after(m.Queued, whole)
	m.At = max(m.Queued, m.Completed)
	m.Outcome, m.Reason = ends(m.Status)
	r.mint()
	return r.judge()
}

// part is one name in the object that comes next.
func (r *recordReader) part(want string) (value string) {
	r.object(func(name []byte) {
		if string(name) == want {
			value = r.name()
		}
	})
	return value
}

// kongPlugin reads what one AI plugin logged.
func (r *recordReader) kongPlugin(name []byte) {
	m := &r.m
	switch string(name) {
	case "meta":
		r.object(func(name []byte) {
			switch string(name) {
			case "request_model":
				m.Model = r.name()
			case "response_model":
				if answered := r.name(); m.Model == "" {
					m.Model = answered
				}
			case "request_mode":
				switch r.name() {
				case "stream":
					m.Stream = model.Streamed
				case "oneshot":
					m.Stream = model.Unary
				}
			}
		})
	case "usage":
		r.object(r.usage)
	}
}

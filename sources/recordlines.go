package sources

import "strconv"

// lines reads native records that come a line each, among others.
type lines struct {
	*recordReader
	usual bool // the last line was one
}

// read reads a line, if it is a native record. A message is valid until the next is
// read. Where it cannot be used, why says so without quoting it.
func (l *lines) read(text []byte) (m *message, why string, ok bool) {
	l.outer.reset(text)
	l.t = &l.outer
	read := l.recognise()
	if read == nil {
		return nil, "", false
	}
	l.outer.reset(text)
	if why = read(l.recordReader); !l.outer.ends() {
		return nil, "", false
	}
	return &l.m, why, true
}

// signs are what the first level of a line shows of what it is.
type signs struct{ trace, access, flags, ai, latencies, started, page bool }

// recognise tells by the fields of a line who wrote it, nil for nobody we know.
func (l *lines) recognise() func(*recordReader) string {
	var s signs
	l.object(func(name []byte) {
		switch string(name) {
		case "schema":
			s.trace = l.says(dynamoTrace)
		case "start_time":
			s.access = l.t.peek() == '"'
		case "response_flags", "response_code", "upstream_host", "gen_ai.request.model":
			s.flags = true
		case "ai_log":
			s.ai = true
		case "latencies":
			s.latencies = l.t.peek() == '{'
		case "started_at":
			s.started = l.t.isNumber()
		case "type":
			s.page = l.says("inflight", "activity", "modelStatus", "logData", "uiConfig", "profileChanged")
		}
	})
	switch {
	case s.page:
		return (*recordReader).llamaswapPage
	case s.trace:
		return (*recordReader).dynamo
	case s.ai:
		return (*recordReader).higress
	case s.started && s.latencies:
		return (*recordReader).kong
	case s.access && s.flags:
		return (*recordReader).envoy
	}
	return nil
}

// log reads an event named log, which Portkey sends. Event is its ID.
func (l *lines) log(text, event []byte) (m *message, why string) {
	l.outer.reset(text)
	l.t = &l.outer
	if why = l.portkey(event); !l.outer.ends() {
		return &l.m, "not JSON"
	}
	if n, err := strconv.ParseUint(string(event), 10, 32); err == nil {
		l.m.Seq = n + 1
	}
	return &l.m, why
}

package sources

import "slotop/model"

// portkeyWanted is what is read of an event of Portkey's log. The same object carries
// the prompt, several times over, the answer and the provider's key.
var portkeyWanted = &wanted{fields: map[string]*wanted{
	"endpoint": aName, "status": aCount, "duration": aCount,
	"requestOptions": {fields: map[string]*wanted{
		"createdAt":       aName,
		"providerOptions": {fields: map[string]*wanted{"provider": aName, "requestURL": aName}},
		"requestParams":   {fields: map[string]*wanted{"model": aName, "stream": aName}},
		"response": {text: len(wasStreamed), fields: map[string]*wanted{
			"message": {text: len(wasStreamed)},
			"usage": {fields: map[string]*wanted{
				"prompt_tokens": aCount, "completion_tokens": aCount,
				"prompt_tokens_details": {fields: map[string]*wanted{"cached_tokens": aCount}},
			}},
			"choices": {fields: map[string]*wanted{"finish_reason": aName}},
		}},
	}},
}}

const (
	wasStreamed    = "The response was a stream." // in place of an answer
	portkeyOther   = "log events without a request"
	portkeyStreams = "Portkey logs a streamed answer when its head is sent: what comes after it, and how long that takes, stays unknown"
)

// portkey reads an event of the log, which is sent when the gateway's handler is done:
// at the end of an answer in one piece, but at the head of a streamed one, of which
// neither the first token nor the end is known. Of the options there is one a try;
// the last one answered. It has no ID: the one of the server-sent event, which counts
// from 0 with the process, tells equal ones apart.
func (r *recordReader) portkey(event []byte) string {
	r.begin("portkey")
	m := &r.m
	tries, took, path := 0, model.Reading{}, ""
	r.object(func(name []byte) {
		switch string(name) {
		case "endpoint":
			path = r.name()
		case "status":
			m.Status = r.small()
		case "duration":
			took = r.lapse()
		case "requestOptions":
			if r.t.peek() != '[' {
				return
			}
			for range r.t.items {
				if r.object(r.portkeyTry) {
					tries++
				}
			}
		}
	})
	if tries == 0 {
		r.pass(portkeyOther)
		return ""
	}
	m.Phase, m.Completed, m.Retries = model.PhaseDone, after(m.Queued, took), tries-1
	m.At = max(m.Queued, m.Completed)
	reason := m.Reason // why the model stopped
	m.Outcome, m.Reason = ends(m.Status)
	m.finish(reason)
	r.print.add(path)
	r.print.add(m.Instance)
	r.print.add(string(event))
	r.mint()
	if m.Stream == model.Streamed && m.Status < 400 {
		m.Completed, m.aside = 0, portkeyStreams
	}
	return r.judge()
}

// portkeyTry reads one try. The first one says when the request came.
func (r *recordReader) portkeyTry(name []byte) {
	m := &r.m
	switch string(name) {
	case "createdAt":
		if at := r.stamp(); m.Queued == 0 {
			m.Queued = at
		}
	case "providerOptions":
		r.object(func(name []byte) {
			if string(name) == "requestURL" {
				m.Instance = r.host()
			}
		})
	case "requestParams":
		r.object(func(name []byte) {
			switch string(name) {
			case "model":
				m.Model = r.name()
			case "stream":
				m.Stream = r.streamed()
			}
		})
	case "response":
		if r.says(wasStreamed) {
			m.Stream = model.Streamed
		}
		r.object(r.portkeyAnswer)
	}
}

// says reports whether the string that comes next is one of some texts. It is not copied
// to be looked at. Any other value is left alone.
func (r *recordReader) says(texts ...string) bool {
	if r.t.peek() != '"' {
		return false
	}
	raw, _ := r.t.string()
	for _, text := range texts {
		if string(raw) == text {
			return true
		}
	}
	return false
}

func (r *recordReader) portkeyAnswer(name []byte) {
	switch string(name) {
	case "message":
		if r.says(wasStreamed) {
			r.m.Stream = model.Streamed
		}
	case "usage":
		r.object(r.usage)
	case "choices":
		if r.t.peek() != '[' {
			return
		}
		for range r.t.items {
			if reason := r.part("finish_reason"); reason != "" {
				r.m.Reason = reason
			}
		}
	}
}

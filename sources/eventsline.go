package sources

import (
	"math"

	"slotop/model"
)

// saying is what one message of an events stream is about.
type saying uint8

const (
	unsaid     saying = iota // its fields tell
	ofRequest                // the state of one request
	ofStream                 // hello: who reports, and in which numbering
	ofGap                    // events that the reporter lost
	ofNoMatter               // something this version does not read
	ofLog                    // a record as a gateway of its own kind writes it
)

// message is one message of an events stream, decoded.
type message struct {
	model.Request
	of       saying
	epoch    string
	gateway  gatewayName
	dropped  uint64 // events of a gap
	from, to uint64 // their numbers, 0 unknown
	// aside is what is to be said once of the reporter's records, or what this is that
	// is of no matter. It is ours, and never text of the record.
	aside string
}

// gatewayName is what a gateway says of itself.
type gatewayName struct{ name, software, version, instance string }

// version is what a message says of its own.
type version uint8

const (
	notSaid version = iota
	known
	foreign
)

// decoder reads messages of the schema llm-gateway-events/1. It keeps the fields
// that it knows by name and passes over all others in place.
type decoder struct {
	lines  lines // of other formats
	text   jsonText
	names  names
	labels *labels
	m      message
	v      version
	why    string // the message cannot be used
}

func newDecoder(keep []string) *decoder {
	return &decoder{labels: newLabels(keep), lines: lines{recordReader: newRecordReader(keep, "")}}
}

// read decodes one message. It is valid until the next is read. Where it cannot
// be used, why says so without quoting it. A line of another format than ours is
// mostly followed by another of those.
func (d *decoder) read(text []byte, of saying) (m *message, why string) {
	if d.lines.usual {
		if m, why, d.lines.usual = d.lines.read(text); d.lines.usual {
			return m, why
		}
	}
	m, why = d.own(text, of)
	if why == "" || of != unsaid || d.v != notSaid {
		return m, why
	}
	if n, whyNot, ok := d.lines.read(text); ok {
		d.lines.usual = true
		return n, whyNot
	}
	return m, why
}

// own reads a message of our schema.
func (d *decoder) own(text []byte, of saying) (m *message, why string) {
	d.m, d.v, d.why = message{of: of}, notSaid, ""
	d.labels.none()
	d.text.reset(text)
	if d.text.peek() == '{' {
		for name := range d.text.fields {
			d.field(name)
		}
	} else {
		d.text.skip()
		d.why = "not a JSON object"
	}
	if !d.text.ends() {
		return nil, "not JSON"
	}
	if d.why == "" {
		d.why = d.judge()
	}
	d.m.Labels = d.labels.set()
	return &d.m, d.why
}

// judge says what a message of known types lacks.
func (d *decoder) judge() string {
	m := &d.m
	if m.of == unsaid {
		m.of = d.kind()
	}
	switch {
	case d.v == foreign || d.v == notSaid && m.of == ofRequest:
		return "its version (v) is not 1"
	case m.of != ofRequest:
		return ""
	case m.ID == "":
		return "it has no id"
	case m.At == 0:
		return "it has no time (at)"
	case m.Phase == "":
		return "it has no phase"
	}
	return ""
}

// kind tells what a message is that came without a type, as in a file.
func (d *decoder) kind() saying {
	switch m := &d.m; {
	case m.ID != "":
		return ofRequest
	case m.dropped > 0 || m.from > 0:
		return ofGap
	case m.epoch != "":
		return ofStream
	}
	return ofRequest
}

// field reads the value of a field that is known by name.
func (d *decoder) field(name []byte) {
	m := &d.m
	switch string(name) {
	case "v":
		d.v = foreign
		if d.text.isNumber() && d.text.number() == 1 {
			d.v = known
		}
	case "seq":
		m.Seq = d.whole("seq")
	case "at":
		m.At = d.stamp("at")
	case "id":
		m.ID = d.id("id")
	case "workflow":
		m.Workflow = d.name("workflow")
	case "model":
		m.Model = d.name("model")
	case "model_version":
		m.ModelVersion = d.name("model_version")
	case "instance":
		m.Instance = d.name("instance")
	case "labels":
		d.readLabels()
	case "phase":
		m.Phase = model.Phase(d.name("phase"))
	case "stream":
		m.Stream = d.streaming()
	case "outcome":
		m.Outcome = model.Outcome(d.name("outcome"))
	case "reason":
		m.Reason = d.name("reason")
	case "status":
		m.Status = d.small("status")
	case "attempt":
		m.Attempt = d.small("attempt")
	case "retries":
		m.Retries = d.small("retries")
	case "retry_of":
		m.RetryOf = d.id("retry_of")
	default:
		if !d.time(name) && !d.tokens(name) {
			d.ofItself(name)
		}
	}
}

func (d *decoder) time(name []byte) bool {
	m := &d.m
	switch string(name) {
	case "scheduled_at":
		m.Scheduled = d.stamp("scheduled_at")
	case "queued_at":
		m.Queued = d.stamp("queued_at")
	case "admitted_at":
		m.Admitted = d.stamp("admitted_at")
	case "context_ready_at":
		m.ContextDone = d.stamp("context_ready_at")
	case "first_token_at":
		m.FirstToken = d.stamp("first_token_at")
	case "first_answer_at":
		m.FirstAnswer = d.stamp("first_answer_at")
	case "completed_at":
		m.Completed = d.stamp("completed_at")
	default:
		return false
	}
	return true
}

func (d *decoder) tokens(name []byte) bool {
	m := &d.m
	switch string(name) {
	case "input_tokens":
		m.InputTokens = d.count("input_tokens")
	case "output_tokens":
		m.OutputTokens = d.count("output_tokens")
	case "cached_input_tokens":
		m.CachedTokens = d.count("cached_input_tokens")
	case "output_chunks":
		m.OutputChunks = d.count("output_chunks")
	default:
		return false
	}
	return true
}

// ofItself reads what a stream says of itself.
func (d *decoder) ofItself(name []byte) {
	m := &d.m
	switch string(name) {
	case "epoch":
		m.epoch = d.name("epoch")
	case "gateway":
		m.gateway = readGateway(&d.text, &d.names)
	case "dropped":
		m.dropped = d.whole("dropped")
	case "from_seq":
		m.from = d.whole("from_seq")
	case "to_seq":
		m.to = d.whole("to_seq")
	}
}

// readGateway reads what a gateway calls itself.
func readGateway(t *jsonText, n *names) (g gatewayName) {
	if t.peek() != '{' {
		return g
	}
	for name := range t.fields {
		if t.peek() != '"' {
			continue
		}
		switch string(name) {
		case "name":
			g.name = n.of(t.text())
		case "software":
			g.software = n.of(t.text())
		case "version":
			g.version = n.of(t.text())
		case "instance":
			g.instance = n.of(t.text())
		}
	}
	return g
}

// wrong notes that a field is not what it should be; its value is passed over.
func (d *decoder) wrong(field, kind string) {
	if !d.text.null() && d.why == "" {
		d.why = field + " is not " + kind
	}
}

func (d *decoder) name(field string) string {
	if d.text.peek() != '"' {
		d.wrong(field, "text")
		return ""
	}
	return d.names.of(d.text.text())
}

// id is a name that comes only a few times.
func (d *decoder) id(field string) string {
	if d.text.peek() != '"' {
		d.wrong(field, "text")
		return ""
	}
	return cleanName(d.text.text())
}

func (d *decoder) stamp(field string) model.Stamp {
	if d.text.peek() != '"' {
		d.wrong(field, "a time")
		return 0
	}
	text := d.text.text()
	s, ok := parseStamp(text)
	if !ok && len(text) > 0 && d.why == "" {
		d.why = field + " is not a time as RFC 3339 writes it"
	}
	return s
}

// count is a number of tokens. One that cannot be is unknown, not 0.
func (d *decoder) count(field string) model.Reading {
	if !d.text.isNumber() {
		d.wrong(field, "a number")
		return model.Reading{}
	}
	n, ok := d.text.whole()
	if !ok {
		return model.Reading{}
	}
	return model.Of(float64(n))
}

// whole is a whole number, 0 for one that is none.
func (d *decoder) whole(field string) uint64 {
	if !d.text.isNumber() {
		d.wrong(field, "a number")
		return 0
	}
	n, _ := d.text.whole()
	return n
}

// small is a whole number that no server makes large, 0 for one that is none.
func (d *decoder) small(field string) int {
	n := d.whole(field)
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

func (d *decoder) streaming() model.Streaming {
	switch d.text.peek() {
	case 't', 'f':
		if d.text.truth() {
			return model.Streamed
		}
		return model.Unary
	}
	d.wrong("stream", "true or false")
	return model.StreamUnknown
}

func (d *decoder) readLabels() {
	if d.text.peek() != '{' {
		d.labels.none()
		d.wrong("labels", "an object")
		return
	}
	d.labels.read(&d.text)
}

package sources

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"slotop/model"
)

// The native records of gateways: what they write of each request in a format of
// their own, when it has ended. Each format is told by the fields it has, and read
// into the same model.Request as the events of our own schema. Of a record only the
// fields in its table of wanted ones are read, by name: none of them holds the text of
// a prompt or an answer.
//
//	LiteLLM       rows of /spend/logs/v2, polled                   recordlitellm.go
//	Bifrost       rows of /api/logs, polled                        recordbifrost.go
//	llama-swap    rows of /api/metrics/activity, polled            recordllamaswap.go
//	Portkey       events named log, over server-sent events        recordportkey.go
//	Dynamo        lines of the request trace                       recorddynamo.go
//	Envoy         lines of an access log with gen_ai fields        recordenvoy.go
//	Higress       lines of an access log with an ai_log            recordhigress.go
//	Kong          lines of a log plugin with the ai-proxy's part   recordkong.go
//
// What a field was found to mean stands with the code that reads it.

// recordReader reads records. What it read last is in m, until the next.
type recordReader struct {
	outer, inner jsonText  // the record, and a text inside one of its strings
	t            *jsonText // the one being read
	names        names
	labels       *labels
	chosen       []string // labels that name the workflow, in their order
	named        []string // what the record has for them
	buf          []byte   // of a name in the making
	print        fingerprint

	m   message
	why string // the record cannot be used
}

func newRecordReader(keep []string, workflow string) *recordReader {
	r := &recordReader{labels: newLabels(keep)}
	r.nameBy(workflow)
	return r
}

// nameBy chooses the label that names the workflow, or the first that is there of
// a|b; "" leaves it to the format.
func (r *recordReader) nameBy(label string) {
	if label == "" {
		return
	}
	r.chosen = strings.Split(label, "|")
	r.named = make([]string, len(r.chosen))
}

// begin begins a record.
func (r *recordReader) begin(software string) {
	r.m, r.why = message{of: ofRequest, gateway: gatewayName{software: software}}, ""
	r.labels.none()
	clear(r.named)
	r.print = 0
}

// judge completes a record and says what it lacks, "" where it can be used.
func (r *recordReader) judge() string {
	m := &r.m
	for _, name := range r.named {
		if name != "" {
			m.Workflow = name
			break
		}
	}
	m.Labels = r.labels.set()
	switch {
	case r.why != "" || m.of != ofRequest:
		return r.why
	case m.ID == "":
		return "it has no id"
	case m.At == 0:
		return "it has no time"
	}
	return ""
}

// object reads the object that comes next, and leaves anything else alone.
func (r *recordReader) object(field func(name []byte)) bool {
	if r.t.peek() != '{' {
		return false
	}
	for name := range r.t.fields {
		field(name)
	}
	return true
}

// within reads the JSON text that the string next holds, or the value next itself:
// some versions of a gateway write the one, some the other. It reports whether that was
// JSON.
func (r *recordReader) within(read func()) (whole bool) {
	if r.t != &r.outer || r.t.peek() != '"' {
		read()
		return true
	}
	r.inner.reset(r.outer.text())
	r.t = &r.inner
	read()
	whole = r.inner.ends()
	r.t = &r.outer
	clear(r.outer.scratch) // its fields that are not read may hold anything
	clear(r.inner.scratch)
	return whole
}

// text is a string that comes next, nil for anything else.
func (r *recordReader) text() []byte {
	if r.t.peek() != '"' {
		return nil
	}
	return r.t.text()
}

// isNone: the ways of access logs and programs to say that there is no value.
func isNone(text []byte) bool {
	return len(text) == 0 || string(text) == "-" || string(text) == "None" || string(text) == "null"
}

// name is a name of which many records have the same.
func (r *recordReader) name() string {
	text := r.text()
	if isNone(text) {
		return ""
	}
	return r.names.of(text)
}

// id is a name of its own.
func (r *recordReader) id() string {
	text := r.text()
	if isNone(text) {
		return ""
	}
	return cleanName(text)
}

// joined is two names as one: a/b, or the one that is there.
func (r *recordReader) joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	r.buf = append(append(append(r.buf[:0], a...), '/'), b...)
	return r.names.of(r.buf)
}

// number is a number, or a string that holds one; false for anything else.
func (r *recordReader) number() (float64, bool) {
	if r.t.isNumber() {
		v := r.t.number()
		return v, !math.IsInf(v, 0)
	}
	text := r.text()
	if len(text) == 0 || len(text) > maxKey || !isDigit(text[0]) && text[0] != '-' {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// count is how many; unknown for what cannot be a count.
func (r *recordReader) count() model.Reading {
	v, ok := r.number()
	if !ok || v < 0 || v > maxWhole || v != math.Trunc(v) {
		return model.Reading{}
	}
	return model.Of(v)
}

// small is a whole number that no server makes large, 0 for one that is none.
func (r *recordReader) small() int {
	v, ok := r.number()
	if !ok || v < 0 || v > math.MaxInt32 || v != math.Trunc(v) {
		return 0
	}
	return int(v)
}

// lapse is a duration in milliseconds; unknown where it is none, or longer than a
// file may cover.
func (r *recordReader) lapse() model.Reading {
	v, ok := r.number()
	if !ok || !(v >= 0) || v > float64(longestSpan/time.Millisecond) {
		return model.Reading{}
	}
	return model.Of(v)
}

// instant is a time in milliseconds since 1970, 0 where it is none.
func (r *recordReader) instant() model.Stamp {
	v, ok := r.number()
	if !ok || !(v > 0) || v > lastStamp*1e3 {
		return 0
	}
	whole := math.Floor(v) // in nanoseconds it would have more digits than fit
	return model.Stamp(whole)*1e6 + model.Stamp((v-whole)*1e6)
}

// stamp is a time of day and date, 0 where it is none. Databases write a blank
// for the T and leave the zone out, which then is UTC.
func (r *recordReader) stamp() model.Stamp {
	text := r.text()
	if s, ok := parseStamp(text); ok {
		return s
	}
	const day = len("2026-08-01")
	if len(text) <= day || len(text) > maxKey {
		return 0
	}
	r.buf = append(r.buf[:0], text...)
	if r.buf[day] == ' ' {
		r.buf[day] = 'T'
	}
	if s, ok := parseStamp(r.buf); ok {
		return s
	}
	s, _ := parseStamp(append(r.buf, 'Z'))
	return s
}

// after is a time so many milliseconds later, 0 where one of the two is unknown.
func after(s model.Stamp, ms model.Reading) model.Stamp {
	if s == 0 || !ms.OK() {
		return 0
	}
	return max(0, s+model.Stamp(ms.Value*1e6)) // below 0: later than any stamp
}

// truth is true where that comes next, as a word or in a string.
func (r *recordReader) truth() (is, known bool) {
	switch r.t.peek() {
	case 't', 'f':
		return r.t.truth(), true
	case '"':
		text := r.t.text()
		is = bytes.EqualFold(text, []byte("true"))
		return is, is || bytes.EqualFold(text, []byte("false"))
	}
	return false, false
}

// streamed is whether the client reads a stream.
func (r *recordReader) streamed() model.Streaming {
	switch is, known := r.truth(); {
	case is:
		return model.Streamed
	case known:
		return model.Unary
	}
	return model.StreamUnknown
}

// host is what of an address says which server it is: never a key in it.
func (r *recordReader) host() string {
	_, rest, found := bytes.Cut(r.text(), []byte("://"))
	if !found {
		return ""
	}
	server := rest
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		server = rest[:end]
	}
	at := bytes.LastIndexByte(server, '@')
	if at < 0 && bytes.IndexByte(rest, '@') >= 0 || len(server) > maxName { // a key may hold anything
		return ""
	}
	server = server[at+1:]
	if bytes.ContainsFunc(server, func(c rune) bool {
		return !strings.ContainsRune("-.:[]_", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		return ""
	}
	return r.names.of(server)
}

// label notes a value that the record gives under a name.
func (r *recordReader) label(name, value string) {
	if value == "" {
		return
	}
	for i, kept := range r.labels.keep {
		if sameLabel([]byte(name), kept) {
			r.labels.values[i] = value
		}
	}
	for i, chosen := range r.chosen {
		if sameLabel([]byte(name), chosen) {
			r.named[i] = value
		}
	}
}

// labelOf notes a value whose name the operator chose, where somebody wants it. In
// the name of a header a dash stands for the underscore of a label.
func (r *recordReader) labelOf(name []byte) {
	if !r.wants(name) || r.t.peek() != '"' {
		return
	}
	label := string(name) // reading the value ends its life
	r.label(label, r.name())
}

// wants reports whether a workflow is named by a label, or matches on it.
func (r *recordReader) wants(name []byte) bool {
	same := func(label string) bool { return sameLabel(name, label) }
	return slices.ContainsFunc(r.labels.keep, same) || slices.ContainsFunc(r.chosen, same)
}

func sameLabel(name []byte, label string) bool {
	if len(name) != len(label) {
		return false
	}
	for i, c := range name {
		if c != label[i] && (c != '-' || label[i] != '_') {
			return false
		}
	}
	return true
}

// pass says that the record is of no request, and why.
func (r *recordReader) pass(why string) { r.m = message{of: ofNoMatter, aside: why} }

// fingerprint makes an ID for a record that has none: the same for the same
// record, however often it is read. It is FNV-1a over what tells it from others.
type fingerprint uint64

func (f *fingerprint) add(text string) {
	h := uint64(*f)
	if h == 0 {
		h = 14695981039346656037
	}
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	*f = fingerprint((h ^ 0xff) * 1099511628211) // no text holds this byte
}

func (f *fingerprint) number(v float64) { f.add(strconv.FormatUint(math.Float64bits(v), 16)) }

// mint gives the record an ID where it has none.
func (r *recordReader) mint() {
	if m := &r.m; m.ID == "" && m.At != 0 {
		r.print.number(float64(m.At))
		r.print.number(float64(m.Completed))
		r.print.add(m.Model)
		r.print.number(m.InputTokens.Value)
		r.print.number(m.OutputTokens.Value)
		m.ID = fmt.Sprintf("%s-%016x", m.gateway.software, uint64(r.print))
	}
}

// ends is what the HTTP status that a client got says of the end of its request.
// 429 is told apart by the status itself.
func ends(status int) (outcome model.Outcome, reason string) {
	switch {
	case status == 499: // nginx's, for a client that closed the connection
		return model.RequestCancelled, "client_disconnect"
	case status == 429:
		return model.RequestFailed, "rejected"
	case status == 408, status == 504:
		return model.RequestFailed, "timeout"
	case status >= 500:
		return model.RequestFailed, "upstream_5xx"
	case status >= 400:
		return model.RequestFailed, "upstream_4xx"
	case status >= 200:
		return model.Completed, ""
	}
	return "", ""
}

// finish notes why a model stopped, in the words of the common APIs. It changes
// only what has been answered.
func (m *message) finish(reason string) {
	if m.Outcome != model.Completed && m.Outcome != "" {
		return
	}
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "max_output_tokens", "model_length":
		m.Outcome = model.OutputLimited
	case "content_filter", "safety", "refusal":
		m.Outcome, m.Reason = model.RequestFailed, "content_filter"
	case "error":
		m.Outcome, m.Reason = model.RequestFailed, "internal"
	case "cancelled", "canceled", "abort":
		m.Outcome, m.Reason = model.RequestCancelled, "client_disconnect"
	case "":
	default:
		m.Outcome = model.Completed
	}
}

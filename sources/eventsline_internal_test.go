package sources

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// reference reads a request's line with encoding/json, field by field. It
// reports false for one that cannot be used.
func reference(line []byte, keep []string) (r model.Request, ok bool) {
	if !json.Valid(line) {
		return r, false
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if first, _ := d.Token(); first != json.Delim('{') {
		return r, false
	}
	f := referenceFields{ok: true, keep: keep}
	for d.More() {
		name, _ := d.Token()
		var raw json.RawMessage
		_ = d.Decode(&raw)
		f.read(&r, name.(string), raw)
	}
	return r, f.ok && f.known && r.ID != "" && r.At != 0 && r.Phase != ""
}

type referenceFields struct {
	ok, known bool
	keep      []string
}

func (f *referenceFields) read(r *model.Request, name string, raw json.RawMessage) {
	texts := map[string]*string{
		"id": &r.ID, "workflow": &r.Workflow, "model": &r.Model, "model_version": &r.ModelVersion, "instance": &r.Instance,
		"reason": &r.Reason, "retry_of": &r.RetryOf, "phase": (*string)(&r.Phase), "outcome": (*string)(&r.Outcome), "epoch": new(string),
	}
	stamps := map[string]*model.Stamp{
		"at": &r.At, "scheduled_at": &r.Scheduled, "queued_at": &r.Queued, "admitted_at": &r.Admitted, "context_ready_at": &r.ContextDone,
		"first_token_at": &r.FirstToken, "first_answer_at": &r.FirstAnswer, "completed_at": &r.Completed,
	}
	counts := map[string]*model.Reading{
		"input_tokens": &r.InputTokens, "output_tokens": &r.OutputTokens, "cached_input_tokens": &r.CachedTokens, "output_chunks": &r.OutputChunks,
	}
	small := map[string]*int{"status": &r.Status, "attempt": &r.Attempt, "retries": &r.Retries}
	switch {
	case texts[name] != nil:
		var s string
		f.ok = json.Unmarshal(raw, &s) == nil && f.ok
		*texts[name] = cleanName([]byte(s))
	case stamps[name] != nil:
		*stamps[name] = f.stamp(raw)
	case counts[name] != nil:
		*counts[name] = model.Reading{}
		if n, ok := f.whole(raw); ok {
			*counts[name] = model.Of(float64(n))
		}
	case small[name] != nil:
		n, _ := f.whole(raw)
		if *small[name] = int(n); n > math.MaxInt32 {
			*small[name] = 0
		}
	case name == "seq":
		r.Seq, _ = f.whole(raw)
	case name == "dropped" || name == "from_seq" || name == "to_seq":
		f.whole(raw)
	case name == "v":
		var v float64
		f.known = json.Unmarshal(raw, &v) == nil && string(raw) != "null" && v == 1
	case name == "stream":
		var v *bool
		f.ok = json.Unmarshal(raw, &v) == nil && f.ok
		switch {
		case v == nil:
			r.Stream = model.StreamUnknown
		case *v:
			r.Stream = model.Streamed
		default:
			r.Stream = model.Unary
		}
	case name == "labels":
		r.Labels = f.labels(raw)
	}
}

func (f *referenceFields) stamp(raw json.RawMessage) model.Stamp {
	var s string
	f.ok = json.Unmarshal(raw, &s) == nil && f.ok
	if s == "" {
		return 0
	}
	at, err := strictly(s)
	if err != nil {
		f.ok = false
		return 0
	}
	if at.Unix() < 0 || at.Unix() > lastStamp {
		return 0
	}
	return model.Stamp(at.UnixNano())
}

// rfc3339 is the form that package time does not insist on.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

func strictly(s string) (at time.Time, err error) {
	if !rfc3339.MatchString(s) {
		return at, errors.New("another form")
	}
	err = at.UnmarshalText([]byte(s))
	return at, err
}

func (f *referenceFields) whole(raw json.RawMessage) (uint64, bool) {
	var n uint64
	if string(raw) != "null" && json.Unmarshal(raw, &n) == nil {
		return n, true
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v)
	number, isNumber := v.(json.Number)
	f.ok = f.ok && (isNumber || v == nil)
	x, err := number.Float64()
	if !isNumber || err != nil || x < 0 || x > maxWhole || x != math.Trunc(x) {
		return 0, false
	}
	return uint64(x), true
}

func (f *referenceFields) labels(raw json.RawMessage) model.LabelSet {
	var all map[string]json.RawMessage
	f.ok = json.Unmarshal(raw, &all) == nil && f.ok
	var pairs []string
	for _, name := range f.keep {
		var v *string
		if json.Unmarshal(all[name], &v) == nil && v != nil {
			pairs = append(pairs, name, cleanName([]byte(*v)))
		}
	}
	return model.Labels(pairs...)
}

var kept = []string{"team", "route"}

// checkLine compares the decoder with the reference.
func checkLine(t *testing.T, d *decoder, line []byte) {
	t.Helper()
	m, why := d.read(line, ofRequest)
	want, ok := reference(line, kept)
	switch {
	case (why == "") != ok:
		t.Fatalf("%s: skipped because %q, the reference says %v", line, why, ok)
	case ok && m.Request != want:
		t.Fatalf("%s:\ngot  %+v\nwant %+v", line, m.Request, want)
	}
}

func corpusLines(tb testing.TB) [][]byte {
	var lines [][]byte
	for _, name := range []string{"events.jsonl", "events-hostile.jsonl"} {
		for line := range bytes.Lines(shared.File(tb, "corpus/gateways/proposed/"+name)) {
			lines = append(lines, bytes.TrimSpace(line))
		}
	}
	return lines
}

// oddLines are right, wrong or strange in one field each.
func oddLines() [][]byte {
	fields := []string{
		`"v":1.0`, `"v":"1"`, `"v":null`, `"v":2,"v":1`, `"seq":-1`, `"seq":1e3`, `"seq":"5"`, `"seq":18446744073709551615`,
		`"at":null`, `"at":""`, `"at":"2026-08-01"`, `"at":"2026-08-01T12:00:00+02:00"`, `"at":"2026-08-01t12:00:00Z"`, `"at":12`,
		`"queued_at":"0001-01-01T00:00:00Z"`, `"queued_at":"2300-01-01T00:00:00Z"`, `"queued_at":"2026-02-29T00:00:00Z"`,
		`"queued_at":"2026-08-01T12:00:60Z"`, `"queued_at":"2026-08-01T12:00:00.123456789123Z"`, `"queued_at":"2026-08-01T12:00:00.Z"`,
		`"queued_at":"2026-08-01T12:00:00,5Z"`, `"queued_at":"2026-08-01T12:00:00-24:00"`, `"queued_at":1785585600.5`, `"queued_at":[]`,
		`"output_tokens":-5`, `"output_tokens":1.5`, `"output_tokens":12.0`, `"output_tokens":"12"`, `"output_tokens":null`, `"output_tokens":1e400`,
		`"workflow":7`, `"workflow":null`, `"workflow":"a","workflow":null`, `"workflow":"` + strings.Repeat("é", 400) + `"`, `"workflow":"\u001b[2J\u202e"`,
		`"stream":1`, `"stream":null`, `"stream":false`, `"labels":[]`, `"labels":null`, `"labels":{"team":5,"route":null}`,
		`"labels":{"team":"a","other":{"team":"b"}},"labels":{"route":"c"}`, `"\u0077orkflow":"x"`, `"Workflow":"x"`, `"phase":""`, `"phase":"speculating"`,
		`"status":99999999999`, `"status":-1`, `"retry_of":"r-0"`, `"scheduled_at":"2026-08-01T12:00:00.5Z"`, `"messages":[{"content":"{\"id\":\"x\"}"}]`, `"id":""`,
	}
	var lines [][]byte
	for _, f := range fields {
		lines = append(lines, []byte(`{"v":1,"at":"2026-08-01T12:00:00Z","id":"r","phase":"done",`+f+`}`))
	}
	return append(lines, []byte(`{}`), []byte(`[]`), []byte(`"x"`), []byte(`{"v":1}`), []byte(`{"v":1,"at":"2026-08-01T12:00:00Z","id":"r","phase":"done"} x`))
}

func TestLinesAreReadAsEncodingJSONReadsThem(t *testing.T) {
	d := newDecoder(kept)
	for _, line := range slices.Concat(corpusLines(t), oddLines()) {
		checkLine(t, d, line)
	}
}

func FuzzEventLine(f *testing.F) {
	for _, line := range oddLines() {
		f.Add(line)
	}
	f.Add([]byte(`{"v":1,"seq":18211,"at":"2026-08-01T12:00:02.511Z","id":"r-0001","phase":"done","workflow":"checkout-assistant","model":"llama-70b","stream":true,"queued_at":"2026-08-01T12:00:00.010Z","completed_at":"2026-08-01T12:00:02.511Z","output_tokens":107,"outcome":"completed","status":200,"retries":0,"labels":{"team":"shop"}}`))
	d := newDecoder(kept)
	f.Fuzz(func(t *testing.T, line []byte) {
		if utf8.Valid(line) { // a name that is cut is marked by what it was, before any byte of it was replaced
			checkLine(t, d, line)
		}
	})
}

func FuzzStamp(f *testing.F) {
	for _, s := range []string{"2026-08-01T12:00:00.010Z", "2024-02-29T23:59:59+14:00", "1969-12-31T23:59:59Z", "2262-04-11T23:47:16.854775807Z", "0000-00-00T00:00:00Z", "2026-08-01T12:00:00.-1Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := strictly(s)
		got, ok := parseStamp([]byte(s))
		if ok != (err == nil) {
			t.Fatalf("%q: read as a time: %v, %v", s, ok, err)
		}
		if err == nil && want.Unix() >= 0 && want.Unix() <= lastStamp && int64(got) != want.UnixNano() {
			t.Fatalf("%q: got %d, want %d", s, got, want.UnixNano())
		}
	})
}

// What a message is about may be said by its fields alone.
func TestMessagesWithoutAType(t *testing.T) {
	for line, want := range map[string]message{
		`{"v":1,"schema":"llm-gateway-events/1","gateway":{"name":"edge","software":"gw","version":"2","instance":"e0","prompt":"no"},"epoch":"e1"}`: {
			of: ofStream, epoch: "e1", gateway: gatewayName{"edge", "gw", "2", "e0"}},
		`{"epoch":"e1","gateway":"edge"}`:                     {of: ofStream, epoch: "e1"},
		`{"v":1,"dropped":4,"from_seq":7,"to_seq":10}`:        {of: ofGap, dropped: 4, from: 7, to: 10},
		`{"v":1,"at":"2026-08-01T12:00:01.350Z","dropped":4}`: {of: ofGap, dropped: 4, Request: model.Request{At: 1785585601350000000}},
	} {
		m, why := newDecoder(nil).read([]byte(line), unsaid)
		if why != "" || !reflect.DeepEqual(*m, want) {
			t.Errorf("%s: got %+v, %q", line, m, why)
		}
	}
}

func TestReasonsForSkippingNameTheFieldOnly(t *testing.T) {
	for line, want := range map[string]string{
		`{"v":2,"at":"2026-08-01T12:00:00Z","id":"r","phase":"done"}`:                "its version (v) is not 1",
		`{"at":"2026-08-01T12:00:00Z","id":"r","phase":"done"}`:                      "its version (v) is not 1",
		`{"v":1,"at":"geheim","id":"r","phase":"done"}`:                              "at is not a time as RFC 3339 writes it",
		`{"v":1,"\u0061t":"\u0067eheim","id":"r","phase":"done"}`:                    "at is not a time as RFC 3339 writes it",
		`{"v":1,"id":"r","phase":"done"}`:                                            "it has no time (at)",
		`{"v":1,"at":"2026-08-01T12:00:00Z","phase":"done"}`:                         "it has no id",
		`{"v":1,"at":"2026-08-01T12:00:00Z","id":"r"}`:                               "it has no phase",
		`{"v":1,"at":"2026-08-01T12:00:00Z","id":"r","phase":"done","stream":"yes"}`: "stream is not true or false",
		`["geheim"]`: "not a JSON object",
		`"geheim"`:   "not a JSON object",
		`geheim`:     "not JSON",
		`{"geheim":`: "not JSON",
	} {
		if _, why := newDecoder(nil).read([]byte(line), unsaid); why != want {
			t.Errorf("%s: got %q, want %q", line, why, want)
		}
	}
}

func TestNamesAreReplacedNotRejected(t *testing.T) {
	long := strings.Repeat("w", 5000)
	for _, tc := range []struct{ name, want string }{
		{"chat", "chat"}, {"Käse 🧀", "Käse 🧀"}, {"\x1b]0;owned\a\x1b[2Jnightly", "␛]0;owned␇␛[2Jnightly"},
		{"llama\n70b", "llama␊70b"}, {"\x7f\u202e\u0085\xff", "␡<U+202E><U+0085>\uFFFD"},
		{strings.Repeat("x", maxName), strings.Repeat("x", maxName)},
	} {
		var n names
		for range 2 {
			if got := n.of([]byte(tc.name)); got != tc.want {
				t.Errorf("%q: got %q, want %q", tc.name, got, tc.want)
			}
		}
	}
	a, b := cleanName([]byte(long+"a")), cleanName([]byte(long+"b"))
	if a == b || len(a) > maxName || !strings.HasPrefix(a, long[:200]) {
		t.Errorf("long names: %q and %q", a, b)
	}
	if got := cleanName(bytes.Repeat([]byte("é"), 300)); len(got) > maxName || !utf8.ValidString(got) {
		t.Errorf("a name is cut within a character: %q", got)
	}
}

func TestNamesAreBounded(t *testing.T) {
	var n names
	for i := range 3 * maxNames {
		if want := "w" + strings.Repeat("x", i%7) + time.Duration(i).String(); n.of([]byte(want)) != want {
			t.Fatalf("%q was changed", want)
		}
		if len(n.known) > maxNames {
			t.Fatalf("%d names are kept", len(n.known))
		}
	}
}

func TestLabelsAreBoundedAndOfTheOperatorsChoice(t *testing.T) {
	var object strings.Builder
	var keep []string
	for i := range 40 {
		name := fmt.Sprint("label", i)
		keep = append(keep, name)
		object.WriteString(`"` + name + `":"` + name + `",`)
	}
	l := newLabels(append(keep, model.LabelModel))
	text := jsonText{b: []byte("{" + object.String() + `"model":"shadow","prompt":"SECRET-PROMPT-CANARY"}`)}
	l.read(&text)
	n := 0
	for name, value := range l.set(model.LabelModel, "m").All {
		if n++; name == model.LabelModel && value != "m" {
			t.Errorf("the model is shadowed by %q", value)
		}
	}
	if !text.ends() || n != maxLabels+1 {
		t.Errorf("%d labels are kept", n)
	}
	if l.none(); l.set("model", "m") != model.Labels("model", "m") {
		t.Error("labels of an object that is gone are still there")
	}
}

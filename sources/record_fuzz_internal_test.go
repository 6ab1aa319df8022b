package sources

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"slotop/model"
)

// reads are the ways of reading a record, each after the sieve of its own.
func reads() map[string]func(text []byte) (*message, string, bool) {
	rows := func(how *logFormat) func([]byte) (*message, string, bool) {
		return func(text []byte) (*message, string, bool) {
			s := &recordLog{how: how, wanted: how.wanted(nil), reader: newRecordReader([]string{"team"}, "feature"), buf: make([]byte, 100), limit: 1 << 20}
			var got *message
			var whyNot string
			_, err := s.read(bytes.NewReader([]byte(`{"`+how.list+`":[`+string(text)+`]}`)), func(m *message, why string, _ uint64) {
				if got == nil {
					c := *m
					got, whyNot = &c, why
				}
			})
			return got, whyNot, err == nil && got != nil
		}
	}
	return map[string]func(text []byte) (*message, string, bool){
		"litellm": rows(&litellmLog), "bifrost": rows(&bifrostLog), "llama-swap": rows(&llamaswapLog),
		"lines": func(text []byte) (*message, string, bool) {
			l := lines{recordReader: newRecordReader([]string{"team"}, "feature")}
			return l.read(text)
		},
		"portkey": func(text []byte) (*message, string, bool) {
			l := lines{recordReader: newRecordReader(nil, "")}
			m, why := l.log(text, []byte("7"))
			return m, why, true
		},
	}
}

// FuzzRecords: whatever comes, a record that is read says whose state it is and when,
// in times that can be, and in names that a terminal does not obey.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		`{"request_id":"a","startTime":"2026-08-01 12:00:00","endTime":"2026-08-01T12:00:02.743","completionStartTime":"x","metadata":"{\"user_api_key_alias\":\"k\"}","request_tags":"[\"workflow:w\",\"feature:f\"]","status":"failure"}`,
		`{"id":"a","timestamp":"2262-04-11T23:47:16Z","latency":1e300,"status":"error","error_details":{"status_code":499},"number_of_retries":2147483647,"fallback_index":2147483647}`,
		`{"id":1e99,"timestamp":"1970-01-01T00:00:00Z","duration_ms":1e9,"tokens":{"input_tokens":9007199254740993,"cache_tokens":-1}}`,
		`{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":9.3e12,"request":{"request_id":"a","request_received_ms":9223372035e3,"total_time_ms":2678400000,"worker":{"decode_worker_id":18446744073709551615}}}`,
		`{"started_at":1785585600123.5,"latencies":{"request":-1},"ai":{"p":{"usage":{}}}}`,
		`{"start_time":"2026-08-01T12:00:00.000Z","duration":"1500","response_flags":"\u001b[2J","gen_ai.request.model":"\u001b]0;x\u0007"}`,
		`{"ai_log":"{\"model\":\"m\",\"llm_service_duration\":\"NaN\"}","start_time":"2026-08-01T12:00:00+14:00"}`,
		`{"status":200,"duration":140,"requestOptions":[{"createdAt":"2026-08-01T12:00:00Z","requestParams":{"model":"m","stream":true},"providerOptions":{"requestURL":"http://u:p@h:1/x?key=y"}},{}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = withPrompts(text)
		for name, read := range reads() {
			m, why, ok := read(text)
			if ok && strings.Contains(fmt.Sprintf("%+v %s", m, why), canary) {
				t.Errorf("%s: a prompt came through: %+v %s", name, m, why)
			}
			if !ok || why != "" || m.of != ofRequest {
				continue
			}
			checkRecord(t, name, &m.Request)
			again, _, _ := read(text)
			if again.Request != m.Request {
				t.Errorf("%s: read another way the second time: %+v, %+v", name, m.Request, again.Request)
			}
		}
	})
}

// withPrompts puts a prompt into an object under each of the names that prompts have.
func withPrompts(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte(canary), nil)
	object := bytes.TrimSpace(text)
	if len(object) < 2 || object[0] != '{' {
		return text
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, name := range []string{"messages", "proxy_server_request", "content_summary", "input_history", "output_message", "raw_request", "payload", "question", "answer"} {
		fmt.Fprintf(&b, `"%[1]s":[{"content":"%[2]s","x":{"%[1]s":"%[2]s"}}],"%[1]s":"%[2]s",`, name, canary)
	}
	if object[1] == '}' {
		b.WriteString(`"n":0`)
	}
	b.Write(object[1:])
	return b.Bytes()
}

func checkRecord(t *testing.T, name string, r *model.Request) {
	if r.ID == "" || len(r.ID) > maxName || r.At <= 0 || r.Phase == "" {
		t.Errorf("%s: a record of nothing: %+v", name, r)
	}
	for what, s := range map[string]model.Stamp{"queued": r.Queued, "admitted": r.Admitted, "first": r.FirstToken, "completed": r.Completed, "at": r.At} {
		if s < 0 {
			t.Errorf("%s: %s is before time: %d", name, what, s)
		}
	}
	for what, n := range map[string]model.Reading{"input": r.InputTokens, "output": r.OutputTokens, "cached": r.CachedTokens} {
		if n.OK() && !(n.Value >= 0 && n.Value <= 2*maxWhole) {
			t.Errorf("%s: %s tokens: %v", name, what, n.Value)
		}
	}
	if r.Status < 0 || r.Retries < 0 {
		t.Errorf("%s: status %d, retries %d", name, r.Status, r.Retries)
	}
	for _, text := range []string{r.ID, r.Workflow, r.Model, r.Instance, r.Reason, r.RetryOf} {
		if len(text) > maxName || strings.ContainsFunc(text, func(c rune) bool { return visible(c) != string(c) }) {
			t.Errorf("%s: not fit to be shown: %q", name, text)
		}
	}
}

// FuzzStreamOfRecords: however a stream is cut up and whatever is in it, the same comes
// out, and what is of no record passes as it was.
func FuzzStreamOfRecords(f *testing.F) {
	f.Add([]byte("event: log\ndata: {\"status\":200,\"text\":\"x\"}\nid: 0\n\nevent: request\ndata: {\"v\":1}\n\n"), 3)
	f.Add([]byte("event:log\r\ndata:{\"status\":1\r\n\r\n: beat\nevent: log\ndata: hello"), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		whole, parts := thinnedText(text, len(text)+1), thinnedText(text, 1+max(0, size)%60)
		if whole != parts {
			t.Fatalf("%q: got %q in pieces, %q at once", text, parts, whole)
		}
		if !bytes.Contains(text, []byte("log")) && whole != string(text) {
			t.Fatalf("%q: passed as %q", text, whole)
		}
		if strings.Count(whole, "\n") != bytes.Count(text, []byte("\n")) {
			t.Fatalf("%q: other lines: %q", text, whole)
		}
	})
}

// chunks are read in pieces of a size.
type chunks struct {
	*bytes.Reader
	size int
}

func (c chunks) Read(p []byte) (int, error) { return c.Reader.Read(p[:min(len(p), c.size)]) }

// Close is for io.Closer.
func (c chunks) Close() error { return nil }

func thinnedText(text []byte, size int) string {
	r := thin(chunks{bytes.NewReader(text), size})
	var out strings.Builder
	buf := make([]byte, max(1, size/2))
	for {
		n, err := r.Read(buf)
		out.Write(buf[:n])
		if err != nil {
			return out.String()
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	const n = 1000
	row := `{"request_id":"chatcmpl-%d","call_type":"acompletion","api_key":"88dc28d0f030c55ed4ab77ed8faf098196cb1c05","spend":0.0026565,"total_tokens":2544,"prompt_tokens":2415,"completion_tokens":129,"startTime":"2026-08-01T12:00:00.000Z","endTime":"2026-08-01T12:00:02.743Z","completionStartTime":"2026-08-01T12:00:00.727Z","model":"hosted_vllm/Llama-3.3-70B","model_id":"m-1","model_group":"llama-70b","api_base":"http://vllm.internal:8000/v1","metadata":{"user_api_key_alias":"chat","user_api_key_team_alias":"shop","usage_object":{"prompt_tokens_details":{"cached_tokens":284}}},"request_tags":"[\"User-Agent: python-httpx\",\"workflow:chat\"]","status":"success","messages":%s}`
	access := `{":authority": "llm.example.internal", "bytes_received": 105, "bytes_sent": 432, "duration": 1526, "gen_ai.provider.name": "default/x", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 15, "gen_ai.usage.output_tokens": 7, "method": "POST", "response_code": 200, "response_flags": "-", "route_name": "chat", "start_time": "2025-08-30T16:51:37.894Z", "upstream_host": "192.0.2.77:443", "user-agent": "curl/8.7.1", "x-request-id": "00000000-0000-4000-8000-%012d"}` + "\n"
	for name, prompt := range map[string]string{"litellm": "{}", "litellm with prompts": `[{"role":"user","content":"` + strings.Repeat("word ", 4000) + `"}]`} {
		b.Run(name, func(b *testing.B) {
			var doc bytes.Buffer
			doc.WriteString(`{"data":[`)
			for i := range n {
				if i > 0 {
					doc.WriteByte(',')
				}
				fmt.Fprintf(&doc, row, i, prompt)
			}
			doc.WriteString(`]}`)
			s := &recordLog{how: &litellmLog, wanted: litellmLog.wanted(nil), reader: newRecordReader(nil, ""), buf: make([]byte, firstRead), limit: 1 << 30}
			b.SetBytes(int64(doc.Len()))
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				if _, err := s.read(bytes.NewReader(doc.Bytes()), func(*message, string, uint64) { rows++ }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	b.Run("envoy lines", func(b *testing.B) {
		var text bytes.Buffer
		for i := range n {
			fmt.Fprintf(&text, access, i)
		}
		w, g := newWire(nil), &gathering{}
		b.SetBytes(int64(text.Len()))
		b.ReportAllocs()
		rows := 0
		for b.Loop() {
			for rest := text.Bytes(); len(rest) > 0; {
				k := copy(w.inbox.room(), rest)
				w.inbox.came(k)
				rest = rest[k:]
				g.draw(w)
			}
			batch, err := g.take()
			if rows += len(batch.Requests); err != nil || len(batch.Requests) != n {
				b.Fatal(len(batch.Requests), batch.FirstBad, err)
			}
		}
		b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	})
}

// A row costs its ID, and little besides.
func TestReadingARecordAllocatesLittle(t *testing.T) {
	line := []byte(`{"start_time":"2026-08-01T12:00:00.000Z","duration":1500,"gen_ai.request.model":"m","response_code":200,"response_flags":"-","route_name":"r","x-request-id":"00000000-0000-4000-8000-000000000001"}`)
	l := lines{recordReader: newRecordReader(nil, "")}
	read := func() {
		if _, why, ok := l.read(line); !ok || why != "" {
			t.Fatal(why)
		}
	}
	read()
	if allocs := testing.AllocsPerRun(100, read); allocs > 3 {
		t.Errorf("%v allocations for a line", allocs)
	}
}

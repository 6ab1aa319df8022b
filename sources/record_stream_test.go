package sources_test

import (
	"fmt"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources"
)

// portkeyEvent is an event of Portkey's log with an answer in one piece, and some text
// in every field that may hold a prompt.
func portkeyEvent(id int, prompt string) string {
	return fmt.Sprintf(`event: log
data: {"time":"8/1/2026, 12:00:03 PM","method":"POST","endpoint":"/v1/chat/completions","status":200,"duration":1500,"requestOptions":[`+
		`{"providerOptions":{"provider":"openai","apiKey":"%[2]s","requestURL":"http://user:%[3]s@vllm:8000/v1/%[3]s"},"finalUntransformedRequest":{"body":{"messages":[{"content":"%[2]s"}]}},`+
		`"requestParams":{"messages":[{"content":"%[2]s"}],"model":"llama","stream":false},"transformedRequest":{"body":{"messages":[{"content":"%[2]s"}]}},`+
		`"createdAt":"2026-08-01T12:00:%02[1]d.000Z","response":{"choices":[{"message":{"content":"%[2]s"},"finish_reason":"length"}],"usage":{"prompt_tokens":11,"completion_tokens":22,"prompt_tokens_details":{"cached_tokens":3}}}}]}`+
		"\nid: %[1]d\n\n", id, prompt, strings.ReplaceAll(prompt[:min(len(prompt), 20)], `"`, ""))
}

// An event of any length is read, and the server's own count of them tells of lost ones.
func TestPortkeysLog(t *testing.T) {
	long := strings.Repeat(`SECRET-PROMPT-CANARY \"{[`, 200_000)
	s := eventServer(t,
		func(c *connection) {
			c.say("event: connected\ndata: 1785585600000\n\n" + portkeyEvent(3, "") + portkeyEvent(4, long) + "event: heartbeat\ndata: pulse\n\n" + portkeyEvent(5, long))
			c.cut()
		},
		func(c *connection) { c.say(portkeyEvent(9, "") + portkeyEvent(10, long)); c.hold() })
	source := listen(t, s.URL+"/log/stream", sources.Options{})
	var all []model.Request
	lost := 0
	for len(all) < 5 {
		b, err := source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b.BadLines > 0 || strings.Contains(fmt.Sprintf("%+v", b), "CANARY") {
			t.Fatalf("got %q", b.FirstBad)
		}
		all, lost = append(all, b.Requests...), lost+b.Lost
	}
	if lost != 3 {
		t.Errorf("%d lost, want 3", lost)
	}
	seen := map[string]bool{}
	for _, r := range all {
		if seen[r.ID] {
			t.Errorf("%s twice", r.ID)
		}
		seen[r.ID] = true
		if got := told(r); !strings.Contains(got, "model=llama instance=vllm:8000 outcome=output_limit") || !strings.HasSuffix(got, "in=11 out=22 cached=3 stream=no status=200") {
			t.Errorf("got %s", got)
		}
	}
}

// Events of that name that are of no request are counted.
func TestLogEventsOfOthers(t *testing.T) {
	s := eventServer(t, func(c *connection) {
		c.say("event: log\ndata: {\"level\":\"info\",\"text\":\"SECRET-PROMPT-CANARY\"}\n\nevent: log\ndata: hello\n\n" + sse(1))
		c.hold()
	})
	source := listen(t, s.URL+"/events", sources.Options{})
	hears(t, source, "r1, 1 line skipped: line 6: not JSON")
	b, err := source.Poll(t.Context())
	if err != nil || fmt.Sprint(b.About.Notes) != "[log events without a request passed over so far: 1 1 line skipped so far]" {
		t.Errorf("got %q %v", b.About.Notes, err)
	}
}

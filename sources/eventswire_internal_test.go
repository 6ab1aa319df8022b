package sources

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"slotop/sources/sourcetest/shared"
)

// feed reads a text that arrives in pieces of a size, and gives what came of it,
// one line a message.
func feed(w *wire, text []byte, size int) []string {
	var out []string
	note := func(m *message, why string) {
		switch {
		case why != "":
			out = append(out, "skip "+w.at(why))
		case m.of == ofStream:
			out = append(out, "hello "+m.epoch)
		case m.of == ofGap:
			out = append(out, fmt.Sprint("gap ", m.dropped))
		default:
			out = append(out, m.ID)
		}
	}
	for len(text) > 0 {
		n := copy(w.inbox.room(), text[:min(size, len(text))])
		w.inbox.came(n)
		text = text[n:]
		for m, why, ok := w.next(); ok; m, why, ok = w.next() {
			note(m, why)
		}
	}
	for m, why, ok := w.end(); ok; m, why, ok = w.end() {
		note(m, why)
	}
	return out
}

func eventLine(id string) string {
	return `{"v":1,"at":"2026-08-01T12:00:00Z","id":"` + id + `","phase":"done"}`
}

const canary = "SECRET-PROMPT-CANARY"

func TestFraming(t *testing.T) {
	a, b, c := eventLine("a"), eventLine("b"), eventLine("c")
	huge := `{"prompt":"` + strings.Repeat(canary, 60_000) + `"}`
	edge := `{"v":1,"at":"2026-08-01T12:00:00Z","id":"e","phase":"done","x":"` + strings.Repeat("x", maxLine-66) + `"}`
	if len(edge) != maxLine {
		t.Fatalf("the longest line has %d bytes", len(edge))
	}
	for _, tc := range []struct{ name, text, want string }{
		{"lines", a + "\n" + b + "\n", "a, b"},
		{"lines of another system", "\ufeff\r\n" + a + "\r\n \r\n" + b + "\r\n", "a, b"},
		{"no end to the last", a + "\n" + b, "a, b"},
		{"cut", a + "\n" + b[:20], "a, skip line 2: not JSON"},
		{"a bad one between", a + "\nnot json\n\n[1,2,3]\n" + b + "\n", "a, skip line 2: not JSON, skip line 4: not a JSON object, b"},
		{"too long", a + "\n" + huge + "\n" + b + "\n", "a, skip line 2: longer than 65536 bytes, b"},
		{"too long and cut", a + "\n" + huge, "a, skip line 2: longer than 65536 bytes"},
		{"as long as may be", edge + "\n" + edge[:maxLine-1] + " }\n" + a, "e, skip line 2: longer than 65536 bytes, a"},
		{"nothing", "\n\n  \n", ""},
		{"server-sent", ": keep-alive\n\nid: 1\nevent: request\ndata: " + a + "\n\ndata:" + b + "\n\n", "a, b"},
		{"server-sent, of another system", "data: " + a + "\r\n\r\ndata: " + b + "\r\n\r\n", "a, b"},
		{"in several lines", "data: " + a[:7] + "\ndata: " + a[7:] + "\n\n", "a"},
		{"named afterwards", "data: {\"v\":1,\"dropped\":4}\nevent: gap\n\n", "gap 4"},
		{"hello and gap", "event: hello\ndata: {\"epoch\":\"x\"}\n\nevent: gap\ndata: {\"dropped\":7}\n\n", "hello x, gap 7"},
		{"of no interest", "event: heartbeat\ndata: {\"id\":\"h\"}\n\nevent: request\n\nretry: 5\n\ndata: " + a + "\n\n", "a"},
		{"cut event", "data: " + a + "\n\ndata: " + b[:40], "a, skip line 3: not JSON"},
		{"whole without its end", "data: " + a, "a"},
		{"event too long", "data: " + a + "\n\ndata: " + huge + "\n\ndata: " + b + "\n\n", "a, skip line 3: longer than 65536 bytes, b"},
		{"event of many lines too long", strings.Repeat("data: "+strings.Repeat(" ", 900)+"\n", 90) + "\ndata: " + c + "\n\n", "skip line 91: longer than 65536 bytes, c"},
		{"event as long as may be", "data: " + edge + "\n\n", "e"},
	} {
		for _, size := range []int{1, 7, 4096, 1 << 20} {
			if size == 1 && len(tc.text) > 1<<20 {
				continue // one step a byte of these takes a second
			}
			got := strings.Join(feed(newWire(nil), []byte(tc.text), size), ", ")
			if got != tc.want {
				t.Errorf("%s, in pieces of %d: got %s, want %s", tc.name, size, got, tc.want)
			}
		}
	}
}

// What has been read is gone from every buffer, whether it could be used or not.
func TestNothingOfALineStays(t *testing.T) {
	secret := `"messages":[{"content":"` + canary + `"}],"\u0070rompt":"\u0053` + canary[1:] + `","labels":{"prompt":"` + canary + `","team":"shop"}`
	line := `{"v":1,"at":"2026-08-01T12:00:00Z","id":"a","phase":"done","workflow":"\u0061",` + secret + `}`
	bad := strings.Replace(line, `"phase":"done"`, `"phase":[]`, 1)
	long := strings.Repeat(canary, 4000)
	hostile := string(shared.File(t, "corpus/gateways/proposed/events-hostile.jsonl"))
	for name, text := range map[string]string{
		"lines": line + "\n" + bad + "\n" + canary + "\n{" + canary + "\n" + long + "\n" + line + "\n",
		"sse": "data: " + line + "\n\ndata: " + bad + "\n\n: " + canary + "\n" + canary + ": " + canary + "\nevent: " + canary + "\ndata: " + canary +
			"\n\ndata: " + long + "\ndata: " + canary + "\n\ndata: " + long[:50_000] + "\ndata: " + long[:50_000] + "\n\ndata: " + line + "\n\n",
		"corpus": hostile,
	} {
		for _, size := range []int{3, 700, 1 << 20} {
			w := newWire([]string{"team"})
			if got := feed(w, []byte(text), size); !strings.Contains(strings.Join(got, " "), "skip") || strings.Contains(fmt.Sprint(got), canary) {
				t.Errorf("%s: got %s", name, got)
			}
			for where, b := range map[string][]byte{
				"inbox": w.inbox.buf, "data": w.framer.data[:cap(w.framer.data)], "id": w.framer.id[:cap(w.framer.id)],
				"scratch": w.decoder.text.scratch[:cap(w.decoder.text.scratch)],
			} {
				if bytes.Contains(b, []byte("CANARY")) {
					t.Errorf("%s, in pieces of %d: a line is left in the %s", name, size, where)
				}
			}
		}
	}
}

func TestIDsToResumeAfter(t *testing.T) {
	for text, want := range map[string]string{
		"data: " + eventLine("a") + "\n\n":                                        "",
		"id: 7\ndata: " + eventLine("a") + "\n\n":                                 "7",
		"id: 7\ndata: " + eventLine("a") + "\n\ndata: " + eventLine("b") + "\n\n": "7",
		"id: 7\ndata: x\n\nid: 8\ndata: " + eventLine("b") + "\n":                 "7",
		"id: 7\n\nid: 8\n\n":                                                      "8",
		"id: 7\n\nid: \x1b[2J\x01\n\nid: " + strings.Repeat("9", 300) + "\n\n":    "7",
	} {
		w := newWire(nil)
		w.inbox.came(copy(w.inbox.room(), text))
		for _, _, ok := w.next(); ok; _, _, ok = w.next() {
		}
		w.end()
		if string(w.framer.last) != want {
			t.Errorf("%q: got %q, want %q", text, w.framer.last, want)
		}
	}
}

// However a stream is cut up, the same comes of it.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("data: "+eventLine("a")+"\n\nevent: gap\ndata: {\"dropped\":7}\n\n: x\r\n"), 5)
	f.Add([]byte(eventLine("a")+"\n\nx\n"+eventLine("b")), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		whole := feed(newWire(nil), text, len(text))
		parts := feed(newWire(nil), text, 1+max(0, size)%100)
		if strings.Join(whole, "\n") != strings.Join(parts, "\n") {
			t.Fatalf("%q: got %q in pieces, %q at once", text, parts, whole)
		}
	})
}

func TestReadingAnEventAllocatesItsIDOnly(t *testing.T) {
	const n = 1000
	text := manyEvents(n, true)
	w, g := newWire([]string{"team"}), &gathering{}
	poll := func() {
		for rest := text; len(rest) > 0; {
			k := copy(w.inbox.room(), rest)
			w.inbox.came(k)
			rest = rest[k:]
			g.draw(w)
		}
		if batch, err := g.take(); err != nil || len(batch.Requests) != n {
			t.Fatal(len(batch.Requests), err)
		}
	}
	poll()
	poll()
	if allocs := testing.AllocsPerRun(10, poll); allocs > n+10 {
		t.Errorf("%v allocations for %d events", allocs, n)
	}
}

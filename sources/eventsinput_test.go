package sources_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// stdin stands in for standard input while a test runs.
func stdin(t *testing.T, file *os.File) {
	was := os.Stdin
	os.Stdin = file
	t.Cleanup(func() { os.Stdin = was })
}

func TestStandardInput(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("a pipe", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		stdin(t, r)
		opened := resolve(t, "events:-")[0]
		if opened.Saved || opened.Target.Name != "stdin" || opened.Target.ID != "events:-" {
			t.Errorf("got %+v", opened)
		}
		if b, err := opened.Source.Poll(t.Context()); err != nil || listed(b) != "" {
			t.Errorf("got %s, %v", listed(b), err)
		}
		_, _ = io.WriteString(w, event("a")+"x\n"+event("b")[:9])
		hears(t, opened.Source, "a, 1 line skipped: line 2: not JSON")
		_, _ = io.WriteString(w, event("b")[9:]+strings.TrimSpace(event("c")))
		_ = w.Close()
		hears(t, opened.Source, "b, c")
		for range 2 {
			if got := heard(t, opened.Source); got != io.EOF.Error() {
				t.Errorf("got %s", got)
			}
		}
		if err := opened.Source.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("closed while it waits", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		stdin(t, r)
		source := resolve(t, "events:-")[0].Source
		if _, err := source.Poll(t.Context()); err != nil {
			t.Error(err)
		}
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a file", func(t *testing.T) {
		path := t.TempDir() + "/in"
		appendTo(t, path, event("a")+event("b")[:20])
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		stdin(t, f)
		source := resolve(t, "events:-")[0].Source
		hears(t, source, "a, 1 line skipped: line 2: not JSON, and ends there")
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		stdin(t, f)
		source := resolve(t, "events:-")[0].Source
		if got := heard(t, source); got != io.EOF.Error() {
			t.Errorf("got %s", got)
		}
		_ = source.Close()
	})
	goleak.VerifyNone(t, before)
}

// No text of a prompt is in anything that is told, whichever way it comes.
func TestNoPromptComesThrough(t *testing.T) {
	const canary = "SECRET-PROMPT-CANARY"
	text := string(shared.File(t, "corpus/gateways/proposed/events-hostile.jsonl"))
	if !strings.Contains(text, canary) {
		t.Fatal("there is no prompt in the file")
	}
	text += canary + "\n{\"v\":1,\"at\":\"" + canary + "\"}\n"
	path := t.TempDir() + "/hostile.jsonl"
	appendTo(t, path, text)
	var events strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&events, "event: request\ndata: %s\n\n", strings.TrimSpace(line))
	}
	opt := sources.Options{Keep: []string{"team"}}
	played, err := sources.Resolve(t.Context(), []string{"events:" + path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]sources.Source{
		"played": played[0].Source, "followed": follow(t, path),
		"lines over HTTP":    listen(t, eventServer(t, func(c *connection) { c.w.Header().Set("Content-Type", "application/x-ndjson"); c.say(text); c.hold() }).URL, opt),
		"server-sent events": listen(t, eventServer(t, func(c *connection) { c.say(events.String()); c.hold() }).URL, opt),
		"nothing but it":     listen(t, eventServer(t, func(c *connection) { c.say(strings.Repeat(canary+"\n", 9)); c.hold() }).URL, opt),
	}
	for name, s := range ways {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		for polls, came := 0, false; polls < 20 && ctx.Err() == nil; runtime.Gosched() {
			b, err := s.Poll(ctx)
			told := fmt.Sprintf("%+v %v", b, err)
			if b.About != nil {
				told += fmt.Sprintf("%+v", *b.About)
			}
			if strings.Contains(told, "CANARY") {
				t.Fatalf("%s: it is in %s", name, told)
			}
			if came = came || err != nil || len(b.Requests) > 0; came {
				polls++
			}
		}
		if ctx.Err() != nil {
			t.Errorf("%s: nothing came", name)
		}
		cancel()
	}
	if err := played[0].Source.Close(); err != nil {
		t.Error(err)
	}
}

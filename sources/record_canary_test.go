package sources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"slotop/sources"
)

// No text of a prompt is in anything that is told of records, whichever way they come.
func TestNoPromptOfARecordComesThrough(t *testing.T) {
	path := func(name string) string { return filepath.Join("testdata", "canary", name) }
	text := func(name string) string {
		b, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	opt := sources.Options{Keep: []string{"team"}, WorkflowLabel: "feature"}
	ways := map[string]sources.Source{}
	for _, name := range []string{"lines.jsonl", "portkey.sse"} {
		opened, err := sources.Resolve(t.Context(), []string{"events:" + path(name)}, opt)
		if err != nil {
			t.Fatal(err)
		}
		ways["played "+name], ways["followed "+name] = opened[0].Source, follow(t, path(name))
		events := eventServer(t, func(c *connection) { c.say(text(name)); c.hold() })
		ways["heard "+name] = listen(t, events.URL+"/log/stream", opt)
	}
	for kind, c := range map[string]struct{ list, place string }{"litellm": {"data", "startTime"}, "bifrost": {"logs", "timestamp"}, "llama-swap": {"data", "timestamp"}} {
		g := newGateway(t, kind)
		g.write(rowsOf(t, []byte(text(kind+".json")), c.list, c.place)...)
		g.at(10 * time.Second)
		ways["polled "+kind] = listen(t, g.target(), opt)
		ways["refused "+kind] = listen(t, serve(t, status(500, "SECRET-PROMPT-CANARY"+text(kind+".json"))).URL+strings.TrimPrefix(g.target(), g.URL), opt)
		ways["cut off "+kind] = listen(t, serve(t, reply(text(kind + ".json")[:600])).URL+strings.TrimPrefix(g.target(), g.URL), opt)
	}
	for name, s := range ways {
		requests := 0
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		for polls, came := 0, false; polls < 5 && ctx.Err() == nil; runtime.Gosched() {
			b, err := s.Poll(ctx)
			said := fmt.Sprintf("%+v %v", b, err)
			if b.About != nil {
				said += fmt.Sprintf("%+v", *b.About)
			}
			if strings.Contains(said, "CANARY") {
				t.Fatalf("%s: it is in %s", name, said)
			}
			requests += len(b.Requests)
			if came = came || err != nil || len(b.Requests) > 0; came {
				polls++
			}
		}
		if ctx.Err() != nil || requests == 0 && !strings.HasPrefix(name, "refused") && !strings.HasPrefix(name, "cut off") {
			t.Errorf("%s: %d requests came", name, requests)
		}
		cancel()
		if strings.HasPrefix(name, "played") {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

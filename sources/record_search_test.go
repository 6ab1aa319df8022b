package sources_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

// A gateway without a path is found by what it has: its root is a page for people.
func TestGatewaysWithoutAPath(t *testing.T) {
	for _, kind := range []string{"litellm", "bifrost", "llama-swap"} {
		t.Run(kind, func(t *testing.T) {
			g := newGateway(t, kind)
			g.write(litellm("a", -5, 1))
			switch kind {
			case "bifrost":
				g.rows = []row{bifrost("a", -5, 1)}
			case "llama-swap":
				g.rows = []row{swapped(1, -4, 1)}
			}
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if kind == "bifrost" && !strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/" {
					w.Header().Set("Content-Type", "text/html")
					_, _ = w.Write([]byte("<html>")) // also for paths that it does not have
					return
				}
				g.ServeHTTP(w, r)
			})
			p := &polled{Source: listen(t, s.URL, sources.Options{}), t: t}
			b, err := p.after(0)
			if err != nil || len(b.Requests) != 1 || b.About.Engine != kind {
				t.Fatal(listed(b), err)
			}
			g.heard()
			p.gives(time.Second, "")
			if asked := g.heard(); len(asked) != 0 {
				t.Errorf("asked %q", asked)
			}
			g.write(map[string]row{"litellm": litellm("b", 1, 1), "bifrost": bifrost("b", 1, 1), "llama-swap": swapped(2, 2, 1)}[kind])
			g.at(10 * time.Second)
			if b, err := p.after(10 * time.Second); err != nil || len(b.Requests) != 1 {
				t.Error(listed(b), err)
			}
		})
	}
}

func TestAStreamIsFoundWithoutAPath(t *testing.T) {
	events := eventServer(t, func(c *connection) { c.say("event: connected\ndata: 1\n\n" + portkeyEvent(0, "")); c.hold() })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = w.Write([]byte("AI Gateway says hey!"))
		case "/log/stream":
			events.Config.Handler.ServeHTTP(w, r)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	source := listen(t, s.URL, sources.Options{})
	if got := heard(t, source); !strings.HasPrefix(got, "portkey-") {
		t.Errorf("got %s", got)
	}
}

// What was looked for and not found is said, and not looked for again.
func TestNoGatewayWithoutAPath(t *testing.T) {
	var asked []string
	code := http.StatusNotFound
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if r.URL.Path == "/spend/logs/v2" {
			w.WriteHeader(code)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	source := listen(t, s.URL, sources.Options{})
	for i := range 3 {
		_, err := source.Poll(t.Context())
		fault := (*sources.FaultError)(nil)
		if !errors.As(err, &fault) || fault.Kind != model.NotFound {
			t.Fatalf("got %v", err)
		}
		if i == 0 && !strings.HasSuffix(fault.Detail, "; tried /spend/logs/v2, /api/logs, /api/metrics/activity, /log/stream too") {
			t.Errorf("got %v", err)
		}
	}
	if n := len(asked); n != 10 { // the root, LiteLLM's three paths, llama-swap's two, one of each other, the root twice
		t.Errorf("asked %q", asked)
	}
	code = http.StatusUnauthorized
	source = listen(t, s.URL, sources.Options{})
	for range 2 {
		_, err := source.Poll(t.Context())
		fault := (*sources.FaultError)(nil)
		if !errors.As(err, &fault) || fault.Kind != model.Denied {
			t.Errorf("got %v", err)
		}
	}
}

// A log that is given as a metrics page is told for what it is.
func TestALogIsNoPage(t *testing.T) {
	for kind, want := range map[string]string{"litellm": "it looks like LiteLLM's log", "bifrost": "it looks like Bifrost's log"} {
		g := newGateway(t, kind)
		first := bifrost("a", -5, 1)
		first.text = first.text[:len(first.text)-1] + `,"selected_key_name":"k"}`
		if kind == "litellm" {
			first = litellm("a", -5, 1)
		}
		g.write(first)
		_, err := resolve(t, g.target()+"?start_date=2026-08-01%2000:00:00&end_date=2026-08-02%2000:00:00")[0].Source.Poll(t.Context())
		if err == nil || !strings.Contains(err.Error(), want+" of requests: write events+ before its address") {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

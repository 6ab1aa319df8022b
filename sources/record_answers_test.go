package sources_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

// What goes wrong has a word, and what it interrupted is read the next time.
func TestWordsForLogs(t *testing.T) {
	for _, tc := range []struct {
		fails map[int]int
		word  model.FaultKind
		text  string
	}{
		{map[int]int{1: 401}, model.Denied, "needs a key"},
		{map[int]int{1: 429}, model.Timeout, "overloaded"},
		{map[int]int{1: 500}, model.Malformed, "a failure inside the server"},
		{map[int]int{1: 404}, model.NotFound, "wanted Bifrost with its log store on"},
		{map[int]int{2: 503}, model.Timeout, "503"},
		{map[int]int{3: 500}, model.Malformed, "500"},
		{map[int]int{5: 429}, model.Timeout, "429"}, // in the middle of the pages
	} {
		g := newGateway(t, "bifrost")
		for i := range 950 {
			g.write(bifrost(fmt.Sprint("r", i), -float64(i)/10, 1))
		}
		g.fails = tc.fails
		p := g.log(t)
		_, err := p.after(0)
		fault := (*sources.FaultError)(nil)
		if !errors.As(err, &fault) || fault.Kind != tc.word || !strings.Contains(fault.Detail, tc.text) {
			t.Errorf("%v: got %v", tc.fails, err)
		}
		if b, err := p.after(time.Second); err != nil || len(b.Requests) != 950 || b.Lost != 0 {
			t.Errorf("%v: then %d requests, lost %d, %v", tc.fails, len(b.Requests), b.Lost, err)
		}
	}
}

// LiteLLM's log is in its database.
func TestLiteLLMWithoutADatabase(t *testing.T) {
	for _, text := range []string{`{"error":{"message":"Prisma Client is not initialized","type":"internal_error","param":"None","code":"401"}}`,
		`{"detail":{"error":"Database not connected. Connect a database to your proxy"}}`} {
		s := serve(t, status(http.StatusUnauthorized, text))
		_, err := listen(t, s.URL+"/spend/logs/v2", sources.Options{}).Poll(t.Context())
		if err == nil || err.Error() != "denied: 401: LiteLLM runs without a database, where its log would be: set DATABASE_URL for it" {
			t.Errorf("got %v", err)
		}
	}
}

// A look that takes too long keeps what it has.
func TestALookThatTakesTooLong(t *testing.T) {
	g := newGateway(t, "bifrost")
	for i := range 450 {
		g.write(bifrost(fmt.Sprint("r", i), -float64(i)/10, 1))
	}
	over := make(chan struct{})
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("offset") == "200" {
			select {
			case <-over:
			case <-r.Context().Done():
			}
			return
		}
		g.ServeHTTP(w, r)
	})
	defer close(over)
	s := listen(t, slow.URL+"/api/logs", sources.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	b, err := s.Poll(ctx)
	if err != nil || len(b.Requests) != 200 {
		t.Fatal(len(b.Requests), err)
	}
}

func TestAnswersThatAreNoLog(t *testing.T) {
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		word   model.FaultKind
	}{
		"a page of HTML": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html><body>UI</body></html>")) }, model.NotMetrics},
		"something else": {reply(`{"status":"ok"}`), model.NotMetrics},
		"cut off":        {reply(`{"logs":[{"id":"a"`), model.Malformed},
		"no JSON":        {reply(`hello`), model.Malformed},
		"a stream":       {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }, model.NotMetrics},
		"too much of it": {reply(`{"logs":[` + strings.Repeat(`{"id":"`+strings.Repeat("x", 900)+`"},`, 6000) + `{}]}`), model.Oversized},
	} {
		_, err := listen(t, serve(t, tc.answer).URL+"/api/logs", sources.Options{}).Poll(t.Context())
		fault := (*sources.FaultError)(nil)
		if !errors.As(err, &fault) || fault.Kind != tc.word {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Contents of any size run past.
func TestLargeContentsRunPast(t *testing.T) {
	g := newGateway(t, "bifrost")
	a := bifrost("a", -5, 1)
	a.text = `{"input_history":[{"role":"user","content":"` + strings.Repeat(`data:image\/png;base64,\"{[`, 1<<20) + `"}],` + a.text[1:]
	g.write(a, bifrost("b", -4, 1))
	g.log(t).gives(0, "a, b")
}

// A key goes to the gateway and nowhere else.
func TestLogsAndRedirects(t *testing.T) {
	var stolen []string
	thief := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.URL.String()+fmt.Sprint(r.Header))
	})
	g := newGateway(t, "bifrost")
	g.write(bifrost("a", -5, 1))
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, err := listen(t, elsewhere.URL+"/api/logs?token=MARKED-SECRET", sources.Options{}).Poll(t.Context())
	fault := (*sources.FaultError)(nil)
	if !errors.As(err, &fault) || fault.Kind != model.Redirected || strings.Contains(err.Error(), "MARKED") || len(stolen) > 0 {
		t.Errorf("got %v; sent on %q", err, stolen)
	}
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/real/") {
			http.Redirect(w, r, "/real"+r.URL.RequestURI(), http.StatusTemporaryRedirect)
			return
		}
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/real")
		g.ServeHTTP(w, r)
	})
	b, err := listen(t, here.URL+"/api/logs", sources.Options{}).Poll(t.Context())
	if err != nil || listed(b) != "a" {
		t.Errorf("got %s %v", listed(b), err)
	}
}

// Nothing is asked for but the window, and what the user asks for.
func TestWhatALogIsAskedFor(t *testing.T) {
	for kind, want := range map[string][]string{
		"litellm": {"end_date", "page", "page_size", "sort_by", "sort_order", "start_date", "team_id"},
		"bifrost": {"end_time", "limit", "offset", "order", "sort_by", "start_time", "team_id"},
	} {
		g := newGateway(t, kind)
		s := listen(t, strings.TrimPrefix(g.target(), "events+")+"?team_id=t-1&page=9&limit=9", sources.Options{})
		if _, err := s.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, asked := range g.heard() {
			u, err := url.Parse(asked)
			if err != nil {
				t.Fatal(err)
			}
			if u.Path == "/api/logs/dropped" {
				continue
			}
			q := u.Query()
			if kind == "litellm" {
				q.Del("limit") // the user's own
			} else {
				q.Del("page")
			}
			var names []string
			for name, values := range q {
				if names = append(names, name); len(values) != 1 {
					t.Errorf("%s: %s is %q", kind, name, values)
				}
			}
			slices.Sort(names)
			if !slices.Equal(names, want) || q.Get("team_id") != "t-1" {
				t.Errorf("%s: asked for %q", kind, names)
			}
		}
	}
}

// A gateway behind a proxy has its log behind a longer path.
func TestALogBehindAProxy(t *testing.T) {
	g := newGateway(t, "litellm-ui")
	g.write(litellm("a", -5, 1))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/gw")
		g.ServeHTTP(w, r)
	})
	b, err := listen(t, s.URL+"/gw/spend/logs/v2", sources.Options{}).Poll(t.Context())
	if err != nil || listed(b) != "a" {
		t.Errorf("got %s %v", listed(b), err)
	}
}

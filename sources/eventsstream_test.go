package sources_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/config"
	"go.uber.org/goleak"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// sse is the server-sent event of a numbered request.
func sse(n int) string {
	return fmt.Sprintf("id: %d\nevent: request\ndata: {\"v\":1,\"seq\":%d,\"at\":\"2026-08-01T12:00:00Z\",\"id\":\"r%d\",\"phase\":\"done\"}\n\n", n, n, n)
}

func hello(epoch string) string {
	return fmt.Sprintf("event: hello\ndata: {\"v\":1,\"gateway\":{\"name\":\"edge\"},\"epoch\":%q}\n\n", epoch)
}

// connection is one connection to a server of events, as the test plays it.
type connection struct {
	w    http.ResponseWriter
	last string // the ID it is resumed after
	over <-chan struct{}
}

func (c *connection) say(text string) {
	if c.w.Header().Get("Content-Type") == "" {
		c.w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = io.WriteString(c.w, text)
	c.w.(http.Flusher).Flush()
}

// hold keeps the connection open until its client is gone or the test is over.
func (c *connection) hold() { <-c.over }

// cut ends the connection without the end of its answer.
func (c *connection) cut() { panic(http.ErrAbortHandler) }

// eventServer plays one function for each connection, the last for all others.
func eventServer(t *testing.T, each ...func(c *connection)) *httptest.Server {
	t.Helper()
	end := make(chan struct{})
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		over, stop := context.WithCancel(r.Context())
		defer stop()
		go func() {
			select {
			case <-end:
			case <-over.Done():
			}
			stop()
		}()
		i := min(int(n.Add(1)), len(each)) - 1
		each[i](&connection{w: w, last: r.Header.Get("Last-Event-ID"), over: over.Done()})
	}))
	t.Cleanup(func() {
		close(end)
		s.Close()
	})
	return s
}

func listen(t *testing.T, url string, opt sources.Options) sources.Source {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{"events+" + url}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if opened[0].Saved || opened[0].Target.Kind != "gateway" {
		t.Errorf("got %+v", opened[0])
	}
	t.Cleanup(func() {
		if err := opened[0].Source.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened[0].Source
}

// heard polls until something has come or failed, and lists it as came does.
func heard(t *testing.T, s sources.Source) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		b, err := s.Poll(ctx)
		switch {
		case err != nil:
			return err.Error()
		case len(b.Requests) > 0 || b.BadLines > 0 || b.Lost > 0:
			return listed(b)
		case ctx.Err() != nil:
			t.Fatal("nothing comes")
		}
		runtime.Gosched()
	}
}

func listed(b model.Batch) string {
	var out []string
	if b.Lost > 0 {
		out = append(out, fmt.Sprintf("lost %d", b.Lost))
	}
	for _, r := range b.Requests {
		out = append(out, r.ID)
	}
	if b.BadLines > 0 {
		out = append(out, b.FirstBad)
	}
	return strings.Join(out, ", ")
}

// hears polls until all of a text has come, in however many batches.
func hears(t *testing.T, s sources.Source, want string) {
	t.Helper()
	got := heard(t, s)
	for len(got) < len(want) && strings.HasPrefix(want, got) {
		got += ", " + heard(t, s)
	}
	if got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestEventsOverHTTP(t *testing.T) {
	text := string(shared.File(t, "corpus/gateways/proposed/events.sse"))
	s := eventServer(t, func(c *connection) { c.say(text); c.hold() })
	source := listen(t, s.URL+"/v1/events", sources.Options{})
	hears(t, source, "r-0001, r-0001, r-0001, r-0002, r-0001, r-0002")
	b, err := source.Poll(t.Context())
	if err != nil || listed(b) != "lost 4, r-0001, r-0007, r-0003, r-0005" || b.Epoch != "edge-0/2026-08-01T11:02:02.900Z" {
		t.Errorf("got %s, %v", listed(b), err)
	}
	if got := strings.Join(b.About.Notes, "; "); got != "reported by the gateway edge, instance edge-0" {
		t.Errorf("got %s", got)
	}
	if b, err = source.Poll(t.Context()); err != nil || listed(b) != "" || b.About == nil {
		t.Errorf("got %+v, %v", b, err)
	}
}

func TestEventLinesOverHTTP(t *testing.T) {
	text := string(shared.File(t, "corpus/gateways/proposed/events.jsonl"))
	for _, kind := range []string{"application/x-ndjson", "application/json", "text/plain; charset=utf-8", "application/octet-stream"} {
		s := eventServer(t, func(c *connection) { c.w.Header().Set("Content-Type", kind); c.say(text); c.hold() })
		if got := heard(t, listen(t, s.URL, sources.Options{})); !strings.HasPrefix(got, "r-0001, r-0001") {
			t.Errorf("%s: got %s", kind, got)
		}
	}
}

// A connection that was lost is taken up after the last event that came.
func TestStreamsAreTakenUpAgain(t *testing.T) {
	var after []string
	resumed := func(rest func(c *connection)) func(c *connection) {
		return func(c *connection) { after = append(after, c.last); rest(c) }
	}
	s := eventServer(t,
		resumed(func(c *connection) { c.say(hello("e") + sse(1) + sse(2) + sse(3)[:40]); c.cut() }),
		resumed(func(c *connection) { c.say(hello("e") + sse(3) + ": keep-alive\n\n") }),
		resumed(func(c *connection) { c.say(hello("e") + sse(7)); c.cut() }),
		resumed(func(c *connection) {
			c.w.Header().Set("Content-Type", "application/x-ndjson")
			c.say("\n")
			c.say(event("line")[:15])
		}),
		resumed(func(c *connection) { c.say(hello("f") + sse(1)); c.hold() }),
	)
	source := listen(t, s.URL, sources.Options{})
	hears(t, source, "r1, r2, r3, lost 3, r7")
	hears(t, source, "malformed: the stream ended before the first event: is / one of events?")
	hears(t, source, "r1")
	b, err := source.Poll(t.Context())
	if err != nil || b.Epoch != "f" || b.BadLines > 0 || strings.Join(b.About.Notes, "; ") != "reported by the gateway edge; connection lost 4 times so far" {
		t.Errorf("got %+v %+v, %v", b, b.About, err)
	}
	if got := strings.Join(after, " "); got != " 2 3 7 7" {
		t.Errorf("taken up after %q", got)
	}
}

func TestWordsForStreams(t *testing.T) {
	nobody := httptest.NewServer(nil)
	nobody.Close()
	page := func(kind, body string) func(c *connection) {
		return func(c *connection) { c.w.Header().Set("Content-Type", kind); c.say(body) }
	}
	code := func(n int) func(c *connection) {
		return func(c *connection) { c.w.WriteHeader(n); c.say("you sent " + longSecret) }
	}
	for _, tc := range []struct {
		name   string
		play   func(c *connection)
		kind   model.FaultKind
		detail string
	}{
		{"needs a key", code(401), model.Denied, "401: needs a key"},
		{"no such path", code(404), model.NotFound, "404 at /: no such path: give the whole address, as the gateway's documentation has it"},
		{"busy", code(503), model.Timeout, "answers 503 at /: loading or overloaded: you sent"},
		{"no content", code(204), model.NotMetrics, "204 at /: an answer without a page"},
		{"HTML", page("text/html; charset=utf-8", "<html>"), model.NotMetrics, "no stream of events but an HTML page: check the path"},
		{"a metrics page", page("text/plain; version=0.0.4", enginePage), model.NotMetrics, "no stream of events but a metrics page: give its address without events+"},
		{"another text", page("text/plain", "hello\nthere\n"), model.NotMetrics, "no events: 2 lines skipped, the first: line 1: not JSON"},
		{"a JSON error", page("application/json", `{"error":"prompt"}`), model.NotMetrics, "no events: 1 line skipped: line 1: its version (v) is not 1"},
		{"ends at once", page("text/event-stream", ""), model.Malformed, "the stream ended before the first event: is / one of events?"},
		{"is cut at once", func(c *connection) { c.say(""); c.cut() }, model.Malformed, "the stream was cut off before the first event"},
		{"compressed", func(c *connection) { c.w.Header().Set("Content-Encoding", "br"); c.say("x") }, model.UnsupportedPage, "the stream is compressed as br, which was not asked for"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			source := listen(t, eventServer(t, tc.play).URL, sources.Options{})
			for range 3 { // it is the same every time
				if got := heard(t, source); !strings.HasPrefix(got, string(tc.kind)+": "+tc.detail) {
					t.Errorf("got %s", got)
				}
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		if got := heard(t, listen(t, nobody.URL, sources.Options{})); !strings.HasPrefix(got, "refused: nothing listens at ") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("looked at as a page", func(t *testing.T) {
		s := eventServer(t, func(c *connection) { c.say(sse(1)); c.hold() })
		if got := heard(t, resolve(t, s.URL+"/events")[0].Source); got != "not_metrics: a stream of events, not a metrics page: write events+ before its address" {
			t.Errorf("got %s", got)
		}
	})
}

// Once nothing but rubbish came, the target does not seem well while it connects.
func TestAStreamOfSomethingElseIsNeverWell(t *testing.T) {
	s := eventServer(t, func(c *connection) { c.w.Header().Set("Content-Type", "text/plain"); c.say("hello\n") })
	source := listen(t, s.URL, sources.Options{})
	heard(t, source)
	for range 5 {
		if b, err := source.Poll(t.Context()); err == nil {
			t.Fatalf("got %+v", b)
		}
	}
}

func TestAServerThatNeverAnswers(t *testing.T) {
	s := eventServer(t, func(c *connection) { c.hold() })
	source := listen(t, s.URL, sources.Options{})
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := source.Poll(ctx)
		cancel()
		wantFault(t, err, model.Timeout, "did not answer in time")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A server that answers and has nothing to say is well.
func TestAServerWithNothingToSay(t *testing.T) {
	s := eventServer(t, func(c *connection) { c.say(""); c.hold() })
	source := listen(t, s.URL, sources.Options{})
	for range 3 {
		if b, err := source.Poll(t.Context()); err != nil || listed(b) != "" || b.About == nil {
			t.Errorf("got %+v, %v", b, err)
		}
	}
}

// A connection that is dead without having ended is known by the comments that no
// longer come. One without comments may be silent for as long as it likes.
func TestADeadConnection(t *testing.T) {
	beats := func(c *connection) { c.say(": keep-alive\n\n" + sse(1)); c.hold() }
	silent := func(c *connection) { c.say(sse(2)); c.hold() }
	source := listen(t, eventServer(t, beats, silent).URL, sources.Options{})
	now := time.Duration(0)
	poll := func(step time.Duration) (string, error) {
		now += step
		source.(sources.Advancer).Advance(now)
		b, err := source.Poll(t.Context())
		return listed(b), err
	}
	hears(t, source, "r1")
	for _, step := range []time.Duration{time.Second, 30 * time.Second, 29 * time.Second} {
		if got, err := poll(step); got != "" || err != nil {
			t.Fatalf("at %v: got %s, %v", now, got, err)
		}
	}
	_, err := poll(10 * time.Second)
	wantFault(t, err, model.Timeout, "nothing came for 1m0s")
	hears(t, source, "r2")
	if got, err := poll(time.Hour); got != "" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAVeryLongLine(t *testing.T) {
	long := `data: {"v":1,"prompt":"` + strings.Repeat("SECRET-PROMPT-CANARY", 50_000) + `"}` + "\n\n"
	s := eventServer(t, func(c *connection) { c.say(sse(1) + long + sse(2)); c.hold() })
	source, got := listen(t, s.URL, sources.Options{}), ""
	for !strings.Contains(got, "r2") {
		got += heard(t, source) + "; "
	}
	if strings.Count(got, "line 5: longer than 65536 bytes") != 1 || !strings.HasPrefix(got, "r1") || strings.Contains(got, "CANARY") {
		t.Errorf("got %s", got)
	}
}

// A line that never ends is told of while it lasts.
func TestALineWithoutEnd(t *testing.T) {
	s := eventServer(t, func(c *connection) { c.say(sse(1) + "data: " + strings.Repeat("x", 100_000)); c.hold() })
	source, got := listen(t, s.URL, sources.Options{}), ""
	for !strings.Contains(got, "longer") {
		got += heard(t, source) + "; "
	}
	if strings.Count(got, "1 line skipped: line 5: longer than 65536 bytes") != 1 {
		t.Errorf("got %s", got)
	}
}

// No key leaves for another host, not even for another port of the same one.
func TestNoKeyLeavesWithARedirect(t *testing.T) {
	var asked atomic.Int32
	other := serve(t, func(_ http.ResponseWriter, _ *http.Request) { asked.Add(1) })
	var key string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		http.Redirect(w, r, other.URL+"/events?token="+longSecret, http.StatusTemporaryRedirect)
	})
	opt := sources.Options{HTTP: &config.HTTPClientConfig{FollowRedirects: true, Authorization: &config.Authorization{Credentials: longSecret}}}
	_, err := listen(t, s.URL, opt).Poll(t.Context())
	wantFault(t, err, model.Redirected, "redirected to "+other.URL+", not followed")
	if asked.Load() > 0 || key != "Bearer "+longSecret || holdsSecret(err.Error()) {
		t.Errorf("asked %d times, key %q, %v", asked.Load(), key, err)
	}
}

func TestRedirectsWithinAServerAreFollowed(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/events", http.StatusTemporaryRedirect)
			return
		}
		if user, password, _ := r.BasicAuth(); user != "me" || password != longSecret {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, "you sent ", password)
			return
		}
		fmt.Fprint(w, sse(1))
	})
	opened, err := sources.Resolve(t.Context(), []string{"events+" + strings.Replace(s.URL, "//", "//me:"+longSecret+"@", 1) + "?api_key=" + longSecret}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened[0].Source.Close() }()
	if got := string(opened[0].Target.ID); got != "events+"+s.URL+"/?api_key=redacted" || holdsSecret(opened[0].Target.Name) {
		t.Errorf("got %s", got)
	}
	hears(t, opened[0].Source, "r1")
}

// What is not polled waits in the connection, and nothing of it is lost.
func TestAFloodWaitsForThePolls(t *testing.T) {
	const n = 150_000
	s := eventServer(t, func(c *connection) {
		var text strings.Builder
		for i := 1; i <= n; i++ {
			text.WriteString(sse(i))
		}
		c.say(text.String())
		c.hold()
	})
	source := listen(t, s.URL, sources.Options{})
	next, largest := 1, 0
	for next <= n {
		b, err := source.Poll(t.Context())
		if err != nil || b.Lost > 0 || b.BadLines > 0 {
			t.Fatalf("after %d: %s, %v", next, listed(b), err)
		}
		largest = max(largest, len(b.Requests))
		for _, r := range b.Requests {
			if r.Seq != uint64(next) {
				t.Fatalf("got %d, want %d", r.Seq, next)
			}
			next++
		}
		runtime.Gosched()
	}
	if largest > 70_000 {
		t.Errorf("a batch of %d", largest)
	}
}

// Whatever a stream is doing, Close ends it.
func TestStreamsLeaveNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	flood := func(c *connection) {
		for i := 1; i < 400_000; i++ {
			if _, err := io.WriteString(c.w, sse(i)); err != nil {
				return
			}
		}
		c.hold()
	}
	for name, play := range map[string]func(c *connection){
		"silent": func(c *connection) { c.say(""); c.hold() },
		"flood":  flood,
		"cut":    func(c *connection) { c.say(sse(1)); c.cut() },
		"hang":   func(c *connection) { c.hold() },
	} {
		t.Run(name, func(t *testing.T) {
			source := listen(t, eventServer(t, play).URL, sources.Options{})
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				_, _ = source.Poll(ctx)
				cancel()
			}
			for range 2 {
				if err := source.Close(); err != nil {
					t.Error(err)
				}
			}
			if _, err := source.Poll(t.Context()); err == nil {
				t.Error("a closed source is polled")
			}
		})
	}
	goleak.VerifyNone(t, before)
}

// With Run a stream is polled like any target, and ends with it.
func TestRunAStream(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := eventServer(t, func(c *connection) { c.say(hello("e") + sse(1)); c.hold() })
	opened, err := sources.Resolve(t.Context(), []string{"events+" + s.URL}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got := ""
	err = sources.Run(ctx, opened, sources.RunOptions{Every: 10 * time.Millisecond}, func(in model.Input) {
		if in.Batch == nil {
			return
		}
		if in.Batch.Fault != nil {
			t.Errorf("got %+v", in.Batch.Fault)
		}
		if got += listed(*in.Batch); got != "" {
			cancel()
		}
	})
	if err != nil || got != "r1" {
		t.Errorf("got %s, %v", got, err)
	}
	s.CloseClientConnections()
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("net/http/httptest.(*Server).goServe.func1"))
}

// Several streams at once, each cut again and again.
func TestManyStreams(t *testing.T) {
	var sent atomic.Int64
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := int(sent.Add(1))
		_, _ = io.WriteString(w, sse(n))
	})
	var wg sync.WaitGroup
	for range 4 {
		source := listen(t, s.URL, sources.Options{})
		wg.Go(func() {
			for range 50 {
				if b, err := source.Poll(t.Context()); err != nil {
					t.Errorf("%s, %v", listed(b), err)
				}
			}
		})
	}
	wg.Wait()
}

// A proxy that ends what is idle is no failure, however often it does.
func TestIdleConnectionsThatEnd(t *testing.T) {
	end := make(chan struct{})
	s := eventServer(t, func(c *connection) { c.say(""); <-end }, func(c *connection) { c.say(""); c.hold() })
	source := listen(t, s.URL, sources.Options{})
	if _, err := source.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	source.(sources.Advancer).Advance(time.Minute)
	close(end)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for { // until it is connected anew
		b, err := source.Poll(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.About.Notes) == 1 {
			break
		}
		runtime.Gosched()
	}
}

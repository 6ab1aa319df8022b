package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slotop/sources/sim"
)

func itoa(n int) string { return strconv.Itoa(n) }

// engineServer is a server on this machine whose page moves as a real engine's:
// the simulator's, some virtual time further on each poll.
type engineServer struct {
	*httptest.Server
	polls   atomic.Int64
	firstAt atomic.Int64 // when the first poll was answered, in ns

	mu      sync.Mutex
	sim     *sim.Sim
	step    time.Duration // virtual time between two polls
	now     time.Duration
	page    []byte
	key     string        // that an Authorization header must hold; "": none
	slim    bool          // one model's lines only: 34 KB, as most servers have
	replace func() string // another page; nil: the simulator's
}

// warm is the virtual age of a new engine: its histograms are not empty.
const warm = 2 * time.Minute

func newEngine(tb testing.TB) *engineServer {
	tb.Helper()
	service, err := sim.New(sim.Options{Seed: 7})
	if err != nil {
		tb.Fatal(err)
	}
	service.Advance(warm)
	e := &engineServer{sim: service, step: time.Second, now: warm}
	e.Server = httptest.NewServer(e)
	tb.Cleanup(e.Close)
	return e
}

// ServeHTTP implements http.Handler.
func (e *engineServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.key != "" && r.Header.Get("Authorization") != e.key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/version" { // it is a page, and nothing else
		http.NotFound(w, r)
		return
	}
	if e.polls.Add(1) == 1 {
		e.firstAt.Store(time.Now().UnixNano())
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	if e.replace != nil {
		_, _ = w.Write([]byte(e.replace()))
		return
	}
	_, _ = w.Write(e.next())
}

// next is the page one step further.
func (e *engineServer) next() []byte {
	e.now += e.step
	e.sim.Advance(e.now)
	e.page, _ = e.sim.Replicas()[0].Page(e.page[:0])
	if !e.slim {
		return e.page
	}
	var out []byte
	for line := range bytes.Lines(e.page) {
		if line[0] == '#' || bytes.Contains(line, []byte(`"chat"`)) {
			out = append(out, line...)
		}
	}
	return out
}

func (e *engineServer) address() string { return strings.TrimPrefix(e.URL, "http://") }

// set changes how the server answers.
func (e *engineServer) set(change func(e *engineServer)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(e)
}

// serve sets another page.
func (e *engineServer) serve(page func() string) {
	e.set(func(e *engineServer) { e.replace = page })
}

// racing makes every number of the page move with each poll.
func (e *engineServer) racing() {
	e.set(func(e *engineServer) { e.step = 10 * time.Second })
}

// still serves the page of an engine that nobody uses.
func (e *engineServer) still(tb testing.TB) {
	tb.Helper()
	unused, err := sim.New(sim.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	page, err := unused.Replicas()[0].Page(nil)
	if err != nil {
		tb.Fatal(err)
	}
	e.serve(func() string { return string(page) })
}

// polled waits for a number of polls.
func (e *engineServer) polled(tb testing.TB, n int64) {
	tb.Helper()
	deadline := time.After(patience)
	for e.polls.Load() < n {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			tb.Fatalf("%d polls, waited for %d", e.polls.Load(), n)
		}
	}
}

// quiet reports whether no poll comes for longer than the poll interval.
func (e *engineServer) quiet() bool {
	before := e.polls.Load()
	<-time.After(1200 * time.Millisecond)
	return e.polls.Load() == before
}

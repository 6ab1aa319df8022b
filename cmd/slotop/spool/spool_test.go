package spool

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// gate is a terminal that takes bytes when it is open, and fails once it is broken.
type gate struct {
	mu    sync.Mutex
	moved *sync.Cond
	open  bool
	err   error
	took  strings.Builder
}

func newGate() *gate {
	g := &gate{}
	g.moved = sync.NewCond(&g.mu)
	return g
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.open && g.err == nil {
		g.moved.Wait()
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.took.Write(p)
}

func (g *gate) set(open bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open, g.err = open, err
	g.moved.Broadcast()
}

func (g *gate) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.took.String()
}

// patience is for what comes at once unless something is broken.
const patience = 30 * time.Second

func TestNobodyWaitsForTheTerminal(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := newGate()
	s := New(g, func(err error) { t.Errorf("failed: %v", err) })
	defer s.Stop()
	for _, part := range []string{"a", "b", "c"} {
		if n, err := io.WriteString(s, part); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if s.Clear() || s.Drain(time.Millisecond) {
		t.Error("the terminal took nothing, and all is taken")
	}
	g.set(true, nil)
	if !s.Drain(patience) || !s.Clear() || g.text() != "abc" {
		t.Errorf("it was given %q", g.text())
	}
}

func TestWhatIsOwedIsBounded(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := newGate()
	told := make(chan error, 2)
	s := New(g, func(err error) { told <- err })
	defer s.Stop()
	if _, err := s.Write(make([]byte, MaxPending+1)); !errors.Is(err, ErrStuck) || !errors.Is(<-told, ErrStuck) {
		t.Errorf("got %v", err)
	}
	g.set(false, io.ErrClosedPipe)
	if _, err := s.Write([]byte("x")); !errors.Is(err, ErrStuck) {
		t.Errorf("after that %v", err)
	}
	if !s.Clear() {
		t.Error("what cannot be written is still owed")
	}
}

func TestAFailureIsToldOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := newGate()
	told := make(chan error, 2)
	s := New(g, func(err error) { told <- err })
	defer s.Stop()
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	g.set(false, io.ErrClosedPipe)
	if err := <-told; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("told %v", err)
	}
	if _, err := s.Write([]byte("y")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("then %v", err)
	}
	select {
	case err := <-told:
		t.Errorf("told again: %v", err)
	default:
	}
}

// Package spool writes to terminals that may stop taking bytes. It keeps what is
// owed, bounded, and never lets its caller wait.
package spool

import (
	"errors"
	"io"
	"sync"
	"time"
)

// Spool writes to a terminal, here or at the other end of a connection, on a
// goroutine of its own. A terminal may stop taking bytes at any time (a slow link,
// ctrl-s, a frozen multiplexer), and a screen that waits for it hears neither a key
// nor a signal.
type Spool struct {
	to     io.Writer
	failed func(error) // told once, when a write fails

	mu      sync.Mutex
	changed *sync.Cond
	pending []byte
	writing bool
	closed  bool
	err     error
}

// MaxPending bounds what a stuck terminal is owed. The screen draws nothing new
// until the last drawing was taken, so only many resizes could add up to it.
const MaxPending = 4 << 20

// ErrStuck is what a write over [MaxPending] fails with.
var ErrStuck = errors.New("the terminal takes no bytes")

// New starts a spool in front of a terminal. failed is told once, of the first write
// that failed; it may be called from Write.
func New(to io.Writer, failed func(error)) *Spool {
	s := &Spool{to: to, failed: failed}
	s.changed = sync.NewCond(&s.mu)
	go s.run()
	return s
}

// Write takes all of p and returns at once.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	err, over := s.err, len(s.pending)+len(p) > MaxPending
	if err == nil && !over {
		s.pending = append(s.pending, p...)
		s.changed.Broadcast()
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return 0, err
	case over:
		s.fail(ErrStuck)
		return 0, ErrStuck
	}
	return len(p), nil
}

// run writes until the spool is closed.
func (s *Spool) run() {
	var chunk []byte
	for {
		s.mu.Lock()
		s.writing = false
		s.changed.Broadcast()
		for len(s.pending) == 0 && !s.closed && s.err == nil {
			s.changed.Wait()
		}
		if s.closed || s.err != nil {
			s.mu.Unlock()
			return
		}
		chunk, s.pending = append(chunk[:0], s.pending...), s.pending[:0]
		s.writing = true
		s.mu.Unlock()
		if _, err := s.to.Write(chunk); err != nil {
			s.fail(err)
			return
		}
	}
}

func (s *Spool) fail(err error) {
	s.mu.Lock()
	told := s.err != nil
	s.err, s.writing, s.pending = err, false, nil
	s.changed.Broadcast()
	s.mu.Unlock()
	if !told {
		s.failed(err)
	}
}

// Clear reports whether the terminal took everything so far.
func (s *Spool) Clear() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) == 0 && !s.writing
}

// Drain waits until the terminal took everything, but no longer than within.
func (s *Spool) Drain(within time.Duration) bool {
	late := false
	timer := time.AfterFunc(within, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.changed.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for (len(s.pending) > 0 || s.writing) && !late {
		s.changed.Wait()
	}
	return len(s.pending) == 0 && !s.writing
}

// Stop ends the goroutine once it is not in the middle of a write.
func (s *Spool) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}

package main

import (
	"errors"
	"io"
	"sync"
	"time"
)

// spool writes to a terminal, here or at the other end of a connection, on a
// goroutine of its own. A terminal may stop taking bytes at any time (a slow link,
// ctrl-s, a frozen multiplexer), and a screen that waits for it hears neither a key
// nor a signal.
type spool struct {
	to     io.Writer
	failed func(error) // told once, when a write fails

	mu      sync.Mutex
	changed *sync.Cond
	pending []byte
	writing bool
	closed  bool
	err     error
}

// maxPending bounds what a stuck terminal is owed. The screen draws nothing new
// until the last drawing was taken, so only many resizes could add up to it.
const maxPending = 4 << 20

var errStuck = errors.New("the terminal takes no bytes")

func newSpool(to io.Writer, failed func(error)) *spool {
	s := &spool{to: to, failed: failed}
	s.changed = sync.NewCond(&s.mu)
	go s.run()
	return s
}

// Write takes all of p and returns at once.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	err, over := s.err, len(s.pending)+len(p) > maxPending
	if err == nil && !over {
		s.pending = append(s.pending, p...)
		s.changed.Broadcast()
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return 0, err
	case over:
		s.fail(errStuck)
		return 0, errStuck
	}
	return len(p), nil
}

// run writes until the spool is closed.
func (s *spool) run() {
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

func (s *spool) fail(err error) {
	s.mu.Lock()
	s.err, s.writing, s.pending = err, false, nil
	s.changed.Broadcast()
	s.mu.Unlock()
	s.failed(err)
}

// clear reports whether the terminal took everything so far.
func (s *spool) clear() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) == 0 && !s.writing
}

// drain waits until the terminal took everything, but no longer than within.
func (s *spool) drain(within time.Duration) bool {
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

// stop ends the goroutine once it is not in the middle of a write.
func (s *spool) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}

package main

import (
	"errors"
	"os"
	"sync"
	"time"
)

// outlet writes to the terminal on a goroutine of its own. A terminal may stop
// taking bytes at any time (a slow link, ctrl-s, a frozen multiplexer), and a
// screen that waits for it hears neither a key nor a signal.
type outlet struct {
	*os.File // Bubble Tea asks the terminal its size

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

func newOutlet(f *os.File, failed func(error)) *outlet {
	o := &outlet{File: f, failed: failed}
	o.changed = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// Write takes all of p and returns at once.
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	err, over := o.err, len(o.pending)+len(p) > maxPending
	if err == nil && !over {
		o.pending = append(o.pending, p...)
		o.changed.Broadcast()
	}
	o.mu.Unlock()
	switch {
	case err != nil:
		return 0, err
	case over:
		o.fail(errStuck)
		return 0, errStuck
	}
	return len(p), nil
}

// WriteString keeps io.WriteString from going around Write.
func (o *outlet) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// run writes until the outlet is closed.
func (o *outlet) run() {
	var chunk []byte
	for {
		o.mu.Lock()
		o.writing = false
		o.changed.Broadcast()
		for len(o.pending) == 0 && !o.closed && o.err == nil {
			o.changed.Wait()
		}
		if o.closed || o.err != nil {
			o.mu.Unlock()
			return
		}
		chunk, o.pending = append(chunk[:0], o.pending...), o.pending[:0]
		o.writing = true
		o.mu.Unlock()
		if _, err := o.File.Write(chunk); err != nil {
			o.fail(err)
			return
		}
	}
}

func (o *outlet) fail(err error) {
	o.mu.Lock()
	o.err, o.writing, o.pending = err, false, nil
	o.changed.Broadcast()
	o.mu.Unlock()
	o.failed(err)
}

// clear reports whether the terminal took everything so far.
func (o *outlet) clear() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending) == 0 && !o.writing
}

// drain waits until the terminal took everything, but no longer than within.
func (o *outlet) drain(within time.Duration) bool {
	late := false
	timer := time.AfterFunc(within, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.changed.Broadcast()
	})
	defer timer.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.pending) > 0 || o.writing) && !late {
		o.changed.Wait()
	}
	return len(o.pending) == 0 && !o.writing
}

// stop ends the goroutine once it is not in the middle of a write.
func (o *outlet) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

package main

import (
	"os"
	"time"

	"slotop/cmd/slotop/spool"
)

// outlet is the user's terminal behind a spool.
type outlet struct {
	*os.File // Bubble Tea asks the terminal its size

	spool *spool.Spool
}

func newOutlet(f *os.File, failed func(error)) *outlet {
	return &outlet{File: f, spool: spool.New(f, failed)}
}

// Write takes all of p and returns at once.
func (o *outlet) Write(p []byte) (int, error) { return o.spool.Write(p) }

// WriteString keeps io.WriteString from going around Write.
func (o *outlet) WriteString(s string) (int, error) { return o.spool.Write([]byte(s)) }

// clear reports whether the terminal took everything so far.
func (o *outlet) clear() bool { return o.spool.Clear() }

// drain waits until the terminal took everything, but no longer than within.
func (o *outlet) drain(within time.Duration) bool { return o.spool.Drain(within) }

// stop ends the outlet once it is not in the middle of a write.
func (o *outlet) stop() { o.spool.Stop() }

package main

import (
	"os"

	"slotop/cmd/slotop/spool"
)

// outlet is the user's terminal behind a spool.
type outlet struct {
	*os.File // Bubble Tea asks the terminal its size
	*spool.Spool
}

func newOutlet(f *os.File, failed func(error)) *outlet {
	return &outlet{f, spool.New(f, failed)}
}

// Write takes all of p and returns at once.
func (o *outlet) Write(p []byte) (int, error) { return o.Spool.Write(p) }

// WriteString keeps io.WriteString from going around Write.
func (o *outlet) WriteString(s string) (int, error) { return o.Spool.Write([]byte(s)) }

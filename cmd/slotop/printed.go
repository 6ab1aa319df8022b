package main

import (
	"errors"
	"fmt"
	"os/signal"
	"syscall"
)

// printed writes a document to standard output. A reader that went away has seen enough;
// the exit code still tells.
func printed(what string, write func() error) error {
	signal.Ignore(syscall.SIGPIPE)
	if err := write(); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("print the %s: %w", what, err)
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// watchSignals leaves on the signals that end a program, and stops and resumes
// on SIGTSTP with the terminal in order meanwhile.
func (t *terminal) watchSignals(ctx context.Context) (stop func()) {
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP)
	go func() {
		defer t.recovered()
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-ch:
				if s == syscall.SIGTSTP {
					t.suspend(ctx)
					continue
				}
				t.end(signalled{s.(syscall.Signal)}, "")
			}
		}
	}()
	return func() { signal.Stop(ch) }
}

// suspend hands the terminal back, stops the process and takes the terminal
// again when it is continued.
func (t *terminal) suspend(ctx context.Context) {
	select {
	case <-t.up: // there is nothing to hand back before
	case <-ctx.Done():
		return
	}
	if err := t.program.ReleaseTerminal(); err != nil {
		return
	}
	t.outlet.Drain(bytesTaken)
	stop()
	if err := t.program.RestoreTerminal(); err != nil {
		t.end(fmt.Errorf("take the terminal again: %w", err), "")
	}
}

// stop stops the process until it is continued. The signal reaches this thread
// some time after it was sent, so its return alone means nothing.
func stop() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGSTOP); err == nil {
		<-continued
	}
}

// suspend turns a key into the signal that ctrl-z is in line mode. The whole process
// group gets it, or the shell would wait for the wrapper that started slotop.
func suspend() tea.Msg {
	_ = syscall.Kill(0, syscall.SIGTSTP)
	return nil
}

// watchHangUp ends the screen when the terminal goes away at either end. The
// signal for it may be ignored or never come, and a screen on which nothing
// moves writes nothing that could fail.
func (t *terminal) watchHangUp() (stop func()) {
	stopped, wake, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	go func() {
		defer t.recovered()
		defer func() { _ = stopped.Close() }()
		if hungUp(t.in, t.out, stopped) {
			t.end(errHungUp, "")
		}
	}()
	return func() { _ = wake.Close() }
}

// hungUp waits until a terminal is gone or the other end of stopped is closed.
func hungUp(in, out, stopped *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(in.Fd())}, {Fd: int32(out.Fd())}, {Fd: int32(stopped.Fd())}}
	for {
		_, err := unix.Poll(fds, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil || fds[2].Revents != 0 {
			return false
		}
		return (fds[0].Revents|fds[1].Revents)&unix.POLLHUP != 0
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"slotop/cmd/slotop/screen"
)

// terminal owns the user's terminal while the screen is on it. Whatever ends the
// screen (a key, a signal, a panic in any goroutine, a terminal that went away)
// the terminal is left as it was found.
type terminal struct {
	in, out  *os.File
	titled   bool        // the screen sets the window's title
	progress bool        // and shows progress beside it
	found    *term.State // of in before the screen

	outlet  *outlet
	program *tea.Program
	cancel  context.CancelFunc
	up      chan struct{} // closed when the screen runs

	mu    sync.Mutex
	why   error  // what ended the screen, nil for the user's own quit
	stack string // of a panic
}

// errHungUp ends the screen when the terminal is gone. Nobody is there to read it.
var errHungUp = errors.New("the terminal went away")

// signalled ends the screen because of a signal.
type signalled struct{ sig syscall.Signal }

func (s signalled) Error() string { return "ended by " + s.sig.String() }

// Bounds of the leaving, all together below a second: for the screen to end once
// it was told to, for the terminal to take the last bytes, and for the
// collectors to stop.
const (
	screenEnds    = 300 * time.Millisecond
	bytesTaken    = 300 * time.Millisecond
	collectorsEnd = 200 * time.Millisecond
)

// show runs the model on the terminal until it ends and says why it ended: nil
// after a quit, otherwise the reason. beside runs next to it, and a panic in it
// ends the screen too.
func (t *terminal) show(ctx context.Context, m tea.Model, beside func(context.Context)) error {
	ctx, t.cancel = context.WithCancel(ctx)
	defer t.cancel()
	t.found, _ = term.GetState(int(t.in.Fd()))
	t.up = make(chan struct{})
	t.outlet = newOutlet(t.out, func(error) { t.end(errHungUp, "") })
	defer t.outlet.Stop()
	if t.titled {
		_, _ = t.outlet.WriteString(titleKept)
	}
	opts := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(t.in), tea.WithOutput(t.outlet),
	}
	if screen.Colourless(os.Getenv("TERM")) {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	guard := screen.Guard{Up: func() { close(t.up) }, Clear: t.outlet.Clear, Drain: t.outlet.Drain, Recovered: t.recovered}
	t.program = guard.Program(m, opts...)
	defer t.watchSignals(ctx)()
	defer t.watchHangUp()()

	collected, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(collected)
		defer t.recovered()
		beside(ctx)
	}()
	go func() {
		defer t.recovered()
		_, err := t.program.Run()
		ended <- err
	}()
	err := t.await(ctx, ended)
	t.cancel()
	select {
	case <-collected:
	case <-time.After(collectorsEnd):
	}
	return t.reason(err)
}

// await waits for the screen to end, and for a while more once it was told to.
func (t *terminal) await(ctx context.Context, ended <-chan error) error {
	select {
	case err := <-ended:
		t.leave()
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		t.leave()
		return err
	case <-time.After(screenEnds):
		t.restore()
		return errHungUp
	}
}

// end notes the first reason to leave and starts leaving.
func (t *terminal) end(why error, stack string) {
	t.mu.Lock()
	if t.why == nil {
		t.why, t.stack = why, stack
	}
	t.mu.Unlock()
	t.cancel()
}

func (t *terminal) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// reason is what the caller is told. The program's own word for a cancelled
// context says nothing beyond it.
func (t *terminal) reason(err error) error {
	if why := t.failure(); why != nil {
		return why
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) || errors.Is(err, tea.ErrProgramKilled) {
		return errHungUp
	}
	return err
}

// recovered turns a panic into the end of the screen. The message is printed
// after the terminal is back to normal, or nobody could read it.
func (t *terminal) recovered() {
	if r := recover(); r != nil {
		t.end(fmt.Errorf("panic: %v", r), string(debug.Stack()))
	}
}

// leave gives the window its own title back and waits for the last bytes.
func (t *terminal) leave() {
	if t.titled {
		_, _ = t.outlet.WriteString(titleBack)
	}
	t.outlet.Drain(bytesTaken)
}

// The terminal's own stack of window titles (xterm's window operations 22 and 23).
const (
	titleKept = "\x1b[22;2t"
	titleBack = "\x1b[23;2t"
)

// farewell takes every mode back that the screen may have set.
const farewell = "\x1b[?2026l\x1b[?2027l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l" +
	"\x1b[>4m\x1b[<1u\x1b[0m\x1b[?1049l\x1b[?25h"

// restore puts the terminal back by hand, where the screen does not end by itself.
func (t *terminal) restore() {
	if t.found != nil {
		_ = term.Restore(int(t.in.Fd()), t.found)
	}
	_, _ = t.outlet.WriteString(farewell)
	if t.progress {
		_, _ = t.outlet.WriteString(ansi.ResetProgressBar)
	}
	t.leave()
}

// report prints why the screen ended, once the terminal is back to normal, and
// gives the exit code.
func (t *terminal) report(errOut io.Writer, err error) int {
	var sig signalled
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errHungUp):
		return exitFailed
	case errors.As(err, &sig):
		if sig.sig != syscall.SIGINT {
			t.lastWords(errOut, err.Error())
		}
		return 128 + int(sig.sig)
	}
	t.lastWords(errOut, err.Error())
	return exitFailed
}

// lastWords prints below what a panic left, which is long, and waits no longer
// for a terminal that takes no bytes than it would for the screen's own.
func (t *terminal) lastWords(errOut io.Writer, words string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintf(errOut, "%sslotop: %s\n", t.stack, words)
	}()
	select {
	case <-said:
	case <-time.After(bytesTaken):
	}
}

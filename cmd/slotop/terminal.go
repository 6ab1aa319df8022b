package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// terminal owns the user's terminal while the screen is on it. Whatever ends the
// screen (a key, a signal, a panic in any goroutine, a terminal that went away)
// the terminal is left as it was found.
type terminal struct {
	in, out *os.File
	found   *term.State // of in before the screen, nil when it is no terminal

	program *tea.Program
	cancel  context.CancelFunc

	mu    sync.Mutex
	why   error  // what ended the screen, nil for the user's own quit
	stack string // of a panic
}

// errHungUp ends the screen when the terminal is gone. Nobody is there to read it.
var errHungUp = errors.New("the terminal went away")

// signalled ends the screen because of a signal.
type signalled struct{ sig syscall.Signal }

func (s signalled) Error() string { return "ended by " + s.sig.String() }

// leaveWithin is how long the screen may take to restore the terminal itself.
// A terminal that no longer takes bytes would hold the program for ever.
const leaveWithin = 400 * time.Millisecond

// show runs the model on the terminal until it ends and says why it ended: nil
// after a quit, otherwise the reason. beside runs next to it, and a panic in it
// ends the screen too.
func (t *terminal) show(ctx context.Context, m tea.Model, beside func(context.Context), opts ...tea.ProgramOption) error {
	ctx, t.cancel = context.WithCancel(ctx)
	defer t.cancel()
	t.found, _ = term.GetState(int(t.in.Fd()))
	stop := t.watchSignals(ctx)
	defer stop()

	opts = append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(t.in), tea.WithOutput(&watchedOutput{t.out, t}),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond), tea.WithFilter(t.filter),
	}, opts...)
	t.program = tea.NewProgram(guarded{m, t}, opts...)

	var others sync.WaitGroup
	others.Add(1)
	go func() {
		defer others.Done()
		defer t.recovered()
		beside(ctx)
	}()
	ended := make(chan error, 1)
	go func() {
		defer t.recovered()
		_, err := t.program.Run()
		ended <- err
	}()
	err := t.await(ctx, ended)
	t.cancel()
	others.Wait()
	return t.reason(err)
}

// framesPerSecond is how often the renderer may write. What it writes is
// decided by the screen's own tick.
const framesPerSecond = 30

// await waits for the screen to end, and for a while more once it was told to.
func (t *terminal) await(ctx context.Context, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		if t.failure() != nil {
			t.restore() // a killed screen leaves out part of its farewell
		}
		return err
	case <-time.After(leaveWithin):
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
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) || errors.Is(err, tea.ErrProgramKilled) {
			return errHungUp
		}
		return err
	}
	return nil
}

// recovered turns a panic into the end of the screen. The message is printed
// after the terminal is back to normal, or nobody could read it.
func (t *terminal) recovered() {
	if r := recover(); r != nil {
		t.end(fmt.Errorf("panic: %v", r), string(debug.Stack()))
	}
}

// farewell takes every mode back that the screen may have set.
const farewell = "\x1b[?2026l\x1b[?2027l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l" +
	"\x1b[>4;0m\x1b[<1u\x1b[0m\x1b[?1049l\x1b[?25h"

// restore puts the terminal back by hand, without waiting for it.
func (t *terminal) restore() {
	if t.found != nil {
		_ = term.Restore(int(t.in.Fd()), t.found)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = t.out.WriteString(farewell)
	}()
	select {
	case <-done:
	case <-time.After(leaveWithin / 4):
	}
}

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
					t.suspend()
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
func (t *terminal) suspend() {
	if err := t.program.ReleaseTerminal(); err != nil {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	if err := t.program.RestoreTerminal(); err != nil {
		t.end(fmt.Errorf("take the terminal again: %w", err), "")
	}
}

// filter makes the screen's own suspend key take the same way as the signal.
func (t *terminal) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGTSTP)
		return nil
	}
	return msg
}

// watchedOutput ends the screen when the terminal takes no more bytes.
type watchedOutput struct {
	*os.File
	t *terminal
}

func (w *watchedOutput) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	if err != nil {
		w.t.end(errHungUp, "")
	}
	return n, err
}

// WriteString keeps io.WriteString from going around Write.
func (w *watchedOutput) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// guarded is the screen's model with every panic turned into an orderly end.
type guarded struct {
	tea.Model
	t *terminal
}

// Init implements tea.Model.
func (g guarded) Init() (cmd tea.Cmd) {
	defer g.t.recovered()
	return g.t.safe(g.Model.Init())
}

// Update implements tea.Model.
func (g guarded) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = g
	defer g.t.recovered()
	m, cmd := g.Model.Update(msg)
	return guarded{m, g.t}, g.t.safe(cmd)
}

// View implements tea.Model.
func (g guarded) View() (v tea.View) {
	defer g.t.recovered()
	return g.Model.View()
}

// safe is cmd, and the commands it hands out, with panics recovered.
func (t *terminal) safe(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer t.recovered()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = t.safe(c)
			}
		}
		return msg
	}
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
		if sig.sig == syscall.SIGINT {
			return exitInterrupted
		}
		fmt.Fprintf(errOut, "slotop: %v\n", err)
		return 128 + int(sig.sig)
	}
	fmt.Fprintf(errOut, "slotop: %v\n", err)
	if t.stack != "" {
		fmt.Fprintln(errOut, strings.TrimSpace(t.stack))
	}
	return exitFailed
}

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// session is the program on a terminal of its own: a pseudo-terminal, an
// emulator that draws what comes and answers what is asked, and all bytes as
// they came.
type session struct {
	tb     testing.TB
	cmd    *exec.Cmd
	master *os.File
	before *unix.Termios

	mu      sync.Mutex
	raw     bytes.Buffer
	chunks  []chunk // when what part of raw came
	screen  *vt.SafeEmulator
	reading bool // the terminal takes bytes
	came    chan struct{}
	resume  chan struct{}

	other *os.File // a second terminal, where input and output differ

	drained chan struct{} // all that was written has come
	ended   chan struct{}
	gone    time.Time
}

// chunk is the end of what came at a time.
type chunk struct {
	end int
	at  time.Time
}

// setup is how a session differs from the usual: 80 by 24, all answered.
type setup struct {
	cols, rows int
	env        []string
	silent     bool // answers no query
	baud       int  // bytes the terminal takes are so slow; 0: at once
	attach     func(cmd *exec.Cmd, tty *os.File)
}

// shellOn runs a shell command on a terminal, with the program as $0.
func shellOn(tb testing.TB, env, command string, args ...string) *session {
	tb.Helper()
	return startWith(tb, setup{env: []string{env}, attach: func(cmd *exec.Cmd, _ *os.File) {
		cmd.Args = append([]string{"bash", "-c", command, cmd.Path}, args...)
		cmd.Path = "/bin/bash"
	}})
}

func start(tb testing.TB, args ...string) *session {
	tb.Helper()
	return startWith(tb, setup{}, args...)
}

func startWith(tb testing.TB, set setup, args ...string) *session {
	tb.Helper()
	if set.cols == 0 {
		set.cols, set.rows = 80, 24
	}
	master, tty := openTerminal(tb)
	s := &session{
		tb: tb, master: master, screen: vt.NewSafeEmulator(set.cols, set.rows), reading: true,
		came: make(chan struct{}, 1), resume: make(chan struct{}, 1), ended: make(chan struct{}), drained: make(chan struct{}),
	}
	s.resize(set.cols, set.rows)
	s.before = s.modes()
	s.cmd = exec.Command(program(tb), args...)
	s.cmd.Env = append(sandbox(tb), set.env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if set.attach != nil {
		set.attach(s.cmd, tty)
	}
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	_ = tty.Close()
	go s.read(set.baud)
	go s.answer(set.silent)
	go s.await()
	tb.Cleanup(s.end)
	return s
}

// openTerminal makes a pseudo-terminal whose master can be closed while it is read.
func openTerminal(tb testing.TB) (master, tty *os.File) {
	tb.Helper()
	blocking, tty, err := pty.Open()
	if err != nil {
		tb.Fatal(err)
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		tb.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "terminal"), tty
}

// control runs a call on the terminal itself.
func (s *session) control(call func(fd int) error) {
	s.tb.Helper()
	raw, err := s.master.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			if err := call(int(fd)); err != nil {
				s.tb.Error(err)
			}
		})
	}
	if err != nil {
		s.tb.Fatal(err)
	}
}

// end makes sure that nothing outlives the test.
func (s *session) end() {
	_ = s.cmd.Process.Kill()
	<-s.ended
	_ = s.master.Close()
	closeInput(s.screen) // ends answer
}

// closeInput ends the reading of an emulator's replies; its Close would race with that.
func closeInput(screen interface{ InputPipe() io.Writer }) {
	if in, ok := screen.InputPipe().(io.Closer); ok {
		_ = in.Close()
	}
}

func (s *session) await() {
	_ = s.cmd.Wait()
	s.gone = time.Now()
	close(s.ended)
}

// read draws what the program writes.
func (s *session) read(baud int) {
	defer close(s.drained)
	size := 32 << 10
	var pause time.Duration
	if baud > 0 {
		size = 64
		pause = time.Duration(size*10) * time.Second / time.Duration(baud)
	}
	buf := make([]byte, size)
	for {
		s.mu.Lock()
		taking := s.reading
		s.mu.Unlock()
		if !taking {
			<-s.resume
			continue
		}
		n, err := s.master.Read(buf)
		if n > 0 {
			s.mu.Lock()
			s.raw.Write(buf[:n])
			s.chunks = append(s.chunks, chunk{s.raw.Len(), time.Now()})
			s.mu.Unlock()
			_, _ = s.screen.Write(buf[:n])
			select {
			case s.came <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
		if pause > 0 {
			<-time.After(pause)
		}
	}
}

// answer hands the emulator's replies to the program.
func (s *session) answer(silent bool) {
	buf := make([]byte, 256)
	for {
		n, err := s.screen.Read(buf)
		if err != nil {
			return
		}
		if !silent {
			// The emulator does not know synchronized output; most terminals do.
			_, _ = s.master.Write(bytes.ReplaceAll(buf[:n], []byte("2026;0$y"), []byte("2026;2$y")))
		}
	}
}

// stopReading makes a terminal that takes no more bytes.
func (s *session) stopReading() {
	s.mu.Lock()
	s.reading = false
	s.mu.Unlock()
}

// bytes is everything that came since a mark.
func (s *session) bytes(since int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()[since:]
}

func (s *session) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.Len()
}

func (s *session) text() string { return ansi.Strip(s.screen.Render()) }

// until waits for something to be true of the terminal.
func (s *session) until(what string, is func() bool) {
	s.tb.Helper()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-s.came:
		case <-time.After(20 * time.Millisecond): // not all that is waited for is drawn
		case <-deadline:
			s.tb.Fatalf("%s did not come; the screen is\n%s\nthe last bytes are %q", what, s.text(), tail(s.bytes(0), 400))
		}
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// shows waits for words on the screen.
func (s *session) shows(words ...string) {
	s.tb.Helper()
	for _, w := range words {
		s.until(strconv.Quote(w), func() bool { return strings.Contains(s.text(), w) })
	}
}

func (s *session) press(keys string) {
	s.tb.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *session) signal(sig syscall.Signal) {
	s.tb.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *session) resize(cols, rows int) {
	s.tb.Helper()
	s.screen.Resize(cols, rows)
	s.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
}

// modes are the line settings: echo, line mode and the rest.
func (s *session) modes() (m *unix.Termios) {
	s.tb.Helper()
	s.control(func(fd int) (err error) {
		m, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	})
	return m
}

// exits waits for the end and gives exit code and how long it took since a time.
func (s *session) exits(since time.Time) (code int, took time.Duration) {
	s.tb.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.tb.Fatalf("still running; the screen is\n%s", s.text())
	}
	s.mu.Lock()
	taking := s.reading
	s.mu.Unlock()
	if taking {
		<-s.drained
	}
	code = s.cmd.ProcessState.ExitCode()
	if w, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		code = 128 + int(w.Signal())
	}
	return code, s.gone.Sub(since)
}

// inOrder checks that the terminal is as it was found.
func (s *session) inOrder() {
	s.tb.Helper()
	if now := s.modes(); *now != *s.before {
		s.tb.Errorf("line settings %+v, were %+v", *now, *s.before)
	}
	s.until("the normal screen", func() bool { return !s.screen.IsAltScreen() })
	if s.screen.CursorHidden() {
		s.tb.Error("the cursor is hidden")
	}
	if left := modesLeftOn(s.bytes(0)); len(left) > 0 {
		s.tb.Errorf("modes left on: %v", left)
	}
}

var (
	modeSwitch = regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`)
	keyStack   = regexp.MustCompile(`\x1b\[([<>])(\d*)u`)
	otherKeys  = regexp.MustCompile(`\x1b\[>4(?:;(\d+))?m`)
)

// usuallyOn are the modes that a terminal has on by itself.
var usuallyOn = map[string]bool{"25": true, "7": true}

// modesLeftOn names what the bytes switch away from its usual state and not back.
func modesLeftOn(raw string) []string {
	changed := map[string]bool{}
	for _, m := range modeSwitch.FindAllStringSubmatch(raw, -1) {
		for mode := range strings.SplitSeq(m[1], ";") {
			changed[mode] = (m[2] == "h") != usuallyOn[mode]
		}
	}
	depth := 0
	for _, m := range keyStack.FindAllStringSubmatch(raw, -1) {
		if m[1] == ">" {
			depth++
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			n = 1
		}
		depth -= n
	}
	changed["the keyboard stack"] = depth != 0
	if m := otherKeys.FindAllStringSubmatch(raw, -1); len(m) > 0 {
		last := m[len(m)-1][1]
		changed["modifyOtherKeys"] = last != "" && last != "0"
	}
	var left []string
	for mode, on := range changed {
		if on {
			left = append(left, mode)
		}
	}
	return left
}

package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// gone is how long the program may live after its terminal or its order to end.
const goneWithin = time.Second

// watching starts the screen over a server and waits for its numbers.
func watching(t *testing.T, set setup, flags ...string) (*session, *engineServer) {
	t.Helper()
	server := newEngine(t)
	s := startWith(t, set, append(flags, server.address())...)
	s.shows("tok/s")
	return s, server
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		env  string
		do   func(s *session)
		code int
		says string
	}{
		{name: "q", do: func(s *session) { s.press("q") }},
		{name: "ctrl-c", do: func(s *session) { s.press("\x03") }},
		{name: "SIGINT", do: func(s *session) { s.signal(syscall.SIGINT) }, code: 130},
		{name: "SIGTERM", do: func(s *session) { s.signal(syscall.SIGTERM) }, code: 143, says: "slotop: ended by terminated"},
		{name: "SIGQUIT", do: func(s *session) { s.signal(syscall.SIGQUIT) }, code: 131, says: "slotop: ended by quit"},
		{name: "SIGHUP", do: func(s *session) { s.signal(syscall.SIGHUP) }, code: 129, says: "slotop: ended by hangup"},
		{name: "panic in a collector", env: "collector", code: exitFailed, says: "slotop: panic: drill in collector"},
		{name: "panic in a command", env: "command", code: exitFailed, says: "slotop: panic: drill in command"},
		{name: "panic in update", env: "update", code: exitFailed, says: "slotop: panic: drill in update"},
		{name: "panic in view", env: "view", code: exitFailed, says: "slotop: panic: drill in view"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := newEngine(t)
			s := startWith(t, setup{env: []string{drillSwitch + "=" + tc.env}}, server.address())
			s.until("the alternate screen", s.screen.IsAltScreen)
			if *s.modes() == *s.before {
				t.Error("the screen changed no line setting: nothing is tested")
			}
			if tc.do != nil {
				s.shows("tok/s")
				begin := time.Now()
				tc.do(s)
				_, took := s.exits(begin)
				t.Logf("left in %.1f ms (budget 50 ms)", took.Seconds()*1e3)
				if took > soon(goneWithin) {
					t.Errorf("took %v", took)
				}
			}
			if code, _ := s.exits(time.Now()); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			s.inOrder()
			normal := s.bytes(0)[strings.LastIndex(s.bytes(0), "\x1b[?1049l"):]
			says(t, "the normal screen", normal, tc.says)
			if tc.env != "" {
				says(t, "the normal screen", normal, "goroutine ")
			}
		})
	}
}

func TestInterruptDuringStart(t *testing.T) {
	server := newEngine(t)
	for _, wait := range []string{"", "\x1b"} {
		s := start(t, server.address())
		s.until("the start", func() bool { return strings.Contains(s.bytes(0), wait) })
		s.signal(syscall.SIGINT)
		if code, _ := s.exits(time.Now()); code == exitOK {
			t.Error("exit code 0")
		}
		s.inOrder()
	}
}

// TestTerminalGone is OC-05: however the terminal goes, the program goes too,
// and polls no more.
func TestTerminalGone(t *testing.T) {
	t.Parallel()
	nobody := func(cmd *exec.Cmd, _ *os.File) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
	tests := []struct {
		name   string
		attach func(cmd *exec.Cmd, tty *os.File)
		do     func(s *session)
	}{
		{"the terminal is closed", nil, func(s *session) { s.hangUp() }},
		{"SIGHUP", nil, func(s *session) { s.signal(syscall.SIGHUP) }},
		{"closed without a signal", nobody, func(s *session) { s.hangUp() }},
		{"the end of the input", nil, func(s *session) { s.other.Close() }},
		{"the output fails", nil, func(s *session) { s.other.Close() }},
	}
	for i, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			set := setup{attach: tc.attach}
			var other *os.File
			if i >= 3 {
				master, tty := openTerminal(t)
				other = master
				go func() { _, _ = io.Copy(io.Discard, master) }()
				set.attach = func(cmd *exec.Cmd, _ *os.File) {
					if i == 3 {
						cmd.Stdin = tty
					} else {
						cmd.Stdout = tty
					}
				}
				defer tty.Close()
			}
			server := newEngine(t)
			s := startWith(t, set, server.address())
			s.other = other
			server.polled(t, 2)
			s.leavesNothing(server, func() { tc.do(s) })
		})
	}
}

// leavesNothing takes the terminal away and checks that the program goes, turns
// no circles until then, and leaves no poll, process or file.
func (s *session) leavesNothing(server *engineServer, take func()) {
	s.tb.Helper()
	before, begin := s.cpu(), time.Now()
	if others := s.family(); !slices.Equal(others, []int{s.cmd.Process.Pid}) {
		s.tb.Errorf("the program has processes %v", others)
	}
	take()
	code, took := s.exits(begin)
	if code == exitOK || took > soon(goneWithin) {
		s.tb.Errorf("exit code %d after %v", code, took)
	}
	used := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime() - before
	if used > soon(500*time.Millisecond) {
		s.tb.Errorf("%v of CPU after the terminal went", used)
	}
	polls := server.polls.Load()
	if !server.quiet() {
		s.tb.Errorf("polls after the end: %d, then %d", polls, server.polls.Load())
	}
	if left := s.family(); len(left) > 0 {
		s.tb.Errorf("processes left: %v", left)
	}
	if left := s.files(); len(left) > 0 {
		s.tb.Errorf("files left: %v", left)
	}
	s.tb.Logf("gone in %.1f ms, %.0f ms of CPU in that", took.Seconds()*1e3, used.Seconds()*1e3)
}

// cpu is what the running program has used of the processor.
func (s *session) cpu() time.Duration {
	s.tb.Helper()
	var used time.Duration
	for _, ticks := range s.stat(s.cmd.Process.Pid, 11, 13) {
		used += time.Duration(ticks) * 10 * time.Millisecond // of a hundredth of a second, on every Linux
	}
	return used
}

// stat is some numbers of what the kernel says of a process, counted as in
// proc(5) from the one after the state on; nil when it is gone.
func (s *session) stat(pid, from, to int) []int {
	text, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var out []int
	for _, f := range fields[from:to] {
		n, err := strconv.Atoi(f)
		if err != nil {
			s.tb.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// family is every process of the program's session, itself among them.
func (s *session) family() []int {
	s.tb.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.tb.Fatal(err)
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if n := s.stat(pid, 3, 4); len(n) > 0 && n[0] == s.cmd.Process.Pid {
			out = append(out, pid)
		}
	}
	return out
}

// files is all that lies in the program's home, which is where it puts what is
// temporary too.
func (s *session) files() (found []string) {
	s.tb.Helper()
	for _, v := range s.cmd.Env {
		home, ok := strings.CutPrefix(v, "TMPDIR=")
		if !ok {
			continue
		}
		err := filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
			if path != home {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			s.tb.Fatal(err)
		}
	}
	return found
}

// TestIgnoredHangUp is a terminal that closes under a program whose parent had
// it ignore the signal for that, as nohup does.
func TestIgnoredHangUp(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	s := startWith(t, setup{attach: func(cmd *exec.Cmd, _ *os.File) {
		cmd.Args = []string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`, cmd.Path, cmd.Args[1]}
		cmd.Path = "/bin/sh"
	}}, server.address())
	server.polled(t, 2)
	s.leavesNothing(server, s.hangUp)
}

// TestStuckTerminal: a terminal that takes no bytes holds up neither polls nor
// the end.
func TestStuckTerminal(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(s *session){
		"q":       func(s *session) { s.press("q") },
		"SIGTERM": func(s *session) { s.signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newEngine(t)
			s := startWith(t, setup{cols: 200, rows: 60}, "--every", "200ms", server.address())
			s.shows("tok/s")
			s.stopReading()
			s.fill()
			before := server.polls.Load()
			server.polled(t, before+5)
			begin := time.Now()
			leave(s)
			s.exits(begin)
			if took := s.gone.Sub(begin); took > soon(goneWithin) {
				t.Errorf("took %v", took)
			}
			if now := s.modes(); *now != *s.before {
				t.Errorf("line settings %+v, were %+v", *now, *s.before)
			}
		})
	}
}

// TestStopAndContinue: the terminal is in order while the program is stopped,
// and painted again after.
func TestStopAndContinue(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(s *session){
		"ctrl-z":  func(s *session) { s.press("\x1a") },
		"SIGTSTP": func(s *session) { s.signal(syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := watching(t, setup{})
			stop(s)
			s.until("the stop", func() bool { return s.state() == 'T' })
			s.inOrder()
			mark := s.mark()
			s.signal(syscall.SIGCONT)
			s.until("the alternate screen", s.screen.IsAltScreen)
			s.shows("tok/s", "quit")
			if !strings.Contains(s.bytes(mark), "\x1b[2J") {
				t.Error("not painted anew")
			}
			begin := time.Now()
			s.press("q")
			if code, _ := s.exits(begin); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			s.inOrder()
		})
	}
}

// state is the letter for what the process does, as in ps.
func (s *session) state() byte {
	stat, err := os.ReadFile("/proc/" + itoa(s.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return after[0]
}

// hangUp closes the terminal.
func (s *session) hangUp() { _ = s.master.Close() }

// fill waits until the terminal's own buffer is full too.
func (s *session) fill() {
	s.tb.Helper()
	last, same := -1, 0
	s.until("a full terminal", func() bool {
		n := 0
		s.control(func(fd int) (err error) {
			n, err = unix.IoctlGetInt(fd, unix.TIOCINQ)
			return err
		})
		if n != last {
			last, same = n, 0
		}
		same++
		return same > 20
	})
}

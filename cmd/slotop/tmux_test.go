package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tmux is a terminal multiplexer of a test's own, with one window.
type tmux struct {
	tb   testing.TB
	path string
	env  []string
	sock string
}

// inTmux starts a shell of 80 by 24 in a multiplexer, without anybody's settings.
func inTmux(t *testing.T) *tmux {
	t.Helper()
	m := &tmux{tb: t, path: part(t, "tmux"), env: sandbox(t, "SLOTOP="+program(t)), sock: filepath.Join(t.TempDir(), "s")}
	m.do("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "exec env PS1='prompt> ' bash --norc -i") // a shell that only runs a command unsets it
	shell, err := strconv.Atoi(strings.TrimSpace(m.do("display-message", "-p", "#{pane_pid}")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = m.command("kill-server").Run()
		for end := time.After(patience); lives(shell); { // it may still write into a folder that is removed now
			select {
			case <-time.After(10 * time.Millisecond):
			case <-end:
				t.Error("the shell outlives its multiplexer")
				return
			}
		}
	})
	m.shows("prompt>")
	return m
}

func (m *tmux) command(args ...string) *exec.Cmd {
	c := exec.Command(m.path, append([]string{"-S", m.sock}, args...)...)
	c.Env = m.env
	return c
}

func (m *tmux) do(args ...string) string {
	m.tb.Helper()
	out, err := m.command(args...).CombinedOutput()
	if err != nil {
		m.tb.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// keys presses keys by their names.
func (m *tmux) keys(names ...string) {
	m.tb.Helper()
	m.do(append([]string{"send-keys"}, names...)...)
}

// screen is the text of the pane.
func (m *tmux) screen() string { return m.do("capture-pane", "-p") }

// until waits for something to be true of the pane.
func (m *tmux) until(what string, is func() bool) {
	m.tb.Helper()
	for deadline := time.After(patience); !is(); {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			m.tb.Fatalf("%s did not come; the pane is\n%s", what, m.screen())
		}
	}
}

func (m *tmux) shows(words ...string) {
	m.tb.Helper()
	for _, w := range words {
		m.until(strconv.Quote(w), func() bool { return strings.Contains(m.screen(), w) })
	}
}

// runs types the program's call into the shell and waits for its numbers.
func (m *tmux) runs(server *engineServer) {
	m.tb.Helper()
	m.keys("$SLOTOP "+server.address(), "Enter")
	m.shows("tok/s", "quit")
}

// pid is the process that the pane's terminal listens to.
func (m *tmux) pid() int {
	m.tb.Helper()
	shell := strings.TrimSpace(m.do("display-message", "-p", "#{pane_pid}"))
	children, err := os.ReadFile("/proc/" + shell + "/task/" + shell + "/children")
	if err != nil {
		m.tb.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		m.tb.Fatalf("the shell's children are %q", children)
	}
	return pid
}

// TestTmux: the screen inside a multiplexer is drawn, resized, suspended and left, and
// what the multiplexer answered to queries does not end in the shell.
func TestTmux(t *testing.T) {
	t.Parallel()
	m := inTmux(t)
	server := newEngine(t)
	m.runs(server)
	for _, size := range [][2]int{{40, 10}, {132, 50}, {80, 24}} {
		m.do("resize-window", "-x", strconv.Itoa(size[0]), "-y", strconv.Itoa(size[1]))
		m.until("a screen of that size", func() bool {
			lines := strings.Split(strings.TrimRight(m.screen(), "\n"), "\n")
			return len(lines) == size[1] && strings.Contains(lines[0], "LIVE") && strings.Contains(lines[size[1]-1], "quit")
		})
	}
	m.keys("C-z")
	m.shows("Stopped")
	m.keys("fg", "Enter")
	m.until("the screen again", func() bool { return strings.HasPrefix(m.screen(), " slotop") })
	polls := server.polls.Load()
	server.polled(t, polls+2)
	m.keys("q")
	m.until("the shell's next prompt", func() bool {
		lines := strings.Split(strings.TrimSpace(m.screen()), "\n")
		return lines[len(lines)-1] == "prompt>"
	})
	m.keys("echo $?$?", "Enter")
	m.shows("00")
	for l := range strings.Lines(m.screen()) {
		l = strings.TrimRight(l, "\n")
		if l != "" && !strings.HasPrefix(l, "prompt>") && !strings.Contains(l, "SLOTOP") && !strings.Contains(l, "Stopped") && l != "00" {
			t.Errorf("the shell shows %q", l)
		}
	}
}

// TestTmuxPaneKilled is OC-05 in a multiplexer: with its pane the program goes, and
// polls no more.
func TestTmuxPaneKilled(t *testing.T) {
	t.Parallel()
	m := inTmux(t)
	server := newEngine(t)
	m.runs(server)
	pid := m.pid()
	begin := time.Now()
	m.do("kill-pane")
	for deadline := time.After(patience); lives(pid); {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatal("the program lives on")
		}
	}
	if took := time.Since(begin); took > soon(goneWithin) {
		t.Errorf("took %v", took)
	}
	if !server.quiet() {
		t.Error("it polls on")
	}
}

// lives reports whether a process runs: one that ended may wait for its parent.
func lives(pid int) bool {
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestTmuxResizeStorm drags the window about on every screen and whatever lies over it,
// while numbers come: afterwards the picture is whole, and of the last size.
func TestTmuxResizeStorm(t *testing.T) {
	t.Parallel()
	m := inTmux(t)
	server := newEngine(t)
	server.racing()
	m.keys("$SLOTOP --every 200ms "+server.address(), "Enter")
	m.shows("tok/s", "quit")
	steps := []struct {
		keys []string
		foot string // on the last line
	}{
		{[]string{"1"}, "quit"}, {[]string{"2"}, "quit"}, {[]string{"3"}, "quit"}, {[]string{"4"}, "quit"}, {[]string{"6"}, "quit"}, {[]string{"7"}, "quit"},
		{[]string{"5"}, "quit"}, {[]string{"Enter"}, "esc"}, {[]string{"1", "Tab", "e"}, "esc"}, {[]string{"?"}, "esc"}, {[]string{"e"}, "esc"},
		{[]string{"1", "m", "x", "Enter", "c"}, "esc"}, {[]string{"1", "m"}, "cancel"}, {[]string{"C-u", "Enter", "5", "/", "1"}, "keep"},
		{[]string{"Enter", "1", "["}, "live"}, {[]string{"{"}, "live"}, {[]string{"g", "Space"}, "quit"},
	}
	for i, s := range steps {
		m.keys(s.keys...)
		for n := range 8 {
			m.do("resize-window", "-x", strconv.Itoa(20+(i*53+n*37)%180), "-y", strconv.Itoa(4+(i*17+n*13)%60))
		}
		w, h := 80+i%3*20, 24+i%4*8
		m.do("resize-window", "-x", strconv.Itoa(w), "-y", strconv.Itoa(h))
		m.until(strconv.Quote(s.foot)+" on a whole screen after "+strings.Join(s.keys, " "), func() bool {
			lines := strings.Split(strings.TrimRight(m.screen(), "\n"), "\n")
			return len(lines) == h && strings.HasPrefix(lines[0], " slotop") && strings.Contains(lines[h-1], s.foot)
		})
	}
	m.keys("q")
	m.until("the shell", func() bool { return !strings.Contains(m.screen(), "slotop  ") })
	m.keys("echo $?$?", "Enter")
	m.shows("00")
}

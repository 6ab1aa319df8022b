package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"slotop/sources/sourcetest/shared"
)

// The cases of area D on a real terminal, and what the terminal is sent.

// ownSequences is every escape sequence that the screen may write: cursor,
// erasing, colours, modes, keyboard and queries, the window's title in plain text,
// and no clipboard or hyperlink.
var ownSequences = regexp.MustCompile(`^\x1b(` +
	`\[[0-9;]*[ABCDEFGHIJKLMPSTXZ@dbmr]|\[[0-9;]*m|` +
	`\[\?[0-9;]+[hl]|\[\?[0-9]+\$p|\[\?5W|` +
	`\[>[0-9;]*m|\[[><=][0-9;]*u|\[\?u|` +
	`\]2;(?:slotop|[^\x00-\x1f\x7f-\x9f]* — slotop)(?: \(simulated\))?\x07|\]2;\x07|` +
	`\]11;\?\x07|\[2[23];2t|[78M])`)

// foreign returns the first thing in raw that is no text, no line movement and
// no sequence of the screen's own, "" when there is none.
func foreign(raw string) string {
	for len(raw) > 0 {
		if m := ownSequences.FindString(raw); m != "" {
			raw = raw[len(m):]
			continue
		}
		r, n := utf8.DecodeRuneInString(raw)
		control := r < 0x20 && !strings.ContainsRune("\r\n\b\t", r) || r >= 0x7f && r < 0xa0
		if control || r == utf8.RuneError || r == 0x202e {
			return fmt.Sprintf("%q", raw[:min(len(raw), 20)])
		}
		raw = raw[n:]
	}
	return ""
}

func TestForeignBytesAreFound(t *testing.T) {
	for raw, ok := range map[string]bool{
		"\x1b[38;5;109mLIVE\x1b[m\r\n\x1b[?1049h": true,
		"\x1b]0;title\x07":                        false,
		"\x1b]2;title\x07":                        false,
		"\x1b]2;▲ chat BREACHED — slotop\x07":     true,
		"\x1b]2;a\u009b2J — slotop\x07":           false,
		"\x1b]52;c;aGk=\x07":                      false,
		"a\u009b2J":                               false,
		"a\x9b2J":                                 false,
		"\x07":                                    false,
		"name\u202eeman":                          false,
	} {
		if got := foreign(raw); (got == "") != ok {
			t.Errorf("%q: %s", raw, got)
		}
	}
}

// TestOC11EscapesOnTheTerminal: what labels and error bodies hold moves nothing
// on the terminal.
func TestOC11EscapesOnTheTerminal(t *testing.T) {
	t.Parallel()
	page := string(shared.File(t, "cases/files/escape-injection.prom"))
	t.Run("labels", func(t *testing.T) {
		t.Parallel()
		server := newEngine(t)
		server.serve(func() string { return page })
		s := startWith(t, setup{cols: 120, rows: 40}, server.address())
		s.shows("tok/s")
		s.press("5\r") // the fleet, and the target opened: all names and notes
		s.shows("esc")
		s.quits()
	})
	t.Run("error body", func(t *testing.T) {
		t.Parallel()
		server := newEngine(t)
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("boom \x1b]0;title\x07\x1b[2J\x1b]52;c;aGk=\x07 \u202e\u009b31m\r overwritten " + page))
		})
		s := startWith(t, setup{cols: 120, rows: 40}, server.address())
		s.shows("500")
		s.press("5\r")
		s.shows("esc")
		s.quits()
	})
}

// quits leaves by key and checks what stands in the way of that.
func (s *session) quits() {
	s.tb.Helper()
	s.press("q")
	if code, _ := s.exits(time.Now()); code != exitOK {
		s.tb.Errorf("exit code %d", code)
	}
	s.inOrder()
	if f := foreign(s.bytes(0)); f != "" {
		s.tb.Errorf("the terminal was sent %s", f)
	}
}

var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// coloured returns the first sequence that sets a colour.
func coloured(raw string) string {
	for _, m := range colour.FindAllString(raw, -1) {
		for p := range strings.SplitSeq(strings.Trim(m, "\x1b[m"), ";") {
			if n, err := strconv.Atoi(p); err == nil && (n >= 30 && n <= 49 || n >= 90 && n <= 107) {
				return m
			}
		}
	}
	return ""
}

func TestOC17NoColour(t *testing.T) {
	t.Parallel()
	s, _ := watching(t, setup{})
	if coloured(s.bytes(0)) == "" {
		t.Error("no colour at all: nothing is tested")
	}
	s.quits()
	s, _ = watching(t, setup{env: []string{"NO_COLOR=1"}})
	s.press("5t?")
	s.shows("theme")
	s.quits()
	if c := coloured(s.bytes(0)); c != "" {
		t.Errorf("NO_COLOR, and the terminal was sent %q", c)
	}
}

// TestOC25NoTerminal is every way of starting without one.
func TestOC25NoTerminal(t *testing.T) {
	server := newEngine(t)
	shell := `exec 2>"$ERR"; exec </dev/tty >/dev/tty; "$0" "$1" ` // a terminal, then what the case takes away
	tests := []struct{ name, command string }{
		{"into a pipe", shell + "| cat"},
		{"nothing to read", shell + "</dev/null"},
		{"into a file", shell + `>"$HOME/out"; c=$?; cat "$HOME/out"; exit $c`},
		{"one line of it", shell + "| head -1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			errFile := t.TempDir() + "/err"
			s := shellOn(t, "ERR="+errFile, "set -o pipefail; "+tc.command, server.address())
			begin := time.Now()
			code, took := s.exits(begin)
			if code != exitUsage || took > soon(2*time.Second) {
				t.Errorf("exit code %d after %v", code, took)
			}
			s.inOrder()
			if out := s.bytes(0); out != "" {
				t.Errorf("printed %q", out)
			}
			said, err := os.ReadFile(errFile)
			if err != nil {
				t.Fatal(err)
			}
			ran{err: string(said), code: code}.refuses(t, exitUsage, "needs a terminal", "slotop snapshot")
		})
	}
	t.Run("no terminal at all", func(t *testing.T) {
		headless(t, server.address()).refuses(t, exitUsage, "needs a terminal", "slotop snapshot")
	})
	t.Run("a dumb terminal", func(t *testing.T) {
		s := startWith(t, setup{env: []string{"TERM=dumb"}}, server.address())
		if code, _ := s.exits(time.Now()); code != exitUsage {
			t.Errorf("exit code %d", code)
		}
		s.shows("TERM=dumb", "slotop snapshot")
		if strings.Contains(s.bytes(0), "\x1b") {
			t.Errorf("sent %q", s.bytes(0))
		}
	})
}

// countFor is how long the bytes of a session are counted: long enough for the
// time axis of a young chart, which moves in steps, to be a mean.
const countFor = 5 * time.Second

// TestOC31Bytes counts what a terminal of 80 by 24 is sent each second.
func TestOC31Bytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		every string
		still bool
		more  int // targets
		most  int // bytes a second
	}{
		{name: "nothing moves", every: "1s", still: true, most: 200},
		{name: "everything moves", every: "1s", most: 4000},
		{name: "20 updates a second", every: "200ms", more: 3, most: 40000},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := newEngine(t)
			server.racing()
			args := []string{"--every", tc.every, server.address()}
			for range tc.more {
				args = append(args, newEngine(t).address())
			}
			if tc.still {
				server.still(t)
			}
			s := startWith(t, setup{}, args...)
			s.shows("tok/s")
			server.polled(t, server.polls.Load()+3)
			mark, begin := s.mark(), time.Now()
			<-time.After(countFor)
			raw, took := s.bytes(mark), time.Since(begin).Seconds()
			frames := strings.Count(raw, "\x1b[?2026h")
			if frames == 0 {
				t.Fatal("no frame that says where it begins")
			}
			perSecond := float64(len(raw)) / took
			t.Logf("%.0f B/s, %.1f frames/s, %.0f B a frame", perSecond, float64(frames)/took, float64(len(raw))/float64(frames))
			if perSecond > float64(tc.most) {
				t.Errorf("%.0f bytes a second, at most %d", perSecond, tc.most)
			}
			if float64(frames) > 10*took+1 { // one more, where the count begins just before a frame
				t.Errorf("%d frames in %.1f s, at most ten a second", frames, took)
			}
			if strings.Contains(raw, "\x1b[2J") {
				t.Error("the whole screen was cleared")
			}
			s.quits()
		})
	}
}

// TestSlowLink: keys do not lag behind on a line of 57 600 baud.
func TestSlowLink(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	server.racing()
	s := startWith(t, setup{baud: 57600}, server.address())
	s.shows("tok/s")
	server.polled(t, server.polls.Load()+2)
	s.answersSoon("?", "overview: who is hurt")
	s.answersSoon("?", "GOODPUT")
	begin := time.Now()
	s.press("q")
	_, took := s.exits(begin)
	t.Logf("quit after %.1f ms", took.Seconds()*1e3)
	if took > soon(reaction) {
		t.Errorf("quit took %v", took)
	}
}

// reaction is how long a key may wait for what it does.
const reaction = 100 * time.Millisecond

// answersSoon presses a key while nothing is on the way and times the first
// bytes after it, which are the answer's.
func (s *session) answersSoon(key, shown string) {
	s.tb.Helper()
	for last := -1; last != s.mark(); <-time.After(2 * reaction) {
		last = s.mark()
	}
	mark, begin := s.mark(), time.Now()
	s.press(key)
	s.until("an answer to the key", func() bool { return s.mark() > mark })
	took := s.cameAt(mark).Sub(begin)
	s.shows(shown)
	s.tb.Logf("%q: first bytes after %.1f ms", key, took.Seconds()*1e3)
	if took > soon(reaction) {
		s.tb.Errorf("%q was answered after %v", key, took)
	}
}

// cameAt is when the first byte after a mark came.
func (s *session) cameAt(mark int) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.chunks {
		if c.end > mark {
			return c.at
		}
	}
	return time.Time{}
}

// mouseModes are those that take clicks away from the terminal's own selection.
var mouseModes = regexp.MustCompile(`\x1b\[\?(9|100[0-6]|1015|1016)(;[0-9]+)*h`)

func TestOC36Mouse(t *testing.T) {
	t.Parallel()
	s, _ := watching(t, setup{})
	s.press("5M?")
	s.shows("theme")
	s.quits()
	for _, m := range mouseModes.FindAllString(s.bytes(0), -1) {
		if m != "\x1b[?1004h" { // focus, which selection does not need
			t.Errorf("a default session sent %q", m)
		}
	}
	s, _ = watching(t, setup{}, "--mouse")
	on, off := "\x1b[?1002h", "\x1b[?1002l"
	s.until("the mouse", func() bool { return strings.Contains(s.bytes(0), on) })
	s.press("M")
	s.until("the mouse to go", func() bool { return strings.Contains(s.bytes(0), off) })
	mark := s.mark()
	s.press("M")
	s.until("the mouse again", func() bool { return strings.Contains(s.bytes(mark), on) })
	mark = s.mark()
	s.quits()
	says(t, "the farewell", s.bytes(mark), off)
}

var clipboard = regexp.MustCompile(`\x1b\]52;c;([A-Za-z0-9+/=]+)\x07`)

// TestOC36Copy: a key gives the screen as plain text, without borders.
func TestOC36Copy(t *testing.T) {
	t.Parallel()
	s, _ := watching(t, setup{})
	s.press("y")
	s.until("the clipboard", func() bool { return clipboard.MatchString(s.bytes(0)) })
	text, err := base64.StdEncoding.DecodeString(clipboard.FindStringSubmatch(s.bytes(0))[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"slotop", "chat", "tok/s"} {
		says(t, "the copy", string(text), w)
	}
	saysNot(t, "the copy", string(text), "\x1b")
	s.press("q")
	s.exits(time.Now())
	s.inOrder()
}

func TestResize(t *testing.T) {
	t.Parallel()
	s, server := watching(t, setup{})
	for _, size := range [][2]int{{40, 10}, {80, 24}, {200, 60}, {20, 5}, {80, 24}} {
		s.resize(size[0], size[1])
		if size[0] < 40 {
			s.shows("slotop needs")
			continue
		}
		s.shows("slotop", "quit")
		server.polled(t, server.polls.Load()+1)
		lines := strings.Split(s.text(), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, "quit") || len(lines) != size[1] {
			t.Errorf("%v: %d lines, the last is %q", size, len(lines), last)
		}
	}
	s.quits()
}

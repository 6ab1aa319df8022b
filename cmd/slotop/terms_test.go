package main

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// colourDepths are the ways to choose a colour, the richest first.
var colourDepths = []struct {
	name string
	seq  *regexp.Regexp
}{
	{"16 million", regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?[34]8[;:]2[;:]`)},
	{"256", regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?[34]8[;:]5[;:]`)},
	{"16", regexp.MustCompile(`\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|9[0-7]|10[0-7])(?:;[0-9;]*)?m`)},
}

func colourDepth(raw string) string {
	for _, d := range colourDepths {
		if d.seq.MatchString(raw) {
			return d.name
		}
	}
	return "none"
}

// TestTerminals: whatever the terminal says it is, and where it says nothing, the screen
// comes in what that terminal has, and leaves it as it was.
func TestTerminals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		env    []string
		ascii  bool
		colour string
	}{
		{"true colour", []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, false, "16 million"},
		{"256 colours", []string{"TERM=xterm-256color", "COLORTERM="}, false, "256"},
		{"16 colours", []string{"TERM=xterm-16color", "COLORTERM="}, false, "16"},
		{"screen", []string{"TERM=screen", "COLORTERM="}, false, "256"},
		{"the Linux console", []string{"TERM=linux", "COLORTERM="}, true, "16"},
		{"vt100", []string{"TERM=vt100", "COLORTERM="}, true, "none"},
		{"no TERM", []string{"TERM=", "COLORTERM="}, false, "none"},
		{"an unknown TERM", []string{"TERM=nosuchterm", "COLORTERM="}, false, "16"},
		{"NO_COLOR", []string{"TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=1"}, false, "none"},
		{"the locale C", []string{"TERM=xterm-256color", "COLORTERM=", "LC_ALL=C"}, true, "256"},
		{"Latin-1", []string{"TERM=xterm-256color", "COLORTERM=", "LC_ALL=de_DE.ISO-8859-1"}, true, "256"},
	}
	server := newEngine(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := startWith(t, setup{env: append([]string{"LC_ALL=C.UTF-8"}, tc.env...)}, server.address())
			s.shows("tok/s", "q quit")
			text := s.text()
			if got := strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0; got != tc.ascii {
				t.Errorf("ASCII only: %v, want %v\n%s", got, tc.ascii, text)
			}
			begin := time.Now()
			s.press("q")
			if code, _ := s.exits(begin); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			if got := colourDepth(s.bytes(0)); got != tc.colour {
				t.Errorf("colours: %s, want %s", got, tc.colour)
			}
			if raw := s.bytes(0); tc.name == "vt100" && strings.Contains(raw, "\x1b]") {
				t.Error("a terminal that prints operating system commands is sent some")
			}
			s.inOrder()
		})
	}
}

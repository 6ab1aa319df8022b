package main

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"slotop/tui"
)

func TestNight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"22:00-06:00", "22:00-06:00"}, {"22-6", "22:00-06:00"}, {" 0:30 – 24 ", "00:30-00:00"}, {"never", "never"},
		{"", "!"}, {"22", "!"}, {"22:00", "!"}, {"25-6", "!"}, {"22:60-6", "!"}, {"6-6", "!"}, {"-1-6", "!"}, {"24:30-6", "!"}, {"night", "!"}, {"1-2-3", "!"},
	} {
		var n night
		err := n.set(c.text)
		switch {
		case c.want == "!" && err == nil:
			t.Errorf("%q is taken for %s", c.text, n)
		case c.want == "!" && !strings.Contains(err.Error(), "such as 22:00-06:00"):
			t.Errorf("%q: %v", c.text, err)
		case c.want != "!" && (err != nil || n.String() != c.want):
			t.Errorf("%q is %s, %v; want %s", c.text, n, err, c.want)
		}
	}
}

// TestWall: flags go over the file, the file over the defaults, and reduced motion may
// come from the environment.
func TestWall(t *testing.T) {
	file, err := parseConfig("w.yaml", []byte("kiosk: {on: true, page: 30s, night: 21-7}\n"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(stillSwitch, "")
	if w := (&app{}).wall(&file); w.still || w.kiosk() == nil || *w.kiosk() != (tui.Kiosk{Every: 30 * time.Second, NightFrom: 21 * 60, NightTo: 7 * 60}) {
		t.Errorf("of the file: %+v", w)
	}
	if w := (&app{}).wall(&fileConfig{}); w.kiosk() != nil || w.still || w.night != usualNight {
		t.Errorf("of nothing: %+v", w)
	}
	if w := (&app{flags: flags{kiosk: true, still: true}}).wall(&fileConfig{}); !w.still || *w.kiosk() != (tui.Kiosk{Every: tui.DefaultPage, NightFrom: 22 * 60, NightTo: 6 * 60}) {
		t.Errorf("of flags: %+v", w)
	}
	t.Setenv(stillSwitch, "1")
	if w := (&app{}).wall(&fileConfig{}); !w.still {
		t.Error("NO_MOTION does nothing")
	}
	for text, want := range map[string]string{
		"kiosk: {page: 1s}\n":     "w.yaml:1:15: page 1s: from 3s to 1h0m0s",
		"kiosk: {night: late}\n":  "w.yaml:1:16",
		"kiosk: {nights: 1-2}\n":  "w.yaml:1:9: unknown key \"nights\"",
		"reduced_motion: some\n":  "w.yaml:1:17",
		"alerts: {progress: 9}\n": "w.yaml:1:20",
	} {
		if _, err := parseConfig("w.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestTellsProgress: where OSC 9 is a notification, no progress is told.
func TestTellsProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"", false}, {"TERM_PROGRAM=Apple_Terminal", false}, {"TERM_PROGRAM=iTerm.app", false}, {"TERM_PROGRAM=iTerm.app TERM_FEATURES=T3LrP", true},
		{"WT_SESSION=1", true}, {"ConEmuANSI=ON", true}, {"ConEmuANSI=OFF", false}, {"TERM_PROGRAM=WezTerm", true}, {"TERM_PROGRAM=ghostty", true},
		{"VTE_VERSION=7600", false}, {"VTE_VERSION=8000", true}, {"VTE_VERSION=x", false}, {"WT_SESSION=1 TMUX=/tmp/x", false}, {"TERM_PROGRAM=ghostty STY=1.x", false},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		if got := tellsProgress(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%s: %v", c.env, got)
		}
	}
}

// TestProgressIsTakenBack: what was shown on the terminal's tab is gone after the end,
// and nothing is shown where it would be taken for a notification.
func TestProgressIsTakenBack(t *testing.T) {
	t.Parallel()
	tape := recorded(t, "S1", "--for", "120s")
	for _, env := range []string{"TERM_PROGRAM=ghostty", "TERM_PROGRAM=other"} {
		s := startWith(t, setup{cols: 80, rows: 24, env: []string{env}}, "replay", tape)
		s.shows("REPLAY")
		begin := time.Now()
		s.press("q")
		s.exits(begin)
		raw := s.bytes(0)
		told := strings.Contains(raw, "\x1b]9;4;1;")
		if told != (env == "TERM_PROGRAM=ghostty") {
			t.Errorf("%s: progress %v", env, told)
		}
		if told && strings.LastIndex(raw, ansi.ResetProgressBar) < strings.LastIndex(raw, "\x1b]9;4;1;") {
			t.Errorf("%s: it is still there after the end", env)
		}
	}
}

// TestKioskOnATerminal: nobody presses a key, and q ends it all the same.
func TestKioskOnATerminal(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	s := startWith(t, setup{cols: 100, rows: 30}, "--kiosk", server.address())
	s.shows("GOODPUT", "TTFT p95", "█")
	if strings.Contains(s.text(), "q quit") {
		t.Error("it asks for keys")
	}
	begin := time.Now()
	s.press("q")
	if code, _ := s.exits(begin); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	s.inOrder()
}

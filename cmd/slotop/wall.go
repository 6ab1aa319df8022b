package main

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"slotop/tui"
)

// This file is for screens that nobody touches, or that nothing should move on.

// fileKiosk makes every screen one for the wall, and says how that behaves.
type fileKiosk struct {
	On    bool     `yaml:"on"`
	Page  duration `yaml:"page"`  // how long each page is shown
	Night *night   `yaml:"night"` // when it is dim
}

// night is a part of the day, in minutes after midnight. It is empty where both are the
// same.
type night struct{ from, to int }

// usualNight is when nobody but a breach should light up a room.
var usualNight = night{from: 22 * 60, to: 6 * 60}

// noNight is the word for a screen that is never dim.
const noNight = "never"

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *night) UnmarshalYAML(node *yaml.Node) error { return n.set(node.Value) }

func (n *night) set(s string) error {
	if s == noNight {
		*n = night{}
		return nil
	}
	from, to, found := strings.Cut(strings.ReplaceAll(s, "–", "-"), "-")
	a, errFrom := timeOfDay(from)
	b, errTo := timeOfDay(to)
	if !found || errFrom != nil || errTo != nil || a == b {
		return fmt.Errorf("%q is no part of a day: write two times, such as 22:00-06:00, or %s", s, noNight)
	}
	*n = night{from: a, to: b}
	return nil
}

// timeOfDay reads 22:00, or 22, as minutes after midnight.
func timeOfDay(s string) (int, error) {
	hours, minutes, found := strings.Cut(strings.TrimSpace(s), ":")
	if !found {
		minutes = "0"
	}
	h, errHours := strconv.ParseUint(hours, 10, 8)
	m, errMinutes := strconv.ParseUint(minutes, 10, 8)
	if errHours != nil || errMinutes != nil || h > 24 || m > 59 || h == 24 && m > 0 {
		return 0, strconv.ErrSyntax
	}
	return int(h%24)*60 + int(m), nil
}

// String is the night as it is written.
func (n night) String() string {
	if n.from == n.to {
		return noNight
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", n.from/60, n.from%60, n.to/60, n.to%60)
}

// shortestPage is the least that a page can be read in.
const (
	shortestPage = 3 * time.Second
	longestPage  = time.Hour
)

// wall is how the screen behaves where nobody touches it.
type wall struct {
	on    bool
	page  time.Duration
	night night
	still bool // reduced motion
}

// wall is what flags, file and environment come to.
func (a *app) wall(file *fileConfig) wall {
	w := wall{
		on: a.flags.kiosk || file.Kiosk.On, page: cmp.Or(time.Duration(file.Kiosk.Page), tui.DefaultPage), night: usualNight,
		still: a.flags.still || file.Still || os.Getenv(stillSwitch) != "",
	}
	if file.Kiosk.Night != nil {
		w.night = *file.Kiosk.Night
	}
	return w
}

// stillSwitch asks for reduced motion, as NO_COLOR asks for no colours.
const stillSwitch = "NO_MOTION"

// kiosk is the screen for the wall; nil for one at a desk.
func (w wall) kiosk() *tui.Kiosk {
	if !w.on {
		return nil
	}
	return &tui.Kiosk{Every: w.page, NightFrom: w.night.from, NightTo: w.night.to}
}

func (a *app) wallFlags(c *cobra.Command) {
	c.Flags().BoolVar(&a.flags.kiosk, "kiosk", false, "for a screen on the wall: big figures, pages that turn by themselves, dim at night")
	c.Flags().BoolVar(&a.flags.still, "reduced-motion", false, "nothing turns or progresses, and ages are told in whole minutes (also: NO_MOTION=1)")
}

// tellsProgress reports whether the terminal is known to show progress by OSC 9;4. To
// others OSC 9 is a notification: they would put each step on the desktop as a text.
// The list is that of Cargo, which asks the same question, and VTE's from 0.80 on.
func tellsProgress(env func(string) string) bool {
	if env("TMUX") != "" || env("STY") != "" {
		return false // a multiplexer passes none on
	}
	vte, _ := strconv.Atoi(env("VTE_VERSION"))
	program := env("TERM_PROGRAM")
	return env("WT_SESSION") != "" || env("ConEmuANSI") == "ON" || vte >= 8000 ||
		program == "WezTerm" || program == "ghostty" || program == "iTerm.app" && strings.Contains(env("TERM_FEATURES"), "P")
}

// progress is whether the terminal is told of progress: as the file says, else where it
// is known to understand.
func (a *fileAlerts) progress() bool {
	if a.Progress != nil {
		return *a.Progress
	}
	return tellsProgress(os.Getenv)
}

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
	"slotop/sources/sim"
	"slotop/tui"
	"slotop/tui/panes"
)

// screenPage is the page of one screen: which incident it shows, and which keys matter
// there beside those of every screen.
type screenPage struct {
	file, demo string
	h          int
	keys       []string
}

// screenPages lists them in the order of panes.Screens.
var screenPages = [...]screenPage{
	{"overview", "demo:S1?seed=7", 24, []string{"↑ k", "↓ j", "enter", "m"}},
	{"latency", "demo:S1?seed=7", 24, []string{"↑ k", "↓ j", "enter", "o", "w"}},
	{"queue", "demo:S1?seed=7&events=1", 24, []string{"↑ k", "↓ j", "enter", "w"}},
	{"utilization", "demo:S4?seed=7", 24, []string{"↑ k", "↓ j", "enter", "s"}},
	{"fleet", "demo:S1?seed=7&with=dead", 24, []string{"↑ k", "↓ j", "enter", "/", "s", "x"}},
	{"alerts", "demo:S1?seed=7", 24, []string{"↑ k", "↓ j", "enter", "a", "b"}},
	{"capacity", "demo:S4?seed=7", 50, []string{"↑ k", "↓ j"}},
}

// The pages of the screens hold the question that each answers, the screen as it is drawn
// and the keys of the table, all made by the program, so that they stay true.
func TestDocsOfScreensAreFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	if len(screenPages) != len(panes.Screens) {
		t.Fatalf("%d pages for %d screens", len(screenPages), len(panes.Screens))
	}
	shown := map[string]*model.Frame{}
	for i, p := range screenPages {
		if shown[p.demo] == nil {
			shown[p.demo] = minuteAfter(t, p.demo)
		}
		path := "../../docs/screens/" + p.file + ".md"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, key := panes.Screens[i], fmt.Sprint(i+1)
		fresh := replacePart(t, string(text), "title", fmt.Sprintf("# %s %s: %s\n", key, s.Name, s.Asks))
		fresh = replacePart(t, fresh, "example", fmt.Sprintf("`slotop demo '%s'`, a minute and a half into the incident, key `%s`:\n\n```\n%s\n```\n",
			strings.TrimPrefix(p.demo, "demo:"), key, pressed(t, shown[p.demo], 80, p.h, key)))
		fresh = replacePart(t, fresh, "keys", keysOf(t, p.keys))
		if fresh == string(text) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what the program says; run go test ./cmd/slotop -run Docs -update and read the difference", path)
			continue
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// minuteAfter is the frame of a simulated service a minute and a half after its incident
// began.
func minuteAfter(t *testing.T, demo string) *model.Frame {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{demo}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: time.Second, Policy: model.Policy{Workflows: sim.Promises()}})
	if err != nil {
		t.Fatal(err)
	}
	opt := sources.PlayOptions{Every: time.Second, For: 690 * time.Second, Start: time.Date(2026, 3, 1, 3, 3, 0, 0, time.UTC)}
	if err := sources.Play(context.Background(), opened, opt, c.take); err != nil {
		t.Fatal(err)
	}
	return c.box.latest()
}

// pressed draws a frame as the screen would after a key, without styles.
func pressed(t *testing.T, f *model.Frame, w, h int, key string) string {
	t.Helper()
	set, err := loadThemes()
	if err != nil {
		t.Fatal(err)
	}
	m, err := tui.New(tui.Options{
		Latest: func() *model.Frame { return f }, Tick: func(time.Duration) tea.Cmd { return nil },
		Window: func(time.Duration) {}, Themes: set, Theme: "dark",
	})
	if err != nil {
		t.Fatal(err)
	}
	var screen tea.Model = m
	for _, msg := range []tea.Msg{tea.WindowSizeMsg{Width: w, Height: h}, tui.TickMsg{At: f.At.Wall}, tea.KeyPressMsg{Code: rune(key[0]), Text: key}} {
		screen, _ = screen.Update(msg)
	}
	lines := strings.Split(ansi.Strip(screen.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// keysOf is some keys of the table with what they do, and where the others are.
func keysOf(t *testing.T, names []string) string {
	t.Helper()
	table := tui.KeyTable()
	var b strings.Builder
	b.WriteString("| key | does |\n|---|---|\n")
	for _, name := range names {
		i := slices.IndexFunc(table, func(k panes.KeyHelp) bool { return k.Key == name && k.Group != "replay" })
		if i < 0 {
			t.Fatalf("no key %q", name)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, table[i].Does)
	}
	b.WriteString("\n`?` lists every key.\n")
	return b.String()
}

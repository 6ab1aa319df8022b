package themes

import (
	"fmt"
	"image/color"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"charm.land/lipgloss/v2"
)

// foreground is the hex colour of a role, "" where it is the terminal's own.
func foreground(t *Theme, r Role) string {
	c := t.Style(r).GetForeground()
	if _, own := c.(lipgloss.NoColor); own {
		return ""
	}
	red, green, blue, _ := c.RGBA()
	return fmt.Sprintf("#%02X%02X%02X", red>>8, green>>8, blue>>8)
}

func TestBuiltinHoldsEveryFileInOrder(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Names(), order) {
		t.Errorf("names %v, want %v", s.Names(), order)
	}
	files, err := fs.Glob(builtin, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(order) {
		t.Errorf("%d theme files, %d in the order", len(files), len(order))
	}
}

func TestEveryRoleResolves(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range s.themes {
		for _, r := range Roles() {
			if got := theme.Style(r).Render("x"); !strings.Contains(got, "x") {
				t.Errorf("%s %s renders %q", theme.Name, r, got)
			}
			if r.Doc() == "" || r.String() == "" {
				t.Errorf("role %d has no name or no sentence", r)
			}
		}
	}
}

// TestContrast holds every colour of a theme to 4.5:1 on the backgrounds that
// the theme is made for, and high contrast to 7:1.
func TestContrast(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range s.themes {
		want := 4.5
		if theme.Name == "high-contrast" {
			want = 7
		}
		if len(theme.Background) == 0 && theme.Name != "mono" {
			t.Errorf("%s names no background to be read on", theme.Name)
		}
		for _, r := range Roles() {
			fore := foreground(theme, r)
			for _, back := range theme.Background {
				if fore == "" {
					continue // the terminal's own
				}
				if got := contrast(lipgloss.Color(fore), lipgloss.Color(back)); got < want {
					t.Errorf("%s: %s %s on %s has %.2f:1, want %.1f", theme.Name, r, fore, back, got, want)
				}
			}
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	mono, err := s.Find("mono")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Roles() {
		got := mono.Style(r).Render("x")
		for _, sgr := range []string{"38;", "48;", "[3", "[9"} {
			if strings.Contains(got, sgr) {
				t.Errorf("%s renders %q: a colour", r, got)
			}
		}
	}
}

const small = `
name: dusk
dark: true
palette: {ink: "#E5E9F0", ash: "#7B8394", moss: "#98BE65", gold: "#ECBE7B", coral: "#FF6C6B"}
roles:   {text: ink, muted: ash, ok: moss, warn: gold, breach: coral}
`

func TestUserThemes(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	dir := fstest.MapFS{
		"dusk.yaml": {Data: []byte(small)},
		"dark.yaml": {Data: []byte(strings.Replace(small, "dusk", "dark", 1))},
		"note.txt":  {Data: []byte("not a theme")},
	}
	if err := s.AddDir(dir); err != nil {
		t.Fatal(err)
	}
	if got := s.Names(); len(got) != len(order)+1 || got[0] != "dark" || got[len(order)] != "dusk" {
		t.Errorf("names %v", got)
	}
	dark, _ := s.Find("dark")
	if foreground(dark, Text) != "#E5E9F0" {
		t.Errorf("the user's dark theme did not replace ours")
	}
	if foreground(dark, Over) != "#FF6C6B" || foreground(dark, Band) != "#7B8394" {
		t.Errorf("over %q, band %q: want the colours of breach and muted", foreground(dark, Over), foreground(dark, Band))
	}
	if s.After("dusk").Name != "dark" || s.After("dark").Name != "light" || s.After("gone").Name != "dark" {
		t.Errorf("stepping through the themes is broken")
	}
	if s.For(false).Name != "light" || s.For(true).Name != "dark" {
		t.Errorf("choice by background is broken")
	}
}

func TestMistakesNameTheirPlace(t *testing.T) {
	change := func(old, with string) string { return strings.Replace(small, old, with, 1) }
	tests := []struct{ data, want string }{
		{change("dark: true", "drak: true"), "drak"},
		{change("coral}", "crimson}"), `dusk.yaml:5: role breach: "crimson"`},
		{change("breach: coral", "brech: coral"), `dusk.yaml:5: role "brech" is unknown`},
		{change(", breach: coral", ""), "role breach is missing"},
		{change(`"#FF6C6B"`, "red"), `dusk.yaml:4: colour coral is "red"`},
		{small + "basic: {plum: 3}", "not in the palette"},
		{small + "basic: {coral: 300}", "300"},
		{small + "background: [white]", "white"},
		{change("{text: ink,", "[text, "), ""},
		{small + "roles: {}", "roles"},
	}
	for _, tc := range tests {
		_, err := parse("dusk.yaml", []byte(tc.data))
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "dusk.yaml") {
			t.Errorf("%s\n got %v\nwant %q", tc.data, err, tc.want)
		}
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	s := &Set{}
	err := s.AddDir(fstest.MapFS{
		"a.yaml": {Data: []byte("name: a")},
		"b.yaml": {Data: []byte("nmae: b")},
		"c.yaml": {Data: []byte(small)},
		"d.yaml": {Data: []byte(strings.Repeat("#", maxFile+1))},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"a.yaml", "b.yaml", "d.yaml"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if !slices.Equal(s.Names(), []string{"dusk"}) {
		t.Errorf("names %v: the good file was lost", s.Names())
	}
	if _, err := s.Find("drak"); err == nil || !strings.Contains(err.Error(), "dusk") {
		t.Errorf("got %v", err)
	}
}

// contrast is the WCAG 2 contrast ratio of two colours.
func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func linear(v uint32) float64 {
	f := float64(v) / 0xffff
	if f <= 0.04045 {
		return f / 12.92
	}
	return math.Pow((f+0.055)/1.055, 2.4)
}

func TestContrastKnownPairs(t *testing.T) {
	tests := []struct {
		a, b string
		want string
	}{
		{"#ffffff", "#000000", "21.00"},
		{"#767676", "#ffffff", "4.54"},
		{"#123456", "#123456", "1.00"},
	}
	for _, tc := range tests {
		if got := fmt.Sprintf("%.2f", contrast(lipgloss.Color(tc.a), lipgloss.Color(tc.b))); got != tc.want {
			t.Errorf("%s on %s: %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestFilesThatAreNoThemes(t *testing.T) {
	for want, file := range map[string]*fstest.MapFile{
		"no regular file":         {Mode: fs.ModeNamedPipe},
		"larger than 65536 bytes": {Data: []byte(small + strings.Repeat("# more\n", 10_000))},
	} {
		err := (&Set{}).AddDir(fstest.MapFS{"dusk.yaml": file})
		if err == nil || !strings.Contains(err.Error(), "dusk.yaml") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

package tuitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// Sizes are the screens that goldens are drawn on.
var Sizes = []struct{ W, H int }{{40, 10}, {80, 24}, {120, 40}, {200, 60}}

// Golden compares got with testdata/NAME.golden; -update rewrites it.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run the test with -update and read the file", err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", name, firstDifference(string(want), got))
	}
}

// firstDifference shows the first lines that differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, lineAt(g, i), lineAt(w, i))
		}
	}
	return ""
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

// Fits fails the test when a drawing has more lines or cells than it was given,
// or bytes that a terminal would obey beside colours.
func Fits(t *testing.T, what, got string, w, h int) {
	t.Helper()
	lines := strings.Split(got, "\n")
	if got == "" {
		lines = nil
	}
	if len(lines) > h {
		t.Errorf("%s: %d lines in %d", what, len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Errorf("%s: line %d has %d cells in %d: %q", what, i+1, n, w, l)
		}
		if bad := Obeyed(l); bad != "" {
			t.Errorf("%s: line %d holds %s: %q", what, i+1, bad, l)
		}
	}
}

// Obeyed names the first thing in s, beside colours and attributes, that a
// terminal would obey or hide; "" when there is none.
func Obeyed(s string) string {
	for i, r := range s {
		switch {
		case r == 0x1b && !isSGR(s[i:]):
			return fmt.Sprintf("an escape sequence at byte %d", i)
		case r != 0x1b && r < ' ', r >= 0x7f && r < 0xa0:
			return fmt.Sprintf("the control character %U", r)
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0x200b && r <= 0x200f:
			return fmt.Sprintf("the direction mark %U", r)
		}
	}
	return ""
}

// isSGR reports whether s begins with a sequence that only sets the look.
func isSGR(s string) bool {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return false
	}
	end := strings.TrimLeft(rest, "0123456789;:")
	return strings.HasPrefix(end, "m")
}

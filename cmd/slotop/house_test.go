package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestHouse holds the checkout to the layout and the import rules.
func TestHouse(t *testing.T) {
	files := sourceFiles(t)
	if len(files) < 10 {
		t.Fatalf("found only %d Go files: looking in the wrong place", len(files))
	}
	for _, f := range files {
		for _, b := range checkFile(f) {
			t.Error(b)
		}
	}
	for _, b := range checkComments(files) {
		t.Error(b)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, b := range checkTopLevel(names) {
		t.Error(b)
	}
}

// sourceFiles parses every Go file of the project.
func sourceFiles(t *testing.T) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := parseFile(filepath.ToSlash(rel), string(src))
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestHouseRulesCanFail gives each rule a source that breaks it, and one that
// comes close and does not.
func TestHouseRulesCanFail(t *testing.T) {
	tests := []struct{ path, src, want string }{
		{"model/a.go", `import "slotop/model/hist"`, "arrows point towards model"},
		{"model/a.go", `import "os"`, "neither network"},
		{"model/a.go", `import "net/http"`, "neither network"},
		{"model/a.go", `import "github.com/prometheus/common/model"`, "standard library only"},
		{"model/a.go", `import ("math"; "time"); var _ = math.Pi; var _ time.Time`, ""},
		{"model/a_test.go", `import ("os"; "slotop/sources/sourcetest/shared")`, ""},
		{"model/hist/a.go", `import "slotop/model"`, ""},
		{"model/hist/a.go", `import "slotop/model/series"`, "arrows point"},
		{"model/hist/a.go", `import "slotop/model/fleet"`, "arrows point"},
		{"model/slo/a.go", `import ("slotop/model/hist"; "slotop/model/series")`, ""},
		{"model/slo/a.go", `import "slotop/model/fleet"`, "arrows point"},
		{"model/fleet/a.go", `import "slotop/model/tape"`, "arrows point"},
		{"model/fleet/a.go", `import "slotop/sources"`, "arrows point"},
		{"model/fleet/a_test.go", `import ("slotop/model/tape"; "slotop/model/report")`, ""},
		{"model/fleet/a_test.go", `import "slotop/tui"`, "arrows point"},
		{"model/tape/a.go", `import "slotop/model/fleet"`, "arrows point"},
		{"model/report/a.go", `import ("slotop/model"; "slotop/model/unit")`, ""},
		{"model/report/a.go", `import "charm.land/lipgloss/v2"`, "terminal libraries"},
		{"model/guess/a.go", ``, "no row of the import table"},
		{"sources/a.go", `import ("net/http"; "slotop/sources/dialect"; "slotop/model")`, ""},
		{"sources/a.go", `import "slotop/model/fleet"`, "arrows point"},
		{"sources/a.go", `import "slotop/tui"`, "arrows point"},
		{"sources/a.go", `import "slotop/themes"`, "arrows point"},
		{"sources/a.go", `import "slotop/cmd/slotop"`, "nobody imports cmd"},
		{"sources/nvml/a.go", `import "slotop/sources/sim"`, "one source"},
		{"sources/sim/a.go", `import "slotop/sources/expo"`, ""},
		{"themes/a.go", `import "slotop/model"`, "arrows point"},
		{"tui/layout/a.go", `import "slotop/model"`, "arrows point"},
		{"tui/chart/a.go", `import "slotop/themes"`, "arrows point"},
		{"tui/chart/a.go", `import "github.com/NimbleMarkets/ntcharts/v2/canvas"`, ""},
		{"tui/panes/a.go", `import "github.com/NimbleMarkets/ntcharts/v2/canvas"`, "one adapter"},
		{"tui/panes/a.go", `import "slotop/tui"`, "arrows point"},
		{"tui/panes/a.go", `import tea "charm.land/bubbletea/v2"`, "only tui.Model"},
		{"tui/a.go", `import tea "charm.land/bubbletea/v2"`, ""},
		{"tui/a.go", `import "slotop/sources"`, "arrows point"},
		{"tui/a.go", `import "slotop/model/fleet"`, "arrows point"},
		{"tui/a.go", `import "net/http"`, "only sources speak"},
		{"cmd/slotop/a.go", `import ("slotop/model/fleet"; "slotop/sources"; "slotop/tui"; "slotop/themes")`, ""},
		{"cmd/slotop/a.go", `import "slotop/cmd/slotop/notify"`, ""},
		{"cmd/slotop/notify/a.go", `import "slotop/cmd/slotop"`, "nobody imports cmd"},
		{"cmd/slotop/notify/a.go", `import "slotop/tui"`, "arrows point"},
		{"cmd/slotop/serve/a.go", `import "slotop/cmd/slotop/spool"`, ""},
		{"cmd/slotop/serve/a.go", `import "slotop/tui"`, "arrows point"},
		{"cmd/slotop/spool/a.go", `import "slotop/cmd/slotop/serve"`, "nobody imports cmd"},

		{"tui/a.go", `import . "strings"`, "hides where"},
		{"tui/a.go", `import _ "image/png"`, "hides where"},

		{"model/hist/a.go", `import "time"; var now = time.Now`, "time.Now: the clock"},
		{"model/hist/a.go", `import clock "time"; func f() { clock.Sleep(1) }`, "clock.Sleep"},
		{"sources/engine.go", `import "time"; func f() { time.NewTicker(1) }`, "time.NewTicker"},
		{"sources/engine.go", `import "context"; func f(c context.Context) { context.WithTimeout(c, 1) }`, "context.WithTimeout"},
		{"sources/run.go", `import "time"; var now = time.Now`, ""},
		{"cmd/slotop/a.go", `import "time"; var now = time.Now`, ""},
		{"sources/run_test.go", `import "time"; var now = time.Now`, ""},
		{"sources/sourcetest/a.go", `import "time"; var now = time.Now`, ""},
		{"model/hist/a.go", `type c struct{ Now int }; func f(time c) int { return time.Now }`, ""},
		{"tui/a.go", `import tea "charm.land/bubbletea/v2"; var t = tea.Tick`, "tea.Tick"},
		{"tui/a.go", `import "charm.land/bubbletea/v2"; var t = tea.Every`, "tea.Every"},

		{"tui/a.go", `import "fmt"; func f() { fmt.Println("x") }`, "fmt.Println"},
		{"tui/a.go", `import "fmt"; func f() string { return fmt.Sprintln("x") }`, ""},
		{"tui/a.go", `import "os"; var w = os.Stderr`, "os.Stderr"},
		{"sources/run.go", `import "os"; func f() { os.Exit(1) }`, "os.Exit"},
		{"sources/run.go", `import "log"; func f() { log.Fatal(1) }`, "printing lives in cmd"},
		{"tui/a.go", `func f() { println("x") }`, "println"},
		{"tui/a.go", `func print(string) {}; func f() { print("x") }`, ""},
		{"cmd/slotop/a.go", `import ("fmt"; "os"); func f() { fmt.Println(os.Stdout); os.Exit(1) }`, ""},

		{"model/fleet/a.go", `func f() { go f() }`, "one caller at a time"},
		{"tui/panes/a.go", `func f() { go f() }`, "one caller at a time"},
		{"sources/sim/a.go", `func f() { go f() }`, "one caller at a time"},
		{"sources/a.go", `func f() { go f() }`, ""},
		{"model/fleet/a_test.go", `func f() { go f() }`, ""},

		{"themes/a.go", `func init() {}`, "func init"},
		{"themes/a.go", `type t int; func (t) init() {}`, ""},
		{"themes/a.go", strings.Repeat("\n", maxLines+1), "is it one job?"},
		{"themes/a_test.go", strings.Repeat("\n", maxLines+1), ""},
	}
	for _, tc := range tests {
		f, err := parseFile(tc.path, "package a; "+tc.src)
		if err != nil {
			t.Fatalf("%s %s: %v", tc.path, tc.src, err)
		}
		got := strings.Join(checkFile(f), "\n")
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s %s\n got %q\nwant %q", tc.path, tc.src, got, tc.want)
		}
	}
}

func TestHouseNamesCanFail(t *testing.T) {
	for _, name := range badPackageNames {
		f, err := parseFile("tui/a.go", "package "+name)
		if err != nil {
			t.Fatal(err)
		}
		if len(checkFile(f)) == 0 {
			t.Errorf("package %s passed", name)
		}
	}
}

func TestHouseCommentsCanFail(t *testing.T) {
	tests := []struct {
		srcs map[string]string
		ok   bool
	}{
		{map[string]string{"tui/a.go": "package tui"}, false},
		{map[string]string{"tui/a.go": "// Something else.\npackage tui"}, false},
		{map[string]string{"tui/a.go": "package tui", "tui/b.go": "// Package tui draws.\npackage tui"}, true},
		{map[string]string{"tui/a_test.go": "package tui"}, true},
		{map[string]string{"cmd/x/a.go": "// Command x.\npackage main"}, true},
		{map[string]string{"cmd/x/a.go": "package main"}, false},
	}
	for _, tc := range tests {
		var files []file
		for name, src := range tc.srcs {
			f, err := parseFile(name, src)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		if got := checkComments(files); (len(got) == 0) != tc.ok {
			t.Errorf("%v: got %v", tc.srcs, got)
		}
	}
}

func TestHouseTopLevelCanFail(t *testing.T) {
	if got := checkTopLevel([]string{"cmd", "go.mod", ".golangci.yml", "bin", "x.test"}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	for _, e := range []string{"pkg", "internal", "main.go", "NOTES.md"} {
		if got := checkTopLevel([]string{e}); len(got) != 1 {
			t.Errorf("%s passed", e)
		}
	}
}

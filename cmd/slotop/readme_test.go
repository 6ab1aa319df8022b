package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/dialect"
	"slotop/tui"
)

var update = flag.Bool("update", false, "rewrite what is made from tables")

const readme = "../../README.md"

// The README's screen, tables of targets, engines and keys are made from the
// program, so that they stay true.
func TestReadmeIsFresh(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	fresh := string(text)
	for _, part := range []struct {
		name string
		make func(*testing.T) string
	}{
		{"picture", func(*testing.T) string { return readmePicture("overview") }}, {"pictures", readmePictures}, {"targets", readmeTargets}, {"engines", readmeEngines}, {"keys", readmeKeys},
	} {
		fresh = replacePart(t, fresh, part.name, part.make(t))
	}
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("README.md is not what the program says; run go test ./cmd/slotop -run Readme -update and read the difference")
	}
	if err := os.WriteFile(readme, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replacePart puts body between <!-- name … --> and <!-- /name -->.
func replacePart(t *testing.T, text, name, body string) string {
	t.Helper()
	start := strings.Index(text, "<!-- "+name+":")
	end := strings.Index(text, "<!-- /"+name+" -->")
	if start < 0 || end < start {
		t.Fatalf("README.md has no part %q", name)
	}
	start += strings.Index(text[start:], "-->\n") + len("-->\n")
	return text[:start] + body + text[end:]
}

// screenText draws a frame as the screen would, without styles.
func screenText(t *testing.T, f *model.Frame, w, h int) string {
	t.Helper()
	set, err := loadThemes()
	if err != nil {
		t.Fatal(err)
	}
	m, err := tui.New(tui.Options{
		Latest: func() *model.Frame { return f },
		Tick:   func(time.Duration) tea.Cmd { return nil },
		Window: func(time.Duration) {},
		Themes: set, Theme: "dark",
	})
	if err != nil {
		t.Fatal(err)
	}
	var screen tea.Model = m
	screen, _ = screen.Update(tea.WindowSizeMsg{Width: w, Height: h})
	screen, _ = screen.Update(tui.TickMsg{At: f.At.Wall})
	lines := strings.Split(ansi.Strip(screen.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func readmeTargets(*testing.T) string {
	var b strings.Builder
	b.WriteString("| target | what it is |\n|---|---|\n")
	for _, k := range sources.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Example, k.Doc)
	}
	return b.String()
}

func readmeEngines(t *testing.T) string {
	set, err := dialect.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]string{}
	for _, engine := range set.Engines() {
		by[set.Kind(engine)] = append(by[set.Kind(engine)], engine)
	}
	var b strings.Builder
	for _, part := range []struct{ kind, title string }{
		{"", "[Engines](docs/engines.md)"}, {model.GatewayTarget, "[Gateways](docs/gateways.md)"}, {model.GPUTarget, "[GPU exporters](docs/gpu-exporters.md)"},
	} {
		if len(by[part.kind]) > 0 {
			fmt.Fprintf(&b, "- %s: %s.\n", part.title, strings.Join(by[part.kind], ", "))
		}
	}
	return b.String()
}

func readmeKeys(*testing.T) string {
	var b strings.Builder
	b.WriteString("| key | does |\n|---|---|\n")
	for _, k := range tui.KeyTable() {
		does := k.Does
		if k.Group == "replay" {
			does += " (replay)"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Key, does)
	}
	return b.String()
}

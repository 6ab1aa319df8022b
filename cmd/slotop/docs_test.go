package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model/fleet"
	"slotop/model/slo"
	"slotop/model/unit"
)

const configurationPage = "../../docs/configuration.md"

// The tables of the page on the configuration are made from the program.
func TestConfigurationPageIsFresh(t *testing.T) {
	text, err := os.ReadFile(configurationPage)
	if err != nil {
		t.Fatal(err)
	}
	fresh := replacePart(t, string(text), "presets", presetTable())
	fresh = replacePart(t, fresh, "signals", "`"+strings.Join(fleet.RuleSignals(), "`, `")+"`.\n")
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/configuration.md is not what the program says; run go test ./cmd/slotop -run ConfigurationPage -update and read the difference")
	}
	if err := os.WriteFile(configurationPage, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

func presetTable() string {
	var b strings.Builder
	b.WriteString("| preset | from | bounds | share |\n|---|---|---|---|\n")
	for _, p := range slo.Presets {
		var bounds []string
		for _, o := range p.Objectives {
			bounds = append(bounds, o.Metric.Title()+" "+unit.Limit(o.MaxS))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Source, strings.Join(bounds, ", "), unit.Promised(p.Share))
	}
	return b.String()
}

// TestConfigurationPageIsRight: every example is a configuration that is taken.
func TestConfigurationPageIsRight(t *testing.T) {
	t.Setenv("CHAT_METRICS_KEY", "key")
	t.Setenv("SLOTOP_HOOK", "https://hooks.example/x")
	text, err := os.ReadFile(configurationPage)
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(text), "```yaml\n")[1:]
	if len(examples) < 3 {
		t.Errorf("%d examples", len(examples))
	}
	for i, e := range examples {
		e, _, _ = strings.Cut(e, "```")
		file, err := parseConfig(filepath.Base(configurationPage), []byte(e))
		if err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
		if _, err := (&app{}).policy(file); err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "slotop --slo "); found {
			for _, arg := range strings.Split(rest, " --slo ") {
				arg, _, _ = strings.Cut(strings.Trim(arg, "\n"), " localhost")
				if _, err := parseSLO(strings.Trim(arg, "'")); err != nil {
					t.Errorf("%s: %v", arg, err)
				}
			}
		}
	}
}

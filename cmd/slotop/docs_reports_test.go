package main

import (
	"os"
	"strings"
	"testing"
)

const reportsPage = "../../docs/reports.md"

// The example on the page about reports is what the program writes.
func TestReportsPageIsFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	r := headless(t, "report", "--for", "720s", "demo:S4?seed=7")
	if r.code != exitOK {
		t.Fatal(r.err)
	}
	_, summary, _ := strings.Cut(r.out, "> - ")
	summary, _, _ = strings.Cut(summary, "\n## ")
	title, _, _ := strings.Cut(r.out, "\n")
	example := "> **" + strings.TrimPrefix(title, "# ") + "**\n>\n> - " + strings.TrimSpace(summary) + "\n"
	text, err := os.ReadFile(reportsPage)
	if err != nil {
		t.Fatal(err)
	}
	fresh := replacePart(t, string(text), "incident", example)
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/reports.md is not what the program writes; run go test ./cmd/slotop -run ReportsPage -update and read the difference")
	}
	if err := os.WriteFile(reportsPage, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every command on the page is one that the program takes, as far as it can be told
// without the targets.
func TestReportsPageIsRight(t *testing.T) {
	text, err := os.ReadFile(reportsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```\n")
	block, _, _ = strings.Cut(block, "```")
	help := headless(t, "report", "--help").out
	n := 0
	for word := range strings.FieldsSeq(block) {
		if strings.HasPrefix(word, "-") && len(word) > 1 {
			n++
			if !strings.Contains(help, word) {
				t.Errorf("%s is no flag of report", word)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d flags", n)
	}
	for _, flag := range []string{"--format", "--force", "--kind", "--csv"} {
		if !strings.Contains(help, flag) || !strings.Contains(string(text), flag) {
			t.Errorf("%s is not explained", flag)
		}
	}
}

package diagnose

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what is made from tables")

const page = "../../docs/diagnosis.md"

// The table of rules in the documentation is made of the rules.
func TestDocsAreFresh(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	start, end := strings.Index(string(text), "<!-- rules:"), strings.Index(string(text), "<!-- /rules -->")
	if start < 0 || end < start {
		t.Fatal("no place for the rules")
	}
	start += strings.Index(string(text[start:]), "-->\n") + len("-->\n")
	fresh := string(text[:start]) + ruleTables() + string(text[end:])
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/diagnosis.md is not what the rules say; run go test ./model/diagnose -run Docs -update and read the difference")
	}
	if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ruleTables() string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		rules []rule
	}{
		{"TTFT up", ttftRules}, {"TPOT up, and stalls", tpotRules}, {"E2E, answers, behaviour", behaviourRules},
		{"What is full", settingRules}, {"Hosted providers", providerRules},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| id | finding | layer | seen when | contradicted by | try next |\n|---|---|---|---|---|---|\n", part.title)
		for i := range part.rules {
			r := &part.rules[i]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.id, r.title, r.layer, r.when, r.against, strings.Join(r.try, "; "))
		}
	}
	b.WriteString("\n")
	return b.String()
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model/report"
)

const exportPage = "../../docs/export.md"

// The table of metrics is made from the program.
func TestExportDocsAreFresh(t *testing.T) {
	text, err := os.ReadFile(exportPage)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("\n| metric | type | labels | |\n|---|---|---|---|\n")
	for _, f := range report.Families() {
		labels := ""
		if len(f.Labels) > 0 {
			labels = "`" + strings.Join(f.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Type, labels, f.Help)
	}
	fresh := replacePart(t, string(text), "metrics", b.String()+"\n")
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("docs/export.md is not what the program says; run go test ./cmd/slotop -run ExportDocs -update and read the difference")
	}
	if err := os.WriteFile(exportPage, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The rules on the page are rules, of metrics that there are.
func TestExportDocsRules(t *testing.T) {
	tool := part(t, "promtool")
	text, err := os.ReadFile(exportPage)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```yaml\ngroups:")
	rules, _, _ := strings.Cut("groups:"+after, "```")
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules), 0o600); !found || err != nil {
		t.Fatal(found, err)
	}
	said, err := exec.Command(tool, "check", "rules", file).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "8 rules found") {
		t.Fatalf("%v: %s", err, said)
	}
	known := map[string]bool{}
	for _, f := range report.Families() {
		known[f.Name] = true
	}
	for _, word := range strings.FieldsFunc(rules, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z')
	}) {
		if strings.HasPrefix(word, "slotop_") && !known[word] {
			t.Errorf("a rule is about %s, which is not exported", word)
		}
	}
}

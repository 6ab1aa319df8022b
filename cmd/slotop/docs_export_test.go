package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const exportPage = "../../docs/export.md"

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
	for _, word := range strings.FieldsFunc(rules, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z')
	}) {
		if strings.HasPrefix(word, "slotop_") && !strings.Contains(string(text), "\n| `"+word+"` | ") {
			t.Errorf("a rule is about %s, which is not exported", word)
		}
	}
}

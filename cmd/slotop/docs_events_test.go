package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const eventsPage = "../../docs/events.md"

// TestEventsPageIsRight: the examples are read as the page says, and every key that
// the program reads by name is on it.
func TestEventsPageIsRight(t *testing.T) {
	text, err := os.ReadFile(eventsPage)
	if err != nil {
		t.Fatal(err)
	}
	var examples []string
	for _, part := range strings.Split(string(text), "```json\n")[1:] {
		example, _, _ := strings.Cut(part, "```")
		examples = append(examples, example)
	}
	if len(examples) != 2 {
		t.Fatalf("%d examples", len(examples))
	}
	dir := t.TempDir()
	requests, counts := filepath.Join(dir, "requests.jsonl"), filepath.Join(dir, "stats.json")
	for path, example := range map[string]string{requests: examples[0], counts: examples[1]} {
		if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := onlyWorkflow(t, "events:"+requests)
	if w.Requests.Finished != 1 || w.Requests.Failed != 1 || w.Goodput.N != 2 || w.TTFT.Mean != 0.291 {
		t.Errorf("two requests read as %+v", w)
	}
	if w := onlyWorkflow(t, counts); w.Requests.Finished != 1171 || w.Requests.Running != 7 || w.TTFT.N != 1171 {
		t.Errorf("a stats document read as %+v", w)
	}
	namesKeys(t, string(text), "../../sources/eventsline.go", "../../sources/statsread.go")
}

// shownFlow is what the test looks at of a workflow.
type shownFlow struct {
	Requests struct{ Finished, Failed, Running float64 }
	Goodput  struct{ N float64 }
	TTFT     struct{ N, Mean float64 }
}

func onlyWorkflow(t *testing.T, target string) shownFlow {
	t.Helper()
	r := headless(t, "snapshot", "-o", "json", target)
	var f struct{ Workflows []shownFlow }
	if err := json.Unmarshal([]byte(r.out), &f); r.code != exitOK || err != nil || len(f.Workflows) != 1 {
		t.Fatalf("%s: exit %d, %v, %s", target, r.code, err, r.err)
	}
	return f.Workflows[0]
}

// namesKeys looks for the keys that the sources read by name.
func namesKeys(t *testing.T, page string, files ...string) {
	t.Helper()
	key := regexp.MustCompile(`case ("[a-z_0-9]+"(?:, "[a-z_0-9]+")*):`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := key.FindAllStringSubmatch(string(source), -1)
		if len(found) == 0 {
			t.Errorf("no key in %s", file)
		}
		for _, list := range found {
			for _, k := range strings.Split(list[1], ", ") {
				if name := strings.Trim(k, `"`); !strings.Contains(page, name) {
					t.Errorf("%s is not in docs/events.md", name)
				}
			}
		}
	}
}

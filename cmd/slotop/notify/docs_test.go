package notify

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"slotop/model"
)

// TestDocumented: the page for receivers names every variable, label and
// annotation, and its example of a body is what a webhook gets.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/notify.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, pair := range environment(notice{alert: fires("a", 0)}) {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s is not in docs/notify.md", name)
		}
	}
	full := fires("a", 0)
	full.Target, full.Cause, full.Members = "t", "c", []string{"m"}
	p := postableOf(full, true)
	for _, names := range []map[string]string{p.Labels, p.Annotations} {
		for name := range names {
			if !strings.Contains(text, "`"+name) {
				t.Errorf("%s is not in docs/notify.md", name)
			}
		}
	}
	shown := with(fires("slo-burn|chat|", 0), func(a *model.AlertView) {
		a.Rule, a.Text, a.Unit = "slo-burn", "3713 of 4160 bad in 2 min, 5 % allowed: burn 17.9×", model.Times
		a.Since, a.Value, a.Peak, a.Limit = a.FiredAt, model.Of(17.85), model.Of(17.85), model.Reading{}
	})
	want, err := json.MarshalIndent(messageOf([]notice{{alert: shown}}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if _, example, _ := strings.Cut(text, "```json\n"); !strings.HasPrefix(example, string(want)+"\n```") {
		t.Errorf("the example in docs/notify.md is not\n%s", want)
	}
}

package report

import (
	"strings"
	"testing"
	"unicode"

	"slotop/model"
)

func TestMarkdownGolden(t *testing.T) {
	for _, f := range frames {
		golden(t, f.name+".md", []byte(Markdown(f.make())))
	}
}

// TestMarkdownTakesForeignText: a name is text, whatever it looks like, and every row has
// as many cells as its table.
func TestMarkdownTakesForeignText(t *testing.T) {
	f := incident()
	for _, name := range []string{"a|b", "<script>x</script>", "\x1b[31mred", "[a](http://b)", "line\nbreak", "`code`", "\u202eback"} {
		f.Workflows[0].Name, f.Targets[0].Name = name, name
		got := Markdown(f)
		for _, bad := range []string{"<script", "\x1b", "\u202e"} {
			if strings.Contains(got, bad) {
				t.Errorf("%q is in the Markdown of %q", bad, name)
			}
		}
		for l := range strings.SplitSeq(got, "\n") {
			if strings.ContainsFunc(l, unicode.IsControl) {
				t.Errorf("a control character in %q", l)
			}
		}
		rowsMatch(t, got)
	}
}

func rowsMatch(t *testing.T, text string) {
	t.Helper()
	want := 0
	for l := range strings.SplitSeq(text, "\n") {
		n := strings.Count(strings.ReplaceAll(l, `\|`, ""), "|")
		switch {
		case n == 0:
			want = 0
		case want == 0:
			want = n
		case n != want:
			t.Errorf("%d bars in a table of %d: %s", n, want, l)
		}
	}
}

func TestMarkdownSaysUnknown(t *testing.T) {
	got := Markdown(&model.Frame{Workflows: []model.WorkflowView{{Name: "chat"}}})
	if !strings.Contains(got, "| chat |") || strings.Contains(got, "| 0") {
		t.Errorf("what is unknown reads as 0:\n%s", got)
	}
}

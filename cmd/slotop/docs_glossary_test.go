package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"slotop/model/glossary"
)

const glossaryPage = "../../docs/glossary.md"

// The glossary is made from the program, all of it.
func TestDocsGlossaryIsFresh(t *testing.T) {
	want := glossaryText()
	got, err := os.ReadFile(glossaryPage)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	if !*update {
		t.Fatal("docs/glossary.md is not what the program says; run go test ./cmd/slotop -run DocsGlossary -update and read the difference")
	}
	if err := os.WriteFile(glossaryPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func glossaryText() string {
	var b strings.Builder
	b.WriteString("# Glossary\n\nEvery number that slotop shows: what it is, where it is measured, how it is worked out, when it misleads, and what\n" +
		"others call it. In the live screen `tab` sets a cursor on a number and `e` explains that one, with its own figures, the\n" +
		"names it was read from and why it is no surer; `?` and then `e` lists all of them.\n\n" +
		"This page is written by `go test ./cmd/slotop -run DocsGlossary -update`.\n")
	group := ""
	for _, t := range glossary.All() {
		if t.Group != group {
			group = t.Group
			b.WriteString("\n## " + strings.ToUpper(group[:1]) + group[1:] + "\n")
		}
		writeTopic(&b, t)
	}
	return b.String()
}

func writeTopic(b *strings.Builder, t glossary.Topic) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", markup(t.Name), markup(t.Is))
	line := func(word, text string) {
		if text != "" {
			fmt.Fprintf(b, "- **%s:** %s\n", word, text)
		}
	}
	b.WriteString("\n")
	line("measured", markup(t.Measured))
	line("formula", markup(t.Formula))
	line("unit", markup(t.Unit))
	var signals []string
	for _, s := range t.Signals {
		signals = append(signals, "`"+string(s)+"`")
	}
	line("signals", strings.Join(signals, ", "))
	line("misleads", markup(t.Misleads))
	line("also called", markup(strings.Join(t.AlsoCalled, "; ")))
}

// markupSigns are what Markdown would read as something else.
var markupSigns = strings.NewReplacer("*", `\*`, "<", "&lt;", "|", `\|`, "~", `\~`)

func markup(s string) string { return markupSigns.Replace(s) }

package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"slotop/model/unit"
	"slotop/tui/panes"
)

// maxCopy bounds what is handed to the terminal's clipboard, in bytes: in base64 it is
// below the 75,000 that several terminals take, who drop all of what is longer.
const maxCopy = 54 << 10

// copyOne copies the number under the cursor, else the explanation, finding or alert that
// is opened, else the row under the cursor; where nothing is chosen the whole screen.
func (m *Model) copyOne() tea.Cmd {
	if m.over == overExplain || m.over == overTopic {
		return m.toClipboard(m.pageText(m.explain), "the explanation")
	}
	if m.point.on {
		all := m.numbers()
		if i := m.under(all); i >= 0 {
			return m.toClipboard(all[i].Text, all[i].Text)
		}
	}
	if m.help || m.over != overNothing {
		return m.copyScreen()
	}
	if m.open {
		return m.toClipboard(m.pageText(m.page()), m.page().Name())
	}
	if text, what := m.chosenRow(); text != "" {
		return m.toClipboard(text, what)
	}
	return m.copyScreen()
}

// chosenRow is the row under the cursor as text, a "name: value" a line, and its name;
// "" where none was chosen.
func (m *Model) chosenRow() (text, what string) {
	f, look := m.frame(), panes.Look{View: m.view}
	switch m.shown() {
	case fleet:
		return panes.TargetText(f, look)
	case utilization:
		return panes.UseText(f, look)
	case alerts:
		i := panes.EntryAt(f, m.view)
		if i < 0 {
			return "", ""
		}
		e := panes.Entries(f)[i]
		view := m.view
		view.Finding, view.Alert = e.Finding, e.Alert
		if e.Finding != "" {
			return m.textOf(panes.Finding{}, view), "the finding"
		}
		return m.textOf(panes.Alert{}, view), "the alert"
	case capacity:
		return "", ""
	}
	if m.view.Workflow == "" {
		return "", ""
	}
	return panes.WorkflowText(f, look)
}

// copyWidth and copyHeight are the size of a page that is copied: wide enough for every
// sentence, high enough for all of it.
const copyWidth, copyHeight = 100, 1000

// pageText is a page as plain text, all of it.
func (m *Model) pageText(p panes.Pane) string { return m.textOf(p, m.view) }

func (m *Model) textOf(p panes.Pane, view panes.View) string {
	view.Scroll = 0
	size := m.bodySize()
	size.W, size.H = copyWidth, copyHeight
	return plain(p.Render(m.frame(), size, panes.Look{ASCII: m.opt.ASCII, View: view}))
}

// copyScreen copies the screen as plain text.
func (m *Model) copyScreen() tea.Cmd {
	text := plain(m.draw())
	return m.toClipboard(text, unit.Integer(float64(strings.Count(text, "\n")))+" lines")
}

// copyMarkdown copies all of the frame as Markdown.
func (m *Model) copyMarkdown() tea.Cmd {
	return m.toClipboard(m.opt.Markdown(m.frame()), "the frame as Markdown")
}

func canMarkdown(m *Model) bool { return m.opt.Markdown != nil }

// toClipboard hands a text to the terminal's clipboard (OSC 52) and says so. Whether the
// terminal takes it nobody is told.
func (m *Model) toClipboard(text, what string) tea.Cmd {
	cut, left := bounded(text)
	said := "copied " + short(what)
	if left > 0 {
		said += ", cut: " + unit.Bytes(float64(left)) + " too long for a clipboard"
	} else {
		said += ", if this terminal allows it"
	}
	m.say(said)
	return tea.SetClipboard(cut)
}

// shortest is how many bytes of what was copied are said.
const shortest = 32

func short(s string) string {
	if len(s) <= shortest {
		return s
	}
	return unit.TruncateRight(s, shortest, true)
}

// bounded cuts a text between lines to what a clipboard takes, and says how many bytes
// were left out.
func bounded(text string) (cut string, left int) {
	if len(text) <= maxCopy {
		return text, 0
	}
	n := maxCopy
	for !utf8.RuneStart(text[n]) {
		n--
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i > 0 {
		n = i + 1
	}
	return text[:n], len(text) - n
}

// plain is a drawing without styles, without lines of nothing but a rule, and
// without blanks at the ends.
func plain(s string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(ansi.Strip(s), "\n") {
		l = strings.TrimRight(l, " ")
		if l == "" || strings.Trim(l, "─-") == "" {
			continue
		}
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}

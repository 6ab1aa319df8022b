package report

import (
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// CheckMarkdown writes a check as a comment on a change: the outcome, and a
// table with a row a workflow.
func CheckMarkdown(c *Check) string {
	var b strings.Builder
	b.WriteString("**slotop check: " + c.Outcome.word() + "**\n\n")
	b.WriteString(markdown(c.Why) + "\n\n")
	for i := range c.Rows {
		if r := &c.Rows[i]; len(r.cause) > 0 {
			b.WriteString("- " + markdown(r.Name) + ": " + markdown(strings.Join(r.cause, "; ")) + "\n")
		}
	}
	if slices.ContainsFunc(c.Rows, func(r CheckRow) bool { return len(r.cause) > 0 }) {
		b.WriteString("\n")
	}
	if len(c.Rows) > 0 {
		b.WriteString("| workflow | verdict | goodput | promised | requests | objectives | why |\n")
		b.WriteString("|---|---|---|---|---|---|---|\n")
	}
	for i := range c.Rows {
		b.WriteString("| " + strings.Join(c.Rows[i].markdown(), " | ") + " |\n")
	}
	if g := c.frame.Goodput; g != nil && c.all && len(c.Rows) > 1 {
		b.WriteString("\nAll together: " + shareOf(g) + ".\n")
	}
	b.WriteString("\n" + markdown(strings.Join(c.about(), ", ")) + "\n")
	return b.String()
}

// about says what was judged.
func (c *Check) about() []string {
	pieces := []string{window(c.frame), plural(len(c.frame.Targets), "target")}
	if !c.frame.At.IsZero() {
		pieces = append(pieces, "at "+c.frame.At.Wall.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if c.frame.Simulated {
		pieces = append(pieces, "simulated")
	}
	return pieces
}

func (r *CheckRow) markdown() []string {
	cells := []string{markdown(r.Name), r.word(), "–", "–", "–", "", markdown(r.Why)}
	w := r.flow
	if w == nil || w.Goodput == nil {
		return cells
	}
	if s := (&page{}).share(w.Goodput.Share, ""); s != "" {
		cells[2] = s
	}
	cells[3], cells[4] = unit.Promised(w.Goodput.Target.Value), unit.Integer(w.Goodput.N)
	var terms []string
	for _, o := range w.Objectives {
		terms = append(terms, term(o))
	}
	cells[5] = strings.Join(terms, "; ")
	return cells
}

func term(o model.ObjectiveView) string {
	return o.Metric.Title() + " " + unit.Limit(o.MaxS) + " " + kept(o)
}

// escapes are the characters that mean something to Markdown or HTML.
var escapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;",
)

// markdown is text from outside that stays text.
func markdown(s string) string { return escapes.Replace(unit.Escape(s, false)) }

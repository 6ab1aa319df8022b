package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slotop/cmd/slotop/serve"
	"slotop/sources"
	"slotop/tui"
)

func (a *app) manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "The manual page, in the form that man(1) reads",
		Example: "  slotop man | man -l -\n  slotop man >~/.local/share/man/man1/slotop.1",
		RunE: a.action(cobra.NoArgs, func(context.Context, []string) error {
			_, err := io.WriteString(a.out, manual(root))
			return err
		}),
	}
}

// roff collects a manual page.
type roff struct{ strings.Builder }

// text writes lines of running text; what looks like a request is none.
func (r *roff) text(s string) {
	for line := range strings.SplitSeq(strings.Trim(s, "\n"), "\n") {
		r.WriteString(escapeRoff(line) + "\n")
	}
}

// escapeRoff makes a line of text one in a manual page too.
func escapeRoff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

func (r *roff) section(title string)    { r.WriteString(".SH " + title + "\n") }
func (r *roff) subsection(title string) { r.WriteString(".SS " + escapeRoff(title) + "\n") }

// item is a bold term and what it means.
func (r *roff) item(term, text string) {
	r.WriteString(".TP\n.B " + escapeRoff(term) + "\n")
	r.text(text)
}

// asis writes lines that are not filled.
func (r *roff) asis(s string) {
	r.WriteString(".PP\n.nf\n.RS 4\n")
	r.text(strings.ReplaceAll(s, "\t", "    "))
	r.WriteString(".RE\n.fi\n")
}

// manual is the page of a command and all below it. It has no date: the same program
// has the same manual.
func manual(root *cobra.Command) string {
	r := &roff{}
	r.WriteString(".TH SLOTOP 1 \"\" slotop \"User Commands\"\n")
	r.section("NAME")
	r.text("slotop - top for the promises an LLM service makes")
	r.section("SYNOPSIS")
	for _, c := range append([]*cobra.Command{root}, shownBelow(root)...) {
		r.WriteString(".br\n.B slotop\n")
		if use := strings.TrimPrefix(strings.TrimPrefix(c.Use, "slotop"), " "); use != "" {
			r.text(use)
		}
	}
	r.section("DESCRIPTION")
	about, _, _ := strings.Cut(root.Long, "\n\n")
	r.text(about)
	r.section("TARGETS")
	for _, k := range sources.Kinds() {
		r.item(k.Example, k.Doc)
	}
	r.section("OPTIONS")
	r.flags(root)
	r.section("COMMANDS")
	for _, c := range shownBelow(root) {
		r.command(c, c.Name())
	}
	r.section("KEYS")
	for _, k := range tui.KeyTable() {
		r.item(k.Key, k.Does+inReplay(k.Group))
	}
	r.rest()
	return r.String()
}

func inReplay(group string) string {
	if group == "replay" {
		return " (replay)"
	}
	return ""
}

// shownBelow are the commands below one, in the order of the help.
func shownBelow(c *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			out = append(out, sub)
		}
	}
	return out
}

// command describes one with its flags, its examples and those below it.
func (r *roff) command(c *cobra.Command, path string) {
	_, rest, _ := strings.Cut(c.Use, " ")
	r.subsection(strings.TrimSpace("slotop " + path + " " + rest))
	r.text(c.Short + ".")
	if c.Long != "" {
		r.WriteString(".PP\n")
		r.text(c.Long)
	}
	r.flags(c)
	if c.Example != "" {
		r.asis(c.Example)
	}
	for _, sub := range shownBelow(c) {
		r.command(sub, path+" "+sub.Name())
	}
}

func (r *roff) flags(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, usage := pflag.UnquoteUsage(f)
		usual := ""
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && !strings.Contains(usage, "default") {
			usual = fmt.Sprintf(" (default %s)", f.DefValue)
		}
		r.item(strings.TrimSpace(name+" "+kind), usage+usual+".")
	})
}

// rest is what no command says of itself.
func (r *roff) rest() {
	r.section("EXIT STATUS")
	for _, e := range []struct {
		code int
		is   string
	}{
		{exitOK, "fine"}, {exitFailed, "could not run"}, {exitUsage, "usage or configuration"}, {exitMissed, "an objective was breached (check)"},
		{exitUntold, "could not tell: no target answered, too little traffic, not exported"}, {exitInterrupted, "interrupted"},
	} {
		r.item(fmt.Sprint(e.code), e.is)
	}
	r.section("FILES")
	r.item("~/.config/slotop/config.yaml", "the configuration; slotop config init writes a commented one")
	r.item("~/.config/slotop/themes/*.yaml", "themes of your own")
	r.item("~/.config/slotop/dialects/*.yaml", "how other engines and gateways name what they export")
	r.item("~/.local/state/slotop/ssh_host_ed25519_key", "the key of slotop serve")
	r.section("ENVIRONMENT")
	for _, v := range [][2]string{
		{"NO_COLOR", "no colours: weight and words say what they say"},
		{stillSwitch, "reduced motion"},
		{"TERM, COLORTERM", "what the terminal can show"},
		{"LC_ALL, LC_CTYPE, LANG", "a locale without UTF-8 draws with ASCII characters; so do the Linux console and old terminals"},
		{"XDG_CONFIG_HOME, XDG_STATE_HOME", "where the files above lie"},
		{serve.Theme, "the theme of a viewer of slotop serve, sent by ssh -o SendEnv"},
		{serve.Kiosk, "in the keys file of slotop serve: a viewer for the wall"},
	} {
		r.item(v[0], v[1])
	}
	r.section("SEE ALSO")
	r.WriteString(".BR top (1),\n.BR ssh (1),\n.BR sshd (8)\n")
}

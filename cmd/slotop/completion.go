package main

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slotop/sources"
	"slotop/sources/sim"
	"slotop/tui"
)

// shells are those that completions are written for, and how.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) }},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) }},
}

func (a *app) completionCommand(root *cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   "completion",
		Short: "What lets a shell complete commands, targets, incidents and themes",
		Long:  "Prints a script for a shell to read at its start.",
		Example: "  slotop completion bash >~/.local/share/bash-completion/completions/slotop\n" +
			"  # in ~/.zshrc, before compinit: fpath=(~/.zfunc $fpath)\n  slotop completion zsh >~/.zfunc/_slotop\n" +
			"  slotop completion fish >~/.config/fish/completions/slotop.fish\n" +
			"  slotop completion powershell >>$PROFILE",
		RunE: a.action(cobra.NoArgs, func(context.Context, []string) error { return usageError(errShell) }),
	}
	for _, s := range shells {
		c.AddCommand(&cobra.Command{
			Use: s.name, Short: "The script for " + s.name,
			RunE: a.action(cobra.NoArgs, func(context.Context, []string) error { return s.write(root, a.out) }),
		})
	}
	return c
}

// errShell asks for one of the shells.
var errShell = errors.New("completion: say for which shell: bash, zsh, fish or powershell")

// complete lets every command complete what may stand behind it.
func complete(c *cobra.Command) {
	switch {
	case c.Name() == "demo":
		c.ValidArgsFunction = completeScenario
	case strings.Contains(c.Use, "TARGET"), c.Name() == "replay", c.Name() == "compare":
		c.ValidArgsFunction = completeTarget
	}
	c.Flags().VisitAll(func(f *pflag.Flag) { completeFlag(c, f) })
	for _, sub := range c.Commands() {
		complete(sub)
	}
}

// words is a completion that offers the same words always.
func words(all []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return startingWith(all, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// startingWith are those of the words that begin as what is typed.
func startingWith(all []string, begun string) []string {
	var out []string
	for _, w := range all {
		if strings.HasPrefix(w, begun) {
			out = append(out, w)
		}
	}
	return out
}

// choice is the help of a flag that takes one of some words.
var choice = regexp.MustCompile(`^([a-z]+(?:, [a-z]+)*) or ([a-z]+)$`)

func completeFlag(c *cobra.Command, f *pflag.Flag) {
	var fn cobra.CompletionFunc
	switch m := choice.FindStringSubmatch(f.Usage); {
	case f.Name == "theme":
		fn = completeTheme
	case f.Name == "screen":
		fn = words(tui.Screens())
	case m != nil && f.Value.Type() == "string":
		fn = words(append(strings.Split(m[1], ", "), m[2]))
	case f.Value.Type() != "string":
		fn = words(nil) // numbers and times are no files
	default:
		return // a file or a folder: the shell knows them
	}
	_ = c.RegisterFlagCompletionFunc(f.Name, fn)
}

func completeTheme(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	set, err := loadThemes()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return startingWith(set.Names(), begun), cobra.ShellCompDirectiveNoFileComp
}

func completeScenario(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return scenarios("", begun), cobra.ShellCompDirectiveNoFileComp
}

// scenarios are the incidents of the simulator behind a prefix.
func scenarios(prefix, begun string) []string {
	var out []string
	for _, s := range sim.Scenarios {
		if w := prefix + s.ID; strings.HasPrefix(strings.ToLower(w), strings.ToLower(begun)) {
			out = append(out, cobra.CompletionWithDesc(w, s.Name))
		}
	}
	return out
}

// completeTarget offers how each kind of target begins, the incidents behind demo:,
// and files where none of these is meant.
func completeTarget(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if strings.HasPrefix(begun, demoPrefix) {
		return scenarios(demoPrefix, begun), cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, k := range sources.Kinds() {
		if start := kindStart(k.Example); start != "" && strings.HasPrefix(start, begun) {
			out = append(out, cobra.CompletionWithDesc(start, k.Doc))
		}
	}
	if len(out) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return out, cobra.ShellCompDirectiveNoSpace
}

const demoPrefix = "demo:"

// kindStart is what all targets of an example's kind begin with, "" where files and
// addresses do so in any way.
func kindStart(example string) string {
	if i := strings.Index(example, "://"); i >= 0 {
		return example[:i+len("://")]
	}
	head, rest, ok := strings.Cut(example, ":")
	if !ok || strings.Trim(rest, "0123456789") == "" && rest != "" {
		return "" // host:port
	}
	return head + ":"
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/config"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"slotop/model"
	"slotop/model/unit"
	"slotop/sources"
)

func (a *app) showConfigCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "The configuration as it takes effect, and where each value comes from",
		Long: "Prints what the flags, the configuration file and the defaults come to, in the form of\n" +
			"the file. Keys are not shown, and what came from the environment only by its name.",
		RunE: a.action(cobra.NoArgs, a.showConfig),
	}
	a.pollFlags(c)
	a.promiseFlag(c)
	c.Flags().StringVar(&a.flags.theme, "theme", "", "theme")
	c.Flags().BoolVar(&a.flags.ascii, "ascii", false, "draw with ASCII characters only")
	c.Flags().BoolVar(&a.flags.mouse, "mouse", false, "let the wheel scroll")
	a.wallFlags(c)
	return c
}

func (a *app) showConfig(context.Context, []string) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	p := &showing{flags: &a.flags, path: cmp.Or(a.flags.config, filepath.Join(configDir(), "config.yaml"))}
	p.readPlaces()
	p.settings(s)
	p.targets(s.file)
	p.workflows(s.policy)
	p.alerts(&s.file.Alerts)
	p.equipment(&s.file)
	// The veil takes every value that came from the environment for its name.
	text := a.veil.over(p.b.String(), 0)
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.out, unit.Escape(strings.TrimRight(line, "\n"), asciiOnly()))
	}
	return nil
}

// showing is the configuration as it is written out.
type showing struct {
	b     strings.Builder
	flags *flags
	path  string
	root  *yaml.Node // of the file; nil where there is none
}

// readPlaces reads the file once more, for the places of its values. That it is right
// is known already.
func (p *showing) readPlaces() {
	text, err := os.ReadFile(p.path)
	var root yaml.Node
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(&p.b, "# %s: no file, the defaults hold\n", p.path)
	case err == nil && len(text) <= maxConfig && yaml.Load(text, &root) == nil:
		p.root = &root
		fmt.Fprintf(&p.b, "# %s\n", p.path)
	}
	for _, dir := range []string{"dialects", "themes"} {
		if path := filepath.Join(configDir(), dir); isFolder(path) {
			fmt.Fprintf(&p.b, "# %s beside it: %s\n", dir, path)
		}
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// from is where the value of a key comes from: a flag, a line of the file, or the
// default.
func (p *showing) from(flag bool, key, otherwise string) string {
	if flag {
		return "--" + key
	}
	if n := child(p.root, key); n != nil {
		return p.line(n)
	}
	return otherwise
}

func (p *showing) line(n *yaml.Node) string {
	return fmt.Sprintf("%s:%d", filepath.Base(p.path), lineOf(n))
}

// value writes a key, its value and where that comes from.
func (p *showing) value(indent, key, value, from string) {
	p.b.WriteString(besides(strings.TrimRight(indent+key+": "+value, " "), from))
}

// besides is a line with where it comes from, in a column of its own.
func besides(line, from string) string {
	if from != "" {
		line = unit.PadRight(line, valueWidth) + " # " + from
	}
	return line + "\n"
}

// valueWidth is how far right the column of origins stands.
const valueWidth = 34

func (p *showing) settings(s settings) {
	every, auto := s.every, "default, by the number of targets"
	if every == 0 {
		every = pollInterval(len(s.file.Targets))
	}
	timeout, usual := s.timeout, "default, the interval, 1s to 5s"
	if timeout == 0 {
		timeout = max(time.Second, min(every, 5*time.Second))
	}
	p.value("", "every", spanText(every), p.from(p.flags.every != 0, "every", auto))
	p.value("", "timeout", spanText(timeout), p.from(p.flags.timeout != 0, "timeout", usual))
	p.value("", "window", spanText(s.window), p.from(p.flags.window != 0, "window", "default"))
	if s.theme == "" {
		p.value("# ", "theme", "dark or light", "default, by the terminal's background")
	} else {
		p.value("", "theme", scalar(s.theme), p.from(p.flags.theme != "", "theme", ""))
	}
	p.value("", "ascii", fmt.Sprint(s.ascii), p.from(p.flags.ascii, "ascii", "default"))
	p.value("", "mouse", fmt.Sprint(s.mouse), p.from(p.flags.mouse, "mouse", "default"))
	if s.album.dir != "" {
		p.value("", "pictures", scalar(s.album.dir), p.from(p.flags.album.dir != "", "pictures", ""))
	}
	p.value("", "reduced_motion", fmt.Sprint(s.wall.still), p.from(p.flags.still, "reduced_motion", "default, or "+stillSwitch))
	p.value("", "kiosk", fmt.Sprintf("{on: %v, page: %s, night: %s}", s.wall.on, spanText(s.wall.page), s.wall.night), p.from(p.flags.kiosk, "kiosk", "default"))
	if path := s.file.Annotations; path != "" {
		p.value("", "annotations", scalar(path), p.from(false, "annotations", ""))
	}
	if h := s.file.HTTP; h != nil {
		p.section("", "http", h, p.from(false, "http", ""))
	}
}

// section writes settings of HTTP, in which the library hides what is secret.
func (p *showing) section(indent, key string, h *config.HTTPClientConfig, from string) {
	text, err := yaml.Marshal(h)
	if err != nil {
		p.value(indent, key, "{}", "cannot be shown")
		return
	}
	p.value(indent, key, "", from)
	for line := range strings.Lines(string(text)) {
		p.b.WriteString(indent + "  " + line)
	}
}

func (p *showing) targets(file fileConfig) {
	if len(file.Targets) == 0 {
		p.value("", "targets", "[]", "default: what is found on this host")
		return
	}
	places := rows(child(p.root, "targets"))
	p.value("", "targets", "", "")
	for i, t := range file.Targets {
		p.value("  - ", "address", scalar(sources.Redact(t.Address)), p.line(places[i]))
		if t.Name != "" {
			p.value("    ", "name", scalar(t.Name), "")
		}
		if t.WorkflowLabel != "" {
			p.value("    ", "workflow_label", scalar(t.WorkflowLabel), "")
		}
		if len(t.GPUs) > 0 {
			p.value("    ", "gpus", list(t.GPUs), "")
		}
		if t.HTTP != nil {
			p.section("    ", "http", t.HTTP, "instead of the one for every target")
		}
	}
}

func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = scalar(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// workflows writes what is promised: presets and flags have gone over the file.
func (p *showing) workflows(policy model.Policy) {
	if len(policy.Workflows) == 0 {
		p.value("", "workflows", "[]", "default: each served model, with TTFT 1 s and TPOT 50 ms for 95 % assumed")
		return
	}
	places := map[string]*yaml.Node{}
	for _, row := range rows(child(p.root, "workflows")) {
		if n := child(row, "name"); n != nil {
			places[n.Value] = n
		}
	}
	p.value("", "workflows", "", "")
	for i := range policy.Workflows {
		p.workflow(&policy.Workflows[i], places)
	}
}

func (p *showing) workflow(w *model.WorkflowSpec, places map[string]*yaml.Node) {
	var from []string
	if n := places[w.Name]; n != nil {
		from = append(from, p.line(n))
	}
	for _, f := range p.flags.slo {
		if f.goesOver([]model.WorkflowSpec{*w}) {
			from = append(from, "--slo")
			break
		}
	}
	p.value("  - ", "name", scalar(w.Name), strings.Join(from, ", "))
	if len(w.Match) > 0 {
		ways := make([]string, len(w.Match))
		for i, m := range w.Match {
			ways[i] = matchText(m)
		}
		p.value("    ", "match", "["+strings.Join(ways, ", ")+"]", "")
	}
	note := ""
	if w.Assumed {
		note = "assumed"
	}
	p.value("    ", "slo", promiseText(w), note)
	if w.Reader != "" {
		p.value("    ", "reader", string(w.Reader), "")
	}
	if w.TruncatedBad {
		p.value("    ", "truncated", "bad", "")
	}
	if w.OneTokenBad {
		p.value("    ", "one_token", "bad", "")
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
)

func (a *app) initConfigCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "init [-o FILE] [TARGET...]",
		Short: "Write a commented configuration to start from",
		Long: "Looks at the targets, or without any at what listens on this host, and writes a\n" +
			"configuration: the targets with names, the workflows that they serve with objectives that\n" +
			"lie on bucket edges, and alerts as comments. It overwrites nothing, and writes no key.",
		Example: "  slotop config init\n  slotop config init -o - localhost:8000",
		RunE:    a.action(cobra.ArbitraryArgs, a.initConfig),
	}
	c.Flags().StringVarP(&a.flags.file, "output", "o", "", "the file to write, - for the output (default: slotop/config.yaml in the user's configuration directory)")
	return c
}

func (a *app) initConfig(ctx context.Context, args []string) error {
	path := cmp.Or(a.flags.file, filepath.Join(configDir(), "config.yaml"))
	if _, err := os.Lstat(path); path != "-" && err == nil {
		return usageError(fmt.Errorf("config init: %s is there already: write elsewhere with -o, or -o - to look at it first", path))
	}
	s, err := a.plainSettings()
	if err != nil {
		return err
	}
	b := beginning{}
	if len(args) == 0 {
		d, err := a.discover(ctx, s.opt, usualWaits)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintln(a.err, "slotop: nothing was found on this host to watch: the targets are an example")
		}
		args = b.found(&d)
	}
	if err := b.examine(ctx, s, args); err != nil {
		return err
	}
	if path == "-" {
		_, err := fmt.Fprint(a.out, b.text())
		return err
	}
	if err := writeNew(path, b.text()); err != nil {
		return fmt.Errorf("config init: %w", err)
	}
	fmt.Fprintf(a.out, "%s: written, %s, %s; slotop config check looks at it\n", path, count(len(b.targets), "target"), count(len(b.flows), "workflow"))
	return nil
}

// plainSettings are those without a configuration.
func (a *app) plainSettings() (settings, error) {
	dialects, err := loadDialects()
	if err != nil {
		return settings{}, usageError(err)
	}
	policy, err := a.policy(fileConfig{})
	return settings{opt: sources.Options{Dialects: dialects, Version: version()}, window: fleet.DefaultWindow, policy: policy}, err
}

// writeNew writes a file that must not exist, for its owner alone: keys may be put
// into it later.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// beginning is what a first configuration is made of.
type beginning struct {
	targets []firstTarget
	aside   []string // what was found and is not watched, and why
	flows   []firstFlow
	left    int // workflows that there is no room for
}

// firstTarget is a row of targets.
type firstTarget struct {
	address, name string
	says          []string // comments
	locked        bool     // it wants a key
	gpus          []string // that it runs on, as far as that is known
	kind          string   // "" where it did not answer
}

// found takes over what discovery found, and gives what is to be looked at.
func (b *beginning) found(d *discovered) (addresses []string) {
	for _, f := range d.watched() {
		addresses = append(addresses, f.Target)
	}
	for i := range d.all {
		if f := &d.all[i]; !f.Open && f.Skip == "" && (f.Kind != "" || f.Refused()) {
			b.aside = append(b.aside, cmp.Or(f.Target, f.Address)+": "+f.Why)
		}
	}
	return addresses
}

// examine looks at the targets, and chooses their names and what to promise.
func (b *beginning) examine(ctx context.Context, s settings, addresses []string) error {
	var opened []sources.Opened
	of := map[string][]string{} // names of the targets behind each address
	for _, address := range addresses {
		plain := sources.Redact(address)
		if of[plain] != nil {
			return errors.Join(usageError(fmt.Errorf("config init: %s is given twice", plain)), sources.CloseAll(opened))
		}
		got, err := sources.Resolve(ctx, []string{address}, s.opt)
		if err != nil {
			return errors.Join(err, sources.CloseAll(opened))
		}
		for i := range got {
			name := plain
			if i > 0 {
				name = fmt.Sprintf("%s#%d", plain, i+1)
			}
			got[i].Target.Name, of[plain] = name, append(of[plain], name)
		}
		opened = append(opened, got...)
	}
	if len(opened) == 0 {
		return nil
	}
	e, err := newExamination(s, opened)
	if err != nil {
		return errors.Join(err, sources.CloseAll(opened))
	}
	if e.seen, err = look(ctx, opened, s.timeout, e.take); err != nil {
		return err
	}
	frame := e.frame()
	for _, address := range addresses {
		b.targets = append(b.targets, e.first(address, of[sources.Redact(address)], frame))
	}
	nameTargetsApart(b.targets)
	names := map[string]string{} // of the rows, by those of the look
	for i, address := range addresses {
		for _, name := range of[sources.Redact(address)] {
			names[name] = b.targets[i].name
		}
	}
	b.suggest(e.seen, names)
	return nil
}

// first is an address as a row of targets. A password in it is left out.
func (e *examination) first(address string, names []string, frame *model.Frame) firstTarget {
	t := e.lookedAt(names[0])
	row := firstTarget{address: sources.Redact(address), locked: sources.Redact(address) != address}
	i := slices.IndexFunc(frame.Targets, func(v model.TargetView) bool { return v.Name == names[0] })
	v := &frame.Targets[i]
	row.kind = v.Kind
	if t.about == nil {
		row.kind = ""
		fault := t.fault
		if fault == nil {
			fault = &model.Fault{Kind: model.Timeout, Detail: "no answer within " + lookPatience.String()}
		}
		row.says = []string{fault.Kind.Word() + ": " + fault.Detail}
		row.locked = row.locked || fault.Kind == model.Denied
		row.name = plainName(row.address)
		return row
	}
	what := strings.TrimSpace(string(v.Engine) + " " + string(v.Version))
	switch {
	case what != "":
	case v.Kind == model.FinderTarget:
		what = "finds the targets to watch"
	default:
		what = v.Kind
	}
	if len(v.Models) > 0 {
		what += ", serves " + listed(v.Models)
	}
	row.says, row.gpus = []string{what}, v.GPUs
	row.name = nameFor(v)
	return row
}

// nameFor is a short name: of an engine the model that it serves, of others what
// they are.
func nameFor(v *model.TargetView) string {
	switch {
	case v.Kind == model.EngineTarget && len(v.Models) == 1:
		return plainName(v.Models[0])
	case v.Engine != "":
		return plainName(string(v.Engine))
	case v.Kind == model.GPUTarget:
		return "gpus"
	default:
		return cmp.Or(v.Kind, "target")
	}
}

// nameTargetsApart numbers names that occur twice.
func nameTargetsApart(all []firstTarget) {
	times := map[string]int{}
	for i := range all {
		times[all[i].name]++
	}
	next := map[string]int{}
	for i := range all {
		if name := all[i].name; times[name] > 1 {
			all[i].name = fmt.Sprintf("%s-%d", name, next[name])
			next[name]++
		}
	}
}

// maxName bounds a name that is made of a model's.
const maxName = 40

// plainName is what is left of a text as a name: of a path its end, in lower case,
// and nothing that has a meaning in a pattern.
func plainName(s string) string {
	s = strings.ToLower(s[strings.LastIndexByte(s, '/')+1:])
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		default:
			return '-'
		}
	}, s)
	s = strings.Trim(s[:min(len(s), maxName)], "-.")
	if s == "" || s == model.OtherName {
		return "target"
	}
	return s
}

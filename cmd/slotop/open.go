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
	"time"

	"golang.org/x/term"

	"slotop/cmd/slotop/screen"
	"slotop/model"
	"slotop/sources"
	"slotop/sources/dialect"
	"slotop/themes"
)

// open opens the targets named as arguments, or those of the configuration. The
// simulated service comes with promises of its own.
func (a *app) open(ctx context.Context, args []string) (settings, []sources.Opened, error) {
	s, opened, err := a.openTargets(ctx, args)
	if err != nil || len(s.file.Workflows) > 0 || !simulated(opened) {
		return s, opened, err
	}
	policy := s.file.policy()
	policy.Workflows = sources.Promised(opened)
	if len(policy.Models) == 0 {
		policy.Models = []model.ModelSpec{{Name: "*", Shape: simulatedShape}}
	}
	if s.policy, err = a.promised(policy); err != nil {
		return s, nil, errors.Join(err, sources.CloseAll(opened))
	}
	return s, opened, nil
}

// simulatedShape is what every model of the simulated service is, by whichever name
// it is served.
const simulatedShape = "meta-llama/Llama-3.1-8B-Instruct"

// simulated reports whether nothing but the simulator is watched.
func simulated(opened []sources.Opened) bool {
	return !slices.ContainsFunc(opened, func(o sources.Opened) bool { return !o.Target.Simulated })
}

func (a *app) openTargets(ctx context.Context, args []string) (settings, []sources.Opened, error) {
	s, err := a.settings()
	if err != nil {
		return s, nil, err
	}
	s.opt.Follow = a.follow
	from, to, past, err := a.flags.span(time.Now())
	switch {
	case err != nil:
		return s, nil, err
	case past && len(args) > 0:
		specs := make([]sources.Spec, len(args))
		for i, arg := range args {
			specs[i] = sources.Spec{Address: arg, Options: s.opt}
		}
		opened, err := openPast(ctx, specs, from, to, s.every)
		return s, opened, err
	case len(args) > 0:
		opened, err := sources.Resolve(ctx, args, s.opt)
		var tape *sources.TapeError
		if errors.As(err, &tape) {
			err = usageError(err)
		}
		return s, opened, err
	}
	if len(s.file.Targets) == 0 {
		opened, err := a.openFound(ctx, s.opt)
		return s, opened, err
	}
	specs := make([]sources.Spec, len(s.file.Targets))
	for i, t := range s.file.Targets {
		specs[i] = sources.Spec{Address: t.Address, Name: t.Name, GPUs: t.GPUs, Options: s.opt}
		if t.HTTP != nil {
			specs[i].Options.HTTP = t.HTTP
		}
		specs[i].Options.WorkflowLabel = t.WorkflowLabel
	}
	if past {
		opened, err := openPast(ctx, specs, from, to, s.every)
		return s, opened, err
	}
	opened, err := sources.Open(ctx, specs)
	return s, opened, s.file.placed(ctx, specs, err)
}

// placed is an error about the targets of the configuration, with the place of the
// one it is about.
func (c *fileConfig) placed(ctx context.Context, specs []sources.Spec, err error) error {
	if err == nil {
		return nil
	}
	for i := range specs {
		opened, own := sources.Open(ctx, specs[i:i+1])
		if own != nil {
			return fmt.Errorf("%s%w", c.Targets[i].at, own)
		}
		_ = sources.CloseAll(opened)
	}
	return err
}

// plays reports whether the targets are headless on a clock of their own: saved
// pages, and the simulator when nobody watches it.
func plays(opened []sources.Opened) bool {
	for _, o := range opened {
		if !o.Saved && !o.Target.Simulated {
			return false
		}
	}
	return len(opened) > 0
}

// savedEvery is how far apart saved pages are played unless told otherwise.
const savedEvery = 10 * time.Second

func (s settings) interval(opened []sources.Opened) time.Duration {
	switch pace := paceOf(opened); {
	case pace > 0 && plays(opened):
		return pace
	case s.every > 0:
		return s.every
	case slices.ContainsFunc(opened, func(o sources.Opened) bool { return o.Saved && !dated(o) }):
		return savedEvery
	case slices.ContainsFunc(opened, dated):
		return sources.DefaultEvery // requests know when they were
	default:
		return pollInterval(len(opened))
	}
}

// dated reports whether a target says itself when its polls were.
func dated(o sources.Opened) bool {
	_, ok := o.Source.(sources.Dated)
	return ok
}

func targetsOf(opened []sources.Opened) []model.Target {
	out := make([]model.Target, len(opened))
	for i, o := range opened {
		out[i] = o.Target
	}
	return out
}

// seed is different in every run, so that several monitors of one fleet do not
// retry in step.
func seed() uint64 { return uint64(time.Now().UnixNano()) ^ uint64(os.Getpid()) }

// loadDialects reads the built-in dialects and the user's own beside the configuration.
func loadDialects() (*dialect.Set, error) {
	set, err := dialect.Builtin()
	if err != nil {
		return nil, fmt.Errorf("load the built-in dialects: %w", err)
	}
	return set, addDir("dialects", set.AddDir)
}

func loadThemes() (*themes.Set, error) {
	set, err := themes.Builtin()
	if err != nil {
		return nil, fmt.Errorf("load the built-in themes: %w", err)
	}
	return set, addDir("themes", set.AddDir)
}

// addDir hands a folder of the configuration directory over, where there is one.
func addDir(name string, add func(fs.FS) error) error {
	dir := filepath.Join(configDir(), name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := add(os.DirFS(dir)); err != nil {
		return fmt.Errorf("in %s: %w", dir, err)
	}
	return nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// textWidth is the width for text: asked for, the terminal's, or 100.
func (a *app) textWidth() int {
	if a.flags.width > 0 {
		return a.flags.width
	}
	if f, ok := a.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 100
}

// asciiOnly reports whether no more than ASCII can be shown here.
func asciiOnly() bool { return asciiLocale(os.Getenv) }

// console is the TERM of the Linux console: its fonts have 512 characters at most, and
// none of braille, which charts are drawn with.
const console = "linux"

// asciiLocale reports whether the variables rule out more than ASCII: by the locale, or
// by a terminal that has no other characters.
func asciiLocale(get func(string) string) bool {
	if t := get("TERM"); t == console || screen.Colourless(t) {
		return true
	}
	locale := strings.ToUpper(cmp.Or(get("LC_ALL"), get("LC_CTYPE"), get("LANG")))
	return locale != "" && !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
}

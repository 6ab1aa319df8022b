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

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/unit"
	"slotop/sources"
)

func (a *app) checkConfigCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say whether the configuration is right, and what of its promises can be judged",
		Long: "Reads the configuration, the dialects and the themes beside it, and says what is wrong.\n" +
			"Then it looks at each target once and says of each promise what the target's figures\n" +
			"will tell: exactly, within an interval and which, or nothing and why. A target that\n" +
			"does not answer is a line, not an error.",
		RunE: a.action(cobra.MaximumNArgs(1), a.checkConfig),
	}
	a.promiseFlag(c)
	c.Flags().BoolVar(&a.flags.offline, "offline", false, "read the files only, look at no target")
	return c
}

func (a *app) checkConfig(ctx context.Context, args []string) error {
	if len(args) == 1 {
		a.flags.config = args[0]
	}
	s, err := a.settings()
	if len(args) == 1 && errors.Is(err, fs.ErrNotExist) && filepath.Ext(args[0]) != ".yaml" {
		return fmt.Errorf("%w (to look at a target: slotop doctor %s)", err, args[0])
	}
	if err != nil {
		return err
	}
	set, err := loadThemes()
	if err != nil {
		return usageError(err)
	}
	if _, err := set.Find(s.theme); s.theme != "" && err != nil {
		return usageError(fmt.Errorf("%s%w", s.file.themeAt, err))
	}
	if _, err := a.alerting(s, nil); err != nil {
		return err
	}
	var opened []sources.Opened
	if len(s.file.Targets) > 0 {
		if _, opened, err = a.open(ctx, nil); err != nil {
			return usageError(err)
		}
	}
	path := cmp.Or(a.flags.config, filepath.Join(configDir(), "config.yaml"))
	if _, err := os.Stat(path); err != nil {
		path += ": no file, the defaults hold"
	}
	said := []string{count(len(opened), "target"), count(len(s.policy.Workflows), "workflow")}
	if n := len(s.file.Alerts.Rules); n > 0 {
		said = append(said, count(n, "rule"))
	}
	if n := len(s.file.Alerts.Send); n > 0 {
		said = append(said, count(n, "receiver"))
	}
	fmt.Fprintf(a.out, "%s: right, %s\n", path, strings.Join(said, ", "))
	if a.flags.offline || len(opened) == 0 {
		return sources.CloseAll(opened)
	}
	seen, err := look(ctx, opened, s.timeout, func(model.Input) {})
	if err != nil {
		return err
	}
	a.tellFit(s.policy, seen)
	return nil
}

// tellFit prints what was seen of the targets, and what it means for the
// promises.
func (a *app) tellFit(p model.Policy, seen []*looked) {
	ascii := asciiOnly()
	say := func(line string) { fmt.Fprintln(a.out, unit.Escape(line, ascii)) }
	for _, t := range seen {
		say(t.describe())
	}
	for _, line := range fit(p, seen) {
		say(line)
	}
}

// Look at a target for so long at most, and let the simulator come to so much
// traffic first.
const (
	lookPatience  = 5 * time.Second
	lookTimeout   = 3 * time.Second // of its one poll
	lookSimulated = 2 * time.Minute
)

// look polls every target until it answered well or failed once, and closes them.
// Everything that it sees is also handed on.
func look(ctx context.Context, opened []sources.Opened, timeout time.Duration, also func(model.Input)) ([]*looked, error) {
	seen := make([]*looked, len(opened))
	byID := map[model.TargetID]*looked{}
	for i, o := range opened {
		seen[i] = &looked{target: o.Target}
		byID[o.Target.ID] = seen[i]
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	left := len(opened)
	take := func(in model.Input) {
		also(in)
		if in.Join != nil { // by a target that finds others, before its own answer
			t := &looked{target: *in.Join}
			seen, byID[in.Join.ID] = append(seen, t), t
			left++
		}
		if in.Batch == nil {
			return
		}
		t := byID[in.Batch.Target]
		if !t.done() {
			left--
		}
		t.take(in.Batch)
		if left == 0 && !plays(opened) {
			cancel()
		}
	}
	var err error
	if plays(opened) {
		err = sources.Play(ctx, opened, sources.PlayOptions{Every: savedEvery, For: lookSimulated}, take)
	} else {
		err = sources.Run(ctx, opened, sources.RunOptions{Every: lookPatience, Timeout: cmp.Or(timeout, lookTimeout), Seed: seed()}, take)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return seen, err
}

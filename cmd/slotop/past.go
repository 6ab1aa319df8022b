package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slotop/sources"
)

// A Prometheus server knows what was. --from and --to choose a stretch of it that
// is played like saved pages: on the screen, as text, onto a tape, through the
// check.

// when is a flag that names a moment: a date, a time of the last day, or how long
// ago it was.
type when struct {
	to  *time.Time
	now func() time.Time
}

var _ pflag.Value = when{}

const whenForms = "RFC 3339, 15:04 of the last day, -2h for two hours ago, or Unix seconds"

// Set implements pflag.Value.
func (w when) Set(s string) error {
	at, ok := moment(s, w.now())
	if !ok {
		return errors.New("not a time: write " + whenForms)
	}
	*w.to = at
	return nil
}

// String implements pflag.Value.
func (w when) String() string {
	if w.to == nil || w.to.IsZero() {
		return ""
	}
	return w.to.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (w when) Type() string { return "time" }

// layouts are the ways to write a date, without a zone the local one.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// clocks are the ways to write a time of the last day.
var clocks = []string{"15:04", "15:04:05"}

// moment reads a time as people write it. No server remembers one before 1970, and the
// zero time means that none was given.
func moment(s string, now time.Time) (time.Time, bool) {
	at, ok := readMoment(s, now)
	return at, ok && at.After(time.Unix(0, 0))
}

func readMoment(s string, now time.Time) (time.Time, bool) {
	if s == "now" {
		return now, true
	}
	if ago, found := strings.CutPrefix(s, "-"); found {
		d, err := time.ParseDuration(ago)
		return now.Add(-d), err == nil && d >= 0
	}
	for _, l := range layouts {
		if t, err := time.ParseInLocation(l, s, now.Location()); err == nil {
			return t, true
		}
	}
	for _, l := range clocks {
		if t, err := time.Parse(l, s); err == nil {
			return lastTime(t, now), true
		}
	}
	if sec, err := strconv.ParseFloat(s, 64); err == nil && sec > 1e9 && sec < 1e11 {
		return time.UnixMilli(int64(sec * 1000)), true
	}
	return time.Time{}, false
}

// lastTime is the latest moment, not after now, at which the clock showed t.
func lastTime(t, now time.Time) time.Time {
	at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
	if at.After(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()-1, t.Hour(), t.Minute(), t.Second(), 0, now.Location())
	}
	return at
}

// pastFlags let a command play the past of a Prometheus server.
func (a *app) pastFlags(c *cobra.Command) {
	c.Flags().Var(when{&a.flags.from, time.Now}, "from", "play the past of a Prometheus server from then: "+whenForms)
	c.Flags().Var(when{&a.flags.until, time.Now}, "to", "up to then (default: now)")
}

// span is the stretch of the past that was asked for; ok is false where none was.
func (f *flags) span(now time.Time) (from, to time.Time, ok bool, err error) {
	if f.from.IsZero() && f.until.IsZero() {
		return from, to, false, nil
	}
	from, to = f.from, f.until
	if to.IsZero() {
		to = now
	}
	switch {
	case from.IsZero():
		return from, to, false, usageError(errors.New("--to needs --from: say where the past begins"))
	case !from.Before(to):
		return from, to, false, usageError(fmt.Errorf("--from %s is not before --to %s", from.Format(time.RFC3339), to.Format(time.RFC3339)))
	case from.After(now):
		return from, to, false, usageError(fmt.Errorf("--from %s is in the future", from.Format(time.RFC3339)))
	}
	return from, to, true, nil
}

// pastOfTapes refuses --from and --to where there are only tapes: a tape is read from
// its beginning, and a page about all of it would pass for one about the part.
func (f *flags) pastOfTapes(args []string) error {
	if f.from.IsZero() && f.until.IsZero() || len(args) == 0 {
		return nil
	}
	for _, arg := range args {
		if _, _, staged := stageOf(arg); !staged && !sources.IsTape(arg) {
			return nil
		}
	}
	return usageError(errors.New("--from and --to choose from the past of a Prometheus server: a tape is read from its beginning"))
}

// openPast opens what the targets were between two moments, with points about every
// apart; 0 lets each server choose.
func openPast(ctx context.Context, specs []sources.Spec, from, to time.Time, every time.Duration) ([]sources.Opened, error) {
	var opened []sources.Opened
	for _, spec := range specs {
		one, err := sources.OpenPast(ctx, spec, from, to, every)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", sources.Redact(spec.Address), err), sources.CloseAll(opened))
		}
		opened = append(opened, one)
	}
	return opened, nil
}

// replayPast is the screen over what a Prometheus server remembers.
func (a *app) replayPast(ctx context.Context, args []string) error {
	if a.flags.from.IsZero() {
		return usageError(fmt.Errorf("replay %s: no tape, and no --from to say which past of a Prometheus server is meant: %s", sources.Redact(args[0]), whenForms))
	}
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return err
	}
	return a.watchSaved(ctx, s, opened)
}

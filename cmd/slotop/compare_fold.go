package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/compare"
	"slotop/model/tape"
	"slotop/model/unit"
	"slotop/sources"
)

// One side of a comparison is a stretch of load: a stage of a tape, or all of what a
// target played.

// stretch is one side.
type stretch struct {
	stage     *model.StageView
	simulated bool
	idle      bool // its servers had nothing to do when it began
}

// until is a stage as far as a frame knows it.
func until(s *model.StageView, f *model.Frame) stretch {
	return stretch{stage: compare.Until(s, f.At), simulated: f.Simulated}
}

// playedFor is how far the simulated service is played unless told otherwise: it never
// ends.
const playedFor = 5 * time.Minute

// stretches are the two sides that the arguments name.
func (a *app) stretches(ctx context.Context, args []string) (out [2]stretch, err error) {
	if len(args) == 1 {
		return a.lastTwo(args[0])
	}
	for i, arg := range args {
		if out[i], err = a.stretch(ctx, arg); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (a *app) stretch(ctx context.Context, arg string) (stretch, error) {
	if file, stage, ok := stageOf(arg); ok {
		return a.stageOfTape(file, stage)
	}
	if sources.IsTape(arg) {
		s, err := a.settings()
		if err != nil {
			return stretch{}, err
		}
		return a.whole(filepath.Base(arg), func() (io.ReadCloser, error) { return openTape(arg) }, a.judging(s))
	}
	return a.played(ctx, arg)
}

// stageOf splits FILE.tape:stage. A name of a stage may hold colons, and so may that of
// a file, which therefore must exist.
func stageOf(arg string) (file, stage string, ok bool) {
	for i := range arg {
		if arg[i] != ':' || !sources.IsTape(arg[:i]) {
			continue
		}
		if _, err := os.Stat(arg[:i]); err == nil {
			return arg[:i], arg[i+1:], arg[i+1:] != ""
		}
	}
	return "", "", false
}

// played is all that a target tells that has a clock of its own.
func (a *app) played(ctx context.Context, arg string) (stretch, error) {
	from, until, every := a.flags.from, a.flags.until, a.flags.forTime
	defer func() { a.flags.from, a.flags.until, a.flags.forTime = from, until, every }()
	address, err := a.ownPast(arg)
	if err != nil {
		return stretch{}, err
	}
	s, opened, err := a.open(ctx, []string{address})
	if err != nil {
		return stretch{}, err
	}
	if !plays(opened) {
		return stretch{}, errors.Join(usageError(fmt.Errorf("%s goes on for ever: record it first, slotop record -o A.tape --for 5m %s", sources.Redact(arg), sources.Redact(arg))), sources.CloseAll(opened))
	}
	if simulated(opened) {
		a.flags.forTime = cmp.Or(a.flags.forTime, a.flags.warmup+playedFor)
	}
	recorded, err := a.inMemory(ctx, s, opened)
	if err != nil {
		return stretch{}, err
	}
	return a.whole(sources.Redact(arg), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recorded)), nil }, nil)
}

// ownPast takes from= and to= out of the address of a Prometheus server, so that two
// stretches of one past can be compared.
func (a *app) ownPast(arg string) (string, error) {
	address, query, found := strings.Cut(arg, "?")
	if !found || !strings.HasPrefix(arg, "prom+") {
		return arg, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return arg, nil // whoever opens it says so
	}
	for key, to := range map[string]*time.Time{"from": &a.flags.from, "to": &a.flags.until} {
		if v := values.Get(key); v != "" {
			if err := (when{to, time.Now}).Set(v); err != nil {
				return "", usageError(fmt.Errorf("%s: %s=%s: %w", sources.Redact(address), key, v, err))
			}
			values.Del(key)
		}
	}
	if len(values) == 0 {
		return address, nil
	}
	return address + "?" + values.Encode(), nil
}

// whole folds a recording with a mark at its beginning, or where the warm-up ends. Marks
// of its own are not taken: all of it is one stage.
func (a *app) whole(name string, open func() (io.ReadCloser, error), policy judging) (stretch, error) {
	var first *model.Frame
	f, err := a.folded(name, open, policy, func(cur *cursor) error {
		if err := a.damage(name, cur.fold(cur.start+a.flags.warmup-1)); err != nil {
			return err
		}
		if cur.next == nil {
			return usageError(fmt.Errorf("%s is not longer than the warm-up of %s", name, unit.Duration(a.flags.warmup.Seconds())))
		}
		from := cur.next.At
		cur.core.take(model.Input{At: from, Mark: name})
		end := time.Duration(1<<63 - 1)
		if a.flags.forTime > 0 {
			end = cur.start + a.flags.forTime
		}
		for cur.next != nil && cur.next.At.Mono <= end {
			cur.next.Mark = ""
			if err := a.damage(name, cur.take()); err != nil {
				return err
			}
			if now := cur.core.box.latest(); first == nil && now != nil && now.At.Mono >= from.Mono {
				first = now
			}
		}
		return nil
	})
	if err != nil {
		return stretch{}, err
	}
	if f == nil || len(f.Stages) == 0 {
		return stretch{}, &withCode{exitUntold, fmt.Errorf("%s holds not a single poll", name)}
	}
	side := until(&f.Stages[len(f.Stages)-1], f)
	side.idle = idle(first)
	return side, nil
}

// idle reports whether no server of a frame has anything to do.
func idle(f *model.Frame) bool {
	return f != nil && len(f.Targets) > 0 && !slices.ContainsFunc(f.Targets, func(t model.TargetView) bool {
		return t.Kind != model.GPUTarget && t.State != model.Idle
	})
}

// folded is the last frame of a recording that fold went through.
func (a *app) folded(name string, open func() (io.ReadCloser, error), policy judging, fold func(*cursor) error) (*model.Frame, error) {
	cur, err := newPlayer(open, a.flags.window, policy, 1, &mailbox{}).rewind()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = cur.close() }()
	if err := fold(cur); err != nil {
		return nil, err
	}
	return cur.core.box.latest(), nil
}

// damage says what of which tape is lost, and lets the rest be read.
func (a *app) damage(name string, err error) error {
	var lost *tape.DamageError
	if errors.As(err, &lost) {
		fmt.Fprintf(a.err, "slotop: %s: %v\n", name, err)
		return nil
	}
	return err
}

// stagesOf are all stages of a tape, also those that a frame holds no more.
func (a *app) stagesOf(file string) ([]stretch, error) {
	if a.flags.forTime > 0 {
		return nil, usageError(fmt.Errorf("--for: a stage of %s ends where it was marked to", file))
	}
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	var out []stretch
	add := func(f *model.Frame, done bool) {
		for i := range f.Stages {
			s := &f.Stages[i]
			known := len(out) > 0 && s.From.Mono <= out[len(out)-1].stage.From.Mono
			if !known && (done || !s.To.IsZero()) {
				out = append(out, until(s, f))
			}
		}
	}
	f, err := a.folded(file, func() (io.ReadCloser, error) { return openTape(file) }, a.judging(s), func(cur *cursor) error {
		for cur.next != nil {
			if err := a.damage(file, cur.foldToTick()); err != nil {
				return err
			}
			if f := cur.core.box.latest(); f != nil {
				add(f, false)
			}
		}
		return nil
	})
	if err == nil && f != nil {
		add(f, true)
	}
	return out, err
}

// stageOfTape is a stage by its name, or by its number as #2.
func (a *app) stageOfTape(file, name string) (stretch, error) {
	all, err := a.stagesOf(file)
	if err != nil {
		return stretch{}, err
	}
	var found []int
	for i := range all {
		if all[i].stage.Name == name {
			found = append(found, i)
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && len(found) == 0 && strings.HasPrefix(name, "#") && n >= 1 && n <= len(all) {
		found = []int{n - 1}
	}
	switch len(found) {
	case 1:
		named := *all[found[0]].stage
		named.Name = filepath.Base(file) + ":" + named.Name
		return stretch{stage: &named, simulated: all[found[0]].simulated}, nil
	case 0:
		return stretch{}, usageError(fmt.Errorf("%s has no stage %q: %s", file, name, stageNames(all)))
	default:
		return stretch{}, usageError(fmt.Errorf("%s has %d stages called %q: say which by its number, as in %s:#%d; %s", file, len(found), name, file, found[0]+1, stageNames(all)))
	}
}

// stageNames lists what may be asked for.
func stageNames(all []stretch) string {
	if len(all) == 0 {
		return "no stage was marked on it"
	}
	var names []string
	for i := range all {
		names = append(names, fmt.Sprintf("#%d %q", i+1, all[i].stage.Name))
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return "it has " + strings.Join(names, ", ")
}

// lastTwo are the two latest stages of one tape.
func (a *app) lastTwo(arg string) (out [2]stretch, err error) {
	if !sources.IsTape(arg) {
		return out, usageError(errors.New("compare needs two sides: two tapes, or two stages of one, as in F.tape:one F.tape:two"))
	}
	all, err := a.stagesOf(arg)
	if err != nil {
		return out, err
	}
	if len(all) < 2 {
		return out, usageError(fmt.Errorf("%s has %s: name a second tape to compare it with, or mark stages while recording on the screen", arg, count(len(all), "stage")))
	}
	return [2]stretch(slices.Clone(all[len(all)-2:])), nil
}

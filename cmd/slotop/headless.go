package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/model/tape"
	"slotop/model/unit"
	"slotop/sources"
)

// snapshotPatience bounds how long a snapshot without --for waits for a second
// good poll. A target that is silent for so long has its answer already.
const snapshotPatience = 10 * time.Second

func (a *app) snapshot(ctx context.Context, args []string) error {
	print, err := a.printer()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var last *model.Frame
	each := func(f *model.Frame) error {
		last = f
		if a.flags.frames {
			return print(f)
		}
		return nil
	}
	if len(args) == 1 && sources.IsTape(args[0]) {
		err = a.snapshotTape(args[0], each)
	} else {
		err = a.snapshotTargets(ctx, args, each)
	}
	if err != nil {
		return err
	}
	if last == nil {
		return &withCode{exitUntold, errors.New("not a single poll ended")}
	}
	if !a.flags.frames {
		if err := print(last); err != nil {
			return err
		}
	}
	if !anyGood(last) {
		return &withCode{code: exitUntold}
	}
	return nil
}

// printer writes a frame in the chosen form.
func (a *app) printer() (func(*model.Frame) error, error) {
	var write func(*model.Frame) error
	switch a.flags.output {
	case "json":
		write = func(f *model.Frame) error { return report.JSON(a.out, f) }
	case "text":
		opt := report.Options{Width: a.textWidth(), ASCII: a.flags.ascii || asciiOnly()}
		write = func(f *model.Frame) error {
			_, err := io.WriteString(a.out, report.Text(f, opt))
			return err
		}
	default:
		return nil, usageError(fmt.Errorf("-o %s: text or json", a.flags.output))
	}
	return func(f *model.Frame) error {
		if err := write(f); err != nil {
			if errors.Is(err, syscall.EPIPE) {
				return &withCode{code: exitOK} // the reader has seen enough
			}
			return fmt.Errorf("print the frame: %w", err)
		}
		return nil
	}, nil
}

func (a *app) snapshotTargets(ctx context.Context, args []string, each func(*model.Frame) error) error {
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return err
	}
	virtual := plays(opened)
	every := s.interval(len(opened), virtual)
	c, err := newCore(fleet.Config{Targets: targetsOf(opened), Every: every, Window: s.window})
	if err != nil {
		return errors.Join(err, sources.CloseAll(opened))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var printed error
	emit := func(in model.Input) {
		c.take(in)
		if !in.IsTick() || printed != nil {
			return
		}
		f := c.box.latest()
		if printed = each(f); printed != nil || (!virtual && a.flags.forTime == 0 && settled(f, 2)) {
			cancel()
		}
	}
	if virtual {
		err = sources.Play(ctx, opened, sources.PlayOptions{Every: every, For: a.flags.forTime}, emit)
	} else {
		live, done := context.WithTimeout(ctx, first(a.flags.forTime, snapshotPatience))
		defer done()
		err = sources.Run(live, opened, sources.RunOptions{Every: every, Timeout: s.timeout, Seed: seed()}, emit)
	}
	if printed != nil {
		return printed
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// snapshotTape folds a tape to its end.
func (a *app) snapshotTape(path string, each func(*model.Frame) error) error {
	p := newPlayer(func() (io.ReadCloser, error) { return os.Open(path) }, a.flags.window, 1, &mailbox{})
	cur, err := p.rewind()
	if err != nil {
		return err
	}
	defer func() { _ = cur.close() }()
	end := time.Duration(-1)
	if a.flags.forTime > 0 {
		end = cur.start + a.flags.forTime
	}
	for cur.next != nil && (end < 0 || cur.next.At.Mono <= end) {
		if err := cur.foldToTick(); err != nil {
			fmt.Fprintf(a.err, "slotop: %v\n", err)
		}
		if f := cur.core.box.latest(); f != nil {
			if err := each(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) record(ctx context.Context, args []string) error {
	if a.flags.file == "" {
		return usageError(errors.New("name the tape to write: record -o FILE.tape TARGET"))
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(a.flags.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return errors.Join(fmt.Errorf("write the tape: %w", err), sources.CloseAll(opened))
	}
	w, err := a.recordTo(ctx, file, s, opened)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "slotop: %s: %s\n", a.flags.file, unit.Bytes(float64(w.Size())))
	if n := w.Dropped(); n > 0 {
		return fmt.Errorf("the tape is full at %s: %d inputs are not on it; raise --limit", unit.Bytes(float64(w.Size())), n)
	}
	return nil
}

// recordTo polls the targets onto a tape until --for or a signal.
func (a *app) recordTo(ctx context.Context, out io.Writer, s settings, opened []sources.Opened) (*tape.Writer, error) {
	virtual := plays(opened)
	every := s.interval(len(opened), virtual)
	w, err := tape.NewWriter(out, tapeHeader(opened, every, s.window))
	if err != nil {
		return nil, errors.Join(err, sources.CloseAll(opened))
	}
	if a.flags.limit > 0 {
		w.Limit = a.flags.limit
	}
	if virtual && a.flags.forTime == 0 && slices.ContainsFunc(opened, func(o sources.Opened) bool { return o.Target.Simulated }) {
		return nil, errors.Join(usageError(errors.New("the demo never ends: say --for how long to record")), sources.CloseAll(opened))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	emit := func(in model.Input) {
		if failed == nil {
			if failed = w.Write(in); failed != nil {
				cancel()
			}
		}
	}
	if virtual {
		err = sources.Play(ctx, opened, sources.PlayOptions{Every: every, For: a.flags.forTime}, emit)
	} else {
		if a.flags.forTime > 0 {
			var done context.CancelFunc
			ctx, done = context.WithTimeout(ctx, a.flags.forTime)
			defer done()
		}
		err = sources.Run(ctx, opened, sources.RunOptions{Every: every, Timeout: s.timeout, Seed: seed()}, emit)
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return w, errors.Join(failed, err, w.Close())
}

func tapeHeader(opened []sources.Opened, every, window time.Duration) tape.Header {
	targets := targetsOf(opened)
	return tape.Header{
		Version: version(), Recorded: time.Now(), Targets: targets, Every: every, Window: window,
		Simulated: slices.ContainsFunc(targets, func(t model.Target) bool { return t.Simulated }),
	}
}

// inMemory plays saved pages onto a tape, so that they can be watched like one.
func (a *app) inMemory(ctx context.Context, s settings, opened []sources.Opened) ([]byte, error) {
	var buf bytes.Buffer
	if _, err := a.recordTo(ctx, &buf, s, opened); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

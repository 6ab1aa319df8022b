package main

import (
	"bytes"
	"cmp"
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
	"slotop/model/report"
	"slotop/model/tape"
	"slotop/model/unit"
	"slotop/sources"
)

// snapshotPatience bounds how long a snapshot without --for waits for a second
// good poll. A target that is silent for so long has its answer already.
const snapshotPatience = 10 * time.Second

// endings are the signals that end a run without a screen: the frame so far is
// printed, the tape closed. A hang-up that the parent has ignored, as nohup
// does, stays ignored.
func endings() []os.Signal {
	all := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// unread is how long a run that was told to end goes on printing: a reader that does
// not read any more would hold it for ever.
const unread = lastWordsTold + 300*time.Millisecond

// untilTold is a context that ends with a signal, and then the program, wherever it is.
func untilTold(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		select {
		case <-done:
		case <-time.After(unread):
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() {
		close(done)
		stop()
	}
}

func (a *app) snapshot(ctx context.Context, args []string) error {
	print, err := a.printer()
	if err != nil {
		return err
	}
	if err := a.flags.pose.check(); err != nil {
		return err
	}
	ctx, stop := untilTold(ctx)
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
	switch {
	case a.flags.pose.file != "":
		err = a.flags.pose.draw(last)
	case !a.flags.frames:
		err = print(last)
	}
	if err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &withCode{code: exitInterrupted}
	case !anyGood(last):
		return &withCode{code: exitUntold}
	}
	return nil
}

// printer writes a frame in the chosen form. A reader that went away is an error
// of the write, not a signal that ends the program.
func (a *app) printer() (func(*model.Frame) error, error) {
	signal.Ignore(syscall.SIGPIPE)
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
	case "markdown":
		write = func(f *model.Frame) error {
			_, err := io.WriteString(a.out, report.Markdown(f))
			return err
		}
	default:
		return nil, usageError(fmt.Errorf("-o %s: text, json or markdown", a.flags.output))
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
	c, al, err := a.collector(s, opened)
	if err != nil {
		return err
	}
	defer al.endHeadless(ctx)
	a.flags.pose.saved = plays(opened) && !simulated(opened)
	// Saved pages end by themselves, all else goes on until it is told not to.
	endless := a.flags.forTime == 0 && slices.ContainsFunc(opened, func(o sources.Opened) bool { return !o.Saved })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var printed error
	s.after = c.recall(ctx, opened, recalled)
	err = a.poll(ctx, s, opened, snapshotPatience, func(in model.Input) {
		c.take(in)
		if !in.IsTick() || printed != nil {
			return
		}
		f := c.box.latest()
		if printed = each(f); printed != nil || (endless && settled(f, 2)) {
			cancel()
		}
	})
	if printed != nil {
		return printed
	}
	return err
}

// poll polls targets until ctx ends, or --for, or else for so long at most; zero
// is for ever. What has a clock of its own is played on that, to its end.
func (a *app) poll(ctx context.Context, s settings, opened []sources.Opened, most time.Duration, emit func(model.Input)) error {
	every := s.interval(opened)
	emit = s.notes.beside(emit, !plays(opened))
	if plays(opened) {
		err := sources.Play(ctx, opened, sources.PlayOptions{Every: every, For: a.flags.forTime}, emit)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	if most = cmp.Or(a.flags.forTime, most); most > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, most)
		defer done()
	}
	return sources.Run(ctx, opened, sources.RunOptions{Every: every, Timeout: s.timeout, Seed: seed(), After: s.after}, emit)
}

// snapshotTape folds a tape to its end.
func (a *app) snapshotTape(path string, each func(*model.Frame) error) error {
	a.flags.pose.saved = true
	s, err := a.settings()
	if err != nil {
		return err
	}
	p := newPlayer(func() (io.ReadCloser, error) { return openTape(path) }, a.flags.window, a.judging(s), 1, &mailbox{})
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
		err := cur.foldToTick()
		var damage *tape.DamageError
		if err != nil && !errors.As(err, &damage) {
			return err
		}
		if err != nil {
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
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop()
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return err
	}
	file, err := a.newTape(opened)
	if err != nil {
		return errors.Join(err, sources.CloseAll(opened))
	}
	size, err := a.recordTo(ctx, file, s, opened)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if errors.Is(err, tape.ErrFull) {
		return fmt.Errorf("%s is full at %s and stops there: raise --limit", a.flags.file, unit.Bytes(float64(size)))
	}
	if err == nil {
		fmt.Fprintf(a.err, "slotop: %s: %s\n", a.flags.file, unit.Bytes(float64(size)))
	}
	return err
}

// newTape makes the file. A recording is never written over another.
func (a *app) newTape(opened []sources.Opened) (*os.File, error) {
	simulated := slices.ContainsFunc(opened, func(o sources.Opened) bool { return o.Target.Simulated })
	if simulated && plays(opened) && a.flags.forTime == 0 {
		return nil, usageError(errors.New("the demo never ends: say --for how long to record"))
	}
	file, err := os.OpenFile(a.flags.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write the tape: %w", err)
	}
	return file, nil
}

// recordTo polls the targets onto a tape until --for or a signal, and returns
// its size.
func (a *app) recordTo(ctx context.Context, out io.Writer, s settings, opened []sources.Opened) (int64, error) {
	w, err := tape.NewWriter(out, tapeHeader(s, opened))
	if err != nil {
		return 0, errors.Join(err, sources.CloseAll(opened))
	}
	w.Limit = a.flags.limit
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	write, err := a.marked(func(in model.Input) {
		if failed == nil {
			if failed = w.Write(in); failed != nil {
				cancel()
			}
		}
	})
	if err != nil {
		return 0, errors.Join(err, sources.CloseAll(opened), w.Close())
	}
	err = a.poll(ctx, s, opened, 0, write)
	// A tape that failed says so again when it is closed: once is enough.
	if closed := w.Close(); failed == nil {
		failed = closed
	}
	err = errors.Join(failed, err)
	if n := w.Dropped(); n > 0 && !errors.Is(err, tape.ErrFull) {
		fmt.Fprintf(a.err, "slotop: %d inputs were too large for a tape and are missing on it\n", n)
	}
	return w.Size(), err
}

func tapeHeader(s settings, opened []sources.Opened) tape.Header {
	targets := targetsOf(opened)
	return tape.Header{
		Version: version(), Recorded: time.Now(), Targets: targets, Every: s.interval(opened), Window: s.window, Policy: s.policy,
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

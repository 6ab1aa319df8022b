package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"slotop/cmd/slotop/screen"
	"slotop/model/report"
	"slotop/model/spell"
	"slotop/model/tape"
	"slotop/sources"
	"slotop/tui"
)

// watch is the screen over live targets, saved pages or a tape.
func (a *app) watch(ctx context.Context, args []string) error {
	if slices.Contains(args, stdinEvents) {
		keys, err := os.Open("/dev/tty")
		if err != nil {
			return usageError(fmt.Errorf("%s takes the standard input, and there is no terminal for keys: %w; for text use: slotop snapshot %s", stdinEvents, err, stdinEvents))
		}
		defer func() { _ = keys.Close() }()
		a.in = keys
	}
	if err := a.needTerminal(); err != nil {
		return err
	}
	if len(args) == 1 && sources.IsTape(args[0]) {
		return a.replay(ctx, args)
	}
	for i := range args {
		args[i] = sources.Watched(args[i])
	}
	a.follow = true
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return a.meant(args, err)
	}
	if opened[0].Saved {
		return a.watchSaved(ctx, s, opened)
	}
	c, al, err := a.collector(s, opened)
	if err != nil {
		return err
	}
	defer al.end(lastWords)
	every := s.interval(opened)
	c.kept = newFootage(len(opened), every)
	screen := tui.Options{
		Targets: targetsOf(opened), Every: every, Window: c.setWindow, Ack: c.acknowledge, Mark: c.mark, Past: c.kept, Recalled: c.recallShare,
		Signals: s.file.Alerts.attention(), Outbox: al.outbox(),
	}
	return a.show(ctx, s, c.box, screen, func(ctx context.Context) error {
		return c.collect(ctx, s, opened, s.notes.beside(c.take, true))
	})
}

// stdinEvents is the target that reads the standard input: keys then come from
// the terminal itself.
const stdinEvents = "events:-"

// meant adds to an error the command that was perhaps meant: what is none is
// taken for a target.
func (a *app) meant(args []string, err error) error {
	if wrong := (*sources.UsageError)(nil); len(args) == 0 || !errors.As(err, &wrong) {
		return err
	}
	if near := spell.Nearest(args[0], a.commands); near != "" {
		return usageError(fmt.Errorf("%w; or did you mean slotop %s?", err, near))
	}
	return err
}

// watchSaved plays saved pages like a tape.
func (a *app) watchSaved(ctx context.Context, s settings, opened []sources.Opened) error {
	recorded, err := a.inMemory(ctx, s, opened)
	if err != nil {
		return err
	}
	return a.play(ctx, s, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recorded)), nil })
}

func (a *app) replay(ctx context.Context, args []string) error {
	if err := a.needTerminal(); err != nil {
		return err
	}
	if !a.flags.from.IsZero() || !a.flags.until.IsZero() || strings.HasPrefix(args[0], "prom+") {
		return a.replayPast(ctx, args)
	}
	s, err := a.settings()
	if err != nil {
		return err
	}
	s.window = a.flags.window // as recorded, unless asked for
	return a.play(ctx, s, func() (io.ReadCloser, error) { return openTape(args[0]) })
}

// play is the screen over a tape.
func (a *app) play(ctx context.Context, s settings, open func() (io.ReadCloser, error)) error {
	index, err := survey(open)
	if err != nil {
		return err
	}
	box := newMailbox()
	p := newPlayer(open, s.window, a.judging(s), cmp.Or(a.flags.speed, 1), box)
	screen := tui.Options{Targets: index.Header.Targets, Every: index.Header.Every, Window: p.setWindow, Replay: p}
	err = a.show(ctx, s, box, screen, func(ctx context.Context) error { return p.run(ctx, index.Last()) })
	if lost := p.now().trouble; lost != nil {
		fmt.Fprintf(a.err, "slotop: %v\n", lost)
	}
	return err
}

// survey reads what a tape is of and how long it is.
func survey(open func() (io.ReadCloser, error)) (tape.Index, error) {
	f, err := open()
	if err != nil {
		return tape.Index{}, err
	}
	defer func() { _ = f.Close() }()
	return tape.Scan(f)
}

// needTerminal refuses to draw where nobody can see it.
func (a *app) needTerminal() error {
	switch {
	case !term.IsTerminal(int(a.screen.Fd())) || !term.IsTerminal(int(a.in.Fd())):
		return usageError(errors.New("the screen needs a terminal; for text or JSON use: slotop snapshot [-o json] TARGET"))
	case os.Getenv("TERM") == "dumb":
		return usageError(errors.New("TERM=dumb cannot move the cursor; for text use: slotop snapshot TARGET"))
	default:
		return nil
	}
}

// startsFast is how long the program may take all it can get: the first numbers
// are waited for.
const startsFast = 2 * time.Second

// fewTargets are polled and folded by a single thread without being late.
const fewTargets = 20

// leanTargets have a heap so small that collecting twice as often costs little: with a
// hundred it is a hundredth of the program's time, for a fifth of its memory.
const leanTargets = 200

// modest keeps the watcher from being the load on a host that has better things
// to do: every further thread looks for work at each wake-up. The usual variables
// override it.
func modest(targets int) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), 1+targets/fewTargets))
	}
	if os.Getenv("GOGC") == "" && targets < leanTargets {
		debug.SetGCPercent(50)
	}
}

// unknowing leaves out what the terminal of an environment does not know, or must not be
// sent: one without colours would print a title, and the question for its background.
func unknowing(opt *tui.Options, getenv func(string) string) {
	colourless := screen.Colourless(getenv("TERM"))
	opt.NoColour = colourless || getenv("NO_COLOR") != ""
	opt.Signals.Title = opt.Signals.Title && !colourless
}

// show draws the screen while beside feeds it.
func (a *app) show(ctx context.Context, s settings, box *mailbox, opt tui.Options, beside func(context.Context) error) error {
	set, err := loadThemes()
	if err != nil {
		return usageError(err)
	}
	opt.Latest, opt.Tick = box.latest, (&beat{news: box.news}).tick
	opt.Themes, opt.Theme = set, s.theme
	opt.Notes = s.notes.said
	opt.ASCII, opt.Mouse, opt.Picture = s.ascii || asciiOnly(), s.mouse, s.album.keep
	opt.Markdown, opt.Enables = report.Markdown, enables(s.opt.Dialects)
	unknowing(&opt, os.Getenv)
	opt.Kiosk, opt.Still, opt.Suspend = s.wall.kiosk(), s.wall.still, suspend
	opt.Signals.Progress = s.file.Alerts.progress()
	m, err := tui.New(opt)
	if err != nil {
		return usageError(err)
	}
	settled := time.AfterFunc(startsFast, func() { modest(len(opt.Targets)) })
	defer settled.Stop()
	t := &terminal{in: a.in, out: a.screen, titled: opt.Signals.Title, progress: opt.Signals.Progress}
	model, collect := drilled(m, func(ctx context.Context) {
		if err := beside(ctx); err != nil && ctx.Err() == nil {
			t.end(err, "")
		}
	})
	err = t.show(ctx, model, collect)
	if code := t.report(a.err, err); code != exitOK {
		return &withCode{code: code}
	}
	return nil
}

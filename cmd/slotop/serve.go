package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	gossh "golang.org/x/crypto/ssh"

	"slotop/cmd/slotop/serve"
	"slotop/model/unit"
	"slotop/sources"
)

// serving is what slotop serve is given beside what every screen is.
type serving struct {
	listen  string
	keys    string
	hostKey string
	viewers int
	perKey  int
	idle    time.Duration
}

func (a *app) serveCommand() *cobra.Command {
	f := serving{viewers: 50, perKey: 10, idle: 30 * time.Minute}
	c := &cobra.Command{
		Use:   "serve --keys FILE [TARGET...]",
		Short: "The same screen over SSH, for several viewers who only look",
		Long: "One collector, and a screen of its own for each viewer: ssh -p 2222 HOST shows it, q ends it.\n" +
			"There is no shell, no command, no file transfer and no forwarding. Keys are those of FILE, in the\n" +
			"form of authorized_keys; each login reads it again. Logins, refusals and ends go to the standard error.",
		Example: "  slotop serve --keys ~/.ssh/authorized_keys localhost:8000\n" +
			"  slotop serve --keys viewers.pub --listen 10.0.0.5:2222 prom+http://prometheus:9090\n" +
			"  # the screen\n  ssh -p 2222 localhost\n" +
			"  # the same as text, once\n  ssh -p 2222 -T localhost",
		RunE: a.action(cobra.ArbitraryArgs, func(ctx context.Context, args []string) error { return a.serve(ctx, f, args) }),
	}
	a.pollFlags(c)
	a.promiseFlag(c)
	a.noteFlag(c)
	a.sendFlag(c)
	c.Flags().StringVar(&a.flags.theme, "theme", "", "theme of those who name none (default: by their terminal's background)")
	c.Flags().BoolVar(&a.flags.ascii, "ascii", false, "draw with ASCII characters only")
	c.Flags().StringVar(&f.keys, "keys", "", "who may look: public keys, as in authorized_keys")
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:2222", "where to listen; other machines reach it only where you say so")
	c.Flags().StringVar(&f.hostKey, "host-key", "", "the server's private key (default: one of its own, made at the first use)")
	c.Flags().Var(bounded[int]{&f.viewers, 1, maxViewers, strconv.Atoi, "number"}, "viewers", "how many may look at the same time")
	c.Flags().Var(bounded[int]{&f.perKey, 1, maxViewers, strconv.Atoi, "number"}, "per-key", "how many may do so with one key")
	c.Flags().Var(span(&f.idle, 0, maxFor), "idle", "end a viewer who presses no key for so long; 0: never")
	return c
}

// maxViewers is what one process can draw for.
const maxViewers = 1000

// stateDir is where the program keeps what it made itself.
func stateDir() string { return filepath.Join(xdg.StateHome, "slotop") }

// serve shows the screen to whoever has a key, until a signal.
func (a *app) serve(ctx context.Context, f serving, args []string) error {
	door, err := a.openDoor(f)
	if err != nil {
		return err
	}
	defer func() { _ = door.listener.Close() }()
	for i := range args {
		args[i] = sources.Watched(args[i])
	}
	a.follow = true
	if len(args) == 1 && sources.IsTape(args[0]) {
		return errRecorded
	}
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return a.meant(args, err)
	}
	if opened[0].Saved {
		return errors.Join(errRecorded, sources.CloseAll(opened))
	}
	c, al, err := a.collector(s, opened)
	if err != nil {
		return err
	}
	defer al.end(lastWordsTold)
	c.kept = newFootage(len(opened), s.interval(opened))
	g, err := newGallery(c, s, opened, al)
	if err != nil {
		return errors.Join(err, sources.CloseAll(opened))
	}
	return a.serveFor(ctx, door, g, func(ctx context.Context) error {
		return c.collect(ctx, s, opened, s.notes.beside(c.take, true))
	})
}

// errRecorded refuses what each viewer would want to play at a pace of their own.
var errRecorded = usageError(errors.New("serve shows what is live; a recording is for slotop replay"))

// door is all that must be in order before anything is watched.
type door struct {
	options  serve.Options
	listener net.Listener
	entries  int
}

// openDoor reads keys, makes or reads the host key and listens.
func (a *app) openDoor(f serving) (*door, error) {
	if f.keys == "" {
		return nil, usageError(errors.New("serve lets nobody in without keys: name their file, such as --keys ~/.ssh/authorized_keys"))
	}
	keys, entries, warnings, err := serve.OpenKeys(f.keys)
	for _, w := range warnings {
		fmt.Fprintf(a.err, "slotop: %s\n", unit.Escape(w, false))
	}
	if err != nil {
		return nil, usageError(err)
	}
	var host gossh.Signer
	if f.hostKey != "" {
		host, err = serve.HostKey(f.hostKey)
	} else {
		host, err = serve.OwnHostKey(stateDir())
	}
	if err != nil {
		return nil, usageError(err)
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	opt := serve.Options{Keys: keys, Host: host, Viewers: f.viewers, PerKey: f.perKey, Idle: f.idle, Log: a.logLine}
	return &door{options: opt, listener: l, entries: entries}, nil
}

// logLine writes one line of the server's log.
func (a *app) logLine(line string) {
	fmt.Fprintf(a.err, "%s slotop serve: %s\n", time.Now().UTC().Format(time.RFC3339), line)
}

// serveFor serves while beside feeds the screens, until a signal or until either fails.
func (a *app) serveFor(ctx context.Context, d *door, g *gallery, beside func(context.Context) error) error {
	d.options.Screen, d.options.Text = g.screen, g.text
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // each viewer's screen makes the same amount anew for ever
	}
	server, err := serve.New(d.options)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.logLine(fmt.Sprintf("listening on %s, host key %s, %s", d.listener.Addr(), gossh.FingerprintSHA256(d.options.Host.PublicKey()), count(d.entries, "key")))
	collected := make(chan error, 1)
	go func() {
		err := beside(ctx)
		if err != nil && ctx.Err() == nil {
			cancel(err)
		}
		collected <- err
	}()
	go g.ring(ctx)
	err = server.Serve(ctx, d.listener)
	told := ctx.Err() != nil
	cancel(nil)
	if failed := <-collected; !told || failed != nil && !errors.Is(failed, context.Canceled) {
		return errors.Join(err, failed)
	}
	a.logLine("ended")
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/report"
	"slotop/sources"
)

// exportAt is where the page is unless told otherwise: on this machine only.
const exportAt = "127.0.0.1:9469"

// The limits of the page's server: what scrapes needs one connection, and answers at once.
const (
	exportConns    = 32
	exportHeader   = 8 << 10
	exportRead     = 5 * time.Second
	exportWrite    = 10 * time.Second
	exportIdle     = 2 * time.Minute
	exportFarewell = 500 * time.Millisecond
)

func (a *app) exportCommand() *cobra.Command {
	listen := exportAt
	c := &cobra.Command{
		Use:   "export [TARGET...]",
		Short: "What slotop computes as a Prometheus page: goodput, burn, findings, headroom",
		Long: "Polls like the screen, and serves what it computes under /metrics, so that it can be alerted\n" +
			"on and stored: goodput as an interval, burn rates and budgets, percentiles with their brackets,\n" +
			"findings, alerts, headroom. What is not known has no sample. It listens on this machine only,\n" +
			"unless --listen says otherwise; there is no password, so put a proxy before it then.",
		Example: "  slotop export localhost:8000\n  slotop export --listen 10.0.0.5:9469 prom+http://prometheus:9090\n" +
			"  curl -s http://127.0.0.1:9469/metrics",
		RunE: a.action(cobra.ArbitraryArgs, func(ctx context.Context, args []string) error { return a.export(ctx, listen, args) }),
	}
	a.pollFlags(c)
	a.promiseFlag(c)
	a.sendFlag(c)
	c.Flags().StringVar(&listen, "listen", exportAt, "where to listen; other machines reach it only where you say so")
	return c
}

// export serves the page until a signal.
func (a *app) export(ctx context.Context, listen string, args []string) error {
	if len(args) == 1 && sources.IsTape(args[0]) {
		return errNotLive
	}
	l, err := exportListener(listen)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	for i := range args {
		args[i] = sources.Watched(args[i])
	}
	a.follow = true
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return a.meant(args, err)
	}
	if opened[0].Saved {
		return errors.Join(errNotLive, sources.CloseAll(opened))
	}
	c, al, err := a.collector(s, opened)
	if err != nil {
		return err
	}
	defer al.end(lastWordsTold)
	modest(len(opened))
	return a.exportFor(ctx, l, c.box, func(ctx context.Context) error {
		return c.collect(ctx, s, opened, c.take)
	})
}

// errNotLive refuses what is over: an old figure would be taken for today's.
var errNotLive = usageError(errors.New("export tells what is now; of a recording write slotop report"))

// exportListener listens, with a bound on its connections.
func exportListener(address string) (net.Listener, error) {
	if _, port, err := net.SplitHostPort(address); err != nil {
		return nil, usageError(fmt.Errorf("--listen %s: write HOST:PORT, such as %s", address, exportAt))
	} else if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return nil, usageError(fmt.Errorf("--listen %s: no port", address))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return &fewConns{Listener: l, slots: make(chan struct{}, exportConns)}, nil
}

// exportFor serves while beside feeds the mailbox, until a signal or until either fails.
func (a *app) exportFor(ctx context.Context, l net.Listener, box *mailbox, beside func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	local := loopback(l.Addr())
	fmt.Fprintf(a.err, "slotop: http://%s/metrics\n", l.Addr())
	if !local {
		fmt.Fprintf(a.err, "slotop: whoever reaches %s reads the page: there is no password\n", l.Addr())
	}
	server := &http.Server{
		Handler: &exporter{box: box, local: local}, ErrorLog: nil,
		ReadHeaderTimeout: exportRead, ReadTimeout: exportRead, WriteTimeout: exportWrite, IdleTimeout: exportIdle, MaxHeaderBytes: exportHeader,
	}
	collected := make(chan error, 1)
	go func() {
		collected <- beside(ctx)
		cancel()
	}()
	go func() {
		<-ctx.Done()
		within, done := context.WithTimeout(context.Background(), exportFarewell)
		defer done()
		if server.Shutdown(within) != nil {
			_ = server.Close()
		}
	}()
	err := server.Serve(l)
	cancel()
	failed := <-collected
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	if errors.Is(failed, context.Canceled) {
		failed = nil
	}
	return errors.Join(err, failed)
}

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// exporter answers /metrics, and nothing else.
type exporter struct {
	box   *mailbox
	local bool

	mu   sync.Mutex
	page report.Exposition
}

// ServeHTTP implements http.Handler. A page that is for this machine is for no name that
// some web page made lead here.
func (e *exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case e.local && !localName(r.Host):
		http.Error(w, "this page is for this machine: ask for it as localhost", http.StatusForbidden)
	case r.URL.Path != "/metrics":
		http.Error(w, "only /metrics is here", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	default:
		body := e.now()
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, body)
		}
	}
}

// now is the page of the newest frame.
func (e *exporter) now() string {
	f := e.box.latest()
	about := report.Exposed{Version: version()}
	if f != nil {
		about.AgeS = model.Of(max(0, time.Since(f.At.Wall).Seconds()))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.page.Page(f, about)
}

// localName reports whether a request's Host names this machine by itself.
func localName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() || len(host) > 2 && host[0] == '[' && net.ParseIP(host[1:len(host)-1]).IsLoopback()
}

// fewConns is a listener that keeps at most so many connections open. More wait in the
// system's queue.
type fewConns struct {
	net.Listener
	slots chan struct{}
}

// Accept waits for a connection, and before for room for it.
func (l *fewConns) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &slotted{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// slotted gives its slot back when it is closed.
type slotted struct {
	net.Conn
	free func()
}

// Close implements net.Conn.
func (c *slotted) Close() error {
	defer c.free()
	return c.Conn.Close()
}

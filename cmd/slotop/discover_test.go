package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/dialect"
	"slotop/sources/discover"
	"slotop/sources/sourcetest/shared"
)

// servesAs tells a child of a test what to be, instead of running tests: "page:FILE",
// "events", "silent", "banner:FILE" or "locked".
const servesAs = "SLOTOP_TEST_SERVES_AS"

// childListener is the file descriptor of the socket that a child is given.
const childListener = 3

// serveChild is a server under another program's name, until it is killed.
func serveChild(what string) {
	listener, err := net.FileListener(os.NewFile(childListener, "listener"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	what, file, _ := strings.Cut(what, ":")
	if what == "silent" || what == "banner" {
		serveRaw(listener, file)
	}
	_ = http.Serve(listener, childHandler(what, file))
}

// serveRaw takes connections and does not speak HTTP. What it is told it writes to
// the file, if there is one.
func serveRaw(listener net.Listener, file string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			os.Exit(1)
		}
		if file == "" {
			continue // and says nothing
		}
		go func() {
			_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n")
			log, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err == nil {
				_, _ = fmt.Fprintln(log, "somebody connected")
				_, _ = io.Copy(log, conn)
			}
		}()
	}
}

func childHandler(what, file string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case what == "locked":
			w.WriteHeader(http.StatusUnauthorized)
		case what == "events" && r.URL.Path == "/events":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": hello\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case what == "page" && r.URL.Path == "/metrics":
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			http.ServeFile(w, r, file)
		default:
			http.NotFound(w, r)
		}
	})
}

// host is a part of this host: the sockets and processes that a test started, as the
// kernel shows them.
type host struct {
	tb    testing.TB
	proc  string
	ports []string // in hexadecimal, as the kernel writes them
	pids  []int
}

func newHost(tb testing.TB) *host {
	tb.Helper()
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
			tb.Fatal(err)
		}
		tb.Skipf("needs a system that tells which sockets listen: %v", err)
	}
	return &host{tb: tb, proc: tb.TempDir()}
}

func freePort(tb testing.TB) (*net.TCPListener, int) {
	tb.Helper()
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	return listener, listener.Addr().(*net.TCPAddr).Port
}

// serve starts a server under a command line, in which PORT is where it listens, and
// gives its port.
func (h *host) serve(as string, args ...string) int {
	h.tb.Helper()
	listener, port := freePort(h.tb)
	socket, err := listener.File()
	if err != nil {
		h.tb.Fatal(err)
	}
	defer func() { _, _ = socket.Close(), listener.Close() }()
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "PORT", strconv.Itoa(port))
	}
	h.start(&exec.Cmd{Path: os.Args[0], Args: args, Env: append(os.Environ(), servesAs+"="+as), ExtraFiles: []*os.File{socket}}, port)
	return port
}

func (h *host) start(cmd *exec.Cmd, port int) {
	h.tb.Helper()
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		h.tb.Fatal(err)
	}
	h.tb.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	h.pids = append(h.pids, cmd.Process.Pid)
	h.ports = append(h.ports, fmt.Sprintf("%04X", port))
}

// dead is a port that the table shows and at which nobody listens any more.
func (h *host) dead() (row string) {
	h.tb.Helper()
	listener, port := freePort(h.tb)
	if err := listener.Close(); err != nil {
		h.tb.Fatal(err)
	}
	return fmt.Sprintf("9: 0100007F:%04X 00000000:0000 0A 0:0 0:0 0 0 0 999999999", port)
}

// table writes the process table: the rows of the test's own sockets, more rows, and
// its own processes.
func (h *host) table(more ...string) string {
	h.tb.Helper()
	all, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		h.tb.Fatal(err)
	}
	rows := more
	for line := range strings.Lines(string(all)) {
		if column := strings.Fields(line); len(column) > 3 && column[3] == "0A" {
			_, port, _ := strings.Cut(column[1], ":")
			if slices.Contains(h.ports, port) {
				rows = append(rows, strings.TrimRight(line, "\n"))
			}
		}
	}
	if len(rows) != len(h.ports)+len(more) {
		h.tb.Fatalf("%d rows of %d sockets", len(rows), len(h.ports))
	}
	if err := os.MkdirAll(filepath.Join(h.proc, "net"), 0o755); err != nil {
		h.tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.proc, "net", "tcp"), []byte(strings.Join(rows, "\n")), 0o600); err != nil {
		h.tb.Fatal(err)
	}
	for _, pid := range h.pids {
		if err := os.Symlink(filepath.Join("/proc", strconv.Itoa(pid)), filepath.Join(h.proc, strconv.Itoa(pid))); err != nil {
			h.tb.Fatal(err)
		}
	}
	return h.proc
}

// prometheus starts the server of that name, which scrapes a port.
func (h *host) prometheus(scrapes int) int {
	h.tb.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" {
			h.tb.Fatal(err)
		}
		h.tb.Skipf("needs the program prometheus: %v", err)
	}
	dir := h.tb.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: vllm\n    static_configs: [{targets: ['127.0.0.1:%d']}]\n", scrapes)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		h.tb.Fatal(err)
	}
	listener, port := freePort(h.tb)
	_ = listener.Close()
	cmd := exec.Command(path, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port), "--log.level=error")
	h.start(cmd, port)
	h.ready(fmt.Sprintf("http://127.0.0.1:%d/-/ready", port))
	return port
}

func (h *host) ready(url string) {
	h.tb.Helper()
	ctx, cancel := context.WithTimeout(h.tb.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		if response, err := http.Get(url); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	h.tb.Fatalf("%s is not ready", url)
}

func (d *discovered) at(port int) *discover.Finding {
	for i := range d.all {
		if d.all[i].Port == port {
			return &d.all[i]
		}
	}
	return &discover.Finding{}
}

// TestDiscover: one host with an engine, a Prometheus server that scrapes it, a
// gateway, a GPU exporter, a stream of events, one that hangs, one that wants a key,
// one that speaks another protocol and a port that is dead: each is named rightly, in
// time, and nobody is harmed.
func TestDiscover(t *testing.T) {
	h := newHost(t)
	heard := filepath.Join(t.TempDir(), "heard")
	corpus := func(name string) string { return "page:" + shared.Dir(t, "corpus/"+name) }
	engine := h.serve(corpus("engines/vllm-0.12.0-v1.prom"), "/usr/bin/python3", "/usr/local/bin/vllm", "serve", "m", "--port", "PORT", "--api-key", "sk-marked-key")
	gateway := h.serve(corpus("gateways/litellm/metrics.prom"), "litellm", "--port", "PORT")
	exporter := h.serve(corpus("gpu/dcgm-exporter/h100-x2-default-counters.prom"), "dcgm-exporter", "-a", ":PORT")
	events := h.serve("events", "edge-gateway", "--listen=127.0.0.1:PORT")
	hangs := h.serve("silent", "sglang", "serve", "--port=PORT")
	locked := h.serve("locked", "llama-server", "--port", "PORT")
	sshd := h.serve("banner:"+heard, "sshd", "-p", "PORT")
	prometheus := h.prometheus(engine)
	t.Setenv("HOST_PROC", h.table(h.dead()))

	// Longer than usual: the machine that tests this may do much else.
	d, err := (&app{}).discover(t.Context(), testOptions(t), waits{all: soon(8 * time.Second), place: soon(3 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d places in %v", len(d.all), d.took)
	for _, c := range []struct {
		what    string
		port    int
		kind    string
		engine  string
		open    bool
		why     string // part
		address string
	}{
		{"the engine", engine, model.EngineTarget, "vllm", true, "", "localhost:PORT"},
		{"the gateway", gateway, model.GatewayTarget, "litellm", true, "", "localhost:PORT"},
		{"the exporter", exporter, model.GPUTarget, "dcgm-exporter", true, "", "localhost:PORT"},
		{"the events", events, model.GatewayTarget, "", true, "", "events+http://localhost:PORT/events"},
		{"the Prometheus server", prometheus, model.PrometheusTarget, "", false, "would count twice", "localhost:PORT"},
		{"the one that hangs", hangs, "", "", true, "timeout", "localhost:PORT"},
		{"the one that wants a key", locked, "", "", true, "denied: 401", "localhost:PORT"},
		{"the other protocol", sshd, "", "", false, "", ""},
	} {
		f := d.at(c.port)
		address := strings.ReplaceAll(c.address, "PORT", strconv.Itoa(c.port))
		wrongEngine := c.engine != "" && f.Engine != c.engine
		if f.Kind != c.kind || wrongEngine || f.Open != c.open || f.Target != address || !strings.Contains(f.Why, c.why) {
			t.Errorf("%s: %+v", c.what, *f)
		}
	}
	if skip := d.at(sshd).Skip; skip != "sshd speaks another protocol" {
		t.Errorf("the other protocol: %q", skip)
	}
	if text, err := os.ReadFile(heard); err == nil {
		t.Errorf("the other protocol was spoken to: %q", text)
	}
	saysNot(t, "what was found", strings.Join(d.lines(), "\n"), "sk-marked-key")
}

func testOptions(tb testing.TB) sources.Options {
	tb.Helper()
	dialects, err := dialect.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	return sources.Options{Dialects: dialects}
}

// TestDiscoverInTime: one that hangs and a port that is dead hold nobody up for
// longer than the two seconds that are promised.
func TestDiscoverInTime(t *testing.T) {
	h := newHost(t)
	hangs := h.serve("silent", "vllm", "serve", "--port=PORT")
	t.Setenv("HOST_PROC", h.table(h.dead(), h.dead()))
	if usualWaits.all >= 2*time.Second || usualWaits.place >= usualWaits.all {
		t.Errorf("%+v", usualWaits)
	}
	options := testOptions(t)
	ctx, cancel := context.WithTimeout(t.Context(), soon(10*time.Second))
	defer cancel()
	d, _ := (&app{}).discover(ctx, options, usualWaits)
	if ctx.Err() != nil || d.at(hangs).Fault == nil || d.at(hangs).Fault.Kind != model.Timeout {
		t.Errorf("%v: %+v", ctx.Err(), *d.at(hangs))
	}
}

// TestDiscoveredIsWatched: commands without a target watch what was found, say what
// they found beside their output, and refuse where that is nothing.
func TestDiscoveredIsWatched(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	engine := h.serve("page:"+shared.Dir(t, "corpus/engines/vllm-0.12.0-v1.prom"), "vllm", "serve", "--port", "PORT")
	locked := h.serve("locked", "llama-server", "--port", "PORT")
	env := append(sandbox(t), "HOST_PROC="+h.table())
	r := headlessIn(t, env, "snapshot", "-o", "json")
	f := r.frames(t)[0]
	if len(f.Targets) != 2 || f.Targets[0].Name != fmt.Sprintf("localhost:%d", engine) || f.Targets[1].Fault == nil || f.Targets[1].Fault.Kind != "denied" {
		t.Errorf("%+v", f.Targets)
	}
	for _, s := range []string{
		"looked at this host (2 listening sockets, 2 asked", fmt.Sprintf("localhost:%d  engine, vllm 0.12", engine), "serves Qwen/Qwen3-8B",
		fmt.Sprintf("localhost:%d  llama.cpp, denied: 401: needs a key", locked), "watched all the same",
	} {
		says(t, "the start", r.err, s)
	}
	d := headlessIn(t, env, "doctor", "-o", "json").checkup(t)
	if len(d.Targets) != 2 || d.Targets[0].Engine == nil || *d.Targets[0].Engine != "vllm" {
		t.Errorf("%+v", d.Targets)
	}
	headless(t, "snapshot").refuses(t, exitUsage, "no target: looked at this host (0 listening sockets, 0 asked", "found nothing to watch", "slotop demo")
}

// TestDiscoverSendsNoKey: the keys of the configuration are for the targets that it
// names, not for whoever listens here, neither when it is asked nor when it is watched.
func TestDiscoverSendsNoKey(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	page := shared.File(t, "corpus/engines/vllm-0.12.0-v1.prom")
	engine := newRecorder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s was asked with a key", r.URL.Path)
		}
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(page)
	})
	_, port, _ := strings.Cut(engine.address(), ":")
	n, _ := strconv.Atoi(port)
	h.ports = []string{fmt.Sprintf("%04X", n)}
	h.claim(h.table(), "vllm", "serve", "--port", port)
	config := filepath.Join(t.TempDir(), "slotop.yaml")
	if err := os.WriteFile(config, []byte("http: {authorization: {credentials: sk-marked-key}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := headlessIn(t, append(sandbox(t), "HOST_PROC="+h.proc), "snapshot", "--config", config)
	if r.code != exitOK {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	saysNot(t, "snapshot", r.out+r.err, "sk-marked-key")
}

// claim says in the process table that the only socket in it is held by a process of
// another command line than the test's own.
func (h *host) claim(proc string, args ...string) {
	h.tb.Helper()
	text, err := os.ReadFile(filepath.Join(proc, "net", "tcp"))
	if err != nil {
		h.tb.Fatal(err)
	}
	dir := filepath.Join(proc, "77")
	err = errors.Join(
		os.MkdirAll(filepath.Join(dir, "fd"), 0o755),
		os.WriteFile(filepath.Join(dir, "comm"), []byte(args[0]+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.Join(args, "\x00")), 0o600),
		os.Symlink("socket:["+strings.Fields(string(text))[9]+"]", filepath.Join(dir, "fd", "3")),
	)
	if err != nil {
		h.tb.Fatal(err)
	}
}

// TestDiscoverBlind: where the system does not tell what listens, the usual ports
// are tried, and that is said.
func TestDiscoverBlind(t *testing.T) {
	d := discovered{blind: os.ErrNotExist, all: discover.Find(t.Context(), discover.Guess(), func(_ context.Context, address string) (discover.Answer, error) {
		if address == "localhost:11434" {
			return discover.Answer{Kind: model.EngineTarget, Engine: "ollama"}, nil
		}
		return discover.Answer{Fault: &model.Fault{Kind: model.Refused, Detail: "nothing listens"}}, nil
	})}
	text := strings.Join(d.lines(), "\n")
	says(t, "what was found", text, "usual ports of this host (the system does not tell which sockets listen")
	says(t, "what was found", text, "localhost:11434  engine, ollama")
	if len(d.watched()) != 1 || strings.Count(text, "\n") != 2 {
		t.Error(text)
	}
}

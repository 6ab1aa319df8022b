package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// hall is a server under test, all that it said, and a number that all its screens show.
type hall struct {
	tb      testing.TB
	server  *Server
	address string
	number  atomic.Int64
	left    atomic.Int64 // screens that were given back
	stop    context.CancelCauseFunc
	ended   chan struct{}

	mu   sync.Mutex
	said []string
}

// open starts a server that lets the keys 1 and 2 in. change may alter it before.
func open(tb testing.TB, change func(*Options, *limits)) *hall {
	tb.Helper()
	goleak.VerifyNone(tb)
	h := &hall{tb: tb, ended: make(chan struct{})}
	opt := Options{
		Keys: Keys{keysFile(tb, lineFor(tb, "", 1)+lineFor(tb, `environment="SLOTOP_KIOSK=1"`, 2)+lineFor(tb, "restrict", 3))},
		Host: signer(tb, 200), Viewers: 50, PerKey: 50, Screen: h.screen, Log: h.log,
		Text: func(Viewer) (string, int) { return fmt.Sprintf("number %d\n", h.number.Load()), 4 },
	}
	set := usualLimits
	set.look = 20 * time.Millisecond
	if change != nil {
		change(&opt, &set)
	}
	server, err := New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	server.limits, h.server = set, server
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	h.address = l.Addr().String()
	ctx, stop := context.WithCancelCause(context.Background())
	h.stop = stop
	go func() {
		defer close(h.ended)
		if err := server.Serve(ctx, l); err != nil {
			tb.Error(err)
		}
	}()
	tb.Cleanup(func() {
		h.close(nil)
		goleak.VerifyNone(tb)
	})
	return h
}

// close ends the server for a reason and waits for it.
func (h *hall) close(why error) {
	h.tb.Helper()
	h.stop(why)
	select {
	case <-h.ended:
	case <-time.After(patience):
		h.tb.Fatal("the server does not end")
	}
}

func (h *hall) log(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, line)
}

func (h *hall) saidThat(words string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.said, func(line string) bool { return strings.Contains(line, words) })
}

// told waits for words in the log.
func (h *hall) told(words string) {
	h.tb.Helper()
	until(h.tb, words, func() bool { return h.saidThat(words) })
}

func until(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			tb.Fatalf("%s did not come", what)
		}
	}
}

func (h *hall) screen(v Viewer) (tea.Model, func(), error) {
	if v.Get("LANG") == "broken" {
		return nil, nil, errors.New("no screen today")
	}
	return &board{hall: h, v: v}, func() { h.left.Add(1) }, nil
}

// board is a screen that shows the number, its size and its colours. With a big size
// every cell changes with the number: that is what fills a line.
type board struct {
	hall *hall
	v    Viewer
	w, h int
	n    int64
	keys string
}

type beatMsg struct{}

func beat() tea.Msg {
	time.Sleep(10 * time.Millisecond)
	return beatMsg{}
}

func (b *board) Init() tea.Cmd { return beat }

func (b *board) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case beatMsg:
		b.n = b.hall.number.Load()
		return b, beat
	case tea.WindowSizeMsg:
		b.w, b.h = msg.Width, msg.Height
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q":
			return b, tea.Quit
		case "!":
			panic("a broken screen")
		case "ctrl+z":
			return b, tea.Suspend
		}
		b.keys += msg.String()
	}
	return b, nil
}

func (b *board) View() tea.View {
	text := fmt.Sprintf("number %d size %dx%d keys %s kiosk %q", b.n, b.w, b.h, b.keys, b.v.Get(Kiosk))
	if b.h > 100 {
		var all strings.Builder
		for y := range b.h - 1 {
			all.WriteByte('\n')
			for x := range b.w {
				all.WriteByte(byte('a' + (int(b.n)+x*y)%26))
			}
		}
		text += all.String()
	}
	v := tea.NewView(text)
	v.AltScreen = true
	return v
}

// guest is a client of the library's, with what it was sent.
type guest struct {
	tb      testing.TB
	client  *ssh.Client
	session *ssh.Session
	in      io.WriteCloser

	screen *vt.SafeEmulator

	mu  sync.Mutex
	out bytes.Buffer
	err bytes.Buffer
}

// dial logs in with a key.
func (h *hall) dial(n byte, over net.Conn) (*ssh.Client, error) {
	if over == nil {
		var err error
		if over, err = net.Dial("tcp", h.address); err != nil {
			return nil, err
		}
	}
	conf := &ssh.ClientConfig{User: "someone", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer(h.tb, n))}, HostKeyCallback: ssh.FixedHostKey(signer(h.tb, 200).PublicKey())}
	conn, channels, requests, err := ssh.NewClientConn(over, h.address, conf)
	if err != nil {
		_ = over.Close()
		return nil, err
	}
	return ssh.NewClient(conn, channels, requests), nil
}

// guest logs in and opens a session, without asking for anything yet.
func (h *hall) guest(n byte) *guest {
	h.tb.Helper()
	client, err := h.dial(n, nil)
	if err != nil {
		h.tb.Fatal(err)
	}
	return h.sit(client)
}

func (h *hall) sit(client *ssh.Client) *guest {
	h.tb.Helper()
	session, err := client.NewSession()
	if err != nil {
		h.tb.Fatal(err)
	}
	g := &guest{tb: h.tb, client: client, session: session, screen: vt.NewSafeEmulator(80, 24)}
	if g.in, err = session.StdinPipe(); err != nil {
		h.tb.Fatal(err)
	}
	session.Stdout, session.Stderr = taker{g, &g.out}, taker{g, &g.err}
	go func() { _, _ = io.Copy(io.Discard, g.screen) }() // answers of the terminal
	h.tb.Cleanup(g.leave)
	return g
}

// taker is one of a guest's two outputs.
type taker struct {
	g *guest
	b *bytes.Buffer
}

func (t taker) Write(p []byte) (int, error) {
	t.g.mu.Lock()
	defer t.g.mu.Unlock()
	if t.b == &t.g.out {
		_, _ = t.g.screen.Write(p)
	}
	return t.b.Write(p)
}

// looks asks for the screen on a terminal of a size.
func (g *guest) looks(w, h int, env ...string) *guest {
	g.tb.Helper()
	g.screen.Resize(w, h)
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		_ = g.session.Setenv(name, value)
	}
	if err := errors.Join(g.session.RequestPty("xterm-256color", h, w, ssh.TerminalModes{}), g.session.Shell()); err != nil {
		g.tb.Fatal(err)
	}
	return g
}

func (g *guest) leave() {
	_ = g.client.Close()
	if in, ok := g.screen.InputPipe().(io.Closer); ok {
		_ = in.Close()
	}
}

func (g *guest) output() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.String()
}

func (g *guest) remarks() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err.String()
}

func (g *guest) shows(words string) {
	g.tb.Helper()
	until(g.tb, words, func() bool { return strings.Contains(ansi.Strip(g.screen.Render()), words) })
}

func (g *guest) press(keys string) {
	g.tb.Helper()
	if _, err := io.WriteString(g.in, keys); err != nil {
		g.tb.Fatal(err)
	}
}

// exits waits for the session's end and gives its exit code.
func (g *guest) exits() int {
	g.tb.Helper()
	done := make(chan error, 1)
	go func() { done <- g.session.Wait() }()
	select {
	case err := <-done:
		if exit := (*ssh.ExitError)(nil); errors.As(err, &exit) {
			return exit.ExitStatus()
		}
		if err != nil {
			g.tb.Fatal(err)
		}
		return 0
	case <-time.After(patience):
		g.tb.Fatal("the session does not end")
		return -1
	}
}

// restored checks that the terminal is back on its normal screen, with its cursor.
func (g *guest) restored() {
	g.tb.Helper()
	out := g.output()
	if on, off := strings.LastIndex(out, "\x1b[?1049h"), strings.LastIndex(out, "\x1b[?1049l"); on < 0 || off < on {
		g.tb.Errorf("the terminal is left on the other screen: %q", out[max(0, len(out)-200):])
	}
	if hidden, shown := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); shown < hidden {
		g.tb.Error("the cursor is left hidden")
	}
}

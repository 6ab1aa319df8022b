package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func TestViewersHaveScreensOfTheirOwn(t *testing.T) {
	h := open(t, nil)
	a, b := h.guest(1).looks(80, 24), h.guest(2).looks(120, 40)
	a.shows("size 80x24")
	b.shows("size 120x40")
	b.shows(`kiosk "1"`) // from the keys file
	a.shows(`kiosk ""`)
	a.press("x")
	a.shows("keys x")
	if err := a.session.WindowChange(33, 99); err != nil {
		t.Fatal(err)
	}
	a.shows("size 99x33")
	h.number.Store(7)
	a.shows("number 7")
	b.shows("number 7")
	a.press("q")
	if code := a.exits(); code != exitOK {
		t.Errorf("q gives exit code %d", code)
	}
	a.restored()
	h.number.Store(8)
	b.shows("number 8") // who stays is not disturbed
	if strings.Contains(b.output(), "keys x") {
		t.Error("a key of one reached the other")
	}
	b.press("\x1a") // stops nobody
	b.press("y")
	b.shows("keys y")
	h.told("quit")
	until(t, "the screen to be given back", func() bool { return h.left.Load() == 1 })
}

// A client cannot make itself one for the wall, nor say anything but how its terminal is.
func TestEnvironment(t *testing.T) {
	h := open(t, nil)
	g := h.guest(1)
	for name, want := range map[string]bool{
		"COLORTERM": true, "NO_COLOR": true, "LANG": true, Theme: true, Kiosk: false, "LD_PRELOAD": false, "TERM": false, "": false,
	} {
		if err := g.session.Setenv(name, "1"); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := g.session.Setenv("LANG", strings.Repeat("x", 200)); err == nil {
		t.Error("a value of 200 bytes is taken")
	}
	g.looks(80, 24)
	g.shows(`kiosk ""`)
}

func TestTheServersEndIsTold(t *testing.T) {
	h := open(t, nil)
	a, b := h.guest(1).looks(80, 24), h.guest(2).looks(80, 24)
	a.shows("number")
	b.shows("number")
	began := time.Now()
	h.close(errors.New("maintenance"))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	for _, g := range []*guest{a, b} {
		if code := g.exits(); code != exitEnded {
			t.Errorf("exit code %d", code)
		}
		g.restored()
		if !strings.Contains(g.output(), "slotop: the server has ended: maintenance\r\n") {
			t.Errorf("nobody says why: %q", g.output())
		}
	}
}

// Nothing but the screen is there, whatever is asked for.
func TestRefusals(t *testing.T) {
	h := open(t, nil)
	client := h.guest(1).client
	run := h.sit(client)
	if err := run.session.Start("uname -a"); err != nil {
		t.Fatal(err)
	}
	if code := run.exits(); code != exitWanted || run.output() != "" || !strings.Contains(run.remarks(), "runs no command") {
		t.Errorf("a command gives %d, %q, %q", code, run.output(), run.remarks())
	}
	other := h.sit(client)
	if err := other.session.RequestSubsystem("sftp"); err == nil {
		t.Error("sftp is there")
	}
	for _, what := range []string{"auth-agent-req@openssh.com", "x11-req", "break", "made-up"} {
		if ok, _ := other.session.SendRequest(what, true, nil); ok {
			t.Errorf("%s is granted", what)
		}
	}
	if c, err := client.Dial("tcp", h.address); err == nil {
		_ = c.Close()
		t.Error("a port is forwarded")
	}
	if l, err := client.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close()
		t.Error("a port is listened on")
	}
	for _, kind := range []string{"x11", "auth-agent@openssh.com", "tun@openssh.com", "direct-streamlocal@openssh.com"} {
		if _, _, err := client.OpenChannel(kind, nil); err == nil {
			t.Errorf("a channel of %s is opened", kind)
		}
	}
	if ok, _, _ := client.SendRequest("streamlocal-forward@openssh.com", true, nil); ok {
		t.Error("a socket is listened on")
	}
	for _, what := range []string{"a command", "subsystem", "direct-tcpip", "tcpip-forward", "x11-req"} {
		h.told(what)
	}
	// What cannot be a terminal is none.
	bad := h.sit(client)
	if ok, _ := bad.session.SendRequest("pty-req", true, []byte("rubbish")); ok {
		t.Error("a terminal that cannot be read is taken")
	}
	if err := bad.session.Shell(); err != nil {
		t.Fatal(err)
	}
	if code := bad.exits(); code != 4 || bad.output() != "number 0\n" {
		t.Errorf("without a terminal: %d %q", code, bad.output())
	}
	if ok, _ := bad.session.SendRequest("shell", true, nil); ok {
		t.Error("a session begins twice")
	}
}

// A client that asks for what is not there again and again fills no log.
func TestTheLogOfOneConnectionIsBounded(t *testing.T) {
	h := open(t, nil)
	client := h.guest(1).client
	for range 3 * maxTold {
		_, _, _ = client.OpenChannel("x11\x1b[2J", nil)
	}
	h.told("not told")
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.said); n > maxTold+3 {
		t.Errorf("%d lines", n)
	}
	if all := strings.Join(h.said, ""); strings.Contains(all, "\x1b") {
		t.Errorf("a client writes to the terminal that shows the log: %q", all)
	}
}

func TestKeysThatMayNot(t *testing.T) {
	h := open(t, nil)
	if _, err := h.dial(9, nil); err == nil {
		t.Fatal("a stranger is let in")
	}
	h.told("refused " + ssh.FingerprintSHA256(signer(t, 9).PublicKey()) + " someone@127.0.0.1")
	h.told("not in the keys file")
	for name, auth := range map[string]ssh.AuthMethod{
		"password": ssh.Password("secret-word"),
		"questions": ssh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) {
			return make([]string, len(q)), nil
		}),
	} {
		c, err := ssh.Dial("tcp", h.address, &ssh.ClientConfig{User: "x", Auth: []ssh.AuthMethod{auth}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
		if err == nil {
			_ = c.Close()
			t.Errorf("%s lets somebody in", name)
		}
	}
	if h.saidThat("secret-word") {
		t.Error("the log holds a password")
	}
	// The options of a key hold for its session: this one has no terminal.
	g := h.guest(3)
	if err := g.session.RequestPty("xterm", 24, 80, nil); err == nil {
		t.Error("restrict gives a terminal")
	}
	if err := g.session.Shell(); err != nil {
		t.Fatal(err)
	}
	if code := g.exits(); code != 4 || g.output() != "number 0\n" {
		t.Errorf("%d %q", code, g.output())
	}
}

func TestNoRoom(t *testing.T) {
	h := open(t, func(o *Options, _ *limits) { o.Viewers, o.PerKey = 3, 2 })
	a, b := h.guest(1).looks(80, 24), h.guest(1).looks(80, 24)
	a.shows("number")
	b.shows("number")
	same := h.guest(1).looks(80, 24)
	if code := same.exits(); code != exitEnded || !strings.Contains(same.output(), "2 viewers with this key already") {
		t.Errorf("%d %q", code, same.output())
	}
	other := h.guest(2).looks(80, 24)
	other.shows("number")
	fourth := h.guest(2).looks(80, 24)
	if code := fourth.exits(); code != exitEnded || !strings.Contains(fourth.output(), "3 viewers look already") {
		t.Errorf("%d %q", code, fourth.output())
	}
	a.press("q")
	a.exits()
	again := h.guest(2).looks(80, 24)
	again.shows("number")
	h.told("look already")
}

func TestIdle(t *testing.T) {
	h := open(t, func(o *Options, _ *limits) { o.Idle = 300 * time.Millisecond })
	wall := h.guest(2).looks(80, 24) // its key is one for the wall
	wall.shows("number")
	g := h.guest(1).looks(80, 24)
	g.shows("number")
	if code := g.exits(); code != exitEnded || !strings.Contains(g.output(), "no key was pressed for 300ms") {
		t.Errorf("%d %q", code, g.output())
	}
	g.restored()
	h.number.Store(5)
	wall.shows("number 5")
}

// Connections that show nothing are few, and not for long.
func TestConnectionsThatShowNothing(t *testing.T) {
	h := open(t, func(_ *Options, l *limits) { l.starting, l.start = 3, 400*time.Millisecond })
	var silent []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", h.address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		silent = append(silent, c)
	}
	if _, err := io.ReadFull(silent[2], make([]byte, 4)); err != nil { // the server's greeting: it is counted
		t.Fatal(err)
	}
	if _, err := h.dial(1, nil); err == nil {
		t.Error("there is room for a fourth")
	}
	h.told("are enough")
	for _, c := range silent {
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
	// One that logs in and asks for nothing, and one whose session is over.
	idle, err := h.dial(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = idle.Wait()
	g := h.guest(1)
	_ = g.session.Shell()
	g.exits()
	_ = g.client.Wait()
	h.told("no screen was asked for within")
	h.guest(1).looks(80, 24).shows("number")
}

func TestABrokenScreenIsNobodyElses(t *testing.T) {
	h := open(t, nil)
	a, b := h.guest(1).looks(80, 24), h.guest(2).looks(80, 24)
	a.shows("number")
	b.shows("number")
	a.press("!")
	if code := a.exits(); code != exitEnded || !strings.Contains(a.output(), "the screen failed") {
		t.Errorf("%d %q", code, a.output())
	}
	a.restored()
	h.told("a broken screen")
	h.told("hall_test.go") // where it broke
	h.number.Store(3)
	b.shows("number 3")
	none := h.guest(1).looks(80, 24, "LANG=broken")
	if code := none.exits(); code != exitWanted || !strings.Contains(none.output(), "no screen today") {
		t.Errorf("%d %q", code, none.output())
	}
}

// valve is a connection that stops taking bytes when it is shut.
type valve struct {
	net.Conn
	shut chan struct{}
	gone chan struct{}
}

func (v *valve) Read(p []byte) (int, error) {
	select {
	case <-v.shut:
		<-v.gone
		return 0, io.EOF
	default:
		return v.Conn.Read(p)
	}
}

// A viewer that stops reading keeps nobody waiting, and is ended after a while: here the
// machine takes no bytes, so its connection does not either.
func TestAViewerThatStopsReading(t *testing.T) {
	h := open(t, func(_ *Options, l *limits) { l.stuck = 500 * time.Millisecond })
	conn, err := net.Dial("tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).SetReadBuffer(8 << 10); err != nil { // what lies there is soon full
		t.Fatal(err)
	}
	v := &valve{Conn: conn, shut: make(chan struct{}), gone: make(chan struct{})}
	defer close(v.gone)
	client, err := h.dial(1, v)
	if err != nil {
		t.Fatal(err)
	}
	slow := h.sit(client).looks(maxWidth, maxHeight) // 100,000 cells, all of which change
	slow.shows("number")
	quick := h.guest(2).looks(80, 24)
	quick.shows("number")
	close(v.shut)
	worst := time.Duration(0)
	for n := int64(100); !h.saidThat("took nothing for"); n++ {
		began := time.Now()
		h.number.Store(n)
		quick.shows(fmt.Sprintf("number %d ", n))
		worst = max(worst, time.Since(began))
		if n > 100_000 {
			t.Fatal("it is never ended")
		}
		time.Sleep(time.Millisecond)
	}
	t.Logf("beside it a picture took at most %v", worst)
	h.number.Store(987654)
	quick.shows("987654")
	until(t, "it to be gone", func() bool { return len(h.server.all()) == 1 })
}

// A machine that went away answers no question.
func TestAClientThatAnswersNothing(t *testing.T) {
	h := open(t, func(_ *Options, l *limits) { l.ask, l.answer = 50*time.Millisecond, 300*time.Millisecond })
	conn, err := net.Dial("tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	v := &valve{Conn: conn, shut: make(chan struct{}), gone: make(chan struct{})}
	defer close(v.gone)
	client, err := h.dial(1, v)
	if err != nil {
		t.Fatal(err)
	}
	h.sit(client).looks(80, 24).shows("number")
	there := h.guest(2).looks(80, 24)
	there.shows("number")
	close(v.shut)
	h.told("did not answer")
	h.number.Store(4)
	there.shows("number 4")
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("a server of nothing")
	}
}

// A session that asks for no screen holds neither its connection nor others for ever.
func TestSessionsWithoutAScreen(t *testing.T) {
	h := open(t, func(_ *Options, l *limits) { l.start = 400 * time.Millisecond })
	idle := h.guest(1) // it opens a session, and asks for nothing
	_ = idle.client.Wait()
	h.told("no screen was asked for within")

	g := h.guest(1).looks(80, 24)
	g.shows("number")
	for range maxSessions - 1 {
		if _, _, err := g.client.OpenChannel("session", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := g.client.OpenChannel("session", nil); err == nil || !strings.Contains(err.Error(), "are enough") {
		t.Errorf("one more gives %v", err)
	}
	h.number.Store(3)
	g.shows("number 3") // and who looks goes on looking
}

func TestNobodyTypesForEver(t *testing.T) {
	h := open(t, nil)
	g := h.guest(1).looks(80, 24)
	g.shows("number")
	go func() {
		_, _ = io.WriteString(g.in, "\x1b[200~")
		_, _ = io.Copy(g.in, io.LimitReader(endless{}, 2*maxTyped)) // it fails when the session ends
	}()
	if code := g.exits(); code != exitEnded || !strings.Contains(g.output(), "more was typed") {
		t.Errorf("%d %q", code, g.output())
	}
	g.restored()
}

// endless is the letter a for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

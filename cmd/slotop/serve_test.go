package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// hosted is slotop serve as a process of its own, over the simulator, and what its log
// says.
type hosted struct {
	tb      testing.TB
	cmd     *exec.Cmd
	address string
	dir     string
	host    string // fingerprint of the server's key

	mu    sync.Mutex
	log   strings.Builder
	ended chan struct{}
}

var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+), host key (SHA256:\S+), (\d+) keys?\n`)

// serves starts it; the keys 1 and 2 are let in.
func hosts(tb testing.TB, args ...string) *hosted {
	tb.Helper()
	s := &hosted{tb: tb, dir: tb.TempDir(), ended: make(chan struct{})}
	keys := ""
	for n := range byte(2) {
		keys += string(ssh.MarshalAuthorizedKey(keyOf(tb, n+1).PublicKey()))
	}
	for n := range byte(3) { // and a third, which is not let in
		s.write("id"+strconv.Itoa(int(n+1)), privateKey(tb, n+1))
	}
	s.write("keys", keys)
	s.cmd = exec.Command(program(tb), append([]string{"serve", "--keys", s.path("keys"), "--listen", "127.0.0.1:0", "--every", "1s"}, args...)...)
	s.cmd.Env = append(sandbox(tb), "XDG_STATE_HOME="+s.path("state"))
	errs, err := s.cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go s.read(errs)
	tb.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended
	})
	s.told("listening on")
	m := listening.FindStringSubmatch(s.said())
	if m == nil {
		tb.Fatalf("the log begins with %q", s.said())
	}
	s.address, s.host = m[1], m[2]
	return s
}

func (s *hosted) path(name string) string { return filepath.Join(s.dir, name) }

func (s *hosted) write(name, text string) {
	s.tb.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *hosted) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		s.mu.Lock()
		s.log.WriteString(lines.Text() + "\n")
		s.mu.Unlock()
	}
	_ = s.cmd.Wait()
	close(s.ended)
}

func (s *hosted) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// told waits for words in the log.
func (s *hosted) told(words string) {
	s.tb.Helper()
	deadline := time.After(patience)
	for !strings.Contains(s.said(), words) {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-s.ended:
			if !strings.Contains(s.said(), words) {
				s.tb.Fatalf("it ended without %q: %s", words, s.said())
			}
		case <-deadline:
			s.tb.Fatalf("%q did not come in the log: %s", words, s.said())
		}
	}
}

func keyOf(tb testing.TB, n byte) ssh.Signer {
	tb.Helper()
	signer, err := ssh.NewSignerFromKey(rawKey(n))
	if err != nil {
		tb.Fatal(err)
	}
	return signer
}

func rawKey(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[1] = n
	return ed25519.NewKeyFromSeed(seed)
}

func privateKey(tb testing.TB, n byte) string {
	tb.Helper()
	block, err := ssh.MarshalPrivateKey(rawKey(n), "")
	if err != nil {
		tb.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

// ssh is OpenSSH's client with a key, and nothing of this machine's own settings.
func (s *hosted) ssh(t *testing.T, key string, more ...string) []string {
	t.Helper()
	host, port, _ := strings.Cut(s.address, ":")
	return append([]string{
		part(t, "ssh"), "-F", "/dev/null", "-o", "UserKnownHostsFile=" + s.path("known"), "-o", "GlobalKnownHostsFile=/dev/null",
		"-o", "StrictHostKeyChecking=accept-new", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes",
		"-i", s.path(key), "-p", port, "viewer@" + host,
	}, more...)
}

// sees runs the client on a terminal of a size.
func (s *hosted) sees(t *testing.T, cols, rows int, key string, more ...string) *session {
	t.Helper()
	args := s.ssh(t, key, more...)
	return startWith(t, setup{cols: cols, rows: rows, attach: func(cmd *exec.Cmd, _ *os.File) {
		cmd.Path, cmd.Args = args[0], args
	}})
}

// asks runs the client without a terminal.
func (s *hosted) asks(t *testing.T, key string, more ...string) (out, errs string, code int) {
	t.Helper()
	args := s.ssh(t, key, more...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = sandbox(t)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	_ = cmd.Run()
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

const demoServed = "demo:S4?at=30s&seed=7"

func TestServeTwoViewers(t *testing.T) {
	s := hosts(t, demoServed)
	small, wide := s.sees(t, 80, 24, "id1"), s.sees(t, 120, 40, "id2")
	small.shows("SIMULATED", "chat", "q quit")
	wide.shows("SIMULATED", "chat", "q quit")
	// Each one's screen, size and theme are its own.
	small.press("5")
	small.shows("FLEET")
	wide.shows("OVERVIEW")
	wide.press("t")
	wide.shows("theme")
	small.resize(100, 30)
	small.until("a line of the new size", func() bool { return strings.Count(small.text(), "\n") == 29 })
	small.resize(120, 60)
	small.press("?")
	small.until("the help without what a viewer cannot do", func() bool {
		text := strings.Join(strings.Fields(small.text()), " ")
		return strings.Contains(text, "t theme ") && !strings.Contains(text, "picture: SVG") && !strings.Contains(text, "mark a load-test stage") &&
			!strings.Contains(text, "acknowledge the alert") && !strings.Contains(text, "window: 30 s")
	})
	// q ends one of them.
	began := time.Now()
	small.press("q")
	if code, _ := small.exits(began); code != exitOK {
		t.Errorf("q gives exit code %d", code)
	}
	small.inOrder()
	seen := clockOf(t, wide)
	wide.until("time to go on", func() bool { return clockOf(t, wide) != seen })
	s.told("quit")
	// The server's end is told, and leaves terminals in order.
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, _ := wide.exits(began); code != exitFailed {
		t.Errorf("the server's end gives exit code %d", code)
	}
	wide.inOrder()
	says(t, "the farewell", wide.bytes(0), "slotop: the server has ended: terminated")
	<-s.ended
	if code := s.cmd.ProcessState.ExitCode(); code != exitOK {
		t.Errorf("serve ends with %d: %s", code, s.said())
	}
	for _, words := range []string{
		"login " + ssh.FingerprintSHA256(keyOf(t, 1).PublicKey()) + " viewer@127.0.0.1", `80×24 "xterm-256color"`, "120×40", "slotop serve: ended",
	} {
		says(t, "the log", s.said(), words)
	}
}

var clockText = regexp.MustCompile(`\d\d:\d\d:\d\d UTC`)

func clockOf(t *testing.T, s *session) string {
	t.Helper()
	return clockText.FindString(s.text())
}

// A client whose terminal takes no bytes any more holds up nobody else.
func TestServeAViewerThatStopsReading(t *testing.T) {
	s := hosts(t, demoServed)
	stopped, other := s.sees(t, 200, 60, "id1"), s.sees(t, 80, 24, "id2")
	stopped.shows("q quit")
	other.shows("q quit")
	stopped.stopReading()
	for range 5 {
		seen := clockOf(t, other)
		other.until("time to go on", func() bool { return clockOf(t, other) != seen })
	}
	other.press("2")
	other.shows("LATENCY")
}

func TestServeWrongKey(t *testing.T) {
	s := hosts(t, demoServed)
	out, errs, code := s.asks(t, "id3")
	if code != 255 || out != "" || !strings.Contains(errs, "Permission denied (publickey)") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	s.told("refused " + ssh.FingerprintSHA256(keyOf(t, 3).PublicKey()) + " viewer@127.0.0.1")
	// Let in by the file, it is let in at the next login.
	s.write("keys", string(ssh.MarshalAuthorizedKey(keyOf(t, 3).PublicKey())))
	if _, errs, code := s.asks(t, "id3", "-T"); code == 255 {
		t.Errorf("%d %q", code, errs)
	}
	if _, _, code := s.asks(t, "id1", "-T"); code != 255 {
		t.Errorf("a key that was taken out gives %d", code)
	}
}

func TestServeIsNoShell(t *testing.T) {
	s := hosts(t, demoServed)
	out, errs, code := s.asks(t, "id1", "cat /etc/passwd")
	if code != exitUsage || out != "" || !strings.Contains(errs, "slotop: this is a screen and runs no command") {
		t.Errorf("a command: %d %q %q", code, out, errs)
	}
	args := s.ssh(t, "id1")
	last := len(args) - 1
	option := func(options ...string) []string { // before the host
		return append(append(append([]string{}, args[1:last]...), options...), args[last])
	}
	run := func(args []string) (string, int) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "ssh", args...)
		cmd.Env = sandbox(t)
		text, _ := cmd.CombinedOutput()
		return string(text), cmd.ProcessState.ExitCode()
	}
	if text, code := run(append(option("-s"), "sftp")); code != 255 || !strings.Contains(text, "subsystem request failed") {
		t.Errorf("sftp: %d %q", code, text)
	}
	if text, code := run(option("-W", "127.0.0.1:22")); code != 255 || !strings.Contains(text, "forwarding failed") {
		t.Errorf("a forwarded connection: %d %q", code, text)
	}
	if text, code := run(option("-N", "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:22")); code != 255 || !strings.Contains(text, "forwarding") {
		t.Errorf("a forwarded port: %d %q", code, text)
	}
	if text, code := run(option("-o", "PreferredAuthentications=password,keyboard-interactive")); code != 255 || !strings.Contains(text, "Permission denied (publickey)") {
		t.Errorf("a password: %d %q", code, text)
	}
	for _, words := range []string{"a command", "subsystem", "direct-tcpip", "tcpip-forward"} {
		s.told(words)
	}
}

// Without a terminal the figures come as text, once.
func TestServeText(t *testing.T) {
	s := hosts(t, demoServed)
	watching := s.sees(t, 80, 24, "id1")
	watching.shows("chat") // there is a frame
	out, errs, code := s.asks(t, "id2", "-T")
	if code != exitOK || !strings.Contains(out, "WORKFLOW") || strings.Contains(out, "\x1b") || errs != "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

// What the client's terminal can show decides colours and characters.
func TestServeLooks(t *testing.T) {
	s := hosts(t, demoServed)
	option := func(o ...string) *session {
		args := s.ssh(t, "id1")
		last := len(args) - 1
		args = append(append(append([]string{}, args[:last]...), o...), args[last])
		return startWith(t, setup{attach: func(cmd *exec.Cmd, _ *os.File) { cmd.Path, cmd.Args = args[0], args }})
	}
	plain := option("-o", "SetEnv=LANG=C NO_COLOR=1")
	plain.shows("q quit", "chat")
	for _, r := range plain.text() {
		if r > 127 {
			t.Errorf("%q on a terminal of ASCII:\n%s", r, plain.text())
			break
		}
	}
	coloured := regexp.MustCompile(`\x1b\[[0-9;]*\b[349][0-8](;|m)`)
	if m := coloured.FindString(plain.bytes(0)); m != "" {
		t.Errorf("NO_COLOR, and %q", m)
	}
	full := option("-o", "SetEnv=COLORTERM=truecolor SLOTOP_THEME=light")
	full.shows("q quit", "chat")
	full.until("24-bit colours", func() bool { return strings.Contains(full.bytes(0), "38;2;") })
	usual := option()
	usual.shows("q quit", "│") // UTF-8 unless it is said otherwise
	if strings.Contains(usual.bytes(0), "38;2;") {
		t.Error("24-bit colours for a terminal of 256")
	}
}

func TestServeIdle(t *testing.T) {
	s := hosts(t, "--idle", "2s", demoServed)
	idle := s.sees(t, 80, 24, "id1")
	idle.shows("q quit")
	began := time.Now()
	if code, _ := idle.exits(began); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	idle.inOrder()
	says(t, "the farewell", idle.bytes(0), "slotop: no key was pressed for 2s")
}

func TestServeRefusesToStart(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", string(ssh.MarshalAuthorizedKey(keyOf(t, 1).PublicKey())), 0o600)
	for _, tc := range []struct {
		args  []string
		words []string
		code  int
	}{
		{nil, []string{"without keys", "--keys"}, exitUsage},
		{[]string{"--keys", filepath.Join(dir, "none")}, []string{"no such file"}, exitUsage},
		{[]string{"--keys", file("empty", "", 0o600)}, []string{"no line lets anybody in"}, exitUsage},
		{[]string{"--keys", good, "--host-key", file("open", privateKey(t, 9), 0o644)}, []string{"chmod 600"}, exitUsage},
		{[]string{"--keys", good, "--listen", "127.0.0.1:port"}, []string{"listen"}, exitFailed},
		{[]string{"--keys", good, "--listen", "127.0.0.1:0", "--viewers", "0", "demo"}, []string{"--viewers", "1 to 1000"}, exitUsage},
		{[]string{"--keys", good, "--listen", "127.0.0.1:0", "--theme", "none", "demo"}, []string{"there is dark"}, exitUsage},
		{[]string{"--keys", good, "--listen", "127.0.0.1:0", "missing.tape"}, []string{"slotop replay"}, exitUsage},
	} {
		env := append(sandbox(t), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		headlessIn(t, env, append([]string{"serve"}, tc.args...)...).refuses(t, tc.code, tc.words...)
	}
}

// The server's key is made once, and is the same from then on.
func TestServeKeepsItsKey(t *testing.T) {
	a := hosts(t, "demo")
	key := a.path("state/slotop/ssh_host_ed25519_key")
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	b := hosts(t, "--host-key", key, "demo")
	if a.host != b.host {
		t.Errorf("host keys %s and %s", a.host, b.host)
	}
}

// TestServeFifty measures what fifty viewers cost.
func TestServeFifty(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("it watches for seconds, and needs /proc")
	}
	s := hosts(t, "--per-key", "50", demoServed)
	rest := costOf(t, s, 5*time.Second)
	for n := range 50 {
		s.looks(t, byte(1+n%2))
	}
	time.Sleep(2 * time.Second) // the first drawings are over
	all := costOf(t, s, 10*time.Second)
	t.Logf("nobody looks: %.1f %% of a core, %.0f MB", rest.cpu*100, rest.memory/1e6)
	t.Logf("50 viewers of 120x40: %.1f %% of a core, %.0f MB; a viewer %.2f %% and %.2f MB", all.cpu*100, all.memory/1e6,
		(all.cpu-rest.cpu)*2, (all.memory-rest.memory)/50e6)
	if _, errs, code := s.asks(t, "id1", "-T"); code != exitFailed || !strings.Contains(errs, "50 viewers") {
		t.Errorf("one more: %d %q", code, errs)
	}
	if raceDetector {
		return
	}
	if all.cpu > 1 || all.memory > 300e6 {
		t.Errorf("fifty viewers cost %.0f %% of a core and %.0f MB", all.cpu*100, all.memory/1e6)
	}
}

// looks opens a screen of 120 by 40 with the library's client and reads what comes.
func (s *hosted) looks(t *testing.T, key byte) {
	t.Helper()
	client, err := ssh.Dial("tcp", s.address, &ssh.ClientConfig{
		User: "viewer", Auth: []ssh.AuthMethod{ssh.PublicKeys(keyOf(t, key))}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := session.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.RequestPty("xterm-256color", 40, 120, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 2000)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// cost is of a process over a time: cores, and bytes at the end.
type cost struct{ cpu, memory float64 }

func costOf(t *testing.T, s *hosted, over time.Duration) cost {
	t.Helper()
	before, began := ticksOf(t, s.cmd.Process.Pid), time.Now()
	time.Sleep(over)
	used := ticksOf(t, s.cmd.Process.Pid) - before
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "statm"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return cost{cpu: used.Seconds() / time.Since(began).Seconds(), memory: pages * float64(os.Getpagesize())}
}

// ticksOf is the time that a process had of all cores.
func ticksOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // clock ticks of 1/100 s
}

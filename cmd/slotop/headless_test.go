package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// frameJSON is what these tests read of the public form.
type frameJSON struct {
	Schema    string   `json:"schema"`
	At        string   `json:"at"`
	WindowS   float64  `json:"window_s"`
	CoveredS  *float64 `json:"covered_s"`
	Simulated bool     `json:"simulated"`
	Targets   []struct {
		Name     string  `json:"name"`
		State    *string `json:"state"`
		Polls    int     `json:"polls"`
		Restarts int     `json:"restarts"`
		Fault    *struct {
			Kind string `json:"kind"`
		} `json:"fault"`
	} `json:"targets"`
	Workflows []struct {
		Name   string `json:"name"`
		Tokens struct {
			Output *float64 `json:"output_per_second"`
		} `json:"tokens"`
		TTFT *struct {
			N   float64 `json:"n"`
			P95 *struct {
				Value *float64 `json:"value"`
				Lo    *float64 `json:"lo"`
				Open  bool     `json:"open"`
			} `json:"p95"`
		} `json:"ttft"`
	} `json:"workflows"`
}

// frames reads lines of JSON.
func (r ran) frames(tb testing.TB) []frameJSON {
	tb.Helper()
	var out []frameJSON
	for line := range strings.Lines(r.out) {
		var f frameJSON
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			tb.Fatalf("%v: %s", err, line)
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		tb.Fatalf("no frame; %s", r.err)
	}
	return out
}

// one is the only frame of a run that went well.
func (r ran) one(tb testing.TB) frameJSON {
	tb.Helper()
	if r.code != exitOK || r.err != "" {
		tb.Errorf("exit code %d, said %q", r.code, r.err)
	}
	all := r.frames(tb)
	if len(all) != 1 {
		tb.Errorf("%d frames", len(all))
	}
	return all[0]
}

func TestSnapshotSavedPages(t *testing.T) {
	dir := shared.Dir(t, "corpus/engines/seq/vllm-overload")
	r := headless(t, "snapshot", "-o", "json", dir)
	f := r.one(t)
	if f.Schema != "slotop.frame/1" || len(f.Targets) != 1 || f.Targets[0].Polls < 5 || f.Simulated {
		t.Errorf("%+v", f)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.prom"))
	if err != nil {
		t.Fatal(err)
	}
	all := headless(t, "snapshot", "-o", "json", "--frames", dir).frames(t)
	if len(all) != len(pages) {
		t.Errorf("%d frames of %d pages", len(all), len(pages))
	}
	if again := headless(t, "snapshot", "-o", "json", dir); again.out != r.out {
		t.Error("the same pages gave another frame")
	}
	two := headless(t, append([]string{"snapshot", "-o", "json", "--every", "5s"}, pages[:2]...)...).one(t)
	if len(two.Targets) != 1 || two.Targets[0].Polls != 2 || *two.CoveredS != 5 {
		t.Errorf("two files in a row: %+v", two)
	}
	text := headless(t, "snapshot", "--width", "100", "--ascii", dir)
	for line := range strings.Lines(text.out) {
		if len(line) > 101 || strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }) {
			t.Errorf("a line of text: %q", line)
		}
	}
}

func TestSnapshotDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes for seconds, with nothing to race with")
	}
	begin := time.Now()
	f := headless(t, "snapshot", "-o", "json", "--for", "720s", "demo:S1?seed=7").one(t)
	t.Logf("720 s in %.1f s: %.0f times real time", time.Since(begin).Seconds(), 720/time.Since(begin).Seconds())
	if !f.Simulated || len(f.Targets) != 3 || len(f.Workflows) != 3 || f.Targets[0].Polls != 721 {
		t.Errorf("%+v", f)
	}
	chat := f.Workflows[0]
	if chat.Name != "chat" || chat.TTFT.P95.Lo == nil || *chat.TTFT.P95.Lo < 2.5 {
		t.Errorf("two minutes into a surge: %+v", chat)
	}
	early := headless(t, "snapshot", "-o", "json", "--for", "3m", "demo:S1?seed=7&at=60")
	if w := early.one(t).Workflows[0]; *w.TTFT.P95.Lo < 2.5 {
		t.Errorf("an incident after a minute: %+v", w)
	}
	if again := headless(t, "snapshot", "-o", "json", "--for", "3m", "demo:S1?seed=7&at=60"); again.out != early.out {
		t.Error("the same seed gave another frame")
	}
	if short := headless(t, "snapshot", "-o", "json", "demo").one(t); short.Targets[0].Polls != 2 {
		t.Errorf("without --for: %+v", short)
	}
}

func TestSnapshotLive(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	r := headless(t, "snapshot", "-o", "json", server.address())
	f := r.one(t)
	if f.Targets[0].Polls != 2 || f.Workflows[0].Tokens.Output == nil || r.took > soon(3*time.Second) {
		t.Errorf("after %v: %+v", r.took, f)
	}
	if f := headless(t, "snapshot", "-o", "json", "--for", "3s", "--every", "500ms", server.address()).one(t); f.Targets[0].Polls < 5 {
		t.Errorf("for three seconds: %+v", f)
	}
	text := headless(t, "snapshot", server.address())
	says(t, "the text", text.out, "TOK/S")
	if strings.Contains(text.out, "\x1b") {
		t.Errorf("an escape sequence in %q", text.out)
	}
}

// dead is an address that refuses.
func dead(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestSnapshotDeadTarget(t *testing.T) {
	t.Parallel()
	r := headless(t, "snapshot", "-o", "json", dead(t))
	if r.code != exitUntold || r.took > soon(5*time.Second) {
		t.Errorf("exit code %d after %v", r.code, r.took)
	}
	if f := r.frames(t)[0]; f.Targets[0].Fault == nil || f.Targets[0].Fault.Kind != "refused" || *f.Targets[0].State != "down" {
		t.Errorf("%+v", f)
	}
	server := newEngine(t)
	both := headless(t, "snapshot", "-o", "json", dead(t), server.address())
	if both.code != exitOK {
		t.Errorf("one of two answers, exit code %d", both.code)
	}
}

// TestSnapshotClosedPipe: the reader has seen enough, and nobody complains.
func TestSnapshotClosedPipe(t *testing.T) {
	cmd := exec.Command("bash", "-c", `"$0" snapshot -o json --frames --for 100s demo | head -1; echo "codes ${PIPESTATUS[0]}"`, program(t))
	cmd.Env = sandbox(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), "\n"); n != 2 || !strings.HasSuffix(string(out), "codes 0\n") {
		t.Errorf("%d lines: …%s", n, tail(string(out), 200))
	}
}

func TestSnapshotInterrupted(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	cmd := exec.Command(program(t), "snapshot", "-o", "json", "--for", "1h", server.address())
	cmd.Env = sandbox(t)
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server.polled(t, 2)
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(out.String(), `"schema"`) {
		t.Errorf("exit code %d, %q", cmd.ProcessState.ExitCode(), out.String())
	}
}

// A reader that has stopped reading holds nobody back who is told to end.
func TestSnapshotEndsUnread(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 200 { // a frame of several pipes
		fmt.Fprintf(&page, "vllm:num_requests_running{model_name=\"m-%d\"} 1\nvllm:generation_tokens_total{model_name=\"m-%d\"} 1\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "page.prom")
	if err := os.WriteFile(file, []byte(page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t), "snapshot", "-o", "json", file)
	cmd.Env = sandbox(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := io.ReadFull(out, make([]byte, 1<<10)); err != nil { // the rest does not fit
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(soon(20 * time.Second)):
		t.Fatal("it goes on printing to nobody")
	}
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		args []string
		says []string
	}{
		{[]string{"snapshot"}, []string{"no target", "slotop demo"}},
		{[]string{"snapshot", "-o", "xml", "demo"}, []string{"-o xml", "text, json or markdown"}},
		{[]string{"snapshot", "--every", "1ms", "demo"}, []string{"--every", "200ms"}},
		{[]string{"snapshot", "--for", "-5s", "demo"}, []string{"--for"}},
		{[]string{"snapshot", "--window", "1s", "demo"}, []string{"--window"}},
		{[]string{"snapshot", "--window", "0", "demo"}, []string{"--window", "from 5s"}},
		{[]string{"snapshot", "--width", "-5", "demo"}, []string{"--width", "from 20"}},
		{[]string{"snapshot", "--timeout", "0s", "demo"}, []string{"--timeout"}},
		{[]string{"snapshot", "--every", "2562047h", "demo:S1"}, []string{"--every", "1h"}},
		{[]string{"snapshot", "--config", "/dev/zero", "demo"}, []string{"not a regular file"}},
		{[]string{"snapshot", "/dev/null.tape"}, []string{"no such file"}},
		{[]string{"replay", "--speed", "NaN", "x.tape"}, []string{"--speed", "0.1"}},
		{[]string{"snapshot", "--evry", "1s", "demo"}, []string{"unknown flag: --evry", "slotop snapshot --help"}},
		{[]string{"--every"}, []string{"needs an argument: --every"}},
		{[]string{"snapshot", "nvml:what"}, []string{"nvml:smi"}},
		{[]string{"snapshot", "localhost"}, []string{"no port"}},
		{[]string{"snapshot", "no/such/page.prom"}, []string{"no such file"}},
		{[]string{"snapshot", "demo:S99"}, []string{"S99", "--list"}},
		{[]string{"snapshot", "demo:S1?when=5"}, []string{"when"}},
		{[]string{"snapshot", "demo:S1?at=soon"}, []string{"soon"}},
		{[]string{"record", "demo"}, []string{"-o FILE.tape"}},
		{[]string{"record", "-o", "x.tape", "demo"}, []string{"--for"}},
		{[]string{"record", "-o", "x.tape", "--limit", "-1", "demo"}, []string{"--limit"}},
		{[]string{"replay"}, []string{"accepts 1 arg"}},
		{[]string{"demo", "S1", "S2"}, []string{"accepts at most 1 arg"}},
		{[]string{"config"}, []string{"config check"}},
		{[]string{"config", "chek"}, []string{"config check"}},
		{[]string{"version", "x"}, []string{"unknown command"}},
	}
	for _, tc := range tests {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			t.Parallel()
			headless(t, tc.args...).refuses(t, exitUsage, tc.says...)
		})
	}
}

// TestUsageOnASilentTerminal: an error is told at once, also where the terminal
// answers no query.
func TestUsageOnASilentTerminal(t *testing.T) {
	program(t) // to build it is not what takes time here
	for _, args := range [][]string{{"--evry"}, {"replay"}, {"snaphot", "demo"}, {"--theme", "drak", "demo"}, {}} {
		begin := time.Now()
		s := startWith(t, setup{silent: true}, args...)
		code, took := s.exits(begin)
		if code != exitUsage || took > soon(time.Second) {
			t.Errorf("%v: exit code %d after %v", args, code, took)
		}
		if raw := s.bytes(0); strings.Contains(raw, "\x1b") || !strings.HasPrefix(raw, "slotop: ") {
			t.Errorf("%v: %q", args, raw)
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	if r := headless(t, "version"); r.code != exitOK || !strings.HasPrefix(r.out, "slotop ") || strings.Count(r.out, "\n") != 1 {
		t.Errorf("%+v", r)
	}
	r := headless(t, "--help")
	for _, w := range []string{"snapshot", "record", "replay", "demo", "config", "TARGET", "localhost:8000"} {
		says(t, "the help", r.out, w)
	}
	r = headless(t, "demo", "--list")
	for _, w := range []string{"S0", "S1", "S4", "S6", "after 2.5 min", "after 10 min", "at="} {
		says(t, "the list", r.out, w)
	}
}

func TestRecordAndReplay(t *testing.T) {
	tape := filepath.Join(t.TempDir(), "a.tape")
	r := headless(t, "record", "-o", tape, "--for", "120s", "demo:S4?seed=3&at=60")
	if r.code != exitOK || r.out != "" {
		t.Fatalf("%+v", r)
	}
	live := headless(t, "snapshot", "-o", "json", "--frames", "--for", "120s", "demo:S4?seed=3&at=60")
	replayed := headless(t, "snapshot", "-o", "json", "--frames", tape)
	if replayed.out != live.out {
		a, b := strings.Split(live.out, "\n"), strings.Split(replayed.out, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("%d and %d lines; line %d is\n%.400s\nand was\n%.400s", len(a), len(b), i, b[i], a[i])
			}
		}
		t.Fatalf("%d lines, %d live", len(b), len(a))
	}
	if half := headless(t, "snapshot", "-o", "json", "--frames", "--for", "60s", tape).frames(t); len(half) != 61 {
		t.Errorf("%d frames of 60 s", len(half))
	}
	headless(t, "record", "-o", tape, "--for", "1s", "demo").refuses(t, exitFailed, "file exists")
	headless(t, "record", "-o", filepath.Join(t.TempDir(), "b.tape"), tape).refuses(t, exitUsage, "a tape is no target to poll")
}

func TestRecordLive(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	tape := filepath.Join(t.TempDir(), "a.tape")
	cmd := exec.Command(program(t), "record", "-o", tape, "--every", "200ms", server.address())
	cmd.Env = sandbox(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server.polled(t, 5)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("a recording that was told to end: %v", err)
	}
	if f := headless(t, "snapshot", "-o", "json", tape).one(t); f.Targets[0].Polls < 4 {
		t.Errorf("%+v", f)
	}
}

func TestRecordLimit(t *testing.T) {
	tape := filepath.Join(t.TempDir(), "a.tape")
	r := headless(t, "record", "-o", tape, "--for", "30m", "--limit", "50000", "demo")
	info, err := os.Stat(tape)
	if err != nil {
		t.Fatal(err)
	}
	if r.code != exitFailed || info.Size() > 50000 {
		t.Errorf("exit code %d, %d bytes", r.code, info.Size())
	}
	says(t, "the error", r.err, "is full at")
	says(t, "the error", r.err, "raise --limit")
	headless(t, "snapshot", "-o", "json", tape).one(t)
}

func TestDamagedTape(t *testing.T) {
	dir := t.TempDir()
	tape := filepath.Join(dir, "a.tape")
	if r := headless(t, "record", "-o", tape, "--for", "10m", "demo"); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	whole, err := os.ReadFile(tape)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.tape")
	if err := os.WriteFile(cut, whole[:len(whole)*2/3], 0o644); err != nil {
		t.Fatal(err)
	}
	r := headless(t, "snapshot", "-o", "json", cut)
	if r.code != exitOK {
		t.Errorf("exit code %d", r.code)
	}
	says(t, "the warning", r.err, "tape is damaged")
	if f := r.frames(t)[0]; f.Targets[0].Polls < 100 {
		t.Errorf("%d polls of 601", f.Targets[0].Polls)
	}
	other := filepath.Join(dir, "other.tape")
	if err := os.WriteFile(other, []byte("this is no tape\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	headless(t, "snapshot", other).refuses(t, exitFailed, "not a slotop tape")
	headless(t, "snapshot", filepath.Join(dir, "none.tape")).refuses(t, exitUsage, "none.tape")
}

// TestWatchSaved: saved pages and tapes on the screen, and what a damaged one
// lost is said after it.
func TestWatchSaved(t *testing.T) {
	t.Parallel()
	tape := filepath.Join(t.TempDir(), "a.tape")
	if r := headless(t, "record", "-o", tape, "--for", "90s", "demo:S1?at=30"); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	s := start(t, "replay", "--speed", "100", tape)
	s.shows("REPLAY", "01:30/01:30", "SIMULATED")
	s.quits()
	text, err := os.ReadFile(tape)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tape, text[:len(text)-1000], 0o644); err != nil {
		t.Fatal(err)
	}
	s = start(t, "--theme", "mono", tape)
	s.shows("REPLAY")
	s.press("\x1b[F") // end
	s.shows("at the end")
	s.press("q")
	s.exits(time.Now())
	s.inOrder()
	says(t, "the terminal", s.bytes(0)[strings.LastIndex(s.bytes(0), "\x1b[?1049l"):], "slotop: tape is damaged")
	dir := shared.Dir(t, "corpus/engines/seq/vllm-overload")
	s = start(t, dir)
	s.shows("REPLAY", "vllm-overload")
	s.quits()
}

// TestDemoStartsSoon: on the screen nobody waits ten minutes for an incident.
func TestDemoStartsSoon(t *testing.T) {
	for given, want := range map[string]string{
		"demo":             "demo",
		"demo:S1":          "demo:S1?at=2m30s",
		"demo:S1?seed=7":   "demo:S1?seed=7&at=2m30s",
		"demo:S1?at=5":     "demo:S1?at=5",
		"demo:S1?from=10m": "demo:S1?from=10m",
		"localhost:8000":   "localhost:8000",
	} {
		if got := sources.Watched(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	for _, args := range [][]string{{"demo"}, {"demo", "S1?seed=7"}, {"demo:S4"}} {
		s := start(t, args...)
		s.shows("SIMULATED", "sim-0")
		s.quits()
	}
	s := start(t, "snaphot", "demo")
	if code, _ := s.exits(time.Now()); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	says(t, "the error", s.bytes(0), "did you mean slotop snapshot?")
}

// TestSnapshotAsMarkdown: the whole frame, for pasting into a channel.
func TestSnapshotAsMarkdown(t *testing.T) {
	t.Parallel()
	out := headless(t, "snapshot", "-o", "markdown", "--for", "30s", "demo:S1?seed=7").out
	for _, want := range []string{"# slotop: ", "**SIMULATED**", "## Workflows", "| Workflow |", "| chat |", "## Targets", "## GPUs", "## Capacity"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in it:\n%s", want, out)
		}
	}
}

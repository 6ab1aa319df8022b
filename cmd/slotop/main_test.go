package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The tests of this package run the real program: scripts and shells see a
// process with its files, signals and exit code, not a function.

// built is the folder of the program, made by the first test that needs it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	if what := os.Getenv(servesAs); what != "" {
		serveChild(what)
		return
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// program is the path of the built program.
func program(tb testing.TB) string {
	tb.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "slotop-test-"); built.err != nil {
			return
		}
		args := []string{"build", "-o", filepath.Join(built.dir, "slotop")}
		if raceDetector {
			args = append(args, "-race")
		}
		out, err := exec.Command("go", append(args, ".")...).CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build: %w: %s", err, out)
		}
	})
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return filepath.Join(built.dir, "slotop")
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// soon is a limit from the cases, longer where the race detector slows all.
func soon(d time.Duration) time.Duration {
	if raceDetector {
		return 4 * d
	}
	return d
}

// sandbox is the program's, the same on every machine; more goes on top.
func sandbox(tb testing.TB, more ...string) []string {
	tb.Helper()
	home := tb.TempDir()
	env := []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "PATH=" + os.Getenv("PATH"),
		"TERM=xterm-256color", "LANG=C.UTF-8", "TMPDIR=" + home,
		"HOST_PROC=" + quietHost(tb), // what else runs here is nobody's business
		// The race detector would report to the terminal, and wait for one that
		// takes no bytes. What it finds there on a killed screen is in a library:
		// the reader of keys, closed while it reads. Nor may it wait a second at exit.
		"GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(tb.TempDir(), "race"),
	}
	return append(env, more...)
}

// quietHost is the process table of a host on which nothing listens.
func quietHost(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "net"), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "net", "tcp"), nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// ran is what a run without a terminal left behind.
type ran struct {
	out, err string
	code     int
	took     time.Duration
}

// headless runs the program without a terminal.
func headless(tb testing.TB, args ...string) ran {
	tb.Helper()
	return headlessIn(tb, sandbox(tb), args...)
}

func headlessIn(tb testing.TB, env []string, args ...string) ran {
	tb.Helper()
	path := program(tb) // to build it takes what it takes
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errOut
	start := time.Now()
	err := cmd.Run()
	r := ran{out: out.String(), err: errOut.String(), took: time.Since(start), code: cmd.ProcessState.ExitCode()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		tb.Fatalf("slotop %s: %v %v\n%s", strings.Join(args, " "), err, ctx.Err(), r.err)
	}
	return r
}

// refuses checks for one line on the standard error, an exit code and nothing else.
func (r ran) refuses(tb testing.TB, code int, words ...string) {
	tb.Helper()
	if r.code != code || r.out != "" {
		tb.Errorf("exit code %d, want %d; printed %q", r.code, code, r.out)
	}
	if strings.Count(r.err, "\n") != 1 || strings.Contains(r.err, "\x1b") {
		tb.Errorf("want one plain line, got %q", r.err)
	}
	for _, w := range words {
		says(tb, "the error", r.err, w)
	}
}

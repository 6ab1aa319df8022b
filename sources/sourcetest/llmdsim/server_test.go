package llmdsim

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const (
	serverPackage = "github.com/llm-d/llm-d-inference-sim/cmd/llm-d-inference-sim"
	modelName     = "acme/chat-8b"
	slots         = 8 // requests that run at a time; more wait
)

// build compiles a program of the module in dir and returns its path.
func build(t *testing.T, dir, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	begin := time.Now()
	if text, err := cmd.CombinedOutput(); err != nil {
		// The pinned requirement could not be fetched or does not compile here.
		if os.Getenv("CI") == "true" || os.Getenv("SLOTOP_REQUIRE_PARTS") != "" || dir != "." {
			t.Fatalf("build %s: %v\n%s", pkg, err, text)
		}
		t.Skipf("%s cannot be built here: %v\n%s", pkg, err, text)
	}
	t.Logf("built %s in %v", filepath.Base(pkg), time.Since(begin).Round(100*time.Millisecond))
	return out
}

// server is the program under watch on a port of its own.
type server struct {
	program string
	port    int
	cmd     *exec.Cmd
	log     bytes.Buffer
}

// freePort asks the system for a port that nobody uses.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs the server with the latencies of a small model and waits until it
// answers.
func (s *server) start(t *testing.T) {
	t.Helper()
	s.log.Reset()
	s.cmd = exec.Command(s.program,
		"--port", fmt.Sprint(s.port), "--model", modelName, "--force-dummy-tokenizer", "--seed", "7",
		"--max-num-seqs", fmt.Sprint(slots), "--max-model-len", "4096",
		"--time-to-first-token", "120ms", "--time-to-first-token-std-dev", "30ms",
		"--inter-token-latency", "20ms", "--inter-token-latency-std-dev", "5ms")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !s.answers(ctx) {
		select {
		case <-ctx.Done():
			s.kill()
			t.Fatalf("the server does not answer:\n%s", s.log.Bytes())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *server) answers(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url("/metrics"), nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (s *server) url(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", s.port, path) }

// kill ends the server without warning, as a crash would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed: the error is the point
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// receiver takes alerts at a webhook that answers with answer.
func receiver(t *testing.T, answer http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// alwaysFires is a configuration with a rule that fires for each target at its
// first poll, and a receiver.
func alwaysFires(t *testing.T, url string) string {
	t.Helper()
	text := fmt.Sprintf("alerts:\n  rules: [{name: slow, signal: poll_seconds, over: 0s}]\n  send: [{webhook: {url: %q}}]\n", url)
	path := filepath.Join(t.TempDir(), "slotop.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What fires while nobody watches reaches its receiver once.
func TestSnapshotTellsReceivers(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 8)
	url := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body)
		bodies <- string(body)
	})
	r := headless(t, "snapshot", "--config", alwaysFires(t, url), "--for", "2s", newEngine(t).address())
	if r.code != exitOK || len(bodies) != 1 {
		t.Fatalf("exit code %d, %s, received %d times", r.code, r.err, len(bodies))
	}
	if body := <-bodies; !strings.Contains(body, `"rule":"slow"`) {
		t.Errorf("received %s", body)
	}
}

// A receiver that hangs does not keep a program that is told to end.
func TestEndWithAHangingReceiver(t *testing.T) {
	t.Parallel()
	asked, over := make(chan struct{}, 8), make(chan struct{})
	url := receiver(t, func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-over
	})
	defer close(over)
	cmd := exec.Command(program(t), "snapshot", "--config", alwaysFires(t, url), "--for", "60s", newEngine(t).address())
	cmd.Env = sandbox(t)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	_ = cmd.Process.Signal(syscall.SIGTERM)
	told := time.Now()
	_ = cmd.Wait()
	if took := time.Since(told); took > 3*time.Second {
		t.Errorf("it took %v to leave", took)
	}
	if want := "1 message not delivered"; !strings.Contains(said.String(), want) {
		t.Errorf("it said %q, want %s", said.String(), want)
	}
}

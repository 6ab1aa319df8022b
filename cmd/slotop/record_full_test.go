package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A disk without room ends a recording with one line, and what was written plays.
func TestRecordOnAFullDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "full.tape")
	cmd := exec.Command("bash", "-c", `ulimit -f 40; exec "$0" record -o "$1" --for 300s demo:S1`, program(t), file)
	cmd.Env = sandbox(t)
	said, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 || strings.Count(string(said), "\n") != 1 || !strings.Contains(string(said), "file too large") {
		t.Errorf("%v, %q", err, said)
	}
	if r := headless(t, "snapshot", file); r.code != 0 || !strings.Contains(r.out, "SIMULATED") || !strings.Contains(r.err, "tape is damaged") {
		t.Errorf("exit code %d, %q %q", r.code, r.out, r.err)
	}
}

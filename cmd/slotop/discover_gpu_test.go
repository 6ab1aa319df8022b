package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slotop/sources/sourcetest/fakenvml"
	"slotop/sources/sourcetest/shared"
)

const fakeGPUs = `version 550.163.01
gpu GPU-aaaaaaaa-0000-0000-0000-000000000001 index=0 name=NVIDIA_H100 busy=90 membusy=20 total=1000 used=10 power=95000 temp=60
gpu GPU-aaaaaaaa-0000-0000-0000-000000000002 index=1 name=NVIDIA_H100 lost=15
`

// withGPUs is the sandbox of a host with a driver for GPUs, which tells of those of a
// script.
func withGPUs(t *testing.T, script string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return append(sandbox(t), "LD_LIBRARY_PATH="+filepath.Dir(fakenvml.Build(t).Path), "FAKE_NVML="+path)
}

// TestDiscoverGPUs: this host's GPUs are found through their driver, and an exporter
// of the same ones is left out and named.
func TestDiscoverGPUs(t *testing.T) {
	h := newHost(t)
	h.serve("page:"+shared.Dir(t, "corpus/gpu/dcgm-exporter/h100-x2-default-counters.prom"), "dcgm-exporter", "-a", ":PORT")
	env := append(withGPUs(t, fakeGPUs), "HOST_PROC="+h.table())
	r := headlessIn(t, env, "doctor", "--width", "120")
	for _, s := range []string{"nvml:", "not watched: nvml: tells of the same GPUs"} {
		says(t, "what was found", r.err, s)
	}
	text := strings.Join(strings.Fields(r.out), " ")
	for _, s := range []string{"(gpu)", "GPU-aaaaaaaa-0000-0000-0000-000000000001", "lost", "shows busy", "n/a → NVML has it from Hopper on", "rules: all", "1 target answers, nothing is promised"} {
		says(t, "doctor", text, s)
	}
	saysNot(t, "doctor", text, "dcgm-exporter driver")
	if r.code != exitOK {
		t.Errorf("exit code %d", r.code)
	}
	text, file := written(t, env)
	if len(file.Targets) != 1 || file.Targets[0].Address != "nvml:" || file.Targets[0].Name == "" {
		t.Errorf("%+v\n%s", file.Targets, text)
	}
	says(t, "the file", text, "# not watched: ")
}

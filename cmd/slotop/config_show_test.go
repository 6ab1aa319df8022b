package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shownConfig = `every: 2s
window: 5m
theme: mono
http:
  authorization: {credentials: sk-marked-global}
targets:
  - address: http://me:marked-password@chat-0:8000/metrics?token=marked-token
    name: chat-0
    gpus: [gpus]
  - address: chat-1:8000
    http:
      basic_auth: {username: me, password: "${MARKED_ENV}"}
workflows:
  - name: chat
    match: {model: llama-*, labels: {tier: gold}}
    slo: {ttft: 500ms, objective: 99%}
  - name: rag
    preset: rag
alerts:
  grace: 30s
  rules:
    - {name: queue-long, signal: requests_waiting, over: 20, for: 1m}
  send:
    - exec: [curl, -H, "Authorization: marked-header", https://hooks.example]
    - webhook: {url: "https://hooks.example/marked-hook"}
`

// TestConfigShow: each value comes with its place, flags go over the file, and no
// key is shown.
func TestConfigShow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "my.yaml")
	if err := os.WriteFile(path, []byte(shownConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	env := sandbox(t, "MARKED_ENV=marked-environment")
	r := headlessIn(t, env, "config", "show", "--config", path, "--window", "2m", "--slo", "chat:tpot=40ms")
	if r.code != exitOK || r.err != "" {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	saysNot(t, "the configuration", strings.ToLower(r.out), "marked-")
	text := strings.Join(strings.Fields(r.out), " ")
	for _, s := range []string{
		"every: 2s # my.yaml:1", "timeout: 2s # default", "window: 2m # --window", "theme: mono # my.yaml:3", "ascii: false # default",
		"credentials: <secret>", `- address: "http://chat-0:8000/metrics?token=redacted" # my.yaml:7`, "name: chat-0", "gpus: [gpus]", "password: <secret>",
		"- name: chat # my.yaml:14, --slo", "match: [{model: \"llama-*\", labels: {tier: gold}}]", "slo: {ttft: 500ms, tpot: 40ms, objective: 99%",
		"- name: rag # my.yaml:17", "slo: {ttft: 300ms, tpot: 100ms, e2e: 3s, objective: 99%", "grace: 30s # my.yaml:20", "bell: true # default",
		"{name: queue-long, signal: requests_waiting, over: 20, for: 1m} # my.yaml:22", "{exec: [curl, <secret>]} # my.yaml:24", "{webhook: <secret>} # my.yaml:25",
	} {
		says(t, "the configuration", text, s)
	}
}

func TestConfigShowDefaults(t *testing.T) {
	t.Parallel()
	r := headless(t, "config", "show")
	text := strings.Join(strings.Fields(r.out), " ")
	for _, s := range []string{"no file, the defaults hold", "every: 1s # default", "targets: [] # default: what is found on this host", "workflows: [] # default"} {
		says(t, "the configuration", text, s)
	}
	if r.code != exitOK {
		t.Errorf("exit code %d", r.code)
	}
	if _, err := parseConfig("show.yaml", []byte(r.out)); err != nil {
		t.Errorf("it is no configuration: %v\n%s", err, r.out)
	}
	headless(t, "config", "show", "x").refuses(t, exitUsage, "show")
}

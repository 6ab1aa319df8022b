package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConfigErrors(t *testing.T) {
	t.Setenv("SLOTOP_KEY", "top: secret # {[\"'")
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "every: 5s\nwindw: 60s\n", []string{`f.yaml:2:1: unknown key "windw": did you mean window?`}},
		{"nothing near", "colour: blue\n", []string{`f.yaml:1:1: unknown key "colour"`}},
		{"key of a target", "targets:\n- address: a:1\n  nam: b\n", []string{`f.yaml:3:3: unknown key "nam": did you mean name?`}},
		{"key of http", "http:\n  tls_config: {ca_fil: x}\n", []string{`f.yaml:2:16: unknown key "ca_fil": did you mean ca_file?`}},
		{"duration", "every: 5 parsecs\n", []string{`f.yaml:1:8: "5 parsecs" is not a duration such as 5s or 1m30s`}},
		{"negative", "every: -5s\n", []string{`f.yaml:1:8: "-5s" is not a duration`}},
		{"two at once", "evry: 5s\nascii: perhaps\n", []string{"f.yaml:1:1: ", "f.yaml:2:8: this cannot be a text: write true or false"}},
		{"list wanted", "targets: here\n", []string{"f.yaml:1:10: this cannot be a text: write a list"}},
		{"twice", "every: 5s\nevery: 6s\n", []string{"f.yaml:2:1: ", `"every" already defined at line 1`}},
		{"syntax", "theme: [\n", []string{"f.yaml:2:1: "}},
		{"two documents", "every: 5s\n---\nevery: 6s\n", []string{"f.yaml:", "a second document"}},
		{"no label", "targets:\n- address: a:1\n  workflow_label: \"team alias\"\n", []string{`f.yaml:3:19: "team alias" names no label: write one, such as team_alias`}},
		{"GPUs in one row", "targets:\n- address: a:1\n  gpus: [GPU-1 GPU-2]\n", []string{`f.yaml:3:10: "GPU-1 GPU-2" is no GPU: write a UUID, such as GPU-…, or the name of a target, one a row`}},
		{"no GPU", "targets:\n- address: a:1\n  gpus:\n  - GPU-1\n  -\n", []string{"f.yaml:5:4: an empty row: fill it, or take it out"}},
		{"GPUs of a target misspelt", "targets:\n- {address: a:1, gpus: [node1]}\n- {address: \"nvml:\", name: node-1}\n", []string{`f.yaml:2:25: no target is called "node1": did you mean node-1?`}},
		{"GPUs as a text", "targets:\n- address: a:1\n  gpus: GPU-1\n", []string{"f.yaml:3:9: this cannot be a text: write a list"}},
		{"no address", "targets:\n- name: x\n", []string{"f.yaml:2:3: target 1 has no address"}},
		{"environment", "http:\n  authorization: {credentials: \"${SLOTOP_NOT_SET}\"}\n", []string{"f.yaml:2:32: environment variable SLOTOP_NOT_SET is not set"}},
		{"two ways in", "http:\n  basic_auth: {username: a}\n  authorization: {credentials: b}\n", []string{"f.yaml:2:3: at most one of"}},
		{"secret in the wrong place", "http:\n  authorization: hunter2hunter2\n", []string{"f.yaml:2:18: this cannot be a text: write a section of keys"}},
		{"secret for a switch", "http:\n  tls_config:\n    insecure_skip_verify: hunter2hunter2\n", []string{"f.yaml:3:27: ", "write true or false"}},
		{"secret in an address", "http:\n  proxy_url: \"hunter2://%zz\"\n", []string{"f.yaml:2:14: parse the value: "}},
		{"secret from outside", "http:\n  tls_config: {min_version: \"${SLOTOP_KEY}\"}\n", []string{"f.yaml:2:", "unknown TLS version: ${SLOTOP_KEY}"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parseConfig("f.yaml", []byte(tc.text))
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tc.want {
				says(t, "the error", err.Error(), w)
			}
			saysNot(t, "the error", err.Error(), "hunter2")
			saysNot(t, "the error", err.Error(), "secret")
		})
	}
}

func TestConfig(t *testing.T) {
	const key = "top: secret # {[\"'\\ ${SLOTOP_OTHER}\n- *x"
	t.Setenv("SLOTOP_KEY", key)
	t.Setenv("SLOTOP_EMPTY", "")
	c, err := parseConfig("/etc/slotop/config.yaml", []byte(`
every: 5s
window: 1m30s
theme: light
mouse: true
http:
  authorization: {credentials: "${SLOTOP_KEY}"}
  tls_config: {ca_file: ca.pem}
targets:
- address: a:8000
  gpus: [GPU-6f1d0d52-0000, b]
- address: b:8000
  name: b
  workflow_label: metadata_team|team_alias
  http: {basic_auth: {username: "u${SLOTOP_EMPTY}", password: "${SLOTOP_KEY}"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if time.Duration(c.Every) != 5*time.Second || time.Duration(c.Window) != 90*time.Second || c.Theme != "light" || !c.Mouse {
		t.Errorf("%+v", c)
	}
	if got := string(c.HTTP.Authorization.Credentials); got != key {
		t.Errorf("credentials %q", got)
	}
	if got := c.HTTP.TLSConfig.CAFile; got != "/etc/slotop/ca.pem" {
		t.Errorf("CA file %q", got)
	}
	if len(c.Targets) != 2 || c.Targets[0].WorkflowLabel != "" || c.Targets[1].WorkflowLabel != "metadata_team|team_alias" {
		t.Errorf("%+v", c.Targets)
	}
	if !slices.Equal(c.Targets[0].GPUs, []string{"GPU-6f1d0d52-0000", "b"}) || c.Targets[1].GPUs != nil {
		t.Errorf("%+v", c.Targets)
	}
	if c.Targets[0].HTTP != nil || c.Targets[1].HTTP.BasicAuth.Username != "u" || string(c.Targets[1].HTTP.BasicAuth.Password) != key {
		t.Errorf("%+v", c.Targets)
	}
	for _, text := range []string{"", "\n", "# nothing\n"} {
		if _, err := parseConfig("f.yaml", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// configHome makes a configuration directory of files and the environment for it.
func configHome(t *testing.T, files map[string]string) (dir string, env []string) {
	t.Helper()
	home := t.TempDir()
	dir = filepath.Join(home, "slotop")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, append(slices.DeleteFunc(sandbox(t), func(v string) bool { return strings.HasPrefix(v, "XDG_") }), "XDG_CONFIG_HOME="+home)
}

func TestConfigCheck(t *testing.T) {
	theme := "name: mine\ndark: true\n"
	tests := []struct {
		name  string
		files map[string]string
		code  int
		says  string
	}{
		{"none", nil, exitOK, "no file"},
		{"good", map[string]string{"config.yaml": "theme: dark\ntargets:\n- address: localhost:8000\n"}, exitOK, "config.yaml: right, 1 target, 0 workflows"},
		{"unknown key", map[string]string{"config.yaml": "thme: dark\n"}, exitUsage, `config.yaml:1:1: unknown key "thme": did you mean theme?`},
		{"unknown theme", map[string]string{"config.yaml": "theme: drak\n"}, exitUsage, "drak"},
		{"bad target", map[string]string{"config.yaml": "targets:\n- address: localhost\n"}, exitUsage, `target "localhost": no port`},
		{"short interval", map[string]string{"config.yaml": "every: 1ms\n"}, exitUsage, "every 1ms: from 200ms"},
		{"bad dialect", map[string]string{"dialects/mine.yaml": "engin: x\n"}, exitUsage, "mine.yaml:1"},
		{"bad theme", map[string]string{"themes/mine.yaml": theme + "colours: 3\n"}, exitUsage, "mine.yaml"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, env := configHome(t, tc.files)
			r := headlessIn(t, env, "config", "check")
			if r.code != tc.code {
				t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
			}
			says(t, "the command", r.out+r.err, tc.says)
		})
	}
	dir, _ := configHome(t, map[string]string{"other.yaml": "theme: light\n"})
	if r := headless(t, "config", "check", filepath.Join(dir, "other.yaml")); r.code != exitOK {
		t.Errorf("a named file: %+v", r)
	}
	headless(t, "config", "check", filepath.Join(dir, "missing.yaml")).refuses(t, exitUsage, "missing.yaml: no such file")
	headless(t, "config", "check", "localhost:8000").refuses(t, exitUsage, "no such file", "slotop doctor localhost:8000")
}

// TestConfigRuns is a configuration with targets, a key and a window at work.
func TestConfigRuns(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	server.set(func(e *engineServer) { e.key = "Bearer s3cr3t: {key}" })
	_, env := configHome(t, map[string]string{"config.yaml": "window: 30s\nhttp: {authorization: {credentials: \"${SLOTOP_KEY}\"}}\n" +
		"targets:\n- {address: \"" + server.address() + "\", name: mine}\n"})
	r := headlessIn(t, append(env, "SLOTOP_KEY=s3cr3t: {key}"), "snapshot", "-o", "json")
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	says(t, "the frame", r.out, `"name":"mine"`)
	says(t, "the frame", r.out, `"window_s":30`)
	r = headlessIn(t, append(env, "SLOTOP_KEY=wr0ng"), "snapshot", "-o", "json")
	if r.code != exitUntold {
		t.Errorf("exit code %d", r.code)
	}
	says(t, "the frame", r.out, `"denied"`)
	saysNot(t, "what is printed", r.out+r.err, "wr0ng")
}

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// written is a configuration that init wrote, as far as it could be read again.
func written(t *testing.T, env []string, args ...string) (string, fileConfig) {
	t.Helper()
	r := headlessIn(t, env, append([]string{"config", "init", "-o", "-"}, args...)...)
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	file, err := parseConfig("init.yaml", []byte(r.out))
	if err != nil {
		t.Fatalf("%v\n%s", err, r.out)
	}
	return r.out, file
}

// TestConfigInitGolden: what is written of an engine, a gateway, a GPU exporter, an
// engine without a model's name and one that cannot be read is kept as a file.
func TestConfigInitGolden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		"engines/vllm-0.12.0-v1.prom", "gateways/litellm/metrics.prom", "gpu/dcgm-exporter/h100-x2-default-counters.prom",
		"engines/tgi-3.3.7.prom", "engines/tei-1.9.3.prom", "engines/ollama-root.txt",
	} {
		if err := os.Symlink(shared.Dir(t, "corpus/"+name), filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	text, file := written(t, sandbox(t), pages...)
	text = strings.ReplaceAll(text, dir+"/", "")
	golden := filepath.Join("testdata", "config-init.yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("init writes\n%s\nnot %s; run with -update and read the difference", text, golden)
	}
	if len(file.Targets) != len(pages) || len(file.Workflows) < 4 {
		t.Errorf("%d targets, %d workflows", len(file.Targets), len(file.Workflows))
	}
}

// TestConfigInitIsRight: what is written is taken by config check, which finds every
// promise on a bucket edge where the engine has one, and nothing is overwritten.
func TestConfigInitIsRight(t *testing.T) {
	t.Parallel()
	server := newEngine(t)
	env := sandbox(t)
	first := headlessIn(t, env, "config", "init", server.address())
	home := strings.TrimPrefix(env[1], "XDG_CONFIG_HOME=")
	path := filepath.Join(home, "slotop", "config.yaml")
	if first.code != exitOK || !strings.Contains(first.out, path+": written, 1 target, ") {
		t.Fatalf("exit code %d: %s%s", first.code, first.out, first.err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	check := headlessIn(t, env, "config", "check")
	if check.code != exitOK || check.err != "" {
		t.Errorf("exit code %d: %s", check.code, check.err)
	}
	for _, s := range []string{"TTFT 1 s is a bucket edge on", "TPOT 50 ms is a bucket edge on", ": exact"} {
		says(t, "config check", check.out, s)
	}
	saysNot(t, "config check", check.out, "no target carries it")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	headlessIn(t, env, "config", "init", server.address()).refuses(t, exitUsage, path+" is there already", "-o")
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("%v: the file was changed", err)
	}
	snapshot := headlessIn(t, env, "snapshot", "-o", "json").one(t)
	if len(snapshot.Targets) != 1 || snapshot.Targets[0].Polls != 2 {
		t.Errorf("%+v", snapshot.Targets)
	}
}

// TestConfigInitFinds: without a target it is what listens on this host, the refused
// included, and nothing at all leaves an example.
func TestConfigInitFinds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	engine := h.serve("page:"+shared.Dir(t, "corpus/engines/vllm-0.12.0-v1.prom"), "vllm", "serve", "--port", "PORT")
	second := h.serve("page:"+shared.Dir(t, "corpus/engines/vllm-0.12.0-v1.prom"), "vllm", "serve", "--port", "PORT")
	h.serve("locked", "llama-server", "--port", "PORT")
	text, file := written(t, append(sandbox(t), "HOST_PROC="+h.table()))
	if len(file.Targets) != 3 || file.Targets[0].Name != "qwen3-8b-0" || file.Targets[1].Name != "qwen3-8b-1" {
		t.Errorf("%+v", file.Targets)
	}
	for _, port := range []int{engine, second} {
		says(t, "the file", text, fmt.Sprintf("address: localhost:%d", port))
	}
	for _, s := range []string{"# denied: 401: needs a key", `#   authorization: {credentials: "${SLOTOP_KEY}"}`, "match: {model: Qwen/Qwen3-8B}"} {
		says(t, "the file", text, s)
	}
	r := headless(t, "config", "init", "-o", "-")
	if file, err := parseConfig("init.yaml", []byte(r.out)); err != nil || r.code != exitOK || len(file.Targets) > 0 {
		t.Errorf("exit code %d, %v: %+v", r.code, err, file.Targets)
	}
	says(t, "the warning", r.err, "nothing was found on this host")
	says(t, "the file", r.out, "#   - address: localhost:8000")
}

// TestConfigInitHostile: names that mean something to YAML, to patterns, to a
// terminal or to the environment stay names, and no key is written.
func TestConfigInitHostile(t *testing.T) {
	t.Parallel()
	names := []string{"a: b", "*", "x\\ny", "${HOME}", "\x1b[31mred", "other", "- {}", `"quoted" # no`, strings.Repeat("long", 100), "ünï"}
	var page strings.Builder
	for _, name := range names {
		label := strings.ReplaceAll(name, `"`, `\"`)
		for _, le := range []string{"0.5", "1", "+Inf"} {
			fmt.Fprintf(&page, "vllm:time_to_first_token_seconds_bucket{engine=\"0\",model_name=\"%s\",le=\"%s\"} 3\n", label, le)
		}
		fmt.Fprintf(&page, "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"%s\"} 0.5\n", label)
	}
	server := newRecorder(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "marked-secret" || r.URL.Path != "/metrics" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte(page.String()))
	})
	text, file := written(t, sandbox(t), "http://me:marked-secret@"+server.address()+"/metrics?token=marked-secret")
	saysNot(t, "the file", text, "marked-secret")
	saysNot(t, "the file", text, "\x1b")
	says(t, "the file", text, "${SLOTOP_KEY}")
	if len(file.Workflows) != len(names)-1 { // a reference to the environment cannot be matched
		t.Errorf("%d workflows of %d names:\n%s", len(file.Workflows), len(names), text)
	}
	for _, w := range file.Workflows {
		if isGlob(w.Name) || w.Name == model.OtherName || len(w.Name) > maxName+3 {
			t.Errorf("name %q", w.Name)
		}
	}
}

func TestConfigInitUsage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"nowhere"}, "no port"},
		{[]string{"localhost:1", "localhost:1"}, "given twice"},
		{[]string{"-o", os.TempDir(), "localhost:1"}, "is there already"},
	} {
		headless(t, append([]string{"config", "init"}, tc.args...)...).refuses(t, exitUsage, tc.says)
	}
}

func TestSpanText(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "1m": time.Minute, "1m30s": 90 * time.Second, "2h": 2 * time.Hour, "2h0m30s": 2*time.Hour + 30*time.Second, "10s": 10 * time.Second,
	} {
		got := spanText(d)
		if back, err := parseTime(got); got != want || err != nil || back != d {
			t.Errorf("%v is written %q and read as %v, %v", d, got, back, err)
		}
	}
}

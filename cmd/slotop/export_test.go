package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// exported starts slotop export and returns its address; it is told to end with the
// test, and must end well.
func exported(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t), append([]string{"export", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = sandbox(t)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		start := time.Now()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || time.Since(start) > soon(2*time.Second) {
			t.Errorf("ended with %v after %v", err, time.Since(start))
		}
	})
	return strings.TrimSpace(strings.TrimPrefix(line, "slotop: "))
}

// scrape waits for a page on which a line begins so.
func scrape(t *testing.T, address, with string) string {
	t.Helper()
	for until := time.Now().Add(soon(patience)); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		r, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
			t.Fatal(err, r.Header)
		}
		if strings.Contains(string(body), "\n"+with) {
			return string(body)
		}
	}
	t.Fatalf("%s never told %s", address, with)
	return ""
}

// TestExportPage: promtool has nothing to say about it.
func TestExportPage(t *testing.T) {
	t.Parallel()
	tool := part(t, "promtool")
	page := scrape(t, exported(t, "demo:S0"), "slotop_workflow_latency_seconds")
	cmd := exec.Command(tool, "check", "metrics")
	cmd.Stdin = strings.NewReader(page)
	if said, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(said)) > 0 {
		t.Errorf("promtool: %v: %s", err, said)
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("a number that is none")
	}
}

// TestExportAnswers: GET and HEAD of one page, from this machine by its own name.
func TestExportAnswers(t *testing.T) {
	t.Parallel()
	address := exported(t, "demo:S0")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		method, path, host string
		code               int
	}{
		{"GET", "/metrics", u.Host, 200}, {"HEAD", "/metrics", u.Host, 200}, {"GET", "/metrics", "localhost:9469", 200}, {"GET", "/metrics", "[::1]:9469", 200}, {"GET", "/metrics", "[::1]", 200},
		{"GET", "/metrics?x=1", u.Host, 200},
		{"GET", "/", u.Host, 404}, {"GET", "/metrics/", u.Host, 404}, {"GET", "/../metrics", u.Host, 404}, {"GET", "/debug/pprof/", u.Host, 404},
		{"POST", "/metrics", u.Host, 405}, {"DELETE", "/metrics", u.Host, 405}, {"OPTIONS", "/metrics", u.Host, 405},
		{"GET", "/metrics", "evil.example", 403}, {"GET", "/metrics", "127.0.0.1.evil.example", 403}, {"GET", "/metrics", "10.0.0.1", 403},
	} {
		r, err := http.NewRequest(tt.method, "http://"+u.Host+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		got, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if got.StatusCode != tt.code || tt.method == "HEAD" && len(body) > 0 || got.StatusCode != http.StatusOK && strings.Contains(string(body), "slotop_") {
			t.Errorf("%s %s of %s: %d %q", tt.method, tt.path, tt.host, got.StatusCode, body)
		}
	}
}

// TestExportSlowClients: connections that say nothing do not keep a scrape out for longer
// than they may be silent, and are bounded.
func TestExportSlowClients(t *testing.T) {
	t.Parallel()
	address := exported(t, "demo:S0")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * exportConns {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		fmt.Fprint(c, "GET /metrics HT")
	}
	client := &http.Client{Timeout: soon(6 * exportRead)}
	r, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Error(r.Status)
	}
}

// TestExportRefuses: what is over, addresses that are none, and one that is taken.
func TestExportRefuses(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	tape := filepath.Join(t.TempDir(), "x.tape")
	headless(t, "export", tape).refuses(t, exitUsage, "export tells what is now")
	headless(t, "export", "--listen", "9469", "demo:S0").refuses(t, exitUsage, "write HOST:PORT")
	headless(t, "export", "--listen", "127.0.0.1:http2", "demo:S0").refuses(t, exitUsage, "no port")
	headless(t, "export", "--listen", l.Addr().String(), "demo:S0").refuses(t, exitFailed, "address already in use")
	page := filepath.Join(t.TempDir(), "page.prom")
	if err := os.WriteFile(page, []byte("vllm:num_requests_running 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	headless(t, "export", "--listen", "127.0.0.1:0", page).refuses(t, exitUsage, "export tells what is now")
}

// TestExportIsScraped: a real server scrapes the page and evaluates the documented rules.
func TestExportIsScraped(t *testing.T) {
	t.Parallel()
	server := part(t, "prometheus")
	address := exported(t, "demo:S1?at=1s")
	scrape(t, address, "slotop_workflow_verdict")
	u, _ := url.Parse(address)
	text, err := os.ReadFile(exportPage)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```yaml\ngroups:")
	rules, _, _ := strings.Cut("groups:"+after, "```")
	dir := t.TempDir()
	config := "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml]\nscrape_configs:\n  - job_name: slotop\n    static_configs: [{targets: [\"" + u.Host + "\"]}]\n"
	for name, content := range map[string]string{"prometheus.yml": config, "rules.yml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	var log bytes.Buffer
	cmd := exec.Command(server, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the server said:\n%s", log.String())
		}
	})
	for _, query := range []string{
		`up{job="slotop"} == 1`, `slotop_workflow_goodput_ratio{workflow="chat",bound="hi"} < 1`,
		`sum by (workflow) (slotop_workflow_verdict) == 1`, `ALERTS{alertname="LLMPromiseBroken",workflow="chat"}`,
	} {
		if !answers(t, "http://"+at, query) {
			t.Errorf("nothing came of %s", query)
		}
	}
}

// answers waits until a query has a result.
func answers(t *testing.T, server, query string) bool {
	t.Helper()
	for until := time.Now().Add(soon(patience)); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		r, err := http.Get(server + "/api/v1/query?query=" + url.QueryEscape(query))
		if err != nil {
			continue
		}
		var got struct {
			Data struct{ Result []json.RawMessage }
		}
		err = json.NewDecoder(r.Body).Decode(&got)
		_ = r.Body.Close()
		if err == nil && len(got.Data.Result) > 0 {
			return true
		}
	}
	return false
}

// TestExportIsNoEngine: slotop reading its own page says what it is.
func TestExportIsNoEngine(t *testing.T) {
	t.Parallel()
	address := exported(t, "demo:S1")
	scrape(t, address, "slotop_workflow_latency_seconds")
	r := headless(t, "snapshot", address)
	says(t, "the snapshot", strings.Join(strings.Fields(r.out+r.err), " "), "slotop's own export: watch what it watches")
	if strings.Contains(r.out, "chat") {
		t.Errorf("its workflows are taken for its own: %s", r.out)
	}
}

package sources_test

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

const secret = "geheim-4711"

// pollOne opens one target and polls it once.
func pollOne(t *testing.T, arg string, opt sources.Options) (model.Batch, error) {
	t.Helper()
	set, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	opt.Dialects = set
	opened, err := sources.Resolve(t.Context(), []string{arg}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sources.CloseAll(opened) })
	return opened[0].Source.Poll(t.Context())
}

func wantFault(t *testing.T, err error, kind model.FaultKind, says ...string) {
	t.Helper()
	var fault *sources.FaultError
	if !errors.As(err, &fault) {
		t.Fatalf("got %v, want a fault", err)
	}
	if fault.Kind != kind {
		t.Errorf("got %v, want %s", fault, kind)
	}
	for _, s := range says {
		if !strings.Contains(fault.Detail, s) {
			t.Errorf("the detail does not say %q: %s", s, fault.Detail)
		}
	}
	checkForeignText(t, fault.Detail)
}

func checkForeignText(t *testing.T, s string) {
	t.Helper()
	if strings.Contains(s, secret) {
		t.Errorf("the secret is in %q", s)
	}
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e {
			t.Errorf("control character %U in %q", r, s)
		}
	}
	if len(s) > 1000 {
		t.Errorf("%d bytes are no message", len(s))
	}
}

func running(t *testing.T, b model.Batch) float64 {
	t.Helper()
	for _, s := range b.Samples {
		if s.Signal == model.Running {
			return s.Value
		}
	}
	t.Fatal("no sample of requests running")
	return 0
}

func bearer() sources.Options {
	cfg := config.DefaultHTTPClientConfig
	cfg.Authorization = &config.Authorization{Type: "Bearer", Credentials: secret}
	return sources.Options{HTTP: &cfg}
}

// TestCaseOC15 is: redirect, 401, 404 and an untrusted certificate are four
// different messages.
func TestCaseOC15(t *testing.T) {
	t.Run("1 redirect to the same host with a slash", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/metrics/" {
				http.Redirect(w, r, "/metrics/", http.StatusTemporaryRedirect)
				return
			}
			if r.Header.Get("Authorization") != "Bearer "+secret {
				t.Error("the key did not come along to the same server")
			}
			_, _ = io.WriteString(w, enginePage)
		})
		b, err := pollOne(t, s.URL, bearer())
		if err != nil || running(t, b) != 4 {
			t.Errorf("got %v, %v", b, err)
		}
	})
	t.Run("2 redirect to another host", func(t *testing.T) {
		var asked atomic.Int32
		other := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.Replace(other.URL, "//", "//me:"+secret+"@", 1)+"/metrics?token="+secret, http.StatusFound)
		})
		_, err := pollOne(t, s.URL, bearer())
		wantFault(t, err, model.Redirected, other.URL)
		if asked.Load() != 0 {
			t.Error("the other host was asked")
		}
	})
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		t.Run(fmt.Sprint("3 ", code), func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(code)
				fmt.Fprintf(w, "wrong key %q", r.Header.Get("Authorization"))
			})
			_, err := pollOne(t, s.URL, sources.Options{})
			wantFault(t, err, model.Denied, fmt.Sprint(code), "needs a key")
			_, err = pollOne(t, s.URL, bearer())
			wantFault(t, err, model.Denied, fmt.Sprint(code), "not accepted")
		})
	}
	t.Run("4 not found", func(t *testing.T) {
		s := serve(t, http.NotFound)
		_, err := pollOne(t, s.URL+"/metrics", sources.Options{})
		wantFault(t, err, model.NotFound, "404 at /metrics: metrics not enabled or other path",
			"--disable-log-stats", "--enable-metrics", "llama.cpp: --metrics", "/prometheus/metrics")
	})
	t.Run("5 private CA", func(t *testing.T) {
		s := httptest.NewUnstartedServer(reply(enginePage))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		_, err := pollOne(t, s.URL, sources.Options{})
		wantFault(t, err, model.Certificate, "certificate not trusted", "Acme Co", "ca_file", "insecure_skip_verify")

		ca := filepath.Join(t.TempDir(), "ca.pem")
		cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
		if err := os.WriteFile(ca, cert, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, tls := range []config.TLSConfig{{CAFile: ca}, {InsecureSkipVerify: true}} {
			cfg := config.DefaultHTTPClientConfig
			cfg.TLSConfig = tls
			if b, err := pollOne(t, s.URL, sources.Options{HTTP: &cfg}); err != nil || running(t, b) != 4 {
				t.Errorf("%+v: got %v", tls, err)
			}
		}
		cfg := config.DefaultHTTPClientConfig
		cfg.TLSConfig = config.TLSConfig{CAFile: ca}
		_, err = pollOne(t, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), sources.Options{HTTP: &cfg})
		wantFault(t, err, model.Certificate, "another name", "server_name")
		_, err = pollOne(t, strings.Replace(s.URL, "https", "http", 1), sources.Options{})
		wantFault(t, err, model.Refused, "write https://")
	})
	t.Run("6 path prefix", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/llm/metrics" {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, enginePage)
		})
		if b, err := pollOne(t, s.URL+"/llm/metrics", sources.Options{}); err != nil || running(t, b) != 4 {
			t.Errorf("got %v", err)
		}
	})
}

// TestCaseOC11Variant is: terminal escape sequences in an HTTP 500 body.
func TestCaseOC11Variant(t *testing.T) {
	body := shared.File(t, "cases/files/escape-injection.prom")
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write(body)
	})
	_, err := pollOne(t, s.URL, sources.Options{})
	wantFault(t, err, model.Malformed, "answers 500 at /metrics: ")
}

func TestForeignTextIsShownAndNotObeyed(t *testing.T) {
	for _, text := range []string{
		"\x1b]0;title\x07", "\x1b[2J", "a\rb", "\u202eb", "\u009b31m", "\x9b31m", "\x7f", strings.Repeat("x", 1<<16),
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, text)
		})
		_, err := pollOne(t, s.URL, sources.Options{})
		wantFault(t, err, model.Timeout, "answers 502 at /metrics: ")
		_, err = pollOne(t, s.URL, sources.Options{Limits: expo.Limits{Body: 100}})
		wantFault(t, err, model.Timeout)
	}
}

func TestAnswersThatAreNoPage(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		kind   model.FaultKind
		says   []string
	}{
		{"html", reply("<!DOCTYPE html><html><body>Grafana</body></html>"), model.NotMetrics, []string{"html", "Grafana"}},
		{"json", reply(`{"status":"ok"}`), model.NotMetrics, []string{"json"}},
		{"empty", reply(""), model.NotMetrics, []string{"empty"}},
		{"no content", status(http.StatusNoContent, ""), model.NotMetrics, []string{"204"}},
		{"TensorRT-LLM", reply(`[{"cpuMemUsage":0,"iterLatencyMS":23.1}]`), model.NotMetrics, []string{"TensorRT-LLM", "/prometheus/metrics"}},
		{"TensorRT-LLM, idle", reply(`[]`), model.NotMetrics, []string{"TensorRT-LLM", "return_perf_metrics"}},
		{"reports of requests", status(http.StatusOK, `{"v":1,"id":"r-1","phase":"queued","queued_at":"2026-08-01T12:00:00.010Z"}`), model.NotMetrics, []string{"reports of single requests", "write events: before a file"}},
		{"llama.cpp", status(http.StatusNotImplemented, `{"error":{"code":501,"message":"This server does not support metrics endpoint. Start it with `+"`--metrics`"+`","type":"not_supported_error"}}`), model.NotFound, []string{"501", "llama.cpp", "--metrics"}},
		{"loading", status(http.StatusServiceUnavailable, `{"error":{"message":"Loading model"}}`), model.Timeout, []string{"answers 503 at /metrics: loading or overloaded: ", "Loading model"}},
		{"too many", status(http.StatusTooManyRequests, ""), model.Timeout, []string{"answers 429", "overloaded"}},
		{"broken inside", status(http.StatusInternalServerError, "panic"), model.Malformed, []string{"answers 500", "inside the server: panic"}},
		{"a bad request", status(http.StatusBadRequest, "what?"), model.Refused, []string{"400 at /metrics: what?"}},
		{"not acceptable", status(http.StatusNotAcceptable, ""), model.UnsupportedPage, []string{"406"}},
		{"not modified", status(http.StatusNotModified, ""), model.Redirected, []string{"304"}},
		{"redirect without a place", status(http.StatusFound, ""), model.Redirected, []string{"302"}},
		{"in a circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, model.Redirected, []string{"more than 3 times"}},
		{"another encoding", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "x")
		}, model.UnsupportedPage, []string{"br"}},
		{"broken gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, enginePage)
		}, model.Malformed, []string{"gzip"}},
		{"truncated gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := zipped(enginePage)
			_, _ = w.Write(z[:len(z)-10])
		}, model.Malformed, []string{"cut off"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := pollOne(t, serve(t, tc.answer).URL+"/metrics", sources.Options{})
			wantFault(t, err, tc.kind, tc.says...)
		})
	}
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

func TestScrapeAsksForPlainText(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for name, want := range map[string]string{
			"Accept": "text/plain;version=0.0.4", "Accept-Encoding": "gzip", "User-Agent": "slotop/1.2", "Authorization": "",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zipped(enginePage))
	})
	b, err := pollOne(t, s.URL, sources.Options{Version: "1.2"})
	if err != nil || running(t, b) != 4 {
		t.Errorf("got %v", err)
	}
}

func TestFirstLook(t *testing.T) {
	var asked []string
	site := func(pages map[string]http.HandlerFunc) *httptest.Server {
		asked = nil
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			if page, ok := pages[r.URL.Path]; ok {
				page(w, r)
				return
			}
			http.NotFound(w, r)
		})
	}
	pollTwice := func(t *testing.T, url string) (model.Batch, error) {
		opened := resolve(t, url)
		defer func() { _ = sources.CloseAll(opened) }()
		_, _ = opened[0].Source.Poll(t.Context())
		return opened[0].Source.Poll(t.Context())
	}
	const ways = " /v1/loads /api/ps /api/v0/models /.well-known/serviceinfo /api/v1/status/buildinfo /v1/models"
	tests := []struct {
		name, path string
		pages      map[string]http.HandlerFunc
		asked      string
		note       string // "" when both polls fail
	}{
		{"TensorRT-LLM", "", map[string]http.HandlerFunc{"/metrics": reply("[]"), "/prometheus/metrics": reply(enginePage)},
			"/metrics /prometheus/metrics /prometheus/metrics /version", "found at /prometheus/metrics, not at /metrics"},
		{"trailing slash", "", map[string]http.HandlerFunc{"/metrics/": reply(enginePage)},
			"/metrics /prometheus/metrics /metrics/ /metrics/ /version", "found at /metrics/, not at /metrics"},
		{"nowhere", "", nil, "/metrics /prometheus/metrics /metrics/" + ways + " /metrics", ""},
		{"an answer that is no page is not asked for twice", "", map[string]http.HandlerFunc{"/metrics": reply("{}")},
			"/metrics /prometheus/metrics" + ways + " /metrics", ""},
		{"a queue is not emptied twice", "", map[string]http.HandlerFunc{"/metrics": reply("[]")},
			"/metrics /prometheus/metrics" + ways + " /prometheus/metrics", ""},
		{"only where the path is ours", "/metrics", map[string]http.HandlerFunc{"/prometheus/metrics": reply(enginePage)},
			"/metrics /metrics", ""},
		{"denied is an answer", "", map[string]http.HandlerFunc{"/metrics": status(http.StatusUnauthorized, "")},
			"/metrics /metrics", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b, err := pollTwice(t, site(tc.pages).URL+tc.path)
			if got := strings.Join(asked, " "); got != tc.asked {
				t.Errorf("asked %s, want %s", got, tc.asked)
			}
			if (err == nil) != (tc.note != "") {
				t.Fatalf("got %v", err)
			}
			if tc.note != "" && (len(b.About.Notes) == 0 || b.About.Notes[0] != tc.note) {
				t.Errorf("got notes %q, want %q", b.About.Notes, tc.note)
			}
		})
	}
}

func TestProcessStartHeader(t *testing.T) {
	page := strings.Replace(enginePage, "process_start_time_seconds 1.75e+09\n", "", 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Process-Start-Time-Unix", "1760000000")
		_, _ = io.WriteString(w, page)
	})
	b, err := pollOne(t, s.URL, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := started(b); got != 1.76e9 {
		t.Errorf("got %v", got)
	}
}

func started(b model.Batch) float64 {
	for _, s := range b.Samples {
		if s.Signal == model.ProcessStart {
			return s.Value
		}
	}
	return 0
}

package sources_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/expo"
)

func TestCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	basic := "Basic bWU6Z2VoZWltLTQ3MTE="
	tests := []struct {
		name, user, want string
		cfg              config.HTTPClientConfig
	}{
		{"address", "me:" + secret + "@", basic, config.HTTPClientConfig{}},
		{"address over configuration", "me:" + secret + "@", basic, config.HTTPClientConfig{BearerToken: "other"}},
		{"bearer from a file", "", "Bearer " + secret, config.HTTPClientConfig{Authorization: &config.Authorization{CredentialsFile: file}}},
		{"bearer", "", "Bearer " + secret, config.HTTPClientConfig{Authorization: &config.Authorization{Credentials: secret}}},
		{"basic", "", basic, config.HTTPClientConfig{BasicAuth: &config.BasicAuth{Username: "me", Password: secret}}},
		{"a key that looks like a variable", "", "Bearer ${HOME}", config.HTTPClientConfig{Authorization: &config.Authorization{Credentials: "${HOME}"}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				// A server that quotes the key it was sent.
				status(http.StatusInternalServerError, "you sent "+r.Header.Get("Authorization")+" "+secret)(w, r)
				if got := r.Header.Get("Authorization"); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
			_, err := pollOne(t, strings.Replace(s.URL, "//", "//"+tc.user, 1), sources.Options{HTTP: &tc.cfg})
			wantFault(t, err, model.Malformed, "answers 500")
		})
	}
	t.Run("header", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			status(http.StatusInternalServerError, "you sent "+r.Header.Get("X-Key"))(w, r)
			if got := r.Header.Get("X-Key"); got != secret {
				t.Errorf("got %q", got)
			}
		})
		headers := &config.Headers{Headers: map[string]config.Header{"X-Key": {Secrets: []config.Secret{secret}}}}
		_, err := pollOne(t, s.URL, sources.Options{HTTP: &config.HTTPClientConfig{HTTPHeaders: headers}})
		wantFault(t, err, model.Malformed, "answers 500")
	})
	t.Run("a key in the query", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			status(http.StatusInternalServerError, "you sent "+r.URL.Query().Get("key"))(w, r)
		})
		_, err := pollOne(t, s.URL+"/metrics?key="+secret, sources.Options{})
		wantFault(t, err, model.Malformed, "answers 500")
	})
}

func TestOversizedPages(t *testing.T) {
	small := sources.Options{Limits: expo.Limits{Body: 1 << 20}}
	long := strings.Repeat("# a comment that says nothing\n", 1<<16)
	for name, answer := range map[string]http.HandlerFunc{
		"plain": reply(long),
		"gzip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped(long))
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, long); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pollOne(t, serve(t, answer).URL, small)
			wantFault(t, err, model.Oversized, "larger than 1048576 bytes")
		})
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	raw := func(t *testing.T, answer string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = http.ReadRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, answer)
				_ = c.Close()
			}
		}()
		return "http://" + l.Addr().String()
	}
	t.Run("cut in the body", func(t *testing.T) {
		_, err := pollOne(t, raw(t, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"+enginePage), sources.Options{})
		wantFault(t, err, model.Malformed, "cut off after 902 bytes")
	})
	t.Run("cut in a chunk", func(t *testing.T) {
		_, err := pollOne(t, raw(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\nvllm:num_requests_running 4"), sources.Options{})
		wantFault(t, err, model.Malformed, "cut off")
	})
	t.Run("chunked", func(t *testing.T) {
		page := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(enginePage), enginePage)
		b, err := pollOne(t, raw(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+page), sources.Options{})
		if err != nil || running(t, b) != 4 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		_, err := pollOne(t, raw(t, ""), sources.Options{})
		wantFault(t, err, model.Refused, "without an answer")
	})
	t.Run("not HTTP", func(t *testing.T) {
		_, err := pollOne(t, raw(t, "SSH-2.0-OpenSSH_9.7\x1b[2J\r\n"), sources.Options{})
		wantFault(t, err, model.Malformed)
	})
	t.Run("TLS to a plain server", func(t *testing.T) {
		s := serve(t, reply(enginePage))
		_, err := pollOne(t, strings.Replace(s.URL, "http", "https", 1), sources.Options{})
		wantFault(t, err, model.Certificate, "write http://")
	})
	t.Run("nothing listens", func(t *testing.T) {
		s := httptest.NewServer(http.NotFoundHandler())
		s.Close()
		_, err := pollOne(t, s.URL, sources.Options{})
		wantFault(t, err, model.Refused, "nothing listens")
	})
	t.Run("no such host", func(t *testing.T) {
		_, err := pollOne(t, "http://no-such-host.invalid:8000", sources.Options{})
		wantFault(t, err, model.Refused, "no-such-host.invalid")
	})
	t.Run("slow body", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, enginePage)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		opened := resolve(t, s.URL)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := opened[0].Source.Poll(ctx)
		wantFault(t, err, model.Timeout, "did not end in time")
		_ = sources.CloseAll(opened)
	})
}

func TestConnectionIsKept(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(reply(enginePage))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	opened := resolve(t, s.URL)
	for range 5 {
		if _, err := opened[0].Source.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_ = sources.CloseAll(opened)
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for five polls", n)
	}
}

func TestClientCertificateIsAskedFor(t *testing.T) {
	s := httptest.NewUnstartedServer(reply(enginePage))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	cfg := config.HTTPClientConfig{TLSConfig: config.TLSConfig{InsecureSkipVerify: true}}
	_, err := pollOne(t, s.URL, sources.Options{HTTP: &cfg})
	wantFault(t, err, model.Certificate, "client certificate", "cert_file")
}

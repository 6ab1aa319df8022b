package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/config"
	"go.uber.org/goleak"

	"slotop/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// secret is what no error, status or dry run may hold.
const secret = "s3cr3t-of-the-pager"

// posted is one request that a test's server got.
type posted struct {
	path, key, kind string
	body            []byte
}

// serve is a server that answers as told and keeps what it got.
func serve(t *testing.T, answer http.HandlerFunc) (*httptest.Server, chan posted) {
	t.Helper()
	got := make(chan posted, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- posted{r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), body}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s, got
}

// start runs a sender until the test ends, and checks that it leaves nothing.
func start(t *testing.T, sinks ...Sink) *Sender {
	t.Helper()
	before := goleak.IgnoreCurrent()
	s, err := New(Config{Sinks: sinks}, Options{Version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run(context.Background())
	t.Cleanup(func() {
		s.Close(0)
		goleak.VerifyNone(t, before)
	})
	return s
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// golden compares JSON with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	pretty.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, pretty.Bytes()) {
		t.Errorf("%s differs:\n%s", path, pretty.Bytes())
	}
}

// hostile is an alert whose texts come from somebody who means harm.
func hostile() model.AlertView {
	return with(fires("slo_burn/chat\x1b[2J", 0), func(a *model.AlertView) {
		a.Workflow = "chat\x1b]0;owned\x07"
		a.Text = "chat burns\nits \"budget\" $(reboot) `id` ; rm -rf / é"
		a.Members = []string{"chat-0:8000", "chat-1\x00:8000"}
		a.Limit = model.Reading{}
	})
}

// TestWebhook: the body is the documented one.
func TestWebhook(t *testing.T) {
	server, got := serve(t, nil)
	s := start(t, Sink{Webhook: &HTTP{URL: server.URL + "/hooks/T1?x=1"}, Resolved: true})
	s.Frame(frame(hostile(), with(fires("stalled/api", 0), func(a *model.AlertView) {
		a.Severity, a.Workflow, a.Target = model.Warn, "", "api:8000"
	})))
	p := next(t, got)
	if p.path != "/hooks/T1?x=1" || p.kind != "application/json" || p.key != "" {
		t.Errorf("request %+v", p)
	}
	golden(t, "webhook_firing.json", p.body)
	f := frame(with(hostile(), func(a *model.AlertView) {
		a.State, a.ResolvedAt, a.Value = model.AlertResolved, a.FiredAt.Add(5*time.Minute), model.Of(0)
	}))
	f.Simulated = true // after the firing was taken: one alert keeps what it was
	s.Frame(f)
	golden(t, "webhook_resolved.json", next(t, got).body)
}

// TestAlertmanagerBody: labels identify the alert, and stay what they were.
func TestAlertmanagerBody(t *testing.T) {
	server, got := serve(t, nil)
	s := start(t, Sink{Alertmanager: &HTTP{URL: server.URL + "/am/"}, Resolved: true})
	f := frame(hostile())
	f.Simulated = true
	s.Frame(f)
	p := next(t, got)
	if p.path != "/am/api/v2/alerts" {
		t.Errorf("posted to %s", p.path)
	}
	golden(t, "alertmanager_firing.json", p.body)
	s.Frame(frame(with(hostile(), func(a *model.AlertView) {
		a.State, a.Severity, a.ResolvedAt = model.AlertResolved, model.Warn, a.FiredAt.Add(-time.Hour) // the clock was set back
	})))
	golden(t, "alertmanager_resolved.json", next(t, got).body)
}

// TestFiredTwiceInOneFrame: the first episode ends where the second begins.
func TestFiredTwiceInOneFrame(t *testing.T) {
	server, got := serve(t, nil)
	s := start(t, Sink{Alertmanager: &HTTP{URL: server.URL}, Resolved: true})
	s.Frame(frame(fires("a", 0)))
	next(t, got)
	s.Frame(frame(fires("a", 600)))
	body := string(next(t, got).body)
	if !strings.Contains(body, `"startsAt":"2026-03-01T03:00:00Z","endsAt":"2026-03-01T03:10:00Z"`) {
		t.Errorf("the first episode: %s", body)
	}
	if body = string(next(t, got).body); !strings.Contains(body, `"startsAt":"2026-03-01T03:10:00Z"}`) {
		t.Errorf("the second: %s", body)
	}
}

// TestFailsThenWorks: a server that fails gets the alert once it works.
func TestFailsThenWorks(t *testing.T) {
	n := 0
	server, got := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			http.Error(w, "your key "+secret, http.StatusInternalServerError)
		}
	})
	s := start(t, Sink{Webhook: &HTTP{URL: server.URL}})
	s.Frame(frame(fires("a", 0)))
	first, second := next(t, got), next(t, got)
	if !bytes.Equal(first.body, second.body) {
		t.Errorf("first %s\nthen %s", first.body, second.body)
	}
}

// deaf listens and never answers.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "you sent "+r.Header.Get("Authorization")+" to "+r.URL.String())
	}
}

// TestRefusals: what went wrong is said with the place and what to do, and
// without a key, even where the server repeats it.
func TestRefusals(t *testing.T) {
	elsewhere, visits := serve(t, nil)
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"500", status(500), "answers 500 Internal Server Error"},
		{"401", status(401), "its key is missing or was not accepted"},
		{"404", status(404), "is the path of its url right?"},
		{"400", status(400), "is it the right kind of receiver?"},
		{"302 to a login page", status(302, "Location", elsewhere.URL+"/login?"+secret), "redirects are not followed, give the address"},
		{"307 to another host", status(307, "Location", elsewhere.URL+"/"+secret), "redirects are not followed"},
		{"308 to itself", status(308, "Location", "/again/"+secret), "redirects are not followed"},
		{"no HTTP", hijack("SSH-2.0-" + secret + "\r\n"), "malformed HTTP"},
		{"a broken header", hijack("HTTP/1.1 200 " + secret + "\r\n" + secret + "\r\n\r\n"), "malformed MIME header"},
		{"no answer", hijack(""), "closed the connection without an answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, _ := serve(t, tt.answer)
			h := &HTTP{
				URL: server.URL + "/" + secret,
				Client: &config.HTTPClientConfig{
					FollowRedirects: true,
					Authorization:   &config.Authorization{Credentials: secret},
				},
			}
			err := carryOne(t, h, time.Second)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), server.URL) {
				t.Errorf("error %v, want %s with %q", err, server.URL, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
	if len(visits) != 0 {
		t.Errorf("%d requests followed a redirect", len(visits))
	}
}

// hijack answers with bytes of its own.
func hijack(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(c, answer)
		_ = c.Close()
	}
}

// carryOne makes one delivery, without the pace.
func carryOne(t *testing.T, h *HTTP, timeout time.Duration) error {
	t.Helper()
	before := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, before)
	life, cut := context.WithCancel(context.Background())
	defer cut()
	w, err := newWebhook(life, Sink{Webhook: h, Timeout: timeout}, Options{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(life, timeout)
	defer cancel()
	return w.carry(ctx, []notice{{what: began, alert: fires("a", 0)}})
}

// TestUnreachable: no server, a deaf one, and one that no name leads to.
func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	silent := deaf(t)
	proxied := &config.HTTPClientConfig{}
	proxied.ProxyURL.URL = &url.URL{Scheme: "http", User: url.UserPassword("me", secret), Host: gone.Listener.Addr().String()}
	tests := []struct {
		name string
		h    HTTP
		want string
	}{
		{"nobody listens", HTTP{URL: gone.URL + "/" + secret}, "nothing listens at http://127.0.0.1:"},
		{"deaf", HTTP{URL: "http://" + silent + "/" + secret}, "did not answer within 50ms"},
		{"no TLS", HTTP{URL: "https://" + silent + "/" + secret}, "did not answer within 50ms"},
		{"no name", HTTP{URL: "http://receiver.invalid/" + secret}, "receiver.invalid"},
		{"no file with the key", HTTP{URL: gone.URL, Client: &config.HTTPClientConfig{
			Authorization: &config.Authorization{CredentialsFile: "/no/such/file"},
		}}, "/no/such/file"},
		{"proxy", HTTP{URL: "http://receiver.invalid/" + secret, Client: proxied}, "its proxy cannot be reached"},
		{"tokens", HTTP{URL: gone.URL, Client: &config.HTTPClientConfig{
			OAuth2: &config.OAuth2{ClientID: "me", ClientSecret: secret, TokenURL: "http://" + silent},
		}}, "the server named in oauth2 gave no token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			err := carryOne(t, &tt.h, 50*time.Millisecond)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error holds the key: %v", err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestTooManyRequests: the server says when it wants to be asked again.
func TestTooManyRequests(t *testing.T) {
	server, got := serve(t, status(429, "Retry-After", "120"))
	s := start(t, Sink{Webhook: &HTTP{URL: server.URL}})
	s.Frame(frame(fires("a", 0)))
	next(t, got)
	st := settled(t, s, func(st SinkStatus) bool { return st.Failures == 1 })
	if wait := st.RetryAt.Sub(st.FailedAt); wait != 2*time.Minute {
		t.Errorf("tries again after %v", wait)
	}
}

// settled is the status of the first sink once it is as wanted.
func settled(t *testing.T, s *Sender, is func(SinkStatus) bool) SinkStatus {
	t.Helper()
	for until := time.Now().Add(patience); ; {
		if st := s.Status()[0]; is(st) {
			return st
		}
		if time.Now().After(until) {
			t.Fatalf("still %+v", s.Status()[0])
		}
		time.Sleep(time.Millisecond)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"5":                             5 * time.Second,
		"-5":                            0,
		"soon":                          0,
		"99999999999999999999":          0,
		"Sun, 01 Mar 2026 03:01:00 GMT": time.Minute,
		"Sun, 01 Mar 2026 02:00:00 GMT": -time.Hour,
	} {
		r := &http.Response{Header: http.Header{"Retry-After": {value}}}
		if got := retryAfter(r, now); got != want {
			t.Errorf("Retry-After: %s is %v, want %v", value, got, want)
		}
	}
}

// TestKeys: keys come from the configuration, a file or the address, and the
// server's certificate from an authority of one's own.
func TestKeys(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		if r.Header.Get("Authorization") != "Bearer "+secret && password != secret {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the client that trusts nobody
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	ca, key := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "key")
	write(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600)
	write(t, key, []byte(secret+"\n"), 0o600)
	tls := config.TLSConfig{CAFile: ca}
	tests := []struct {
		name string
		h    HTTP
		want string
	}{
		{"from the configuration", HTTP{URL: server.URL, Client: &config.HTTPClientConfig{
			TLSConfig: tls, Authorization: &config.Authorization{Credentials: secret},
		}}, ""},
		{"from a file", HTTP{URL: server.URL, Client: &config.HTTPClientConfig{
			TLSConfig: tls, Authorization: &config.Authorization{CredentialsFile: key},
		}}, ""},
		{"from the address", HTTP{
			URL:    strings.Replace(server.URL, "https://", "https://me:"+secret+"@", 1),
			Client: &config.HTTPClientConfig{TLSConfig: tls},
		}, ""},
		{"none", HTTP{URL: server.URL, Client: &config.HTTPClientConfig{TLSConfig: tls}}, "its key is missing"},
		{"an unknown authority", HTTP{URL: server.URL, Client: &config.HTTPClientConfig{
			Authorization: &config.Authorization{Credentials: secret},
		}}, "its certificate is not trusted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := carryOne(t, &tt.h, patience)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func write(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}

// TestDryRunShows what would be sent, and no key, path or argument.
func TestDryRunShows(t *testing.T) {
	server, got := serve(t, nil)
	var out bytes.Buffer
	client := &config.HTTPClientConfig{
		Authorization: &config.Authorization{Credentials: secret},
		HTTPHeaders:   &config.Headers{Headers: map[string]config.Header{"X-Tenant": {Secrets: []config.Secret{secret}}}},
	}
	s, err := New(Config{Sinks: []Sink{
		{Webhook: &HTTP{URL: server.URL + "/" + secret, Client: client}},
		{Alertmanager: &HTTP{URL: server.URL + "/" + secret, Client: client}},
		{Exec: []string{"sh", "-c", "exit 1 # " + secret}},
	}}, Options{DryRun: &out})
	if err != nil {
		t.Fatal(err)
	}
	s.Frame(frame(hostile()))
	ran := make(chan struct{})
	go func() { s.Run(context.Background()); close(ran) }()
	settled(t, s, func(SinkStatus) bool {
		for _, st := range s.Status() {
			if st.Delivered != 1 {
				return false
			}
		}
		return true
	})
	s.Close(0)
	<-ran
	text := out.String()
	for _, want := range []string{
		"webhook: would send to " + server.URL + " (path not shown)\n  Authorization: (not shown)\n  X-Tenant: (not shown)\n{\n",
		`"schema": "slotop.alert/1"`, `"alertname": "slo_burn"`,
		"exec: would run /", "sh (2 arguments, not shown)\n  SLOTOP_ALERT_ID=slo_burn/chat␛[2J\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, secret) || strings.ContainsAny(text, "\x1b\x07\x00") {
		t.Errorf("it holds what it must not:\n%s", text)
	}
	if len(got) != 0 {
		t.Errorf("%d requests were sent", len(got))
	}
}

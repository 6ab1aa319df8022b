package sources

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"slotop/model"
	"slotop/sources/sourcetest/shared"
)

// promAt speaks to a server that answers everything alike.
func promAt(t *testing.T, h http.HandlerFunc) *promServer {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	u, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newPromServer(Spec{Address: web.URL}, u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// captured is what the server in a folder of captures answered, with its status.
func captured(t *testing.T, dir, name string) http.HandlerFunc {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "fetch.log"))
	if err != nil {
		t.Fatal(err)
	}
	status := http.StatusOK
	for line := range strings.Lines(string(log)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			switch f[1] {
			case "400":
				status = http.StatusBadRequest
			case "422":
				status = http.StatusUnprocessableEntity
			case "503":
				status = http.StatusServiceUnavailable
			}
		}
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
}

var promServers = []string{"prometheus-2.42.0", "prometheus-3.14.0", "victoriametrics-1.79.5", "victoriametrics-1.151.0"}

// TestCapturedAnswersOC32 reads every answer to a query that was captured of four
// servers: a number, no number, an error with its type and message, or a remark.
func TestCapturedAnswersOC32(t *testing.T) {
	for _, server := range promServers {
		dir := shared.Dir(t, "corpus/captures/"+server)
		files, err := filepath.Glob(filepath.Join(dir, "q*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no captures: %v", server, err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			t.Run(server+"/"+name, func(t *testing.T) {
				s := promAt(t, captured(t, dir, name))
				answer, err := readCapture(t.Context(), s, name)
				checkCapture(t, name, answer, err)
			})
		}
	}
}

func readCapture(ctx context.Context, s *promServer, name string) (answerOf, error) {
	if strings.HasPrefix(name, "qr-") {
		now := time.Unix(1795970777, 0)
		return s.over(ctx, "x", promv1.Range{Start: now.Add(-time.Minute), End: now, Step: 15 * time.Second})
	}
	return s.instant(ctx, "x", time.Time{})
}

func checkCapture(t *testing.T, name string, a answerOf, err error) {
	t.Helper()
	var refused *queryError
	switch {
	case name == "q-string.json" && err != nil: // no number at all; VictoriaMetrics has no strings
		return
	case errors.As(err, &refused):
		checkRefusal(t, name, refused)
		return
	case err != nil:
		t.Fatal(err)
	}
	switch name {
	case "q-nan.json":
		if len(a.vector) == 1 && !math.IsNaN(float64(a.vector[0].Value)) {
			t.Errorf("NaN is %v", a.vector[0].Value)
		}
	case "q-inf.json":
		if len(a.vector) != 1 || !math.IsInf(float64(a.vector[0].Value), 1) {
			t.Errorf("+Inf is %v", a.vector)
		}
	case "q-warn.json":
		if len(a.remarks) > 0 {
			t.Errorf("a remark that says nothing: %q", a.remarks)
		}
	case "q-up.json", "q-running.json", "q-waiting.json":
		if len(a.vector) == 0 {
			t.Error("nothing was read")
		}
	case "qr-waiting.json", "q-matrix.json":
		if len(a.matrix) == 0 || len(a.matrix[0].Values) == 0 {
			t.Error("nothing was read")
		}
	}
}

func checkRefusal(t *testing.T, name string, err *queryError) {
	t.Helper()
	costly := map[string]bool{"q-timeout.json": true, "qr-tooMany.json": true}
	if want, known := costly[name]; known && err.costly() != want {
		t.Errorf("%v: too costly is %v", err, err.costly())
	}
	if name == "q-err.json" && (err.costly() || !strings.Contains(err.Error(), "parse") && !strings.Contains(err.Error(), "unexpected token")) {
		t.Errorf("an error of syntax is said as %v", err)
	}
	if !strings.HasPrefix(err.Error(), "4") && !strings.HasPrefix(err.Error(), "5") || strings.Contains(err.Error(), "422 422") {
		t.Errorf("%q: want status, type and message, each once", err.Error())
	}
	var fault *FaultError
	if !errors.As(asFault(err), &fault) || !strings.Contains(fault.Detail, err.text) {
		t.Errorf("the fault %v lacks the message", fault)
	}
}

// A server is told by the form of its answer to what time it is.
func TestGreet(t *testing.T) {
	for _, c := range []struct {
		answer string
		wholes bool
	}{
		{`{"status":"success","data":{"resultType":"scalar","result":[1795970777.539,"1795970777.539"]}}`, false},
		{`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1795970777,"1795970777.539"]}]}}`, true},
	} {
		s := promAt(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.answer)) })
		answer, err := s.greet(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if at := unixTime(float64(answer.vector[0].Value)); s.wholes != c.wholes || at.UnixMilli() != 1795970777539 {
			t.Errorf("%s: wholes %v at %v", c.answer, s.wholes, at)
		}
	}
}

// The address keeps its prefix and its own parameters, and says that no cache is
// wanted.
func TestPromAddresses(t *testing.T) {
	var asked []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Form.Get("dedup")+r.Form.Get("nocache"))
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
	}))
	defer web.Close()
	u, err := url.Parse(web.URL + "/prometheus/?dedup=false&")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newPromServer(Spec{Address: web.URL}, u)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.instant(t.Context(), "up", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if want := "POST /prometheus/api/v1/query false1"; len(asked) != 1 || asked[0] != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// How long the server worked stands at the end of its answer, if anywhere.
func TestSpentOn(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`{"data":{"stats":{"timings":{"evalTotalTime":0.5,"execTotalTime":0.25},"samples":{}}}}`: 250 * time.Millisecond,
		`{"data":{},"stats":{"seriesFetched": "2","executionTimeMsec":370}}`:                     370 * time.Millisecond,
		`{"data":{}}`:          0,
		`{"execTotalTime":`:    0,
		`{"execTotalTime":-1}`: 0,
	} {
		if got := spentOn([]byte(body)); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

// An answer that takes longer than a poll is not lost: the next poll has it. Another
// question calls it off.
func TestAnswersThatTakeLong(t *testing.T) {
	open := make(chan struct{})
	asked := make(chan string, 8)
	s := promAt(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		asked <- r.Form.Get("query")
		if r.Form.Get("query") == "slow" {
			select {
			case <-open:
			case <-r.Context().Done():
			}
		}
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"scalar","result":[1795970777.5,"7"]}}`))
	})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.instant(short, "slow", time.Time{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the poll ended with %v", err)
	}
	close(open)
	answer, err := s.instant(t.Context(), "slow", time.Time{})
	if err != nil || len(answer.vector) != 1 || answer.vector[0].Value != 7 {
		t.Fatalf("the next poll has %v, %v", answer.vector, err)
	}
	if n := len(asked); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	if _, err := s.instant(t.Context(), "other", time.Time{}); err != nil {
		t.Error(err)
	}
}

func TestAbandonedAnswer(t *testing.T) {
	s := promAt(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		if r.Form.Get("query") == "never" {
			<-r.Context().Done()
		}
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
	})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.instant(short, "never", time.Time{}); err == nil {
		t.Fatal("it was answered")
	}
	if _, err := s.instant(t.Context(), "up", time.Time{}); err != nil {
		t.Errorf("the next question: %v", err)
	}
	short, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _ = s.instant(short, "never", time.Time{})
	s.progress += 2 * flightTimeout
	short, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	before := s.flight
	_, _ = s.instant(short, "never", time.Time{})
	if s.flight == before {
		t.Error("an answer is waited for that will not come any more")
	}
}

// Whatever is wrong with an answer has its word.
func TestPromFaults(t *testing.T) {
	for _, c := range []struct {
		what   string
		status int
		body   string
		word   model.FaultKind
		says   string
	}{
		{"no key", 401, "", model.Denied, "needs a key"},
		{"elsewhere", 404, "404 page not found", model.NotFound, "prom+http://host:9090/prometheus"},
		{"a page to sign in", 200, "<!DOCTYPE html><title>Sign in</title>", model.NotMetrics, "HTML page"},
		{"a metrics page", 200, "# TYPE up gauge\nup 1\n", model.NotMetrics, "not a Prometheus API"},
		{"a proxy's error", 502, "<html>bad gateway</html>", model.Timeout, "502"},
		{"an error of the server's", 500, `{"status":"error","errorType":"internal","error":"expanding series: disk"}`, model.Malformed, "500 internal: expanding series: disk"},
		{"too many samples", 422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}`, model.Timeout, "too many samples"},
		{"no numbers", 200, `{"status":"success","data":{"resultType":"string","result":[1795970777.5,"x"]}}`, model.Malformed, "cannot be read"},
		{"nothing", 200, `{"status":"success"}`, model.Malformed, "neither numbers nor an error"},
		{"cut off", 200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"val`, model.Malformed, "cannot be read"},
	} {
		s := promAt(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		})
		_, err := s.instant(t.Context(), "up", time.Time{})
		var fault *FaultError
		if !errors.As(asFault(err), &fault) || fault.Kind != c.word || !strings.Contains(fault.Detail, c.says) {
			t.Errorf("%s: %v, want %s: …%s…", c.what, fault, c.word, c.says)
		}
	}
}

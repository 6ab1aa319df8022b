package sources_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest"
)

// completions answers as OpenAI's servers do.
func completions(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"x"}}]}`+"\n\n"+
		`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
}

// atNoon stands still, so that two readings of one world are the same.
func atNoon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func openProbe(tb testing.TB, address string) sources.Opened {
	tb.Helper()
	opened, err := sources.Resolve(tb.Context(), []string{"openai+" + address}, sources.Options{Now: atNoon, Version: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	return opened[0]
}

func TestProbesKeepTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source {
			return openProbe(tb, serve(tb, completions).URL+"?model=m").Source
		},
		Bad: func(tb testing.TB) sources.Source {
			return openProbe(tb, serve(tb, status(http.StatusUnauthorized, "")).URL+"?model=m").Source
		},
		Word: model.Denied,
	})
}

// asking notes what a probe asks.
type asking struct {
	method, path, key string
	body              struct {
		Model     string
		Messages  []struct{ Role, Content string }
		Prompt    string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
	}
}

func ask(t *testing.T, r *http.Request) (a asking) {
	t.Helper()
	a.method, a.path, a.key = r.Method, r.URL.Path, r.Header.Get("Authorization")
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&a.body); err != nil {
			t.Error(err)
		}
	}
	return a
}

func TestProbeAsks(t *testing.T) {
	for _, tc := range []struct{ address, paths, id, name string }{
		{"?model=acme/chat", "/v1/chat/completions", "openai+http://HOST/v1?model=acme%2Fchat", "HOST/probe"},
		{"/v1/?model=m&every=5s", "/v1/chat/completions", "openai+http://HOST/v1?every=5s&model=m", "HOST/probe"},
		{"/openai/v1/chat/completions?model=m", "/openai/v1/chat/completions", "openai+http://HOST/openai/v1?model=m", "HOST/probe"},
		{"?model=m&api=completions&max_tokens=3&prompt_tokens=5", "/v1/completions", "openai+http://HOST/v1?api=completions&max_tokens=3&model=m&prompt_tokens=5", "HOST/probe"},
		{"", "/v1/models /v1/chat/completions", "openai+http://HOST/v1", "HOST/probe"},
	} {
		var paths []string
		var last asking
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			last = ask(t, r)
			paths = append(paths, r.URL.Path)
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, `{"data":[{"id":"/models/only.gguf"}]}`)
				return
			}
			completions(w, r)
		})
		o := openProbe(t, s.URL+tc.address)
		for range 2 { // the second is not due
			b, err := o.Source.Poll(t.Context())
			if err != nil || b.About == nil {
				t.Fatalf("%s: %v", tc.address, err)
			}
		}
		if err := o.Source.Close(); err != nil {
			t.Error(err)
		}
		host := strings.TrimPrefix(s.URL, "http://")
		if got := strings.Join(paths, " "); got != tc.paths {
			t.Errorf("%q asks %s, want %s", tc.address, got, tc.paths)
		}
		if id := strings.ReplaceAll(string(o.Target.ID), host, "HOST"); id != tc.id || strings.ReplaceAll(o.Target.Name, host, "HOST") != tc.name || o.Target.Kind != model.ProbeTarget {
			t.Errorf("%+v, want %s", o.Target, tc.id)
		}
		if tc.address == "" && last.body.Model != "/models/only.gguf" {
			t.Errorf("asked for %q", last.body.Model)
		}
		text := last.body.Prompt
		if !strings.Contains(tc.address, "completions&") {
			text = last.body.Messages[0].Content
		}
		if !last.body.Stream || last.body.MaxTokens < 3 || len(strings.Fields(text)) < 3 {
			t.Errorf("%+v", last.body)
		}
	}
}

// A model must be named where there are several, or none.
func TestProbeWithoutAModel(t *testing.T) {
	for body, says := range map[string]string{
		`{"data":[{"id":"a"},{"id":"b\u001b[2J"}]}`: "2 models are served there, so one must be named: write ?model=NAME (a, b",
		`{"data":[]}`: "no model is served there",
		`<html>`:      "no model is served there",
	} {
		_, err := openProbe(t, serve(t, reply(body)).URL).Source.Poll(t.Context())
		wantFault(t, err, model.NotFound, says)
	}
	_, err := openProbe(t, serve(t, status(http.StatusForbidden, "")).URL).Source.Poll(t.Context())
	wantFault(t, err, model.Denied, "key_env=NAME")
	_, err = openProbe(t, "http://127.0.0.1:1").Source.Poll(t.Context())
	wantFault(t, err, model.Refused, "nothing listens")
}

func TestProbeRefusesOptions(t *testing.T) {
	for _, tc := range []struct{ options, says string }{
		{"max_tokens=0", "a whole number from 1 to 256"},
		{"max_tokens=many", "a whole number from 1 to 256"},
		{"prompt_tokens=9000", "from 1 to 8192"},
		{"every=1ms", "a time from 1s to 1h0m0s, such as 30s"},
		{"every=soon", "a time from"},
		{"timeout=1h", "from 1s to 10m0s"},
		{"requests=0", "from 1 to 3600"},
		{"budget=-1", "from 1 to 10000000"},
		{"api=responses", "chat or completions"},
		{"evry=30s", "did you mean every?"},
		{"zzzzzzzz=1", "the options are model, api, key_env, key_file, max_tokens"},
		{"model=a&model=b", "model is given twice"},
		{"key=" + secret, "a key does not belong into an address"},
		{"api_key=" + secret, "a key does not belong into an address"},
		{"key_env=SLOTOP_NOT_SET", "the variable SLOTOP_NOT_SET is not set"},
		{"key_file=/no/such", "its key_file cannot be read"},
		{"key_file=/dev/null", "a device"},
		{"key_env=A&key_file=B", "two keys"},
		{"%zz=1", "cannot be read"},
	} {
		_, err := sources.Resolve(t.Context(), []string{"openai+http://h:1?" + tc.options}, sources.Options{})
		var usage *sources.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.options, err, tc.says)
			continue
		}
		checkForeignText(t, err.Error())
	}
	for _, address := range []string{"openai+http://me:" + secret + "@h:1?model=m", "openai+http://", "openai+http://h:99999"} {
		_, err := sources.Resolve(t.Context(), []string{address}, sources.Options{})
		if !errors.As(err, new(*sources.UsageError)) {
			t.Errorf("%s: %v", address, err)
			continue
		}
		checkForeignText(t, err.Error())
	}
}

// The key comes from a variable, a file or the configuration, goes to the server
// that was named and to no other, and is nowhere to be seen, also where the server
// quotes it.
func TestProbeHidesItsKey(t *testing.T) {
	t.Setenv("SLOTOP_TEST_KEY", secret)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var elsewhere atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	for _, options := range []string{"&key_env=SLOTOP_TEST_KEY", "&key_file=" + file, ""} {
		for _, code := range []int{200, 307, 400, 401, 404, 429, 500} {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := ask(t, r).key; got != "Bearer "+secret {
					t.Errorf("%s: asked with %q", options, got)
				}
				if code == 200 {
					fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"error\":{\"message\":\"no %s\"}}\n\n", secret)
					return
				}
				w.Header().Set("Location", other.URL+"/"+secret)
				w.WriteHeader(code)
				fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, secret)
			})
			opt := sources.Options{}
			if options == "" {
				opt = bearer()
			}
			opened, err := sources.Resolve(t.Context(), []string{"openai+" + s.URL + "?model=m" + options}, opt)
			if err != nil {
				t.Fatal(err)
			}
			b, err := opened[0].Source.Poll(t.Context())
			said := fmt.Sprint(opened[0].Target, err)
			if b.About != nil {
				said += fmt.Sprint(*b.About, b.Requests)
			}
			if strings.Contains(said, secret) {
				t.Errorf("%d: the key is in %s", code, said)
			}
			if err := sources.CloseAll(opened); err != nil {
				t.Error(err)
			}
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("another host was asked")
	}
}

// A server that names a model after the key it is sent has none of that name.
func TestNoModelIsNamedAfterAKey(t *testing.T) {
	quotes := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"version":"1 %[1]s","data":[{"id":"m-%[1]s"}]}`, secret)
	}
	opened, err := sources.Resolve(t.Context(), []string{"openai+" + serve(t, quotes).URL}, bearer())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sources.CloseAll(opened) })
	_, err = opened[0].Source.Poll(t.Context())
	wantFault(t, err, model.NotFound, "no model is served there")

	engine := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			fmt.Fprintln(w, "vllm:num_requests_running{engine=\"0\"} 1")
			return
		}
		quotes(w, r)
	})
	found, err := sources.Look(t.Context(), engine.URL, bearer())
	if err != nil || found.Engine != "vllm" {
		t.Fatalf("%+v, %v", found, err)
	}
	if said := fmt.Sprint(found); strings.Contains(said, secret) {
		t.Errorf("the key is in %s", said)
	}
}

package sources_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/config"

	"slotop/model"
	"slotop/model/tape"
	"slotop/sources"
)

// The secrets of the test, each of a kind of its own so that one that is found says
// how it got there. No part of one is a word.
const (
	addressMark = "7f3a91d0c5e8b246"
	bearerMark  = "c40d2e97f1a6b583"
	basicMark   = "55b8e1049dc7f2a3"
	headerMark  = "a917c6e3f0542d8b"
	queryMark   = "e02b47f8a19c6d35"
	clientMark  = "3d6f80b4c92e17a5"
	tokenMark   = "9b1c5d72e8f046a3"
	envMark     = "60d2f7a8c3b15e94"
)

// keyVariable is the variable that holds a probe's key.
const keyVariable = "SLOTOP_TEST_PROBE_KEY"

// marks are the secrets and what basic authentication makes of them, by what they are.
var marks = map[string]string{
	addressMark: "the address's password", bearerMark: "the bearer token", basicMark: "the password",
	headerMark: "the header", queryMark: "the key in the query", clientMark: "the client's secret",
	tokenMark: "the token that was issued", envMark: "the key in the environment",
	base64.StdEncoding.EncodeToString([]byte("me:" + addressMark)): "the address's password, encoded",
	base64.StdEncoding.EncodeToString([]byte("me:" + basicMark)):   "the password, encoded",
}

// shows is what a text shows of the secrets: which, and where. It is "" where the
// text holds a good part of none.
func shows(text string) string {
	low := strings.ToLower(text)
	for mark, what := range marks {
		mark = strings.ToLower(mark)
		for i := range len(mark) - 7 {
			if at := strings.Index(low, mark[i:i+8]); at >= 0 {
				return what + ": " + text[max(0, at-120):min(len(text), at+60)]
			}
		}
	}
	return ""
}

// httpForm is a way of naming an HTTP server, and the kind that reads it.
type httpForm struct{ kind, before, after string }

// refuses reports whether the form is none with a secret of that kind: a probe's
// key does not stand in its address, and a name with several servers has no query.
func (f httpForm) refuses(secret string) bool {
	return f.kind == model.ProbeTarget && (secret == "address" || secret == "query") ||
		f.kind == "dns" && (secret == "query" || secret == "environment")
}

var httpForms = []httpForm{
	{"engine", "", "/metrics"},
	{"engine", "", ""}, // looked at: what is it?
	{"stats", "stats+", "/stats"},
	{"events", "events+", "/events"},
	{"events", "events+", ""}, // looked for at the paths of known gateways
	{"events", "events+", "/api/logs"},
	{"events", "events+", "/spend/logs/v2"},
	{"events", "events+", "/api/metrics/activity"},
	{"events", "events+", "/log/stream"},
	{"prometheus", "prom+", ""},
	{"probe", "openai+", "?model=m"},
	{"dns", "dns+", ""},
}

// notHTTP are the kinds that speak to no server, or only through those above.
var notHTTP = []string{"demo", "file_sd", "nvml", "tape", "pages"}

// sentBy are the ways of giving a secret.
var sentBy = []struct {
	name, user, query string
	cfg               func(url string) *config.HTTPClientConfig
}{
	{name: "address", user: "me:" + addressMark + "@"},
	{name: "query", query: "api_key=" + queryMark},
	{name: "environment", query: "key_env=" + keyVariable}, // a probe's key
	{name: "bearer", cfg: func(string) *config.HTTPClientConfig {
		return &config.HTTPClientConfig{Authorization: &config.Authorization{Credentials: bearerMark}}
	}},
	{name: "basic", cfg: func(string) *config.HTTPClientConfig {
		return &config.HTTPClientConfig{BasicAuth: &config.BasicAuth{Username: "me", Password: basicMark}}
	}},
	{name: "header", cfg: func(string) *config.HTTPClientConfig {
		return &config.HTTPClientConfig{HTTPHeaders: &config.Headers{Headers: map[string]config.Header{
			"X-Api-Key": {Secrets: []config.Secret{headerMark}},
		}}}
	}},
	{name: "oauth2", cfg: func(url string) *config.HTTPClientConfig {
		return &config.HTTPClientConfig{OAuth2: &config.OAuth2{ClientID: "me", ClientSecret: clientMark, TokenURL: url + "/token"}}
	}},
}

// quote is all that a request said.
func quote(r *http.Request) string {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 4096))
	_, password, _ := r.BasicAuth()
	return fmt.Sprintf("you sent %s %s %v %s %s", r.Method, r.URL, r.Header, password, body)
}

// tellingAnswers are servers that tell everybody what they were sent.
var tellingAnswers = map[string]func(w http.ResponseWriter, r *http.Request, elsewhere string){
	"what was asked for": func(w http.ResponseWriter, r *http.Request, _ string) { answerWell(w, r) },
	"a page with a bad line": func(w http.ResponseWriter, r *http.Request, _ string) {
		fmt.Fprintf(w, "%s%s\n", enginePage, strings.ReplaceAll(quote(r), "\n", " "))
	},
	"status": func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Error(w, quote(r), http.StatusInternalServerError)
	},
	"denied": func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("WWW-Authenticate", "Basic realm=\""+strings.ReplaceAll(quote(r), "\"", "")+"\"")
		http.Error(w, quote(r), http.StatusUnauthorized)
	},
	"text": func(w http.ResponseWriter, r *http.Request, _ string) { fmt.Fprint(w, quote(r)) },
	"JSON": func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"status":"error","errorType":"bad_data","error":{"message":%q},"detail":%q}`, quote(r), quote(r))
	},
	"an event": func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: error\ndata: {\"error\":%q}\n\n", quote(r))
	},
	"elsewhere": func(w http.ResponseWriter, r *http.Request, elsewhere string) {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		http.Redirect(w, r, elsewhere+r.URL.Path+"?"+r.URL.RawQuery+"&t="+token+r.Header.Get("X-Api-Key"), http.StatusTemporaryRedirect)
	},
	"not HTTP": func(w http.ResponseWriter, r *http.Request, _ string) {
		said := quote(r)
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			fmt.Fprintf(c, "BAD %s\r\n\r\n", said)
			_ = c.Close()
		}
	},
}

// answerWell is what each form asks for.
func answerWell(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/metrics":
		_, _ = io.WriteString(w, enginePage)
	case path == "/stats":
		_, _ = io.WriteString(w, document(`{"workflow":"w","model":"m","total":{"received":3,"completed":2}}`))
	case path == "/events":
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, event("a"))
	case strings.HasPrefix(path, "/v1/"):
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n")
	case path == "/api/v1/status/buildinfo":
		_, _ = io.WriteString(w, `{"status":"success","data":{"version":"2.42.0"}}`)
	case strings.HasPrefix(path, "/api/v1/"):
		_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	default:
		http.NotFound(w, r)
	}
}

// TestCredentialsAreNowhere names servers in every way there is, with every kind of
// secret, and has them tell everybody what they were sent. Nothing that slotop keeps
// or says holds a good part of a secret, and no other server is asked.
func TestCredentialsAreNowhere(t *testing.T) {
	t.Setenv(keyVariable, envMark)
	for _, form := range httpForms {
		for _, by := range sentBy {
			for name, answer := range tellingAnswers {
				t.Run(fmt.Sprintf("%s%s/%s/%s", form.before, form.after, by.name, name), func(t *testing.T) {
					var strayed atomic.Int32
					elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { strayed.Add(1) })
					var asked atomic.Bool
					s := serve(t, func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path == "/token" && name != "denied" {
							w.Header().Set("Content-Type", "application/json")
							fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer"}`, tokenMark)
							return
						}
						asked.Store(true)
						answer(w, r, elsewhere.URL)
					})
					opt := sources.Options{Version: "test"}
					if by.cfg != nil {
						opt.HTTP = by.cfg(s.URL)
						opt.HTTP.FollowRedirects = true
					}
					said, opened := everything(t, address(s, form.before, form.after, by.user, by.query), opt)
					if shown := shows(said); shown != "" {
						t.Errorf("shows %s", shown)
					}
					if strayed.Load() > 0 {
						t.Error("another server was asked")
					}
					if known := slices.ContainsFunc(sources.Kinds(), func(k sources.Kind) bool { return k.Name == form.kind }); known && !opened && !form.refuses(by.name) {
						t.Error("it is no target")
					}
					if opened && !asked.Load() {
						t.Error("the server was never asked")
					}
				})
			}
		}
	}
}

// address is a server in one of the forms.
func address(s *httptest.Server, before, after, user, query string) string {
	at := s.URL
	if before == "dns+" {
		at = strings.Replace(at, "127.0.0.1", "localhost", 1)
	}
	arg := before + strings.Replace(at, "//", "//"+user, 1) + after
	switch {
	case query == "":
		return arg
	case strings.Contains(after, "?"):
		return arg + "&" + query
	case after == "":
		return arg + "/?" + query
	}
	return arg + "?" + query
}

// everything opens a target, polls it and writes down all that is kept and said of
// it, a tape of it included. It reports whether there was something to open.
func everything(t *testing.T, arg string, opt sources.Options) (said string, opened bool) {
	set, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	opt.Dialects = set
	var b strings.Builder
	targets, err := sources.Resolve(t.Context(), []string{arg}, opt)
	fmt.Fprintf(&b, "%s\n%v\n", sources.Redact(arg), spelled(err))
	if err != nil {
		return b.String(), false
	}
	var inputs []model.Input
	for i := 0; i < len(targets); i++ {
		fmt.Fprintf(&b, "%+v\n", targets[i].Target)
		for at := range 3 {
			inputs = append(inputs, pollInput(t, &b, targets[i], time.Duration(at)*time.Minute))
		}
		targets = append(targets, foundBy(t, &b, targets[i].Source)...)
	}
	if err := sources.CloseAll(targets); err != nil {
		fmt.Fprintln(&b, spelled(err))
	}
	writeTape(t, &b, targets, inputs)
	return b.String(), true
}

// foundBy are the targets that a finder found, opened as a run does.
func foundBy(t *testing.T, b *strings.Builder, source sources.Source) (all []sources.Opened) {
	finder, ok := source.(sources.Finder)
	if !ok {
		return nil
	}
	for _, spec := range finder.Found() {
		opened, err := sources.Resolve(t.Context(), []string{spec.Address}, spec.Options)
		fmt.Fprintln(b, spelled(err))
		all = append(all, opened...)
	}
	return all
}

// pollInput polls a target once, as a run does, and writes down what came of it.
func pollInput(t *testing.T, b *strings.Builder, target sources.Opened, at time.Duration) model.Input {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if a, ok := target.Source.(sources.Advancer); ok {
		a.Advance(at)
	}
	batch, err := target.Source.Poll(ctx)
	batch.Target = target.Target.ID
	if err != nil {
		fmt.Fprintln(b, spelled(err))
		batch.Fault = &model.Fault{Kind: model.Malformed, Detail: err.Error()}
		if fault := (*sources.FaultError)(nil); errors.As(err, &fault) {
			batch.Fault = &model.Fault{Kind: fault.Kind, Detail: fault.Detail}
		}
	}
	writeBatch(b, &batch)
	batch.Samples = slices.Clone(batch.Samples)
	return model.Input{At: model.Instant{Wall: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC).Add(at), Mono: at}, Batch: &batch}
}

// spelled is an error with all that is wrapped in it.
func spelled(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		text += fmt.Sprintf("%v %+v %#v\n", err, err, err)
	}
	return text
}

func writeBatch(b *strings.Builder, batch *model.Batch) {
	fmt.Fprintf(b, "%+v\n%+v\n", *batch, batch.Fault)
	if batch.About != nil {
		fmt.Fprintf(b, "%+v\n", *batch.About)
	}
	for _, s := range batch.Samples {
		fmt.Fprintln(b, s.Signal, s.Labels)
	}
}

// writeTape records the inputs, and writes down what a replay would get.
func writeTape(t *testing.T, b *strings.Builder, opened []sources.Opened, inputs []model.Input) {
	var file bytes.Buffer
	h := tape.Header{Version: "test", Recorded: inputs[0].At.Wall, Every: time.Minute, Window: time.Minute}
	for _, o := range opened {
		h.Targets = append(h.Targets, o.Target)
	}
	w, err := tape.NewWriter(&file, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		if err := w.Write(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b.Write(file.Bytes())
	r, err := tape.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fmt.Fprintf(b, "%+v\n", r.Header())
	n := 0
	for {
		in, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
		writeBatch(b, in.Batch)
	}
	if n != len(inputs) {
		t.Errorf("the tape holds %d of %d inputs", n, len(inputs))
	}
}

// Every kind of target has its place in the test.
func TestEveryKindIsAskedForItsSecrets(t *testing.T) {
	for _, k := range sources.Kinds() {
		tested := slices.ContainsFunc(httpForms, func(f httpForm) bool { return f.kind == k.Name })
		if tested == slices.Contains(notHTTP, k.Name) {
			t.Errorf("kind %q: tested is %v", k.Name, tested)
		}
	}
}

// The test can fail: it sees a secret where one is.
func TestTheTestSeesSecrets(t *testing.T) {
	for mark := range marks {
		for _, text := range []string{"x" + mark + "y", strings.ToUpper(mark), mark[4:]} {
			if shows(text) == "" {
				t.Errorf("%q is not seen in %q", mark, text)
			}
		}
	}
	if shown := shows("put it into a variable, bearer, token, header, query"); shown != "" {
		t.Errorf("seen where there is none: %q", shown)
	}
}

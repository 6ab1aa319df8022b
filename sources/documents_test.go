package sources_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// site is a server with some documents, that notes what it is asked.
type site struct {
	pages map[string]http.HandlerFunc
	asked []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.URL.RequestURI())
	w.Header().Set("Date", "Thu, 04 Jun 2026 21:30:00 GMT")
	if page, ok := s.pages[r.URL.Path]; ok {
		page(w, r)
		return
	}
	http.NotFound(w, r)
}

func (s *site) serve(tb testing.TB) *httptest.Server { return serve(tb, s.ServeHTTP) }

// engineDocuments says, for every JSON text of the engines' corpus, at which path
// and with which status it is answered, and what is answered besides.
var engineDocuments = map[string]struct {
	path   string
	code   int
	query  string
	beside map[string]string // path: file
}{
	"llamacpp-slots.json":                       {path: "/slots", beside: map[string]string{"501 /metrics": "llamacpp-metrics-disabled-501.json"}},
	"llamacpp-metrics-disabled-501.json":        {path: "/metrics", code: 501},
	"llamacpp-health-loading-503.json":          {path: "/metrics", code: 503},
	"llamacpp-health-ok.json":                   {path: "/health", beside: map[string]string{"/metrics": "llamacpp-b10590.prom"}},
	"llamacpp-timings.json":                     {path: "/metrics"},
	"llm-d-inference-sim-0.10.2-models.json":    {path: "/v1/models", beside: map[string]string{"/metrics": "llm-d-inference-sim-0.10.2-load.prom"}},
	"lmstudio-v0-chat-stats.json":               {path: "/api/v0/models"},
	"ollama-chat-final-cached-prompt.json":      {path: "/api/ps"},
	"ollama-generate-final.json":                {path: "/api/ps"},
	"ollama-ps-loaded.json":                     {path: "/api/ps", beside: map[string]string{"/api/version": "ollama-real-0.20-version.json", "/": "ollama-root.txt"}},
	"ollama-real-0.20-ps-empty.json":            {path: "/api/ps", beside: map[string]string{"/api/version": "ollama-real-0.20-version.json"}},
	"ollama-real-0.20-version.json":             {path: "/api/version"},
	"mlc-llm.txt":                               {path: "/metrics"},
	"ollama-root.txt":                           {path: "/metrics"},
	"sglang-get_load-deprecated.json":           {path: "/v1/loads"},
	"sglang-v1-loads.json":                      {path: "/v1/loads"},
	"tabbyapi-usage.json":                       {path: "/.well-known/serviceinfo"},
	"tei-info.json":                             {path: "/info", beside: map[string]string{"/metrics": "tei-1.9.3.prom"}},
	"tgi-info.json":                             {path: "/info", beside: map[string]string{"/metrics": "tgi-3.3.7.prom"}},
	"trtllm-docs-metrics-pytorch.json":          {path: "/metrics", query: "?drain=yes"},
	"trtllm-metrics-drained.json":               {path: "/metrics", query: "?drain=yes"},
	"trtllm-perf_metrics.json":                  {path: "/metrics", query: "?drain=yes"},
	"trtllm-real-1.0rc4-metrics-iteration.json": {path: "/metrics", query: "?drain=yes"},
	"vllm-401.json":                             {path: "/metrics", code: 401},
	"vllm-load.json":                            {path: "/load", beside: map[string]string{"/v1/models": "vllm-real-2026-06-qwen3-30b-models.json"}},
	"vllm-real-2026-06-qwen3-30b-models.json":   {path: "/v1/models"},
	"vllm-version.json":                         {path: "/version", beside: map[string]string{"/metrics": "vllm-0.12.0-v1.prom"}},
}

func TestEngineDocuments(t *testing.T) {
	root := shared.Dir(t, "corpus/engines")
	files, err := filepath.Glob(filepath.Join(root, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(root, "ollama-root.txt"), filepath.Join(root, "mlc-llm.txt"))
	var want []string
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			d, ok := engineDocuments[name]
			if !ok {
				t.Fatal("nobody says where a server answers this")
			}
			s := &site{pages: map[string]http.HandlerFunc{d.path: status(cmp.Or(d.code, http.StatusOK), read(t, root, name))}}
			for path, file := range d.beside {
				code := http.StatusOK
				if rest, ok := strings.CutPrefix(path, "501 "); ok {
					code, path = http.StatusNotImplemented, rest
				}
				s.pages[path] = status(code, read(t, root, file))
			}
			address := s.serve(t).URL
			want = append(want, name+".golden")
			compareGolden(t, "engines/"+name, strings.ReplaceAll(describePolls(t, s, address+d.query), strings.TrimPrefix(address, "http://"), "HOST"))
		})
	}
	goldens, err := filepath.Glob("testdata/engines/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, golden := range goldens {
		if !slices.Contains(want, filepath.Base(golden)) {
			t.Errorf("%s belongs to no document", golden)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// describePolls is what three polls of a server come to, in words.
func describePolls(t *testing.T, s *site, address string) string {
	t.Helper()
	opened := resolve(t, address)
	defer func() { _ = sources.CloseAll(opened) }()
	var b strings.Builder
	before := ""
	for range 3 {
		s.asked = nil
		batch, err := opened[0].Source.Poll(t.Context())
		fmt.Fprintf(&b, "asked    %s\n", strings.Join(s.asked, " "))
		now := describeBatch(batch)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "fault    %s\n", err)
		case now == before:
			b.WriteString("the same\n")
		default:
			b.WriteString(now)
		}
		before = now
	}
	return b.String()
}

func describeBatch(batch model.Batch) string {
	var b strings.Builder
	if a := batch.About; a != nil {
		fmt.Fprintf(&b, "kind     %s\nengine   %s\nversion  %s\nmodels   %s\n", a.Kind, a.Engine, a.Version, strings.Join(a.Models, ", "))
		if len(a.Missing) > 30 {
			fmt.Fprintf(&b, "missing  %d signals\n", len(a.Missing))
		} else {
			fmt.Fprintf(&b, "missing  %v\n", a.Missing)
		}
		for _, n := range a.Notes {
			fmt.Fprintf(&b, "note     %s\n", n)
		}
	}
	lines := []string{}
	for _, s := range batch.Samples {
		if s.Kind == model.Histogram {
			continue // those of pages have goldens of their own
		}
		line := fmt.Sprintf("%s%v %g", s.Signal, s.Labels, s.Value)
		if i := slices.IndexFunc(batch.About.Meanings, func(m model.Meaning) bool { return m.Signal == s.Signal }); i >= 0 {
			m := batch.About.Meanings[i]
			line += "  from " + m.Metric
			if m.Measures != "" {
				line += ": " + m.Measures
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	return b.String()
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// snapshots are the numbers of the snapshots of a capture, with what its load
// generator knew.
type snapshot struct {
	N      int     `json:"n"`
	Unix   float64 `json:"unix"`
	Client struct {
		InFlight float64 `json:"inflight"`
		Chunks   float64 `json:"stream_chunks"`
		OK, Err  float64
	} `json:"client"`
}

func snapshots(t *testing.T, dir string) (all []snapshot) {
	t.Helper()
	for line := range strings.Lines(read(t, dir, "index.jsonl")) {
		var s snapshot
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// A real llama.cpp under load: page and slots together count the tokens that its
// clients have received, while the page alone counts them when a slot is free again.
func TestSlotsCompleteThePage(t *testing.T) {
	dir := shared.Dir(t, "corpus/captures/llama.cpp-b10470")
	s := &site{pages: map[string]http.HandlerFunc{"/props": reply(read(t, dir, "props.json"))}}
	opened := resolve(t, s.serve(t).URL)
	t.Cleanup(func() { _ = sources.CloseAll(opened) })
	var b strings.Builder
	var last, page float64
	for _, snap := range snapshots(t, dir) {
		text := read(t, dir, fmt.Sprintf("%03d.prom", snap.N))
		s.pages["/metrics"] = reply(text)
		s.pages["/slots"] = reply(read(t, dir, fmt.Sprintf("%03d.slots.json", snap.N)))
		batch, err := opened[0].Source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if batch.About.Version != "b10470-34af94cd9" || !slices.Equal(batch.About.Models, []string{"bigram-112m"}) {
			t.Errorf("version %q, models %q", batch.About.Version, batch.About.Models)
		}
		made := valueOf(t, batch, model.OutputTokens)
		if made < last {
			t.Errorf("%d: the counter fell from %g to %g", snap.N, last, made)
		}
		last = made
		fmt.Sscanf(text[strings.Index(text, "\nllamacpp:tokens_predicted_total ")+1:], "llamacpp:tokens_predicted_total %g", &page)
		fmt.Fprintf(&b, "%03d clients have %4.0f tokens, the page %4.0f, page and slots %4.0f; prompts %5.0f; running %g of %g, waiting %g, clients have %g open; context %.3f, %g tokens\n",
			snap.N, snap.Client.Chunks, page, made, valueOf(t, batch, model.PromptTokens), valueOf(t, batch, model.Running), valueOf(t, batch, model.MaxRunning),
			valueOf(t, batch, model.Waiting), snap.Client.InFlight, valueOf(t, batch, model.KVUsage), valueOf(t, batch, model.KVUsedTokens))
	}
	compareGolden(t, "captures/llama.cpp-b10470", b.String())
}

func valueOf(t *testing.T, b model.Batch, s model.Signal) float64 {
	t.Helper()
	i := slices.IndexFunc(b.Samples, func(o model.Sample) bool { return o.Signal == s })
	if i < 0 {
		t.Fatalf("no %s", s)
	}
	return b.Samples[i].Value
}

// A real Ollama under load says the same with 2 and with 57 requests open.
func TestOllamaCapture(t *testing.T) {
	dir := shared.Dir(t, "corpus/captures/ollama-0.24.0")
	s := &site{pages: map[string]http.HandlerFunc{"/api/version": reply(`{"version":"0.24.0"}`)}}
	opened := resolve(t, s.serve(t).URL)
	t.Cleanup(func() { _ = sources.CloseAll(opened) })
	var abouts []*model.About
	for _, snap := range snapshots(t, dir) {
		body, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%03d.ps.json", snap.N)))
		if err != nil {
			continue // left out for size
		}
		s.pages["/api/ps"] = reply(string(body))
		batch, err := opened[0].Source.Poll(t.Context())
		if err != nil || len(batch.Samples) != 0 {
			t.Fatalf("%v, %v", batch.Samples, err)
		}
		if !slices.Contains(abouts, batch.About) {
			abouts = append(abouts, batch.About)
		}
	}
	if len(abouts) != 1 || abouts[0].Version != "0.24.0" || !slices.Equal(abouts[0].Models, []string{"bigram-112m:latest"}) {
		t.Errorf("%d descriptions, the first %+v", len(abouts), abouts[0])
	}
}

// ollamaAt is Ollama with a model that is unloaded at a time.
func ollamaAt(expires string) http.HandlerFunc {
	return reply(`{"models":[{"name":"m","size":100,"size_vram":40,"expires_at":"` + expires + `"}]}`)
}

// Only a request that runs keeps a model beyond its time. A model that is never
// unloaded says nothing.
func TestOllamaIsBusyBeyondItsTime(t *testing.T) {
	for _, tc := range []struct {
		expires string
		busy    bool
	}{
		{"2026-06-04T14:29:59-07:00", true},
		{"2026-06-04T14:30:01-07:00", false},
		{"2318-09-16T12:00:00Z", false},
		{"0001-01-01T00:00:00Z", false},
	} {
		s := &site{pages: map[string]http.HandlerFunc{"/api/ps": ollamaAt(tc.expires)}}
		b, err := pollOne(t, s.serve(t).URL, sources.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := "m is loaded, 40 % of it in the GPU's memory"
		if tc.busy {
			want += ", and busy: only a request that runs keeps it beyond its time"
		}
		if len(b.Samples) != 0 || !slices.Contains(b.About.Notes, want) {
			t.Errorf("%s: %v, %q", tc.expires, b.Samples, b.About.Notes)
		}
	}
}

// lmModels is LM Studio's list as its documentation has it.
const lmModels = `{"object":"list","data":[
 {"id":"qwen2-vl-7b-instruct","object":"model","type":"vlm","publisher":"mlx-community","arch":"qwen2_vl","compatibility_type":"mlx","quantization":"4bit","state":"not-loaded","max_context_length":32768},
 {"id":"granite-3.0-2b-instruct","object":"model","type":"llm","publisher":"ibm","arch":"granite","compatibility_type":"gguf","quantization":"Q4_K_M","state":"loaded","max_context_length":131072,"loaded_context_length":4096}]}`

// LM Studio answers what it does not know with 200 and an error in JSON.
func lmStudio(models string) *site {
	s := &site{}
	s.pages = map[string]http.HandlerFunc{"/api/v0/models": reply(models)}
	for _, path := range []string{"/metrics", "/prometheus/metrics", "/v1/loads", "/api/ps"} {
		s.pages[path] = reply(`{"error":"Unexpected endpoint or method. (GET ` + path + `)"}`)
	}
	return s
}

const tabbyService = `{"version":0.1,"software":{"name":"TabbyAPI","repository":"https://github.com/theroyallab/tabbyAPI"},
 "api":{"openai":{"name":"OpenAI API","relative_url":"/v1","version":"1"}}}`

const buildInfo = `{"status":"success","data":{"version":"3.14.0","revision":"x","goVersion":"go1.26"}}`

func TestLook(t *testing.T) {
	page := func(path string, body http.HandlerFunc, more ...string) *site {
		s := &site{pages: map[string]http.HandlerFunc{path: body}}
		for i := 0; i < len(more); i += 2 {
			s.pages[more[i]] = reply(more[i+1])
		}
		return s
	}
	for _, tc := range []struct {
		name string
		site *site
		want sources.Found
		note string
		kind model.FaultKind
	}{
		{"an engine's page", page("/metrics", reply(enginePage), "/version", `{"version":"0.24.0"}`), sources.Found{Kind: "engine", Engine: "vllm", Version: "0.24.0", Models: []string{"m"}}, "", ""},
		{"a page of something else", page("/metrics", reply("node_load1 3\n")), sources.Found{}, "the host exporter", ""},
		{"a stats document", page("/metrics", reply(document(`{"workflow":"w","model":"m"}`))), sources.Found{Kind: "gateway", Models: []string{"m"}}, "", ""},
		{"LM Studio", lmStudio(lmModels), sources.Found{Kind: "engine", Engine: "lm-studio", Models: []string{"granite-3.0-2b-instruct"}}, "LM Studio tells neither", ""},
		{"another list of models", lmStudio(`{"data":[{"id":"m"}]}`), sources.Found{}, "", model.NotMetrics},
		{"TabbyAPI", page("/.well-known/serviceinfo", reply(tabbyService), "/v1/models", `{"data":[{"id":"m","owned_by":"tabbyAPI"}]}`), sources.Found{Kind: "engine", Engine: "tabbyapi", Models: []string{"m"}}, "TabbyAPI tells nothing", ""},
		{"Ollama", page("/api/ps", reply(`{"models":[]}`), "/api/version", `{"version":"0.20.0"}`), sources.Found{Kind: "engine", Engine: "ollama", Version: "0.20.0"}, "Ollama tells neither", ""},
		{"a Prometheus server", page("/metrics", reply("prometheus_tsdb_head_series 3\n"), "/api/v1/status/buildinfo", buildInfo), sources.Found{Kind: "prometheus"}, "", model.NotFound},
		{"one that hides its page", page("/api/v1/status/buildinfo", reply(buildInfo)), sources.Found{Kind: "prometheus"}, "", model.NotFound},
		{"nothing to read", page("/v1/models", reply(`{"data":[{"id":"m","owned_by":"acme"}]}`)), sources.Found{}, "", model.NotFound},
		{"a key is needed", page("/metrics", status(http.StatusUnauthorized, "")), sources.Found{}, "", model.Denied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			address := tc.site.serve(t).URL
			got, err := sources.Look(t.Context(), strings.Replace(address, "//", "//u:"+secret+"@", 1), sources.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := tc.want
			want.Address = address
			if !strings.Contains(got.Note, tc.note) || (tc.note == "") != (got.Note == "") {
				t.Errorf("note %q, want %q", got.Note, tc.note)
			}
			if (got.Fault == nil) != (tc.kind == "") || got.Fault != nil && got.Fault.Kind != tc.kind {
				t.Errorf("fault %+v, want %q", got.Fault, tc.kind)
			}
			got.Note, got.Fault = "", nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		got, err := sources.Look(t.Context(), "127.0.0.1:1", sources.Options{})
		if err != nil || got.Fault == nil || got.Fault.Kind != model.Refused || got.Address != "127.0.0.1:1" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("no address", func(t *testing.T) {
		if _, err := sources.Look(t.Context(), "what?", sources.Options{}); !errors.As(err, new(*sources.UsageError)) {
			t.Error(err)
		}
	})
	t.Run("ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sources.Look(ctx, lmStudio(lmModels).serve(t).URL, sources.Options{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A server that was gone may be another when it is back, or the same one started
// otherwise.
func TestLookAgain(t *testing.T) {
	s := &site{pages: map[string]http.HandlerFunc{
		"/metrics": status(http.StatusNotImplemented, `{"error":{"message":"This server does not support metrics endpoint."}}`),
		"/slots":   reply(`[{"id":0,"n_ctx":100,"is_processing":true,"prompt":"secret","next_token":{"n_decoded":7}}]`),
		"/props":   reply(`{"build_info":"b1-x","model_path":"/srv/models/tiny.gguf"}`),
	}}
	opened := resolve(t, s.serve(t).URL)
	t.Cleanup(func() { _ = sources.CloseAll(opened) })
	poll := func(asked string) model.Batch {
		t.Helper()
		s.asked = nil
		b, _ := opened[0].Source.Poll(t.Context())
		if got := strings.Join(s.asked, " "); got != asked {
			t.Errorf("asked %s, want %s", got, asked)
		}
		return b
	}
	b := poll("/metrics /prometheus/metrics /metrics/ /slots /props")
	if running(t, b) != 1 || b.About.Version != "b1-x" || !slices.Equal(b.About.Models, []string{"tiny"}) {
		t.Errorf("%+v", b.About)
	}
	poll("/slots")
	// Started anew, with its metrics.
	s.pages["/slots"] = status(http.StatusServiceUnavailable, "loading")
	poll("/slots")
	s.pages["/metrics"] = status(http.StatusServiceUnavailable, "loading")
	poll("/metrics")
	s.pages["/metrics"] = reply("llamacpp:tokens_predicted_total 100\nllamacpp:requests_processing 1\n")
	s.pages["/slots"] = reply(`[{"id":0,"n_ctx":100,"is_processing":true,"next_token":[{"n_decoded":7}]}]`)
	s.pages["/props"] = reply(`{"build_info":"b2-x","model_alias":"tiny"}`)
	b = poll("/metrics /slots /props")
	if valueOf(t, b, model.OutputTokens) != 107 || b.About.Version != "b2-x" {
		t.Errorf("%+v", b)
	}
	added := func(m model.Meaning) bool { return m.Signal == model.OutputTokens && m.Metric == "/slots n_decoded" }
	if !slices.ContainsFunc(b.About.Meanings, added) || slices.Contains(b.About.Missing, model.KVUsedTokens) {
		t.Errorf("%+v", b.About)
	}
	poll("/metrics /slots")
	// Slots that are not given are not asked for again; the counter does not fall for that.
	s.pages["/slots"] = status(http.StatusForbidden, "")
	poll("/metrics /slots")
	if b = poll("/metrics"); valueOf(t, b, model.OutputTokens) != 107 {
		t.Errorf("%+v", b)
	}
}

// The statistics of TensorRT-LLM are gone once they are read: only whoever says so
// empties the queue.
func TestDrain(t *testing.T) {
	s := &site{pages: map[string]http.HandlerFunc{"/metrics": reply(`[{"iterLatencyMS":1,"numActiveRequests":3,"numCompletedRequests":2}]`)}}
	address := s.serve(t).URL
	if _, err := pollOne(t, address, sources.Options{}); err == nil {
		t.Error("it was read without leave")
	}
	opened := resolve(t, address+"?drain=yes")
	t.Cleanup(func() { _ = sources.CloseAll(opened) })
	for _, want := range []float64{2, 4} {
		b, err := opened[0].Source.Poll(t.Context())
		if err != nil || running(t, b) != 3 || valueOf(t, b, model.Finished) != want {
			t.Errorf("%+v, %v", b, err)
		}
	}
	if id := opened[0].Target.ID; strings.Contains(string(id), "drain") {
		t.Errorf("its name holds the option: %s", id)
	}
	_, err := sources.Resolve(t.Context(), []string{address + "?drain=no"}, sources.Options{})
	if !errors.As(err, new(*sources.UsageError)) {
		t.Error(err)
	}
}

// FuzzDocuments: whatever is answered, a document has numbers or is none.
func FuzzDocuments(f *testing.F) {
	paths := []string{"/slots", "/v1/loads", "/api/ps", "/api/v0/models", "/.well-known/serviceinfo", "/metrics", "/props"}
	for i, body := range []string{
		`[{"id":0,"n_ctx":100,"is_processing":true,"n_prompt_tokens_processed":3,"n_prompt_tokens_cache":4,"next_token":[{"n_decoded":7}]}]`,
		`{"version":"1","loads":[{"dp_rank":1,"num_running_reqs":2,"queues":{"paused":1},"speculative":{"accept_length":2}}]}`,
		`{"models":[{"name":"m","size":1,"size_vram":1,"expires_at":"2026-06-04T14:29:59-07:00"}]}`,
		lmModels, tabbyService,
		`[{"iterLatencyMS":1,"numActiveRequests":3,"kvCacheStats":{"usedNumBlocks":1,"maxNumBlocks":2,"tokensPerBlock":3}}]`,
		`{"build_info":"b","model_path":"/a/b.gguf","data":[{"id":"x"}]}`,
	} {
		f.Add(uint8(i), []byte(body))
	}
	set, err := builtin()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		path := paths[int(which)%len(paths)]
		s := &site{pages: map[string]http.HandlerFunc{path: reply(string(body))}}
		if path == "/slots" || path == "/props" {
			s.pages["/metrics"] = status(http.StatusNotImplemented, "does not support metrics endpoint")
		}
		if path == "/props" {
			s.pages["/slots"] = reply(`[{"is_processing":true}]`)
		}
		opened, err := sources.Resolve(t.Context(), []string{s.serve(t).URL + "?drain=yes"}, sources.Options{Dialects: set})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sources.CloseAll(opened) }()
		for range 2 {
			b, err := opened[0].Source.Poll(t.Context())
			if err != nil {
				checkForeignText(t, err.Error())
				continue
			}
			for _, o := range b.Samples {
				if math.IsInf(o.Value, 0) {
					t.Errorf("%s is %g", o.Signal, o.Value)
				}
			}
			for _, text := range append(append([]string{b.About.Version}, b.About.Models...), b.About.Notes...) {
				checkForeignText(t, text)
			}
		}
	})
}

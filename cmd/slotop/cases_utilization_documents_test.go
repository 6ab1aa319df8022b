package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// engineDocuments are the JSON documents that engines without metrics answer, by the
// path at which they do.
var engineDocuments = []struct {
	name  string
	pages map[string]string // path: file of the corpus
	query string
}{
	{name: "llamacpp-slots", pages: map[string]string{"/slots": "engines/llamacpp-slots.json", "/metrics": "engines/llamacpp-b10590.prom"}},
	{name: "ollama-loaded", pages: map[string]string{
		"/api/ps": "engines/ollama-ps-loaded.json", "/api/version": "engines/ollama-real-0.20-version.json", "/": "engines/ollama-root.txt",
	}},
	{name: "ollama-empty", pages: map[string]string{"/api/ps": "engines/ollama-real-0.20-ps-empty.json", "/api/version": "engines/ollama-real-0.20-version.json"}},
	{name: "sglang-v1-loads", pages: map[string]string{"/v1/loads": "engines/sglang-v1-loads.json"}},
	{name: "trtllm-docs-pytorch", pages: map[string]string{"/metrics": "engines/trtllm-docs-metrics-pytorch.json"}, query: "?drain=yes"},
	{name: "trtllm-1.0rc4", pages: map[string]string{"/metrics": "engines/trtllm-real-1.0rc4-metrics-iteration.json"}, query: "?drain=yes"},
}

// TestUtilizationOfDocuments pins what engines come to that have no metrics page: they
// tell of levels and of models, from which no share of an accelerator follows.
func TestUtilizationOfDocuments(t *testing.T) {
	for _, d := range engineDocuments {
		t.Run(d.name, func(t *testing.T) {
			mux := http.NewServeMux()
			for path, file := range d.pages {
				text, err := os.ReadFile(filepath.Join(shared.Dir(t, "corpus"), file))
				if err != nil {
					t.Fatal(err)
				}
				mux.HandleFunc("GET "+strings.TrimSuffix(path, "/")+"/{$}", answer(text))
				if path != "/" {
					mux.HandleFunc("GET "+path, answer(text))
				}
			}
			s := httptest.NewServer(mux)
			defer s.Close()
			f := polledTwice(t, s.URL+d.query)
			if len(f.Utilization) != 1 {
				t.Fatalf("%d engines; targets %+v", len(f.Utilization), f.Targets)
			}
			pinUtilization(t, "document-"+d.name, f)
			invented(t, f)
		})
	}
}

func answer(text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "Thu, 04 Jun 2026 21:30:00 GMT")
		_, _ = w.Write(text)
	}
}

// polledTwice folds two polls of a server, ten seconds apart by the fold's clock, under
// a name that does not change.
func polledTwice(t *testing.T, address string) *model.Frame {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{address}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sources.CloseAll(opened) }()
	o := opened[0]
	o.Target.Name = "engine:8000"
	c, err := newCore(fleet.Config{Targets: []model.Target{o.Target}, Every: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	at := model.Instant{Wall: time.Date(2026, 6, 4, 21, 30, 0, 0, time.UTC)}
	for range 2 {
		batch, err := o.Source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		batch.Target = o.Target.ID
		c.take(model.Input{At: at, Batch: &batch})
		c.take(model.Input{At: at})
		at = at.Add(10 * time.Second)
	}
	return c.box.latest()
}

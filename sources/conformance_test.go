package sources_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/dialect"
	"slotop/sources/sourcetest"
)

// enginePage is a small page of a current vLLM.
const enginePage = `# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.75e+09
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 4.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="m"} 1200.0
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m"} 6.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.25",model_name="m"} 9.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 10.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 10.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} 1.5
`

func serve(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	tb.Cleanup(s.Close)
	return s
}

func reply(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// builtin is loaded once for all tests.
var builtin = sync.OnceValues(dialect.Builtin)

func resolve(tb testing.TB, args ...string) []sources.Opened {
	tb.Helper()
	set, err := builtin()
	if err != nil {
		tb.Fatal(err)
	}
	opened, err := sources.Resolve(tb.Context(), args, sources.Options{Version: "test", Dialects: set})
	if err != nil {
		tb.Fatal(err)
	}
	return opened
}

func savedPages(tb testing.TB, bodies ...string) []string {
	tb.Helper()
	dir := tb.TempDir()
	var names []string
	for i, body := range bodies {
		name := filepath.Join(dir, string(rune('a'+i))+".prom")
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			tb.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func TestEngineKeepsTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source {
			return resolve(tb, serve(tb, reply(enginePage)).URL)[0].Source
		},
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, serve(tb, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
			}).URL)[0].Source
		},
		Word: model.Denied,
		Silent: func(tb testing.TB) sources.Source {
			over := make(chan struct{})
			s := serve(tb, func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-over:
				}
			})
			tb.Cleanup(func() { close(over) })
			return resolve(tb, s.URL)[0].Source
		},
	})
}

func TestPagesKeepTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source {
			return resolve(tb, savedPages(tb, enginePage, enginePage)...)[0].Source
		},
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, savedPages(tb, "<html><body>hello</body></html>")...)[0].Source
		},
		Word: model.NotMetrics,
	})
}

func TestDemoKeepsTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source {
			return resolve(tb, "demo?seed=7")[0].Source
		},
		// The second replica of a cold start is not ready yet.
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, "demo:S6")[1].Source
		},
		Word: model.Refused,
	})
}

func TestTheSimulatedGatewayKeepsTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return resolve(tb, "demo?seed=7&events=1")[2].Source },
		// It never fails itself: its service has another target that does.
		Bad:  func(tb testing.TB) sources.Source { return resolve(tb, "demo:S6?events=1")[1].Source },
		Word: model.Refused,
	})
}

func TestTheSimulatedGPUsKeepTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return resolve(tb, "demo?seed=7")[2].Source },
		// They never fail themselves: their service has another target that does.
		Bad:  func(tb testing.TB) sources.Source { return resolve(tb, "demo:S6")[1].Source },
		Word: model.Refused,
	})
}

func TestPlayedEventsKeepTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source {
			return resolve(tb, "events:"+savedPages(tb, event("a")+event("b"))[0])[0].Source
		},
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, "events:"+savedPages(tb, enginePage)[0])[0].Source
		},
		Word: model.NotMetrics,
	})
}

func TestFollowedEventsKeepTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return follow(tb, savedPages(tb, event("a")+event("b"))[0]) },
		Bad:  func(tb testing.TB) sources.Source { return follow(tb, filepath.Join(tb.TempDir(), "none")) },
		Word: model.NotFound,
	})
}

// settled is a stream of which the first poll waits for all there is: when which
// part of it comes is the network's to say.
type settled struct {
	sources.Source
	left int
}

func (s *settled) Poll(ctx context.Context) (all model.Batch, err error) {
	for {
		b, err := s.Source.Poll(ctx)
		if err != nil {
			return model.Batch{}, err
		}
		s.left -= len(b.Requests)
		b.Requests = append(slices.Clone(all.Requests), b.Requests...)
		if all = b; s.left <= 0 {
			return all, nil
		}
		runtime.Gosched()
	}
}

func TestStreamsKeepTheContract(t *testing.T) {
	// says something, if there is anything to say, and then nothing more.
	says := func(tb testing.TB, text string) sources.Source {
		over := make(chan struct{})
		s := serve(tb, func(w http.ResponseWriter, r *http.Request) {
			if text != "" {
				_, _ = w.Write([]byte(text))
				w.(http.Flusher).Flush()
			}
			select {
			case <-r.Context().Done():
			case <-over:
			}
		})
		tb.Cleanup(func() { close(over) })
		return resolve(tb, "events+"+s.URL)[0].Source
	}
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return &settled{says(tb, sse(1)+sse(2)), 2} },
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, "events+"+serve(tb, status(http.StatusUnauthorized, "")).URL)[0].Source
		},
		Word:   model.Denied,
		Silent: func(tb testing.TB) sources.Source { return says(tb, "") },
	})
}

func TestStatsKeepTheContract(t *testing.T) {
	doc := document(`{"workflow":"w","model":"m","now":{"queued":1},"total":{"received":3,"completed":2},"latency":{"ttft":{"le":[1],"cumulative":[2],"count":2}}}`)
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return resolve(tb, "stats+"+serve(tb, reply(doc)).URL)[0].Source },
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, "stats+"+serve(tb, reply(doc[:len(doc)-3])).URL)[0].Source
		},
		Word: model.Malformed,
	})
}

func TestEngineDocumentsKeepTheContract(t *testing.T) {
	silent := func(tb testing.TB) sources.Source {
		over := make(chan struct{})
		s := serve(tb, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				http.NotFound(w, r)
				return
			}
			select {
			case <-r.Context().Done():
			case <-over:
			}
		})
		tb.Cleanup(func() { close(over) })
		return resolve(tb, s.URL)[0].Source
	}
	llamaOff := status(http.StatusNotImplemented, `{"error":{"message":"This server does not support metrics endpoint."}}`)
	for _, engine := range []struct{ name, path, query, body, bad string }{
		{"Ollama", "/api/ps", "", `{"models":[]}`, `{"models":[}`},
		{"LM Studio", "/api/v0/models", "", `{"data":[{"id":"m","state":"not-loaded"}]}`, `{"data":[]}`},
		{"SGLang", "/v1/loads", "", `{"loads":[{"dp_rank":0,"num_running_reqs":1}]}`, `{"loads":[]}`},
		{"llama.cpp", "/slots", "", `[{"id":0,"is_processing":true}]`, `[]`},
		{"TensorRT-LLM", "/metrics", "?drain=yes", `[{"iterLatencyMS":1,"numActiveRequests":3}]`, `[{}]`},
	} {
		open := func(body string) func(tb testing.TB) sources.Source {
			return func(tb testing.TB) sources.Source {
				s := &site{pages: map[string]http.HandlerFunc{engine.path: reply(body)}}
				if engine.path == "/slots" {
					s.pages["/metrics"] = llamaOff
				}
				return resolve(tb, s.serve(tb).URL+engine.query)[0].Source
			}
		}
		word := model.NotFound
		if engine.path == "/metrics" {
			word = model.NotMetrics
		}
		t.Run(engine.name, func(t *testing.T) {
			sourcetest.Run(t, sourcetest.Case{Open: open(engine.body), Bad: open(engine.bad), Word: word, Silent: silent})
		})
	}
}

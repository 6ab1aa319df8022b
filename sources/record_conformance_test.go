package sources_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest"
)

func TestLogsKeepTheContract(t *testing.T) {
	for kind, rows := range map[string][]row{
		"litellm": {litellm("a", -5, 1), litellm("b", -4, 1)}, "litellm-bare": {litellm("a", -5, 1), litellm("b", -4, 1)},
		"bifrost": {bifrost("a", -5, 1), bifrost("b", -4, -1)}, "llama-swap": {swapped(1, -4, 1), swapped(2, -3, 1)},
	} {
		t.Run(kind, func(t *testing.T) {
			served := func(tb testing.TB, h http.HandlerFunc) sources.Source {
				return resolve(tb, "events+"+serve(tb, h).URL+logPath(kind))[0].Source
			}
			sourcetest.Run(t, sourcetest.Case{
				Open: func(tb testing.TB) sources.Source {
					g := &gateway{kind: kind, date: noon, dropped: -1}
					g.write(rows...)
					return served(tb, g.ServeHTTP)
				},
				Bad:  func(tb testing.TB) sources.Source { return served(tb, status(http.StatusForbidden, "")) },
				Word: model.Denied,
				Silent: func(tb testing.TB) sources.Source {
					over := make(chan struct{})
					tb.Cleanup(func() { close(over) })
					s := served(tb, func(_ http.ResponseWriter, r *http.Request) {
						select {
						case <-r.Context().Done():
						case <-over:
						}
					})
					return s
				},
			})
		})
	}
}

func TestSearchedGatewaysKeepTheContract(t *testing.T) {
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source {
			g := &gateway{kind: "bifrost", date: noon, dropped: -1}
			g.write(bifrost("a", -5, 1))
			return resolve(tb, "events+"+serve(tb, g.ServeHTTP).URL)[0].Source
		},
		Bad: func(tb testing.TB) sources.Source {
			return resolve(tb, "events+"+serve(tb, http.NotFound).URL)[0].Source
		},
		Word: model.NotFound,
	})
}

func TestNativeLinesKeepTheContract(t *testing.T) {
	line := func(id string) string {
		return fmt.Sprintf(`{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":1785585602000,"request":{"request_id":%q}}`+"\n", id)
	}
	bad := strings.Replace(line("a"), "request_end", "request_begin", 1)
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source { return follow(tb, savedPages(tb, line("a")+line("b"))[0]) },
		Bad:  func(tb testing.TB) sources.Source { return follow(tb, savedPages(tb, bad)[0]) },
		Word: model.NotMetrics,
	})
	sourcetest.Run(t, sourcetest.Case{
		Open: func(tb testing.TB) sources.Source {
			return resolve(tb, "events:"+filepath.Join("testdata", "canary", "portkey.sse"))[0].Source
		},
		Bad:  func(tb testing.TB) sources.Source { return resolve(tb, "events:"+savedPages(tb, bad)[0])[0].Source },
		Word: model.NotMetrics,
	})
}

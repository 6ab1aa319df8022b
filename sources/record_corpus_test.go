package sources_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// played are the requests of a file, played to its end.
func played(t *testing.T, path string, opt sources.Options) (all []model.Request, notes []string) {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{"events:" + path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer opened[0].Source.Close()
	for {
		b, err := opened[0].Source.Poll(t.Context())
		if errors.Is(err, io.EOF) {
			return all, notes
		}
		if err != nil {
			return append(all, model.Request{Reason: err.Error()}), notes
		}
		all = append(all, slices.Clone(b.Requests)...)
		if b.About != nil {
			notes = b.About.Notes
		}
		if b.FirstBad != "" {
			all = append(all, model.Request{Reason: b.FirstBad})
		}
	}
}

// TestRowsAreMappedAsExpected: the rows of the corpus become the events that stand
// beside them, field by field.
func TestRowsAreMappedAsExpected(t *testing.T) {
	for _, tc := range []struct {
		kind, file, list, place, want string
		also                          func(r *model.Request) // what the events leave out, and the table of the mapping has
	}{
		{"litellm", "litellm/spend-logs-v2.json", "data", "startTime", "litellm/spend-logs-v2", func(r *model.Request) {
			if r.Instance != "vllm.internal:8000" {
				t.Errorf("%s: instance %q", r.ID, r.Instance)
			}
			r.Instance = ""
		}},
		{"litellm-ui", "litellm/spend-logs-v2.json", "data", "startTime", "litellm/spend-logs-v2", func(r *model.Request) { r.Instance = "" }},
		{"bifrost", "bifrost/api-logs.json", "logs", "timestamp", "bifrost/api-logs", nil},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			g := newGateway(t, tc.kind)
			g.write(rowsOf(t, shared.File(t, "corpus/gateways/"+tc.file), tc.list, tc.place)...)
			g.at(4 * time.Minute)
			b, err := g.log(t).after(0)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := played(t, shared.Dir(t, "corpus/gateways/"+tc.want+".mapped-events.jsonl"), sources.Options{})
			if len(want) != 4 || len(b.Requests) != len(want) {
				t.Fatalf("%d requests, want %d", len(b.Requests), len(want))
			}
			for _, r := range b.Requests {
				i := slices.IndexFunc(want, func(w model.Request) bool { return w.ID == r.ID })
				if i < 0 {
					t.Errorf("%s is not wanted", r.ID)
					continue
				}
				if tc.also != nil {
					tc.also(&r)
				}
				if got, want := toMillis(r), toMillis(want[i]); got != want {
					t.Errorf("got\n%+v, want\n%+v", got, want)
				}
			}
		})
	}
}

// toMillis cuts times to the milliseconds that the expected events have.
func toMillis(r model.Request) model.Request {
	for _, s := range []*model.Stamp{&r.At, &r.Queued, &r.FirstToken, &r.Completed} {
		*s -= *s % model.Stamp(time.Millisecond)
	}
	return r
}

// told is a request in one line: all that is known of it.
func told(r model.Request) string {
	if r.ID == "" {
		return r.Reason
	}
	var out []string
	say := func(name string, value any) {
		if s := fmt.Sprint(value); s != "" && s != "0" && s != "{}" {
			out = append(out, name+"="+s)
		}
	}
	when := func(name string, s model.Stamp) {
		if s != 0 {
			say(name, s.Time().Format("15:04:05.000"))
		}
	}
	say("id", r.ID)
	say("phase", r.Phase)
	when("at", r.At)
	for _, n := range []struct {
		name  string
		value string
	}{{"workflow", r.Workflow}, {"model", r.Model}, {"instance", r.Instance}, {"outcome", string(r.Outcome)}, {"reason", r.Reason}, {"retry_of", r.RetryOf}} {
		say(n.name, n.value)
	}
	when("queued", r.Queued)
	when("admitted", r.Admitted)
	when("first", r.FirstToken)
	when("completed", r.Completed)
	for i, n := range []model.Reading{r.InputTokens, r.OutputTokens, r.CachedTokens} {
		if n.OK() {
			out = append(out, fmt.Sprintf("%s=%g", []string{"in", "out", "cached"}[i], n.Value))
		}
	}
	say("stream", []string{"", "yes", "no"}[r.Stream])
	say("status", r.Status)
	say("retries", r.Retries)
	for name, value := range r.Labels.All {
		say(name, value)
	}
	return strings.Join(out, " ")
}

func goldenRecords(t *testing.T, name string, requests []model.Request, notes []string) {
	t.Helper()
	var lines []string
	for _, r := range requests {
		lines = append(lines, told(r))
	}
	for _, n := range notes {
		lines = append(lines, "note: "+n)
	}
	got, path := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", "records", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRecordsOfTheCorpus: every native record of the corpus, and of real gateways that
// were run, as it is read.
func TestRecordsOfTheCorpus(t *testing.T) {
	for name, file := range map[string]string{
		"dynamo-trace":         "gateways/dynamo/request-trace.jsonl",
		"envoy-access-log":     "gateways/envoy-ai-gateway/access-log-line.json",
		"kong-log":             "gateways/kong/access-log-line.json",
		"portkey-corpus":       "gateways/portkey/log-stream.sse",
		"portkey-1.15.2":       "captures/portkey-1.15.2/logstream.sse",
		"llama-swap-stream":    "captures/llama-swap-v250/events.sse",
		"higress-without-time": "gateways/higress/access-log-line.json",
	} {
		t.Run(name, func(t *testing.T) {
			requests, notes := played(t, shared.Dir(t, "corpus/"+file), sources.Options{})
			goldenRecords(t, name, requests, notes)
		})
	}
	t.Run("higress", func(t *testing.T) {
		line := strings.TrimSpace(string(shared.File(t, "corpus/gateways/higress/access-log-line.json")))
		line = `{"start_time":"2026-08-01T12:00:00.000Z","request_id":"h-1","response_code":"200","duration":"1980",` + line[1:]
		path := filepath.Join(t.TempDir(), "access.log")
		appendTo(t, path, line+"\n")
		requests, notes := played(t, path, sources.Options{})
		goldenRecords(t, "higress", requests, notes)
	})
	t.Run("litellm-bare", func(t *testing.T) {
		g := newGateway(t, "litellm-bare")
		g.write(rowsOf(t, shared.File(t, "corpus/gateways/litellm/spend-logs-oldest-bare-array.json"), "", "startTime")...)
		g.at(time.Minute)
		b, err := g.log(t).after(0)
		if err != nil {
			t.Fatal(err)
		}
		goldenRecords(t, "litellm-bare", b.Requests, b.About.Notes)
	})
	for name, c := range map[string]struct{ kind, file, list, place string }{
		"bifrost-1.4.19":  {"bifrost", "bifrost-1.4.19/007.logs.json", "logs", "timestamp"},
		"llama-swap-v250": {"llama-swap", "llama-swap-v250/006.activity.json", "data", "timestamp"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, c.kind)
			g.write(rowsOf(t, shared.File(t, "corpus/captures/"+c.file), c.list, c.place)...)
			g.date = g.rows[0].at.Add(3 * time.Second)
			b, err := g.log(t).after(0)
			if err != nil {
				t.Fatal(err)
			}
			goldenRecords(t, name, b.Requests, b.About.Notes)
		})
	}
}

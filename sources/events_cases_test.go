package sources_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// requests reads lines of events, with the labels that are kept.
func requests(t *testing.T, keep []string, lines ...string) []model.Request {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	appendTo(t, path, strings.Join(lines, "\n")+"\n")
	opened, err := sources.Resolve(t.Context(), []string{"events:" + path}, sources.Options{Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sources.CloseAll(opened) }()
	b, err := opened[0].Source.Poll(t.Context())
	if err != nil || b.BadLines > 0 {
		t.Fatalf("%s, %v", b.FirstBad, err)
	}
	return b.Requests
}

// caseFile reads a case's JSON.
func caseFile[T any](t *testing.T, name string) (v T) {
	t.Helper()
	if err := json.Unmarshal(shared.File(t, "cases/files/"+name), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// seconds is a time of the first of August.
func seconds(s float64) string {
	return time.Date(2026, 8, 1, 12, 0, 0, int(s*1e9), time.UTC).Format(time.RFC3339Nano)
}

// OC-11: nothing that a terminal obeys comes out of a name, a line or an error.
func TestEscapesOfGateways(t *testing.T) {
	const evil = "\x1b]0;owned\a\x1b[2J\r\u202eOK\x1b]52;c;aGk=\a\u009b31m"
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	q := string(quoted)
	for _, r := range requests(t, []string{"team"}, `{"v":1,"at":"2026-08-01T12:00:00Z","id":`+q+`,"phase":`+q+`,"workflow":`+q+`,"model":`+q+
		`,"instance":`+q+`,"reason":`+q+`,"outcome":`+q+`,"retry_of":`+q+`,"labels":{"team":`+q+`}}`) {
		for _, name := range []string{r.ID, string(r.Phase), r.Workflow, r.Model, r.Instance, r.Reason, string(r.Outcome), r.RetryOf, r.Labels.Get("team")} {
			if checkForeignText(t, name); name != "␛]0;owned␇␛[2J␍<U+202E>OK␛]52;c;aGk=␇<U+009B>31m" {
				t.Errorf("got %q", name)
			}
		}
	}
	answers := map[string]http.HandlerFunc{
		"a body": status(http.StatusInternalServerError, evil), "lines": reply(evil + "\n" + evil), "a path": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+"evil.example/"+"%1b%5b2J", http.StatusFound)
		},
	}
	for name, answer := range answers {
		for _, scheme := range []string{"events+", "stats+"} {
			opened := resolve(t, scheme+serve(t, answer).URL)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			for {
				_, err := opened[0].Source.Poll(ctx)
				if err == nil {
					continue // connected, and nothing has come yet
				}
				checkForeignText(t, err.Error())
				break
			}
			if ctx.Err() != nil {
				t.Errorf("%s of %s: no fault", name, scheme)
			}
			cancel()
			_ = sources.CloseAll(opened)
		}
	}
}

// OC-22: what was refused, and which try a request was, is told.
func TestRefusalsAndTries(t *testing.T) {
	retried := caseFile[struct {
		ID    string
		Tries []struct {
			T          float64
			Status     int
			FirstToken *float64 `json:"first_token_t"`
		}
	}](t, "retried.json")
	var lines []string
	for i, try := range retried.Tries {
		line := fmt.Sprintf(`{"v":1,"at":%q,"id":"%s-%d","phase":"done","queued_at":%q,"status":%d,"attempt":%d`, seconds(try.T+2), retried.ID, i, seconds(try.T), try.Status, i+1)
		if i > 0 {
			line += fmt.Sprintf(`,"retry_of":"%s-%d"`, retried.ID, i-1)
		}
		if try.FirstToken != nil {
			line += fmt.Sprintf(`,"first_token_at":%q,"outcome":"completed"`, seconds(*try.FirstToken))
		} else {
			line += `,"outcome":"failed","reason":"rate_limited"`
		}
		lines = append(lines, line+"}")
	}
	got := requests(t, nil, lines...)
	last := got[len(got)-1]
	if len(got) != 3 || got[0].RetryOf != "" || got[1].RetryOf != "r1-0" || last.RetryOf != "r1-1" || last.Attempt != 3 {
		t.Fatalf("got %+v", got)
	}
	if got[0].Outcome != model.RequestFailed || got[0].Reason != "rate_limited" || got[0].Status != 429 || last.Status != 200 {
		t.Errorf("got %+v", got[0])
	}
	if v, _ := model.Between(got[0].Queued, last.FirstToken).Get(); v != 5.4 {
		t.Errorf("TTFT from the first try is %v", v)
	}
}

// OC-24: the schedule of a load generator is kept beside the time of sending.
func TestSchedules(t *testing.T) {
	var lines []string
	plan := caseFile[[]struct {
		ID        int
		Scheduled float64 `json:"scheduled_s"`
		Sent      float64 `json:"sent_s"`
		Done      float64 `json:"done_s"`
	}](t, "omission.json")
	for _, p := range plan {
		lines = append(lines, fmt.Sprintf(`{"v":1,"at":%q,"id":"%d","phase":"done","scheduled_at":%q,"queued_at":%q,"completed_at":%q,"outcome":"completed"}`,
			seconds(p.Done), p.ID, seconds(p.Scheduled), seconds(p.Sent), seconds(p.Done)))
	}
	got := requests(t, nil, lines...)
	last := got[len(got)-1]
	for name, v := range map[string][2]float64{
		"behind":   {model.Between(last.Scheduled, last.Queued).Value, 0.9},
		"service":  {model.Between(last.Queued, last.Completed).Value, 0.2},
		"response": {model.Between(last.Scheduled, last.Completed).Value, 1.1},
	} {
		if d := v[0] - v[1]; len(got) != 10 || d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v, want %v", name, v[0], v[1])
		}
	}
	if r := requests(t, nil, strings.TrimSpace(event("a"))); r[0].Scheduled != 0 {
		t.Error("a schedule that nobody told")
	}
}

// OC-33: token counts that were not told are unknown, not 0; events are not
// tokens; counts of one request are those so far.
func TestTokenCounts(t *testing.T) {
	line := func(id, phase, rest string) string {
		return fmt.Sprintf(`{"v":1,"at":"2026-08-01T12:00:00Z","id":%q,"phase":%q%s}`, id, phase, rest)
	}
	got := requests(t, nil,
		line("1", "done", `,"input_tokens":200,"output_tokens":400`), line("2", "done", `,"input_tokens":100,"output_tokens":500`),
		line("3", "done", ``), line("4", "done", `,"outcome":"cancelled","output_chunks":37,"output_tokens":null`),
		line("5", "streaming", `,"input_tokens":25,"output_tokens":1`), line("5", "done", `,"input_tokens":25,"output_tokens":15`))
	total, unknown := 0.0, 0
	for _, r := range got {
		v, known := r.OutputTokens.Get()
		switch {
		case !r.Done():
		case known:
			total += v
		default:
			unknown++
		}
	}
	if total != 915 || unknown != 2 || got[3].OutputChunks != model.Of(37) {
		t.Errorf("%v tokens, %d unknown, %+v", total, unknown, got[3])
	}
}

// OC-35: names are whatever somebody called a thing.
func TestNamesWithQuotesAndPaths(t *testing.T) {
	names := []string{"D:\\models\\\"Chat\" 72B, {q4} #1", `F:\`, "/data/models/acme/chat 70b/", "a=b,c}\t"}
	for _, name := range names {
		q, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		r := requests(t, []string{"path"}, `{"v":1,"at":"2026-08-01T12:00:00Z","id":"a","phase":"done","model":`+string(q)+`,"labels":{"path":`+string(q)+`}}`)[0]
		want := strings.ReplaceAll(name, "\t", "␉")
		if r.Model != want || r.Labels != model.Labels("path", want) {
			t.Errorf("got %q, %s", r.Model, r.Labels)
		}
		b := pollStats(t, sources.Options{Keep: []string{"path"}}, document(`{"model":`+string(q)+`,"labels":{"path":`+string(q)+`},"total":{"received":1}}`))[0]
		if len(b.Samples) != 1 || b.Samples[0].Labels != model.Labels("model", want, "path", want) {
			t.Errorf("got %s", samplesOf(b))
		}
	}
	page := string(shared.File(t, "cases/files/label-escapes.prom"))
	opened, err := sources.Resolve(t.Context(), []string{serve(t, reply(page)).URL + "/metrics"}, sources.Options{Keep: []string{"model_name"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := opened[0].Source.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{names[0] + "\n", names[1], names[2]} {
		if l := b.Samples[i].Labels; l.Get("model_name") != want || l.Get("model") != want {
			t.Errorf("got %q", l.Get("model_name"))
		}
	}
}

// Labels that a workflow matches on are kept on every way in.
func TestKeptLabelsOfPages(t *testing.T) {
	page := strings.ReplaceAll(enginePage, `model_name="m"`, `model_name="m",tenant="a"`)
	for _, keep := range [][]string{nil, {"tenant"}} {
		opened, err := sources.Resolve(t.Context(), savedPages(t, page), sources.Options{Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		b, err := opened[0].Source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range b.Samples {
			if s.Signal != model.ProcessStart && (s.Labels.Get("tenant") == "a") != (keep != nil) {
				t.Errorf("keep %v: %s%s", keep, s.Signal, s.Labels)
			}
		}
	}
}

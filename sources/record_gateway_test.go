package sources_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

// noon is the day and time of the records in the tests.
var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// gateway is a gateway with a log of requests that behaves as its kind does.
type gateway struct {
	*httptest.Server
	kind string // litellm, litellm-ui, litellm-bare, bifrost, llama-swap

	mu      sync.Mutex
	rows    []row
	date    time.Time   // of its answers; zero: it does not say
	asked   []string    // path and query of each request
	fails   map[int]int // the answer to the request of this number
	dropped int         // what it lost; below 0: it does not say
	untold  int         // rows that it counts and does not give
}

// row is a record as the gateway writes it.
type row struct {
	at   time.Time // its place in the log
	text string
}

func newGateway(t *testing.T, kind string) *gateway {
	g := &gateway{kind: kind, date: noon, dropped: -1}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

// target is its address, for the first path of its kind.
func (g *gateway) target() string { return g.URL + logPath(g.kind) }

func logPath(kind string) string {
	switch kind {
	case "bifrost":
		return "/api/logs"
	case "llama-swap":
		return "/api/metrics/activity"
	}
	return "/spend/logs/v2"
}

// write puts rows into the log, or in place of those that begin with the same ID.
func (g *gateway) write(rows ...row) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range rows {
		head, _, _ := strings.Cut(r.text, ",")
		g.rows = slices.DeleteFunc(g.rows, func(old row) bool { return strings.HasPrefix(old.text, head+",") })
		g.rows = append(g.rows, r)
	}
	slices.SortStableFunc(g.rows, func(a, b row) int { return b.at.Compare(a.at) })
}

// at sets the clock of its answers.
func (g *gateway) at(after time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.date = noon.Add(after)
}

// heard is what it was asked since the last time.
func (g *gateway) heard() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	asked := g.asked
	g.asked = nil
	return asked
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, r.URL.RequestURI())
	w.Header()["Date"] = nil
	if !g.date.IsZero() {
		w.Header().Set("Date", g.date.Format(http.TimeFormat))
	}
	if code := g.fails[len(g.asked)]; code != 0 {
		w.WriteHeader(code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer, ok := g.answer(r.URL.Path, r.URL.Query())
	if !ok {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = w.Write([]byte(answer))
}

func (g *gateway) answer(path string, q url.Values) (string, bool) {
	whole := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil {
			return n
		}
		return otherwise
	}
	switch {
	case g.kind == "litellm" && path == "/spend/logs/v2", g.kind == "litellm-ui" && path == "/spend/logs/ui":
		size := whole("page_size", 50)
		list, total := g.page(q.Get("start_date"), q.Get("end_date"), time.DateTime, (whole("page", 1)-1)*size, size)
		return fmt.Sprintf(`{"data":[%s],"total":%d,"page":1,"page_size":%d,"total_pages":1}`, list, total, size), q.Get("start_date") != ""
	case g.kind == "litellm-bare" && path == "/spend/logs" && q.Get("summarize") == "false":
		list, _ := g.page(q.Get("start_date"), q.Get("end_date"), time.DateOnly, 0, 1<<30)
		return "[" + list + "]", true
	case g.kind == "bifrost" && path == "/api/logs":
		list, total := g.page(q.Get("start_time"), q.Get("end_time"), time.RFC3339Nano, whole("offset", 0), whole("limit", 50))
		return fmt.Sprintf(`{"logs":[%s],"pagination":{"total_count":%d},"has_logs":true}`, list, total), true
	case g.kind == "bifrost" && path == "/api/logs/dropped" && g.dropped >= 0:
		return fmt.Sprintf(`{"dropped_requests":%d}`, g.dropped), true
	case g.kind == "llama-swap" && path == "/api/metrics/activity":
		size := whole("limit", 25)
		list, total := g.page("", "", time.RFC3339, (whole("page", 1)-1)*size, size)
		return fmt.Sprintf(`{"data":[%s],"page":1,"limit":%d,"total":%d,"total_pages":9}`, list, size, total), true
	}
	return "404 page not found", false
}

// page is some of the rows in a window, and how many there are in it.
func (g *gateway) page(from, to, layout string, skip, most int) (list string, total int) {
	begin, _ := time.Parse(layout, from)
	end, err := time.Parse(layout, to)
	if err != nil {
		end = noon.AddDate(10, 0, 0)
	}
	var texts []string
	for _, r := range g.rows {
		if r.at.Before(begin) || r.at.After(end) {
			continue
		}
		if total++; total > skip && len(texts) < most {
			texts = append(texts, r.text)
		}
	}
	return strings.Join(texts, ","), total + g.untold
}

// litellm is a row of a request that began so many seconds after noon and took so long.
func litellm(id string, began, took float64) row {
	at := func(s float64) string { return noon.Add(time.Duration(s * 1e9)).Format("2006-01-02T15:04:05.000Z") }
	return row{noon.Add(time.Duration(began * 1e9)), fmt.Sprintf(
		`{"request_id":%q,"startTime":%q,"endTime":%q,"completionStartTime":%q,"model_group":"m","status":"success","prompt_tokens":10,"completion_tokens":20,"messages":[{"content":"SECRET-PROMPT-CANARY"}]}`,
		id, at(began), at(began+took), at(began+took/2))}
}

// bifrost is a row of a request that began so many seconds after noon; it is under
// way where took is below 0.
func bifrost(id string, began, took float64) row {
	at := noon.Add(time.Duration(began * 1e9))
	state := `"status":"processing"`
	if took >= 0 {
		state = fmt.Sprintf(`"status":"success","latency":%g`, took*1e3)
	}
	return row{at, fmt.Sprintf(`{"id":%q,"timestamp":%q,"provider":"vllm","model":"m",%s,"stream":true,"content_summary":"SECRET-PROMPT-CANARY"}`,
		id, at.Format(time.RFC3339Nano), state)}
}

// swapped is a row of llama-swap's, of a request that ended so many seconds after noon.
func swapped(id int, ended, took float64) row {
	at := noon.Add(time.Duration(ended * 1e9))
	return row{at, fmt.Sprintf(`{"id":%d,"timestamp":%q,"model":"m","resp_status_code":200,"resp_content_type":"application/json","duration_ms":%g,"tokens":{"input_tokens":5,"output_tokens":7,"cache_tokens":-1}}`,
		id, at.Format(time.RFC3339), took*1e3)}
}

// polled is a source that is told how far the schedule has come.
type polled struct {
	sources.Source
	t   *testing.T
	now time.Duration
}

// log opens a gateway's log.
func (g *gateway) log(t *testing.T) *polled {
	t.Helper()
	return &polled{Source: listen(t, g.target(), sources.Options{}), t: t}
}

// after polls so much later.
func (p *polled) after(d time.Duration) (model.Batch, error) {
	p.now += d
	p.Source.(sources.Advancer).Advance(p.now)
	return p.Source.Poll(p.t.Context())
}

// gives polls so much later, for these requests and losses.
func (p *polled) gives(d time.Duration, want string) model.Batch {
	p.t.Helper()
	b, err := p.after(d)
	if err != nil {
		p.t.Fatal(err)
	}
	if got := listed(b); got != want {
		p.t.Fatalf("at %v: got %q, want %q", p.now, got, want)
	}
	return b
}

// rowsOf are the rows of a list in a document, each with its place in the log.
func rowsOf(t *testing.T, text []byte, list, place string) (rows []row) {
	t.Helper()
	var doc map[string]json.RawMessage
	raw := text
	if list != "" {
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		raw = doc[list]
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(raw, &texts); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, fields[place].(string))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{at, string(text)})
	}
	return rows
}

package sources_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

// A row is given once, however often it is asked for, and also where it comes late, or
// long after it began.
func TestRowsAreGivenOnce(t *testing.T) {
	g := newGateway(t, "litellm")
	g.write(litellm("old", -3600, 1), litellm("a", -60, 2), litellm("b", -20, 1))
	p := g.log(t)
	p.gives(0, "a, b")
	g.at(5 * time.Second)
	p.gives(5*time.Second, "")
	g.write(litellm("c", 2, 1), litellm("d", 1, 3))
	g.at(10 * time.Second)
	p.gives(5*time.Second, "c, d") // in the order in which they ended
	g.write(litellm("late", -25, 1), litellm("e", 12, 1))
	g.at(15 * time.Second)
	p.gives(5*time.Second, "late, e")
	g.write(litellm("long", -200, 215))
	g.at(20 * time.Second)
	p.gives(5*time.Second, "long")
	g.at(25 * time.Second)
	p.gives(5*time.Second, "")
}

// A row that is far down among many that are known is looked for: the log says that
// it has one more.
func TestARowFarDownIsFound(t *testing.T) {
	g := newGateway(t, "litellm")
	g.at(10 * time.Minute)
	for i := range 700 {
		g.write(litellm(fmt.Sprint("r", i), 360+float64(i)/4, 1))
	}
	p := g.log(t)
	if b, err := p.after(0); err != nil || len(b.Requests) != 700 {
		t.Fatal(len(b.Requests), err)
	}
	g.heard()
	p.gives(5*time.Second, "")
	if asked := g.heard(); len(asked) > 2 {
		t.Errorf("%d pages for nothing new", len(asked))
	}
	g.write(litellm("far", 370, 225))
	p.gives(5*time.Second, "far")
	p.gives(5*time.Second, "")
	if asked := g.heard(); len(asked) > 10 {
		t.Errorf("%d pages", len(asked))
	}
}

func TestALogIsReadPageByPage(t *testing.T) {
	for kind, make := range map[string]func(string, float64, float64) row{
		"litellm": litellm, "litellm-ui": litellm, "bifrost": bifrost,
		"llama-swap": func(id string, began, took float64) row {
			n := 0
			_, _ = fmt.Sscanf(id, "r%d", &n)
			return swapped(n, began+took, took)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			g := newGateway(t, kind)
			g.write(make("r0", -10, 1))
			p := g.log(t)
			p.after(0)
			const n = 950
			for i := range n {
				g.write(make(fmt.Sprint("r", i+1), float64(i)/100, 1))
			}
			g.at(15 * time.Second)
			b, err := p.after(15 * time.Second)
			if err != nil || len(b.Requests) != n || b.Lost != 0 {
				t.Fatal(len(b.Requests), b.Lost, err)
			}
			if !slices.IsSortedFunc(b.Requests, func(a, b model.Request) int { return int(a.At - b.At) }) {
				t.Error("not in the order in which they ended")
			}
			p.gives(5*time.Second, "")
		})
	}
}

// What is beyond the pages of one look is counted, once.
func TestRowsBeyondTheBudgetAreLost(t *testing.T) {
	g := newGateway(t, "bifrost")
	g.write(bifrost("first", -10, 1))
	p := g.log(t)
	p.gives(0, "first")
	const n = 2345
	rows := make([]row, n)
	for i := range n {
		rows[i] = bifrost(fmt.Sprint("r", i), float64(i)/100, 1)
	}
	g.write(rows...)
	g.at(30 * time.Second)
	b, err := p.after(30 * time.Second)
	if err != nil || len(b.Requests) != 2000 || b.Lost != 345 {
		t.Fatal(len(b.Requests), b.Lost, err)
	}
	for range 3 {
		g.at(35 * time.Second)
		if b, err = p.after(5 * time.Second); err != nil || b.Lost != 0 {
			t.Fatal(b.Lost, err)
		}
	}
	g.write(bifrost("next", 34, 1))
	p.gives(5*time.Second, "next")
}

// Where there was more than can be read before slotop began, nothing of it is lost.
func TestHistoryIsNotLost(t *testing.T) {
	g := newGateway(t, "bifrost")
	rows := make([]row, 3000)
	for i := range rows {
		rows[i] = bifrost(fmt.Sprint("r", i), -float64(i)/100, 1)
	}
	g.write(rows...)
	p := g.log(t)
	b, err := p.after(0)
	if err != nil || len(b.Requests) != 2000 || b.Lost != 0 {
		t.Fatal(len(b.Requests), b.Lost, err)
	}
	g.write(bifrost("new", 1, 1))
	p.gives(5*time.Second, "new")
}

// A log that counts rows which it does not give is believed once.
func TestRowsThatAreCountedAndNotGiven(t *testing.T) {
	g := newGateway(t, "litellm")
	g.untold = 7
	g.write(litellm("a", -5, 1))
	p := g.log(t)
	p.gives(0, "a")
	g.heard()
	for range 3 {
		p.gives(5*time.Second, "")
	}
	if asked := g.heard(); len(asked) != 3 {
		t.Errorf("asked %q", asked)
	}
	g.write(litellm("b", 3, 1))
	p.gives(5*time.Second, "b")
}

// A request that is under way is told as such, again and again, and then as it ended.
func TestRequestsUnderWay(t *testing.T) {
	g := newGateway(t, "bifrost")
	g.write(bifrost("a", -4, -1), bifrost("b", -3, 2))
	p := g.log(t)
	b := p.gives(0, "a, b")
	if r := b.Requests[0]; r.Phase != model.PhaseAtModel || r.At != r.Queued || r.Completed != 0 || r.Outcome != "" {
		t.Errorf("got %s", told(r))
	}
	g.at(5 * time.Second)
	p.gives(5*time.Second, "")
	for i := range 200 {
		g.write(bifrost(fmt.Sprint("r", i), 20+float64(i)/20, .5))
	}
	g.at(40 * time.Second)
	b, err := p.after(35 * time.Second)
	if err != nil || len(b.Requests) != 201 {
		t.Fatal(len(b.Requests), err)
	}
	if r := b.Requests[200]; r.ID != "a" || r.At != model.StampOf(noon.Add(40*time.Second+500*time.Millisecond)) {
		t.Errorf("got %s", told(r))
	}
	g.write(bifrost("a", -4, 46))
	g.at(45 * time.Second)
	b = p.gives(5*time.Second, "a")
	if r := b.Requests[0]; !r.Done() || r.Completed != model.StampOf(noon.Add(42*time.Second)) || r.Outcome != model.Completed {
		t.Errorf("got %s", told(r))
	}
}

func TestRowsThatTheGatewayLost(t *testing.T) {
	g := newGateway(t, "bifrost")
	g.dropped = 12
	g.write(bifrost("a", -5, 1))
	p := g.log(t)
	p.gives(0, "a")
	g.dropped = 15
	p.gives(10*time.Second, "")
	p.gives(60*time.Second, "lost 3")
	g.dropped = 1 // it began anew
	p.gives(60*time.Second, "")
	g.dropped = 3
	p.gives(60*time.Second, "lost 2")
	g.dropped = -1
	p.gives(60*time.Second, "")
	g.heard()
	p.gives(60*time.Second, "")
	if asked := g.heard(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
}

// The log of an older version lies elsewhere.
func TestOlderVersions(t *testing.T) {
	for kind, want := range map[string]string{"litellm-ui": "/spend/logs/ui", "litellm-bare": "/spend/logs"} {
		g := newGateway(t, kind)
		g.write(litellm("old", -3600, 1), litellm("a", -60, 2))
		p := g.log(t)
		b := p.gives(0, "a")
		if !slices.Contains(b.About.Notes, "read at "+want+", of an older version") {
			t.Errorf("%s: notes %q", kind, b.About.Notes)
		}
		g.heard()
		g.write(litellm("b", 2, 1))
		g.at(30 * time.Second)
		p.gives(30*time.Second, "b")
		if asked := g.heard(); len(asked) != 1 || !strings.HasPrefix(asked[0], want+"?") {
			t.Errorf("%s: asked %q", kind, asked)
		}
	}
}

// Sums by day are not taken for requests.
func TestSumsAreNoRequests(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/spend/logs" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`[{"startTime":"2026-08-01","spend":1.5,"users":{},"models":{}}]`))
	})
	source := listen(t, s.URL+"/spend/logs/v2", sources.Options{})
	for range 2 {
		_, err := source.Poll(t.Context())
		fault := (*sources.FaultError)(nil)
		if !errors.As(err, &fault) || fault.Kind != model.NotMetrics || !strings.Contains(fault.Detail, "no list of requests by date") {
			t.Errorf("got %v", err)
		}
	}
}

// The rows' clock may be another than that of the answers.
func TestClocksOfTheGateway(t *testing.T) {
	for name, date := range map[string]time.Time{
		"an hour ahead of the rows": noon.Add(time.Hour), "an hour behind them": noon.Add(-time.Hour),
		"two days ahead of them": noon.Add(48 * time.Hour), "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, "litellm")
			g.date = date
			g.write(litellm("a", -60, 2))
			p := g.log(t)
			if _, err := p.after(0); err != nil {
				t.Fatal(err)
			}
			g.write(litellm("b", 2, 1))
			if name == "two days ahead of them" {
				return // nothing was seen to tell that from an idle gateway
			}
			p.gives(10*time.Second, "b")
			g.write(litellm("c", 12, 1))
			p.gives(10*time.Second, "c")
		})
	}
}

// A row from a time that cannot be does not hide those that come after it.
func TestARowFromTheFuture(t *testing.T) {
	g := newGateway(t, "bifrost")
	g.write(bifrost("a", -5, 1), bifrost("future", 20*3600, 1))
	p := g.log(t)
	p.gives(0, "a, future")
	g.write(bifrost("b", 3, 1))
	g.at(5 * time.Second)
	p.gives(5*time.Second, "b")
}

// Rows that cannot be used are counted, once.
func TestRowsThatCannotBeUsed(t *testing.T) {
	g := newGateway(t, "bifrost")
	g.write(bifrost("a", -5, 1), row{noon, `{"id":"no-time","status":"success"}`}, row{noon, `{"timestamp":"2026-08-01T12:00:00Z","status":"success"}`},
		row{noon, `7`})
	p := g.log(t)
	b := p.gives(0, "a, 3 rows skipped, the first: row 1: it has no time")
	if b.BadLines != 3 {
		t.Errorf("%d rows", b.BadLines)
	}
	g.write(bifrost("b", 2, 1))
	p.gives(5*time.Second, "b")
}

// How late records are written is measured, and said.
func TestLateRecords(t *testing.T) {
	g := newGateway(t, "litellm")
	g.write(litellm("a", -60, 2))
	p := g.log(t)
	b := p.gives(0, "a")
	for _, n := range b.About.Notes {
		if strings.Contains(n, "written") {
			t.Errorf("nothing is known yet: %q", n)
		}
	}
	g.write(litellm("b", 1, 1))
	g.at(16 * time.Second)
	b = p.gives(16*time.Second, "b")
	if want := "records are written up to 20 s after the end of the request: the newest of them are still to come"; !slices.Contains(b.About.Notes, want) {
		t.Errorf("notes %q", b.About.Notes)
	}
	if b.About.StepS != 5 || b.Clock.IsZero() || b.ClockError == 0 {
		t.Errorf("step %v s, clock %v ± %v", b.About.StepS, b.Clock, b.ClockError)
	}
	if asked := g.heard(); len(asked) != 4 {
		t.Errorf("asked %q", asked)
	}
	again := p.gives(time.Second, "")
	if asked := g.heard(); len(asked) != 0 || again.About != b.About {
		t.Errorf("asked %q within a second", asked)
	}
}

// The label that the user names is the workflow's, and those that workflows match on
// are kept.
func TestLabelsOfRows(t *testing.T) {
	opt := sources.Options{WorkflowLabel: "feature|team_alias", Keep: []string{"team_alias", "env", "tier"}}
	at := "2026-08-01T11:59:50Z"
	rows := []row{
		{noon.Add(-10 * time.Second), `{"request_id":"a","startTime":"` + at + `","endTime":"` + at + `","request_tags":["workflow:chat","feature: search","env:prod"],"metadata":"{\"user_api_key_team_alias\":\"shop\",\"requester_metadata\":{\"tier\":\"gold\",\"note\":\"x\"}}"}`},
		{noon.Add(-9 * time.Second), `{"request_id":"b","startTime":"` + at + `","endTime":"` + at + `","metadata":{"user_api_key_alias":"key","user_api_key_team_alias":"data"}}`},
		{noon.Add(-8 * time.Second), `{"request_id":"c","startTime":"` + at + `","endTime":"` + at + `","metadata":{"user_api_key_alias":"key"}}`},
	}
	g := newGateway(t, "litellm")
	g.write(rows...)
	b, err := listen(t, g.target(), opt).Poll(t.Context())
	if err != nil || len(b.Requests) != 3 {
		t.Fatal(len(b.Requests), err)
	}
	got := map[string]string{}
	for _, r := range b.Requests {
		got[r.ID] = r.Workflow + fmt.Sprint(" ", r.Labels)
	}
	for id, want := range map[string]string{
		"a": "search {env=prod,team_alias=shop,tier=gold}", "b": "data {team_alias=data}", "c": "key {}",
	} {
		if got[id] != want {
			t.Errorf("%s: got %q, want %q", id, got[id], want)
		}
	}
}

// No row is forgotten too early or kept for ever: the memory of a busy log is bounded.
func TestABusyLog(t *testing.T) {
	g := newGateway(t, "bifrost")
	p := g.log(t)
	p.after(0)
	n, given := 0, 0
	for round := range 60 {
		rows := make([]row, 1500)
		for i := range rows {
			rows[i] = bifrost(fmt.Sprint("r", n), float64(round*5)+float64(i)/300, 1)
			n++
		}
		g.mu.Lock()
		slices.Reverse(rows)
		g.rows = append(rows, g.rows...)
		g.mu.Unlock()
		g.at(time.Duration(round+1) * 5 * time.Second)
		b, err := p.after(5 * time.Second)
		if err != nil || b.Lost != 0 {
			t.Fatal(round, b.Lost, err)
		}
		given += len(b.Requests)
	}
	if given != n {
		t.Errorf("%d rows of %d", given, n)
	}
}
